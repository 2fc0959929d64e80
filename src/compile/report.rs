//! The report of a compilation: counts of the input, and of the snapshot's content.

use crate::archive::captures_file::CapturesCounts;
use crate::error::{Error, ErrorKind};
use crate::profile::Profile;
use crate::snapshot::Counts;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of a captures file that was written; it serializes to JSON.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CapturesReport {
    /// Counts of the inputs, and the bytes of the file. Those of a snapshot are 0.
    pub input: CompileReport,
    /// Counts of the captures in the file.
    pub content: CapturesCounts,
}

/// Counts of a compilation's input and of the snapshot's content; it serializes to JSON.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CompileReport {
    /// The profile that rules were compiled for.
    pub profile: Profile,
    /// Archives read.
    pub inputs: u64,
    /// Bytes of the archives, before decompression.
    pub bytes_in: u64,
    /// Bytes of the output; 0 before it is written.
    pub bytes_out: u64,
    /// Captures in the archives; in a WARC file, its `response` and `revisit` records, and its
    /// `resource` records of robots.txt files.
    pub captures: u64,
    /// Captures of URLs other than an origin's `/robots.txt`; redirects may lead to them.
    pub other_urls: u64,
    /// Captures of robots.txt files superseded by a newer one of the same origin, in the archives
    /// or in the previous snapshot.
    pub superseded: u64,
    /// Origins inherited from the previous snapshot, unchanged by any capture.
    #[serde(rename = "taken_over")]
    pub inherited: u64,
    /// Captured origins for which the previous snapshot has something newer.
    pub outdated: u64,
    /// Origins that a capture of their robots.txt decides, and that answered in the previous
    /// snapshot: with rules, a 4xx except 429, or a redirect that led nowhere.
    pub answered_before: u64,
    /// Of these, the origins that fail now: with 429, 5xx or a network error.
    pub newly_failing: u64,
    /// The newly failing origins by cause: `status 503`, or the cause in the archive up to its
    /// colon, such as `dns`. At most 17 keys.
    pub newly_failing_causes: BTreeMap<String, u64>,
    /// Captures without a valid URL; left out.
    pub not_urls: u64,
    /// Captures newer than the time of [`Compiler::as_of`](crate::Compiler::as_of); left out.
    pub too_new: u64,
    /// Captures of unknown time among the remaining ones.
    pub undated: u64,
    /// WARC `revisit` records of robots.txt files that refer to a body which no input has. They are
    /// failures, or confirm the copy before them if they refer to their own URL.
    pub revisits_without_body: u64,
    /// Captures in captures files of version 1, which lack the digests of bodies and `Retry-After`.
    pub first_version: u64,
    /// Texts in those files with a line that may lack its end, under the profile `rfc9309`: that
    /// version kept 16,663 bytes of a line, and this profile reads all of them.
    pub cut_texts: u64,
    /// Damaged places skipped.
    pub damaged: u64,
    /// In JSON lines with a 2xx status and no body: keys that look like the body and are not read,
    /// with the number of such lines. At most 16 keys.
    pub unread_keys: BTreeMap<String, u64>,
    /// Texts of files, tables and JSON lines that are one line without a rule, and seem to be coded
    /// once more: by escapes, base64 or hexadecimal digits. They are judged as they are.
    pub coded_texts: u64,
    /// The first URL, by name, of such a text.
    pub coded_example: Option<String>,
    /// Files in directories of robots.txt files that are not robots.txt files, by name or content;
    /// left out.
    pub skipped_files: u64,
    /// The first of these by name, with the reasons.
    pub skipped_examples: Vec<String>,
    /// Bytes of all 2xx bodies, up to 500 KiB of each. Captures files keep no bodies and add none.
    pub body_bytes: u64,
    /// Bytes of the distinct texts: the lines with known fields, without comments.
    pub distinct_text_bytes: u64,
    /// Counts of the snapshot's content.
    pub counts: Counts,
    /// Versions of the answers of all URLs, if the snapshot has a history
    /// ([`Compiler::history`](crate::Compiler::history)); else 0, as the next two.
    pub versions: u64,
    /// URLs with versions: the origins, and other URLs that redirects lead to.
    pub history_urls: u64,
    /// Distinct texts that only older versions have.
    pub old_texts: u64,
    /// Whether the previous snapshot has no history, so that its answers are the first versions.
    pub first_versions_from_previous: bool,
}

impl CompileReport {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            inputs: 0,
            bytes_in: 0,
            bytes_out: 0,
            captures: 0,
            other_urls: 0,
            superseded: 0,
            inherited: 0,
            outdated: 0,
            answered_before: 0,
            newly_failing: 0,
            newly_failing_causes: BTreeMap::new(),
            not_urls: 0,
            too_new: 0,
            undated: 0,
            revisits_without_body: 0,
            first_version: 0,
            cut_texts: 0,
            damaged: 0,
            unread_keys: BTreeMap::new(),
            coded_texts: 0,
            coded_example: None,
            skipped_files: 0,
            skipped_examples: Vec::new(),
            body_bytes: 0,
            distinct_text_bytes: 0,
            counts: Counts::default(),
            versions: 0,
            history_urls: 0,
            old_texts: 0,
            first_versions_from_previous: false,
        }
    }

    /// The error for archives without a capture that counts.
    pub(super) fn no_captures(&self) -> Error {
        let example = self.skipped_examples.first();
        let example = example.map_or_else(String::new, |name| format!(" such as {name}"));
        let what = format!(
            "no capture of any /robots.txt (of other URLs: {}, without a URL: {}, newer than the \
             time to compile as of: {}, damaged places skipped: {}, files left out: {}{example})",
            self.other_urls, self.not_urls, self.too_new, self.damaged, self.skipped_files
        );
        ErrorKind::NoCaptures(what).into()
    }
}
