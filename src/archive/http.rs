//! An HTTP response as bytes to its facts: status, `Location`, `Cache-Control`, decoded body.

use crate::archive::{Answer, Response};
use crate::bytes::is_white_space;
use crate::robots::condense::Delivery;
use crate::robots::line::MAX_BODY;
use bstr::ByteSlice;
use bytes::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// What is kept of a body: enough to see that it goes on behind the 500 KiB that count.
pub(super) const MAX_KEPT: usize = MAX_BODY + 2;

/// The values of the first headers of these names, in a block of `Name: value` lines.
pub(super) fn headers<'a, const N: usize>(block: &'a [u8], names: [&str; N]) -> [Option<&'a [u8]>; N] {
    let (mut values, mut rest) = ([None; N], block);
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        for (value, name) in values.iter_mut().zip(names) {
            *value = value.or_else(|| value_of(&rest[..end], name.as_bytes()));
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    values
}

/// The value of a header line, if it is that of `name`.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    // Nearly all lines are other headers, and their first bytes tell.
    let (first, rest) = (line.first()?, line.get(name.len()..)?);
    if !name.first()?.eq_ignore_ascii_case(first) && !is_white_space((*first).into()) {
        return None;
    }
    let colon = if rest.first() == Some(&b':') { name.len() } else { memchr::memchr(b':', line)? };
    line[..colon]
        .trim_with(is_white_space)
        .eq_ignore_ascii_case(name)
        .then(|| line[colon + 1..].trim_with(is_white_space))
}

/// The values of all headers of a name.
fn values<'b>(block: &'b [u8], name: &'static str) -> impl Iterator<Item = &'b [u8]> {
    block.split(|&b| b == b'\n').filter_map(|line| value_of(line, name.as_bytes()))
}

/// The elements of a list header, in their order and in lower case: a list may be in one header or
/// in several (RFC 9110 §5.3), and empty elements do not count (§5.6.1.2). Parameters are cut off.
fn elements<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<Vec<u8>> {
    let mut elements = Vec::new();
    for value in values {
        let names = value.as_ref().split(|&b| b == b',').map(|element| element.split(|&b| b == b';').next());
        let names =
            names.map(|name| name.unwrap_or_default().trim_with(is_white_space)).filter(|name| !name.is_empty());
        elements.extend(names.map(<[u8]>::to_ascii_lowercase));
    }
    elements
}

/// Reads a whole response. `cut_short` says that the archive kept only its beginning.
///
/// `Content-Encoding` and `Transfer-Encoding` are undone, the coding that was applied last first;
/// the prefix `X-Crawler-` on their names (Common Crawl) means that this was done already, and
/// makes them other headers. A coding that cannot be undone, and a body shorter than its
/// `Content-Length`, are failed fetches: to take them for a robots.txt would allow what the site
/// may refuse.
pub(super) fn parse(block: Bytes, cut_short: bool) -> Answer {
    let (head, body) = block.split_at(head_len(&block));
    let Some(status) = status_of(head) else {
        return Answer::Failed("not an HTTP response".to_owned());
    };
    let names = ["Location", "Cache-Control", "Transfer-Encoding", "Content-Encoding", "Content-Length"];
    let [location, cache_control, transfer_coding, content_coding, length] = headers(head, names);
    let mut response = Response {
        status,
        location: location.map(<[u8]>::to_vec),
        max_age: cache_control.and_then(max_age),
        ..Response::default()
    };
    if !(200..300).contains(&status) {
        return Answer::Http(response);
    }
    response.delivery = if cut_short { Delivery::CutShort } else { Delivery::Whole };
    let is_coded = transfer_coding.is_some() || content_coding.is_some();
    let codings = match is_coded {
        true => codings(values(head, "Content-Encoding"), values(head, "Transfer-Encoding")),
        false => Vec::new(),
    };
    if codings.is_empty() {
        if !cut_short && length.is_some_and(|length| is_shorter(body, length)) {
            return Answer::Failed("the body is shorter than its Content-Length".to_owned());
        }
        response.body = block.slice_ref(&body[..body.len().min(MAX_KEPT)]);
        return Answer::Http(response);
    }
    match undo_all(&codings, body, cut_short) {
        Ok(body) => response.body = body.into(),
        Err(what) => return Answer::Failed(what),
    }
    Answer::Http(response)
}

/// The codings of a response, given its headers, in the order in which they are undone. Transfer
/// codings were applied after content codings (RFC 9112 §6.1), so they come first, and of each list
/// the last.
pub(super) fn codings<V: AsRef<[u8]>>(
    content: impl IntoIterator<Item = V>,
    transfer: impl IntoIterator<Item = V>,
) -> Vec<Vec<u8>> {
    let mut codings = elements(content);
    codings.extend(elements(transfer));
    codings.retain(|coding| coding != b"identity");
    codings.reverse();
    codings
}

/// Whether a body is shorter than its `Content-Length` says. One that fills what is kept of a
/// record is not: the rest was there.
fn is_shorter(body: &[u8], length: &[u8]) -> bool {
    let length = std::str::from_utf8(length).ok().and_then(|length| length.parse::<u64>().ok());
    body.len() < MAX_KEPT && length.is_some_and(|length| (body.len() as u64) < length)
}

/// The length of the head, from the status line to the blank line; the body is behind it.
fn head_len(block: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &block[at..]) {
        let line = &block[at..at + end];
        at += end + 1;
        if line.is_empty() || line == b"\r" {
            return at;
        }
    }
    block.len()
}

/// The status of `HTTP/1.1 200 OK`.
fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|&b| b == b'\n').next()?;
    let rest = line.strip_prefix(b"HTTP/").or_else(|| line.strip_prefix(b"http/"))?;
    let code = rest.split(|&b| b == b' ').filter(|word| !word.is_empty()).nth(1)?;
    std::str::from_utf8(code.trim_with(is_white_space)).ok()?.parse().ok().filter(|status| (100..1000).contains(status))
}

/// `max-age` in seconds; no other cache directive changes how long a copy is fresh here.
pub(super) fn max_age(value: &[u8]) -> Option<u32> {
    value.split(|&b| b == b',').find_map(|part| {
        let text = std::str::from_utf8(part.trim_with(is_white_space)).ok()?;
        let (name, seconds) = text.split_once('=')?;
        let seconds: u64 =
            name.trim().eq_ignore_ascii_case("max-age").then(|| seconds.trim().trim_matches('"'))?.parse().ok()?;
        Some(seconds.min(u64::from(u32::MAX - 1)) as u32)
    })
}

/// No server applies more; each could make a thousand bytes of one.
const MAX_CODINGS: usize = 4;

/// The first [`MAX_KEPT`] bytes of a body without these codings.
pub(super) fn undo_all(codings: &[Vec<u8>], body: &[u8], cut_short: bool) -> Result<Vec<u8>, String> {
    if codings.len() > MAX_CODINGS {
        return Err(format!("more than {MAX_CODINGS} codings"));
    }
    let mut decoded: Option<Vec<u8>> = None;
    for coding in codings {
        let plain = undo(coding, decoded.as_deref().unwrap_or(body), cut_short)?;
        decoded = plain.or(decoded);
    }
    let mut plain = decoded.unwrap_or_else(|| body[..body.len().min(MAX_KEPT)].to_vec());
    plain.truncate(MAX_KEPT);
    Ok(plain)
}

/// Undoes one coding; `None` if the body does not have it: archivers that decode bodies often leave
/// the header behind, so a body without the magic number of its coding is taken as it is.
fn undo(coding: &[u8], body: &[u8], cut_short: bool) -> Result<Option<Vec<u8>>, String> {
    let (decoded, is_whole) = match coding {
        b"chunked" => return dechunk(body, cut_short).map(Some).ok_or_else(|| "truncated chunks".to_owned()),
        b"gzip" | b"x-gzip" if body.starts_with(&[0x1f, 0x8b]) => read_some(MultiGzDecoder::new(body)),
        b"zstd" if body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
            read_some(zstd::stream::read::Decoder::new(body).map_err(|_| BROKEN_CODING)?)
        }
        b"gzip" | b"x-gzip" | b"zstd" => return Ok(None),
        b"deflate" if has_zlib_header(body) => read_some(ZlibDecoder::new(body)),
        // Some servers leave out the zlib header that RFC 9110 §8.4.1.2 asks for.
        b"deflate" => read_some(DeflateDecoder::new(body)),
        b"br" | b"compress" | b"x-compress" => {
            return Err(format!("content coding {} is not supported", String::from_utf8_lossy(coding)));
        }
        // No coding, but what servers write there: `utf-8`, `none`, `binary`.
        _ if is_text(body) => return Ok(None),
        unknown => return Err(format!("unknown content coding {:?}", String::from_utf8_lossy(unknown))),
    };
    if is_whole || cut_short { Ok(Some(decoded)) } else { Err(BROKEN_CODING.to_owned()) }
}

const BROKEN_CODING: &str = "broken content coding";

/// RFC 1950 §2.2: the method 8 in the first byte, and a checksum over both.
fn has_zlib_header(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..] if method & 15 == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31))
}

/// Whether the body's first kibibyte has no control characters but white space.
pub(super) fn is_text(body: &[u8]) -> bool {
    body.iter().take(1024).all(|&b| b >= b' ' && b != 0x7f || is_white_space(b.into()))
}

/// The bytes that one step of decoding keeps. Its result may be coded again: this much of an inner
/// coding fills the 500 KiB that count.
const MAX_DECODED: usize = 2 * MAX_KEPT;

/// At most [`MAX_DECODED`] bytes, and whether they came without an error.
fn read_some(reader: impl Read) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let result = reader.take(MAX_DECODED as u64).read_to_end(&mut out);
    (out, result.is_ok())
}

/// The chunks' contents; `None` if the last chunk is missing, unless the archive `cut_short` the response.
fn dechunk(mut body: &[u8], cut_short: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < MAX_DECODED {
        let Some(end) = memchr::memchr(b'\n', body) else { return cut_short.then_some(out) };
        let size = body[..end].split(|&b| b == b';').next().map(|size| size.trim_with(is_white_space))?;
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        body = &body[end + 1..];
        if size == 0 {
            break;
        }
        out.extend_from_slice(&body[..size.min(body.len())]);
        let Some(rest) = body.get(size..) else { return cut_short.then_some(out) };
        body = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn response(block: &[u8]) -> Response {
        match parse(Bytes::copy_from_slice(block), false) {
            Answer::Http(response) => response,
            Answer::Failed(what) => panic!("{what}"),
        }
    }

    #[test]
    fn the_first_header_of_a_name_counts() {
        let block =
            b"HTTP/1.1 301\r\nx-location: 0\r\nLocation2: 1\r\nLocation\r\n:2\r\n\tLOCATION : 3:4 \r\nLocation:5";
        assert_eq!(headers(block, ["Age", "Location", "x-LOCATION"]), [None, Some(&b"3:4"[..]), Some(b"0")]);
        assert_eq!(headers(&block[block.len() - 10..], ["location"]), [Some(&b"5"[..])]);
        assert_eq!(headers(b"", ["Age"]), [None]);
    }

    #[test]
    fn head_and_body() {
        let r = response(b"HTTP/1.1 200 OK\r\ncache-control: public, Max-Age=60\r\n\r\nbody\r\n\r\nmore");
        assert_eq!((r.status, r.max_age, &r.body[..]), (200, Some(60), b"body\r\n\r\nmore".as_slice()));
        let r = response(b"HTTP/2 301\nLocation: /x y \n\n");
        assert_eq!((r.status, r.location.as_deref()), (301, Some(b"/x y".as_slice())));
        for bad in [&b""[..], b"\r\n", b"HTTP/1.1", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 99999 x", b"<html>"] {
            assert!(matches!(parse(bad.into(), false), Answer::Failed(_)), "{bad:?}");
        }
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    /// The decoded body under these headers, or why there is none.
    fn outcome(headers: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let block = [b"HTTP/1.1 200 OK\r\n", headers.as_bytes(), b"\r\n\r\n", body].concat();
        match parse(block.into(), false) {
            Answer::Http(response) => Ok(response.body.to_vec()),
            Answer::Failed(what) => Err(what),
        }
    }

    /// RFC 9110 §8.4 and §5.3, RFC 9112 §6.1.
    #[test]
    fn codings_are_undone_in_order() {
        let plain = b"user-agent: *".as_slice();
        let (once, twice) = (gzip(plain), gzip(&gzip(plain)));
        let chunked = |body: &[u8]| [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat();
        let (zlib, zstd) = (flate2::Compression::fast(), zstd::encode_all(once.as_slice(), 1).unwrap());
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), zlib);
        raw.write_all(plain).unwrap();
        let raw = raw.finish().unwrap();
        for (headers, body) in [
            ("Content-Encoding: gzip", once.as_slice()),
            ("Content-Encoding: gzip, gzip", &twice),
            ("Content-Encoding: gzip\r\nVary: x\r\ncontent-encoding: GZIP", &twice),
            ("Content-Encoding: identity, gzip", &once),
            ("Content-Encoding: gzip,", &once),
            ("Content-Encoding: ,gzip;q=1 ,", &once),
            ("Content-Encoding: gzip, zstd", &zstd),
            ("Content-Encoding: deflate", &raw),
            ("Transfer-Encoding: gzip, chunked", &chunked(&once)),
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", &chunked(&once)),
            ("Content-Encoding: gzip\r\nTransfer-Encoding: chunked", &chunked(&once)),
            ("Transfer-Encoding: chunked", &chunked(plain)),
            ("X-Crawler-Content-Encoding: gzip", plain),
            ("Content-Encoding: gzip, gzip", plain),
            ("Content-Encoding: utf-8", plain),
            ("Content-Encoding: identity\r\nContent-Length: 13", plain),
        ] {
            assert_eq!(outcome(headers, body).as_deref(), Ok(plain), "{headers}");
        }
    }

    #[test]
    fn a_coding_that_cannot_be_undone_is_a_failure() {
        let once = gzip(b"user-agent: *");
        for (headers, body) in [
            ("Content-Encoding: gzip", &once[..12]),
            ("Content-Encoding: gzip, gzip", &gzip(&once[..12])),
            ("Content-Encoding: gzip, compress", &once),
            ("Content-Encoding: compress", b"user-agent: *"),
            ("Content-Encoding: br", b"user-agent: *"),
            ("Content-Encoding: aes128gcm", &once),
            ("Transfer-Encoding: chunked", b"4\r\nuser\r\n6\r\n-agent\r\n"),
            ("Content-Encoding: gzip, gzip, gzip, gzip, gzip", &once),
        ] {
            assert!(outcome(headers, body).is_err(), "{headers}");
        }
    }

    /// RFC 9112 §8: a response that is shorter than its Content-Length is incomplete.
    #[test]
    fn a_body_shorter_than_its_length_is_a_failure() {
        assert!(outcome("Content-Length: 14", b"user-agent: *").is_err());
        for headers in [
            "Content-Length: 13",
            "Content-Length: 12",
            "Content-Length: x",
            "X-Crawler-Content-Length: 99",
            "Content-Length: 99\r\nContent-Encoding: gzip",
        ] {
            assert_eq!(outcome(headers, b"user-agent: *").as_deref(), Ok(&b"user-agent: *"[..]), "{headers}");
        }
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nuser-agent: *";
        assert!(matches!(parse(cut.as_slice().into(), true), Answer::Http(_)), "the archive says that it cut the body");
    }
}
