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
