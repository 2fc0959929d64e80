//! Bloom signatures: the pairs and characters of a text, and the search for subsets.

use crate::simd::avx2::vectors::{
    kinds_of, lanes, load_bytes, load_last, look_up, or_bytes, slash_lanes, store_bytes, successors,
};
use crate::simd::{Characters, Nibbles, PairTables, scalar};
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
    // One byte per number, and as many again that are ignored, so that any byte is a valid index.
    // Setting a flag takes two instructions; combining vectors of bits took twice as many.
    let mut flags = [0; 256];
    let mut numbers = [0; 32];
    let mut rest = text;
    while let (Some(bytes), Some(next)) = (
        rest.first_chunk(),
        rest.get(1..).and_then(|next| next.first_chunk()),
    ) {
        store_bytes(
            &mut numbers,
            pair_numbers(load_bytes(bytes), load_bytes(next), tables),
        );
        numbers
            .as_chunks::<8>()
            .0
            .iter()
            .for_each(|numbers| set(&mut flags, numbers));
        rest = &rest[32..];
    }
    // The rest, in the last 32 bytes of the text. The last byte begins no pair, and earlier pairs
    // are set already. Both go to the ignored flags, so that the loop has a fixed length.
    let (bytes, before) = load_last(text, rest.len());
    let end = before as i8 + rest.len() as i8 - 1;
    let indices = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31,
    );
    let is_new = _mm256_cmpgt_epi8(indices, _mm256_set1_epi8(before as i8 - 1));
    let is_pair = _mm256_cmpgt_epi8(_mm256_set1_epi8(end), indices);
    let ignored = _mm256_andnot_si256(_mm256_and_si256(is_new, is_pair), _mm256_set1_epi8(i8::MIN));
    store_bytes(
        &mut numbers,
        _mm256_or_si256(pair_numbers(bytes, successors(bytes), tables), ignored),
    );
    numbers
        .as_chunks::<8>()
        .0
        .iter()
        .for_each(|numbers| set(&mut flags, numbers));
    flag_bits(&flags)
}

/// The numbers of 32 pairs.
#[inline]
#[target_feature(enable = "avx2")]
fn pair_numbers(first: __m256i, second: __m256i, tables: &PairTables) -> __m256i {
    let (low, high) = look_up(&tables.first, first);
    let (next_low, next_high) = look_up(&tables.second, second);
    let values = _mm256_xor_si256(
        _mm256_xor_si256(low, high),
        _mm256_xor_si256(next_low, next_high),
    );
    _mm256_and_si256(values, _mm256_set1_epi8(127))
}

#[inline]
fn set(flags: &mut [u8; 256], numbers: &[u8]) {
    numbers
        .iter()
        .for_each(|number| flags[usize::from(*number)] = 0xff);
}

/// The first 128 flags as bits.
#[inline]
#[target_feature(enable = "avx2")]
fn flag_bits(flags: &[u8; 256]) -> [u64; 2] {
    let mut bits = [0; 4];
    for (bits, flags) in bits.iter_mut().zip(flags.as_chunks::<32>().0) {
        *bits = u64::from(_mm256_movemask_epi8(load_bytes(flags)) as u32);
    }
    [bits[0] | bits[1] << 32, bits[2] | bits[3] << 32]
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn characters(text: &[u8], kinds: &Nibbles) -> Characters {
    let (chunks, rest) = text.as_chunks::<32>();
    let mut all = _mm256_setzero_si256();
    let mut slashes = 0;
    for chunk in chunks {
        let bytes = load_bytes(chunk);
        all = _mm256_or_si256(all, kinds_of(bytes, kinds));
        slashes += slash_lanes(bytes).count_ones();
    }
    // The last 32 bytes overlap the chunks, so slashes that were counted are shifted out.
    let (bytes, before) = load_last(text, rest.len());
    all = _mm256_or_si256(all, kinds_of(bytes, kinds));
    slashes += (u64::from(slash_lanes(bytes)) >> before).count_ones();
    Characters {
        kinds: or_bytes(all),
        slashes: slashes.min(255) as u8,
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn next_subset(signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize> {
    let [a, b] = signature.map(|word| word as i64);
    let both = _mm256_set_epi64x(b, a, b, a);
    let (chunks, rest) = signatures.as_chunks::<8>();
    for (i, chunk) in chunks.iter().enumerate() {
        let [first, second, third, fourth] = chunk.as_flattened().as_chunks::<32>().0 else {
            return None;
        };
        let low = within(first, second, both);
        let high = within(third, fourth, both);
        // One branch for eight signatures; with twelve it was slower.
        if lanes(_mm256_or_si256(low, high)) != 0 {
            return Some(
                i * 8 + (four_lanes(low) | four_lanes(high) << 4).trailing_zeros() as usize,
            );
        }
    }
    scalar::next_subset(rest, signature).map(|i| chunks.len() * 8 + i)
}

/// Compares four signatures with `both`, twice the same signature: all ones in the lanes of
/// subsets, in the order 0, 2, 1, 3.
#[inline]
#[target_feature(enable = "avx2")]
fn within(first: &[u8; 32], second: &[u8; 32], both: __m256i) -> __m256i {
    // The bits that `both` lacks, for two signatures each; then one lane per signature.
    let first = _mm256_andnot_si256(both, load_bytes(first));
    let second = _mm256_andnot_si256(both, load_bytes(second));
    let lacking = _mm256_or_si256(
        _mm256_unpacklo_epi64(first, second),
        _mm256_unpackhi_epi64(first, second),
    );
    _mm256_cmpeq_epi64(lacking, _mm256_setzero_si256())
}

/// One bit per lane, of lanes in the order 0, 2, 1, 3.
#[inline]
#[target_feature(enable = "avx2")]
fn four_lanes(words: __m256i) -> u32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(
        _mm256_permute4x64_epi64::<0b11_01_10_00>(words),
    )) as u32
}
