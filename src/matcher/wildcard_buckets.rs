//! Wildcard rules in buckets: those that share a literal prefix, by rank, each with its signature.
//!
//! The [prefix automaton](super::prefix_automaton) leads a path to the bucket of its longest literal
//! prefix; parents of that bucket belong to shorter prefixes, up to the *unanchored bucket* of the
//! rules that begin with `*` or `/*`. In a bucket, rules are sorted by rank (longest first, allow
//! before disallow), so the first that matches decides, and a bucket whose best rank is too low is
//! skipped. Of the others, the signature dismisses most.

use super::candidate::PathSignature;
use super::packed_rule::PackedRule;
use super::signature::signature;
use super::wildcard::matches_known_prefix;
use crate::bytes::wire::Fields;
use crate::error::{Error, Result};
use crate::simd::Backend;
use std::ops::Range;

/// The number of the unanchored bucket: rules without a literal prefix, which every path reaches.
pub(crate) const UNANCHORED: u32 = 0;

pub(super) const BUCKET_LEN: usize = 16;
pub(super) const SIGNATURE_LEN: usize = 16;

/// The wildcard rules in the bytes of a rule set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WildcardBuckets<'a> {
    /// The unanchored bucket, then one for each literal prefix that wildcard rules have.
    pub(super) buckets: &'a [[u8; BUCKET_LEN]],
    /// Both words of the signature of each rule.
    pub(super) signatures: &'a [[u8; SIGNATURE_LEN]],
    pub(super) packed: &'a [[u8; 8]],
    pub(super) patterns: &'a [u8],
}

/// The wildcard rules that share a literal prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WildcardBucket {
    pub first: u32,
    pub count: u32,
    /// The rank of the first rule, which is the highest; 0 if there is none.
    pub best: u32,
    /// The bucket of the next shorter prefix; the unanchored bucket is its own parent.
    pub parent: u32,
}

impl WildcardBucket {
    /// The numbers of its rules.
    #[inline(always)]
    fn rules(&self) -> Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }

    #[inline]
    fn decode(row: &[u8; BUCKET_LEN]) -> Self {
        let mut row = Fields(row);
        Self { first: row.u32(), count: row.u32(), best: row.u32(), parent: row.u32() }
    }
}

/// Appends buckets, and the signatures of their rules.
pub(super) fn encode<'t>(buckets: &[WildcardBucket], patterns: impl Iterator<Item = &'t [u8]>, out: &mut Vec<u8>) {
    for WildcardBucket { first, count, best, parent } in buckets {
        out.extend([first, count, best, parent].into_iter().flat_map(|number| number.to_le_bytes()));
    }
    out.extend(patterns.flat_map(signature).flat_map(u64::to_le_bytes));
}

/// In buckets of more rules, some nearly always pass the characters of a path's signature, so the
/// whole signature is computed at once: a twentieth less time on a site with 528 wildcard rules.
const MANY: usize = 16;

/// If the signature's characters pass, so few rules are compared in full sooner than byte pairs are
/// gathered.
const FEW: usize = 2;

impl<'a> WildcardBuckets<'a> {
    /// The number of rules.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    #[inline]
    pub(super) fn rule(&self, number: usize) -> Option<PackedRule> {
        self.packed.get(number).map(|word| PackedRule::decode(u64::from_le_bytes(*word)))
    }

    #[inline]
    pub(super) fn pattern(&self, rule: &PackedRule) -> Result<&'a [u8]> {
        rule.pattern(self.patterns)
    }

    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it is not there. In a damaged file, its rules may
    /// still reach past those that are there.
    #[inline(always)]
    fn bucket(&self, number: u32) -> Result<WildcardBucket> {
        match self.buckets.get(number as usize) {
            Some(row) => Ok(WildcardBucket::decode(row)),
            // Only a set without wildcard rules lacks the unanchored bucket.
            None if number == UNANCHORED && self.packed.is_empty() => {
                Ok(WildcardBucket { first: 0, count: 0, best: 0, parent: UNANCHORED })
            }
            None => Err(Error::corrupt("a bucket of a rule set that is not there")),
        }
    }

    /// The rank of the highest rule that matches and exceeds `floor`, else `floor`: searches the
    /// deepest bucket that the automaton found, and its parents.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for rules or patterns outside of the file.
    #[inline(always)]
    pub(super) fn highest(
        &self,
        deepest: u32,
        floor: u32,
        path: &[u8],
        signature: &mut PathSignature,
        backend: impl Backend,
    ) -> Result<u32> {
        let (mut highest, mut number) = (floor, deepest);
        loop {
            let bucket = self.bucket(number)?;
            if bucket.best > highest {
                highest = self.first_match(bucket.rules(), highest, path, signature, backend)?;
            }
            // Parents have lower numbers, so this ends in a damaged file too.
            if bucket.parent >= number {
                return Ok(highest);
            }
            number = bucket.parent;
        }
    }

    /// The rank of the first rule of a bucket that matches and exceeds `floor`, else `floor`.
    #[inline(always)]
    fn first_match(
        &self,
        bucket: Range<usize>,
        floor: u32,
        path: &[u8],
        signature: &mut PathSignature,
        backend: impl Backend,
    ) -> Result<u32> {
        let mut next = bucket.start;
        // The characters first: byte pairs cost five times as much, and few paths need them.
        let mut wanted =
            if bucket.len() > MANY { signature.whole(path, backend) } else { signature.characters(path, backend) };
        loop {
            let signatures = self.signatures.get(next..bucket.end);
            let signatures = signatures.ok_or_else(|| Error::corrupt("a bucket of rules that are not there"))?;
            let Some(skipped) = backend.next_subset(signatures, wanted) else { return Ok(floor) };
            next += skipped;
            let Some(rule) = self.rule(next).filter(|rule| rule.rank() > floor) else { return Ok(floor) };
            if (bucket.len() > FEW || signature.misses >= FEW) && !signature.is_whole() {
                wanted = signature.whole(path, backend);
                continue;
            }
            if matches_known_prefix(self.pattern(&rule)?, rule.anchored, path) {
                return Ok(rule.rank());
            }
            signature.misses += 1;
            next += 1;
        }
    }
}
