//! The counts of the rows of a report, of a block or of all logs.

use crate::audit::record::LogRecord;

/// What the rules say about a request. By a history, requests that the rules in force disallow are
/// divided by the rules before and after those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestVerdict {
    Allowed,
    Disallowed,
    /// Disallowed by the rules in force and by the next ones. In between nobody saw the rules.
    DisallowedBetweenCaptures,
    /// Disallowed by the rules that were seen last. Nobody saw the rules since.
    DisallowedAfterLastCapture,
    /// Allowed by rules that were found replaced at most a day before the request.
    WithinDayOfChange,
    /// Disallowed by the rules in force and allowed by the next ones. In between nobody saw the
    /// rules.
    BetweenCaptures,
    Unknown,
}

impl RequestVerdict {
    /// Whether the request broke the rules.
    pub(super) fn is_breach(self) -> bool {
        matches!(
            self,
            Self::Disallowed | Self::DisallowedBetweenCaptures | Self::DisallowedAfterLastCapture
        )
    }
}

/// Additive counts of the requests of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CrawlerCounts {
    pub requests: u64,
    pub allowed: u64,
    pub disallowed: u64,
    pub unknown: u64,
    pub within_day_of_change: u64,
    pub between_captures: u64,
    /// Those of `disallowed`.
    pub disallowed_between_captures: u64,
    pub disallowed_after_last_capture: u64,
    pub robots_txt: u64,
    pub bytes: u64,
    pub disallowed_bytes: u64,
    pub disallowed_2xx: u64,
    pub disallowed_without_status: u64,
    pub without_address: u64,
    /// The times of the first and the last request.
    pub span: Option<(i64, i64)>,
}

impl CrawlerCounts {
    /// Counts a request.
    pub(super) fn count(&mut self, verdict: RequestVerdict, record: &LogRecord<'_>) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(record.bytes);
        self.extend_span(record.time, record.time);
        match verdict {
            RequestVerdict::Allowed => self.allowed += 1,
            RequestVerdict::Disallowed
            | RequestVerdict::DisallowedBetweenCaptures
            | RequestVerdict::DisallowedAfterLastCapture => {
                self.disallowed += 1;
                self.disallowed_after_last_capture +=
                    u64::from(verdict == RequestVerdict::DisallowedAfterLastCapture);
                self.disallowed_between_captures +=
                    u64::from(verdict == RequestVerdict::DisallowedBetweenCaptures);
                self.disallowed_bytes = self.disallowed_bytes.saturating_add(record.bytes);
                self.disallowed_2xx += u64::from(record.status / 100 == 2);
                self.disallowed_without_status += u64::from(record.status == 0);
            }
            RequestVerdict::WithinDayOfChange => self.within_day_of_change += 1,
            RequestVerdict::BetweenCaptures => self.between_captures += 1,
            RequestVerdict::Unknown => self.unknown += 1,
        }
    }

    /// Adds the counts of another part of the logs.
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.allowed += other.allowed;
        self.disallowed += other.disallowed;
        self.unknown += other.unknown;
        self.within_day_of_change += other.within_day_of_change;
        self.between_captures += other.between_captures;
        self.disallowed_between_captures += other.disallowed_between_captures;
        self.disallowed_after_last_capture += other.disallowed_after_last_capture;
        self.robots_txt += other.robots_txt;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.disallowed_bytes = self.disallowed_bytes.saturating_add(other.disallowed_bytes);
        self.disallowed_2xx += other.disallowed_2xx;
        self.disallowed_without_status += other.disallowed_without_status;
        self.without_address += other.without_address;
        if let Some((first, last)) = other.span {
            self.extend_span(first, last);
        }
    }

    /// Extends the span of times.
    fn extend_span(&mut self, first: i64, last: i64) {
        let (old_first, old_last) = self.span.unwrap_or((first, last));
        self.span = Some((old_first.min(first), old_last.max(last)));
    }
}

/// The counts of lines, and of the rows of the report by their numbers.
#[derive(Debug, Default)]
pub(super) struct AuditCounts {
    pub lines: u64,
    pub invalid: u64,
    /// Those of them that do not have the format of their log, and name a crawler.
    pub invalid_with_crawler: u64,
    pub other_agents: u64,
    /// Those of them without a User-Agent.
    pub without_agent: u64,
    /// The times of the first and the last valid line.
    pub span: Option<(i64, i64)>,
    /// Requests of crawlers from before the first snapshot.
    pub before_first_snapshot: u64,
    /// Requests of crawlers that were judged before the first capture of their site.
    pub before_first_capture: u64,
    pub rows: Vec<CrawlerCounts>,
}

impl AuditCounts {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: vec![CrawlerCounts::default(); rows],
            ..Self::default()
        }
    }

    /// Adds the counts of another part of the logs.
    pub(super) fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.invalid += other.invalid;
        self.invalid_with_crawler += other.invalid_with_crawler;
        self.other_agents += other.other_agents;
        self.without_agent += other.without_agent;
        if let Some((first, last)) = other.span {
            self.extend_span(first, last);
        }
        self.before_first_snapshot += other.before_first_snapshot;
        self.before_first_capture += other.before_first_capture;
        self.rows
            .iter_mut()
            .zip(&other.rows)
            .for_each(|(sum, counts)| sum.add(counts));
    }

    /// Extends the span of times.
    #[inline]
    pub(super) fn extend_span(&mut self, first: i64, last: i64) {
        let (old_first, old_last) = self.span.unwrap_or((first, last));
        self.span = Some((old_first.min(first), old_last.max(last)));
    }

    /// Sets all counts to zero.
    pub(super) fn clear(&mut self, rows: usize) {
        let mut counts = std::mem::take(&mut self.rows);
        counts.clear();
        counts.resize(rows, CrawlerCounts::default());
        *self = Self {
            rows: counts,
            ..Self::default()
        };
    }
}
