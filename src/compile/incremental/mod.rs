//! Incremental compilation: an earlier snapshot as one more input.
//!
//! Its rows, texts and rule sets are read from the mapped file and copied when the new snapshot is
//! written. [`previous`] reads it, [`previous_urls`] looks up URLs in it, [`dedup`] finds files and
//! rule sets that it shares with the new captures.

pub(super) mod dedup;
pub(super) mod previous;
pub(super) mod previous_answer;
pub(super) mod previous_urls;
