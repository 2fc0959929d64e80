//! Condensed texts as independent zstd frames with a shared dictionary.
//!
//! With one frame per text, a reader decompresses one text without the others, and any thread can
//! make frames in any order. A dictionary of phrases that robots.txt files share makes short texts
//! compress well. The snapshot stores it, so a reader does not need this program.

use crate::error::{Error, Result};
use crate::robots::condense::MAX_CONDENSED;
use crate::snapshot::format::NONE;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// The dictionary of this version. A change alters the bytes of snapshots, not their meaning.
///
/// It is the text of `dictionary.txt` after entropy tables for texts of robots.txt files (RFC 8878
/// §5), made by `scripts/x dictionary`. Most frames use these tables. Building tables for each of
/// them took 1.4 times as long, and made the frames of a real archive 6 % longer.
pub(crate) const DICTIONARY: &[u8] = include_bytes!("dictionary.bin");

/// The compression level. Level 3 takes 1.1 to 1.3 times as long, and makes the frames of a real
/// archive 0.1 % shorter.
const LEVEL: i32 = 1;

/// Compresses texts; one per thread.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
    frame: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Result<Self> {
        let mut compressor = Compressor::with_dictionary(LEVEL, DICTIONARY)?;
        // The snapshot has one dictionary, whose number would take four bytes of each frame.
        compressor.include_dictid(false)?;
        Ok(Self {
            compressor,
            frame: Vec::new(),
        })
    }

    /// Compresses a text to a frame.
    pub(crate) fn pack(&mut self, text: &[u8]) -> Result<&[u8]> {
        self.frame.clear();
        self.frame.reserve(zstd_safe::compress_bound(text.len()));
        self.compressor.compress_to_buffer(text, &mut self.frame)?;
        Ok(&self.frame)
    }
}

/// Whether the bytes are a single frame that declares a text of this length; it is not
/// decompressed.
pub(crate) fn is_one_frame(frame: &[u8], raw_len: u32) -> bool {
    text_len(frame).is_ok_and(|len| len == raw_len)
        && zstd_safe::find_frame_compressed_size(frame) == Ok(frame.len())
}

/// Decompresses frames; one per thread.
pub(crate) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a dictionary with damaged entropy tables.
    pub(crate) fn new(dictionary: &[u8]) -> Result<Self> {
        Decompressor::with_dictionary(dictionary)
            .map(Self)
            .map_err(|err| Error::corrupt(format!("the dictionary of its texts ({err})")))
    }

    /// Decompresses a frame to its text.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for anything else than a single frame that declares
    /// its length.
    pub(crate) fn unpack(&mut self, frame: &[u8]) -> Result<Vec<u8>> {
        let len = text_len(frame)?;
        if !is_one_frame(frame, len) {
            return Err(Error::corrupt("a compressed text that is not one frame"));
        }
        let len = len as usize;
        match self.0.decompress(frame, len) {
            Ok(text) if text.len() == len => Ok(text),
            Ok(_) => Err(Error::corrupt(
                "a text of another length than its frame declares",
            )),
            Err(err) => Err(Error::corrupt(format!("a compressed text ({err})"))),
        }
    }
}

/// Compresses texts as differences to another one; one per thread.
pub(crate) struct DeltaPacker {
    context: zstd_safe::CCtx<'static>,
    frame: Vec<u8>,
}

/// The level of differences. The lazy search of this level finds the long runs that a text and its next
/// version share: an archive of weekly fetches takes three quarters of the space of level 3, for a
/// tenth more time of the compilation.
const DELTA_LEVEL: i32 = 5;

/// The first bytes of a dictionary with tables.
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// Whether differences to this text can be stored. Shorter ones gain nothing.
fn is_base(text: &[u8]) -> bool {
    text.len() >= 8 && !text.starts_with(&DICTIONARY_MAGIC)
}

/// A text that others are compressed as differences to: the dictionary of their frames, whose tables
/// are made once.
pub(crate) struct DeltaBase(zstd_safe::CDict<'static>);

impl DeltaBase {
    /// `None` for a text that cannot be a base. A text that begins like a dictionary with tables
    /// (RFC 8878 §5) would be taken for one.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        if !is_base(text) {
            return None;
        }
        zstd_safe::CDict::try_create(text, DELTA_LEVEL).map(Self)
    }
}

impl DeltaPacker {
    pub(crate) fn new() -> Self {
        Self {
            context: zstd_safe::CCtx::create(),
            frame: Vec::new(),
        }
    }

    /// Compresses the difference of a text to `base`.
    pub(crate) fn pack(&mut self, text: &[u8], base: &DeltaBase) -> Result<&[u8]> {
        self.frame.clear();
        self.frame.reserve(zstd_safe::compress_bound(text.len()));
        self.context
            .compress_using_cdict(&mut self.frame, text, &base.0)
            .map_err(|code| std::io::Error::other(zstd_safe::get_error_name(code)))?;
        Ok(&self.frame)
    }
}

/// Decompresses differences; one per thread. It keeps the last base, as the versions of a site follow
/// each other.
pub(crate) struct DeltaUnpacker {
    context: zstd_safe::DCtx<'static>,
    /// The number of the base.
    number: u32,
    base: Vec<u8>,
}

impl DeltaUnpacker {
    pub(crate) fn new() -> Self {
        Self {
            context: zstd_safe::DCtx::create(),
            number: NONE,
            base: Vec::new(),
        }
    }

    /// Whether the text with this number is the base.
    pub(crate) fn has_base(&self, number: u32) -> bool {
        self.number == number
    }

    /// Sets the base, and its number.
    pub(crate) fn set_base(&mut self, number: u32, text: Vec<u8>) {
        self.number = number;
        self.base = text;
    }

    /// Decompresses the text whose difference to the base is a frame.
    ///
    /// # Errors
    /// As [`Unpacker::unpack`]; for a text that cannot be a base, too.
    pub(crate) fn unpack(&mut self, frame: &[u8]) -> Result<Vec<u8>> {
        let base = &*self.base;
        let len = text_len(frame)?;
        if !is_one_frame(frame, len) || !is_base(base) {
            return Err(Error::corrupt("a difference that is not one frame"));
        }
        let mut text = Vec::with_capacity(len as usize);
        match self.context.decompress_using_dict(&mut text, frame, base) {
            Ok(_) if text.len() == len as usize => Ok(text),
            Ok(_) => Err(Error::corrupt(
                "a difference of another length than its frame declares",
            )),
            Err(code) => Err(Error::corrupt(format!(
                "a difference ({})",
                zstd_safe::get_error_name(code)
            ))),
        }
    }
}

/// The length of the text that a frame declares.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) if it declares none, or one that no text has.
pub(crate) fn text_len(frame: &[u8]) -> Result<u32> {
    match zstd_safe::get_frame_content_size(frame) {
        Ok(Some(len)) if len <= MAX_CONDENSED as u64 => Ok(len as u32),
        Ok(Some(len)) => Err(Error::corrupt(format!("a text of {len} bytes"))),
        _ => Err(Error::corrupt("a compressed text without its length")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &[u8] = include_bytes!("dictionary.txt");

    /// `scripts/x dictionary` makes one from the other.
    #[test]
    fn the_dictionary_ends_with_its_text() {
        assert!(DICTIONARY.ends_with(CONTENT));
    }

    #[test]
    fn frames_use_the_tables_of_the_dictionary() {
        let text = b"user-agent: *\ndisallow: /basket/\ndisallow: /news/archive/2019\n";
        let mut plain = Compressor::with_dictionary(LEVEL, CONTENT).unwrap();
        let plain = plain.compress(text).unwrap();
        let frame = Packer::new().unwrap().pack(text).unwrap().to_vec();
        assert!(frame.len() < plain.len(), "{} {}", frame.len(), plain.len());
        assert_eq!(zstd_safe::get_dict_id_from_frame(&frame), None);
        let unpack = |dictionary, frame| Unpacker::new(dictionary).unwrap().unpack(frame).unwrap();
        assert_eq!(unpack(DICTIONARY, &frame), text);
        // As earlier versions wrote them.
        assert_eq!(unpack(CONTENT, &plain), text);
    }

    #[test]
    fn dictionaries_with_damaged_tables_are_corrupt() {
        for len in [12, 40, 100] {
            let err = Unpacker::new(&DICTIONARY[..len]).err().unwrap();
            assert!(
                err.to_string().contains("the dictionary of its texts"),
                "{len} {err}"
            );
        }
    }
}
