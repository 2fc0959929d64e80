//! The options that ask a snapshot with a history about a time.

use crate::help_text::POLICY;
use crate::time::parse_through_or_now;
use clap::Args;
use robosieve::Snapshot;
use robosieve::compile::Compiled;
use std::path::Path;

// Shared by the verbs that judge URLs by the rules of any time.
#[derive(Debug, Args)]
pub(crate) struct AsOfArgs {
    /// Judge by the rules in force at this time (or `now`)
    ///
    /// The snapshot needs a history (`compile --history`). The verdicts are those of a snapshot that
    /// `compile --as-of TIME` makes of the same archives, judged with --at TIME. A date, a month
    /// or a year is its last second in UTC.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_through_or_now,
        conflicts_with = "at",
        hide_short_help = true,
        help_heading = POLICY
    )]
    pub as_of: Option<i64>,
}

// Shared by the verbs that describe a whole snapshot.
#[derive(Debug, Args)]
pub(crate) struct SnapshotAsOfArgs {
    /// Describe the snapshot as of this time (or `now`)
    ///
    /// The snapshot needs a history (`compile --history`). The figures are those of a snapshot that
    /// `compile --as-of TIME` makes of the same archives, judged with --at TIME. A date, a month
    /// or a year is its last second in UTC.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_through_or_now,
        conflicts_with = "at",
        hide_short_help = true,
        help_heading = POLICY
    )]
    pub as_of: Option<i64>,
}

impl SnapshotAsOfArgs {
    /// The snapshot as of the time, if there is one, and the time to judge at.
    pub(crate) fn apply(
        &self,
        snapshot: Snapshot,
        path: &Path,
        at: Option<i64>,
    ) -> robosieve::Result<(Snapshot, Option<i64>)> {
        match self.as_of {
            Some(time) => Ok((snapshot_as_of(&snapshot, path, time)?, Some(time))),
            None => Ok((snapshot, at)),
        }
    }
}

/// The snapshot of a time, in memory, from a snapshot with a history.
pub(crate) fn snapshot_as_of(
    history: &Snapshot,
    path: &Path,
    time: i64,
) -> robosieve::Result<Snapshot> {
    let compiled = Compiled::as_of(history, time).map_err(|err| err.at(path))?;
    let snapshot = Snapshot::new(compiled.to_vec()?)?;
    // It was made here, so nothing in it can be damaged.
    snapshot.assume_verified();
    Ok(snapshot)
}
