//! The steps of writing and naming files, and the syncs to disk among them. The tests record the
//! steps, and fail each in turn.

use std::fs::File;
use std::io;

/// A step that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Create a temporary file.
    Create,
    /// Write bytes to it.
    Write,
    /// Sync it to disk.
    Sync,
    /// Give it a temporary name, next to the file that it will replace.
    Link,
    /// Give it its name.
    Name,
    /// Sync a folder to disk, with the new names.
    SyncFolder,
}

/// Marks a step, which the tests can fail.
#[cfg(test)]
pub(super) use crate::atomic::fault_injection::step;

#[cfg(not(test))]
#[inline]
pub(super) fn step(_: Step) -> io::Result<()> {
    Ok(())
}

/// Syncs a file to disk.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    step(Step::Sync)?;
    file.sync_all()
}

/// Syncs a folder to disk. File systems that cannot sync a folder alone are left alone.
pub(super) fn sync_folder(folder: &File) -> io::Result<()> {
    step(Step::SyncFolder)?;
    match folder.sync_all() {
        Err(err)
            if matches!(
                err.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}
