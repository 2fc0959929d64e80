//! A rule in one word of the file, with its encoder and decoder.

use crate::bytes::wire::bytes;
use crate::error::{ErrorKind, Result};

/// The bytes after the `/` of a literal prefix that make its word, compared at once.
pub(crate) const PREFIX_LEN: usize = 8;

/// A rule: its flags, its length, and the place of its pattern.
///
/// The fields, from the lowest bit: place of the pattern (36 bits), its length (16), what its
/// priority exceeds the length by (4), allow, anchored, prefix only (1 each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedRule {
    pub place: u64,
    pub len: usize,
    pub extra: usize,
    pub allow: bool,
    pub anchored: bool,
    /// No rule, but a literal prefix that only wildcard rules have. Its text is the beginning of the
    /// wildcard rule number `place`.
    pub is_prefix_only: bool,
}

pub(crate) const PLACE_BITS: u32 = 36;

/// A place, if a packed rule has room for it.
pub(crate) fn checked_place(place: u64) -> Result<u64> {
    if place >> PLACE_BITS == 0 {
        Ok(place)
    } else {
        Err(ErrorKind::TooLarge("over 64 GiB of distinct rule paths".to_owned()).into())
    }
}

impl PackedRule {
    pub(crate) fn encode(&self) -> u64 {
        self.place
            | (self.len as u64) << 36
            | (self.extra as u64) << 52
            | u64::from(self.allow) << 56
            | u64::from(self.anchored) << 57
            | u64::from(self.is_prefix_only) << 58
    }

    #[inline]
    pub(crate) fn decode(word: u64) -> Self {
        let field = |at: u32, bits: u32| (word >> at) & ((1 << bits) - 1);
        Self {
            place: field(0, PLACE_BITS),
            len: field(36, 16) as usize,
            extra: field(52, 4) as usize,
            allow: field(56, 1) == 1,
            anchored: field(57, 1) == 1,
            is_prefix_only: field(58, 1) == 1,
        }
    }

    /// The same word with another place.
    pub(crate) fn replaced(word: u64, place: u64) -> u64 {
        word >> PLACE_BITS << PLACE_BITS | place
    }

    /// The rule's pattern, in the section `patterns`.
    #[inline]
    pub(crate) fn pattern<'a>(&self, patterns: &'a [u8]) -> Result<&'a [u8]> {
        bytes(patterns, self.place as usize, self.len, "a rule's pattern")
    }

    /// Priority and kind as one number, never 0: the greatest decides, and allow beats disallow of
    /// the same length (RFC 9309 §2.2.2).
    #[inline]
    pub(crate) fn rank(&self) -> u32 {
        (self.len + self.extra) as u32 * 2 + u32::from(self.allow)
    }

    /// Whether a path may be fetched if the deciding rule has this rank. Rank 0 means that no rule
    /// matches, which allows.
    #[inline(always)]
    pub(crate) fn rank_allows(rank: u32) -> bool {
        rank == 0 || rank & 1 == 1
    }

    /// Whether the word of a literal prefix of this length holds it whole, so that nothing is stored
    /// elsewhere.
    #[inline]
    pub(crate) fn is_inline(&self) -> bool {
        self.len <= 1 + PREFIX_LEN
    }
}
