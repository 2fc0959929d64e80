//! The figures of a report. Serialized, they are the output of `robosieve report --json`.

use crate::analysis::coverage::Coverage;
use crate::judge::Reason;
use crate::profile::Profile;
use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// Aggregate figures of a snapshot, and of lists of URLs if there are any, for some agents.
///
/// Texts that sites wrote ([rules](RuleByOrigins::rule), origins, values) may contain anything
/// except line ends. Escape them before showing them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The snapshot.
    pub snapshot: SnapshotFacts,
    /// The options of judging.
    pub judging: Judging,
    /// All lists together; `None` without lists.
    pub lists: Option<ListFacts>,
    /// Each agent, in the order given.
    pub agents: Vec<AgentReport>,
    /// Origins by the number of agents that they refuse.
    pub together: Together,
    /// The reasons of verdicts, only those that occur.
    pub bases: Vec<ReasonReport>,
    /// The origins that refuse most. With lists, by refused URLs; without, by the number of agents
    /// that are refused wholly, then partly. At most [`Reporter::top`](super::Reporter::top).
    pub top_origins: Vec<OriginReport>,
    /// The most frequent rules.
    pub rules: RulesByOrigins,
    /// The rules that decide about refused URLs of the lists.
    pub deciding: Option<DecidingRules>,
    /// Declared preferences about the use of content: `content-signal`, then `content-usage`.
    pub signals: Vec<SignalReport>,
    /// One explained refusal; `None` if nothing is refused.
    pub example: Option<Example>,
}

/// The description of the snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SnapshotFacts {
    /// Its [`checksum`](crate::Snapshot::checksum), in hexadecimal.
    pub checksum: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The profile it was compiled for.
    pub profile: Profile,
    /// The number of origins.
    pub origins: u64,
    /// The number of distinct robots.txt files.
    pub robots_files: u64,
    /// The time of its oldest capture, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub captured_from: Option<i64>,
    /// The time of its newest capture, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub captured_to: Option<i64>,
}

/// The options of judging.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Judging {
    /// The status policy: `google`, `rfc9309` or `strict`.
    pub status_policy: &'static str,
    /// The verdict on URLs of unknown origins: `unknown`, `allowed` or `disallowed`.
    pub unknown_origins: &'static str,
    /// Whether an origin without an entry was judged by the entry of the other scheme.
    pub any_scheme: bool,
    /// The time at which failing sites were judged, in seconds since 1970; `None`: that of their
    /// newest capture.
    #[serde(serialize_with = "rfc3339")]
    pub at: Option<i64>,
}

/// All lists together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ListFacts {
    /// Lines, or rows of Parquet files, with at most one URL each. The sum of the next four.
    pub lines: u64,
    /// URLs that every agent may fetch.
    pub allowed_to_all: u64,
    /// URLs that one agent or more may not fetch.
    pub refused_to_any: u64,
    /// URLs of origins that the snapshot does not contain.
    pub unknown: u64,
    /// Lines without a URL.
    pub invalid: u64,
    /// The blank ones among the invalid lines. Not in the JSON, because it depends on the format of
    /// the list whether a record without a URL is a blank line.
    #[serde(skip)]
    pub blank: u64,
    /// The length of all lines in bytes, after decompression.
    pub bytes: u64,
    /// Lines judged by the entry of the other scheme.
    pub via_other_scheme: u64,
    /// Origins of the snapshot with at least one line.
    pub origins: u64,
}

/// The figures of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentReport {
    /// The agent as given.
    pub agent: String,
    /// The origins of the snapshot by coverage.
    pub origins: CoverageCounts,
    /// The URLs of the lists by verdict.
    pub urls: Option<UrlCounts>,
}

/// Origins by [`Coverage`]. The sum is the number of origins in the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CoverageCounts {
    /// [`Coverage::Wholly`].
    pub wholly: u64,
    /// [`Coverage::Partly`].
    pub partly: u64,
    /// [`Coverage::Not`].
    pub not: u64,
}

impl CoverageCounts {
    pub(super) fn add(&mut self, coverage: Coverage, origins: u64) {
        match coverage {
            Coverage::Wholly => self.wholly += origins,
            Coverage::Partly => self.partly += origins,
            Coverage::Not => self.not += origins,
        }
    }
}

/// URLs by verdict. The sum is the number of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UrlCounts {
    /// URLs that the agent may fetch.
    pub allowed: u64,
    /// URLs that it may not fetch.
    pub disallowed: u64,
    /// URLs of origins that the snapshot does not contain.
    pub unknown: u64,
    /// Lines without a URL.
    pub invalid: u64,
}

/// Origins by the number of agents that they refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Together {
    /// Origins that refuse every agent wholly.
    pub all_wholly: u64,
    /// Origins that refuse one agent or more wholly.
    pub any_wholly: u64,
    /// Origins that refuse one agent or more wholly or partly.
    pub any_refused: u64,
}

/// The verdicts with one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReasonReport {
    /// The reason.
    pub basis: Reason,
    /// Origins of the snapshot.
    pub origins: u64,
    /// Of these, the origins that the status policy refuses to every agent, without a rule.
    pub origins_refused: u64,
    /// URLs of the lists.
    pub urls: Option<u64>,
    /// Of these, the URLs refused to each agent, in the order of the agents.
    pub urls_refused: Option<Vec<u64>>,
}

/// One of the origins that refuse most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OriginReport {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// The reason of its verdicts.
    pub basis: Reason,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// The time when its robots.txt was fetched, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub fetched_at: Option<i64>,
    /// The coverage for each agent, in the order of the agents.
    pub agents: Vec<Coverage>,
    /// URLs of the lists.
    pub urls: Option<u64>,
    /// Of these, the URLs refused to one agent or more.
    pub urls_refused: Option<u64>,
}

/// The most frequent disallow rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RulesByOrigins {
    /// The number of distinct disallow rules that the agents obey.
    pub distinct: u64,
    /// The rules with the most pairs of an origin and an agent that obeys them there, at most
    /// [`Reporter::top`](super::Reporter::top). They are sorted by the number of origins.
    pub top: Vec<RuleByOrigins>,
}

/// A rule, and the number of origins that have it for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleByOrigins {
    /// The rule with its path in normal form, such as `Disallow: /private/`.
    pub rule: String,
    /// Origins with the rule in the rules for one agent or more.
    pub origins: u64,
    /// The same for each agent, in the order of the agents.
    pub agents: Vec<u64>,
}

/// The rules that decide about refused URLs, estimated from a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DecidingRules {
    /// The sampling interval: the sample has every n-th refused URL of the lists, from the first
    /// on.
    pub every: u64,
    /// The number of URLs in the sample, which are explained.
    pub explained: u64,
    /// Of these, the URLs that the status policy or the option for unknown origins refuses.
    pub not_by_rule: u64,
    /// The rules that decide about most of them, at most [`Reporter::top`](super::Reporter::top).
    pub top: Vec<DecidingRule>,
}

/// A rule, and the number of URLs of the sample that it refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DecidingRule {
    /// The line of the robots.txt, without its comment.
    pub rule: String,
    /// URLs that it refuses to one agent or more.
    pub urls: u64,
    /// The same for each agent, in the order of the agents.
    pub agents: Vec<u64>,
}

/// The declared preferences of one field about the use of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SignalReport {
    /// The field in lower case.
    pub field: &'static str,
    /// Distinct robots.txt files with the field.
    pub files: u64,
    /// Origins that use such a file.
    pub origins: u64,
    /// Origins that have the field with a path, which limits it to a part of their URLs.
    pub with_path: u64,
    /// The values, such as `ai-train=no`, sorted by the number of origins.
    pub values: Vec<SignalValue>,
    /// The number of further values.
    pub more: u64,
    /// Origins with a value that does not have the form `key=value`.
    pub other: u64,
}

/// One value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SignalValue {
    /// The value in lower case, without white space.
    pub value: String,
    /// Origins with the value, once or several times.
    pub origins: u64,
}

/// One explained refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Example {
    /// The URL.
    pub url: String,
    /// Whether the URL is from the lists; else it was generated from a rule.
    pub from_lists: bool,
    /// The agent that may not fetch it.
    pub agent: String,
    /// The origin whose robots.txt decides; `None` if the snapshot does not contain it.
    pub origin: Option<String>,
    /// The reason of the verdict.
    pub basis: Reason,
    /// The URL of the robots.txt that decides, after redirects.
    pub robots_url: Option<String>,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// The time when it was fetched, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub fetched_at: Option<i64>,
    /// The deciding rule; `None` if no rule decides.
    pub rule: Option<RobotsLine>,
    /// The user-agent lines of the groups that apply to the agent.
    pub agent_lines: Vec<RobotsLine>,
    /// Whether these lines name the agent; else they are those of the global groups.
    pub named: bool,
}

/// A line of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RobotsLine {
    /// Its number, from 1.
    pub line: u32,
    /// Its text, without comment and surrounding white space.
    pub text: String,
}

/// Serializes a time as `2026-01-31T12:00:00Z`.
fn rfc3339<S: Serializer>(seconds: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).map(|time| time.to_string());
    text.serialize(serializer)
}
