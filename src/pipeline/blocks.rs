//! Cuts an input of any size into blocks of whole lines, in bounded memory.
//!
//! Most blocks of a plain file are not read here: the reader only finds where they end, and the
//! worker that judges a block [loads](LineBlock::load) it. Everything else is read in order:
//! compressed lists, pipes, records that may span lines, and very long lines.

use super::destination::Destination;
use super::ranged_file::{FileRange, RangedFile};
use super::source::LARGE_BLOCK;
use super::stats::{FilterStats, TimesFound};
use crate::decode::{Decoder, refuse_by_name};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{self, FileFormat};
use crate::records::{ExtractedUrls, InputHead, RecordFormat, RecordOptions};
use std::io::Read;
use std::ops;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size of a block. Larger blocks leave a core's cache; smaller ones cost more locking per
/// line. No other size gained anything.
const BLOCK_SIZE: usize = 256 << 10;

/// A longer line is not a URL. It is passed on in parts, so memory stays bounded.
const MAX_LINE: usize = 64 << 20;

/// The longest quoted field of CSV. A quote that is never closed would make one field of the rest
/// of the list.
const MAX_QUOTED: usize = 1 << 20;

/// One file of lines to read, plain or compressed (gzip, zstd). The content decides, not the name.
pub(crate) struct LineInput {
    path: PathBuf,
    source: InputSource,
}

enum InputSource {
    /// A regular file and its length. It is opened when its turn comes: there may be more files
    /// than a process can hold open.
    File(u64),
    Reader(Box<dyn Read + Send>),
}

impl std::fmt::Debug for LineInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineInput")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl LineInput {
    /// A regular file, which is opened when its turn comes.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        let meta = std::fs::metadata(path).map_err(|err| Error::io(path, err))?;
        Ok(Self {
            path: path.to_owned(),
            source: InputSource::File(meta.len()),
        })
    }

    /// An input that reads from `reader`; `name` appears in error messages.
    pub(crate) fn from_reader(name: impl AsRef<Path>, reader: impl Read + Send + 'static) -> Self {
        Self {
            path: name.as_ref().to_owned(),
            source: InputSource::Reader(Box::new(reader)),
        }
    }
}

/// Refuses a file whose first bytes, `start`, are not those of a list, before the run writes
/// anything. Problems that show only after decompression are errors of the run.
pub(crate) fn refuse_other_formats(path: &Path, start: &[u8]) -> Result<()> {
    let start = &start[..start.len().min(file_format::DETECTION_LEN)];
    let is_compressed = matches!(
        FileFormat::of(start),
        Some(FileFormat::Gzip | FileFormat::Zstd)
    );
    let defect = refuse_by_name(path, start).or_else(|| {
        if is_compressed {
            None
        } else {
            FileFormat::not_a_list(start, false)
        }
    });
    match defect {
        Some(what) => Err(Error::from(ErrorKind::BadList(what)).at(path)),
        None => Ok(()),
    }
}

/// Whole lines of one input, and the results of judging them.
///
/// Blocks are used again and their buffers are not cleared: clearing took a twentieth of the time
/// on a sorted list.
#[derive(Debug, Default)]
pub(crate) struct LineBlock {
    /// The lines, up to `len`. The rest is left over from earlier blocks.
    buffer: Vec<u8>,
    len: usize,
    /// The range of the lines in the file, if they are not read yet.
    unread: Option<FileRange>,
    pub kind: BlockKind,
    /// The name of the input, for errors; `None` for records that are read otherwise.
    pub path: Option<Arc<Path>>,
    /// The format of the records; `None` if each line is a URL.
    pub format: Option<Arc<RecordFormat>>,
    /// The URLs of the records, if there is a format.
    extracted: ExtractedUrls,
    pub stats: FilterStats,
    /// The lines by destination, for a filter.
    pub runs: Vec<DestinationRun>,
    /// The selected ranges of [`urls`](Self::urls), for a visitor.
    pub selected: Vec<ops::Range<usize>>,
    /// The annotated lines, for annotating.
    pub annotated: Vec<u8>,
}

impl LineBlock {
    pub(crate) fn data(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// The memory of the lines and of the results.
    pub(crate) fn bytes_held(&self) -> usize {
        self.buffer.capacity()
            + self.extracted.bytes_held()
            + self.runs.capacity() * size_of::<DestinationRun>()
            + self.selected.capacity() * size_of::<ops::Range<usize>>()
            + self.annotated.capacity()
    }

    /// Makes this a block of records that are read otherwise: their lines, and their URLs, which
    /// are taken.
    pub(crate) fn set_records(
        &mut self,
        lines: &[u8],
        urls: &mut ExtractedUrls,
        format: &Arc<RecordFormat>,
    ) {
        self.buffer.clear();
        self.buffer.extend_from_slice(lines);
        self.len = lines.len();
        self.unread = None;
        self.kind = BlockKind::Lines;
        std::mem::swap(&mut self.extracted, urls);
        self.format = Some(Arc::clone(format));
    }

    /// Reads the lines if they are not read yet, and extracts the URLs of records.
    pub(crate) fn load(&mut self) -> Result<()> {
        if let Some(range) = self.unread.take() {
            lengthen(&mut self.buffer, range.len);
            self.len = range.len;
            range.read(&mut self.buffer[..self.len])?;
        }
        if let Some(format) = self
            .format
            .as_ref()
            .filter(|_| self.kind == BlockKind::Lines)
        {
            format.extract(&self.buffer[..self.len], &mut self.extracted);
        }
        Ok(())
    }

    /// The counts of the block before its lines are counted.
    pub(crate) fn new_stats(&self) -> FilterStats {
        let times = self.extracted().map(|extracted| {
            TimesFound::of(&extracted.times, extracted.unreadable_time.as_deref())
        });
        FilterStats {
            times: times.unwrap_or_default(),
            ..FilterStats::of_bytes(self.data().len() as u64)
        }
    }

    /// An error about the records of the block, with the name of their input.
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        let err = Error::from(kind);
        match &self.path {
            Some(path) => err.at(path),
            None => err,
        }
    }

    /// The URLs, one per line.
    pub(crate) fn urls(&self) -> &[u8] {
        match self.extracted() {
            Some(extracted) => &extracted.urls,
            None => self.data(),
        }
    }

    /// The URLs of the records and the ends of the records; `None` if each line is a URL.
    pub(crate) fn extracted(&self) -> Option<&ExtractedUrls> {
        self.format.is_some().then_some(&self.extracted)
    }
}

/// Neighbouring lines with the same destination, which all are written or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DestinationRun {
    pub destination: Destination,
    /// Whether an output gets them.
    pub is_written: bool,
    /// The end of the last line in the block.
    pub end: usize,
}

/// The content of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// Whole lines.
    #[default]
    Lines,
    /// The line with the names of the columns.
    Header,
    /// The start of a line longer than [`MAX_LINE`].
    LongLineStart,
    /// The next part of that line.
    LongLineRest,
}

/// Cuts one input into blocks.
pub(crate) struct LineBlockReader {
    path: Arc<Path>,
    decoder: Decoder<Box<dyn Read + Send>>,
    /// The file that the decoder reads, if each line is a URL. Most blocks of a plain file are
    /// ranges of it.
    file: Option<RangedFile>,
    /// The start of a line whose end is not read yet.
    carry: Vec<u8>,
    format: Option<Arc<RecordFormat>>,
    /// The format of the first block, if a byte order mark precedes it.
    first_format: Option<Arc<RecordFormat>>,
    /// The length of the header; 0 if there is none, or once it is read.
    header_len: usize,
    /// The number of the next line, for errors that name one.
    line_number: u64,
    in_long_line: bool,
    has_ended: bool,
}

impl LineBlockReader {
    pub(crate) fn new(input: LineInput, options: &RecordOptions) -> Result<Self> {
        let (reader, file): (Box<dyn Read + Send>, _) = match input.source {
            InputSource::Reader(reader) => (reader, None),
            InputSource::File(len) => {
                let file = RangedFile::open(&input.path, len)?;
                (Box::new(file.clone()), Some(file))
            }
        };
        let mut decoder = Decoder::new(reader).map_err(|err| list_error(err, &input.path))?;
        let head = read_head(&mut decoder, &input.path, options)?;
        Ok(Self {
            path: input.path.into(),
            // Records may span lines, and their errors name a line number, so they are read in
            // order.
            file: file.filter(|_| head.format.is_none()),
            decoder,
            carry: Vec::new(),
            format: head.format.map(Arc::new),
            first_format: head.first_format.map(Arc::new),
            header_len: head.header_len,
            line_number: 1,
            in_long_line: false,
            has_ended: false,
        })
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.decoder.is_compressed()
    }

    /// The input's name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes read from the input so far, before decompression.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.file
            .as_ref()
            .map_or_else(|| self.decoder.bytes_read(), RangedFile::offset)
    }

    /// Makes `block` the next one, which is complete once it is [loaded](LineBlock::load); `false`
    /// at the end of the input. Calls `grow` as [`BlockSource::read`] does.
    ///
    /// [`BlockSource::read`]: super::source::BlockSource::read
    pub(crate) fn next(&mut self, block: &mut LineBlock, grow: &dyn Fn(usize)) -> Result<bool> {
        block.path = Some(Arc::clone(&self.path));
        if let Some(range) = self.next_range()? {
            block.unread = Some(range);
            block.kind = BlockKind::Lines;
            block.format = None;
            return Ok(true);
        }
        // The block starts with the incomplete line at the end of the one before.
        block.len = self.carry.len();
        lengthen(&mut block.buffer, block.len);
        block.buffer[..block.len].copy_from_slice(&self.carry);
        self.carry.clear();
        block.format = self.first_format.take().or_else(|| self.format.clone());
        if self.header_len > 0 {
            return self.next_header(block);
        }
        let mut searched = 0;
        loop {
            if block.len >= LARGE_BLOCK {
                grow(block.len + BLOCK_SIZE);
            }
            self.fill(block)?;
            // Records are searched from the start of the block, because quotes decide which line
            // ends count. A search after each fill would take quadratic time in a long record.
            let is_due = block.len - searched >= searched / 4 || block.len >= MAX_LINE;
            if self.format.is_some() && !is_due && !self.has_ended {
                continue;
            }
            if let Some(end) = self.block_end(block, searched)? {
                self.carry.extend_from_slice(&block.buffer[end..block.len]);
                block.len = end;
                let is_rest = std::mem::take(&mut self.in_long_line);
                block.kind = if is_rest {
                    BlockKind::LongLineRest
                } else {
                    BlockKind::Lines
                };
                self.count_lines(block);
                return Ok(true);
            }
            if self.has_ended {
                block.kind = if self.in_long_line {
                    BlockKind::LongLineRest
                } else {
                    BlockKind::Lines
                };
                return Ok(block.len > 0);
            }
            if self.in_long_line || block.len >= MAX_LINE {
                block.kind = if self.in_long_line {
                    BlockKind::LongLineRest
                } else {
                    BlockKind::LongLineStart
                };
                self.in_long_line = true;
                return Ok(true);
            }
            searched = block.len;
        }
    }

    /// The next block as a range of a plain file, without reading it.
    fn next_range(&mut self) -> Result<Option<FileRange>> {
        let is_in_step = !self.in_long_line && self.decoder.is_in_step();
        let Some(file) = self.file.as_ref().filter(|_| is_in_step) else {
            return Ok(None);
        };
        let range = file
            .take(self.carry.len(), BLOCK_SIZE)
            .map_err(|err| list_error(err, &self.path))?;
        if range.is_some() {
            // The range includes the start of the line that was carried.
            self.carry.clear();
        }
        Ok(range)
    }

    /// Makes `block` the header alone.
    fn next_header(&mut self, block: &mut LineBlock) -> Result<bool> {
        let len = std::mem::take(&mut self.header_len);
        while block.len < len && !self.has_ended {
            self.fill(block)?;
        }
        let len = len.min(block.len);
        self.carry.extend_from_slice(&block.buffer[len..block.len]);
        block.len = len;
        block.kind = BlockKind::Header;
        self.count_lines(block);
        Ok(true)
    }

    /// The end of the last whole record of a block, if there is one. The bytes up to `searched`
    /// hold no end.
    fn block_end(&mut self, block: &LineBlock, searched: usize) -> Result<Option<usize>> {
        let unsearched = &block.buffer[searched..block.len];
        match &block.format {
            // A long line ends at the first line end, a block of lines at the last.
            _ if self.in_long_line => {
                Ok(memchr::memchr(b'\n', unsearched).map(|end| searched + end + 1))
            }
            None => Ok(memchr::memrchr(b'\n', unsearched).map(|end| searched + end + 1)),
            Some(format) => {
                let found = format.whole_records(block.data());
                if let Some(at) = found.escaped_quote {
                    return Err(self.escaped_quote(&block.buffer[..at]));
                }
                let end = found.end;
                if found.in_quotes && (self.has_ended || block.len - end > MAX_QUOTED) {
                    return Err(self.open_quote(&block.buffer[..end]));
                }
                Ok(Some(end).filter(|&end| end > 0))
            }
        }
    }

    fn count_lines(&mut self, block: &LineBlock) {
        if self.format.is_some() {
            self.line_number += count_line_ends(block.data());
        }
    }

    /// The error for a record with a quote that is never closed. `before` are the lines of the
    /// block before it.
    fn open_quote(&self, before: &[u8]) -> Error {
        let line = self.line_number + count_line_ends(before);
        let place = if self.has_ended {
            "before the end of the file".to_owned()
        } else {
            format!("within {MAX_QUOTED} bytes")
        };
        let what = format!(
            "line {line}: a quote is opened here and not closed {place}; correct it, or read the \
             file without quotes"
        );
        Error::from(ErrorKind::BadList(what))
            .with_remedy(Remedy::ReadWithoutQuotes)
            .at(&self.path)
    }

    /// The error for a record with a quote that a backslash escapes: the quote would end the field,
    /// and the rest of the record would move to other columns and lines. `before` are the lines of
    /// the block before it.
    fn escaped_quote(&self, before: &[u8]) -> Error {
        let line = self.line_number + count_line_ends(before);
        let what = format!(
            "line {line}: a backslash escapes a quote in a field; CSV doubles it: write the table \
             again (Spark: .option(\"escape\", \"\\\"\"))"
        );
        Error::from(ErrorKind::BadList(what)).at(&self.path)
    }

    /// Appends up to [`BLOCK_SIZE`] decoded bytes to a block.
    fn fill(&mut self, block: &mut LineBlock) -> Result<()> {
        let wanted = block.len + BLOCK_SIZE;
        lengthen(&mut block.buffer, wanted);
        while block.len < wanted {
            match self.decoder.read(&mut block.buffer[block.len..wanted]) {
                Ok(0) => {
                    self.has_ended = true;
                    break;
                }
                Ok(n) => block.len += n,
                Err(err) if err.kind() == std::io::ErrorKind::Interrupted => {}
                Err(err) => return Err(list_error(err, &self.path)),
            }
        }
        Ok(())
    }
}

fn count_line_ends(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Peeks at an input until its record format is known, and refuses files of other formats.
fn read_head<R: Read>(
    decoder: &mut Decoder<R>,
    path: &Path,
    options: &RecordOptions,
) -> Result<InputHead> {
    let mut has_more = true;
    // A step may add as little as one byte, so the start is examined when it has grown by a part of
    // its length.
    let mut wanted = file_format::ENOUGH;
    loop {
        let start = decoder.peeked();
        if start.len() >= wanted || !has_more {
            wanted = start.len() + start.len() / 4;
            if let Some(reason) = FileFormat::not_a_list(start, decoder.is_compressed()) {
                return Err(Error::from(ErrorKind::BadList(reason)).at(path));
            }
            if let Some(head) = InputHead::of(path, start, has_more, options)? {
                return Ok(head);
            }
        }
        has_more = decoder.peek_more().map_err(|err| list_error(err, path))?;
    }
}

/// Makes a buffer at least this long. An eighth beyond the block size leaves room for an incomplete
/// line.
fn lengthen(buffer: &mut Vec<u8>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len.max(BLOCK_SIZE + BLOCK_SIZE / 8), 0);
    }
}

/// An error that ends the list: after damage the start of the next line is unknown.
fn list_error(err: std::io::Error, path: &Path) -> Error {
    Error::from_io(err).final_damage().at(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a text as a file, and how many of them were ranges. Read from a pipe the text
    /// must be the same.
    fn blocks(text: Vec<u8>) -> (Vec<(BlockKind, Vec<u8>)>, usize) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, &text).unwrap();
        let (from_file, ranges) = all(LineInput::of_file(file.path()).unwrap());
        let bytes = |blocks: &[(BlockKind, Vec<u8>)]| {
            blocks
                .iter()
                .flat_map(|(_, data)| data.clone())
                .collect::<Vec<_>>()
        };
        assert!(bytes(&from_file) == text);
        let (from_reader, none) = all(LineInput::from_reader(
            "test",
            std::io::Cursor::new(text.clone()),
        ));
        assert!(bytes(&from_reader) == text);
        assert_eq!(none, 0);
        (from_file, ranges)
    }

    fn all(input: LineInput) -> (Vec<(BlockKind, Vec<u8>)>, usize) {
        let mut blocks = LineBlockReader::new(input, &RecordOptions::default()).unwrap();
        let (mut out, mut ranges) = (Vec::new(), 0);
        let mut block = LineBlock::default();
        while blocks.next(&mut block, &|_| ()).unwrap() {
            ranges += usize::from(block.unread.is_some());
            block.load().unwrap();
            out.push((block.kind, block.data().to_vec()));
        }
        (out, ranges)
    }

    #[test]
    fn blocks_end_at_line_ends_and_lose_nothing() {
        let text: Vec<u8> = (0..500_000)
            .flat_map(|i| format!("line {i}\n").into_bytes())
            .chain(*b"last")
            .collect();
        let (blocks, ranges) = blocks(text);
        assert!(blocks.len() > 3);
        assert!(ranges + 3 >= blocks.len(), "{ranges} of {}", blocks.len());
        assert!(
            blocks
                .iter()
                .rev()
                .skip(1)
                .all(|(kind, data)| *kind == BlockKind::Lines && data.ends_with(b"\n"))
        );
    }

    #[test]
    fn lines_of_any_length_are_whole() {
        let lengths = [
            1,
            10,
            4000,
            4096,
            5000,
            BLOCK_SIZE - 1,
            BLOCK_SIZE,
            BLOCK_SIZE + 1,
            3 * BLOCK_SIZE,
        ];
        for (i, first) in lengths.into_iter().enumerate() {
            let text: Vec<u8> = lengths[i..]
                .iter()
                .flat_map(|len| [vec![b'x'; first], vec![b'y'; *len]].join(&b'\n'))
                .collect();
            let (blocks, _) = blocks(text.repeat(4));
            assert!(
                blocks
                    .iter()
                    .rev()
                    .skip(1)
                    .all(|(kind, data)| *kind == BlockKind::Lines && data.ends_with(b"\n"))
            );
        }
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "http://h.example/\n".repeat(100_000)).unwrap();
        let mut blocks = LineBlockReader::new(
            LineInput::of_file(file.path()).unwrap(),
            &RecordOptions::default(),
        )
        .unwrap();
        let mut block = LineBlock::default();
        while block.unread.is_none() {
            assert!(blocks.next(&mut block, &|_| ()).unwrap());
        }
        file.as_file().set_len(300_000).unwrap();
        let err = block.load().unwrap_err().to_string();
        assert!(
            err.contains("became shorter") && err.contains(&file.path().display().to_string()),
            "{err}"
        );
    }

    #[test]
    fn an_endless_line_is_split() {
        let mut text = b"a\n".to_vec();
        text.resize(MAX_LINE + 3 * BLOCK_SIZE, b'x');
        text.extend_from_slice(b"\nb\n");
        let (blocks, _) = blocks(text);
        let kinds: Vec<BlockKind> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds[..3],
            [
                BlockKind::Lines,
                BlockKind::LongLineStart,
                BlockKind::LongLineRest
            ]
        );
        assert_eq!(blocks.last().unwrap(), &(BlockKind::Lines, b"b\n".to_vec()));
    }
}
