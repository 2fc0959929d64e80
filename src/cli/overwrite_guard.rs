//! Refuses outputs that would overwrite an input or another output.
//!
//! Files are compared by device and inode on Unix: one file may have many names (links, `./`,
//! `/dev/stdin`), and standard input has none. An output that does not exist yet is compared by its
//! future path.

use anyhow::bail;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// The name of standard output in messages, in place of an option.
const STDOUT: &str = "standard output";

/// The most symbolic links that are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The files that a run reads and writes, with the options that name them. All inputs must be added
/// ahead of the first output.
#[derive(Default)]
pub(crate) struct OverwriteGuard {
    inputs: HashMap<FileIdentity, String>,
    outputs: HashMap<FileIdentity, String>,
}

/// A key that is equal for two paths of the same file.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FileIdentity {
    #[cfg(unix)]
    Inode(u64, u64),
    Path(PathBuf),
}

impl OverwriteGuard {
    /// Adds files that are read, with their role in messages. `-` is standard input.
    pub(crate) fn add_inputs<P: AsRef<Path>>(mut self, role: &str, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            let path = path.as_ref();
            if let Some(identity) = identity_of_input(path) {
                let shown = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
                self.inputs.insert(identity, format!("{role} ({shown})"));
            }
        }
        self
    }

    /// Adds the output that `option` names (`-`: standard output).
    ///
    /// # Errors
    /// If the file is an input too, or already another output.
    pub(crate) fn add_output(&mut self, option: &str, path: &Path) -> anyhow::Result<()> {
        self.add(option, path, identity_of_output(path), &format!("name another file with {option}"))
    }

    /// Adds standard output.
    ///
    /// # Errors
    /// As [`add_output`](Self::add_output).
    pub(crate) fn add_stdout(mut self) -> anyhow::Result<Self> {
        let path = Path::new("-");
        self.add(STDOUT, path, identity_of_output(path), "redirect it to another file")?;
        Ok(self)
    }

    /// Adds an output in the directory that `option` names. `resolved` is its path below the
    /// [resolved](resolve_path) directory, so that links are followed once per directory and not
    /// once per file.
    ///
    /// # Errors
    /// As [`add_output`](Self::add_output).
    pub(crate) fn add_output_in_directory(
        &mut self,
        option: &str,
        path: &Path,
        resolved: PathBuf,
    ) -> anyhow::Result<()> {
        let identity = match fs::metadata(path) {
            Ok(meta) => existing(path, &meta),
            Err(_) => Some(FileIdentity::Path(resolved)),
        };
        self.add(option, path, identity, &format!("name another directory with {option}"))
    }

    fn add(&mut self, option: &str, path: &Path, identity: Option<FileIdentity>, remedy: &str) -> anyhow::Result<()> {
        let Some(identity) = identity else { return Ok(()) };
        let shown = if super::output::is_stdout(path) { STDOUT.into() } else { path.display().to_string() };
        if let Some(input) = self.inputs.get(&identity) {
            let output = if option == STDOUT { "it".to_owned() } else { format!("the output of {option}") };
            bail!("{shown}: would be overwritten while it is read: {output} is the same file as {input}; {remedy}");
        }
        if let Some(other) = self.outputs.insert(identity, option.to_owned()) {
            bail!("{shown}: named for two outputs, {other} and {option}; give each one of its own");
        }
        Ok(())
    }
}

/// The identity of an existing file; `None` for devices (`/dev/null`, a terminal) and sockets,
/// which may be read and written at once.
#[cfg(unix)]
fn identity(meta: &Metadata) -> Option<FileIdentity> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let kind = meta.file_type();
    let is_shared = kind.is_char_device() || kind.is_socket();
    (!is_shared).then(|| FileIdentity::Inode(meta.dev(), meta.ino()))
}

fn identity_of_input(path: &Path) -> Option<FileIdentity> {
    if path.as_os_str() == "-" {
        return standard_stream(std::io::stdin());
    }
    existing(path, &fs::metadata(path).ok()?)
}

fn identity_of_output(path: &Path) -> Option<FileIdentity> {
    if super::output::is_stdout(path) {
        // Two outputs on one terminal or pipe would mix.
        return standard_stream(std::io::stdout()).or(Some(FileIdentity::Path("-".into())));
    }
    match fs::metadata(path) {
        Ok(meta) => existing(path, &meta),
        Err(_) => Some(FileIdentity::Path(resolve_path(path))),
    }
}

#[cfg(unix)]
fn existing(_: &Path, meta: &Metadata) -> Option<FileIdentity> {
    identity(meta)
}

#[cfg(not(unix))]
fn existing(path: &Path, _: &Metadata) -> Option<FileIdentity> {
    path.canonicalize().ok().map(FileIdentity::Path)
}

#[cfg(unix)]
fn standard_stream(stream: impl std::os::fd::AsFd) -> Option<FileIdentity> {
    let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    identity(&file.metadata().ok()?)
}

#[cfg(not(unix))]
fn standard_stream<T>(_: T) -> Option<FileIdentity> {
    None
}

/// The absolute path, without links, of a file that does not exist yet.
pub(crate) fn resolve_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Writing to a dangling link creates its target. The limit ends a cycle, which cannot be opened
    // anyway.
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(target);
    }
    let in_folder = || Some(folder_of(&path).canonicalize().ok()?.join(path.file_name()?));
    in_folder().or_else(|| std::path::absolute(&path).ok()).unwrap_or(path)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
