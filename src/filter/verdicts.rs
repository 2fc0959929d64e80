//! The verdicts on one URL for any number of agents.

use super::basis::Basis;
use crate::matcher::Verdict;
use crate::snapshot::format::NONE;

/// The verdicts on one URL, for the judge's agents in their order.
#[derive(Clone, Copy, Debug)]
pub struct Verdicts<'a> {
    pub(super) answer: Answer<'a>,
    pub(super) agents: usize,
    pub(super) via_other_scheme: bool,
    /// The number of the robots.txt whose rules decided; `NONE` where there is none.
    pub(super) file: u32,
    pub(super) basis: Basis,
    /// The row of the origin that decides in the section `facts`, or that of none.
    pub(super) row: u32,
}

/// One verdict for all agents, or a bit for each: whether it may fetch the URL.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer<'a> {
    Same(Verdict),
    Bits(&'a [u64]),
}

impl Verdicts<'_> {
    /// Those on what is not a URL.
    pub(super) fn invalid(agents: usize) -> Self {
        let answer = Answer::Same(Verdict::Invalid);
        Verdicts { answer, agents, via_other_scheme: false, basis: Basis::NotAUrl, row: NONE, file: NONE }
    }

    /// Those on an origin that the snapshot does not know.
    pub(super) fn on_unknown(verdict: Verdict, agents: usize) -> Self {
        Verdicts { answer: Answer::Same(verdict), basis: Basis::UnknownOrigin, ..Self::invalid(agents) }
    }

    /// The verdict for the agent of this number; [`Verdict::Invalid`] for a number beyond the last.
    pub fn get(&self, agent: usize) -> Verdict {
        match self.answer {
            _ if agent >= self.agents => Verdict::Invalid,
            Answer::Same(verdict) => verdict,
            Answer::Bits(words) if words[agent / 64] >> (agent % 64) & 1 == 1 => Verdict::Allowed,
            Answer::Bits(_) => Verdict::Disallowed,
        }
    }

    /// The verdicts in the order of the agents.
    pub fn iter(&self) -> impl Iterator<Item = Verdict> + '_ {
        (0..self.agents).map(|agent| self.get(agent))
    }

    /// `Unknown` or `Invalid`, which hold for all agents alike; else `None`.
    pub fn unjudged(&self) -> Option<Verdict> {
        match self.answer {
            Answer::Same(verdict @ (Verdict::Unknown | Verdict::Invalid)) => Some(verdict),
            _ => None,
        }
    }

    /// How many agents may fetch it.
    #[inline]
    pub fn allowed_count(&self) -> usize {
        match self.answer {
            Answer::Same(Verdict::Allowed) => self.agents,
            Answer::Same(_) => 0,
            Answer::Bits(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Adds so many lines to the counts of the agents that may fetch them.
    #[inline]
    pub(super) fn count_allowed(&self, lines: u64, counts: &mut [u64]) {
        match self.answer {
            Answer::Same(Verdict::Allowed) => counts.iter_mut().for_each(|count| *count += lines),
            Answer::Same(_) => {}
            Answer::Bits(words) => {
                let counts = counts.chunks_mut(64).zip(words);
                counts.for_each(|(counts, word)| {
                    counts.iter_mut().zip(0..).for_each(|(count, agent)| *count += (word >> agent & 1) * lines);
                });
            }
        }
    }

    /// A bit for each of the first 64 agents, as far as there are so many: whether it may fetch the URL.
    #[inline]
    pub(super) fn mask(&self) -> i64 {
        match self.answer {
            Answer::Same(Verdict::Allowed) if self.agents < 64 => (1 << self.agents) - 1,
            Answer::Same(Verdict::Allowed) => -1,
            Answer::Same(_) => 0,
            Answer::Bits(words) => words.first().map_or(0, |word| word.cast_signed()),
        }
    }

    /// Whether the agent of this number may fetch the URL.
    pub(super) fn may_fetch(&self, agent: usize) -> bool {
        self.get(agent) == Verdict::Allowed
    }

    /// The row of the origin that decides, in the section `facts`.
    pub(crate) fn row(&self) -> Option<u32> {
        (self.row != NONE).then_some(self.row)
    }

    /// What they rest on, for all agents alike.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Whether the other scheme's entry was used ([`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme)).
    pub fn via_other_scheme(&self) -> bool {
        self.via_other_scheme
    }
}
