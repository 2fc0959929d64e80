//! Agents grouped by the rules that they obey.

use crate::error::Result;
use crate::matcher::rule_set::Rules;
use crate::snapshot::format::NONE;
use crate::snapshot::view::View;

/// Rules that some agents obey, and their offset in the section of rule sets that the view reads: those
/// of the newest texts, or those of old ones.
#[derive(Debug)]
pub(super) struct RuleGroup<'s> {
    pub offset: u32,
    pub rules: Rules<'s>,
}

/// The agents of a judge, grouped by their rules in one robots.txt.
#[derive(Debug, Default)]
pub(super) struct AgentGroups<'s> {
    groups: Vec<RuleGroup<'s>>,
    /// For each group a bit set of the agents that obey it.
    agents: Vec<u64>,
    /// The agents that no group of the robots.txt applies to: they may fetch everything.
    without_group: Vec<u64>,
}

impl<'s> AgentGroups<'s> {
    /// Removes all groups; bit sets of agents have this many words from now on.
    pub(super) fn clear(&mut self, words: usize) {
        self.groups.clear();
        self.agents.clear();
        self.without_group.clear();
        self.without_group.resize(words, 0);
    }

    /// Adds an agent that obeys the rules at an offset, or none.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if there are no rules at the offset.
    pub(super) fn add(&mut self, agent: usize, offset: u32, view: &View<'s>) -> Result<()> {
        let words = self.without_group.len();
        let agents = if offset == NONE {
            &mut self.without_group[..]
        } else {
            let group = match self.groups.iter().position(|group| group.offset == offset) {
                Some(group) => group,
                None => {
                    let rules = view.rules(offset)?;
                    self.groups.push(RuleGroup { offset, rules });
                    self.agents.resize(self.agents.len() + words, 0);
                    self.groups.len() - 1
                }
            };
            &mut self.agents[group * words..]
        };
        agents[agent / 64] |= 1 << (agent % 64);
        Ok(())
    }

    /// The agents that may fetch everything, as a bit set.
    #[inline]
    pub(super) fn without_group(&self) -> &[u64] {
        &self.without_group
    }

    /// Each group, with the bit set of its agents.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (&RuleGroup<'s>, &[u64])> {
        let words = self.without_group.len().max(1);
        self.groups.iter().zip(self.agents.chunks_exact(words))
    }
}
