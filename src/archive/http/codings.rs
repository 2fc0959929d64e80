//! Content and transfer codings of HTTP bodies (RFC 9110 §8.4.1, RFC 9112 §7).
//!
//! Recorders that decode a body often keep its headers. Of 42 chunked responses in sample archives
//! of other tools, 40 had no chunks. So a coding in a header is a claim that the body confirms or
//! not: a body that does not decode is used as it is if it is text. Otherwise it is a failed fetch,
//! because as a robots.txt it would have no rules and allow everything.

use crate::bytes::{is_white_space, trim};
use crate::file_format::ZSTD_MAGIC;
use crate::robots::line::MAX_BODY;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bstr::ByteSlice;
use flate2::bufread::DeflateDecoder;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::borrow::Cow;
use std::io::Read;

/// The part of a body that is kept: enough to see that it is longer than the 500 KiB that count.
pub(crate) const MAX_KEPT: usize = MAX_BODY + 2;

/// No server applies more. Each coding can expand its input a thousand times.
const MAX_CODINGS: usize = 4;

/// The bytes that one decoding step keeps. They may be coded again: this much of an inner coding
/// fills the 500 KiB that count.
const MAX_DECODED: usize = 2 * MAX_KEPT;

const BROKEN_CODING: &str = "broken content coding";

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

/// Decodes all codings, which are in decoding order; returns the first [`MAX_KEPT`] bytes of the
/// body. A borrowed body was not coded. `cut_short`: the archive kept only the beginning of the
/// body.
///
/// # Errors
/// The cause in a few words if a coding is not supported, or if the body is damaged or incomplete.
pub(super) fn decode_all<'b>(
    codings: &[Vec<u8>],
    body: &'b [u8],
    cut_short: bool,
) -> Result<Cow<'b, [u8]>, String> {
    if codings.len() > MAX_CODINGS {
        return Err(format!("more than {MAX_CODINGS} codings"));
    }
    let mut decoded = Cow::Borrowed(body);
    for coding in codings {
        decoded = decode_one(coding, &decoded, cut_short)?.map_or(decoded, Cow::Owned);
    }
    match &mut decoded {
        Cow::Borrowed(body) => *body = &body[..body.len().min(MAX_KEPT)],
        Cow::Owned(body) => body.truncate(MAX_KEPT),
    }
    Ok(decoded)
}

/// Decodes one coding; `None` if the body is not coded, because its recorder decoded it.
fn decode_one(coding: &[u8], body: &[u8], cut_short: bool) -> Result<Option<Vec<u8>>, String> {
    let (decoded, is_whole) = match coding {
        b"chunked" if !begins_with_chunk(body) => return Ok(None),
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
        b"deflate" if has_zlib_header(body) => read_decoded(ZlibDecoder::new(body)),
        // Some servers leave out the zlib header that RFC 9110 §8.4.1.2 asks for.
        b"deflate" => read_raw_deflate(body),
        b"br" => read_brotli(body),
        b"gzip" | b"x-gzip" | b"zstd" | b"compress" | b"x-compress" => (Vec::new(), false),
        // Servers also write `utf-8`, `none` or `binary` there, which are not codings.
        _ if has_few_controls(body) => return Ok(None),
        unknown => {
            return Err(format!(
                "unknown content coding {:?}",
                String::from_utf8_lossy(unknown)
            ));
        }
    };
    // Nothing that is broken after the bytes that count matters.
    if is_whole || decoded.len() >= MAX_KEPT {
        return Ok(Some(decoded));
    }
    // Brotli and raw deflate have no magic number, so decoding comes first: a text does not decode
    // to its last byte by chance, but a short stream may well consist of printable bytes.
    if is_text(body) {
        return Ok(None);
    }
    match coding {
        b"compress" | b"x-compress" => Err(format!(
            "content coding {} is not supported",
            String::from_utf8_lossy(coding)
        )),
        _ if cut_short && !decoded.is_empty() => Ok(Some(decoded)),
        _ => Err(BROKEN_CODING.to_owned()),
    }
}

/// RFC 1950 §2.2: method 8 in the first byte, and a checksum over both bytes.
fn has_zlib_header(body: &[u8]) -> bool {
    let [method, flags, ..] = body else {
        return false;
    };
    method & 15 == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31)
}

/// The start of a body that [`is_text`] examines.
const SAMPLE: usize = 1024;

/// Whether a body is text, and not the output of a coding: its first KiB has few control
/// characters, and it is UTF-8 or mostly ASCII.
///
/// Of compressed bytes, a ninth are control characters and half are not ASCII. A limit for both
/// keeps a damaged body of 25 bytes from passing as a text, which has no rules then. Every coding
/// may also store a text as it is, behind a header. Each such header has a control character or
/// invalid UTF-8 in its first four bytes.
fn is_text(body: &[u8]) -> bool {
    let header = &body[..body.len().min(4)];
    let has_header = header
        .iter()
        .any(|b| b.is_ascii_control() && !b"\t\n\r".contains(b));
    let start = &body[..body.len().min(SAMPLE)];
    let others = start.iter().filter(|b| !b.is_ascii()).count();
    has_few_controls(body)
        && !has_header
        && starts_as_utf8(header)
        && (starts_as_utf8(start) || others * 3 <= start.len())
}

/// Whether bytes are UTF-8; their end may cut a character.
fn starts_as_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|err| err.error_len().is_none(), |_| true)
}

/// Whether at most one in 50 bytes of the first KiB is a control character, white space aside.
fn has_few_controls(body: &[u8]) -> bool {
    let start = &body[..body.len().min(SAMPLE)];
    let is_control = |&&b: &&u8| b.is_ascii_control() && !is_white_space(b.into());
    start.iter().filter(is_control).count() * 50 <= start.len()
}

/// Reads up to [`MAX_DECODED`] bytes; also returns whether reading succeeded.
fn read_decoded(reader: impl Read) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let result = reader.take(MAX_DECODED as u64).read_to_end(&mut out);
    (out, result.is_ok())
}

/// As [`read_decoded`], for deflate without a header. Every other text begins like such a stream, so
/// a stream that ends inside a text is not one.
fn read_raw_deflate(body: &[u8]) -> (Vec<u8>, bool) {
    let mut reader = DeflateDecoder::new(body);
    let (out, is_whole) = read_decoded(&mut reader);
    let is_rest_text = reader.total_in() < body.len() as u64 && is_text(body);
    (out, is_whole && !is_rest_text)
}

/// Decodes up to [`MAX_DECODED`] bytes of a brotli stream (RFC 7932); also returns whether the body
/// is a whole stream and nothing else.
fn read_brotli(body: &[u8]) -> (Vec<u8>, bool) {
    // Strict: without the extension for windows of a gibibyte. The largest window is 16 MiB.
    let mut state = BrotliState::new_strict(
        StandardAlloc::default(),
        StandardAlloc::default(),
        StandardAlloc::default(),
    );
    let mut out = Vec::new();
    let mut part = vec![0; 1 << 16];
    let mut unread = body.len();
    let mut position = 0;
    let mut total = 0;
    loop {
        let mut room = part.len();
        let mut filled = 0;
        let result = BrotliDecompressStream(
            &mut unread,
            &mut position,
            body,
            &mut room,
            &mut filled,
            &mut part,
            &mut total,
            &mut state,
        );
        out.extend_from_slice(&part[..filled]);
        match result {
            BrotliResult::NeedsMoreOutput if out.len() < MAX_DECODED => {}
            BrotliResult::NeedsMoreOutput => return (out, true),
            BrotliResult::ResultSuccess => return (out, unread == 0),
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => return (out, false),
        }
    }
}

/// Whether the first line of a body is the size of a chunk: hexadecimal digits, and perhaps
/// extensions after a semicolon (RFC 9112 §7.1). Some servers pad the size with blanks.
///
/// A line of a robots.txt is longer than a hexadecimal number, or has other letters. A body that
/// begins with a size but breaks later had chunks, so it stays a failed fetch.
pub(super) fn begins_with_chunk(body: &[u8]) -> bool {
    let line = body.split(|&b| b == b'\n').next().unwrap_or_default();
    let size = trim(line.split(|&b| b == b';').next().unwrap_or_default());
    !size.is_empty() && size.iter().all(u8::is_ascii_hexdigit)
}

/// The start of a body in chunks.
enum Chunk<'b> {
    /// The content of a chunk, and the rest of the body.
    Whole(&'b [u8], &'b [u8]),
    Last,
    /// The body ends inside a chunk with this content.
    Cut(&'b [u8]),
    /// No chunk begins here.
    Broken,
}

/// The first chunk of a body.
fn first_chunk(body: &[u8]) -> Chunk<'_> {
    let Some((line, body)) = body.split_once_str("\n") else {
        return Chunk::Cut(b"");
    };
    let size = trim(line.split(|&b| b == b';').next().unwrap_or_default());
    let size = std::str::from_utf8(size).unwrap_or_default();
    let Ok(size) = usize::from_str_radix(size, 16) else {
        return Chunk::Broken;
    };
    if size == 0 {
        return Chunk::Last;
    }
    match body.split_at_checked(size) {
        None => Chunk::Cut(body),
        Some((content, rest)) => {
            let line_end = [b"\r\n".as_slice(), b"\n"];
            let rest = line_end
                .iter()
                .find_map(|end| rest.strip_prefix(*end))
                .unwrap_or(rest);
            Chunk::Whole(content, rest)
        }
    }
}

/// The content of the chunks; `None` if it is incomplete: neither is the last chunk there, nor are
/// the bytes that count, nor is the body `cut_short`.
fn dechunk(mut body: &[u8], cut_short: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < MAX_DECODED {
        match first_chunk(body) {
            Chunk::Whole(content, rest) => {
                out.extend_from_slice(content);
                body = rest;
            }
            Chunk::Last => return Some(out),
            Chunk::Cut(content) => {
                out.extend_from_slice(content);
                return (cut_short || out.len() >= MAX_KEPT).then_some(out);
            }
            Chunk::Broken => return (out.len() >= MAX_KEPT).then_some(out),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use crate::archive::http::parse;
    use crate::archive::http::tests::outcome;
    use crate::decode::gzip;
    use std::io::Write;

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
}
