//! The vector code for every x86-64 machine, which needs no detection: the tags of a hash bucket.

use crate::simd::{Lanes, TAGS_LEN};
use std::arch::x86_64::*;

/// Eight tags as a vector.
#[inline]
#[target_feature(enable = "sse2")]
fn load(tags: &[u8; 16]) -> __m128i {
    let [low, high] = [0, 8].map(|at| i64::from_le_bytes(std::array::from_fn(|i| tags[at + i])));
    _mm_set_epi64x(high, low)
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn equal_tags(tags: &[u8; TAGS_LEN], tag: u16) -> Lanes {
    let wanted = _mm_set1_epi16(tag as i16);
    let [first, second] = tags.as_chunks::<16>().0 else {
        return 0;
    };
    let equal = [first, second].map(|tags| _mm_cmpeq_epi16(load(tags), wanted));
    // Packs each two-byte lane to one byte, and each byte to a bit.
    _mm_movemask_epi8(_mm_packs_epi16(equal[0], equal[1])) as Lanes
}
