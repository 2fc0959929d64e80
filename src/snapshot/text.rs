//! Condensed texts as zstd frames, each by itself, with one dictionary for all.
//!
//! One frame a text means that any of them is read without the others, and that a frame depends on nothing but its
//! text: so frames can be made on any thread, in any order. The dictionary (phrases that robots.txt files share) makes
//! up for their shortness; it is stored in the snapshot, so a reader needs no copy of this program.

use crate::error::{Error, Result};
use crate::robots::line::MAX_BODY;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// What every writer of this version uses. Changing it changes the bytes of snapshots, not their meaning.
pub(crate) const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");

/// Level 3 makes the frames of a real archive 1 % shorter than level 1, and compiling no slower; higher levels gain next to nothing.
const LEVEL: i32 = 3;

/// The longest condensed text: what counts of a body, and the line end behind its last line.
const MAX_TEXT: usize = MAX_BODY + 1;

/// Makes frames; one for each thread.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
    frame: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { compressor: Compressor::with_dictionary(LEVEL, DICTIONARY)?, frame: Vec::new() })
    }

    /// The frame of `text`.
    pub(crate) fn pack(&mut self, text: &[u8]) -> Result<&[u8]> {
        self.frame.clear();
        self.frame.reserve(zstd_safe::compress_bound(text.len()));
        self.compressor.compress_to_buffer(text, &mut self.frame)?;
        Ok(&self.frame)
    }
}

/// Reads frames; one for each thread.
pub(crate) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    pub(crate) fn new(dictionary: &[u8]) -> Result<Self> {
        Ok(Self(Decompressor::with_dictionary(dictionary)?))
    }

    /// The text of `frame`, which must be `raw_len` bytes long.
    pub(crate) fn unpack(&mut self, frame: &[u8], raw_len: usize) -> Result<Vec<u8>> {
        if raw_len > MAX_TEXT {
            return Err(Error::corrupt(format!("a text of {raw_len} bytes")));
        }
        // Nothing is decoded but one frame that promises this length.
        let promised = zstd_safe::get_frame_content_size(frame).ok().flatten();
        if promised != Some(raw_len as u64) || zstd_safe::find_frame_compressed_size(frame) != Ok(frame.len()) {
            return Err(Error::corrupt("a compressed text that is not one frame of the length that its row says"));
        }
        match self.0.decompress(frame, raw_len) {
            Ok(text) if text.len() == raw_len => Ok(text),
            Ok(_) => Err(Error::corrupt("a text of another length than its row says")),
            Err(err) => Err(Error::corrupt(format!("a compressed text ({err})"))),
        }
    }
}
