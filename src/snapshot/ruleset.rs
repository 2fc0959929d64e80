//! A rule set in the file: packed so that the matcher runs over it where it lies; encoder beside decoder.
//!
//! The rules stand in two runs, each by priority (longest first, allow before disallow), so that in each the first
//! hit decides. *Rooted* rules begin with literal bytes behind the first `/`; the first eight of those lie side by side,
//! and comparing them dismisses nearly every rule without touching its pattern. *Floating* rules begin with `*` or
//! `/*`; for them a signature of the byte pairs they need takes that place.

use super::wire::{bytes, u32_at};
use crate::error::{Error, ErrorKind, Result};
use crate::robots::RuleKind;

/// One rule of a canonical rule set, before it is packed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetRule {
    /// The pattern's normal form without the anchor.
    pub text: Vec<u8>,
    pub anchored: bool,
    pub kind: RuleKind,
}

impl SetRule {
    /// As [`Pattern::priority`](crate::robots::pattern::Pattern::priority).
    pub(crate) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }
}

/// Bytes behind the first `/` that are compared at once.
pub(crate) const PREFIX_LEN: usize = 8;
const HEAD_LEN: usize = 8;

/// What is kept of a rule beside its prefix or signature, in one word.
///
/// From the lowest bit: place of the pattern (36 bits), its length (16), what its priority exceeds the length by (4),
/// literal bytes in the prefix (4), allow, anchored, has a `*` inside (1 each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedRule {
    pub place: u64,
    pub len: usize,
    pub extra: usize,
    pub prefix_len: usize,
    pub allow: bool,
    pub anchored: bool,
    pub wild: bool,
}

const PLACE_BITS: u32 = 36;

impl PackedRule {
    fn encode(&self) -> u64 {
        self.place
            | (self.len as u64) << 36
            | (self.extra as u64) << 52
            | (self.prefix_len as u64) << 56
            | u64::from(self.allow) << 60
            | u64::from(self.anchored) << 61
            | u64::from(self.wild) << 62
    }

    #[inline]
    pub(crate) fn decode(word: u64) -> Self {
        let field = |at: u32, bits: u32| (word >> at) & ((1 << bits) - 1);
        Self {
            place: field(0, PLACE_BITS),
            len: field(36, 16) as usize,
            extra: field(52, 4) as usize,
            prefix_len: (field(56, 4) as usize).min(PREFIX_LEN),
            allow: field(60, 1) == 1,
            anchored: field(61, 1) == 1,
            wild: field(62, 1) == 1,
        }
    }

    /// Priority and kind as one number: the greater decides, and allow beats disallow of the same length.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        (self.len + self.extra) * 2 + usize::from(self.allow)
    }

    /// Whether the prefix holds the whole pattern, so that nothing is stored elsewhere.
    #[inline]
    pub(crate) fn is_inline(&self) -> bool {
        !self.wild && self.len <= 1 + self.prefix_len
    }
}

/// A rule on its way into the file.
struct Draft<'a> {
    /// The pattern without redundant stars at its end.
    text: &'a [u8],
    packed: PackedRule,
    floating: bool,
}

impl<'a> Draft<'a> {
    fn new(rule: &'a SetRule) -> Self {
        // Stars at the end change nothing but the priority, and `…*$` is `…`; what they add is kept in 4 bits.
        let bare = rule.text.iter().rposition(|&b| b != b'*').map_or(0, |i| i + 1);
        let stars = rule.text.len() - bare;
        let stars = if stars > 14 { 0 } else { stars };
        let text = &rule.text[..rule.text.len() - stars];
        let anchored = rule.anchored && stars == 0;
        let literal = memchr::memchr(b'*', text).unwrap_or(text.len());
        let wild = literal < text.len();
        let packed = PackedRule {
            place: 0,
            len: text.len(),
            extra: stars + usize::from(rule.anchored),
            prefix_len: literal.saturating_sub(1).min(PREFIX_LEN),
            allow: rule.kind == RuleKind::Allow,
            anchored,
            wild,
        };
        Self { text, packed, floating: wild && literal <= 1 }
    }

    fn probe(&self) -> u64 {
        if self.floating {
            signature(self.text)
        } else {
            prefix_word(&self.text[self.text.len().min(1)..], self.packed.prefix_len)
        }
    }
}

/// The first `len` bytes of `text` as a little-endian word, zeros behind.
pub(crate) fn prefix_word(text: &[u8], len: usize) -> u64 {
    let mut word = [0; PREFIX_LEN];
    word[..len].copy_from_slice(&text[..len]);
    u64::from_le_bytes(word)
}

/// Appends the packed form of `rules` to `out`; `store` gives the place of a pattern in the section `patterns`.
///
/// # Errors
/// [`ErrorKind::TooLarge`] if the patterns outgrow their 64 GiB.
pub(crate) fn encode(rules: &[SetRule], out: &mut Vec<u8>, mut store: impl FnMut(&[u8]) -> u64) -> Result<()> {
    let mut drafts: Vec<Draft<'_>> = rules.iter().map(Draft::new).collect();
    drafts.sort_by_key(|draft| (draft.floating, std::cmp::Reverse(draft.packed.rank())));
    for draft in &mut drafts {
        if !draft.packed.is_inline() {
            draft.packed.place = store(draft.text);
        }
        if draft.packed.place >> PLACE_BITS != 0 {
            return Err(ErrorKind::TooLarge("over 64 GiB of distinct rule paths".to_owned()).into());
        }
    }
    let floating = drafts.iter().filter(|draft| draft.floating).count();
    out.extend_from_slice(&((drafts.len() - floating) as u32).to_le_bytes());
    out.extend_from_slice(&(floating as u32).to_le_bytes());
    out.extend(drafts.iter().flat_map(|draft| draft.probe().to_le_bytes()));
    out.extend(drafts.iter().flat_map(|draft| draft.packed.encode().to_le_bytes()));
    Ok(())
}

/// The byte pairs of `text` as bits, stars and what touches them left out; bytes other than letters, digits and `/`
/// also count alone. A text that contains all pieces of a pattern has all bits of the pattern's signature.
pub(crate) fn signature(text: &[u8]) -> u64 {
    text.split(|&b| b == b'*').fold(0, |bits, piece| bits | piece_signature(piece))
}

fn piece_signature(piece: &[u8]) -> u64 {
    let mut bits = piece.first().map_or(0, |&b| single_bit(b));
    for pair in piece.windows(2) {
        bits |= pair_bit(pair[0], pair[1]) | single_bit(pair[1]);
    }
    bits
}

/// The signature of a path, in which a `*` is a byte like any other.
pub(crate) fn path_signature(path: &[u8]) -> u64 {
    piece_signature(path)
}

#[inline]
fn pair_bit(a: u8, b: u8) -> u64 {
    let pair = u32::from(a) << 8 | u32::from(b);
    1 << (pair.wrapping_mul(0x9e37_79b1) >> 26)
}

#[inline]
fn single_bit(b: u8) -> u64 {
    if b.is_ascii_alphanumeric() || b == b'/' { 0 } else { pair_bit(0, b) }
}

/// Stands where a rule set has its count of rooted rules: several rule sets follow that are judged together.
const UNION: u32 = u32::MAX;

/// Appends a union of rule sets, given by their places in units of 8 bytes.
pub(crate) fn encode_union(places: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&UNION.to_le_bytes());
    out.extend_from_slice(&(places.len() as u32).to_le_bytes());
    out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    out.resize(out.len().next_multiple_of(8), 0);
}

/// What an agent name refers to in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rules<'a> {
    /// One rule set, as nearly always.
    Set(RuleSet<'a>),
    /// The places of several, of whose matching rules the highest decides.
    Union(&'a [[u8; 4]]),
}

impl<'a> Rules<'a> {
    /// What lies at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(super) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        if u32_at(sets, at, "a rule set's count of rooted rules")? != UNION {
            return RuleSet::decode(sets, place, patterns).map(Self::Set);
        }
        let count = u32_at(sets, at + 4, "a union's count of rule sets")? as usize;
        let places = bytes(sets, at + HEAD_LEN, count * 4, "a union's rule sets")?;
        Ok(Self::Union(places.as_chunks().0))
    }

    /// The length that it takes in the file.
    pub(super) fn encoded_len(&self) -> usize {
        match self {
            Self::Set(set) => HEAD_LEN + set.probes.len() + set.packed.len(),
            Self::Union(places) => HEAD_LEN + (places.len() * 4).next_multiple_of(8),
        }
    }
}

/// A rule set where it lies in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSet<'a> {
    /// Prefix words of the rooted rules, then signatures of the floating ones.
    probes: &'a [u8],
    packed: &'a [u8],
    rooted: usize,
    patterns: &'a [u8],
}

impl<'a> RuleSet<'a> {
    /// The rule set at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(crate) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        let rooted = u32_at(sets, at, "a rule set's count of rooted rules")? as usize;
        let floating = u32_at(sets, at + 4, "a rule set's count of floating rules")? as usize;
        let len = (rooted + floating) * 8;
        let probes = bytes(sets, at + HEAD_LEN, len, "a rule set's prefixes and signatures")?;
        let packed = bytes(sets, at + HEAD_LEN + len, len, "a rule set's rules")?;
        Ok(Self { probes, packed, rooted, patterns })
    }

    /// The words and the packed rules of the rooted rules.
    #[inline]
    pub(crate) fn rooted(&self) -> (&'a [[u8; 8]], &'a [[u8; 8]]) {
        let end = self.rooted * 8;
        (self.probes[..end].as_chunks().0, self.packed[..end].as_chunks().0)
    }

    /// The signatures and the packed rules of the floating rules.
    #[inline]
    pub(crate) fn floating(&self) -> (&'a [[u8; 8]], &'a [[u8; 8]]) {
        let start = self.rooted * 8;
        (self.probes[start..].as_chunks().0, self.packed[start..].as_chunks().0)
    }

    /// The pattern of a rule that is not all in its prefix.
    #[inline]
    pub(crate) fn pattern(&self, rule: &PackedRule) -> Result<&'a [u8]> {
        bytes(self.patterns, rule.place as usize, rule.len, "a rule's pattern")
    }

    /// Every rule, for `verify`.
    pub(super) fn rules(&self) -> impl Iterator<Item = (u64, PackedRule)> + '_ {
        let probes = self.probes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let packed = self.packed.as_chunks::<8>().0.iter().map(|word| PackedRule::decode(u64::from_le_bytes(*word)));
        probes.zip(packed)
    }

    /// Checks what look-ups rely on: the order of the ranks, patterns within bounds, prefixes and signatures that
    /// belong to their patterns.
    pub(crate) fn verify(&self) -> Result<()> {
        let mut last = usize::MAX;
        for (i, (probe, rule)) in self.rules().enumerate() {
            let floating = i >= self.rooted;
            if i == self.rooted {
                last = usize::MAX;
            }
            if rule.rank() > last {
                return Err(Error::corrupt("a rule set whose rules are out of order"));
            }
            last = rule.rank();
            if rule.is_inline() && !floating {
                continue;
            }
            let text = self.pattern(&rule)?;
            let behind = text.get(1..).unwrap_or_default();
            let expected =
                if floating { signature(text) } else { prefix_word(behind, rule.prefix_len.min(behind.len())) };
            if expected != probe {
                return Err(Error::corrupt("a rule whose prefix is not that of its pattern"));
            }
        }
        Ok(())
    }
}
