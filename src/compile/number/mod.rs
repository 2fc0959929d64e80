//! Numbering: every part of the snapshot gets its number, in an order that depends on content
//! alone.
//!
//! Origins are sorted by key, files and rule sets are numbered by first use, names are sorted. So
//! equal inputs give equal bytes, whatever the order of the inputs and the number of threads.

pub(super) mod contents;
mod numbering;
pub(super) mod origins;
