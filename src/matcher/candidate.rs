//! A path prepared for matching against many rules (as globset's `Candidate`).

use super::signature::{Signature, path_characters, path_signature};
use crate::bytes::{first_and_last, first_word};
use crate::simd::Backend;

/// A path, with its two ends as numbers that are compared at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'p> {
    /// The path in normal form; begins with `/`.
    pub(super) path: &'p [u8],
    /// The up to eight bytes after the `/`, little-endian, padded with zeros.
    pub(super) first: u64,
    /// The last up to eight bytes of the path, the last one highest, padded with zeros.
    pub(super) last: u64,
}

impl<'p> Candidate<'p> {
    #[inline(always)]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        let Some((slash, tail)) = path.split_first() else {
            return Self {
                path,
                first: 0,
                last: 0,
            };
        };
        if let Some([first, last]) = first_and_last(tail) {
            return Self {
                path,
                first: u64::from_le_bytes(*first),
                last: u64::from_le_bytes(*last),
            };
        }
        // Not `last_word(path)`: its loads are those of the preceding scan for odd bytes, and the
        // compiler would keep them in registers for every path.
        let first = first_word(tail);
        let all = first << 8 | u64::from(*slash);
        Self {
            path,
            first,
            last: all << ((u64::BITS - 8 * path.len() as u32) % u64::BITS),
        }
    }

    /// The [`prefix_word`](super::prefix_automaton::prefix_word) of the path.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        self.first.swap_bytes()
    }

    /// The path without its leading `/`.
    #[inline]
    pub(super) fn tail(&self) -> &'p [u8] {
        self.path.get(1..).unwrap_or_default()
    }
}

/// A path's signature, computed on first use: most paths reach no rule that asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSignature {
    signature: Signature,
    computed: Computed,
    /// Patterns that were compared in full and did not match.
    pub(super) misses: usize,
}

/// How much of a path's signature was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Computed {
    Nothing,
    Characters,
    Whole,
}

impl PathSignature {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            signature: [0; 2],
            computed: Computed::Nothing,
            misses: 0,
        }
    }

    #[inline(always)]
    pub(super) fn is_whole(&self) -> bool {
        self.computed == Computed::Whole
    }

    /// The signature as far as it was computed, but at least its characters. The bits of byte pairs
    /// that were not computed are all set.
    #[inline(always)]
    pub(super) fn characters(&mut self, path: &[u8], backend: impl Backend) -> Signature {
        if self.computed == Computed::Nothing {
            self.signature = path_characters(path, backend);
            self.computed = Computed::Characters;
        }
        self.signature
    }

    /// The whole signature.
    #[inline(always)]
    pub(super) fn whole(&mut self, path: &[u8], backend: impl Backend) -> Signature {
        if self.computed != Computed::Whole {
            self.signature = path_signature(path, self.characters(path, backend), backend);
            self.computed = Computed::Whole;
        }
        self.signature
    }
}
