//! Files to files: the jobs of the commands `annotate` and `filter`.

use crate::errors::{RobosieveError, exception};
use crate::interrupt::watched;
use crate::judging::{threads_argument, threads_for};
use crate::lists::Lists;
use crate::options::{SETS, field, judge_options, named, named_field, named_fields, sets_json};
use crate::snapshot;
use crate::verification::Depth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use robosieve::filter_lists::FilterLists;
use robosieve::job::{
    AddedColumn, FilterStats, Form, Input, Job, Keep, Output, Outputs, Progress, Require, Written,
};
use robosieve::judge::{JudgeOptions, Reason, UnknownOrigin};
use robosieve::output::{self, OverwriteGuard};
use robosieve::records::{Field, RecordOptions};
use robosieve::{Compiler, Judge, Snapshot};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A column or a key, by name or by number from 1.
#[derive(FromPyObject)]
pub(crate) enum FieldArg {
    Number(usize),
    Name(String),
}

/// The record options of `robosieve._options.RecordOptions`.
fn record_options(given: &Bound<'_, PyAny>) -> PyResult<RecordOptions> {
    let delimiter: Option<String> = field(given, "delimiter")?;
    let delimiter = match delimiter.as_deref().map(str::as_bytes) {
        None => None,
        Some([byte]) => Some(*byte),
        Some(_) => return Err(PyValueError::new_err("delimiter: give one ASCII character")),
    };
    Ok(RecordOptions::default()
        .format(named_field(given, "input_format")?)
        .field(column(given, "field")?)
        .header(field(given, "header")?)
        .delimiter(delimiter)
        .json_key(field::<Option<String>>(given, "json_key")?)
        .default_scheme(field::<Option<String>>(given, "default_scheme")?)
        .host(field::<Option<String>>(given, "host")?)
        .as_of_column(column(given, "as_of_column")?)
        .as_of_record(field(given, "as_of_record")?))
}

/// The column or key in a field of the options.
fn column(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Field>> {
    let column: Option<FieldArg> = field(given, name)?;
    Ok(column.map(|column| match column {
        FieldArg::Number(number) => Field::Number(number),
        FieldArg::Name(name) => Field::Name(name),
    }))
}

/// The options that both kinds of jobs have: `robosieve._options.JobOptions`.
pub(crate) struct JobOptions {
    agents: Vec<String>,
    records: RecordOptions,
    judge: JudgeOptions,
    lists: Option<Py<Lists>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
}

impl JobOptions {
    /// The judge of the job, which also asks its lists. It is not kept for other jobs: the snapshot
    /// would keep the lists open.
    fn judge(&self, py: Python<'_>, snapshot: &snapshot::Snapshot) -> PyResult<Judge> {
        let judge = snapshot.judge(py, &self.agents, self.judge)?;
        Ok(match self.opened_lists() {
            Some(lists) => judge.with_lists(FilterLists::clone(lists.opened())),
            None => judge,
        })
    }

    fn opened_lists(&self) -> Option<&Lists> {
        self.lists.as_ref().map(Py::get)
    }

    /// A judge without agents, whose lists alone decide: it has an empty snapshot, and keeps the lines
    /// that no list names.
    fn judge_of_lists(&self) -> PyResult<Judge> {
        let empty = || Snapshot::new(Compiler::default().finish()?.to_vec()?);
        let options = self.judge.unknown(Some(UnknownOrigin::Allow));
        let judge = empty().and_then(|snapshot| Judge::new(snapshot, &[], options));
        let judge = judge.map_err(exception)?;
        Ok(match self.opened_lists() {
            Some(lists) => judge.with_lists(FilterLists::clone(lists.opened())),
            None => judge,
        })
    }

    /// Refuses outputs that would overwrite an input, the snapshot, the lists or each other.
    /// `outputs` are pairs of an argument's name and its path.
    fn refuse_overwriting<'p>(
        &self,
        snapshot: Option<&Path>,
        inputs: &[PathBuf],
        outputs: impl IntoIterator<Item = (&'p str, &'p Path)>,
    ) -> PyResult<()> {
        let lists = self.opened_lists().and_then(Lists::file);
        let guard = OverwriteGuard::new().add_inputs("the lists", lists);
        refuse_overwriting(guard, snapshot, inputs, outputs)
    }
}

fn job_options(given: &Bound<'_, PyAny>) -> PyResult<JobOptions> {
    Ok(JobOptions {
        agents: field(given, "agents")?,
        records: record_options(&given.getattr("records")?)?,
        judge: judge_options(&given.getattr("judge")?)?,
        lists: field(given, "lists")?,
        threads: threads_argument(&given.getattr("threads")?)?,
        progress: field(given, "progress")?,
    })
}

/// What annotating adds to records: `robosieve._options.Annotation`.
pub(crate) struct Annotation {
    form: Option<Form>,
    name: Option<String>,
    added: Vec<AddedColumn>,
    preferences: bool,
}

fn annotation(given: &Bound<'_, PyAny>) -> PyResult<Annotation> {
    Ok(Annotation {
        form: named_field(given, "form")?,
        name: field(given, "name")?,
        added: named_fields(given, "add")?,
        preferences: field(given, "preferences")?,
    })
}

/// The records that a filter keeps, and what it adds to disallowed ones:
/// `robosieve._options.Selection`.
pub(crate) struct Selection {
    keep: Keep,
    require: Require,
    reasons: Vec<Reason>,
    added: Vec<AddedColumn>,
}

fn selection(given: &Bound<'_, PyAny>) -> PyResult<Selection> {
    Ok(Selection {
        keep: named_field(given, "keep")?.unwrap_or_default(),
        require: named_field(given, "require")?.unwrap_or_default(),
        reasons: named_fields(given, "reasons")?,
        added: named_fields(given, "disallowed_add")?,
    })
}

/// Opens all inputs before any is read, so that a missing one fails at once.
fn open_inputs(inputs: &[PathBuf]) -> PyResult<Vec<Input>> {
    inputs
        .iter()
        .map(Input::open)
        .collect::<robosieve::Result<_>>()
        .map_err(exception)
}

/// The name of an output that is named after its input: ARC and WACZ files become WARC files.
#[pyfunction]
pub(crate) fn name_after_input(input: PathBuf) -> OsString {
    output::name_after_input(input).into_os_string()
}

/// The name of annotations that are named after their input: JSON lines and lines about an archive
/// get their own extension.
#[pyfunction]
pub(crate) fn name_of_annotations(input: PathBuf, form: Option<&str>) -> PyResult<OsString> {
    let form = form.map(|form| named("form", form)).transpose()?;
    Ok(Form::output_name(form, input).into_os_string())
}

/// Starts an output. `name_of` names outputs after their inputs. If the output of an only input has
/// this name, and it does not fit the format, the error advises to rename the input.
fn create(
    path: &Path,
    inputs: &[PathBuf],
    name_of: impl Fn(&Path) -> PathBuf,
) -> robosieve::Result<Output<'static>> {
    let output = Output::create(path)?;
    match inputs {
        [input] if name_of(input).file_name() == path.file_name() => Ok(output.named_after_input()),
        _ => Ok(output),
    }
}

/// Refuses outputs that would overwrite an input, the snapshot, a file of `guard` or each other.
/// `outputs` are pairs of an argument's name and its path.
pub(crate) fn refuse_overwriting<'p>(
    guard: OverwriteGuard,
    snapshot: Option<&Path>,
    inputs: &[PathBuf],
    outputs: impl IntoIterator<Item = (&'p str, &'p Path)>,
) -> PyResult<()> {
    let mut guard = guard
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

/// The counts of a run, written as JSON.
fn json(counts: serde_json::Result<String>) -> PyResult<String> {
    counts.map_err(|err| RobosieveError::new_err(err.to_string()))
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
pub(crate) fn annotate(
    py: Python<'_>,
    snapshot: &snapshot::Snapshot,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    #[pyo3(from_py_with = annotation)] annotation: Annotation,
    #[pyo3(from_py_with = job_options)] options: JobOptions,
) -> PyResult<String> {
    let judge = options.judge(py, snapshot)?;
    let sets = sets_json(&options.agents, judge.agents())?;
    snapshot.verify_to(py, depth(annotation.preferences, &annotation.added))?;
    options.refuse_overwriting(snapshot.file(), &inputs, [("output", &*output)])?;
    watched(py, options.progress.as_ref(), |watch| {
        let report = |at: Progress| watch.report(at.bytes_read);
        let mut job = job(&judge, options.records, annotation.added, sets.as_deref())
            .preferences(annotation.preferences)
            .progress(&report);
        if let Some(form) = annotation.form {
            job = job.form(form);
        }
        if let Some(name) = &annotation.name {
            job = job.name(name);
        }
        let opened = open_inputs(&inputs)?;
        let name_of = |input: &Path| Form::output_name(annotation.form, input);
        let output = create(&output, &inputs, name_of).map_err(exception)?;
        let stats = run(options.threads, || job.annotate(opened, output))?;
        json(serde_json::to_string(&stats))
    })
}

/// The outputs of a filter: kept, other verdict, unknown, invalid, listed, index of kept WARC
/// records.
pub(crate) type OutputPaths = [Option<PathBuf>; 6];

/// The arguments that name them.
const OUTPUT_ARGUMENTS: [&str; 6] = [
    "output",
    "disallowed_to",
    "unknown_to",
    "invalid_to",
    "listed_to",
    "cdxj",
];

/// Writes every record to the output of its verdict.
#[pyfunction]
pub(crate) fn filter(
    py: Python<'_>,
    snapshot: &snapshot::Snapshot,
    inputs: Vec<PathBuf>,
    outputs: OutputPaths,
    #[pyo3(from_py_with = selection)] selection: Selection,
    #[pyo3(from_py_with = job_options)] options: JobOptions,
) -> PyResult<String> {
    let judge = options.judge(py, snapshot)?;
    let sets = sets_json(&options.agents, judge.agents())?;
    snapshot.verify_to(py, depth(false, &selection.added))?;
    options.refuse_overwriting(snapshot.file(), &inputs, named_outputs(&outputs))?;
    let stats = split(
        py,
        &judge,
        &inputs,
        outputs,
        selection,
        &options,
        sets.as_deref(),
    )?;
    json(serde_json::to_string(&stats))
}

/// Writes every record to the output of lists, which alone decide. The counts have nothing about
/// verdicts.
#[pyfunction]
pub(crate) fn filter_by_lists(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    outputs: OutputPaths,
    #[pyo3(from_py_with = selection)] selection: Selection,
    #[pyo3(from_py_with = job_options)] options: JobOptions,
) -> PyResult<String> {
    let judge = options.judge_of_lists()?;
    options.refuse_overwriting(None, &inputs, named_outputs(&outputs))?;
    let stats = split(py, &judge, &inputs, outputs, selection, &options, None)?;
    json(serde_json::to_string(&stats.of_lists_alone()))
}

/// The outputs that are asked for, by their arguments.
fn named_outputs(outputs: &OutputPaths) -> impl Iterator<Item = (&str, &Path)> {
    let named = OUTPUT_ARGUMENTS.into_iter().zip(outputs);
    named.filter_map(|(name, path)| Some((name, path.as_deref()?)))
}

/// Runs a filter. `sets` are the sets of agents, as JSON.
fn split(
    py: Python<'_>,
    judge: &Judge,
    inputs: &[PathBuf],
    outputs: OutputPaths,
    selection: Selection,
    options: &JobOptions,
    sets: Option<&str>,
) -> PyResult<FilterStats> {
    watched(py, options.progress.as_ref(), |watch| {
        let report = |at: Progress| watch.report(at.bytes_read);
        let job = job(judge, options.records.clone(), selection.added, sets)
            .keep(selection.keep, selection.require)
            .reasons(selection.reasons)
            .progress(&report);
        let opened = open_inputs(inputs)?;
        let outputs = Outputs::from_array(outputs)
            .try_map(|path| create(&path, inputs, |input| output::name_after_input(input)))
            .map_err(exception)?;
        run(options.threads, || job.filter(opened, outputs))
    })
}

/// A job with the settings that annotating and filtering share.
fn job<'j>(
    judge: &'j Judge,
    records: RecordOptions,
    added: Vec<AddedColumn>,
    sets: Option<&'j str>,
) -> Job<'j> {
    let job = Job::new(judge)
        .records(records)
        .add_columns(added)
        .require_url(true);
    match sets {
        Some(sets) => job.metadata(SETS, sets),
        None => job,
    }
}

/// Runs a job, makes its outputs visible, and gives its counts.
fn run(
    threads: Option<usize>,
    work: impl FnOnce() -> robosieve::Result<Written> + Send,
) -> PyResult<FilterStats> {
    in_pool(threads, || {
        work().and_then(Written::commit).map_err(exception)
    })
}
