//! Looks through many words at once: the one place with vector instructions, each beside the plain code that it stands for.
//!
//! Which instructions the machine has is found out when running, so one binary serves all of an architecture. Machines
//! without AVX2, and all that are not x86-64, take the plain code, which the compiler vectorises as far as it can.

/// Words as they lie in a file: little-endian, not aligned.
type Words<'a> = &'a [[u8; 8]];

/// The first place from `from` on where `words` and `word` agree in all bits of `masks`.
#[inline]
pub(crate) fn next_agreeing(words: Words<'_>, masks: Words<'_>, word: u64, from: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if words.len() >= from + MIN_VECTOR && is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all that the function asks for.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::next_agreeing(words, masks, word, from) };
    }
    plain::next_agreeing(words, masks, word, from)
}

/// The first place from `from` on where `words` and `word` agree in all bits of `masks`, and neither of both `subsets` has a bit that
/// `of` lacks.
#[inline]
pub(crate) fn next_agreeing_subset(
    (words, masks): (Words<'_>, Words<'_>),
    word: u64,
    subsets: [Words<'_>; 2],
    of: [u64; 2],
    from: usize,
) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if words.len() >= from + MIN_VECTOR && is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::next_agreeing_subset((words, masks), word, subsets, of, from) };
    }
    plain::next_agreeing_subset((words, masks), word, subsets, of, from)
}

/// The first place from `from` on where neither of both words has a bit that `of` lacks.
#[inline]
pub(crate) fn next_subset(words: [Words<'_>; 2], of: [u64; 2], from: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if words[0].len() >= from + MIN_VECTOR && is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::next_subset(words, of, from) };
    }
    plain::next_subset(words, of, from)
}

/// Appends the places of all line ends of `text`, counted from `base`.
#[inline]
pub(crate) fn line_ends(text: &[u8], base: usize, ends: &mut Vec<usize>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::line_ends(text, base, ends) };
    }
    plain::line_ends(text, base, ends);
}

/// What a look at the beginning of a text tells of the host name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostLook {
    /// How many lower-case letters, digits, `.`, `-` and `_` it begins with, if there are fewer than 32.
    pub len: usize,
    /// Where the last label of these begins.
    pub label: usize,
}

/// Looks at a host name of up to 31 bytes; `None` for a longer one, and where fewer than 32 bytes are left to look at.
#[inline]
pub(crate) fn look_at_host(text: &[u8]) -> Option<HostLook> {
    let window = text.first_chunk::<32>()?;
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::look_at_host(window) };
    }
    plain::look_at_host(window)
}

/// Fewer words than this are looked at one by one.
#[cfg(target_arch = "x86_64")]
const MIN_VECTOR: usize = 4;

mod plain {
    use super::{HostLook, Words};

    pub(super) fn line_ends(text: &[u8], base: usize, ends: &mut Vec<usize>) {
        ends.extend(memchr::memchr_iter(b'\n', text).map(|end| base + end));
    }

    pub(super) fn look_at_host(window: &[u8; 32]) -> Option<HostLook> {
        let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(b);
        let len = window.iter().position(|b| !plain(b))?;
        let label = window[..len].iter().rposition(|&b| b == b'.').map_or(0, |dot| dot + 1);
        Some(HostLook { len, label })
    }

    pub(super) fn next_agreeing(words: Words<'_>, masks: Words<'_>, word: u64, from: usize) -> Option<usize> {
        let mut pairs = words.get(from..)?.iter().zip(masks.get(from..)?);
        let found = pairs.position(|(a, mask)| (u64::from_le_bytes(*a) ^ word) & u64::from_le_bytes(*mask) == 0)?;
        Some(from + found)
    }

    pub(super) fn next_agreeing_subset(
        (words, masks): (Words<'_>, Words<'_>),
        word: u64,
        subsets: [Words<'_>; 2],
        of: [u64; 2],
        mut from: usize,
    ) -> Option<usize> {
        loop {
            let found = next_agreeing(words, masks, word, from)?;
            if next_subset(subsets.map(|words| words.get(..=found).unwrap_or_default()), of, found).is_some() {
                return Some(found);
            }
            from = found + 1;
        }
    }

    pub(super) fn next_subset(words: [Words<'_>; 2], of: [u64; 2], from: usize) -> Option<usize> {
        let mut pairs = words[0].get(from..)?.iter().zip(words[1].get(from..)?);
        let outside = |word: &[u8; 8], of: u64| u64::from_le_bytes(*word) & !of;
        let found = pairs.position(|(a, b)| outside(a, of[0]) | outside(b, of[1]) == 0)?;
        Some(from + found)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{HostLook, Words, plain};
    use std::arch::x86_64::*;

    /// Four words as a vector.
    #[target_feature(enable = "avx2")]
    fn load(words: &[[u8; 8]; 4]) -> __m256i {
        // SAFETY: 32 bytes are read from a reference to 32 bytes, and the instruction asks for no alignment.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm256_loadu_si256(words.as_ptr().cast())
        }
    }

    /// 32 bytes as a vector.
    #[target_feature(enable = "avx2")]
    fn load_bytes(bytes: &[u8; 32]) -> __m256i {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm256_loadu_si256(bytes.as_ptr().cast())
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn line_ends(text: &[u8], base: usize, ends: &mut Vec<usize>) {
        let (chunks, rest) = text.as_chunks::<32>();
        let wanted = _mm256_set1_epi8(b'\n' as i8);
        for (i, chunk) in chunks.iter().enumerate() {
            let mut found = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_bytes(chunk), wanted)) as u32;
            while found != 0 {
                ends.push(base + 32 * i + found.trailing_zeros() as usize);
                found &= found - 1;
            }
        }
        plain::line_ends(rest, base + 32 * chunks.len(), ends);
    }

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

    /// The lanes that are zero, as the lowest four bits.
    #[target_feature(enable = "avx2")]
    fn zero_lanes(lanes: __m256i) -> u32 {
        let equal = _mm256_cmpeq_epi64(lanes, _mm256_setzero_si256());
        _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as u32
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn next_agreeing(words: Words<'_>, masks: Words<'_>, word: u64, from: usize) -> Option<usize> {
        let wanted = _mm256_set1_epi64x(word as i64);
        let (chunks, _) = words.get(from..)?.as_chunks::<4>();
        let (mask_chunks, _) = masks.get(from..)?.as_chunks::<4>();
        for (i, (chunk, mask)) in chunks.iter().zip(mask_chunks).enumerate() {
            let differing = _mm256_and_si256(_mm256_xor_si256(load(chunk), wanted), load(mask));
            let zero = zero_lanes(differing);
            if zero != 0 {
                return Some(from + 4 * i + zero.trailing_zeros() as usize);
            }
        }
        plain::next_agreeing(words, masks, word, from + 4 * chunks.len())
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn next_agreeing_subset(
        (words, masks): (Words<'_>, Words<'_>),
        word: u64,
        subsets: [Words<'_>; 2],
        of: [u64; 2],
        from: usize,
    ) -> Option<usize> {
        let wanted = _mm256_set1_epi64x(word as i64);
        let (of_a, of_b) = (_mm256_set1_epi64x(of[0] as i64), _mm256_set1_epi64x(of[1] as i64));
        let (words4, _) = words.get(from..)?.as_chunks::<4>();
        let (masks4, _) = masks.get(from..)?.as_chunks::<4>();
        let (a4, _) = subsets[0].get(from..)?.as_chunks::<4>();
        let (b4, _) = subsets[1].get(from..)?.as_chunks::<4>();
        let rows = words4.iter().zip(masks4).zip(a4.iter().zip(b4));
        for (i, ((chunk, mask), (a, b))) in rows.enumerate() {
            let differing = _mm256_and_si256(_mm256_xor_si256(load(chunk), wanted), load(mask));
            let outside = _mm256_or_si256(_mm256_andnot_si256(of_a, load(a)), _mm256_andnot_si256(of_b, load(b)));
            let zero = zero_lanes(_mm256_or_si256(differing, outside));
            if zero != 0 {
                return Some(from + 4 * i + zero.trailing_zeros() as usize);
            }
        }
        plain::next_agreeing_subset((words, masks), word, subsets, of, from + 4 * words4.len())
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn next_subset(words: [Words<'_>; 2], of: [u64; 2], from: usize) -> Option<usize> {
        let (of_a, of_b) = (_mm256_set1_epi64x(of[0] as i64), _mm256_set1_epi64x(of[1] as i64));
        let (chunks, _) = words[0].get(from..)?.as_chunks::<4>();
        let (more, _) = words[1].get(from..)?.as_chunks::<4>();
        for (i, (a, b)) in chunks.iter().zip(more).enumerate() {
            let outside = _mm256_or_si256(_mm256_andnot_si256(of_a, load(a)), _mm256_andnot_si256(of_b, load(b)));
            let zero = zero_lanes(outside);
            if zero != 0 {
                return Some(from + 4 * i + zero.trailing_zeros() as usize);
            }
        }
        plain::next_subset(words, of, from + 4 * chunks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_twins_agree_on_text(text in vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'.'), b'a'..=b'z'], 0..200)) {
            let (mut found, mut expected) = (vec![7], vec![7]);
            line_ends(&text, 3, &mut found);
            plain::line_ends(&text, 3, &mut expected);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(look_at_host(&text), text.first_chunk().and_then(plain::look_at_host));
        }

        #[test]
        fn every_byte_is_told_apart(byte in any::<u8>(), at in 0usize..32) {
            let mut window = [b'x'; 32];
            window[at] = byte;
            prop_assert_eq!(look_at_host(&window), plain::look_at_host(&window));
        }

        #[test]
        fn the_twins_agree_on_words(
            a in vec(0u64..8, 0..40), b in vec(0u64..8, 40), word in 0u64..8, other in 0u64..8, from in 0usize..50,
        ) {
            let bytes = |words: &[u64]| words.iter().map(|word| word.to_le_bytes()).collect::<Vec<_>>();
            let (a, b) = (bytes(&a), bytes(&b[..a.len()]));
            prop_assert_eq!(next_agreeing(&a, &b, word, from), plain::next_agreeing(&a, &b, word, from));
            prop_assert_eq!(next_subset([&a, &b], [word, other], from), plain::next_subset([&a, &b], [word, other], from));
            prop_assert_eq!(
                next_agreeing_subset((&a, &b), word, [&b, &a], [other, word], from),
                plain::next_agreeing_subset((&a, &b), word, [&b, &a], [other, word], from)
            );
        }
    }
}
