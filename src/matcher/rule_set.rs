//! A rule set in the bytes of a snapshot, and the search for the rule that decides about a path.
//!
//! A rule set has two parts: the [automaton](PrefixAutomaton) of literal prefixes, which finds the
//! literal rules that match and the bucket of wildcard rules to try, and the
//! [buckets](WildcardBuckets). The matcher runs on them as they are stored; `build.rs` encodes them.

use super::candidate::{Candidate, PathSignature};
use super::packed_rule::PackedRule;
use super::prefix_automaton::{FirstByteFilter, PrefixAutomaton, inline_text};
use super::wildcard::{BUCKET_LEN, SIGNATURE_LEN, WildcardBuckets};
use crate::bytes::wire::{Fields, array, bytes, u32_at};
use crate::error::Result;
use crate::simd::Backend;

pub(crate) const HEAD_LEN: usize = 32;

/// The bytes of a state: its word, its packed rule, its link.
const STATE_LEN: usize = 24;

/// The first word of a union, where a rule set has its number of states.
pub(super) const UNION: u32 = u32::MAX;
pub(super) const UNION_HEAD_LEN: usize = 8;

/// What an agent name refers to in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rules<'a> {
    /// One rule set, as nearly always.
    Set(RuleSet<'a>),
    /// The places of several rule sets; the highest matching rule of all decides.
    Union(&'a [[u8; 4]]),
}

impl<'a> Rules<'a> {
    /// Decodes the rules at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(crate) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        if u32_at(sets, at, "a rule set's number of prefixes")? != UNION {
            return RuleSet::decode(sets, place, patterns).map(Self::Set);
        }
        let count = u32_at(sets, at + 4, "a union's number of rule sets")? as usize;
        let places = bytes(sets, at + UNION_HEAD_LEN, count * 4, "a union's rule sets")?;
        Ok(Self::Union(places.as_chunks().0))
    }

    /// The length in the file.
    pub(crate) fn encoded_len(&self) -> usize {
        match self {
            Self::Set(set) => set.encoded_len(),
            Self::Union(places) => UNION_HEAD_LEN + (places.len() * 4).next_multiple_of(8),
        }
    }
}

/// A rule set in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSet<'a> {
    pub(crate) prefixes: PrefixAutomaton<'a>,
    pub(crate) wildcards: WildcardBuckets<'a>,
}

impl<'a> RuleSet<'a> {
    /// Decodes the rule set at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(crate) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        let head: [u8; HEAD_LEN] = array(sets, at, "a rule set's head")?;
        let mut head = Fields(&head);
        let (states, buckets, wildcards) = (head.u32() as usize, head.u32() as usize, head.u32() as usize);
        let filter = FirstByteFilter { root_rank: head.u32(), firsts: head.u64(), seconds: head.u64() };
        let len = encoded_len(states, buckets, wildcards) - HEAD_LEN;
        let mut rest = bytes(sets, at + HEAD_LEN, len, "a rule set's rules")?;
        let (words, packed, links) = (take(&mut rest, states), take(&mut rest, states), take(&mut rest, states));
        let wildcards = WildcardBuckets {
            buckets: take(&mut rest, buckets),
            signatures: take(&mut rest, wildcards),
            packed: take(&mut rest, wildcards),
            patterns,
        };
        let prefixes = PrefixAutomaton { filter, words, packed, links, wildcard_rules: wildcards.packed, patterns };
        Ok(Self { prefixes, wildcards })
    }

    /// The pattern of a rule that the section `patterns` holds.
    pub(crate) fn pattern(&self, rule: &PackedRule) -> Result<&'a [u8]> {
        self.wildcards.pattern(rule)
    }

    fn encoded_len(&self) -> usize {
        encoded_len(self.prefixes.len(), self.wildcards.buckets.len(), self.wildcards.len())
    }

    /// The rank of the rule that decides, if the first two bytes of a path tell it: 0 if none does.
    #[inline(always)]
    pub(super) fn highest_by_first_bytes(&self, candidate: Candidate<'_>) -> Option<u32> {
        if self.wildcards.len() > 0 { None } else { self.prefixes.dismiss(candidate.word()) }
    }

    /// The rank of the highest rule that matches, which decides; 0 if none does.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes contradict each other.
    #[inline(always)]
    pub(crate) fn highest(
        &self,
        candidate: Candidate<'_>,
        signature: &mut PathSignature,
        backend: impl Backend,
    ) -> Result<u32> {
        let found = self.prefixes.find(candidate.tail(), candidate.word(), backend)?;
        if self.wildcards.len() == 0 {
            return Ok(found.rank);
        }
        self.wildcards.highest(found.bucket, found.rank, candidate.path, signature, backend)
    }

    /// The number of rules.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.literal_rules().count() + self.wildcards.len()
    }

    /// The packed rules in stored order: literal rules, each with its word, then wildcard rules.
    pub(crate) fn packed_rules(&self) -> impl Iterator<Item = (Option<u64>, PackedRule)> {
        let literal = self.prefixes.literal_rules().map(|(word, rule)| (Some(word), rule));
        literal.chain(self.packed_wildcard_rules().map(|rule| (None, rule)))
    }

    fn packed_wildcard_rules(&self) -> impl Iterator<Item = PackedRule> {
        (0..self.wildcards.len()).filter_map(|number| self.wildcards.rule(number))
    }

    /// The rules in stored order, each with its pattern.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a pattern outside of the file.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Result<(Vec<u8>, PackedRule)>> {
        self.packed_rules().map(|(word, rule)| {
            let text = match word.filter(|_| rule.is_inline()) {
                Some(word) => inline_text(word, rule.len),
                None => rule.pattern(self.wildcards.patterns)?.to_vec(),
            };
            Ok((text, rule))
        })
    }

    /// The wildcard rules in stored order, each with its pattern. The text does not tell whether a
    /// rule has wildcards: rules of stars alone (`*`, `**`) are stored with an empty pattern.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a pattern outside of the file.
    pub(super) fn wildcard_rules(&self) -> impl Iterator<Item = Result<(Vec<u8>, PackedRule)>> {
        self.packed_wildcard_rules().map(|rule| Ok((self.wildcards.pattern(&rule)?.to_vec(), rule)))
    }
}

fn encoded_len(states: usize, buckets: usize, wildcards: usize) -> usize {
    HEAD_LEN + states * STATE_LEN + buckets * BUCKET_LEN + wildcards * (SIGNATURE_LEN + 8)
}

/// Takes `count` items from the front; none if there are fewer.
#[inline]
fn take<'a, const LEN: usize>(rest: &mut &'a [u8], count: usize) -> &'a [[u8; LEN]] {
    let (items, tail) = rest.split_at_checked(count * LEN).unwrap_or_default();
    *rest = tail;
    items.as_chunks().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::build::{CanonicalRule, pack};
    use crate::robots::RuleKind::{self, Allow, Disallow};
    use crate::simd::AnyBackend;

    fn packed(rules: &[(&str, RuleKind)]) -> (Vec<u8>, Vec<u8>) {
        let rule = |(text, kind): &(&'static str, RuleKind)| match text.strip_suffix('$') {
            Some(text) => CanonicalRule { text: text.as_bytes().into(), anchored: true, kind: *kind },
            None => CanonicalRule { text: text.as_bytes().into(), anchored: false, kind: *kind },
        };
        let leaked = rules.iter().map(|(text, kind)| (&*String::leak((*text).to_owned()), *kind)).collect::<Vec<_>>();
        pack(&leaked.iter().map(rule).collect::<Vec<_>>()).unwrap()
    }

    fn highest(set: &RuleSet<'_>, path: &[u8]) -> Result<u32> {
        set.highest(Candidate::new(path), &mut PathSignature::new(), AnyBackend::detect())
    }

    fn allows(rules: &[(&str, RuleKind)], path: &str) -> bool {
        let (sets, patterns) = packed(rules);
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        set.verify(&sets).unwrap();
        PackedRule::rank_allows(highest(&set, path.as_bytes()).unwrap())
    }

    #[test]
    fn highest_rank_decides_among_literal_and_wildcard_rules() {
        let rules = [("/folder/", Allow), ("/*.html", Disallow), ("/folder/page*", Disallow), ("/folder/page", Allow)];
        assert!(allows(&rules, "/folder/x.html"), "/folder/ is longer than /*.html");
        assert!(!allows(&rules, "/folder/page"), "a star at the end counts");
        assert!(!allows(&rules, "/x.html"));
        assert!(allows(&rules, "/fold"));
    }

    #[test]
    fn wildcard_rules_are_found_by_their_literal_prefix() {
        // One prefix is a literal rule too, one sorts between two rules, and one is longer than its word.
        let rules = [
            ("/shop", Disallow),
            ("/shop/*/public", Allow),
            ("/shop/$", Allow),
            ("/shop/basket/of/*?id=", Disallow),
            ("/shop/basket/of/", Allow),
            ("/*.pdf$", Disallow),
        ];
        let expected = [
            ("/shop/x", false),
            ("/shop/x/public", true),
            ("/shop/", true),
            ("/shop/basket/of/fruit", true),
            ("/shop/basket/of/fruit?id=1", false),
            ("/shop/basket/of", false),
            ("/shop/basket/of/fruit/public?id=1", false),
            ("/shop/basket/on/fruit/public?id=1", true),
            ("/sho.pdf", false),
            ("/sho/public", true),
        ];
        for (path, allowed) in expected {
            assert_eq!(allows(&rules, path), allowed, "{path}");
        }
    }

    #[test]
    fn short_paths_are_not_taken_for_zero_bytes() {
        assert!(allows(&[("/a\u{1}", Disallow)], "/a"));
        assert!(!allows(&[("/$", Disallow)], "/") && allows(&[("/$", Disallow)], "/a"));
        assert!(!allows(&[("*", Disallow)], "/") && !allows(&[("/abc*$", Disallow)], "/abcd"));
        assert!(allows(&[("/12345678$", Disallow)], "/123456789"));
        assert!(!allows(&[(&format!("/a{}", "*".repeat(20)), Disallow)], "/a"));
    }

    #[test]
    fn damage_is_an_error() {
        let (sets, patterns) = packed(&[("/a/long/pattern/of/more/than/eight", Disallow)]);
        let cut = RuleSet::decode(&sets, 0, &patterns[..5]).unwrap();
        assert!(highest(&cut, b"/a/long/pattern/of/more/than/eight").is_err());
        assert!(RuleSet::decode(&sets[..sets.len() - 1], 0, &patterns).is_err());
        // The head of 32 bytes; the state `/a/`: word, packed rule, link (the number of its bucket
        // begins at bit 22); then the buckets, unanchored and `/a/`: first rule, number of rules,
        // best rank, parent.
        let (sets, patterns) = packed(&[("/a/*b", Disallow)]);
        let highest_with = |at: usize, byte: u8| {
            let mut sets = sets.clone();
            sets[at] = byte;
            let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
            highest(&set, b"/a/b")
        };
        let (link, bucket) = (32 + 16, 32 + 24 + 16);
        assert!(highest_with(bucket + 4, sets[bucket + 4]).unwrap() > 0);
        assert!(highest_with(bucket + 4, 200).is_err(), "a bucket of rules that are not there");
        assert!(highest_with(link + 3, 0xff).is_err(), "a bucket that is not there");
        assert!(RuleSet::decode(&sets, u32::MAX, &patterns).is_err());
    }
}
