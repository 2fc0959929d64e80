//! The list of temporary files of this process that have a name, so that a signal handler can
//! remove them.

use crate::atomic::temporary_file::TemporaryFile;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The temporary files that are being written. `None` after their removal: no file may be added.
static UNFINISHED: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

fn unfinished() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a temporary file in the list until it is dropped.
#[derive(Debug)]
pub(super) struct Unfinished(Option<PathBuf>);

impl Unfinished {
    /// Creates a temporary file with `create` and adds it to the list. The list is locked
    /// throughout, so that a signal handler sees every temporary file.
    pub(super) fn create(
        create: impl FnOnce() -> io::Result<TemporaryFile>,
    ) -> io::Result<(TemporaryFile, Self)> {
        let mut list = unfinished();
        let paths = list.as_mut().ok_or(io::ErrorKind::Interrupted)?;
        let file = create()?;
        let path = file.path().map(Path::to_owned);
        paths.extend(path.clone());
        let unfinished = Self(path);
        Ok((file, unfinished))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished()
            .iter_mut()
            .for_each(|paths| paths.retain(|path| self.0.as_ref() != Some(path)));
    }
}

/// Runs `work` without interruption: a signal handler that calls [`remove_unfinished`] waits until
/// its end. So several renames are all done or none is, and a name that is removed at once does not
/// stay. `work` must drop no [`Unfinished`], which would deadlock on the same lock.
pub(super) fn uninterrupted<T, E: From<io::Error>>(
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let list = unfinished();
    if list.is_some() {
        work()
    } else {
        Err(io::Error::from(io::ErrorKind::Interrupted).into())
    }
}

/// Removes the temporary files of all outputs that are being written.
///
/// Call it before a signal ends the program, because then nothing is dropped. Later writes to these
/// outputs are lost, and this process can create no further output.
///
/// ```standalone_crate
/// # let dir = tempfile::tempdir()?;
/// let _file = robosieve::output::OutputFile::create(dir.path().join("list.txt"))?;
/// robosieve::output::remove_unfinished();
/// assert_eq!(std::fs::read_dir(&dir)?.count(), 0);
/// assert!(robosieve::output::OutputFile::create(dir.path().join("other.txt")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_unfinished() {
    let mut list = unfinished();
    for path in list.take().into_iter().flatten() {
        // The process is about to end, so there is no way to report an error.
        let _ = fs::remove_file(path);
    }
}
