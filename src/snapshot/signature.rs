//! Signatures of texts, by which a rule with wildcards is dismissed without a look at its pattern.

/// What a text holds, as bits: its byte pairs, twice, by two hashes; bytes other than letters, digits and `/`; and how many slashes
/// there are. In a pattern stars and what touches them are left out, so a path that matches a pattern has all bits of the pattern's
/// signature.
pub(crate) type Signature = [u64; 2];

/// In the second word eight bits are kept free for the number of slashes: one for three or more, one for four or more, and so
/// on.
const SLASH_BITS: u32 = 56;
const SLASHES: u64 = u64::MAX << SLASH_BITS;

pub(super) fn signature(pattern: &[u8]) -> Signature {
    let pieces = pattern.split(|&b| b == b'*').fold([0; 2], |[a, b], piece| {
        let [c, d] = pairs(piece);
        [a | c, b | d]
    });
    with_slashes(pieces, pattern)
}

/// The signature of a path, in which a `*` is a byte like any other.
pub(crate) fn path_signature(path: &[u8]) -> Signature {
    with_slashes(pairs(path), path)
}

fn with_slashes([a, b]: Signature, text: &[u8]) -> Signature {
    let count = text.iter().map(|&b| usize::from(b == b'/')).sum::<usize>();
    let steps = count.saturating_sub(2).min(8) as u32;
    [a, (b & !SLASHES) | ((SLASHES >> (8 - steps)) & SLASHES)]
}

fn pairs(text: &[u8]) -> Signature {
    let Some((&first, rest)) = text.split_first() else { return [0; 2] };
    let [mut a, mut b] = [SINGLES[usize::from(first)], 0];
    let mut pair = u32::from(first);
    for &byte in rest {
        // A few instructions a byte: what is done here is done for every byte of most paths.
        pair = (pair & 0xff) << 8 | u32::from(byte);
        let hash = pair_hash(pair);
        a |= 1 << (hash >> 26);
        a |= SINGLES[usize::from(byte)];
        b |= 1 << (hash >> 20 & 63);
    }
    [a, b]
}

#[inline]
const fn pair_hash(pair: u32) -> u32 {
    pair.wrapping_mul(0x9e37_79b1)
}

/// The bits of single bytes, in the first word.
static SINGLES: [u64; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        if !(b as u8).is_ascii_alphanumeric() && b as u8 != b'/' {
            table[b] = 1 << (pair_hash(b as u32) >> 26);
        }
        b += 1;
    }
    table
};

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
