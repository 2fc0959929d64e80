//! One task of `filter` or `annotate`: the action on each record, and the paths of the outputs.

use super::value_enums::AnnotateArg;
use anyhow::bail;
use robosieve::filter::{AnnotateForm, Keep, Require};
use robosieve::records::RecordOptions;
use std::path::{Path, PathBuf};

/// The action on the records of an input, and the options that locate their URLs.
#[derive(Clone, Debug)]
pub(crate) struct JudgeTask {
    pub action: Action,
    pub records: RecordOptions,
}

/// The action on every record.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Write it to the output of its verdict.
    Filter(Keep, Require),
    /// Write it to the main output, with its verdicts.
    Annotate(Annotation),
}

/// The additions of `annotate`.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    /// The form of the verdicts; `None` is the default of the input format.
    pub form: Option<AnnotateArg>,
    /// The name, or name prefix, of the columns added to Parquet files.
    pub name: Option<String>,
    /// Whether to add preferences.
    pub preferences: bool,
}

impl Annotation {
    /// The form of annotated lists.
    pub(crate) fn list_form(&self) -> anyhow::Result<AnnotateForm> {
        if self.name.is_some() {
            bail!("--as-name is for the columns added to Parquet files; a list has none")
        }
        Ok(match self.form {
            None | Some(AnnotateArg::Letters) => AnnotateForm::Letters,
            Some(AnnotateArg::Jsonl) => AnnotateForm::Jsonl,
            Some(AnnotateArg::Mask) => AnnotateForm::Mask,
            Some(AnnotateArg::Bits | AnnotateArg::Int8) => {
                bail!(
                    "--as bits and --as int8 are columns of Parquet files; a list takes letters, jsonl or mask"
                )
            }
        })
    }
}

/// The paths of the outputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutputPaths {
    /// The kept or annotated lines; `None` is standard output.
    pub main: Option<PathBuf>,
    pub disallowed: Option<PathBuf>,
    pub unknown: Option<PathBuf>,
    pub invalid: Option<PathBuf>,
    /// The offset index of kept WARC records.
    pub cdxj: Option<PathBuf>,
    /// Whether the paths are directories of `--out-dir`, or files in them.
    pub of_directory: bool,
}

impl OutputPaths {
    /// The option that names an output.
    pub(crate) fn option_of(&self, output: &str) -> &'static str {
        match output {
            "disallowed" => "--disallowed-to",
            "unknown" => "--unknown-to",
            "invalid" => "--invalid-to",
            "cdxj" => "--cdxj",
            _ if self.of_directory => "--out-dir",
            _ => "-o",
        }
    }

    /// All outputs that are files, each with its name: `main`, `disallowed`, `unknown`,
    /// `invalid`, `cdxj`.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("main", &self.main),
            ("disallowed", &self.disallowed),
            ("unknown", &self.unknown),
            ("invalid", &self.invalid),
            ("cdxj", &self.cdxj),
        ];
        all.into_iter()
            .filter_map(|(output, path)| Some((output, path.as_deref()?)))
    }
}
