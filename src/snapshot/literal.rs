//! Rules without wildcards: sorted, searched by halves, linked to their prefixes.

use super::packed::PackedRule;
use crate::error::{Error, Result};
use std::cmp::Ordering;

/// Bytes behind the first `/` that are compared at once.
pub(crate) const PREFIX_LEN: usize = 8;

/// The first bytes of `text`, at most eight, as a number that compares as they do; zeros behind.
#[inline]
pub(crate) fn prefix_word(text: &[u8]) -> u64 {
    if let Some(chunk) = text.first_chunk::<PREFIX_LEN>() {
        return u64::from_be_bytes(*chunk);
    }
    // A copy of so few bytes would be a call. Two reads that overlap give four to seven of them.
    if let (Some(head), Some(tail)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let shift = 64 - 8 * text.len();
        return u64::from(u32::from_be_bytes(*head)) << 32 | u64::from(u32::from_be_bytes(*tail)) << shift;
    }
    text.iter().zip([56, 48, 40]).fold(0, |word, (&b, shift)| word | u64::from(b) << shift)
}

/// The pattern of so many bytes that is whole in its word; `buffer` holds it.
pub(super) fn prefix_word_bytes(word: u64, len: usize, buffer: &mut Vec<u8>) -> &[u8] {
    buffer.clear();
    buffer.push(b'/');
    buffer.extend(word.to_be_bytes().iter().take(len.saturating_sub(1)));
    buffer
}

/// A pattern and its packed rule.
pub(super) type Literal<'t> = (&'t [u8], PackedRule);

/// The order of the file: by pattern, an anchored one behind the same without anchor.
pub(super) fn order(a: &Literal<'_>, b: &Literal<'_>) -> Ordering {
    (a.0, a.1.anchored).cmp(&(b.0, b.1.anchored))
}

/// No rule: the end of a chain of links.
const NO_LINK: u32 = u32::MAX;

/// For each literal rule the longest other one that is a prefix of it and not anchored, and the highest rank among the rules
/// that match whatever it matches.
pub(super) fn links(rules: &[Literal<'_>]) -> Vec<u64> {
    let mut open: Vec<usize> = Vec::new();
    let mut best: Vec<u32> = Vec::with_capacity(rules.len());
    let mut out = Vec::with_capacity(rules.len());
    for (i, (text, packed)) in rules.iter().enumerate() {
        while open.pop_if(|last| !text.starts_with(rules[*last].0)).is_some() {}
        let parent = open.last().copied();
        best.push(packed.rank().max(parent.map_or(0, |parent| best[parent])));
        out.push(u64::from(parent.map_or(NO_LINK, |parent| parent as u32)) | u64::from(best[i]) << 32);
        if !packed.anchored {
            open.push(i);
        }
    }
    out
}

/// What dismisses most paths without a search: which bytes the literal rules have at the first and at the second place behind
/// the `/`, each as one of 64 bits, and the rank of the rule `/`, which matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Starts {
    pub root: u32,
    pub firsts: u64,
    pub seconds: u64,
}

impl Starts {
    pub(super) fn of(rules: &[Literal<'_>]) -> Self {
        let mut starts = Self::default();
        for (text, packed) in rules {
            match text.get(1..).unwrap_or_default() {
                [] if !packed.anchored => starts.root = packed.rank(),
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

    /// Whether a literal rule other than `/` might match a path with this word.
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

/// The literal rules of a rule set where they lie in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Literals<'a> {
    pub(super) starts: Starts,
    /// The first bytes of each pattern behind its `/`.
    pub(super) words: &'a [[u8; 8]],
    pub(super) packed: &'a [[u8; 8]],
    pub(super) links: &'a [[u8; 8]],
    pub(super) patterns: &'a [u8],
}

impl<'a> Literals<'a> {
    fn word(&self, number: usize) -> u64 {
        self.words.get(number).map_or(0, |word| u64::from_le_bytes(*word))
    }

    fn rule(&self, number: usize) -> PackedRule {
        PackedRule::decode(self.packed.get(number).map_or(0, |word| u64::from_le_bytes(*word)))
    }

    /// What follows the eight bytes of a literal rule's word.
    fn rest(&self, rule: &PackedRule) -> Result<&'a [u8]> {
        if rule.is_inline() {
            Ok(&[])
        } else {
            Ok(rule.pattern(self.patterns)?.get(1 + PREFIX_LEN..).unwrap_or_default())
        }
    }

    /// The highest rank among the literal rules that match a path, given what follows its `/` and the word of that; 0 if none
    /// does.
    ///
    /// The rules are sorted, so the longest one that is a prefix of the path is the last that does not sort behind it, or one
    /// that the links from there lead to: whatever sorts between a prefix of the path and the path begins with that prefix. What
    /// the rule shares with the path is compared once; the links are followed by lengths alone.
    #[inline]
    pub(crate) fn highest(&self, tail: &[u8], word: u64) -> Result<u32> {
        if !self.starts.might_match(word) {
            return Ok(self.starts.root);
        }
        let rest = tail.get(PREFIX_LEN..).unwrap_or_default();
        let Some(number) = self.last_not_behind(word, rest)? else { return Ok(0) };
        let shared = self.shared(number, word, rest)?;
        self.follow(number as u32, shared.min(tail.len()), tail.len())
    }

    /// The last rule that does not sort behind a path with this word, and this rest behind the word's bytes.
    #[inline]
    fn last_not_behind(&self, word: u64, rest: &[u8]) -> Result<Option<usize>> {
        let mut high = upper_bound(self.words, word);
        let Some(last) = high.checked_sub(1) else { return Ok(None) };
        // The rests matter only among rules of the same word, and only if one is longer than that: it is the last.
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

    /// How many bytes a rule shares with that path; the zeros of short words count as shared.
    #[inline]
    fn shared(&self, number: usize, word: u64, rest: &[u8]) -> Result<usize> {
        let differing = self.word(number) ^ word;
        if differing != 0 {
            return Ok((differing.leading_zeros() / 8) as usize);
        }
        let own = self.rest(&self.rule(number))?;
        Ok(PREFIX_LEN + own.iter().zip(rest).take_while(|(a, b)| a == b).count())
    }

    /// Follows the links from a rule that shares so many bytes with a path of length `len` to one that matches it.
    #[inline]
    fn follow(&self, mut number: u32, shared: usize, len: usize) -> Result<u32> {
        // Links lead to lower numbers, so this ends in a damaged file too.
        loop {
            let rule = self.rule(number as usize);
            let link = self.links.get(number as usize).map_or(0, |link| u64::from_le_bytes(*link));
            let own = rule.len.saturating_sub(1);
            if own <= shared && (!rule.anchored || own == len) {
                return Ok((link >> 32) as u32);
            }
            match link as u32 {
                NO_LINK => return Ok(0),
                parent if parent < number => number = parent,
                _ => return Err(Error::corrupt("a rule's link")),
            }
        }
    }

    /// Checks the order of the rules, and that words and links belong to their patterns.
    pub(super) fn verify(&self) -> Result<()> {
        let mut texts = Vec::with_capacity(self.packed.len());
        for number in 0..self.packed.len() {
            let rule = self.rule(number);
            texts.push(match rule.is_inline() {
                true => prefix_word_bytes(self.word(number), rule.len, &mut Vec::new()).to_vec(),
                false => rule.pattern(self.patterns)?.to_vec(),
            });
        }
        let rules: Vec<Literal<'_>> =
            texts.iter().enumerate().map(|(number, text)| (text.as_slice(), self.rule(number))).collect();
        let sorted = rules.windows(2).all(|pair| order(&pair[0], &pair[1]) == Ordering::Less);
        let is_word = |(text, _): &Literal<'_>, word: &[u8; 8]| {
            text.first() == Some(&b'/') && prefix_word(&text[1..]).to_le_bytes() == *word
        };
        let words = rules.iter().zip(self.words).all(|(rule, word)| is_word(rule, word));
        let links = links(&rules).iter().zip(self.links).all(|(link, stored)| link.to_le_bytes() == *stored);
        if sorted && words && links && self.starts == Starts::of(&rules) {
            Ok(())
        } else {
            Err(Error::corrupt("a rule set's literal rules"))
        }
    }
}

/// So few words are searched by halves.
const FEW: usize = 32;

/// How many of the sorted words are not greater than `word`. Without branches to foresee: the parts are chosen by arithmetic, and the
/// number of steps depends on the number of words alone. Many words do not lie in the nearest cache, so there each step takes an eighth:
/// seven looks that wait side by side instead of three that wait for one another.
#[inline]
fn upper_bound(words: &[[u8; 8]], word: u64) -> usize {
    let not_greater = |at: usize| words.get(at).is_some_and(|other| u64::from_le_bytes(*other) <= word);
    let (mut start, mut len) = (0, words.len());
    while len > FEW {
        let part = len / 8;
        start += part * (1..8).map(|i| usize::from(not_greater(start + i * part - 1))).sum::<usize>();
        // As long as the last part, which is the longest: what lies behind another one is greater and does not count.
        len -= 7 * part;
    }
    while len > 1 {
        let half = len / 2;
        start += half * usize::from(not_greater(start + half - 1));
        len -= half;
    }
    start + usize::from(not_greater(start))
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
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_bound_is_that_of_a_linear_look(mut words in vec(0u64..200, 0..500), word in 0u64..202, few in any::<bool>()) {
            if few {
                words.iter_mut().for_each(|word| *word /= 40);
            }
            words.sort_unstable();
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
            let bound = upper_bound(&bytes, word);
            prop_assert_eq!(bound, words.iter().filter(|other| **other <= word).count());
            if let Some(last) = bound.checked_sub(1) {
                prop_assert_eq!(first_equal(&bytes, last), words.iter().filter(|other| **other < words[last]).count());
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
