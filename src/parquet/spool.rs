//! Buffers encoded column chunks: small ones in memory, others in an unnamed temporary file.
//!
//! A Parquet file stores the columns of a row group one after the other, so columns that are
//! encoded at the same time need a buffer.

use crate::atomic::scratch_folder;
use crate::error::Error;
use bytes::Bytes;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::SpooledTempFile;

/// The largest chunk that stays in memory.
const IN_MEMORY: usize = 1 << 20;

/// A column chunk being encoded.
pub(super) struct ChunkWriter {
    pub writer: ColumnWriter<'static>,
    spool: Spool,
}

pub(super) struct EncodedChunk {
    pub data: Spool,
    /// The chunk's part of the footer and of the indexes.
    pub metadata: ColumnCloseResult,
}

impl ChunkWriter {
    /// A writer for a chunk of this column. A large chunk moves to a file in the directory of the
    /// output `out`.
    pub(super) fn new(
        column: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
        out: &Path,
    ) -> Self {
        let file = NamingFile {
            file: tempfile::spooled_tempfile_in(IN_MEMORY, scratch_folder(out)),
            out: out.into(),
        };
        let spool = Spool(Arc::new(Mutex::new(TrackedWrite::new(file))));
        let writer = get_column_writer(column.clone(), properties.clone(), Box::new(spool.clone()));
        Self { writer, spool }
    }

    pub(super) fn close(self) -> Result<EncodedChunk> {
        let metadata = self.writer.close()?;
        Ok(EncodedChunk {
            data: self.spool,
            metadata,
        })
    }
}

/// The bytes of a chunk. Clones share them.
#[derive(Clone)]
pub(super) struct Spool(Arc<Mutex<TrackedWrite<NamingFile>>>);

/// A temporary file whose errors name the output.
struct NamingFile {
    file: SpooledTempFile,
    out: Arc<Path>,
}

impl Write for NamingFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file
            .write(buf)
            .map_err(|err| Error::io(&self.out, err).into_io())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file
            .flush()
            .map_err(|err| Error::io(&self.out, err).into_io())
    }
}

impl Spool {
    fn lock(&self) -> MutexGuard<'_, TrackedWrite<NamingFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageWriter for Spool {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        SerializedPageWriter::new(&mut *self.lock()).write_page(page)
    }

    fn close(&mut self) -> Result<()> {
        SerializedPageWriter::new(&mut *self.lock()).close()
    }
}

impl Length for Spool {
    fn len(&self) -> u64 {
        self.lock().bytes_written() as u64
    }
}

impl ChunkReader for Spool {
    type T = BufReader<SpoolReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(
            1 << 16,
            SpoolReader {
                spool: self.clone(),
                offset: start,
            },
        ))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads a chunk from an offset on.
pub(super) struct SpoolReader {
    spool: Spool,
    offset: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut file = self.spool.lock();
        let file = &mut file.inner_mut().file;
        file.seek(SeekFrom::Start(self.offset))?;
        let n = file.read(buf)?;
        self.offset += n as u64;
        Ok(n)
    }
}
