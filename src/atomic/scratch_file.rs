//! Temporary files without a name, for data that is read back.

use crate::atomic::temporary_file::TemporaryFile;
use crate::atomic::unfinished;
use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a file without a name in a folder. The system frees it when it is closed.
pub(crate) fn scratch_file(folder: &Path) -> io::Result<File> {
    if cfg!(not(unix)) {
        return tempfile::tempfile_in(folder);
    }
    // Where a file must have a name at first, a signal waits until it is removed.
    unfinished::uninterrupted(|| match TemporaryFile::open(folder)? {
        #[cfg(target_os = "linux")]
        TemporaryFile::Unnamed(file, _) => Ok(file),
        TemporaryFile::Named(named) => {
            let (file, path) = named.into_parts();
            path.close()?;
            Ok(file)
        }
    })
}
