//! Archives to captures: one reader for each container (WARC, JSONL, a directory), all giving the same thing.

mod dir;
mod http;
mod jsonl;
mod warc;

use crate::decode::{Decoder, Helpers, read_whole, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{FileFormat, WARC_MAGIC, without_mark};
use crate::robots::condense::Delivery;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What fetching one URL gave, as the archive tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capture {
    /// The URL that was asked for, as written.
    pub url: Vec<u8>,
    /// When, in seconds since 1970.
    pub time: Option<i64>,
    /// What came back.
    pub answer: Answer,
    /// A key of a JSON line that looks like the body, where the line has none that is read as one.
    pub unread_key: Option<String>,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An HTTP response.
    Http(Response),
    /// No HTTP response: the cause in a few words.
    Failed(String),
}

impl Default for Answer {
    fn default() -> Self {
        Self::Http(Response::default())
    }
}

/// The parts of an HTTP response that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Response {
    pub status: u16,
    /// The `Location` header, as written.
    pub location: Option<Vec<u8>>,
    /// `max-age` of the `Cache-Control` header, in seconds.
    pub max_age: Option<u32>,
    /// The body after content decoding, at most a little over the 500 KiB that count.
    pub body: Bytes,
    pub delivery: Delivery,
}

/// One entry of an archive, not yet looked into: cheap to cut out, to be opened on another thread.
#[derive(Debug)]
pub(crate) enum Entry {
    Warc(warc::Record),
    Jsonl(jsonl::Line),
    File(dir::RobotsFile),
}

/// What an entry holds.
#[derive(Debug)]
pub(crate) enum Content {
    Captures(Vec<Capture>),
    /// A file in a directory that is no robots.txt: which, and why.
    NotRobots(String),
}

impl Entry {
    /// What it holds.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] (skippable) for a line that is no JSON object of the documented form.
    pub(crate) fn open(self) -> Result<Content> {
        match self {
            Self::Warc(record) => Ok(Content::Captures(record.capture().into_iter().collect())),
            Self::Jsonl(line) => line.capture().map(|capture| Content::Captures(vec![capture])),
            Self::File(file) => file.open(),
        }
    }

    /// How much memory it holds, in bytes; what bounds the queue between reading and parsing.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Warc(record) => record.bytes.len(),
            Self::Jsonl(line) => line.text.len(),
            Self::File(_) => 4096,
        }
    }
}

/// What reading one input came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadStats {
    /// Bytes of the input as it lies on disk.
    pub bytes: u64,
    /// Damaged places that were skipped.
    pub damaged: u64,
}

/// Receives the entries of an archive; `false` ends the reading.
pub(crate) type Sink<'s> = dyn FnMut(Entry) -> bool + 's;

/// One input, not yet opened.
pub(crate) enum Input<'r> {
    /// A file or directory; `-` is standard input.
    Path(&'r Path),
    /// Whatever reads, with a name for errors.
    Reader(&'r Path, Box<dyn Read + Send + 'r>),
}

/// Counts the bytes that are read of all inputs, as they are on disk.
#[derive(Debug, Default)]
pub(crate) struct Meter(AtomicU64);

impl Meter {
    /// The bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A reader with a meter.
struct Metered<'m, R> {
    inner: R,
    meter: &'m Meter,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.meter.add(n as u64);
        Ok(n)
    }
}

/// Reads every entry of `input`: WARC or JSONL, compressed or not, or a directory. `helpers` may be asked to inflate what lies ahead.
///
/// # Errors
/// What cannot be opened or read, is of no known form, or is damaged (unless `skip_damaged`), naming the file.
pub(crate) fn read(
    input: Input<'_>,
    skip_damaged: bool,
    helpers: Box<dyn Helpers>,
    meter: &Meter,
    sink: &mut Sink<'_>,
) -> Result<ReadStats> {
    let metered = |input| Metered { inner: input, meter };
    let name = match input {
        Input::Path(path) if path.as_os_str() == "-" => Path::new("standard input"),
        Input::Path(name) | Input::Reader(name, _) => name,
    };
    let read = match input {
        Input::Reader(_, reader) => read_stream(metered(reader), skip_damaged, helpers, sink),
        Input::Path(path) if path.as_os_str() == "-" => {
            read_stream(metered(standard_input()), skip_damaged, helpers, sink)
        }
        Input::Path(path) if path.is_dir() => dir::read(path, meter, sink),
        Input::Path(path) => match open_file(path) {
            Ok(file) => read_stream(metered(file), skip_damaged, helpers, sink),
            Err(err) if skip_damaged && err.is_skippable() => Ok(ReadStats { bytes: 0, damaged: 1 }),
            Err(err) => Err(err),
        },
    };
    read.map_err(|err| err.at(name))
}

/// Opens an archive, which must not end before its length at opening.
fn open_file(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let is_empty = metadata.is_file() && metadata.len() == 0;
    // A compressed file is never empty, whatever it holds: what was to be written to it is lost.
    match if is_empty { refuse_by_name(path, &[]) } else { None } {
        Some(what) => Err(Error::damaged(0, what, true)),
        None => Ok(read_whole(file)),
    }
}

fn read_stream(
    input: impl Read,
    skip_damaged: bool,
    helpers: Box<dyn Helpers>,
    sink: &mut Sink<'_>,
) -> Result<ReadStats> {
    let mut decoder = Decoder::new(input)?;
    decoder.help(helpers);
    let mut damaged = 0;
    let form = loop {
        match tell_form(&mut decoder) {
            Ok(form) => break form,
            Err(err) if skip_damaged && err.is_skippable() => {
                damaged += 1;
                if !decoder.resync()? {
                    break Form::Empty;
                }
            }
            Err(err) => return Err(err),
        }
    };
    damaged += match form {
        Form::Warc => warc::read(&mut decoder, skip_damaged, sink)?,
        Form::Jsonl => jsonl::read(&mut decoder, skip_damaged, sink)?,
        Form::Empty => 0,
    };
    Ok(ReadStats { bytes: decoder.bytes_read(), damaged })
}

/// What is to be read for these paths: a directory of archives stands for those in it.
///
/// # Errors
/// A directory that cannot be read, or holds archives and other files.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        let archives = if path.is_dir() { dir::archives(path).map_err(|err| err.at(path))? } else { Vec::new() };
        if archives.is_empty() { all.push(path.clone()) } else { all.extend(archives) }
    }
    Ok(all)
}

/// What a stream holds.
enum Form {
    Warc,
    Jsonl,
    Empty,
}

/// How much white space may stand before the first byte that tells the form.
const MAX_BLANK: usize = 1 << 20;

/// Looks at as much of the stream as tells its form: five bytes behind the white space, or all there is. One look may
/// give fewer, wherever a compressed member ends.
fn tell_form<R: Read>(decoder: &mut Decoder<R>) -> Result<Form> {
    loop {
        let more = decoder.peeked().len() < MAX_BLANK && decoder.peek_more().map_err(Error::from_io)?;
        let start = without_mark(decoder.peeked()).trim_ascii_start();
        if start.starts_with(WARC_MAGIC) {
            return Ok(Form::Warc);
        }
        if start.first() == Some(&b'{') {
            return Ok(Form::Jsonl);
        }
        if !more && start.is_empty() && decoder.peeked().len() < MAX_BLANK {
            return Ok(Form::Empty);
        }
        if !more || start.len() >= WARC_MAGIC.len() {
            return Err(unknown_form(start));
        }
    }
}

/// An RFC 3339 time in seconds since 1970.
fn parse_time(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}

fn unknown_form(start: &[u8]) -> Error {
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

    fn form(bytes: &[u8]) -> Result<&'static str> {
        let mut decoder = Decoder::new(bytes).unwrap();
        let form = tell_form(&mut decoder)?;
        let mut read = Vec::new();
        decoder.read_to_end(&mut read).unwrap();
        assert!(matches!(form, Form::Empty) || read.trim_ascii_start().len() >= 5, "what was looked at is read again");
        Ok(match form {
            Form::Warc => "warc",
            Form::Jsonl => "jsonl",
            Form::Empty => "empty",
        })
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn the_form_is_told_however_the_bytes_come() {
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
            assert_eq!(form(&bytes).ok(), Some(expected), "{bytes:?}");
        }
        for bytes in [&b"WARC"[..], b"<html>", b"x", &[b' '; MAX_BLANK + 1]] {
            assert!(form(bytes).is_err());
        }
    }
}
