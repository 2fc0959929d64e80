//! Reads one input, detects its format and returns its entries one by one.

use super::dir::{self, DirectoryReader};
use super::entry::ArchiveEntry;
use super::jsonl::JsonlReader;
use super::meter::{ByteMeter, ReadStats};
use super::warc::WarcReader;
use crate::decode::{Decoder, read_whole, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{FileFormat, WARC_MAGIC, without_mark};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// One input, not yet opened.
pub(crate) enum ArchiveInput<'r> {
    /// A file or directory; `-` is standard input.
    Path(&'r Path),
    /// Any reader, with a name for errors.
    Reader(&'r Path, Box<dyn Read + Send + 'r>),
}

/// A reader that counts its bytes.
struct MeteredReader<'r> {
    inner: Box<dyn Read + Send + 'r>,
    meter: &'r ByteMeter,
}

impl Read for MeteredReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.meter.add(n as u64);
        Ok(n)
    }
}

/// The entries of one input: WARC or JSONL, compressed or not, or a directory.
pub(crate) struct ArchiveReader<'r> {
    /// For errors.
    name: &'r Path,
    format: FormatReader<'r>,
    /// Damaged places in front of the first entry.
    damaged: u64,
}

enum FormatReader<'r> {
    Warc(WarcReader<MeteredReader<'r>>),
    Jsonl(JsonlReader<MeteredReader<'r>>),
    Directory(DirectoryReader<'r>),
    /// Nothing to read, and its bytes.
    Empty(u64),
}

impl<'r> ArchiveReader<'r> {
    /// Opens an input. With `skip_damaged`, damage is counted and skipped.
    ///
    /// # Errors
    /// An input that cannot be opened, is of no known format, or is damaged at its start; all name
    /// the file.
    pub(crate) fn open(input: ArchiveInput<'r>, skip_damaged: bool, meter: &'r ByteMeter) -> Result<Self> {
        let is_standard_input = |path: &Path| path.as_os_str() == "-";
        let name = match input {
            ArchiveInput::Path(path) if is_standard_input(path) => Path::new("standard input"),
            ArchiveInput::Path(name) | ArchiveInput::Reader(name, _) => name,
        };
        let opened = match input {
            ArchiveInput::Path(path) if path.is_dir() && !is_standard_input(path) => {
                DirectoryReader::open(path, meter).map(|reader| (FormatReader::Directory(reader), 0))
            }
            ArchiveInput::Path(path) if is_standard_input(path) => {
                open_stream(MeteredReader { inner: standard_input(), meter }, skip_damaged)
            }
            ArchiveInput::Path(path) => match open_file(path) {
                Ok(inner) => open_stream(MeteredReader { inner, meter }, skip_damaged),
                Err(err) if skip_damaged && err.is_skippable() => Ok((FormatReader::Empty(0), 1)),
                Err(err) => Err(err),
            },
            ArchiveInput::Reader(_, inner) => open_stream(MeteredReader { inner, meter }, skip_damaged),
        };
        let (format, damaged) = opened.map_err(|err| err.at(name))?;
        Ok(Self { name, format, damaged })
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// Failed reads, and damage that is not skipped; all name the file.
    pub(crate) fn next_entry(&mut self) -> Result<Option<ArchiveEntry>> {
        let entry = match &mut self.format {
            FormatReader::Warc(reader) => reader.next_record().map(|record| record.map(ArchiveEntry::Warc)),
            FormatReader::Jsonl(reader) => reader.next_line().map(|line| line.map(ArchiveEntry::Jsonl)),
            FormatReader::Directory(reader) => Ok(reader.next_file().map(ArchiveEntry::File)),
            FormatReader::Empty(_) => Ok(None),
        };
        entry.map_err(|err| err.at(self.name))
    }

    /// The bytes and the damage so far.
    pub(crate) fn stats(&self) -> ReadStats {
        let stats = match &self.format {
            FormatReader::Warc(reader) => reader.stats(),
            FormatReader::Jsonl(reader) => reader.stats(),
            FormatReader::Directory(reader) => reader.stats(),
            FormatReader::Empty(bytes) => ReadStats { bytes: *bytes, damaged: 0 },
        };
        ReadStats { damaged: stats.damaged + self.damaged, ..stats }
    }
}

/// Opens an archive, which must not end before its length at opening.
fn open_file(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let is_empty = metadata.is_file() && metadata.len() == 0;
    // A compressed file has at least a header, so an empty one lost its content.
    match if is_empty { refuse_by_name(path, &[]) } else { None } {
        Some(what) => Err(Error::damaged(0, what, true)),
        None => Ok(read_whole(file)),
    }
}

/// Detects the format of a stream; returns its reader and the damaged places in front of it.
fn open_stream(input: MeteredReader<'_>, skip_damaged: bool) -> Result<(FormatReader<'_>, u64)> {
    let mut decoder = Decoder::new(input)?;
    let mut damaged = 0;
    let format = loop {
        match detect_format(&mut decoder) {
            Ok(format) => break format,
            Err(err) if skip_damaged && err.is_skippable() => {
                damaged += 1;
                if !decoder.resync()? {
                    break ArchiveFormat::Empty;
                }
            }
            Err(err) => return Err(err),
        }
    };
    let reader = match format {
        ArchiveFormat::Warc => FormatReader::Warc(WarcReader::new(decoder, skip_damaged)),
        ArchiveFormat::Jsonl => FormatReader::Jsonl(JsonlReader::new(decoder, skip_damaged)),
        ArchiveFormat::Empty => FormatReader::Empty(decoder.bytes_read()),
    };
    Ok((reader, damaged))
}

/// Replaces each directory of archives by the archives in it.
///
/// # Errors
/// A directory that cannot be read, or that mixes archives and other files.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        let archives = if path.is_dir() { dir::archives(path).map_err(|err| err.at(path))? } else { Vec::new() };
        if archives.is_empty() { all.push(path.clone()) } else { all.extend(archives) }
    }
    Ok(all)
}

/// The format of a stream.
enum ArchiveFormat {
    Warc,
    Jsonl,
    /// White space at most.
    Empty,
}

/// The most white space in front of the first byte that shows the format.
const MAX_BLANK: usize = 1 << 20;

/// Peeks at the stream until its format is clear: five bytes after the white space, or the end. One
/// peek may return fewer bytes, for example at the end of a gzip member.
fn detect_format<R: Read>(decoder: &mut Decoder<R>) -> Result<ArchiveFormat> {
    loop {
        let more = decoder.peeked().len() < MAX_BLANK && decoder.peek_more().map_err(Error::from_io)?;
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
        if !more || start.len() >= WARC_MAGIC.len() {
            return Err(unknown_format(start));
        }
    }
}

fn unknown_format(start: &[u8]) -> Error {
    let what = match FileFormat::of(start) {
        Some(FileFormat::Snapshot) => "a snapshot, not an archive".to_owned(),
        Some(format) => {
            let unpack = format.unpack().map_or_else(String::new, |unpack| format!(": {unpack}"));
            format!("{}, neither WARC nor JSONL{unpack}", format.name())
        }
        None if start.is_empty() => "nothing but white space".to_owned(),
        None => {
            let shown = String::from_utf8_lossy(&start[..start.len().min(24)]).into_owned();
            format!("neither WARC nor JSONL (it begins with {shown:?})")
        }
    };
    let err = Error::from(ErrorKind::UnknownSource { what });
    match FileFormat::of(start) {
        Some(FileFormat::Snapshot) => err.with_remedy(Remedy::UseAsPrevious),
        _ => err,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn format(bytes: &[u8]) -> Result<&'static str> {
        let mut decoder = Decoder::new(bytes).unwrap();
        let format = detect_format(&mut decoder)?;
        let mut read = Vec::new();
        decoder.read_to_end(&mut read).unwrap();
        assert!(
            matches!(format, ArchiveFormat::Empty) || read.trim_ascii_start().len() >= 5,
            "the peeked bytes are read again"
        );
        Ok(match format {
            ArchiveFormat::Warc => "warc",
            ArchiveFormat::Jsonl => "jsonl",
            ArchiveFormat::Empty => "empty",
        })
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn the_format_is_detected_however_the_bytes_arrive() {
        let two_members = |a: &[u8], b: &[u8]| [gzip(a), gzip(b)].concat();
        for (bytes, expected) in [
            (b"WARC/1.0\r\n".to_vec(), "warc"),
            (two_members(b"WA", b"RC/1.0\r\n"), "warc"),
            (two_members(b"", b"WARC/1.0\r\n"), "warc"),
            (b"\n\n\n\n\n\n{\"url\"".to_vec(), "jsonl"),
            (b"\xef\xbb\xbf{\"url\"".to_vec(), "jsonl"),
            (two_members(b"\n", b" {\"url\""), "jsonl"),
            (vec![], "empty"),
            (b" \r\n \n \n".to_vec(), "empty"),
            (gzip(b""), "empty"),
        ] {
            assert_eq!(format(&bytes).ok(), Some(expected), "{bytes:?}");
        }
        for bytes in [&b"WARC"[..], b"<html>", b"x", &[b' '; MAX_BLANK + 1]] {
            assert!(format(bytes).is_err());
        }
    }
}
