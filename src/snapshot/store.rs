//! The section of rule sets: each distinct one once.
//!
//! Rule sets arrive encoded. An offset depends on the earlier sets, so one thread appends them,
//! while others encode the next ones.

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
    /// The offsets of the rule sets and unions so far, in units of 8 bytes.
    offsets: HashTable<(Digest, u32)>,
    /// The number of rules of all sets.
    pub rules: u64,
}

impl RuleSetWriter {
    pub(super) fn new(options: &SpoolOptions) -> Self {
        Self {
            sets: Spool::new(options, "rule sets"),
            offsets: HashTable::new(),
            rules: 0,
        }
    }

    /// The number of distinct rule sets and unions.
    pub(super) fn count(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// The offset of some rules, which are appended if they are new; the parts of a union first.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for over 32 GiB; I/O errors of temporary data.
    pub(super) fn offset_of(&mut self, rules: &RulesContents<'_>) -> Result<u32> {
        match rules {
            RulesContents::Offset(offset) => Ok(*offset),
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
        if let Some(offset) = self.find(&set.digest) {
            return Ok(offset);
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
        self.offsets
            .find(digest_hash(digest), |(other, _)| other == digest)
            .map(|(_, offset)| *offset)
    }

    fn append(&mut self, digest: Digest, encoded: &[u8]) -> Result<u32> {
        let offset = u32::try_from(self.sets.len() / 8)
            .ok()
            .filter(|&offset| offset != NONE);
        let offset =
            offset.ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of rule sets".to_owned()))?;
        self.sets.append(encoded)?;
        self.offsets
            .insert_unique(digest_hash(&digest), (digest, offset), |(other, _)| {
                digest_hash(other)
            });
        Ok(offset)
    }
}
