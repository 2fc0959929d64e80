//! The policy of an origin: its entry looked up, the status policy applied, the agents grouped by
//! the rules they obey.

use super::engine::Engine;
use super::origin_cache::{OriginCache, OriginPolicy, OriginState, RuleGroup, SingleRuleSet};
use super::reason::Reason;
use super::status_policy::{Ruling, Verdict, ruling};
use super::verdicts_ref::OriginContext;
use crate::error::Result;
use crate::matcher::rule_set::Rules;
use crate::profile::Profile;
use crate::snapshot::OutcomeClass;
use crate::snapshot::format::{Entry, NONE};
use crate::snapshot::index::Probe;
use crate::snapshot::view::View;
use crate::url::Origin;

impl<'s> Engine<'s> {
    /// Looks up an origin's entry, with the other of http and https if the options say so. The flag
    /// tells whether the entry is that of the other scheme.
    pub(super) fn locate(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        other_key: &mut Vec<u8>,
    ) -> Result<Option<(Entry<'s>, bool)>> {
        let mut found = None;
        if probe.offset != NONE {
            found = self.view.find_at(probe.offset, key)?;
        }
        if found.is_none() && probe.more {
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

    /// Makes the origin with this key and hash the current one of the cache.
    #[inline]
    pub(super) fn enter(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        origins: &mut OriginCache<'s>,
        other_key: &mut Vec<u8>,
    ) -> Result<()> {
        if origins.select(key, hash) {
            return Ok(());
        }
        self.insert(key, hash, probe, origins, other_key)
    }

    fn insert(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        origins: &mut OriginCache<'s>,
        other_key: &mut Vec<u8>,
    ) -> Result<()> {
        let Some((entry, via_other_scheme)) = self.locate(key, hash, probe, other_key)? else {
            origins.select_unknown();
            return Ok(());
        };
        origins.insert(key, hash, |state| {
            self.resolve(&entry, via_other_scheme, state)
        })
    }

    /// Sets the state of an origin from its entry.
    pub(super) fn resolve(
        &self,
        entry: &Entry<'_>,
        via_other_scheme: bool,
        state: &mut OriginState<'s>,
    ) -> Result<()> {
        state.context = OriginContext {
            reason: Reason::Rules,
            row: entry.row,
            file: NONE,
            via_other_scheme,
        };
        // Most origins have rules. The class in their entry saves reading their metadata.
        if entry.class == OutcomeClass::Rules {
            return self.group_agents(entry.file, state);
        }
        let metadata = self.view.origin_metadata(entry.row)?;
        let ruling = ruling(
            self.policy,
            &metadata.outcome,
            metadata.last_good != NONE,
            self.options.at,
        );
        state.context.reason = Reason::of(&metadata.outcome, ruling);
        match ruling {
            Ruling::Allow => state.policy = OriginPolicy::Uniform(Verdict::Allowed),
            Ruling::Disallow if self.profile == Profile::Rfc9309 => {
                state.policy = OriginPolicy::AllButRobots
            }
            Ruling::Disallow => state.policy = OriginPolicy::Uniform(Verdict::Disallowed),
            Ruling::LastGood => self.group_agents(metadata.last_good, state)?,
            Ruling::Rules => self.group_agents(entry.file, state)?,
        }
        Ok(())
    }

    /// Groups the agents by the rules of a robots.txt that they obey: usually a few rule sets for
    /// any number of agents.
    pub(super) fn group_agents(&self, file: u32, state: &mut OriginState<'s>) -> Result<()> {
        let words = self.words();
        state.groups.clear();
        state.agents_of_groups.clear();
        state.without_group.clear();
        state.without_group.resize(words, 0);
        state.context.file = file;
        let file = self.view.file(file)?;
        let named = self.view.named(&file)?;
        // Most agents share the global rules, so a path is matched once per rule set, and not once
        // per agent.
        for (agent, chain) in self.chains.iter().enumerate() {
            let own = if named.is_empty() {
                None
            } else {
                View::first_named(named, chain)
            };
            let offset = own.unwrap_or(file.global);
            let agents = if offset == NONE {
                &mut state.without_group[..]
            } else {
                let group = match state.groups.iter().position(|group| group.offset == offset) {
                    Some(group) => group,
                    None => {
                        state.groups.push(RuleGroup {
                            offset,
                            rules: self.view.rules(offset)?,
                        });
                        state
                            .agents_of_groups
                            .resize(state.agents_of_groups.len() + words, 0);
                        state.groups.len() - 1
                    }
                };
                &mut state.agents_of_groups[group * words..]
            };
            agents[agent / 64] |= 1 << (agent % 64);
        }
        // One rule set and up to 64 agents are the usual case: their verdicts are one of two words.
        state.policy = match (
            &*state.groups,
            &*state.agents_of_groups,
            &*state.without_group,
        ) {
            (
                [
                    RuleGroup {
                        offset,
                        rules: Rules::Set(set),
                    },
                ],
                [agents],
                [without],
            ) => OriginPolicy::OneSet(SingleRuleSet {
                offset: *offset,
                set: *set,
                all: without | agents,
                without_group: *without,
            }),
            _ => OriginPolicy::ByGroups,
        };
        Ok(())
    }
}
