//! Every row group as it is, with columns of verdicts behind its own.
//!
//! All workers judge, while one thread more copies the columns that are there.

use crate::error::{Error, Result};
use crate::parquet::columns::{Columns, Encoders};
use crate::parquet::input::{ParquetInput, bad, guard};
use crate::parquet::pipeline::{self, Place, Step};
use crate::parquet::spool::Encoded;
use crate::parquet::table::Table;
use crate::parquet::{ParquetFilter, places, same_schema, verdicts};
use crate::pipeline::FilterStats;
use crate::threads;
use crossbeam_channel::{Receiver, Sender};
use parquet::file::metadata::KeyValue;
use std::path::Path;

/// Row groups whose verdicts may wait for their other columns to be copied.
const AHEAD: usize = 2;

pub(super) fn run(filter: &ParquetFilter<'_>, inputs: &[ParquetInput], out: &Path) -> Result<FilterStats> {
    let first = same_schema(inputs)?;
    let agents = filter.judge.agents();
    let name = filter.name.unwrap_or(filter.columns.default_name());
    let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
    let entries = vec![KeyValue::new("robosieve.agents".to_owned(), names.join(","))];
    let fields = filter.columns.fields(agents, name)?;
    let mut table = Table::create(out, first, &fields, entries).map_err(|err| err.at(&first.path))?;
    let new_columns = table.columns_from(first.schema().num_columns());
    let properties = table.properties();
    let encoders = || Encoders::new(&new_columns, &properties, out);
    let places = places(inputs);
    let (sender, receiver) = crossbeam_channel::bounded(AHEAD);
    let (to, from) = (&mut table, &places);
    let judged = std::thread::scope(|scope| {
        // The thread owns the receiver and drops it when copying ends, so that `send` fails instead
        // of waiting for ever.
        let copying = threads::spawn(scope, move || guard(|| copy(to, inputs, from, receiver)))?;
        let judged = judge(filter, inputs, from, encoders, sender);
        let copied = copying.join().unwrap_or_else(|_| bad("the thread that copies columns panicked"));
        // Where one half fails the other is cut off; the cause is that of the half that was not.
        match (judged, copied) {
            (Err(err), _) if !is_cut_off(&err) => Err(err),
            (_, Err(err)) => Err(err),
            (judged, Ok(())) => judged,
        }
    })?;
    filter.check(&judged, inputs)?;
    guard(|| table.finish())?.commit()?;
    Ok(judged)
}

/// Judges all row groups and sends their new columns on.
fn judge(
    filter: &ParquetFilter<'_>,
    inputs: &[ParquetInput],
    places: &[Place],
    encoders: impl Fn() -> Encoders + Send + Sync,
    sender: Sender<Vec<Encoded>>,
) -> Result<FilterStats> {
    let agents = filter.judge.agents().len();
    let mut total = FilterStats::default();
    let mut progress = filter.progress_of(inputs);
    let mut open = encoders();
    pipeline::run(
        inputs,
        places,
        || filter.judge.engine().scratch(),
        |batch, scratch| {
            let mut columns = filter.columns.batch(agents, batch.rows);
            let stats = verdicts::judge(filter.judge.engine(), filter.criterion, batch, scratch, &mut columns)?;
            columns.squeeze();
            Ok((columns, stats))
        },
        |step: Step<(Columns, FilterStats)>| match step {
            Step::Rows((columns, stats)) => {
                total.add(&stats);
                progress(total.lines);
                guard(|| open.write(&columns))
            }
            Step::End => {
                let done = std::mem::replace(&mut open, encoders());
                sender.send(guard(|| done.close())?).map_err(|_| cut_off())
            }
        },
    )?;
    Ok(total)
}

fn copy(table: &mut Table, inputs: &[ParquetInput], places: &[Place], judged: Receiver<Vec<Encoded>>) -> Result<()> {
    for &(file, row_group) in places {
        table.copy(&inputs[file], row_group, || judged.recv().map_err(|_| cut_off()))?;
    }
    Ok(())
}

/// The other half has ended with an error.
fn cut_off() -> Error {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}

fn is_cut_off(err: &Error) -> bool {
    matches!(err.kind(), crate::error::ErrorKind::Io(err) if err.kind() == std::io::ErrorKind::ConnectionAborted)
}
