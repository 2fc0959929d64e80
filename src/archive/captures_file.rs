//! Captures files: the container, with each encoder next to its decoder. docs/FORMAT.md describes
//! every byte.
//!
//! A file is a header, blocks of captures, and an end block with totals. A block holds every text
//! that its captures need, so any thread reads it without the others, and damage loses one block.
//! The price is that a text shared by captures of several blocks is stored in each of them: a fifth
//! of the bytes of a real archive, which has 119 per capture.

use crate::bytes::wire::{Fields, time_bytes};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::CAPTURES_MAGIC;
use crate::robots::condense::MAX_CONDENSED;
use crate::time_span::TimeSpan;
use serde::Serialize;
use std::io::Read;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The version of the layout that this build writes. It reads all earlier ones too, because captures
/// files are archives, which nobody can make again.
pub const CAPTURES_FORMAT_VERSION: u32 = 2;

/// The version without digests of bodies, `Retry-After`, and the ends of long lines.
pub(crate) const FIRST_VERSION: u32 = 1;

/// The length of the records of a block, before compression, unless one record is longer.
pub(crate) const RECORDS_LEN: usize = 256 << 10;

/// The length of the texts of a block, unless one text is longer.
pub(crate) const TEXTS_LEN: usize = 768 << 10;

/// The longest record, and the longest records of a block. A line of JSON is as long at most.
pub(crate) const MAX_RECORDS_LEN: usize = 64 << 20;

/// The longest texts of a block: far more than [`TEXTS_LEN`] and one text.
const MAX_TEXTS_LEN: usize = 8 << 20;

/// The longest frame of records: more than zstd makes of incompressible ones.
const MAX_FRAME_LEN: usize = MAX_RECORDS_LEN + (1 << 20);

/// The compression level of records, which are a tenth of a real file.
const LEVEL: i32 = 3;

/// The program that wrote a file, and the dictionary of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CapturesHeader {
    /// [`CAPTURES_FORMAT_VERSION`] or [`FIRST_VERSION`].
    pub version: u32,
    pub tool: String,
    pub dictionary: Vec<u8>,
}

/// The length of a header up to the name of the tool.
const HEADER_LEN: usize = 32;

/// Bounds of the two parts of a header.
const MAX_TOOL_LEN: usize = 256;
const MAX_DICTIONARY_LEN: usize = 1 << 20;

/// The offset of the header's checksum, which covers the header with zeros in its place.
const HEADER_CHECKSUM_AT: usize = 24;

impl CapturesHeader {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_LEN + self.tool.len() + self.dictionary.len());
        out.extend_from_slice(CAPTURES_MAGIC);
        for field in [
            self.version,
            self.tool.len() as u32,
            self.dictionary.len() as u32,
            0,
        ] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(self.tool.as_bytes());
        out.extend_from_slice(&self.dictionary);
        let checksum = xxh3_64(&out);
        out[HEADER_CHECKSUM_AT..HEADER_LEN].copy_from_slice(&checksum.to_le_bytes());
        out
    }

    fn read(input: &mut FileBytes<impl Read>) -> Result<Self> {
        let mut bytes = input.read(HEADER_LEN, "its header")?;
        let Some(fields) = bytes.strip_prefix(CAPTURES_MAGIC) else {
            return Err(ErrorKind::UnknownSource {
                what: "not a captures file".to_owned(),
            }
            .into());
        };
        let mut fields = Fields(fields);
        let version = fields.u32();
        if !(FIRST_VERSION..=CAPTURES_FORMAT_VERSION).contains(&version) {
            let what = format!(
                "a captures file of format version {version}, but this robosieve reads versions \
                 {FIRST_VERSION} to {CAPTURES_FORMAT_VERSION}; update robosieve"
            );
            return Err(ErrorKind::UnknownSource { what }.into());
        }
        // The lengths are checked before the checksum, because they state how much it covers.
        let tool_len = fields.u32() as usize;
        let dictionary_len = fields.u32() as usize;
        if fields.u32() != 0 || tool_len > MAX_TOOL_LEN || dictionary_len > MAX_DICTIONARY_LEN {
            return Err(Error::damaged(0, "the lengths in the header", false));
        }
        let checksum = fields.u64();
        bytes[HEADER_CHECKSUM_AT..].fill(0);
        bytes.extend_from_slice(&input.read(tool_len + dictionary_len, "its header")?);
        if xxh3_64(&bytes) != checksum {
            return Err(Error::damaged(
                0,
                "the header has another checksum than it says",
                false,
            ));
        }
        let (tool, dictionary) = bytes[HEADER_LEN..].split_at(tool_len);
        let tool = String::from_utf8(tool.to_vec())
            .map_err(|_| Error::damaged(0, "the name of the tool", false))?;
        Ok(Self {
            version,
            tool,
            dictionary: dictionary.to_vec(),
        })
    }
}

/// The head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockHead {
    kind: u32,
    captures: u32,
    texts: u32,
    texts_len: u32,
    frame_len: u32,
    records_len: u32,
    /// The number of the block in the file, from 0.
    number: u64,
    /// The checksum of the body.
    checksum: u64,
}

const CAPTURES_BLOCK: u32 = 1;
const END_BLOCK: u32 = 2;

/// The length of a head: its fields, and their checksum.
const HEAD_LEN: usize = 48;

impl BlockHead {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_LEN);
        let Self {
            kind,
            captures,
            texts,
            texts_len,
            frame_len,
            records_len,
            number,
            checksum,
        } = *self;
        for field in [kind, captures, texts, texts_len, frame_len, records_len] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&checksum.to_le_bytes());
        out.extend_from_slice(&xxh3_64(&out).to_le_bytes());
        out
    }

    /// `None` for a wrong checksum, or lengths that no writer gives.
    fn decode(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let head = Self {
            kind: fields.u32(),
            captures: fields.u32(),
            texts: fields.u32(),
            texts_len: fields.u32(),
            frame_len: fields.u32(),
            records_len: fields.u32(),
            number: fields.u64(),
            checksum: fields.u64(),
        };
        let is_possible = match head.kind {
            CAPTURES_BLOCK => {
                head.texts_len as usize <= MAX_TEXTS_LEN
                    && head.frame_len as usize <= MAX_FRAME_LEN
                    && head.records_len as usize <= MAX_RECORDS_LEN
            }
            END_BLOCK => head.body_len() == TOTALS_LEN,
            _ => false,
        };
        (is_possible && fields.u64() == xxh3_64(&bytes[..HEAD_LEN - 8])).then_some(head)
    }

    fn body_len(&self) -> usize {
        self.texts_len as usize + self.frame_len as usize
    }
}

/// Counts of the content of a captures file. It serializes to JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CapturesCounts {
    /// All captures.
    pub captures: u64,
    /// Origins with a capture of their robots.txt.
    pub origins: u64,
    /// Captures of URLs other than an origin's robots.txt; redirects may lead to them.
    pub other_urls: u64,
    /// Captures of unknown time.
    pub undated: u64,
    /// Distinct texts: the lines of robots.txt files with known fields, without comments.
    pub texts: u64,
    /// Bytes of the distinct texts, before compression.
    pub text_bytes: u64,
    /// The times of the oldest and the newest capture; `None` if no time is known.
    pub captured: Option<TimeSpan>,
}

/// The length of encoded totals.
const TOTALS_LEN: usize = 64;

/// The length of the block that ends a file.
pub(crate) const END_LEN: usize = HEAD_LEN + TOTALS_LEN;

impl CapturesCounts {
    /// The block with the totals, after this number of other blocks.
    pub(crate) fn encode_end(&self, number: u64) -> Vec<u8> {
        // Taken apart by name, so that a new total cannot be forgotten here.
        let mut body = Vec::with_capacity(TOTALS_LEN);
        let Self {
            captures,
            origins,
            other_urls,
            undated,
            texts,
            text_bytes,
            captured,
        } = *self;
        for count in [captures, origins, other_urls, undated, texts, text_bytes] {
            body.extend_from_slice(&count.to_le_bytes());
        }
        body.extend_from_slice(&time_bytes(captured.map(|span| span.oldest)));
        body.extend_from_slice(&time_bytes(captured.map(|span| span.newest)));
        let head = BlockHead {
            kind: END_BLOCK,
            captures: 0,
            texts: 0,
            texts_len: 0,
            frame_len: TOTALS_LEN as u32,
            records_len: 0,
            number,
            checksum: xxh3_64(&body),
        };
        [head.encode(), body].concat()
    }

    fn decode(body: &[u8]) -> Self {
        let mut fields = Fields(body);
        let mut counts = Self {
            captures: fields.u64(),
            origins: fields.u64(),
            other_urls: fields.u64(),
            undated: fields.u64(),
            texts: fields.u64(),
            text_bytes: fields.u64(),
            captured: None,
        };
        counts.captured = fields.time().zip(fields.time()).map(TimeSpan::from);
        counts
    }
}

/// The end of a file: its totals, and the number of blocks before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapturesEnd {
    pub counts: CapturesCounts,
    pub blocks: u64,
}

impl CapturesEnd {
    /// The end of a file whose last bytes are these; `None` if they are not an end block.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, body) = bytes.split_first_chunk()?;
        let head = BlockHead::decode(head)?;
        let is_end =
            head.kind == END_BLOCK && body.len() == TOTALS_LEN && xxh3_64(body) == head.checksum;
        is_end.then(|| Self {
            counts: CapturesCounts::decode(body),
            blocks: head.number,
        })
    }
}

/// A text of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockText<'b> {
    pub digest: Digest,
    pub raw_len: u32,
    pub frame: &'b [u8],
}

/// The length of the row of a text: digest, length of the text, length of the frame.
pub(crate) const TEXT_ROW_LEN: usize = 24;

/// Encodes a block of captures: its number in the file, the number of its captures, their records,
/// and the texts that they refer to by number.
///
/// # Errors
/// Errors of the compression.
pub(crate) fn encode_block(
    number: u64,
    captures: u32,
    records: &[u8],
    texts: &[BlockText<'_>],
) -> Result<Vec<u8>> {
    // The rows have the lengths of the frames, so they precede them.
    let mut body = Vec::new();
    for text in texts {
        body.extend_from_slice(&text.digest);
        body.extend_from_slice(&text.raw_len.to_le_bytes());
        body.extend_from_slice(&(text.frame.len() as u32).to_le_bytes());
    }
    texts
        .iter()
        .for_each(|text| body.extend_from_slice(text.frame));
    let texts_len = body.len();
    body.extend_from_slice(&zstd::bulk::compress(records, LEVEL)?);
    let head = BlockHead {
        kind: CAPTURES_BLOCK,
        captures,
        texts: texts.len() as u32,
        texts_len: texts_len as u32,
        frame_len: (body.len() - texts_len) as u32,
        records_len: records.len() as u32,
        number,
        checksum: xxh3_64(&body),
    };
    Ok([head.encode(), body].concat())
}

/// A block of captures as it is in the file: the checksum of its body is not compared yet.
#[derive(Debug)]
pub(crate) struct CapturesBlock {
    pub header: Arc<CapturesHeader>,
    /// The offset in the file, for errors.
    offset: u64,
    head: BlockHead,
    body: Vec<u8>,
}

/// The content of a block.
#[derive(Debug)]
pub(crate) struct BlockContent<'b> {
    /// The texts, in the order of their numbers.
    pub texts: Vec<BlockText<'b>>,
    pub records: Vec<u8>,
}

impl CapturesBlock {
    /// The number of captures.
    pub(crate) fn captures(&self) -> u64 {
        self.head.captures.into()
    }

    /// The memory of the block in bytes.
    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    /// Damage of this block.
    pub(crate) fn damaged(&self, what: &str) -> Error {
        Error::damaged(
            self.offset,
            format!("block {}: {what}", self.head.number),
            true,
        )
    }

    /// # Errors
    /// [`ErrorKind::Damaged`] for a wrong checksum.
    pub(crate) fn verify_checksum(&self) -> Result<()> {
        let is_right = xxh3_64(&self.body) == self.head.checksum;
        if is_right {
            Ok(())
        } else {
            Err(self.damaged("it has another checksum than it says"))
        }
    }

    /// The texts, and the decompressed records. Neither is checked further here.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for a wrong checksum, or for lengths that contradict each other.
    pub(crate) fn content(&self) -> Result<BlockContent<'_>> {
        self.verify_checksum()?;
        let (texts, frame) = self.body.split_at(self.head.texts_len as usize);
        let texts = self
            .texts(texts)
            .ok_or_else(|| self.damaged("the lengths of its texts"))?;
        let len = self.head.records_len as usize;
        let records = zstd::bulk::decompress(frame, len)
            .ok()
            .filter(|records| records.len() == len);
        Ok(BlockContent {
            texts,
            records: records.ok_or_else(|| self.damaged("its compressed records"))?,
        })
    }

    fn texts<'b>(&self, bytes: &'b [u8]) -> Option<Vec<BlockText<'b>>> {
        let rows_len = (self.head.texts as usize).checked_mul(TEXT_ROW_LEN)?;
        let (rows, mut frames) = bytes.split_at_checked(rows_len)?;
        let mut texts = Vec::with_capacity(self.head.texts as usize);
        for row in rows.chunks_exact(TEXT_ROW_LEN) {
            let (digest, lengths) = row.split_first_chunk()?;
            let mut lengths = Fields(lengths);
            let raw_len = lengths.u32();
            let frame_len = lengths.u32();
            let (frame, rest) = frames.split_at_checked(frame_len as usize)?;
            if raw_len as usize > MAX_CONDENSED {
                return None;
            }
            texts.push(BlockText {
                digest: *digest,
                raw_len,
                frame,
            });
            frames = rest;
        }
        frames.is_empty().then_some(texts)
    }
}

/// The bytes of a file, with the offset of the next one.
struct FileBytes<R> {
    input: R,
    offset: u64,
}

/// Bytes that are reserved before they are read: a forged length costs no more.
const MAX_RESERVED: usize = 2 << 20;

impl<R: Read> FileBytes<R> {
    /// The next `len` bytes, which belong to `part` of the file.
    fn read(&mut self, len: usize, part: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len.min(MAX_RESERVED));
        self.input
            .by_ref()
            .take(len as u64)
            .read_to_end(&mut bytes)
            .map_err(Error::from_io)?;
        if bytes.len() < len {
            return Err(Error::damaged(
                self.offset,
                format!("the captures file ends inside {part}"),
                true,
            ));
        }
        self.offset += len as u64;
        Ok(bytes)
    }
}

/// Reads the blocks of a captures file in order.
pub(crate) struct BlockReader<R> {
    bytes: FileBytes<R>,
    pub header: Arc<CapturesHeader>,
    /// Blocks and captures so far.
    blocks: u64,
    captures: u64,
    is_at_end: bool,
}

impl<R: Read> BlockReader<R> {
    /// # Errors
    /// [`ErrorKind::UnknownSource`] for another format or version; a damaged header.
    pub(crate) fn new(input: R) -> Result<Self> {
        let mut bytes = FileBytes { input, offset: 0 };
        let header = Arc::new(CapturesHeader::read(&mut bytes).map_err(Error::final_damage)?);
        Ok(Self {
            bytes,
            header,
            blocks: 0,
            captures: 0,
            is_at_end: false,
        })
    }

    /// The next block; `None` at the end. After an error, the rest of the file cannot be read:
    /// bytes that look like a block there may be those of a text.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for a head with a wrong checksum, for blocks that are missing, and
    /// for a file that ends without its end block, or has bytes after it.
    pub(crate) fn next_block(&mut self) -> Result<Option<CapturesBlock>> {
        if self.is_at_end {
            return Ok(None);
        }
        // Any return from here on ends the file, except that of a whole block.
        self.is_at_end = true;
        let offset = self.bytes.offset;
        let head = self.bytes.read(HEAD_LEN, "the head of a block")?;
        let head = head.first_chunk().and_then(BlockHead::decode);
        let head =
            head.ok_or_else(|| Error::damaged(offset, "the head of a block of captures", true))?;
        if head.number != self.blocks {
            return Err(Error::damaged(
                offset,
                "blocks of captures are missing",
                true,
            ));
        }
        let body = self.bytes.read(head.body_len(), "a block")?;
        let block = CapturesBlock {
            header: Arc::clone(&self.header),
            offset,
            head,
            body,
        };
        if head.kind == CAPTURES_BLOCK {
            self.is_at_end = false;
            self.blocks += 1;
            self.captures += u64::from(head.captures);
            return Ok(Some(block));
        }
        // The end block proves that no block is missing and that nothing was appended.
        block.verify_checksum()?;
        if CapturesCounts::decode(&block.body).captures != self.captures {
            return Err(Error::damaged(
                offset,
                "another number of captures than the end of the file says",
                true,
            ));
        }
        let more = self
            .bytes
            .input
            .by_ref()
            .take(1)
            .read_to_end(&mut Vec::new())
            .map_err(Error::from_io)?;
        if more > 0 {
            return Err(Error::damaged(
                self.bytes.offset,
                "the captures file has bytes after its end",
                true,
            ));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"user-agent: *\ndisallow: /\n";

    fn header() -> CapturesHeader {
        CapturesHeader {
            version: CAPTURES_FORMAT_VERSION,
            tool: "robosieve 0".to_owned(),
            dictionary: b"user-agent".to_vec(),
        }
    }

    /// A file with two blocks of one capture each.
    fn file() -> Vec<u8> {
        let frame = zstd::bulk::compress(TEXT, LEVEL).unwrap();
        let text = BlockText {
            digest: [7; 16],
            raw_len: TEXT.len() as u32,
            frame: &frame,
        };
        let counts = CapturesCounts {
            captures: 2,
            ..CapturesCounts::default()
        };
        [
            header().encode(),
            encode_block(0, 1, b"first record", &[text]).unwrap(),
            encode_block(1, 1, b"second", &[]).unwrap(),
            counts.encode_end(2),
        ]
        .concat()
    }

    /// The records of all blocks.
    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut reader = BlockReader::new(bytes)?;
        assert_eq!(*reader.header, header());
        let mut records = Vec::new();
        while let Some(block) = reader.next_block()? {
            records.push(block.content()?.records);
        }
        assert!(reader.next_block().unwrap().is_none());
        Ok(records)
    }

    /// Changes fields of the head of a block, with right checksums.
    fn forged(bytes: &[u8], at: usize, change: impl FnOnce(&mut BlockHead)) -> Vec<u8> {
        let mut head = BlockHead::decode(bytes[at..].first_chunk().unwrap()).unwrap();
        change(&mut head);
        let mut bytes = bytes.to_vec();
        bytes[at..at + HEAD_LEN].copy_from_slice(&head.encode());
        bytes
    }

    #[test]
    fn blocks_decode_to_what_was_encoded() {
        let bytes = file();
        assert_eq!(
            read(&bytes).unwrap(),
            [b"first record".to_vec(), b"second".to_vec()]
        );
        let mut reader = BlockReader::new(&*bytes).unwrap();
        let block = reader.next_block().unwrap().unwrap();
        let content = block.content().unwrap();
        let [text] = content.texts[..] else {
            panic!("{} texts", content.texts.len())
        };
        assert_eq!((text.digest, text.raw_len), ([7; 16], TEXT.len() as u32));
        assert_eq!(zstd::bulk::decompress(text.frame, 99).unwrap(), TEXT);
        let end = CapturesEnd::decode(&bytes[bytes.len() - END_LEN..]).unwrap();
        assert_eq!(
            (end.blocks, end.counts.captures, end.counts.captured),
            (2, 2, None)
        );
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_an_error() {
        let bytes = file();
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bytes).is_err(), "bit {bit}");
            if bit / 8 >= bytes.len() - END_LEN {
                let end = CapturesEnd::decode(&bytes[bytes.len() - END_LEN..]);
                assert!(end.is_none(), "bit {bit}");
            }
        }
        for len in 0..bytes.len() {
            assert!(read(&bytes[..len]).is_err(), "{len} bytes");
        }
        assert!(read(&[&bytes[..], b"x"].concat()).is_err());
    }

    #[test]
    fn totals_count_the_captures_of_all_blocks() {
        let bytes = file();
        for captures in [0, 1, 3] {
            let counts = CapturesCounts {
                captures,
                ..CapturesCounts::default()
            };
            let blocks = &bytes[..bytes.len() - END_LEN];
            let err = read(&[blocks, &counts.encode_end(2)].concat()).unwrap_err();
            assert!(
                err.to_string().contains("another number of captures"),
                "{captures}: {err}"
            );
        }
    }

    #[test]
    fn blocks_in_another_order_are_refused() {
        let bytes = file();
        let first = header().encode().len();
        let second = bytes.len() - END_LEN - encode_block(1, 1, b"second", &[]).unwrap().len();
        let (head, a, b) = (
            &bytes[..first],
            &bytes[first..second],
            &bytes[second..bytes.len() - END_LEN],
        );
        let end = &bytes[bytes.len() - END_LEN..];
        for parts in [
            &[head, b, a, end][..],
            &[head, a, end],
            &[head, b, end],
            &[head, a, a, b, end],
            &[head, end],
        ] {
            assert!(matches!(
                read(&parts.concat()).unwrap_err().kind(),
                ErrorKind::Damaged {
                    skippable: true,
                    ..
                }
            ));
        }
        assert!(
            read(&[head, a, b].concat())
                .unwrap_err()
                .to_string()
                .contains("ends inside the head of a block")
        );
    }

    #[test]
    fn forged_lengths_are_refused() {
        let bytes = file();
        let at = header().encode().len();
        let changes: [fn(&mut BlockHead); 10] = [
            |head| head.kind = 0,
            |head| head.kind = END_BLOCK,
            |head| head.texts = 2,
            |head| head.texts = u32::MAX,
            |head| head.texts_len = u32::MAX,
            |head| head.texts_len -= 1,
            |head| head.frame_len = u32::MAX,
            |head| head.frame_len = MAX_FRAME_LEN as u32,
            |head| head.records_len = u32::MAX,
            |head| head.records_len -= 1,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let err = read(&forged(&bytes, at, change)).unwrap_err();
            assert!(
                matches!(err.kind(), ErrorKind::Damaged { .. }),
                "{number}: {err}"
            );
        }
    }

    #[test]
    fn forged_headers_are_refused() {
        let mut bytes = file();
        bytes[8] = 3;
        let err = read(&bytes).unwrap_err().to_string();
        assert!(
            err.starts_with(
                "a captures file of format version 3, but this robosieve reads versions 1 to 2"
            ),
            "{err}"
        );
        for at in [12, 16, 20] {
            let mut bytes = file();
            bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert!(
                read(&bytes)
                    .unwrap_err()
                    .to_string()
                    .contains("the lengths in the header")
            );
        }
    }
}
