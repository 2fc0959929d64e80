//! Signatures of texts, by which a rule with wildcards is dismissed without a look at its pattern.

/// The byte pairs of a text as bits, twice, by two hashes. In a pattern stars and what touches them are left out, so a path that
/// contains all pieces of a pattern has all bits of the pattern's signature. A byte other than letters, digits and `/` also counts
/// alone.
pub(crate) type Signature = [u64; 2];

pub(super) fn signature(pattern: &[u8]) -> Signature {
    pattern.split(|&b| b == b'*').fold([0; 2], |[a, b], piece| {
        let [c, d] = path_signature(piece);
        [a | c, b | d]
    })
}

/// The signature of a path, in which a `*` is a byte like any other.
pub(crate) fn path_signature(path: &[u8]) -> Signature {
    let Some((&first, rest)) = path.split_first() else { return [0; 2] };
    let [mut a, mut b] = [SINGLES[usize::from(first)], 0];
    let mut pair = u32::from(first);
    for &byte in rest {
        // Four or five instructions a byte: what is done here is done for every byte of most paths.
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
