//! WARC files (ISO 28500): returns the records that answer a request, compressed or not.

use super::capture::{
    BODY_OF_OTHER_URL, Capture, CaptureAnswer, CapturedResponse, PayloadReference, is_cut_short,
};
use super::capture_time::parse_warc_date;
use super::http::{self, MAX_KEPT, headers};
use super::payload_digest;
use super::read_context::{MeteredReader, ReadContext};
use super::warc_head::{MAX_HEADER, parse_length, without_brackets};
use crate::decode::Decoder;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::profile::Profile;
use crate::url;
use bstr::ByteSlice;
use bytes::Bytes;
use std::io::{BufRead, Read};

/// The bytes kept of a record's block: enough for HTTP headers and 500 KiB of body, coded or not.
const MAX_BLOCK: u64 = 1 << 20;
/// The same for a body in chunks. A chunk of one byte has six, with its length and line ends.
const MAX_CHUNKED_BLOCK: u64 = 4 << 20;
const MISPLACED: &str = "a WARC record should begin here";

/// One record that answers a request.
#[derive(Debug)]
pub(crate) struct WarcRecord {
    /// The offset of the gzip member with its last byte; else the offset of its end.
    end: u64,
    /// The header of the record, then its block; parsed on another thread than the reader's.
    pub(super) bytes: Vec<u8>,
    head_len: usize,
}

impl WarcRecord {
    /// The capture in the record; `None` if the record names no URL.
    pub(super) fn capture(self) -> Option<Capture> {
        let bytes = Bytes::from(self.bytes);
        // The block shares the memory of the record; bodies are not copied.
        let head = &bytes[..self.head_len];
        let block = bytes.slice(self.head_len..);
        let names = [
            "WARC-Target-URI",
            "WARC-Date",
            "WARC-Truncated",
            "WARC-Type",
            "WARC-Payload-Digest",
        ];
        let [target, date, truncated, kind, payload] = headers(head, names);
        let target = without_brackets(target.unwrap_or_default());
        if target.is_empty() {
            return None;
        }
        let time = date.and_then(parse_warc_date);
        let payload = payload.and_then(payload_digest::parse);
        let kind = kind
            .and_then(RecordKind::of)
            .unwrap_or(RecordKind::Response);
        let answer = match kind {
            RecordKind::Revisit => revisit(head, target, payload, &block),
            RecordKind::Response => {
                is_cut_short(truncated).and_then(|cut_short| http::parse(block, cut_short))
            }
            RecordKind::Resource => is_cut_short(truncated).map(|cut_short| CapturedResponse {
                status: 200,
                body: block.slice(..block.len().min(MAX_KEPT)),
                cut_short,
                ..CapturedResponse::default()
            }),
        };
        let answer = answer.map(|response| CapturedResponse {
            // The digest of a body that was cut may be that of the whole one.
            payload: payload.filter(|_| !response.cut_short),
            ..response
        });
        Some(Capture {
            url: target.to_vec(),
            time,
            answer,
            unread_key: None,
        })
    }
}

/// The types of records that hold the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordKind {
    /// An HTTP response.
    Response,
    /// A reference to an earlier record with the same content.
    Revisit,
    /// The content alone, without HTTP: as a 2xx response has it (WARC/1.1 §6.5).
    Resource,
}

impl RecordKind {
    /// The kind of a `WARC-Type`.
    fn of(name: &[u8]) -> Option<Self> {
        let kinds = [
            (&b"response"[..], Self::Response),
            (b"revisit", Self::Revisit),
            (b"resource", Self::Resource),
        ];
        kinds
            .into_iter()
            .find(|(kind, _)| kind.eq_ignore_ascii_case(name))
            .map(|(_, kind)| kind)
    }
}

/// The answer of a `revisit` record (WARC/1.1 §6.7), whose block has the HTTP head at most.
///
/// An answer that needs no body is used as it is. A 2xx has the body of the record that the digest
/// names. If no input has that record, it confirms the copy captured earlier, as a 304 does, unless
/// it refers to another URL: then it is a failure.
fn revisit(head: &[u8], target: &[u8], payload: Option<Digest>, block: &[u8]) -> CaptureAnswer {
    let [referred, profile] = headers(head, ["WARC-Refers-To-Target-URI", "WARC-Profile"]);
    let parsed = http::parse_head(block).ok();
    if let Some(response) = &parsed
        && !(200..300).contains(&response.status)
    {
        return Ok(response.clone());
    }
    let of_other_url = referred.is_some_and(|uri| without_brackets(uri) != target);
    let max_age = parsed.as_ref().and_then(|response| response.max_age);
    // The server confirmed the copy, so the digest says nothing new.
    let is_confirmed = profile.is_some_and(|uri| uri.contains_str("server-not-modified"));
    match payload {
        Some(digest) if !is_confirmed => Ok(CapturedResponse {
            status: parsed.map_or(200, |response| response.status),
            max_age,
            revisit: Some(PayloadReference {
                digest,
                of_other_url,
            }),
            ..CapturedResponse::default()
        }),
        _ if of_other_url => Err(BODY_OF_OTHER_URL.to_owned()),
        _ => Ok(CapturedResponse {
            status: 304,
            max_age,
            ..CapturedResponse::default()
        }),
    }
}

/// One step of the reader.
enum WarcItem {
    Response(WarcRecord),
    Other,
    End,
}

/// Whether a record of this type and target holds the answer to a request. A `resource` is one only
/// as a robots.txt: redirects, which lead to other URLs, are of HTTP.
fn is_answer(kind: Option<&[u8]>, target: Option<&[u8]>) -> bool {
    let Some((kind, target)) = kind.and_then(RecordKind::of).zip(target) else {
        return false;
    };
    let target = without_brackets(target);
    let is_dns = target
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"dns:"));
    match kind {
        RecordKind::Response | RecordKind::Revisit => !is_dns,
        RecordKind::Resource => is_robots_url(target),
    }
}

/// The path of an origin's robots.txt (RFC 9309 §2.3).
const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// Whether a URL is that of an origin's robots.txt.
fn is_robots_url(url: &[u8]) -> bool {
    let mut origin = Vec::new();
    url.contains_str(ROBOTS_PATH)
        && url::split(url, Profile::Rfc9309, &mut origin)
            .is_some_and(|parts| parts.path == ROBOTS_PATH && !parts.slash)
}

/// The records of a WARC file that answer a request, one by one.
pub(super) struct WarcReader<'r> {
    input: Decoder<MeteredReader<'r>>,
    context: &'r ReadContext,
    head: Vec<u8>,
    /// The start of the current record: the offset of its gzip member, else of its first byte.
    start: u64,
    /// After damage: skip lines until one begins a record.
    resyncing: bool,
    /// The last record read. Only the start of the next one shows that it is whole.
    pending: Option<WarcRecord>,
    at_end: bool,
}

impl<'r> WarcReader<'r> {
    pub(super) fn new(input: Decoder<MeteredReader<'r>>, context: &'r ReadContext) -> Self {
        Self {
            input,
            context,
            head: Vec::new(),
            start: 0,
            resyncing: false,
            pending: None,
            at_end: false,
        }
    }

    /// The next record; `None` at the end.
    pub(super) fn next_record(&mut self) -> Result<Option<WarcRecord>> {
        // A record is returned once the next one is read: damage there may show that its length is
        // wrong.
        while !self.at_end {
            let whole = match self.read_record() {
                Ok(WarcItem::Response(record)) => self.pending.replace(record),
                Ok(WarcItem::Other) => self.pending.take(),
                Ok(WarcItem::End) => {
                    self.at_end = true;
                    self.pending.take()
                }
                Err(err) => {
                    let pending = self
                        .pending
                        .take()
                        .filter(|record| !self.disproves(record, &err));
                    self.context.skip_damage(err)?;
                    self.resyncing = true;
                    self.at_end = !self.input.resync()?;
                    pending
                }
            };
            if whole.is_some() {
                return Ok(whole);
            }
        }
        Ok(None)
    }

    fn read_record(&mut self) -> Result<WarcItem> {
        if !self.read_head()? {
            return Ok(WarcItem::End);
        }
        let [length, kind, target] = headers(
            &self.head,
            ["Content-Length", "WARC-Type", "WARC-Target-URI"],
        );
        let length = length
            .and_then(parse_length)
            .ok_or_else(|| self.damaged("WARC record without a valid Content-Length"))?;
        if !is_answer(kind, target) {
            self.skip(length, |_| {})?;
            return Ok(WarcItem::Other);
        }
        // Headers and the 500 KiB of a body that count fit in this much, so the rest is skipped.
        let head_len = self.head.len();
        let mut bytes = Vec::with_capacity(head_len + length.min(MAX_BLOCK) as usize);
        bytes.extend_from_slice(&self.head);
        let mut kept = length.min(MAX_BLOCK);
        self.skip(kept, |part| bytes.extend_from_slice(part))?;
        if kept < length && http::has_chunks(&bytes[head_len..]) {
            let more = length.min(MAX_CHUNKED_BLOCK) - kept;
            bytes.reserve_exact(more as usize);
            self.skip(more, |part| bytes.extend_from_slice(part))?;
            kept += more;
        }
        self.skip(length - kept, |_| {})?;
        Ok(WarcItem::Response(WarcRecord {
            end: self.input.offset(),
            bytes,
            head_len,
        }))
    }

    /// Reads the header block into `head`; `false` at the end of the input.
    fn read_head(&mut self) -> Result<bool> {
        self.head.clear();
        loop {
            let start = self.head.len();
            let n = self
                .input
                .by_ref()
                .take(MAX_HEADER)
                .read_until(b'\n', &mut self.head)
                .map_err(Error::from_io)?;
            let line = &self.head[start..];
            let is_blank = line.iter().all(|b| b"\r\n".contains(b));
            if n == 0 {
                return if start == 0 {
                    Ok(false)
                } else {
                    Err(self.damaged("the file ends inside a WARC header"))
                };
            }
            if start == 0 {
                // Blank lines end the previous record; any other line must begin one.
                let begins_record = line.starts_with(b"WARC/");
                if is_blank || (self.resyncing && !begins_record) {
                    self.head.clear();
                    continue;
                }
                self.start = self.input.offset() - if self.input.is_gzip() { 0 } else { n as u64 };
                if !begins_record {
                    return Err(self.damaged(MISPLACED));
                }
            } else if is_blank {
                self.resyncing = false;
                return Ok(true);
            } else if self.head.len() as u64 > MAX_HEADER {
                return Err(self.damaged("a WARC header without end"));
            }
        }
    }

    /// Skips `length` bytes, and calls `visit` with each part of them.
    fn skip(&mut self, mut length: u64, mut visit: impl FnMut(&[u8])) -> Result<()> {
        while length > 0 {
            let part = self.input.fill_buf().map_err(Error::from_io)?;
            let len = part
                .len()
                .min(usize::try_from(length).unwrap_or(usize::MAX));
            if len == 0 {
                return Err(self.damaged("the file ends inside a WARC record"));
            }
            visit(&part[..len]);
            self.input.consume(len);
            length -= len as u64;
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(self.start, what, true)
    }

    /// Whether an error after `record` shows that the record itself is damaged. Either the gzip
    /// member with its end has a wrong checksum, or no record follows, so its length is wrong.
    fn disproves(&self, record: &WarcRecord, err: &Error) -> bool {
        match err.kind() {
            ErrorKind::Damaged { offset, .. } if self.input.is_gzip() => *offset <= record.end,
            ErrorKind::Damaged { what, .. } => what == MISPLACED,
            _ => true,
        }
    }
}
