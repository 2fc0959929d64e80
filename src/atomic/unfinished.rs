//! The list of temporary files of this process that have a name, so that a signal handler can
//! remove them, and scratch files, which have a name at most while they are created.

use crate::atomic::temporary_file::TemporaryFile;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The temporary files of this process.
static UNFINISHED: UnfinishedFiles = UnfinishedFiles::new();

/// The temporary files that are being written.
///
/// Threads that create, name or drop files share the outer lock. The signal handler takes it alone,
/// so it waits for them.
struct UnfinishedFiles(RwLock<Option<Mutex<Vec<PathBuf>>>>);

impl UnfinishedFiles {
    const fn new() -> Self {
        Self(RwLock::new(Some(Mutex::new(Vec::new()))))
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Mutex<Vec<PathBuf>>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Mutex<Vec<PathBuf>>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with the list, while signal handlers wait.
    ///
    /// # Errors
    /// [`Interrupted`](io::ErrorKind::Interrupted) after [`remove_all`](Self::remove_all).
    fn uninterrupted<T, E: From<io::Error>>(
        &self,
        work: impl FnOnce(&Mutex<Vec<PathBuf>>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.read().as_ref() {
            Some(files) => work(files),
            None => Err(io::Error::from(io::ErrorKind::Interrupted).into()),
        }
    }

    /// Removes all files, when no thread is naming one. No file may be added afterwards.
    fn remove_all(&self) {
        let mut files = self.write();
        for path in files.take().into_iter().flat_map(into_inner) {
            // The process is about to end, so there is no way to report an error.
            let _ = fs::remove_file(path);
        }
    }
}

fn into_inner(files: Mutex<Vec<PathBuf>>) -> Vec<PathBuf> {
    files.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a temporary file in the list until it is dropped.
#[derive(Debug)]
pub(super) struct Unfinished(Option<PathBuf>);

impl Unfinished {
    /// Creates a temporary file with `create` and adds it to the list. Signal handlers wait until
    /// then, so they see every temporary file.
    pub(super) fn create(
        create: impl FnOnce() -> io::Result<TemporaryFile>,
    ) -> io::Result<(TemporaryFile, Self)> {
        UNFINISHED.uninterrupted(|files| {
            let file = create()?;
            let path = file.path().map(Path::to_owned);
            let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
            files.extend(path.clone());
            Ok((file, Self(path)))
        })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.0
            && let Some(files) = UNFINISHED.read().as_ref()
        {
            let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
            files.retain(|other| other != path);
        }
    }
}

/// Runs `work` without interruption: a signal handler that calls [`remove_unfinished`] waits until
/// its end. So several outputs all get their names or none does, and a name that is removed at once
/// does not stay. `work` must create and drop no [`Unfinished`]: with a handler that waits, taking
/// the lock a second time would deadlock.
pub(super) fn uninterrupted<T, E: From<io::Error>>(
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    UNFINISHED.uninterrupted(|_| {
        #[cfg(test)]
        let _depth = tests::Depth::enter();
        work()
    })
}

/// Whether this thread is in [`uninterrupted`].
#[cfg(test)]
pub(super) fn is_uninterrupted() -> bool {
    tests::Depth::is_entered()
}

/// Creates a file without a name in a folder. The system frees it when it is closed.
pub(crate) fn scratch_file(folder: &Path) -> io::Result<File> {
    if cfg!(not(unix)) {
        return tempfile::tempfile_in(folder);
    }
    // Where a file must have a name at first, a signal waits until it is removed.
    uninterrupted(|| match TemporaryFile::open(folder)? {
        #[cfg(target_os = "linux")]
        TemporaryFile::Unnamed(file, _) => Ok(file),
        TemporaryFile::Named(named) => {
            let (file, path) = named.into_parts();
            path.close()?;
            Ok(file)
        }
    })
}

/// Removes the temporary files of all outputs that are being written.
///
/// Call it before a signal ends the program, because then nothing is dropped. Later writes to these
/// outputs are lost, and this process can create no further output. A commit that has begun is
/// completed first.
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
    UNFINISHED.remove_all();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic::temporary_name;
    use std::cell::Cell;
    use std::sync::mpsc;

    thread_local! {
        /// Whether this thread is in [`uninterrupted`].
        static ENTERED: Cell<bool> = const { Cell::new(false) };
    }

    /// Marks a thread until it is dropped.
    pub(super) struct Depth;

    impl Depth {
        pub(super) fn enter() -> Self {
            ENTERED.set(true);
            Self
        }

        pub(super) fn is_entered() -> bool {
            ENTERED.get()
        }
    }

    impl Drop for Depth {
        fn drop(&mut self) {
            ENTERED.set(false);
        }
    }

    /// Ctrl-C between two renames comes after both.
    #[test]
    fn handlers_wait_for_uninterrupted_work() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("unfinished");
        fs::write(&path, "").unwrap();
        let files = UnfinishedFiles::new();
        let (sender, removed) = mpsc::channel();
        std::thread::scope(|scope| {
            files
                .uninterrupted(|list| {
                    list.lock().unwrap().push(path.clone());
                    scope.spawn(|| {
                        files.remove_all();
                        sender.send(()).unwrap();
                    });
                    // The handler waits for the lock, which this thread has.
                    assert!(files.0.try_write().is_err());
                    assert!(removed.try_recv().is_err() && path.exists());
                    io::Result::Ok(())
                })
                .unwrap();
            removed.recv().unwrap();
            assert!(!path.exists());
            let after: io::Result<()> = files.uninterrupted(|_| Ok(()));
            assert_eq!(after.unwrap_err().kind(), io::ErrorKind::Interrupted);
        });
    }

    #[test]
    fn named_files_are_listed_until_they_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let named = || {
            let file = temporary_name::create_in(dir.path(), |path| File::create_new(path))?;
            Ok(TemporaryFile::Named(file))
        };
        let (first, first_handle) = Unfinished::create(named).unwrap();
        let (second, second_handle) = Unfinished::create(named).unwrap();
        let is_listed = |file: &TemporaryFile| {
            let list = UNFINISHED.read();
            let list = list.as_ref().unwrap().lock().unwrap();
            list.iter().any(|path| file.path() == Some(path.as_path()))
        };
        assert!(is_listed(&first) && is_listed(&second));
        drop(first_handle);
        assert!(!is_listed(&first) && is_listed(&second));
        drop(second_handle);
        assert!(!is_listed(&second));
    }
}
