//! An external merge sort of captures: a sorted table of any size in bounded memory.
//!
//! [`runs`] sorts what fits in memory and writes it as a run, [`merge`] merges the runs, [`table`]
//! is the result: read in order, or looked up by URL.

pub(super) mod merge;
mod reader;
pub(super) mod runs;
pub(super) mod table;
