//! The options of judging: agents and policy.

use crate::agent_args::AgentArgs;
use crate::help_text::POLICY;
use crate::time::parse_instant_or_now;
use crate::value_enums::{SchemeArg, listing_values, named};
use clap::{ArgGroup, Args};
use robosieve::JudgeOptions;
use robosieve::judge::{StatusPolicy, UnknownOrigin};

// Shared by `filter`, `annotate`, `report`, `check` and `bench`. All but `bench` require an agent
// (`agent_required`), `filter` and `annotate` only with a snapshot.
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Verdict for unknown origins: allow or disallow
    ///
    /// Unknown origins are not in the snapshot. By default their URLs get the verdict `unknown`:
    /// `filter` does not keep them, and writes them to --unknown-to only.
    #[arg(
        long,
        value_parser = named::<UnknownOrigin>(),
        value_name = "VERDICT",
        hide_possible_values = true,
        help_heading = POLICY
    )]
    pub unknown: Option<UnknownOrigin>,
    /// Judge failing sites as of this time (or `now`)
    ///
    /// The policies count 30 days, or 12 hours, from a site's first failure to this time. The
    /// default for a site is the time of its own newest capture, which may be long before that of
    /// the snapshot: a site that nobody asked again stays disallowed. A date is its first second
    /// in UTC.
    #[arg(long, value_name = "TIME", value_parser = parse_instant_or_now, help_heading = POLICY)]
    pub at: Option<i64>,
}

const STATUS_POLICY_LONG: &str = "Policy for HTTP errors

It decides what 4xx, 5xx and network errors mean. The default is that of the snapshot's profile.";

// Also that of `export`, which judges no URLs.
#[derive(Debug, Args)]
pub(crate) struct StatusPolicyArgs {
    /// Policy for HTTP errors: google, google-YEAR, rfc9309 or strict
    #[arg(
        long,
        value_parser = named::<StatusPolicy>(),
        value_name = "POLICY",
        hide_possible_values = true,
        long_help = listing_values::<StatusPolicy>(STATUS_POLICY_LONG),
        help_heading = POLICY
    )]
    pub status_policy: Option<StatusPolicy>,
}

// Also those of `audit`, which has another default.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(flatten)]
    pub status: StatusPolicyArgs,
    /// Scheme of the snapshot entry that judges a URL
    #[arg(
        long,
        value_enum,
        default_value_t = SchemeArg::Exact,
        hide_short_help = true,
        help_heading = POLICY
    )]
    pub scheme: SchemeArg,
}

impl PolicyArgs {
    /// The options of these, and how `agents` match.
    pub(super) fn options(&self, agents: &AgentArgs) -> JudgeOptions {
        JudgeOptions::default()
            .status_policy(self.status.status_policy)
            .any_scheme(self.scheme == SchemeArg::Any)
            .agent_match(agents.agent_match)
    }
}

/// At least one agent, by either option.
pub(super) fn agent_required() -> ArgGroup {
    any_agent().required(true)
}

/// The options that name agents. A snapshot requires one of them.
pub(super) fn any_agent() -> ArgGroup {
    ArgGroup::new("agent-required")
        .multiple(true)
        .args(["agents", "agents_from"])
}

impl JudgeArgs {
    /// The options other than the agents.
    pub(crate) fn options(&self) -> JudgeOptions {
        self.policy
            .options(&self.agents)
            .unknown(self.unknown)
            .at(self.at)
    }
}
