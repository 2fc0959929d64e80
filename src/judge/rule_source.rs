//! The rule source of an origin and the groups of agents in a robots.txt, for reports.
//!
//! Reports visit origins by row and files by number, where judging starts at a URL. Both apply the
//! same status policy.

use super::engine::Engine;
use super::status_policy::{Ruling, ruling, ruling_changes};
use crate::error::{Error, ErrorKind, Result};
use crate::explain::Reason;
use crate::snapshot::view::{TokenChain, View};
use crate::snapshot::{OriginEntry, Outcome};

/// The source of an origin's rules, which is the same for all agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSource {
    pub reason: Reason,
    /// The robots.txt whose rules apply, if any.
    pub file: Option<u32>,
    /// Without rules: whether everything is disallowed.
    pub refused: bool,
}

/// The rules of one agent in a robots.txt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentGroup {
    /// The offset of the rules; [`NONE`](crate::snapshot::format::NONE) if the agent has no group.
    pub offset: u32,
    /// Whether a group names the agent. Otherwise the rules are those of the global groups.
    pub is_named: bool,
}

impl Engine<'_> {
    /// The source of the rules of an origin.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
    pub(crate) fn rule_source(&self, entry: &OriginEntry<'_>) -> Result<RuleSource> {
        // The entry has the newest answer, so a report by it would be silently wrong.
        if self.options.as_of.is_some() {
            let what = "a report of a time is made from the snapshot of that time \
                        (Compiled::as_of), not by a judge as of it";
            return Err(ErrorKind::BadJob(what.to_owned()).into());
        }
        let outcome = entry.outcome();
        let ruling = ruling(self.policy, outcome, entry.has_last_good(), self.options.at);
        let file = match ruling {
            Ruling::Rules => entry.rules_file(),
            Ruling::LastGood => entry.last_good(),
            Ruling::Allow | Ruling::Disallow => None,
        };
        if file.is_none() && ruling == Ruling::Rules {
            return Err(Error::corrupt("an origin with rules has no robots.txt"));
        }
        Ok(RuleSource {
            reason: Reason::of(outcome, ruling),
            file,
            refused: ruling == Ruling::Disallow,
        })
    }

    /// The ruling of the status policy on an outcome at `time`.
    pub(crate) fn ruling_at(&self, outcome: &Outcome, has_last_good: bool, time: i64) -> Ruling {
        ruling(self.policy, outcome, has_last_good, Some(time))
    }

    /// The times at which the ruling on an outcome may change, in any order.
    pub(crate) fn ruling_changes(&self, outcome: &Outcome) -> impl Iterator<Item = i64> {
        ruling_changes(self.policy, outcome)
    }

    /// The rules of each agent in a robots.txt, in the order of the agents.
    ///
    /// # Errors
    /// As [`rule_source`](Self::rule_source).
    pub(crate) fn agent_groups(&self, file: u32) -> Result<Vec<AgentGroup>> {
        let file = self.view.file(file)?;
        let named = self.view.named(&file)?;
        let offset = |chain: &TokenChain| match View::first_named(named, &chain.tokens) {
            Some(offset) => AgentGroup {
                offset,
                is_named: true,
            },
            None => AgentGroup {
                offset: View::rules_for(&file, named, chain),
                is_named: false,
            },
        };
        Ok(self.chains.iter().map(offset).collect())
    }
}
