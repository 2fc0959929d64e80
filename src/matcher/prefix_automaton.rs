//! The literal-prefix automaton of a rule set: finds every literal prefix of rules that a path
//! begins with.
//!
//! A *literal prefix* is a whole literal rule, or the text before the first `*` of wildcard rules,
//! or both. The automaton is the one of Aho and Corasick (1975), restricted to matches that begin
//! at the start of the text:
//!
//! * The states are the literal prefixes, sorted by text.
//! * Instead of reading the path byte by byte through a goto table, one binary search over the
//!   first eight bytes of the prefixes finds the deepest state that a path can reach.
//! * Each state has a failure link, the *prefix link*: to the longest other state that is a proper
//!   prefix of it. Whatever sorts between a prefix of the path and the path begins with that
//!   prefix, so the links from the state that the search found lead to all prefixes of the path.
//! * Each state carries the output of its whole chain of links: the highest rank among the literal
//!   rules, and the bucket of the deepest prefix that wildcard rules share. So following links ends
//!   at the first state that is a prefix of the path.
//!
//! The cost is the logarithm of the number of rules, where a scan compares each. On the site with
//! the most literal rules in our lists (3,159), scanning their first eight bytes took ten times as
//! long per URL. A DFA or NFA of the crate `aho-corasick` over the same prefixes was slower, and
//! cannot be stored in a file. Here, the states are three arrays of words in the snapshot, ready to
//! run.
//!
//! A cuckoo-hashed index of the prefixes took 31 ns per path of that site instead of 51 when it was
//! added, but switching it off had no effect on three real lists.

use super::packed_rule::{PREFIX_LEN, PackedRule};
use super::wildcard::{MAX_NESTED_PREFIXES, UNANCHORED};
use crate::bytes::first_word;
use crate::error::{Error, ErrorKind, Result};
use crate::simd::Backend;
use std::cmp::Ordering;

/// The first bytes of `text`, at most eight, as a number that sorts as they do; padded with zeros.
#[inline]
pub(crate) fn prefix_word(text: &[u8]) -> u64 {
    first_word(text).swap_bytes()
}

/// A state before it is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralPrefix<'t> {
    pub text: &'t [u8],
    pub packed: PackedRule,
    /// The bucket of the wildcard rules that have this prefix, if any have.
    pub bucket: Option<u32>,
}

impl LiteralPrefix<'_> {
    /// The order of the file: by text, an anchored rule after the same text without anchor.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        (self.text, self.packed.anchored).cmp(&(other.text, other.packed.anchored))
    }

    /// The rank of its literal rule; 0 if it has none.
    fn rank(&self) -> u32 {
        if self.packed.is_prefix_only {
            0
        } else {
            self.packed.rank()
        }
    }
}

/// A state's prefix link and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrefixLink {
    /// The longest other state that is a prefix of this one and not anchored.
    pub parent: Option<u32>,
    /// The highest rank among the literal rules on the chain of links.
    pub best: u32,
    /// The bucket of the deepest state on the chain that has one.
    pub bucket: u32,
}

/// Bits of the number of a state or of a bucket: more than 500 KiB of robots.txt can have.
const NUMBER_BITS: u32 = 22;
const RANK_BITS: u32 = 64 - 2 * NUMBER_BITS;

/// The parent of a state without one.
const NO_STATE: u64 = (1 << NUMBER_BITS) - 1;

impl PrefixLink {
    fn encode(self) -> Option<u64> {
        let fits = |number: u32| u64::from(number) < NO_STATE;
        let all_fit =
            self.parent.is_none_or(fits) && fits(self.bucket) && self.best >> RANK_BITS == 0;
        let parent = self.parent.map_or(NO_STATE, u64::from);
        all_fit.then_some(
            parent
                | u64::from(self.bucket) << NUMBER_BITS
                | u64::from(self.best) << (2 * NUMBER_BITS),
        )
    }

    #[inline]
    fn decode(word: u64) -> Self {
        let parent = word & NO_STATE;
        Self {
            parent: (parent != NO_STATE).then_some(parent as u32),
            bucket: (word >> NUMBER_BITS & NO_STATE) as u32,
            best: (word >> (2 * NUMBER_BITS)) as u32,
        }
    }
}

/// The links of sorted states. A stack holds the chain of the previous state. States that are not a
/// prefix of the next one are popped.
pub(super) fn links(states: &[LiteralPrefix<'_>]) -> Vec<PrefixLink> {
    let mut chain: Vec<usize> = Vec::new();
    let mut links: Vec<PrefixLink> = Vec::with_capacity(states.len());
    for (number, state) in states.iter().enumerate() {
        while chain
            .pop_if(|last| !state.text.starts_with(states[*last].text))
            .is_some()
        {}
        let parent = chain.last().copied();
        let above = parent.map(|parent| links[parent]);
        links.push(PrefixLink {
            parent: parent.map(|parent| parent as u32),
            best: state.rank().max(above.map_or(0, |above| above.best)),
            bucket: state
                .bucket
                .unwrap_or(above.map_or(UNANCHORED, |above| above.bucket)),
        });
        if !state.packed.anchored {
            chain.push(number);
        }
    }
    links
}

/// Appends the states: all words, then all packed rules, then all links.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge) for more states than a link can number.
pub(super) fn encode(
    states: &[LiteralPrefix<'_>],
    links: &[PrefixLink],
    out: &mut Vec<u8>,
) -> Result<()> {
    for state in states {
        out.extend_from_slice(&prefix_word(state.text.get(1..).unwrap_or_default()).to_le_bytes());
    }
    for state in states {
        out.extend_from_slice(&state.packed.encode().to_le_bytes());
    }
    for link in links {
        let word = link
            .encode()
            .ok_or_else(|| ErrorKind::TooLarge("over four million prefixes of rules".to_owned()))?;
        out.extend_from_slice(&word.to_le_bytes());
    }
    Ok(())
}

/// Dismisses most paths without a search: a Bloom filter of the first and of the second byte that
/// the prefixes have after the `/`. It also holds the rank of the rule `/`, which matches every
/// path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FirstByteFilter {
    pub root_rank: u32,
    pub firsts: u64,
    pub seconds: u64,
}

impl FirstByteFilter {
    pub(super) fn of(states: &[LiteralPrefix<'_>]) -> Self {
        let mut filter = Self::default();
        for state in states {
            match state.text.get(1..).unwrap_or_default() {
                [] if !state.packed.anchored => filter.root_rank = state.rank(),
                // `/$` matches the path `/` alone, whose word is zeros.
                [] => filter = filter.with(filter_bit(0), filter_bit(0)),
                // Any byte may follow in a path.
                [first] => filter = filter.with(filter_bit(*first), u64::MAX),
                [first, second, ..] => {
                    filter = filter.with(filter_bit(*first), filter_bit(*second))
                }
            }
        }
        filter
    }

    fn with(self, first: u64, second: u64) -> Self {
        Self {
            firsts: self.firsts | first,
            seconds: self.seconds | second,
            ..self
        }
    }

    /// The rank of the rule `/`, or 0, if the filter shows that a path with this word begins with
    /// no other prefix.
    #[inline(always)]
    pub(super) fn dismiss(&self, word: u64) -> Option<u32> {
        (!self.may_match(word)).then_some(self.root_rank)
    }

    /// Whether a path with this word may begin with a prefix other than `/`.
    #[inline]
    fn may_match(&self, word: u64) -> bool {
        self.firsts & filter_bit((word >> 56) as u8) != 0
            && self.seconds & filter_bit((word >> 48) as u8) != 0
    }
}

/// The bit of a byte. A quarter is added so that `/` and digits share no bit with the most frequent
/// letters.
#[inline]
fn filter_bit(byte: u8) -> u64 {
    1 << (byte.wrapping_add(byte / 4) & 63)
}

/// The automaton in the bytes of a rule set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixAutomaton<'a> {
    pub(super) filter: FirstByteFilter,
    /// The number of states.
    pub(super) len: usize,
    /// The [`prefix_word`] of each state, then the packed rule of each, then the link of each.
    pub(super) states: &'a [[u8; 8]],
    /// The pattern bytes of the rule set.
    pub(super) patterns: &'a [u8],
}

/// The output of the automaton for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrefixMatch {
    /// The highest rank among the literal rules that match; 0 if none does.
    pub rank: u32,
    /// The bucket of the longest literal prefix of the path that has one.
    pub bucket: u32,
}

const NO_MATCH: PrefixMatch = PrefixMatch {
    rank: 0,
    bucket: UNANCHORED,
};

impl<'a> PrefixAutomaton<'a> {
    /// A word of the states; 0 if there is none.
    #[inline(always)]
    fn at(&self, position: usize) -> u64 {
        let word = self.states.get(position);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }

    #[inline(always)]
    fn words(&self) -> &'a [[u8; 8]] {
        self.states.get(..self.len).unwrap_or_default()
    }

    #[inline(always)]
    fn word(&self, state: usize) -> u64 {
        self.at(state)
    }

    #[inline(always)]
    pub(super) fn packed_rule(&self, state: usize) -> PackedRule {
        PackedRule::decode(self.at(self.len + state))
    }

    #[inline(always)]
    pub(super) fn link(&self, state: usize) -> PrefixLink {
        PrefixLink::decode(self.at(2 * self.len + state))
    }

    /// The text of a state after the eight bytes of its word.
    fn rest(&self, packed: &PackedRule) -> Result<&'a [u8]> {
        if packed.is_inline() {
            Ok(&[])
        } else {
            packed.stored(self.patterns, 1 + PREFIX_LEN)
        }
    }

    /// The whole text of a state.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it lies outside of the rule set.
    pub(super) fn text(&self, state: usize) -> Result<Vec<u8>> {
        let packed = self.packed_rule(state);
        // Without the capacity, verification allocates three times per rule.
        let mut text = Vec::with_capacity(packed.len + packed.extra);
        text.push(b'/');
        text.extend(
            self.word(state)
                .to_be_bytes()
                .iter()
                .take(packed.len.saturating_sub(1)),
        );
        text.extend_from_slice(self.rest(&packed)?);
        Ok(text)
    }

    /// The number of states.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The literal rules, each with the number of its state.
    pub(super) fn literal_rules(self) -> impl Iterator<Item = (usize, PackedRule)> + use<'a> {
        let states = (0..self.len).map(move |state| (state, self.packed_rule(state)));
        states.filter(|(_, rule)| !rule.is_prefix_only)
    }

    /// Runs the automaton over a path, given the path without its `/` and the word of that.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        tail: &[u8],
        word: u64,
        backend: impl Backend,
    ) -> Result<PrefixMatch> {
        if let Some(rank) = self.filter.dismiss(word) {
            return Ok(PrefixMatch {
                rank,
                bucket: UNANCHORED,
            });
        }
        let rest = tail.get(PREFIX_LEN..).unwrap_or_default();
        let Some(state) = self.last_not_after(word, rest, backend)? else {
            return Ok(NO_MATCH);
        };
        // What the state shares with the path is compared once; from here on, lengths decide.
        let shared = self.shared_len(state, word, rest)?;
        self.follow_links(state as u32, shared.min(tail.len()), tail.len())
    }

    /// The last state that does not sort after a path with this word and this rest.
    #[inline(always)]
    fn last_not_after(
        &self,
        word: u64,
        rest: &[u8],
        backend: impl Backend,
    ) -> Result<Option<usize>> {
        let mut high = upper_bound(self.words(), word, backend);
        let Some(last) = high.checked_sub(1) else {
            return Ok(None);
        };
        // Rests matter only among states of the same word, and only if one is longer than its word:
        // then the last is.
        if self.word(last) != word || self.packed_rule(last).is_inline() {
            return Ok(Some(last));
        }
        let mut low = first_equal(self.words(), last);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.rest(&self.packed_rule(middle))? <= rest {
                low = middle + 1
            } else {
                high = middle
            }
        }
        Ok(low.checked_sub(1))
    }

    /// The number of bytes that a state shares with the path. The padding of short words counts.
    #[inline]
    fn shared_len(&self, state: usize, word: u64, rest: &[u8]) -> Result<usize> {
        let differing = self.word(state) ^ word;
        if differing != 0 {
            return Ok((differing.leading_zeros() / 8) as usize);
        }
        let own = self.rest(&self.packed_rule(state))?;
        Ok(PREFIX_LEN + own.iter().zip(rest).take_while(|(a, b)| a == b).count())
    }

    /// Follows prefix links to the first state that is a prefix of the path, from a state that
    /// shares `shared` of the path's `len` bytes.
    #[inline(always)]
    fn follow_links(&self, mut state: u32, shared: usize, len: usize) -> Result<PrefixMatch> {
        // In a forged file, every state could be linked to the one before it.
        for _ in 0..MAX_NESTED_PREFIXES {
            let packed = self.packed_rule(state as usize);
            let link = self.link(state as usize);
            let own = packed.len.saturating_sub(1);
            if own <= shared && (!packed.anchored || own == len) {
                return Ok(PrefixMatch {
                    rank: link.best,
                    bucket: link.bucket,
                });
            }
            match link.parent {
                None => return Ok(NO_MATCH),
                Some(parent) if parent < state => state = parent,
                Some(_) => return Err(Error::corrupt("a prefix link")),
            }
        }
        Err(Error::corrupt("a chain of prefix links"))
    }
}

/// So few words are compared side by side.
const FEW: usize = 32;

/// How many of the sorted words are not greater than `word`: a binary search without branches (the
/// half is chosen by arithmetic, so nothing is mispredicted), then one vector comparison.
#[inline(always)]
fn upper_bound(words: &[[u8; 8]], word: u64, backend: impl Backend) -> usize {
    let not_greater = |at: usize| {
        words
            .get(at)
            .is_some_and(|other| u64::from_le_bytes(*other) <= word)
    };
    let mut start = 0;
    let mut len = words.len();
    while len > FEW {
        let half = len / 2;
        start += half * usize::from(not_greater(start + half - 1));
        // The upper half is the longer one. If the lower half was chosen, the word after it is
        // greater and does not count.
        len -= half;
    }
    start + backend.count_not_greater(words.get(start..start + len).unwrap_or_default(), word)
}

/// The first of the neighbours that are equal to the word at `last`: a search backwards in steps
/// that double, as they are mostly few.
#[inline]
fn first_equal(words: &[[u8; 8]], last: usize) -> usize {
    let word = words.get(last);
    let mut equal = last;
    let mut step = 1;
    while equal >= step && words.get(equal - step) == word {
        equal -= step;
        step *= 2;
    }
    let from = (equal + 1).saturating_sub(step);
    let before = words.get(from..equal).unwrap_or_default();
    from + before.partition_point(|other| Some(other) != word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::build::{CanonicalRule, encode};
    use crate::matcher::rule_set::RuleSet;
    use crate::robots::RuleKind;
    use crate::simd::AnyBackend;
    use aho_corasick::{AhoCorasick, Anchored, Input};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn find<'a>(set: &RuleSet<'a>, path: &[u8]) -> Result<u32> {
        let tail = &path[1..];
        Ok(set
            .prefixes()
            .find(tail, prefix_word(tail), AnyBackend::detect())?
            .rank)
    }

    /// The highest rank of the literal rules that match, by the matches of `aho-corasick` that
    /// begin at the start of the path.
    fn rank_by_aho_corasick(rules: &[(Vec<u8>, PackedRule)], path: &[u8]) -> u32 {
        let literal: Vec<_> = rules
            .iter()
            .filter(|(text, _)| !text.contains(&b'*'))
            .collect();
        let automaton = AhoCorasick::new(literal.iter().map(|(text, _)| text)).unwrap();
        let input = Input::new(path).anchored(Anchored::No);
        let prefixes = automaton
            .find_overlapping_iter(input)
            .filter(|found| found.start() == 0);
        let matching = prefixes.map(|found| (&literal[found.pattern()].1, found.end()));
        matching
            .filter(|(rule, end)| !rule.anchored || *end == path.len())
            .map(|(rule, _)| rule.rank())
            .max()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn upper_bound_is_that_of_a_linear_scan(mut words in vec(0u64..200, 0..500), word in 0u64..202, few in any::<bool>()) {
            if few {
                words.iter_mut().for_each(|word| *word /= 40);
            }
            words.sort_unstable();
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
            let bound = upper_bound(&bytes, word, AnyBackend::detect());
            prop_assert_eq!(bound, words.iter().filter(|other| **other <= word).count());
            if let Some(last) = bound.checked_sub(1) {
                prop_assert_eq!(first_equal(&bytes, last), words.iter().filter(|other| **other < words[last]).count());
            }
        }

        /// No rule has a NUL, which ends a line of a robots.txt; paths may.
        #[test]
        fn finds_what_aho_corasick_finds(
            rules in vec((vec(select(b"ab*\xff".to_vec()), 0..11), any::<bool>()), 0..40),
            tails in vec(vec(select(b"ab\0\xff".to_vec()), 0..12), 2..60),
        ) {
            let rule = |(tail, anchored): (Vec<u8>, bool)| CanonicalRule {
                text: [b"/", &tail[..]].concat().into(),
                anchored,
                kind: RuleKind::Disallow,
            };
            let rules: Vec<CanonicalRule<'_>> = rules.into_iter().map(rule).collect();
            let bytes = encode(&rules).unwrap();
            let set = RuleSet::decode(&bytes, 0).unwrap();
            let rules: Vec<(Vec<u8>, PackedRule)> = set.rules().collect::<Result<_>>().unwrap();
            for tail in tails {
                let path = [b"/", &tail[..]].concat();
                prop_assert_eq!(find(&set, &path).unwrap(), rank_by_aho_corasick(&rules, &path), "{}", path.escape_ascii());
            }
        }

        #[test]
        fn words_are_the_first_bytes(text in vec(any::<u8>(), 0..12)) {
            let mut padded = text.clone();
            padded.resize(12, 0);
            prop_assert_eq!(&prefix_word(&text).to_be_bytes(), &padded[..8]);
        }
    }
}
