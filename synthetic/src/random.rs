//! Reproducible random numbers: each is a pure function of a seed, a kind of decision and two
//! numbers.
//!
//! The generators have published, frozen algorithms. All further arithmetic is on integers, or uses
//! the floating-point operations that are exact on every machine (`+ - * /`, `sqrt`). Logarithms
//! and powers are not, so they are avoided.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_64;

/// The kind of decision, so that different decisions about the same thing are independent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decision {
    Name = 1,
    Answer = 2,
    Choice = 3,
    File = 4,
    Group = 5,
    Rule = 6,
    Url = 7,
    Rank = 8,
    Order = 9,
    Capture = 10,
}

/// A hash as the single random number of a decision.
pub(super) fn hash(seed: u64, decision: Decision, number: u64, part: u64) -> u64 {
    let mut key = [0; 32];
    for (bytes, value) in key
        .chunks_exact_mut(8)
        .zip([seed, decision as u64, number, part])
    {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    xxh3_64(&key)
}

/// A random number generator for a decision.
pub(super) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub(super) fn new(seed: u64, decision: Decision, number: u64, part: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(hash(
            seed, decision, number, part,
        )))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A uniform number from 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// `true` with this probability.
    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub(super) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// The index of a value, drawn by weight.
    pub(super) fn weighted_index<T>(&mut self, values: &[(u64, T)]) -> usize {
        let mut at = self.below(values.iter().map(|(weight, _)| weight).sum());
        for (index, (weight, _)) in values.iter().enumerate() {
            match at.checked_sub(*weight) {
                None => return index,
                Some(rest) => at = rest,
            }
        }
        values.len() - 1
    }

    /// A value, drawn by weight.
    pub(super) fn weighted<T: Copy>(&mut self, values: &[(u64, T)]) -> T {
        values[self.weighted_index(values)].1
    }

    pub(super) fn quantile(&mut self, of: &Quantiles) -> u64 {
        of.at(self.unit()) as u64
    }
}

/// A distribution defined by some of its quantiles, as statistics are published: pairs of a share
/// and the value, at least 1, that this share of cases is below. The first share is 0, the last 1.
///
/// Between two quantiles values are interpolated geometrically. Drawn values are rounded down, so a
/// quantile of 1.01 ends a run of ones.
pub(super) struct Quantiles(pub &'static [(f64, f64)]);

impl Quantiles {
    fn at(&self, share: f64) -> f64 {
        let upper = self
            .0
            .iter()
            .position(|(to, _)| share < *to)
            .unwrap_or(self.0.len() - 1)
            .max(1);
        let ((from, mut low), (to, mut high)) = (self.0[upper - 1], self.0[upper]);
        let mut share = (share - from) / (to - from);
        // Bisection with geometric means, because `sqrt` is exact on every machine.
        for _ in 0..4 {
            let middle = (low * high).sqrt();
            (low, high, share) = if share < 0.5 {
                (low, middle, share * 2.0)
            } else {
                (middle, high, share * 2.0 - 1.0)
            };
        }
        low + (high - low) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_in_every_version() {
        let mut dice = Dice::new(1, Decision::Url, 2, 3);
        let drawn = [
            dice.bits(),
            dice.below(1000),
            dice.quantile(&Quantiles(&[(0.0, 1.0), (1.0, 1e6)])),
        ];
        assert_eq!(
            drawn,
            [10_472_528_098_689_839_161, 806, 648_312],
            "a seed must always give the same web"
        );
    }

    #[test]
    fn quantiles_are_interpolated_geometrically() {
        let of = Quantiles(&[(0.0, 1.0), (0.5, 4.0), (1.0, 64.0)]);
        for (share, value) in [
            (0.0, 1.0),
            (0.25, 2.0),
            (0.5, 4.0),
            (0.75, 16.0),
            (1.0, 64.0),
        ] {
            assert!(
                (of.at(share) - value).abs() < 1e-9,
                "{share}: {}",
                of.at(share)
            );
        }
    }
}
