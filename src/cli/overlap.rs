//! Refuses outputs that would overwrite an input or another output.
//!
//! Files are compared by device and inode where the system has them: one file may have many names
//! (links, `./`, `/dev/stdin`), and standard input has none. An output that does not exist yet is
//! compared by the place where it will be.

use anyhow::bail;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// What standard output is called, as an option is by its name.
const STDOUT: &str = "standard output";

/// Links that are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The files that a run reads and writes, with the options that name them. First all that it reads
/// are added, then each output.
#[derive(Default)]
pub(crate) struct Files {
    read: HashMap<Identity, String>,
    written: HashMap<Identity, String>,
}

/// What tells a file from others.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    #[cfg(unix)]
    Inode(u64, u64),
    Place(PathBuf),
}

impl Files {
    /// Adds files that are read; `role` says as what. `-` is standard input.
    pub(crate) fn reads<P: AsRef<Path>>(mut self, role: &str, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            let path = path.as_ref();
            if let Some(identity) = identity_of_input(path) {
                let shown = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
                self.read.insert(identity, format!("{role} ({shown})"));
            }
        }
        self
    }

    /// Adds the output that `option` names (`-`: standard output).
    ///
    /// # Errors
    /// If it is read too, or named for another output.
    pub(crate) fn writes(&mut self, option: &str, path: &Path) -> anyhow::Result<()> {
        self.add(option, path, identity_of_output(path), &format!("name another file with {option}"))
    }

    /// Adds standard output.
    ///
    /// # Errors
    /// As [`writes`](Self::writes).
    pub(crate) fn and_stdout(mut self) -> anyhow::Result<Self> {
        let path = Path::new("-");
        self.add(STDOUT, path, identity_of_output(path), "redirect it to another file")?;
        Ok(self)
    }

    /// Adds an output in the directory that `option` names. `place` is its path below that
    /// directory's [place](place_of), so that links are followed once for the directory and not for
    /// each file.
    ///
    /// # Errors
    /// As [`writes`](Self::writes).
    pub(crate) fn writes_in_directory(&mut self, option: &str, path: &Path, place: PathBuf) -> anyhow::Result<()> {
        let identity = match fs::metadata(path) {
            Ok(meta) => existing(path, &meta),
            Err(_) => Some(Identity::Place(place)),
        };
        self.add(option, path, identity, &format!("name another directory with {option}"))
    }

    fn add(&mut self, option: &str, path: &Path, identity: Option<Identity>, remedy: &str) -> anyhow::Result<()> {
        let Some(identity) = identity else { return Ok(()) };
        let shown = if super::output::is_stdout(path) { STDOUT.into() } else { path.display().to_string() };
        if let Some(reader) = self.read.get(&identity) {
            let it = if option == STDOUT { "it".to_owned() } else { format!("the output of {option}") };
            bail!("{shown}: would be written over while it is read: {it} is the same file as {reader}; {remedy}");
        }
        if let Some(other) = self.written.insert(identity, option.to_owned()) {
            bail!("{shown}: named for two outputs, {other} and {option}; give each one of its own");
        }
        Ok(())
    }
}

/// The identity of what exists. Devices (`/dev/null`, a terminal) and sockets may be read and
/// written at once.
#[cfg(unix)]
fn identity(meta: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let kind = meta.file_type();
    let is_shared = kind.is_char_device() || kind.is_socket();
    (!is_shared).then(|| Identity::Inode(meta.dev(), meta.ino()))
}

fn identity_of_input(path: &Path) -> Option<Identity> {
    if path.as_os_str() == "-" {
        return standard_stream(std::io::stdin());
    }
    existing(path, &fs::metadata(path).ok()?)
}

fn identity_of_output(path: &Path) -> Option<Identity> {
    if super::output::is_stdout(path) {
        // Twice the same terminal is too often.
        return standard_stream(std::io::stdout()).or(Some(Identity::Place("-".into())));
    }
    match fs::metadata(path) {
        Ok(meta) => existing(path, &meta),
        Err(_) => Some(Identity::Place(place_of(path))),
    }
}

#[cfg(unix)]
fn existing(_: &Path, meta: &Metadata) -> Option<Identity> {
    identity(meta)
}

#[cfg(not(unix))]
fn existing(path: &Path, _: &Metadata) -> Option<Identity> {
    path.canonicalize().ok().map(Identity::Place)
}

#[cfg(unix)]
fn standard_stream(stream: impl std::os::fd::AsFd) -> Option<Identity> {
    let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    identity(&file.metadata().ok()?)
}

#[cfg(not(unix))]
fn standard_stream<T>(_: T) -> Option<Identity> {
    None
}

/// Where a file that does not exist will be, however its path is spelled.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Links to nothing: the target of the last is created. The bound ends a circle, which cannot be
    // opened anyway.
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
