//! Atomic output files: written to a temporary file, synced, then named. So an output appears whole
//! or not at all. Several outputs of a command appear together.

mod background_sync;
#[cfg(test)]
mod fault_injection;
pub(crate) mod output_file;
pub(crate) mod output_name;
mod output_path;
pub(crate) mod overwrite_guard;
mod scratch_file;
mod temporary_file;
mod temporary_name;
#[cfg(test)]
mod tests;
mod unfinished;
#[cfg(target_os = "linux")]
mod unnamed_file;

#[cfg(feature = "parquet")]
pub(crate) use output_path::scratch_folder;
pub(crate) use scratch_file::scratch_file;
pub use unfinished::remove_unfinished;

use crate::error::{Error, ErrorKind, Result};
use background_sync::SyncedFile;
use output_path::OutputPath;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use temporary_file::TemporaryFile;
use unfinished::Unfinished;

const BUFFER: usize = 1 << 16;

/// A file that is being written. If it is dropped without [`commit`](Self::commit), its temporary
/// file is removed.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    /// The path as the user gave it, for messages.
    path: PathBuf,
    target: WriteTarget,
}

#[derive(Debug)]
enum WriteTarget {
    /// A temporary file, and the path that it gets: the user's path after all links.
    Temporary(BufWriter<SyncedFile>, PathBuf, Unfinished),
    /// A device, pipe or descriptor, which is written in place.
    Stream(BufWriter<File>),
}

impl AtomicFile {
    /// Starts writing the file at `path`. [`commit`](Self::commit) replaces an existing regular
    /// file.
    ///
    /// # Errors
    /// If `path` is a directory, or its folder does not exist or is not writable.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Self::open(path).map_err(|err| err.at(path))?;
        Ok(Self {
            path: path.to_owned(),
            target,
        })
    }

    fn open(path: &Path) -> Result<WriteTarget> {
        let (real, permissions) = match OutputPath::resolve(path)? {
            OutputPath::Stream(file) => {
                return Ok(WriteTarget::Stream(BufWriter::with_capacity(BUFFER, file)));
            }
            OutputPath::File(real, permissions) => (real, permissions),
        };
        let (temporary, unfinished) = Unfinished::create(|| {
            step().and_then(|()| TemporaryFile::create(folder_of(&real), permissions))
        })?;
        Ok(WriteTarget::Temporary(
            BufWriter::with_capacity(BUFFER, SyncedFile::new(temporary)),
            real,
            unfinished,
        ))
    }

    /// Whether it is a device, pipe or descriptor, which is written front to back and never
    /// replaced.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.target, WriteTarget::Stream(_))
    }

    /// Syncs the file to disk and gives it its name.
    pub(crate) fn commit(self) -> Result<()> {
        commit_all([self])
    }

    /// Syncs all bytes to disk. A stream is then complete; a temporary file is left to be named.
    fn finish(self) -> Result<Option<(PendingRename, Unfinished)>> {
        let Self { path, target } = self;
        let finished = step().and_then(|()| match target {
            WriteTarget::Stream(mut out) => out.flush().map(|()| None),
            WriteTarget::Temporary(out, real, unfinished) => {
                let file = out
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?
                    .sync()?;
                Ok(Some((
                    PendingRename {
                        path: path.clone(),
                        file,
                        real,
                    },
                    unfinished,
                )))
            }
        });
        finished.map_err(|err| Error::io(&path, err))
    }

    /// Adds the path to an error, because a caller with several outputs cannot know which one
    /// failed.
    fn error_with_path(&self, err: io::Error) -> io::Error {
        Error::io(&self.path, err).into_io()
    }
}

/// A temporary file that is on disk, and its final name.
struct PendingRename {
    /// The path as the user gave it, for messages.
    path: PathBuf,
    file: TemporaryFile,
    real: PathBuf,
}

/// Commits several files together. All are synced to disk before the first is renamed, so a full
/// disk or any other failure until then leaves none.
///
/// # Errors
/// Errors of the operating system, with the path of the file. If a rename fails, files created by
/// earlier renames are removed. Files replaced by earlier renames keep the new content.
pub(crate) fn commit_all(files: impl IntoIterator<Item = AtomicFile>) -> Result<()> {
    let finished = files
        .into_iter()
        .filter_map(|file| file.finish().transpose())
        .collect::<Result<Vec<_>>>()?;
    // The handles must outlive the lock on the list of unfinished files, which they take when
    // dropped.
    let (renames, _handles): (Vec<_>, Vec<_>) = finished.into_iter().unzip();
    let mut folders = BTreeMap::new();
    for PendingRename { path, real, .. } in &renames {
        // A directory created there in the meantime would fail a rename after others are done.
        if real.is_dir() {
            return Err(
                Error::from(ErrorKind::BadOutput("it is a directory now".to_owned())).at(path),
            );
        }
        // A rename is on disk only when its folder is; only Unix can sync folders. They are opened
        // before the renames, because failures are harmless until then.
        if cfg!(unix) {
            let folder = File::open(folder_of(real)).map_err(|err| Error::io(path, err))?;
            folders.insert(folder_of(real).to_owned(), (path.clone(), folder));
        }
    }
    unfinished::uninterrupted(|| rename_all(renames))?;
    folders
        .into_values()
        .try_for_each(|(path, folder)| folder.sync_all().map_err(|err| Error::io(path, err)))
}

fn rename_all(renames: Vec<PendingRename>) -> Result<()> {
    let mut created = Vec::new();
    for PendingRename { path, file, real } in renames {
        let is_new = real.symlink_metadata().is_err();
        let renamed = step().and_then(|()| file.persist(&real));
        if let Err(err) = renamed {
            // Errors of the removal are ignored: the caller gets the error of the rename.
            created
                .iter()
                .for_each(|other: &PathBuf| drop(std::fs::remove_file(other)));
            return Err(Error::io(path, err));
        }
        created.extend(Some(real).filter(|_| is_new));
    }
    Ok(())
}

/// The folder of a path; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A step of writing, which the tests can fail.
#[cfg(test)]
use fault_injection::step;

#[cfg(not(test))]
#[inline]
fn step() -> io::Result<()> {
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = step().and_then(|()| match &mut self.target {
            WriteTarget::Temporary(out, ..) => out.write(buf),
            WriteTarget::Stream(out) => out.write(buf),
        });
        written.map_err(|err| self.error_with_path(err))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.target {
            WriteTarget::Temporary(out, ..) => out.flush(),
            WriteTarget::Stream(out) => out.flush(),
        };
        flushed.map_err(|err| self.error_with_path(err))
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let sought = match &mut self.target {
            WriteTarget::Temporary(out, ..) => out.seek(to),
            WriteTarget::Stream(_) => Err(io::ErrorKind::NotSeekable.into()),
        };
        sought.map_err(|err| self.error_with_path(err))
    }
}
