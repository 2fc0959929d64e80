//! What a judge knows of origins and robots.txt files by their numbers, for passes over a snapshot.

use super::engine::Engine;
use super::origin_cache::OriginState;
use super::reason::Reason;
use super::status_policy::{Ruling, Verdict, ruling};
use crate::error::{Error, Result};

/// What decides about an origin, for all agents alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSource {
    pub reason: Reason,
    /// The robots.txt whose rules hold, if any do.
    pub file: Option<u32>,
    /// If none do: whether everything is refused.
    pub refused: bool,
}

/// Rules at a place of the snapshot, and the numbers of the agents that obey them.
#[derive(Clone, Debug)]
pub(crate) struct AgentRules {
    pub place: u32,
    pub agents: Vec<usize>,
}

impl Engine<'_> {
    /// What decides about the origin in a row of the section of origin metadata.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
    pub(crate) fn rule_source(&self, row: u32) -> Result<RuleSource> {
        let entry = self.snapshot.origin_at(row)?;
        let outcome = entry.outcome();
        let ruling = ruling(self.policy, outcome, entry.has_last_good(), self.options.at);
        let file = match ruling {
            Ruling::Rules => entry.rules_file(),
            Ruling::LastGood => entry.last_good(),
            Ruling::Allow | Ruling::Disallow => None,
        };
        if file.is_none() && ruling == Ruling::Rules {
            return Err(Error::corrupt("an origin whose rules are nowhere"));
        }
        Ok(RuleSource { reason: Reason::of(outcome, ruling), file, refused: ruling == Ruling::Disallow })
    }

    /// The rules of a robots.txt that agents obey. Agents that it has no group for are left out.
    ///
    /// # Errors
    /// As [`rule_source`](Self::rule_source).
    pub(crate) fn agent_rules(&self, file: u32) -> Result<Vec<AgentRules>> {
        let mut state = OriginState::unknown(Verdict::Unknown, self.agents().len());
        self.group_agents(file, &mut state)?;
        let bit_sets = state.agents_of_groups.chunks_exact(self.words().max(1));
        let rules = state.groups.iter().zip(bit_sets).map(|(group, agents)| {
            let obeys = |agent: &usize| agents[agent / 64] >> (agent % 64) & 1 == 1;
            AgentRules { place: group.place, agents: (0..self.agents().len()).filter(obeys).collect() }
        });
        Ok(rules.collect())
    }
}
