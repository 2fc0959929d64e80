//! Refuses options whose outputs would overwrite an input or another output, and names a remedy.

use crate::output::is_stdout;
use anyhow::anyhow;
use robosieve::output::OverwriteGuard;
use robosieve::{Error, ErrorKind};
use std::path::Path;

/// The name of standard output in messages, which otherwise name an option.
const STDOUT: &str = "standard output";

/// An [`OverwriteGuard`] whose outputs are those of options. All inputs must be added ahead of the
/// first output.
#[derive(Default)]
pub(crate) struct OptionGuard(OverwriteGuard);

impl OptionGuard {
    /// Adds files that are read, with their role in messages. `-` is standard input.
    pub(crate) fn add_inputs<P: AsRef<Path>>(
        self,
        role: &str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        Self(self.0.add_inputs(role, paths))
    }

    /// Adds the output that `option` names (`-`: standard output).
    ///
    /// # Errors
    /// If the file is an input too, or already another output.
    pub(crate) fn add_output(&mut self, option: &str, path: &Path) -> anyhow::Result<()> {
        let added = if is_stdout(path) {
            self.0.add_stdout(option)
        } else {
            self.0.add_output(option, path)
        };
        added.map_err(|err| with_remedy(err, &format!("name another file with {option}")))
    }

    /// Adds an output in the directory that `option` names.
    ///
    /// # Errors
    /// As [`add_output`](Self::add_output).
    pub(crate) fn add_output_in_directory(
        &mut self,
        option: &str,
        path: &Path,
    ) -> anyhow::Result<()> {
        let added = self.0.add_output(option, path);
        added.map_err(|err| with_remedy(err, &format!("name another directory with {option}")))
    }

    /// Adds standard output.
    ///
    /// # Errors
    /// As [`add_output`](Self::add_output).
    pub(crate) fn add_stdout(mut self) -> anyhow::Result<Self> {
        self.0.add_stdout(STDOUT).map_err(|err| match err.kind() {
            // No option names it, so the message of the library does not fit.
            ErrorKind::OverwritesInput { input, .. } => anyhow!(
                "{STDOUT}: would be overwritten while it is read: it is the same file as {input}; \
                 redirect it to another file"
            ),
            _ => err.into(),
        })?;
        Ok(self)
    }
}

/// Adds a remedy to an error that names none.
fn with_remedy(err: Error, remedy: &str) -> anyhow::Error {
    match err.kind() {
        ErrorKind::OverwritesInput { .. } => anyhow!("{err}; {remedy}"),
        _ => err.into(),
    }
}
