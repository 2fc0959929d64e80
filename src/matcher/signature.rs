//! Signatures: Bloom filters of texts, which dismiss a wildcard rule without reading its pattern.
//!
//! A signature has bits for the byte pairs of a text, for some characters, and for the number of
//! slashes. Of a pattern, stars and pairs with a star are left out. So a path that matches a
//! pattern has all bits of the pattern's signature.
//!
//! With one signature of 64 bits per rule, a path of 60 bytes filled two thirds of it, and one rule
//! in seven without a literal prefix passed.

use crate::simd::{AnyBackend, Backend, Characters, Nibbles, PairTables};

/// 128 bits: 112 for byte pairs, 8 for characters, 8 for slashes.
///
/// Two bits for each pair, in 64 bits each, dismissed no more rules and cost twice as much. More
/// bits would dismiss more, but few rules are left as it is.
pub(crate) type Signature = [u64; 2];

/// In the second word, the bits below this are those of pairs. Above are eight for [`CHARACTERS`],
/// then eight for the number of slashes: one for three or more, one for four or more, and so on.
const CHARACTER_BITS: u32 = 48;
const SLASH_BITS: u32 = 56;
const PAIRS: Signature = [u64::MAX, (1 << CHARACTER_BITS) - 1];
const SLASHES: u64 = u64::MAX << SLASH_BITS;

/// The signature of a pattern.
pub(crate) fn signature(pattern: &[u8]) -> Signature {
    let backend = AnyBackend::detect();
    let segments = pattern
        .split(|&b| b == b'*')
        .map(|segment| backend.pair_bits(segment, &PAIR_TABLES));
    let [a, b] = segments.fold([0; 2], |[a, b], [c, d]| [a | c, b | d]);
    [
        a,
        b & PAIRS[1] | pack(backend.characters(pattern, &CHARACTERS)),
    ]
}

/// The characters and slashes of a path's signature, with the bits of all pairs set. It costs a
/// fifth of the whole signature, and most paths need no more. In a path, `*` is a byte like others.
#[inline(always)]
pub(super) fn path_characters(path: &[u8], backend: impl Backend) -> Signature {
    [
        PAIRS[0],
        PAIRS[1] | pack(backend.characters(path, &CHARACTERS)),
    ]
}

/// The whole signature of the path with these characters.
#[inline(always)]
pub(super) fn path_signature(
    path: &[u8],
    characters: Signature,
    backend: impl Backend,
) -> Signature {
    let [a, b] = backend.pair_bits(path, &PAIR_TABLES);
    [a, b & PAIRS[1] | characters[1] & !PAIRS[1]]
}

/// The bits of characters and slashes, in the second word.
#[inline]
fn pack(Characters { kinds, slashes }: Characters) -> u64 {
    let steps = u32::from(slashes).saturating_sub(2).min(8);
    u64::from(kinds) << CHARACTER_BITS | (SLASHES >> (8 - steps)) & SLASHES
}

/// The hash of byte pairs. Of sixty random tables, those under which real paths and patterns agreed
/// least. They are as good as a multiplicative hash, and vector instructions look up 32 bytes at
/// once.
const PAIR_TABLES: PairTables = PairTables {
    first: Nibbles {
        low: [
            19, 56, 72, 31, 56, 112, 37, 24, 25, 13, 113, 2, 127, 63, 42, 97,
        ],
        high: [
            46, 10, 49, 4, 62, 54, 31, 83, 15, 79, 115, 122, 32, 85, 51, 76,
        ],
    },
    second: Nibbles {
        low: [
            125, 3, 90, 118, 76, 62, 71, 93, 98, 39, 59, 104, 53, 119, 33, 66,
        ],
        high: [
            79, 48, 99, 51, 5, 42, 19, 53, 96, 23, 23, 52, 81, 17, 23, 96,
        ],
    },
};

/// The characters that a signature records, in the order of their bits.
const CHARACTERS: Nibbles = character_table(*b"?=&.-_%:");

/// Tables that give each of the characters the bit of its position.
const fn character_table(characters: [u8; 8]) -> Nibbles {
    let mut low = [0; 16];
    let mut high = [0; 16];
    let mut bit = 0;
    while bit < 8 {
        low[(characters[bit] & 15) as usize] |= 1 << bit;
        high[(characters[bit] >> 4) as usize] |= 1 << bit;
        bit += 1;
    }
    Nibbles { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::wildcard::matches;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn whole(path: &[u8]) -> Signature {
        path_signature(
            path,
            path_characters(path, AnyBackend::detect()),
            AnyBackend::detect(),
        )
    }

    fn is_subset(pattern: &[u8], path: &[u8]) -> bool {
        let (needed, has) = (signature(pattern), whole(path));
        (needed[0] & !has[0]) | (needed[1] & !has[1]) == 0
    }

    #[test]
    fn characters_are_a_signature_with_all_pairs() {
        let (characters, whole) = (
            path_characters(b"/a.b?c=d", AnyBackend::detect()),
            whole(b"/a.b?c=d"),
        );
        assert_eq!(
            (characters[0] & whole[0], characters[1] & whole[1]),
            (whole[0], whole[1])
        );
        assert_eq!(characters[1] >> CHARACTER_BITS, 0b1011, "a ?, a =, a dot");
        assert_eq!(
            path_characters(b"////", AnyBackend::detect())[1] >> SLASH_BITS,
            0b11
        );
    }

    #[test]
    fn slashes_count() {
        assert!(is_subset(b"/r/*/c/*/*/d", b"/r/x/c/y/z/d"));
        assert!(
            !is_subset(b"/r/*/c/*/*/d", b"/r/c/d"),
            "the pairs are there, but five slashes are needed"
        );
        assert!(is_subset(
            "/*".repeat(20).as_bytes(),
            "/".repeat(20).as_bytes()
        ));
    }

    proptest! {
        #[test]
        fn matching_paths_have_the_bits(
            pattern in vec(select(b"/*ab.?".to_vec()), 1..24), path in vec(select(b"/ab.?*".to_vec()), 1..40),
        ) {
            prop_assert!(is_subset(&pattern, &path) || !matches(&pattern, false, &path));
        }

        #[test]
        fn paths_made_to_match_have_the_bits(segments in vec("[/ab.?%]{0,6}", 1..6), fill in vec("[/ab.?%*]{0,6}", 6)) {
            let pattern = segments.join("*");
            let path: String = segments.iter().zip(&fill).map(|(segment, fill)| format!("{segment}{fill}")).collect();
            prop_assert!(is_subset(pattern.as_bytes(), path.as_bytes()), "{} {}", pattern, path);
        }
    }
}
