//! Incremental compilation: an earlier snapshot as one more input.
//!
//! Its rows and texts are read from the mapped file. [`previous`] reads it, [`previous_urls`] looks
//! up URLs in it, [`previous_answer`] is what it knows of one URL, and [`previous_versions`] what its
//! history does.

pub(super) mod previous;
pub(super) mod previous_answer;
pub(super) mod previous_urls;
pub(super) mod previous_versions;
