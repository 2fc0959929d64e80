//! Sorted runs: a full buffer of captures is sorted and written to temporary data.

use super::merge::{MAX_FAN_IN, merge};
use crate::compile::ingest::capture_record::{CaptureRecord, KeyPrefix};
use crate::compile::ingest::text_store::TextDigests;
use crate::error::Result;
use crate::spool::{Spool, SpoolOptions, SpooledBytes};
use rayon::slice::ParallelSliceMut;
use std::sync::{Mutex, PoisonError};

/// What the spools hold, for errors.
const RUNS: &str = "runs of captures";

/// Captures on their way to runs. Threads add to it at once.
#[derive(Debug)]
pub(crate) struct RunWriter {
    options: SpoolOptions,
    /// The bytes of records that make a run.
    run_len: usize,
    /// Encoded captures, in no order.
    buffer: Mutex<Vec<u8>>,
    runs: Mutex<Vec<SpooledBytes>>,
}

/// Bytes of captures that a thread gathers, so that threads seldom wait for each other.
const MAX_BATCH_LEN: usize = 64 << 10;

impl RunWriter {
    pub(crate) fn new(options: &SpoolOptions, run_len: usize) -> Self {
        Self { options: options.clone(), run_len, buffer: Mutex::default(), runs: Mutex::default() }
    }

    /// The most bytes of captures that a thread should gather before it adds them.
    pub(crate) fn batch_len(&self) -> usize {
        self.run_len.min(MAX_BATCH_LEN)
    }

    /// Adds encoded captures, and empties `records`. The thread that fills the buffer writes the
    /// run; others go on meanwhile.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn add(&self, records: &mut Vec<u8>, texts: &impl TextDigests) -> Result<()> {
        let full = {
            let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
            buffer.extend_from_slice(records);
            records.clear();
            if buffer.len() < self.run_len {
                return Ok(());
            }
            std::mem::take(&mut *buffer)
        };
        self.write(&full, texts)
    }

    fn write(&self, records: &[u8], texts: &impl TextDigests) -> Result<()> {
        let mut run = Spool::new(&self.options, RUNS);
        for record in sorted(records, texts) {
            run.append(record.bytes())?;
        }
        let run = run.finish()?;
        let many = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.push(run);
            if runs.len() < MAX_FAN_IN {
                return Ok(());
            }
            std::mem::take(&mut *runs)
        };
        // Each run is an open file. Merging some of them early changes nothing.
        let mut merged = Spool::new(&self.options, RUNS);
        merge(&many, texts, |record| merged.append(record.bytes()))?;
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(merged.finish()?);
        Ok(())
    }

    /// All runs, with the captures that are left in the buffer as one more.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(crate) fn finish(mut self, texts: &impl TextDigests) -> Result<Vec<SpooledBytes>> {
        let rest = std::mem::take(self.buffer.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !rest.is_empty() {
            self.write(&rest, texts)?;
        }
        Ok(self.runs.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where a record is, and the start of its key.
#[derive(Clone, Copy)]
struct RecordSlot {
    prefix: KeyPrefix,
    start: usize,
}

/// The records in `records`, sorted.
fn sorted<'a>(records: &'a [u8], texts: &impl TextDigests) -> impl Iterator<Item = CaptureRecord<'a>> {
    let mut slots = Vec::new();
    let mut start = 0;
    while let Some(record) = CaptureRecord::first_of(&records[start..]) {
        slots.push(RecordSlot { prefix: record.key_prefix(), start });
        start += record.bytes().len();
    }
    let record = |slot: &RecordSlot| CaptureRecord::first_of(&records[slot.start..]);
    slots.par_sort_unstable_by(|a, b| {
        a.prefix.cmp(&b.prefix).then_with(|| match (record(a), record(b)) {
            (Some(a), Some(b)) => a.order(&b, texts),
            // Every slot has a record.
            _ => std::cmp::Ordering::Equal,
        })
    });
    slots.into_iter().filter_map(move |slot| record(&slot))
}
