//! Rules with wildcards: four side by side, by rank, so that most are dismissed at a glance and the first that matches decides.

use super::packed::PackedRule;
use super::ruleset::Draft;
use super::signature::{Signature, signature};
use crate::error::{Error, Result};
use crate::simd::{FLOATING_LEN, LANES, ROOTED_LEN};

/// The signature that stands in the places of a group behind the last rule: no path has all its bits but for chance, and then
/// there is no rule to look at.
const NO_RULE: Signature = [u64::MAX; 2];

/// The rules with wildcards of a rule set where they lie in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wild<'a> {
    /// Four rooted rules a group: their prefixes, which bits of those count, and both words of their signatures.
    pub rooted: &'a [[u8; ROOTED_LEN]],
    /// Four floating rules a group: both words of their signatures.
    pub floating: &'a [[u8; FLOATING_LEN]],
    /// How many rules are rooted; those come first among the packed ones.
    pub(super) rooted_count: usize,
    pub(super) packed: &'a [[u8; 8]],
    pub(super) patterns: &'a [u8],
}

/// The length of the groups of so many rooted and floating rules.
pub(super) fn groups_len(rooted: usize, floating: usize) -> usize {
    rooted.div_ceil(LANES) * ROOTED_LEN + floating.div_ceil(LANES) * FLOATING_LEN
}

/// Appends the groups of rules that are sorted by rank.
pub(super) fn encode_groups(rooted: &[Draft<'_>], floating: &[Draft<'_>], out: &mut Vec<u8>) {
    for group in rooted.chunks(LANES) {
        out.extend_from_slice(&rooted_group(group));
    }
    for group in floating.chunks(LANES) {
        out.extend_from_slice(&floating_group(group));
    }
}

fn rooted_group(rules: &[Draft<'_>]) -> [u8; ROOTED_LEN] {
    let mut group = [0; ROOTED_LEN];
    let (heads, signatures) = group.split_at_mut(ROOTED_LEN - FLOATING_LEN);
    for (lane, rule) in rules.iter().enumerate() {
        let (prefix, mask) = rule.prefix();
        put(heads, lane, prefix);
        put(heads, LANES + lane, mask);
    }
    signatures.copy_from_slice(&floating_group(rules));
    group
}

fn floating_group(rules: &[Draft<'_>]) -> [u8; FLOATING_LEN] {
    let mut group = [0; FLOATING_LEN];
    for lane in 0..LANES {
        let [first, second] = rules.get(lane).map_or(NO_RULE, |rule| signature(rule.text));
        put(&mut group, lane, first);
        put(&mut group, LANES + lane, second);
    }
    group
}

/// Puts a word at its place, counted in words.
fn put(group: &mut [u8], place: usize, word: u64) {
    if let Some(bytes) = group.as_chunks_mut().0.get_mut(place) {
        *bytes = word.to_le_bytes();
    }
}

impl<'a> Wild<'a> {
    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    /// The number of the first floating rule.
    #[inline]
    pub(crate) fn first_floating(&self) -> usize {
        self.rooted_count
    }

    /// The packed rule of a number, rooted rules before floating ones.
    #[inline]
    pub(crate) fn rule(&self, number: usize) -> Option<PackedRule> {
        self.packed.get(number).map(|word| PackedRule::decode(u64::from_le_bytes(*word)))
    }

    /// The pattern of a rule.
    #[inline]
    pub(crate) fn pattern(&self, rule: &PackedRule) -> Result<&'a [u8]> {
        rule.pattern(self.patterns)
    }

    /// Checks that the rules stand by rank, and that the groups belong to their patterns.
    pub(super) fn verify(&self) -> Result<()> {
        let mut drafts = Vec::with_capacity(self.packed.len());
        for number in 0..self.packed.len() {
            let packed = self.rule(number).ok_or_else(|| Error::corrupt("a rule"))?;
            drafts.push(Draft::of_packed(self.pattern(&packed)?, packed));
        }
        let (rooted, floating) = drafts.split_at(self.rooted_count.min(drafts.len()));
        let sorted = |rules: &[Draft<'_>]| rules.is_sorted_by_key(|rule| std::cmp::Reverse(rule.rank()));
        if !sorted(rooted) || !sorted(floating) {
            return Err(Error::corrupt("a rule set whose rules are out of order"));
        }
        let mut groups = Vec::new();
        encode_groups(rooted, floating, &mut groups);
        if groups != [self.rooted.as_flattened(), self.floating.as_flattened()].concat() {
            return Err(Error::corrupt("a rule whose prefix or signature is not that of its pattern"));
        }
        Ok(())
    }
}
