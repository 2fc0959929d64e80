//! Who is to be judged for, and how.

use super::choices::{PolicyArg, SchemeArg, UnknownArg};
use super::time::parse_instant;
use super::who::AgentArgs;
use clap::{ArgGroup, Args};
use robosieve::JudgeOptions;

// What `filter`, `annotate`, `report`, `check` and `bench` share. All but the last need an agent (`agents_needed`).
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(flatten)]
    pub who: AgentArgs,
    /// What 4xx, 5xx and network errors mean (default: as the snapshot's profile)
    #[arg(long, value_enum, value_name = "POLICY")]
    pub status_policy: Option<PolicyArg>,
    /// What holds for origins that the snapshot does not know (default: a verdict of its own)
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub unknown: Option<UnknownArg>,
    /// Whether the entry of the other of http and https will do
    #[arg(long, value_enum, default_value_t = SchemeArg::Exact)]
    pub scheme: SchemeArg,
    /// Count the 30 days of a failing site to this time (default: to its newest capture); a date is its first second in UTC
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub at: Option<i64>,
}

/// One agent at least, by one way or the other.
pub(super) fn agents_needed() -> ArgGroup {
    ArgGroup::new("who").required(true).multiple(true).args(["agents", "agents_from"])
}

impl JudgeArgs {
    /// All but the agents.
    pub(crate) fn options(&self) -> JudgeOptions {
        JudgeOptions::default()
            .status_policy(self.status_policy.map(PolicyArg::value))
            .unknown(self.unknown.map(UnknownArg::value))
            .any_scheme(self.scheme.value())
            .agent_match(self.who.agent_match.value())
            .at(self.at)
    }
}
