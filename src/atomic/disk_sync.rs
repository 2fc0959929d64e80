//! Syncs of files and folders to disk.

use crate::atomic::steps::{Step, step};
use std::fs::File;
use std::io;

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
