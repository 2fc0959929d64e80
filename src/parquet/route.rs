//! Writes the rows of every row group to the outputs of their verdicts.
//!
//! One row group at a time: all workers judge its rows, then all workers write its columns.

use crate::container::outputs::{Output, Outputs};
use crate::container::settings::Settings;
use crate::error::Result;
use crate::judge::Verdict;
use crate::parquet::input::{ParquetInput, guard, table_error};
use crate::parquet::rewrite::{self, ColumnTarget};
use crate::parquet::row_groups::{RowGroupId, RowGroupSource, all_row_groups, judge_batch};
use crate::parquet::table::TableWriter;
use crate::parquet::tables::{RowProgress, same_schema};
use crate::pipeline::FilterStats;
use crate::pipeline::ordered::{self, OrderedItem};
use rayon::prelude::*;

struct RouteOutput<'o> {
    verdict: Verdict,
    table: TableWriter<'o>,
}

pub(super) fn run(
    settings: &Settings<'_>,
    inputs: &[ParquetInput],
    outputs: &mut Outputs<Output<'_>>,
) -> Result<FilterStats> {
    let first = same_schema(inputs)?;
    let targets = outputs.each_mut();
    let (allowed, disallowed) = settings.criterion.by_verdict(targets.kept, targets.other);
    let by_verdict = [
        (Verdict::Allowed, allowed),
        (Verdict::Disallowed, disallowed),
        (Verdict::Unknown, targets.unknown),
        (Verdict::Invalid, targets.invalid),
    ];
    // All tables are started before the first row is read, so an output that cannot be written
    // costs no time.
    let mut tables = Vec::new();
    for (verdict, output) in by_verdict {
        if let Some(output) = output {
            let table = guard(|| TableWriter::create(output, first, &[], Vec::new()))?;
            tables.push(RouteOutput { verdict, table });
        }
    }
    let mut total = FilterStats::default();
    let progress = RowProgress::new(settings, inputs);
    for id in all_row_groups(inputs) {
        let input = &inputs[id.file];
        let verdicts = judge_row_group(settings, inputs, id, &mut |stats| {
            total.add(stats);
            progress.report(total.lines);
        })?;
        guard(|| route(&mut tables, input, id.row_group, &verdicts))
            .map_err(|err| err.at(&input.path))?;
    }
    tables
        .into_iter()
        .try_for_each(|output| guard(|| output.table.finish()))?;
    Ok(total)
}

fn judge_row_group(
    settings: &Settings<'_>,
    inputs: &[ParquetInput],
    id: RowGroupId,
    count: &mut (dyn FnMut(&FilterStats) + Send),
) -> Result<Vec<Option<Verdict>>> {
    let engine = settings.judge.engine();
    let criterion = settings.criterion;
    let mut all = Vec::new();
    ordered::run(
        &RowGroupSource { inputs },
        vec![id],
        || engine.scratch(),
        |block, scratch| {
            // The verdicts of a row with a long value come twice, and the second ones stay.
            let judged = &mut block.verdicts;
            judged.resize(block.urls.rows, Some(Verdict::Invalid));
            block.stats = judge_batch(
                engine,
                criterion,
                &block.urls,
                scratch,
                |rows, _, verdicts| {
                    judged[rows].fill(criterion.destination(verdicts));
                },
            )?;
            Ok(())
        },
        |item| {
            if let OrderedItem::Block(block) = item {
                all.extend_from_slice(&block.verdicts);
                count(&block.stats);
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// Writes the rows of a row group to the outputs of their verdicts.
fn route(
    outputs: &mut [RouteOutput<'_>],
    input: &ParquetInput,
    row_group: usize,
    verdicts: &[Option<Verdict>],
) -> Result<()> {
    let mut partial = Vec::new();
    for output in outputs {
        match verdicts
            .iter()
            .filter(|verdict| **verdict == Some(output.verdict))
            .count()
        {
            0 => {}
            all if all == verdicts.len() => {
                output.table.copy(input, row_group, || Ok(Vec::new()))?
            }
            _ => partial.push(output),
        }
    }
    if partial.is_empty() {
        return Ok(());
    }
    let targets: Vec<_> = partial
        .iter()
        .map(|output| ColumnTarget {
            verdict: output.verdict,
            out: output.table.path().to_owned(),
        })
        .collect();
    let mut groups = partial
        .iter_mut()
        .map(|output| output.table.row_group())
        .collect::<Result<Vec<_>>>()?;
    let columns: Vec<usize> = (0..input.schema().num_columns()).collect();
    // A few columns at a time bound the memory for encoded chunks.
    for columns in columns.chunks(2 * rayon::current_num_threads()) {
        let written = columns
            .par_iter()
            .map(|column| guard(|| rewrite::column(input, row_group, *column, verdicts, &targets)))
            .collect::<Result<Vec<_>>>()?;
        for chunks in written {
            for (group, chunk) in groups.iter_mut().zip(chunks) {
                group
                    .append_column(&chunk.data, chunk.metadata)
                    .map_err(table_error)?;
            }
        }
    }
    groups
        .into_iter()
        .try_for_each(|group| group.close().map(drop).map_err(table_error))
}
