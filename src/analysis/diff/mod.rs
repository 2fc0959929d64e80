//! Two snapshots compared: which origins came and went, whose rules changed, and which agents are newly refused or allowed.
//!
//! First the origins of both, which are sorted, are walked side by side (`origins`); what remains are the distinct pairs of robots.txt
//! files. Then each pair is looked at once (`count`), for every agent name (`subjects`), and in the end examples are sought for the names
//! that are shown (`examples`).

mod count;
mod examples;
mod origins;
mod same;
mod subjects;

use crate::agent::{Agent, AgentMatch};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::snapshot::{OutcomeClass, Snapshot};
use serde::{Serialize, Serializer};

/// What two snapshots are compared for.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// The agents to compare for, each with its own row; none: every name that a robots.txt of either snapshot names.
    pub agents: Vec<Agent>,
    /// How `agents` are compared with user-agent lines.
    pub agent_match: AgentMatch,
    /// Without `agents`: how many names to give, those with the most changes.
    pub top: usize,
    /// How many examples to give of each kind of change.
    pub examples: usize,
}

impl Default for DiffOptions {
    /// Every name, the twenty with the most changes, three examples each.
    fn default() -> Self {
        Self { agents: Vec::new(), agent_match: AgentMatch::default(), top: 20, examples: 3 }
    }
}

/// How a snapshot differs from an earlier one; made by [`Diff::of`]. All counts are of origins.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// In the old snapshot.
    pub old: u64,
    /// In the new one.
    pub new: u64,
    /// In the new one only.
    pub added: Origins,
    /// In the old one only.
    pub gone: Origins,
    /// In both.
    pub common: u64,
    /// In both, and fetching came to another class of outcome.
    pub outcome_changed: Origins,
    /// The same, by what it came to before and after; only those that occur.
    pub outcomes: Vec<OutcomeChange>,
    /// In both, with a robots.txt in both, and another is said to some agent: other rules, or another name. Comments, sitemaps, the order
    /// of lines and what changes no verdict do not count.
    pub rules_changed: Origins,
    /// In both, with an answer in both: a robots.txt, or none (4xx, an unresolved redirect), which refuses nothing. Agents are compared at
    /// these; where fetching failed nobody knows.
    pub answered: u64,
    /// What changed for agents that neither robots.txt names; its name is `*`.
    pub others: AgentChange,
    /// What changed for names, or for the agents asked for.
    pub agents: Vec<AgentChange>,
    /// For how many names something changed by groups of their own; of the agents asked for, how many.
    pub agents_changed: u64,
}

/// Origins, counted, with the first few in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Origins {
    /// How many.
    pub origins: u64,
    /// Such as `https://example.com`; as many as asked for.
    pub examples: Vec<String>,
}

/// Origins whose outcome changed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeChange {
    /// What fetching came to in the old snapshot.
    #[serde(serialize_with = "class_name")]
    pub from: OutcomeClass,
    /// What in the new one.
    #[serde(serialize_with = "class_name")]
    pub to: OutcomeClass,
    /// How many.
    pub origins: u64,
}

fn class_name<S: Serializer>(class: &OutcomeClass, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.name())
}

/// What changed for one agent, over the origins that answered in both snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentChange {
    /// A name in lower case, or an agent as it was given. Names come from strangers: see [`NamedAgent::name`](crate::NamedAgent::name).
    pub name: String,
    /// Origins that now refuse every URL to it ([`Coverage::Wholly`](crate::Coverage::Wholly)), and did not.
    pub refused: Transition,
    /// Origins that refused every URL to it, and do not any more.
    pub allowed: Transition,
}

/// Origins that turned one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// How many.
    pub origins: u64,
    /// Those of them where either robots.txt has a group for the agent; at the others the global groups changed.
    pub named: u64,
    /// The first few with different robots.txt files, in the order of their keys. Where all names were asked for, those of a name are
    /// among `named`.
    pub examples: Vec<RuleChange>,
}

/// How the rules of one origin for one agent changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleChange {
    /// Such as `https://example.com`.
    pub origin: String,
    /// Whose groups held in the old robots.txt: a name, `*`, or none.
    pub old_group: Option<String>,
    /// Whose hold in the new one.
    pub new_group: Option<String>,
    /// Rule lines of those old groups that the new ones do not have, without comments; at most [`RuleChange::LINES`].
    pub removed: Vec<String>,
    /// How many more there are.
    pub removed_more: u64,
    /// Rule lines of the new groups that the old ones did not have; at most as many.
    pub added: Vec<String>,
    /// How many more there are.
    pub added_more: u64,
}

impl RuleChange {
    /// How many lines are given of those added, and of those removed.
    pub const LINES: usize = 5;
}

impl Diff {
    /// Compares two snapshots of the same profile.
    ///
    /// Cost: a pass over the origins of both; then each distinct pair of robots.txt files is looked at, on all threads of the
    /// current rayon pool. Memory: some 40 bytes for each such pair and 30 for each name.
    ///
    /// ```
    /// use robosieve::{Compiler, Diff, DiffOptions, Snapshot};
    /// let compile = |robots: &[u8]| -> robosieve::Result<_> {
    ///     let mut compiler = Compiler::default();
    ///     compiler.add_robots("https://e.example", robots)?;
    ///     Snapshot::new(compiler.finish()?.to_vec()?)
    /// };
    /// let old = compile(b"user-agent: *\ndisallow: /private")?;
    /// let new = compile(b"user-agent: *\ndisallow: /private\nuser-agent: GPTBot\ndisallow: /")?;
    /// let diff = Diff::of(&old, &new, &DiffOptions::default())?;
    /// let change = &diff.agents[0];
    /// assert_eq!((change.name.as_str(), change.refused.origins, change.allowed.origins), ("gptbot", 1, 0));
    /// assert_eq!(change.refused.examples[0].added, ["disallow: /"]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadDiff`] if the profiles differ; [`ErrorKind::Corrupt`] where the bytes of either contradict each other.
    pub fn of(old: &Snapshot, new: &Snapshot, options: &DiffOptions) -> Result<Self> {
        let profiles = [old.profile()?, new.profile()?];
        if profiles[0] != profiles[1] {
            return Err(Error::from(ErrorKind::BadDiff(format!(
                "the old snapshot is of profile {}, the new one of {}, so their rules mean different things; \
                 compile one of them again with the profile of the other",
                profiles[0].name(),
                profiles[1].name(),
            )))
            .with_remedy(Remedy::CompileWithProfile(profiles[1].name())));
        }
        let (mut diff, pairs) = origins::walk(old, new, options.examples)?;
        count::count(old, new, options, &pairs, &mut diff)?;
        Ok(diff)
    }

    /// Whether the two differ in anything that is compared.
    pub fn is_empty(&self) -> bool {
        [&self.added, &self.gone, &self.outcome_changed, &self.rules_changed].iter().all(|change| change.origins == 0)
    }
}
