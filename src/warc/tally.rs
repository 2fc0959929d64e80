//! Counts the URLs of WARC records for a report.

use crate::container::criterion::Criterion;
use crate::container::sample::Sample;
use crate::container::tally::{BlockTally, Tally};
use crate::error::Result;
use crate::judge::Stage;
use crate::judge::engine::{Engine, Scratch};
use crate::pipeline::FilterStats;
use crate::warc::block::WarcBlock;
use crate::warc::chain::RecordJob;

/// Judges and counts records.
pub(super) struct TallyJob<'a, 's> {
    pub engine: &'a Engine<'s>,
}

/// The counts of all records.
///
/// Workers count a block in the block itself: its records are final only when
/// [`chain`](super::chain) takes them in order, and may be judged again until then.
pub(super) struct TallyWriter<'t> {
    pub tally: &'t Tally,
    pub sample: &'t mut Sample,
    pub total: FilterStats,
}

impl<'s, 't> RecordJob<TallyWriter<'t>> for TallyJob<'_, 's> {
    type Scratch = Scratch<'s>;

    fn scratch(&self) -> Scratch<'s> {
        self.engine.scratch()
    }

    fn judge(&self, block: &mut WarcBlock, scratch: &mut Scratch<'s>) -> Result<()> {
        block.extract_urls();
        let agents = self.engine.agents().len();
        let results = &mut block.results;
        let counts = results
            .tally
            .get_or_insert_with(|| Box::new(BlockTally::new(agents)));
        counts.clear();
        results.disallowed.clear();
        let stats = &mut results.stats;
        *stats = FilterStats::default();
        let disallowed = &mut results.disallowed;
        let mut records = block.records.as_slice();
        self.engine.judge_lines(
            &results.urls.urls,
            Stage::Match,
            scratch,
            |lines, verdicts| {
                let criterion = Criterion::DISALLOWED_FOR_ANY;
                criterion.count(&verdicts, lines.ends.len() as u64, stats);
                // A `warcinfo` record has no URL and is not a line of the report.
                let (own, rest) = records.split_at(lines.ends.len().min(records.len()));
                records = rest;
                let urls = own.iter().filter(|record| !record.is_warcinfo).count();
                if counts.count(&verdicts, urls as u64) {
                    disallowed.extend(lines.ranges());
                }
            },
        )?;
        block.settle_stats();
        Ok(())
    }

    fn write(&self, block: &mut WarcBlock, writer: &mut TallyWriter<'t>) -> Result<()> {
        let results = &mut block.results;
        writer.total.add(&results.stats);
        if let Some(counts) = &mut results.tally {
            counts.flush(writer.tally);
        }
        writer.sample.add(results.disallowed.len(), |number| {
            let url = &results.urls.urls[results.disallowed[number].clone()];
            url.trim_ascii().to_vec()
        });
        Ok(())
    }

    fn begin(&self, _: &WarcBlock, _: &mut TallyWriter<'t>) -> Result<()> {
        Ok(())
    }

    fn part(&self, _: &WarcBlock, _: &[u8], _: &mut TallyWriter<'t>) -> Result<()> {
        Ok(())
    }

    fn end(&self, block: &mut WarcBlock, writer: &mut TallyWriter<'t>) -> Result<()> {
        self.write(block, writer)
    }
}
