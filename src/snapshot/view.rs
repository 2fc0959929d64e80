//! The sections that judging reads: from the key of an origin to its entry, robots.txt and rules.
//!
//! Each of these steps is a cache miss if the snapshot is larger than the cache. So there are two
//! ways through them. [`rules_entry`](View::rules_entry) and the `prefetch_*` functions are steps
//! for a whole batch of origins: they take any number, never fail, and skip what is damaged. The
//! other functions check every access and report damage. See `judge::batch`.

use crate::bytes::wire::bytes;
use crate::error::{Error, Result};
use crate::matcher::rule_set::{MAX_SET_LEN, RuleSet, Rules};
use crate::simd;
use crate::snapshot::format::{
    ENTRY_HEAD, Entry, FILE_LEN, FileRow, NAMED_LEN, NONE, NamedRow, ORIGIN_METADATA_LEN,
    OriginMetadata, hash_key,
};
use crate::snapshot::index::{self, BUCKET_LEN, Probe};

/// The names of an agent's chain that a snapshot has, as numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenChain {
    pub tokens: Vec<u32>,
    /// Whether the global groups do not apply to the agent.
    pub ignores_star: bool,
}

/// The sections of a snapshot that judging reads. Every access is bounds-checked.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// The seed of the index's hashes.
    pub(super) seed: u64,
    pub(super) index: &'a [[u8; BUCKET_LEN]],
    pub(super) origins: &'a [u8],
    pub(super) origin_metadata: &'a [u8],
    pub(super) origin_details: &'a [u8],
    pub(super) files: &'a [u8],
    pub(super) named: &'a [u8],
    pub(super) rule_sets: &'a [u8],
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}

impl<'a> View<'a> {
    /// The hash of a canonical key.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        hash_key(key, self.seed)
    }

    /// The entry of a canonical key.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<Entry<'a>>> {
        self.find_hashed(key, self.hash(key))
    }

    /// The entry of a canonical key whose hash is known. Expected cost: one bucket and one entry.
    #[inline]
    pub(crate) fn find_hashed(&self, key: &[u8], hash: u64) -> Result<Option<Entry<'a>>> {
        for offset in index::candidates(self.index, hash, index::Load::Half) {
            if let Some(entry) = self.find_at(offset, key)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Prefetches what [`probe`](Self::probe) reads.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        index::prefetch(self.index, hash);
    }

    /// Probes the first bucket of the index for a hash.
    #[inline]
    pub(crate) fn probe(&self, hash: u64) -> Probe {
        index::probe(self.index, hash)
    }

    /// The entry at an offset, if it has this key.
    #[inline]
    pub(crate) fn find_at(&self, offset: u32, key: &[u8]) -> Result<Option<Entry<'a>>> {
        Ok(Some(Entry::decode(self.origins, offset)?).filter(|entry| entry.key == key))
    }

    /// Prefetches the entry at an offset, with the first 32 bytes of its key. Any number is accepted.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, offset: u32) {
        prefetch::<8>(self.origins, offset as usize);
        prefetch::<8>(self.origins, offset as usize + 5);
    }

    /// The robots.txt and the row of the entry at an offset, if it is that of an origin with rules
    /// or without a robots.txt, and has the key of `key_len` bytes with which `text` begins. Any
    /// number is accepted as the offset. The entry with this key may be missed, near the end of the
    /// text or of the section.
    ///
    /// Prefetches the origin metadata of other origins.
    ///
    /// The key is compared with one vector step, and no branch waits for the entry, so the cache
    /// misses of several calls overlap.
    #[inline(always)]
    pub(crate) fn rules_entry(
        &self,
        offset: u32,
        key_len: usize,
        text: &[u8],
        backend: impl simd::Backend,
    ) -> RulesEntry {
        let entry = self.origins.get(offset as usize * 8..).unwrap_or_default();
        let Some((head, key)) = entry.split_first_chunk::<ENTRY_HEAD>() else {
            return RulesEntry::NONE;
        };
        let (Some(start), Some(stored_start)) = (text.first_chunk(), key.first_chunk()) else {
            return RulesEntry::NONE;
        };
        let [file, row, rest] = head.as_chunks().0 else {
            return RulesEntry::NONE;
        };
        let [file, row, rest] = [file, row, rest].map(|number| u32::from_le_bytes(*number));
        let compared = 1u32.unbounded_shl(key_len as u32).wrapping_sub(1);
        let differing = !backend.equal_bytes(start, stored_start) & compared;
        let has_key = (rest as u16 as usize == key_len) & (differing == 0);
        let class_and_flag = (rest >> 16) as u16;
        let has_no_robots_txt = Entry::is_no_robots_txt(class_and_flag);
        if (class_and_flag != 0) & !has_no_robots_txt {
            prefetch::<ORIGIN_METADATA_LEN>(self.origin_metadata, row as usize);
        }
        if key_len > 32 && text.get(32..key_len) != key.get(32..key_len) {
            return RulesEntry::NONE;
        }
        RulesEntry {
            file: if has_key & (class_and_flag == 0) {
                file
            } else {
                NONE
            },
            has_no_robots_txt: has_key & has_no_robots_txt,
            row,
        }
    }

    /// Prefetches the row of a robots.txt. Any number is accepted as the file.
    #[inline]
    pub(crate) fn prefetch_file(&self, file: u32) {
        prefetch::<FILE_LEN>(self.files, file as usize);
    }

    /// Prefetches what is read to find the rules of an agent in a robots.txt: the rows of the
    /// agents that it names, of which the first one and the middle one, where the binary search
    /// begins; and the head of its global rules. Any number is accepted as the file.
    #[inline]
    pub(crate) fn prefetch_groups(&self, file: u32) {
        let Some(row) = FileRow::get(self.files, file) else {
            return;
        };
        if row.named_len() > 0 {
            let first = row.named.0 as usize;
            prefetch::<NAMED_LEN>(self.named, first);
            prefetch::<NAMED_LEN>(self.named, first + row.named_len() as usize / 2);
        }
        prefetch::<8>(self.rule_sets, row.global as usize);
    }

    /// Prefetches the first cache lines of the rules at an offset. Any number is accepted.
    #[inline(always)]
    pub(crate) fn prefetch_rules(&self, offset: u32) {
        for line in 0..=RULE_LINES_AHEAD {
            prefetch::<8>(self.rule_sets, offset as usize + line * 8);
        }
    }

    /// The row of a robots.txt.
    #[inline]
    pub(crate) fn file(&self, file: u32) -> Result<FileRow> {
        FileRow::decode(self.files, file)
    }

    /// The rows of the agents that a robots.txt names, sorted by token.
    #[inline]
    pub(crate) fn named(&self, file: &FileRow) -> Result<&'a [[u8; NAMED_LEN]]> {
        let rows = self
            .named
            .as_chunks()
            .0
            .get(file.named.0 as usize..file.named.1 as usize);
        rows.ok_or_else(|| Error::corrupt("a robots.txt's named agents"))
    }

    /// The number of distinct robots.txt files. The last row has the ends of the last file.
    pub(crate) fn file_count(&self) -> u32 {
        (self.files.len() / FILE_LEN).saturating_sub(1) as u32
    }

    /// A row of the section `origin metadata`, with its details.
    pub(crate) fn origin_metadata(&self, row: u32) -> Result<OriginMetadata> {
        OriginMetadata::decode(self.origin_metadata, self.origin_details, row)
    }

    /// The offset of the rules that an agent with this chain of tokens obeys, or [`NONE`]: those
    /// for the first token that the robots.txt names, else the global ones (RFC 9309 §2.2.1), unless
    /// the agent ignores these.
    #[inline]
    pub(crate) fn rules_for(file: &FileRow, named: &[[u8; NAMED_LEN]], chain: &TokenChain) -> u32 {
        if !named.is_empty()
            && let Some(offset) = Self::first_named(named, &chain.tokens)
        {
            return offset;
        }
        if chain.ignores_star {
            NONE
        } else {
            file.global
        }
    }

    /// The offset of the rules for the first of these tokens that `named` contains.
    pub(crate) fn first_named(named: &[[u8; NAMED_LEN]], tokens: &[u32]) -> Option<u32> {
        tokens.iter().find_map(|token| {
            let found = named
                .binary_search_by_key(token, |row| NamedRow::decode(row).token)
                .ok()?;
            Some(NamedRow::decode(&named[found]).rule_set)
        })
    }

    /// The rule set or union at an offset.
    #[inline]
    pub(crate) fn rules(&self, offset: u32) -> Result<Rules<'a>> {
        Rules::decode(self.rule_sets, offset)
    }

    /// The offsets of all rule sets and unions, in the order of the file.
    pub(crate) fn rule_offsets(&self) -> Result<Vec<u32>> {
        let mut offsets = Vec::new();
        let mut at = 0;
        while at < self.rule_sets.len() {
            let offset =
                u32::try_from(at / 8).map_err(|_| Error::corrupt("the rule sets are too long"))?;
            at += self.rules(offset)?.encoded_len();
            offsets.push(offset);
        }
        Ok(offsets)
    }

    /// The bytes of the rule set or union at an offset. Equal bytes mean equal rules.
    pub(crate) fn rule_bytes(&self, offset: u32) -> Result<&'a [u8]> {
        bytes(
            self.rule_sets,
            offset as usize * 8,
            self.rules(offset)?.encoded_len(),
            "a rule set",
        )
    }

    /// The rule sets of a union.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a member that is not a rule set, and for more
    /// bytes than the rules of one robots.txt have: a forged union may repeat a large set.
    #[inline]
    pub(crate) fn union_sets(
        &self,
        offsets: &'a [[u8; 4]],
    ) -> impl Iterator<Item = Result<RuleSet<'a>>> + use<'a> {
        let view = *self;
        let mut left = MAX_SET_LEN;
        offsets.iter().map(move |offset| {
            let set = view.rule_set(u32::from_le_bytes(*offset))?;
            left = left
                .checked_sub(set.encoded_len())
                .ok_or_else(|| Error::corrupt("a union of over 8 MB of rules"))?;
            Ok(set)
        })
    }

    /// The section of rule sets.
    #[inline(always)]
    pub(crate) fn rule_sets(&self) -> &'a [u8] {
        self.rule_sets
    }

    /// The rule set at `offset`. A union is an error.
    pub(crate) fn rule_set(&self, offset: u32) -> Result<RuleSet<'a>> {
        RuleSet::decode(self.rule_sets, offset)
    }
}

/// The entry of an origin with rules or without a robots.txt, found by [`View::rules_entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RulesEntry {
    /// The robots.txt with its rules, or [`NONE`].
    pub file: u32,
    /// The site has no robots.txt.
    pub has_no_robots_txt: bool,
    /// Its row in the section of origin metadata.
    pub row: u32,
}

impl RulesEntry {
    /// No entry.
    pub(crate) const NONE: Self = Self {
        file: NONE,
        has_no_robots_txt: false,
        row: NONE,
    };
}

/// The cache lines of a rule set that are prefetched after its first one. Most rule sets are
/// shorter.
const RULE_LINES_AHEAD: usize = 4;

/// Prefetches a row of a section whose rows have this length, if the section contains it.
#[inline]
fn prefetch<const LEN: usize>(section: &[u8], row: usize) {
    if let Some(row) = section.as_chunks::<LEN>().0.get(row) {
        simd::prefetch(row);
    }
}
