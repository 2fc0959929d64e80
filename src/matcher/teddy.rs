//! Teddy: the choice of fingerprints for rules with a middle, and their distribution over buckets.
//!
//! Teddy (of Hyperscan and the crate `aho-corasick`) searches for many literals in one pass over a
//! text, by vector instructions. Each literal has a fingerprint of up to three bytes in one of 16
//! buckets, and the pass finds the buckets that may occur. [`Fingerprints`] is that search; this
//! file chooses the fingerprints. It prefers those that few of the sampled paths contain, and puts
//! literals with similar bytes into one bucket.
//!
//! Measured and not kept: an automaton of all middles (`aho-corasick`, a DFA). Its search took as
//! long as the whole match takes with fingerprints, from 6 middles to 952.

use crate::simd::{AnyBackend, BUCKETS, Backend, Fingerprints};

/// The text of a rule between its first star and its suffix, with the rule's lane and its number in
/// the lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleMiddle<'t> {
    pub lane: usize,
    pub rule: usize,
    pub text: &'t [u8],
}

/// Buckets beyond the maximum, among which merging may choose.
const SLACK: usize = 24;

/// The fingerprints of a table's rules.
pub(super) struct Buckets {
    pub fingerprints: Fingerprints,
    /// For each lane, the rules of each bucket.
    pub rules: Vec<[u64; BUCKETS]>,
}

impl Buckets {
    /// Chooses fingerprints for the rules of this many lanes. A rule has none if many of the
    /// samples contain each of its candidates.
    pub(super) fn choose(rules: &[RuleMiddle<'_>], lanes: usize, samples: &[Vec<u8>]) -> Self {
        let frequency = Frequency::of(rules.iter().map(|rule| rule.text), samples);
        let fingerprints: Vec<RuleMiddle<'_>> = rules
            .iter()
            .filter_map(|rule| {
                frequency
                    .rare_fingerprint(rule.text)
                    .map(|text| RuleMiddle { text, ..*rule })
            })
            .collect();
        // Half as many buckets are searched in half the time. But comparing one rule more costs as
        // much as that saves.
        let [few, many] =
            [BUCKETS / 2, BUCKETS].map(|buckets| Self::distribute(&fingerprints, buckets, lanes));
        let [by_few, by_many] = [&few, &many].map(|buckets| {
            samples
                .iter()
                .map(|path| buckets.count_candidates(path))
                .sum::<usize>()
        });
        if by_few <= by_many + samples.len() / 16 {
            few
        } else {
            many
        }
    }

    /// Distributes fingerprints over at most this many buckets.
    fn distribute(rules: &[RuleMiddle<'_>], max: usize, lanes: usize) -> Self {
        let mut out = Self {
            fingerprints: Fingerprints::new(),
            rules: vec![[0; BUCKETS]; lanes],
        };
        let mut buckets = Vec::new();
        for rule in rules {
            buckets.push(Bucket::new(rule));
            // Comparing each bucket with all others would take too long.
            merge(&mut buckets, max + SLACK);
        }
        merge(&mut buckets, max);
        for (number, bucket) in buckets.iter().enumerate() {
            for rule in &bucket.rules {
                out.fingerprints.add(number, rule.text);
                out.rules[rule.lane][number] |= 1 << rule.rule;
            }
        }
        out
    }

    /// The number of rules that may match a path.
    fn count_candidates(&self, path: &[u8]) -> usize {
        let found = AnyBackend::detect().scan_fingerprints(&self.fingerprints, path);
        self.rules
            .iter()
            .map(|rules| rules_of_buckets(rules, found.buckets).count_ones() as usize)
            .sum()
    }
}

/// The rules of these buckets.
#[inline(always)]
pub(super) fn rules_of_buckets(rules: &[u64; BUCKETS], mut buckets: u16) -> u64 {
    let mut found = 0;
    while buckets != 0 {
        found |= rules[buckets.trailing_zeros() as usize % BUCKETS];
        buckets &= buckets - 1;
    }
    found
}

/// Fingerprints that are searched together.
struct Bucket<'p> {
    rules: Vec<&'p RuleMiddle<'p>>,
    /// For each of the three bytes: which low and which high nibbles pass.
    passes: [[u16; 2]; 3],
}

impl<'p> Bucket<'p> {
    fn new(rule: &'p RuleMiddle<'p>) -> Self {
        let passes = [0, 1, 2].map(|at| match rule.text.get(at) {
            Some(byte) => [1 << (byte & 15), 1 << (byte >> 4)],
            None => [u16::MAX; 2],
        });
        Self {
            rules: vec![rule],
            passes,
        }
    }

    /// The number of texts of three bytes that pass both this bucket and `other` merged.
    fn width_with(&self, other: &Self) -> u64 {
        let both = self
            .passes
            .as_flattened()
            .iter()
            .zip(other.passes.as_flattened());
        both.map(|(a, b)| u64::from((a | b).count_ones())).product()
    }

    /// How many more texts pass this bucket and `other` merged than apart.
    fn loss_with(&self, other: &Self) -> u64 {
        let apart = self.width_with(self) + other.width_with(other);
        self.width_with(other).saturating_sub(apart)
    }

    fn add(&mut self, other: Self) {
        self.rules.extend(other.rules);
        let both = self
            .passes
            .as_flattened_mut()
            .iter_mut()
            .zip(other.passes.as_flattened());
        both.for_each(|(own, other)| *own |= other);
    }
}

/// Merges buckets until at most `max` are left: always the two that let the fewest other texts pass
/// together, because a bucket mixes the nibbles of all its bytes at a position.
fn merge(buckets: &mut Vec<Bucket<'_>>, max: usize) {
    while buckets.len() > max {
        let pairs = (1..buckets.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let Some((a, b)) = pairs.min_by_key(|(a, b)| buckets[*a].loss_with(&buckets[*b])) else {
            return;
        };
        let other = buckets.swap_remove(b);
        buckets[a].add(other);
    }
}

/// How many samples hold each possible fingerprint.
struct Frequency {
    /// The codes of the fingerprints, sorted, and the number of samples for each.
    codes: Vec<u32>,
    counts: Vec<usize>,
    /// A fingerprint that this many samples hold selects nothing.
    frequent: usize,
}

impl Frequency {
    fn of<'p>(patterns: impl Iterator<Item = &'p [u8]>, samples: &[Vec<u8>]) -> Self {
        let mut codes: Vec<u32> = patterns.flat_map(fingerprints).map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        let mut counts = vec![0; codes.len()];
        let mut last_sample = vec![usize::MAX; codes.len()];
        for (number, sample) in samples.iter().enumerate() {
            for text in (1..=3).flat_map(|len| sample.windows(len)) {
                if let Ok(index) = codes.binary_search(&code(text))
                    && last_sample[index] != number
                {
                    last_sample[index] = number;
                    counts[index] += 1;
                }
            }
        }
        Self {
            codes,
            counts,
            frequent: (samples.len() / 16).max(1),
        }
    }

    fn count(&self, fingerprint: &[u8]) -> usize {
        self.codes
            .binary_search(&code(fingerprint))
            .map_or(0, |index| self.counts[index])
    }

    /// A fingerprint of a pattern that few samples hold; `None` if most hold each of them.
    fn rare_fingerprint<'p>(&self, pattern: &'p [u8]) -> Option<&'p [u8]> {
        self.rarest(pattern)
            .filter(|(count, _)| *count < self.frequent)
            .map(|(_, fingerprint)| fingerprint)
    }

    /// The fingerprint of a pattern that the fewest samples hold, and how many do.
    fn rarest<'p>(&self, pattern: &'p [u8]) -> Option<(usize, &'p [u8])> {
        fingerprints(pattern)
            .map(|text| (self.count(text), text))
            .min_by_key(|(count, text)| {
                // Of equally rare ones, those with punctuation, then the longest, are likely to be
                // the rarest in all other paths.
                let common = text
                    .iter()
                    .filter(|b| b.is_ascii_alphanumeric() || b"/-_".contains(b))
                    .count();
                (*count, common, 3 - text.len())
            })
    }
}

/// The possible fingerprints of a pattern: three bytes of a segment, or fewer if it is shorter.
fn fingerprints(pattern: &[u8]) -> impl Iterator<Item = &[u8]> {
    let segments = pattern
        .split(|&b| b == b'*')
        .filter(|segment| !segment.is_empty());
    segments.flat_map(|segment| segment.windows(segment.len().min(3)))
}

/// Up to three bytes and their number as one number.
fn code(fingerprint: &[u8]) -> u32 {
    fingerprint
        .iter()
        .fold(fingerprint.len() as u32, |code, &byte| {
            code << 8 | u32::from(byte)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarest_fingerprint_is_chosen() {
        let samples = [b"/r/x/comments/1".to_vec(), b"/r/y/comments/2".to_vec()];
        let patterns = [&b"*/comment/"[..], b"/*/com*?*", b"**"];
        let frequency = Frequency::of(patterns.into_iter(), &samples);
        assert_eq!(frequency.rarest(b"*/comment/"), Some((0, &b"nt/"[..])));
        assert_eq!(frequency.rarest(b"/*/com*?*"), Some((0, &b"?"[..])));
        assert_eq!(frequency.rarest(b"**"), None);
    }
}
