//! An output file that appears whole or not at all: temporary name, fsync, rename.

mod ahead;

use crate::error::{Error, ErrorKind, Result};
use ahead::Ahead;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

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
    /// A device or pipe (`/dev/null`, `/dev/stdout`): written to as it is, it cannot be replaced.
    Special(BufWriter<File>),
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
        let existing = match fs::metadata(path) {
            Ok(meta) => Some(meta),
            Err(err) if err.kind() == io::ErrorKind::NotFound => None,
            Err(err) => return Err(err.into()),
        };
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(ErrorKind::BadOutput("it is a directory; name a file in it".to_owned()).into());
        }
        if existing.as_ref().is_some_and(|meta| !meta.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Target::Special(BufWriter::with_capacity(1 << 16, file)));
        }
        let real = if existing.is_some() { path.canonicalize()? } else { path.to_owned() };
        let folder = folder_of(&real);
        if !folder.is_dir() {
            return Err(ErrorKind::BadOutput(format!("there is no folder {}", folder.display())).into());
        }
        let (temporary, unfinished) =
            Unfinished::begin(|| new_temporary(folder, existing.map(|meta| meta.permissions())))?;
        Ok(Target::Temporary(BufWriter::with_capacity(1 << 16, Ahead::new(temporary)), real, unfinished))
    }

    /// Makes the file appear under its name, its bytes safe on disk.
    pub(crate) fn commit(self) -> Result<()> {
        let path = self.path;
        Self::finish(self.target).map_err(|err| Error::io(path, err))
    }

    fn finish(target: Target) -> io::Result<()> {
        match target {
            Target::Special(mut out) => out.flush(),
            Target::Temporary(out, real, _unfinished) => {
                let temporary = out.into_inner().map_err(io::IntoInnerError::into_error)?.sync()?;
                temporary.persist(&real).map_err(|err| err.error)?;
                sync_folder(&real)
            }
        }
    }
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The temporary files that are being written.
#[derive(Debug)]
struct List {
    paths: Vec<PathBuf>,
    /// They were removed, and no more may come.
    ended: bool,
}

static UNFINISHED: Mutex<List> = Mutex::new(List { paths: Vec::new(), ended: false });

fn unfinished() -> MutexGuard<'static, List> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds a temporary file in the list of unfinished ones as long as it lives.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a temporary file. The list is locked meanwhile, so that there is none that is not in it.
    fn begin(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<(NamedTempFile, Self)> {
        let mut list = unfinished();
        if list.ended {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let file = make()?;
        list.paths.push(file.path().to_owned());
        let unfinished = Self(file.path().to_owned());
        Ok((file, unfinished))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().paths.retain(|path| *path != self.0);
    }
}

/// Removes the temporary files of all outputs that are being written, for a program that a signal is about to end, where
/// nothing is dropped. What is written to such an output afterwards is lost, and no other file can be begun in this process.
///
/// ```standalone_crate
/// # let dir = tempfile::tempdir()?;
/// let _file = robosieve::OutputFile::create(dir.path().join("list.txt"))?;
/// robosieve::remove_unfinished();
/// assert_eq!(std::fs::read_dir(&dir)?.count(), 0);
/// assert!(robosieve::OutputFile::create(dir.path().join("other.txt")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_unfinished() {
    let mut list = unfinished();
    list.ended = true;
    for path in list.paths.drain(..) {
        // There is nobody to tell, and nothing else to do.
        let _ = fs::remove_file(path);
    }
}

/// A temporary file with the permissions of the file it will replace, or those of any new file.
fn new_temporary(folder: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".robosieve-").suffix(".tmp");
    #[cfg(unix)]
    let wanted = {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o666));
        permissions
    };
    #[cfg(not(unix))]
    let wanted = permissions;
    // The error would name the temporary file, which the user has never heard of.
    let file = builder.tempfile_in(folder).map_err(|err| io::Error::from(err.kind()))?;
    if let Some(wanted) = wanted {
        file.as_file().set_permissions(wanted)?;
    }
    Ok(file)
}

/// The rename itself is on disk only once the folder is.
#[cfg(unix)]
fn sync_folder(file: &Path) -> io::Result<()> {
    File::open(folder_of(file))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Temporary(out, ..) => out.write(buf),
            Target::Special(out) => out.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Temporary(out, ..) => out.flush(),
            Target::Special(out) => out.flush(),
        }
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.target {
            Target::Temporary(out, ..) => out.seek(to),
            Target::Special(out) => out.seek(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_appears_before_the_commit_and_links_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        drop(AtomicFile::create(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no temporary file stays");
        assert!(AtomicFile::create(dir.path()).is_err());
        assert!(AtomicFile::create(&dir.path().join("no/such")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_lead_to_the_new_content() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }
}
