//! The options of judging: agents and policy.

use super::agent_args::AgentArgs;
use super::help_text::POLICY;
use super::time::parse_instant;
use super::value_enums::{PolicyArg, SchemeArg, UnknownArg};
use clap::{ArgGroup, Args};
use robosieve::JudgeOptions;

// Shared by `filter`, `annotate`, `report`, `check` and `bench`. All but `bench` require an agent
// (`agent_required`).
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    /// Policy for HTTP errors
    ///
    /// It decides what 4xx, 5xx and network errors mean. The default is that of the snapshot's
    /// profile.
    #[arg(long, value_enum, value_name = "POLICY", help_heading = POLICY)]
    pub status_policy: Option<PolicyArg>,
    /// Verdict for unknown origins: allow or disallow
    ///
    /// Unknown origins are not in the snapshot. By default they get the verdict `unknown`.
    #[arg(
        long,
        value_enum,
        value_name = "VERDICT",
        hide_possible_values = true,
        help_heading = POLICY
    )]
    pub unknown: Option<UnknownArg>,
    /// Scheme of the snapshot entry that judges a URL
    #[arg(long, value_enum, default_value_t = SchemeArg::Exact, hide_short_help = true, help_heading = POLICY)]
    pub scheme: SchemeArg,
    /// Judge failing sites as of this time
    ///
    /// The default is the time of the newest capture. The policies count 30 days from a site's
    /// first failure to this time. A date is its first second in UTC.
    #[arg(long, value_name = "TIME", value_parser = parse_instant, help_heading = POLICY)]
    pub at: Option<i64>,
}

/// At least one agent, by either option.
pub(super) fn agent_required() -> ArgGroup {
    ArgGroup::new("agent-required").required(true).multiple(true).args(["agents", "agents_from"])
}

impl JudgeArgs {
    /// The options other than the agents.
    pub(crate) fn options(&self) -> JudgeOptions {
        JudgeOptions::default()
            .status_policy(self.status_policy.map(PolicyArg::value))
            .unknown(self.unknown.map(UnknownArg::value))
            .any_scheme(self.scheme.value())
            .agent_match(self.agents.agent_match.value())
            .at(self.at)
    }
}
