//! A pseudo-random permutation, and a Zipf distribution of ranks. Both are computed in closed form,
//! so they need no table for any size.

use crate::random::{Decision, hash};

/// A permutation of the numbers below `len`, and its inverse.
///
/// A Feistel network permutes all numbers with an even number of bits. A result of `len` or more
/// goes through the network again until it is below `len` (cycle walking).
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    seed: u64,
    decision: Decision,
    len: u64,
    half_bits: u32,
}

/// With fewer rounds the order is visibly regular.
const ROUNDS: u64 = 4;

impl Permutation {
    pub(super) fn new(seed: u64, decision: Decision, len: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self {
            seed,
            decision,
            len,
            half_bits: bits.div_ceil(2).max(1),
        }
    }

    /// The number at a position.
    pub(super) fn at(&self, position: u64) -> u64 {
        self.walk(position, |low, high, round| {
            (high ^ self.round(low, round), low)
        })
    }

    /// The position of a number.
    pub(super) fn position_of(&self, number: u64) -> u64 {
        self.walk(number, |low, high, round| {
            (high, low ^ self.round(high, ROUNDS - 1 - round))
        })
    }

    fn walk(&self, mut number: u64, step: impl Fn(u64, u64, u64) -> (u64, u64)) -> u64 {
        loop {
            let mut halves = (number & self.mask(), number >> self.half_bits);
            for round in 0..ROUNDS {
                halves = step(halves.0, halves.1, round);
            }
            number = halves.1 << self.half_bits | halves.0;
            if number < self.len {
                return number;
            }
        }
    }

    fn round(&self, half: u64, round: u64) -> u64 {
        hash(self.seed, self.decision, half, round) & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }
}

/// Zipf's law with exponent 1: each doubling of the rank adds the same number of draws.
///
/// Draws are numbered rank by rank, so the mapping is simple arithmetic in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Popularity {
    pub ranks: u64,
    draws: u64,
}

/// The number of fraction bits of a weight.
const FRACTION: u32 = 32;

impl Popularity {
    /// Distributes `draws` among `ranks`, at least one.
    pub(super) fn new(ranks: u64, draws: u64) -> Self {
        Self {
            ranks: ranks.max(1),
            draws,
        }
    }

    /// The first draw of a rank, which is the number of draws of all more popular ranks.
    pub(super) fn first(&self, rank: u64) -> u64 {
        (u128::from(self.draws) * u128::from(weight_before(rank))
            / u128::from(weight_before(self.ranks))) as u64
    }

    /// The rank that a draw belongs to.
    pub(super) fn rank_of(&self, draw: u64) -> u64 {
        let weight = u128::from(draw) * u128::from(weight_before(self.ranks))
            / u128::from(self.draws.max(1));
        let doubling = (weight >> FRACTION) as u32;
        let within = (weight & ((1 << FRACTION) - 1)) as u64;
        let mut rank =
            (1_u64 << doubling) - 1 + ((u128::from(within) << doubling) >> FRACTION) as u64;
        // Rounding can be off by a rank or so.
        while rank > 0 && self.first(rank) > draw {
            rank -= 1;
        }
        while rank + 1 < self.ranks && self.first(rank + 1) <= draw {
            rank += 1;
        }
        rank
    }
}

/// The weight of all ranks before this one in fixed point: 1 per power of two.
fn weight_before(rank: u64) -> u64 {
    let doubling = (rank + 1).ilog2();
    let within = u128::from(rank + 1 - (1 << doubling)) << FRACTION >> doubling;
    u64::from(doubling) << FRACTION | within as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_invertible() {
        for len in [1, 2, 3, 5, 16, 17, 1000] {
            let permutation = Permutation::new(7, Decision::Order, len);
            let mut seen: Vec<u64> = (0..len).map(|position| permutation.at(position)).collect();
            assert!(
                seen.iter()
                    .enumerate()
                    .all(|(position, &number)| permutation.position_of(number) == position as u64)
            );
            assert!(len < 1000 || !seen.is_sorted());
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..len), "{len}");
        }
    }

    #[test]
    fn draws_map_to_ranks_and_back() {
        for (ranks, draws) in [(1, 5), (3, 1), (10, 1000), (1000, 500), (1000, 12_345)] {
            let popularity = Popularity::new(ranks, draws);
            assert_eq!((popularity.first(0), popularity.first(ranks)), (0, draws));
            for draw in 0..draws {
                let rank = popularity.rank_of(draw);
                assert!(
                    popularity.first(rank) <= draw && draw < popularity.first(rank + 1),
                    "{ranks} {draws} {draw}"
                );
            }
        }
    }

    #[test]
    fn popular_ranks_get_the_most_draws() {
        let popularity = Popularity::new(1_000_000, 1_000_000_000);
        let of = |rank| popularity.first(rank + 1) - popularity.first(rank);
        assert!(
            of(0) > 45_000_000 && of(9) < of(0) / 5 && of(999_999) < 200,
            "{} {} {}",
            of(0),
            of(9),
            of(999_999)
        );
    }
}
