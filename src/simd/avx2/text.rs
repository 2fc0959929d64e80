//! Looks at texts as they are: lines, hosts, odd bytes, places of a needle.

use super::vectors::{lanes, load_bytes, load_half, load_last, successors};
use crate::simd::{HostLook, LinesLook};
use crate::words::{ends, first_word};
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn look_at_lines(text: &[u8; 64]) -> LinesLook {
    let halves = text.as_chunks().0;
    let (low, high) = (look_at_half(&halves[0]), look_at_half(&halves[1]));
    LinesLook { ends: low.ends | high.ends << 32, odd: low.odd | high.odd << 32 }
}

/// Looks at 32 bytes. (Not a closure given to `map`: whether that became part of its callers was left to luck, and calling it took a third of
/// a sorted list's time.)
#[inline]
#[target_feature(enable = "avx2")]
fn look_at_half(text: &[u8; 32]) -> LinesLook {
    let bytes = load_bytes(text);
    let ends = lanes(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8)));
    LinesLook { ends: u64::from(ends), odd: u64::from(lanes(odd_bytes(bytes)) & !ends) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn look_at_host(window: &[u8; 32]) -> Option<HostLook> {
    let bytes = load_bytes(window);
    let from_to = |first: u8, last: u8| {
        // Shifted so that the range ends at the greatest signed byte, one comparison tells it.
        let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(127u8.wrapping_sub(last) as i8));
        _mm256_cmpgt_epi8(shifted, _mm256_set1_epi8((126 - (last - first)) as i8))
    };
    let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
    let letters = _mm256_or_si256(from_to(b'a', b'z'), from_to(b'0', b'9'));
    // `-` and `.` are neighbours.
    let signs = _mm256_or_si256(from_to(b'-', b'.'), is(b'_'));
    let plain = _mm256_movemask_epi8(_mm256_or_si256(letters, signs)) as u32;
    if plain == u32::MAX {
        return None;
    }
    let len = plain.trailing_ones();
    let dots = _mm256_movemask_epi8(is(b'.')) as u32 & ((1 << len) - 1);
    Some(HostLook { len: len as usize, label: (32 - dots.leading_zeros()) as usize })
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn equal_bytes(a: &[u8; 32], b: &[u8; 32]) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_bytes(a), load_bytes(b))) as u32
}

/// Short texts are read from both ends, by parts that overlap: no branch for each byte, and none of it has to be moved.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn is_plain(text: &[u8]) -> bool {
    if let Some([first, last]) = ends(text) {
        let odd = _mm256_or_si256(odd_bytes(load_bytes(first)), odd_bytes(load_bytes(last)));
        if text.len() <= 64 {
            return lanes(odd) == 0;
        }
        let chunks = text[32..].as_chunks().0.iter();
        return lanes(chunks.fold(odd, |odd, chunk| _mm256_or_si256(odd, odd_bytes(load_bytes(chunk))))) == 0;
    }
    let halves = if let Some([first, last]) = ends(text) {
        _mm256_set_m128i(load_half(last), load_half(first))
    } else if let Some([first, last]) = ends(text) {
        _mm256_broadcastsi128_si256(_mm_set_epi64x(i64::from_le_bytes(*last), i64::from_le_bytes(*first)))
    } else {
        let odd = odd_bytes(_mm256_castsi128_si256(_mm_cvtsi64_si128(first_word(text).cast_signed())));
        // The zeros behind the text are none of it.
        return lanes(odd) & ((1 << text.len()) - 1) == 0;
    };
    lanes(odd_bytes(halves)) == 0
}

/// The odd bytes of 32.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_bytes(bytes: __m256i) -> __m256i {
    // Bytes from 0x80 on are negative here.
    let low = _mm256_cmpgt_epi8(_mm256_set1_epi8(b'%' as i8 + 1), bytes);
    _mm256_or_si256(low, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'*' as i8)))
}

/// Looks for the first two bytes of the needle at 32 places at once.
#[inline]
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let &[first, second, ..] = needle else {
        return needle.first().map_or(Some(0), |byte| find_byte(text, *byte));
    };
    let (first, second) = (_mm256_set1_epi8(first as i8), _mm256_set1_epi8(second as i8));
    let places = |bytes, next| {
        let both = _mm256_and_si256(_mm256_cmpeq_epi8(bytes, first), _mm256_cmpeq_epi8(next, second));
        _mm256_movemask_epi8(both) as u32
    };
    let mut rest = text;
    while let (Some(bytes), Some(next)) = (rest.first_chunk(), rest.get(1..).and_then(|next| next.first_chunk())) {
        if let Some(at) = first_of(places(load_bytes(bytes), load_bytes(next)), rest, needle) {
            return Some(text.len() - rest.len() + at);
        }
        rest = &rest[32..];
    }
    let (bytes, before) = load_last(text, rest.len());
    let at = first_of((u64::from(places(bytes, successors(bytes))) >> before) as u32, rest, needle)?;
    Some(text.len() - rest.len() + at)
}

/// The first of these places where the needle stands.
#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn first_of(mut places: u32, text: &[u8], needle: &[u8]) -> Option<usize> {
    while places != 0 {
        let at = places.trailing_zeros() as usize;
        // Behind the text stand zeros, which the needle may have.
        if needle.len() == 2 && at + 2 <= text.len() || text.get(at..).is_some_and(|text| text.starts_with(needle)) {
            return Some(at);
        }
        places &= places - 1;
    }
    None
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn find_byte(text: &[u8], byte: u8) -> Option<usize> {
    let wanted = _mm256_set1_epi8(byte as i8);
    let places = |bytes| _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted)) as u32;
    let (chunks, rest) = text.as_chunks();
    for (i, chunk) in chunks.iter().enumerate() {
        let found = places(load_bytes(chunk));
        if found != 0 {
            return Some(i * 32 + found.trailing_zeros() as usize);
        }
    }
    let (bytes, before) = load_last(text, rest.len());
    // The zeros behind a short text are none of it.
    let found = u64::from(places(bytes)) >> before & ((1 << rest.len()) - 1);
    (found != 0).then(|| chunks.len() * 32 + found.trailing_zeros() as usize)
}
