//! Counts that are kept while archives are read.

use crate::compile::report::CompileReport;
use crate::profile::Profile;

/// The most keys that are counted: writers may use any number of them.
const MAX_UNREAD_KEYS: usize = 16;

/// The most skipped files that are named.
const MAX_EXAMPLES: usize = 5;

/// The counts of one thread, or of all.
#[derive(Debug)]
pub(crate) struct IngestTally {
    /// Only the counts of the input are kept here.
    pub report: CompileReport,
}

impl Default for IngestTally {
    fn default() -> Self {
        Self {
            report: CompileReport::new(Profile::default()),
        }
    }
}

impl IngestTally {
    /// Counts lines in which this key looks like the body.
    pub(crate) fn unread_key(&mut self, key: String, lines: u64) {
        let keys = &mut self.report.unread_keys;
        if keys.len() < MAX_UNREAD_KEYS || keys.contains_key(&key) {
            *keys.entry(key).or_default() += lines;
        }
    }

    /// Counts texts that seem to be coded once more, of which one is that of `url`.
    pub(crate) fn coded_texts(&mut self, count: u64, url: Option<String>) {
        self.report.coded_texts += count;
        // The first by name, so that the result does not depend on threads.
        let example = self.report.coded_example.take();
        self.report.coded_example = example.into_iter().chain(url).min();
    }

    /// Counts files of directories that are not robots.txt files.
    pub(crate) fn skip_files(&mut self, count: u64, examples: Vec<String>) {
        self.report.skipped_files += count;
        self.report.skipped_examples.extend(examples);
        // The first by name, so that the result does not depend on threads.
        self.report.skipped_examples.sort_unstable();
        self.report.skipped_examples.truncate(MAX_EXAMPLES);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let report = other.report;
        self.report.inputs += report.inputs;
        self.report.bytes_in += report.bytes_in;
        self.report.captures += report.captures;
        self.report.not_urls += report.not_urls;
        self.report.too_new += report.too_new;
        self.report.undated += report.undated;
        self.report.first_version += report.first_version;
        self.report.cut_texts += report.cut_texts;
        self.report.damaged += report.damaged;
        self.report.body_bytes += report.body_bytes;
        report
            .unread_keys
            .into_iter()
            .for_each(|(key, lines)| self.unread_key(key, lines));
        self.coded_texts(report.coded_texts, report.coded_example);
        self.skip_files(report.skipped_files, report.skipped_examples);
    }
}
