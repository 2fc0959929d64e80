//! Comparison of a word with a sorted array, two words at a time.

use crate::simd::neon::vectors::load_bytes;
use std::arch::aarch64::*;

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn count_not_greater(words: &[[u8; 8]], word: u64) -> usize {
    let wanted = vdupq_n_u64(word);
    let (pairs, rest) = words.as_chunks::<2>();
    let mut counts = vdupq_n_u64(0);
    for pair in pairs {
        let Some(pair) = pair.as_flattened().first_chunk() else {
            break;
        };
        // A lane with a word that is not greater becomes -1.
        let lanes = vcleq_u64(vreinterpretq_u64_u8(load_bytes(pair)), wanted);
        counts = vsubq_u64(counts, lanes);
    }
    let rest = rest
        .first()
        .is_some_and(|other| u64::from_le_bytes(*other) <= word);
    vaddvq_u64(counts) as usize + usize::from(rest)
}
