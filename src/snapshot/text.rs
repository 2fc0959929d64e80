//! Condensed texts as independent zstd frames with a shared dictionary.
//!
//! With one frame per text, a reader decompresses one text without the others, and any thread can
//! make frames in any order. A dictionary of phrases that robots.txt files share makes short texts
//! compress well. The snapshot stores it, so a reader does not need this program.

use crate::error::{Error, Result};
use crate::robots::line::MAX_BODY;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// The dictionary of this version. A change alters the bytes of snapshots, not their meaning.
pub(crate) const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");

/// The compression level. Level 3 makes the frames of a real archive 1 % shorter than level 1
/// without slowing compilation; higher levels gain next to nothing.
const LEVEL: i32 = 3;

/// The longest condensed text: the part of a body that counts, and a line end.
const MAX_TEXT: usize = MAX_BODY + 1;

/// Compresses texts; one per thread.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
    frame: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { compressor: Compressor::with_dictionary(LEVEL, DICTIONARY)?, frame: Vec::new() })
    }

    /// Compresses a text to a frame.
    pub(crate) fn pack(&mut self, text: &[u8]) -> Result<&[u8]> {
        self.frame.clear();
        self.frame.reserve(zstd_safe::compress_bound(text.len()));
        self.compressor.compress_to_buffer(text, &mut self.frame)?;
        Ok(&self.frame)
    }
}

/// Decompresses frames; one per thread.
pub(crate) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    pub(crate) fn new(dictionary: &[u8]) -> Result<Self> {
        Ok(Self(Decompressor::with_dictionary(dictionary)?))
    }

    /// Decompresses a frame to its text, which must be `raw_len` bytes long.
    pub(crate) fn unpack(&mut self, frame: &[u8], raw_len: usize) -> Result<Vec<u8>> {
        if raw_len > MAX_TEXT {
            return Err(Error::corrupt(format!("a text of {raw_len} bytes")));
        }
        // Only a single frame that declares this length is decompressed.
        let declared = zstd_safe::get_frame_content_size(frame).ok().flatten();
        if declared != Some(raw_len as u64) || zstd_safe::find_frame_compressed_size(frame) != Ok(frame.len()) {
            return Err(Error::corrupt("a compressed text that is not one frame of the length that its row says"));
        }
        match self.0.decompress(frame, raw_len) {
            Ok(text) if text.len() == raw_len => Ok(text),
            Ok(_) => Err(Error::corrupt("a text of another length than its row says")),
            Err(err) => Err(Error::corrupt(format!("a compressed text ({err})"))),
        }
    }
}
