//! The section of rule sets: each distinct one once.
//!
//! Rule sets arrive encoded. A place depends on the earlier sets, so one thread appends them, while
//! others encode the next ones.

use crate::digest::{Digest, digest, digest_hash};
use crate::error::{ErrorKind, Result};
use crate::matcher::build;
use crate::snapshot::contents::{DigestedSet, RulesContents};
use crate::snapshot::format::NONE;
use crate::spool::{Spool, SpoolOptions};
use hashbrown::HashTable;

/// Appends rule sets, each distinct one once.
#[derive(Debug)]
pub(super) struct RuleSetWriter {
    pub sets: Spool,
    /// The places of the rule sets and unions so far, in units of 8 bytes.
    places: HashTable<(Digest, u32)>,
    /// The number of rules of all sets.
    pub rules: u64,
}

impl RuleSetWriter {
    pub(super) fn new(options: &SpoolOptions) -> Self {
        Self {
            sets: Spool::new(options, "rule sets"),
            places: HashTable::new(),
            rules: 0,
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
    pub(super) fn place(&mut self, rules: &RulesContents<'_>) -> Result<u32> {
        match rules {
            RulesContents::Place(place) => Ok(*place),
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

    fn place_of_set(&mut self, set: &DigestedSet<'_>) -> Result<u32> {
        if let Some(place) = self.find(&set.digest) {
            return Ok(place);
        }
        self.rules += set.rule_count()?;
        self.append(set.digest, &set.encoded)
    }

    fn place_of_union(&mut self, parts: &[u32]) -> Result<u32> {
        let union = build::encode_union(parts);
        // No set has the digest of a union: sets do not begin like this text.
        let digest = digest(&[b"union of ", &*union].concat());
        self.find(&digest)
            .map_or_else(|| self.append(digest, &union), Ok)
    }

    fn find(&self, digest: &Digest) -> Option<u32> {
        self.places
            .find(digest_hash(digest), |(other, _)| other == digest)
            .map(|(_, place)| *place)
    }

    fn append(&mut self, digest: Digest, encoded: &[u8]) -> Result<u32> {
        let place = u32::try_from(self.sets.len() / 8)
            .ok()
            .filter(|&place| place != NONE);
        let place =
            place.ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of rule sets".to_owned()))?;
        self.sets.append(encoded)?;
        self.places
            .insert_unique(digest_hash(&digest), (digest, place), |(other, _)| {
                digest_hash(other)
            });
        Ok(place)
    }
}
