//! Finds the origins of WARC records that the snapshot lacks.

use crate::container::criterion::Criterion;
use crate::container::unknown_origins::{OriginBuffer, OriginSet};
use crate::error::Result;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Reason, Stage};
use crate::pipeline::FilterStats;
use crate::warc::block::WarcBlock;
use crate::warc::chain::RecordJob;

/// Judges records, and keeps those of unknown origins in their block.
pub(super) struct UnknownJob<'a, 's> {
    pub engine: &'a Engine<'s>,
}

/// The origins of all records.
///
/// They are taken from the blocks in order: a record is final only when [`chain`](super::chain)
/// takes it, and what was cut before may not be a record.
pub(super) struct UnknownWriter<'f> {
    found: &'f OriginSet,
    buffer: OriginBuffer,
    pub total: FilterStats,
}

impl<'f> UnknownWriter<'f> {
    pub(super) fn new(found: &'f OriginSet) -> Self {
        Self {
            found,
            buffer: OriginBuffer::default(),
            total: FilterStats::default(),
        }
    }
}

impl<'s, 'f> RecordJob<UnknownWriter<'f>> for UnknownJob<'_, 's> {
    type Scratch = Scratch<'s>;

    fn scratch(&self) -> Scratch<'s> {
        self.engine.scratch()
    }

    fn judge(&self, block: &mut WarcBlock, scratch: &mut Scratch<'s>) -> Result<()> {
        block.extract_urls();
        let results = &mut block.results;
        results.unknown.clear();
        results.stats = FilterStats::default();
        let text = &results.urls.urls;
        self.engine
            .judge_lines(text, Stage::Match, scratch, |lines, verdicts| {
                let number = lines.ends.len() as u64;
                Criterion::default().count(&verdicts, number, &mut results.stats);
                if verdicts.reason() == Reason::UnknownOrigin {
                    results.unknown.extend(lines.ranges());
                }
            })?;
        block.settle_stats();
        Ok(())
    }

    fn write(&self, block: &mut WarcBlock, writer: &mut UnknownWriter<'f>) -> Result<()> {
        let results = &block.results;
        writer.total.add(&results.stats);
        for range in results.unknown.iter().cloned() {
            writer
                .found
                .add(&results.urls.urls[range], &mut writer.buffer);
        }
        Ok(())
    }

    fn begin(&self, _: &WarcBlock, _: &mut UnknownWriter<'f>) -> Result<()> {
        Ok(())
    }

    fn part(&self, _: &WarcBlock, _: &[u8], _: &mut UnknownWriter<'f>) -> Result<()> {
        Ok(())
    }

    fn end(&self, block: &mut WarcBlock, writer: &mut UnknownWriter<'f>) -> Result<()> {
        self.write(block, writer)
    }
}
