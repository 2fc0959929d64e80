//! How far a run has come, and its counts; the parts always add up to the lines read.

use crate::file_format::without_mark;
use crate::judge::Verdict;
use crate::judge::batch::LineRun;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How far a run has come, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterProgress {
    /// Bytes read from all inputs, before decoding.
    pub bytes_read: u64,
}

/// How many lines came to what.
///
/// `lines` is always `allowed + disallowed + unknown + invalid`. With several agents a line counts as allowed or
/// disallowed by what was required of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterStats {
    /// Lines read.
    pub lines: u64,
    /// Lines that count as allowed.
    pub allowed: u64,
    /// Lines that count as disallowed.
    pub disallowed: u64,
    /// Lines of origins that the snapshot does not know.
    pub unknown: u64,
    /// Lines that are not URLs.
    pub invalid: u64,
    /// Those of them that are blank.
    #[serde(default)]
    pub blank: u64,
    /// Bytes of all lines, line ends included, after decompression.
    pub bytes: u64,
    /// Lines judged by the entry of the other scheme.
    pub via_other_scheme: u64,
    /// For each agent the lines it may fetch; filled by annotating.
    pub agent_allowed: Vec<u64>,
}

impl FilterStats {
    /// Counts so many lines of a verdict.
    pub(crate) fn count(&mut self, verdict: Verdict, lines: u64) {
        self.lines += lines;
        match verdict {
            Verdict::Allowed => self.allowed += lines,
            Verdict::Disallowed => self.disallowed += lines,
            Verdict::Unknown => self.unknown += lines,
            Verdict::Invalid => self.invalid += lines,
        }
    }

    /// Counts those of some invalid lines of `data` that are blank.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_blank(&mut self, data: &[u8], lines: LineRun<'_>) {
        let is_blank = |line: &Range<usize>| without_mark(&data[line.clone()]).trim_ascii().is_empty();
        self.blank += lines.ranges().filter(is_blank).count() as u64;
    }

    /// Whether there are lines that are not blank, and none of them has a URL: most likely URLs
    /// were looked for in the wrong place, or in the wrong file.
    pub fn has_no_url(&self) -> bool {
        self.invalid == self.lines && self.blank < self.lines
    }

    /// Adds the counts of another run, or of a part of this one.
    pub fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.allowed += other.allowed;
        self.disallowed += other.disallowed;
        self.unknown += other.unknown;
        self.invalid += other.invalid;
        self.blank += other.blank;
        self.bytes += other.bytes;
        self.via_other_scheme += other.via_other_scheme;
        self.agent_allowed.resize(self.agent_allowed.len().max(other.agent_allowed.len()), 0);
        self.agent_allowed.iter_mut().zip(&other.agent_allowed).for_each(|(sum, n)| *sum += n);
    }
}
