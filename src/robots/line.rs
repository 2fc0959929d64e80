//! The lines of a robots.txt body: the size limit, the byte order mark, line ends, line numbers,
//! over-long lines and comments.

use crate::bytes::trim;
use crate::profile::Profile;
use crate::robots::field::{RobotsField, split};
use memchr::{memchr2, memchr2_iter};
use serde::Serialize;

/// The number of bytes that are read of a robots.txt: 500 KiB (RFC 9309 §2.5; Google's
/// specification, "file format").
pub(crate) const MAX_BODY: usize = 500 * 1024;

/// The number of bytes that profile `Google` reads of a line, as in the reference: eight times the
/// longest URL that Internet Explorer accepted, minus one.
pub(crate) const MAX_LINE: usize = 2083 * 8 - 1;

/// A line of a robots.txt that is neither blank nor only a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedLine<'a> {
    /// The number, from 1, counted as in the reference.
    pub number: u32,
    /// The text in the first [`MAX_LINE`] bytes, without comment and surrounding white space. Empty
    /// only if the line is longer.
    pub text: &'a [u8],
    /// The whole line if it is longer, which hardly any is.
    pub long: Option<LongLine<'a>>,
}

/// A line with more than [`MAX_LINE`] bytes before its comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongLine<'a> {
    /// The text with the white space before it, because the limit counts that too, and without the
    /// white space after it.
    pub text: &'a [u8],
    /// A NUL or the size limit cuts the text, so its end is not known.
    pub is_cut: bool,
}

impl<'a> NumberedLine<'a> {
    /// The text that a profile reads; it may be empty.
    ///
    /// RFC 9309 has no limit for a line, so `Rfc9309` reads a long line whole, or not at all if its
    /// end is not known: a part of a rule may say more than its author.
    #[inline]
    pub(crate) fn text(&self, profile: Profile) -> &'a [u8] {
        match (profile, self.long) {
            (Profile::Rfc9309, Some(line)) if line.is_cut => b"",
            (Profile::Rfc9309, Some(line)) => trim(line.text),
            _ => self.text,
        }
    }
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
    #[inline]
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

    #[inline]
    fn next(&mut self) -> Option<NumberedLine<'a>> {
        loop {
            let RawLine {
                text: raw,
                number,
                start,
                may_be_cut,
            } = self.next_raw()?;
            if self.comment < start {
                self.comment = find_comment(self.body, start);
            }
            let end = raw.len().min(self.comment - start);
            // If the size limit cut only a comment, or bytes after the line limit, the line counts.
            if may_be_cut && end == raw.len() && raw.len() <= MAX_LINE {
                continue;
            }
            if end > MAX_LINE {
                let is_cut = match raw.get(end) {
                    Some(&comment) => comment == 0,
                    None => may_be_cut,
                };
                if let Some(line) = long_line(number, &raw[..end], is_cut) {
                    return Some(line);
                }
                continue;
            }
            let text = trim(&raw[..end]);
            if !text.is_empty() {
                return Some(NumberedLine {
                    number,
                    text,
                    long: None,
                });
            }
        }
    }
}

/// The line whose text before its comment is `raw`, which is longer than [`MAX_LINE`]; `None` if it
/// is blank.
#[cold]
fn long_line(number: u32, raw: &[u8], is_cut: bool) -> Option<NumberedLine<'_>> {
    let text = trim(&raw[..MAX_LINE]);
    // The white space at the end of a cut line may precede more text.
    let end = match is_cut {
        true => raw.len(),
        false => {
            raw.len()
                - raw
                    .iter()
                    .rev()
                    .take_while(|&&b| trim(&[b]).is_empty())
                    .count()
        }
    };
    let long = (end > MAX_LINE).then_some(LongLine {
        text: &raw[..end],
        is_cut,
    });
    (long.is_some() || !text.is_empty()).then_some(NumberedLine { number, text, long })
}

/// The comment of an allow or disallow line that looks like a part of its path: `#b` in
/// `Disallow: /a#b`. `None` if there is none, or if a blank is next to the `#`.
///
/// Parsers end the path at the `#`. In the line `Disallow: /#/` they read the path `/`, which closes
/// the site.
///
/// Cost: one pass over the line. Never panics.
///
/// ```
/// use robosieve::robots::glued_comment;
/// assert_eq!(glued_comment(b"Disallow: /#/"), Some(&b"#/"[..]));
/// assert_eq!(glued_comment(b"Disallow: /a # old"), None);
/// ```
pub fn glued_comment(line: &[u8]) -> Option<&[u8]> {
    let at = memchr2(0, b'#', line).filter(|at| line[*at] == b'#')?;
    let (text, comment) = line.split_at(at);
    let (field, path) = split(trim(text), Profile::Google)?;
    let is_rule = matches!(field, RobotsField::Allow | RobotsField::Disallow);
    let is_comment = |next: &u8| b" \t#".contains(next);
    let is_glued = text.ends_with(path) && !comment.get(1).is_some_and(is_comment);
    (is_rule && is_glued && matches!(path, [b'/' | b'*', ..])).then_some(trim(comment))
}

/// The [`glued_comment`] of a line of a robots.txt, whose numbers count from 1.
///
/// Cost: one pass over the lines before it. Never panics.
///
/// ```
/// use robosieve::robots::glued_comment_of_line;
/// let body = b"User-agent: *\nDisallow: /a#b\n";
/// assert_eq!(glued_comment_of_line(body, 2), Some(&b"#b"[..]));
/// assert_eq!(glued_comment_of_line(body, 1), None);
/// ```
pub fn glued_comment_of_line(body: &[u8], number: u32) -> Option<&[u8]> {
    let mut lines = NumberedLines::new(body, false);
    while let Some(line) = lines.next_raw() {
        if line.number == number {
            return glued_comment(line.text);
        }
    }
    None
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

/// A line of a robots.txt. It serializes to an object with these keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct RobotsLine {
    /// Its number, from 1.
    pub line: u32,
    /// Its text, without comment and surrounding white space.
    pub text: String,
}

impl RobotsLine {
    /// A line with its number and its text.
    pub fn new(line: u32, text: impl Into<String>) -> Self {
        Self {
            line,
            text: text.into(),
        }
    }
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

    /// The lengths of the only line's text as each profile reads it.
    fn lengths(body: &[u8], truncated: bool) -> [usize; 2] {
        let line = NumberedLines::new(body, truncated).next();
        [Profile::Google, Profile::Rfc9309]
            .map(|profile| line.map_or(0, |line| line.text(profile).len()))
    }

    #[test]
    fn only_google_limits_a_line() {
        let long = [b'a'; MAX_LINE + 9];
        assert_eq!(lengths(&long[..MAX_LINE], false), [MAX_LINE, MAX_LINE]);
        assert_eq!(lengths(&long, false), [MAX_LINE, MAX_LINE + 9]);
        // White space before the text counts, that after it and comments do not matter.
        let late = [&[b' '; 9], &long[..MAX_LINE]].concat();
        assert_eq!(lengths(&late, false), [MAX_LINE - 9, MAX_LINE]);
        let later = [&[b' '; MAX_LINE], b"a".as_slice()].concat();
        assert_eq!(lengths(&later, false), [0, 1]);
        assert_eq!(lengths(&[b' '; MAX_LINE + 1], false), [0, 0]);
        for end in [" ", "\t#", "#a"] {
            let body = [&long[..MAX_LINE], end.as_bytes()].concat();
            assert_eq!(lengths(&body, false), [MAX_LINE, MAX_LINE], "{end:?}");
        }
        // A line without a known end is not a line of RFC 9309.
        assert_eq!(lengths(&long, true), [MAX_LINE, 0]);
        let with_nul = [&long, b"\0a".as_slice()].concat();
        assert_eq!(lengths(&with_nul, false), [MAX_LINE, 0]);
        let with_comment = [&long, b"#a".as_slice()].concat();
        assert_eq!(lengths(&with_comment, true), [MAX_LINE, MAX_LINE + 9]);
    }
}
