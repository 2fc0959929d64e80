//! Counts columns of URLs for a report, or finds the origins that the snapshot lacks.

use crate::container::criterion::Criterion;
use crate::container::judged_records::RecordUrls;
use crate::container::sample::Sample;
use crate::container::settings::Settings;
use crate::container::tally::{BlockTally, Tally};
use crate::container::unknown_origins::{OriginBuffer, OriginSet};
use crate::error::Result;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, VerdictsRef};
use crate::parquet::input::ParquetInput;
use crate::parquet::row_groups::{RowBlock, RowGroupSource, all_row_groups};
use crate::parquet::tables::RowProgress;
use crate::parquet::urls::LongValue;
use crate::pipeline::FilterStats;
use crate::pipeline::ordered::{self, OrderedItem};

/// Counts every row of the inputs and takes the sample. A row counts as disallowed if one agent or
/// more may not fetch its URL.
pub(super) fn run(
    settings: &Settings<'_>,
    inputs: &[ParquetInput],
    tally: &Tally,
    sample: &mut Sample,
) -> Result<FilterStats> {
    let engine = settings.judge.engine();
    let mut total = FilterStats::default();
    let progress = RowProgress::new(settings, inputs);
    ordered::run(
        &RowGroupSource { inputs },
        all_row_groups(inputs),
        || (engine.scratch(), BlockTally::new(engine.agents().len())),
        |block, (scratch, local)| {
            let counted = count_rows(engine, block, scratch, |verdicts, rows, _| {
                local.count(verdicts, rows)
            });
            local.flush(tally);
            counted
        },
        |item| {
            if let OrderedItem::Block(block) = item {
                total.add(&block.stats);
                progress.report(total.lines);
                // A line ends with its line end, which is not part of the sampled URL.
                sample.add(block.disallowed.len(), |number| {
                    block.urls.text[block.disallowed[number].clone()]
                        .trim_ascii()
                        .to_vec()
                });
            }
            Ok(())
        },
    )?;
    Ok(total)
}

/// Adds the origins of all rows that the snapshot lacks.
pub(super) fn unknown_origins(
    settings: &Settings<'_>,
    inputs: &[ParquetInput],
    found: &OriginSet,
) -> Result<FilterStats> {
    let engine = settings.judge.engine();
    let mut total = FilterStats::default();
    let progress = RowProgress::new(settings, inputs);
    ordered::run(
        &RowGroupSource { inputs },
        all_row_groups(inputs),
        || (engine.scratch(), OriginBuffer::default()),
        |block, (scratch, buffer)| {
            count_rows(engine, block, scratch, |verdicts, _, urls| {
                found.add_unknown(verdicts, urls, buffer);
                false
            })
        },
        |item| {
            if let OrderedItem::Block(block) = item {
                total.add(&block.stats);
                progress.report(total.lines);
            }
            Ok(())
        },
    )?;
    Ok(total)
}

/// Judges and counts the rows of a block. `count` gets rows with the same verdicts, and their URLs.
/// If it returns true they are disallowed, and the block keeps them.
fn count_rows<'s>(
    judge: &Engine<'s>,
    block: &mut RowBlock,
    scratch: &mut Scratch<'s>,
    mut count: impl FnMut(&VerdictsRef<'_>, u64, RecordUrls<'_>) -> bool,
) -> Result<()> {
    let criterion = Criterion::DISALLOWED_FOR_ANY;
    let RowBlock {
        urls: batch,
        stats,
        disallowed,
        ..
    } = block;
    *stats = FilterStats::of_bytes(batch.bytes);
    disallowed.clear();
    let mut long: Vec<usize> = batch
        .long
        .iter()
        .flat_map(|long| &long.rows)
        .copied()
        .collect();
    long.sort_unstable();
    let mut long = long.into_iter().peekable();
    let mut row = 0;
    judge.judge_lines(&batch.text, Stage::Match, scratch, |lines, verdicts| {
        // The line of a long value is empty. The value is judged below and must not count twice.
        let end = row + lines.ends.len();
        let mut rows = lines.ends.len() as u64;
        while long.next_if(|long| *long < end).is_some() {
            rows -= 1;
        }
        row = end;
        criterion.count(&verdicts, rows, stats);
        if count(&verdicts, rows, RecordUrls::new(&batch.text, lines)) {
            disallowed.extend(lines.ranges());
        }
    })?;
    for LongValue { value, rows } in &batch.long {
        let rows = rows.len() as u64;
        let verdicts = judge.judge(value.data(), scratch)?;
        criterion.count(&verdicts, rows, stats);
        let value = value.data();
        if count(&verdicts, rows, RecordUrls::of_one(value, &value.len())) {
            // The sample would drop the text of a long value, and a dictionary can repeat the value
            // any number of times.
            disallowed.extend((0..rows).map(|_| 0..0));
        }
    }
    Ok(())
}
