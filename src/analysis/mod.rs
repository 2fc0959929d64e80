//! Analyses of whole snapshots and lists: census, diff, export, report.

pub mod census;
pub mod diff;
mod disallowed_keys;
pub mod export;
mod host_parts;
pub mod report;
