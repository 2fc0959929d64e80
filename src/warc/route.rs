//! Filters WARC files: writes each record to its output.

use crate::container::criterion::Criterion;
use crate::container::judged_records::{TimedLines, judge_timed};
use crate::error::{Error, Result};
use crate::judge::Stage;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::pipeline::{Destination, FilterStats, TimesFound};
use crate::records::ExtractedUrls;
use crate::warc::block::{BlockContent, RecordEntry, StoredRecord, WarcBlock};
use crate::warc::cdxj;
use crate::warc::chain::RecordJob;
use crate::warc::sink::{RecordSink, append_member};
use std::io::Write;

/// Judges records, and compresses those that become gzip members.
pub(super) struct RouteJob<'a, 's> {
    pub engine: &'a Engine<'s>,
    pub criterion: Criterion,
    /// Whether the texts of each destination become gzip members.
    pub compresses: [bool; Destination::COUNT],
    pub has_index: bool,
    /// Whether each record is judged by the rules of its own time.
    pub with_times: bool,
}

/// The outputs, the index, and the counts.
pub(super) struct RouteWriter<'w> {
    /// In the order of [`Destination::ALL`].
    sinks: [RecordSink<'w>; Destination::COUNT],
    /// The output of records that none of these gets.
    discarded: RecordSink<'w>,
    kept: Destination,
    index: Option<&'w mut (dyn Write + Send)>,
    /// The end of each entry of the index.
    entry_end: String,
    pub total: FilterStats,
}

impl<'w> RouteWriter<'w> {
    /// A writer to a sink for each destination. `file_name` is that of the kept records, as the index
    /// gives it; `total` has the counts before the first record.
    pub(super) fn new(
        criterion: Criterion,
        sinks: [RecordSink<'w>; Destination::COUNT],
        index: Option<&'w mut (dyn Write + Send)>,
        file_name: &str,
        total: FilterStats,
    ) -> Self {
        Self {
            sinks,
            discarded: RecordSink::new(None, false),
            kept: criterion.kept(),
            index,
            entry_end: cdxj::entry_end(file_name),
            total,
        }
    }

    /// Whether the texts of each destination become gzip members.
    pub(super) fn compresses(&self) -> [bool; Destination::COUNT] {
        Destination::ALL.map(|destination| self.sinks[destination as usize].compresses())
    }

    /// The output of a record. A `warcinfo` record describes the file, so it goes with the kept
    /// records.
    fn sink(&mut self, record: &RecordEntry, output: Option<Destination>) -> &mut RecordSink<'w> {
        let output = if record.is_warcinfo {
            Some(self.kept)
        } else {
            output
        };
        match output {
            Some(output) => &mut self.sinks[output as usize],
            None => &mut self.discarded,
        }
    }

    /// Writes the entry of a record in the index.
    fn write_entry(
        &mut self,
        block: &WarcBlock,
        record: &RecordEntry,
        (offset, length): (u64, u64),
    ) -> Result<()> {
        let entry = &block.results.index[record.index.clone()];
        match &mut self.index {
            Some(index) if !entry.is_empty() => {
                index.write_all(entry)?;
                Ok(writeln!(
                    index,
                    "\"length\": \"{length}\", \"offset\": \"{offset}\", {}",
                    self.entry_end
                )?)
            }
            _ => Ok(()),
        }
    }

    /// Ends all outputs.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(index) = &mut self.index {
            index.flush()?;
        }
        self.sinks.iter_mut().try_for_each(RecordSink::finish)
    }
}

/// The records of a block with their outputs.
fn judged(block: &WarcBlock) -> impl Iterator<Item = (&RecordEntry, Option<Destination>)> {
    block
        .records
        .iter()
        .zip(block.results.outputs.iter().copied())
}

impl<'s> RouteJob<'_, 's> {
    /// The output of each record; that of `Invalid` for a `warcinfo` record.
    fn find_outputs(&self, block: &mut WarcBlock, scratch: &mut Scratch<'s>) -> Result<()> {
        block.extract_urls(self.with_times);
        let engine = self.engine;
        let results = &mut block.results;
        results.outputs.clear();
        let ExtractedUrls {
            times,
            unreadable_time,
            ..
        } = &results.urls;
        results.stats = FilterStats {
            times: TimesFound::of(times, unreadable_time.as_deref()),
            ..FilterStats::default()
        };
        let outputs = &mut results.outputs;
        let stats = &mut results.stats;
        let urls = TimedLines {
            text: &results.urls.urls,
            times: &results.urls.times,
        };
        let joined = Joined::SameReason;
        judge_timed(
            engine,
            urls,
            Stage::Match,
            joined,
            scratch,
            &mut |lines, found| {
                let count = lines.ends.len();
                self.criterion.count(&found, count as u64, stats);
                let output = self.criterion.output(&found);
                outputs.extend(std::iter::repeat_n(output, count));
                Ok(())
            },
        )?;
        block.settle_stats();
        Ok(())
    }

    /// Compresses the texts that become gzip members.
    fn compress(&self, block: &mut WarcBlock) -> Result<()> {
        let kept = self.criterion.kept();
        let mut encoded = std::mem::take(&mut block.results.encoded);
        encoded.clear();
        for (record, output) in block.records.iter_mut().zip(&block.results.outputs) {
            let StoredRecord::Text(text) = &record.stored else {
                continue;
            };
            let output = if record.is_warcinfo {
                Some(kept)
            } else {
                *output
            };
            if output.is_some_and(|output| self.compresses[output as usize]) {
                let start = encoded.len();
                encoded =
                    append_member(&block.texts[text.clone()], encoded).map_err(Error::from_io)?;
                record.encoded = Some(start..encoded.len());
            }
        }
        block.results.encoded = encoded;
        Ok(())
    }

    /// Prepares the entries of kept records in the index.
    fn write_index(&self, block: &mut WarcBlock) {
        let kept = self.criterion.kept();
        let mut index = std::mem::take(&mut block.results.index);
        index.clear();
        for (record, output) in block.records.iter_mut().zip(&block.results.outputs) {
            let start = index.len();
            if *output == Some(kept) && !record.is_warcinfo {
                let head = &block.heads[record.head.clone()];
                let sample = &block.heads[record.sample.clone()];
                cdxj::write_entry(head, sample, &mut index);
            }
            record.index = start..index.len();
        }
        block.results.index = index;
    }
}

impl<'s, 'w> RecordJob<RouteWriter<'w>> for RouteJob<'_, 's> {
    type Scratch = Scratch<'s>;

    fn scratch(&self) -> Scratch<'s> {
        self.engine.scratch()
    }

    fn judge(&self, block: &mut WarcBlock, scratch: &mut Scratch<'s>) -> Result<()> {
        self.find_outputs(block, scratch)?;
        if block.content != BlockContent::LongText {
            self.compress(block)?;
        }
        if self.has_index {
            self.write_index(block);
        }
        Ok(())
    }

    fn write(&self, block: &mut WarcBlock, writer: &mut RouteWriter<'w>) -> Result<()> {
        writer.total.add(&block.results.stats);
        for (record, output) in judged(block) {
            let extent = writer.sink(record, output).write(block, record)?;
            writer.write_entry(block, record, extent)?;
        }
        Ok(())
    }

    fn begin(&self, block: &WarcBlock, writer: &mut RouteWriter<'w>) -> Result<()> {
        judged(block)
            .try_for_each(|(record, output)| writer.sink(record, output).begin(&record.stored))
    }

    fn part(&self, block: &WarcBlock, bytes: &[u8], writer: &mut RouteWriter<'w>) -> Result<()> {
        judged(block).try_for_each(|(record, output)| {
            writer.sink(record, output).part(&record.stored, bytes)
        })
    }

    fn end(&self, block: &mut WarcBlock, writer: &mut RouteWriter<'w>) -> Result<()> {
        writer.total.add(&block.results.stats);
        for (record, output) in judged(block) {
            let extent = writer.sink(record, output).end()?;
            writer.write_entry(block, record, extent)?;
        }
        Ok(())
    }
}
