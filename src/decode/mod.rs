//! Decompresses gzip and zstd, and passes plain bytes through. The content decides, not the name.

mod gzip;
mod member;
mod member_inflater;
mod member_stream;
mod whole_file;
mod zstd_dictionary;
mod zstd_frames;

use crate::error::{Error, Result};
use crate::file_format::FileFormat;
use gzip::GzipReader;
use std::io::{self, BufRead, Cursor, Read};
use std::ops::Range;
use std::path::Path;
use zstd_frames::ZstdReader;

pub(crate) use member::MAGIC as GZIP_MEMBER;
pub(crate) use member_inflater::MemberInflater;
pub(crate) use member_stream::MemberStream;
pub(crate) use whole_file::{became_shorter, read_whole, standard_input};
pub(crate) use zstd_dictionary::FRAME_MAGIC as DICTIONARY_FRAME;

/// A reader that decompresses gzip and zstd and passes plain bytes through. The first bytes decide.
///
/// # Errors
/// I/O errors of the first bytes. Reading the result reports damage.
pub fn decode(input: impl Read) -> Result<impl Read> {
    Decoder::new(input).map_err(Error::from_io)
}

type Peeked<R> = io::Chain<Cursor<Vec<u8>>, Counted<R>>;

/// The problem of a file that is compressed by its name, but whose content, which starts with
/// `start`, is neither gzip nor zstd.
///
/// Such a file is damaged, was never written, or has another compression. As text it would be a
/// list without URLs.
pub(crate) fn refuse_by_name(path: &Path, start: &[u8]) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_read = match ending.as_str() {
        "gz" | "zst" => true,
        // Spark writes lists as `.deflate` and `.snappy` too. Snappy leaves parts of the text as it is,
        // among them whole lines.
        "xz" | "bz2" | "lz4" | "lzma" | "zip" | "7z" | "deflate" | "snappy" => false,
        _ => return None,
    };
    match FileFormat::of(start) {
        Some(FileFormat::Gzip | FileFormat::Zstd) => None,
        _ if start.is_empty() => Some(format!(
            "it is empty, and no .{ending} file is; write it again"
        )),
        Some(format) if format != FileFormat::Binary => None,
        _ if is_read => Some(format!(
            "it is not compressed as its name says (.{ending}), or damaged at its start; write it \
             again, or rename it if it is text"
        )),
        _ => Some(format!(
            "a compressed file by its name (.{ending}), or a damaged one; decompress it first"
        )),
    }
}

/// The buffer of decoded bytes. A gzip member that fits is inflated in one call. In a corpus of 137
/// MB, 31 % were in members over 128 KiB, and 3 % in members over this size.
const BUFFER_SIZE: usize = 1 << 20;

/// Decodes gzip (any number of members) and zstd (any number of frames), or passes plain bytes
/// through.
pub(crate) struct Decoder<R: Read> {
    stream: DecodedStream<R>,
    buffer: Vec<u8>,
    /// The part of the buffer that is decoded and not read.
    unread: Range<usize>,
    /// Whether the first byte of the buffer is the first of a gzip member or a zstd frame.
    starts_frame: bool,
}

/// The input by its compression. An offset counts decoded bytes.
enum DecodedStream<R: Read> {
    Plain {
        inner: Peeked<R>,
        offset: u64,
    },
    Gzip(Box<GzipReader<Peeked<R>>>),
    Zstd {
        inner: Box<ZstdReader<Peeked<R>>>,
        offset: u64,
    },
}

impl<R: Read> Decoder<R> {
    /// Reads the first bytes of `input` to detect its compression.
    pub(crate) fn new(input: R) -> io::Result<Self> {
        let mut input = Counted {
            inner: input,
            bytes: 0,
        };
        let mut magic = Vec::new();
        input.by_ref().take(4).read_to_end(&mut magic)?;
        let format = FileFormat::of(&magic);
        let has_dictionary = magic == DICTIONARY_FRAME;
        let inner = Cursor::new(magic).chain(input);
        let stream = match format {
            Some(FileFormat::Gzip) => DecodedStream::Gzip(Box::new(GzipReader::new(inner))),
            Some(FileFormat::Zstd) => DecodedStream::Zstd {
                inner: Box::new(zstd_reader(inner, has_dictionary)?),
                offset: 0,
            },
            _ => DecodedStream::Plain { inner, offset: 0 },
        };
        Ok(Self {
            stream,
            buffer: Vec::new(),
            unread: 0..0,
            starts_frame: false,
        })
    }

    /// The bytes peeked at so far. They will be read again.
    pub(crate) fn peeked(&self) -> &[u8] {
        &self.buffer[self.unread.clone()]
    }

    /// Peeks at more decoded bytes; `false` at the end. One call may add as little as one byte.
    pub(crate) fn peek_more(&mut self) -> io::Result<bool> {
        self.read_more(self.unread.end + 4096)
    }

    /// Reads more into the buffer, up to this length; `false` at the end.
    fn read_more(&mut self, len: usize) -> io::Result<bool> {
        if self.buffer.len() < len {
            self.buffer.resize(len, 0);
        }
        let room = &mut self.buffer[self.unread.end..len];
        let n = loop {
            match self.stream.read(room) {
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if self.unread.end == 0 {
            self.starts_frame = self.stream.starts_frame();
        }
        self.unread.end += n;
        Ok(n > 0)
    }

    /// Whether the first byte of [`peeked`](Self::peeked) is the first of a gzip member or a zstd
    /// frame.
    pub(crate) fn is_at_frame_start(&self) -> bool {
        self.starts_frame && self.unread.start == 0 && !self.unread.is_empty()
    }

    /// Continues a plain input at another place, to which its reader has moved.
    pub(crate) fn continue_at(&mut self, position: u64) {
        if let DecodedStream::Plain { offset, .. } = &mut self.stream {
            *offset = position;
            self.unread = 0..0;
        }
    }

    /// The offset for an error: the start of the gzip member, else the offset of the next decoded
    /// byte.
    pub(crate) fn offset(&self) -> u64 {
        match &self.stream {
            DecodedStream::Plain { offset, .. } | DecodedStream::Zstd { offset, .. } => {
                *offset - self.unread.len() as u64
            }
            DecodedStream::Gzip(reader) => reader.member_offset(),
        }
    }

    /// Whether the input is compressed.
    pub(crate) fn is_compressed(&self) -> bool {
        !matches!(self.stream, DecodedStream::Plain { .. })
    }

    /// Whether the input is gzip: errors have the offset of a member, and decoding can continue at
    /// the next one.
    pub(crate) fn is_gzip(&self) -> bool {
        matches!(self.stream, DecodedStream::Gzip(_))
    }

    /// Whether the next byte to read is the next byte of the input: it is plain, and no peeked byte
    /// is left.
    pub(crate) fn is_in_step(&self) -> bool {
        match &self.stream {
            DecodedStream::Plain { inner, offset } => {
                self.unread.is_empty() && *offset == inner.get_ref().1.bytes
            }
            DecodedStream::Gzip(_) | DecodedStream::Zstd { .. } => false,
        }
    }

    /// Bytes read from the input so far, before decoding.
    pub(crate) fn bytes_read(&self) -> u64 {
        match &self.stream {
            DecodedStream::Plain { inner, .. } => inner.get_ref().1.bytes,
            DecodedStream::Gzip(reader) => reader.get_ref().get_ref().1.bytes,
            DecodedStream::Zstd { inner, .. } => inner.get_ref().get_ref().1.bytes,
        }
    }

    /// After an error, moves to where decoding can continue; `false` if it cannot.
    pub(crate) fn resync(&mut self) -> io::Result<bool> {
        match &mut self.stream {
            DecodedStream::Gzip(reader) => {
                self.unread = 0..0;
                reader.resync()
            }
            // Errors of the decoder itself are final, so the text after them is read.
            DecodedStream::Plain { .. } | DecodedStream::Zstd { .. } => Ok(true),
        }
    }
}

/// A reader of zstd frames. The input may begin with their dictionary.
fn zstd_reader<R: Read>(
    mut input: Peeked<R>,
    has_dictionary: bool,
) -> io::Result<ZstdReader<Peeked<R>>> {
    if !has_dictionary {
        return ZstdReader::new(input, &[]);
    }
    input.read_exact(&mut [0; DICTIONARY_FRAME.len()])?;
    let dictionary = zstd_dictionary::read(&mut input)?;
    ZstdReader::new(input, &dictionary)
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.unread.is_empty() {
            return self.stream.read(buf);
        }
        let n = self.unread.len().min(buf.len());
        buf[..n].copy_from_slice(&self.peeked()[..n]);
        self.unread.start += n;
        Ok(n)
    }
}

impl<R: Read> BufRead for Decoder<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.unread.is_empty() {
            self.unread = 0..0;
            self.read_more(BUFFER_SIZE)?;
        }
        Ok(self.peeked())
    }

    fn consume(&mut self, n: usize) {
        self.unread.start += n.min(self.unread.len());
    }
}

impl<R: Read> DecodedStream<R> {
    /// Whether the bytes of the last read are the first of a gzip member or a zstd frame.
    fn starts_frame(&self) -> bool {
        match self {
            Self::Plain { .. } => false,
            Self::Gzip(reader) => reader.starts_member(),
            Self::Zstd { inner, .. } => inner.starts_frame(),
        }
    }
}

impl<R: Read> Read for DecodedStream<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain { inner, offset } => {
                let n = inner.read(buf)?;
                *offset += n as u64;
                Ok(n)
            }
            Self::Gzip(reader) => reader.read(buf),
            Self::Zstd { inner, offset } => {
                let n = inner.read(buf).map_err(|err| {
                    let what = format!("zstd stream (byte counted after decoding): {err}");
                    io::Error::other(Error::damaged(*offset, what, false))
                })?;
                *offset += n as u64;
                Ok(n)
            }
        }
    }
}

/// A gzip file with one member, for tests.
#[cfg(test)]
pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzEncoder::new(text, flate2::Compression::default())
        .read_to_end(&mut out)
        .unwrap();
    out
}

/// Counts the bytes that are read.
pub(crate) struct Counted<R> {
    inner: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.bytes += n as u64;
        Ok(n)
    }
}
