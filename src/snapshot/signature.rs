//! Signatures of texts, by which a rule with wildcards is dismissed without a look at its pattern.

use crate::simd::{self, BitTables, Nibbles, TextBits};

/// What a text holds, as bits: its byte pairs; some signs; and how many slashes there are. In a pattern stars and what touches them
/// are left out, so a path that matches a pattern has all bits of the pattern's signature.
///
/// The pairs have 112 bits (16 of 128 give way to the rest). Two bits for each pair, in 64 each, dismissed no more and cost twice as
/// much; more bits for all would dismiss more, but few rules are left as it is.
pub(crate) type Signature = [u64; 2];

/// In the second word, the bits below this are those of pairs. Above are eight for the signs of [`TABLES`], then eight for the number
/// of slashes: one for three or more, one for four or more, and so on.
const SIGN_BITS: u32 = 48;
const SLASH_BITS: u32 = 56;
const SLASHES: u64 = u64::MAX << SLASH_BITS;

pub(super) fn signature(pattern: &[u8]) -> Signature {
    let pieces = pattern.split(|&b| b == b'*').fold(TextBits::default(), |all, piece| {
        let bits = simd::text_bits(piece, &TABLES);
        TextBits {
            pairs: [all.pairs[0] | bits.pairs[0], all.pairs[1] | bits.pairs[1]],
            classes: all.classes | bits.classes,
            slashes: all.slashes.saturating_add(bits.slashes),
        }
    });
    pack(pieces)
}

/// The signature of a path, in which a `*` is a byte like any other.
#[inline]
pub(crate) fn path_signature(path: &[u8]) -> Signature {
    pack(simd::text_bits(path, &TABLES))
}

#[inline]
fn pack(TextBits { pairs: [a, b], classes, slashes }: TextBits) -> Signature {
    let steps = u32::from(slashes).saturating_sub(2).min(8);
    let slashes = (SLASHES >> (8 - steps)) & SLASHES;
    [a, (b & !(u64::MAX << SIGN_BITS)) | u64::from(classes) << SIGN_BITS | slashes]
}

/// The bits of pairs and signs. Of sixty tables drawn by lot, those under which real paths and patterns agreed least; they are as good
/// as a hash by multiplication, and vector instructions look them up 32 bytes at once.
const TABLES: BitTables = BitTables {
    first: Nibbles {
        low: [19, 56, 72, 31, 56, 112, 37, 24, 25, 13, 113, 2, 127, 63, 42, 97],
        high: [46, 10, 49, 4, 62, 54, 31, 83, 15, 79, 115, 122, 32, 85, 51, 76],
    },
    second: Nibbles {
        low: [125, 3, 90, 118, 76, 62, 71, 93, 98, 39, 59, 104, 53, 119, 33, 66],
        high: [79, 48, 99, 51, 5, 42, 19, 53, 96, 23, 23, 52, 81, 17, 23, 96],
    },
    classes: signs(*b"?=&.-_%:"),
};

/// Tables that give the sign of each place the bit of that place.
const fn signs(signs: [u8; 8]) -> Nibbles {
    let (mut low, mut high) = ([0; 16], [0; 16]);
    let mut bit = 0;
    while bit < 8 {
        low[(signs[bit] & 15) as usize] |= 1 << bit;
        high[(signs[bit] >> 4) as usize] |= 1 << bit;
        bit += 1;
    }
    Nibbles { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::pattern::glob_matches;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    #[test]
    fn slashes_count() {
        let fits = |pattern: &str, path: &str| {
            let (needed, has) = (signature(pattern.as_bytes()), path_signature(path.as_bytes()));
            (needed[0] & !has[0]) | (needed[1] & !has[1]) == 0
        };
        assert!(fits("/r/*/c/*/*/d", "/r/x/c/y/z/d"));
        assert!(!fits("/r/*/c/*/*/d", "/r/c/d"), "the pairs are there, but five slashes are needed");
        assert!(fits(&"/*".repeat(20), &"/".repeat(20)));
    }

    proptest! {
        #[test]
        fn what_matches_has_the_bits(
            pattern in vec(select(b"/*ab.?".to_vec()), 1..24), path in vec(select(b"/ab.?*".to_vec()), 1..40),
        ) {
            let (needed, has) = (signature(&pattern), path_signature(&path));
            let dismissed = (needed[0] & !has[0]) | (needed[1] & !has[1]) != 0;
            prop_assert!(!(dismissed && glob_matches(&pattern, false, &path)));
        }

        #[test]
        fn what_is_made_to_match_has_the_bits(pieces in vec("[/ab.?%]{0,6}", 1..6), fill in vec("[/ab.?%*]{0,6}", 6)) {
            let pattern = pieces.join("*");
            let path: String = pieces.iter().zip(&fill).map(|(piece, fill)| format!("{piece}{fill}")).collect();
            let (needed, has) = (signature(pattern.as_bytes()), path_signature(path.as_bytes()));
            prop_assert_eq!((needed[0] & !has[0]) | (needed[1] & !has[1]), 0, "{} {}", pattern, path);
        }
    }
}
