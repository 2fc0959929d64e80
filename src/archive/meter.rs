//! Counts of what is read: bytes on disk, and damaged places.

use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes and the damage of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadStats {
    /// Bytes read of the input, before decompression.
    pub bytes: u64,
    /// Damaged places that were skipped.
    pub damaged: u64,
}

impl ReadStats {
    /// The sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, damaged: self.damaged + other.damaged }
    }
}

/// Counts the bytes read of all inputs, before decompression.
#[derive(Debug, Default)]
pub(crate) struct ByteMeter(AtomicU64);

impl ByteMeter {
    /// The bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}
