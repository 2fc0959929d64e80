//! An HTTP response as bytes to its facts: status, `Location`, `Cache-Control`, decoded body.

use super::{Answer, Response};
use crate::agent::{is_space, trim};
use crate::robots::condense::Delivery;
use crate::robots::line::MAX_BODY;
use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
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
    if !name.first()?.eq_ignore_ascii_case(first) && !is_space(*first) {
        return None;
    }
    let colon = if rest.first() == Some(&b':') { name.len() } else { memchr::memchr(b':', line)? };
    trim(&line[..colon]).eq_ignore_ascii_case(name).then(|| trim(&line[colon + 1..]))
}

/// Reads a whole response. `cut_short` says that the archive kept only its beginning.
///
/// `Content-Encoding` and `Transfer-Encoding` are undone; the prefix `X-Crawler-` on their names (Common Crawl)
/// means that this was done already, and makes them other headers.
pub(super) fn parse(block: Bytes, cut_short: bool) -> Answer {
    let (head, body) = block.split_at(head_len(&block));
    let Some(status) = status_of(head) else {
        return Answer::Failed("not an HTTP response".to_owned());
    };
    let names = ["Location", "Cache-Control", "Transfer-Encoding", "Content-Encoding"];
    let [location, cache_control, transfer_coding, content_coding] = headers(head, names);
    let mut response = Response {
        status,
        location: location.map(<[u8]>::to_vec),
        max_age: cache_control.and_then(max_age),
        ..Response::default()
    };
    if (200..300).contains(&status) {
        response.delivery = if cut_short { Delivery::CutShort } else { Delivery::Whole };
        match decode_body(body, transfer_coding, content_coding, cut_short) {
            Ok(Body::Decoded(body)) => response.body = body.into(),
            Ok(Body::AsItIs(len)) => response.body = block.slice_ref(&body[..len]),
            Err(what) => return Answer::Failed(what.to_owned()),
        }
    }
    Answer::Http(response)
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
    std::str::from_utf8(trim(code)).ok()?.parse().ok().filter(|status| (100..1000).contains(status))
}

/// `max-age` in seconds; no other cache directive changes how long a copy is fresh here.
pub(super) fn max_age(value: &[u8]) -> Option<u32> {
    value.split(|&b| b == b',').find_map(|part| {
        let text = std::str::from_utf8(trim(part)).ok()?;
        let (name, seconds) = text.split_once('=')?;
        let seconds: u64 =
            name.trim().eq_ignore_ascii_case("max-age").then(|| seconds.trim().trim_matches('"'))?.parse().ok()?;
        Some(seconds.min(u64::from(u32::MAX - 1)) as u32)
    })
}

/// What comes of a body.
enum Body {
    Decoded(Vec<u8>),
    /// So many bytes of it as they stand in the archive, where they need not be copied from.
    AsItIs(usize),
}

/// Undoes transfer and content coding. A broken coding is a failed fetch, as truncated chunks are.
fn decode_body(
    body: &[u8],
    transfer_coding: Option<&[u8]>,
    content_coding: Option<&[u8]>,
    cut_short: bool,
) -> Result<Body, &'static str> {
    let chunked = transfer_coding.is_some_and(|value| value.to_ascii_lowercase().ends_with(b"chunked"));
    let dechunked;
    let body = if chunked {
        dechunked = dechunk(body, cut_short).ok_or("truncated chunks")?;
        &dechunked
    } else {
        body
    };
    let (mut decoded, complete) = match content_coding.map(<[u8]>::to_ascii_lowercase).as_deref() {
        // Archivers that decode bodies often leave the header behind: a body without the magic number is plain.
        Some(b"gzip" | b"x-gzip") if body.starts_with(&[0x1f, 0x8b]) => read_some(MultiGzDecoder::new(body)),
        Some(b"deflate") => read_some(ZlibDecoder::new(body)),
        Some(b"zstd") => match zstd::stream::read::Decoder::new(body) {
            Ok(decoder) => read_some(decoder),
            Err(_) => return Err("broken content coding"),
        },
        Some(b"br") => return Err("content coding br is not supported"),
        _ if !chunked => return Ok(Body::AsItIs(body.len().min(MAX_KEPT))),
        _ => (body[..body.len().min(MAX_KEPT)].to_vec(), true),
    };
    if !complete && !cut_short {
        return Err("broken content coding");
    }
    decoded.truncate(MAX_KEPT);
    Ok(Body::Decoded(decoded))
}

/// At most [`MAX_KEPT`] bytes, and whether they came without an error.
fn read_some(reader: impl Read) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let result = reader.take(MAX_KEPT as u64).read_to_end(&mut out);
    (out, result.is_ok())
}

/// The chunks' contents; `None` if the last chunk is missing, unless the archive `cut_short` the response.
fn dechunk(mut body: &[u8], cut_short: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < 2 * MAX_KEPT {
        let Some(end) = memchr::memchr(b'\n', body) else { return cut_short.then_some(out) };
        let size = body[..end].split(|&b| b == b';').next().map(trim)?;
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

    #[test]
    fn codings_are_undone_and_broken_ones_are_failures() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"user-agent: *").unwrap();
        let gz = gz.finish().unwrap();
        let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
        assert_eq!(response(&[head, gz.as_slice()].concat()).body, b"user-agent: *"[..]);
        assert!(matches!(parse([head, &gz[..12]].concat().into(), false), Answer::Failed(_)));
        let done = b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: gzip\r\n\r\nplain";
        assert_eq!(response(done).body, b"plain"[..]);
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nuser\r\n6\r\n-agent\r\n0\r\n\r\n";
        assert_eq!(response(chunked).body, b"user-agent"[..]);
        assert!(matches!(parse(Bytes::from(&chunked[..chunked.len() - 7]), false), Answer::Failed(_)));
    }
}
