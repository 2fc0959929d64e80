//! What snapshots and lists say as a whole: which crawlers are named, what changed, who refuses whom.

pub(crate) mod census;
pub(crate) mod coverage;
pub(crate) mod diff;
pub mod report;
