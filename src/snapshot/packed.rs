//! What is kept of a rule beside its words, in one more; encoder beside decoder.

use super::wire::bytes;
use crate::error::{ErrorKind, Result};

/// Bytes behind the first `/` of a stem that are its first word, compared at once.
pub(crate) const PREFIX_LEN: usize = 8;

/// Where a rule's pattern lies and what it is, in one word.
///
/// From the lowest bit: place of the pattern (36 bits), its length (16), what its priority exceeds the length by (4), allow, anchored,
/// bare (1 each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedRule {
    pub place: u64,
    pub len: usize,
    pub extra: usize,
    pub allow: bool,
    pub anchored: bool,
    /// No rule, but a stem that only rules with wildcards begin with: its text is that of the rule of the number `place`.
    pub bare: bool,
}

pub(super) const PLACE_BITS: u32 = 36;

/// A place, if a packed rule has room for it.
pub(super) fn checked_place(place: u64) -> Result<u64> {
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
            | u64::from(self.bare) << 58
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
            bare: field(58, 1) == 1,
        }
    }

    /// The same word with another place.
    pub(super) fn replaced(word: u64, place: u64) -> u64 {
        word >> PLACE_BITS << PLACE_BITS | place
    }

    /// The rule's pattern, in the section `patterns`.
    #[inline]
    pub(crate) fn pattern<'a>(&self, patterns: &'a [u8]) -> Result<&'a [u8]> {
        bytes(patterns, self.place as usize, self.len, "a rule's pattern")
    }

    /// Priority and kind as one number, never 0: the greater decides, and allow beats disallow of the same length.
    #[inline]
    pub(crate) fn rank(&self) -> u32 {
        (self.len + self.extra) as u32 * 2 + u32::from(self.allow)
    }

    /// Whether a rule of this rank is an allow.
    #[inline]
    pub(crate) fn rank_allows(rank: u32) -> bool {
        rank & 1 == 1
    }

    /// Whether the prefix word of a stem holds the whole of it, so that nothing is stored elsewhere.
    #[inline]
    pub(crate) fn is_inline(&self) -> bool {
        self.len <= 1 + PREFIX_LEN
    }
}
