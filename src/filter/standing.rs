//! Finding what holds for all URLs of an origin: its entry, the policy applied, agents sorted by the rules they obey.

use super::basis::Basis;
use super::judge::Judge;
use super::states::{ObeyedRules, OneSet, OriginState, Standing, States};
use crate::error::Result;
use crate::matcher::rules::are_few;
use crate::matcher::{Ruling, Verdict, ruling};
use crate::profile::Profile;
use crate::snapshot::OutcomeClass;
use crate::snapshot::format::{Entry, NONE};
use crate::snapshot::index::Glance;
use crate::snapshot::ruleset::Rules;
use crate::snapshot::view::View;
use crate::url::Origin;

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
            states.turn_to_unknown();
            return Ok(());
        };
        states.turn_to_new((key, hash), |origin| {
            origin.via_other_scheme = other;
            origin.standing = self.stand(&entry, origin)?;
            Ok(())
        })
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
                let one = OneSet { place: *place, set: *set, all: free | bits, free: *free };
                if are_few(set) { Standing::ByFew(one) } else { Standing::BySet(one) }
            }
            _ => Standing::ByGroups,
        })
    }
}
