//! One job: lists of URLs to their outputs. A plain run is one, and a run with `--out-dir` one for each file.

use super::endings::{Format, refuse_other_format, refuse_other_format_of_input};
use super::output::Output;
use super::parquet;
use super::summary::no_url;
use super::task::{Places, Task, What};
use robosieve::{Filter, FilterStats, Input, Judge, Outputs};
use std::io::Write;
use std::path::PathBuf;

/// A job whose outputs are written and, but for Parquet, not yet visible; dropped, it leaves nothing more behind.
pub(crate) struct Written {
    outputs: Vec<Output>,
    stats: FilterStats,
}

impl Written {
    /// Makes the outputs appear.
    pub(crate) fn commit(self) -> anyhow::Result<FilterStats> {
        Output::commit_all(self.outputs)?;
        Ok(self.stats)
    }
}

/// Sends every record of `inputs`, one after the other, to its place; Parquet files, which are written by another way, appear at
/// once. `progress` is told how many bytes of them were read so far.
pub(crate) fn write(
    task: &Task,
    judge: &Judge,
    inputs: &[PathBuf],
    places: &Places,
    progress: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<Written> {
    if parquet::are_parquet(inputs)? {
        refuse_misnamed(places, Format::Parquet)?;
        let stats = parquet::write(task, judge, inputs, places, progress)?;
        return Ok(Written { outputs: Vec::new(), stats });
    }
    let (names, inputs) = (inputs, open_inputs(inputs)?);
    refuse_misnamed(places, Format::Text)?;
    let mut main = Output::open(places.main.as_deref())?;
    if places.named().any(|(part, _)| part != "main") {
        main.outlive_reader();
    }
    let mut other = open_optional(&places.disallowed)?;
    let mut unknown = open_optional(&places.unknown)?;
    let mut invalid = open_optional(&places.invalid)?;
    let progress = |at: robosieve::FilterProgress| progress(at.bytes_read);
    let filter = Filter::new(judge).records(task.records.clone()).progress(&progress);
    let stats = match &task.what {
        What::Annotate(annotation) => {
            let filter = filter.form(annotation.list_form()?).preferences(annotation.preferences);
            filter.annotate(inputs, &mut main)?
        }
        What::Filter(keep, require) => {
            let outputs = Outputs {
                kept: Some(&mut main),
                other: as_sink(&mut other),
                unknown: as_sink(&mut unknown),
                invalid: as_sink(&mut invalid),
            };
            filter.keep(*keep, *require).run(inputs, outputs)?
        }
    };
    if stats.has_no_url() {
        // Dropped now, the outputs replace no files.
        return Err(no_url(stats.lines, names));
    }
    Ok(Written { outputs: [Some(main), other, unknown, invalid].into_iter().flatten().collect(), stats })
}

/// Refuses outputs whose names say another format.
fn refuse_misnamed(places: &Places, format: Format) -> anyhow::Result<()> {
    let refuse = if places.of_directory { refuse_other_format_of_input } else { refuse_other_format };
    places.named().try_for_each(|(part, path)| refuse(places.option_of(part), path, format))
}

fn open_optional(path: &Option<PathBuf>) -> anyhow::Result<Option<Output>> {
    path.as_deref().map(|path| Output::open(Some(path))).transpose()
}

fn as_sink(output: &mut Option<Output>) -> Option<&mut (dyn Write + Send)> {
    output.as_mut().map(|output| output as &mut (dyn Write + Send))
}

/// All inputs are opened before any is read, so a missing one is told at once.
pub(crate) fn open_inputs(paths: &[PathBuf]) -> robosieve::Result<Vec<Input>> {
    paths.iter().map(Input::open).collect()
}
