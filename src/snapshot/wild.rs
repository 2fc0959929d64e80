//! Rules with wildcards: on the branches that their stems lead to, by rank, each beside its signature.

use super::packed::PackedRule;
use super::signature::signature;
use super::wire::Fields;
use crate::error::{Error, Result};
use std::ops::Range;

/// The branch of the rules that begin with `*` or `/*`, which every path meets.
pub(crate) const ROOT: u32 = 0;

pub(super) const BRANCH_LEN: usize = 16;
pub(super) const SIGNATURE_LEN: usize = 16;

/// The rules with wildcards of a rule set where they lie in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wild<'a> {
    /// The root, and then a branch for each stem that rules with wildcards have.
    pub(super) branches: &'a [[u8; BRANCH_LEN]],
    /// Both words of the signature of each rule.
    pub(super) signatures: &'a [[u8; SIGNATURE_LEN]],
    pub(super) packed: &'a [[u8; 8]],
    pub(super) patterns: &'a [u8],
}

/// Rules with wildcards that have the same stem, by rank: longest first, allow before disallow, so that the first that matches decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub first: u32,
    pub count: u32,
    /// The rank of the first, which is the highest; 0 if there is none.
    pub best: u32,
    /// The branch of the next shorter stem; the root is its own.
    pub parent: u32,
}

impl Branch {
    /// The numbers of its rules.
    #[inline(always)]
    pub(crate) fn rules(&self) -> Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }

    #[inline]
    fn decode(row: &[u8; BRANCH_LEN]) -> Self {
        let mut row = Fields(row);
        Self { first: row.u32(), count: row.u32(), best: row.u32(), parent: row.u32() }
    }
}

/// Appends branches, and the signatures of their rules.
pub(super) fn encode<'t>(branches: &[Branch], patterns: impl Iterator<Item = &'t [u8]>, out: &mut Vec<u8>) {
    for Branch { first, count, best, parent } in branches {
        out.extend([first, count, best, parent].into_iter().flat_map(|number| number.to_le_bytes()));
    }
    out.extend(patterns.flat_map(signature).flat_map(u64::to_le_bytes));
}

impl<'a> Wild<'a> {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    /// The packed rule of a number.
    #[inline]
    pub(crate) fn rule(&self, number: usize) -> Option<PackedRule> {
        self.packed.get(number).map(|word| PackedRule::decode(u64::from_le_bytes(*word)))
    }

    /// The pattern of a rule.
    #[inline]
    pub(crate) fn pattern(&self, rule: &PackedRule) -> Result<&'a [u8]> {
        rule.pattern(self.patterns)
    }

    /// The branch of a number.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it is not there. In a damaged file its rules may still reach beyond those that are there.
    #[inline(always)]
    pub(crate) fn branch(&self, number: u32) -> Result<Branch> {
        match self.branches.get(number as usize) {
            Some(row) => Ok(Branch::decode(row)),
            // Only a set without rules with wildcards has not even the root.
            None if number == ROOT && self.packed.is_empty() => {
                Ok(Branch { first: 0, count: 0, best: 0, parent: ROOT })
            }
            None => Err(Error::corrupt("a branch of a rule set that is not there")),
        }
    }

    /// The signatures of the rules from `next` to the end of a run.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if there are not as many rules.
    #[inline(always)]
    pub(crate) fn signatures(&self, next: usize, end: usize) -> Result<&'a [[u8; SIGNATURE_LEN]]> {
        self.signatures.get(next..end).ok_or_else(|| Error::corrupt("a branch of rules that are not there"))
    }
}
