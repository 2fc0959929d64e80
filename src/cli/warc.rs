//! `filter` and `annotate` for WARC, WET and WAT files.

use super::file_extension::{
    OutputFormat, is_archive, refuse_other_format, refuse_other_format_of_input,
};
use super::judge_task::{Action, JudgeTask, OutputPaths};
use super::output::{OutputTarget, is_stdout};
use super::output_set::OutputSet;
use anyhow::{Context, bail};
use robosieve::Judge;
use robosieve::filter::{FilterProgress, FilterStats, Input};
use robosieve::records::RecordOptions;
use robosieve::warc::{ListOrWarc, WarcFilter, WarcIndex, WarcInput, WarcOutput, WarcOutputs};
use std::path::{Path, PathBuf};

/// Opened inputs of one kind.
pub(crate) enum ListsOrWarcs {
    Lists(Vec<Input>),
    Warcs(Vec<WarcInput>),
}

/// Opens all inputs before any is read, so that a missing one fails at once.
///
/// # Errors
/// If some inputs are WARC files and some are not.
pub(crate) fn open(paths: &[PathBuf]) -> anyhow::Result<ListsOrWarcs> {
    let (mut lists, mut warcs) = (Vec::new(), Vec::new());
    for path in paths {
        match ListOrWarc::open(path)? {
            ListOrWarc::List(input) => lists.push(input),
            ListOrWarc::Warc(input) => warcs.push(input),
        }
    }
    match (lists.is_empty(), warcs.is_empty()) {
        (_, true) => Ok(ListsOrWarcs::Lists(lists)),
        (true, false) => Ok(ListsOrWarcs::Warcs(warcs)),
        (false, false) => {
            bail!(
                "some inputs are WARC files and some are lists; give each kind to a run of its own, or use --out-dir"
            )
        }
    }
}

/// Filters or annotates WARC files. The outputs are written but not yet visible.
pub(crate) fn write(
    task: &JudgeTask,
    judge: &Judge,
    inputs: Vec<WarcInput>,
    paths: &OutputPaths,
    outputs: Option<OutputSet>,
    progress: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<(Vec<OutputTarget>, FilterStats)> {
    if task.records != RecordOptions::default() {
        bail!(
            "options such as --field and --host are for lists; a record of a WARC file has its URL in WARC-Target-URI"
        );
    }
    let outputs = |is_as_is: &dyn Fn(&Path) -> bool| {
        outputs
            .map_or_else(|| OutputSet::open(paths), Ok)?
            .compressed(paths, is_as_is)
    };
    let show = |at: FilterProgress| progress(at.bytes_read);
    let filter = WarcFilter::new(judge).progress(&show);
    match &task.action {
        Action::Annotate(annotation) => {
            let form = annotation.list_form()?;
            refuse_misnamed_lines(paths)?;
            let mut outputs = outputs(&|_| false)?;
            let stats = filter
                .form(form)
                .preferences(annotation.preferences)
                .annotate(inputs, &mut outputs.main)?;
            Ok((outputs.all(), stats))
        }
        Action::Filter(keep, require) => {
            let has_members = inputs.iter().any(WarcInput::is_gzip);
            refuse_misnamed_records(paths, has_members)?;
            let file_name = index_name(paths, has_members)?;
            // Records for these names are gzip members already.
            let mut targets = outputs(&|path| has_members || has_extension(path, "gz"))?;
            let stats = {
                let outputs = WarcOutputs {
                    kept: Some(output(&mut targets.main, &paths.main)),
                    other: targets
                        .disallowed
                        .as_mut()
                        .map(|out| output(out, &paths.disallowed)),
                    unknown: targets
                        .unknown
                        .as_mut()
                        .map(|out| output(out, &paths.unknown)),
                    invalid: targets
                        .invalid
                        .as_mut()
                        .map(|out| output(out, &paths.invalid)),
                    index: targets.cdxj.as_mut().map(|out| WarcIndex {
                        out,
                        file_name: &file_name,
                    }),
                };
                filter.keep(*keep, *require).run(inputs, outputs)?
            };
            Ok((targets.all(), stats))
        }
    }
}

/// An output, whose name says whether records become gzip members.
fn output<'o>(out: &'o mut OutputTarget, path: &Option<PathBuf>) -> WarcOutput<'o> {
    WarcOutput {
        out,
        gzip: path
            .as_deref()
            .is_some_and(|path| has_extension(path, "gz")),
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|other| other.eq_ignore_ascii_case(extension))
}

/// Refuses names of lines that are those of archives, unless an output has the name of its input.
fn refuse_misnamed_lines(paths: &OutputPaths) -> anyhow::Result<()> {
    for (output, path) in paths.named() {
        if paths.of_directory {
            refuse_other_format_of_input(paths.option_of(output), path, OutputFormat::Text)?;
        } else if is_archive(path) {
            bail!(
                "{}: annotate writes a line per record, and the name is that of an archive; name it .tsv, .jsonl or \
                 .txt (.gz or .zst may follow)",
                path.display()
            );
        } else {
            refuse_other_format(paths.option_of(output), path, OutputFormat::Text)?;
        }
    }
    Ok(())
}

/// Refuses names that do not fit the compression of the records.
fn refuse_misnamed_records(paths: &OutputPaths, has_members: bool) -> anyhow::Result<()> {
    for (output, path) in paths.named() {
        let option = paths.option_of(output);
        let format = if output == "cdxj" {
            OutputFormat::Text
        } else {
            OutputFormat::Warc
        };
        if paths.of_directory {
            refuse_other_format_of_input(option, path, format)?;
            continue;
        }
        refuse_other_format(option, path, format)?;
        if output != "cdxj"
            && has_members
            && (is_archive(path) || has_extension(path, "zst"))
            && !has_extension(path, "gz")
        {
            bail!(
                "{}: {option} copies the gzip members of the inputs, so the name must end in .gz; name it {}.gz",
                path.display(),
                if has_extension(path, "zst") {
                    path.with_extension("")
                } else {
                    path.to_owned()
                }
                .display()
            );
        }
    }
    Ok(())
}

/// The name that the index gives to the file of kept records.
fn index_name(paths: &OutputPaths, has_members: bool) -> anyhow::Result<String> {
    if paths.cdxj.is_none() {
        return Ok(String::new());
    }
    let main = paths.main.as_deref().filter(|path| !is_stdout(path)).context(
        "--cdxj indexes the file of kept records, which needs a name; give it with -o, such as -o kept.warc.gz",
    )?;
    if has_extension(main, "zst") && !has_members {
        bail!(
            "{}: --cdxj has offsets, which are of no use in a zstd stream; name the output .warc or .warc.gz",
            main.display()
        );
    }
    Ok(main
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned())
}
