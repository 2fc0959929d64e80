//! Vectors of 16 bytes: loading texts, and operations that several steps share.
//!
//! Unlike x86, NEON has no instruction that packs the lanes of a comparison into bits. Here each
//! lane keeps one bit, and pairwise additions gather eight lanes in one byte, as in simdjson. The
//! additions serve up to 128 lanes at once, so callers pack as many masks together as they have.

use crate::bytes::{first_and_last, first_words};
use crate::simd::Nibbles;
use std::arch::aarch64::*;

/// 16 bytes as a vector.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: reads 16 bytes from a reference to 16 bytes; the instruction needs no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        vld1q_u8(bytes.as_ptr())
    }
}

/// The numbers of the lanes.
pub(super) const INDICES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The last `count` bytes of a text, which are at most 16, followed by zeros. A text of fewer than
/// 16 bytes is loaded as a whole.
///
/// Whole vectors and this cover a text of any length, without a loop over bytes, and without a copy
/// to a buffer: a load after such a copy waits for all of its stores (no store forwarding).
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load_rest(text: &[u8], count: usize) -> uint8x16_t {
    if let Some([_, last]) = first_and_last(text) {
        // Moves the rest to the front. A look-up of an index past the table gives zero.
        let skipped = vdupq_n_u8(16 - count.min(16) as u8);
        return vqtbl1q_u8(load_bytes(last), vaddq_u8(load_bytes(&INDICES), skipped));
    }
    let [low, high] = first_words(text);
    vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)))
}

/// Moves each byte down by one, with a zero at the end.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn successors(bytes: uint8x16_t) -> uint8x16_t {
    vextq_u8::<1>(bytes, vdupq_n_u8(0))
}

/// The bits of 64 lanes, each of which is all ones or zero: bit `16 * v + i` for lane `i` of
/// vector `v`.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn bits_of_64(lanes: [uint8x16_t; 4]) -> u64 {
    let sums = sum_fours(lanes);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// The bits of twice 64 lanes, for one addition less than [`bits_of_64`] of each.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn bits_of_128(low: [uint8x16_t; 4], high: [uint8x16_t; 4]) -> [u64; 2] {
    let bits = vreinterpretq_u64_u8(vpaddq_u8(sum_fours(low), sum_fours(high)));
    [vgetq_lane_u64::<0>(bits), vgetq_lane_u64::<1>(bits)]
}

/// One byte per four lanes: the sum of their bits, which have the weights 1 to 8 or 16 to 128.
#[inline]
#[target_feature(enable = "neon")]
fn sum_fours([a, b, c, d]: [uint8x16_t; 4]) -> uint8x16_t {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let weights = load_bytes(&WEIGHTS);
    let ab = vpaddq_u8(vandq_u8(a, weights), vandq_u8(b, weights));
    let cd = vpaddq_u8(vandq_u8(c, weights), vandq_u8(d, weights));
    vpaddq_u8(ab, cd)
}

/// The bitwise or of all bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn or_bytes(bytes: uint8x16_t) -> u8 {
    let words = vreinterpretq_u64_u8(bytes);
    let word = vgetq_lane_u64::<0>(words) | vgetq_lane_u64::<1>(words);
    let word = (word | word >> 32) as u32;
    let word = (word | word >> 16) as u16;
    (word | word >> 8) as u8
}

/// Adds the slashes of a vector to one counter per lane, each of which stays at 255. So no chunk of
/// a text has to add up its lanes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn count_slashes(counters: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
    let slashes = vceqq_u8(bytes, vdupq_n_u8(b'/'));
    vqaddq_u8(counters, vandq_u8(slashes, vdupq_n_u8(1)))
}

/// The sum of [counters](count_slashes), at most 255.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn sum_slashes(counters: uint8x16_t) -> u8 {
    vaddlvq_u8(counters).min(255) as u8
}

/// Looks up the low and the high halves of 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn look_up(table: &Nibbles, bytes: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
    let low = vandq_u8(bytes, vdupq_n_u8(15));
    let high = vshrq_n_u8::<4>(bytes);
    (
        vqtbl1q_u8(load_bytes(&table.low), low),
        vqtbl1q_u8(load_bytes(&table.high), high),
    )
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn kinds_of(bytes: uint8x16_t, kinds: &Nibbles) -> uint8x16_t {
    let (low, high) = look_up(kinds, bytes);
    vandq_u8(low, high)
}
