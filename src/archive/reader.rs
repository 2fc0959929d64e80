//! Reads one input, detects its format and returns its entries one by one.

use super::capture::EntryContent;
use super::captures_file::{BlockReader, CapturesBlock};
use super::dir::{self, DirectoryReader, RobotsFile};
use super::jsonl::{JsonlLine, JsonlReader};
use super::read_context::{MeteredReader, ReadContext};
use super::warc::{PlainFile, WarcReader, WarcRecord};
use crate::atomic::is_standard_stream;
use crate::decode::{Decoder, read_whole, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{CAPTURES_MAGIC, FileFormat, WARC_MAGIC, without_mark};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// One input, not yet opened.
pub(crate) enum ArchiveInput<'r> {
    /// A file or directory; `-` is standard input.
    Path(&'r Path),
    /// Any reader, with a name for errors.
    Reader(&'r Path, Box<dyn Read + Send + 'r>),
}

/// The entries of one input: WARC, JSONL or captures, compressed or not, or a directory.
pub(crate) struct ArchiveReader<'r> {
    /// For errors.
    name: &'r Path,
    format: FormatReader<'r>,
}

enum FormatReader<'r> {
    Warc(WarcReader<'r>),
    Jsonl(JsonlReader<'r>),
    Captures(BlockReader<Decoder<MeteredReader<'r>>>, &'r ReadContext),
    Directory(DirectoryReader<'r>),
    Empty,
}

/// One entry of an archive: cheap to cut out on the reader's thread, parsed later on another.
#[derive(Debug)]
pub(crate) enum ArchiveEntry {
    Warc(WarcRecord),
    Jsonl(JsonlLine),
    Captures(CapturesBlock),
    File(RobotsFile),
}

/// The weight of a file that is not read yet.
const FILE_WEIGHT: usize = 4096;

impl ArchiveEntry {
    /// # Errors
    /// [`ErrorKind::Damaged`] (skippable) for a line that is not a JSON object of the documented
    /// form; I/O errors of a file.
    pub(crate) fn parse(self) -> Result<EntryContent> {
        match self {
            Self::Warc(record) => Ok(EntryContent::Captures(
                record.capture().into_iter().collect(),
            )),
            Self::Jsonl(line) => line
                .capture()
                .map(|capture| EntryContent::Captures(vec![capture])),
            Self::Captures(block) => Ok(EntryContent::Block(block)),
            Self::File(file) => file.parse(),
        }
    }

    /// Its memory in bytes, which bounds the queue between readers and parsers.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Warc(record) => record.bytes.len(),
            Self::Jsonl(line) => line.text.len(),
            Self::Captures(block) => block.len(),
            Self::File(_) => FILE_WEIGHT,
        }
    }
}

impl<'r> ArchiveReader<'r> {
    /// # Errors
    /// An input that cannot be opened, has no known format, or is damaged at its start; all name
    /// the file.
    pub(crate) fn open(input: ArchiveInput<'r>, context: &'r ReadContext) -> Result<Self> {
        let (name, opened) = match input {
            ArchiveInput::Path(path) if is_standard_stream(path) => (
                Path::new("standard input"),
                open_stream(standard_input(), context, None),
            ),
            ArchiveInput::Path(path) if path.is_dir() => (
                path,
                DirectoryReader::open(path, context).map(FormatReader::Directory),
            ),
            ArchiveInput::Path(path) => (path, open_file(path, context)),
            ArchiveInput::Reader(name, inner) => (name, open_stream(inner, context, None)),
        };
        Ok(Self {
            name,
            format: opened.map_err(|err| err.at(name))?,
        })
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// Failed reads, and damage that is not skipped; all name the file.
    pub(crate) fn next_entry(&mut self) -> Result<Option<ArchiveEntry>> {
        let entry = match &mut self.format {
            FormatReader::Warc(reader) => reader
                .next_record()
                .map(|record| record.map(ArchiveEntry::Warc)),
            FormatReader::Jsonl(reader) => {
                reader.next_line().map(|line| line.map(ArchiveEntry::Jsonl))
            }
            FormatReader::Captures(reader, context) => match reader.next_block() {
                Ok(block) => Ok(block.map(ArchiveEntry::Captures)),
                Err(err) => context.skip_damage(err).map(|()| None),
            },
            FormatReader::Directory(reader) => Ok(reader.next_file().map(ArchiveEntry::File)),
            FormatReader::Empty => Ok(None),
        };
        entry.map_err(|err| err.at(self.name))
    }
}

/// Opens an archive, which must not end before its length at opening.
fn open_file<'r>(path: &Path, context: &'r ReadContext) -> Result<FormatReader<'r>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // A compressed file has at least a header, so an empty one lost its content.
    if metadata.is_file()
        && metadata.len() == 0
        && let Some(what) = refuse_by_name(path, &[])
    {
        context.skip_damage(Error::damaged(0, what, true))?;
        return Ok(FormatReader::Empty);
    }
    // A second handle shares the position.
    let plain = match metadata.is_file() {
        true => file.try_clone().ok().map(PlainFile::new),
        false => None,
    };
    open_stream(read_whole(file), context, plain)
}

/// Detects the format of a stream; with damage before it, after that.
fn open_stream<'r>(
    inner: Box<dyn Read + Send + 'r>,
    context: &'r ReadContext,
    mut plain: Option<PlainFile>,
) -> Result<FormatReader<'r>> {
    let mut decoder = Decoder::new(MeteredReader { inner, context })?;
    // The format shows only in decoded bytes, so a damaged start is skipped first.
    loop {
        match detect_format(&mut decoder) {
            Ok(ArchiveFormat::Warc) => {
                let reader = WarcReader::new(decoder, context, plain.take());
                return Ok(FormatReader::Warc(reader));
            }
            Ok(ArchiveFormat::Jsonl) => {
                return Ok(FormatReader::Jsonl(JsonlReader::new(decoder, context)));
            }
            Ok(ArchiveFormat::Captures) => {
                return BlockReader::new(decoder)
                    .map(|reader| FormatReader::Captures(reader, context));
            }
            Ok(ArchiveFormat::Empty) => return Ok(FormatReader::Empty),
            Err(err) => context.skip_damage(err)?,
        }
        if !decoder.resync()? {
            return Ok(FormatReader::Empty);
        }
    }
}

/// Replaces each directory of archives by the archives in it.
///
/// # Errors
/// A directory that cannot be read, or that mixes archives and other files.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        let archives = if path.is_dir() {
            dir::archives(path).map_err(|err| err.at(path))?
        } else {
            Vec::new()
        };
        if archives.is_empty() {
            all.push(path.clone())
        } else {
            all.extend(archives)
        }
    }
    Ok(all)
}

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArchiveFormat {
    Warc,
    Jsonl,
    Captures,
    /// White space at most.
    Empty,
}

/// The most white space before the first byte that shows the format.
const MAX_BLANK: usize = 1 << 20;

/// Peeks at the stream until its format is clear: eight bytes after the white space, or the end.
/// One peek may return fewer bytes, for example at the end of a gzip member.
fn detect_format<R: Read>(decoder: &mut Decoder<R>) -> Result<ArchiveFormat> {
    let mut wanted = 0;
    loop {
        let more =
            decoder.peeked().len() < MAX_BLANK && decoder.peek_more().map_err(Error::from_io)?;
        // A step may add as little as one byte, so blank text is examined again when it has grown by
        // a part of its length.
        if more && decoder.peeked().len() < wanted {
            continue;
        }
        wanted = decoder.peeked().len() * 5 / 4;
        if decoder.peeked().starts_with(CAPTURES_MAGIC) {
            return Ok(ArchiveFormat::Captures);
        }
        let start = without_mark(decoder.peeked()).trim_ascii_start();
        if start.starts_with(WARC_MAGIC) {
            return Ok(ArchiveFormat::Warc);
        }
        if start.first() == Some(&b'{') {
            return Ok(ArchiveFormat::Jsonl);
        }
        if !more && start.is_empty() && decoder.peeked().len() < MAX_BLANK {
            return Ok(ArchiveFormat::Empty);
        }
        if !more || start.len() >= CAPTURES_MAGIC.len() {
            return Err(unknown_format(start));
        }
    }
}

fn unknown_format(start: &[u8]) -> Error {
    let format = FileFormat::of(start);
    let what = match format {
        Some(FileFormat::Snapshot) => "a snapshot, not an archive".to_owned(),
        Some(format) => {
            let unpack = format
                .unpack()
                .map_or_else(String::new, |unpack| format!(": {unpack}"));
            format!("{}, neither WARC nor JSONL{unpack}", format.name())
        }
        None if start.is_empty() => "nothing but white space".to_owned(),
        None => {
            let shown = String::from_utf8_lossy(&start[..start.len().min(24)]).into_owned();
            format!("neither WARC nor JSONL (it begins with {shown:?})")
        }
    };
    let err = Error::from(ErrorKind::UnknownSource { what });
    if format == Some(FileFormat::Snapshot) {
        err.with_remedy(Remedy::UseAsPrevious)
    } else {
        err
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;

    fn format(bytes: &[u8]) -> Result<ArchiveFormat> {
        let mut decoder = Decoder::new(bytes).unwrap();
        let format = detect_format(&mut decoder)?;
        let mut read = Vec::new();
        decoder.read_to_end(&mut read).unwrap();
        let is_whole = format == ArchiveFormat::Empty || read.trim_ascii_start().len() >= 5;
        assert!(is_whole, "the peeked bytes are read again");
        Ok(format)
    }

    #[test]
    fn the_format_is_detected_however_the_bytes_arrive() {
        use ArchiveFormat::*;
        let two_members = |a: &[u8], b: &[u8]| [gzip(a), gzip(b)].concat();
        for (bytes, expected) in [
            (b"WARC/1.0\r\n".to_vec(), Warc),
            (two_members(b"WA", b"RC/1.0\r\n"), Warc),
            (two_members(b"", b"WARC/1.0\r\n"), Warc),
            (b"\n\n\n\n\n\n{\"url\"".to_vec(), Jsonl),
            (b"\xef\xbb\xbf{\"url\"".to_vec(), Jsonl),
            (two_members(b"\n", b" {\"url\""), Jsonl),
            (b"RSCAPT\x1a\n\x01\0\0\0".to_vec(), Captures),
            (two_members(b"RSCAP", b"T\x1a\n"), Captures),
            (vec![], Empty),
            (b" \r\n \n \n".to_vec(), Empty),
            (gzip(b""), Empty),
        ] {
            assert_eq!(format(&bytes).ok(), Some(expected), "{bytes:?}");
        }
        for bytes in [&b"WARC"[..], b"<html>", b"x", &[b' '; MAX_BLANK + 1]] {
            assert!(format(bytes).is_err());
        }
    }
}
