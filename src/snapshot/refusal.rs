//! How much a rule set refuses, told from its rules where they lie.

use super::format::NONE;
use super::packed::PackedRule;
use super::ruleset::{RuleSet, Rules};
use super::view::View;
use crate::error::Result;
use serde::Serialize;

/// How much of a site rules refuse to those who obey them, told from the rules alone.
///
/// Whether [`All`](Self::All) leaves out `/robots.txt`, which RFC 9309 always allows, is not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Refusal {
    /// No rule that counts refuses anything.
    Nothing,
    /// Some URLs are refused, and some may be fetched.
    Some,
    /// Every URL: a rule for all of them refuses, and no allow rule is as long as it.
    All,
}

impl View<'_> {
    /// How much the rules at a place refuse; where there are none ([`NONE`]), nothing. Cost: one or two passes over the rules.
    pub(crate) fn refusal(&self, place: u32) -> Result<Refusal> {
        if place == NONE {
            return Ok(Refusal::Nothing);
        }
        match self.rules(place)? {
            Rules::Set(set) => refusal(&[set]),
            Rules::Union(places) => {
                let sets = places.iter().map(|place| self.rule_set(u32::from_le_bytes(*place)));
                refusal(&sets.collect::<Result<Vec<_>>>()?)
            }
        }
    }
}

/// Of the rules that match every URL the highest says what holds in general; those above it, which match some, make exceptions.
fn refusal(sets: &[RuleSet<'_>]) -> Result<Refusal> {
    let mut base = 0;
    for set in sets {
        for number in 0..set.literals.packed.len() {
            base = base.max(set.literal(number).filter(|rule| rule.len == 1 && !rule.anchored).map_or(0, rank));
        }
        // Those that match everything begin with `*` or `/*`, which makes them floating.
        for number in set.wild.first_floating()..set.wild.len() {
            if let Some(rule) = set.wild.rule(number)
                && matches_all(set.wild.pattern(&rule)?, rule.anchored)
            {
                base = base.max(rule.rank());
            }
        }
    }
    let refuses = base > 0 && !PackedRule::rank_allows(base);
    let is_exception = |rule: PackedRule| rule.rank() > base && rule.allow == refuses;
    Ok(match (sets.iter().flat_map(RuleSet::packed_rules).any(is_exception), refuses) {
        (true, _) => Refusal::Some,
        (false, true) => Refusal::All,
        (false, false) => Refusal::Nothing,
    })
}

fn rank(rule: PackedRule) -> u32 {
    rule.rank()
}

/// Whether a pattern with wildcards matches every path.
fn matches_all(text: &[u8], anchored: bool) -> bool {
    let stars = text.strip_prefix(b"/").unwrap_or(text);
    stars.iter().all(|&b| b == b'*') && (!anchored || stars.ends_with(b"*"))
}

impl<'a> RuleSet<'a> {
    fn literal(&self, number: usize) -> Option<PackedRule> {
        self.literals.packed.get(number).map(|word| PackedRule::decode(u64::from_le_bytes(*word)))
    }

    /// All rules, as they are packed.
    fn packed_rules(&self) -> impl Iterator<Item = PackedRule> + use<'a> {
        let words = self.literals.packed.iter().chain(self.wild.packed);
        words.map(|word| PackedRule::decode(u64::from_le_bytes(*word)))
    }
}
