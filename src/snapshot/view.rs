//! The sections that judging URLs looks at, at hand: from a key to an entry, a robots.txt, rules.

use crate::bytes::wire::bytes;
use crate::error::{Error, Result};
use crate::matcher::encoded_set::EncodedSet;
use crate::matcher::rule_set::{RuleSet, Rules};
use crate::simd;
use crate::snapshot::format::{Entry, FACTS_LEN, FileRow, NAMED_LEN, NONE, NamedRow, hash_key};
use crate::snapshot::index::{self, BUCKET_LEN, Probe};

/// Sections of a snapshot; every access is bounds-checked.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(super) index: &'a [[u8; BUCKET_LEN]],
    pub(super) origins: &'a [u8],
    pub(super) facts: &'a [u8],
    pub(super) files: &'a [u8],
    pub(super) named: &'a [u8],
    pub(super) rule_sets: &'a [u8],
    pub(super) patterns: &'a [u8],
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}

impl<'a> View<'a> {
    /// The entry of a canonical key.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<Entry<'a>>> {
        self.find_hashed(key, hash_key(key))
    }

    /// The entry of a canonical key whose hash is known. Expected cost: a bucket, an entry.
    #[inline]
    pub(crate) fn find_hashed(&self, key: &[u8], hash: u64) -> Result<Option<Entry<'a>>> {
        for place in index::candidates(self.index, hash) {
            if let Some(entry) = self.find_at(place, key)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Prepares a [`glance`](Self::glance).
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        index::prefetch(self.index, hash);
    }

    /// What the first look at the index tells of a key with this hash.
    #[inline]
    pub(crate) fn probe(&self, hash: u64) -> Probe {
        index::probe(self.index, hash)
    }

    /// The entry at a place, if it has this key.
    #[inline]
    pub(crate) fn find_at(&self, place: u32, key: &[u8]) -> Result<Option<Entry<'a>>> {
        Ok(Some(Entry::decode(self.origins, place)?).filter(|entry| entry.key == key))
    }

    /// The robots.txt of the entry at a place that may be no entry's; [`NONE`] for none. Asks the memory for what is read besides: the
    /// end of its key, and, where there is no robots.txt, its facts.
    #[inline]
    pub(crate) fn likely_file(&self, place: u32) -> u32 {
        let Some(word) = word(self.origins, place) else { return NONE };
        let (file, row) = (word as u32, (word >> 32) as usize);
        prefetch::<8>(self.origins, place as usize + 5);
        if file == NONE {
            prefetch::<FACTS_LEN>(self.facts, row);
        }
        file
    }

    /// The place of the global rules of a robots.txt that may be none; [`NONE`] for none. Asks the memory for the agents it names.
    #[inline]
    pub(crate) fn likely_rules(&self, file: u32) -> u32 {
        let Some(row) = self.files.as_chunks().0.get(file as usize).map(FileRow::of) else { return NONE };
        if row.named_len > 0 {
            let first = row.named_start as usize;
            prefetch::<NAMED_LEN>(self.named, first);
            prefetch::<NAMED_LEN>(self.named, first.wrapping_add(row.named_len as usize / 2));
        }
        row.global
    }

    /// The first word of the rules at a place that may be none. Asks the memory for those behind it: most rule sets are short.
    #[inline]
    pub(crate) fn likely_head(&self, place: u32) -> u64 {
        for line in 1..=RULES_AHEAD {
            prefetch::<8>(self.rule_sets, place as usize + line * 8);
        }
        word(self.rule_sets, place).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn file(&self, file: u32) -> Result<FileRow> {
        FileRow::decode(self.files, file)
    }

    /// What a robots.txt says to the names it names, sorted by token.
    #[inline]
    pub(crate) fn named(&self, file: &FileRow) -> Result<&'a [[u8; NAMED_LEN]]> {
        if file.named_len == 0 {
            return Ok(&[]);
        }
        let start = usize::try_from(file.named_start).ok().and_then(|start| start.checked_mul(NAMED_LEN));
        let start = start.ok_or_else(|| Error::corrupt("a robots.txt's first named agent"))?;
        let rows = bytes(self.named, start, file.named_len as usize * NAMED_LEN, "a robots.txt's named agents")?;
        Ok(rows.as_chunks().0)
    }

    /// The place of the rules for the first of some tokens that is among the named.
    pub(crate) fn first_named(named: &[[u8; NAMED_LEN]], tokens: &[u32]) -> Option<u32> {
        tokens.iter().find_map(|token| {
            let found = named.binary_search_by_key(token, |row| NamedRow::decode(row).token).ok()?;
            Some(NamedRow::decode(&named[found]).rule_set)
        })
    }

    #[inline]
    pub(crate) fn rules(&self, place: u32) -> Result<Rules<'a>> {
        Rules::decode(self.rule_sets, place, self.patterns)
    }

    /// The places of all rule sets and unions, in the order of the file.
    pub(crate) fn rule_places(&self) -> Result<Vec<u32>> {
        let (mut places, mut at) = (Vec::new(), 0);
        while at < self.rule_sets.len() {
            let place = u32::try_from(at / 8).map_err(|_| Error::corrupt("the rule sets are too long"))?;
            at += self.rules(place)?.encoded_len();
            places.push(place);
        }
        Ok(places)
    }

    /// The rule set at `place`, which is not a union, with its patterns.
    pub(crate) fn encoded_set(&self, place: u32, set: RuleSet<'a>) -> Result<EncodedSet<'a>> {
        EncodedSet::new(self.rule_sets, place, set, self.patterns)
    }

    /// The rule set at `place`, which is not a union.
    pub(crate) fn rule_set(&self, place: u32) -> Result<RuleSet<'a>> {
        RuleSet::decode(self.rule_sets, place, self.patterns)
    }
}

/// Cache lines behind the first of a rule set that are asked for with it: most rule sets are shorter.
const RULES_AHEAD: usize = 4;

/// Asks the memory for a row of a section whose rows have this length, if it is there.
#[inline]
fn prefetch<const LEN: usize>(section: &[u8], row: usize) {
    if let Some(row) = section.as_chunks::<LEN>().0.get(row) {
        simd::prefetch(row);
    }
}

/// The word at a place in units of eight bytes.
#[inline]
fn word(section: &[u8], place: u32) -> Option<u64> {
    section.as_chunks().0.get(place as usize).map(|word| u64::from_le_bytes(*word))
}
