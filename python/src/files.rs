//! Files to files: the jobs of the commands `annotate` and `filter`.

use crate::errors::{RobosieveError, exception};
use crate::interrupt::watched;
use crate::judging::{threads_argument, threads_for};
use crate::options::{OptionTuple, SETS, named, sets_json};
use crate::snapshot::Snapshot;
use crate::verification::Depth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use robosieve::job::{AddedColumn, FilterStats, Input, Job, Output, Outputs, Progress, Written};
use robosieve::judge::Reason;
use robosieve::output::OverwriteGuard;
use robosieve::records::{Field, RecordOptions};
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

/// The records that a filter keeps, and what it adds to disallowed ones: `(keep, require, reasons,
/// disallowed_add)`.
pub(crate) type SelectionTuple = (String, String, Vec<String>, Vec<String>);

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

/// Opens all inputs before any is read, so that a missing one fails at once.
fn open_inputs(inputs: &[PathBuf]) -> PyResult<Vec<Input>> {
    inputs
        .iter()
        .map(Input::open)
        .collect::<robosieve::Result<_>>()
        .map_err(exception)
}

/// Starts an output. One with the file name of its only input may have a name that does not fit its
/// format: annotated archives of a directory keep their names.
fn create(path: &Path, inputs: &[PathBuf]) -> robosieve::Result<Output<'static>> {
    let output = Output::create(path)?;
    match inputs {
        [input] if input.file_name() == path.file_name() => Ok(output.named_after_input()),
        _ => Ok(output),
    }
}

/// Refuses outputs that would overwrite an input, the snapshot or each other. `outputs` are pairs
/// of an argument's name and its path.
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
    let threads = threads_for(usize::MAX, threads);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool
        .map_err(|err| RobosieveError::new_err(format!("cannot start {threads} threads: {err}")))?;
    pool.install(work)
}

/// The counts of a run, as JSON.
fn counts(stats: &FilterStats) -> PyResult<String> {
    serde_json::to_string(stats).map_err(|err| RobosieveError::new_err(err.to_string()))
}

/// The added columns of the argument `name`.
fn added_columns(name: &str, columns: &[String]) -> PyResult<Vec<AddedColumn>> {
    columns.iter().map(|column| named(name, column)).collect()
}

/// The depth to which a snapshot is verified. Preferences and some added columns are in the texts.
fn depth(preferences: bool, add: &[AddedColumn]) -> Depth {
    if preferences || add.iter().any(|column| column.is_in_texts()) {
        Depth::Checksums
    } else {
        Depth::Judging
    }
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
    add: Vec<String>,
    preferences: bool,
    records: RecordTuple,
    options: OptionTuple<'_>,
    #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let judge = snapshot.judge(py, &agents, options)?;
    let sets = sets_json(&agents, judge.agents())?;
    let records = record_options(records)?;
    let add = added_columns("add", &add)?;
    snapshot.verify_to(py, depth(preferences, &add))?;
    refuse_overwriting(snapshot.file(), &inputs, [("output", &*output)])?;
    let form = form.map(|form| named("form", form)).transpose()?;
    watched(py, progress.as_ref(), |watch| {
        let report = |at: Progress| watch.report(at.bytes_read);
        let mut job = Job::new(&judge)
            .records(records)
            .add_columns(add)
            .preferences(preferences)
            .require_url(true)
            .progress(&report);
        if let Some(form) = form {
            job = job.form(form);
        }
        if let Some(name) = name {
            job = job.name(name);
        }
        if let Some(sets) = &sets {
            job = job.metadata(SETS, sets);
        }
        let named = inputs;
        let inputs = open_inputs(&named)?;
        let output = create(&output, &named).map_err(exception)?;
        run(threads, || job.annotate(inputs, output))
    })
}

/// The outputs of a filter: kept, other verdict, unknown, invalid, index of kept WARC records.
pub(crate) type OutputPaths = [Option<PathBuf>; 5];

/// Writes every record to the output of its verdict.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python half names them")]
pub(crate) fn filter(
    py: Python<'_>,
    snapshot: &Snapshot,
    inputs: Vec<PathBuf>,
    outputs: OutputPaths,
    agents: Vec<String>,
    selection: SelectionTuple,
    records: RecordTuple,
    options: OptionTuple<'_>,
    #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let judge = snapshot.judge(py, &agents, options)?;
    let sets = sets_json(&agents, judge.agents())?;
    let records = record_options(records)?;
    let (keep, require, reasons, disallowed_add) = selection;
    let add = added_columns("disallowed_add", &disallowed_add)?;
    snapshot.verify_to(py, depth(false, &add))?;
    let keep = named("keep", &keep)?;
    let require = named("require", &require)?;
    let reasons: Vec<Reason> = reasons
        .iter()
        .map(|reason| named("reasons", reason))
        .collect::<PyResult<_>>()?;
    let arguments = [
        "output",
        "disallowed_to",
        "unknown_to",
        "invalid_to",
        "cdxj",
    ];
    let named_outputs = arguments
        .into_iter()
        .zip(&outputs)
        .filter_map(|(name, path)| Some((name, path.as_deref()?)));
    refuse_overwriting(snapshot.file(), &inputs, named_outputs)?;
    watched(py, progress.as_ref(), |watch| {
        let report = |at: Progress| watch.report(at.bytes_read);
        let mut job = Job::new(&judge)
            .records(records)
            .keep(keep, require)
            .reasons(reasons)
            .add_columns(add)
            .require_url(true)
            .progress(&report);
        if let Some(sets) = &sets {
            job = job.metadata(SETS, sets);
        }
        let named = inputs;
        let inputs = open_inputs(&named)?;
        let outputs = Outputs::from_array(outputs)
            .try_map(|path| create(&path, &named))
            .map_err(exception)?;
        run(threads, || job.filter(inputs, outputs))
    })
}

/// Runs a job, makes its outputs visible, and gives its counts as JSON.
fn run(
    threads: Option<usize>,
    work: impl FnOnce() -> robosieve::Result<Written> + Send,
) -> PyResult<String> {
    let stats = in_pool(threads, || {
        work().and_then(Written::commit).map_err(exception)
    })?;
    counts(&stats)
}
