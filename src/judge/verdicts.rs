//! The verdicts on one URL, owned.

use super::verdicts_ref::{ListedBy, OriginContext, VerdictBits, VerdictsRef};
use crate::explain::{Reason, Verdict};
use crate::filter_lists::{FilterLists, ListDecision, ListMatch};

/// The verdicts on one URL, for the judge's agents in their order.
#[derive(Clone, Debug)]
pub struct Verdicts {
    answer: OwnedVerdictBits,
    agents: usize,
    context: Option<OriginContext>,
    /// Few URLs are listed.
    listed: Option<Box<OwnedListedBy>>,
}

/// The entry of a filter list that names the URL, and its lists, which share their bytes.
#[derive(Clone, Debug)]
struct OwnedListedBy {
    lists: FilterLists,
    decision: ListDecision,
}

#[derive(Clone, Debug)]
enum OwnedVerdictBits {
    Same(Verdict),
    Word(u64),
    Words(Box<[u64]>),
}

impl Verdicts {
    #[inline]
    pub(super) fn new(verdicts: VerdictsRef<'_>) -> Self {
        let answer = match verdicts.answer {
            VerdictBits::Same(verdict) => OwnedVerdictBits::Same(verdict),
            VerdictBits::Word(word) => OwnedVerdictBits::Word(word),
            VerdictBits::Words(words) => OwnedVerdictBits::Words(words.into()),
        };
        Self {
            answer,
            agents: verdicts.agents,
            context: verdicts.context.copied(),
            listed: verdicts.listed.map(|listed| {
                Box::new(OwnedListedBy {
                    lists: listed.lists.clone(),
                    decision: *listed.decision,
                })
            }),
        }
    }

    /// The same verdicts, borrowed.
    #[inline]
    pub fn as_ref(&self) -> VerdictsRef<'_> {
        let answer = match &self.answer {
            OwnedVerdictBits::Same(verdict) => VerdictBits::Same(*verdict),
            OwnedVerdictBits::Word(word) => VerdictBits::Word(*word),
            OwnedVerdictBits::Words(words) => VerdictBits::Words(words),
        };
        VerdictsRef {
            answer,
            agents: self.agents,
            context: self.context.as_ref(),
            listed: self.listed.as_deref().map(|listed| ListedBy {
                lists: &listed.lists,
                decision: &listed.decision,
            }),
        }
    }

    /// The verdict for the agent with this number; [`Verdict::Invalid`] beyond the last.
    #[inline]
    pub fn get(&self, agent: usize) -> Verdict {
        self.as_ref().get(agent)
    }

    /// As [`VerdictsRef::is_listed`].
    #[inline]
    pub fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// As [`VerdictsRef::list_match`].
    #[inline]
    pub fn list_match(&self) -> Option<ListMatch<'_>> {
        self.as_ref().list_match()
    }

    /// The verdicts in the order of the agents.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Verdict> + '_ {
        (0..self.agents).map(|agent| self.get(agent))
    }

    /// `Unknown` or `Invalid`, which hold for all agents alike; else `None`.
    #[inline]
    pub fn unjudged(&self) -> Option<Verdict> {
        self.as_ref().unjudged()
    }

    /// The number of agents that may fetch the URL.
    #[inline]
    pub fn allowed_count(&self) -> usize {
        self.as_ref().allowed_count()
    }

    /// Appends one byte per agent: `byte_of` its verdict.
    #[inline]
    pub fn append(&self, byte_of: impl Fn(Verdict) -> u8, out: &mut Vec<u8>) {
        self.as_ref().append(byte_of, out);
    }

    /// One bit for each of the first 64 agents ([`VerdictsRef::mask`]).
    #[inline]
    pub fn mask(&self) -> i64 {
        self.as_ref().mask()
    }

    /// What the verdicts rest on, for all agents alike.
    #[inline]
    pub fn reason(&self) -> Reason {
        self.as_ref().reason()
    }

    /// Whether the entry of the other of http and https decided
    /// ([`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme)).
    #[inline]
    pub fn via_other_scheme(&self) -> bool {
        self.as_ref().via_other_scheme()
    }
}
