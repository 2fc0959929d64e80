//! What decides about an agent at an origin, as one value.

use robosieve::export::{AgentCoverage, Coverage};

/// How much of an origin is disallowed to an agent, and what decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Not,
    WhollyByName,
    WhollyByGlobal,
    WhollyByStatus,
    PartlyByName,
    PartlyByGlobal,
}

impl Access {
    /// The access by the rules of a robots.txt.
    pub(super) fn by_rules(agent: AgentCoverage) -> Self {
        match (agent.coverage, agent.is_named) {
            (Coverage::Not, _) => Self::Not,
            (Coverage::Partly, true) => Self::PartlyByName,
            (Coverage::Partly, false) => Self::PartlyByGlobal,
            (_, true) => Self::WhollyByName,
            (_, false) => Self::WhollyByGlobal,
        }
    }

    pub(super) fn coverage(self) -> Coverage {
        match self {
            Self::Not => Coverage::Not,
            Self::PartlyByName | Self::PartlyByGlobal => Coverage::Partly,
            _ => Coverage::Wholly,
        }
    }
}
