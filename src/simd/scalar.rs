//! The scalar versions of all steps: the specification of the vector code, and the code for
//! machines without it. See [`Backend`] for the contracts.
//!
//! They are not inlined: on machines with vector instructions the callers hardly ever need them,
//! and they would only take up registers.

use crate::simd::backend::for_each_step;
use crate::simd::{
    Backend, BucketMatches, Characters, DelimiterMasks, Fingerprints, HostMasks, Kernel, LineMasks,
    Nibbles, PairTables, WordMasks,
};

/// The backend of every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

/// Implements each step by the function of the same name.
macro_rules! implement {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for Scalar {
            #[inline]
            fn run<K: Kernel>(self, kernel: K) -> K::Output {
                kernel.run(self)
            }

            $(
                #[inline]
                fn $name(self, $($argument: $type),*) -> $output {
                    $name($($argument),*)
                }
            )*
        }
    };
}

for_each_step!(implement);

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(never)]
pub(super) fn equal_tags(tags: &[u8; crate::simd::TAGS_LEN], tag: u16) -> crate::simd::Lanes {
    let tags = tags.as_chunks::<2>().0.iter().enumerate();
    tags.fold(0, |lanes, (lane, other)| {
        lanes | u32::from(*other == tag.to_le_bytes()) << lane
    })
}

#[inline(never)]
pub(super) fn equal_bytes(a: &[u8; 32], b: &[u8; 32]) -> u32 {
    pack::<32>(|at| a[at] == b[at]) as u32
}

/// Up to 64 flags as bits: bit `i` is flag `i`.
///
/// The flags are computed as bytes, which the compiler vectorises, and then eight are packed at
/// once: the multiplication moves the lowest bit of each byte to its position in the highest byte.
/// Bit by bit, scanning a sorted list took 2.7 times as long.
#[inline(always)]
fn pack<const LEN: usize>(flag: impl Fn(usize) -> bool) -> u64 {
    let mut flags = [0; LEN];
    for (at, byte) in flags.iter_mut().enumerate() {
        *byte = u8::from(flag(at));
    }
    flags.as_chunks().0.iter().rev().fold(0, |bits, eight| {
        bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[inline(never)]
pub(super) fn is_plain(text: &[u8]) -> bool {
    // Without an early exit, so that the compiler vectorises the loop.
    !text.iter().fold(false, |any, b| any | is_odd(*b))
}

/// Whether a byte is [odd](LineMasks::odd) or a line end.
#[inline]
fn is_odd(byte: u8) -> bool {
    byte <= b'%' || byte == b'*' || byte >= 0x80
}

#[inline(never)]
pub(super) fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
    let mut bits = [0; 2];
    for pair in text.windows(2) {
        let ((a, b), (c, d)) = (tables.first.of(pair[0]), tables.second.of(pair[1]));
        let bit = (a ^ b ^ c ^ d) & 127;
        bits[usize::from(bit >> 6)] |= 1u64 << (bit & 63);
    }
    bits
}

#[inline(never)]
pub(super) fn characters(text: &[u8], kinds: &Nibbles) -> Characters {
    text.iter().fold(Characters::default(), |found, &byte| {
        let (low, high) = kinds.of(byte);
        let slashes = found.slashes.saturating_add(u8::from(byte == b'/'));
        Characters {
            kinds: found.kinds | low & high,
            slashes,
        }
    })
}

#[inline(never)]
pub(super) fn scan_lines(text: &[u8; 64]) -> LineMasks {
    let ends = pack::<64>(|at| text[at] == b'\n');
    LineMasks {
        ends,
        odd: pack::<64>(|at| is_odd(text[at])) & !ends,
    }
}

#[inline(never)]
pub(super) fn scan_delimiters(text: &[u8; 64]) -> DelimiterMasks {
    DelimiterMasks {
        ends: pack::<64>(|at| text[at] == b'\n'),
        quotes: pack::<64>(|at| matches!(text[at], b'"' | b'\\')),
        blanks: pack::<64>(|at| text[at] == b' '),
    }
}

#[inline(never)]
pub(super) fn scan_words(text: &[u8; 64]) -> WordMasks {
    WordMasks {
        inside: pack::<64>(|at| text[at].is_ascii_alphabetic() | text[at].is_ascii_digit()),
        special: pack::<64>(|at| (text[at] == b'%') | (text[at] == b'#')),
    }
}

#[inline(never)]
pub(super) fn host_bytes(window: &[u8; 32]) -> HostMasks {
    let is_host = |b: u8| {
        b.is_ascii_lowercase() | b.is_ascii_digit() | (b == b'.') | (b == b'-') | (b == b'_')
    };
    HostMasks {
        host: pack::<32>(|at| is_host(window[at])) as u32,
        dots: pack::<32>(|at| window[at] == b'.') as u32,
    }
}

#[inline(never)]
pub(super) fn scan_fingerprints(fingerprints: &Fingerprints, text: &[u8]) -> BucketMatches {
    let mut found = BucketMatches::default();
    for at in 0..text.len() {
        let byte = |position: usize| text.get(at + position).copied().unwrap_or_default();
        // By reference: copying the tables for each byte cost 40 ns per line of an unsorted list.
        let buckets = fingerprints.halves.each_ref().map(|half| {
            half.iter()
                .enumerate()
                .fold(u8::MAX, |all, (position, nibbles)| {
                    let (low, high) = nibbles.of(byte(position));
                    all & low & high
                })
        });
        found.buckets |= u16::from_le_bytes(buckets);
        found.slashes = found.slashes.saturating_add(u8::from(byte(0) == b'/'));
    }
    found
}

#[inline(never)]
pub(super) fn count_not_greater(words: &[[u8; 8]], word: u64) -> usize {
    words
        .iter()
        .map(|other| usize::from(u64::from_le_bytes(*other) <= word))
        .sum()
}

/// Inlined, unlike the others: the vector code calls it for the last signatures.
#[inline]
pub(super) fn next_subset(signatures: &[[u8; 16]], [a, b]: [u64; 2]) -> Option<usize> {
    signatures.iter().position(|other| {
        let [first, second] =
            [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| other[at + i])));
        first & !a | second & !b == 0
    })
}
