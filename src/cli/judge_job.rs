//! One job: lists of URLs to their outputs. A plain run is one job; `--out-dir` has one per file.

use super::file_extension::{OutputFormat, refuse_other_format, refuse_other_format_of_input};
use super::judge_task::{Action, JudgeTask, OutputPaths};
use super::output::OutputTarget;
use super::output_set::OutputSet;
use super::parquet;
use super::summary::no_url;
use super::warc::{self, ListsOrWarcs};
use anyhow::bail;
use robosieve::Judge;
use robosieve::filter::{Filter, FilterStats, Input, Outputs};
use std::io::Write;
use std::path::PathBuf;

/// The written outputs of a job, not yet visible except those of Parquet. Dropping them removes the
/// temporary files.
pub(crate) struct PendingOutputs {
    outputs: Vec<OutputTarget>,
    stats: FilterStats,
}

impl PendingOutputs {
    /// Makes the outputs visible.
    pub(crate) fn commit(self) -> anyhow::Result<FilterStats> {
        OutputTarget::commit_all(self.outputs)?;
        Ok(self.stats)
    }
}

/// Writes every record of `inputs`, in order, to its output. Parquet outputs appear at once.
/// `progress` receives the number of bytes read so far.
pub(crate) fn write(
    task: &JudgeTask,
    judge: &Judge,
    inputs: &[PathBuf],
    paths: &OutputPaths,
    progress: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<PendingOutputs> {
    if parquet::are_parquet(inputs)? {
        refuse_index(paths)?;
        refuse_misnamed(paths, OutputFormat::Parquet)?;
        let stats = parquet::write(task, judge, inputs, paths, progress)?;
        return Ok(PendingOutputs {
            outputs: Vec::new(),
            stats,
        });
    }
    // A stream is read to recognise it.
    let is_stream = |path: &PathBuf| {
        path.as_os_str() == "-" || std::fs::metadata(path).is_ok_and(|meta| !meta.is_file())
    };
    let opened = if inputs.iter().any(is_stream) {
        Some(OutputSet::open(paths)?)
    } else {
        None
    };
    let (names, inputs) = match warc::open(inputs)? {
        ListsOrWarcs::Lists(lists) => (inputs, lists),
        ListsOrWarcs::Warcs(warcs) => {
            let (outputs, stats) = warc::write(task, judge, warcs, paths, opened, progress)?;
            return Ok(PendingOutputs { outputs, stats });
        }
    };
    refuse_index(paths)?;
    refuse_misnamed(paths, OutputFormat::Text)?;
    let mut outputs = opened
        .map_or_else(|| OutputSet::open(paths), Ok)?
        .compressed(paths, |_| false)?;
    let progress = |at: robosieve::filter::FilterProgress| progress(at.bytes_read);
    let filter = Filter::new(judge)
        .records(task.records.clone())
        .progress(&progress);
    let stats = match &task.action {
        Action::Annotate(annotation) => {
            let filter = filter
                .form(annotation.list_form()?)
                .preferences(annotation.preferences);
            filter.annotate(inputs, &mut outputs.main)?
        }
        Action::Filter(keep, require) => {
            let sinks = Outputs {
                kept: Some(&mut outputs.main),
                other: as_sink(&mut outputs.disallowed),
                unknown: as_sink(&mut outputs.unknown),
                invalid: as_sink(&mut outputs.invalid),
            };
            filter.keep(*keep, *require).run(inputs, sinks)?
        }
    };
    if stats.has_no_url() {
        // The outputs are dropped here, so they replace no files.
        return Err(no_url(stats.lines, names));
    }
    Ok(PendingOutputs {
        outputs: outputs.all(),
        stats,
    })
}

/// Refuses an index of outputs that are not archives.
fn refuse_index(paths: &OutputPaths) -> anyhow::Result<()> {
    match &paths.cdxj {
        Some(path) => bail!(
            "{}: --cdxj indexes the records of WARC files, and no input is one",
            path.display()
        ),
        None => Ok(()),
    }
}

/// Refuses outputs with the extension of another format.
fn refuse_misnamed(paths: &OutputPaths, format: OutputFormat) -> anyhow::Result<()> {
    let refuse = if paths.of_directory {
        refuse_other_format_of_input
    } else {
        refuse_other_format
    };
    paths
        .named()
        .try_for_each(|(output, path)| refuse(paths.option_of(output), path, format))
}

fn as_sink(output: &mut Option<OutputTarget>) -> Option<&mut (dyn Write + Send)> {
    output
        .as_mut()
        .map(|output| output as &mut (dyn Write + Send))
}

/// Opens all inputs before any is read, so that a missing one fails at once.
pub(crate) fn open_inputs(paths: &[PathBuf]) -> robosieve::Result<Vec<Input>> {
    paths.iter().map(Input::open).collect()
}
