//! The first phase of Teddy: one pass over a text finds the buckets of all fingerprints.

use crate::simd::avx2::vectors::{
    kinds_of, load_bytes, load_last, or_bytes, slash_lanes, successors,
};
use crate::simd::{BucketMatches, Fingerprints, Nibbles};
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn scan_fingerprints(fingerprints: &Fingerprints, text: &[u8]) -> BucketMatches {
    if fingerprints.is_wide {
        return scan_halves(&fingerprints.halves, text);
    }
    let [half, _] = &fingerprints.halves;
    scan_halves(std::array::from_ref(half), text)
}

/// Scans a text for eight buckets, or for sixteen in nearly twice the time.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn scan_halves<const HALVES: usize>(halves: &[[Nibbles; 3]; HALVES], text: &[u8]) -> BucketMatches {
    let mut seen = [_mm256_setzero_si256(); HALVES];
    let mut slashes = 0;
    let mut rest = text;
    while let Some(window) = rest.first_chunk::<34>() {
        let (Some(first), Some(second), Some(third)) = (
            window.first_chunk(),
            window[1..].first_chunk(),
            window[2..].first_chunk(),
        ) else {
            break;
        };
        let first = load_bytes(first);
        scan_positions(
            halves,
            [first, load_bytes(second), load_bytes(third)],
            &mut seen,
        );
        slashes += slash_lanes(first).count_ones();
        rest = &rest[32..];
    }
    // The rest is followed by zeros. No fingerprint contains one, so they hide only fingerprints
    // that reach past the end.
    if let (33, Some(bytes)) = (rest.len(), rest.first_chunk()) {
        slashes += scan_end(halves, load_bytes(bytes), 0, &mut seen);
        rest = &rest[32..];
    }
    let (bytes, before) = load_last(text, rest.len());
    slashes += scan_end(halves, bytes, before, &mut seen);
    let high = if HALVES > 1 {
        or_bytes(seen[HALVES - 1])
    } else {
        0
    };
    let buckets = u16::from_le_bytes([or_bytes(seen[0]), high]);
    BucketMatches {
        buckets,
        slashes: slashes.min(255) as u8,
    }
}

/// Scans 32 positions that zeros follow. Returns the number of slashes after the first `before`
/// bytes.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn scan_end<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    bytes: __m256i,
    before: u32,
    seen: &mut [__m256i; HALVES],
) -> u32 {
    let second = successors(bytes);
    scan_positions(halves, [bytes, second, successors(second)], seen);
    (u64::from(slash_lanes(bytes)) >> before).count_ones()
}

/// Scans 32 positions, given their bytes, the bytes one after them and the bytes two after them.
#[inline]
#[target_feature(enable = "avx2")]
fn scan_positions<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    positions: [__m256i; 3],
    seen: &mut [__m256i; HALVES],
) {
    for (seen, half) in seen.iter_mut().zip(halves) {
        let [a, b, c] = half;
        let ab = _mm256_and_si256(kinds_of(positions[0], a), kinds_of(positions[1], b));
        *seen = _mm256_or_si256(*seen, _mm256_and_si256(ab, kinds_of(positions[2], c)));
    }
}
