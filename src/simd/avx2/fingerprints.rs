//! All fingerprints looked for in one pass over a text.

use crate::simd::avx2::vectors::{kinds_of, load_bytes, load_last, or_bytes, slash_lanes, successors};
use crate::simd::{Fingerprints, Found, Nibbles};
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn scan_fingerprints(fingerprints: &Fingerprints, text: &[u8]) -> Found {
    if fingerprints.is_wide {
        return look_for_halves(&fingerprints.halves, text);
    }
    let [half, _] = &fingerprints.halves;
    look_for_halves(std::array::from_ref(half), text)
}

/// Looks for all fingerprints of eight buckets, or of sixteen, which takes nearly twice as long.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn look_for_halves<const HALVES: usize>(halves: &[[Nibbles; 3]; HALVES], text: &[u8]) -> Found {
    let mut seen = [_mm256_setzero_si256(); HALVES];
    let mut slashes = 0;
    let mut rest = text;
    while let Some(window) = rest.first_chunk::<34>() {
        let (Some(first), Some(second), Some(third)) =
            (window.first_chunk(), window[1..].first_chunk(), window[2..].first_chunk())
        else {
            break;
        };
        let first = load_bytes(first);
        look_at_places(halves, [first, load_bytes(second), load_bytes(third)], &mut seen);
        slashes += slash_lanes(first).count_ones();
        rest = &rest[32..];
    }
    // What is left is looked at with zeros behind the end: no piece holds one, so that can only hide a piece that reaches further.
    if let (33, Some(bytes)) = (rest.len(), rest.first_chunk()) {
        slashes += look_at_end(halves, load_bytes(bytes), 0, &mut seen);
        rest = &rest[32..];
    }
    let (bytes, before) = load_last(text, rest.len());
    slashes += look_at_end(halves, bytes, before, &mut seen);
    let high = if HALVES > 1 { or_bytes(seen[HALVES - 1]) } else { 0 };
    let buckets = u16::from_le_bytes([or_bytes(seen[0]), high]);
    Found { buckets, slashes: slashes.min(255) as u8 }
}

/// Looks at 32 places as if zeros stood behind them; how many slashes are there behind the first `before`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn look_at_end<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    bytes: __m256i,
    before: u32,
    seen: &mut [__m256i; HALVES],
) -> u32 {
    let second = successors(bytes);
    look_at_places(halves, [bytes, second, successors(second)], seen);
    (u64::from(slash_lanes(bytes)) >> before).count_ones()
}

/// Looks at 32 places, given what stands there, one behind, and two behind.
#[inline]
#[target_feature(enable = "avx2")]
fn look_at_places<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    places: [__m256i; 3],
    seen: &mut [__m256i; HALVES],
) {
    for (seen, half) in seen.iter_mut().zip(halves) {
        let [a, b, c] = half;
        let ab = _mm256_and_si256(kinds_of(places[0], a), kinds_of(places[1], b));
        *seen = _mm256_or_si256(*seen, _mm256_and_si256(ab, kinds_of(places[2], c)));
    }
}
