//! WARC files as inputs, and how they differ from lists: by their first decoded bytes.

use crate::decode::{Decoder, MemberStream, read_whole, standard_input};
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{FileFormat, WARC_MAGIC};
use crate::filter::Input;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// The most bytes that are read to recognise a file.
const MAX_START: usize = 256 << 10;

/// The decoded bytes that decide: `WARC/` and a digit.
const DECIDED: usize = WARC_MAGIC.len() + 1;

/// A WARC, WET or WAT file: plain, gzip or zstd. The content decides, not the name.
///
/// ```no_run
/// let archive = robosieve::warc::WarcInput::open("crawl-00000.warc.gz")?;
/// assert!(archive.is_gzip());
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct WarcInput {
    pub(super) path: PathBuf,
    pub(super) source: WarcSourceKind,
    is_gzip: bool,
}

pub(super) enum WarcSourceKind {
    /// A regular file, which is opened when its turn comes.
    File,
    Reader(Box<dyn Read + Send>),
}

impl std::fmt::Debug for WarcInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarcInput")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl WarcInput {
    /// Opens a file; `-` is standard input. A regular file is closed again until its turn comes.
    ///
    /// # Errors
    /// I/O errors, and [`ErrorKind::BadList`] if the file is not WARC. All name the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match ListOrWarc::open(path)? {
            ListOrWarc::Warc(input) => Ok(input),
            ListOrWarc::List(_) => Err(not_warc(path)),
        }
    }

    /// An input that reads from `reader`; `name` appears in error messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_reader(name: impl AsRef<Path>, reader: impl Read + Send + 'static) -> Result<Self> {
        let name = name.as_ref();
        match of_reader(name, Box::new(reader))? {
            ListOrWarc::Warc(input) => Ok(input),
            ListOrWarc::List(_) => Err(not_warc(name)),
        }
    }

    /// Whether the file is compressed with gzip. Then its records are gzip members.
    pub fn is_gzip(&self) -> bool {
        self.is_gzip
    }

    /// Opens the input for reading.
    pub(super) fn into_reader(self) -> Result<Box<dyn Read + Send>> {
        match self.source {
            WarcSourceKind::Reader(reader) => Ok(reader),
            WarcSourceKind::File => Ok(read_whole(
                File::open(&self.path).map_err(|err| Error::io(&self.path, err))?,
            )),
        }
    }
}

fn not_warc(path: &Path) -> Error {
    Error::from(ErrorKind::BadList("not a WARC file".to_owned())).at(path)
}

/// An input whose first bytes decide what it is.
#[derive(Debug)]
pub enum ListOrWarc {
    /// A list of URLs, or a file that [`Filter`](crate::filter::Filter) refuses.
    List(Input),
    /// A WARC file.
    Warc(WarcInput),
}

impl ListOrWarc {
    /// Opens a file; `-` is standard input. Reads the first bytes of it, at most 256 KiB.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return of_reader(Path::new("standard input"), standard_input());
        }
        if path.is_dir() {
            return Input::open(path).map(Self::List);
        }
        let mut file = File::open(path).map_err(|err| Error::io(path, err))?;
        if !file
            .metadata()
            .map_err(|err| Error::io(path, err))?
            .is_file()
        {
            return of_reader(path, Box::new(file));
        }
        let start = read_start(&mut file).map_err(|err| Error::io(path, err))?;
        if !start.is_warc {
            return Input::open(path).map(Self::List);
        }
        Ok(Self::Warc(WarcInput {
            path: path.to_owned(),
            source: WarcSourceKind::File,
            is_gzip: start.is_gzip(),
        }))
    }

    /// Whether a regular file is WARC. A file that cannot be read is not.
    pub fn is_warc(path: impl AsRef<Path>) -> bool {
        let file = File::open(path)
            .ok()
            .filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()));
        file.is_some_and(|mut file| read_start(&mut file).is_ok_and(|start| start.is_warc))
    }
}

fn of_reader(name: &Path, mut reader: Box<dyn Read + Send>) -> Result<ListOrWarc> {
    let start = read_start(&mut reader).map_err(|err| Error::io(name, err))?;
    let (is_warc, is_gzip) = (start.is_warc, start.is_gzip());
    let reader = Cursor::new(start.bytes).chain(reader);
    if !is_warc {
        return Ok(ListOrWarc::List(Input::from_reader(name, reader)));
    }
    let source = WarcSourceKind::Reader(Box::new(reader));
    Ok(ListOrWarc::Warc(WarcInput {
        path: name.to_owned(),
        source,
        is_gzip,
    }))
}

/// The first bytes of an input.
struct FileStart {
    bytes: Vec<u8>,
    is_warc: bool,
}

impl FileStart {
    fn is_gzip(&self) -> bool {
        FileFormat::of(&self.bytes) == Some(FileFormat::Gzip)
    }
}

/// Reads until the format is clear: one read suffices for nearly all files. A pipe is not read
/// further than needed, because its writer may wait for an answer.
fn read_start(reader: &mut dyn Read) -> io::Result<FileStart> {
    let mut bytes = Vec::new();
    let mut step = 4096;
    loop {
        let len = bytes.len();
        bytes.resize(len + step, 0);
        let read = loop {
            match reader.read(&mut bytes[len..]) {
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        bytes.truncate(len + read);
        let is_all = read == 0 || bytes.len() >= MAX_START;
        if let Some(is_warc) = is_warc(&bytes, is_all) {
            return Ok(FileStart { bytes, is_warc });
        }
        step = (2 * step).min(MAX_START);
    }
}

/// Whether a file that begins with `bytes` is WARC; `None` if more bytes have to decide.
fn is_warc(bytes: &[u8], is_all: bool) -> Option<bool> {
    let decoded = match FileFormat::of(bytes) {
        Some(FileFormat::Gzip) => gzip_start(bytes),
        Some(FileFormat::Zstd) => zstd_start(bytes),
        _ => Ok(bytes[..bytes.len().min(DECIDED)].to_vec()),
    };
    // Damage is reported by the reader of lists.
    let Ok(decoded) = decoded else {
        return Some(false);
    };
    let magic = decoded.len().min(WARC_MAGIC.len());
    let may_be = decoded[..magic] == WARC_MAGIC[..magic]
        && decoded.get(magic).is_none_or(u8::is_ascii_digit);
    // The first byte of a compressed file is not enough to recognise it.
    let is_open = decoded.len() < DECIDED && may_be || bytes.len() < 4 && may_be_compressed(bytes);
    (is_all || !is_open).then_some(may_be && decoded.len() >= DECIDED)
}

fn may_be_compressed(bytes: &[u8]) -> bool {
    matches!(bytes.first(), None | Some(0x1f | 0x28 | 0x50..=0x5f))
}

/// The first bytes of the text of gzip members.
fn gzip_start(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let (mut stream, mut out, mut len, mut at) = (MemberStream::new(), [0; DECIDED], 0, 0);
    loop {
        let fed = stream.feed(&bytes[at..], &mut out[len..])?;
        (at, len) = (at + fed.used, len + fed.inflated);
        if stream.is_done() && at < bytes.len() {
            stream.reset();
        } else if len == DECIDED || fed.used == 0 && fed.inflated == 0 {
            return Ok(out[..len].to_vec());
        }
    }
}

/// The first bytes of a zstd stream.
fn zstd_start(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut decoder = Decoder::new(bytes).map_err(|err| err.to_string())?;
    let mut out = Vec::new();
    // The end of `bytes` inside a frame is no damage.
    let _ = decoder.by_ref().take(DECIDED as u64).read_to_end(&mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;

    const WARC: &[u8] = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n";

    /// A reader of one byte at a time.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = buf.len().min(1);
            self.0.read(&mut buf[..n])
        }
    }

    #[test]
    fn the_first_decoded_bytes_decide() {
        let zstd = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
        for (bytes, expected) in [
            (WARC.to_vec(), true),
            (gzip(WARC), true),
            (zstd(WARC), true),
            ([gzip(b""), gzip(WARC)].concat(), true),
            ([gzip(b"WA"), gzip(b"RC/1.1")].concat(), true),
            (b"WARC/".to_vec(), false),
            (b"WARC/x".to_vec(), false),
            (b"https://a.example/\n".to_vec(), false),
            (b"".to_vec(), false),
            (b"\x1f\x8b".to_vec(), false),
            (gzip(b"https://a.example/\n"), false),
            (zstd(b"(https://a.example/\n"), false),
            (b"(a".to_vec(), false),
        ] {
            for start in
                [read_start(&mut &bytes[..]), read_start(&mut Slow(&bytes))].map(Result::unwrap)
            {
                assert_eq!(start.is_warc, expected, "{}", bytes.escape_ascii());
                assert!(bytes.starts_with(&start.bytes));
            }
        }
    }

    #[test]
    fn a_pipe_is_read_no_further_than_needed() {
        let start = read_start(&mut Slow(b"https://a.example/\n")).unwrap();
        assert_eq!(start.bytes, b"h");
        assert_eq!(read_start(&mut Slow(WARC)).unwrap().bytes, b"WARC/1");
    }
}
