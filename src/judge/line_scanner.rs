//! The newline scanner: finds the ends of the lines of a block, and the lines that are not plain.
//!
//! It scans 64 bytes at a time with vector instructions, and turns the result into two bit masks:
//! newlines, and *odd* bytes, which may need normalization. One pass finds both, so a plain URL is
//! never scanned again: its path is its own normal form.

use crate::simd::{Backend, LineMasks};

/// The number of lines in a batch. It is large enough to overlap many cache misses, and small
/// enough that data prefetched for the first line is still in the cache for the last.
pub(crate) const BATCH: usize = 64;

/// A scanner over a block.
pub(crate) struct LineScanner<'b> {
    data: &'b [u8],
    /// The newlines of the current chunk that were not returned yet, one bit each.
    newlines: u64,
    /// The start of the current chunk.
    base: usize,
    /// The start of the next chunk.
    next: usize,
    /// The last line end that was returned.
    last: usize,
    /// The scanned lines with odd bytes, one bit each, beginning with the first line of the batch.
    /// A chunk can have lines of two batches, so there are bits for two.
    odd: u128,
}

impl<'b> LineScanner<'b> {
    pub(crate) fn new(data: &'b [u8]) -> Self {
        Self {
            data,
            newlines: 0,
            base: 0,
            next: 0,
            last: 0,
            odd: 0,
        }
    }

    /// Fills `ends` with the ends of the next lines, including their line ends. Returns the number
    /// of lines, and a bit for each line that may not be plain.
    ///
    /// All other lines are plain up to their line end, LF or CRLF. A last line without a line end
    /// counts as a line that may not be plain. A number below [`BATCH`] marks the end of the block.
    #[inline(always)]
    pub(crate) fn next(
        &mut self,
        ends: &mut [usize; BATCH],
        backend: impl Backend,
    ) -> (usize, u64) {
        self.odd >>= BATCH;
        let mut count = 0;
        while let Some(free) = ends.get_mut(count) {
            if self.newlines == 0 && !self.scan(count, backend) {
                break;
            }
            self.last = self.base + self.newlines.trailing_zeros() as usize + 1;
            self.newlines &= self.newlines - 1;
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

    /// Scans up to the next chunk with a newline; `false` if there is none. `count` is the number
    /// of lines that the batch has so far.
    #[inline(always)]
    fn scan(&mut self, count: usize, backend: impl Backend) -> bool {
        while let Some(chunk) = self.data[self.next..].first_chunk::<64>() {
            self.base = self.next;
            self.next += chunk.len();
            self.set_masks(backend.scan_lines(chunk), count);
            if self.newlines != 0 {
                return true;
            }
        }
        self.scan_tail(count, backend)
    }

    /// Scans the last chunk, which is shorter than 64 bytes.
    #[inline(never)]
    fn scan_tail(&mut self, count: usize, backend: impl Backend) -> bool {
        let tail = &self.data[self.next..];
        // The padding is plain and has no newline.
        let mut chunk = [b'/'; 64];
        chunk[..tail.len()].copy_from_slice(tail);
        (self.base, self.next) = (self.next, self.data.len());
        self.set_masks(backend.scan_lines(&chunk), count);
        self.newlines != 0
    }

    #[inline(always)]
    fn set_masks(&mut self, masks: LineMasks, count: usize) {
        self.newlines = masks.ends;
        if masks.odd != 0 {
            self.mark_odd_lines(masks, count);
        }
    }

    /// Marks the lines of the current chunk that have odd bytes. The chunk begins in line `count`
    /// of the batch.
    #[inline(never)]
    fn mark_odd_lines(&mut self, masks: LineMasks, count: usize) {
        let mut left = masks.odd;
        while left != 0 {
            let at = self.base + left.trailing_zeros() as usize;
            let bits_below = (left & left.wrapping_neg()) - 1;
            left &= left - 1;
            // A CR that belongs to a line end does not count.
            if self.data.get(at..at + 2) != Some(b"\r\n") {
                self.odd |= 1 << (count + (masks.ends & bits_below).count_ones() as usize);
                // One odd byte marks the line: go on after its end.
                let ends = masks.ends & !bits_below;
                left &= !(ends.wrapping_sub(1) & !ends);
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
        fn all_lines_and_odd_lines_are_found(
            lines in vec(
                prop_oneof!["[a-z/.?=&]{0,9}", "[a-z% \r]{0,70}", "[a-z/]{0,140}\r?", "[a-z]{0,70}[%*# \r\u{e9}][a-z]{0,70}"],
                0..200,
            ),
            ended in any::<bool>(),
        ) {
            let mut text = lines.join("\n");
            if ended {
                text.push('\n');
            }
            let mut scanner = LineScanner::new(text.as_bytes());
            let (mut ends, mut at) = ([0; BATCH], 0);
            let mut found = Vec::new();
            loop {
                let (count, odd) = scanner.next(&mut ends, AnyBackend::detect());
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
