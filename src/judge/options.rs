//! The options of a judge, and of the calls that ask it.

use super::status_policy::{StatusPolicy, UnknownOrigin};
use crate::agent::AgentMatch;
use crate::named_value::named_values;

/// How verdicts are reached, in addition to what the snapshot says.
///
/// ```
/// use robosieve::judge::UnknownOrigin;
/// use robosieve::JudgeOptions;
/// let options = JudgeOptions::default().unknown(UnknownOrigin::Disallow).any_scheme(true);
/// assert!(options.any_scheme);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgeOptions {
    /// What answers other than 2xx mean; `None`: the policy named like the snapshot's profile.
    pub status_policy: Option<StatusPolicy>,
    /// The verdict on origins that the snapshot does not hold; `None`:
    /// [`Verdict::Unknown`](crate::Verdict::Unknown) (with [`StatusPolicy::Strict`]: disallowed).
    pub unknown: Option<UnknownOrigin>,
    /// Use the http entry for https URLs, and the reverse, if only one exists.
    pub any_scheme: bool,
    /// How agents are compared with user-agent lines.
    pub agent_match: AgentMatch,
    /// The time, in seconds since 1970, at which a failing site is judged: whether the policy's
    /// time (30 days, or 12 hours) has passed since its first failure. `None`: the time of its
    /// newest capture, so that the verdict depends on the snapshot alone. Nothing else depends on
    /// it.
    pub at: Option<i64>,
    /// The time, in seconds since 1970, by whose rules URLs are judged, of a snapshot with a history
    /// ([`Compiler::history`](crate::Compiler::history)). The verdicts are those of a snapshot
    /// compiled [as of](crate::Compiler::as_of) this time and judged at it, whatever
    /// [`at`](Self::at) says. `None`: by the newest rules.
    pub as_of: Option<i64>,
    /// What rows without a time get where each row is judged as of its own.
    pub no_time: NoTime,
}

/// What a row without a time gets, if each row is judged as of its own time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoTime {
    /// The verdict on unknown origins, with the reason
    /// [`UnknownTime`](crate::judge::Reason::UnknownTime).
    #[default]
    Unknown,
    /// The verdict by the newest rules.
    Newest,
}

named_values! {
    /// The name on the command line.
    NoTime {
        Unknown = "unknown",
        Newest = "newest",
    }
}

impl JudgeOptions {
    /// Sets [`status_policy`](Self::status_policy).
    pub fn status_policy(mut self, policy: impl Into<Option<StatusPolicy>>) -> Self {
        self.status_policy = policy.into();
        self
    }

    /// Sets [`unknown`](Self::unknown).
    pub fn unknown(mut self, unknown: impl Into<Option<UnknownOrigin>>) -> Self {
        self.unknown = unknown.into();
        self
    }

    /// Sets [`any_scheme`](Self::any_scheme).
    pub fn any_scheme(mut self, any_scheme: bool) -> Self {
        self.any_scheme = any_scheme;
        self
    }

    /// Sets [`agent_match`](Self::agent_match).
    pub fn agent_match(mut self, agent_match: AgentMatch) -> Self {
        self.agent_match = agent_match;
        self
    }

    /// Sets [`at`](Self::at).
    pub fn at(mut self, time: impl Into<Option<i64>>) -> Self {
        self.at = time.into();
        self
    }
}

impl JudgeOptions {
    /// Sets [`as_of`](Self::as_of).
    pub fn as_of(mut self, time: impl Into<Option<i64>>) -> Self {
        self.as_of = time.into();
        self
    }

    /// Sets [`no_time`](Self::no_time).
    pub fn no_time(mut self, no_time: NoTime) -> Self {
        self.no_time = no_time;
        self
    }
}

/// The number of agents that must have a verdict for it to count, if several are judged: "allowed" for
/// a column of booleans, the kept one for a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Require {
    /// All agents.
    #[default]
    All,
    /// One agent or more.
    Any,
}

named_values! {
    /// The name on the command line.
    Require {
        All = "all",
        Any = "any",
    }
}

/// The stages of judging, each with all those before it: a benchmark times them one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Lines are found, and their URLs split into origin and path.
    Split,
    /// Origins are hashed, and the index is probed for each. Any program that looks origins up in an
    /// index does as much, so this is the floor of a measurement.
    Probe,
    /// Origins are looked up, and the agents grouped by the rules they obey.
    Locate,
    /// Paths are matched: everything.
    #[default]
    Match,
}
