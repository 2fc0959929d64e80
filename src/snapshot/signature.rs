//! Signatures of texts, by which a rule with wildcards is dismissed without a look at its pattern.

use crate::simd::{AnyMachine, Machine, Nibbles, PairTables, Signs};

/// What a text holds, as bits: its byte pairs; some signs; and how many slashes there are. In a pattern stars and what touches them
/// are left out, so a path that matches a pattern has all bits of the pattern's signature.
///
/// The pairs have 112 bits (16 of 128 give way to the rest). Two bits for each pair, in 64 each, dismissed no more and cost twice as
/// much; more bits for all would dismiss more, but few rules are left as it is.
pub(crate) type Signature = [u64; 2];

/// In the second word, the bits below this are those of pairs. Above are eight for the signs of [`KINDS`], then eight for the number
/// of slashes: one for three or more, one for four or more, and so on.
const SIGN_BITS: u32 = 48;
const SLASH_BITS: u32 = 56;
const PAIRS: Signature = [u64::MAX, (1 << SIGN_BITS) - 1];
const SLASHES: u64 = u64::MAX << SLASH_BITS;

pub(super) fn signature(pattern: &[u8]) -> Signature {
    let machine = AnyMachine::detect();
    let pieces = pattern.split(|&b| b == b'*').map(|piece| machine.pair_bits(piece, &PAIR_TABLES));
    let [a, b] = pieces.fold([0; 2], |[a, b], [c, d]| [a | c, b | d]);
    let signs = pack(machine.signs(pattern, &KINDS));
    [a, b & PAIRS[1] | signs]
}

/// The signs of a path, as the signature of any path that has these signs and might have all pairs; in a path a `*` is a byte like
/// any other. It costs a fifth of a signature, and most paths need no more.
#[inline(always)]
pub(crate) fn path_signs(path: &[u8], machine: impl Machine) -> Signature {
    [PAIRS[0], PAIRS[1] | pack(machine.signs(path, &KINDS))]
}

/// The signature of the path with these signs.
#[inline(always)]
pub(crate) fn path_signature(path: &[u8], signs: Signature, machine: impl Machine) -> Signature {
    let [a, b] = machine.pair_bits(path, &PAIR_TABLES);
    [a, b & PAIRS[1] | signs[1] & !PAIRS[1]]
}

/// The bits of signs and slashes, in the second word.
#[inline]
fn pack(Signs { kinds, slashes }: Signs) -> u64 {
    let steps = u32::from(slashes).saturating_sub(2).min(8);
    u64::from(kinds) << SIGN_BITS | (SLASHES >> (8 - steps)) & SLASHES
}

/// The numbers of pairs. Of sixty tables drawn by lot, those under which real paths and patterns agreed least; they are as good
/// as a hash by multiplication, and vector instructions look them up 32 bytes at once.
const PAIR_TABLES: PairTables = PairTables {
    first: Nibbles {
        low: [19, 56, 72, 31, 56, 112, 37, 24, 25, 13, 113, 2, 127, 63, 42, 97],
        high: [46, 10, 49, 4, 62, 54, 31, 83, 15, 79, 115, 122, 32, 85, 51, 76],
    },
    second: Nibbles {
        low: [125, 3, 90, 118, 76, 62, 71, 93, 98, 39, 59, 104, 53, 119, 33, 66],
        high: [79, 48, 99, 51, 5, 42, 19, 53, 96, 23, 23, 52, 81, 17, 23, 96],
    },
};

/// The signs, in the order of their bits. A star is none.
const KINDS: Nibbles = signs(*b"?=&.-_%:");

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

    fn whole(path: &[u8]) -> Signature {
        path_signature(path, path_signs(path, AnyMachine::detect()), AnyMachine::detect())
    }

    #[test]
    fn signs_are_a_signature_with_all_pairs() {
        let (signs, whole) = (path_signs(b"/a.b?c=d", AnyMachine::detect()), whole(b"/a.b?c=d"));
        assert_eq!((signs[0] & whole[0], signs[1] & whole[1]), (whole[0], whole[1]));
        assert_eq!(signs[1] >> SIGN_BITS, 0b1011, "a ?, a =, a dot");
        assert_eq!(path_signs(b"////", AnyMachine::detect())[1] >> SLASH_BITS, 0b11);
    }

    #[test]
    fn slashes_count() {
        let fits = |pattern: &str, path: &str| {
            let (needed, has) = (signature(pattern.as_bytes()), whole(path.as_bytes()));
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
            let (needed, has) = (signature(&pattern), whole(&path));
            let dismissed = (needed[0] & !has[0]) | (needed[1] & !has[1]) != 0;
            prop_assert!(!(dismissed && glob_matches(&pattern, false, &path, AnyMachine::detect())));
        }

        #[test]
        fn what_is_made_to_match_has_the_bits(pieces in vec("[/ab.?%]{0,6}", 1..6), fill in vec("[/ab.?%*]{0,6}", 6)) {
            let pattern = pieces.join("*");
            let path: String = pieces.iter().zip(&fill).map(|(piece, fill)| format!("{piece}{fill}")).collect();
            let (needed, has) = (signature(pattern.as_bytes()), whole(path.as_bytes()));
            prop_assert_eq!((needed[0] & !has[0]) | (needed[1] & !has[1]), 0, "{} {}", pattern, path);
        }
    }
}
