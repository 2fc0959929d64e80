//! Analyses of whole snapshots: census, diff, export.

pub mod census;
pub mod diff;
pub mod export;
mod host_parts;
