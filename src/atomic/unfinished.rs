//! The temporary files of this process, so that a signal handler can remove them.

use crate::error::Result;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

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
pub(super) struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a temporary file. The list is locked meanwhile, so that every temporary file is in it.
    pub(super) fn begin(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<(NamedTempFile, Self)> {
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

/// Runs `rename`, which gives several temporary files their names. A signal handler that calls
/// [`remove_unfinished`] waits until all have them. `rename` must drop no [`Unfinished`], which
/// would wait for the same lock.
pub(super) fn uninterrupted(rename: impl FnOnce() -> Result<()>) -> Result<()> {
    let list = unfinished();
    if list.ended { Err(io::Error::from(io::ErrorKind::Interrupted).into()) } else { rename() }
}

/// Removes the temporary files of all outputs that are being written, for a program that a signal
/// is about to end, where nothing is dropped. What is written to such an output afterwards is lost,
/// and no other file can be begun in this process.
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
