//! The signatures of many rules turned on their side: one pass over the bits of a path's signature dismisses hundreds of rules at once.
//!
//! Every path meets the rules that begin with a wildcard, and a site may have hundreds of these. One by one their signatures take two or
//! three instructions each, and where the next is found that the path may match cannot be foreseen. Here, for each four bits of a
//! signature and for each value that a path may have there, one bit for each rule tells whether it asks for no others.

use crate::error::Result;
use crate::simd::{Machine, Rows};
use crate::snapshot::signature::Signature;
use crate::snapshot::wild::{ROOT, Wild};

/// Fewer rules are dismissed sooner one by one.
const LEAST: usize = 64;

/// Rules that are told at once, one bit each.
const CHUNK: usize = 256;

/// The rules of a set that begin with a wildcard.
#[derive(Debug)]
pub(super) struct Sieve {
    /// For each value of the bits at a place, the rules whose signatures have no others there.
    chunks: Vec<Rows>,
}

impl Sieve {
    /// That of the rules of a set, if it has many that begin with a wildcard.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if there are not as many rules as the root says.
    pub(super) fn new(wild: &Wild<'_>) -> Result<Option<Self>> {
        let root = wild.branch(ROOT)?.rules();
        if root.len() < LEAST {
            return Ok(None);
        }
        let signatures = wild.signatures(root.start, root.end)?;
        Ok(Some(Self { chunks: signatures.chunks(CHUNK).map(chunk).collect() }))
    }

    /// The bytes that it takes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.chunks)
    }

    /// Calls `each` with the numbers of the rules, from 0 on and in their order, that a path with this signature may match, until it gives
    /// something.
    #[inline(always)]
    pub(super) fn find<T>(
        &self,
        signature: Signature,
        machine: impl Machine,
        mut each: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        for (number, chunk) in self.chunks.iter().enumerate() {
            for (place, mut left) in machine.common_bits(chunk, signature).into_iter().enumerate() {
                while left != 0 {
                    let rule = number * CHUNK + place * 64 + left.trailing_zeros() as usize;
                    if let found @ Some(_) = each(rule) {
                        return found;
                    }
                    left &= left - 1;
                }
            }
        }
        None
    }
}

/// The rows of up to as many rules as these have bits, by their signatures.
fn chunk(signatures: &[[u8; 16]]) -> Rows {
    let mut chunk = [[[[0; CHUNK / 8]; 16]; 16]; 2];
    for (rule, signature) in signatures.iter().enumerate() {
        for (rows, word) in chunk.iter_mut().zip(decode(signature)) {
            for (rows, shift) in rows.iter_mut().zip((0..).step_by(4)) {
                let asked = (word >> shift) as usize % 16;
                let free = rows.iter_mut().enumerate().filter(|(value, _)| asked & !value == 0);
                free.for_each(|(_, row)| row[rule / 8] |= 1 << (rule % 8));
            }
        }
    }
    chunk
}

fn decode(signature: &[u8; 16]) -> Signature {
    let (words, _) = signature.as_chunks();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::AnyMachine;
    use proptest::array::uniform2;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_left_asks_for_no_bit_that_the_path_lacks(
            rules in vec(uniform2(any::<u64>()), 1..600), path in uniform2(any::<u64>()), from in 0..600usize,
        ) {
            // Few bits are asked for, and many are there.
            let rules: Vec<Signature> = rules.iter().map(|[a, b]| [a & b & a >> 7 & b >> 5, a & b & a >> 9 & b >> 3]).collect();
            let path = [path[0] | path[1], path[0] | path[0] >> 7];
            let bytes: Vec<[u8; 16]> = rules.iter().map(|[a, b]| (u128::from(*a) | u128::from(*b) << 64).to_le_bytes()).collect();
            let sieve = Sieve { chunks: bytes.chunks(CHUNK).map(chunk).collect() };
            let mut expected = (0..rules.len()).filter(|rule| (rules[*rule][0] & !path[0] | rules[*rule][1] & !path[1]) == 0);
            let (machine, mut left) = (AnyMachine::detect(), Vec::new());
            prop_assert_eq!(sieve.find(path, machine, |rule| { left.push(rule); None::<()> }), None);
            prop_assert_eq!(&left, &expected.clone().collect::<Vec<_>>());
            prop_assert_eq!(sieve.find(path, machine, |rule| (rule >= from).then_some(rule)), expected.find(|rule| *rule >= from));
        }
    }
}
