//! Analyses of whole snapshots and lists: census, diff, report.

pub mod census;
pub(crate) mod coverage;
pub mod diff;
pub mod report;
