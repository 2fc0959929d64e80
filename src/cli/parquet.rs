//! `filter` and `annotate` for Parquet files.

use super::judge_task::{Action, JudgeTask, OutputPaths};
use super::value_enums::AnnotateArg;
use anyhow::{Context, bail};
use robosieve::Judge;
use robosieve::filter::{FilterProgress, FilterStats};
use robosieve::parquet::{ParquetFilter, ParquetInput, ParquetOutputs, VerdictColumns};
use robosieve::records::{Field, RecordOptions};
use std::path::PathBuf;
use std::sync::Once;

/// Suppresses the messages of panics in the crates that read Parquet: the library returns them as
/// errors.
fn silence_parquet_panics() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info
                .location()
                .is_some_and(|location| is_of_parquet_reader(location.file()))
            {
                default(info);
            }
        }));
    });
}

/// The crates that decode Parquet files.
const PARQUET_READER: [&str; 6] = ["parquet", "snap", "lz4_flex", "zstd", "zstd-safe", "flate2"];

/// Whether a source file belongs to one of the crates that decode Parquet files.
///
/// Their directories end in the version (`parquet-60.1.0/src/…`) or, vendored, do not. The file of
/// any other crate counts as not of them, also one of this crate, whose path is relative in a
/// checkout and absolute when it is installed.
fn is_of_parquet_reader(file: &str) -> bool {
    let components: Vec<&str> = file.split(['/', '\\']).collect();
    components.windows(2).any(|pair| {
        let is_named = |name: &&str| {
            let version = pair[0].strip_prefix(name);
            version.is_some_and(|version| version.is_empty() || version.starts_with('-'))
        };
        pair[1] == "src" && PARQUET_READER.iter().any(is_named)
    })
}

/// Whether the inputs are Parquet files.
///
/// # Errors
/// If only some are.
pub(crate) fn are_parquet(inputs: &[PathBuf]) -> anyhow::Result<bool> {
    let tables = inputs
        .iter()
        .filter(|path| ParquetInput::is_parquet(path))
        .count();
    if tables > 0 && tables < inputs.len() {
        bail!("some inputs are Parquet files and some are not; give each kind to a run of its own");
    }
    Ok(tables > 0)
}

/// Opens Parquet files; `records` names the column of the URLs.
pub(crate) fn open(
    inputs: &[PathBuf],
    records: &RecordOptions,
) -> anyhow::Result<Vec<ParquetInput>> {
    if records.json_key.is_some() {
        bail!("--json-key is for lists; --field names the column of a Parquet file");
    }
    let column = match &records.field {
        None => "url",
        Some(Field::Name(name)) => name,
        Some(Field::Number(number)) => {
            bail!("--field {number}: the columns of a Parquet file have names; give one of them")
        }
    };
    silence_parquet_panics();
    let open = |path: &PathBuf| Ok(ParquetInput::open(path, column)?.records(records));
    Ok(inputs.iter().map(open).collect::<robosieve::Result<_>>()?)
}

/// Filters or annotates Parquet files; the outputs appear when they are complete.
pub(crate) fn write(
    task: &JudgeTask,
    judge: &Judge,
    inputs: &[PathBuf],
    paths: &OutputPaths,
    progress: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<FilterStats> {
    if matches!(&task.action, Action::Annotate(annotation) if annotation.preferences) {
        bail!("--preferences is for lists; a Parquet file takes verdicts only");
    }
    let main = paths.main.as_deref().context(NEEDS_FILE)?;
    if paths.named().any(|(_, path)| path.as_os_str() == "-") {
        bail!(NEEDS_FILE);
    }
    let inputs = open(inputs, &task.records)?;
    let show = |at: FilterProgress| progress(at.bytes_read);
    let filter = ParquetFilter::new(judge).require_url(true).progress(&show);
    Ok(match &task.action {
        Action::Annotate(annotation) => {
            let filter = filter.columns(columns(annotation.form)?);
            match &annotation.name {
                Some(name) => filter.name(name).annotate(&inputs, main)?,
                None => filter.annotate(&inputs, main)?,
            }
        }
        Action::Filter(keep, require) => {
            let outputs = ParquetOutputs {
                kept: Some(main),
                other: paths.disallowed.as_deref(),
                unknown: paths.unknown.as_deref(),
                invalid: paths.invalid.as_deref(),
            };
            filter.keep(*keep, *require).run(&inputs, outputs)?
        }
    })
}

fn columns(form: Option<AnnotateArg>) -> anyhow::Result<VerdictColumns> {
    match form {
        None | Some(AnnotateArg::Bits) => Ok(VerdictColumns::Bits),
        Some(AnnotateArg::Int8) => Ok(VerdictColumns::Int8),
        Some(AnnotateArg::Letters | AnnotateArg::Jsonl | AnnotateArg::Mask) => {
            bail!("--as letters, jsonl and mask are for lists; a Parquet file takes bits or int8")
        }
    }
}

const NEEDS_FILE: &str = "the output of a Parquet input is Parquet, which needs a file; name one with -o, such as -o out.parquet";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_panics_of_the_parquet_reader_are_silent() {
        for (file, is_silent) in [
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/parquet-60.1.0/src/file/reader.rs",
                true,
            ),
            (
                "C:\\cargo\\registry\\src\\index-1\\snap-1.1.1\\src\\raw.rs",
                true,
            ),
            ("vendor/parquet/src/schema/types.rs", true),
            ("src/parquet/input.rs", false),
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/robosieve-0.1.0/src/parquet/input.rs",
                false,
            ),
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/rayon-core-1.13.0/src/registry.rs",
                false,
            ),
            ("/rustc/0123/library/core/src/slice/index.rs", false),
        ] {
            assert_eq!(is_of_parquet_reader(file), is_silent, "{file}");
        }
    }
}
