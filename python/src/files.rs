//! Files to files: the jobs of the commands `annotate` and `filter`.

use crate::errors::{RobosieveError, exception};
use crate::interrupt::watched;
use crate::judging::threads_for;
use crate::options::{OptionTuple, named};
use crate::snapshot::Snapshot;
use crate::verification::Depth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use robosieve::filter::{Filter, FilterProgress, FilterStats, Input, Outputs};
use robosieve::output::{OutputFile, OverwriteGuard};
use robosieve::parquet::{ParquetFilter, ParquetInput, ParquetOutputs};
use robosieve::records::{Field, RecordOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the URLs are: `(field, input_format, header, delimiter, json_key, default_scheme, host)`.
pub(crate) type RecordTuple = (
    Option<FieldArg>,
    Option<String>,
    bool,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// A column or a key, by name or by number from 1.
#[derive(FromPyObject)]
pub(crate) enum FieldArg {
    Number(usize),
    Name(String),
}

fn record_options(records: RecordTuple) -> PyResult<RecordOptions> {
    let (field, format, header, delimiter, json_key, default_scheme, host) = records;
    let field = field.map(|field| match field {
        FieldArg::Number(number) => Field::Number(number),
        FieldArg::Name(name) => Field::Name(name),
    });
    let delimiter = match delimiter.as_deref().map(str::as_bytes) {
        None => None,
        Some([byte]) => Some(*byte),
        Some(_) => return Err(PyValueError::new_err("delimiter: give one ASCII character")),
    };
    Ok(RecordOptions::default()
        .format(
            format
                .map(|name| named("input_format", &name))
                .transpose()?,
        )
        .field(field)
        .header(header)
        .delimiter(delimiter)
        .json_key(json_key)
        .default_scheme(default_scheme)
        .host(host))
}

/// Whether all inputs are Parquet files, or none.
fn are_parquet(inputs: &[PathBuf]) -> PyResult<bool> {
    let tables = inputs
        .iter()
        .filter(|path| ParquetInput::is_parquet(path))
        .count();
    if tables > 0 && tables < inputs.len() {
        let what =
            "some inputs are Parquet files and some are not; give each kind to a call of its own";
        return Err(PyValueError::new_err(what));
    }
    Ok(tables > 0)
}

fn open_parquet(inputs: &[PathBuf], records: &RecordOptions) -> PyResult<Vec<ParquetInput>> {
    let column = match &records.field {
        None => "url",
        Some(Field::Name(name)) => name,
        Some(Field::Number(number)) => {
            let what = format!(
                "field={number}: the columns of a Parquet file have names; give one of them"
            );
            return Err(PyValueError::new_err(what));
        }
    };
    let open = |path: &PathBuf| Ok(ParquetInput::open(path, column)?.records(records));
    inputs
        .iter()
        .map(open)
        .collect::<robosieve::Result<_>>()
        .map_err(exception)
}

fn open_lists(inputs: &[PathBuf]) -> PyResult<Vec<Input>> {
    inputs
        .iter()
        .map(Input::open)
        .collect::<robosieve::Result<_>>()
        .map_err(exception)
}

/// Refuses outputs that would overwrite an input, the snapshot or each other. `outputs` are pairs of
/// an argument's name and its path.
pub(crate) fn refuse_overwriting<'p>(
    snapshot: Option<&Path>,
    inputs: &[PathBuf],
    outputs: impl IntoIterator<Item = (&'p str, &'p Path)>,
) -> PyResult<()> {
    let mut guard = OverwriteGuard::new()
        .add_inputs("the snapshot", snapshot)
        .add_inputs("an input", inputs);
    outputs
        .into_iter()
        .try_for_each(|(name, path)| guard.add_output(name, path))
        .map_err(exception)
}

/// Runs `work` in a thread pool of its own: the global one would not survive `os.fork`.
pub(crate) fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    let threads = threads_for(usize::MAX, threads)?;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool
        .map_err(|err| RobosieveError::new_err(format!("cannot start {threads} threads: {err}")))?;
    pool.install(work)
}

/// The counts of a run, as JSON.
fn counts(stats: &FilterStats) -> PyResult<String> {
    serde_json::to_string(stats).map_err(|err| RobosieveError::new_err(err.to_string()))
}

fn no_url(stats: &FilterStats) -> PyErr {
    RobosieveError::new_err(format!(
        "no URL in {} lines, so no output was written; name the column or key of the URLs with field= or json_key=, or complete \
         partial URLs with default_scheme= and host=",
        stats.lines
    ))
}

/// Writes every record with its verdicts.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python half names them")]
pub(crate) fn annotate(
    py: Python<'_>,
    snapshot: &Snapshot,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    agents: Vec<String>,
    form: Option<&str>,
    name: Option<&str>,
    preferences: bool,
    records: RecordTuple,
    options: OptionTuple<'_>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let judge = snapshot.judge(py, &agents, options)?;
    let records = record_options(records)?;
    // Preferences are in the texts.
    snapshot.verify_to(
        py,
        if preferences {
            Depth::Checksums
        } else {
            Depth::Judging
        },
    )?;
    refuse_overwriting(Some(snapshot.path()), &inputs, [("output", &*output)])?;
    watched(py, progress.as_ref(), |watch| {
        let report = |at: FilterProgress| watch.report(at.bytes_read);
        let stats = if are_parquet(&inputs)? {
            if preferences {
                return Err(PyValueError::new_err(
                    "preferences=True is for lists; a Parquet file takes verdicts only",
                ));
            }
            let columns = form.map(|form| named("form", form)).transpose()?;
            let tables = open_parquet(&inputs, &records)?;
            let mut filter = ParquetFilter::new(&judge)
                .columns(columns.unwrap_or_default())
                .require_url(true)
                .progress(&report);
            if let Some(name) = name {
                filter = filter.name(name);
            }
            in_pool(threads, || {
                filter.annotate(&tables, &output).map_err(exception)
            })?
        } else {
            if name.is_some() {
                return Err(PyValueError::new_err(
                    "name= is for the columns added to Parquet files; a list has none",
                ));
            }
            let form = form.map(|form| named("form", form)).transpose()?;
            let lists = open_lists(&inputs)?;
            let mut out = OutputFile::create(&output).map_err(exception)?;
            let filter = Filter::new(&judge)
                .records(records)
                .form(form.unwrap_or_default())
                .preferences(preferences)
                .progress(&report);
            let stats = in_pool(threads, || {
                filter.annotate(lists, &mut out).map_err(exception)
            })?;
            if stats.has_no_url() {
                return Err(no_url(&stats));
            }
            out.commit().map_err(exception)?;
            stats
        };
        counts(&stats)
    })
}

/// The four outputs of a filter: kept, other verdict, unknown, invalid.
pub(crate) type OutputPaths = [Option<PathBuf>; 4];

/// Writes every record to the output of its verdict.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python half names them")]
pub(crate) fn filter(
    py: Python<'_>,
    snapshot: &Snapshot,
    inputs: Vec<PathBuf>,
    outputs: OutputPaths,
    agents: Vec<String>,
    keep: &str,
    require: &str,
    records: RecordTuple,
    options: OptionTuple<'_>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let judge = snapshot.judge(py, &agents, options)?;
    snapshot.verify_to(py, Depth::Judging)?;
    let records = record_options(records)?;
    let keep = named("keep", keep)?;
    let require = named("require", require)?;
    let arguments = ["output", "disallowed_to", "unknown_to", "invalid_to"];
    let named_outputs = arguments
        .into_iter()
        .zip(&outputs)
        .filter_map(|(name, path)| Some((name, path.as_deref()?)));
    refuse_overwriting(Some(snapshot.path()), &inputs, named_outputs)?;
    watched(py, progress.as_ref(), |watch| {
        let report = |at: FilterProgress| watch.report(at.bytes_read);
        let stats = if are_parquet(&inputs)? {
            let [kept, other, unknown, invalid] = outputs.each_ref().map(|path| path.as_deref());
            let tables = open_parquet(&inputs, &records)?;
            let filter = ParquetFilter::new(&judge)
                .keep(keep, require)
                .require_url(true)
                .progress(&report);
            let outputs = ParquetOutputs {
                kept,
                other,
                unknown,
                invalid,
            };
            in_pool(threads, || filter.run(&tables, outputs).map_err(exception))?
        } else {
            let lists = open_lists(&inputs)?;
            let filter = Filter::new(&judge)
                .records(records)
                .keep(keep, require)
                .progress(&report);
            filter_lists(&filter, lists, &outputs, threads)?
        };
        counts(&stats)
    })
}

fn filter_lists(
    filter: &Filter<'_>,
    lists: Vec<Input>,
    outputs: &OutputPaths,
    threads: Option<usize>,
) -> PyResult<FilterStats> {
    let create = |path: &Option<PathBuf>| path.as_ref().map(OutputFile::create).transpose();
    let mut files = Vec::new();
    for path in outputs {
        files.push(create(path).map_err(exception)?);
    }
    let mut sinks = files
        .iter_mut()
        .map(|file| file.as_mut().map(|file| file as &mut (dyn Write + Send)));
    let mut next = || sinks.next().flatten();
    let sinks = Outputs {
        kept: next(),
        other: next(),
        unknown: next(),
        invalid: next(),
    };
    let stats = in_pool(threads, || filter.run(lists, sinks).map_err(exception))?;
    if stats.has_no_url() {
        return Err(no_url(&stats));
    }
    OutputFile::commit_all(files.into_iter().flatten()).map_err(exception)?;
    Ok(stats)
}
