//! Counts that are kept while archives are read.

use crate::archive::meter::ReadStats;
use std::collections::{BTreeMap, HashSet};
use xxhash_rust::xxh3::xxh3_128;

/// The most keys that are counted: writers may use any number of them.
const MAX_UNREAD_KEYS: usize = 16;

/// The most skipped files that are named.
const MAX_EXAMPLES: usize = 5;

/// The counts of one thread, or of all.
#[derive(Debug, Default)]
pub(crate) struct IngestTally {
    pub inputs: u64,
    pub bytes_in: u64,
    pub captures: u64,
    pub not_urls: u64,
    pub too_new: u64,
    pub undated: u64,
    pub damaged: u64,
    pub unread_keys: BTreeMap<String, u64>,
    pub skipped_files: u64,
    pub skipped_examples: Vec<String>,
    pub body_bytes: u64,
    pub distinct_body_bytes: u64,
    /// Hashes of the bodies with their lengths. Only these statistics depend on them.
    bodies: HashSet<(u128, u32)>,
}

impl IngestTally {
    pub(crate) fn body(&mut self, body: &[u8]) {
        let len = body.len() as u32;
        self.body_bytes += u64::from(len);
        if self.bodies.insert((xxh3_128(body), len)) {
            self.distinct_body_bytes += u64::from(len);
        }
    }

    /// Counts lines in which this key looks like the body.
    pub(crate) fn unread_key(&mut self, key: String, lines: u64) {
        if self.unread_keys.len() < MAX_UNREAD_KEYS || self.unread_keys.contains_key(&key) {
            *self.unread_keys.entry(key).or_default() += lines;
        }
    }

    /// Counts a file of a directory that is not a robots.txt.
    pub(crate) fn skip_file(&mut self, file: String) {
        self.skipped_files += 1;
        self.skipped_examples.push(file);
        self.keep_first_examples();
    }

    /// Keeps the first by name, so that the result does not depend on threads.
    fn keep_first_examples(&mut self) {
        self.skipped_examples.sort_unstable();
        self.skipped_examples.truncate(MAX_EXAMPLES);
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
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

    /// Adds the counts of one call that reads inputs.
    pub(crate) fn absorb(&mut self, other: Self, read: ReadStats, inputs: usize) {
        self.merge(other);
        self.inputs += inputs as u64;
        self.bytes_in += read.bytes;
        self.damaged += read.damaged;
    }
}
