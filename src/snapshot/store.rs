//! The sections of rule sets and of their patterns.
//!
//! Rule sets arrive encoded, each with its own patterns. Writing copies the bytes and replaces the
//! places of the patterns, which all sets share here. A place depends on the sets in front, so one
//! thread appends them, while the other sections are written on other threads.

use crate::error::{ErrorKind, Result};
use crate::matcher::build;
use crate::matcher::packed_rule::PLACE_BITS;
use crate::snapshot::contents::{RuleSetContents, SnapshotContents, par_map_rows, par_sum_rows, row_ranges};
use crate::snapshot::format::NONE;
use crate::snapshot::sections::SectionWriter;
use std::io::{Seek, Write};
use xxhash_rust::xxh3::xxh3_64;

/// Rule sets per write.
const SETS_PER_WRITE: usize = 1 << 10;

/// Writes all rule sets to their section; returns the place of each, in units of 8 bytes, and their
/// patterns.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for over 32 GiB.
pub(super) fn write_rule_sets(
    contents: &impl SnapshotContents,
    section: &mut SectionWriter<'_, impl Write + Seek>,
) -> Result<(Vec<u32>, PatternSection)> {
    let count = contents.rule_set_count();
    let [most] = par_sum_rows(count, |number| Ok([most_patterns(&contents.rule_set(number)?) as u64]))?;
    let places = Vec::with_capacity(count);
    let mut appender = RuleSetAppender { places, written: 0, patterns: PatternSection::with_room(most as usize) };
    let mut out = Vec::new();
    for range in row_ranges(count, SETS_PER_WRITE) {
        out.clear();
        // Decoding the heads touches memory that no cache holds, so all threads do it.
        for rule_set in par_map_rows(range, |number| contents.rule_set(number))? {
            appender.append(rule_set, &mut out)?;
        }
        appender.written += out.len() as u64;
        section.append(&out)?;
    }
    Ok((appender.places, appender.patterns))
}

/// The most bytes of patterns that a rule set stores.
fn most_patterns(rule_set: &RuleSetContents<'_>) -> usize {
    match rule_set {
        RuleSetContents::Set(set) => set.patterns_len(),
        RuleSetContents::Union(_) => 0,
    }
}

/// Appends rule sets one after the other.
struct RuleSetAppender {
    places: Vec<u32>,
    /// The length of the rule sets that were written.
    written: u64,
    patterns: PatternSection,
}

impl RuleSetAppender {
    /// Appends a rule set to `out`, the next bytes to be written.
    fn append(&mut self, rule_set: RuleSetContents<'_>, out: &mut Vec<u8>) -> Result<()> {
        let place = u32::try_from((self.written + out.len() as u64) / 8).ok().filter(|&place| place != NONE);
        self.places.push(place.ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of rule sets".to_owned()))?);
        match rule_set {
            RuleSetContents::Set(set) => set.copy(out, |text| self.patterns.place(text)),
            RuleSetContents::Union(parts) => {
                let parts: Vec<u32> = parts.iter().map(|&part| self.places[part as usize]).collect();
                build::encode_union(&parts, out);
                Ok(())
            }
        }
    }
}

/// Slots of the table of stored patterns. The number is fixed, so that equal rule sets give equal
/// sections.
const PATTERN_SLOTS: usize = 1 << 20;

/// The section `patterns`, with a direct-mapped cache of stored patterns.
///
/// The cache finds the patterns that recur often. A full hash map takes more memory than any other
/// part of writing, and makes the section only a few per cent shorter.
pub(super) struct PatternSection {
    bytes: Vec<u8>,
    /// Per slot the start of a pattern and, above [`PLACE_BITS`], its length: one word, because
    /// most probes miss the processor's caches.
    slots: Vec<u64>,
}

impl PatternSection {
    /// Reserves address space for `len` bytes: growing would hold the patterns twice during the
    /// move. Where the system refuses, the section grows all the same.
    fn with_room(len: usize) -> Self {
        let mut bytes = Vec::new();
        let _ = bytes.try_reserve_exact(len);
        Self { bytes, slots: vec![0; PATTERN_SLOTS] }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place of a pattern, which is appended unless its slot holds it.
    fn place(&mut self, text: &[u8]) -> u64 {
        let slot = xxh3_64(text) as usize % PATTERN_SLOTS;
        let stored = self.slots[slot];
        let (start, len) = (stored & ((1 << PLACE_BITS) - 1), (stored >> PLACE_BITS) as usize);
        if len == text.len() && self.bytes.get(start as usize..start as usize + len) == Some(text) {
            return start;
        }
        // `EncodedSet::copy` refuses a start beyond `PLACE_BITS`.
        let start = self.bytes.len() as u64;
        self.slots[slot] = (text.len() as u64) << PLACE_BITS | start;
        self.bytes.extend_from_slice(text);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_pattern_is_stored_once() {
        let mut patterns = PatternSection::with_room(100);
        let places: Vec<u64> =
            [&b"/a*b"[..], b"/c*", b"/a*b", b"", b"/c*"].iter().map(|text| patterns.place(text)).collect();
        assert_eq!((places, patterns.bytes()), (vec![0, 4, 0, 0, 4], &b"/a*b/c*"[..]));
    }
}
