//! Judges a batch of URLs and gives the verdicts row by row.

use crate::error::Result;
use crate::filter::output::Criterion;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{LineVerdicts, Stage, Verdict};
use crate::parquet::urls::UrlBatch;
use crate::pipeline::FilterStats;

/// Takes the verdicts of rows, in their order.
pub(super) trait VerdictSink {
    /// Appends rows with the same verdicts.
    fn push(&mut self, verdicts: &LineVerdicts<'_>, rows: usize);
    /// Replaces the verdicts of a row that was pushed before.
    fn set(&mut self, row: usize, verdicts: &LineVerdicts<'_>);
}

/// Judges a batch into `sink` and counts its rows.
pub(super) fn judge_batch<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    batch: &UrlBatch,
    scratch: &mut Scratch<'s>,
    sink: &mut impl VerdictSink,
) -> Result<FilterStats> {
    let mut stats = FilterStats { bytes: batch.bytes, ..FilterStats::default() };
    judge.judge_lines(&batch.text, Stage::Match, scratch, |lines, verdicts| {
        criterion.count(&verdicts, lines.ends.len() as u64, &mut stats);
        if verdicts.unjudged() == Some(Verdict::Invalid) {
            stats.count_blank(&batch.text, lines);
        }
        sink.push(&verdicts, lines.ends.len());
    })?;
    // The line of a long value is empty, so it was counted as a blank line. Now the value itself is
    // judged.
    for (row, value) in &batch.long {
        let verdicts = judge.judge(value.data(), scratch)?;
        stats.lines -= 1;
        stats.invalid -= 1;
        stats.blank -= 1;
        criterion.count(&verdicts, 1, &mut stats);
        sink.set(*row, &verdicts);
    }
    Ok(stats)
}
