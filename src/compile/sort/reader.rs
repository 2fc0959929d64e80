//! Reads records of temporary data in order.

use crate::compile::ingest::capture_record::CaptureRecord;
use crate::error::{Error, Result};
use crate::spool::SpooledBytes;

/// Reads the records of a run or of a table one after the other. The first is current at first.
pub(super) struct RecordReader<'s> {
    spooled: &'s SpooledBytes,
    /// The bytes of `spooled` from `offset` on that were read, with the current record at `start`.
    buf: Vec<u8>,
    offset: u64,
    start: usize,
    /// The length of the current record; 0 at the end.
    len: usize,
}

/// The bytes that are read at a time.
const BUFFER: usize = 256 << 10;

impl<'s> RecordReader<'s> {
    pub(super) fn new(spooled: &'s SpooledBytes) -> Result<Self> {
        let mut reader = Self {
            spooled,
            buf: Vec::new(),
            offset: 0,
            start: 0,
            len: 0,
        };
        reader.advance()?;
        Ok(reader)
    }

    /// The current record; `None` at the end.
    pub(super) fn record(&self) -> Option<CaptureRecord<'_>> {
        if self.len == 0 {
            None
        } else {
            CaptureRecord::first_of(&self.buf[self.start..])
        }
    }

    /// Goes to the next record.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(super) fn advance(&mut self) -> Result<()> {
        self.start += self.len;
        self.len = 0;
        let mut more = BUFFER;
        loop {
            if let Some(record) = CaptureRecord::first_of(&self.buf[self.start..]) {
                self.len = record.bytes().len();
                return Ok(());
            }
            // Drops the records that were read, and reads on. A record may be longer than the
            // buffer.
            self.buf.drain(..self.start);
            self.offset += self.start as u64;
            self.start = 0;
            let unread = self.spooled.len() - self.offset - self.buf.len() as u64;
            if unread == 0 {
                let is_end = self.buf.is_empty();
                return if is_end {
                    Ok(())
                } else {
                    Err(Error::corrupt("temporary data end within a record"))
                };
            }
            let old = self.buf.len();
            let read = more.min(usize::try_from(unread).unwrap_or(more));
            self.buf.resize(old + read, 0);
            self.spooled
                .read_at(&mut self.buf[old..], self.offset + old as u64)?;
            more *= 2;
        }
    }
}
