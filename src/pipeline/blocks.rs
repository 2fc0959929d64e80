//! Input of any size to blocks of whole lines, in bounded memory.

use crate::decode::{Decoder, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{self, FileFormat};
use crate::judge::Verdict;
use crate::pipeline::ranged_file::{Range, RangedFile};
use crate::records::{Extracted, Head, RecordOptions, Records};
use std::fs::File;
use std::io::Read;
use std::ops;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size of a block: large enough to make handing it around cheap, small enough to stay in a core's cache.
const BLOCK_SIZE: usize = 256 << 10;

/// A longer line is passed on in parts and never held whole; it is no URL. Any real URL is far shorter.
const MAX_LINE: usize = 64 << 20;

/// A quoted field of CSV does not go on for longer: a quote that was never closed would take the rest of the list for one field.
const MAX_QUOTED: usize = 1 << 20;

/// A block that had to grow beyond this, for a long line, is given up instead of being used again.
const MAX_KEPT: usize = 16 * BLOCK_SIZE;

/// One list of URLs to read, compressed or not (told by content: gzip, zstd).
pub struct Input {
    path: PathBuf,
    source: Source,
}

enum Source {
    /// A regular file and its length, to be opened when its turn comes: there may be more of them
    /// than a process can hold open.
    File(u64),
    Reader(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Input {
    /// Opens a file; `-` is standard input. A regular file is closed again until its turn comes; what is none, such as a pipe, can be
    /// opened only once and stays open.
    ///
    /// # Errors
    /// What the operating system refuses, naming the file; [`ErrorKind::BadList`] for a file that
    /// is no list of URLs by its magic number (an archive, a snapshot, an image), or not compressed
    /// though its name says so. What only shows after decompression is an error of the run.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Ok(Self::from_reader("standard input", standard_input()));
        }
        if path.is_dir() {
            let what = "a directory where a list of URLs is expected".to_owned();
            return Err(Error::io(path, std::io::Error::new(std::io::ErrorKind::IsADirectory, what)));
        }
        let file = File::open(path).map_err(|err| Error::io(path, err))?;
        let meta = file.metadata().map_err(|err| Error::io(path, err))?;
        if !meta.is_file() {
            return Ok(Self::from_reader(path, file));
        }
        refuse_other_formats(path, file)?;
        Ok(Self { path: path.to_owned(), source: Source::File(meta.len()) })
    }

    /// Reads from anything; `name` is for error messages.
    pub fn from_reader(name: impl AsRef<Path>, reader: impl Read + Send + 'static) -> Self {
        Self { path: name.as_ref().to_owned(), source: Source::Reader(Box::new(reader)) }
    }
}

/// Refuses a file that is no list by its first bytes, before anything is read or written.
fn refuse_other_formats(path: &Path, file: File) -> Result<()> {
    let mut start = Vec::with_capacity(file_format::DETECTION_LEN);
    file.take(file_format::DETECTION_LEN as u64).read_to_end(&mut start).map_err(|err| Error::io(path, err))?;
    let is_compressed = matches!(FileFormat::of(&start), Some(FileFormat::Gzip | FileFormat::Zstd));
    let other_format = || if is_compressed { None } else { FileFormat::not_a_list(&start, false) };
    let why = refuse_by_name(path, &start).or_else(other_format);
    why.map_or(Ok(()), |why| Err(Error::from(ErrorKind::BadList(why)).at(path)))
}

/// Bytes of one input, cut at line ends, and what a worker made of them. Blocks are used again and again, and
/// never cleared: on a sorted list clearing them took a twentieth of the time.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Filled up to `len`; what lies behind is left from before.
    buffer: Vec<u8>,
    len: usize,
    /// Where its lines are, if they were not read yet.
    unread: Option<Range>,
    pub part: Part,
    /// How its records are read; `None`: each line is a URL.
    pub records: Option<Arc<Records>>,
    /// The URLs of the records, if there are any.
    extracted: Extracted,
    /// Where lines are routed.
    pub runs: Vec<Run>,
    /// Which lines are refused, where they are only counted.
    pub refused: Vec<ops::Range<usize>>,
    /// Annotated lines.
    pub annotated: Vec<u8>,
}

impl Block {
    pub(crate) fn data(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Reads lines that were not read yet, and extracts the URLs of records.
    pub(crate) fn fetch(&mut self) -> Result<()> {
        if let Some(range) = self.unread.take() {
            grow(&mut self.buffer, range.len);
            self.len = range.len;
            range.read(&mut self.buffer[..self.len])?;
        }
        if let Some(records) = self.records.as_ref().filter(|_| self.part == Part::Lines) {
            records.extract(&self.buffer[..self.len], &mut self.extracted);
        }
        Ok(())
    }

    /// The URLs of the records and their ends; `None` if each line is a URL.
    pub(crate) fn extracted(&self) -> Option<&Extracted> {
        self.records.is_some().then_some(&self.extracted)
    }
}

/// Neighbouring lines with the same verdict: the verdict, and where in the block the last of them ends.
pub(crate) type Run = (Verdict, usize);

/// What a block holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// Whole lines.
    #[default]
    Lines,
    /// The line that names the columns.
    Header,
    /// The beginning of a line too long to be held.
    LongStart,
    /// More of that line, or its end.
    LongRest,
}

/// Cuts one input into blocks.
pub(crate) struct Blocks {
    path: PathBuf,
    decoder: Decoder<Box<dyn Read + Send>>,
    /// The file that the decoder reads, if it is a list of lines: where that is plain, most blocks are read by those who judge them.
    ranges: Option<RangedFile>,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    records: Option<Arc<Records>>,
    /// How those of the first block are read, if a byte order mark stands before them.
    first_records: Option<Arc<Records>>,
    /// The length of the header that comes first.
    header: usize,
    /// Lines in the blocks so far, where an error would name one.
    lines: u64,
    in_long: bool,
    ended: bool,
}

impl Blocks {
    pub(crate) fn new(input: Input, options: &RecordOptions) -> Result<Self> {
        let (reader, file): (Box<dyn Read + Send>, _) = match input.source {
            Source::Reader(reader) => (reader, None),
            Source::File(len) => {
                let file = RangedFile::open(&input.path, len)?;
                (Box::new(file.clone()), Some(file))
            }
        };
        let mut decoder = Decoder::new(reader).map_err(|err| list_error(err, &input.path))?;
        let head = read_head(&mut decoder, &input.path, options)?;
        Ok(Self {
            path: input.path,
            // Records of more than a line, and lines that are counted, are read in turn.
            ranges: file.filter(|_| head.records.is_none()),
            decoder,
            carry: Vec::new(),
            records: head.records.map(Arc::new),
            first_records: head.marked.map(Arc::new),
            header: head.header,
            lines: 1,
            in_long: false,
            ended: false,
        })
    }

    /// Whether reading takes more than a copy.
    pub(crate) fn are_compressed(&self) -> bool {
        self.decoder.is_compressed()
    }

    /// The input's name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes read from the input so far, before decoding.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.ranges.as_ref().map_or_else(|| self.decoder.bytes_read(), RangedFile::place)
    }

    /// Makes `block` the next one, to be [fetched](Block::fetch); `false` at the end of the input.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<bool> {
        if block.buffer.len() > MAX_KEPT {
            *block = Block::default();
        }
        if let Some(range) = self.range()? {
            block.unread = Some(range);
            (block.part, block.records) = (Part::Lines, None);
            return Ok(true);
        }
        block.len = self.carry.len();
        grow(&mut block.buffer, block.len);
        block.buffer[..block.len].copy_from_slice(&self.carry);
        self.carry.clear();
        block.records = self.first_records.take().or_else(|| self.records.clone());
        if self.header > 0 {
            return self.header(block);
        }
        let mut searched = 0;
        loop {
            self.fill(block)?;
            if let Some(end) = self.block_end(block, searched)? {
                self.carry.extend_from_slice(&block.buffer[end..block.len]);
                block.len = end;
                block.part = if std::mem::take(&mut self.in_long) { Part::LongRest } else { Part::Lines };
                self.count_lines(block);
                return Ok(true);
            }
            if self.ended {
                block.part = if self.in_long { Part::LongRest } else { Part::Lines };
                return Ok(block.len > 0);
            }
            if self.in_long || block.len >= MAX_LINE {
                block.part = if self.in_long { Part::LongRest } else { Part::LongStart };
                self.in_long = true;
                return Ok(true);
            }
            searched = block.len;
        }
    }

    /// The lines of the next block, where they need not be read to be known.
    fn range(&mut self) -> Result<Option<Range>> {
        let can_be_known = !self.in_long && self.decoder.is_in_step();
        let Some(file) = self.ranges.as_ref().filter(|_| can_be_known) else { return Ok(None) };
        let range = file.take(self.carry.len(), BLOCK_SIZE).map_err(|err| list_error(err, &self.path))?;
        if range.is_some() {
            // It is read again, with the rest of its line.
            self.carry.clear();
        }
        Ok(range)
    }

    /// Makes `block` the header alone.
    fn header(&mut self, block: &mut Block) -> Result<bool> {
        let len = std::mem::take(&mut self.header);
        while block.len < len && !self.ended {
            self.fill(block)?;
        }
        let len = len.min(block.len);
        self.carry.extend_from_slice(&block.buffer[len..block.len]);
        block.len = len;
        block.part = Part::Header;
        self.count_lines(block);
        Ok(true)
    }

    /// The end of the last whole record of a block, where any has ended, of which all before `searched` is known to have none.
    fn block_end(&mut self, block: &Block, searched: usize) -> Result<Option<usize>> {
        let unsearched = &block.buffer[searched..block.len];
        match &block.records {
            // A long line ends at its first line end, a block of lines at its last.
            _ if self.in_long => Ok(memchr::memchr(b'\n', unsearched).map(|end| searched + end + 1)),
            None => Ok(memchr::memrchr(b'\n', unsearched).map(|end| searched + end + 1)),
            Some(records) => {
                let (end, quoted) = records.last_end(block.data());
                if quoted && (self.ended || block.len - end > MAX_QUOTED) {
                    return Err(self.open_quote(&block.buffer[..end]));
                }
                Ok(Some(end).filter(|&end| end > 0))
            }
        }
    }

    fn count_lines(&mut self, block: &Block) {
        if self.records.is_some() {
            self.lines += memchr::memchr_iter(b'\n', block.data()).count() as u64;
        }
    }

    /// The error that the record behind `before` has a quote that is never closed.
    fn open_quote(&self, before: &[u8]) -> Error {
        let line = self.lines + memchr::memchr_iter(b'\n', before).count() as u64;
        let what = format!(
            "line {line}: a quote is opened here and not closed within {MAX_QUOTED} bytes; correct it, or read the file without quotes"
        );
        Error::from(ErrorKind::BadList(what)).with_remedy(Remedy::ReadWithoutQuotes).at(&self.path)
    }

    /// Reads up to a block more.
    fn fill(&mut self, block: &mut Block) -> Result<()> {
        let wanted = block.len + BLOCK_SIZE;
        grow(&mut block.buffer, wanted);
        while block.len < wanted {
            match self.decoder.read(&mut block.buffer[block.len..wanted]) {
                Ok(0) => {
                    self.ended = true;
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

/// Reads on until it is known how the records of an input are laid out, and that it is no file of
/// another format.
fn read_head<R: Read>(decoder: &mut Decoder<R>, path: &Path, options: &RecordOptions) -> Result<Head> {
    let mut goes_on = true;
    loop {
        let start = decoder.peeked();
        if start.len() >= file_format::ENOUGH || !goes_on {
            if let Some(why) = FileFormat::not_a_list(start, decoder.is_compressed()) {
                return Err(Error::from(ErrorKind::BadList(why)).at(path));
            }
            if let Some(head) = Head::of(path, start, goes_on, options)? {
                return Ok(head);
            }
        }
        goes_on = decoder.peek_more().map_err(|err| list_error(err, path))?;
    }
}

/// Makes a buffer at least so long. Most are a little longer than a block, to hold what the block before left over.
fn grow(buffer: &mut Vec<u8>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len.max(BLOCK_SIZE + BLOCK_SIZE / 8), 0);
    }
}

/// A damaged list is read no further: lines behind the damage could not be told from what they were.
fn list_error(err: std::io::Error, path: &Path) -> Error {
    Error::from_io(err).final_damage().at(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a text, read as it comes and as a file, which must hold the same; and how many of the file were not read in turn.
    fn blocks(text: Vec<u8>) -> (Vec<(Part, Vec<u8>)>, usize) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, &text).unwrap();
        let (of_file, ranges) = all(Input::open(&file).unwrap());
        let bytes = |blocks: &[(Part, Vec<u8>)]| blocks.iter().flat_map(|(_, data)| data.clone()).collect::<Vec<_>>();
        assert!(bytes(&of_file) == text);
        let (of_reader, none) = all(Input::from_reader("test", std::io::Cursor::new(text.clone())));
        assert!(bytes(&of_reader) == text);
        assert_eq!(none, 0);
        (of_file, ranges)
    }

    fn all(input: Input) -> (Vec<(Part, Vec<u8>)>, usize) {
        let mut blocks = Blocks::new(input, &RecordOptions::default()).unwrap();
        let (mut out, mut ranges) = (Vec::new(), 0);
        let mut block = Block::default();
        while blocks.next(&mut block).unwrap() {
            ranges += usize::from(block.unread.is_some());
            block.fetch().unwrap();
            out.push((block.part, block.data().to_vec()));
        }
        (out, ranges)
    }

    #[test]
    fn blocks_end_at_line_ends_and_lose_nothing() {
        let text: Vec<u8> = (0..500_000).flat_map(|i| format!("line {i}\n").into_bytes()).chain(*b"last").collect();
        let (blocks, ranges) = blocks(text);
        assert!(blocks.len() > 3);
        assert!(ranges + 3 >= blocks.len(), "{ranges} of {}", blocks.len());
        assert!(blocks.iter().rev().skip(1).all(|(part, data)| *part == Part::Lines && data.ends_with(b"\n")));
    }

    #[test]
    fn lines_of_any_length_are_whole() {
        let lengths = [1, 10, 4000, 4096, 5000, BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1, 3 * BLOCK_SIZE];
        for (i, first) in lengths.into_iter().enumerate() {
            let text: Vec<u8> =
                lengths[i..].iter().flat_map(|len| [vec![b'x'; first], vec![b'y'; *len]].join(&b'\n')).collect();
            let (blocks, _) = blocks(text.repeat(4));
            assert!(blocks.iter().rev().skip(1).all(|(part, data)| *part == Part::Lines && data.ends_with(b"\n")));
        }
    }

    #[test]
    fn a_file_that_becomes_shorter_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "http://h.example/\n".repeat(100_000)).unwrap();
        let mut blocks = Blocks::new(Input::open(&file).unwrap(), &RecordOptions::default()).unwrap();
        let mut block = Block::default();
        while block.unread.is_none() {
            assert!(blocks.next(&mut block).unwrap());
        }
        file.as_file().set_len(300_000).unwrap();
        let err = block.fetch().unwrap_err().to_string();
        assert!(err.contains("became shorter") && err.contains(&file.path().display().to_string()), "{err}");
    }

    #[test]
    fn an_endless_line_is_passed_on_in_parts() {
        let mut text = b"a\n".to_vec();
        text.resize(MAX_LINE + 3 * BLOCK_SIZE, b'x');
        text.extend_from_slice(b"\nb\n");
        let (blocks, _) = blocks(text);
        let parts: Vec<Part> = blocks.iter().map(|(part, _)| *part).collect();
        assert_eq!(parts[..3], [Part::Lines, Part::LongStart, Part::LongRest]);
        assert_eq!(blocks.last().unwrap(), &(Part::Lines, b"b\n".to_vec()));
    }
}
