//! A batch of URLs to verdicts, row by row.

use super::super::Stage;
use super::super::judge::{Judge, Scratch};
use super::super::output::Criterion;
use super::super::stats::FilterStats;
use super::super::verdicts::Verdicts;
use super::urls::Batch;
use crate::error::Result;

/// Takes the verdicts of rows, in their order.
pub(super) trait Rows {
    /// So many rows with the same verdicts come next.
    fn push(&mut self, verdicts: &Verdicts<'_>, rows: usize);
    /// The row of this number, taken already, has these verdicts instead.
    fn set(&mut self, row: usize, verdicts: &Verdicts<'_>);
}

/// Judges a batch into `rows`, and counts what comes of it.
pub(super) fn judge<'s, D: AsRef<[u8]>>(
    judge: &Judge<'s, D>,
    criterion: Criterion,
    batch: &Batch,
    scratch: &mut Scratch<'s>,
    rows: &mut impl Rows,
) -> Result<FilterStats> {
    let mut count = Count::new(criterion, judge.agents().len());
    judge.judge_lines(&batch.text, Stage::Match, scratch, |lines, verdicts| {
        count.take(&verdicts, lines.ends.len() as u64);
        rows.push(&verdicts, lines.ends.len());
    })?;
    // A long value stood as an empty line, which is no URL.
    for (row, value) in &batch.long {
        let verdicts = judge.judge(value.data(), scratch)?;
        count.stats.lines -= 1;
        count.stats.invalid -= 1;
        count.take(&verdicts, 1);
        rows.set(*row, &verdicts);
    }
    count.stats.bytes = batch.bytes;
    Ok(count.stats)
}

struct Count {
    criterion: Criterion,
    agents: usize,
    stats: FilterStats,
}

impl Count {
    fn new(criterion: Criterion, agents: usize) -> Self {
        let stats = FilterStats { agent_allowed: vec![0; agents], ..FilterStats::default() };
        Self { criterion, agents, stats }
    }

    #[inline]
    fn take(&mut self, verdicts: &Verdicts<'_>, rows: u64) {
        self.stats.count(self.criterion.line_verdict(verdicts, self.agents), rows);
        self.stats.via_other_scheme += u64::from(verdicts.via_other_scheme()) * rows;
        if self.agents > 1 {
            for (agent, allowed) in self.stats.agent_allowed.iter_mut().enumerate() {
                *allowed += u64::from(verdicts.may_fetch(agent)) * rows;
            }
        }
    }
}
