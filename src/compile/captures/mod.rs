//! Captures files: captures that are sorted and condensed already, for later compilations.
//!
//! `write` makes one from the runs of a compilation, `file` describes and verifies one. `ingest`
//! reads them as one more kind of archive.

pub(super) mod file;
pub(super) mod write;
