//! The first phase of Teddy: one pass over a text finds the buckets of all fingerprints.

use crate::simd::neon::vectors::{
    count_slashes, kinds_of, load_bytes, load_rest, or_bytes, successors, sum_slashes,
};
use crate::simd::{BucketMatches, Fingerprints, Nibbles};
use std::arch::aarch64::*;

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn scan_fingerprints(fingerprints: &Fingerprints, text: &[u8]) -> BucketMatches {
    if fingerprints.is_wide {
        return scan_halves(&fingerprints.halves, text);
    }
    let [half, _] = &fingerprints.halves;
    scan_halves(std::array::from_ref(half), text)
}

/// Scans a text for eight buckets, or for sixteen in nearly twice the time.
#[inline]
#[target_feature(enable = "neon")]
fn scan_halves<const HALVES: usize>(halves: &[[Nibbles; 3]; HALVES], text: &[u8]) -> BucketMatches {
    let mut seen = [vdupq_n_u8(0); HALVES];
    let mut slashes = vdupq_n_u8(0);
    let mut rest = text;
    while let (Some(first), Some(second)) = (
        rest.first_chunk(),
        rest.get(1..).and_then(|next| next.first_chunk()),
    ) {
        let (first, second) = (load_bytes(first), load_bytes(second));
        // Only the last position of a text has no byte two after it.
        let third = rest.get(2..).and_then(|next| next.first_chunk());
        let third = match third {
            Some(third) => load_bytes(third),
            None => successors(second),
        };
        scan_positions(halves, [first, second, third], &mut seen);
        slashes = count_slashes(slashes, first);
        rest = &rest[16..];
    }
    // The rest is followed by zeros. No fingerprint contains one, so they hide only fingerprints
    // that reach past the end.
    let first = load_rest(text, rest.len());
    let second = successors(first);
    scan_positions(halves, [first, second, successors(second)], &mut seen);
    let high = if HALVES > 1 {
        or_bytes(seen[HALVES - 1])
    } else {
        0
    };
    BucketMatches {
        buckets: u16::from_le_bytes([or_bytes(seen[0]), high]),
        slashes: sum_slashes(count_slashes(slashes, first)),
    }
}

/// Scans 16 positions, given their bytes, the bytes one after them and the bytes two after them.
#[inline]
#[target_feature(enable = "neon")]
fn scan_positions<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    positions: [uint8x16_t; 3],
    seen: &mut [uint8x16_t; HALVES],
) {
    for (seen, half) in seen.iter_mut().zip(halves) {
        let [a, b, c] = half;
        let ab = vandq_u8(kinds_of(positions[0], a), kinds_of(positions[1], b));
        *seen = vorrq_u8(*seen, vandq_u8(ab, kinds_of(positions[2], c)));
    }
}
