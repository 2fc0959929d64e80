//! Scans of text: lines, hosts, odd bytes, equal bytes.

use crate::bytes::{first_and_last, first_word};
use crate::simd::neon::vectors::{bits_of_64, bits_of_128, load_bytes, look_up};
use crate::simd::{DelimiterMasks, HostMasks, LineMasks, Nibbles, WordMasks};
use std::arch::aarch64::*;

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn scan_lines(text: &[u8; 64]) -> LineMasks {
    let newline = vdupq_n_u8(b'\n');
    let mut ends = [vdupq_n_u8(0); 4];
    let mut odd = ends;
    for ((chunk, ends), odd) in text.as_chunks().0.iter().zip(&mut ends).zip(&mut odd) {
        let bytes = load_bytes(chunk);
        *ends = vceqq_u8(bytes, newline);
        *odd = odd_bytes(bytes);
    }
    let [ends, odd] = bits_of_128(ends, odd);
    LineMasks {
        ends,
        odd: odd & !ends,
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn scan_delimiters(text: &[u8; 64]) -> DelimiterMasks {
    let mut ends = [vdupq_n_u8(0); 4];
    let mut quotes = ends;
    let mut blanks = ends;
    for (i, chunk) in text.as_chunks().0.iter().take(4).enumerate() {
        let bytes = load_bytes(chunk);
        let quote = vceqq_u8(bytes, vdupq_n_u8(b'"'));
        let backslash = vceqq_u8(bytes, vdupq_n_u8(b'\\'));
        ends[i] = vceqq_u8(bytes, vdupq_n_u8(b'\n'));
        quotes[i] = vorrq_u8(quote, backslash);
        blanks[i] = vceqq_u8(bytes, vdupq_n_u8(b' '));
    }
    let [quotes, blanks] = bits_of_128(quotes, blanks);
    DelimiterMasks {
        ends: bits_of_64(ends),
        quotes,
        blanks,
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn scan_words(text: &[u8; 64]) -> WordMasks {
    let mut inside = [vdupq_n_u8(0); 4];
    let mut special = inside;
    for ((chunk, inside), special) in text.as_chunks().0.iter().zip(&mut inside).zip(&mut special) {
        let bytes = load_bytes(chunk);
        let lower = vorrq_u8(bytes, vdupq_n_u8(0x20));
        let letters = vcltq_u8(vsubq_u8(lower, vdupq_n_u8(b'a')), vdupq_n_u8(26));
        let digits = vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(b'0')), vdupq_n_u8(10));
        let escape = vceqq_u8(bytes, vdupq_n_u8(b'%'));
        *inside = vorrq_u8(letters, digits);
        *special = vorrq_u8(escape, vceqq_u8(bytes, vdupq_n_u8(b'#')));
    }
    let [inside, special] = bits_of_128(inside, special);
    WordMasks { inside, special }
}

/// The bytes of host names, with one bit for each high half: bytes whose halves share a bit.
const HOST_BYTES: Nibbles = {
    let mut table = Nibbles {
        low: [0; 16],
        high: [0; 16],
    };
    let mut byte = 0u8;
    while byte < 0x80 {
        let is_sign = matches!(byte, b'-' | b'.' | b'_');
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || is_sign {
            let high = byte >> 4;
            table.low[(byte & 15) as usize] |= 1 << high;
            table.high[high as usize] |= 1 << high;
        }
        byte += 1;
    }
    table
};

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn host_bytes(window: &[u8; 32]) -> HostMasks {
    let [first, second] = load_pair(window);
    let dot = vdupq_n_u8(b'.');
    let bits = bits_of_64([
        host_lanes(first),
        host_lanes(second),
        vceqq_u8(first, dot),
        vceqq_u8(second, dot),
    ]);
    HostMasks {
        host: bits as u32,
        dots: (bits >> 32) as u32,
    }
}

/// All ones in the lanes of bytes that are part of a host name.
#[inline]
#[target_feature(enable = "neon")]
fn host_lanes(bytes: uint8x16_t) -> uint8x16_t {
    let (low, high) = look_up(&HOST_BYTES, bytes);
    vtstq_u8(low, high)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn equal_bytes(a: &[u8; 32], b: &[u8; 32]) -> u32 {
    let ([a, c], [b, d]) = (load_pair(a), load_pair(b));
    let (first, second) = (vceqq_u8(a, b), vceqq_u8(c, d));
    bits_of_64([first, second, first, second]) as u32
}

/// 32 bytes as two vectors.
#[inline]
#[target_feature(enable = "neon")]
fn load_pair(bytes: &[u8; 32]) -> [uint8x16_t; 2] {
    let halves = bytes.as_chunks().0;
    [load_bytes(&halves[0]), load_bytes(&halves[1])]
}

/// Short texts are read from both ends with loads that overlap: no branch per byte, and no copy.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn is_plain(text: &[u8]) -> bool {
    if let Some([first, last]) = first_and_last(text) {
        let mut odd = vorrq_u8(odd_bytes(load_bytes(first)), odd_bytes(load_bytes(last)));
        // Most paths have at most 32 bytes.
        if text.len() > 32 {
            for chunk in text[16..].as_chunks().0 {
                odd = vorrq_u8(odd, odd_bytes(load_bytes(chunk)));
            }
        }
        return vmaxvq_u8(odd) == 0;
    }
    if let Some([first, last]) = first_and_last(text) {
        let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
        let both = vcombine_u64(vcreate_u64(first), vcreate_u64(last));
        return vmaxvq_u8(odd_bytes(vreinterpretq_u8_u64(both))) == 0;
    }
    let word = vreinterpretq_u8_u64(vdupq_n_u64(first_word(text)));
    let odd = vgetq_lane_u64::<0>(vreinterpretq_u64_u8(odd_bytes(word)));
    // The padding with zeros counts as odd, so mask it.
    odd & ((1 << (8 * text.len())) - 1) == 0
}

/// All ones in the lanes of odd bytes and line ends.
#[inline]
#[target_feature(enable = "neon")]
fn odd_bytes(bytes: uint8x16_t) -> uint8x16_t {
    // As signed numbers, bytes from 0x80 on are negative, so one comparison covers them too.
    let low = vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(b'%' as i8 + 1));
    vorrq_u8(low, vceqq_u8(bytes, vdupq_n_u8(b'*')))
}
