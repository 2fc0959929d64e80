//! WARC files (ISO 28500): finds the `response` and `revisit` records, whatever the compression
//! around them.

use crate::archive::http::{self, headers};
use crate::archive::{Answer, Capture, Entry, Response, Sink};
use crate::decode::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::robots::condense::Delivery;
use bytes::Bytes;
use std::io::{BufRead, Read};

/// What is kept of a record's block: HTTP headers and a body, coded or not, that fills the 500 KiB that count.
const MAX_BLOCK: u64 = 1 << 20;
/// No WARC header comes near; what is longer is not WARC.
const MAX_HEADER: u64 = 1 << 20;

/// No file holds such a record; a length beyond would swallow what follows.
const MAX_RECORD: u64 = 1 << 40;

const MISPLACED: &str = "a WARC record should begin here";

/// One `response` or `revisit` record.
#[derive(Debug)]
pub(crate) struct Record {
    /// Where its last byte lies: the offset of the gzip member, else that behind it.
    end: u64,
    /// The record's header, and the block behind it: one piece, and looked at where there are more threads than the one that reads.
    pub(super) bytes: Vec<u8>,
    head_len: usize,
}

impl Record {
    /// The capture it is; `None` if it does not say of what.
    pub(super) fn capture(self) -> Option<Capture> {
        let bytes = Bytes::from(self.bytes);
        let (head, block) = (&bytes[..self.head_len], bytes.slice(self.head_len..));
        let names = ["WARC-Target-URI", "WARC-Date", "WARC-Truncated", "WARC-Type", "WARC-Refers-To-Target-URI"];
        let [target, date, truncated, kind, referred] = headers(head, names);
        let target = without_brackets(target.unwrap_or_default());
        if target.is_empty() {
            return None;
        }
        let time = date.and_then(crate::archive::parse_time);
        let answer = match truncated.map(<[u8]>::to_ascii_lowercase).as_deref() {
            _ if kind.is_some_and(|kind| kind.eq_ignore_ascii_case(REVISIT)) => {
                revisit(target, referred.map(without_brackets), block)
            }
            // The fetch itself broke off: what came may be a fraction of what the site says.
            Some(reason @ (b"time" | b"disconnect")) => {
                Answer::Failed(format!("truncated: {}", String::from_utf8_lossy(reason)))
            }
            Some(_) => http::parse(block, true),
            None => http::parse(block, false),
        };
        Some(Capture { url: target.to_vec(), time, answer, unread_key: None })
    }
}

/// WARC/1.0 wrote URIs in angle brackets in its grammar, and some tools do.
fn without_brackets(uri: &[u8]) -> &[u8] {
    uri.strip_prefix(b"<").and_then(|uri| uri.strip_suffix(b">")).unwrap_or(uri)
}

/// The type of records that say what an earlier record of the archive says already.
const REVISIT: &[u8] = b"revisit";

/// The answer that a `revisit` record stands for (WARC/1.1 §6.7). Its block has the HTTP head, if
/// anything, and no body: an answer that needs none is read as it is; a 2xx confirms the copy that
/// was captured before, as a 304 does. A record that refers to the body of another URL is no
/// answer, since only captures of the URL itself are looked for.
fn revisit(target: &[u8], referred: Option<&[u8]>, block: Bytes) -> Answer {
    match http::parse(block, true) {
        Answer::Http(response) if !(200..300).contains(&response.status) => Answer::Http(response),
        _ if referred.is_some_and(|uri| uri != target) => {
            Answer::Failed("a revisit record that refers to another URL".to_owned())
        }
        Answer::Http(Response { max_age, .. }) => Answer::Http(Response { max_age, ..NOT_MODIFIED }),
        Answer::Failed(_) => Answer::Http(NOT_MODIFIED),
    }
}

const NOT_MODIFIED: Response =
    Response { status: 304, location: None, max_age: None, body: Bytes::new(), delivery: Delivery::Whole };

/// Reads records to the end; gives the number of damaged places skipped.
pub(super) fn read<R: Read>(input: &mut Decoder<R>, skip_damaged: bool, sink: &mut Sink<'_>) -> Result<u64> {
    let mut reader = Reader { input, head: Vec::new(), start: 0, hunting: false };
    // Whether a record was whole is known only when the next is asked for: until then it waits here.
    let mut waiting: Option<Record> = None;
    let mut damaged = 0;
    loop {
        match reader.next_record() {
            Ok(found) => {
                if let Some(record) = waiting.take()
                    && !sink(Entry::Warc(record))
                {
                    return Ok(damaged);
                }
                match found {
                    Found::Response(record) => waiting = Some(record),
                    Found::Other => {}
                    Found::End => return Ok(damaged),
                }
            }
            Err(err) if skip_damaged && err.is_skippable() => {
                damaged += 1;
                if let Some(record) = waiting.take_if(|record| !reader.disproves(record, &err))
                    && !sink(Entry::Warc(record))
                {
                    return Ok(damaged);
                }
                waiting = None;
                if !reader.resync()? {
                    return Ok(damaged);
                }
            }
            Err(err) => return Err(err),
        }
    }
}

enum Found {
    Response(Record),
    Other,
    End,
}

/// Whether a record of this type and target holds an answer of a web server.
fn is_http_response(kind: Option<&[u8]>, target: Option<&[u8]>) -> bool {
    let is_dns = |uri: &[u8]| uri.trim_ascii_start().get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"dns:"));
    let is_kind = |kind: &[u8]| kind.eq_ignore_ascii_case(b"response") || kind.eq_ignore_ascii_case(REVISIT);
    kind.is_some_and(is_kind) && target.is_some_and(|uri| !is_dns(uri))
}

struct Reader<'r, R: Read> {
    input: &'r mut Decoder<R>,
    head: Vec<u8>,
    /// Where the current record begins: the offset of its gzip member, else of its first byte.
    start: u64,
    /// Behind damage: pass over lines until one begins a record.
    hunting: bool,
}

impl<R: Read> Reader<'_, R> {
    fn next_record(&mut self) -> Result<Found> {
        if !self.read_head()? {
            return Ok(Found::End);
        }
        let [length, kind, target] = headers(&self.head, ["Content-Length", "WARC-Type", "WARC-Target-URI"]);
        let length = length
            .and_then(|value| std::str::from_utf8(value).ok()?.parse::<u64>().ok())
            .filter(|length| *length <= MAX_RECORD)
            .ok_or_else(|| self.damaged("WARC record without a valid Content-Length"))?;
        if !is_http_response(kind, target) {
            self.pass(length, |_| {})?;
            return Ok(Found::Other);
        }
        let head_len = self.head.len();
        let mut bytes = Vec::with_capacity(head_len + length.min(MAX_BLOCK) as usize);
        bytes.extend_from_slice(&self.head);
        let kept = length.min(MAX_BLOCK);
        self.pass(kept, |part| bytes.extend_from_slice(part))?;
        self.pass(length - kept, |_| {})?;
        Ok(Found::Response(Record { end: self.input.offset(), bytes, head_len }))
    }

    /// Reads the header block to `head`; `false` at the end of the input.
    fn read_head(&mut self) -> Result<bool> {
        self.head.clear();
        loop {
            let start = self.head.len();
            let n = self.input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut self.head).map_err(Error::from_io)?;
            let line = &self.head[start..];
            let is_blank = line.iter().all(|b| b"\r\n".contains(b));
            if n == 0 {
                return if start == 0 { Ok(false) } else { Err(self.damaged("the file ends inside a WARC header")) };
            }
            if start == 0 {
                // Blank lines end the record before; anything else must begin one.
                if is_blank || (self.hunting && !line.starts_with(b"WARC/")) {
                    self.head.clear();
                    continue;
                }
                let misplaced = !line.starts_with(b"WARC/");
                self.start = self.input.offset() - if self.is_gzip() { 0 } else { n as u64 };
                if misplaced {
                    return Err(self.damaged(MISPLACED));
                }
                continue;
            }
            if is_blank {
                self.hunting = false;
                return Ok(true);
            }
            if self.head.len() as u64 > MAX_HEADER {
                return Err(self.damaged("a WARC header without end"));
            }
        }
    }

    /// Passes over so many bytes, and shows them part by part.
    fn pass(&mut self, mut length: u64, mut see: impl FnMut(&[u8])) -> Result<()> {
        while length > 0 {
            let part = self.input.fill_buf().map_err(Error::from_io)?;
            let len = part.len().min(usize::try_from(length).unwrap_or(usize::MAX));
            if len == 0 {
                return Err(self.damaged("the file ends inside a WARC record"));
            }
            see(&part[..len]);
            self.input.consume(len);
            length -= len as u64;
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(self.start, what, true)
    }

    fn is_gzip(&self) -> bool {
        self.input.is_gzip()
    }

    /// Whether an error met behind `record` means that the record itself is damaged: the member that it ends in has another
    /// checksum, or what follows it does not begin a record, so that its length must be wrong.
    fn disproves(&self, record: &Record, err: &Error) -> bool {
        match err.kind() {
            ErrorKind::Damaged { offset, .. } if self.is_gzip() => *offset <= record.end,
            ErrorKind::Damaged { what, .. } => what == MISPLACED,
            _ => true,
        }
    }

    fn resync(&mut self) -> Result<bool> {
        self.hunting = true;
        Ok(self.input.resync()?)
    }
}
