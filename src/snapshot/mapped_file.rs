//! Whether a mapped file was changed in place, or replaced, since it was opened.

use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A mapped file, with its length and its times at opening.
#[derive(Debug)]
pub(super) struct MappedFile {
    file: File,
    path: PathBuf,
    /// The absolute path after all links; `None` if the file has no name any more.
    real: Option<PathBuf>,
    len: u64,
    times: FileTimes,
}

/// The times of the last changes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileTimes {
    /// Of the content, as far as no program sets another one. `None` where the file system has no
    /// such time.
    modified: Option<SystemTime>,
    /// Of content or attributes, in seconds and nanoseconds. No program can set it.
    #[cfg(unix)]
    changed: [i64; 2],
}

/// What happened to a file since it was opened. A rename over its name is not a change: the mapped
/// file stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// It is shorter now.
    Shortened,
    /// Its attributes were changed, or it was written to by a program that restores the time, as
    /// `rsync --inplace --times` does.
    Attributes,
    /// It was written to, or touched.
    Written,
}

impl MappedFile {
    pub(super) fn new(file: File, meta: &Metadata, path: &Path) -> Self {
        Self {
            file,
            path: path.to_owned(),
            real: path.canonicalize().ok(),
            len: meta.len(),
            times: FileTimes::of(meta),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// # Errors
    /// Errors of the operating system, with the path.
    pub(super) fn change(&self) -> Result<Change> {
        let meta = self.file.metadata();
        let meta = meta.map_err(|err| Error::io(&self.path, err))?;
        let times = FileTimes::of(&meta);
        Ok(if meta.len() < self.len {
            Change::Shortened
        } else if meta.len() > self.len || times.modified != self.times.modified {
            Change::Written
        } else if times != self.times {
            Change::Attributes
        } else {
            Change::None
        })
    }

    /// Whether it was opened by the name `target`, and another file has this name now. `target` is
    /// absolute and leads through no links.
    pub(super) fn is_replaced_at(&self, target: &Path) -> bool {
        let target_meta = target.symlink_metadata();
        self.real.as_deref() == Some(target)
            && match (self.file.metadata(), target_meta) {
                (Ok(opened), Ok(named)) => !is_same_file(&opened, &named),
                // Nothing is lost where nothing is.
                _ => false,
            }
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && FileTimes::of(one) == FileTimes::of(other)
}

impl FileTimes {
    fn of(meta: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            modified: meta.modified().ok(),
            #[cfg(unix)]
            changed: [meta.ctime(), meta.ctime_nsec()],
        }
    }
}
