//! Analyses of whole snapshots and lists: census, diff, export, report.

pub mod census;
pub(crate) mod coverage;
pub mod diff;
pub mod export;
pub mod report;
