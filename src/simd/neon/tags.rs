//! The tags of a hash bucket.

use crate::simd::neon::vectors::{bits_of_64, load_bytes};
use crate::simd::{Lanes, TAGS_LEN};
use std::arch::aarch64::*;

#[inline]
#[target_feature(enable = "neon")]
pub(in crate::simd) fn equal_tags(tags: &[u8; TAGS_LEN], tag: u16) -> Lanes {
    let halves = tags.as_chunks().0;
    let first = compare(&halves[0], tag);
    let second = compare(&halves[1], tag);
    // One byte per tag.
    let lanes = vuzp1q_u8(first, second);
    (bits_of_64([lanes; 4]) & 0xffff) as Lanes
}

/// All ones in the lanes of the tags that are equal to `tag`.
#[inline]
#[target_feature(enable = "neon")]
fn compare(tags: &[u8; 16], tag: u16) -> uint8x16_t {
    let tags = vreinterpretq_u16_u8(load_bytes(tags));
    vreinterpretq_u8_u16(vceqq_u16(tags, vdupq_n_u16(tag)))
}
