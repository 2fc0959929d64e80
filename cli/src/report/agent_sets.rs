//! The sets of agents that the user has named, for reports on them.

use super::fold::AgentSubset;
use crate::agent_args::SelectedAgents;

/// The sets, each with the positions of its agents.
pub(super) fn subsets(selected: &SelectedAgents) -> Vec<AgentSubset> {
    let sets = selected.sets.iter().map(|set| AgentSubset {
        name: set.name.clone(),
        agents: set.members.clone(),
    });
    sets.collect()
}
