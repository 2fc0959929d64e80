//! Refuses options whose outputs would overwrite an input or another output, and names a remedy.
//! Refuses a stream that is named as two inputs.
//!
//! Two readers of one pipe take turns: each gets parts of lines, in an order that differs between
//! runs. Two readers of standard input in a row are no better, as the second finds it empty.

use crate::output::is_stdout;
use crate::standard_streams::StreamIdentity;
use anyhow::{anyhow, bail};
use robosieve::output::OverwriteGuard;
use robosieve::{Error, ErrorKind};
use std::collections::HashMap;
use std::path::Path;

/// The name of standard output in messages, which otherwise name an option.
const STDOUT: &str = "standard output";

/// An [`OverwriteGuard`] whose outputs are those of options. All inputs must be added ahead of the
/// first output.
#[derive(Default)]
pub(crate) struct OptionGuard {
    files: OverwriteGuard,
    /// The streams among the inputs, with their roles and paths.
    streams: HashMap<StreamIdentity, String>,
    /// The first stream that was added twice.
    repeated: Option<RepeatedStream>,
}

/// Two inputs that are one stream.
struct RepeatedStream {
    first: String,
    second: String,
}

impl OptionGuard {
    /// Adds files that are read, with their role in messages. `-` is standard input. A stream that
    /// is added twice is an error of the first output.
    pub(crate) fn add_inputs<P: AsRef<Path>>(
        mut self,
        role: &str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        for path in paths {
            let path = path.as_ref();
            self.files = self.files.add_inputs(role, [path]);
            let Some(stream) = StreamIdentity::of(path) else {
                continue;
            };
            let second = format!("{role} ({})", path.display());
            if let Some(first) = self.streams.insert(stream, second.clone()) {
                self.repeated
                    .get_or_insert(RepeatedStream { first, second });
            }
        }
        self
    }

    /// # Errors
    /// If two inputs are one stream.
    fn refuse_repeated(&self) -> anyhow::Result<()> {
        let Some(RepeatedStream { first, second }) = &self.repeated else {
            return Ok(());
        };
        if first == second {
            bail!("{first} is given twice, and a stream can be read once only; name it once");
        }
        bail!(
            "{first} and {second} are the same stream, which can be read once only; leave one out, \
             or write it to a file first"
        )
    }

    /// Adds the output that `option` names (`-`: standard output).
    ///
    /// # Errors
    /// If the file is an input too, or already another output. If two inputs are one stream.
    pub(crate) fn add_output(&mut self, option: &str, path: &Path) -> anyhow::Result<()> {
        self.refuse_repeated()?;
        let added = if is_stdout(path) {
            self.files.add_stdout(option)
        } else {
            self.files.add_output(option, path)
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
        self.refuse_repeated()?;
        let added = self.files.add_output(option, path);
        added.map_err(|err| with_remedy(err, &format!("name another directory with {option}")))
    }

    /// Adds standard output.
    ///
    /// # Errors
    /// As [`add_output`](Self::add_output).
    pub(crate) fn add_stdout(mut self) -> anyhow::Result<Self> {
        self.refuse_repeated()?;
        self.files.add_stdout(STDOUT).map_err(|err| match err.kind() {
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
