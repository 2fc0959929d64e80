//! Writes the rows of every row group to their outputs.
//!
//! One row group at a time: all workers judge its rows, then all workers write its columns. Added
//! columns of the disallowed rows are encoded while the rows are judged.

use crate::container::added::AddedMemory;
use crate::container::outputs::{Output, Outputs};
use crate::container::settings::Settings;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::parquet::added::ColumnAdder;
use crate::parquet::columns::VerdictColumns;
use crate::parquet::input::{ParquetInput, guard, same_schema, table_error};
use crate::parquet::metadata::RunEntries;
use crate::parquet::new_columns::ColumnEncoders;
use crate::parquet::rewrite::{self, ColumnTarget};
use crate::parquet::row_groups::{
    RowGroupId, RowGroupSource, RowProgress, all_row_groups, judge_batch,
};
use crate::parquet::spool::EncodedChunk;
use crate::parquet::table::{TableWriter, existing_column};
use crate::pipeline::ordered::{self, OrderedItem};
use crate::pipeline::{Destination, FilterStats};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;

struct RouteOutput<'o> {
    destination: Destination,
    table: TableWriter<'o>,
}

/// The columns that the disallowed rows get.
struct DisallowedColumns<'j> {
    adder: ColumnAdder<'j>,
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    path: PathBuf,
}

impl DisallowedColumns<'_> {
    fn encoders(&self) -> ColumnEncoders {
        ColumnEncoders::new(&self.columns, &self.properties, &self.path)
    }
}

/// The judged rows of a row group.
struct JudgedRows {
    /// The output that each row gets.
    outputs: Vec<Option<Destination>>,
    /// The added columns of the disallowed rows.
    added: Vec<EncodedChunk>,
}

pub(super) fn run(
    settings: &Settings<'_>,
    inputs: &[ParquetInput],
    outputs: &mut Outputs<Output<'_>>,
) -> Result<FilterStats> {
    let first = same_schema(inputs)?;
    let by_destination = settings.criterion.by_destination(outputs.each_mut());
    // All tables are started before the first row is read, so an output that cannot be written
    // costs no time.
    let run = RunEntries::of_filter(settings, inputs)?;
    let mut tables = Vec::new();
    let mut adds = None;
    for (destination, output) in Destination::ALL.into_iter().zip(by_destination) {
        let Some(output) = output else { continue };
        let adder = ColumnAdder::new(settings.added, settings.judge);
        let fields = match destination {
            Destination::Disallowed => adder.fields(VerdictColumns::Bits, settings.name)?,
            _ => Vec::new(),
        };
        if let Some(name) = existing_column(first, &fields) {
            let what =
                format!("there is a column {name:?} already; rename it, or leave out the new one");
            let err = Error::from(ErrorKind::BadTable(what)).at(&first.path);
            return Err(err.with_remedy(Remedy::LeaveColumnOut));
        }
        let entries = run.with_destination(destination);
        let table = guard(|| TableWriter::create(output, first, &fields, entries))?;
        if !fields.is_empty() {
            let all = table.writer.schema_descr().columns();
            adds = Some(DisallowedColumns {
                adder,
                columns: all[first.schema().num_columns()..].to_vec(),
                properties: table.writer.properties().clone(),
                path: table.path().to_owned(),
            });
        }
        tables.push(RouteOutput { destination, table });
    }
    let mut total = FilterStats::of_filter(settings.judge.engine());
    let progress = RowProgress::new(settings, inputs);
    for id in all_row_groups(inputs) {
        let input = &inputs[id.file];
        let judged = judge_row_group(settings, adds.as_ref(), inputs, id, &mut |stats| {
            total.add(stats);
            progress.report(total.lines);
        })?;
        route(&mut tables, input, id.row_group, judged).map_err(|err| err.at(&input.path))?;
    }
    tables
        .into_iter()
        .try_for_each(|output| guard(|| output.table.finish_with(run.counts(&total))))?;
    Ok(total)
}

fn judge_row_group(
    settings: &Settings<'_>,
    adds: Option<&DisallowedColumns<'_>>,
    inputs: &[ParquetInput],
    id: RowGroupId,
    count: &mut (dyn FnMut(&FilterStats) + Send),
) -> Result<JudgedRows> {
    let engine = settings.judge.engine();
    let criterion = settings.criterion;
    let mut all = Vec::new();
    let mut encoders = adds.map(DisallowedColumns::encoders);
    ordered::run(
        &RowGroupSource { inputs },
        vec![id],
        || (engine.scratch(), AddedMemory::default()),
        |block, (scratch, memory)| {
            // The verdicts of a row with a long value come twice, and the second ones stay.
            let judged = &mut block.outputs;
            judged.resize(block.urls.rows, Some(Destination::Invalid));
            let added = &mut block.columns.added;
            if let Some(adds) = adds {
                *added = adds.adder.batch(block.urls.rows);
            }
            block.stats = judge_batch(
                engine,
                criterion,
                &block.urls,
                scratch,
                |rows, urls, verdicts| {
                    let output = criterion.output(verdicts);
                    judged[rows.clone()].fill(output);
                    if let Some(adds) = adds
                        && output == Some(Destination::Disallowed)
                    {
                        adds.adder.set(added, rows, urls, verdicts, memory)?;
                    }
                    Ok(())
                },
            )?;
            if adds.is_some() {
                let is_disallowed = judged
                    .iter()
                    .map(|output| *output == Some(Destination::Disallowed));
                added.retain(&is_disallowed.collect::<Vec<bool>>());
            }
            Ok(())
        },
        |item| {
            let OrderedItem::Block(block) = item else {
                return Ok(());
            };
            all.extend_from_slice(&block.outputs);
            count(&block.stats);
            match &mut encoders {
                // A batch without rows has no columns.
                Some(encoders) if block.outputs.contains(&Some(Destination::Disallowed)) => {
                    guard(|| encoders.write_added(&block.columns.added))
                }
                _ => Ok(()),
            }
        },
    )?;
    let added = match encoders {
        Some(encoders) => guard(|| encoders.close())?,
        None => Vec::new(),
    };
    Ok(JudgedRows {
        outputs: all,
        added,
    })
}

/// Writes the rows of a row group to their outputs.
fn route(
    tables: &mut [RouteOutput<'_>],
    input: &ParquetInput,
    row_group: usize,
    judged: JudgedRows,
) -> Result<()> {
    let JudgedRows { outputs, mut added } = judged;
    let outputs = outputs.as_slice();
    let mut partial = Vec::new();
    for target in tables {
        match outputs
            .iter()
            .filter(|output| **output == Some(target.destination))
            .count()
        {
            0 => {}
            all if all == outputs.len() => {
                let more = match target.destination {
                    Destination::Disallowed => std::mem::take(&mut added),
                    _ => Vec::new(),
                };
                guard(|| target.table.copy(input, row_group, || Ok(more)))?
            }
            _ => partial.push(target),
        }
    }
    if partial.is_empty() {
        return Ok(());
    }
    let targets: Vec<_> = partial
        .iter()
        .map(|target| ColumnTarget {
            destination: target.destination,
            out: target.table.path().to_owned(),
        })
        .collect();
    let mut groups = partial
        .iter_mut()
        .map(|target| guard(|| target.table.row_group()))
        .collect::<Result<Vec<_>>>()?;
    let columns: Vec<usize> = (0..input.schema().num_columns()).collect();
    // A few columns at a time bound the memory for encoded chunks.
    for columns in columns.chunks(2 * rayon::current_num_threads()) {
        let written = columns
            .par_iter()
            .map(|column| guard(|| rewrite::column(input, row_group, *column, outputs, &targets)))
            .collect::<Result<Vec<_>>>()?;
        for chunks in written {
            for (group, chunk) in groups.iter_mut().zip(chunks) {
                append(group, chunk)?;
            }
        }
    }
    for (mut group, target) in groups.into_iter().zip(targets) {
        if target.destination == Destination::Disallowed {
            for chunk in std::mem::take(&mut added) {
                append(&mut group, chunk)?;
            }
        }
        guard(|| group.close().map(drop).map_err(table_error))?;
    }
    Ok(())
}

/// Appends a column to a row group.
fn append<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    chunk: EncodedChunk,
) -> Result<()> {
    guard(|| {
        group
            .append_column(&chunk.data, chunk.metadata)
            .map(drop)
            .map_err(table_error)
    })
}
