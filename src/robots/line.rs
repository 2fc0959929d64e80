//! Bytes to numbered lines: the size limit, the byte order mark, line ends, over-long lines, comments.

use crate::agent::trim;
use memchr::{memchr2, memchr2_iter};

/// What is read of a robots.txt: 500 KiB (RFC 9309 §2.5; Google's specification, "file format").
pub(crate) const MAX_BODY: usize = 500 * 1024;

/// What is kept of one line, as the reference has it: eight times the longest URL Internet Explorer took, less one.
pub(crate) const MAX_LINE: usize = 2083 * 8 - 1;

/// One line that says something: its number and its text without comment and surrounding white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The number, from 1, counted as the reference counts.
    pub number: u32,
    /// The text; never empty.
    pub text: &'a [u8],
}

/// The lines of a body that are not blank, in order; a line that the size limit cuts in two is left out.
///
/// Every CR or LF ends a line, except an LF behind a CR with nothing between them (so CRLF counts once).
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    body: &'a [u8],
    at: usize,
    ends: memchr::Memchr2<'a>,
    /// The first `#` or NUL that is not before the last line looked at; most files have few.
    mark: usize,
    last_was_cr: bool,
    number: u32,
    /// The body went on behind the limit, so the last line may be cut.
    cut: bool,
    done: bool,
}

impl<'a> Lines<'a> {
    /// The lines of `body`; `truncated` says that the server had more than `body` holds.
    pub(crate) fn new(body: &'a [u8], truncated: bool) -> Self {
        let cut = truncated || body.len() > MAX_BODY;
        let limited = &body[..body.len().min(MAX_BODY)];
        // A limit that falls exactly on a line's end has cut nothing.
        let cut = cut && !body.get(MAX_BODY).is_some_and(|b| b"\r\n".contains(b));
        let body = &limited[bom_len(limited)..];
        let (ends, mark) = (memchr2_iter(b'\n', b'\r', body), mark_from(body, 0));
        Self { body, at: 0, ends, mark, last_was_cr: false, number: 0, cut, done: false }
    }

    /// The next raw line, blank ones too, and where it begins; the flag says that the size limit may have cut it.
    fn next_raw(&mut self) -> Option<(&'a [u8], usize, bool)> {
        for end in self.ends.by_ref() {
            let start = self.at;
            let raw = &self.body[start..end];
            let is_lf = self.body[end] == b'\n';
            self.at = end + 1;
            if raw.is_empty() && is_lf && self.last_was_cr {
                self.last_was_cr = false;
                continue;
            }
            self.last_was_cr = !is_lf;
            self.number += 1;
            return Some((raw, start, false));
        }
        if self.done {
            return None;
        }
        self.done = true;
        self.number += 1;
        Some((&self.body[self.at..], self.at, self.cut))
    }

    /// How much of `kept`, which begins at `start`, stands before a comment or a NUL.
    fn before_mark(&mut self, kept: &[u8], start: usize) -> usize {
        if self.mark < start {
            self.mark = mark_from(self.body, start);
        }
        kept.len().min(self.mark - start)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let (raw, start, cut) = self.next_raw()?;
            let kept = &raw[..raw.len().min(MAX_LINE)];
            let end = self.before_mark(kept, start);
            // What stands before a comment or the line limit was read whole, whatever the size limit cut off.
            if cut && end == kept.len() && raw.len() <= MAX_LINE {
                continue;
            }
            let text = trim(&kept[..end]);
            if !text.is_empty() {
                return Some(Line { number: self.number, text });
            }
        }
    }
}

/// The first `#` or NUL of `body` at or behind `from`; its end if there is none.
fn mark_from(body: &[u8], from: usize) -> usize {
    memchr2(0, b'#', &body[from..]).map_or(body.len(), |at| from + at)
}

/// The length of a UTF-8 byte order mark at the start, also of the beginning of one.
fn bom_len(body: &[u8]) -> usize {
    const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
    body.iter().zip(BOM).take_while(|&(&b, bom)| b == bom).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(body: &[u8]) -> Vec<(u32, String)> {
        Lines::new(body, false).map(|line| (line.number, String::from_utf8_lossy(line.text).into_owned())).collect()
    }

    #[test]
    fn line_ends_count_as_the_reference_counts() {
        let expect = |n: u32| vec![(1, "a".to_owned()), (n, "b".to_owned())];
        for (body, second) in [("a\nb", 2), ("a\r\nb", 2), ("a\rb", 2), ("a\r\r\nb", 3), ("a\n\rb", 3)] {
            assert_eq!(numbers(body.as_bytes()), expect(second), "{body:?}");
        }
        assert_eq!(numbers(b"\xef\xbba\r\n\r\nb"), expect(3));
    }

    #[test]
    fn comments_nul_and_space_are_cut() {
        assert_eq!(numbers(b"  a b\x0b # c\n#\n\0x\ny\0z"), [(1, "a b".into()), (4, "y".into())]);
        let expected = [(1, "a".into()), (2, "d".into()), (4, "e".into()), (5, "f".into())];
        assert_eq!(numbers(b"a#b#c\nd\n#\ne#\nf"), expected);
    }

    #[test]
    fn the_size_limit_drops_the_line_it_cuts() {
        let mut body = vec![b'\n'; MAX_BODY - 3];
        body.extend(b"a:bcdef");
        assert!(numbers(&body).is_empty());
        body.truncate(MAX_BODY);
        assert_eq!(numbers(&body).len(), 1, "a body of exactly the limit is whole");
        body.extend(b"\nx");
        assert_eq!(numbers(&body).len(), 1, "a line that ends at the limit is whole");
        let mut body = vec![b'\n'; MAX_BODY - 4];
        body.extend(b"a:b#cdef");
        assert_eq!(numbers(&body)[0].1, "a:b", "only the comment was cut");
    }

    #[test]
    fn the_line_limit_keeps_what_was_read() {
        let body = vec![b'a'; MAX_LINE + 9];
        assert_eq!(numbers(&body)[0].1.len(), MAX_LINE);
    }
}
