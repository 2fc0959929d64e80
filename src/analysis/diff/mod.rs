//! The difference of two snapshots: origins, outcomes, rules, and agents newly disallowed or
//! allowed.
//!
//! The comparison has three steps:
//!
//! 1. `origins` joins the sorted origins of both snapshots, and reduces them to the distinct pairs
//!    of robots.txt files.
//! 2. `count` compares each pair once (`same_rules`), and computes for each agent how much the
//!    files disallow to it (`comparison`).
//! 3. `examples` adds examples to the rows of the result.

mod comparison;
mod count;
mod examples;
mod origins;

use crate::agent::{Agent, AgentMatch};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::snapshot::{OutcomeClass, Snapshot};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// The options of [`Diff::of`].
///
/// ```
/// use robosieve::diff::DiffOptions;
/// let options = DiffOptions::default().top(5).examples(0);
/// assert_eq!((options.top, options.examples), (5, 0));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiffOptions {
    /// The agents to compare, each with its own row. If empty: all names in either snapshot.
    pub agents: Vec<Agent>,
    /// How `agents` are compared with user-agent lines.
    pub agent_match: AgentMatch,
    /// Without `agents`: the number of rows, for the first names in the order of
    /// [`AgentChange::ranking`].
    pub top: usize,
    /// The number of examples for each kind of change.
    pub examples: usize,
}

impl Default for DiffOptions {
    /// The twenty names that most origins newly disallow, three examples each.
    fn default() -> Self {
        Self {
            agents: Vec::new(),
            agent_match: AgentMatch::default(),
            top: 20,
            examples: 3,
        }
    }
}

impl DiffOptions {
    /// Sets [`agents`](Self::agents).
    pub fn agents(mut self, agents: Vec<Agent>) -> Self {
        self.agents = agents;
        self
    }

    /// Sets [`agent_match`](Self::agent_match).
    pub fn agent_match(mut self, agent_match: AgentMatch) -> Self {
        self.agent_match = agent_match;
        self
    }

    /// Sets [`top`](Self::top).
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets [`examples`](Self::examples).
    pub fn examples(mut self, examples: usize) -> Self {
        self.examples = examples;
        self
    }
}

/// The difference of two snapshots; returned by [`Diff::of`]. All counts are numbers of origins.
///
/// Serialized, [`AgentChange::refused`] has two keys: `refused` and `disallowed`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// Origins of the old snapshot.
    pub old: u64,
    /// Origins of the new snapshot.
    pub new: u64,
    /// Origins of the new snapshot only.
    pub added: Origins,
    /// Origins of the old snapshot only.
    pub gone: Origins,
    /// Origins of both snapshots.
    pub common: u64,
    /// Origins of both whose outcome has another class.
    pub outcome_changed: Origins,
    /// The same, by the classes before and after. Only pairs of classes that occur.
    pub outcomes: Vec<OutcomeChange>,
    /// Origins with a robots.txt in both snapshots that differ in a rule or in an agent name.
    ///
    /// Comments, sitemaps, the order of lines, and changes without effect on verdicts do not count.
    pub rules_changed: Origins,
    /// Origins that answered in both snapshots. Agents are compared at these origins only.
    ///
    /// An answer is a robots.txt, or that there is none (4xx, an unresolved redirect), which
    /// disallows nothing. If fetching failed, the rules are unknown.
    pub answered: u64,
    /// The change for agents that neither robots.txt names. Its name is `*`.
    pub others: AgentChange,
    /// The changes of the requested agents in their order; without any, of names in the order of
    /// [`AgentChange::ranking`].
    pub agents: Vec<AgentChange>,
    /// The number of names with transitions by groups of their own; or the number of requested
    /// agents with transitions.
    pub agents_changed: u64,
}

/// A number of origins, and the first few of them, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Origins {
    /// The number of origins.
    pub origins: u64,
    /// Origins such as `https://example.com`, at most [`DiffOptions::examples`].
    pub examples: Vec<String>,
}

/// A change of the outcome from one class to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutcomeChange {
    /// The class in the old snapshot.
    pub from: OutcomeClass,
    /// The class in the new snapshot.
    pub to: OutcomeClass,
    /// The number of origins.
    pub origins: u64,
}

/// The change for one agent, over the origins that answered in both snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentChange {
    /// A name in lower case, or a requested agent as given. Sites write names, so they may contain
    /// any characters: see [`NamedAgent::name`](crate::census::NamedAgent::name).
    pub name: String,
    /// Origins that disallow every URL to it now
    /// ([`Coverage::Wholly`](crate::export::Coverage::Wholly)), and did not in the old snapshot.
    #[serde(flatten, serialize_with = "refused_keys")]
    pub refused: Transition,
    /// Origins that disallowed every URL to it in the old snapshot, and do not now.
    pub allowed: Transition,
    /// Origins that disallow some URLs to it now
    /// ([`Coverage::Partly`](crate::export::Coverage::Partly)), and disallowed none in the old
    /// snapshot.
    pub newly_partly: Transition,
    /// Origins that disallowed some URLs to it in the old snapshot, and disallow none now.
    pub no_longer_partly: Transition,
}

/// Writes the key `refused`, and its alias `disallowed` with the same value.
fn refused_keys<S: Serializer>(value: &Transition, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(2))?;
    map.serialize_entry("refused", value)?;
    map.serialize_entry("disallowed", value)?;
    map.end()
}

impl AgentChange {
    /// A row without transitions.
    pub(crate) fn new(name: String) -> Self {
        let none = Transition::default;
        Self {
            name,
            refused: none(),
            allowed: none(),
            newly_partly: none(),
            no_longer_partly: none(),
        }
    }

    /// Whether no origin has a transition.
    pub fn is_empty(&self) -> bool {
        let transitions = [
            &self.refused,
            &self.allowed,
            &self.newly_partly,
            &self.no_longer_partly,
        ];
        transitions.iter().all(|transition| transition.origins == 0)
    }

    /// The order of tables: first the agents that most origins newly disallow by name, then by `*`,
    /// then partly, then those that most origins newly allow. Sort by it in ascending order.
    ///
    /// ```
    /// # use robosieve::diff::AgentChange;
    /// fn sort(rows: &mut [AgentChange]) {
    ///     rows.sort_by_key(AgentChange::ranking);
    /// }
    /// ```
    pub fn ranking(&self) -> impl Ord + use<> {
        let refused = [
            self.refused.by_name,
            self.refused.by_global,
            self.newly_partly.by_name,
        ];
        let allowed = [
            self.allowed.by_name,
            self.no_longer_partly.by_name,
            self.newly_partly.by_global,
        ];
        std::cmp::Reverse((refused, allowed))
    }
}

/// A change of origins between two snapshots in one direction, such as newly disallowed.
///
/// One of the two robots.txt files of an origin disallows more than the other. `by_name` and
/// `by_global` tell its groups apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Transition {
    /// The number of origins: the sum of `by_name` and `by_global`.
    pub origins: u64,
    /// Origins where the robots.txt that disallows more has a group for the agent.
    pub by_name: u64,
    /// Origins where that robots.txt disallows by its groups for all agents (`*`).
    pub by_global: u64,
    /// Origins where either robots.txt has a group for the agent. At the others, the global groups
    /// changed.
    pub named: u64,
    /// The first few origins with different pairs of robots.txt files, sorted by key. Without
    /// requested agents, the examples of a name are among `named`.
    pub examples: Vec<RuleChange>,
}

/// The change of the rules of one origin for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleChange {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// The agent name of the groups that applied in the old robots.txt; `*`, or `None` without any.
    pub old_group: Option<String>,
    /// The same in the new robots.txt.
    pub new_group: Option<String>,
    /// Rule lines of the old groups that the new ones lack, without comments; at most
    /// [`RuleChange::LINES`].
    pub removed: Vec<String>,
    /// The number of further removed lines.
    pub removed_more: u64,
    /// Rule lines of the new groups that the old ones lack; at most as many.
    pub added: Vec<String>,
    /// The number of further added lines.
    pub added_more: u64,
}

impl RuleChange {
    /// The number of lines in `added` and in `removed` at most.
    pub const LINES: usize = 5;
}

impl Diff {
    /// Compares two snapshots of the same profile.
    ///
    /// Cost: a pass over the origins of both, then one comparison for each distinct pair of
    /// robots.txt files, on all threads of the current rayon pool. Memory: about 40 bytes per pair
    /// and 65 per name.
    ///
    /// ```
    /// use robosieve::diff::{Diff, DiffOptions};
    /// use robosieve::{Compiler, Snapshot};
    /// let compile = |robots: &[u8]| -> robosieve::Result<_> {
    ///     let mut compiler = Compiler::default();
    ///     compiler.add_robots("https://e.example", robots)?;
    ///     Snapshot::new(compiler.finish()?.to_vec()?)
    /// };
    /// let old = compile(b"user-agent: *\ndisallow: /private")?;
    /// let new = compile(b"user-agent: *\ndisallow: /private\nuser-agent: GPTBot\ndisallow: /")?;
    /// let diff = Diff::of(&old, &new, &DiffOptions::default())?;
    /// let change = &diff.agents[0];
    /// assert_eq!(change.name, "gptbot");
    /// assert_eq!((change.refused.origins, change.refused.by_name), (1, 1));
    /// assert_eq!(change.allowed.origins, 0);
    /// assert_eq!(change.refused.examples[0].added, ["disallow: /"]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadDiff`] if the profiles differ; [`ErrorKind::Corrupt`] if the bytes of either
    /// snapshot contradict each other.
    pub fn of(old: &Snapshot, new: &Snapshot, options: &DiffOptions) -> Result<Self> {
        let profiles = [old.profile()?, new.profile()?];
        if profiles[0] != profiles[1] {
            return Err(Error::from(ErrorKind::BadDiff(format!(
                "the profile of the old snapshot is {}, that of the new one is {}, so their rules \
                 cannot be compared; compile one of them again with the profile of the other",
                profiles[0].name(),
                profiles[1].name(),
            )))
            .with_remedy(Remedy::CompileWithProfile(profiles[1].name())));
        }
        let mut joined = origins::join_origins(old, new, options.examples)?;
        count::count(old, new, options, &joined.pairs, &mut joined.diff)?;
        old.verify_unchanged()?;
        new.verify_unchanged()?;
        Ok(joined.diff)
    }

    /// Whether no difference was found.
    pub fn is_empty(&self) -> bool {
        [
            &self.added,
            &self.gone,
            &self.outcome_changed,
            &self.rules_changed,
        ]
        .iter()
        .all(|change| change.origins == 0)
    }
}
