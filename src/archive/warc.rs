//! WARC files (ISO 28500): returns the records that answer a request, compressed or not.

use super::capture::{
    BODY_OF_OTHER_URL, Capture, CaptureAnswer, CapturedResponse, PayloadReference, is_cut_short,
};
use super::entry_buffer::EntryBuffer;
use super::http::{self, MAX_KEPT, headers};
use super::payload_digest;
use super::read_context::{ArchiveDecoder, ReadContext};
use crate::arc;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::WARC_MAGIC;
use crate::profile::Profile;
use crate::time_text::parse_time_in_utc;
use crate::url::{self, ROBOTS_PATH};
use bstr::ByteSlice;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;

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
    pub(super) bytes: Bytes,
    fields: RecordFields,
}

/// The fields in the header of a record that are needed. The reader finds them in one pass, and
/// leaves their positions to the parser.
#[derive(Clone, Debug)]
struct RecordFields {
    head_len: u32,
    /// Up to [`MAX_HEADER`], and a line.
    positions: [Option<Range<u32>>; FIELDS.len()],
}

const FIELDS: [&str; 6] = [
    "Content-Length",
    "WARC-Type",
    "WARC-Target-URI",
    "WARC-Date",
    "WARC-Truncated",
    "WARC-Payload-Digest",
];

impl RecordFields {
    fn of(head: &[u8]) -> Self {
        let start = head.as_ptr() as usize;
        let position = |value: &[u8]| {
            let at = value.as_ptr() as usize - start;
            at as u32..(at + value.len()) as u32
        };
        Self {
            head_len: head.len() as u32,
            positions: headers(head, FIELDS).map(|value| value.map(position)),
        }
    }

    /// The values of [`FIELDS`] in the header of which these are the positions.
    fn values<'h>(&self, head: &'h [u8]) -> [Option<&'h [u8]>; FIELDS.len()] {
        self.positions.each_ref().map(|position| {
            let position = position.as_ref()?;
            Some(&head[position.start as usize..position.end as usize])
        })
    }
}

impl WarcRecord {
    /// The capture in the record; `None` if the record names no URL.
    pub(super) fn capture(self) -> Option<Capture> {
        // The block shares the memory of the record; bodies are not copied.
        let head_len = self.fields.head_len as usize;
        let head = &self.bytes[..head_len];
        let block = self.bytes.slice(head_len..);
        let [_, kind, target, date, truncated, payload] = self.fields.values(head);
        let target = without_brackets(target.unwrap_or_default());
        if target.is_empty() {
            return None;
        }
        let time = date.and_then(parse_time_in_utc);
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
            has_coded_text: false,
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
/// as a robots.txt: only HTTP has redirects, which lead to other URLs.
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

/// Whether a URL is that of an origin's robots.txt.
fn is_robots_url(url: &[u8]) -> bool {
    let mut origin = Vec::new();
    url.contains_str(ROBOTS_PATH)
        && url::split(url, Profile::Rfc9309, &mut origin)
            .is_some_and(|parts| parts.path == ROBOTS_PATH && !parts.slash)
}

/// The records of a WARC file that answer a request, one by one.
///
/// A false `Content-Length` is damage of one record: reading resumes in its block, not at the end of
/// what it claims. In files with a gzip member or a zstd frame per record, the next record is in the
/// next one. In a plain file, the reader goes back to the block and looks for a line that begins a
/// record.
pub(super) struct WarcReader<'r> {
    input: ArchiveDecoder<'r>,
    context: &'r ReadContext,
    /// The file, if its records may be read again.
    file: Option<PlainFile>,
    /// The header of the current record, then its block.
    record: EntryBuffer,
    /// The start of the current record: the offset of its gzip member, else of its first byte.
    start: u64,
    /// The start of the block of the last record, as an offset after decompression.
    block: u64,
    /// Whether a record began inside a gzip member or a zstd frame. Then records may continue in
    /// the next one.
    shares_frames: bool,
    /// After damage: skip lines until one begins a record.
    resyncing: bool,
    /// Where parsing resumes after damage.
    resume: Resume,
    /// The last record read. Only the start of the next one shows that it is whole.
    pending: Option<WarcRecord>,
    at_end: bool,
}

/// Where parsing resumes after damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resume {
    /// Where the decoder can.
    Decoder,
    /// At the next byte to read.
    Here,
    /// In the block of the last record, whose length is false.
    Block,
    Nowhere,
}

/// A regular file, without compression.
pub(super) struct PlainFile {
    /// A second handle, which shares the position.
    file: File,
    len: u64,
    /// The bytes to which the reader has gone back.
    reread: u64,
}

/// How many times the bytes read so far may be read again after false lengths. Each record could
/// have one, and all of them again would take quadratic time.
const MAX_REREAD: u64 = 4;

impl PlainFile {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            len: 0,
            reread: 0,
        }
    }

    /// Whether the file has fewer bytes than `end`. It may grow while it is read.
    fn ends_before(&mut self, end: u64) -> bool {
        if end > self.len {
            self.len = self.file.metadata().map_or(u64::MAX, |meta| meta.len());
        }
        end > self.len
    }

    /// Whether the file ends as a record does. Otherwise it may have been cut, and the text of a cut
    /// record may have lines that begin a record.
    fn ends_with_record(&mut self) -> io::Result<bool> {
        let position = self.file.stream_position()?;
        let mut end = Vec::new();
        self.file.seek(SeekFrom::End(-4))?;
        self.file.read_to_end(&mut end)?;
        self.file.seek(SeekFrom::Start(position))?;
        Ok(end == b"\r\n\r\n" || end.ends_with(b"\n\n"))
    }
}

impl<'r> WarcReader<'r> {
    pub(super) fn new(
        input: ArchiveDecoder<'r>,
        context: &'r ReadContext,
        file: Option<PlainFile>,
    ) -> Self {
        let file = file.filter(|_| !input.is_compressed());
        Self {
            input,
            context,
            file,
            record: EntryBuffer::default(),
            start: 0,
            block: 0,
            shares_frames: false,
            resyncing: false,
            resume: Resume::Decoder,
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
                    self.at_end = !self.resync()?;
                    pending
                }
            };
            if whole.is_some() {
                return Ok(whole);
            }
        }
        Ok(None)
    }

    /// After damage, moves to where reading can continue; `false` if it cannot.
    fn resync(&mut self) -> Result<bool> {
        match std::mem::replace(&mut self.resume, Resume::Decoder) {
            Resume::Decoder => Ok(self.input.resync().map_err(Error::from_io)?),
            Resume::Here => Ok(true),
            Resume::Nowhere => Ok(false),
            Resume::Block => {
                let end = self.input.offset();
                let again = end - self.block;
                let Some(plain) = &mut self.file else {
                    return Ok(true);
                };
                if plain.reread + again > MAX_REREAD * end {
                    return Ok(true);
                }
                plain.reread += again;
                let read = plain.file.stream_position().map_err(Error::from_io)?;
                let block = SeekFrom::Start(self.block);
                plain.file.seek(block).map_err(Error::from_io)?;
                self.context.uncount(read - self.block);
                self.input.continue_at(self.block);
                Ok(true)
            }
        }
    }

    fn read_record(&mut self) -> Result<WarcItem> {
        if !self.read_head()? {
            return Ok(WarcItem::End);
        }
        let head = self.record.bytes();
        let fields = RecordFields::of(head);
        let [length, kind, target, ..] = fields.values(head);
        let is_answer = is_answer(kind, target);
        let length = length
            .and_then(parse_length)
            .ok_or_else(|| self.damaged("WARC record without a valid Content-Length"))?;
        self.block = self.input.offset();
        if let Some(plain) = &mut self.file
            && plain.ends_before(self.block + length)
        {
            self.resume = match plain.ends_with_record().map_err(Error::from_io)? {
                true => Resume::Here,
                false => Resume::Nowhere,
            };
            return Err(self.damaged("the file ends inside a WARC record"));
        }
        if !is_answer {
            self.skip(length)?;
            return Ok(WarcItem::Other);
        }
        // Headers and the 500 KiB of a body that count fit in this much, so the rest is skipped.
        let mut kept = length.min(MAX_BLOCK);
        self.keep(kept)?;
        if kept < length && http::has_chunks(&self.record.bytes()[fields.head_len as usize..]) {
            let more = length.min(MAX_CHUNKED_BLOCK) - kept;
            self.keep(more)?;
            kept += more;
        }
        self.skip(length - kept)?;
        Ok(WarcItem::Response(WarcRecord {
            end: self.input.offset(),
            bytes: self.record.take(),
            fields,
        }))
    }

    /// Reads the header block into `record`; `false` at the end of the input.
    fn read_head(&mut self) -> Result<bool> {
        self.record.begin();
        // Whether nothing but blank lines precedes in the gzip member or zstd frame.
        let mut is_first = false;
        loop {
            let start = self.record.bytes().len();
            if start == 0 {
                self.input.fill_buf().map_err(Error::from_io)?;
                is_first |= self.input.is_at_frame_start();
            }
            let n = self
                .record
                .append_line(&mut self.input, MAX_HEADER as usize)
                .map_err(Error::from_io)?;
            let line = &self.record.bytes()[start..];
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
                // A line inside a record of its own frame is text of that record.
                let is_text = self.input.is_compressed() && !self.shares_frames && !is_first;
                if is_blank || (self.resyncing && (is_text || !begins_record)) {
                    is_first &= is_blank;
                    self.record.begin();
                    continue;
                }
                self.start = self.input.offset() - if self.input.is_gzip() { 0 } else { n as u64 };
                if !begins_record {
                    if self.file.is_some() {
                        self.resume = Resume::Block;
                    }
                    return Err(self.damaged(MISPLACED));
                }
                self.shares_frames |= self.input.is_compressed() && !is_first;
            } else if is_blank {
                self.resyncing = false;
                return Ok(true);
            } else if self.record.bytes().len() as u64 > MAX_HEADER {
                return Err(self.damaged("a WARC header without end"));
            }
        }
    }

    /// Reads this many bytes to the end of `record`.
    fn keep(&mut self, length: u64) -> Result<()> {
        self.pass(length, EntryBuffer::append)
    }

    fn skip(&mut self, length: u64) -> Result<()> {
        self.pass(length, |_, _| {})
    }

    /// Reads this many bytes, and calls `visit` with `record` and each part of them.
    fn pass(&mut self, mut length: u64, visit: fn(&mut EntryBuffer, &[u8])) -> Result<()> {
        while length > 0 {
            self.input.fill_buf().map_err(Error::from_io)?;
            let is_at_start = self.input.is_at_frame_start() && !self.shares_frames;
            if is_at_start && self.input.peeked().starts_with(WARC_MAGIC) {
                self.resume = Resume::Here;
                return Err(self.damaged(
                    "the next WARC record begins before the end of this one, so its \
                     Content-Length is wrong",
                ));
            }
            let part = self.input.peeked();
            let len = part
                .len()
                .min(usize::try_from(length).unwrap_or(usize::MAX));
            if len == 0 {
                return Err(self.damaged("the file ends inside a WARC record"));
            }
            visit(&mut self.record, &part[..len]);
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
            ErrorKind::Damaged { what, .. } => what == MISPLACED || what == arc::MISPLACED,
            _ => true,
        }
    }
}

/// The longest WARC header; real ones stay far below.
pub(crate) const MAX_HEADER: u64 = 1 << 20;

/// The longest record. A larger length is damage, and would skip all records that follow.
const MAX_RECORD: u64 = 1 << 40;

/// The length of a record's block, from its header; `None` without a valid `Content-Length`.
pub(crate) fn content_length(head: &[u8]) -> Option<u64> {
    let [length] = headers(head, ["Content-Length"]);
    parse_length(length?)
}

/// The value of `Content-Length`.
fn parse_length(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value)
        .ok()?
        .parse::<u64>()
        .ok()
        .filter(|length| *length <= MAX_RECORD)
}

/// The grammar of WARC/1.0 has URIs in angle brackets, and some tools write them.
pub(crate) fn without_brackets(uri: &[u8]) -> &[u8] {
    uri.strip_prefix(b"<")
        .and_then(|uri| uri.strip_suffix(b">"))
        .unwrap_or(uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::read_context::{MeteredReader, archive_decoder};
    use crate::decode::read_whole;
    use std::io::Write;

    /// Each of these records claims to reach nearly to the end of the file.
    #[test]
    fn false_lengths_take_linear_time() {
        const RECORDS: usize = 500;
        let record_of = |length: usize| {
            format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://e.example/robots.txt\r\n\
                 Content-Length: {length:010}\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuser-agent: *\r\n\r\n\r\n"
            )
        };
        let len = record_of(0).len();
        let mut file = tempfile::tempfile().unwrap();
        for left in (0..RECORDS).rev() {
            let length = (left * len).saturating_sub(10);
            file.write_all(record_of(length).as_bytes()).unwrap();
        }
        file.seek(SeekFrom::Start(0)).unwrap();
        let context = ReadContext {
            skip_damaged: true,
            ..ReadContext::default()
        };
        let plain = PlainFile::new(file.try_clone().unwrap());
        let input = MeteredReader {
            inner: read_whole(file),
            context: &context,
        };
        let mut reader = WarcReader::new(archive_decoder(input).unwrap(), &context, Some(plain));
        while reader.next_record().unwrap().is_some() {}
        let reread = reader.file.unwrap().reread;
        let total = (RECORDS * len) as u64;
        assert!(
            reread > total && reread <= MAX_REREAD * total,
            "{reread} of {total}"
        );
        assert_eq!(
            context.bytes.load(std::sync::atomic::Ordering::Relaxed),
            total
        );
    }
}
