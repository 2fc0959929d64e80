//! WACZ files: zip archives of the WARC files of a crawl, with indexes and page lists.
//!
//! The WARC files are in the folder `archive/` (WACZ 1.1.1, "archive"), usually stored as they are, since
//! they are compressed already. Each is read from its place in the zip archive. A job reads all
//! records, so it does not need the indexes and page lists in the same file.
//!
//! A zip archive can name the same bytes many times, or name one file twice, and readers differ in
//! what they then see. Both are refused, so an archive expands at most as gzip does.

use crate::arc::ARC_MAGIC;
use crate::decode::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{FileFormat, WARC_MAGIC};
use bstr::ByteSlice;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipArchive};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The folder of the WARC files.
const FOLDER: &str = "archive/";

/// Endings of WARC and ARC files, which such files should have, and need not.
const WARC_ENDINGS: &[&str] = &[".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"];

/// The most files in that folder. Browsertrix begins a new one after 1 GB.
const MAX_FILES: usize = 100_000;

/// A WARC file in a WACZ.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The path of the WACZ.
    wacz: PathBuf,
    /// The name in the zip archive: `archive/data.warc.gz`.
    name: String,
    /// The stored bytes.
    range: Range<u64>,
    is_deflated: bool,
    /// The length and the CRC-32 of the content.
    length: u64,
    crc: u32,
}

impl Member {
    /// A name for errors: that of the WACZ as if it were a directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.wacz.join(&self.name)
    }

    /// The name of the WARC file, without its folder.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Whether the file is one of WARC or ARC records, by its name or by its first bytes.
    fn has_records(&self) -> io::Result<bool> {
        if ends_in(&self.name, WARC_ENDINGS) {
            return Ok(true);
        }
        let mut decoder = Decoder::new(self.open()?)?;
        // Damage in a file that is not one of records does not matter.
        while decoder.peeked().len() < ARC_MAGIC.len() && decoder.peek_more().unwrap_or(false) {}
        let start = decoder.peeked();
        Ok(start.starts_with(WARC_MAGIC) || start.starts_with(ARC_MAGIC))
    }

    /// A reader of the content. It has the length and the checksum that the zip archive states, or
    /// reading it is an error.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(&self.wacz)?;
        file.seek(SeekFrom::Start(self.range.start))?;
        let stored = file.take(self.range.end - self.range.start);
        let content: Box<dyn Read + Send> = if self.is_deflated {
            Box::new(DeflateDecoder::new(stored))
        } else {
            Box::new(stored)
        };
        Ok(Box::new(CheckedReader {
            content,
            crc: Crc::new(),
            left: self.length,
            expected_crc: self.crc,
        }))
    }
}

/// Reads a content, and compares its length and checksum with those that the zip archive states.
struct CheckedReader {
    content: Box<dyn Read + Send>,
    crc: Crc,
    /// The bytes that are still to come.
    left: u64,
    expected_crc: u32,
}

impl Read for CheckedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match self.content.read(out) {
            Err(err) if err.kind() == io::ErrorKind::InvalidInput => {
                return Err(misread(
                    "not the compressed data that the zip archive states",
                ));
            }
            read => read?,
        };
        self.crc.update(&out[..read]);
        let Some(left) = self.left.checked_sub(read as u64) else {
            return Err(misread("longer than the zip archive states"));
        };
        self.left = left;
        if read == 0 && !out.is_empty() {
            if left > 0 {
                return Err(misread("shorter than the zip archive states"));
            }
            if self.crc.sum() != self.expected_crc {
                return Err(misread(
                    "its checksum is not the one that the zip archive states",
                ));
            }
        }
        Ok(read)
    }
}

/// The error of a content that is not the one that the zip archive states.
fn misread(what: &str) -> io::Error {
    Error::damaged(0, what, false).into_io()
}

/// Whether a file is a WACZ, or has to be one by its name. Then [`members`] reads it, or says why not.
///
/// Cost: nothing for a file named `.wacz`, and for other files than zip archives.
pub(crate) fn is_wacz(path: &Path, start: &[u8]) -> bool {
    match FileFormat::of(start) {
        Some(FileFormat::Zip) if is_named_wacz(path) => true,
        _ => !matches!(members(path, start), Ok(None)),
    }
}

fn is_named_wacz(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("wacz"))
}

/// The WARC files in a zip archive, in the order of its directory; `None` if it is not a WACZ.
///
/// A file named `.wacz` has to be one, and so has an archive with a WARC file in `archive/`.
///
/// Cost: reads the directory at the end of the file, and the header of each file in it.
///
/// # Errors
/// I/O errors. [`ErrorKind::Damaged`] if the file named `.wacz` is cut off, or if WARC files in it
/// overlap or have one name. [`ErrorKind::UnknownSource`] if it has no WARC file, or one that is
/// encrypted or has another compression than deflate.
pub(crate) fn members(path: &Path, start: &[u8]) -> Result<Option<Vec<Member>>> {
    let is_named = is_named_wacz(path);
    match FileFormat::of(start) {
        Some(FileFormat::Zip) => {}
        // As a list, it would have noise as lines.
        None | Some(FileFormat::Binary) if is_named => {
            let what = "a WACZ file by its name, which does not begin as a zip archive";
            return Err(Error::damaged(0, what, false).at(path));
        }
        _ => return Ok(None),
    }
    let found = read_directory(path).and_then(|directory| directory.check(is_named));
    match found {
        Err(_) if !is_named => Ok(None),
        found => found.map_err(|err| err.at(path)),
    }
}

/// What the directory of a zip archive says of WARC files.
#[derive(Default)]
struct Directory {
    members: Vec<Member>,
    /// The number of files in the folder of WARC files.
    file_count: usize,
    /// The reason why a WARC file cannot be read.
    unreadable: Option<String>,
    /// Whether it has other WACZ files.
    is_collection: bool,
}

impl Directory {
    /// The WARC files; `None` if there are none, and the file need not be a WACZ.
    fn check(self, is_named: bool) -> Result<Option<Vec<Member>>> {
        if let Some(what) = self.unreadable {
            return Err(unknown(format!("{what}: unpack it first (unzip)")));
        }
        if self.is_collection {
            return Err(unknown(
                "a collection of WACZ files: unpack it first (unzip)",
            ));
        }
        if self.members.is_empty() {
            return match is_named {
                true => Err(unknown("a WACZ file without WARC files in archive/")),
                false => Ok(None),
            };
        }
        let mut names = HashSet::new();
        if let Some(twice) = self
            .members
            .iter()
            .find(|member| !names.insert(&member.name))
        {
            let what = format!("the zip archive has two files {:?}", twice.name);
            return Err(Error::damaged(twice.range.start, what, false));
        }
        let mut ranges: Vec<_> = self.members.iter().map(|member| &member.range).collect();
        ranges.sort_by_key(|range| range.start);
        if let Some(pair) = ranges.windows(2).find(|pair| pair[1].start < pair[0].end) {
            let what = "two files of the zip archive share bytes";
            return Err(Error::damaged(pair[1].start, what, false));
        }
        Ok(Some(self.members))
    }
}

fn unknown(what: impl Into<String>) -> Error {
    ErrorKind::UnknownSource { what: what.into() }.into()
}

/// Reads the directory of a zip archive.
fn read_directory(path: &Path) -> Result<Directory> {
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let archive = ZipArchive::from_file(File::open(path)?, &mut buffer).map_err(zip_error)?;
    let mut directory = Directory::default();
    let mut count: u64 = 0;
    let mut header_buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(zip_error)? {
        count += 1;
        let found = archive.get_entry(entry.wayfinder()).map_err(zip_error)?;
        let header = found.local_header(&mut header_buffer).map_err(zip_error)?;
        // With a damaged name, a WARC file would look like another file, and be skipped.
        if header.file_path().as_ref() != entry.file_path().as_ref() {
            let what = "the directory of the zip archive has another name than the file";
            return Err(Error::damaged(entry.local_header_offset(), what, false));
        }
        let name = entry.file_path().as_ref().to_str_lossy().into_owned();
        directory.is_collection |= ends_in(&name, &[".wacz"]);
        if !name.starts_with(FOLDER) || entry.is_dir() {
            continue;
        }
        let method = entry.compression_method();
        let is_readable = [CompressionMethod::STORE, CompressionMethod::DEFLATE].contains(&method);
        if entry.flags().is_encrypted() || !is_readable {
            let what =
                format!("a zip archive whose {name} is encrypted, or not compressed by deflate");
            directory.unreadable.get_or_insert(what);
            continue;
        }
        directory.file_count += 1;
        if directory.file_count > MAX_FILES {
            let what = format!("the zip archive has more than {MAX_FILES} files in {FOLDER}");
            return Err(Error::damaged(0, what, false));
        }
        let (start, end) = found.compressed_data_range();
        let member = Member {
            wacz: path.to_owned(),
            name,
            range: start..end,
            is_deflated: method == CompressionMethod::DEFLATE,
            length: entry.uncompressed_size_hint(),
            crc: entry.crc32(),
        };
        if member.has_records()? {
            directory.members.push(member);
        }
    }
    // Without zip64, the number is stated in 16 bits.
    if count as u16 != archive.entries_hint() as u16 {
        let what = "the directory of the zip archive has another number of files than it states";
        return Err(Error::damaged(archive.directory_offset(), what, false));
    }
    Ok(directory)
}

fn ends_in(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

fn zip_error(err: rawzip::Error) -> Error {
    match err.into_kind() {
        rawzip::ErrorKind::IO(err) => Error::from_io(err),
        rawzip::ErrorKind::MissingEndOfCentralDirectory => {
            let what = "the file ends before the directory of the zip archive; fetch it again";
            Error::damaged(0, what, false)
        }
        other => Error::damaged(
            0,
            format!("the directory of the zip archive: {other}"),
            false,
        ),
    }
}
