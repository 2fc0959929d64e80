//! A batch of URLs to verdicts, row by row.

use crate::error::Result;
use crate::filter::output::Criterion;
use crate::judge::LineVerdicts;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, Verdict};
use crate::parquet::urls::Batch;
use crate::pipeline::FilterStats;

/// Takes the verdicts of rows, in their order.
pub(super) trait Rows {
    /// So many rows with the same verdicts come next.
    fn push(&mut self, verdicts: &LineVerdicts<'_>, rows: usize);
    /// The row of this number, taken already, has these verdicts instead.
    fn set(&mut self, row: usize, verdicts: &LineVerdicts<'_>);
}

/// Judges a batch into `rows`, and counts what comes of it.
pub(super) fn judge<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    batch: &Batch,
    scratch: &mut Scratch<'s>,
    rows: &mut impl Rows,
) -> Result<FilterStats> {
    let mut stats = FilterStats::default();
    judge.judge_lines(&batch.text, Stage::Match, scratch, |lines, verdicts| {
        criterion.count(&verdicts, lines.ends.len() as u64, &mut stats);
        if verdicts.unjudged() == Some(Verdict::Invalid) {
            stats.count_blank(&batch.text, lines);
        }
        rows.push(&verdicts, lines.ends.len());
    })?;
    // A long value stood as an empty line, which is no URL.
    for (row, value) in &batch.long {
        let verdicts = judge.judge(value.data(), scratch)?;
        stats.lines -= 1;
        stats.invalid -= 1;
        stats.blank -= 1;
        criterion.count(&verdicts, 1, &mut stats);
        rows.set(*row, &verdicts);
    }
    stats.bytes = batch.bytes;
    Ok(stats)
}
