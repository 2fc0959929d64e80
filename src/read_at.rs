//! Positioned reads: several threads read one open file, each at its own offset.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Reads a file from an offset on. The position of the file handle is neither used nor moved.
#[derive(Debug)]
pub(crate) struct ReadAt {
    file: Arc<File>,
    offset: u64,
}

impl ReadAt {
    pub(crate) fn new(file: &Arc<File>, offset: u64) -> Self {
        Self {
            file: Arc::clone(file),
            offset,
        }
    }
}

impl Read for ReadAt {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(&*self.file, buf, self.offset)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(&*self.file, buf, self.offset)?;
        self.offset += n as u64;
        Ok(n)
    }
}
