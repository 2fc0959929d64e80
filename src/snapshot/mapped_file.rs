//! Whether a mapped file was changed in place since it was opened.

use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A mapped file, with its length and time of change at opening.
#[derive(Debug)]
pub(super) struct MappedFile {
    file: File,
    path: PathBuf,
    len: u64,
    /// `None` where the file system has no such time.
    modified: Option<SystemTime>,
}

/// What happened to a file since it was opened. A rename over its name is no change: the mapped file
/// stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// It is shorter now.
    Shortened,
    /// It was written to, or touched.
    Written,
}

impl MappedFile {
    pub(super) fn new(file: File, meta: &Metadata, path: &Path) -> Self {
        Self {
            file,
            path: path.to_owned(),
            len: meta.len(),
            modified: meta.modified().ok(),
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
        Ok(if meta.len() < self.len {
            Change::Shortened
        } else if meta.len() > self.len || meta.modified().ok() != self.modified {
            Change::Written
        } else {
            Change::None
        })
    }
}
