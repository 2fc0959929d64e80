//! The pieces of patterns that tell rules: those that the paths of a site seldom have, found by looking at some of these paths.
//!
//! (An automaton of all pieces, by the crate aho-corasick: to find those of a path took as long as the whole match does so, from 6 pieces to 952.)

use crate::simd::{AnyMachine, BUCKETS, Fingerprints, Machine};

/// What a rule has between its ends, and where the rule stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inner<'t> {
    pub block: usize,
    pub rule: usize,
    pub text: &'t [u8],
}

/// Buckets beyond those that there may be in the end, to choose from.
const SLACK: usize = 24;

/// Rules and their fingerprints.
pub(super) struct Told {
    pub fingerprints: Fingerprints,
    /// For each block of rules those of each bucket, a bit for each.
    pub rules: Vec<[u64; BUCKETS]>,
}

impl Told {
    /// Gives fingerprints to the rules of so many blocks, as far as there are such as few of the sample paths have.
    pub(super) fn new(rules: &[Inner<'_>], blocks: usize, samples: &[Vec<u8>]) -> Self {
        let frequency = Frequency::of(rules.iter().map(|rule| rule.text), samples);
        let pieces: Vec<Inner<'_>> = rules
            .iter()
            .filter_map(|rule| frequency.telling(rule.text).map(|piece| Inner { text: piece, ..*rule }))
            .collect();
        // Half as many buckets are looked for in half the time. But to compare one rule more costs as much as that saves.
        let [few, many] = [BUCKETS / 2, BUCKETS].map(|buckets| Self::in_buckets(&pieces, buckets, blocks));
        let [left, least] = [&few, &many].map(|told| samples.iter().map(|path| told.count(path)).sum::<usize>());
        if left <= least + samples.len() / 16 { few } else { many }
    }

    /// Puts the pieces into so many buckets at most.
    fn in_buckets(pieces: &[Inner<'_>], most: usize, blocks: usize) -> Self {
        let mut told = Self { fingerprints: Fingerprints::new(), rules: vec![[0; BUCKETS]; blocks] };
        let mut buckets = Vec::new();
        for piece in pieces {
            buckets.push(Bucket::new(piece));
            // To compare each with all others would take too long.
            merge(&mut buckets, most + SLACK);
        }
        merge(&mut buckets, most);
        for (number, bucket) in buckets.iter().enumerate() {
            for piece in &bucket.pieces {
                told.fingerprints.add(number, piece.text);
                told.rules[piece.block][number] |= 1 << piece.rule;
            }
        }
        told
    }

    /// How many rules might match a path.
    fn count(&self, path: &[u8]) -> usize {
        let found = AnyMachine::detect().look_for(&self.fingerprints, path);
        self.rules.iter().map(|rules| of_buckets(rules, found.buckets).count_ones() as usize).sum()
    }
}

/// The rules of these buckets.
#[inline(always)]
pub(super) fn of_buckets(rules: &[u64; BUCKETS], mut buckets: u16) -> u64 {
    let mut found = 0;
    while buckets != 0 {
        found |= rules[buckets.trailing_zeros() as usize % BUCKETS];
        buckets &= buckets - 1;
    }
    found
}

/// Pieces that are looked for together.
struct Bucket<'p> {
    pieces: Vec<&'p Inner<'p>>,
    /// For each place which low and which high halves of bytes pass.
    passes: [[u16; 2]; 3],
}

impl<'p> Bucket<'p> {
    fn new(inner: &'p Inner<'p>) -> Self {
        let halves =
            |place: usize| inner.text.get(place).map_or([u16::MAX; 2], |byte| [1 << (byte & 15), 1 << (byte >> 4)]);
        Self { pieces: vec![inner], passes: [halves(0), halves(1), halves(2)] }
    }

    /// How many texts of three bytes are taken for one of the pieces if those of another bucket are added.
    fn width_with(&self, other: &Self) -> u64 {
        let both = self.passes.as_flattened().iter().zip(other.passes.as_flattened());
        both.map(|(a, b)| u64::from((a | b).count_ones())).product()
    }

    fn add(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
        let both = self.passes.as_flattened_mut().iter_mut().zip(other.passes.as_flattened());
        both.for_each(|(own, other)| *own |= other);
    }
}

/// Merges buckets until no more than so many are left; always the two that let the fewest other texts pass together, because a
/// bucket mixes the halves of all bytes that it has at a place.
fn merge(buckets: &mut Vec<Bucket<'_>>, most: usize) {
    while buckets.len() > most {
        let pairs = (1..buckets.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let gain = |(a, b): &(usize, usize)| {
            let (a, b) = (&buckets[*a], &buckets[*b]);
            a.width_with(b).saturating_sub(a.width_with(a) + b.width_with(b))
        };
        let Some((a, b)) = pairs.min_by_key(gain) else { return };
        let other = buckets.swap_remove(b);
        buckets[a].add(other);
    }
}

/// How many samples hold the pieces that patterns have.
struct Frequency {
    /// The codes of the pieces, sorted, and the number of samples for each.
    codes: Vec<u32>,
    counts: Vec<usize>,
    /// A piece that as many samples have tells nothing.
    frequent: usize,
}

impl Frequency {
    fn of<'p>(patterns: impl Iterator<Item = &'p [u8]>, samples: &[Vec<u8>]) -> Self {
        let mut codes: Vec<u32> = patterns.flat_map(pieces).map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        let (mut counts, mut seen_in) = (vec![0; codes.len()], vec![usize::MAX; codes.len()]);
        for (number, sample) in samples.iter().enumerate() {
            for piece in (1..=3).flat_map(|len| sample.windows(len)) {
                if let Ok(place) = codes.binary_search(&code(piece))
                    && seen_in[place] != number
                {
                    seen_in[place] = number;
                    counts[place] += 1;
                }
            }
        }
        Self { codes, counts, frequent: (samples.len() / 16).max(1) }
    }

    fn count(&self, piece: &[u8]) -> usize {
        self.codes.binary_search(&code(piece)).map_or(0, |place| self.counts[place])
    }

    /// Of a pattern's pieces one that few samples hold; `None` if most hold all of them.
    fn telling<'p>(&self, pattern: &'p [u8]) -> Option<&'p [u8]> {
        self.rarest(pattern).filter(|(count, _)| *count < self.frequent).map(|(_, piece)| piece)
    }

    /// Of a pattern's pieces one that the fewest samples hold, and how many do.
    fn rarest<'p>(&self, pattern: &'p [u8]) -> Option<(usize, &'p [u8])> {
        pieces(pattern).map(|piece| (self.count(piece), piece)).min_by_key(|(count, piece)| {
            // Of equally rare ones those with signs, and then the longest, are likely to be the rarest in all other paths.
            let common = piece.iter().filter(|b| b.is_ascii_alphanumeric() || b"/-_".contains(b)).count();
            (*count, common, 3 - piece.len())
        })
    }
}

/// The pieces that a pattern has between its stars: of three bytes, or of fewer where there are no more.
fn pieces(pattern: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = pattern.split(|&b| b == b'*').filter(|part| !part.is_empty());
    parts.flat_map(|part| part.windows(part.len().min(3)))
}

/// A piece of up to three bytes, and its length, as a number.
fn code(piece: &[u8]) -> u32 {
    piece.iter().fold(piece.len() as u32, |code, &byte| code << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_piece_that_paths_seldom_have_tells_a_rule() {
        let samples = [b"/r/x/comments/1".to_vec(), b"/r/y/comments/2".to_vec()];
        let patterns = [&b"*/comment/"[..], b"/*/com*?*", b"**"];
        let frequency = Frequency::of(patterns.into_iter(), &samples);
        assert_eq!(frequency.rarest(b"*/comment/"), Some((0, &b"nt/"[..])));
        assert_eq!(frequency.rarest(b"/*/com*?*"), Some((0, &b"?"[..])));
        assert_eq!(frequency.rarest(b"**"), None);
    }
}
