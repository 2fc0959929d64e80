//! ARC files, in which the Internet Archive kept crawls until WARC replaced them, as WARC text.
//!
//! A record of an ARC file is a line and a block of the length at its end. The block is the HTTP
//! response. The first record describes the file, and its block says which of two layouts the lines
//! have:
//!
//! ```text
//! filedesc://IA-001102.arc 0.0.0.0 20001102000000 text/plain 77
//! 1 0 InternetArchive
//! URL IP-address Archive-date Content-type Archive-length
//!
//! http://www.e.example/robots.txt 192.0.2.7 20001102112713 text/plain 193
//! HTTP/1.0 200 OK
//! ```
//!
//! [`ArcReader`] writes a WARC header in place of each line, and passes blocks on. So everything that
//! reads WARC text reads ARC too, and what it writes is WARC. The source is the Internet Archive's
//! "ARC File Format" of 1996, and the conversion is that of warcio.

use crate::decode::Decoder;
use crate::digest::StreamDigest;
use crate::error::Error;
use crate::time_text::parse_compact_time;
use bstr::ByteSlice;
use jiff::Timestamp;
use std::io::{self, BufRead, Read, Write};
use std::net::IpAddr;

/// The first bytes of an ARC file, after decompression.
pub(crate) const ARC_MAGIC: &[u8; 11] = b"filedesc://";

/// The damage of a line that does not begin a record. The record before it has a wrong length.
pub(crate) const MISPLACED: &str = "an ARC record should begin here";

/// The longest line of a record. Its URL is at most three times as long in a WARC header.
const MAX_LINE: u64 = 128 << 10;

/// Reads ARC records, plain or compressed, as the text of WARC records.
///
/// Memory: one line, and the buffer of the decoder.
///
/// # Errors
/// After an error of [`ErrorKind::Damaged`](crate::ErrorKind::Damaged), reading continues at the next
/// record. The text before it ends inside a record.
pub(crate) struct ArcReader<R: Read> {
    input: Decoder<R>,
    layout: Layout,
    /// The line of the first record, which makes the ids of all records unique.
    first_line: Vec<u8>,
    /// The number of records so far.
    count: u64,
    /// Text to return before anything else.
    text: io::Cursor<Vec<u8>>,
    next: Part,
    /// The start of the record: the offset of its gzip member, else of its first byte.
    start: u64,
    /// Whether a record began inside a gzip member. Then members say nothing about records.
    shares_members: bool,
}

/// The part of the input that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Record,
    /// The rest of a block, in bytes.
    Block(u64),
    /// Anything, because of damage; `is_undecodable` says that the decoder reported it.
    Unknown {
        is_undecodable: bool,
    },
    End,
}

/// The fields of a line, by the version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// URL, IP address, time, media type, length.
    Version1,
    /// URL, IP address, time, media type, status, checksum, location, offset, name of the file,
    /// length.
    Version2,
}

impl Layout {
    fn field_count(self) -> usize {
        match self {
            Self::Version1 => 5,
            Self::Version2 => 10,
        }
    }
}

/// The line of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecordLine<'l> {
    url: &'l [u8],
    ip: &'l [u8],
    time: &'l [u8],
    media_type: &'l [u8],
    length: u64,
}

impl<'l> RecordLine<'l> {
    /// Parses a line without its line end. A URL may contain blanks, so fields are counted from the
    /// right.
    fn parse(line: &'l [u8], layout: Layout) -> Option<Self> {
        let mut fields = line.rsplitn(layout.field_count(), |byte| *byte == b' ');
        let length = number(fields.next()?)?;
        // Those between the media type and the length.
        for _ in 0..layout.field_count() - 5 {
            fields.next()?;
        }
        let media_type = fields.next()?;
        let time = fields.next()?;
        let ip = fields.next()?;
        let url = fields.next()?;
        // Text of a page is not taken for a record. A time that is not known is a hyphen.
        let has_time = time == b"-" || number(time).is_some();
        let has_scheme = url.find_byte(b':').is_some_and(|colon| colon > 0);
        (has_time && has_scheme).then_some(Self {
            url,
            ip,
            time,
            media_type,
            length,
        })
    }

    fn is_first(&self) -> bool {
        self.url.starts_with(ARC_MAGIC)
    }

    /// Whether the block is an HTTP response: only these URLs are fetched so.
    fn is_http(&self) -> bool {
        [&b"http:"[..], b"https:"].iter().any(|scheme| {
            let start = self.url.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })
    }

    fn warc_type(&self) -> &'static str {
        if self.is_first() {
            "warcinfo"
        } else if self.is_http() {
            "response"
        } else {
            "resource"
        }
    }

    /// Appends the header of the record in WARC.
    fn write_warc(&self, id: [u8; 16], out: &mut Vec<u8>) -> io::Result<()> {
        let kind = self.warc_type();
        write!(out, "WARC/1.0\r\nWARC-Type: {kind}\r\n")?;
        write!(out, "WARC-Record-ID: <urn:uuid:{}>\r\n", Uuid(id))?;
        let seconds = self.time.try_into().ok().and_then(parse_compact_time);
        if let Some(time) = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()) {
            write!(out, "WARC-Date: {time}\r\n")?;
        }
        match self.url.strip_prefix(ARC_MAGIC) {
            Some(name) => {
                out.extend_from_slice(b"WARC-Filename: ");
                append_escaped(name, out);
            }
            None => {
                out.extend_from_slice(b"WARC-Target-URI: ");
                append_escaped(self.url, out);
            }
        }
        out.extend_from_slice(b"\r\n");
        let ip = self.ip.to_str().ok().and_then(|ip| ip.parse().ok());
        if let Some(ip) = ip.filter(|ip: &IpAddr| !ip.is_unspecified()) {
            write!(out, "WARC-IP-Address: {ip}\r\n")?;
        }
        out.extend_from_slice(b"Content-Type: ");
        if kind == "response" {
            out.extend_from_slice(b"application/http; msgtype=response");
        } else {
            append_escaped(self.media_type, out);
        }
        write!(out, "\r\nContent-Length: {}\r\n\r\n", self.length)
    }
}

/// A UUID of version 8, whose bits are our own (RFC 9562 §5.8).
struct Uuid([u8; 16]);

impl std::fmt::Display for Uuid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut bits = u128::from_be_bytes(self.0);
        bits = bits & !(0xf << 76) | 8 << 76;
        bits = bits & !(0b11 << 62) | 0b10 << 62;
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            bits >> 96,
            bits >> 80 & 0xffff,
            bits >> 64 & 0xffff,
            bits >> 48 & 0xffff,
            bits & 0xffff_ffff_ffff
        )
    }
}

/// Appends a value, with blanks and control characters percent-encoded: they would end a URL or the
/// header.
fn append_escaped(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        match byte {
            0..=b' ' | 0x7f => {
                out.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
            _ => out.push(*byte),
        }
    }
}

/// The number that a field of digits writes.
fn number(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.to_str().ok()?.parse().ok())?
}

impl<R: Read> ArcReader<R> {
    pub(crate) fn new(input: Decoder<R>) -> Self {
        Self {
            input,
            layout: Layout::Version1,
            first_line: Vec::new(),
            count: 0,
            text: io::Cursor::default(),
            next: Part::Record,
            start: 0,
            shares_members: false,
        }
    }

    /// Prepares more text, or a block; `false` at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        match self.next {
            Part::Record => self.read_record(),
            Part::Block(0) => {
                self.text = io::Cursor::new(b"\r\n\r\n".to_vec());
                self.next = Part::Record;
                Ok(true)
            }
            Part::Block(_) => Ok(true),
            Part::Unknown { is_undecodable } => {
                if is_undecodable && !self.input.resync().map_err(Error::from_io)? {
                    self.next = Part::End;
                    return Ok(false);
                }
                self.skip_to_record()
            }
            Part::End => Ok(false),
        }
    }

    /// Reads the line of a record.
    fn read_record(&mut self) -> Result<bool, Error> {
        let Some(line) = self.read_line()? else {
            return Ok(false);
        };
        if self.begin(&line)? {
            return Ok(true);
        }
        Err(self.misread(MISPLACED))
    }

    /// Skips text until a line begins a record.
    fn skip_to_record(&mut self) -> Result<bool, Error> {
        loop {
            // A line inside a record of its own member is text of that record.
            let has_members = self.input.is_compressed() && !self.shares_members;
            let rest = self.fill()?.len();
            if rest > 0 && has_members && !self.input.is_at_frame_start() {
                self.input.consume(rest);
                continue;
            }
            let Some(line) = self.read_line()? else {
                return Ok(false);
            };
            if self.begin(&line)? {
                // The record before this one was cut, and may end inside a line.
                let mut text = b"\r\n\r\n".to_vec();
                text.append(self.text.get_mut());
                self.text = io::Cursor::new(text);
                return Ok(true);
            }
        }
    }

    /// The next line that is not blank, without its line end; `None` at the end.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut line = Vec::new();
        let mut is_at_member = false;
        while line.trim_ascii().is_empty() {
            line.clear();
            if self.fill()?.is_empty() {
                return Ok(None);
            }
            is_at_member |= self.input.is_at_frame_start();
            let is_gzip = self.input.is_gzip();
            self.start = self.input.offset();
            let read = self
                .input
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut line);
            read.map_err(|err| self.undecodable(err))?;
            if is_gzip {
                self.start = self.input.offset();
            }
            line.truncate(line.trim_end_with(|c| c == '\n' || c == '\r').len());
        }
        self.shares_members |= self.input.is_compressed() && !is_at_member;
        Ok(Some(line))
    }

    /// Begins the record of a line; `false` if it is not the line of a record.
    fn begin(&mut self, line: &[u8]) -> Result<bool, Error> {
        if line.starts_with(ARC_MAGIC) {
            // The block of the first record begins with the version.
            self.layout = match self.fill()?.first() {
                Some(b'2') => Layout::Version2,
                _ => Layout::Version1,
            };
            self.first_line = line.to_vec();
        }
        let Some(record) = RecordLine::parse(line, self.layout) else {
            return Ok(false);
        };
        let mut id = StreamDigest::default();
        id.update(&self.first_line);
        id.update(&self.count.to_le_bytes());
        id.update(line);
        let text = self.text.get_mut();
        text.clear();
        record
            .write_warc(id.finish(), text)
            .map_err(Error::from_io)?;
        self.text.set_position(0);
        self.next = Part::Block(record.length);
        self.count += 1;
        Ok(true)
    }

    /// Copies some of a block to `out`.
    fn read_block(&mut self, left: u64, out: &mut [u8]) -> Result<usize, Error> {
        let has_members = self.input.is_compressed() && !self.shares_members;
        let len = self.fill()?.len();
        if len == 0 {
            return Err(self.misread("the file ends inside an ARC record"));
        }
        if has_members && self.input.is_at_frame_start() {
            let what = "the gzip member ends before the ARC record in it, so its length is wrong";
            return Err(self.misread(what));
        }
        let len = len
            .min(out.len())
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        out[..len].copy_from_slice(&self.input.peeked()[..len]);
        self.input.consume(len);
        self.next = Part::Block(left - len as u64);
        Ok(len)
    }

    /// The next decoded bytes; none at the end.
    fn fill(&mut self) -> Result<&[u8], Error> {
        match self.input.fill_buf() {
            Ok(_) => Ok(self.input.peeked()),
            Err(err) => Err(self.undecodable(err)),
        }
    }

    /// The damage of a record, after which reading continues at the next one.
    fn misread(&mut self, what: &'static str) -> Error {
        self.next = Part::Unknown {
            is_undecodable: false,
        };
        Error::damaged(self.start, what, true)
    }

    /// The error of the decoder, after which reading continues where that can.
    fn undecodable(&mut self, err: io::Error) -> Error {
        self.next = Part::Unknown {
            is_undecodable: true,
        };
        Error::from_io(err)
    }
}

impl<R: Read> Read for ArcReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let copied = self.text.read(out)?;
            if copied > 0 {
                return Ok(copied);
            }
            if let Part::Block(left @ 1..) = self.next {
                return self.read_block(left, out).map_err(Error::into_io);
            }
            if !self.advance().map_err(Error::into_io)? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;

    const FIRST: &str = "filedesc://x.arc 0.0.0.0 20010203040506 text/plain 68\n\
                         1 0 Crawler\nURL IP-address Archive-date Content-type Archive-length\n";

    /// The WARC text of an ARC file that arrives in pieces of `step` bytes, and the damage in it.
    fn converted(arc: &[u8], step: usize) -> (String, Vec<String>) {
        let mut reader = ArcReader::new(Decoder::new(arc).unwrap());
        let mut text = Vec::new();
        let mut damage = Vec::new();
        let mut piece = vec![0; step];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return (String::from_utf8(text).unwrap(), damage),
                Ok(read) => text.extend_from_slice(&piece[..read]),
                Err(err) => damage.push(Error::from_io(err).to_string()),
            }
        }
    }

    /// The fields of the records but their ids, and their blocks.
    fn without_ids(text: &str) -> String {
        let lines = text.split_inclusive('\n');
        lines
            .filter(|line| !line.starts_with("WARC-Record-ID: "))
            .collect()
    }

    fn record(line: &str, block: &str) -> String {
        format!("{line} {}\n{block}\n", block.len())
    }

    /// A page with this number in its URL.
    fn page(number: usize) -> String {
        let line = format!("http://a.example/{number} 192.0.2.1 20010203040506 text/html");
        record(&line, "HTTP/1.0 200 OK\r\n\r\n<p>")
    }

    /// The same page with another end of its line.
    fn page_with_length(number: usize, length: &str) -> String {
        page(number).replace(" 22\n", length)
    }

    #[test]
    fn a_line_becomes_a_header() {
        let page = "HTTP/1.0 200 OK\r\n\r\n<p>";
        let arc = [
            FIRST.to_owned(),
            "\n".to_owned(),
            record("http://a.example/ 192.0.2.1 20010203040506 text/html", page),
            // The address and the time are not known, and the URL has a blank.
            record("HTTPS://a.example/x y - - text/html", page),
            record(
                "dns:a.example 192.0.2.1 20010203040506 text/dns",
                "A 192.0.2.1",
            ),
            record("http://a.example/e 2001:db8::1 20010230000000 no-type", ""),
            // An example of JWAT ends so.
            "  \r\n \n".to_owned(),
        ]
        .concat();
        let expected = "WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Date: 2001-02-03T04:05:06Z\r\n\
            WARC-Filename: x.arc\r\nContent-Type: text/plain\r\nContent-Length: 68\r\n\r\n\
            1 0 Crawler\nURL IP-address Archive-date Content-type Archive-length\n\r\n\r\n\
            WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2001-02-03T04:05:06Z\r\n\
            WARC-Target-URI: http://a.example/\r\nWARC-IP-Address: 192.0.2.1\r\n\
            Content-Type: application/http; msgtype=response\r\nContent-Length: 22\r\n\r\n\
            HTTP/1.0 200 OK\r\n\r\n<p>\r\n\r\n\
            WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: HTTPS://a.example/x%20y\r\n\
            Content-Type: application/http; msgtype=response\r\nContent-Length: 22\r\n\r\n\
            HTTP/1.0 200 OK\r\n\r\n<p>\r\n\r\n\
            WARC/1.0\r\nWARC-Type: resource\r\nWARC-Date: 2001-02-03T04:05:06Z\r\n\
            WARC-Target-URI: dns:a.example\r\nWARC-IP-Address: 192.0.2.1\r\n\
            Content-Type: text/dns\r\nContent-Length: 11\r\n\r\nA 192.0.2.1\r\n\r\n\
            WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/e\r\n\
            WARC-IP-Address: 2001:db8::1\r\nContent-Type: application/http; msgtype=response\r\n\
            Content-Length: 0\r\n\r\n\r\n\r\n";
        let (text, damage) = converted(arc.as_bytes(), 4096);
        assert_eq!(damage, [""; 0]);
        assert_eq!(without_ids(&text), expected);
        let members: Vec<u8> = arc
            .split_inclusive("\n\n")
            .flat_map(|member| gzip(member.as_bytes()))
            .collect();
        for step in [1, 2, 7, 100] {
            for bytes in [arc.as_bytes(), &gzip(arc.as_bytes()), &members] {
                assert_eq!(converted(bytes, step).0, text, "{step}");
            }
        }
    }

    #[test]
    fn ids_are_unique_and_repeatable() {
        let twice = record("http://a.example/ 192.0.2.1 20010203040506 text/html", "x");
        let arc = [FIRST, &twice, &twice].concat();
        let (text, _) = converted(arc.as_bytes(), 4096);
        let mut ids: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("WARC-Record-ID: <urn:uuid:"))
            .collect();
        for id in &ids {
            let hyphens = [8, 13, 18, 23].map(|at| id.as_bytes()[at]);
            assert_eq!((hyphens, id.len()), ([b'-'; 4], 37), "{id}");
            // RFC 9562: version 8, variant 10.
            assert!(
                id[14..].starts_with('8') && "89ab".contains(&id[19..20]),
                "{id}"
            );
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert_eq!(converted(arc.as_bytes(), 1).0, text);
    }

    #[test]
    fn the_second_version_has_ten_fields() {
        let arc = "filedesc://x.arc 0.0.0.0 20010203040506 text/plain 200 - - 0 x.arc 14\n2 0 Crawler\n\
                   x\n\nhttp://a.example/a b 192.0.2.1 20010203040506 text/html 200 \
                   0123456789abcdef - 209 x.arc 2\nab\n";
        let (text, damage) = converted(arc.as_bytes(), 4096);
        assert_eq!(damage, [""; 0]);
        let expected = "WARC-Target-URI: http://a.example/a%20b\r\nWARC-IP-Address: 192.0.2.1\r\n";
        assert!(text.contains(expected), "{text}");
        assert!(
            text.ends_with("Content-Length: 2\r\n\r\nab\r\n\r\n"),
            "{text}"
        );
    }

    /// A wrong length damages its record. The next one is read, but for a cut file.
    #[test]
    fn reading_continues_after_damage() {
        for (middle, expected) in [
            (
                page_with_length(1, " 3\n"),
                "an ARC record should begin here",
            ),
            (
                page_with_length(1, " x\n"),
                "an ARC record should begin here",
            ),
            (
                page_with_length(1, " -1\n"),
                "an ARC record should begin here",
            ),
            (
                "<p>no line of a record</p>\n".to_owned(),
                "should begin here",
            ),
        ] {
            let records = [FIRST.to_owned(), page(0), middle, page(2)];
            let plain = records.concat().into_bytes();
            let members = records.iter().flat_map(|record| gzip(record.as_bytes()));
            for bytes in [plain.clone(), members.collect(), gzip(&plain)] {
                let (text, damage) = converted(&bytes, 4096);
                assert_eq!(damage.len(), 1, "{damage:?}");
                assert!(damage[0].contains(expected), "{damage:?}");
                for number in [0, 2] {
                    let url = format!("\r\nWARC-Target-URI: http://a.example/{number}\r\n");
                    assert!(text.contains(&url), "{expected}: {text}");
                }
                assert!(text.contains("\r\n\r\nWARC/1.0"), "{text}");
            }
        }
        // A length beyond the record's own member does not hide the next record.
        let long = page_with_length(1, " 9999\n");
        let members = [FIRST.to_owned(), page(0), long, page(2)];
        let bytes: Vec<u8> = members
            .iter()
            .flat_map(|record| gzip(record.as_bytes()))
            .collect();
        let (text, damage) = converted(&bytes, 4096);
        assert!(
            damage.len() == 1 && damage[0].contains("the gzip member ends"),
            "{damage:?}"
        );
        assert!(text.contains("http://a.example/2\r\n"), "{text}");
        // A damaged member.
        let mut flipped = bytes;
        let middle = gzip(FIRST.as_bytes()).len() + gzip(page(0).as_bytes()).len() + 20;
        flipped[middle] ^= 0x55;
        let (text, damage) = converted(&flipped, 4096);
        assert!(!damage.is_empty());
        assert!(text.contains("http://a.example/2\r\n"), "{text} {damage:?}");
        // The end of the file is missing.
        let plain = [FIRST.to_owned(), page(0)].concat();
        let (_, damage) = converted(&plain.as_bytes()[..plain.len() - 5], 4096);
        assert_eq!(damage.len(), 1);
        assert!(damage[0].contains("the file ends inside an ARC record"));
    }

    #[test]
    fn long_lines_of_records_are_damage() {
        let url = "x".repeat(MAX_LINE as usize);
        let line = format!("http://a.example/{url} 192.0.2.1 20010203040506 text/html");
        let (text, damage) = converted([FIRST, &record(&line, "")].concat().as_bytes(), 4096);
        assert_eq!(damage.len(), 1, "{damage:?}");
        assert!(damage[0].contains(MISPLACED));
        assert_eq!(text.matches("WARC/1.0").count(), 1);
        let url = " ".repeat(MAX_LINE as usize - 100);
        let line = format!("http://a.example/{url} 192.0.2.1 20010203040506 text/html");
        let (text, damage) = converted([FIRST, &record(&line, "")].concat().as_bytes(), 4096);
        assert_eq!(damage, [""; 0]);
        assert!(text.len() < 1 << 20);
    }
}
