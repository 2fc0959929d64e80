//! The origin cache: the state of the origins that a thread judged lately. In batches, those that
//! the file memo settles do not need it.
//!
//! A larger cache gained nothing.

use super::agent_groups::AgentGroups;
use super::old_rules::OldRules;
use super::verdicts_ref::{OriginContext, VerdictBits, VerdictsRef};
use crate::error::Result;
use crate::explain::Verdict;
use crate::snapshot::history::Validity;
use std::sync::Arc;

/// What holds for all URLs of an origin.
#[derive(Debug)]
pub(super) struct OriginState<'s> {
    /// The canonical key; empty if the state belongs to no origin.
    key: Vec<u8>,
    pub policy: OriginPolicy,
    /// The number of the judge's agents.
    pub agents: usize,
    pub context: OriginContext,
    /// The groups of [`OriginPolicy::ByGroups`] and [`OriginPolicy::ByOldGroups`]; those of an earlier
    /// origin for other policies.
    pub groups: AgentGroups<'s>,
    /// The time in which the state holds, if it is that of an instant. `None` for the newest answer.
    pub validity: Option<Validity>,
    /// The bounds of the answer, if there is a validity. The answer of a failing site has several
    /// validities, one for each phase of the status policy.
    pub answer: Validity,
    /// The rules of [`OriginPolicy::OldRules`].
    pub old_rules: Option<Arc<OldRules>>,
}

impl<'s> OriginState<'s> {
    /// The state of an origin that the snapshot does not hold.
    pub(super) fn unknown(verdict: Verdict, agents: usize) -> Self {
        Self {
            key: Vec::new(),
            policy: OriginPolicy::Uniform(verdict),
            agents,
            context: OriginContext::UNKNOWN,
            groups: AgentGroups::default(),
            validity: None,
            answer: Validity::ALWAYS,
            old_rules: None,
        }
    }

    /// The verdicts on one of its URLs.
    #[inline(always)]
    pub(super) fn verdicts<'a>(&'a self, answer: VerdictBits<'a>) -> VerdictsRef<'a> {
        VerdictsRef {
            answer,
            agents: self.agents,
            context: Some(&self.context),
            listed: None,
        }
    }

    /// The verdicts on all of its URLs, if they do not depend on the path.
    #[inline(always)]
    pub(super) fn verdicts_of_all(&self) -> Option<VerdictsRef<'_>> {
        match self.policy {
            OriginPolicy::Uniform(verdict) => Some(self.verdicts(VerdictBits::Same(verdict))),
            _ => None,
        }
    }
}

/// How an origin's URLs are judged.
#[derive(Clone, Copy, Debug)]
pub(super) enum OriginPolicy {
    /// One verdict for all URLs and agents.
    Uniform(Verdict),
    /// All URLs are disallowed but `/robots.txt`, which is always allowed (RFC 9309 §2.2.2).
    AllButRobots,
    /// By one rule set, as for nearly all origins.
    OneSet(SingleRuleSet),
    /// By the groups of the origin's state.
    ByGroups,
    /// By the groups of the origin's state, whose rules are those of an old text.
    ByOldGroups,
    /// By the old rules of the origin's state, which are parsed.
    OldRules,
}

/// The one rule set that up to 64 agents obey, as far as they obey any.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleRuleSet {
    /// Its offset in the section `rule sets`.
    pub offset: u32,
    /// The agents that may fetch what it allows.
    pub all: u64,
    /// The agents that may fetch everything.
    pub without_group: u64,
}

impl SingleRuleSet {
    /// The agents that may fetch what the rule set allows, or does not allow.
    #[inline(always)]
    pub(super) fn answer(&self, is_allowed: bool) -> VerdictBits<'static> {
        VerdictBits::Word(if is_allowed {
            self.all
        } else {
            self.without_group
        })
    }
}

/// Cached origins. Lists in no order return to the same few hosts again and again.
const SLOTS: usize = 256;

/// A direct-mapped cache of origin states by the hash of the key, and the current one. The slot
/// after the last is the state of all origins that the snapshot does not hold.
#[derive(Debug)]
pub(super) struct OriginCache<'s> {
    /// The hash of each slot's origin, side by side: most look-ups end here.
    hashes: [u64; SLOTS],
    states: Vec<OriginState<'s>>,
    current: usize,
    /// The bytes of the old texts whose rules states took, over all time.
    old_text_bytes: usize,
}

impl<'s> OriginCache<'s> {
    /// An empty cache; `unknown` is the verdict on origins that the snapshot does not hold.
    pub(super) fn new(unknown: Verdict, agents: usize) -> Self {
        let states = std::iter::repeat_with(|| OriginState::unknown(unknown, agents))
            .take(SLOTS + 1)
            .collect();
        Self {
            hashes: [0; SLOTS],
            states,
            current: SLOTS,
            old_text_bytes: 0,
        }
    }

    fn slot(hash: u64) -> usize {
        (hash >> 48) as usize % SLOTS
    }

    /// The state of the origin that was entered last.
    #[inline]
    pub(super) fn current(&self) -> &OriginState<'s> {
        &self.states[self.current]
    }

    /// Makes the origin the current one; `false` if it is not cached.
    #[inline]
    pub(super) fn select(&mut self, key: &[u8], hash: u64) -> bool {
        let slot = Self::slot(hash);
        let state = &self.states[slot];
        let found = self.hashes[slot] == hash && state.key == key && state.validity.is_none();
        if found {
            self.current = slot;
        }
        found
    }

    /// Makes the origin the current one, as of `time`; `false` if its state then is not cached.
    pub(super) fn select_as_of(&mut self, key: &[u8], hash: u64, time: i64) -> bool {
        let slot = Self::slot(hash);
        let state = &self.states[slot];
        let is_valid = state
            .validity
            .is_some_and(|validity| validity.contains(time));
        let found = self.hashes[slot] == hash && state.key == key && is_valid;
        if found {
            self.current = slot;
        }
        found
    }

    /// The bytes of the old texts whose rules states took, over all time. Those that are still held
    /// are among them.
    #[cfg(feature = "audit")]
    pub(super) fn old_text_bytes(&self) -> usize {
        self.old_text_bytes
    }

    /// Makes the state of unknown origins the current one.
    pub(super) fn select_unknown(&mut self) {
        self.current = SLOTS;
    }

    /// Inserts an origin, whose state `fill` completes, and makes it the current one.
    pub(super) fn insert(
        &mut self,
        key: &[u8],
        hash: u64,
        fill: impl FnOnce(&mut OriginState<'s>) -> Result<()>,
    ) -> Result<()> {
        let slot = Self::slot(hash);
        let state = &mut self.states[slot];
        // Until the end the state belongs to no origin, so that an error leaves no wrong one.
        state.key.clear();
        state.validity = None;
        state.old_rules = None;
        fill(state)?;
        if let Some(rules) = &state.old_rules {
            self.old_text_bytes += rules.text_bytes();
        }
        state.key.extend_from_slice(key);
        self.hashes[slot] = hash;
        self.current = slot;
        Ok(())
    }
}
