//! Scans of text: lines, hosts, odd bytes, equal bytes.

use crate::bytes::{first_and_last, first_word};
use crate::simd::avx2::vectors::{lanes, load_bytes, load_half};
use crate::simd::{DelimiterMasks, HostMasks, LineMasks, WordMasks};
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scan_lines(text: &[u8; 64]) -> LineMasks {
    let halves = text.as_chunks().0;
    let low = scan_half(&halves[0]);
    let high = scan_half(&halves[1]);
    LineMasks {
        ends: low.ends | high.ends << 32,
        odd: low.odd | high.odd << 32,
    }
}

/// Scans 32 bytes. This is not a closure for `map`, because the compiler did not always inline
/// that, and a call took a third of a sorted list's time.
#[inline]
#[target_feature(enable = "avx2")]
fn scan_half(text: &[u8; 32]) -> LineMasks {
    let bytes = load_bytes(text);
    let ends = lanes(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8)));
    LineMasks {
        ends: u64::from(ends),
        odd: u64::from(lanes(odd_bytes(bytes)) & !ends),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scan_delimiters(text: &[u8; 64]) -> DelimiterMasks {
    let halves = text.as_chunks().0;
    let low = delimiters_of_half(&halves[0]);
    let high = delimiters_of_half(&halves[1]);
    DelimiterMasks {
        ends: low.ends | high.ends << 32,
        quotes: low.quotes | high.quotes << 32,
        blanks: low.blanks | high.blanks << 32,
    }
}

/// Scans 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn delimiters_of_half(text: &[u8; 32]) -> DelimiterMasks {
    let bytes = load_bytes(text);
    let quotes = _mm256_or_si256(lanes_of(b'"', bytes), lanes_of(b'\\', bytes));
    DelimiterMasks {
        ends: lanes(lanes_of(b'\n', bytes)).into(),
        quotes: lanes(quotes).into(),
        blanks: lanes(lanes_of(b' ', bytes)).into(),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scan_words(text: &[u8; 64]) -> WordMasks {
    let halves = text.as_chunks().0;
    let low = words_of_half(&halves[0]);
    let high = words_of_half(&halves[1]);
    WordMasks {
        inside: low.inside | high.inside << 32,
        special: low.special | high.special << 32,
    }
}

/// Scans 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn words_of_half(text: &[u8; 32]) -> WordMasks {
    let bytes = load_bytes(text);
    let lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    let letters = lanes_between(b'a', b'z', lower);
    let inside = _mm256_or_si256(letters, lanes_between(b'0', b'9', bytes));
    let special = _mm256_or_si256(lanes_of(b'%', bytes), lanes_of(b'#', bytes));
    WordMasks {
        inside: lanes(inside).into(),
        special: lanes(special).into(),
    }
}

/// All ones in the lanes of the bytes from `first` to `last`.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_between(first: u8, last: u8, bytes: __m256i) -> __m256i {
    // Shifted so that the range ends at the greatest signed byte: one comparison decides.
    let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(127u8.wrapping_sub(last) as i8));
    _mm256_cmpgt_epi8(shifted, _mm256_set1_epi8((126 - (last - first)) as i8))
}

/// All ones in the lanes of a byte.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_of(byte: u8, bytes: __m256i) -> __m256i {
    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn host_bytes(window: &[u8; 32]) -> HostMasks {
    let bytes = load_bytes(window);
    let letters = lanes_between(b'a', b'z', bytes);
    let digits = lanes_between(b'0', b'9', bytes);
    // `-` and `.` are neighbours.
    let signs = _mm256_or_si256(lanes_between(b'-', b'.', bytes), lanes_of(b'_', bytes));
    HostMasks {
        host: lanes(_mm256_or_si256(_mm256_or_si256(letters, digits), signs)),
        dots: lanes(lanes_of(b'.', bytes)),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn equal_bytes(a: &[u8; 32], b: &[u8; 32]) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_bytes(a), load_bytes(b))) as u32
}

/// Short texts are read from both ends with loads that overlap: no branch per byte, and no copy.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn is_plain(text: &[u8]) -> bool {
    if let Some([first, last]) = first_and_last(text) {
        let odd = _mm256_or_si256(odd_bytes(load_bytes(first)), odd_bytes(load_bytes(last)));
        if text.len() <= 64 {
            return lanes(odd) == 0;
        }
        let chunks = text[32..].as_chunks().0.iter();
        return lanes(chunks.fold(odd, |odd, chunk| {
            _mm256_or_si256(odd, odd_bytes(load_bytes(chunk)))
        })) == 0;
    }
    let halves = if let Some([first, last]) = first_and_last(text) {
        _mm256_set_m128i(load_half(last), load_half(first))
    } else if let Some([first, last]) = first_and_last(text) {
        _mm256_broadcastsi128_si256(_mm_set_epi64x(
            i64::from_le_bytes(*last),
            i64::from_le_bytes(*first),
        ))
    } else {
        let odd = odd_bytes(_mm256_castsi128_si256(_mm_cvtsi64_si128(
            first_word(text).cast_signed(),
        )));
        // The padding with zeros counts as odd, so mask it.
        return lanes(odd) & ((1 << text.len()) - 1) == 0;
    };
    lanes(odd_bytes(halves)) == 0
}

/// All ones in the lanes of odd bytes and line ends.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_bytes(bytes: __m256i) -> __m256i {
    // Bytes from 0x80 on are negative here.
    let low = _mm256_cmpgt_epi8(_mm256_set1_epi8(b'%' as i8 + 1), bytes);
    _mm256_or_si256(low, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'*' as i8)))
}
