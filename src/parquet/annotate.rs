//! Copies every row group and appends columns of verdicts.
//!
//! All workers judge, and one more thread copies the existing columns meanwhile.

use crate::container::added::AddedMemory;
use crate::container::outputs::Output;
use crate::container::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::parquet::added::ColumnAdder;
use crate::parquet::columns::VerdictColumns;
use crate::parquet::input::{ParquetInput, bad, guard, same_schema};
use crate::parquet::metadata::RunEntries;
use crate::parquet::new_columns::{ColumnEncoders, NewColumns};
use crate::parquet::row_groups::{
    RowGroupId, RowGroupSource, RowProgress, all_row_groups, judge_batch,
};
use crate::parquet::spool::EncodedChunk;
use crate::parquet::table::TableWriter;
use crate::pipeline::FilterStats;
use crate::pipeline::ordered::{self, OrderedItem};
use crate::threads;
use crossbeam_channel::{Receiver, Sender};

/// The row groups whose verdicts may wait until their other columns are copied.
const AHEAD: usize = 2;

pub(super) fn run(
    settings: &Settings<'_>,
    columns: VerdictColumns,
    inputs: &[ParquetInput],
    output: &mut Output<'_>,
) -> Result<FilterStats> {
    let first = same_schema(inputs)?;
    let agents = settings.judge.agents();
    let name = settings.name.unwrap_or(columns.default_name());
    let run = RunEntries::of_annotation(settings, inputs)?;
    let adder = ColumnAdder::new(settings.added, settings.judge);
    let mut fields = columns.fields(agents, name)?;
    fields.extend(adder.fields(columns, settings.name)?);
    let mut table = guard(|| TableWriter::create(output, first, &fields, run.before_rows()))
        .map_err(|err| err.at(&first.path))?;
    let new_columns =
        table.writer.schema_descr().columns()[first.schema().num_columns()..].to_vec();
    let properties = table.writer.properties().clone();
    let path = table.path().to_owned();
    let encoders = || ColumnEncoders::new(&new_columns, &properties, &path);
    let row_groups = &all_row_groups(inputs);
    let (sender, receiver) = crossbeam_channel::bounded(AHEAD);
    // The thread borrows the table, because the footer is written after the thread ends.
    let target = &mut table;
    let judged = std::thread::scope(|scope| {
        // The thread owns the receiver and drops it when copying ends. Then `send` fails instead of
        // waiting for ever.
        let copying = threads::spawn(scope, move || {
            guard(|| copy(target, inputs, row_groups, receiver))
        })?;
        let judged = judge(
            settings, columns, &adder, inputs, row_groups, encoders, sender,
        );
        let copied = copying
            .join()
            .unwrap_or_else(|_| bad("the thread that copies columns panicked"));
        // If one half fails, the other is cut off. The error to report is that of the half that was
        // not cut off.
        match (judged, copied) {
            (Err(err), _) if !is_cut_off(&err) => Err(err),
            (_, Err(err)) => Err(err),
            (judged, Ok(())) => judged,
        }
    })?;
    // The counts are known now, and the footer is still to be written.
    let counts = run.counts(&judged);
    guard(|| table.finish_with(counts))?;
    Ok(judged)
}

/// Judges all row groups and sends their new columns to the copying thread.
fn judge(
    settings: &Settings<'_>,
    columns: VerdictColumns,
    adder: &ColumnAdder<'_>,
    inputs: &[ParquetInput],
    row_groups: &[RowGroupId],
    encoders: impl Fn() -> ColumnEncoders + Send + Sync,
    sender: Sender<Vec<EncodedChunk>>,
) -> Result<FilterStats> {
    let engine = settings.judge.engine();
    let mut total = FilterStats::of_agents(engine);
    let progress = RowProgress::new(settings, inputs);
    let mut open = encoders();
    ordered::run(
        &RowGroupSource { inputs },
        row_groups.to_vec(),
        || (engine.scratch(), AddedMemory::default()),
        |block, (scratch, memory)| {
            block.columns = NewColumns {
                verdicts: columns.batch(engine.agents().len(), block.urls.rows),
                added: adder.batch(block.urls.rows),
            };
            let NewColumns { verdicts, added } = &mut block.columns;
            block.stats = judge_batch(
                engine,
                settings.criterion,
                &block.urls,
                scratch,
                |rows, urls, found| {
                    verdicts.set(rows.clone(), found);
                    adder.set(added, rows, urls, found, memory)
                },
            )?;
            // Judging sees a null as an empty line. Only now are the verdicts of nulls removed.
            block.columns.drop_nulls(&block.urls.nulls);
            Ok(())
        },
        |item| match item {
            OrderedItem::Block(block) => {
                total.add(&block.stats);
                progress.report(total.lines);
                guard(|| open.write(&block.columns))
            }
            // A row group is an input of the pipeline, so its columns are complete here.
            OrderedItem::EndOfInput => {
                let done = std::mem::replace(&mut open, encoders());
                sender.send(guard(|| done.close())?).map_err(|_| cut_off())
            }
        },
    )?;
    Ok(total)
}

/// Copies the columns of all row groups, and appends the new columns as they arrive.
fn copy(
    table: &mut TableWriter,
    inputs: &[ParquetInput],
    row_groups: &[RowGroupId],
    judged: Receiver<Vec<EncodedChunk>>,
) -> Result<()> {
    for id in row_groups {
        table.copy(&inputs[id.file], id.row_group, || {
            judged.recv().map_err(|_| cut_off())
        })?;
    }
    Ok(())
}

/// The error that the other half has failed.
fn cut_off() -> Error {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}

fn is_cut_off(err: &Error) -> bool {
    matches!(err.kind(), ErrorKind::Io(err) if err.kind() == std::io::ErrorKind::ConnectionAborted)
}
