//! What holds for all URLs of an origin, and for the origins that a thread judged lately.

use super::basis::Basis;
use crate::error::Result;
use crate::matcher::Verdict;
use crate::snapshot::format::NONE;
use crate::snapshot::ruleset::{RuleSet, Rules};

/// What holds for all URLs of the origin `key`.
#[derive(Debug)]
pub(super) struct OriginState<'s> {
    /// The canonical key; empty before the first.
    key: Vec<u8>,
    pub standing: Standing<'s>,
    /// How many agents the judge has.
    pub agents: usize,
    pub basis: Basis,
    /// The origin's row in the section `facts`; [`NONE`] if the snapshot does not know it.
    pub row: u32,
    pub via_other_scheme: bool,
    /// The number of the robots.txt that counts; `NONE` where none does.
    pub file: u32,
    /// The rules of the robots.txt that count; the bits of the agents that obey them are in `bits`.
    pub groups: Vec<ObeyedRules<'s>>,
    /// One run of words for each group.
    pub bits: Vec<u64>,
    /// The agents for whom the robots.txt has no group: they may fetch everything.
    pub free: Vec<u64>,
}

impl<'s> OriginState<'s> {
    /// What holds for an origin that the snapshot does not know, to begin with; and for so many agents.
    pub(super) fn new(standing: Standing<'s>, agents: usize) -> Self {
        Self {
            key: Vec::new(),
            standing,
            agents,
            basis: Basis::UnknownOrigin,
            row: NONE,
            via_other_scheme: false,
            file: NONE,
            groups: Vec::new(),
            bits: Vec::new(),
            free: Vec::new(),
        }
    }
}

/// Rules that some agents obey, and their place in the snapshot.
#[derive(Debug)]
pub(super) struct ObeyedRules<'s> {
    pub place: u32,
    pub rules: Rules<'s>,
}

/// What decides about an origin's URLs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Standing<'s> {
    /// One verdict holds for all URLs and agents.
    Same(Verdict),
    /// All are refused but `/robots.txt` (RFC 9309 §2.2.2 allows it always).
    AllButRobots,
    /// One rule set, as for nearly all origins.
    BySet(OneSet<'s>),
    /// One of [so few rules](crate::matcher::rules::are_few) that they are looked at where they lie.
    ByFew(OneSet<'s>),
    /// The groups of the origin's state.
    ByGroups,
}

/// A rule set that all of up to 64 agents obey, or all that obey any.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneSet<'s> {
    /// Its place in the snapshot.
    pub place: u32,
    pub set: RuleSet<'s>,
    /// The agents who may fetch what it allows.
    pub all: u64,
    /// The agents who may fetch everything.
    pub free: u64,
}

/// States kept: lists in no order come back to the same few hosts again and again.
const STATES: usize = 256;

/// What holds for the origins judged lately, each at the place that its hash gives, and which of them is the current one. The
/// place behind the last stands for every origin that the snapshot does not know.
#[derive(Debug)]
pub(super) struct States<'s> {
    /// The hash of each state's origin, in one place: most look-ups end here.
    hashes: [u64; STATES],
    states: Vec<OriginState<'s>>,
    current: usize,
}

impl<'s> States<'s> {
    /// No states yet, for so many agents; `unknown` is what holds for origins that the snapshot does not know.
    pub(super) fn new(unknown: Verdict, agents: usize) -> Self {
        let states =
            std::iter::repeat_with(|| OriginState::new(Standing::Same(unknown), agents)).take(STATES + 1).collect();
        Self { hashes: [0; STATES], states, current: STATES }
    }

    fn place(hash: u64) -> usize {
        (hash >> 48) as usize % STATES
    }

    /// What holds for the origin that was entered last.
    #[inline]
    pub(super) fn current(&self) -> &OriginState<'s> {
        &self.states[self.current]
    }

    /// Whether the state of the origin with this hash seems to be here.
    #[inline]
    pub(super) fn seems_known(&self, hash: u64) -> bool {
        self.hashes[Self::place(hash)] == hash
    }

    /// Makes the origin's state the current one; `false` if it is not here.
    #[inline]
    pub(super) fn turn_to(&mut self, key: &[u8], hash: u64) -> bool {
        let place = Self::place(hash);
        let known = self.hashes[place] == hash && self.states[place].key == key;
        if known {
            self.current = place;
        }
        known
    }

    /// Makes that of an origin that the snapshot does not know the current one.
    pub(super) fn turn_to_unknown(&mut self) {
        self.current = STATES;
    }

    /// Makes a state that is filled by `fill` the origin's, and the current one.
    pub(super) fn turn_to_new(
        &mut self,
        (key, hash): (&[u8], u64),
        fill: impl FnOnce(&mut OriginState<'s>) -> Result<()>,
    ) -> Result<()> {
        let place = Self::place(hash);
        let origin = &mut self.states[place];
        // Until the end the state belongs to no origin, so that an error leaves no wrong one behind.
        origin.key.clear();
        fill(origin)?;
        origin.key.extend_from_slice(key);
        self.hashes[place] = hash;
        self.current = place;
        Ok(())
    }
}
