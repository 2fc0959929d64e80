//! Bloom signatures: the pairs and characters of a text, and the search for subsets.

use crate::simd::neon::vectors::{
    INDICES, bits_of_128, count_slashes, kinds_of, load_bytes, load_rest, look_up, or_bytes,
    successors, sum_slashes,
};
use crate::simd::{Characters, Nibbles, PairTables, scalar};
use std::arch::aarch64::*;

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
    // One byte per number, and as many again that are ignored, so that any byte is a valid index.
    let mut flags = [0; 256];
    let mut rest = text;
    while let (Some(bytes), Some(next)) = (
        rest.first_chunk(),
        rest.get(1..).and_then(|next| next.first_chunk()),
    ) {
        set(
            &mut flags,
            pair_numbers(load_bytes(bytes), load_bytes(next), tables),
        );
        rest = &rest[16..];
    }
    // The rest. Its last byte begins no pair: this lane and those after it go to the ignored flags,
    // so that the loop has a fixed length.
    let bytes = load_rest(text, rest.len());
    let pairs = vdupq_n_u8(rest.len().saturating_sub(1) as u8);
    let is_ignored = vcgeq_u8(load_bytes(&INDICES), pairs);
    let ignored = vandq_u8(is_ignored, vdupq_n_u8(0x80));
    let numbers = pair_numbers(bytes, successors(bytes), tables);
    set(&mut flags, vorrq_u8(numbers, ignored));
    flag_bits(&flags)
}

/// The numbers of 16 pairs.
#[inline]
#[target_feature(enable = "neon")]
fn pair_numbers(first: uint8x16_t, second: uint8x16_t, tables: &PairTables) -> uint8x16_t {
    let (low, high) = look_up(&tables.first, first);
    let (next_low, next_high) = look_up(&tables.second, second);
    let values = veorq_u8(veorq_u8(low, high), veorq_u8(next_low, next_high));
    vandq_u8(values, vdupq_n_u8(127))
}

/// Sets the flags of 16 numbers.
#[inline]
#[target_feature(enable = "neon")]
fn set(flags: &mut [u8; 256], numbers: uint8x16_t) {
    let words = vreinterpretq_u64_u8(numbers);
    for word in [vgetq_lane_u64::<0>(words), vgetq_lane_u64::<1>(words)] {
        for number in word.to_le_bytes() {
            flags[usize::from(number)] = 0xff;
        }
    }
}

/// The first 128 flags as bits.
#[inline]
#[target_feature(enable = "neon")]
fn flag_bits(flags: &[u8; 256]) -> [u64; 2] {
    let mut vectors = [vdupq_n_u8(0); 8];
    for (vector, flags) in vectors.iter_mut().zip(flags.as_chunks().0) {
        *vector = load_bytes(flags);
    }
    let [a, b, c, d, e, f, g, h] = vectors;
    bits_of_128([a, b, c, d], [e, f, g, h])
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn characters(text: &[u8], kinds: &Nibbles) -> Characters {
    let (chunks, rest) = text.as_chunks();
    let mut all = vdupq_n_u8(0);
    let mut slashes = vdupq_n_u8(0);
    for chunk in chunks {
        let bytes = load_bytes(chunk);
        all = vorrq_u8(all, kinds_of(bytes, kinds));
        slashes = count_slashes(slashes, bytes);
    }
    // The zeros after the rest have no kind.
    let bytes = load_rest(text, rest.len());
    Characters {
        kinds: or_bytes(vorrq_u8(all, kinds_of(bytes, kinds))),
        slashes: sum_slashes(count_slashes(slashes, bytes)),
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn next_subset(signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize> {
    let [low, high] = signature;
    let wanted = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
    let (chunks, rest) = signatures.as_chunks::<8>();
    for (i, chunk) in chunks.iter().enumerate() {
        let [first, second] = chunk.as_chunks::<4>().0 else {
            return None;
        };
        // Two bytes per signature, then one: all ones if it lacks no bit.
        let lacking = vcombine_u16(lacking(first, wanted), lacking(second, wanted));
        let subsets = vmovn_u16(vceqzq_u16(lacking));
        let subsets = vget_lane_u64::<0>(vreinterpret_u64_u8(subsets));
        // One branch for eight signatures.
        if subsets != 0 {
            return Some(i * 8 + subsets.trailing_zeros() as usize / 8);
        }
    }
    scalar::next_subset(rest, signature).map(|i| chunks.len() * 8 + i)
}

/// One lane for each of four signatures: not zero if it has a bit that `wanted` lacks.
#[inline]
#[target_feature(enable = "neon")]
fn lacking([a, b, c, d]: &[[u8; 16]; 4], wanted: uint8x16_t) -> uint16x4_t {
    // The greatest of four words of a signature is zero only if all of them are.
    let ab = vpmaxq_u32(extra_bits(a, wanted), extra_bits(b, wanted));
    let cd = vpmaxq_u32(extra_bits(c, wanted), extra_bits(d, wanted));
    // Saturates, so that no high bit is lost.
    vqmovn_u32(vpmaxq_u32(ab, cd))
}

/// The bits of a signature that `wanted` lacks.
#[inline]
#[target_feature(enable = "neon")]
fn extra_bits(signature: &[u8; 16], wanted: uint8x16_t) -> uint32x4_t {
    vreinterpretq_u32_u8(vbicq_u8(load_bytes(signature), wanted))
}
