//! Parses an HTTP response: status, the headers that decide an outcome, decoded body.

use super::capture::{CaptureAnswer, CapturedResponse, RetryAfter};
pub(crate) use super::codings::MAX_KEPT;
use super::codings::{begins_with_chunk, codings, decode_all};
use crate::bytes::trim;
use crate::robots::line::MAX_BODY;
use bstr::ByteSlice;
use bytes::Bytes;
use std::borrow::Cow;

/// The values of the first headers of these names, in a block of `Name: value` lines.
pub(crate) fn headers<'a, const N: usize>(
    block: &'a [u8],
    names: [&str; N],
) -> [Option<&'a [u8]>; N] {
    let mut values = [None; N];
    for (found, value) in fields(block) {
        for (first, name) in values.iter_mut().zip(names) {
            if first.is_none() && found.eq_ignore_ascii_case(name.as_bytes()) {
                *first = Some(value);
            }
        }
    }
    values
}

/// The names and values of the fields in a block.
fn fields(block: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = block;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (field, after) = rest.split_at(field_len(rest));
            rest = after;
            if let Some(found) = name_and_value(field) {
                return Some(found);
            }
        }
        None
    })
}

/// The length of the first field: a line, and the lines after it that begin with a blank, which go on
/// with its value (ISO 28500 §4).
fn field_len(text: &[u8]) -> usize {
    let mut end = 0;
    loop {
        end += memchr::memchr(b'\n', &text[end..]).map_or(text.len() - end, |at| at + 1);
        if !matches!(text.get(end), Some(b' ' | b'\t')) {
            return end;
        }
    }
}

/// The name and the value of a header line, if it is one.
#[inline]
fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_at_checked(memchr::memchr(b':', line)?)?;
    Some((trim(name), trim(&value[1..])))
}

/// A value in one line: a line that begins with a blank continues the value of the line before it
/// (RFC 9112 §5.2).
fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut out = Vec::with_capacity(value.len());
    for line in value.lines_with_terminator() {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            out.truncate(out.trim_end_with(|c| matches!(c, '\r' | '\n')).len());
        }
        out.extend_from_slice(line);
    }
    Cow::Owned(out)
}

/// The fields of a response that decide an outcome, found in one pass. Those that are lists may be
/// in several lines (RFC 9110 §5.3).
#[derive(Default)]
struct ResponseHeaders<'h> {
    location: Option<Cow<'h, [u8]>>,
    retry_after: Option<Cow<'h, [u8]>>,
    cache_control: Vec<Cow<'h, [u8]>>,
    content_encoding: Vec<Cow<'h, [u8]>>,
    transfer_encoding: Vec<Cow<'h, [u8]>>,
    content_length: Vec<Cow<'h, [u8]>>,
    content_range: Option<Cow<'h, [u8]>>,
}

impl<'h> ResponseHeaders<'h> {
    fn of(head: &'h [u8]) -> Self {
        let mut found = Self::default();
        for (name, value) in fields(head) {
            let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
            // Few names have one of these lengths, so most are dismissed by it.
            match name.len() {
                8 if is(b"Location") => {
                    found.location.get_or_insert_with(|| unfolded(value));
                }
                11 if is(b"Retry-After") => {
                    found.retry_after.get_or_insert_with(|| unfolded(value));
                }
                13 if is(b"Cache-Control") => found.cache_control.push(unfolded(value)),
                13 if is(b"Content-Range") => {
                    found.content_range.get_or_insert_with(|| unfolded(value));
                }
                14 if is(b"Content-Length") => found.content_length.push(unfolded(value)),
                16 if is(b"Content-Encoding") => found.content_encoding.push(unfolded(value)),
                17 if is(b"Transfer-Encoding") => found.transfer_encoding.push(unfolded(value)),
                _ => {}
            }
        }
        found
    }
}

/// The header fields of the final HTTP response in `block`, in their order; none if there is no
/// response.
///
/// A line that begins with a blank goes on with the value of the line before it (RFC 9112 §5.2). A
/// last line without its end may be cut, so it is left out.
pub(crate) fn response_fields(block: &[u8]) -> Vec<(&[u8], Cow<'_, [u8]>)> {
    let mut fields: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
    let Some(response) = SplitResponse::of(block) else {
        return fields;
    };
    // Whether the line before is a field, so that its value can go on.
    let mut is_field = false;
    let lines = response
        .head
        .lines_with_terminator()
        .skip(1)
        .take_while(|line| line.ends_with(b"\n") && *line != b"\n" && *line != b"\r\n");
    for line in lines {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let (true, Some((_, value))) = (is_field, fields.last_mut()) {
                let value = value.to_mut();
                value.push(b' ');
                value.extend_from_slice(trim(line));
            }
            continue;
        }
        let field = name_and_value(line);
        is_field = field.is_some();
        fields.extend(field.map(|(name, value)| (name, Cow::Borrowed(value))));
    }
    fields
}

/// The longest head of a response. With it, a WARC record of which 1 MiB is kept has all of a body
/// that counts. Real heads have a few KB.
const MAX_HEAD: usize = 1 << 19;

/// A response that is cut into head and body.
struct SplitResponse<'b> {
    status: u16,
    /// The lines from the status line through the blank line.
    head: &'b [u8],
    /// Whether the blank line is there, within [`MAX_HEAD`] bytes.
    is_whole: bool,
    body: &'b [u8],
}

impl<'b> SplitResponse<'b> {
    /// Splits the final response: interim ones (RFC 9110 §15.2) may precede it. `None` if the block
    /// does not begin with a status line.
    fn of(block: &'b [u8]) -> Option<Self> {
        let mut rest = block;
        loop {
            let (head, body) = rest.split_at(head_len(rest));
            let status = status_of(head)?;
            if is_interim(status) && status_of(body).is_some() {
                rest = body;
                continue;
            }
            let has_blank_line = head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n");
            return Some(Self {
                status,
                head,
                is_whole: has_blank_line && block.len() - body.len() <= MAX_HEAD,
                body,
            });
        }
    }

    /// The response without its body, given the fields of its head.
    fn without_body(&self, headers: &ResponseHeaders<'_>) -> CapturedResponse {
        let retry = headers.retry_after.as_deref();
        CapturedResponse {
            status: self.status,
            location: headers.location.as_deref().map(<[u8]>::to_vec),
            max_age: max_age(&headers.cache_control),
            retry_after: retry.and_then(|value| retry_after(self.status, value)),
            ..CapturedResponse::default()
        }
    }
}

/// Whether another response follows one of this status. 101 is final: another protocol follows.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// The length of the head, from the status line through the blank line; the body follows.
fn head_len(block: &[u8]) -> usize {
    let mut at = 0;
    for line in block.lines_with_terminator() {
        at += line.len();
        if line == b"\n" || line == b"\r\n" {
            break;
        }
    }
    at
}

/// Parses a response of which only the head was recorded, perhaps without its blank line.
///
/// # Errors
/// The cause in a few words if it is not an HTTP response.
pub(super) fn parse_head(block: &[u8]) -> CaptureAnswer {
    let response = SplitResponse::of(block).ok_or(NOT_HTTP)?;
    Ok(response.without_body(&ResponseHeaders::of(response.head)))
}

/// Parses a whole response. `cut_short`: the archive kept only its beginning.
///
/// Codings of `Content-Encoding` and `Transfer-Encoding` are decoded in reverse order. Common Crawl
/// renames the headers to `X-Crawler-…` after decoding, so those do not count. An incomplete
/// response is a failed fetch: as a robots.txt, it would allow URLs that the site may disallow.
///
/// # Errors
/// The cause of the failed fetch in a few words.
pub(super) fn parse(block: Bytes, cut_short: bool) -> CaptureAnswer {
    let split = SplitResponse::of(&block).ok_or(NOT_HTTP)?;
    let headers = ResponseHeaders::of(split.head);
    let mut response = split.without_body(&headers);
    let is_success = (200..300).contains(&split.status);
    // The status of a cut head counts if no header may change its meaning (RFC 9112 §8).
    let needs_headers = is_success || (300..400).contains(&split.status) && split.status != 304;
    if needs_headers && !split.is_whole {
        return Err("the head of the response is incomplete".to_owned());
    }
    // Only the body of a success can be a robots.txt.
    if !is_success {
        return Ok(response);
    }
    let body =
        BodyHeaders::of(&headers).decode(split.status, split.body, Recorder::Network, cut_short)?;
    response.cut_short = body.is_start;
    response.body = match body.bytes {
        Cow::Borrowed(bytes) => block.slice_ref(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(response)
}

const NOT_HTTP: &str = "not an HTTP response";

/// Whether the block of a record is a response whose body begins with a chunk. Chunks may be many
/// times as long as their content.
pub(super) fn has_chunks(block: &[u8]) -> bool {
    SplitResponse::of(block).is_some_and(|response| {
        let headers = ResponseHeaders::of(response.head);
        let codings = codings(&headers.transfer_encoding);
        codings.iter().any(|coding| coding == b"chunked") && begins_with_chunk(response.body)
    })
}

/// The headers of a response that say how its body is coded, and how long it is.
#[derive(Debug)]
pub(super) struct BodyHeaders {
    /// The codings, in decoding order.
    codings: Vec<Vec<u8>>,
    /// The largest `Content-Length`; that of a chunked response does not count.
    length: Option<u64>,
    range: Option<ContentRange>,
}

/// The source of a recorded body: what may differ from the bytes that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorder {
    /// The bytes of the connection. A coding may be decoded, with its header still there.
    Network,
    /// The bytes of an HTTP client. A coding may be decoded, and its header removed, but not the
    /// `Content-Length`: Scrapy does so.
    Client,
    /// The text of an HTTP client, which also converts it to Unicode.
    ClientText,
}

/// A decoded body.
pub(super) struct DecodedBody<'b> {
    /// A little over the first 500 KiB at most.
    pub bytes: Cow<'b, [u8]>,
    /// Whether it is only the beginning of the body, so that its last line may be cut.
    pub is_start: bool,
}

impl BodyHeaders {
    fn of(headers: &ResponseHeaders<'_>) -> Self {
        let content = &headers.content_encoding;
        Self::new(
            content.iter().chain(&headers.transfer_encoding),
            &headers.content_length,
            headers.content_range.as_ref(),
        )
    }

    /// From the values of the headers: codings in the order in which they were applied, lengths,
    /// and the `Content-Range`.
    pub(super) fn new<V: AsRef<[u8]>>(
        applied: impl IntoIterator<Item = V>,
        lengths: impl IntoIterator<Item = V>,
        range: Option<V>,
    ) -> Self {
        let codings = codings(applied);
        // Chunks say by themselves where the body ends (RFC 9112 §6.3).
        let is_chunked = codings.iter().any(|coding| coding == b"chunked");
        Self {
            length: declared_length(lengths).filter(|_| !is_chunked),
            range: range.and_then(|range| ContentRange::parse(range.as_ref())),
            codings,
        }
    }

    /// Decodes the body of a 2xx response. `cut_short`: the archive kept only its beginning.
    ///
    /// # Errors
    /// The cause in a few words if the body is damaged, incomplete, or of an unsupported coding.
    pub(super) fn decode<'b>(
        &self,
        status: u16,
        body: &'b [u8],
        recorder: Recorder,
        cut_short: bool,
    ) -> Result<DecodedBody<'b>, String> {
        // RFC 9110 §15.3.7: a 206 says which part it has.
        let part = match (status, self.range) {
            (206, None) => return Err("a 206 without a valid Content-Range".to_owned()),
            (206, range) => range,
            _ => None,
        };
        if part.is_some_and(|part| !part.has_all_that_counts()) {
            return Err("a 206 with a part of the body".to_owned());
        }
        let mut is_start = cut_short || part.is_some_and(|part| !part.is_whole());
        let bytes = decode_all(&self.codings, body, is_start)?;
        let part_len = part.map(ContentRange::len);
        // A body that was coded ends where its coding says so.
        if let (Some(sent), Cow::Borrowed(bytes), false) =
            (self.length.max(part_len), &bytes, cut_short)
            && bytes.len() < MAX_KEPT
            && !recorder.may_have_got(sent, bytes, !self.codings.is_empty())
        {
            if bytes.len() < MAX_BODY {
                return Err("the body is shorter than its Content-Length".to_owned());
            }
            // It broke off, or its recorder stopped, after the bytes that count.
            is_start = true;
        }
        if is_start && bytes.is_empty() {
            return Err("nothing of the body was recorded".to_owned());
        }
        Ok(DecodedBody { bytes, is_start })
    }
}

impl Recorder {
    /// Whether a body may be all of a body that was sent with this length. `is_coded`: a header
    /// names a coding, so the recorder decoded it.
    fn may_have_got(self, sent: u64, body: &[u8], is_coded: bool) -> bool {
        let len = body.len() as u64;
        // Compression makes only short texts longer: gzip adds 18 bytes and the name of a file. It
        // makes 20 bytes of nothing.
        let coded = match len {
            0 if is_coded => 20,
            1..256 if is_coded || self != Self::Network => len + 64,
            _ => len,
        };
        if sent <= coded || self != Self::ClientText {
            return sent <= coded;
        }
        // A byte order mark and line ends at the end may be removed. UTF-16 becomes half as long.
        let utf16 = 2 * body.to_str_lossy().encode_utf16().count() as u64;
        sent <= len + 7 || (utf16..=utf16 + 2).contains(&sent)
    }
}

/// The largest `Content-Length` in the values of its headers. All should be equal (RFC 9110 §8.6);
/// the largest one finds a body that is incomplete by any of them.
fn declared_length<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Option<u64> {
    let mut largest = None;
    for value in values {
        let lengths = value.as_ref().split_str(",").map(trim);
        largest = lengths.filter_map(decimal).max().max(largest);
    }
    largest
}

/// A number of digits only. `None` for other texts; larger numbers than fit count as the largest.
fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(u64::MAX)
    })
}

/// The value of a `Content-Range` (RFC 9110 §14.4): the first and last byte of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentRange {
    first: u64,
    last: u64,
    /// The length of the whole body, if it is known.
    total: Option<u64>,
}

impl ContentRange {
    /// From `bytes 0-33/5000`. `None` if it is not valid, or counts in another unit.
    fn parse(value: &[u8]) -> Option<Self> {
        let (unit, range) = value.trim_ascii().split_once_str(" ")?;
        let (part, total) = range.split_once_str("/")?;
        let (first, last) = part.split_once_str("-")?;
        let range = Self {
            first: decimal(trim(first))?,
            last: decimal(trim(last))?,
            total: decimal(trim(total)),
        };
        let is_valid = range.first <= range.last
            && range.total.is_none_or(|total| range.last < total)
            && range.last < u64::MAX;
        (unit.eq_ignore_ascii_case(b"bytes") && is_valid).then_some(range)
    }

    fn len(self) -> u64 {
        self.last - self.first + 1
    }

    fn is_whole(self) -> bool {
        self.total == Some(self.len())
    }

    /// Whether the part is the whole body, or its beginning with the 500 KiB that count.
    fn has_all_that_counts(self) -> bool {
        self.is_whole() || self.first == 0 && self.len() >= MAX_BODY as u64
    }
}

/// The body of a 2xx response as an HTTP client hands it over, without the codings of its
/// `Content-Encoding` headers; `None` if it is damaged, incomplete or of an unsupported coding, so
/// that the response counts as a failure.
///
/// Supported are `gzip`, `deflate`, `br` and `zstd`. Many clients decode the body and leave the
/// header. So a text that does not decode is returned as it is. A body that is shorter than its
/// `Content-Length` is incomplete (RFC 9112 §8), and so is a part of a body: `Content-Range` (RFC
/// 9110 §14.4). Other headers do not count: a client removes transfer codings. Of a decoded body, a
/// little over the first 500 KiB is returned.
///
/// ```
/// use robosieve::compile::decode_body;
/// let headers = [("Content-Encoding", "gzip")];
/// assert_eq!(decode_body(b"user-agent: *", headers).as_deref(), Some(&b"user-agent: *"[..]));
/// assert_eq!(decode_body(b"\x1f\x8bdamaged", headers), None);
/// assert_eq!(decode_body(b"user-agent", [("content-length", "13")]), None);
/// assert_eq!(decode_body(b"user-agent", [("content-range", "bytes 0-9/13")]), None);
/// ```
pub fn decode_body<N: AsRef<[u8]>, V: AsRef<[u8]>>(
    body: &[u8],
    headers: impl IntoIterator<Item = (N, V)>,
) -> Option<Cow<'_, [u8]>> {
    let mut encodings = Vec::new();
    let mut lengths = Vec::new();
    let mut range = None;
    for (name, value) in headers {
        match name.as_ref().to_ascii_lowercase().as_slice() {
            b"content-encoding" => encodings.push(value),
            b"content-length" => lengths.push(value),
            b"content-range" => range = range.or(Some(value)),
            _ => {}
        }
    }
    // Only a 206 has this header, among the successes.
    let status = if range.is_some() { 206 } else { 200 };
    let headers = BodyHeaders::new(encodings, lengths, range);
    let body = headers
        .decode(status, body, Recorder::Network, false)
        .ok()?;
    // Its caller cannot know that the last line is cut.
    let has_cut_line = body.is_start && body.bytes.len() < MAX_KEPT;
    (!has_cut_line).then_some(body.bytes)
}

/// The status in the first line of a head, `HTTP/1.1 200 OK`.
pub(crate) fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|&b| b == b'\n').next()?;
    let rest = line
        .strip_prefix(b"HTTP/")
        .or_else(|| line.strip_prefix(b"http/"))?;
    let code = rest
        .split(|&b| b == b' ')
        .filter(|word| !word.is_empty())
        .nth(1)?;
    std::str::from_utf8(trim(code))
        .ok()?
        .parse()
        .ok()
        .filter(|status| (100..1000).contains(status))
}

/// The first `max-age` in seconds of the `Cache-Control` headers with these values, which are one
/// list (RFC 9110 §5.3). Other cache directives are ignored.
pub(super) fn max_age<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Option<u32> {
    values.into_iter().find_map(|value| {
        value.as_ref().split_str(",").find_map(|directive| {
            let (name, seconds) = directive.split_once_str("=")?;
            trim(name)
                .eq_ignore_ascii_case(b"max-age")
                .then(|| delta_seconds(trim(seconds).trim_with(|c| c == '"')))?
        })
    })
}

/// The value of the `Retry-After` header of a response with this status; `None` if it is neither
/// seconds nor a time, or if the status has another meaning than "later": only a 429 and the 5xx do
/// not answer.
pub(super) fn retry_after(status: u16, value: &[u8]) -> Option<RetryAfter> {
    if status != 429 && !(500..600).contains(&status) {
        return None;
    }
    let value = trim(value);
    delta_seconds(value)
        .map(RetryAfter::Seconds)
        .or_else(|| http_date(std::str::from_utf8(value).ok()?).map(RetryAfter::At))
}

/// A number of seconds, as several headers have it. Larger numbers count as `u32::MAX - 1` (RFC 9111
/// §1.2.2).
fn delta_seconds(text: &[u8]) -> Option<u32> {
    Some(decimal(text)?.min(u64::from(u32::MAX - 1)) as u32)
}

/// The time of an HTTP-date in seconds since 1970, in any of its three forms (RFC 9110 §5.6.7). The
/// day of the week is not compared with the date.
fn http_date(text: &str) -> Option<i64> {
    const CURRENT: jiff::fmt::rfc2822::DateTimeParser =
        jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    if let Ok(time) = CURRENT.parse_timestamp(text) {
        return Some(time.as_second());
    }
    // The forms of RFC 850 and of C's `asctime`, which recipients must still parse. Both are in UTC.
    let (_, date) = text.split_once(' ')?;
    ["%d-%b-%y %H:%M:%S GMT", "%b %e %H:%M:%S %Y"]
        .iter()
        .find_map(|format| jiff::civil::DateTime::strptime(format, date).ok())
        .and_then(|time| jiff::tz::Offset::UTC.to_timestamp(time).ok())
        .map(jiff::Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;
    use std::io::Write;

    #[test]
    fn the_first_header_of_a_name_counts() {
        let block = b"HTTP/1.1 301\r\n\
                      x-location: 0\r\n\
                      Location2: 1\r\n\
                      Location\r\n\
                      :2\r\n\
                      LOCATION :\r\n\t3:4 \r\n\
                      Location:5";
        assert_eq!(
            headers(block, ["Age", "Location", "x-LOCATION"]),
            [None, Some(&b"3:4"[..]), Some(b"0")]
        );
        assert_eq!(
            headers(&block[block.len() - 10..], ["location"]),
            [Some(&b"5"[..])]
        );
        assert_eq!(headers(b"", ["Age"]), [None]);
    }

    #[test]
    fn fields_of_a_response_are_unfolded_and_whole() {
        let fields = |block: &str| -> Vec<String> {
            let fields = response_fields(block.as_bytes());
            let shown = fields
                .iter()
                .map(|(name, value)| format!("{}={}", name.as_bstr(), value.as_bstr()));
            shown.collect()
        };
        let head =
            "HTTP/1.1 200 OK\r\n folded: 0\r\nA: 1\r\nb : 2 \r\n\t3\n 4\r\nnoise\r\n 5\r\na: 6\r\n";
        assert_eq!(
            fields(&format!("{head}\r\nA: 7\r\n")),
            ["A=1", "b=2 3 4", "a=6"]
        );
        assert_eq!(fields(&format!("{head}cut: 7")), ["A=1", "b=2 3 4", "a=6"]);
        for block in [
            "",
            "HTTP/1.1 200",
            "A: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nA: 1\r\n\r\n",
        ] {
            assert!(fields(block).is_empty(), "{block:?}");
        }
    }

    #[test]
    fn head_and_body_are_separated() {
        let response = |block: &'static [u8]| parse(Bytes::from_static(block), false).unwrap();
        let r = response(
            b"HTTP/1.1 200 OK\r\ncache-control: public, Max-Age=60\r\n\r\nbody\r\n\r\nmore",
        );
        assert_eq!(
            (r.status, r.max_age, &r.body[..]),
            (200, Some(60), b"body\r\n\r\nmore".as_slice())
        );
        let r = response(b"HTTP/2 301\nLocation: /x y \n\n");
        assert_eq!(
            (r.status, r.location.as_deref()),
            (301, Some(b"/x y".as_slice()))
        );
        for bad in [
            &b""[..],
            b"\r\n",
            b"HTTP/1.1",
            b"HTTP/1.1 abc\r\n\r\n",
            b"HTTP/1.1 99999 x",
            b"<html>",
        ] {
            assert!(parse(bad.into(), false).is_err(), "{bad:?}");
        }
    }

    /// RFC 9110 §10.2.3 and §5.6.7. The date is that of the RFC's examples.
    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let retry_after = |status: u16, value: &str| {
            let block = format!("HTTP/1.1 {status} x\r\nretry-after: {value}\r\n\r\n");
            parse(block.into(), false).unwrap().retry_after
        };
        let seconds = |value: &str| match retry_after(503, value) {
            Some(RetryAfter::Seconds(seconds)) => Some(seconds),
            _ => None,
        };
        assert_eq!(
            [
                "0",
                "120",
                "4294967294",
                "4294967295",
                "99999999999999999999"
            ]
            .map(seconds),
            [
                Some(0),
                Some(120),
                Some(u32::MAX - 1),
                Some(u32::MAX - 1),
                Some(u32::MAX - 1)
            ]
        );
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Mon, 6 Nov 1994 08:49:37 GMT",
            "06 Nov 1994 08:49:37 +0000",
        ] {
            assert_eq!(
                retry_after(503, date),
                Some(RetryAfter::At(784_111_777)),
                "{date}"
            );
        }
        for wrong in [
            "",
            "-1",
            "+1",
            "1.5",
            "5 s",
            "soon",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "1994-11-06",
            "Sun, 06 Nov 1994",
            "\u{ff}",
        ] {
            assert_eq!(retry_after(503, wrong), None, "{wrong:?}");
        }
        for status in [429, 500, 599] {
            assert_eq!(retry_after(status, "7"), Some(RetryAfter::Seconds(7)));
        }
        for status in [200, 301, 304, 404, 600] {
            assert_eq!(retry_after(status, "7"), None, "{status}");
        }
        let at = RetryAfter::At(1000);
        assert_eq!(
            [
                at.seconds(Some(400)),
                at.seconds(Some(1001)),
                at.seconds(None)
            ],
            [Some(600), Some(0), None]
        );
        assert_eq!(RetryAfter::Seconds(7).seconds(None), Some(7));
        assert_eq!(
            RetryAfter::At(i64::MAX).seconds(Some(i64::MIN)),
            Some(u32::MAX - 1)
        );
    }

    /// The decoded body under these headers, or the error.
    fn outcome(headers: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let block = [
            b"HTTP/1.1 200 OK\r\n",
            headers.as_bytes(),
            b"\r\n\r\n",
            body,
        ]
        .concat();
        parse(block.into(), false).map(|response| response.body.to_vec())
    }

    /// RFC 9110 §8.4 and §5.3, RFC 9112 §6.1.
    #[test]
    fn codings_are_decoded_in_order() {
        let plain = b"user-agent: *".as_slice();
        let (once, twice) = (gzip(plain), gzip(&gzip(plain)));
        let chunked = |body: &[u8]| {
            [
                format!("{:x}\r\n", body.len()).as_bytes(),
                body,
                b"\r\n0\r\n\r\n",
            ]
            .concat()
        };
        let (zlib, zstd) = (
            flate2::Compression::fast(),
            zstd::encode_all(once.as_slice(), 1).unwrap(),
        );
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), zlib);
        raw.write_all(plain).unwrap();
        let raw = raw.finish().unwrap();
        let brotli_stream = stored_in_brotli(plain);
        for (headers, body) in [
            ("Content-Encoding: gzip", once.as_slice()),
            ("Content-Encoding: gzip, gzip", &twice),
            (
                "Content-Encoding: gzip\r\nVary: x\r\ncontent-encoding: GZIP",
                &twice,
            ),
            ("Content-Encoding: identity, gzip", &once),
            ("Content-Encoding: gzip,", &once),
            ("Content-Encoding: ,gzip;q=1 ,", &once),
            ("Content-Encoding: gzip, zstd", &zstd),
            ("Content-Encoding: deflate", &raw),
            ("Content-Encoding: br", &brotli_stream),
            ("Content-Encoding: br, gzip", &gzip(&brotli_stream)),
            (
                "Content-Encoding: br\r\nTransfer-Encoding: chunked",
                &chunked(&brotli_stream),
            ),
            ("Transfer-Encoding: gzip, chunked", &chunked(&once)),
            (
                "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
                &chunked(&once),
            ),
            (
                "Content-Encoding: gzip\r\nTransfer-Encoding: chunked",
                &chunked(&once),
            ),
            ("Transfer-Encoding: chunked", &chunked(plain)),
            ("X-Crawler-Content-Encoding: gzip", plain),
            ("Content-Encoding: gzip, gzip", plain),
            ("Content-Encoding: utf-8", plain),
            ("Content-Encoding: identity\r\nContent-Length: 13", plain),
            ("Content-Length: 13", plain),
            ("Content-Length: 12", plain),
            ("Content-Length: x", plain),
            ("X-Crawler-Content-Length: 99", plain),
        ] {
            assert_eq!(outcome(headers, body).as_deref(), Ok(plain), "{headers}");
        }
    }

    /// A brotli stream with a stored block, by RFC 7932 §9.1 and §9.2: a window of 64 KiB, the block,
    /// and an empty last one.
    fn stored_in_brotli(text: &[u8]) -> Vec<u8> {
        let bits = u32::try_from(text.len() - 1).unwrap() << 4 | 1 << 20;
        let mut out = bits.to_le_bytes()[..3].to_vec();
        out.extend_from_slice(text);
        out.push(3);
        out
    }

    /// The start of a brotli stream that has no control characters.
    const PRINTABLE: &[u8] = b"\x8b\xf0\xa5\xc3n\xe1\xb7k\x99\xd2\xfe";

    /// Recorders decode a body and keep its headers.
    #[test]
    fn texts_that_are_not_coded_are_used_as_they_are() {
        let plain = b"user-agent: *\r\ndisallow: /x\r\n".as_slice();
        let latin = b"# caf\xe9\nuser-agent: *";
        for coding in ["gzip", "deflate", "br", "zstd", "compress", "gzip, br"] {
            for body in [
                plain,
                latin,
                "# \u{43f}\u{440}\u{438}".as_bytes(),
                b"s",
                b"",
            ] {
                let headers = format!("Content-Encoding: {coding}");
                assert_eq!(outcome(&headers, body).as_deref(), Ok(body), "{coding}");
            }
        }
        // A stream of deflate ends after the first bytes of this text.
        let first_words: Vec<String> = (b' '..0x7f)
            .flat_map(|a| (b' '..0x7f).map(move |b| format!("{}{}{plain:?}", a as char, b as char)))
            .collect();
        for text in &first_words {
            let found = outcome("Content-Encoding: deflate", text.as_bytes());
            assert_eq!(found.as_deref(), Ok(text.as_bytes()));
        }
        let coded = gzip(plain);
        let no_chunks = "Transfer-Encoding: chunked";
        for (headers, body, expected) in [
            (no_chunks, plain, plain),
            (no_chunks, b"", b""),
            (no_chunks, b"\r\nuser-agent: *", b"\r\nuser-agent: *"),
            (no_chunks, b"abc:\n", b"abc:\n"),
            (no_chunks, b";5\n", b";5\n"),
            (
                "Content-Encoding: gzip\r\nTransfer-Encoding: chunked",
                &coded,
                plain,
            ),
            (
                "Transfer-Encoding: gzip, chunked\r\nContent-Length: -1",
                &coded,
                plain,
            ),
            (
                "Content-Length: 9999\r\nTransfer-Encoding: chunked",
                plain,
                plain,
            ),
            // Chunks with leading zeros, extensions and blanks.
            (
                no_chunks,
                b"000005 ;a=b\r\nuser-\r\n5;c\nagent\n0\r\n\r\n",
                b"user-agent",
            ),
            (
                no_chunks,
                b"a  \r\nuser-agent\r\n0\r\nX: trailer\r\n\r\n",
                b"user-agent",
            ),
            (no_chunks, b"0\r\n\r\n", b""),
        ] {
            assert_eq!(outcome(headers, body).as_deref(), Ok(expected), "{headers}");
        }
        // The first line is the length of a chunk, so these had chunks.
        for body in [
            "5",
            "5\r\nuse",
            "a\r\nuser-agent",
            "add\r\nuser-agent: *",
            "5\r\nuser-\r\nuser",
            "fffffffffffffffff\r\na",
        ] {
            assert!(outcome(no_chunks, body.as_bytes()).is_err(), "{body:?}");
        }
    }

    /// Every coding can store a text as it is. Without its end, such a stream is mostly text.
    #[test]
    fn cut_streams_of_stored_text_are_failures() {
        let text = "User-agent: *\nDisallow: /x\n".repeat(40).into_bytes();
        let stored = flate2::Compression::none();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), stored);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), stored);
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), stored);
        gzip.write_all(&text).unwrap();
        zlib.write_all(&text).unwrap();
        deflate.write_all(&text).unwrap();
        // A zstd frame with one raw block (RFC 8878 §3.1.1).
        let mut zstd = b"\x28\xb5\x2f\xfd\0\x38".to_vec();
        zstd.extend_from_slice(&(u32::try_from(text.len()).unwrap() << 3 | 1).to_le_bytes()[..3]);
        zstd.extend_from_slice(&text);
        // The streams of Google's encoder begin so, for a window of 4 MiB.
        let mut large_window = b"\x8b\x0c\x80".to_vec();
        large_window.extend_from_slice(b"User-agent: *\nDisallow: /x\x03");
        for (coding, stream) in [
            ("gzip", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("zstd", zstd),
            ("br", stored_in_brotli(&text)),
            ("br", large_window),
        ] {
            let headers = format!("Content-Encoding: {coding}");
            assert!(outcome(&headers, &stream).is_ok(), "{coding}");
            for len in [stream.len() - 1, stream.len() / 2, 16] {
                assert!(outcome(&headers, &stream[..len]).is_err(), "{coding} {len}");
            }
        }
    }

    /// RFC 9112 §8: without its blank line, a head may lack the headers that give the status its
    /// meaning.
    #[test]
    fn cut_heads_of_successes_and_redirects_are_failures() {
        let long = |len: usize| format!("X: {}\r\n\r\n", "x".repeat(len));
        for (status, is_answer) in [
            (200, false),
            (204, false),
            (301, false),
            (304, true),
            (404, true),
            (503, true),
        ] {
            for (rest, is_whole) in [
                ("", false),
                (" OK", false),
                (" OK\r\n", false),
                (" OK\r\nContent-Ty", false),
                (" OK\r\nA: b\r\n", false),
                (" OK\r\nA: b\r\n\r", false),
                (" OK\r\nA: b\r\n\r\n", true),
                (" OK\n\n", true),
                (&format!(" OK\r\n{}", long(MAX_HEAD - 40)), true),
                (&format!(" OK\r\n{}", long(MAX_HEAD)), false),
            ] {
                let block = format!("HTTP/1.1 {status}{rest}");
                for cut_short in [false, true] {
                    // Where the archive kept nothing of a body, there are no rules either.
                    let has_no_body = cut_short && (200..300).contains(&status);
                    let found = parse(block.clone().into(), cut_short);
                    let expected = is_answer || is_whole && !has_no_body;
                    assert_eq!(
                        found.is_ok(),
                        expected,
                        "{status} {:?}",
                        &rest[..rest.len().min(30)]
                    );
                }
                assert_eq!(parse_head(block.as_bytes()).unwrap().status, status);
            }
        }
    }

    /// RFC 9112 §5.2.
    #[test]
    fn folded_headers_are_one_line() {
        let head = b"HTTP/1.1 200 OK\r\n X: 0\r\nA:\r\n b,\n\tc\r\nD: e\r\n \r\n\r\n";
        let lines = b"HTTP/1.1 200 OK X: 0\r\nA: b,\tc\r\nD: e \r\n\r\n";
        assert_eq!(&*unfolded(head), lines);
        let plain = b"user-agent: *".as_slice();
        let coded = gzip(plain);
        for (headers, body) in [
            ("Content-Encoding:\r\n gzip", coded.as_slice()),
            ("Content-Encoding: identity,\r\n\tgzip", &coded),
            (
                "Transfer-Encoding:\n chunked",
                b"d\r\nuser-agent: *\r\n0\r\n\r\n",
            ),
        ] {
            assert_eq!(outcome(headers, body).as_deref(), Ok(plain), "{headers}");
        }
        assert!(outcome("Content-Length:\r\n 14", plain).is_err());
        let moved =
            b"HTTP/1.1 301 x\r\nLocation:\r\n /x\r\nCache-Control: public,\r\n max-age=5\r\n\r\n";
        let response = parse(moved.as_slice().into(), false).unwrap();
        assert_eq!(response.location.as_deref(), Some(&b"/x"[..]));
        assert_eq!(response.max_age, Some(5));
    }

    /// RFC 9110 §15.2.
    #[test]
    fn interim_responses_are_skipped() {
        let last = "HTTP/1.1 200 OK\r\nA: 2\r\n\r\nuser-agent: *";
        for interim in [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nA: 1\r\nLocation: /x\r\n\r\nHTTP/1.1 102 x\r\n\r\n",
        ] {
            let block = format!("{interim}{last}");
            let response = parse(block.clone().into(), false).unwrap();
            assert_eq!(
                (response.status, &response.body[..]),
                (200, &b"user-agent: *"[..])
            );
            assert_eq!(response.location, None);
            assert_eq!(
                response_fields(block.as_bytes()),
                [(&b"A"[..], Cow::Borrowed(&b"2"[..]))]
            );
        }
        for (block, status) in [
            ("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), 100),
            ("HTTP/1.1 100 Continue\r\n\r\n<html>".to_owned(), 100),
            (
                format!("HTTP/1.1 101 Switching Protocols\r\n\r\n{last}"),
                101,
            ),
        ] {
            assert_eq!(parse(block.into(), false).unwrap().status, status);
        }
        assert!(
            parse(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n".into(),
                false
            )
            .is_err()
        );
    }

    /// RFC 9110 §5.3: several headers of a name are one list.
    #[test]
    fn lists_may_be_on_several_lines() {
        let max_age = |headers: &str| {
            let block = format!("HTTP/1.1 404 x\r\n{headers}\r\n\r\n");
            parse(block.into(), false).unwrap().max_age
        };
        for (headers, expected) in [
            (
                "Cache-Control: public\r\nVary: x\r\ncache-control: max-age=60",
                Some(60),
            ),
            (
                "Cache-Control: max-age=1, max-age=2\r\nCache-Control: max-age=3",
                Some(1),
            ),
            (
                "Cache-Control: max-age=x\r\nCache-Control: MAX-AGE = \"3\"",
                Some(3),
            ),
            (
                "Cache-Control: max-age=99999999999999999999",
                Some(u32::MAX - 1),
            ),
            ("Cache-Control: s-maxage=1\r\nCache-Control: no-cache", None),
        ] {
            assert_eq!(max_age(headers), expected, "{headers}");
        }
        // RFC 9110 §8.6: a proxy may have repeated the length.
        let whole = b"user-agent: *";
        for (headers, is_whole) in [
            ("Content-Length: 13, 13", true),
            ("Content-Length: 13\r\nContent-Length: 13", true),
            ("Content-Length: 14, 14", false),
            ("Content-Length: 13\r\nContent-Length: 14", false),
            ("Content-Length: 14\r\nContent-Length: 13", false),
            ("Content-Length: 99999999999999999999", false),
            ("Content-Length: +14", true),
        ] {
            assert_eq!(outcome(headers, whole).is_ok(), is_whole, "{headers}");
        }
    }

    /// RFC 9110 §15.3.7.
    #[test]
    fn parts_of_a_body_are_failures() {
        let outcome = |headers: &str, len: usize| {
            let block = format!("HTTP/1.1 206 x\r\n{headers}\r\n\r\n{}", "#".repeat(len));
            parse(block.into(), false)
                .ok()
                .map(|response| response.cut_short)
        };
        for (headers, len, expected) in [
            ("Content-Range: bytes 0-33/34", 34, Some(false)),
            ("content-range:BYTES 0 - 33 / 34 ", 34, Some(false)),
            ("Content-Range: bytes 0-33/34", 33, None),
            ("Content-Range: bytes 0-33/5000", 34, None),
            ("Content-Range: bytes 0-33/*", 34, None),
            ("Content-Range: bytes 1-33/34", 33, None),
            ("Content-Range: bytes 0-33/33", 34, None),
            ("Content-Range: lines 0-33/34", 34, None),
            ("Content-Range: bytes */34", 34, None),
            ("Content-Type: multipart/byteranges; boundary=x", 34, None),
            ("", 34, None),
            // Crawlers ask for the 500 KiB that count. The last line of them may be cut.
            ("Content-Range: bytes 0-511999/900000", 512_000, Some(true)),
            ("Content-Range: bytes 0-511999/*", 512_000, Some(true)),
            ("Content-Range: bytes 0-511999/512000", 512_000, Some(false)),
            ("Content-Range: bytes 0-511998/900000", 511_999, None),
            ("Content-Range: bytes 1-512000/900000", 512_000, None),
            ("Content-Range: bytes 0-899999/900000", 511_999, None),
            ("Content-Range: bytes 0-899999/900000", 512_001, Some(true)),
            ("Content-Range: bytes 0-899999/900000", 512_002, Some(false)),
            ("Content-Range: bytes 0-18446744073709551615/*", 9, None),
        ] {
            assert_eq!(outcome(headers, len), expected, "{headers} {len}");
        }
        // The header has no meaning in other responses.
        assert!(super::tests::outcome("Content-Range: bytes 0-3/9", b"user").is_ok());
        let range = |value: &'static str| [("Content-Range", value)];
        let long = vec![b'#'; MAX_KEPT];
        assert!(decode_body(b"user", range("bytes 0-3/4")).is_some());
        assert!(decode_body(b"user", range("bytes 0-3/9")).is_none());
        assert!(decode_body(&long, range("bytes 0-512001/900000")).is_some());
        assert!(decode_body(&long[..MAX_BODY], range("bytes 0-511999/900000")).is_none());
    }

    /// Compression makes only short texts longer, so the length of the coded body tells whether a
    /// decoded one is whole.
    #[test]
    fn decoded_bodies_are_compared_with_the_length_of_the_coded_body() {
        let length = |coding: &str, sent: usize, len: usize| {
            let headers = format!("Content-Length: {sent}\r\n{coding}");
            outcome(&headers, &b"a".repeat(len)).is_ok()
        };
        for coding in ["Content-Encoding: gzip", "Content-Encoding: br"] {
            assert!(length(coding, 30, 500));
            assert!(length(coding, 77, 13));
            assert!(!length(coding, 78, 13));
            assert!(length(coding, 500, 500));
            assert!(!length(coding, 501, 500));
            assert!(length(coding, 20, 0));
            assert!(!length(coding, 21, 0));
        }
        assert!(!length("Content-Encoding: identity", 14, 13));
        // The 500 KiB that count are there, but their last line may be cut.
        let cut_short = |len: usize| {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n";
            let block = format!("{head}{}", "#".repeat(len));
            parse(block.into(), false)
                .ok()
                .map(|response| response.cut_short)
        };
        assert_eq!(
            [MAX_BODY - 1, MAX_BODY, MAX_BODY + 1, MAX_KEPT].map(cut_short),
            [None, Some(true), Some(true), Some(false)]
        );
    }

    /// RFC 9112 §8: a response that is shorter than its Content-Length is incomplete.
    #[test]
    fn undecodable_and_incomplete_bodies_are_failures() {
        let once = gzip(b"user-agent: *");
        for (headers, body) in [
            ("Content-Encoding: gzip", &once[..12]),
            ("Content-Encoding: gzip, gzip", &gzip(&once[..12])),
            ("Content-Encoding: gzip, compress", &once),
            ("Content-Encoding: compress", b"\x1f\x9d\x90user-agent: *"),
            ("Content-Encoding: aes128gcm", &once),
            // Nothing of these decodes, and as texts they would have no rules.
            ("Content-Encoding: gzip", &stored_in_brotli(&once)),
            ("Content-Encoding: br", &once),
            (
                "Content-Encoding: br",
                &stored_in_brotli(b"user-agent: *")[..15],
            ),
            (
                "Content-Encoding: br",
                &[&stored_in_brotli(b"user-agent: *"), "\n".as_bytes()].concat(),
            ),
            ("Content-Encoding: deflate", b"\x06\x07\xff\xfe\x01\x02"),
            ("Content-Encoding: br", PRINTABLE),
            (
                "Transfer-Encoding: chunked",
                b"4\r\nuser\r\n6\r\n-agent\r\n",
            ),
            ("Content-Encoding: gzip, gzip, gzip, gzip, gzip", &once),
            ("Content-Length: 14", b"user-agent: *"),
        ] {
            assert!(outcome(headers, body).is_err(), "{headers}");
        }
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nuser-agent: *";
        assert!(
            parse(cut.as_slice().into(), true).is_ok(),
            "the archive says that it cut the body"
        );
    }
}
