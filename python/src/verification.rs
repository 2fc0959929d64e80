//! Verification of a snapshot's bytes, once per process and file.
//!
//! A flipped bit changes verdicts silently, so a snapshot is verified before many URLs are judged
//! (a single answer verifies the blocks that it reads). That takes a pass over the file, and a
//! program may open one file many times: `robosieve.filter(path, ...)` does so on each call. So the
//! process remembers which files it has verified, by device, inode,
//! size and times. A file with other values is verified again.
//!
//! Times have a granularity: a write shortly after the verification can leave the time as it was.
//! So a file that changed less than [`SETTLED`] ago is verified, but not remembered. (Git treats
//! its index in the same way: see "racy git" in its documentation.)

use rayon::ThreadPoolBuilder;
use robosieve::threads::cores;
use robosieve::{Error, Result, Snapshot};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How much of a snapshot is verified. Each depth includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// The header, which opening checks.
    Header,
    /// The checksums of the sections that verdicts depend on.
    Judging,
    /// All checksums: also those of texts and strings.
    Checksums,
    /// Also the references between sections.
    Structure,
}

/// The age of the last change beyond which a further change gives another time. FAT has two
/// seconds, other file systems less.
const SETTLED: Duration = Duration::from_secs(2);

/// A shorter snapshot is verified on one thread.
const SINGLE_THREADED: u64 = 1 << 20;

/// The verified files of this process. The lock is held for a look-up only: a fork while another
/// thread holds it would leave it locked in the child.
static VERIFIED: LazyLock<Mutex<HashMap<FileState, Depth>>> = LazyLock::new(Mutex::default);

/// A file and its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FileState {
    device: u64,
    inode: u64,
    len: u64,
    /// The times of the last change of the content and of the inode. The second cannot be set.
    modified: Duration,
    changed: Duration,
}

impl FileState {
    /// The state of the file at `path`; `None` if it cannot be read, or has times before 1970.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(path).ok()?;
        let time = |seconds: i64, nanos: i64| {
            Some(Duration::new(
                seconds.try_into().ok()?,
                nanos.try_into().ok()?,
            ))
        };
        let (modified, changed) = (
            time(meta.mtime(), meta.mtime_nsec())?,
            time(meta.ctime(), meta.ctime_nsec())?,
        );
        Some(Self {
            device: meta.dev(),
            inode: meta.ino(),
            len: meta.size(),
            modified,
            changed,
        })
    }

    /// Other systems have no inodes, so nothing is remembered there.
    #[cfg(not(unix))]
    fn of(_path: &Path) -> Option<Self> {
        None
    }

    /// Whether a change after `now` would give another state.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.modified.max(self.changed) + SETTLED < now
    }
}

/// An opened snapshot's file, for its verification.
#[derive(Debug)]
pub(crate) struct Verification {
    /// The state when the file was opened; `None` if it changed meanwhile.
    file: Option<FileState>,
    done: Mutex<Depth>,
}

impl Verification {
    /// Opens the snapshot at `path`.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub(crate) fn open(path: &Path) -> Result<(Snapshot, Self)> {
        let before = FileState::of(path);
        let snapshot = Snapshot::open(path)?;
        // Between two equal states, `open` mapped the file that has this state.
        let file = before.filter(|before| FileState::of(path).as_ref() == Some(before));
        Ok((
            snapshot,
            Self {
                file,
                done: Mutex::new(Depth::Header),
            },
        ))
    }

    /// That of a snapshot in memory: no file, so no other one of this process has verified it.
    pub(crate) fn in_memory() -> Self {
        Self {
            file: None,
            done: Mutex::new(Depth::Header),
        }
    }

    /// Whether the snapshot was verified to a depth.
    pub(crate) fn has_reached(&self, depth: Depth) -> bool {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) >= depth
    }

    /// Verifies the snapshot to a depth, unless this process has done it.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](robosieve::ErrorKind::Corrupt) for damaged bytes.
    pub(crate) fn verify(&self, snapshot: &Snapshot, path: &Path, depth: Depth) -> Result<()> {
        if self.has_reached(depth) {
            return Ok(());
        }
        let verified = |file: &FileState| {
            remembered()
                .get(file)
                .is_some_and(|verified| *verified >= depth)
        };
        if !self.file.as_ref().is_some_and(verified) {
            run(snapshot, depth)?;
            if let Some(file) = self.file.filter(|file| file.is_settled(SystemTime::now()))
                && FileState::of(path) == Some(file)
            {
                remembered().insert(file, depth);
            }
        }
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done = depth.max(*done);
        Ok(())
    }
}

fn remembered() -> std::sync::MutexGuard<'static, HashMap<FileState, Depth>> {
    VERIFIED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(snapshot: &Snapshot, depth: Depth) -> Result<()> {
    let threads = if snapshot.byte_len() <= SINGLE_THREADED {
        1
    } else {
        cores()
    };
    // In a pool of this call: the global one would not survive `os.fork`.
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|err| Error::from(std::io::Error::other(err)))?;
    pool.install(|| match depth {
        Depth::Header => Ok(()),
        Depth::Judging => snapshot.verify_judging_checksums(),
        Depth::Checksums => snapshot.verify_checksums(),
        Depth::Structure => snapshot.verify(),
    })
}
