//! The counts of a run. The counts by verdict always add up to the lines read.

use super::reason_counts::ReasonCounts;
use crate::file_format::without_mark;
use crate::judge::Verdict;
use crate::judge::rows::LineRun;
use serde::{Deserialize, Serialize};

/// Counts of lines by verdict.
///
/// `lines` is always `allowed + disallowed + unknown + invalid`. With several agents,
/// [`Require`](crate::job::Require) decides whether a line counts as allowed or disallowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FilterStats {
    /// Lines read.
    pub lines: u64,
    /// Lines that count as allowed.
    pub allowed: u64,
    /// Lines that count as disallowed.
    pub disallowed: u64,
    /// Lines whose origin is not in the snapshot.
    pub unknown: u64,
    /// Lines that are not URLs.
    pub invalid: u64,
    /// Invalid lines that are blank.
    #[serde(default)]
    pub blank: u64,
    /// Bytes of all lines, line ends included, after decompression.
    pub bytes: u64,
    /// Lines judged by the entry of the other scheme (http or https).
    pub via_other_scheme: u64,
    /// Lines to be judged as of a time of their own that state none. Their verdict is that of unknown
    /// origins, unless [`NoTime`](crate::judge::NoTime) chooses the newest rules.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without_time: u64,
    /// Records of type `warcinfo` in WARC files. They have no URL and do not count as lines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warcinfo: u64,
    /// Allowed and disallowed lines by the reason of their verdicts. A policy disallows the URLs of
    /// failing sites without any rule, so these show which lines a rule disallows.
    #[serde(default)]
    pub reasons: ReasonCounts,
    /// The lines that each agent may fetch, one count per agent, also if there are no lines. A
    /// filter does not count them, so its list is empty.
    pub agent_allowed: Vec<u64>,
}

/// Leaves out a count that only some inputs have.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FilterStats {
    /// The counts of `bytes` whose lines are not counted yet.
    pub(crate) fn of_bytes(bytes: u64) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// The counts before the first line, with one per agent.
    pub(crate) fn of_agents(agents: usize) -> Self {
        Self {
            agent_allowed: vec![0; agents],
            ..Self::default()
        }
    }

    /// Counts lines with a verdict.
    pub(crate) fn count(&mut self, verdict: Verdict, lines: u64) {
        self.lines += lines;
        match verdict {
            Verdict::Allowed => self.allowed += lines,
            Verdict::Disallowed => self.disallowed += lines,
            Verdict::Unknown => self.unknown += lines,
            Verdict::Invalid => self.invalid += lines,
        }
    }

    /// Counts the blank lines among invalid `lines` of `data`.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_blank(&mut self, data: &[u8], lines: LineRun<'_>) {
        for line in lines.ranges() {
            self.blank += u64::from(without_mark(&data[line]).trim_ascii().is_empty());
        }
    }

    /// Whether there are lines that are not blank, and none of them has a URL. The likely cause is
    /// the wrong column or the wrong file.
    pub fn has_no_url(&self) -> bool {
        self.invalid == self.lines && self.blank < self.lines
    }

    /// Adds the counts of another run, or of a part of this run.
    pub fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.allowed += other.allowed;
        self.disallowed += other.disallowed;
        self.unknown += other.unknown;
        self.invalid += other.invalid;
        self.blank += other.blank;
        self.bytes += other.bytes;
        self.via_other_scheme += other.via_other_scheme;
        self.without_time += other.without_time;
        self.warcinfo += other.warcinfo;
        self.reasons.add(&other.reasons);
        self.agent_allowed
            .resize(self.agent_allowed.len().max(other.agent_allowed.len()), 0);
        self.agent_allowed
            .iter_mut()
            .zip(&other.agent_allowed)
            .for_each(|(sum, n)| *sum += n);
    }
}
