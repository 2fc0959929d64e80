//! What a compilation read, and what came of it.

use crate::archive::ReadStats;
use crate::profile::Profile;
use crate::snapshot::Counts;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use xxhash_rust::xxh3::xxh3_128;

/// How many [`unread_keys`](CompileReport::unread_keys) are counted at most: keys may be anything.
const MAX_UNREAD_KEYS: usize = 16;

/// What a compilation read and what came of it; `--stats-json` writes it as it is.
#[derive(Clone, Debug, Serialize)]
pub struct CompileReport {
    /// Whose reading of the rules it was compiled for.
    pub profile: Profile,
    /// Archives read.
    pub inputs: u64,
    /// Bytes of the archives as they lie on disk.
    pub bytes_in: u64,
    /// Bytes of the snapshot; 0 before it is written.
    pub bytes_out: u64,
    /// Captures found in the archives (of a WARC file: its `response` records).
    pub captures: u64,
    /// Captures of URLs that are no origin's `/robots.txt`; redirects may lead to them.
    pub other_urls: u64,
    /// Captures of robots.txt files that newer ones of the same origin, in the archives or in the previous snapshot, took the place of.
    pub superseded: u64,
    /// Origins that no capture bears upon: they are as the previous snapshot has them.
    pub taken_over: u64,
    /// Origins that were captured, but no later than what the previous snapshot knows of them.
    pub outdated: u64,
    /// Captures whose URL is not a URL; left out.
    pub not_urls: u64,
    /// Captures newer than the time that was compiled as of; left out.
    pub too_new: u64,
    /// Captures of unknown time among the others.
    pub undated: u64,
    /// Damaged places skipped.
    pub damaged: u64,
    /// Keys of JSON lines with a 2xx status and no body that look like the body and are not read,
    /// each with the number of such lines; at most 16 of them.
    pub unread_keys: BTreeMap<String, u64>,
    /// Files in directories of robots.txt files that are none, by their names or contents; left
    /// out.
    pub skipped_files: u64,
    /// The first of these by name, each with the reason.
    pub skipped_examples: Vec<String>,
    /// Bytes of all 2xx bodies, at most 500 KiB of each.
    pub body_bytes: u64,
    /// Bytes of the distinct ones among them.
    pub distinct_body_bytes: u64,
    /// What the snapshot holds.
    pub counts: Counts,
}

impl CompileReport {
    pub(super) fn new(profile: Profile, tally: &Tally) -> Self {
        Self {
            profile,
            inputs: tally.inputs,
            bytes_in: tally.bytes_in,
            bytes_out: 0,
            captures: tally.captures,
            other_urls: 0,
            superseded: 0,
            taken_over: 0,
            outdated: 0,
            not_urls: tally.not_urls,
            too_new: tally.too_new,
            undated: tally.undated,
            damaged: tally.damaged,
            unread_keys: tally.unread_keys.clone(),
            skipped_files: tally.skipped_files,
            skipped_examples: tally.skipped_examples.clone(),
            body_bytes: tally.body_bytes,
            distinct_body_bytes: tally.distinct_body_bytes,
            counts: Counts::default(),
        }
    }
}

/// How many skipped files are named.
const SHOWN: usize = 5;

/// The counts that are kept while reading.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub inputs: u64,
    pub bytes_in: u64,
    pub captures: u64,
    pub not_urls: u64,
    pub too_new: u64,
    pub undated: u64,
    pub damaged: u64,
    unread_keys: BTreeMap<String, u64>,
    skipped_files: u64,
    skipped_examples: Vec<String>,
    body_bytes: u64,
    distinct_body_bytes: u64,
    /// Hashes of the bodies met, with their lengths: only statistics depend on them.
    bodies: HashSet<(u128, u32)>,
}

impl Tally {
    pub(super) fn body(&mut self, body: &[u8]) {
        let len = body.len() as u32;
        self.body_bytes += u64::from(len);
        if self.bodies.insert((xxh3_128(body), len)) {
            self.distinct_body_bytes += u64::from(len);
        }
    }

    /// Counts lines of which this key looks like the body.
    pub(super) fn unread_key(&mut self, key: String, lines: u64) {
        if self.unread_keys.len() < MAX_UNREAD_KEYS || self.unread_keys.contains_key(&key) {
            *self.unread_keys.entry(key).or_default() += lines;
        }
    }

    /// Counts a file of a directory that is no robots.txt.
    pub(super) fn skip_file(&mut self, file: String) {
        self.skipped_files += 1;
        self.skipped_examples.push(file);
        self.keep_first_examples();
    }

    /// Whatever thread met them, the first by name are kept.
    fn keep_first_examples(&mut self) {
        self.skipped_examples.sort_unstable();
        self.skipped_examples.truncate(SHOWN);
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        self.inputs += other.inputs;
        self.bytes_in += other.bytes_in;
        self.captures += other.captures;
        self.not_urls += other.not_urls;
        self.too_new += other.too_new;
        self.undated += other.undated;
        self.damaged += other.damaged;
        other.unread_keys.into_iter().for_each(|(key, lines)| self.unread_key(key, lines));
        self.skipped_files += other.skipped_files;
        self.skipped_examples.append(&mut other.skipped_examples);
        self.keep_first_examples();
        self.body_bytes += other.body_bytes;
        if self.bodies.len() < other.bodies.len() {
            std::mem::swap(&mut self.bodies, &mut other.bodies);
            self.distinct_body_bytes = other.distinct_body_bytes;
        }
        for body in other.bodies {
            if self.bodies.insert(body) {
                self.distinct_body_bytes += u64::from(body.1);
            }
        }
    }

    /// Adds what a call of `add_paths` came to.
    pub(super) fn absorb(&mut self, other: Self, read: ReadStats, inputs: usize) {
        self.merge(other);
        self.inputs += inputs as u64;
        self.bytes_in += read.bytes;
        self.damaged += read.damaged;
    }
}
