//! Temporary data of any size: appended once, then read at any offset.
//!
//! A spool holds pieces in memory up to a threshold, and moves to a temporary file beyond it. The
//! file has no name, so a process that is killed leaves nothing, and two processes cannot meet in
//! one file. Pieces do not move while the spool grows. In one growing allocation, as in
//! `SpooledTempFile`, a real archive took half as many page faults again.

use crate::atomic::scratch_file;
use crate::error::{Error, Remedy, Result, hint_of, is_open_file_limit};
use crate::read_at::ReadAt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where spools keep their data.
#[derive(Clone, Debug)]
pub(crate) struct SpoolOptions {
    dir: Arc<Path>,
    /// The most bytes of a spool that stay in memory.
    memory: usize,
}

impl SpoolOptions {
    pub(crate) fn new(dir: PathBuf, memory: usize) -> Self {
        Self {
            dir: dir.into(),
            memory,
        }
    }

    /// Adds the directory to an error, and the data that could not be kept.
    fn error(&self, data: &str, err: &io::Error) -> Error {
        let what = format!("temporary data ({data}): {err}{}", hint_of(err));
        let error = Error::io(&self.dir, io::Error::new(err.kind(), what));
        if is_open_file_limit(err) {
            error
        } else {
            error.with_remedy(Remedy::MoveTemporaryFiles)
        }
    }
}

/// The size of pieces and of writes, a multiple of 8.
const PIECE: usize = 256 << 10;

/// Temporary data that is being appended.
#[derive(Debug)]
pub(crate) struct Spool {
    options: SpoolOptions,
    /// The kind of data, for errors.
    data: &'static str,
    /// All pieces; with a file, the last one. All but the last are full.
    pieces: Vec<Vec<u8>>,
    file: Option<File>,
    len: u64,
}

impl Spool {
    /// Empty; `data` says in a few words what it will hold, for errors.
    pub(crate) fn new(options: &SpoolOptions, data: &'static str) -> Self {
        Self {
            options: options.clone(),
            data,
            pieces: Vec::new(),
            file: None,
            len: 0,
        }
    }

    /// The number of bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// # Errors
    /// I/O errors, with the directory of temporary files.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.len += bytes.len() as u64;
        while !bytes.is_empty() {
            match self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
                Some(piece) => {
                    let (part, rest) = bytes.split_at(bytes.len().min(PIECE - piece.len()));
                    piece.extend_from_slice(part);
                    bytes = rest;
                }
                None => self.add_piece()?,
            }
        }
        Ok(())
    }

    /// Makes room for a piece. If memory is full, all pieces are written, and one is used again.
    fn add_piece(&mut self) -> Result<()> {
        if self.file.is_some() || self.pieces.len() * PIECE >= self.options.memory {
            self.write_pieces()?;
            self.pieces.truncate(1);
            self.pieces.iter_mut().for_each(Vec::clear);
        }
        if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
            // The first one grows, because many spools stay small.
            let first = self.pieces.is_empty();
            self.pieces.push(if first {
                Vec::new()
            } else {
                Vec::with_capacity(PIECE)
            });
        }
        Ok(())
    }

    /// Writes all pieces to the file, which is created first.
    fn write_pieces(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => Ok(file),
            None => scratch_file(&self.options.dir).map(|file| self.file.insert(file)),
        };
        let written = file.and_then(|file| {
            self.pieces
                .iter()
                .try_for_each(|piece| file.write_all(piece))
        });
        written.map_err(|err| self.options.error(self.data, &err))
    }

    /// The data, to be read.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn finish(mut self) -> Result<SpooledBytes> {
        if self.file.is_some() || self.len > self.options.memory as u64 {
            self.write_pieces()?;
        }
        let Self {
            options,
            data,
            pieces,
            file,
            len,
        } = self;
        let content = file.map_or(SpooledContent::Memory(pieces), |file| {
            SpooledContent::File(Arc::new(file))
        });
        Ok(SpooledBytes {
            options,
            data,
            content,
            len,
        })
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
    /// Pieces of [`PIECE`] bytes; the last one may be shorter.
    Memory(Vec<Vec<u8>>),
    File(Arc<File>),
}

impl SpooledBytes {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes at `offset`, if they are in one piece in memory.
    pub(crate) fn in_memory(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let SpooledContent::Memory(pieces) = &self.content else {
            return None;
        };
        let piece = pieces.get((offset / PIECE as u64) as usize)?;
        piece.get((offset % PIECE as u64) as usize..)?.get(..len)
    }

    /// Fills `buf` with the bytes at `offset`.
    ///
    /// # Errors
    /// I/O errors, with the directory of temporary files; also for a range beyond the end.
    pub(crate) fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let read = match &self.content {
            SpooledContent::Memory(_) => self.copy_from_memory(buf, offset),
            SpooledContent::File(file) => ReadAt::new(file, offset).read_exact(buf),
        };
        read.map_err(|err| self.options.error(self.data, &err))
    }

    fn copy_from_memory(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let len = buf.len().min(PIECE - (offset % PIECE as u64) as usize);
            let part = self
                .in_memory(offset, len)
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            buf[..len].copy_from_slice(part);
            (buf, offset) = (&mut buf[len..], offset + len as u64);
        }
        Ok(())
    }

    /// Passes all bytes to `take` in order, in pieces whose lengths are multiples of 8, except for
    /// the last one.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at), and those of `take`.
    pub(crate) fn for_each_piece(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if let SpooledContent::Memory(pieces) = &self.content {
            return pieces.iter().try_for_each(|piece| take(piece));
        }
        let mut buf = vec![0; READ.min(self.len as usize)];
        let mut offset = 0;
        while offset < self.len {
            let piece = &mut buf[..READ.min((self.len - offset) as usize)];
            self.read_at(piece, offset)?;
            take(piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }
}

/// The size of the reads of [`SpooledBytes::for_each_piece`], a multiple of 8.
const READ: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_the_same_in_memory_and_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i * 7 / 5) as u8).collect();
        for memory in [0, 1 << 20, usize::MAX] {
            let mut spool = Spool::new(&SpoolOptions::new(dir.path().into(), memory), "test");
            bytes
                .chunks(70_001)
                .for_each(|part| spool.append(part).unwrap());
            let spooled = spool.finish().unwrap();
            assert_eq!(spooled.in_memory(0, 1).is_some(), memory == usize::MAX);
            let mut part = [0; 300_000];
            for start in [0, 200_000, PIECE - 1, PIECE, 2_345_678, 2_700_000] {
                spooled.read_at(&mut part, start as u64).unwrap();
                assert!(part[..] == bytes[start..][..part.len()]);
            }
            assert!(
                spooled
                    .read_at(&mut part, bytes.len() as u64 - 299_999)
                    .is_err()
            );
            let mut all = Vec::new();
            let take = |piece: &[u8]| -> Result<()> {
                all.extend_from_slice(piece);
                Ok(())
            };
            assert_eq!(spooled.len(), bytes.len() as u64);
            spooled.for_each_piece(take).unwrap();
            assert!(all == bytes);
            // The file has no name.
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn errors_name_the_directory_and_the_data() {
        let options = SpoolOptions::new("/does/not/exist".into(), 0);
        let mut spool = Spool::new(&options, "sorted captures");
        let err = spool
            .append(&[0; 1 << 20])
            .and_then(|()| spool.finish().map(drop))
            .unwrap_err();
        assert!(
            err.to_string()
                .starts_with("/does/not/exist: temporary data (sorted captures): "),
            "{err}"
        );
    }
}
