//! The progress of a run, summed over all inputs.

use std::sync::{Mutex, PoisonError};

/// The progress of a run, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes read from all inputs, before decompression.
    pub bytes_read: u64,
}

impl Progress {
    pub(crate) fn of(bytes_read: u64) -> Self {
        Self { bytes_read }
    }
}

/// Adds up the bytes that the readers of several inputs have read, and reports the sum.
pub(crate) struct ProgressMeter<'r> {
    report: &'r (dyn Fn(Progress) + Sync),
    bytes_read: Mutex<u64>,
}

/// The bytes of one input that the sum includes already.
#[derive(Default)]
pub(crate) struct ReportedBytes(u64);

impl<'r> ProgressMeter<'r> {
    pub(crate) fn new(report: &'r (dyn Fn(Progress) + Sync)) -> Self {
        Self {
            report,
            bytes_read: Mutex::default(),
        }
    }

    /// Reports that `bytes_read` bytes of an input are read.
    pub(crate) fn advance(&self, reported: &mut ReportedBytes, bytes_read: u64) {
        // The lock is held during the call, so that the figures never go back.
        let mut total = self
            .bytes_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *total += bytes_read - reported.0;
        reported.0 = bytes_read;
        (self.report)(Progress::of(*total));
    }
}
