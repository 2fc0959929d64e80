//! An encoded rule set with its patterns: copied from one place to another as it is, except for the
//! places of its patterns.

use super::packed_rule::{PackedRule, checked_place};
use super::rule_set::{HEAD_LEN, RuleSet, Rules};
use crate::bytes::wire::bytes;
use crate::error::Result;

/// A rule set, not a union, with the section `patterns` that it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedSet<'a> {
    bytes: &'a [u8],
    set: RuleSet<'a>,
    patterns: &'a [u8],
}

impl<'a> EncodedSet<'a> {
    /// The rule set at `place` of the section `sets`, in units of 8 bytes.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it lies outside of the section.
    pub(crate) fn new(sets: &'a [u8], place: u32, set: RuleSet<'a>, patterns: &'a [u8]) -> Result<Self> {
        let len = Rules::Set(set).encoded_len();
        Ok(Self { bytes: bytes(sets, place as usize * 8, len, "a rule set")?, set, patterns })
    }

    /// The rule set that [`encode`](super::build::encode) wrote to `bytes`.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes are too short.
    pub(crate) fn decode(bytes: &'a [u8], patterns: &'a [u8]) -> Result<Self> {
        Ok(Self { bytes, set: RuleSet::decode(bytes, 0, patterns)?, patterns })
    }

    /// Checks what look-ups rely on.
    ///
    /// # Errors
    /// As [`RuleSet::verify`].
    pub(crate) fn verify(&self) -> Result<()> {
        self.set.verify(self.bytes)
    }

    /// The length of the bytes that [`copy`](Self::copy) appends.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The number of rules.
    pub(crate) fn rule_count(&self) -> usize {
        self.set.len()
    }

    /// The length of the patterns that [`copy`](Self::copy) stores.
    pub(crate) fn patterns_len(&self) -> usize {
        self.stored().map(|(_, rule)| rule.len).sum()
    }

    /// The rules with a pattern in the section `patterns`, and the offsets of their packed words.
    fn stored(&self) -> impl Iterator<Item = (usize, PackedRule)> {
        let (literal, wildcard) = (self.set.prefixes.packed, self.set.wildcards.packed);
        let literal_start = HEAD_LEN + literal.len() * 8;
        let wildcard_start = self.bytes.len() - wildcard.len() * 8;
        let decode = |(at, word): (usize, &[u8; 8])| (at, PackedRule::decode(u64::from_le_bytes(*word)));
        let literal = (literal_start..).step_by(8).zip(literal).map(decode);
        let literal = literal.filter(|(_, rule)| !rule.is_prefix_only && !rule.is_inline());
        literal.chain((wildcard_start..).step_by(8).zip(wildcard).map(decode))
    }

    /// Appends the set to `out`; `store` returns the place of a pattern there. Equal to what
    /// [`encode`](super::build::encode) appends for the same rules.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt); [`TooLarge`](crate::ErrorKind::TooLarge) if the patterns
    /// exceed their 64 GiB.
    pub(crate) fn copy(&self, out: &mut Vec<u8>, mut store: impl FnMut(&[u8]) -> u64) -> Result<()> {
        let start = out.len();
        out.extend_from_slice(self.bytes);
        for (at, rule) in self.stored() {
            let place = checked_place(store(rule.pattern(self.patterns)?))?;
            if let Some(word) = out[start + at..].first_chunk_mut::<8>() {
                *word = PackedRule::replaced(u64::from_le_bytes(*word), place).to_le_bytes();
            }
        }
        Ok(())
    }
}
