//! Analyses of whole snapshots and lists: census, diff, export, report.

pub mod census;
pub mod diff;
pub mod export;
mod host_parts;
pub mod report;
