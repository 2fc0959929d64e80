//! Atomic output files: written to a temporary file, synced, then named. So an output appears whole
//! or not at all. Several outputs of a command appear together.

mod attributes;
mod background_sync;
mod commit;
#[cfg(unix)]
mod extended_attributes;
#[cfg(test)]
mod fault_injection;
pub(crate) mod output_file;
pub(crate) mod output_name;
mod output_path;
pub(crate) mod overwrite_guard;
mod steps;
mod temporary_file;
mod temporary_name;
#[cfg(test)]
mod tests;
mod unfinished;

pub(crate) use commit::CommitCheck;
pub use output_path::is_standard_stream;
#[cfg(feature = "parquet")]
pub(crate) use output_path::scratch_folder;
pub use unfinished::remove_unfinished;
pub(crate) use unfinished::scratch_file;

use crate::error::{Error, Result};
use attributes::LostAttributes;
use background_sync::SyncedFile;
use commit::{PendingOutput, name_together};
use output_path::{OutputPath, folder_of};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use steps::{Step, step};
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
    /// A condition of the commit.
    check: Option<Box<dyn CommitCheck>>,
    /// What the file cannot keep of the one that it will replace.
    lost: LostAttributes,
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
        Self::open(path).map_err(|err| err.at(path))
    }

    fn open(path: &Path) -> Result<Self> {
        let mut lost = LostAttributes::default();
        let target = match OutputPath::resolve(path)? {
            OutputPath::Stream(file) => WriteTarget::Stream(BufWriter::with_capacity(BUFFER, file)),
            OutputPath::File(real) => {
                let (temporary, unfinished) = Unfinished::create(|| {
                    step(Step::Create).and_then(|()| TemporaryFile::open(folder_of(&real)))
                })?;
                // From the first byte on, nobody may read it who may not read the old file.
                lost = attributes::copy(&real, temporary.as_file())?;
                let out = BufWriter::with_capacity(BUFFER, SyncedFile::new(temporary));
                WriteTarget::Temporary(out, real, unfinished)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            target,
            check: None,
            lost,
        })
    }

    /// What the file cannot keep of the one that it will replace; `None` if it keeps all.
    pub(crate) fn lost_attributes(&self) -> Option<&LostAttributes> {
        (!self.lost.is_empty()).then_some(&self.lost)
    }

    /// Sets a condition of the commit.
    pub(crate) fn set_check(&mut self, check: Box<dyn CommitCheck>) {
        self.check = Some(check);
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
    fn finish(self) -> Result<Option<(PendingOutput, Unfinished)>> {
        let Self {
            path,
            target,
            check,
            ..
        } = self;
        match target {
            WriteTarget::Stream(mut out) => {
                out.flush().map_err(|err| Error::io(&path, err))?;
                check.map_or(Ok(()), |check| check.check(None))?;
                Ok(None)
            }
            WriteTarget::Temporary(out, real, unfinished) => {
                let synced = out
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)
                    .and_then(SyncedFile::sync);
                let file = synced.map_err(|err| Error::io(&path, err))?;
                let output = PendingOutput {
                    path,
                    file,
                    real,
                    check,
                };
                Ok(Some((output, unfinished)))
            }
        }
    }

    /// Adds the path to an error, because a caller with several outputs cannot know which one
    /// failed.
    fn error_with_path(&self, err: io::Error) -> io::Error {
        Error::io(&self.path, err).into_io()
    }
}

/// Commits several files together: all get their names, or none does.
///
/// # Errors
/// Errors of the operating system and of checks, with the path of the file. Then new files are
/// removed and old ones are as they were. Only if an old one cannot be put back, it has the new
/// content, and the error names it.
pub(crate) fn commit_all(files: impl IntoIterator<Item = AtomicFile>) -> Result<()> {
    let finished = files
        .into_iter()
        .filter_map(|file| file.finish().transpose())
        .collect::<Result<Vec<_>>>()?;
    // The handles must outlive the lock on the list of unfinished files, which they take when
    // dropped.
    let (pending, _handles): (Vec<PendingOutput>, Vec<Unfinished>) = finished.into_iter().unzip();
    name_together(pending)
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = step(Step::Write).and_then(|()| match &mut self.target {
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
