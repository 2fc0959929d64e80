//! One job of `filter` or `annotate`: inputs to their outputs. A plain run is one job; `--out-dir`
//! has one per file.

use crate::error_advice::at_snapshot;
use crate::output::{OutputTarget, Stdout, is_stdout, warn_of_lost_attributes};
use crate::signals;
use robosieve::Judge;
use robosieve::job::{
    AddedColumn, FilterStats, Form, Input, Job, Keep, Output, Outputs, Progress, Require, Written,
};
use robosieve::judge::Reason;
use robosieve::output::{is_standard_stream, name_after_input};
use robosieve::records::RecordOptions;
use std::io;
use std::path::{Path, PathBuf};

/// The action on the records of an input, and the options that locate their URLs.
#[derive(Clone, Debug)]
pub(crate) struct JudgeTask {
    pub action: Action,
    /// The members of the sets of agents as JSON, for the metadata of Parquet files.
    pub sets: Option<String>,
    pub records: RecordOptions,
}

/// The action on every record.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Write it to the output of its verdict.
    Filter(Selection),
    /// Write it to the main output, with its verdicts.
    Annotate(Annotation),
}

/// The records that `filter` keeps.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub keep: Keep,
    pub require: Require,
    /// The reasons of their verdicts; all if it is empty.
    pub reasons: Vec<Reason>,
    /// The values added to disallowed records.
    pub added: Vec<AddedColumn>,
}

/// The additions of `annotate`.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    /// The form of the verdicts; `None` is the default of the input format.
    pub form: Option<Form>,
    /// The name, or name prefix, of the columns added to Parquet files.
    pub name: Option<String>,
    /// The values added to JSON lines, tables and Parquet files.
    pub added: Vec<AddedColumn>,
    /// Whether to add preferences.
    pub preferences: bool,
}

impl Action {
    /// The name of an output that is named after its input.
    pub(crate) fn output_name(&self, input: &Path) -> PathBuf {
        match self {
            Self::Filter(_) => name_after_input(input),
            Self::Annotate(annotation) => Form::output_name(annotation.form, input),
        }
    }

    /// Whether it reads the stored texts, which have the preferences, the crawl-delays and the
    /// lines that disallow URLs.
    pub(crate) fn reads_texts(&self) -> bool {
        let added = match self {
            Self::Filter(selection) => &selection.added,
            Self::Annotate(annotation) if annotation.preferences => return true,
            Self::Annotate(annotation) => &annotation.added,
        };
        added.iter().any(|column| column.is_in_texts())
    }
}

/// The paths of the outputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobPaths {
    /// The kept or annotated lines; `None` is standard output.
    pub main: Option<PathBuf>,
    pub disallowed: Option<PathBuf>,
    pub unknown: Option<PathBuf>,
    pub invalid: Option<PathBuf>,
    /// The lines that a list names.
    pub listed: Option<PathBuf>,
    /// The offset index of kept WARC records.
    pub cdxj: Option<PathBuf>,
    /// Whether the paths are directories of `--out-dir`, or files in them.
    pub of_directory: bool,
}

impl JobPaths {
    /// The option that names an output.
    pub(crate) fn option_of(&self, output: &str) -> &'static str {
        match output {
            "disallowed" => "--disallowed-to",
            "unknown" => "--unknown-to",
            "invalid" => "--invalid-to",
            "listed" => "--listed-to",
            "cdxj" => "--cdxj",
            _ if self.of_directory => "--out-dir",
            _ => "-o",
        }
    }

    /// All outputs that are files, each with its name: `main`, `disallowed`, `unknown`,
    /// `invalid`, `listed`, `cdxj`.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let names = ["main", "disallowed", "unknown", "invalid", "listed", "cdxj"];
        let all = names.into_iter().zip(self.paths());
        all.filter_map(|(output, path)| Some((output, path?)))
    }

    /// The paths in the order of the fields, which is that of [`Outputs`].
    fn paths(&self) -> [Option<&Path>; 6] {
        [
            &self.main,
            &self.disallowed,
            &self.unknown,
            &self.invalid,
            &self.listed,
            &self.cdxj,
        ]
        .map(Option::as_deref)
    }

    /// Opens all outputs; those on standard output borrow from `streams`.
    fn open<'s>(
        &self,
        streams: &'s mut [Option<Stdout>; 6],
    ) -> anyhow::Result<Outputs<Output<'s>>> {
        let mut paths = self.paths();
        let has_others = paths[1..].iter().any(Option::is_some);
        paths[0].get_or_insert(Path::new("-"));
        let mut outputs = [const { None }; 6];
        for ((path, stream), output) in paths.into_iter().zip(streams).zip(&mut outputs) {
            let Some(path) = path else { continue };
            *output = Some(if is_stdout(path) {
                let stdout = stream.insert(Stdout::open()?);
                if has_others {
                    stdout.outlive_reader();
                }
                let output = Output::from_writer(stdout);
                // A name such as /dev/stdout was given on purpose.
                if is_standard_stream(path) {
                    output.refuse_tables()
                } else {
                    output
                }
            } else {
                let output = Output::create(path)?;
                warn_of_lost_attributes(path, output.lost_attributes());
                match self.of_directory {
                    true => output.named_after_input(),
                    false => output,
                }
            });
        }
        Ok(Outputs::from_array(outputs))
    }
}

/// The written outputs of a job, not yet visible. Dropping them leaves no file.
pub(crate) struct PendingOutputs {
    written: Written,
    streams: [Option<Stdout>; 6],
}

impl PendingOutputs {
    /// The counts of the job.
    pub(crate) fn stats(&self) -> &FilterStats {
        self.written.stats()
    }

    /// Makes the outputs visible together. A closed standard output does not stop the files; it is
    /// an error afterwards.
    pub(crate) fn commit(self) -> anyhow::Result<FilterStats> {
        self.commit_with(None)
    }

    /// [`commit`](Self::commit), together with another output.
    pub(crate) fn commit_with(
        mut self,
        other: Option<OutputTarget>,
    ) -> anyhow::Result<FilterStats> {
        let mut closed: io::Result<()> = Ok(());
        match other {
            Some(OutputTarget::File(file)) => self.written.add_file(*file),
            Some(OutputTarget::Stdout(stdout)) => closed = closed.and(stdout.finish()?),
            None => {}
        }
        for stream in self.streams.into_iter().flatten() {
            closed = closed.and(stream.finish()?);
        }
        if self.written.has_files() {
            signals::committing();
        }
        let stats = self.written.commit()?;
        closed?;
        Ok(stats)
    }
}

/// Writes every record of `inputs`, in order, to its output. `snapshot` is the file of the judge's
/// snapshot, if it has one, for errors. `progress` receives the number of bytes read so far.
pub(crate) fn write(
    task: &JudgeTask,
    judge: &Judge,
    snapshot: Option<&Path>,
    inputs: &[PathBuf],
    paths: &JobPaths,
    progress: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<PendingOutputs> {
    // Streams are read only when the job runs: a run that waits for its input has reported the
    // errors of its outputs.
    let inputs = open_inputs(inputs)?;
    let mut streams = [const { None }; 6];
    let outputs = paths.open(&mut streams)?;
    let show = |at: Progress| progress(at.bytes_read);
    let mut job = Job::new(judge)
        .records(task.records.clone())
        .require_url(true)
        .progress(&show);
    if let Some(sets) = &task.sets {
        job = job.metadata("robosieve.sets", sets);
    }
    let written = match &task.action {
        Action::Filter(selection) => job
            .keep(selection.keep, selection.require)
            .reasons(selection.reasons.iter().copied())
            .add_columns(selection.added.iter().copied())
            .filter(inputs, outputs),
        Action::Annotate(annotation) => annotate(job, annotation, inputs, outputs),
    };
    // A history is verified while it is read.
    let written = written.map_err(|err| match snapshot {
        Some(path) => at_snapshot(err, path),
        None => err,
    })?;
    Ok(PendingOutputs { written, streams })
}

fn annotate<'j>(
    mut job: Job<'j>,
    annotation: &'j Annotation,
    inputs: Vec<Input>,
    outputs: Outputs<Output<'_>>,
) -> robosieve::Result<Written> {
    job = job
        .add_columns(annotation.added.iter().copied())
        .preferences(annotation.preferences);
    if let Some(form) = annotation.form {
        job = job.form(form);
    }
    if let Some(name) = &annotation.name {
        job = job.name(name);
    }
    job.annotate(
        inputs,
        outputs.kept.expect("the main output is always open"),
    )
}

/// Opens all inputs before any is read, so that a missing one fails at once.
pub(crate) fn open_inputs(paths: &[PathBuf]) -> robosieve::Result<Vec<Input>> {
    paths.iter().map(Input::open).collect()
}
