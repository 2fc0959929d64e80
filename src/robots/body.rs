//! Properties of a robots.txt body that make a crawler misread it: too many bytes, or another file
//! format.

use crate::file_format::{BYTE_ORDER_MARK, FileFormat};
use crate::robots::line::MAX_BODY;

/// Properties of a body: its size, the part that is ignored, and whether it is another format than
/// robots.txt.
///
/// ```
/// use robosieve::robots::{BodyFacts, LooksLike};
/// let facts = BodyFacts::of(b"<!DOCTYPE html>\n<title>Not found</title>");
/// assert_eq!((facts.looks_like, facts.ignored_bytes), (Some(LooksLike::Html), 0));
/// assert_eq!(BodyFacts::of(b"user-agent: *\ndisallow: /x").looks_like, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyFacts {
    /// The length in bytes.
    pub bytes: usize,
    /// The number of bytes after the first 500 KiB, which are ignored (RFC 9309 §2.5).
    pub ignored_bytes: usize,
    /// The first ignored line, if any: the line that the limit cuts, or the one that begins there.
    pub ignored_from: Option<u32>,
    /// The other kind of text that it looks like.
    pub looks_like: Option<LooksLike>,
    /// The binary format by its magic number, if it has one: `a zip archive`.
    pub other_format: Option<&'static str>,
}

/// Kinds of text that servers send instead of a robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LooksLike {
    /// HTML or XML: most often an error page.
    Html,
    /// Text in UTF-16, in which no line has a known field.
    Utf16,
}

impl LooksLike {
    /// The name in JSON: `html` or `utf-16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Utf16 => "utf-16",
        }
    }
}

impl BodyFacts {
    /// The facts about a body as served (after content decoding). Cost: constant, and for a body
    /// over the limit one pass over the first 500 KiB.
    pub fn of(body: &[u8]) -> Self {
        let ignored_bytes = body.len().saturating_sub(MAX_BODY);
        let looks_like = if is_utf16(body) {
            Some(LooksLike::Utf16)
        } else {
            is_html(body).then_some(LooksLike::Html)
        };
        let ignored_from = (ignored_bytes > 0).then(|| first_ignored(body));
        let format = FileFormat::of(body)
            .filter(|format| !matches!(format, FileFormat::Utf16 | FileFormat::Binary));
        let other_format = format.map(FileFormat::name);
        Self {
            bytes: body.len(),
            ignored_bytes,
            ignored_from,
            looks_like,
            other_format,
        }
    }
}

/// The number of the first line of a body over the limit that is not read whole.
fn first_ignored(body: &[u8]) -> u32 {
    let (read, rest) = body.split_at(MAX_BODY);
    let ends = (0..read.len())
        .filter(|&i| read[i] == b'\r' || (read[i] == b'\n' && (i == 0 || read[i - 1] != b'\r')))
        .count() as u32;
    // A line that ends exactly at the limit is whole. The LF of a CRLF ends no line.
    let ends_here =
        matches!(rest.first(), Some(b'\r' | b'\n')) && !(read.ends_with(b"\r") && rest[0] == b'\n');
    ends + 1 + u32::from(ends_here)
}

/// Whether the first character is a `<` that opens a tag, a comment or a declaration. Programs that
/// join files write several byte order marks.
fn is_html(body: &[u8]) -> bool {
    let mut text = body.trim_ascii_start();
    while let Some(rest) = text.strip_prefix(BYTE_ORDER_MARK) {
        text = rest.trim_ascii_start();
    }
    matches!(text, [b'<', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'!' | b'?'))
}

/// The number of byte pairs that are inspected for UTF-16 without a byte order mark.
const PAIRS: usize = 32;

/// Whether a body begins with a UTF-16 byte order mark, or every other byte is zero, as for Latin
/// letters.
fn is_utf16(body: &[u8]) -> bool {
    if body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff") {
        return true;
    }
    let pairs = &body.as_chunks::<2>().0[..(body.len() / 2).min(PAIRS)];
    pairs.len() > 1
        && (pairs.iter().all(|[high, low]| *high == 0 && *low != 0)
            || pairs.iter().all(|[low, high]| *high == 0 && *low != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::line::NumberedLines;

    #[test]
    fn other_kinds_of_text_are_recognised() {
        let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| {
            text.encode_utf16().flat_map(order).collect::<Vec<u8>>()
        };
        let text = "User-agent: *\nDisallow: /";
        for (body, expected) in [
            (b"<html>".to_vec(), Some(LooksLike::Html)),
            (
                b"\xef\xbb\xbf\r\n <!DOCTYPE html>".to_vec(),
                Some(LooksLike::Html),
            ),
            (
                b"\xef\xbb\xbf\xef\xbb\xbf<html>".to_vec(),
                Some(LooksLike::Html),
            ),
            (b"<?xml version=\"1.0\"?>".to_vec(), Some(LooksLike::Html)),
            (utf16(text, u16::to_le_bytes), Some(LooksLike::Utf16)),
            (utf16(text, u16::to_be_bytes), Some(LooksLike::Utf16)),
            (
                utf16(&format!("\u{feff}{text}"), u16::to_le_bytes),
                Some(LooksLike::Utf16),
            ),
            (text.as_bytes().to_vec(), None),
            (b"< x\n<".to_vec(), None),
            (b"\0\0\0\0".to_vec(), None),
            (b"".to_vec(), None),
        ] {
            assert_eq!(
                BodyFacts::of(&body).looks_like,
                expected,
                "{}",
                body.escape_ascii()
            );
        }
    }

    /// A line is ignored if and only if `NumberedLines` omits it.
    #[test]
    fn ignored_lines_begin_after_the_last_line_read() {
        for end in ["\n", "\r", "\r\n"] {
            for shift in 0..12 {
                let line = format!("a: {}{end}", "x".repeat(4));
                let body = "y".repeat(shift) + &line.repeat(MAX_BODY / line.len() + 3);
                let facts = BodyFacts::of(body.as_bytes());
                let read = NumberedLines::new(body.as_bytes(), false)
                    .last()
                    .unwrap()
                    .number;
                let lines = facts.ignored_from.unwrap();
                assert_eq!(lines, read + 1, "{end:?} {shift}");
                assert_eq!(facts.ignored_bytes, body.len() - MAX_BODY);
            }
        }
        assert_eq!(BodyFacts::of(&vec![b'\n'; MAX_BODY]).ignored_from, None);
    }
}
