//! Substrings: the search for listed texts in the letters and digits of a URL.
//!
//! A *window* is the eight letters from one place on. Each window reads one bit of a Bloom filter of
//! the first letters of all substrings, which dismisses nearly all places. A binary search decides
//! about the rest. The look-ups do not depend on each other, so the processor overlaps them. An
//! automaton (aho-corasick) takes as many steps, but each waits for the one before, in a table of 256
//! bytes per letter of the substrings: with 1,000 of them it took 1.25 to 1.5 times as long.
//!
//! A filter hashes a fixed number of letters, and no more than its shortest substring has. So
//! substrings of one, two and three letters have a filter each, and all longer ones another.

use super::format::{HASH_MULTIPLIER, WordRow};
use super::hosts::common_len;
use super::words::{LOWER_CASE, MAX_WORD, word_count, word_text};
use crate::error::{Error, Result};
use crate::snapshot::format::Section;
use crate::snapshot::section_file::SectionFile;
use std::ops::Range;

/// The letters of a window.
const WINDOW: usize = 8;

/// Substrings of as many letters or more share a filter.
const LONG: usize = 4;

/// The substrings of a file.
#[derive(Clone, Debug)]
pub(super) struct Substrings {
    filters: Vec<PrefixFilter>,
    /// In the order of their texts.
    substrings: Vec<Substring>,
    /// The first letters of each, as a number that is in the order of the texts.
    keys: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Substring {
    /// Its row among the words.
    row: u32,
    /// The place of the longest other one that it begins with; `u32::MAX` if there is none.
    prefix: u32,
    /// Its letters, at most [`MAX_WORD`].
    len: u8,
}

impl Substrings {
    /// The substrings of a file. Cost: linear in the words.
    pub(super) fn of_file(file: &SectionFile) -> Result<Self> {
        let mut substrings: Vec<Substring> = Vec::new();
        let mut texts: Vec<&[u8]> = Vec::new();
        for row in 0..word_count(file) {
            if WordRow::decode(file.section(Section::Words), row)?.substring == 0 {
                continue;
            }
            let text = word_text(file, row)?;
            let is_later = texts.last().is_none_or(|last| *last < text);
            if text.is_empty() || text.len() > MAX_WORD || !is_later {
                return Err(Error::corrupt(
                    "substrings that are empty, equal, too long or out of order",
                ));
            }
            // All that lie between a text and another that begins with it begin with it too.
            let mut prefix = (texts.len() as u32).wrapping_sub(1);
            while let Some(before) = texts.get(prefix as usize)
                && !text.starts_with(before)
            {
                prefix = substrings[prefix as usize].prefix;
            }
            let len = text.len() as u8;
            substrings.push(Substring { row, prefix, len });
            texts.push(text);
        }
        let keys = texts.iter().map(|text| first_letters(text)).collect();
        Ok(Self {
            filters: PrefixFilter::for_all(&texts),
            substrings,
            keys,
        })
    }

    /// The row of the substring that begins first in a text; of several that begin there, the longest.
    ///
    /// Cost: some ten instructions per letter and filter, and a binary search for each place where a
    /// filter says yes.
    #[inline(always)]
    pub(super) fn find(&self, file: &SectionFile, letters: &Letters) -> Result<Option<u32>> {
        let mut found = None;
        // A filter looks only before the place that the one before found.
        let mut end = letters.len;
        for filter in &self.filters {
            let mut from = 0;
            while let Some(place) = filter.next_place(&letters.bytes, from, end) {
                if let Some(row) = self.longest_at(file, &letters.bytes[place..letters.len])? {
                    found = Some(row);
                    end = place;
                    break;
                }
                from = place + 1;
            }
        }
        Ok(found)
    }

    /// The row of the longest substring that a text begins with.
    ///
    /// All texts between a substring and a text that begins with it begin with it too. So the one that
    /// is searched is the last that is not after the text, or one that this begins with.
    #[inline(never)]
    fn longest_at(&self, file: &SectionFile, text: &[u8]) -> Result<Option<u32>> {
        let key = first_letters(text);
        let mut after = self.keys.partition_point(|other| *other <= key);
        // Only texts tell substrings with the same first letters apart.
        if self.key_before(after) == Some(key) {
            after = self.end_of_earlier(file, text, key, after)?;
        }
        let Some(last_key) = self.key_before(after) else {
            return Ok(None);
        };
        let mut place = after - 1;
        let common = match last_key == key {
            true => common_len(text.iter().copied(), self.text(file, place)?),
            false => (last_key ^ key).leading_zeros() as usize / 8,
        };
        while let Some(substring) = self.substrings.get(place) {
            if usize::from(substring.len) <= common {
                return Ok(Some(substring.row));
            }
            place = substring.prefix as usize;
        }
        Ok(None)
    }

    /// The key of the substring before a place.
    fn key_before(&self, place: usize) -> Option<u64> {
        self.keys.get(place.checked_sub(1)?).copied()
    }

    /// The place after the substrings that are not after a text, of which those with its key end at
    /// `end`.
    fn end_of_earlier(
        &self,
        file: &SectionFile,
        text: &[u8],
        key: u64,
        mut end: usize,
    ) -> Result<usize> {
        let mut after = self.keys.partition_point(|other| *other < key);
        while after < end {
            let middle = after + (end - after) / 2;
            if self.text(file, middle)? <= text {
                after = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(after)
    }

    /// The text of the substring in a place.
    fn text<'f>(&self, file: &'f SectionFile, place: usize) -> Result<&'f [u8]> {
        match self.substrings.get(place) {
            Some(substring) => word_text(file, substring.row),
            None => Ok(b""),
        }
    }
}

/// A Bloom filter of the first letters of substrings, with one bit for each.
///
/// Its size is fixed, so that the loop over all places of a URL has no bounds check, and it takes at
/// most half of a first-level cache. Of 1,000 substrings, one place in 130 is a false hit, and of 10,000 one
/// in 13.
#[derive(Clone, Debug)]
struct PrefixFilter {
    /// The hash of a window is its product with this number, which ends in zeros: they shift the
    /// letters that are not hashed out of the product.
    multiplier: u64,
    units: Box<[u64; PrefixFilter::UNITS]>,
}

impl PrefixFilter {
    const UNIT_BITS: u32 = 11;
    const UNITS: usize = 1 << Self::UNIT_BITS;

    /// The filters of all substrings.
    fn for_all(texts: &[&[u8]]) -> Vec<Self> {
        let mut filters = Vec::new();
        for letters in 1..LONG {
            let short = texts.iter().filter(|text| text.len() == letters);
            let short: Vec<&[u8]> = short.copied().collect();
            if !short.is_empty() {
                filters.push(Self::new(&short, letters));
            }
        }
        let long = texts.iter().filter(|text| text.len() >= LONG);
        let long: Vec<&[u8]> = long.copied().collect();
        if let Some(shortest) = long.iter().map(|text| text.len()).min() {
            filters.push(Self::new(&long, shortest.min(WINDOW)));
        }
        filters
    }

    /// The filter that hashes the first `letters` letters of these substrings. None is shorter.
    fn new(texts: &[&[u8]], letters: usize) -> Self {
        let mut filter = Self {
            multiplier: HASH_MULTIPLIER << (64 - 8 * letters),
            units: Box::new([0; Self::UNITS]),
        };
        for text in texts {
            let letters = first_letters(text).swap_bytes();
            let hash = letters.wrapping_mul(filter.multiplier);
            filter.units[Self::unit(hash)] |= 1 << Self::bit(hash);
        }
        filter
    }

    /// The first place in `from..end` where a substring may begin. At least a window of bytes is after
    /// the end.
    #[inline(always)]
    fn next_place(&self, bytes: &[u8], from: usize, end: usize) -> Option<usize> {
        let units = &*self.units;
        let multiplier = self.multiplier;
        let windows = bytes.get(from..end + WINDOW - 1)?.windows(WINDOW);
        for (skipped, window) in windows.enumerate() {
            let window = window.first_chunk().copied().unwrap_or_default();
            let hash = u64::from_le_bytes(window).wrapping_mul(multiplier);
            if units[Self::unit(hash)] >> Self::bit(hash) & 1 == 1 {
                return Some(from + skipped);
            }
        }
        None
    }

    /// The number of the unit for a hash.
    #[inline(always)]
    fn unit(hash: u64) -> usize {
        (hash >> (64 - Self::UNIT_BITS)) as usize
    }

    /// The number of the bit in its unit.
    #[inline(always)]
    fn bit(hash: u64) -> u32 {
        (hash >> (64 - Self::UNIT_BITS - 6) & 63) as u32
    }
}

/// The letters and digits of a text in lower case, without all other characters. Any bytes follow them,
/// at least a window: a filter may read them, and a comparison does not.
#[derive(Clone, Debug, Default)]
pub(super) struct Letters {
    bytes: Vec<u8>,
    len: usize,
}

impl Letters {
    /// The letters that are copied at a time. Most tokens are shorter.
    const STEP: usize = 16;

    /// Removes all, and makes room for the letters of a text of `len` bytes.
    pub(super) fn clear_for(&mut self, len: usize) {
        self.len = 0;
        let needed = len + Self::STEP.max(WINDOW);
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    /// Appends a token of a text.
    #[inline(always)]
    pub(super) fn append(&mut self, text: &[u8], token: Range<usize>) {
        let len = token.end - token.start;
        let from = text.get(token.start..).and_then(|from| from.first_chunk());
        let to = self.bytes.get_mut(self.len..);
        let to = to.and_then(|to| to.first_chunk_mut());
        match (from, to) {
            // The next token overwrites what follows this one.
            (Some(from), Some(to)) if len <= Self::STEP => *to = Self::lower_case(*from),
            _ => self.write_long(&text[token]),
        }
        self.len += len;
    }

    /// Writes a token that is long, or at the end of the text.
    #[inline(never)]
    fn write_long(&mut self, token: &[u8]) {
        if let Some(to) = self.bytes.get_mut(self.len..self.len + token.len()) {
            for (to, from) in to.iter_mut().zip(token) {
                *to = from | LOWER_CASE;
            }
        }
    }

    #[inline(always)]
    fn lower_case(step: [u8; Self::STEP]) -> [u8; Self::STEP] {
        step.map(|byte| byte | LOWER_CASE)
    }
}

/// The first letters of a text as a number: those of a text that is earlier are not greater.
fn first_letters(text: &[u8]) -> u64 {
    let mut letters = [0; WINDOW];
    for (to, from) in letters.iter_mut().zip(text) {
        *to = *from;
    }
    u64::from_be_bytes(letters)
}
