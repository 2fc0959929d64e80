//! Vectors of 32 bytes: loading texts, and operations that several steps share.

use crate::bytes::{first_and_last, first_words};
use crate::simd::Nibbles;
use std::arch::x86_64::*;

/// 32 bytes as a vector.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: reads 32 bytes from a reference to 32 bytes; the instruction needs no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm256_loadu_si256(bytes.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: reads 16 bytes from a reference to 16 bytes; the instruction needs no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm_loadu_si128(bytes.as_ptr().cast())
    }
}

/// A text of fewer than 32 bytes as a vector, padded with zeros.
///
/// A copy to a 32-byte buffer stalls the load until all stores are done (no store forwarding),
/// which took a tenth of the time of matching.
#[inline]
#[target_feature(enable = "avx2")]
fn load_short(text: &[u8]) -> __m256i {
    /// Shuffles that move bytes down: 16 entries from `n` on move by `n` bytes and fill up with
    /// zeros.
    const MOVES: [u8; 32] = {
        let mut moves = [0x80; 32];
        let mut i = 0;
        while i < 16 {
            moves[i] = i as u8;
            i += 1;
        }
        moves
    };
    // Two loads that overlap; the second is moved down by the overlap.
    let len = text.len().min(31);
    if let Some([head, tail]) = first_and_last(text) {
        let moves = MOVES[32 - len.max(16)..].first_chunk().unwrap_or(&[0; 16]);
        return _mm256_set_m128i(
            _mm_shuffle_epi8(load_half(tail), load_half(moves)),
            load_half(head),
        );
    }
    let [low, high] = first_words(text);
    _mm256_zextsi128_si256(_mm_set_epi64x(high.cast_signed(), low.cast_signed()))
}

/// The last 32 bytes of a text, or a shorter text padded with zeros. Also the number of these bytes
/// that precede the last `count` of the text.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_last(text: &[u8], count: usize) -> (__m256i, u32) {
    match first_and_last(text) {
        Some([_, last]) => (load_bytes(last), 32 - count.min(32) as u32),
        None => (load_short(text), 0),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_bytes(bytes: &mut [u8; 32], vector: __m256i) {
    // SAFETY: writes 32 bytes to a reference to 32 bytes; the instruction needs no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector);
    }
}

/// Moves each byte down by one, with a zero at the end.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn successors(bytes: __m256i) -> __m256i {
    let second_half = _mm256_permute2x128_si256::<0x81>(bytes, bytes);
    _mm256_alignr_epi8::<1>(second_half, bytes)
}

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn lanes(bytes: __m256i) -> u32 {
    _mm256_movemask_epi8(bytes) as u32
}

/// The bitwise or of all bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn or_bytes(bytes: __m256i) -> u8 {
    let half = _mm_or_si128(
        _mm256_castsi256_si128(bytes),
        _mm256_extracti128_si256::<1>(bytes),
    );
    let word = (_mm_cvtsi128_si64(half) | _mm_extract_epi64::<1>(half)) as u64;
    let word = (word | word >> 32) as u32;
    let word = (word | word >> 16) as u16;
    (word | word >> 8) as u8
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn slash_lanes(bytes: __m256i) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'/' as i8))) as u32
}

/// A 16-byte table in both 128-bit lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn load_table(table: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load_half(table))
}

/// Looks up the low and the high halves of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn look_up(table: &Nibbles, bytes: __m256i) -> (__m256i, __m256i) {
    let low_half = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(load_table(&table.low), _mm256_and_si256(bytes, low_half));
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low_half);
    (low, _mm256_shuffle_epi8(load_table(&table.high), high))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn kinds_of(bytes: __m256i, kinds: &Nibbles) -> __m256i {
    let (low, high) = look_up(kinds, bytes);
    _mm256_and_si256(low, high)
}
