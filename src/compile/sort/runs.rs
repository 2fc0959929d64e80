//! Sorted runs: a full buffer of captures is sorted and written to temporary data.

use super::merge::{MAX_FAN_IN, merge};
use crate::compile::ingest::capture_record::{CaptureRecord, KeyPrefix};
use crate::compile::ingest::text_store::TextDigests;
use crate::error::Result;
use crate::spool::{Spool, SpoolOptions, SpooledBytes};
use crate::threads::lock;
use rayon::slice::ParallelSliceMut;
use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

/// The content of the spools, for errors.
const RUNS: &str = "runs of captures";

/// Captures on their way to runs. Several threads add to it.
#[derive(Debug)]
pub(crate) struct RunWriter {
    options: SpoolOptions,
    /// The bytes of records that make a run.
    run_len: usize,
    /// Encoded captures, in no order.
    buffer: Mutex<Vec<u8>>,
    /// The runs. A thread that writes one holds the lock.
    runs: Mutex<Vec<SpooledBytes>>,
}

/// Bytes of captures that a thread gathers, so that threads seldom wait for each other.
const MAX_BATCH_LEN: usize = 64 << 10;

impl RunWriter {
    pub(crate) fn new(options: &SpoolOptions, run_len: usize) -> Self {
        Self {
            options: options.clone(),
            run_len,
            buffer: Mutex::default(),
            runs: Mutex::default(),
        }
    }

    /// The most bytes of captures that a thread should gather before it adds them.
    pub(crate) fn batch_len(&self) -> usize {
        self.run_len.min(MAX_BATCH_LEN)
    }

    /// Adds encoded captures, and empties `records`. The thread that fills the buffer writes the
    /// run, while others fill a second buffer. If that is full too, they wait, so two buffers are
    /// all that is held.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn add(&self, records: &mut Vec<u8>, texts: &dyn TextDigests) -> Result<()> {
        let mut buffer = lock(&self.buffer);
        buffer.extend_from_slice(records);
        records.clear();
        if buffer.is_empty() || buffer.len() < self.run_len {
            return Ok(());
        }
        let mut runs = lock(&self.runs);
        let full = std::mem::take(&mut *buffer);
        drop(buffer);
        let mut slots = slots(&full);
        // On this thread alone. While it waited for parts of a parallel sort, it would take up
        // other work of the pool, which may come here again.
        slots.sort_unstable_by(|a, b| order(&full, a, b, texts));
        runs.push(self.run(&full, &slots)?);
        if runs.len() == MAX_FAN_IN {
            // Each run is an open file. Merging some of them early changes nothing.
            let mut merged = Spool::new(&self.options, RUNS);
            merge(&runs, texts, &mut |record| merged.append(record.bytes()))?;
            *runs = vec![merged.finish()?];
        }
        Ok(())
    }

    /// A run of sorted records.
    fn run(&self, records: &[u8], slots: &[RecordSlot]) -> Result<SpooledBytes> {
        let mut run = Spool::new(&self.options, RUNS);
        for record in slots
            .iter()
            .filter_map(|slot| CaptureRecord::first_of(&records[slot.start..]))
        {
            run.append(record.bytes())?;
        }
        run.finish()
    }

    /// All runs, with the captures that are left in the buffer as one more.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(crate) fn finish(mut self, texts: &dyn TextDigests) -> Result<Vec<SpooledBytes>> {
        let rest = std::mem::take(
            self.buffer
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        if !rest.is_empty() {
            let mut slots = slots(&rest);
            slots.par_sort_unstable_by(|a, b| order(&rest, a, b, texts));
            let run = self.run(&rest, &slots)?;
            lock(&self.runs).push(run);
        }
        Ok(self
            .runs
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where a record is, and the start of its key.
#[derive(Clone, Copy)]
struct RecordSlot {
    prefix: KeyPrefix,
    start: usize,
}

/// The slots of all records.
fn slots(records: &[u8]) -> Vec<RecordSlot> {
    let mut slots = Vec::new();
    let mut start = 0;
    while let Some(record) = CaptureRecord::first_of(&records[start..]) {
        slots.push(RecordSlot {
            prefix: record.key_prefix(),
            start,
        });
        start += record.bytes().len();
    }
    slots
}

fn order(records: &[u8], a: &RecordSlot, b: &RecordSlot, texts: &dyn TextDigests) -> Ordering {
    a.prefix.cmp(&b.prefix).then_with(|| {
        let a = CaptureRecord::first_of(&records[a.start..]);
        let b = CaptureRecord::first_of(&records[b.start..]);
        match (a, b) {
            (Some(a), Some(b)) => a.order(&b, texts),
            // Every slot has a record.
            _ => Ordering::Equal,
        }
    })
}
