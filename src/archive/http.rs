//! Parses an HTTP response: status, the headers that decide an outcome, decoded body.

use super::capture::{CaptureAnswer, CapturedResponse, RetryAfter};
use crate::bytes::{is_white_space, trim};
use crate::file_format::ZSTD_MAGIC;
use crate::robots::line::MAX_BODY;
use bstr::ByteSlice;
use bytes::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::borrow::Cow;
use std::io::Read;

/// The part of a body that is kept: enough to see that it is longer than the 500 KiB that count.
pub(crate) const MAX_KEPT: usize = MAX_BODY + 2;

/// The values of the first headers of these names, in a block of `Name: value` lines.
pub(crate) fn headers<'a, const N: usize>(
    block: &'a [u8],
    names: [&str; N],
) -> [Option<&'a [u8]>; N] {
    let mut values = [None; N];
    for line in block.lines_with_terminator() {
        let Some((found, value)) = name_and_value(line) else {
            continue;
        };
        for (first, name) in values.iter_mut().zip(names) {
            if first.is_none() && found.eq_ignore_ascii_case(name.as_bytes()) {
                *first = Some(value);
            }
        }
    }
    values
}

/// The name and the value of a header line, if it is one.
fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_at_checked(memchr::memchr(b':', line)?)?;
    Some((trim(name), trim(&value[1..])))
}

/// The values of all headers of a name.
fn values<'b>(block: &'b [u8], name: &'static str) -> impl Iterator<Item = &'b [u8]> {
    block
        .lines_with_terminator()
        .filter_map(name_and_value)
        .filter(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, value)| value)
}

/// The header fields of the HTTP response at the start of `block`, in their order; none if there is
/// no response.
///
/// A line that begins with a blank goes on with the value of the line before it (RFC 9112 §5.2). A
/// last line without its end may be cut, so it is left out.
pub(crate) fn response_fields(block: &[u8]) -> Vec<(&[u8], Cow<'_, [u8]>)> {
    let mut fields: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
    if status_of(block).is_none() {
        return fields;
    }
    // Whether the line before is a field, so that its value can go on.
    let mut is_field = false;
    let lines = block
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

/// Parses a whole response. `cut_short`: the archive kept only its beginning.
///
/// Codings of `Content-Encoding` and `Transfer-Encoding` are decoded in reverse order. Common Crawl
/// renames the headers to `X-Crawler-…` after decoding, so those do not count. A coding that does
/// not decode is a failed fetch, and so is a body shorter than its `Content-Length`: as a
/// robots.txt, it would allow URLs that the site may disallow.
pub(super) fn parse(block: Bytes, cut_short: bool) -> CaptureAnswer {
    let (head, body) = block.split_at(head_len(&block));
    let status = status_of(head).ok_or("not an HTTP response")?;
    let names = [
        "Location",
        "Cache-Control",
        "Retry-After",
        "Transfer-Encoding",
        "Content-Encoding",
        "Content-Length",
    ];
    let [
        location,
        cache_control,
        retry,
        transfer_coding,
        content_coding,
        length,
    ] = headers(head, names);
    let mut response = CapturedResponse {
        status,
        location: location.map(<[u8]>::to_vec),
        max_age: cache_control.and_then(max_age),
        retry_after: retry.and_then(|value| retry_after(status, value)),
        ..CapturedResponse::default()
    };
    // Only the body of a success can be a robots.txt.
    if !(200..300).contains(&status) {
        return Ok(response);
    }
    response.cut_short = cut_short;
    // `headers` gives the first line of each name, but codings may be on several lines.
    let mut applied = Vec::new();
    if transfer_coding.is_some() || content_coding.is_some() {
        applied =
            codings(values(head, "Content-Encoding").chain(values(head, "Transfer-Encoding")));
    }
    if !applied.is_empty() {
        response.body = decode_all(&applied, body, cut_short)?.into();
    } else if !cut_short && length.is_some_and(|length| is_shorter(body, length)) {
        return Err("the body is shorter than its Content-Length".to_owned());
    } else {
        response.body = block.slice_ref(&body[..body.len().min(MAX_KEPT)]);
    }
    Ok(response)
}

/// The codings of a response in decoding order, given the values of its headers: content codings,
/// then transfer codings.
///
/// Senders apply them in this order (RFC 9112 §6.1), each list from left to right. Decoding
/// reverses that. A list may span several headers (RFC 9110 §5.3); empty elements do not count
/// (§5.6.1.2).
pub(super) fn codings<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<Vec<u8>> {
    let mut codings = Vec::new();
    for value in values {
        for element in value.as_ref().split_str(",") {
            let name = trim(element.split_str(";").next().unwrap_or_default());
            if !name.is_empty() && !name.eq_ignore_ascii_case(b"identity") {
                codings.push(name.to_ascii_lowercase());
            }
        }
    }
    codings.reverse();
    codings
}

/// The body of a 2xx response as an HTTP client hands it over, without the codings of its
/// `Content-Encoding` headers; `None` if it is damaged, incomplete or of an unsupported coding, so
/// that the response counts as a failure.
///
/// Many clients decode the body and leave the header. So a body that is text is returned as it is.
/// Without a coding, a body that is shorter than its `Content-Length` is incomplete (RFC 9112 §8).
/// Other headers do not count: a client removes transfer codings. Of a decoded body, a little over
/// the first 500 KiB is returned.
///
/// ```
/// use robosieve::compile::decode_body;
/// let headers = [("Content-Encoding", "gzip")];
/// assert_eq!(decode_body(b"user-agent: *", headers).as_deref(), Some(&b"user-agent: *"[..]));
/// assert_eq!(decode_body(b"\x1f\x8bdamaged", headers), None);
/// assert_eq!(decode_body(b"user-agent", [("content-length", "13")]), None);
/// ```
pub fn decode_body<N: AsRef<[u8]>, V: AsRef<[u8]>>(
    body: &[u8],
    headers: impl IntoIterator<Item = (N, V)>,
) -> Option<Cow<'_, [u8]>> {
    let mut encodings = Vec::new();
    let mut length = None;
    for (name, value) in headers {
        if name.as_ref().eq_ignore_ascii_case(b"content-encoding") {
            encodings.push(value);
        } else if name.as_ref().eq_ignore_ascii_case(b"content-length") {
            length = length.or(Some(value));
        }
    }
    let codings = codings(encodings);
    if codings.is_empty() {
        let is_cut = length.is_some_and(|length| is_shorter(body, trim(length.as_ref())));
        return (!is_cut).then_some(Cow::Borrowed(body));
    }
    if is_text(body) {
        return Some(Cow::Borrowed(body));
    }
    decode_all(&codings, body, false).ok().map(Cow::Owned)
}

/// Whether a body is shorter than its `Content-Length`. A body of [`MAX_KEPT`] bytes is not,
/// because its end was cut off here.
fn is_shorter(body: &[u8], length: &[u8]) -> bool {
    let length = std::str::from_utf8(length)
        .ok()
        .and_then(|length| length.parse::<u64>().ok());
    body.len() < MAX_KEPT && length.is_some_and(|length| (body.len() as u64) < length)
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

/// `max-age` in seconds. Other cache directives are ignored.
pub(super) fn max_age(value: &[u8]) -> Option<u32> {
    value.split(|&b| b == b',').find_map(|part| {
        let text = std::str::from_utf8(trim(part)).ok()?;
        let (name, seconds) = text.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("max-age")
            .then(|| delta_seconds(seconds.trim().trim_matches('"')))?
    })
}

/// The value of the `Retry-After` header of a response with this status; `None` if it is neither
/// seconds nor a time, or if the status has another meaning than "later": only a 429 and the 5xx do
/// not answer.
pub(super) fn retry_after(status: u16, value: &[u8]) -> Option<RetryAfter> {
    if status != 429 && !(500..600).contains(&status) {
        return None;
    }
    let value = std::str::from_utf8(trim(value)).ok()?;
    delta_seconds(value)
        .map(RetryAfter::Seconds)
        .or_else(|| http_date(value).map(RetryAfter::At))
}

/// A number of seconds, as several headers have it: digits only. Larger numbers count as `u32::MAX
/// - 1` (RFC 9111 §1.2.2).
fn delta_seconds(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // Only a number too large for 64 bits does not parse here.
    let seconds = is_number.then(|| text.parse().unwrap_or(u64::MAX))?;
    Some(seconds.min(u64::from(u32::MAX - 1)) as u32)
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

/// No server applies more. Each coding can expand its input a thousand times.
const MAX_CODINGS: usize = 4;

/// Decodes all codings; returns the first [`MAX_KEPT`] bytes of the body.
pub(super) fn decode_all(
    codings: &[Vec<u8>],
    body: &[u8],
    cut_short: bool,
) -> Result<Vec<u8>, String> {
    if codings.len() > MAX_CODINGS {
        return Err(format!("more than {MAX_CODINGS} codings"));
    }
    let mut decoded = Cow::Borrowed(body);
    for coding in codings {
        decoded = decode_one(coding, &decoded, cut_short)?.map_or(decoded, Cow::Owned);
    }
    let mut decoded = decoded.into_owned();
    decoded.truncate(MAX_KEPT);
    Ok(decoded)
}

/// Decodes one coding; `None` if the body is not coded.
///
/// Archivers that decode bodies often keep the header. So a body without the magic number of its
/// coding is used as it is.
fn decode_one(coding: &[u8], body: &[u8], cut_short: bool) -> Result<Option<Vec<u8>>, String> {
    let (decoded, is_whole) = match coding {
        b"chunked" => {
            return dechunk(body, cut_short)
                .map(Some)
                .ok_or_else(|| "truncated chunks".to_owned());
        }
        b"gzip" | b"x-gzip" if body.starts_with(&[0x1f, 0x8b]) => {
            read_decoded(MultiGzDecoder::new(body))
        }
        b"zstd" if body.starts_with(&ZSTD_MAGIC) => {
            read_decoded(zstd::stream::read::Decoder::new(body).map_err(|_| BROKEN_CODING)?)
        }
        b"gzip" | b"x-gzip" | b"zstd" => return Ok(None),
        b"deflate" if has_zlib_header(body) => read_decoded(ZlibDecoder::new(body)),
        // Some servers leave out the zlib header that RFC 9110 §8.4.1.2 asks for.
        b"deflate" => read_decoded(DeflateDecoder::new(body)),
        b"br" | b"compress" | b"x-compress" => {
            return Err(format!(
                "content coding {} is not supported",
                String::from_utf8_lossy(coding)
            ));
        }
        // Servers also write `utf-8`, `none` or `binary` there, which are not codings.
        _ if is_text(body) => return Ok(None),
        unknown => {
            return Err(format!(
                "unknown content coding {:?}",
                String::from_utf8_lossy(unknown)
            ));
        }
    };
    if is_whole || cut_short {
        Ok(Some(decoded))
    } else {
        Err(BROKEN_CODING.to_owned())
    }
}

const BROKEN_CODING: &str = "broken content coding";

/// RFC 1950 §2.2: method 8 in the first byte, and a checksum over both bytes.
fn has_zlib_header(body: &[u8]) -> bool {
    let [method, flags, ..] = body else {
        return false;
    };
    method & 15 == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31)
}

/// Whether the first KiB of the body has no control characters except white space.
pub(super) fn is_text(body: &[u8]) -> bool {
    body.iter()
        .take(1024)
        .all(|&b| b >= b' ' && b != 0x7f || is_white_space(b.into()))
}

/// The bytes that one decoding step keeps. They may be coded again: this much of an inner coding
/// fills the 500 KiB that count.
const MAX_DECODED: usize = 2 * MAX_KEPT;

/// Reads up to [`MAX_DECODED`] bytes; also returns whether reading succeeded.
fn read_decoded(reader: impl Read) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let result = reader.take(MAX_DECODED as u64).read_to_end(&mut out);
    (out, result.is_ok())
}

/// The content of the chunks; `None` if the last chunk is missing from a response that is not
/// `cut_short`.
fn dechunk(mut body: &[u8], cut_short: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < MAX_DECODED {
        let Some(end) = memchr::memchr(b'\n', body) else {
            return cut_short.then_some(out);
        };
        let size = body[..end].split(|&b| b == b';').next().map(trim)?;
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        body = &body[end + 1..];
        if size == 0 {
            break;
        }
        out.extend_from_slice(&body[..size.min(body.len())]);
        let Some(rest) = body.get(size..) else {
            return cut_short.then_some(out);
        };
        body = rest
            .strip_prefix(b"\r\n")
            .or_else(|| rest.strip_prefix(b"\n"))
            .unwrap_or(rest);
    }
    Some(out)
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
                      \tLOCATION : 3:4 \r\n\
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
            ("Content-Length: 99\r\nContent-Encoding: gzip", plain),
        ] {
            assert_eq!(outcome(headers, body).as_deref(), Ok(plain), "{headers}");
        }
    }

    /// RFC 9112 §8: a response that is shorter than its Content-Length is incomplete.
    #[test]
    fn undecodable_and_incomplete_bodies_are_failures() {
        let once = gzip(b"user-agent: *");
        for (headers, body) in [
            ("Content-Encoding: gzip", &once[..12]),
            ("Content-Encoding: gzip, gzip", &gzip(&once[..12])),
            ("Content-Encoding: gzip, compress", &once),
            ("Content-Encoding: compress", b"user-agent: *"),
            ("Content-Encoding: br", b"user-agent: *"),
            ("Content-Encoding: aes128gcm", &once),
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
