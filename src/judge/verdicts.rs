//! The verdicts on one URL, owned.

use super::line_verdicts::{LineVerdicts, OriginContext, VerdictBits};
use super::reason::Reason;
use super::status_policy::Verdict;

/// The verdicts on one URL, for the judge's agents in their order.
#[derive(Clone, Debug)]
pub struct Verdicts {
    answer: OwnedVerdictBits,
    agents: usize,
    context: Option<OriginContext>,
}

#[derive(Clone, Debug)]
enum OwnedVerdictBits {
    Same(Verdict),
    Word(u64),
    Words(Box<[u64]>),
}

impl Verdicts {
    #[inline]
    pub(super) fn new(verdicts: LineVerdicts<'_>) -> Self {
        let answer = match verdicts.answer {
            VerdictBits::Same(verdict) => OwnedVerdictBits::Same(verdict),
            VerdictBits::Word(word) => OwnedVerdictBits::Word(word),
            VerdictBits::Words(words) => OwnedVerdictBits::Words(words.into()),
        };
        Self { answer, agents: verdicts.agents, context: verdicts.context.copied() }
    }

    #[inline]
    fn borrowed(&self) -> LineVerdicts<'_> {
        let answer = match &self.answer {
            OwnedVerdictBits::Same(verdict) => VerdictBits::Same(*verdict),
            OwnedVerdictBits::Word(word) => VerdictBits::Word(*word),
            OwnedVerdictBits::Words(words) => VerdictBits::Words(words),
        };
        LineVerdicts { answer, agents: self.agents, context: self.context.as_ref() }
    }

    /// The verdict for the agent at this place; [`Verdict::Invalid`] for a place after the last.
    #[inline]
    pub fn get(&self, agent: usize) -> Verdict {
        self.borrowed().get(agent)
    }

    /// The verdicts in the order of the agents.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Verdict> + '_ {
        (0..self.agents).map(|agent| self.get(agent))
    }

    /// `Unknown` or `Invalid`, which hold for all agents alike; else `None`.
    #[inline]
    pub fn unjudged(&self) -> Option<Verdict> {
        self.borrowed().unjudged()
    }

    /// The number of agents that may fetch the URL.
    #[inline]
    pub fn allowed_count(&self) -> usize {
        self.borrowed().allowed_count()
    }

    /// What the verdicts rest on, for all agents alike.
    #[inline]
    pub fn reason(&self) -> Reason {
        self.borrowed().reason()
    }

    /// Whether the entry of the other of http and https decided
    /// ([`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme)).
    #[inline]
    pub fn via_other_scheme(&self) -> bool {
        self.borrowed().via_other_scheme()
    }
}
