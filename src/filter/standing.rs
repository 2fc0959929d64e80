//! What holds for all URLs of an origin: found once, policy applied, agents sorted by the rules they obey.

use super::basis::Basis;
use super::judge::Judge;
use crate::error::Result;
use crate::matcher::{Ruling, Verdict, ruling};
use crate::profile::Profile;
use crate::snapshot::OutcomeClass;
use crate::snapshot::format::{Entry, NONE};
use crate::snapshot::index::Glance;
use crate::snapshot::ruleset::{RuleSet, Rules};
use crate::snapshot::view::View;
use crate::url::Origin;

/// What holds for all URLs of the origin `key`.
#[derive(Debug)]
pub(super) struct OriginState<'s> {
    /// The canonical key; empty before the first.
    key: Vec<u8>,
    pub standing: Standing<'s>,
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
    /// What holds for an origin that the snapshot does not know, to begin with.
    pub(super) fn new(standing: Standing<'s>) -> Self {
        Self {
            key: Vec::new(),
            standing,
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
    /// No states yet; `unknown` is what holds for origins that the snapshot does not know.
    pub(super) fn new(unknown: Verdict) -> Self {
        let states = std::iter::repeat_with(|| OriginState::new(Standing::Same(unknown))).take(STATES + 1).collect();
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
    fn turn_to(&mut self, key: &[u8], hash: u64) -> bool {
        let place = Self::place(hash);
        let known = self.hashes[place] == hash && self.states[place].key == key;
        if known {
            self.current = place;
        }
        known
    }
}

impl<'s, D: AsRef<[u8]>> Judge<'s, D> {
    /// Finds an origin's entry, under the other scheme too if that is asked for.
    pub(super) fn locate(
        &self,
        (key, hash): (&[u8], u64),
        glance: Glance,
        other_key: &mut Vec<u8>,
    ) -> Result<Option<(Entry<'s>, bool)>> {
        let mut found = None;
        if glance.place != NONE {
            found = self.view.find_at(glance.place, key)?;
        }
        if found.is_none() && glance.more {
            found = self.view.find_hashed(key, hash)?;
        }
        if let Some(entry) = found {
            return Ok(Some((entry, false)));
        }
        if self.options.any_scheme && Origin::other_scheme(key, other_key) {
            return Ok(self.view.find(other_key)?.map(|entry| (entry, true)));
        }
        Ok(None)
    }

    /// Makes the origin with this key and hash the current one.
    #[inline]
    pub(super) fn enter(
        &self,
        (key, hash): (&[u8], u64),
        glance: Glance,
        states: &mut States<'s>,
        other_key: &mut Vec<u8>,
    ) -> Result<()> {
        if states.turn_to(key, hash) {
            return Ok(());
        }
        self.fill((key, hash), glance, states, other_key)
    }

    fn fill(
        &self,
        (key, hash): (&[u8], u64),
        glance: Glance,
        states: &mut States<'s>,
        other_key: &mut Vec<u8>,
    ) -> Result<()> {
        let Some((entry, other)) = self.locate((key, hash), glance, other_key)? else {
            states.current = STATES;
            return Ok(());
        };
        let place = States::place(hash);
        let origin = &mut states.states[place];
        // Until the end the state belongs to no origin, so that an error leaves no wrong one behind.
        origin.key.clear();
        origin.via_other_scheme = other;
        origin.standing = self.stand(&entry, origin)?;
        origin.key.extend_from_slice(key);
        states.hashes[place] = hash;
        states.current = place;
        Ok(())
    }

    /// Applies the policy to an origin's entry; the rest of its state is set.
    pub(super) fn stand(&self, entry: &Entry<'_>, origin: &mut OriginState<'s>) -> Result<Standing<'s>> {
        origin.file = NONE;
        origin.row = entry.row;
        if entry.class == OutcomeClass::Rules {
            origin.basis = Basis::Rules;
            return self.choose_rules(entry.file, origin);
        }
        let facts = self.snapshot.facts(entry.row)?;
        let ruling = ruling(self.policy, &facts.outcome, facts.last_good != NONE, self.options.at);
        origin.basis = Basis::of(&facts.outcome, ruling);
        match ruling {
            Ruling::Allow => Ok(Standing::Same(Verdict::Allowed)),
            Ruling::Disallow if self.profile == Profile::Rfc9309 => Ok(Standing::AllButRobots),
            Ruling::Disallow => Ok(Standing::Same(Verdict::Disallowed)),
            Ruling::LastGood => self.choose_rules(facts.last_good, origin),
            Ruling::Rules => self.choose_rules(entry.file, origin),
        }
    }

    /// Sorts the agents by the rules they obey: usually a few rule sets, however many agents.
    pub(super) fn choose_rules(&self, file: u32, origin: &mut OriginState<'s>) -> Result<Standing<'s>> {
        let words = self.words();
        origin.groups.clear();
        origin.bits.clear();
        origin.free.clear();
        origin.free.resize(words, 0);
        origin.file = file;
        let file = self.view.file(file)?;
        let named = self.view.named(&file)?;
        for (agent, chain) in self.chains.iter().enumerate() {
            let own = if named.is_empty() { None } else { View::first_named(named, chain) };
            let place = own.unwrap_or(file.global);
            let bits = if place == NONE {
                &mut origin.free[..]
            } else {
                let group = match origin.groups.iter().position(|group| group.place == place) {
                    Some(group) => group,
                    None => {
                        origin.groups.push(ObeyedRules { place, rules: self.view.rules(place)? });
                        origin.bits.resize(origin.bits.len() + words, 0);
                        origin.groups.len() - 1
                    }
                };
                &mut origin.bits[group * words..]
            };
            bits[agent / 64] |= 1 << (agent % 64);
        }
        Ok(match (&*origin.groups, &*origin.bits, &*origin.free) {
            ([ObeyedRules { place, rules: Rules::Set(set) }], [bits], [free]) => {
                Standing::BySet(OneSet { place: *place, set: *set, all: free | bits, free: *free })
            }
            _ => Standing::ByGroups,
        })
    }
}
