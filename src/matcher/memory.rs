//! What a thread keeps of the rule sets that it matched, to match the next paths faster: neighbours in a list are alike.

use super::hot::HotSets;
use crate::error::Result;
use crate::simd::Machine;
use crate::snapshot::ruleset::RuleSet;
use crate::snapshot::stems::{Finding, Found};

/// What one thread keeps.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(super) memos: Memos,
    pub(super) hot: HotSets,
}

/// What the stems of a rule set told of a path, which holds for all paths with certain words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memo {
    /// The place of the rule set in the snapshot.
    place: u32,
    finding: Finding,
    /// The rules with wildcards that may decide, as [`Wild::numbers_above`](crate::snapshot::wild::Wild::numbers_above) gives them.
    pub numbers: u64,
    /// Paths that it held for.
    uses: u32,
    /// Paths that must come before another is made.
    pause: u32,
}

/// Rule sets that have a memo, each at the place that its number gives.
const KEPT: usize = 64;

/// So many paths of a rule set come before a memo is made: many come alone.
const FIRST: u32 = 1;

/// A memo that held for so few paths was not worth to be made.
const FEW: u32 = 8;

/// After such a memo so many paths go without.
const PAUSE: u32 = 128;

impl Memo {
    /// What the stems told.
    #[inline]
    pub(super) fn found(&self) -> Found {
        self.finding.found
    }

    #[cold]
    fn renew(&mut self, set: &RuleSet<'_>, tail: &[u8], word: u64, machine: impl Machine) -> Result<()> {
        let finding = set.stems.tell(tail, word, machine)?;
        let Found { rank, branch } = finding.found;
        let pause = if self.uses < FEW { PAUSE } else { 0 };
        *self = Self { finding, numbers: set.wild.numbers_above(branch, rank)?, uses: 0, pause, ..*self };
        Ok(())
    }
}

/// The memos of one thread.
#[derive(Debug)]
pub(super) struct Memos([Memo; KEPT]);

impl Default for Memos {
    fn default() -> Self {
        Self([Memo::default(); KEPT])
    }
}

impl Memos {
    /// What holds for paths with this word under the rule set at a place.
    #[inline]
    pub(super) fn recall(&mut self, place: u32, word: u64) -> Option<&Memo> {
        let memo = &mut self.0[place as usize % KEPT];
        if !memo.finding.holds_for(word) || memo.place != place {
            return None;
        }
        memo.uses = memo.uses.saturating_add(1);
        Some(memo)
    }

    /// Takes note of a path for which nothing was recalled, given what follows its `/` and the word of that.
    #[inline]
    pub(super) fn note(
        &mut self,
        place: u32,
        set: &RuleSet<'_>,
        (tail, word): (&[u8], u64),
        machine: impl Machine,
    ) -> Result<()> {
        let memo = &mut self.0[place as usize % KEPT];
        if memo.place != place {
            *memo = Memo { place, pause: FIRST, ..Memo::default() };
        } else if memo.pause > 0 {
            memo.pause -= 1;
        } else {
            memo.renew(set, tail, word, machine)?;
        }
        Ok(())
    }
}
