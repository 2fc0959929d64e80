//! Ranges of a file, read side by side.
//!
//! The `parquet` crate reads a `File` through one shared position, which threads would move under each other's feet; here each
//! read names its place.

use crate::pipeline::ranged_file::ReadAt;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Longer pages are rare, and their buffers not kept.
const MAX_KEPT: usize = 4 << 20;

/// A file of a length that was found when it was opened. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    file: Arc<File>,
    len: u64,
    /// Bytes read ahead by a [`get_read`](ChunkReader::get_read).
    ahead: usize,
    /// Buffers that were read into and let go, to be read into again: new memory would have to be cleared, which cost a
    /// twentieth of annotating.
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Chunks {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        // What is read bit by bit is the headers of pages, which are short.
        Ok(Self { file: Arc::new(file), len, ahead: 1 << 10, spare: Arc::default() })
    }

    /// The same file for copying long ranges.
    pub(super) fn in_long_reads(&self) -> Self {
        Self { ahead: 1 << 18, ..self.clone() }
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<ReadAt>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(self.ahead, ReadAt::new(&self.file, start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Looked at before the memory is taken: a damaged file may ask for any length.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF(format!("{length} bytes at byte {start} reach behind the end of the file")));
        }
        let mut buffer = self.buffer(length);
        let read = ReadAt::new(&self.file, start).read_exact(&mut buffer.bytes[..length]);
        match read {
            Ok(()) => Ok(Bytes::from_owner(buffer)),
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => {
                Err(ParquetError::EOF("the file became shorter while it was read".to_owned()))
            }
            Err(err) => Err(err.into()),
        }
    }
}

impl Chunks {
    /// A buffer of at least this length, whatever it holds.
    fn buffer(&self, length: usize) -> Buffer {
        let mut bytes = lock(&self.spare).pop().unwrap_or_default();
        if bytes.len() < length {
            bytes = vec![0; length.next_power_of_two()];
        }
        Buffer { bytes, length, spare: Arc::clone(&self.spare) }
    }
}

/// A buffer that goes back to the spare ones when nobody needs what it holds any more.
struct Buffer {
    bytes: Vec<u8>,
    length: usize,
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes.len() <= MAX_KEPT {
            lock(&self.spare).push(std::mem::take(&mut self.bytes));
        }
    }
}

fn lock(spare: &Mutex<Vec<Vec<u8>>>) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}
