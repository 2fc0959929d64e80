//! An output of WARC records: plain, or one gzip member per record.

use crate::error::{Error, Result};
use crate::warc::block::{RecordEntry, StoredRecord, WarcBlock};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// The level of gzip members that are compressed here, as of other outputs.
fn level() -> Compression {
    Compression::new(6)
}

/// Compresses a text as one gzip member and appends it.
pub(super) fn append_member(text: &[u8], out: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(out, level());
    encoder.write_all(text)?;
    encoder.finish()
}

/// An output, and its length.
#[derive(Default)]
pub(super) struct RecordSink<'w> {
    out: Option<&'w mut (dyn Write + Send)>,
    /// Whether each record becomes a gzip member.
    is_gzip: bool,
    len: u64,
    /// Whether the last record has no line end. Plain records need one between them.
    is_open: bool,
    /// The compression of a record that is written in parts.
    encoder: Option<GzEncoder<Vec<u8>>>,
    /// The start of that record.
    start: u64,
}

impl<'w> RecordSink<'w> {
    /// A sink; `None` discards.
    pub(super) fn new(out: Option<&'w mut (dyn Write + Send)>, is_gzip: bool) -> Self {
        Self {
            is_gzip: is_gzip && out.is_some(),
            out,
            ..Self::default()
        }
    }

    /// Whether texts are to be compressed for this output.
    pub(super) fn compresses(&self) -> bool {
        self.is_gzip
    }

    /// Writes a whole record: its offset and its length in the output.
    pub(super) fn write(&mut self, block: &WarcBlock, record: &RecordEntry) -> Result<(u64, u64)> {
        let bytes = match (&record.encoded, &record.stored) {
            (Some(encoded), _) => &block.results.encoded[encoded.clone()],
            (None, StoredRecord::Member(member)) => &block.data[member.clone()],
            (None, StoredRecord::Text(text)) => {
                self.separate()?;
                self.is_open = block.texts[text.clone()].last() != Some(&b'\n');
                &block.texts[text.clone()]
            }
        };
        let start = self.len;
        self.append(bytes)?;
        Ok((start, self.len - start))
    }

    /// Ends a plain record that lacks its blank lines.
    fn separate(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_open) {
            self.append(b"\r\n\r\n")
        } else {
            Ok(())
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(out) = &mut self.out {
            out.write_all(bytes).map_err(Error::from_io)?;
            self.len += bytes.len() as u64;
        }
        Ok(())
    }

    /// Starts a record that is written in parts.
    pub(super) fn begin(&mut self, stored: &StoredRecord) -> Result<()> {
        if matches!(stored, StoredRecord::Text(_)) {
            match self.compresses() {
                true => self.encoder = Some(GzEncoder::new(Vec::new(), level())),
                false => self.separate()?,
            }
        }
        self.start = self.len;
        Ok(())
    }

    pub(super) fn part(&mut self, stored: &StoredRecord, bytes: &[u8]) -> Result<()> {
        if let Some(mut encoder) = self.encoder.take() {
            encoder.write_all(bytes).map_err(Error::from_io)?;
            let encoded = std::mem::take(encoder.get_mut());
            self.encoder = Some(encoder);
            return self.append(&encoded);
        }
        if matches!(stored, StoredRecord::Text(_)) && !bytes.is_empty() {
            self.is_open = bytes.last() != Some(&b'\n');
        }
        self.append(bytes)
    }

    /// Ends that record: its offset and its length in the output.
    pub(super) fn end(&mut self) -> Result<(u64, u64)> {
        if let Some(encoder) = self.encoder.take() {
            let rest = encoder.finish().map_err(Error::from_io)?;
            self.append(&rest)?;
        }
        Ok((self.start, self.len - self.start))
    }

    /// Ends the output. An empty file is not a gzip file, so a gzip output without records gets an
    /// empty member.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.len == 0 && self.compresses() {
            self.append(&append_member(b"", Vec::new()).map_err(Error::from_io)?)?;
        }
        self.out.as_mut().map_or(Ok(()), |out| Ok(out.flush()?))
    }
}
