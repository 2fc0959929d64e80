//! The sections of rule sets and of their patterns.
//!
//! Rule sets arrive encoded, each with its own patterns. Appending copies the bytes and replaces
//! the places of the patterns, which all sets share here. A place depends on the sets in front, so
//! one thread appends them, while others encode the next ones.

use crate::digest::{Digest, digest, digest_hash};
use crate::error::{ErrorKind, Result};
use crate::matcher::build;
use crate::snapshot::contents::{DigestedSet, RulesContents};
use crate::snapshot::format::NONE;
use crate::spool::{Spool, SpoolOptions};
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Appends rule sets, each distinct one once.
#[derive(Debug)]
pub(super) struct RuleSetWriter {
    pub sets: Spool,
    pub patterns: PatternSection,
    /// The places of the rule sets and unions so far, in units of 8 bytes.
    places: HashTable<(Digest, u32)>,
    /// The number of rules of all sets.
    pub rules: u64,
    encoded: Vec<u8>,
}

impl RuleSetWriter {
    pub(super) fn new(options: &SpoolOptions) -> Self {
        Self {
            sets: Spool::new(options, "rule sets"),
            patterns: PatternSection::new(options),
            places: HashTable::new(),
            rules: 0,
            encoded: Vec::new(),
        }
    }

    /// The number of distinct rule sets and unions.
    pub(super) fn count(&self) -> u64 {
        self.places.len() as u64
    }

    /// The place of some rules, which are appended if they are new; the parts of a union first.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for over 32 GiB; I/O errors of temporary data.
    pub(super) fn place(&mut self, rules: &RulesContents) -> Result<u32> {
        match rules {
            RulesContents::Set(set) => self.place_of_set(set),
            RulesContents::Union(sets) => {
                let mut parts: Vec<u32> = Vec::new();
                for set in sets {
                    let part = self.place_of_set(set)?;
                    if !parts.contains(&part) {
                        parts.push(part);
                    }
                }
                self.place_of_union(&parts)
            }
        }
    }

    fn place_of_set(&mut self, set: &DigestedSet) -> Result<u32> {
        if let Some(place) = self.find(&set.digest) {
            return Ok(place);
        }
        self.encoded.clear();
        let mut failure = None;
        set.encoded.set()?.copy(&mut self.encoded, |text| {
            self.patterns.place(text).unwrap_or_else(|err| {
                failure = Some(err);
                0
            })
        })?;
        self.rules += set.rule_count()?;
        failure.map_or_else(|| self.append(set.digest), Err)
    }

    fn place_of_union(&mut self, parts: &[u32]) -> Result<u32> {
        self.encoded.clear();
        build::encode_union(parts, &mut self.encoded);
        // No set has the digest of a union: sets do not begin like this text.
        let digest = digest(&[b"union of ", &*self.encoded].concat());
        self.find(&digest).map_or_else(|| self.append(digest), Ok)
    }

    fn find(&self, digest: &Digest) -> Option<u32> {
        self.places.find(digest_hash(digest), |(other, _)| other == digest).map(|(_, place)| *place)
    }

    /// Appends the encoded bytes.
    fn append(&mut self, digest: Digest) -> Result<u32> {
        let place = u32::try_from(self.sets.len() / 8).ok().filter(|&place| place != NONE);
        let place = place.ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of rule sets".to_owned()))?;
        self.sets.append(&self.encoded)?;
        self.places.insert_unique(digest_hash(&digest), (digest, place), |(other, _)| digest_hash(other));
        Ok(place)
    }
}

/// Slots of the table of stored patterns. The number is fixed, so that equal rule sets give equal
/// sections.
const PATTERN_SLOTS: u64 = 1 << 20;

/// The section `patterns`, with a direct-mapped cache of stored patterns.
///
/// The cache finds the patterns that recur often. A full hash map takes more memory than any other
/// part of writing, and makes the section only a few per cent shorter.
#[derive(Debug)]
pub(super) struct PatternSection {
    pub bytes: Spool,
    /// The slots in use.
    slots: HashTable<StoredPattern>,
}

#[derive(Debug)]
struct StoredPattern {
    slot: u64,
    start: u64,
    text: Box<[u8]>,
}

impl PatternSection {
    fn new(options: &SpoolOptions) -> Self {
        Self { bytes: Spool::new(options, "patterns"), slots: HashTable::new() }
    }

    /// The place of a pattern, which is appended unless its slot holds it.
    fn place(&mut self, text: &[u8]) -> Result<u64> {
        let slot = xxh3_64(text) % PATTERN_SLOTS;
        // `EncodedSet::copy` refuses a start that is too large.
        let start = self.bytes.len();
        let hash_of = |slot: u64| slot.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match self.slots.find_mut(hash_of(slot), |stored| stored.slot == slot) {
            Some(stored) if *stored.text == *text => return Ok(stored.start),
            Some(stored) => *stored = StoredPattern { slot, start, text: text.into() },
            // The empty pattern is at every place.
            None if text.is_empty() => return Ok(0),
            None => {
                let stored = StoredPattern { slot, start, text: text.into() };
                self.slots.insert_unique(hash_of(slot), stored, |stored| hash_of(stored.slot));
            }
        }
        self.bytes.append(text)?;
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_pattern_is_stored_once() {
        let mut patterns = PatternSection::new(&SpoolOptions::in_memory());
        let places: Vec<u64> =
            [&b"/a*b"[..], b"/c*", b"/a*b", b"", b"/c*"].iter().map(|text| patterns.place(text).unwrap()).collect();
        let bytes = patterns.bytes.finish().unwrap();
        assert_eq!((places, bytes.in_memory()), (vec![0, 4, 0, 0, 4], Some(&b"/a*b/c*"[..])));
    }
}
