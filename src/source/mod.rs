//! Archives to captures: one reader for each container (WARC, JSONL, a directory), all giving the same thing.

mod dir;
mod http;
mod jsonl;
mod warc;

use crate::decode::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::robots::condense::Delivery;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Stdin};
use std::path::Path;

/// What fetching one URL gave, as the archive tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capture {
    /// The URL that was asked for, as written.
    pub url: Vec<u8>,
    /// When, in seconds since 1970.
    pub time: Option<i64>,
    /// What came back.
    pub answer: Answer,
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
    pub body: Vec<u8>,
    pub delivery: Delivery,
}

/// One entry of an archive, not yet looked into: cheap to cut out, to be opened on another thread.
#[derive(Debug)]
pub(crate) enum Entry {
    Warc(warc::Record),
    Jsonl(jsonl::Line),
    File(dir::RobotsFile),
}

impl Entry {
    /// The captures it holds.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] (skippable) for a line that is no JSON object of the documented form.
    pub(crate) fn captures(self) -> Result<Vec<Capture>> {
        match self {
            Self::Warc(record) => Ok(record.capture().into_iter().collect()),
            Self::Jsonl(line) => line.capture().map(|capture| vec![capture]),
            Self::File(file) => file.captures(),
        }
    }

    /// How much memory it holds, in bytes; what bounds the queue between reading and parsing.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Warc(record) => record.block.len(),
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

/// Reads every entry of `input`: a WARC or JSONL file, compressed or not, a directory, or `-` for standard input.
///
/// # Errors
/// What cannot be opened or read, is of no known form, or is damaged (unless `skip_damaged`), naming the file.
pub(crate) fn read(input: &Path, skip_damaged: bool, sink: &mut Sink<'_>) -> Result<ReadStats> {
    read_input(input, skip_damaged, sink).map_err(|err| err.at(input))
}

fn read_input(input: &Path, skip_damaged: bool, sink: &mut Sink<'_>) -> Result<ReadStats> {
    if input.as_os_str() == "-" {
        return read_stream(Input::Stdin(std::io::stdin()), skip_damaged, sink);
    }
    if input.is_dir() {
        return dir::read(input, sink);
    }
    let file = File::open(input)?;
    read_stream(Input::File(file), skip_damaged, sink)
}

enum Input {
    File(File),
    Stdin(Stdin),
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file) => file.read(buf),
            Self::Stdin(stdin) => stdin.lock().read(buf),
        }
    }
}

fn read_stream(input: Input, skip_damaged: bool, sink: &mut Sink<'_>) -> Result<ReadStats> {
    let mut reader = BufReader::with_capacity(1 << 17, Decoder::new(input)?);
    let start = reader.fill_buf().map_err(Error::from_io)?;
    let first = start.iter().copied().find(|b| !b.is_ascii_whitespace());
    let damaged = match first {
        _ if start.starts_with(b"WARC/") => warc::read(&mut reader, skip_damaged, sink)?,
        Some(b'{') => jsonl::read(&mut reader, skip_damaged, sink)?,
        None => 0,
        Some(_) => return Err(unknown_form(start)),
    };
    Ok(ReadStats { bytes: reader.get_ref().bytes_read(), damaged })
}

fn unknown_form(start: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(&start[..start.len().min(24)]).into_owned();
    let what = if start.starts_with(crate::snapshot::MAGIC) {
        "a snapshot, not an archive".to_owned()
    } else {
        format!("neither WARC nor JSONL (it begins with {shown:?})")
    };
    ErrorKind::UnknownSource { what }.into()
}
