//! Analyses of whole snapshots and lists: census, diff, report.

pub(crate) mod census;
pub(crate) mod coverage;
pub(crate) mod diff;
pub mod report;
