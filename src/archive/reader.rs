//! Reads one input, detects its format and returns its entries one by one.

use super::capture::EntryContent;
use super::captures_file::{BlockReader, CapturesBlock};
use super::dir::{self, DirectoryArchives, DirectoryReader, RobotsFile};
use super::jsonl::{JsonlLine, JsonlReader};
use super::read_context::{ArchiveDecoder, MeteredReader, ReadContext, archive_decoder};
use super::warc::{PlainFile, WarcReader, WarcRecord};
use crate::arc::{ARC_MAGIC, ArcReader};
use crate::atomic::is_standard_stream;
use crate::decode::{Decoder, read_whole, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{CAPTURES_MAGIC, ENOUGH, FileFormat, WARC_MAGIC, without_mark};
use crate::records::layout_defect;
use crate::wacz;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

/// One input, not yet opened.
pub(crate) enum ArchiveInput<'r> {
    /// A file or directory; `-` is standard input.
    Path(&'r Path),
    /// Any reader, with a name for errors.
    Reader(&'r Path, Box<dyn Read + Send + 'r>),
}

/// The entries of one input: WARC, ARC, JSONL or captures, compressed or not, a WACZ or a directory.
pub(crate) struct ArchiveReader<'r> {
    /// For errors.
    name: &'r Path,
    format: FormatReader<'r>,
}

enum FormatReader<'r> {
    Warc(WarcReader<'r>),
    Jsonl(JsonlReader<'r>),
    Captures(BlockReader<ArchiveDecoder<'r>>, &'r ReadContext),
    Directory(DirectoryReader<'r>),
    Wacz(WaczReader<'r>),
    Empty,
}

/// The WARC files in a WACZ, one after the other.
struct WaczReader<'r> {
    members: std::vec::IntoIter<wacz::Member>,
    /// The one that is read, and its name for errors.
    current: Option<(PathBuf, Box<FormatReader<'r>>)>,
    context: &'r ReadContext,
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
        self.format.next_entry().map_err(|err| err.at(self.name))
    }
}

impl FormatReader<'_> {
    fn next_entry(&mut self) -> Result<Option<ArchiveEntry>> {
        match self {
            Self::Warc(reader) => reader
                .next_record()
                .map(|record| record.map(ArchiveEntry::Warc)),
            Self::Jsonl(reader) => reader.next_line().map(|line| line.map(ArchiveEntry::Jsonl)),
            Self::Captures(reader, context) => match reader.next_block() {
                Ok(block) => Ok(block.map(ArchiveEntry::Captures)),
                Err(err) => context.skip_damage(err).map(|()| None),
            },
            Self::Directory(reader) => Ok(reader.next_entry().map(ArchiveEntry::File)),
            Self::Wacz(reader) => reader.next_entry(),
            Self::Empty => Ok(None),
        }
    }
}

impl WaczReader<'_> {
    fn next_entry(&mut self) -> Result<Option<ArchiveEntry>> {
        loop {
            if let Some((name, reader)) = &mut self.current
                && let Some(entry) = reader.next_entry().map_err(|err| err.at(name))?
            {
                return Ok(Some(entry));
            }
            let Some(member) = self.members.next() else {
                return Ok(None);
            };
            let name = member.path();
            let content = member.open().map_err(|err| Error::io(&name, err))?;
            let reader = open_stream(content, self.context, None).map_err(|err| err.at(&name))?;
            self.current = Some((name, Box::new(reader)));
        }
    }
}

/// Opens an archive, which must not end before its length at opening.
fn open_file<'r>(path: &Path, context: &'r ReadContext) -> Result<FormatReader<'r>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    // The directory of a zip archive is at its end, so a pipe is not read as one.
    if metadata.is_file()
        && let Some(members) = wacz::members(path, &start_of(&mut file)?)?
    {
        return Ok(FormatReader::Wacz(WaczReader {
            members: members.into_iter(),
            current: None,
            context,
        }));
    }
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

/// The first bytes of a file, which are read again.
fn start_of(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.by_ref().take(ENOUGH as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start)
}

/// Detects the format of a stream; with damage before it, after that.
fn open_stream<'r>(
    inner: Box<dyn Read + Send + 'r>,
    context: &'r ReadContext,
    mut plain: Option<PlainFile>,
) -> Result<FormatReader<'r>> {
    let mut decoder = archive_decoder(MeteredReader { inner, context })?;
    // The format shows only in decoded bytes, so a damaged start is skipped first.
    loop {
        match detect_format(&mut decoder) {
            Ok(ArchiveFormat::Warc) => {
                let reader = WarcReader::new(decoder, context, plain.take());
                return Ok(FormatReader::Warc(reader));
            }
            Ok(ArchiveFormat::Arc) => {
                let converted = archive_decoder(ArcReader::new(decoder))?;
                let reader = WarcReader::new(converted, context, None);
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

/// Replaces each directory of archives by the archives in it. What else is there is left out.
///
/// # Errors
/// A directory that cannot be read, or that mixes archives and robots.txt files.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<DirectoryArchives> {
    let mut all = DirectoryArchives::default();
    for path in paths {
        let found = match path.is_dir() {
            true => dir::archives(path).map_err(|err| err.at(path))?,
            false => DirectoryArchives::default(),
        };
        match found.archives.is_empty() {
            true => all.archives.push(path.clone()),
            false => all.archives.extend(found.archives),
        }
        all.left_out.extend(found.left_out);
    }
    Ok(all)
}

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArchiveFormat {
    Warc,
    Arc,
    Jsonl,
    Captures,
    /// White space at most.
    Empty,
}

/// The most white space before the first byte that shows the format.
const MAX_BLANK: usize = 1 << 20;

/// Peeks at the stream until its format is clear: eleven bytes after the white space, or the end.
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
        if start.starts_with(ARC_MAGIC) {
            return Ok(ArchiveFormat::Arc);
        }
        if start.first() == Some(&b'{') {
            return Ok(ArchiveFormat::Jsonl);
        }
        if !more && start.is_empty() && decoder.peeked().len() < MAX_BLANK {
            return Ok(ArchiveFormat::Empty);
        }
        // The longest of the magic numbers.
        if !more || start.len() >= ARC_MAGIC.len() {
            return Err(unknown_format(start));
        }
    }
}

fn unknown_format(start: &[u8]) -> Error {
    let format = FileFormat::of(start);
    let what = match format {
        Some(FileFormat::Snapshot) => "a snapshot, not an archive".to_owned(),
        Some(format) => {
            let unpack = match format {
                FileFormat::Parquet => {
                    ": write its rows as JSON lines (duckdb -c \"COPY (SELECT url, status, body, \
                     fetched_at FROM 'robots.parquet') TO 'robots.jsonl'\")"
                        .to_owned()
                }
                _ => format
                    .unpack()
                    .map_or_else(String::new, |unpack| format!(": {unpack}")),
            };
            format!("{}, neither WARC nor JSONL{unpack}", format.name())
        }
        None if start.is_empty() => "nothing but white space".to_owned(),
        None => layout_defect(start).unwrap_or_else(|| {
            let shown = String::from_utf8_lossy(&start[..start.len().min(24)]).into_owned();
            format!("neither WARC nor JSONL (it begins with {shown:?})")
        }),
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
            (b"filedesc://x.arc 0.0.0.0 ".to_vec(), Arc),
            (two_members(b"filed", b"esc://x.arc"), Arc),
        ] {
            assert_eq!(format(&bytes).ok(), Some(expected), "{bytes:?}");
        }
        for bytes in [
            &b"WARC"[..],
            b"filedesc:/x.arc",
            b"<html>",
            b"x",
            &[b' '; MAX_BLANK + 1],
        ] {
            assert!(format(bytes).is_err());
        }
    }
}
