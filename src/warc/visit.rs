//! Visits the records of WARC files.

use crate::container::judged_records::TimedLines;
use crate::container::visit::{BlockUrls, BlockVisitor, BlockWorker};
use crate::error::Result;
use crate::pipeline::{FilterStats, TimesFound};
use crate::warc::block::{WarcBlock, time_of, url_of};
use crate::warc::chain::RecordJob;
use std::ops::Range;

/// Visits records in order, on one thread at a time.
///
/// A record is final only when [`chain`](super::chain) takes it: a worker may have cut a block where
/// no record begins. So workers only inflate and cut. That takes nearly all the time of this job.
pub(super) struct VisitJob;

/// The visitor, and the counts of all records.
pub(super) struct VisitWriter<'v> {
    visitor: &'v dyn BlockVisitor,
    worker: Box<dyn BlockWorker + 'v>,
    /// The URLs of a block, one per line.
    urls: Vec<u8>,
    /// Their times, if these are asked for.
    times: Vec<Option<i64>>,
    with_times: bool,
    /// The selected ranges of `urls`.
    selected: Vec<Range<usize>>,
    pub total: FilterStats,
}

impl<'v> VisitWriter<'v> {
    pub(super) fn new(visitor: &'v dyn BlockVisitor, with_times: bool) -> Self {
        Self {
            visitor,
            worker: visitor.worker(),
            urls: Vec::new(),
            times: Vec::new(),
            with_times,
            selected: Vec::new(),
            total: FilterStats::default(),
        }
    }
}

impl<'v> RecordJob<VisitWriter<'v>> for VisitJob {
    type Scratch = ();

    fn scratch(&self) {}

    fn judge(&self, _: &mut WarcBlock, _: &mut ()) -> Result<()> {
        Ok(())
    }

    fn write(&self, block: &mut WarcBlock, writer: &mut VisitWriter<'v>) -> Result<()> {
        let VisitWriter {
            visitor,
            worker,
            urls,
            times,
            with_times,
            selected,
            total,
        } = writer;
        urls.clear();
        times.clear();
        selected.clear();
        let mut unreadable = None;
        for record in &block.records {
            total.bytes += record.text_len;
            if record.is_warcinfo {
                total.warcinfo += 1;
            } else {
                urls.extend_from_slice(url_of(&block.heads, record));
                urls.push(b'\n');
                if *with_times {
                    times.push(time_of(&block.heads, record, &mut unreadable));
                }
            }
        }
        total.add(&FilterStats {
            times: TimesFound::of(times, unreadable.as_deref()),
            ..FilterStats::default()
        });
        let lines = TimedLines { text: urls, times };
        worker.visit(BlockUrls::Lines(lines), total, selected)?;
        visitor.selected(urls, selected);
        Ok(())
    }
}
