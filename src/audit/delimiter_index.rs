//! The delimiters of a block of log lines, found in one vector pass: the first stage of simdjson
//! (Langdale and Lemire, "Parsing gigabytes of JSON per second", 2019).
//!
//! A line in combined format has ten fields, most of them of a few bytes, so a call of memchr takes
//! longer to start than to search. Calls for the line ends and fields took 1,300 of the 2,990
//! instructions per line of 215 bytes. This pass takes 180, and then a field that ends within 57
//! bytes takes one load.
//!
//! Indexing 32 KiB at a time instead of a block took as long: 271 and 272 ms for 2 million lines.

use crate::simd::{AnyBackend, Backend, Kernel};

/// The bytes that one vector step scans.
const CHUNK: usize = 64;

/// The words after the last chunk: a search near the end reads beyond it.
const PADDING: usize = 1;

/// The line ends of a text, and bitmaps of its quotes and blanks.
///
/// The memory is used again for the next block, and is not cleared. The bitmaps take a quarter of
/// the bytes of a text, whatever is in it. Positions of all quotes would take up to eight times as
/// many bytes as a text.
#[derive(Debug, Default)]
pub(super) struct DelimiterIndex {
    /// `"` and `\`.
    pub quotes: Bitmap,
    pub blanks: Bitmap,
    lines: LineEnds,
}

/// A bit per byte of a text, in the order of the bytes.
#[derive(Debug, Default)]
pub(super) struct Bitmap(Vec<[u8; CHUNK / 8]>);

/// The ends of lines, including their line ends.
#[derive(Debug, Default)]
struct LineEnds {
    /// The positions, then free space.
    ends: Vec<usize>,
    count: usize,
}

impl DelimiterIndex {
    /// Indexes a text in place of the previous one.
    pub(super) fn scan(&mut self, text: &[u8]) {
        AnyBackend::detect().run(Scan { text, index: self });
    }

    /// The end of each line, including its line end. The last line may lack one.
    pub(super) fn line_ends(&self) -> &[usize] {
        &self.lines.ends[..self.lines.count]
    }
}

/// The loop over the chunks of a text.
struct Scan<'s> {
    text: &'s [u8],
    index: &'s mut DelimiterIndex,
}

impl Kernel for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, backend: impl Backend) {
        // A last chunk holds the tail, also if that is empty.
        let (chunks, tail) = self.text.as_chunks::<CHUNK>();
        let DelimiterIndex {
            quotes,
            blanks,
            lines,
        } = self.index;
        let quotes = quotes.words(chunks.len() + 1 + PADDING);
        let blanks = blanks.words(chunks.len() + 1 + PADDING);
        lines.count = 0;
        let words = quotes.iter_mut().zip(blanks.iter_mut());
        for ((number, chunk), (quotes, blanks)) in chunks.iter().enumerate().zip(words) {
            let masks = backend.scan_delimiters(chunk);
            *quotes = masks.quotes.to_le_bytes();
            *blanks = masks.blanks.to_le_bytes();
            lines.add(number * CHUNK, masks.ends);
        }
        // The zeros after the tail are not delimiters.
        let mut chunk = [0; CHUNK];
        chunk[..tail.len()].copy_from_slice(tail);
        let masks = backend.scan_delimiters(&chunk);
        // The padding is zeroed: the memory has words of an earlier block.
        let padding = [0; CHUNK / 8];
        quotes[chunks.len()..].copy_from_slice(&[masks.quotes.to_le_bytes(), padding]);
        blanks[chunks.len()..].copy_from_slice(&[masks.blanks.to_le_bytes(), padding]);
        lines.add(chunks.len() * CHUNK, masks.ends);
        if self.text.last().is_some_and(|last| *last != b'\n') {
            lines.add(self.text.len() - 1, 1);
        }
    }
}

impl LineEnds {
    /// Adds the lines that end in a chunk, given its position and the bits of its line ends.
    ///
    /// Whether a chunk has a line end cannot be predicted. So one is written in any case, and the
    /// next chunk overwrites it if it does not exist.
    #[inline(always)]
    fn add(&mut self, chunk: usize, mut bits: u64) {
        if self.ends.len() < self.count + CHUNK {
            self.ends.resize(2 * self.ends.len() + CHUNK, 0);
        }
        let free = &mut self.ends[self.count..];
        self.count += bits.count_ones() as usize;
        for end in free {
            *end = chunk + bits.trailing_zeros() as usize + 1;
            bits &= bits.wrapping_sub(1);
            if bits == 0 {
                return;
            }
        }
    }
}

impl Bitmap {
    /// The first words, after making room for them.
    fn words(&mut self, count: usize) -> &mut [[u8; CHUNK / 8]] {
        if self.0.len() < count {
            self.0.resize(count, [0; CHUNK / 8]);
        }
        &mut self.0[..count]
    }

    /// The position of the first bit that is set in `start..end`.
    ///
    /// The first load starts at the byte of the bitmap with `start`, so that it covers 57 bytes or
    /// more. An aligned load could cover one byte, and how many loads a field takes could not be
    /// predicted. Cost: linear in the length of the range.
    #[inline(always)]
    pub(super) fn first_in(&self, start: usize, end: usize) -> Option<usize> {
        let bytes = self.0.as_flattened();
        let mut at = start;
        loop {
            let window = u64::from_le_bytes(*bytes.get(at / 8..)?.first_chunk()?) >> (at % 8);
            if window != 0 {
                let found = at + window.trailing_zeros() as usize;
                return (found < end).then_some(found);
            }
            at += 64 - at % 8;
            if at >= end {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// The index is used for two texts, so that the second finds the memory of the first.
        #[test]
        fn delimiters_are_found(
            texts in vec(
                vec(
                    prop_oneof![
                        4 => "[a-z]{0,90}",
                        4 => "[\"\\\\ \n]{1,3}",
                        1 => "\n{60,140}",
                    ],
                    0..20,
                ),
                2,
            ),
            shift in 0usize..70,
        ) {
            let mut index = DelimiterIndex::default();
            for text in texts.iter().map(|parts| parts.concat()) {
                index.scan(text.as_bytes());
                let ends: Vec<usize> = text
                    .split_inclusive('\n')
                    .scan(0, |end, line| {
                        *end += line.len();
                        Some(*end)
                    })
                    .collect();
                prop_assert_eq!(index.line_ends(), ends);
                for start in 0..=text.len() {
                    for end in [start, text.len().min(start + shift), text.len()] {
                        let find = |bytes: &str| {
                            text[start..end].find(|c| bytes.contains(c)).map(|at| start + at)
                        };
                        prop_assert_eq!(index.quotes.first_in(start, end), find("\"\\"));
                        prop_assert_eq!(index.blanks.first_in(start, end), find(" "));
                    }
                }
                // An escape can be the last byte of a text.
                prop_assert_eq!(index.quotes.first_in(text.len() + 1, text.len()), None);
            }
        }
    }
}
