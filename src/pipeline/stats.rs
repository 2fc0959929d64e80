//! The counts of a run. The counts by verdict always add up to the lines read.

use super::destination::Destination;
use super::reason_counts::ReasonCounts;
use crate::file_format::without_mark;
use crate::filter_lists::ListMatch;
use crate::judge::engine::Engine;
use crate::judge::rows::LineRun;
use serde::{Deserialize, Serialize};

/// Counts of lines by verdict.
///
/// `lines` is always `allowed + disallowed + unknown + invalid +` [`listed`](Self::listed)`()`. With several agents,
/// [`Require`](crate::job::Require) decides whether a line counts as allowed or disallowed. A line
/// that a filter list names counts as listed only, whatever its verdicts are.
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
    /// Lines that a filter list names; `None` if the judge has no lists
    /// ([`Judge::with_lists`](crate::Judge::with_lists)). In JSON its counts are keys next to these.
    #[serde(flatten)]
    pub lists: Option<ListCounts>,
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
    /// The lines that each agent may fetch and no filter list names, one count per agent, also if
    /// there are no lines. A filter does not count them, so its list is empty.
    pub agent_allowed: Vec<u64>,
    /// Whether times that are asked for could be read. It is not a count, so no output has it.
    #[serde(skip)]
    pub(crate) times: TimesFound,
}

/// What the records of a job have as their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimesFound {
    /// Whether at least one record has a time that can be read.
    any_readable: bool,
    /// The start of a text, or of a number, that is not a time.
    pub unreadable: Option<Box<[u8]>>,
}

impl TimesFound {
    /// Those of the records of a block. `times` has an entry per record, and is empty if no times are
    /// asked for.
    pub(crate) fn of(times: &[Option<i64>], unreadable: Option<&[u8]>) -> Self {
        Self {
            any_readable: times.iter().any(Option::is_some),
            unreadable: unreadable.map(Box::from),
        }
    }

    fn add(&mut self, other: &Self) {
        self.any_readable |= other.any_readable;
        if self.unreadable.is_none() {
            self.unreadable.clone_from(&other.unreadable);
        }
    }
}

/// Counts of lines that filter lists name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListCounts {
    /// Lines that a list names.
    pub listed: u64,
    /// The lines that each list names, in the order of
    /// [`ListsMetadata::lists`](crate::filter_lists::ListsMetadata::lists). A line whose entry is in
    /// several lists counts for each.
    pub listed_by: Vec<u64>,
}

impl ListCounts {
    fn add(&mut self, other: &Self) {
        self.listed += other.listed;
        add_each(&mut self.listed_by, &other.listed_by);
    }
}

/// The counts of a job in which filter lists alone decide, because its judge has no agents. They
/// have nothing that would state verdicts of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ListFilterStats {
    /// Lines read.
    pub lines: u64,
    /// Lines with a URL that no list names.
    pub not_listed: u64,
    /// Lines that a list names.
    #[serde(flatten)]
    pub lists: ListCounts,
    /// Lines that are not URLs.
    pub invalid: u64,
    /// Invalid lines that are blank.
    pub blank: u64,
    /// Bytes of all lines, line ends included, after decompression.
    pub bytes: u64,
    /// Records of type `warcinfo` in WARC files, which do not count as lines.
    #[serde(skip_serializing_if = "is_zero")]
    pub warcinfo: u64,
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

    /// The counts of a filter before the first line, with one for each list of the judge.
    pub(crate) fn of_filter(judge: &Engine<'_>) -> Self {
        let lists = judge.lists().map(|lists| ListCounts {
            listed: 0,
            listed_by: vec![0; lists.metadata().lists.len()],
        });
        Self {
            lists,
            ..Self::default()
        }
    }

    /// The same, with one count for each agent too.
    pub(crate) fn of_agents(judge: &Engine<'_>) -> Self {
        Self {
            agent_allowed: vec![0; judge.agents().len()],
            ..Self::of_filter(judge)
        }
    }

    /// Lines that a filter list names.
    pub fn listed(&self) -> u64 {
        self.lists.as_ref().map_or(0, |lists| lists.listed)
    }

    /// The counts of a job whose judge has no agents, so that filter lists alone decided.
    pub fn of_lists_alone(&self) -> ListFilterStats {
        ListFilterStats {
            lines: self.lines,
            not_listed: self.allowed + self.disallowed + self.unknown,
            lists: self.lists.clone().unwrap_or_default(),
            invalid: self.invalid,
            blank: self.blank,
            bytes: self.bytes,
            warcinfo: self.warcinfo,
        }
    }

    /// Counts lines with a destination.
    pub(crate) fn count(&mut self, destination: Destination, lines: u64) {
        self.lines += lines;
        match destination {
            Destination::Allowed => self.allowed += lines,
            Destination::Disallowed => self.disallowed += lines,
            Destination::Unknown => self.unknown += lines,
            Destination::Invalid => self.invalid += lines,
            Destination::Listed => self.lists.get_or_insert_default().listed += lines,
        }
    }

    /// Counts listed lines for each list that has their entry.
    #[inline(never)]
    pub(crate) fn count_listed_by(&mut self, found: ListMatch<'_>, lines: u64) {
        let counts = &mut self.lists.get_or_insert_default().listed_by;
        for list in found.list_numbers() {
            if counts.len() <= list {
                counts.resize(list + 1, 0);
            }
            counts[list] += lines;
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

    /// Whether records were to be judged as of their own times, and none of them has one that can be
    /// read. The likely cause is the wrong column, or another form of times.
    pub(crate) fn has_no_readable_time(&self) -> bool {
        self.without_time > 0 && !self.times.any_readable
    }

    /// Adds the counts of another run, or of a part of this run.
    pub fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.allowed += other.allowed;
        self.disallowed += other.disallowed;
        self.unknown += other.unknown;
        self.invalid += other.invalid;
        if let Some(lists) = &other.lists {
            self.lists.get_or_insert_default().add(lists);
        }
        self.blank += other.blank;
        self.bytes += other.bytes;
        self.via_other_scheme += other.via_other_scheme;
        self.without_time += other.without_time;
        self.warcinfo += other.warcinfo;
        self.reasons.add(&other.reasons);
        add_each(&mut self.agent_allowed, &other.agent_allowed);
        self.times.add(&other.times);
    }
}

/// Adds counts in the same place to each other. Counts that are not there are 0.
fn add_each(sums: &mut Vec<u64>, counts: &[u64]) {
    sums.resize(sums.len().max(counts.len()), 0);
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}
