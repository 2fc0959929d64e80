//! A rule in one word of the file, with its encoder and decoder.

use crate::bytes::wire::bytes;
use crate::error::Result;

/// The bytes after the `/` of a literal prefix that make its word, compared at once.
pub(crate) const PREFIX_LEN: usize = 8;

/// A rule: its flags, its length, and the offset of the stored part of its pattern.
///
/// The fields, from the lowest bit: offset (24 bits), unused (12), length of the pattern (16), what
/// its priority exceeds the length by (4), allow, anchored, prefix only (1 each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedRule {
    /// In the pattern bytes of the rule set.
    pub offset: usize,
    pub len: usize,
    pub extra: usize,
    pub allow: bool,
    pub anchored: bool,
    /// No rule, but a literal prefix that only wildcard rules have.
    pub is_prefix_only: bool,
}

/// The bits of an offset; [`MAX_PATTERN_BYTES`](super::rule_set::MAX_PATTERN_BYTES) fit.
pub(super) const OFFSET_BITS: u32 = 24;

impl PackedRule {
    pub(crate) fn encode(&self) -> u64 {
        self.offset as u64
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
            offset: field(0, OFFSET_BITS) as usize,
            len: field(36, 16) as usize,
            extra: field(52, 4) as usize,
            allow: field(56, 1) == 1,
            anchored: field(57, 1) == 1,
            is_prefix_only: field(58, 1) == 1,
        }
    }

    /// The stored part of the pattern, which lacks its first `skipped` bytes.
    #[inline]
    pub(super) fn stored<'a>(&self, patterns: &'a [u8], skipped: usize) -> Result<&'a [u8]> {
        bytes(
            patterns,
            self.offset,
            self.len.saturating_sub(skipped),
            "a rule's pattern",
        )
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

    /// Whether the word of a literal prefix of this length holds it whole, so that no part of it is
    /// stored elsewhere.
    #[inline]
    pub(super) fn is_inline(&self) -> bool {
        self.len <= 1 + PREFIX_LEN
    }
}
