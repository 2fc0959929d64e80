//! Temporary data of any size: appended once, then read at any offset.
//!
//! A spool is a [`SpooledTempFile`]: it stays in memory up to a threshold, and moves to a temporary
//! file beyond it. The file has no name, so a process that is killed leaves nothing, and two
//! processes cannot meet in one file.

use crate::error::{Error, Result};
use crate::read_at::ReadAt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{SpooledData, SpooledTempFile};

/// Where spools keep their data.
#[derive(Clone, Debug)]
pub(crate) struct SpoolOptions {
    dir: Arc<Path>,
    /// The most bytes of a spool that stay in memory.
    memory: usize,
}

impl SpoolOptions {
    pub(crate) fn new(dir: PathBuf, memory: usize) -> Self {
        Self { dir: dir.into(), memory }
    }

    /// Adds the directory to an error, and the data that could not be kept.
    fn error(&self, data: &str, err: &io::Error) -> Error {
        let what = io::Error::new(err.kind(), format!("temporary data ({data}): {err}"));
        Error::io(&self.dir, what)
    }
}

/// The size of writes.
const BUFFER: usize = 256 << 10;

/// Temporary data that is being appended.
#[derive(Debug)]
pub(crate) struct Spool {
    options: SpoolOptions,
    /// The kind of data, for errors.
    data: &'static str,
    out: BufWriter<SpooledTempFile>,
    len: u64,
}

impl Spool {
    /// Empty; `data` says in a few words what it will hold, for errors.
    pub(crate) fn new(options: &SpoolOptions, data: &'static str) -> Self {
        let file = tempfile::spooled_tempfile_in(options.memory, &options.dir);
        // Data in memory are not buffered twice: a write as large as the buffer goes past it.
        let buffer = BUFFER.min(options.memory.max(1 << 12));
        Self { options: options.clone(), data, out: BufWriter::with_capacity(buffer, file), len: 0 }
    }

    /// The number of bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// # Errors
    /// I/O errors, with the directory of temporary files.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.len += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|err| self.options.error(self.data, &err))
    }

    /// The data, to be read.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn finish(self) -> Result<SpooledBytes> {
        let Self { options, data, out, len } = self;
        let error = |err: &io::Error| options.error(data, err);
        let file = out.into_inner().map_err(|err| error(err.error()))?;
        let content = match file.into_inner() {
            SpooledData::InMemory(bytes) => SpooledContent::Memory(bytes.into_inner()),
            SpooledData::OnDisk(file) => SpooledContent::File(Arc::new(file)),
        };
        Ok(SpooledBytes { options, data, content, len })
    }
}

/// Temporary data that is complete. Any number of threads may read it.
#[derive(Debug)]
pub(crate) struct SpooledBytes {
    options: SpoolOptions,
    data: &'static str,
    content: SpooledContent,
    len: u64,
}

#[derive(Debug)]
enum SpooledContent {
    Memory(Vec<u8>),
    File(Arc<File>),
}

impl SpooledBytes {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// All bytes, if they are in memory.
    pub(crate) fn in_memory(&self) -> Option<&[u8]> {
        match &self.content {
            SpooledContent::Memory(bytes) => Some(bytes),
            SpooledContent::File(_) => None,
        }
    }

    /// Fills `buf` with the bytes at `offset`.
    ///
    /// # Errors
    /// I/O errors, with the directory of temporary files; also for a range beyond the end.
    pub(crate) fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let read = match &self.content {
            SpooledContent::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let range = bytes.get(start..).and_then(|rest| rest.get(..buf.len()));
                range.map(|range| buf.copy_from_slice(range)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
            SpooledContent::File(file) => ReadAt::new(file, offset).read_exact(buf),
        };
        read.map_err(|err| self.options.error(self.data, &err))
    }

    /// Passes all bytes to `take` in order, in pieces of at most 1 MiB.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at), and those of `take`.
    pub(crate) fn for_each_piece(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buf = vec![0; PIECE.min(self.len as usize)];
        let mut offset = 0;
        while offset < self.len {
            let piece = &mut buf[..PIECE.min((self.len - offset) as usize)];
            self.read_at(piece, offset)?;
            take(piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }
}

/// The size of the pieces of [`SpooledBytes::for_each_piece`], a multiple of 8.
const PIECE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_the_same_in_memory_and_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i * 7 / 5) as u8).collect();
        for memory in [0, 1 << 20, usize::MAX] {
            let mut spool = Spool::new(&SpoolOptions::new(dir.path().into(), memory), "test");
            bytes.chunks(70_001).for_each(|part| spool.append(part).unwrap());
            let spooled = spool.finish().unwrap();
            assert_eq!(spooled.in_memory().is_some(), memory == usize::MAX);
            let mut all = Vec::new();
            let mut take = |piece: &[u8]| -> Result<()> {
                all.extend_from_slice(piece);
                Ok(())
            };
            spooled.for_each_piece(&mut take).unwrap();
            assert!(all == bytes && spooled.len() == bytes.len() as u64);
            let mut part = [0; 1000];
            spooled.read_at(&mut part, 2_345_678).unwrap();
            assert!(part[..] == bytes[2_345_678..][..1000]);
            assert!(spooled.read_at(&mut part, bytes.len() as u64 - 999).is_err());
            // The file has no name.
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn errors_name_the_directory_and_the_data() {
        let options = SpoolOptions::new("/does/not/exist".into(), 0);
        let mut spool = Spool::new(&options, "sorted captures");
        let err = spool.append(&[0; 1 << 20]).and_then(|()| spool.finish().map(drop)).unwrap_err();
        assert!(err.to_string().starts_with("/does/not/exist: temporary data (sorted captures): "), "{err}");
    }
}
