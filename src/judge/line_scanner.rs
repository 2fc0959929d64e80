//! The newline scanner: finds the ends of the lines of a block, and the lines that are not plain.
//!
//! It scans 64 bytes at a time with vector instructions, and turns the result into two bit masks:
//! newlines, and *odd* bytes, which may need normalization. One pass finds both, so a plain URL is
//! never scanned again: its path is its own normal form. Cost: some forty instructions per 64 bytes.

use crate::simd::{Backend, LineMasks};

/// The number of lines in a batch. It is large enough to overlap many cache misses, and small
/// enough that data prefetched for the first line is still in the cache for the last.
pub(crate) const BATCH: usize = 64;

/// The bytes that one vector step scans.
const CHUNK: usize = 64;

/// The line ends that are written at once, whether they exist or not.
const ENDS_AT_ONCE: usize = 4;

/// The most lines that are found at once: those of a chunk that a batch lacked one line for, and a
/// last line without a line end.
const FOUND: usize = BATCH + CHUNK;

/// A scanner over a block, and the lines of the current batch.
pub(crate) struct LineScanner<'b> {
    data: &'b [u8],
    /// The start of the next chunk.
    next: usize,
    /// The start of the first line of the batch, then the end of each line that was found,
    /// including its line end. Then free space.
    bounds: [usize; 1 + FOUND + ENDS_AT_ONCE],
    /// The number of lines that were found. Those beyond the batch belong to the next one.
    found: usize,
    /// The number of lines in the batch.
    count: usize,
    /// The lines that were found and have odd bytes, one bit each.
    odd: u128,
    /// The same for the lines of the batch.
    odd_in_batch: u64,
}

impl<'b> LineScanner<'b> {
    pub(crate) fn new(data: &'b [u8]) -> Self {
        Self {
            data,
            next: 0,
            bounds: [0; 1 + FOUND + ENDS_AT_ONCE],
            found: 0,
            count: 0,
            odd: 0,
            odd_in_batch: 0,
        }
    }

    /// Advances to the next batch. Returns the number of its lines; 0 at the end of the block.
    #[inline(always)]
    pub(crate) fn next_batch(&mut self, backend: impl Backend) -> usize {
        // A chunk can have lines of two batches.
        self.bounds.copy_within(self.count..=self.found, 0);
        self.found -= self.count;
        self.odd = self.odd.unbounded_shr(self.count as u32);
        while self.found < BATCH {
            let Some(chunk) = self.data[self.next..].first_chunk() else {
                self.scan_tail(backend);
                break;
            };
            let masks = backend.scan_lines(chunk);
            self.add_lines(masks);
            self.next += CHUNK;
        }
        self.count = self.found.min(BATCH);
        self.odd_in_batch = self.odd as u64;
        self.count
    }

    /// The start of the first line of the batch, then the end of each, including its line end.
    #[inline(always)]
    pub(crate) fn bounds(&self) -> &[usize; BATCH + 1] {
        self.bounds.first_chunk().unwrap_or(&[0; BATCH + 1])
    }

    /// Whether a line of the batch may not be plain. All other lines are plain up to their line end,
    /// LF or CRLF. A last line without a line end may not be plain.
    #[inline(always)]
    pub(crate) fn is_odd(&self, line: usize) -> bool {
        self.odd_in_batch >> (line % BATCH) & 1 == 1
    }

    /// Scans the last chunk, which is shorter than the others, and a line without a line end.
    #[inline(never)]
    fn scan_tail(&mut self, backend: impl Backend) {
        let tail = &self.data[self.next..];
        // The padding is plain and has no newline.
        let mut chunk = [b'/'; CHUNK];
        chunk[..tail.len()].copy_from_slice(tail);
        self.add_lines(backend.scan_lines(&chunk));
        self.next = self.data.len();
        if self.bounds[self.found] < self.data.len() {
            self.odd |= 1 << self.found;
            self.found += 1;
            self.bounds[self.found] = self.data.len();
        }
    }

    /// Adds the lines that end in the next chunk.
    ///
    /// The number of line ends in a chunk cannot be predicted. So four are written at once, and the
    /// next step overwrites those that do not exist (Langdale and Lemire, "Parsing gigabytes of
    /// JSON per second", 2019).
    #[inline(always)]
    fn add_lines(&mut self, masks: LineMasks) {
        if masks.odd != 0 {
            self.mark_odd_lines(masks);
        }
        let mut left = masks.ends;
        let mut free = self.found + 1;
        self.found += left.count_ones() as usize;
        loop {
            if let Some(ends) = self.bounds[free..].first_chunk_mut::<ENDS_AT_ONCE>() {
                for end in ends {
                    *end = self.next + left.trailing_zeros() as usize + 1;
                    left &= left.wrapping_sub(1);
                }
            }
            if left == 0 {
                return;
            }
            free += ENDS_AT_ONCE;
        }
    }

    /// Marks the lines of the next chunk that have odd bytes.
    #[inline(never)]
    fn mark_odd_lines(&mut self, masks: LineMasks) {
        let mut left = masks.odd;
        while left != 0 {
            let at = self.next + left.trailing_zeros() as usize;
            let bits_below = (left & left.wrapping_neg()) - 1;
            left &= left - 1;
            // A CR that belongs to a line end does not count.
            if self.data.get(at..at + 2) != Some(b"\r\n") {
                self.odd |= 1 << (self.found + (masks.ends & bits_below).count_ones() as usize);
                // One odd byte marks the line: skip to its end.
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
            let mut found = Vec::new();
            let mut is_last = false;
            loop {
                let count = scanner.next_batch(AnyBackend::detect());
                if count == 0 {
                    break;
                }
                prop_assert!(!is_last && count <= BATCH);
                is_last = count < BATCH;
                for line in 0..count {
                    let [start, end] = [0, 1].map(|bound| scanner.bounds()[line + bound]);
                    found.push((&text[start..end], scanner.is_odd(line)));
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
