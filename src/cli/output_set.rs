//! The outputs of `filter` and `annotate`, open but not yet compressed.
//!
//! The format of the inputs decides on the compression of outputs. A stream is recognised only once
//! it has bytes, and until then the outputs are open already: a run that waits for its input has
//! reported the errors of its outputs.

use super::judge_task::OutputPaths;
use super::output::OutputTarget;
use std::path::{Path, PathBuf};

/// The outputs of a job.
pub(crate) struct OutputSet {
    pub main: OutputTarget,
    pub disallowed: Option<OutputTarget>,
    pub unknown: Option<OutputTarget>,
    pub invalid: Option<OutputTarget>,
    pub cdxj: Option<OutputTarget>,
}

impl OutputSet {
    /// Opens all outputs without compression.
    pub(crate) fn open(paths: &OutputPaths) -> anyhow::Result<Self> {
        let open = |path: &Option<PathBuf>| {
            path.as_deref()
                .map(|path| OutputTarget::open_as_is(Some(path)))
                .transpose()
        };
        let mut main = OutputTarget::open_as_is(paths.main.as_deref())?;
        if paths.named().any(|(output, _)| output != "main") {
            main.outlive_reader();
        }
        Ok(Self {
            main,
            disallowed: open(&paths.disallowed)?,
            unknown: open(&paths.unknown)?,
            invalid: open(&paths.invalid)?,
            cdxj: open(&paths.cdxj)?,
        })
    }

    /// Compresses the outputs as their names say, except those of records for which `is_as_is`
    /// holds.
    pub(crate) fn compressed(
        self,
        paths: &OutputPaths,
        is_as_is: impl Fn(&Path) -> bool,
    ) -> anyhow::Result<Self> {
        let compressed = |output: OutputTarget, path: &Option<PathBuf>| match path.as_deref() {
            Some(path) if is_as_is(path) => Ok(output),
            _ => output.compressed_by_name(),
        };
        let optional = |output: Option<OutputTarget>, path: &Option<PathBuf>| {
            output.map(|output| compressed(output, path)).transpose()
        };
        Ok(Self {
            main: compressed(self.main, &paths.main)?,
            disallowed: optional(self.disallowed, &paths.disallowed)?,
            unknown: optional(self.unknown, &paths.unknown)?,
            invalid: optional(self.invalid, &paths.invalid)?,
            cdxj: self
                .cdxj
                .map(OutputTarget::compressed_by_name)
                .transpose()?,
        })
    }

    pub(crate) fn all(self) -> Vec<OutputTarget> {
        [
            Some(self.main),
            self.disallowed,
            self.unknown,
            self.invalid,
            self.cdxj,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
