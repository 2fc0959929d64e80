//! The policy of an origin: its entry looked up, the status policy applied, the agents grouped by
//! the rules they obey.

use super::agent_groups::AgentGroups;
use super::engine::Engine;
use super::origin_cache::{OriginCache, OriginPolicy, OriginState, SingleRuleSet};
use super::status_policy::{Ruling, ruling};
use super::verdicts_ref::OriginContext;
use crate::error::Result;
use crate::explain::{Reason, Verdict};
use crate::matcher::rule_set::Rules;
use crate::profile::Profile;
use crate::snapshot::OutcomeClass;
use crate::snapshot::format::{Entry, NONE};
use crate::snapshot::index::Probe;
use crate::snapshot::view::View;
use crate::url::Origin;

impl<'s> Engine<'s> {
    /// Looks up an origin's entry, with the other of http and https if the options say so. The flag
    /// says whether the entry is that of the other scheme.
    pub(super) fn locate(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        other_key: &mut Vec<u8>,
    ) -> Result<Option<(Entry<'s>, bool)>> {
        if let Some(entry) = self.find_probed(key, hash, probe)? {
            return Ok(Some((entry, false)));
        }
        if self.options.any_scheme && Origin::other_scheme(key, other_key) {
            return Ok(self.view.find(other_key)?.map(|entry| (entry, true)));
        }
        Ok(None)
    }

    /// Looks up the entry of a key, of whose first bucket this is the probe.
    pub(super) fn find_probed(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
    ) -> Result<Option<Entry<'s>>> {
        let mut found = None;
        if probe.offset != NONE {
            found = self.view.find_at(probe.offset, key)?;
        }
        if found.is_none() && probe.more {
            found = self.view.find_hashed(key, hash)?;
        }
        Ok(found)
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
            text: OriginContext::OF_NEWEST,
            via_other_scheme,
        };
        // Most origins have rules or no robots.txt. Their entries save reading their metadata.
        if entry.class == OutcomeClass::Rules {
            return self.apply_rules(entry.file, state);
        }
        if entry.has_no_robots_txt {
            state.context.reason = Reason::NoRobotsTxt;
            state.policy = OriginPolicy::Uniform(Verdict::Allowed);
            return Ok(());
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
            Ruling::LastGood => self.apply_rules(metadata.last_good, state)?,
            Ruling::Rules => self.apply_rules(entry.file, state)?,
        }
        Ok(())
    }

    /// Sets the policy of an origin with a robots.txt.
    pub(super) fn apply_rules(&self, file: u32, state: &mut OriginState<'s>) -> Result<()> {
        state.context.file = file;
        state.policy = match self.policy_of_one_set(file)? {
            Some(policy) => policy,
            None => {
                self.group_agents(file, &mut state.groups)?;
                OriginPolicy::ByGroups
            }
        };
        Ok(())
    }

    /// The policy if there are up to 64 agents, and all that obey any rules obey the same rule set.
    /// That is the usual case, which needs no groups. In a list in random order, most origins come
    /// once, so this is part of the cost of a URL.
    pub(super) fn policy_of_one_set(&self, file: u32) -> Result<Option<OriginPolicy>> {
        let file = self.view.file(file)?;
        let named = self.view.named(&file)?;
        let all = match self.chains.len() {
            // Without agents nothing is matched.
            0 => return Ok(Some(OriginPolicy::Uniform(Verdict::Allowed))),
            65.. => return Ok(None),
            agents => u64::MAX >> (64 - agents),
        };
        let mut offset = NONE;
        let mut obeying = 0;
        for (agent, chain) in self.chains.iter().enumerate() {
            let own = View::rules_for(&file, named, chain);
            if own == NONE {
                continue;
            }
            if offset != NONE && offset != own {
                return Ok(None);
            }
            offset = own;
            obeying |= 1 << agent;
        }
        if offset == NONE {
            return Ok(Some(OriginPolicy::Uniform(Verdict::Allowed)));
        }
        Ok(match self.view.rules(offset)? {
            Rules::Set(_) => Some(OriginPolicy::OneSet(SingleRuleSet {
                offset,
                all,
                without_group: all & !obeying,
            })),
            Rules::Union(_) => None,
        })
    }

    /// Groups the agents by the rules of a robots.txt that they obey: usually a few rule sets for
    /// any number of agents. So a path is matched once per rule set, and not once per agent.
    pub(super) fn group_agents(&self, file: u32, groups: &mut AgentGroups<'s>) -> Result<()> {
        let file = self.view.file(file)?;
        let named = self.view.named(&file)?;
        groups.clear(self.words());
        for (agent, chain) in self.chains.iter().enumerate() {
            groups.add(agent, View::rules_for(&file, named, chain), &self.view)?;
        }
        Ok(())
    }
}
