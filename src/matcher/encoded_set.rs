//! An encoded rule set with its patterns: the form that is kept, compared and copied into a file.
//!
//! [`EncodedSet`] borrows a set from a snapshot. [`EncodedRules`] owns one, with a section of
//! patterns of its own, so that its bytes depend on its rules alone.

use super::build::{CanonicalRule, append_pattern, pack};
use super::packed_rule::{PackedRule, checked_place};
use super::rule_set::{HEAD_LEN, RuleSet, Rules};
use crate::bytes::wire::bytes;
use crate::error::Result;

/// A rule set and its own section of patterns: equal bytes mean equal rules.
///
/// Both parts share one allocation, because a compilation keeps millions of sets. The head of the
/// set tells where the patterns begin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EncodedRules(Box<[u8]>);

impl EncodedRules {
    /// Encodes canonical rules.
    ///
    /// # Errors
    /// As [`encode`](super::build::encode).
    pub(crate) fn encode(rules: &[CanonicalRule<'_>]) -> Result<Self> {
        let (set, patterns) = pack(rules)?;
        Ok(Self::join(set, &patterns))
    }

    /// Copies a set of a snapshot.
    ///
    /// # Errors
    /// As [`EncodedSet::copy`].
    pub(crate) fn of_set(set: &EncodedSet<'_>) -> Result<Self> {
        let (mut copy, mut patterns) = (Vec::with_capacity(set.bytes.len()), Vec::new());
        set.copy(&mut copy, |text| append_pattern(&mut patterns, text))?;
        Ok(Self::join(copy, &patterns))
    }

    fn join(mut set: Vec<u8>, patterns: &[u8]) -> Self {
        set.reserve_exact(patterns.len());
        set.extend_from_slice(patterns);
        Self(set.into())
    }

    /// The set and its patterns in one piece.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The rule set, ready to be copied.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt), which never happens to a set that was encoded here.
    pub(crate) fn set(&self) -> Result<EncodedSet<'_>> {
        let len = Rules::Set(RuleSet::decode(&self.0, 0, &[])?).encoded_len();
        let (bytes, patterns) = self.0.split_at(len);
        Ok(EncodedSet { bytes, set: RuleSet::decode(bytes, 0, patterns)?, patterns })
    }
}

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

    /// Checks what look-ups rely on.
    ///
    /// # Errors
    /// As [`RuleSet::verify`].
    pub(crate) fn verify(&self) -> Result<()> {
        self.set.verify(self.bytes)
    }

    /// The number of rules.
    pub(crate) fn rule_count(&self) -> usize {
        self.set.len()
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
    /// [`Corrupt`](crate::ErrorKind::Corrupt); [`TooLarge`](crate::ErrorKind::TooLarge) if the
    /// patterns exceed their 64 GiB.
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
