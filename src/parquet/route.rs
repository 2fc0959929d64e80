//! The rows of every row group to the outputs of their verdicts.
//!
//! One row group is taken at a time: all workers judge its rows, then all workers write its columns.

use crate::atomic::commit_all;
use crate::error::Result;
use crate::filter::output::Criterion;
use crate::judge::{LineVerdicts, Verdict};
use crate::parquet::input::{ParquetInput, guard};
use crate::parquet::pipeline::{self, Place, Step};
use crate::parquet::spool::Encoded;
use crate::parquet::table::Table;
use crate::parquet::verdicts::{self, Rows};
use crate::parquet::{ParquetFilter, ParquetOutputs, places, rewrite, same_schema};
use crate::pipeline::FilterStats;
use rayon::prelude::*;
use std::path::Path;

/// One of the outputs.
struct Output<'o> {
    verdict: Verdict,
    path: &'o Path,
    table: Table,
}

pub(super) fn run(filter: &ParquetFilter<'_>, inputs: &[ParquetInput], to: ParquetOutputs<'_>) -> Result<FilterStats> {
    let first = same_schema(inputs)?;
    let (allowed, disallowed) = filter.criterion.by_verdict(to.kept, to.other);
    let paths = [
        (Verdict::Allowed, allowed),
        (Verdict::Disallowed, disallowed),
        (Verdict::Unknown, to.unknown),
        (Verdict::Invalid, to.invalid),
    ];
    let mut outputs = Vec::new();
    for (verdict, path) in paths {
        if let Some(path) = path {
            let table = guard(|| Table::create(path, first, &[], Vec::new()))?;
            outputs.push(Output { verdict, path, table });
        }
    }
    let mut total = FilterStats::default();
    let mut progress = filter.progress_of(inputs);
    for place in places(inputs) {
        let input = &inputs[place.0];
        let verdicts = judge(filter, inputs, place, &mut |stats| {
            total.add(stats);
            progress(total.lines);
        })?;
        guard(|| route(&mut outputs, input, place.1, &verdicts)).map_err(|err| err.at(&input.path))?;
    }
    filter.check(&total, inputs)?;
    let files = outputs.into_iter().map(|output| guard(|| output.table.finish())).collect::<Result<Vec<_>>>()?;
    commit_all(files)?;
    Ok(total)
}

/// The verdicts on the rows of a row group.
fn judge(
    filter: &ParquetFilter<'_>,
    inputs: &[ParquetInput],
    place: Place,
    count: &mut (dyn FnMut(&FilterStats) + Send),
) -> Result<Vec<Verdict>> {
    let agents = filter.judge.agents().len();
    let mut all = Vec::new();
    pipeline::run(
        inputs,
        &[place],
        || filter.judge.engine().scratch(),
        |batch, scratch| {
            let rows = Vec::with_capacity(batch.rows);
            let mut rows = RowVerdicts { criterion: filter.criterion, agents, rows };
            let stats = verdicts::judge(filter.judge.engine(), filter.criterion, batch, scratch, &mut rows)?;
            Ok((rows.rows, stats))
        },
        |step| {
            if let Step::Rows((rows, stats)) = step {
                all.extend_from_slice(&rows);
                count(&stats);
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// One verdict a row.
struct RowVerdicts {
    criterion: Criterion,
    agents: usize,
    rows: Vec<Verdict>,
}

impl Rows for RowVerdicts {
    #[inline]
    fn push(&mut self, verdicts: &LineVerdicts<'_>, rows: usize) {
        let end = self.rows.len() + rows;
        self.rows.resize(end, self.criterion.line_verdict(verdicts, self.agents));
    }

    fn set(&mut self, row: usize, verdicts: &LineVerdicts<'_>) {
        self.rows[row] = self.criterion.line_verdict(verdicts, self.agents);
    }
}

/// Writes the rows of a row group to the outputs of their verdicts.
fn route(outputs: &mut [Output<'_>], input: &ParquetInput, row_group: usize, verdicts: &[Verdict]) -> Result<()> {
    let mut partial = Vec::new();
    for output in outputs {
        match verdicts.iter().filter(|verdict| **verdict == output.verdict).count() {
            0 => {}
            all if all == verdicts.len() => output.table.copy(input, row_group, || Ok(Vec::new()))?,
            _ => partial.push(output),
        }
    }
    if partial.is_empty() {
        return Ok(());
    }
    let targets: Vec<_> = partial.iter().map(|output| (output.verdict, output.path)).collect();
    let mut groups = partial.iter_mut().map(|output| output.table.row_group()).collect::<Result<Vec<_>>>()?;
    let columns: Vec<usize> = (0..input.schema().num_columns()).collect();
    // A few columns at a time: each holds some memory.
    for columns in columns.chunks(2 * rayon::current_num_threads()) {
        let write = |column: &usize| guard(|| rewrite::column(input, (row_group, *column), verdicts, &targets));
        let written: Vec<Vec<Encoded>> = columns.par_iter().map(write).collect::<Result<_>>()?;
        for chunks in written {
            for (group, (chunk, end)) in groups.iter_mut().zip(chunks) {
                group.append_column(&chunk, end).map_err(crate::parquet::input::table_error)?;
            }
        }
    }
    groups.into_iter().try_for_each(|group| group.close().map(drop).map_err(crate::parquet::input::table_error))
}
