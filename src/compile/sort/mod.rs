//! An external merge sort of captures: a sorted table of any size in bounded memory.
//!
//! [`runs`] sorts what fits in memory and writes it as a run, [`merge`] merges the runs, [`table`]
//! is the result: read in order, or looked up by URL.
//!
//! Ten million captures in memory took 8.6 GB, and 1.07 times the time of this sort.

pub(super) mod merge;
mod reader;
pub(super) mod runs;
pub(super) mod table;
