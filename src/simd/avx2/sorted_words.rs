//! Comparison of a word with a sorted array, four words at a time.

use crate::simd::avx2::vectors::load_bytes;
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn count_not_greater(words: &[[u8; 8]], word: u64) -> usize {
    // AVX2 compares only signed numbers. Flipping the highest bits gives the unsigned order.
    let sign = _mm256_set1_epi64x(i64::MIN);
    let wanted = _mm256_xor_si256(_mm256_set1_epi64x(word as i64), sign);
    // A lane with a greater word becomes -1.
    let greater =
        |words: &[u8; 32]| _mm256_cmpgt_epi64(_mm256_xor_si256(load_bytes(words), sign), wanted);
    let Some(last) = words.as_flattened().last_chunk() else {
        return words
            .iter()
            .map(|other| usize::from(u64::from_le_bytes(*other) <= word))
            .sum();
    };
    // The words are sorted: if one of the last four is not greater, no earlier word is.
    let lanes = _mm256_movemask_pd(_mm256_castsi256_pd(greater(last))) as u32;
    if lanes != 0b1111 {
        return words.len() - lanes.count_ones() as usize;
    }
    // All of the last four are greater, so count in whole vectors; the words after them are
    // greater.
    let chunks = words.as_flattened().as_chunks().0;
    let none = _mm256_setzero_si256();
    let counts = chunks.iter().fold(none, |counts, words| {
        _mm256_add_epi64(counts, greater(words))
    });
    let counts = _mm_add_epi64(
        _mm256_castsi256_si128(counts),
        _mm256_extracti128_si256::<1>(counts),
    );
    let greater = _mm_cvtsi128_si64(counts) + _mm_extract_epi64::<1>(counts);
    (chunks.len() * 4).wrapping_add_signed(greater as isize)
}
