//! What is to be done with the records of inputs, and where they go.

use super::choices::AnnotateArg;
use anyhow::bail;
use robosieve::{AnnotateForm, Keep, RecordOptions, Require};
use std::path::{Path, PathBuf};

/// What is done with the records of an input, and where their URLs stand.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub what: What,
    pub records: RecordOptions,
}

/// What is done with every record.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// To the output of its verdict.
    Filter(Keep, Require),
    /// To the one output, with its verdicts.
    Annotate(Annotation),
}

/// What annotating adds.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    /// The form; `None` is the usual one.
    pub form: Option<AnnotateArg>,
    /// What columns added to Parquet files are called.
    pub name: Option<String>,
    /// Preferences too.
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
                bail!("--as bits and --as int8 are columns of Parquet files; a list takes letters, jsonl or mask")
            }
        })
    }
}

/// Where the lines go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The kept lines, or the annotated; `None` is standard output.
    pub main: Option<PathBuf>,
    pub disallowed: Option<PathBuf>,
    pub unknown: Option<PathBuf>,
    pub invalid: Option<PathBuf>,
    /// They are directories, or files in such, as `--out-dir` wants them.
    pub of_directory: bool,
}

impl Places {
    /// The option that names a part.
    pub(crate) fn option_of(&self, part: &str) -> &'static str {
        match part {
            "disallowed" => "--disallowed-to",
            "unknown" => "--unknown-to",
            "invalid" => "--invalid-to",
            _ if self.of_directory => "--out-dir",
            _ => "-o",
        }
    }

    /// All that are files, each with the name of its part.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("main", &self.main),
            ("disallowed", &self.disallowed),
            ("unknown", &self.unknown),
            ("invalid", &self.invalid),
        ];
        all.into_iter().filter_map(|(part, path)| Some((part, path.as_deref()?)))
    }
}
