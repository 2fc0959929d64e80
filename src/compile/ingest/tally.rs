//! Counts that are kept while archives are read.

use crate::compile::report::CompileReport;
use crate::profile::Profile;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_128;

/// The most keys that are counted: writers may use any number of them.
const MAX_UNREAD_KEYS: usize = 16;

/// The most skipped files that are named.
const MAX_EXAMPLES: usize = 5;

/// The counts of one thread, or of all.
#[derive(Debug)]
pub(crate) struct IngestTally {
    /// Only the counts of the input are kept here.
    pub report: CompileReport,
    /// Hashes of the bodies with their lengths. Only these statistics depend on them.
    bodies: HashSet<(u128, u32)>,
}

impl Default for IngestTally {
    fn default() -> Self {
        Self { report: CompileReport::new(Profile::default()), bodies: HashSet::new() }
    }
}

impl IngestTally {
    pub(crate) fn body(&mut self, body: &[u8]) {
        self.report.body_bytes += body.len() as u64;
        self.distinct_body((xxh3_128(body), body.len() as u32));
    }

    fn distinct_body(&mut self, body: (u128, u32)) {
        if self.bodies.insert(body) {
            self.report.distinct_body_bytes += u64::from(body.1);
        }
    }

    /// Counts lines in which this key looks like the body.
    pub(crate) fn unread_key(&mut self, key: String, lines: u64) {
        let keys = &mut self.report.unread_keys;
        if keys.len() < MAX_UNREAD_KEYS || keys.contains_key(&key) {
            *keys.entry(key).or_default() += lines;
        }
    }

    /// Counts files of directories that are not robots.txt files.
    pub(crate) fn skip_files(&mut self, count: u64, examples: Vec<String>) {
        self.report.skipped_files += count;
        self.report.skipped_examples.extend(examples);
        // The first by name, so that the result does not depend on threads.
        self.report.skipped_examples.sort_unstable();
        self.report.skipped_examples.truncate(MAX_EXAMPLES);
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.bodies.len() < other.bodies.len() {
            std::mem::swap(&mut self.bodies, &mut other.bodies);
            std::mem::swap(&mut self.report.distinct_body_bytes, &mut other.report.distinct_body_bytes);
        }
        other.bodies.into_iter().for_each(|body| self.distinct_body(body));
        let report = other.report;
        self.report.inputs += report.inputs;
        self.report.bytes_in += report.bytes_in;
        self.report.captures += report.captures;
        self.report.not_urls += report.not_urls;
        self.report.too_new += report.too_new;
        self.report.undated += report.undated;
        self.report.damaged += report.damaged;
        self.report.body_bytes += report.body_bytes;
        report.unread_keys.into_iter().for_each(|(key, lines)| self.unread_key(key, lines));
        self.skip_files(report.skipped_files, report.skipped_examples);
    }
}
