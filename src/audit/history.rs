//! The figures that depend on the order of requests.

use crate::audit::block_audit::AuditEvent;
use crate::audit::report::RobotsFetches;
use std::collections::{BTreeMap, HashMap};

/// The sites whose last request of the robots.txt is remembered. A hostile `Host` header per
/// request must not fill the memory.
const MAX_SITES: usize = 1 << 20;

/// A day, for which a crawler may keep a robots.txt (RFC 9309 §2.4).
const DAY: i64 = 24 * 60 * 60;

/// The requests so far.
#[derive(Debug, Default)]
pub(super) struct AuditHistory {
    /// The time of the last request of a row for a site's robots.txt.
    fetches: HashMap<(u32, u64), i64>,
    delays: BTreeMap<u32, Delays>,
}

/// How long after a request of the robots.txt a crawler broke its rules.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    after: u64,
    within_day: u64,
    without: u64,
    sum: i128,
    /// The shortest and the longest.
    span: Option<(i64, i64)>,
}

impl AuditHistory {
    /// Adds a request. All requests come in the order of the logs.
    pub(super) fn add(&mut self, event: &AuditEvent) {
        let key = (event.row, event.site);
        if !event.is_breach {
            if self.fetches.len() < MAX_SITES || self.fetches.contains_key(&key) {
                self.fetches.insert(key, event.time);
            }
            return;
        }
        let delays = self.delays.entry(event.row).or_default();
        match self.fetches.get(&key) {
            Some(fetched) => delays.add(event.time.saturating_sub(*fetched).max(0)),
            None => delays.without += 1,
        }
    }

    /// The delays of a row.
    pub(super) fn robots_fetches(&self, row: u32) -> RobotsFetches {
        let delays = self.delays.get(&row).copied().unwrap_or_default();
        RobotsFetches {
            disallowed_after: delays.after,
            disallowed_within_day: delays.within_day,
            disallowed_without: delays.without,
            shortest_seconds: delays.span.map(|(shortest, _)| shortest),
            longest_seconds: delays.span.map(|(_, longest)| longest),
            mean_seconds: (delays.after > 0)
                .then(|| (delays.sum / i128::from(delays.after.max(1))) as i64),
        }
    }
}

impl Delays {
    fn add(&mut self, seconds: i64) {
        self.after += 1;
        self.within_day += u64::from(seconds <= DAY);
        self.sum += i128::from(seconds);
        let (shortest, longest) = self.span.unwrap_or((seconds, seconds));
        self.span = Some((shortest.min(seconds), longest.max(seconds)));
    }
}
