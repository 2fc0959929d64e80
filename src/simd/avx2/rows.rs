//! Words and signatures side by side, compared several at once.

use crate::simd::avx2::vectors::{lanes, load_bytes};
use crate::simd::plain;
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn count_not_greater(words: &[[u8; 8]], word: u64) -> usize {
    // Signed comparison orders numbers as unsigned ones if the highest bit of both is turned.
    let turn = _mm256_set1_epi64x(i64::MIN);
    let wanted = _mm256_xor_si256(_mm256_set1_epi64x(word as i64), turn);
    // A lane that is greater becomes -1.
    let greater = |words: &[u8; 32]| _mm256_cmpgt_epi64(_mm256_xor_si256(load_bytes(words), turn), wanted);
    let Some(last) = words.as_flattened().last_chunk() else {
        return words.iter().map(|other| usize::from(u64::from_le_bytes(*other) <= word)).sum();
    };
    // The last four are looked at with some before them. If one of them is not greater, none of those before is, as they are sorted.
    let lanes = _mm256_movemask_pd(_mm256_castsi256_pd(greater(last))) as u32;
    if lanes != 0b1111 {
        return words.len() - lanes.count_ones() as usize;
    }
    let chunks = words.as_flattened().as_chunks().0;
    let none = _mm256_setzero_si256();
    let counts = chunks.iter().fold(none, |counts, words| _mm256_add_epi64(counts, greater(words)));
    let counts = _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256::<1>(counts));
    let greater = _mm_cvtsi128_si64(counts) + _mm_extract_epi64::<1>(counts);
    (chunks.len() * 4).wrapping_add_signed(greater as isize)
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn next_subset(signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize> {
    let [a, b] = signature.map(|word| word as i64);
    let both = _mm256_set_epi64x(b, a, b, a);
    let (chunks, rest) = signatures.as_chunks::<8>();
    for (i, chunk) in chunks.iter().enumerate() {
        let [first, second, third, fourth] = chunk.as_flattened().as_chunks::<32>().0 else { return None };
        let (low, high) = (within(first, second, both), within(third, fourth, both));
        // One branch for all eight. (Another four looked at behind them took more than it saved.)
        if lanes(_mm256_or_si256(low, high)) != 0 {
            return Some(i * 8 + (four_lanes(low) | four_lanes(high) << 4).trailing_zeros() as usize);
        }
    }
    plain::next_subset(rest, signature).map(|i| chunks.len() * 8 + i)
}

/// Of four signatures those that lack none of the bits of two: all ones in the lanes 0, 2, 1 and 3.
#[inline]
#[target_feature(enable = "avx2")]
fn within(first: &[u8; 32], second: &[u8; 32], both: __m256i) -> __m256i {
    // The bits that are lacking, of two signatures each: put together so that each has a lane.
    let (first, second) = (_mm256_andnot_si256(both, load_bytes(first)), _mm256_andnot_si256(both, load_bytes(second)));
    let lacking = _mm256_or_si256(_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second));
    _mm256_cmpeq_epi64(lacking, _mm256_setzero_si256())
}

/// The lanes 0, 2, 1 and 3, one bit each.
#[inline]
#[target_feature(enable = "avx2")]
fn four_lanes(words: __m256i) -> u32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_permute4x64_epi64::<0b11_01_10_00>(words))) as u32
}
