//! Positioned reads of a Parquet file by several threads.
//!
//! The `parquet` crate reads a `File` through its one position, which threads would have to share.
//! Here each read has its own offset.

use crate::read_at::ReadAt;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest buffer that is kept. Longer pages are rare.
const MAX_KEPT: usize = 4 << 20;

/// An open file, and its length at opening. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct ParquetFile {
    file: Arc<File>,
    len: u64,
    /// The size of the buffer of a [`get_read`](ChunkReader::get_read).
    buffer_size: usize,
    /// Buffers for reading pages. New buffers would have to be cleared, which cost a twentieth of
    /// annotating.
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl ParquetFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        // Only page headers are read through the buffer, and they are short.
        Ok(Self {
            file: Arc::new(file),
            len,
            buffer_size: 1 << 10,
            spare: Arc::default(),
        })
    }

    /// The same file with a large buffer, for copying long ranges.
    pub(super) fn with_large_buffer(&self) -> Self {
        Self {
            buffer_size: 1 << 18,
            ..self.clone()
        }
    }

    /// A buffer of at least this length, with arbitrary content.
    fn buffer(&self, length: usize) -> PageBuffer {
        let mut bytes = lock(&self.spare).pop().unwrap_or_default();
        if bytes.len() < length {
            bytes = vec![0; length.next_power_of_two()];
        }
        PageBuffer {
            bytes,
            length,
            spare: Arc::clone(&self.spare),
        }
    }
}

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for ParquetFile {
    type T = BufReader<ReadAt>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(
            self.buffer_size,
            ReadAt::new(&self.file, start),
        ))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Checked before the allocation: a damaged file may ask for any length.
        if start
            .checked_add(length as u64)
            .is_none_or(|end| end > self.len)
        {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at byte {start} reach past the end of the file"
            )));
        }
        let mut buffer = self.buffer(length);
        match ReadAt::new(&self.file, start).read_exact(&mut buffer.bytes[..length]) {
            Ok(()) => Ok(Bytes::from_owner(buffer)),
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Err(ParquetError::EOF(
                "the file became shorter while it was read".to_owned(),
            )),
            Err(err) => Err(err.into()),
        }
    }
}

/// A buffer that returns to the spare ones when it is dropped.
struct PageBuffer {
    bytes: Vec<u8>,
    length: usize,
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl AsRef<[u8]> for PageBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        if self.bytes.len() <= MAX_KEPT {
            lock(&self.spare).push(std::mem::take(&mut self.bytes));
        }
    }
}

fn lock(spare: &Mutex<Vec<Vec<u8>>>) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}
