//! The literal beginnings of rules: sorted, searched by parts, linked to their prefixes.
//!
//! A *stem* is a literal rule, or what rules with wildcards have before their first `*` (then a *branch* of these rules begins there), or
//! both. One search finds the longest stem that a path begins with; its links lead to all others.

use super::packed::{PREFIX_LEN, PackedRule};
use super::wild::ROOT;
use crate::error::{Error, ErrorKind, Result};
use crate::simd::Machine;
use crate::words::first_word;
use std::cmp::Ordering;

/// The first bytes of `text`, at most eight, as a number that compares as they do; zeros behind.
#[inline]
pub(crate) fn prefix_word(text: &[u8]) -> u64 {
    first_word(text).swap_bytes()
}

/// The text of so many bytes that is whole in its word; `buffer` holds it.
pub(super) fn inline_text(word: u64, len: usize, buffer: &mut Vec<u8>) -> &[u8] {
    buffer.clear();
    buffer.push(b'/');
    buffer.extend(word.to_be_bytes().iter().take(len.saturating_sub(1)));
    buffer
}

/// A stem on its way into the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stem<'t> {
    pub text: &'t [u8],
    pub packed: PackedRule,
    /// The branch that begins here, if there is one.
    pub branch: Option<u32>,
}

impl Stem<'_> {
    /// The order of the file: by text, an anchored one behind the same without anchor.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        (self.text, self.packed.anchored).cmp(&(other.text, other.packed.anchored))
    }

    /// The rank of its literal rule; 0 if it is bare.
    fn rank(&self) -> u32 {
        if self.packed.bare { 0 } else { self.packed.rank() }
    }
}

/// What a stem that matches a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The longest other stem that is a prefix of it and not anchored.
    pub parent: Option<u32>,
    /// The highest rank among the literal rules that match whatever it matches.
    pub best: u32,
    /// The branch of the longest stem, itself included, that begins one.
    pub branch: u32,
}

/// Bits of the number of a stem or of a branch. More than 500 KiB of robots.txt can have.
pub(crate) const NUMBER_BITS: u32 = 22;
pub(crate) const RANK_BITS: u32 = 64 - 2 * NUMBER_BITS;

/// No stem: the end of a chain of links.
const NO_STEM: u64 = (1 << NUMBER_BITS) - 1;

impl Link {
    fn encode(self) -> Option<u64> {
        let fits = |number: u32| u64::from(number) < NO_STEM;
        let all_fit = self.parent.is_none_or(fits) && fits(self.branch) && self.best >> RANK_BITS == 0;
        let parent = self.parent.map_or(NO_STEM, u64::from);
        all_fit.then_some(parent | u64::from(self.branch) << NUMBER_BITS | u64::from(self.best) << (2 * NUMBER_BITS))
    }

    #[inline]
    fn decode(word: u64) -> Self {
        let parent = word & NO_STEM;
        Self {
            parent: (parent != NO_STEM).then_some(parent as u32),
            branch: (word >> NUMBER_BITS & NO_STEM) as u32,
            best: (word >> (2 * NUMBER_BITS)) as u32,
        }
    }
}

/// The links of sorted stems.
pub(super) fn links(stems: &[Stem<'_>]) -> Vec<Link> {
    let mut open: Vec<usize> = Vec::new();
    let mut out: Vec<Link> = Vec::with_capacity(stems.len());
    for (i, stem) in stems.iter().enumerate() {
        while open.pop_if(|last| !stem.text.starts_with(stems[*last].text)).is_some() {}
        let parent = open.last().copied();
        let above = parent.map(|parent| out[parent]);
        out.push(Link {
            parent: parent.map(|parent| parent as u32),
            best: stem.rank().max(above.map_or(0, |above| above.best)),
            branch: stem.branch.unwrap_or(above.map_or(ROOT, |above| above.branch)),
        });
        if !stem.packed.anchored {
            open.push(i);
        }
    }
    out
}

/// Appends stems and their links, in three runs.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge) for more stems than a link can tell.
pub(super) fn encode(stems: &[Stem<'_>], links: &[Link], out: &mut Vec<u8>) -> Result<()> {
    out.extend(stems.iter().flat_map(|stem| prefix_word(stem.text.get(1..).unwrap_or_default()).to_le_bytes()));
    out.extend(stems.iter().flat_map(|stem| stem.packed.encode().to_le_bytes()));
    for link in links {
        let word = link.encode().ok_or_else(|| ErrorKind::TooLarge("over four million stems of rules".to_owned()))?;
        out.extend_from_slice(&word.to_le_bytes());
    }
    Ok(())
}

/// What dismisses most paths without a search: which bytes the stems have at the first and at the second place behind the `/`, each as
/// one of 64 bits, and the rank of the rule `/`, which matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Starts {
    pub root: u32,
    pub firsts: u64,
    pub seconds: u64,
}

impl Starts {
    pub(super) fn of(stems: &[Stem<'_>]) -> Self {
        let mut starts = Self::default();
        for stem in stems {
            match stem.text.get(1..).unwrap_or_default() {
                [] if !stem.packed.anchored => starts.root = stem.rank(),
                // `/$` begins as the path `/` does, which has zeros there.
                [] => starts = starts.with(start_bit(0), start_bit(0)),
                // Any byte may follow in a path.
                [first] => starts = starts.with(start_bit(*first), u64::MAX),
                [first, second, ..] => starts = starts.with(start_bit(*first), start_bit(*second)),
            }
        }
        starts
    }

    fn with(self, first: u64, second: u64) -> Self {
        Self { firsts: self.firsts | first, seconds: self.seconds | second, ..self }
    }

    /// Whether a path with this word might begin with a stem other than `/`.
    #[inline]
    fn might_match(&self, word: u64) -> bool {
        self.firsts & start_bit((word >> 56) as u8) != 0 && self.seconds & start_bit((word >> 48) as u8) != 0
    }
}

/// The bit of a byte. A quarter is added so that `/` and digits do not fall on the most frequent letters.
#[inline]
fn start_bit(byte: u8) -> u64 {
    1 << (byte.wrapping_add(byte / 4) & 63)
}

/// The stems of a rule set where they lie in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stems<'a> {
    pub(super) starts: Starts,
    /// The first bytes of each behind its `/`.
    pub(super) words: &'a [[u8; 8]],
    pub(super) packed: &'a [[u8; 8]],
    pub(super) links: &'a [[u8; 8]],
    /// The packed rules with wildcards, which have the texts of bare stems.
    pub(super) wild: &'a [[u8; 8]],
    pub(super) patterns: &'a [u8],
}

/// What the stems tell of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The highest rank among the literal rules that match it; 0 if none does.
    pub rank: u32,
    /// The branch of the longest stem that it begins with and that has one.
    pub branch: u32,
}

/// What is found of a path that begins with no stem.
pub(crate) const NOTHING: Found = Found { rank: 0, branch: ROOT };

/// A stem's text, and what it tells.
#[derive(Debug)]
pub(crate) struct StemText {
    /// What follows its `/`.
    pub text: Vec<u8>,
    pub anchored: bool,
    /// What is found of a path of whose stems it is the longest.
    pub found: Found,
}

impl<'a> Stems<'a> {
    fn word(&self, number: usize) -> u64 {
        self.words.get(number).map_or(0, |word| u64::from_le_bytes(*word))
    }

    fn rule(&self, number: usize) -> PackedRule {
        PackedRule::decode(self.packed.get(number).map_or(0, |word| u64::from_le_bytes(*word)))
    }

    #[inline]
    fn link(&self, number: usize) -> Link {
        Link::decode(self.links.get(number).map_or(0, |link| u64::from_le_bytes(*link)))
    }

    /// What follows the eight bytes of a stem's word.
    fn rest(&self, stem: &PackedRule) -> Result<&'a [u8]> {
        if stem.is_inline() {
            return Ok(&[]);
        }
        let pattern = match stem.bare {
            false => stem.pattern(self.patterns)?,
            true => {
                let rule = self.wild.get(stem.place as usize).ok_or_else(|| Error::corrupt("a stem of no rule"))?;
                let pattern = PackedRule::decode(u64::from_le_bytes(*rule)).pattern(self.patterns)?;
                pattern.get(..stem.len).unwrap_or_default()
            }
        };
        Ok(pattern.get(1 + PREFIX_LEN..).unwrap_or_default())
    }

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The texts of all, in their order, which is that of the texts, an anchored one behind the same without anchor.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for one that lies outside the file.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Result<StemText>> {
        (0..self.len()).map(|number| {
            let stem = self.rule(number);
            let head = self.word(number).to_be_bytes();
            let head = &head[..stem.len.saturating_sub(1).min(PREFIX_LEN)];
            let link = self.link(number);
            let found = Found { rank: link.best, branch: link.branch };
            Ok(StemText { text: [head, self.rest(&stem)?].concat(), anchored: stem.anchored, found })
        })
    }

    /// The literal rules, each with its word.
    pub(super) fn literal(&self) -> impl Iterator<Item = (u64, PackedRule)> {
        (0..self.words.len()).map(|number| (self.word(number), self.rule(number))).filter(|(_, rule)| !rule.bare)
    }

    /// The rank of the rule `/`, or 0, if a path with this word can be seen to begin with no other stem.
    #[inline(always)]
    pub(crate) fn root_alone(&self, word: u64) -> Option<u32> {
        (!self.starts.might_match(word)).then_some(self.starts.root)
    }

    /// What a path begins with, given what follows its `/` and the word of that.
    ///
    /// The stems are sorted, so the longest one that is a prefix of the path is the last that does not sort behind it, or one
    /// that the links from there lead to: whatever sorts between a prefix of the path and the path begins with that prefix. What
    /// the stem shares with the path is compared once; the links are followed by lengths alone.
    #[inline(always)]
    pub(crate) fn find(&self, tail: &[u8], word: u64, machine: impl Machine) -> Result<Found> {
        if let Some(rank) = self.root_alone(word) {
            return Ok(Found { rank, branch: ROOT });
        }
        let rest = tail.get(PREFIX_LEN..).unwrap_or_default();
        let Some(number) = self.last_not_behind(word, rest, machine)? else { return Ok(NOTHING) };
        let shared = self.shared(number, word, rest)?;
        self.follow(number as u32, shared.min(tail.len()), tail.len())
    }

    /// The last stem that does not sort behind a path with this word, and this rest behind the word's bytes.
    #[inline(always)]
    fn last_not_behind(&self, word: u64, rest: &[u8], machine: impl Machine) -> Result<Option<usize>> {
        let mut high = upper_bound(self.words, word, machine);
        let Some(last) = high.checked_sub(1) else { return Ok(None) };
        // The rests matter only among stems of the same word, and only if one is longer than that: it is the last.
        if self.word(last) != word || self.rule(last).is_inline() {
            return Ok(Some(last));
        }
        let mut low = first_equal(self.words, last);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.rest(&self.rule(middle))? <= rest { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1))
    }

    /// How many bytes a stem shares with that path; the zeros of short words count as shared.
    #[inline]
    fn shared(&self, number: usize, word: u64, rest: &[u8]) -> Result<usize> {
        let differing = self.word(number) ^ word;
        if differing != 0 {
            return Ok((differing.leading_zeros() / 8) as usize);
        }
        let own = self.rest(&self.rule(number))?;
        Ok(PREFIX_LEN + own.iter().zip(rest).take_while(|(a, b)| a == b).count())
    }

    /// Follows the links from a stem that shares so many bytes with a path of length `len` to one that it begins with.
    #[inline(always)]
    fn follow(&self, mut number: u32, shared: usize, len: usize) -> Result<Found> {
        // Links lead to lower numbers, so this ends in a damaged file too.
        loop {
            let stem = self.rule(number as usize);
            let link = self.link(number as usize);
            let own = stem.len.saturating_sub(1);
            if own <= shared && (!stem.anchored || own == len) {
                return Ok(Found { rank: link.best, branch: link.branch });
            }
            match link.parent {
                None => return Ok(NOTHING),
                Some(parent) if parent < number => number = parent,
                Some(_) => return Err(Error::corrupt("a stem's link")),
            }
        }
    }
}

/// So few words are counted side by side.
const FEW: usize = 32;

/// How many of the sorted words are not greater than `word`. Without branches to foresee: the parts are chosen by arithmetic, and the
/// number of steps depends on the number of words alone. Many words do not lie in the nearest cache, so there each step takes an eighth:
/// seven looks that wait side by side instead of three that wait for one another.
#[inline(always)]
fn upper_bound(words: &[[u8; 8]], word: u64, machine: impl Machine) -> usize {
    let not_greater = |at: usize| words.get(at).is_some_and(|other| u64::from_le_bytes(*other) <= word);
    let (mut start, mut len) = (0, words.len());
    while len > FEW {
        let part = len / 8;
        start += part * (1..8).map(|i| usize::from(not_greater(start + i * part - 1))).sum::<usize>();
        // As long as the last part, which is the longest: what lies behind another one is greater and does not count.
        len -= 7 * part;
    }
    start + machine.count_not_greater(words.get(start..start + len).unwrap_or_default(), word)
}

/// The first of the words that are equal to the one at `last`, and neighbours: sought backwards in steps that double, as they are
/// mostly few.
#[inline]
fn first_equal(words: &[[u8; 8]], last: usize) -> usize {
    let word = words.get(last);
    let (mut equal, mut step) = (last, 1);
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
    use crate::robots::RuleKind;
    use crate::robots::pattern::glob_matches;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::{RuleSet, pack};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Of each path the literal rules that match are found, as by a look at all rules. (No rule has a NUL, which ends a line of a robots.txt;
    /// paths may.)
    fn assert_found(rules: Vec<(Vec<u8>, bool)>, paths: &[Vec<u8>]) -> Result<(), TestCaseError> {
        let rule = |(tail, anchored): (Vec<u8>, bool)| SetRule {
            text: [b"/", &tail[..]].concat().into(),
            anchored,
            kind: RuleKind::Disallow,
        };
        let rules: Vec<SetRule<'_>> = rules.into_iter().map(rule).collect();
        let (sets, patterns) = pack(&rules).unwrap();
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        let rules: Vec<(Vec<u8>, PackedRule)> = set.rules().collect::<Result<_>>().unwrap();
        let machine = AnyMachine::detect();
        for tail in paths {
            let path = [b"/", &tail[..]].concat();
            let literal = rules.iter().filter(|(text, _)| !text.contains(&b'*'));
            let matching = literal.filter(|(text, rule)| glob_matches(text, rule.anchored, &path, machine));
            let expected = matching.map(|(_, rule)| rule.rank()).max().unwrap_or(0);
            let found = set.stems.find(tail, prefix_word(tail), machine).unwrap();
            prop_assert_eq!(found.rank, expected, "{}", path.escape_ascii());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn the_bound_is_that_of_a_linear_look(mut words in vec(0u64..200, 0..500), word in 0u64..202, few in any::<bool>()) {
            if few {
                words.iter_mut().for_each(|word| *word /= 40);
            }
            words.sort_unstable();
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
            let bound = upper_bound(&bytes, word, AnyMachine::detect());
            prop_assert_eq!(bound, words.iter().filter(|other| **other <= word).count());
            if let Some(last) = bound.checked_sub(1) {
                prop_assert_eq!(first_equal(&bytes, last), words.iter().filter(|other| **other < words[last]).count());
            }
        }

        #[test]
        fn one_search_finds_what_a_look_at_all_rules_does(
            rules in vec((vec(select(b"ab*\xff".to_vec()), 0..11), any::<bool>()), 0..40),
            paths in vec(vec(select(b"ab\0\xff".to_vec()), 0..12), 2..60),
        ) {
            assert_found(rules, &paths)?;
        }

        #[test]
        fn words_are_the_first_bytes(text in vec(any::<u8>(), 0..12)) {
            let mut padded = text.clone();
            padded.resize(12, 0);
            prop_assert_eq!(&prefix_word(&text).to_be_bytes(), &padded[..8]);
        }
    }
}
