//! The state that all readers of a compilation share: counts, and the decision to skip damage.

use crate::decode::Decoder;
use crate::error::{Error, Result};
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct ReadContext {
    /// Whether to count and skip damage instead of failing.
    pub skip_damaged: bool,
    /// Bytes read of all inputs so far, before decompression.
    pub bytes: AtomicU64,
    /// Damaged places skipped so far.
    pub damaged: AtomicU64,
}

impl ReadContext {
    /// Counts damage that is to be skipped; returns any other error.
    pub(super) fn skip_damage(&self, err: Error) -> Result<()> {
        if !self.skip_damaged || !err.is_skippable() {
            return Err(err);
        }
        self.damaged.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Takes back the count of bytes that will be read again.
    pub(super) fn uncount(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The decoded bytes of an archive. Its reader counts those of the file.
pub(super) type ArchiveDecoder<'r> = Decoder<Box<dyn Read + Send + 'r>>;

/// A decoder of a reader of any kind.
pub(super) fn archive_decoder<'r>(reader: impl Read + Send + 'r) -> io::Result<ArchiveDecoder<'r>> {
    Decoder::new(Box::new(reader) as Box<dyn Read + Send + 'r>)
}

/// A reader that counts its bytes.
pub(super) struct MeteredReader<'r> {
    pub inner: Box<dyn Read + Send + 'r>,
    pub context: &'r ReadContext,
}

impl Read for MeteredReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.context.bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
