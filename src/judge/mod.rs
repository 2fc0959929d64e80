//! How one URL is judged: split it, look up its origin, apply the policy, match its path.
//!
//! [`Judge`] is for programs; [`Job`](crate::job::Job) runs whole files.

mod agent_groups;
mod as_of;
pub(crate) mod batch;
mod columns;
mod crawl_delays;
pub(crate) mod emitter;
pub(crate) mod engine;
mod explain_url;
mod explanation_json;
mod file_memo;
mod line_scanner;
mod listed_runs;
#[cfg(feature = "audit")]
mod nearby_rules;
mod old_rules;
mod options;
mod origin_cache;
mod origin_policy;
mod owned;
pub(crate) mod path;
mod preference_judge;
mod refusing_line;
mod response;
pub(crate) mod rows;
mod rule_source;
mod session;
mod site;
mod stated_texts;
mod status_policy;
mod verdicts;
mod verdicts_ref;

pub use crate::explain::{
    ExplainedRobots, Explanation, Reason, RejectedRule, Rejection, RuleLine, Verdict, explain,
    is_url_or_path,
};
pub use columns::Rows;
pub(crate) use crawl_delays::CrawlDelayScratch;
pub use crawl_delays::CrawlDelays;
pub use explain_url::UrlExplanation;
#[cfg(feature = "audit")]
pub(crate) use explanation_json::rfc3339;
#[cfg(feature = "audit")]
pub(crate) use nearby_rules::{NearbyRules, TimedAnswer};
pub use options::{JudgeOptions, NoTime, Require, Stage};
pub use owned::Judge;
pub use preference_judge::PreferenceJudge;
pub(crate) use preference_judge::{FileStatements, PreferenceScratch, none_stated};
pub(crate) use refusing_line::{RefusingLine, RefusingLines};
pub use response::ResponseRobots;
pub(crate) use rule_source::{AgentGroup, RuleSource};
pub use session::JudgeSession;
pub use site::Site;
pub(crate) use status_policy::Ruling;
pub use status_policy::{StatusPolicy, UnknownOrigin};
pub use verdicts::Verdicts;
pub use verdicts_ref::VerdictsRef;
