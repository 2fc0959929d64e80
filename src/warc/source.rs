//! WARC files as a source of the ordered pipeline.
//!
//! A file of gzip members is cut where a member probably begins, and is not inflated here. All
//! other files (plain, zstd, one gzip member for everything, ARC) are decoded and cut into records
//! in order.

use crate::arc::ArcReader;
use crate::container::source::Source;
use crate::decode::{Decoder, GZIP_MEMBER, MemberStream};
use crate::error::{Error, Result};
use crate::file_format::{FileFormat, WARC_MAGIC};
use crate::pipeline::progress::{Progress, ProgressMeter, ReportedBytes};
use crate::pipeline::source::BlockSource;
use crate::wacz;
use crate::warc::block::{BlockContent, RecordPlaces, StoredRecord, WarcBlock};
use crate::warc::input::{RecordSyntax, syntax_of};
use crate::warc::record_parser::{ParseStep, RecordParser};
use memchr::memmem;
use std::io::{self, BufRead, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The wanted size of a block. Members of pages have some 20 KiB.
const BLOCK_SIZE: usize = 512 << 10;

/// The size of a block in which no member begins.
const MAX_BLOCK: usize = 4 << 20;

/// The longest text of a record that is held.
const MAX_HELD: usize = 4 << 20;

/// The bytes of a gzip file that show whether each member holds one record.
const PROBE: usize = 1 << 20;

/// A WARC or ARC file, by itself or in a WACZ.
pub(super) struct WarcFile {
    source: Source,
    places: RecordPlaces,
}

impl WarcFile {
    /// A file whose first bytes are read.
    pub(super) fn new(source: Source) -> Self {
        Self::with_places(source, RecordPlaces::File)
    }

    /// A file in a WACZ.
    ///
    /// # Errors
    /// Those of reading its first bytes.
    pub(super) fn of_member(member: wacz::Member) -> Result<Self> {
        let name = Arc::from(member.file_name());
        let mut source = Source::of_part(member.path(), move || member.open());
        source.recognize(syntax_of)?;
        Ok(Self::with_places(source, RecordPlaces::Member(name)))
    }

    /// A file whose records are at `places`, unless they are converted.
    fn with_places(source: Source, places: RecordPlaces) -> Self {
        let places = match syntax_of(&source, true) {
            Some(Some(RecordSyntax::Arc)) => RecordPlaces::Converted,
            _ => places,
        };
        Self { source, places }
    }

    /// Whether records are gzip members that are copied. Those of an ARC file are converted.
    pub(super) fn has_members(&self) -> bool {
        FileFormat::of(&self.source.start) == Some(FileFormat::Gzip) && !self.is_arc()
    }

    fn is_arc(&self) -> bool {
        matches!(self.places, RecordPlaces::Converted)
    }
}

/// Reads WARC files block by block, and reports progress.
pub(super) struct WarcSource<'r> {
    meter: ProgressMeter<'r>,
}

/// An open file.
pub(super) struct WarcReader {
    path: Arc<Path>,
    places: RecordPlaces,
    form: ReaderForm,
    reported: ReportedBytes,
}

enum ReaderForm {
    Members(Box<MemberReader>),
    Text(Box<TextReader>),
}

impl<'r> WarcSource<'r> {
    pub(super) fn new(progress: &'r (dyn Fn(Progress) + Sync)) -> Self {
        Self {
            meter: ProgressMeter::new(progress),
        }
    }
}

impl WarcReader {
    fn bytes_read(&self) -> u64 {
        match &self.form {
            ReaderForm::Members(members) => members.base,
            ReaderForm::Text(text) => match &text.stored {
                Some(stored) => stored.load(Ordering::Relaxed),
                None => text.decoder.bytes_read(),
            },
        }
    }
}

impl BlockSource for WarcSource<'_> {
    type Input = WarcFile;
    type Reader = WarcReader;
    type Block = WarcBlock;

    fn open(&self, file: WarcFile) -> Result<WarcReader> {
        let path: Arc<Path> = Arc::from(&*file.source.path);
        let has_members = file.has_members();
        let is_arc = file.is_arc();
        let reader = file.source.into_reader()?;
        let form = match is_arc {
            true => open_arc(reader),
            false => open(reader, has_members),
        };
        Ok(WarcReader {
            form: form.map_err(|err| Error::io(&path, err))?,
            places: file.places,
            path,
            reported: ReportedBytes::default(),
        })
    }

    fn read(
        &self,
        reader: &mut WarcReader,
        block: &mut WarcBlock,
        _grow: &dyn Fn(usize),
    ) -> Result<bool> {
        block.reset(&reader.path, BlockContent::Texts);
        block.places = reader.places.clone();
        let read = match &mut reader.form {
            ReaderForm::Members(members) => members.next(block).map_err(Error::from_io),
            ReaderForm::Text(text) => text.next(block),
        };
        let has_block = read.map_err(|err| err.final_damage().at(&reader.path))?;
        let bytes_read = reader.bytes_read();
        self.meter.advance(&mut reader.reported, bytes_read);
        Ok(has_block)
    }

    fn is_slow(&self, reader: &WarcReader) -> bool {
        matches!(
            &reader.form,
            ReaderForm::Text(text) if text.decoder.is_compressed() || text.stored.is_some()
        )
    }

    fn bytes_held(&self, block: &WarcBlock) -> usize {
        block.bytes_held()
    }
}

fn open(mut reader: Box<dyn Read + Send>, is_gzip: bool) -> io::Result<ReaderForm> {
    let mut start = Vec::new();
    if is_gzip {
        reader.by_ref().take(PROBE as u64).read_to_end(&mut start)?;
        if !has_shared_member(&start) {
            return Ok(ReaderForm::Members(Box::new(MemberReader::new(
                reader, start,
            ))));
        }
    }
    let decoder = Decoder::new(Box::new(Cursor::new(start).chain(reader)) as Box<dyn Read + Send>)?;
    Ok(ReaderForm::Text(Box::new(TextReader::new(decoder, None))))
}

/// Opens an ARC file, whose records are read as WARC text.
fn open_arc(reader: Box<dyn Read + Send>) -> io::Result<ReaderForm> {
    let stored = Arc::default();
    let counted = CountedReader {
        inner: reader,
        bytes: Arc::clone(&stored),
    };
    let converted = Box::new(ArcReader::new(Decoder::new(counted)?)) as Box<dyn Read + Send>;
    let reader = TextReader::new(Decoder::new(converted)?, Some(stored));
    Ok(ReaderForm::Text(Box::new(reader)))
}

/// Counts the bytes that are read, for progress.
struct CountedReader {
    inner: Box<dyn Read + Send>,
    bytes: Arc<AtomicU64>,
}

impl Read for CountedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Whether the first member holds a second record. Such a file was compressed as a whole. Damage
/// shows later.
fn has_shared_member(mut bytes: &[u8]) -> bool {
    let (mut stream, mut parser, mut out) =
        (MemberStream::new(), RecordParser::default(), [0; 4096]);
    while let Ok(fed) = stream.feed(bytes, &mut out) {
        bytes = &bytes[fed.used..];
        let mut text = &out[..fed.inflated];
        while !text.is_empty() {
            match parser.feed(text) {
                Ok((_, ParseStep::Next)) => return true,
                Ok((used, _)) => text = &text[used..],
                Err(_) => return false,
            }
        }
        if stream.is_done() || fed.used == 0 && fed.inflated == 0 {
            return false;
        }
    }
    false
}

/// Cuts a file where a gzip member probably begins.
struct MemberReader {
    input: Box<dyn Read + Send>,
    /// The bytes after the last cut, and the offset of the first.
    carry: Vec<u8>,
    base: u64,
    /// Whether a member probably begins at the last cut.
    is_start: bool,
    has_ended: bool,
    magic: memmem::FinderRev<'static>,
    stream: MemberStream,
}

impl MemberReader {
    fn new(input: Box<dyn Read + Send>, start: Vec<u8>) -> Self {
        Self {
            input,
            carry: start,
            base: 0,
            is_start: true,
            has_ended: false,
            magic: memmem::FinderRev::new(GZIP_MEMBER),
            stream: MemberStream::new(),
        }
    }

    fn next(&mut self, block: &mut WarcBlock) -> io::Result<bool> {
        std::mem::swap(&mut block.data, &mut self.carry);
        let mut wanted = BLOCK_SIZE;
        let (cut, is_start) = loop {
            if !self.has_ended && block.data.len() < wanted {
                let missing = (wanted - block.data.len()) as u64;
                self.has_ended = (self
                    .input
                    .by_ref()
                    .take(missing)
                    .read_to_end(&mut block.data)? as u64)
                    < missing;
            }
            if self.has_ended && block.data.len() <= wanted {
                break (block.data.len(), false);
            }
            // A member without another start after it is longer than the block, so read more, up to
            // a bound. A block at that bound ends inside a member.
            let searched = block.data.len().min(wanted);
            match self.last_start(&block.data, searched) {
                Some(start) => break (start, true),
                None if wanted >= MAX_BLOCK => break (searched, false),
                None => wanted += BLOCK_SIZE,
            }
        };
        self.carry.clear();
        self.carry.extend_from_slice(&block.data[cut..]);
        block.data.truncate(cut);
        block.base = self.base;
        block.stop = 0;
        block.content = BlockContent::Members {
            is_start: std::mem::replace(&mut self.is_start, is_start),
        };
        self.base += cut as u64;
        Ok(cut > 0)
    }

    /// The last offset but the first where a member with a WARC record probably begins, among the
    /// first `searched` bytes.
    fn last_start(&mut self, data: &[u8], searched: usize) -> Option<usize> {
        const MAX_TRIES: usize = 64;
        let mut end = searched;
        for _ in 0..MAX_TRIES {
            end = self.magic.rfind(&data[..end]).filter(|at| *at > 0)?;
            if self.begins_record(&data[end..]) {
                return Some(end);
            }
        }
        None
    }

    fn begins_record(&mut self, bytes: &[u8]) -> bool {
        self.stream.reset();
        let mut text = [0; WARC_MAGIC.len()];
        let mut len = 0;
        let mut at = 0;
        while len < text.len() {
            match self.stream.feed(&bytes[at..], &mut text[len..]) {
                Ok(fed) if fed.used > 0 || fed.inflated > 0 => {
                    at += fed.used;
                    len += fed.inflated;
                }
                _ => return false,
            }
        }
        text == *WARC_MAGIC
    }
}

/// Cuts decoded text into records.
struct TextReader {
    decoder: Decoder<Box<dyn Read + Send>>,
    /// The bytes read of the file, if the text is converted.
    stored: Option<Arc<AtomicU64>>,
    parser: RecordParser,
    /// The start of a record that is longer than a block.
    carry: Vec<u8>,
    /// The offset of the current record after decompression.
    offset: u64,
    state: TextState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextState {
    Records,
    /// Inside a record that is passed on in parts.
    LongRecord,
    Ended,
}

impl TextReader {
    fn new(decoder: Decoder<Box<dyn Read + Send>>, stored: Option<Arc<AtomicU64>>) -> Self {
        Self {
            decoder,
            stored,
            parser: RecordParser::default(),
            carry: Vec::new(),
            offset: 0,
            state: TextState::Records,
        }
    }

    fn next(&mut self, block: &mut WarcBlock) -> Result<bool> {
        std::mem::swap(&mut block.texts, &mut self.carry);
        self.carry.clear();
        match self.state {
            TextState::Records => self.next_records(block),
            TextState::LongRecord => self.next_part(block),
            TextState::Ended => Ok(false),
        }
    }

    /// Reads whole records, or the start of a long one.
    fn next_records(&mut self, block: &mut WarcBlock) -> Result<bool> {
        let mut start = 0;
        loop {
            match self.feed(block)? {
                None => {
                    if self.end()? {
                        self.push(block, start);
                    }
                    return Ok(!block.records.is_empty());
                }
                Some(ParseStep::Next) => {
                    self.push(block, start);
                    start = block.texts.len();
                    if start >= BLOCK_SIZE {
                        return Ok(true);
                    }
                }
                Some(_) => {}
            }
            if block.texts.len() - start <= MAX_HELD || self.parser.head().is_none() {
                continue;
            }
            // A record that is too long to be held gets a block of its own.
            if start > 0 {
                self.carry.extend_from_slice(&block.texts[start..]);
                block.texts.truncate(start);
            } else {
                block.content = BlockContent::LongText;
                block.push(&self.parser, StoredRecord::Text(0..0), self.offset, 0);
                self.state = TextState::LongRecord;
            }
            return Ok(true);
        }
    }

    /// Reads the next part of a long record.
    fn next_part(&mut self, block: &mut WarcBlock) -> Result<bool> {
        let mut is_last = false;
        while block.texts.len() < BLOCK_SIZE && !is_last {
            match self.feed(block)? {
                None => is_last = self.end()?,
                Some(ParseStep::Next) => {
                    self.state = TextState::Records;
                    self.next_record();
                    is_last = true;
                }
                Some(_) => {}
            }
        }
        block.content = BlockContent::LongTextRest { is_last };
        Ok(true)
    }

    /// Reads and parses more text; `None` at the end of the input.
    fn feed(&mut self, block: &mut WarcBlock) -> Result<Option<ParseStep>> {
        let text = self.decoder.fill_buf().map_err(Error::from_io)?;
        if text.is_empty() {
            return Ok(None);
        }
        let (used, step) = self
            .parser
            .feed(text)
            .map_err(|what| Error::damaged(self.offset, what, false))?;
        match step {
            ParseStep::Blank => self.offset += used as u64,
            _ => block.texts.extend_from_slice(&text[..used]),
        }
        self.decoder.consume(used);
        Ok(Some(step))
    }

    /// Ends the input: whether it ends with a record.
    fn end(&mut self) -> Result<bool> {
        self.state = TextState::Ended;
        self.parser
            .finish()
            .map_err(|what| Error::damaged(self.offset, format!("the file {what}"), false))
    }

    /// Adds the record that ends here.
    fn push(&mut self, block: &mut WarcBlock, start: usize) {
        let stored = StoredRecord::Text(start..block.texts.len());
        block.push(&self.parser, stored, self.offset, self.parser.len());
        self.next_record();
    }

    fn next_record(&mut self) {
        self.offset += self.parser.len();
        self.parser.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;

    #[test]
    fn files_compressed_as_a_whole_are_recognised() {
        let record = b"WARC/1.0\r\nContent-Length: 2\r\n\r\nab\r\n\r\n".as_slice();
        let two = [record, record].concat();
        for (bytes, expected) in [
            (gzip(record), false),
            ([gzip(record), gzip(record)].concat(), false),
            (gzip(&two), true),
            ([gzip(&two), gzip(record)].concat(), true),
            (gzip(&record[..20]), false),
            (gzip(b"WARC/1.0\r\n\r\n"), false),
            (gzip(&two)[..20].to_vec(), false),
        ] {
            assert_eq!(
                has_shared_member(&bytes),
                expected,
                "{}",
                bytes.escape_ascii()
            );
        }
    }
}
