//! Output files that appear whole or not at all: temporary name, fsync, rename. Several appear
//! together.

mod ahead;
#[cfg(test)]
mod fault;
pub(crate) mod output_file;
mod place;
#[cfg(test)]
mod tests;
mod unfinished;

pub(crate) use place::scratch_folder;
pub use unfinished::remove_unfinished;

use crate::error::{Error, ErrorKind, Result};
use ahead::Ahead;
use place::Place;
use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use unfinished::Unfinished;

const BUFFER: usize = 1 << 16;

/// A file being written; dropped without [`commit`](Self::commit) it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    /// The path as the user gave it, for messages.
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// Renamed to the second path in the end: the user's path, with links followed.
    Temporary(BufWriter<Ahead>, PathBuf, Unfinished),
    /// A device, pipe or descriptor, which is written to as it is.
    Stream(BufWriter<File>),
}

impl AtomicFile {
    /// Begins to write the file at `path`, which an existing regular file there will be replaced by.
    ///
    /// # Errors
    /// A directory at `path`, or a folder that does not exist or cannot be written to.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Self::open(path).map_err(|err| err.at(path))?;
        Ok(Self { path: path.to_owned(), target })
    }

    fn open(path: &Path) -> Result<Target> {
        let (real, permissions) = match Place::of(path)? {
            Place::Stream(file) => return Ok(Target::Stream(BufWriter::with_capacity(BUFFER, file))),
            Place::File(real, permissions) => (real, permissions),
        };
        let (temporary, unfinished) = Unfinished::begin(|| new_temporary(folder_of(&real), permissions))?;
        Ok(Target::Temporary(BufWriter::with_capacity(BUFFER, Ahead::new(temporary)), real, unfinished))
    }

    /// Whether it is a device, pipe or descriptor: written from front to end, and never replaced.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.target, Target::Stream(_))
    }

    /// Makes the file appear under its name, its bytes safe on disk.
    pub(crate) fn commit(self) -> Result<()> {
        commit_all([self])
    }

    /// Brings all bytes to disk.
    fn finish(self) -> Result<Finished> {
        let Self { path, target } = self;
        let synced = || -> io::Result<Option<Unnamed>> {
            step()?;
            match target {
                Target::Stream(mut out) => out.flush().map(|()| None),
                Target::Temporary(out, real, unfinished) => {
                    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?.sync()?;
                    Ok(Some(Unnamed { file, real, unfinished }))
                }
            }
        };
        let file = synced().map_err(|err| Error::io(&path, err))?;
        Ok(Finished { path, file })
    }

    /// An error that names the file: among several outputs the caller cannot tell which one failed.
    fn named(&self, err: io::Error) -> io::Error {
        Error::io(&self.path, err).into_io()
    }
}

/// An output that is complete.
struct Finished {
    path: PathBuf,
    /// `None` for a stream.
    file: Option<Unnamed>,
}

/// A file whose bytes are on disk, under a temporary name still.
struct Unnamed {
    file: NamedTempFile,
    real: PathBuf,
    unfinished: Unfinished,
}

/// Makes files appear together: all are on disk before the first is renamed, so that a full disk,
/// or whatever else fails until then, leaves none.
///
/// # Errors
/// What the operating system refuses, naming the file. If a rename itself fails, files that were
/// made before it are removed again; of those that replaced another the new content stays.
pub(crate) fn commit_all(files: impl IntoIterator<Item = AtomicFile>) -> Result<()> {
    let finished = files.into_iter().map(AtomicFile::finish).collect::<Result<Vec<_>>>()?;
    // The handles live until the lock on the list of unfinished files is released.
    let (mut renames, mut handles) = (Vec::new(), Vec::new());
    for Finished { path, file } in finished {
        let Some(Unnamed { file, real, unfinished }) = file else { continue };
        // A directory may have come there since the beginning, and would stop the renames midway.
        if real.is_dir() {
            return Err(Error::from(ErrorKind::BadOutput("it has become a directory".to_owned())).at(path));
        }
        handles.push(unfinished);
        renames.push(Rename { path, file, real });
    }
    // Opened before the renames: what can fail shall fail now.
    let mut folders = BTreeMap::new();
    for Rename { path, real, .. } in &renames {
        let folder = Folder::open(folder_of(real)).map_err(|err| Error::io(path, err))?;
        folders.insert(folder_of(real).to_owned(), (path.clone(), folder));
    }
    unfinished::uninterrupted(|| rename_all(renames))?;
    folders.into_values().try_for_each(|(path, folder)| folder.sync().map_err(|err| Error::io(path, err)))
}

/// A temporary file and the name that it gets.
struct Rename {
    path: PathBuf,
    file: NamedTempFile,
    real: PathBuf,
}

fn rename_all(renames: Vec<Rename>) -> Result<()> {
    let mut made = Vec::new();
    for Rename { path, file, real } in renames {
        let is_new = real.symlink_metadata().is_err();
        let renamed = step().and_then(|()| file.persist(&real).map_err(|err| err.error));
        if let Err(err) = renamed {
            // An error of removing is ignored: the caller reports the one that led here.
            made.iter().for_each(|other: &PathBuf| drop(std::fs::remove_file(other)));
            return Err(Error::io(path, err));
        }
        made.extend(Some(real).filter(|_| is_new));
    }
    Ok(())
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file with the permissions of the file it will replace, or those of any new file.
fn new_temporary(folder: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    step()?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".robosieve-").suffix(".tmp");
    // Opened here, since the crate's own errors name the temporary file, of which the user has
    // never heard, and lose the cause.
    let file = builder.make_in(folder, |path| File::options().read(true).write(true).create_new(true).open(path))?;
    if let Some(wanted) = permissions {
        file.as_file().set_permissions(wanted)?;
    }
    Ok(file)
}

/// A folder whose renames are brought to disk: a rename is on disk only once its folder is. Only
/// Unix can sync folders.
struct Folder(#[cfg(unix)] File);

#[cfg(unix)]
impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    fn sync(self) -> io::Result<()> {
        self.0.sync_all()
    }
}

#[cfg(not(unix))]
impl Folder {
    fn open(_: &Path) -> io::Result<Self> {
        Ok(Self())
    }

    fn sync(self) -> io::Result<()> {
        Ok(())
    }
}

/// A step at which the tests let the system fail.
#[cfg(test)]
use fault::step;

#[cfg(not(test))]
#[inline]
fn step() -> io::Result<()> {
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = step().and_then(|()| match &mut self.target {
            Target::Temporary(out, ..) => out.write(buf),
            Target::Stream(out) => out.write(buf),
        });
        written.map_err(|err| self.named(err))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.target {
            Target::Temporary(out, ..) => out.flush(),
            Target::Stream(out) => out.flush(),
        };
        flushed.map_err(|err| self.named(err))
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let sought = match &mut self.target {
            Target::Temporary(out, ..) => out.seek(to),
            Target::Stream(_) => Err(io::ErrorKind::NotSeekable.into()),
        };
        sought.map_err(|err| self.named(err))
    }
}
