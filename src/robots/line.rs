//! The lines of a robots.txt body: the size limit, the byte order mark, line ends, line numbers,
//! over-long lines and comments.

use crate::bytes::trim;
use memchr::{memchr2, memchr2_iter};

/// The number of bytes that are read of a robots.txt: 500 KiB (RFC 9309 §2.5; Google's
/// specification, "file format").
pub(crate) const MAX_BODY: usize = 500 * 1024;

/// The number of bytes that are kept of a line, as in the reference: eight times the longest URL
/// that Internet Explorer accepted, minus one.
pub(crate) const MAX_LINE: usize = 2083 * 8 - 1;

/// A line of a robots.txt that is neither blank nor only a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedLine<'a> {
    /// The number, from 1, counted as in the reference.
    pub number: u32,
    /// The text without comment and surrounding white space; never empty.
    pub text: &'a [u8],
}

/// Iterates over the lines of a body that are not blank, in order. A line that the size limit cuts
/// is omitted.
///
/// Every CR and every LF ends a line, except an LF directly after a CR, so CRLF counts once.
#[derive(Clone, Debug)]
pub(crate) struct NumberedLines<'a> {
    body: &'a [u8],
    /// The start of the next raw line.
    at: usize,
    line_ends: memchr::Memchr2<'a>,
    /// The first `#` or NUL that is not before the last line; most files have few, so the search
    /// for the next one is seldom repeated.
    comment: usize,
    last_was_cr: bool,
    number: u32,
    /// The body has more bytes after the limit, so its last line may be cut.
    is_cut: bool,
    done: bool,
}

/// A line as it is in the body, blank lines included.
pub(crate) struct RawLine<'a> {
    pub text: &'a [u8],
    /// The number, from 1.
    pub number: u32,
    /// Its offset in the body without byte order mark.
    pub start: usize,
    /// Whether the size limit may have cut it.
    may_be_cut: bool,
}

impl<'a> NumberedLines<'a> {
    /// The lines of `body`; `truncated` says that the server had more than `body` holds.
    pub(crate) fn new(body: &'a [u8], truncated: bool) -> Self {
        let is_cut = truncated || body.len() > MAX_BODY;
        let limited = &body[..body.len().min(MAX_BODY)];
        // A limit that falls exactly on a line's end cuts nothing.
        let is_cut = is_cut && !body.get(MAX_BODY).is_some_and(|b| b"\r\n".contains(b));
        let body = &limited[bom_len(limited)..];
        Self {
            body,
            at: 0,
            line_ends: memchr2_iter(b'\n', b'\r', body),
            comment: find_comment(body, 0),
            last_was_cr: false,
            number: 0,
            is_cut,
            done: false,
        }
    }

    /// The next line with its comment; also blank lines, and the line that the size limit cuts.
    pub(crate) fn next_raw(&mut self) -> Option<RawLine<'a>> {
        for end in self.line_ends.by_ref() {
            let start = self.at;
            let text = &self.body[start..end];
            let is_lf = self.body[end] == b'\n';
            self.at = end + 1;
            // The LF of a CRLF ends no line of its own.
            if text.is_empty() && is_lf && self.last_was_cr {
                self.last_was_cr = false;
                continue;
            }
            self.last_was_cr = !is_lf;
            self.number += 1;
            return Some(RawLine {
                text,
                number: self.number,
                start,
                may_be_cut: false,
            });
        }
        // The bytes after the last line end are a line too, even if there are none.
        if self.done {
            return None;
        }
        self.done = true;
        self.number += 1;
        Some(RawLine {
            text: &self.body[self.at..],
            number: self.number,
            start: self.at,
            may_be_cut: self.is_cut,
        })
    }
}

impl<'a> Iterator for NumberedLines<'a> {
    type Item = NumberedLine<'a>;

    fn next(&mut self) -> Option<NumberedLine<'a>> {
        loop {
            let RawLine {
                text: raw,
                number,
                start,
                may_be_cut,
            } = self.next_raw()?;
            let kept = &raw[..raw.len().min(MAX_LINE)];
            if self.comment < start {
                self.comment = find_comment(self.body, start);
            }
            let end = kept.len().min(self.comment - start);
            // If the size limit cut only a comment, or bytes after the line limit, the line counts.
            if may_be_cut && end == kept.len() && raw.len() <= MAX_LINE {
                continue;
            }
            let text = trim(&kept[..end]);
            if !text.is_empty() {
                return Some(NumberedLine { number, text });
            }
        }
    }
}

/// The offset of the first `#` or NUL of `body` from `from` on; the length of `body` if it has
/// none.
fn find_comment(body: &[u8], from: usize) -> usize {
    memchr2(0, b'#', &body[from..]).map_or(body.len(), |at| from + at)
}

/// The length of a UTF-8 byte order mark at the start, or of the part of one.
pub(crate) fn bom_len(body: &[u8]) -> usize {
    const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
    body.iter()
        .zip(BOM)
        .take_while(|&(&b, bom)| b == bom)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bstr::ByteSlice;

    fn numbers(body: &[u8]) -> Vec<(u32, String)> {
        NumberedLines::new(body, false)
            .map(|line| (line.number, line.text.to_str_lossy().into_owned()))
            .collect()
    }

    #[test]
    fn lines_are_numbered_as_in_the_reference() {
        let expect = |n: u32| vec![(1, "a".to_owned()), (n, "b".to_owned())];
        for (body, second) in [
            ("a\nb", 2),
            ("a\r\nb", 2),
            ("a\rb", 2),
            ("a\r\r\nb", 3),
            ("a\n\rb", 3),
        ] {
            assert_eq!(numbers(body.as_bytes()), expect(second), "{body:?}");
        }
        assert_eq!(numbers(b"\xef\xbba\r\n\r\nb"), expect(3));
    }

    #[test]
    fn comments_nul_and_white_space_are_cut() {
        assert_eq!(
            numbers(b"  a b\x0b # c\n#\n\0x\ny\0z"),
            [(1, "a b".into()), (4, "y".into())]
        );
        let expected = [
            (1, "a".into()),
            (2, "d".into()),
            (4, "e".into()),
            (5, "f".into()),
        ];
        assert_eq!(numbers(b"a#b#c\nd\n#\ne#\nf"), expected);
    }

    #[test]
    fn the_size_limit_drops_the_line_that_it_cuts() {
        let mut body = vec![b'\n'; MAX_BODY - 3];
        body.extend(b"a:bcdef");
        assert!(numbers(&body).is_empty());
        body.truncate(MAX_BODY);
        assert_eq!(
            numbers(&body).len(),
            1,
            "a body of exactly the limit is whole"
        );
        body.extend(b"\nx");
        assert_eq!(
            numbers(&body).len(),
            1,
            "a line that ends at the limit is whole"
        );
        let mut body = vec![b'\n'; MAX_BODY - 4];
        body.extend(b"a:b#cdef");
        assert_eq!(numbers(&body)[0].1, "a:b", "only the comment was cut");
    }

    #[test]
    fn the_line_limit_keeps_the_beginning() {
        let body = vec![b'a'; MAX_LINE + 9];
        assert_eq!(numbers(&body)[0].1.len(), MAX_LINE);
    }
}
