//! What the stems of a rule set told of a path, kept for the next paths that begin alike.
//!
//! As a rule that holds for all paths of a folder: up to the next stem, and to where paths end to begin with the stem that was found.
//! Neighbours in a list mostly lie in the same one, and are spared the search. It is done for rule sets that many URLs meet and no others:
//! for those that few meet, and in lists in random order within a site, keeping it costs more than it saves.

use crate::error::Result;
use crate::simd::Machine;
use crate::snapshot::ruleset::RuleSet;
use crate::snapshot::stems::{Finding, Found};
use crate::snapshot::wild;

/// What holds for all paths whose first bytes lie in one range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memo {
    finding: Finding,
    /// The rules with wildcards that may decide, a bit for each number.
    numbers: u64,
    /// Paths that it held for.
    uses: u32,
    /// Paths that come before another is made.
    pause: u32,
}

/// One that held for fewer paths was not worth to be made.
const FEW: u32 = 8;

/// After such a one so many paths go without.
const PAUSE: u32 = 128;

impl Default for Memo {
    fn default() -> Self {
        Self { finding: Finding::default(), numbers: 0, uses: FEW, pause: 0 }
    }
}

impl Memo {
    /// Whether it holds for paths with this word.
    #[inline]
    pub(super) fn recall(&mut self, word: u64) -> bool {
        let holds = self.finding.holds_for(word);
        self.uses = self.uses.saturating_add(u32::from(holds));
        holds
    }

    /// The highest rank among the literal rules that match.
    #[inline]
    pub(super) fn rank(&self) -> u32 {
        self.finding.found.rank
    }

    /// The rules with wildcards that may match and rank higher, a bit for each number.
    #[inline]
    pub(super) fn numbers(&self) -> u64 {
        self.numbers
    }

    /// Takes note of a path, given with its word, that it did not hold for. The set has no more than 64 rules with wildcards.
    #[inline]
    pub(super) fn note(&mut self, set: &RuleSet<'_>, path: (&[u8], u64), machine: impl Machine) -> Result<()> {
        match self.pause.checked_sub(1) {
            Some(pause) => {
                self.pause = pause;
                Ok(())
            }
            None => self.renew(set, path, machine),
        }
    }

    #[cold]
    fn renew(&mut self, set: &RuleSet<'_>, (path, word): (&[u8], u64), machine: impl Machine) -> Result<()> {
        if self.uses < FEW {
            *self = Self { pause: PAUSE, ..Self::default() };
            return Ok(());
        }
        let finding = set.stems.tell(path.get(1..).unwrap_or_default(), word, machine)?;
        let Found { rank, branch } = finding.found;
        *self = Self { finding, numbers: wild::numbers(set.wild.runs_above(branch, rank)?), uses: 0, pause: 0 };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::pack;
    use crate::snapshot::stems::prefix_word;

    #[test]
    fn it_holds_within_a_folder_and_rests_where_paths_jump() {
        let rule =
            |text: &'static str| SetRule { text: text.as_bytes().into(), anchored: false, kind: RuleKind::Allow };
        let (sets, patterns) = pack(&["/b", "/d/*x"].map(rule)).unwrap();
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        let mut memo = Memo::default();
        let mut recalls = |path: &[u8]| {
            let word = prefix_word(&path[1..]);
            let recalled = memo.recall(word);
            if !recalled {
                memo.note(&set, (path, word), AnyMachine::detect()).unwrap();
            }
            recalled.then(|| (memo.rank(), memo.numbers()))
        };
        assert_eq!(
            ["/b1", "/b1", "/b2/c", "/d/1"].map(|path| recalls(path.as_bytes()).map(|(_, numbers)| numbers)),
            [None, Some(0), Some(0), None]
        );
        let jumps = |path: usize| if path.is_multiple_of(2) { "/c" } else { "/d/2" };
        assert!((0..PAUSE as usize).all(|path| recalls(jumps(path).as_bytes()).is_none()), "it was of little use");
        assert!((0..20).filter_map(|_| recalls(b"/d/2")).all(|found| found == (0, 1)));
        assert_eq!(recalls(b"/d/3"), Some((0, 1)));
    }
}
