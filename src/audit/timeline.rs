//! The snapshot that was valid at a time, with one judge per crawler.
//!
//! A judge of all crawlers would match every path against the rules of each. A judge of one crawler
//! matches one rule set.

use crate::agent::Agent;
use crate::error::{ErrorKind, Result};
use crate::judge::{Judge, JudgeOptions};
use crate::snapshot::Snapshot;
use std::sync::Arc;

/// A snapshot, and the time from which it is valid: until the next snapshot of the audit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DatedSnapshot {
    /// Seconds since 1970; `None` for the only snapshot, which is valid at all times.
    pub from: Option<i64>,
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
}

impl DatedSnapshot {
    /// A snapshot that is valid from a time on.
    pub fn new(from: impl Into<Option<i64>>, snapshot: impl Into<Arc<Snapshot>>) -> Self {
        Self {
            from: from.into(),
            snapshot: snapshot.into(),
        }
    }
}

/// The snapshots of an audit, sorted by time.
#[derive(Debug)]
pub(super) struct Timeline {
    starts: Vec<i64>,
    /// For each snapshot the judges of the crawlers.
    judges: Vec<Vec<Judge>>,
}

/// The snapshot for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValidSnapshot {
    pub number: usize,
    /// Whether the request is older than the first snapshot, which stands in.
    pub is_before_first: bool,
}

impl Timeline {
    /// Fails if the file of a snapshot was overwritten since it was opened.
    pub(super) fn verify_unchanged(&self) -> Result<()> {
        let judges = self.judges.iter().filter_map(|judges| judges.first());
        judges
            .map(Judge::snapshot)
            .try_for_each(|snapshot| snapshot.verify_unchanged())
    }

    pub(super) fn new(
        mut snapshots: Vec<DatedSnapshot>,
        agents: &[Agent],
        options: JudgeOptions,
    ) -> Result<Self> {
        snapshots.sort_by_key(|dated| dated.from);
        let starts: Vec<i64> = snapshots
            .iter()
            .map(|dated| dated.from.unwrap_or(i64::MIN))
            .collect();
        if starts.is_empty() {
            return Err(ErrorKind::BadList("an audit needs a snapshot".to_owned()).into());
        }
        if starts.windows(2).any(|pair| pair[0] == pair[1]) {
            let what = "two snapshots are valid from the same time on; give each a date of its own";
            return Err(ErrorKind::BadList(what.to_owned()).into());
        }
        // Each request has one crawler, so a judge is for one agent, not for all.
        let judges = snapshots.iter().map(|dated| {
            agents
                .iter()
                .map(|agent| {
                    Judge::new(
                        Arc::clone(&dated.snapshot),
                        std::slice::from_ref(agent),
                        options,
                    )
                })
                .collect()
        });
        Ok(Self {
            starts,
            judges: judges.collect::<Result<_>>()?,
        })
    }

    /// The number of snapshots.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The newest snapshot that is not newer than the time; for an earlier time the first.
    pub(super) fn at(&self, time: i64) -> ValidSnapshot {
        let after = self.starts.partition_point(|start| *start <= time);
        ValidSnapshot {
            number: after.saturating_sub(1),
            is_before_first: after == 0,
        }
    }

    /// The judge of one crawler by one snapshot.
    pub(super) fn judge(&self, snapshot: usize, crawler: u16) -> &Judge {
        &self.judges[snapshot][usize::from(crawler)]
    }
}
