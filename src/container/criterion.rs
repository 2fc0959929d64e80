//! The criterion of a job: whether a line with several agents counts as allowed.

use super::outputs::Outputs;
use crate::judge::{Reason, Require, UnknownOrigin, Verdict, VerdictsRef};
use crate::named_value::named_values;
use crate::pipeline::{Destination, FilterStats};

/// Which lines a filter keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// Lines that may be fetched.
    #[default]
    Allowed,
    /// Lines that may not be fetched.
    Disallowed,
}

named_values! {
    /// The name on the command line.
    Keep {
        Allowed = "allowed",
        Disallowed = "disallowed",
    }
}

impl Keep {
    /// The option of a judge with which a filter also keeps the lines of unknown origins.
    pub fn unknown_origin(self) -> UnknownOrigin {
        match self {
            Self::Allowed => UnknownOrigin::Allow,
            Self::Disallowed => UnknownOrigin::Disallow,
        }
    }
}

/// A set of reasons: one bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReasonSet(u16);

impl ReasonSet {
    const ALL: Self = Self(u16::MAX);

    /// These reasons, or all if there are none.
    pub(crate) fn of(reasons: impl IntoIterator<Item = Reason>) -> Self {
        let bits = reasons
            .into_iter()
            .fold(0, |bits, reason| bits | 1 << reason as u16);
        if bits == 0 { Self::ALL } else { Self(bits) }
    }

    /// The names of the reasons with commas between them, or `all`.
    #[cfg(feature = "parquet")]
    pub(crate) fn names(self) -> String {
        if self.0 == Self::ALL.0 {
            return "all".to_owned();
        }
        let all = Reason::ALL.into_iter();
        let chosen: Vec<&str> = all
            .filter(|reason| self.contains(*reason))
            .map(Reason::name)
            .collect();
        chosen.join(",")
    }

    #[inline]
    fn contains(self, reason: Reason) -> bool {
        self.0 >> reason as u16 & 1 == 1
    }
}

/// Decides whether a line counts as allowed when several agents are judged, and which lines a filter
/// writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Criterion {
    pub keep: Keep,
    pub require: Require,
    /// The reasons of kept lines.
    pub reasons: ReasonSet,
}

impl Default for Criterion {
    fn default() -> Self {
        Self {
            keep: Keep::default(),
            require: Require::default(),
            reasons: ReasonSet::ALL,
        }
    }
}

impl Criterion {
    /// The verdict of a line: the kept one if the required agents have it, else the other.
    #[inline]
    pub(crate) fn line_verdict(self, verdicts: &VerdictsRef<'_>) -> Verdict {
        if let Some(verdict) = verdicts.common() {
            return verdict;
        }
        let is_allowed = match (self.keep, self.require) {
            (Keep::Allowed, Require::All) | (Keep::Disallowed, Require::Any) => {
                verdicts.are_all_allowed()
            }
            (Keep::Allowed, Require::Any) | (Keep::Disallowed, Require::All) => {
                verdicts.is_any_allowed()
            }
        };
        if is_allowed {
            Verdict::Allowed
        } else {
            Verdict::Disallowed
        }
    }

    /// The destination of a line: listed if a filter list names it, else that of its verdict.
    #[inline]
    pub(crate) fn destination(self, verdicts: &VerdictsRef<'_>) -> Destination {
        if verdicts.is_listed() {
            return Destination::Listed;
        }
        self.line_verdict(verdicts).into()
    }

    /// Whether a line with this destination is written. A kept one needs a chosen reason.
    #[inline]
    pub(crate) fn selects(self, destination: Destination, verdicts: &VerdictsRef<'_>) -> bool {
        destination != self.kept() || self.reasons.contains(verdicts.reason())
    }

    /// The output that gets a line; `None` if none does.
    #[inline]
    pub(crate) fn output(self, verdicts: &VerdictsRef<'_>) -> Option<Destination> {
        let destination = self.destination(verdicts);
        self.selects(destination, verdicts).then_some(destination)
    }

    /// The destination of kept lines.
    #[inline]
    pub(crate) fn kept(self) -> Destination {
        match self.keep {
            Keep::Allowed => Destination::Allowed,
            Keep::Disallowed => Destination::Disallowed,
        }
    }

    /// Counts lines with these verdicts, in total, by list, by reason and for each agent.
    #[inline]
    pub(crate) fn count(self, verdicts: &VerdictsRef<'_>, lines: u64, stats: &mut FilterStats) {
        let destination = self.destination(verdicts);
        stats.count(destination, lines);
        self.count_details(destination, verdicts, lines, stats);
        if stats.agent_allowed.len() < verdicts.agents {
            stats.agent_allowed.resize(verdicts.agents, 0);
        }
        if destination != Destination::Listed {
            verdicts.count_allowed(lines, &mut stats.agent_allowed);
        }
    }

    /// Counts listed lines by list; others by reason, and those judged in an unusual way.
    #[inline]
    pub(crate) fn count_details(
        self,
        destination: Destination,
        verdicts: &VerdictsRef<'_>,
        lines: u64,
        stats: &mut FilterStats,
    ) {
        if destination == Destination::Listed {
            if let Some(found) = verdicts.list_match() {
                stats.count_listed_by(found, lines);
            }
            return;
        }
        let reason = verdicts.reason();
        stats.reasons.count(destination, reason, lines);
        stats.via_other_scheme += u64::from(verdicts.via_other_scheme()) * lines;
        stats.without_time += u64::from(reason == Reason::UnknownTime) * lines;
    }

    /// The outputs of records, in the order of [`Destination::ALL`].
    pub(crate) fn by_destination<T>(self, outputs: Outputs<T>) -> [Option<T>; Destination::COUNT] {
        let Outputs {
            mut kept,
            mut other,
            mut unknown,
            mut invalid,
            mut listed,
            ..
        } = outputs;
        Destination::ALL.map(|destination| match destination {
            destination if destination == self.kept() => kept.take(),
            Destination::Allowed | Destination::Disallowed => other.take(),
            Destination::Unknown => unknown.take(),
            Destination::Invalid => invalid.take(),
            Destination::Listed => listed.take(),
        })
    }
}
