//! A packed rule set on its way from one snapshot to another: copied as it lies, but for the places of its patterns.

use super::packed::{PackedRule, checked_place};
use super::read::Snapshot;
use super::ruleset::{HEAD_LEN, RuleSet, Rules};
use super::view::View;
use super::wire::bytes;
use crate::error::{Error, Result};

impl<D: AsRef<[u8]>> Snapshot<D> {
    /// The places of all rule sets and unions, one behind the other.
    pub(crate) fn rule_places(&self) -> Result<Vec<u32>> {
        let view = self.view();
        let (mut places, mut at) = (Vec::new(), 0);
        while at < view.rule_sets.len() {
            let place = u32::try_from(at / 8).map_err(|_| Error::corrupt("the rule sets are too long"))?;
            at += view.rules(place)?.encoded_len();
            places.push(place);
        }
        Ok(places)
    }
}

/// A rule set, not a union, where it lies in a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedSet<'a> {
    bytes: &'a [u8],
    set: RuleSet<'a>,
    patterns: &'a [u8],
}

impl<'a> PackedSet<'a> {
    /// The rule set `set`, which lies at `place` of a snapshot, in units of 8 bytes.
    pub(crate) fn new(view: &View<'a>, place: u32, set: RuleSet<'a>) -> Result<Self> {
        let len = Rules::Set(set).encoded_len();
        let bytes = bytes(view.rule_sets, place as usize * 8, len, "a rule set")?;
        Ok(Self { bytes, set, patterns: view.patterns })
    }

    /// The rule set that `bytes` are, with the section `patterns` that it refers to.
    pub(super) fn of_bytes(bytes: &'a [u8], patterns: &'a [u8]) -> Result<Self> {
        Ok(Self { bytes, set: RuleSet::decode(bytes, 0, patterns)?, patterns })
    }

    /// Checks what look-ups rely on.
    pub(super) fn verify(&self) -> Result<()> {
        self.set.verify(self.bytes)
    }

    /// The length of what [`copy`](Self::copy) appends.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The number of rules.
    pub(crate) fn rule_count(&self) -> usize {
        self.set.len()
    }

    /// The length of the patterns that [`copy`](Self::copy) stores.
    pub(super) fn stored_len(&self) -> usize {
        self.stored().map(|(_, rule)| rule.len).sum()
    }

    /// The rules whose patterns lie in the section `patterns`, and where the packed word of each stands in the set.
    fn stored(&self) -> impl Iterator<Item = (usize, PackedRule)> {
        let (stems, wild) = (self.set.stems.packed, self.set.wild.packed);
        let stems_start = HEAD_LEN + stems.len() * 8;
        let wild_start = self.bytes.len() - wild.len() * 8;
        let decode = |(at, word): (usize, &[u8; 8])| (at, PackedRule::decode(u64::from_le_bytes(*word)));
        let stems = (stems_start..).step_by(8).zip(stems).map(decode);
        let stored = stems.filter(|(_, stem)| !stem.bare && !stem.is_inline());
        stored.chain((wild_start..).step_by(8).zip(wild).map(decode))
    }

    /// Appends the set to `out`; `store` gives the place of a pattern there. What [`encode`](super::ruleset::encode) appends for
    /// the same rules is the same.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt), and [`TooLarge`](crate::ErrorKind::TooLarge) if the patterns outgrow their 64 GiB.
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
