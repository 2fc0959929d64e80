//! Where the lines of a block end, and which of them are plain.
//!
//! Both are found in one pass over the bytes, which are in the nearest cache from then on: a plain URL is its own normal form as it stands,
//! and is not looked through again.

use crate::simd::{Backend, LineMasks};

/// Lines in a batch: enough to keep the memory busy, few enough that what was fetched for the first is still there for the last.
pub(crate) const BATCH: usize = 64;

/// Where lines end, found a piece of text at a time.
pub(crate) struct LineScanner<'b> {
    data: &'b [u8],
    /// The ends in the piece looked at that were not given yet, one bit each; where it begins; and where the next one begins.
    found: u64,
    base: usize,
    next: usize,
    /// The last end that was given.
    last: usize,
    /// The lines with odd bytes as far as they were looked at, one bit each, from the first of the batch on.
    odd: u128,
}

impl<'b> LineScanner<'b> {
    pub(crate) fn new(data: &'b [u8]) -> Self {
        Self { data, found: 0, base: 0, next: 0, last: 0, odd: 0 }
    }

    /// Fills `ends` with the places behind the next line ends, and behind a last line without one. How many there are; and a bit for each
    /// line that may not be plain: all others are plain up to their line end, LF or CRLF.
    #[inline(always)]
    pub(crate) fn next(&mut self, ends: &mut [usize; BATCH], backend: impl Backend) -> (usize, u64) {
        self.odd >>= BATCH;
        let mut count = 0;
        while let Some(free) = ends.get_mut(count) {
            if self.found == 0 && !self.look(count, backend) {
                break;
            }
            self.last = self.base + self.found.trailing_zeros() as usize + 1;
            self.found &= self.found - 1;
            *free = self.last;
            count += 1;
        }
        if let Some(free) = ends.get_mut(count).filter(|_| self.last < self.data.len()) {
            *free = self.data.len();
            self.last = self.data.len();
            self.odd |= 1 << count;
            count += 1;
        }
        (count, self.odd as u64)
    }

    /// Looks for the next piece with line ends, behind so many lines of the batch; `false` if there are no more.
    #[inline(always)]
    fn look(&mut self, count: usize, backend: impl Backend) -> bool {
        while let Some(piece) = self.data[self.next..].first_chunk::<64>() {
            self.base = self.next;
            self.next += piece.len();
            self.take(backend.scan_lines(piece), count);
            if self.found != 0 {
                return true;
            }
        }
        self.look_at_last(count, backend)
    }

    #[inline(never)]
    fn look_at_last(&mut self, count: usize, backend: impl Backend) -> bool {
        let rest = &self.data[self.next..];
        // What fills it up is plain, and no line end.
        let mut piece = [b'/'; 64];
        piece[..rest.len()].copy_from_slice(rest);
        (self.base, self.next) = (self.next, self.data.len());
        self.take(backend.scan_lines(&piece), count);
        self.found != 0
    }

    #[inline(always)]
    fn take(&mut self, look: LineMasks, count: usize) {
        self.found = look.ends;
        if look.odd != 0 {
            self.mark(look, count);
        }
    }

    /// Marks the lines of a piece that odd bytes stand in; the first is the one behind so many of the batch.
    #[inline(never)]
    fn mark(&mut self, look: LineMasks, count: usize) {
        let mut left = look.odd;
        while left != 0 {
            let at = self.base + left.trailing_zeros() as usize;
            let before = (left & left.wrapping_neg()) - 1;
            left &= left - 1;
            // The first half of a line end.
            if self.data.get(at..at + 2) != Some(b"\r\n") {
                self.odd |= 1 << (count + (look.ends & before).count_ones() as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::AnyBackend;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_line_ends_where_it_does_and_odd_ones_are_known(
            lines in vec(prop_oneof!["[a-z/.?=&]{0,9}", "[a-z/]{0,140}\r?", "[a-z]{0,70}[%*# \r\u{e9}][a-z]{0,70}"], 0..200), ended in any::<bool>(),
        ) {
            let mut text = lines.join("\n");
            if ended {
                text.push('\n');
            }
            let mut line_ends = LineScanner::new(text.as_bytes());
            let (mut ends, mut at) = ([0; BATCH], 0);
            let mut found = Vec::new();
            loop {
                let (count, odd) = line_ends.next(&mut ends, AnyBackend::detect());
                prop_assert!(count == BATCH || odd.unbounded_shr(count as u32) == 0);
                for (number, end) in ends[..count].iter().enumerate() {
                    found.push((&text[at..*end], odd >> number & 1 == 1));
                    at = *end;
                }
                if count < BATCH {
                    break;
                }
            }
            let is_odd = |line: &str| match line.strip_suffix("\r\n").or(line.strip_suffix('\n')) {
                Some(line) => line.contains(|c: char| "%*# \r".contains(c) || !c.is_ascii()),
                None => true,
            };
            let expected: Vec<(&str, bool)> = text.split_inclusive('\n').map(|line| (line, is_odd(line))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
