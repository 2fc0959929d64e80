//! The history of a snapshot: each version of the answer of each URL, in the order of time.
//!
//! A *node* is a URL with a history: the robots.txt of each origin, by the row of the origin, and
//! then the other URLs that redirects lead to, sorted. The versions of all nodes are one table, and
//! an array of offsets divides it, as in a compressed sparse row matrix. A version begins where the
//! answer of its URL changes. A redirect is a version too: it names its target, and the history of
//! that says what the target answered at any time.
//!
//! The sections are optional, and judging without a time never reads them. So each read verifies the
//! blocks that it touches, here as in the look-ups of [`read`](super::read).

use crate::bytes::wire::{Fields, NO_TIME, array, bytes, time_bytes, u32_at, u64_at};
use crate::error::{Error, ErrorKind, Result};
use crate::simd;
use crate::snapshot::format::{BodyBits, NONE, Section};
use crate::snapshot::outcome::OutcomeClass;
use crate::snapshot::read::Snapshot;
use crate::snapshot::text::{DeltaUnpacker, Unpacker, text_len};
use crate::time_span::TimeSpan;
use crate::url::ROBOTS_PATH;
use std::ops::Range;

/// The length of a row of the section `versions`.
pub(crate) const VERSION_LEN: usize = 24;

/// The length of a row of the section `version failures`.
pub(crate) const VERSION_FAILURE_LEN: usize = 24;

/// The length of a row of the section `history texts`.
pub(super) const HISTORY_TEXT_LEN: usize = 16;

/// A version of the answer of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// The time of the capture that found it, in seconds since 1970; `None`, before any time, if the
    /// archive has none.
    pub from: Option<i64>,
    /// The time of the last capture that found it unchanged.
    pub last_seen: Option<i64>,
    pub status: u16,
    pub answer: VersionAnswer,
}

/// The answer of a URL, as far as it matters for verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionAnswer {
    /// 2xx. The number of the robots.txt; old texts have those after the last file.
    Rules {
        file: u32,
        flags: BodyBits,
    },
    /// 4xx except 429.
    ClientError,
    /// 429, 5xx, or a network error. The number of the row with the times of the run of failures.
    Failure {
        class: OutcomeClass,
        row: u32,
    },
    Redirect(RedirectLink),
    /// A redirect to a URL that is too long to be stored. No archive has it.
    LostRedirect,
}

/// A redirect to a URL, which has a history of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedirectLink {
    /// The offset of the URL in the section `strings`, or [`NONE`] for a redirect that names no
    /// target.
    pub target: u32,
    /// The redirects between the first and the target: none, unless the answer comes from a snapshot
    /// without a history, which keeps only the ends of chains.
    pub skipped: u8,
}

impl RedirectLink {
    /// The number of redirects to the target.
    pub(crate) fn hops(&self) -> usize {
        1 + usize::from(self.skipped)
    }
}

// The kinds of a version row. Those of outcomes have the numbers of their classes.
const REDIRECT: u8 = 4;
const LOST_REDIRECT: u8 = 5;

impl Version {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let (kind, reference, flags) = match self.answer {
            VersionAnswer::Rules { file, flags } => (OutcomeClass::Rules as u8, file, flags.0),
            VersionAnswer::ClientError => (OutcomeClass::ClientError as u8, NONE, 0),
            VersionAnswer::Failure { class, row } => (class as u8, row, 0),
            VersionAnswer::Redirect(link) => (REDIRECT, link.target, link.skipped),
            VersionAnswer::LostRedirect => (LOST_REDIRECT, NONE, 0),
        };
        out.extend_from_slice(&time_bytes(self.from));
        out.extend_from_slice(&time_bytes(self.last_seen));
        out.extend_from_slice(&reference.to_le_bytes());
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&[kind, flags]);
    }

    pub(crate) fn decode(row: &[u8; VERSION_LEN]) -> Result<Self> {
        let mut fields = Fields(row);
        let from = fields.time();
        let last_seen = fields.time();
        let reference = fields.u32();
        let status = fields.u16();
        let kind = fields.u8();
        let flags = fields.u8();
        let answer = match kind {
            REDIRECT => VersionAnswer::Redirect(RedirectLink {
                target: reference,
                skipped: flags,
            }),
            LOST_REDIRECT => VersionAnswer::LostRedirect,
            kind => match OutcomeClass::from_u8(kind) {
                Some(OutcomeClass::Rules) => VersionAnswer::Rules {
                    file: reference,
                    flags: BodyBits(flags),
                },
                Some(OutcomeClass::ClientError) => VersionAnswer::ClientError,
                Some(class) if class.is_failure() => VersionAnswer::Failure {
                    class,
                    row: reference,
                },
                _ => return Err(Error::corrupt("a version of an unknown kind")),
            },
        };
        Ok(Self {
            from,
            last_seen,
            status,
            answer,
        })
    }
}

/// The run of failures of a version: a row of the section `version failures`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionFailure {
    /// As [`Outcome::first_failure`](crate::snapshot::Outcome::first_failure).
    pub first_failure: Option<i64>,
    /// As [`Outcome::first_unreachable`](crate::snapshot::Outcome::first_unreachable).
    pub first_unreachable: Option<i64>,
    /// The answer before the run.
    pub before: BeforeFailures,
}

/// The answer before a run of failures, from which the last good copy comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BeforeFailures {
    /// Nothing that leads to a robots.txt.
    Nothing,
    /// The robots.txt with this number.
    File(u32),
    /// A redirect. The last good copy is that of its target when the failures began.
    Redirect(RedirectLink),
}

impl VersionFailure {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let (kind, reference, skipped) = match self.before {
            BeforeFailures::Nothing => (0, NONE, 0),
            BeforeFailures::File(file) => (1, file, 0),
            BeforeFailures::Redirect(link) => (2, link.target, link.skipped),
        };
        out.extend_from_slice(&time_bytes(self.first_failure));
        out.extend_from_slice(&time_bytes(self.first_unreachable));
        out.extend_from_slice(&reference.to_le_bytes());
        out.extend_from_slice(&[kind, skipped, 0, 0]);
    }

    pub(crate) fn decode(row: &[u8; VERSION_FAILURE_LEN]) -> Result<Self> {
        let mut fields = Fields(row);
        let first_failure = fields.time();
        let first_unreachable = fields.time();
        let reference = fields.u32();
        let kind = fields.u8();
        let skipped = fields.u8();
        let before = match kind {
            0 => BeforeFailures::Nothing,
            1 => BeforeFailures::File(reference),
            2 => BeforeFailures::Redirect(RedirectLink {
                target: reference,
                skipped,
            }),
            _ => return Err(Error::corrupt("a run of failures of an unknown kind")),
        };
        Ok(Self {
            first_failure,
            first_unreachable,
            before,
        })
    }
}

/// A row of the section `history texts`: an old text, which no origin has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryText {
    /// The first byte of its frame in the section `history frames`.
    pub start: u64,
    /// The robots.txt that its frame is a difference to; [`NONE`] if the frame is compressed with the
    /// dictionary, as those of files are.
    pub base: u32,
    /// The row with its rules in the section `old files`, or [`NONE`].
    pub rules: u32,
}

impl HistoryText {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&self.rules.to_le_bytes());
    }
}

/// A span of time in which an answer holds, in seconds since 1970: from its first second to the one
/// before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    pub from: i64,
    /// `i64::MAX` if it has no end.
    pub until: i64,
    /// The last time when the answer was seen: of several, the one that was seen least recently.
    pub last_seen: i64,
}

impl Validity {
    /// All of time.
    pub(crate) const ALWAYS: Self = Self {
        from: i64::MIN,
        until: i64::MAX,
        last_seen: i64::MAX,
    };

    /// Whether a time is in it.
    #[inline]
    pub(crate) fn contains(&self, time: i64) -> bool {
        self.from <= time && (time < self.until || self.until == i64::MAX)
    }

    /// The time that is in both.
    pub(crate) fn intersect(&mut self, other: Self) {
        self.from = self.from.max(other.from);
        self.until = self.until.min(other.until);
        self.last_seen = self.last_seen.min(other.last_seen);
    }
}

/// The version of a URL that holds at a time, if any does, and the time in which that is so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VersionAt {
    pub version: Option<Version>,
    pub validity: Validity,
}

impl Snapshot {
    /// Whether it has a history: every version of every site's answers
    /// ([`Compiler::history`](crate::Compiler::history)).
    pub fn has_history(&self) -> bool {
        !self.section(Section::VersionStarts).is_empty()
    }

    /// # Errors
    /// [`ErrorKind::NoHistory`] if it has none.
    pub(crate) fn require_history(&self) -> Result<()> {
        if self.has_history() {
            Ok(())
        } else {
            Err(ErrorKind::NoHistory.into())
        }
    }

    /// The number of URLs with a history: the origins, and other URLs.
    pub(crate) fn node_count(&self) -> u32 {
        (self.section(Section::VersionStarts).len() / 4).saturating_sub(1) as u32
    }

    /// The number of versions of all URLs.
    pub(crate) fn version_count(&self) -> u32 {
        (self.section(Section::Versions).len() / VERSION_LEN) as u32
    }

    /// The number of old texts.
    pub(crate) fn history_text_count(&self) -> u32 {
        (self.section(Section::HistoryTexts).len() / HISTORY_TEXT_LEN).saturating_sub(1) as u32
    }

    /// The number of all texts: those of files, and old ones.
    pub(crate) fn text_count(&self) -> u32 {
        self.file_count().saturating_add(self.history_text_count())
    }

    /// The numbers of the versions of a node, oldest first.
    pub(crate) fn versions_of(&self, node: u32) -> Result<Range<u32>> {
        let at = node as usize * 4;
        self.verify_range(Section::VersionStarts, at, 8)?;
        let starts = self.section(Section::VersionStarts);
        let start = u32_at(starts, at, "the versions of a URL")?;
        let end = u32_at(starts, at + 4, "the versions of a URL")?;
        if start > end || end > self.version_count() {
            return Err(Error::corrupt("the versions of a URL are out of order"));
        }
        Ok(start..end)
    }

    /// The node with this version: the last one whose versions begin up to it. Cost: a binary search.
    pub(crate) fn node_of_version(&self, version: u32) -> Result<u32> {
        let (mut low, mut high) = (0, self.node_count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.versions_of(middle)?.start <= version {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let node = low.checked_sub(1);
        node.ok_or_else(|| Error::corrupt("a version of no URL"))
    }

    /// The version with this number.
    pub(crate) fn version(&self, number: u32) -> Result<Version> {
        let at = number as usize * VERSION_LEN;
        self.verify_range(Section::Versions, at, VERSION_LEN)?;
        Version::decode(&array(self.section(Section::Versions), at, "a version")?)
    }

    /// The times of a failing version, and the answer before its failures.
    pub(crate) fn version_failure(&self, row: u32) -> Result<VersionFailure> {
        let at = row as usize * VERSION_FAILURE_LEN;
        self.verify_range(Section::VersionFailures, at, VERSION_FAILURE_LEN)?;
        let rows = self.section(Section::VersionFailures);
        VersionFailure::decode(&array(rows, at, "the failures of a version")?)
    }

    /// The time from which the newest version of an origin holds, if that is an answer of its own; else
    /// `i64::MAX`: the answer at the end of a redirect may be newer, and a failure gets old.
    #[inline]
    pub(crate) fn newest_since(&self, row: u32) -> Result<i64> {
        let versions = self.versions_of(row)?;
        let Some(newest) = versions.end.checked_sub(1) else {
            return Ok(i64::MAX);
        };
        let newest = self.version(newest)?;
        Ok(match newest.answer {
            VersionAnswer::Rules { .. } | VersionAnswer::ClientError => {
                newest.from.unwrap_or(NO_TIME)
            }
            _ => i64::MAX,
        })
    }

    /// Prefetches what finds the versions of an origin. Any number is accepted as the row.
    #[inline]
    pub(crate) fn prefetch_starts(&self, row: u32) {
        let starts = self.section(Section::VersionStarts).get(row as usize * 4..);
        if let Some(start) = starts.and_then(|starts| starts.first_chunk::<8>()) {
            simd::prefetch(start);
        }
    }

    /// Prefetches the newest version of an origin. Any number is accepted as the row.
    #[inline]
    pub(crate) fn prefetch_newest_version(&self, row: u32) {
        let starts = self.section(Section::VersionStarts).as_chunks::<4>().0;
        let Some(end) = starts.get(row as usize + 1) else {
            return;
        };
        let newest = u32::from_le_bytes(*end).wrapping_sub(1) as usize;
        let versions = self.section(Section::Versions).as_chunks::<VERSION_LEN>().0;
        if let Some(newest) = versions.get(newest) {
            simd::prefetch(newest);
        }
    }

    /// The number of versions of a node that begin before `end`. Cost: a binary search.
    pub(crate) fn versions_before(&self, node: u32, end: i64) -> Result<u32> {
        let versions = self.versions_of(node)?;
        Ok(self.first_version(&versions, |start| start >= end)? - versions.start)
    }

    /// The first of these versions whose start is late; their end if none is.
    fn first_version(&self, versions: &Range<u32>, is_late: impl Fn(i64) -> bool) -> Result<u32> {
        let (mut low, mut high) = (versions.start, versions.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_late(self.version_start(middle)?) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    /// The version of a node that holds at `time`. Cost: a binary search.
    pub(crate) fn version_at(&self, node: u32, time: i64) -> Result<VersionAt> {
        let versions = self.versions_of(node)?;
        let low = self.first_version(&versions, |start| start > time)?;
        let until = if low < versions.end {
            self.version_start(low)?
        } else {
            i64::MAX
        };
        if low == versions.start {
            return Ok(VersionAt {
                version: None,
                validity: Validity {
                    until,
                    ..Validity::ALWAYS
                },
            });
        }
        let version = self.version(low - 1)?;
        Ok(VersionAt {
            version: Some(version),
            validity: Validity {
                from: version.from.unwrap_or(NO_TIME),
                until,
                last_seen: version.last_seen.unwrap_or(NO_TIME),
            },
        })
    }

    /// The times of the first and the last capture of the history; `None` if no time is known. Cost:
    /// one pass over the versions.
    ///
    /// # Errors
    /// [`ErrorKind::NoHistory`]; [`Corrupt`](ErrorKind::Corrupt) if the bytes that it reads are
    /// damaged.
    pub fn history_span(&self) -> Result<Option<TimeSpan>> {
        self.require_history()?;
        let mut span = None;
        for number in 0..self.version_count() {
            let version = self.version(number)?;
            for time in [version.from, version.last_seen].into_iter().flatten() {
                span = Some(TimeSpan::extended(span, time));
            }
        }
        Ok(span)
    }

    /// The time from which a version holds; before any other if it is not known.
    fn version_start(&self, number: u32) -> Result<i64> {
        let at = number as usize * VERSION_LEN;
        self.verify_range(Section::Versions, at, VERSION_LEN)?;
        let row: [u8; 8] = array(self.section(Section::Versions), at, "a version")?;
        Ok(i64::from_le_bytes(row))
    }

    /// The node of a canonical URL, if it has one. Cost: a look-up in the index for a robots.txt, a
    /// binary search for another URL.
    pub(crate) fn node_of(&self, url: &[u8]) -> Result<Option<u32>> {
        if let Some(origin) = url.strip_suffix(ROBOTS_PATH)
            && let Some(entry) = self.find(origin)?
        {
            return Ok(Some(entry.row));
        }
        let (mut low, mut high) = (0, self.history_url_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.history_url(middle)?.cmp(url) {
                std::cmp::Ordering::Equal => return Ok(Some(self.origin_count() + middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The number of nodes that are not the robots.txt of an origin.
    pub(crate) fn history_url_count(&self) -> u32 {
        (self.section(Section::HistoryUrls).len() / 4) as u32
    }

    /// The URL of a node that is not the robots.txt of an origin, by its number among these.
    pub(crate) fn history_url(&self, number: u32) -> Result<&[u8]> {
        let at = number as usize * 4;
        self.verify_range(Section::HistoryUrls, at, 4)?;
        let offset = u32_at(
            self.section(Section::HistoryUrls),
            at,
            "a URL of the history",
        )?;
        let url = self.string(offset)?;
        url.ok_or_else(|| Error::corrupt("a history of no URL"))
    }

    /// The row of an old text, and the end of its frame.
    pub(super) fn history_text(&self, number: u32) -> Result<(HistoryText, u64)> {
        let at = number as usize * HISTORY_TEXT_LEN;
        self.verify_range(Section::HistoryTexts, at, 2 * HISTORY_TEXT_LEN)?;
        let rows = self.section(Section::HistoryTexts);
        let text = HistoryText {
            start: u64_at(rows, at, "an old text")?,
            base: u32_at(rows, at + 8, "an old text")?,
            rules: u32_at(rows, at + 12, "an old text")?,
        };
        // The next row begins where this one ends.
        Ok((text, u64_at(rows, at + HISTORY_TEXT_LEN, "an old text")?))
    }

    /// Whether the rules of short old texts are stored. Programs before these sections wrote none, and
    /// zeros as their rows.
    pub(crate) fn has_old_rules(&self) -> bool {
        !self.section(Section::OldFiles).is_empty()
    }

    /// The row with the rules of a robots.txt in the section `old files`: `None` for a file, and for an
    /// old text whose rules are not stored.
    pub(crate) fn old_rules_of(&self, file: u32) -> Result<Option<u32>> {
        let Some(old) = file.checked_sub(self.file_count()) else {
            return Ok(None);
        };
        if !self.has_old_rules() {
            return Ok(None);
        }
        let (text, _) = self.history_text(old)?;
        Ok((text.rules != NONE).then_some(text.rules))
    }

    /// The frame of an old text.
    pub(super) fn history_frame(&self, start: u64, end: u64) -> Result<&[u8]> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let len = usize::try_from(end)
            .unwrap_or(usize::MAX)
            .saturating_sub(start);
        self.verify_range(Section::HistoryFrames, start, len)?;
        bytes(
            self.section(Section::HistoryFrames),
            start,
            len,
            "the frame of an old text",
        )
    }

    /// The length of the text of a robots.txt: of a file, or of an old one. Nothing is decompressed.
    pub(crate) fn any_text_len(&self, file: u32) -> Result<u32> {
        match file.checked_sub(self.file_count()) {
            None => self.text_len(file),
            Some(old) => {
                let (text, end) = self.history_text(old)?;
                text_len(self.history_frame(text.start, end)?)
            }
        }
    }

    /// Decompresses the text of a robots.txt: of a file, or of an old one, which may be a difference
    /// to another text. That text is whole, so at most two frames are read.
    pub(super) fn unpack_text(
        &self,
        file: u32,
        unpacker: &mut Unpacker,
        deltas: &mut Option<DeltaUnpacker>,
    ) -> Result<Vec<u8>> {
        let files = self.file_count();
        let Some(old) = file.checked_sub(files) else {
            return unpacker.unpack(self.frame(&self.file(file)?)?);
        };
        let (text, end) = self.history_text(old)?;
        let frame = self.history_frame(text.start, end)?;
        if text.base == NONE {
            return unpacker.unpack(frame);
        }
        let is_whole = match text.base.checked_sub(files) {
            None => true,
            Some(base) => self.history_text(base)?.0.base == NONE,
        };
        if !is_whole {
            return Err(Error::corrupt("a difference to a difference"));
        }
        if !deltas
            .as_ref()
            .is_some_and(|deltas| deltas.has_base(text.base))
        {
            let base = self.unpack_text(text.base, unpacker, deltas)?;
            let deltas = deltas.get_or_insert_with(DeltaUnpacker::new);
            deltas.set_base(text.base, base);
        }
        match deltas {
            Some(deltas) => deltas.unpack(frame),
            None => Err(Error::corrupt("a difference without a base")),
        }
    }
}
