//! The rule cache: rule sets that many paths reach are promoted to an in-memory layout.
//!
//! In a snapshot, rules are laid out for a few paths on each of millions of sites. But a few sites
//! make up much of most lists. Where thousands of paths reach the same rules, it pays to sample
//! some of these paths and to build a [`BitTable`], whose fingerprints are those that the samples
//! rarely have. On an unsorted list of 1.8 million URLs this takes 1.6 times less time than the
//! search of the stored rules.

use super::bit_table::BitTable;
use super::candidate::{Candidate, PathSignature};
use super::packed_rule::PackedRule;
use super::rule_set::RuleSet;
use crate::error::{Error, Result};
use crate::robots::reference;
use crate::simd::{AnyBackend, Backend, Kernel};
use std::mem;

/// The mean distance between samples, in paths. Only samples count for promotion: in a list in random
/// order, most rule sets are reached once, and counting all paths took a twentieth of the time.
const SAMPLING_INTERVAL: u32 = 16;

/// Samples that reach a rule set before it is promoted. Promotion costs as much as matching about
/// 4,000 paths.
const SAMPLES: u32 = 256;

/// How many bytes of each sample are kept: a line may have megabytes.
const SAMPLE_LEN: usize = 256;

/// The memory that the tables of a thread may take.
const CAPACITY: usize = 128 << 20;

/// Slots, one for each remainder of a rule set's offset.
const SLOTS: usize = 256;

/// The rule sets that many paths of one thread reached.
#[derive(Debug)]
pub(crate) struct RuleCache {
    slots: Box<[CachedRuleSet; SLOTS]>,
    sampling: Sampling,
    /// What is left of [`CAPACITY`].
    free: usize,
}

/// A slot; one cache line, so that its address is computed by a shift.
#[derive(Debug, Default)]
#[repr(align(64))]
struct CachedRuleSet {
    /// The offset of the rule set in the snapshot.
    offset: u32,
    /// Samples that reached it, minus those that reached another rule set of this slot.
    hits: u32,
    /// Whether it was used since another rule set wanted the slot.
    is_used: bool,
    table: Option<Box<BitTable>>,
    /// The samples that reached it, until it is promoted.
    samples: Vec<Vec<u8>>,
}

/// Chooses the paths that are samples.
#[derive(Debug)]
struct Sampling {
    /// The mean distance between samples, in paths: a power of two.
    interval: u32,
    /// Samples that reach a rule set before it is promoted.
    promote_after: u32,
    /// The state of a linear congruential generator. A fixed distance would take the samples of one
    /// site only where sites take turns in a list.
    state: u32,
}

impl Sampling {
    /// Whether the next path is a sample.
    #[inline(always)]
    fn next(&mut self) -> bool {
        self.state = self
            .state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        self.state >> 16 & (self.interval - 1) == 0
    }
}

impl Default for RuleCache {
    fn default() -> Self {
        Self::promoting_after(SAMPLING_INTERVAL * SAMPLES)
    }
}

impl RuleCache {
    /// A cache that promotes a rule set after about this many paths; after exactly this many if they
    /// are fewer than [`SAMPLES`].
    pub(super) fn promoting_after(promote_after: u32) -> Self {
        let slots = Box::new(std::array::from_fn(|_| CachedRuleSet::default()));
        let interval = (promote_after / SAMPLES).clamp(1, SAMPLING_INTERVAL);
        let sampling = Sampling {
            interval,
            promote_after: promote_after / interval,
            state: 0,
        };
        Self {
            slots,
            sampling,
            free: CAPACITY,
        }
    }

    /// The table of the rule set at an offset, if it was promoted.
    #[inline(always)]
    fn table(&mut self, offset: u32) -> Option<&BitTable> {
        let slot = &mut self.slots[offset as usize % SLOTS];
        if slot.offset != offset {
            return None;
        }
        // One flag is all that is written: this is done for nearly every path.
        slot.is_used = true;
        slot.table.as_deref()
    }

    /// Whether the rules of the set at an offset of the section let a path be fetched. The path
    /// counts for promotion.
    ///
    /// Only the steps that decide most paths are part of the caller's loop. The searches are kernels
    /// of their own: inlined, they would leave the loop too few registers. They read the rule set,
    /// of which the steps before need the head at most.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes of the set contradict each other.
    #[inline(always)]
    pub(crate) fn allows(
        &mut self,
        sets: &[u8],
        offset: u32,
        candidate: Candidate<'_>,
        signature: &mut PathSignature,
        backend: impl Backend,
    ) -> Result<bool> {
        let place = RuleSetPlace { sets, offset };
        if let Some(table) = self.table(offset) {
            let rank = match table.highest_by_ends(candidate) {
                Some(rank) => rank,
                None => backend.run(SearchTable {
                    table,
                    place,
                    candidate,
                })?,
            };
            return Ok(PackedRule::rank_allows(rank));
        }
        // Paths that the filter of first bytes dismisses cost nothing that a table could save, so
        // they do not count for promotion.
        if let Some(rank) = RuleSet::highest_by_first_bytes(sets, offset, candidate) {
            return Ok(PackedRule::rank_allows(rank));
        }
        let rank = backend.run(SearchSet {
            cache: self,
            place,
            candidate,
            signature,
        })?;
        Ok(PackedRule::rank_allows(rank))
    }

    /// Counts a sample that reached a rule set that is not promoted. The set is read again: one that
    /// is handed over would have to be in memory for all paths.
    #[cold]
    #[inline(never)]
    fn record_hit(&mut self, place: RuleSetPlace<'_>, path: &[u8]) -> Result<()> {
        let slot = &mut self.slots[place.offset as usize % SLOTS];
        let promote_after = self.sampling.promote_after;
        if slot.record_hit(place.offset, path, promote_after, &mut self.free) {
            slot.promote(place, &mut self.free)?;
        }
        Ok(())
    }
}

/// Where a rule set is: its offset in the section, in units of 8 bytes.
#[derive(Clone, Copy)]
struct RuleSetPlace<'a> {
    sets: &'a [u8],
    offset: u32,
}

/// The search of a rule set as it is stored, which counts for its promotion.
struct SearchSet<'w, 'a, 'p> {
    cache: &'w mut RuleCache,
    place: RuleSetPlace<'a>,
    candidate: Candidate<'p>,
    signature: &'w mut PathSignature,
}

impl Kernel for SearchSet<'_, '_, '_> {
    type Output = Result<u32>;

    #[inline(always)]
    fn run(self, backend: impl Backend) -> Result<u32> {
        let set = RuleSet::decode(self.place.sets, self.place.offset)?;
        if self.cache.sampling.next() && BitTable::fits(&set) {
            self.cache.record_hit(self.place, self.candidate.path)?;
        }
        set.highest(self.candidate, self.signature, backend)
    }
}

/// The search of a rule set that was promoted.
struct SearchTable<'w, 'a, 'p> {
    table: &'w BitTable,
    place: RuleSetPlace<'a>,
    candidate: Candidate<'p>,
}

impl Kernel for SearchTable<'_, '_, '_> {
    type Output = Result<u32>;

    /// The automaton finds literal rules that are not in the table.
    #[inline(always)]
    fn run(self, backend: impl Backend) -> Result<u32> {
        let candidate = self.candidate;
        let floor = if self.table.has_literal_rules() {
            0
        } else {
            let set = RuleSet::decode(self.place.sets, self.place.offset)?;
            let found = set
                .prefixes()
                .find(candidate.tail(), candidate.word(), backend)?;
            found.rank
        };
        Ok(self.table.highest(candidate, floor, backend))
    }
}

impl CachedRuleSet {
    /// Counts a sample, and says whether the rule set is to be promoted now.
    fn record_hit(
        &mut self,
        offset: u32,
        path: &[u8],
        promote_after: u32,
        free: &mut usize,
    ) -> bool {
        if self.offset != offset && !self.evict(offset, promote_after, free) {
            return false;
        }
        self.hits = self.hits.saturating_add(1);
        // Where two rule sets take turns, the count comes to the same number again and again.
        if self.samples.len() < SAMPLES as usize {
            self.samples
                .push(path[..path.len().min(SAMPLE_LEN)].to_vec());
        }
        self.hits == promote_after
    }

    /// Gives the slot to another rule set, if its own was not used for long enough.
    fn evict(&mut self, offset: u32, promote_after: u32, free: &mut usize) -> bool {
        if mem::take(&mut self.is_used) && self.table.is_some() {
            self.hits = 2 * promote_after;
        }
        self.hits = self.hits.saturating_sub(1);
        if self.hits > 0 {
            return false;
        }
        *free += self.table.as_ref().map_or(0, |table| table.size());
        *self = Self {
            offset,
            ..Self::default()
        };
        true
    }

    fn promote(&mut self, place: RuleSetPlace<'_>, free: &mut usize) -> Result<()> {
        let samples = mem::take(&mut self.samples);
        let table = BitTable::new(&RuleSet::decode(place.sets, place.offset)?, &samples)?;
        if table.size() > *free {
            return Ok(());
        }
        if cfg!(debug_assertions) {
            compare_with_reference(&table, place, &samples)?;
        }
        *free -= table.size();
        self.table = Some(Box::new(table));
        Ok(())
    }
}

/// Pairs of rule and path that are compared at most, as the reference is slow.
const COMPARED_PAIRS: usize = 20_000;

/// Debug builds only: two layouts of one rule set must never disagree.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) if they do, in a damaged file or by a defect of the
/// table.
fn compare_with_reference(
    table: &BitTable,
    place: RuleSetPlace<'_>,
    samples: &[Vec<u8>],
) -> Result<()> {
    let set = RuleSet::decode(place.sets, place.offset)?;
    let rules = set.rules().collect::<Result<Vec<_>>>()?;
    for path in samples
        .iter()
        .take((COMPARED_PAIRS / rules.len().max(1)).max(1))
    {
        let matching = rules
            .iter()
            .filter(|(text, rule)| reference::matches_normal(text, rule.anchored, path));
        let expected = matching.map(|(_, rule)| rule.rank()).max().unwrap_or(0);
        let search = SearchTable {
            table,
            place,
            candidate: Candidate::new(path),
        };
        if AnyBackend::detect().run(search)? != expected {
            return Err(Error::corrupt(
                "a promoted rule set that disagrees with its rules",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::build::{CanonicalRule, encode};
    use crate::matcher::generate::{rule_paths, text, url_paths};
    use crate::profile::Profile;
    use crate::robots::RuleKind;
    use crate::robots::pattern::{Pattern, RulePatterns};
    use crate::robots::reference::{self, PathOf};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    /// A section with many copies of a rule set. Those with numbers that differ by [`SLOTS`] share a
    /// slot.
    struct Copies {
        sets: Vec<u8>,
        stride: u32,
    }

    impl Copies {
        fn of(set: &[u8]) -> Self {
            Self {
                sets: set.repeat(2 * SLOTS),
                stride: set.len() as u32 / 8,
            }
        }

        fn offset(&self, number: u32) -> u32 {
            number * self.stride
        }

        /// Judges a path, and says whether the copy is promoted then.
        fn allows(&self, cache: &mut RuleCache, number: u32, path: &[u8]) -> bool {
            let (offset, backend) = (self.offset(number), AnyBackend::detect());
            let (candidate, mut signature) = (Candidate::new(path), PathSignature::new());
            cache
                .allows(&self.sets, offset, candidate, &mut signature, backend)
                .unwrap();
            cache.table(offset).is_some()
        }
    }

    #[test]
    fn busy_rule_sets_are_promoted_and_idle_ones_evicted() {
        let texts = ["/*?a=", "/*?b=", "/x/*.c", "/*/d/*", "*.pdf", "/x/*/y/*/z"];
        let rules = texts.map(|text| CanonicalRule {
            text: text.as_bytes().into(),
            anchored: false,
            kind: RuleKind::Disallow,
        });
        let bytes = encode(&rules).unwrap();
        let sets = Copies::of(&bytes);
        let hit = |cache: &mut RuleCache, number, path: &[u8]| sets.allows(cache, number, path);
        let mut alternating = RuleCache::promoting_after(1000);
        let long = [b"/".as_slice(), &[b'x'; 5000]].concat();
        for turn in 0..5000 {
            let number = 7 + if turn < 30 || turn % 2 == 1 {
                0
            } else {
                SLOTS as u32
            };
            assert!(!hit(&mut alternating, number, &long));
        }
        let slot = &alternating.slots[sets.offset(7) as usize % SLOTS];
        let kept: Vec<usize> = slot.samples.iter().map(Vec::len).collect();
        assert!(
            kept.len() <= SAMPLES as usize && kept.iter().all(|len| *len <= SAMPLE_LEN),
            "{} samples",
            kept.len()
        );
        let mut cache = RuleCache::promoting_after(10);
        let mut hit = |number| hit(&mut cache, number, b"/x/a.html");
        assert!((0..9).all(|_| !hit(7)) && hit(7) && hit(7));
        let other = 7 + SLOTS as u32;
        assert!(
            !hit(other) && hit(7),
            "one path of another rule set does not evict it"
        );
        assert!(
            (0..40).any(|_| hit(other)),
            "but many do when it is no longer used"
        );
    }

    #[test]
    fn tables_take_no_more_than_the_capacity() {
        let rule = CanonicalRule {
            text: b"/*?a=".into(),
            anchored: false,
            kind: RuleKind::Disallow,
        };
        let bytes = encode(&[rule]).unwrap();
        let set = RuleSet::decode(&bytes, 0).unwrap();
        let size = BitTable::new(&set, &[]).unwrap().size();
        let mut cache = RuleCache::promoting_after(10);
        cache.free = 2 * size;
        let sets = Copies::of(&bytes);
        let is_promoted = |cache: &mut RuleCache, number, paths| {
            (0..paths).fold(false, |_, _| sets.allows(cache, number, b"/x"))
        };
        assert!(is_promoted(&mut cache, 1, 10) && is_promoted(&mut cache, 2, 10));
        assert_eq!(cache.free, 0);
        assert!(!is_promoted(&mut cache, 3, 20), "no memory is left");
        let other = 1 + SLOTS as u32;
        assert!(
            is_promoted(&mut cache, other, 40),
            "an evicted table leaves its memory to the next"
        );
        assert_eq!(cache.free, 0);
        assert!(!is_promoted(&mut cache, 4, 20));
    }

    proptest! {
        /// The reference is the oracle. Automaton, signatures, bit tables and fingerprints dismiss
        /// different rules, but never one that decides. Every path is judged before and after the
        /// promotion of the rule set.
        #[test]
        fn every_layout_of_a_rule_set_agrees_with_the_reference(
            rules in rule_paths(),
            made in vec((any::<Index>(), text(0..3), text(0..3)), 1..60),
            profile in select(vec![Profile::Google, Profile::Rfc9309]),
        ) {
            let mut paths = url_paths(&rules, made, profile);
            paths.truncate((20_000 / rules.len()).max(4));
            let kind = |allow| if allow { RuleKind::Allow } else { RuleKind::Disallow };
            let mut canonical: Vec<CanonicalRule<'_>> = Vec::new();
            for (path, allow) in &rules {
                let RulePatterns { pattern, mut further } = Pattern::of_rule(path.as_bytes(), *allow, profile);
                if profile == Profile::Google {
                    // The reference has the folder of an index page elsewhere.
                    further = Default::default();
                }
                let patterns = std::iter::once(pattern).chain(further.into_vec()).filter(Pattern::can_match);
                canonical.extend(patterns.map(|pattern| CanonicalRule {
                    text: pattern.text, anchored: pattern.anchored, kind: kind(*allow),
                }));
            }
            let bytes = encode(&canonical).unwrap();
            let set = RuleSet::decode(&bytes, 0).unwrap();
            set.verify(&bytes).unwrap();
            let rank = |path: &[u8], (rule, allow): &(String, bool)| {
                let priority = reference::priority(rule.as_bytes(), if *allow { PathOf::Allow } else { PathOf::Disallow }, profile, path);
                if priority > 0 { priority as u32 * 2 + u32::from(*allow) } else { 0 }
            };
            let expected: Vec<u32> =
                paths.iter().map(|path| rules.iter().map(|rule| rank(path, rule)).max().unwrap_or(0)).collect();
            let promote_after = 20;
            let (mut cache, backend) = (RuleCache::promoting_after(promote_after), AnyBackend::detect());
            for _ in 0..=(promote_after as usize).div_ceil(paths.len()) {
                for (path, &expected) in paths.iter().zip(&expected) {
                    let (candidate, shown) = (Candidate::new(path), path.escape_ascii());
                    let stored = set.highest(candidate, &mut PathSignature::new(), backend).unwrap();
                    prop_assert_eq!(stored, expected, "stored: {}", shown);
                    let allowed = cache.allows(&bytes, 0, candidate, &mut PathSignature::new(), backend).unwrap();
                    prop_assert_eq!(allowed, PackedRule::rank_allows(expected), "cached: {}", shown);
                    let Some(table) = cache.table(0) else { continue };
                    if let Some(rank) = table.highest_by_ends(candidate) {
                        prop_assert_eq!(rank, expected, "by ends: {}", shown);
                    }
                    let place = RuleSetPlace { sets: &bytes, offset: 0 };
                    let rank = backend.run(SearchTable { table, place, candidate }).unwrap();
                    prop_assert_eq!(rank, expected, "by table: {}", shown);
                }
            }
        }
    }
}
