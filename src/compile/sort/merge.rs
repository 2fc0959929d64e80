//! Merges sorted runs into one table.

use super::reader::RecordReader;
use super::table::{SortedTable, TableBuilder};
use crate::compile::ingest::capture_record::{CaptureRecord, KeyPrefix};
use crate::compile::ingest::text_store::TextDigests;
use crate::compile::progress::{CompilePhase, CompileProgress, ShowProgress};
use crate::error::Result;
use crate::spool::{SpoolOptions, SpooledBytes};
use std::cmp::Ordering;

/// The most runs that are merged in one pass: each has an open file and a buffer.
pub(super) const MAX_FAN_IN: usize = 128;

/// The number of bytes of captures between two reports of progress.
const BYTES_PER_PROGRESS: u64 = 8 << 20;

/// Merges runs into one table, without the captures that `is_left_out` holds for.
///
/// # Errors
/// I/O errors of temporary data.
pub(crate) fn merge_runs(
    runs: &[SpooledBytes],
    options: &SpoolOptions,
    texts: &dyn TextDigests,
    is_left_out: impl Fn(&CaptureRecord<'_>) -> bool,
    progress: &ShowProgress<'_>,
) -> Result<SortedTable> {
    let mut table = TableBuilder::new(options);
    merge_with_progress(runs, texts, progress, &mut |record| {
        if is_left_out(record) {
            table.leave_out()
        } else {
            table.append(record)
        }
    })?;
    table.finish()
}

/// Passes the records of all runs to `take` in order, and shows progress.
///
/// # Errors
/// I/O errors of temporary data, and those of `take`.
pub(crate) fn merge_with_progress(
    runs: &[SpooledBytes],
    texts: &dyn TextDigests,
    progress: &ShowProgress<'_>,
    take: &mut dyn FnMut(&CaptureRecord<'_>) -> Result<()>,
) -> Result<()> {
    let total = runs.iter().map(SpooledBytes::len).sum();
    let mut done = 0;
    let mut shown = 0;
    merge(runs, texts, &mut |record| {
        done += record.bytes().len() as u64;
        if done - shown > BYTES_PER_PROGRESS {
            shown = done;
            progress(CompileProgress::of(CompilePhase::Sort, done, total));
        }
        take(record)
    })
}

/// A run and the start of the key of its current record.
struct MergedRun<'s> {
    reader: RecordReader<'s>,
    prefix: KeyPrefix,
}

impl MergedRun<'_> {
    /// Goes to the next record; returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        self.reader.advance()?;
        Ok(self.read_prefix())
    }

    fn read_prefix(&mut self) -> bool {
        let prefix = self.reader.record().map(|record| record.key_prefix());
        self.prefix = prefix.unwrap_or_default();
        prefix.is_some()
    }

    fn order(&self, other: &Self, texts: &dyn TextDigests) -> Ordering {
        self.prefix.cmp(&other.prefix).then_with(|| {
            match (self.reader.record(), other.reader.record()) {
                (Some(a), Some(b)) => a.order(&b, texts),
                _ => Ordering::Equal,
            }
        })
    }
}

/// Passes the records of all runs to `take` in order.
///
/// # Errors
/// I/O errors of temporary data, and those of `take`.
pub(super) fn merge(
    runs: &[SpooledBytes],
    texts: &dyn TextDigests,
    take: &mut dyn FnMut(&CaptureRecord<'_>) -> Result<()>,
) -> Result<()> {
    let mut sorted: Vec<MergedRun<'_>> = Vec::with_capacity(runs.len());
    for run in runs {
        let mut run = MergedRun {
            reader: RecordReader::new(run)?,
            prefix: 0,
        };
        if run.read_prefix() {
            sorted.push(run);
        }
    }
    // The run with the least record last. An insertion costs few comparisons and moves few bytes:
    // runs are few.
    sorted.sort_by(|a, b| b.order(a, texts));
    while let Some(mut least) = sorted.pop() {
        // The next record often comes from the same run.
        loop {
            if let Some(record) = least.reader.record() {
                take(&record)?;
            }
            if !least.advance()? {
                break;
            }
            if sorted
                .last()
                .is_some_and(|next| next.order(&least, texts).is_lt())
            {
                let at = sorted.partition_point(|run| run.order(&least, texts).is_gt());
                sorted.insert(at, least);
                break;
            }
        }
    }
    Ok(())
}
