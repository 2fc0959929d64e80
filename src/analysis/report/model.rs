//! The figures of a report. As JSON they are what `robosieve report --json` writes.

use crate::analysis::coverage::Coverage;
use crate::judge::Reason;
use crate::profile::Profile;
use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// What a snapshot, and lists of URLs if any are given, come to for some agents.
///
/// Texts that sites wrote ([`Rule`](RuleByOrigins::rule), origins, values) may hold anything but line ends: whoever shows them escapes them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The snapshot.
    pub snapshot: SnapshotFacts,
    /// How verdicts were reached.
    pub judging: Judging,
    /// All lists together; `None` where there were none.
    pub lists: Option<ListFacts>,
    /// Each agent, in the order given.
    pub agents: Vec<AgentReport>,
    /// Origins that refuse all their URLs to every one of the agents, and those that may refuse some URL to one of them or more.
    pub together: Together,
    /// What verdicts rest on, each basis that occurs.
    pub bases: Vec<BasisReport>,
    /// The origins that refuse most: by refused URLs if lists are given, else by how many agents are refused wholly, then partly. At most as
    /// many as asked for.
    pub top_origins: Vec<OriginReport>,
    /// The rules that most origins have.
    pub rules: RulesByOrigins,
    /// The rules that decide about refused URLs of the lists.
    pub deciding: Option<DecidingRules>,
    /// What robots.txt files say about the use of content: `content-signal`, then `content-usage`.
    pub signals: Vec<SignalReport>,
    /// One refusal explained; `None` if nothing is refused.
    pub example: Option<Example>,
}

/// What the snapshot says of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotFacts {
    /// Its [`checksum`](crate::Snapshot::checksum), in hexadecimal.
    pub checksum: String,
    /// Bytes.
    pub bytes: u64,
    /// The profile it was compiled for.
    pub profile: Profile,
    /// Origins.
    pub origins: u64,
    /// Distinct robots.txt files.
    pub robots_files: u64,
    /// The time of its oldest capture, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub captured_from: Option<i64>,
    /// The time of its newest capture, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub captured_to: Option<i64>,
}

/// How verdicts were reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judging {
    /// The status policy: `google`, `rfc9309` or `strict`.
    pub status_policy: &'static str,
    /// The verdict on URLs of unknown origins: `unknown`, `allowed` or `disallowed`.
    pub unknown_origins: &'static str,
    /// Whether an origin without an entry used that of the other scheme.
    pub any_scheme: bool,
    /// The time at which failing sites were judged, in seconds since 1970; `None`: that of their newest capture.
    #[serde(serialize_with = "rfc3339")]
    pub at: Option<i64>,
}

/// All lists together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListFacts {
    /// Lines (rows of Parquet files), each one URL at most. It is the sum of the next four.
    pub lines: u64,
    /// URLs that every agent may fetch.
    pub allowed_to_all: u64,
    /// URLs that one agent or more may not fetch.
    pub refused_to_any: u64,
    /// URLs of origins that the snapshot does not know.
    pub unknown: u64,
    /// Lines that hold no URL.
    pub invalid: u64,
    /// Those of them that are blank. Not in the JSON: a record without a URL is a blank line in one
    /// form of a list, and none in another.
    #[serde(skip)]
    pub blank: u64,
    /// Bytes of all lines, after decompression.
    pub bytes: u64,
    /// Lines judged by the entry of the other scheme.
    pub via_other_scheme: u64,
    /// Origins of the snapshot that any line is of.
    pub origins: u64,
}

/// The figures of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentReport {
    /// The agent, as it was given.
    pub agent: String,
    /// The origins of the snapshot by how much of them is refused.
    pub origins: ReachCounts,
    /// The URLs of the lists by verdict.
    pub urls: Option<UrlCounts>,
}

/// Origins by [`Coverage`]; together all of the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachCounts {
    /// [`Coverage::Wholly`].
    pub wholly: u64,
    /// [`Coverage::Partly`].
    pub partly: u64,
    /// [`Coverage::Not`].
    pub not: u64,
}

impl ReachCounts {
    pub(super) fn count(&mut self, reach: Coverage, origins: u64) {
        match reach {
            Coverage::Wholly => self.wholly += origins,
            Coverage::Partly => self.partly += origins,
            Coverage::Not => self.not += origins,
        }
    }
}

/// URLs by verdict; together all lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UrlCounts {
    /// It may fetch them.
    pub allowed: u64,
    /// It may not.
    pub disallowed: u64,
    /// The snapshot does not know their origins.
    pub unknown: u64,
    /// Lines that hold no URL.
    pub invalid: u64,
}

/// Origins that treat several agents alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Together {
    /// Origins that refuse every agent wholly.
    pub all_wholly: u64,
    /// Origins that refuse one agent or more wholly.
    pub any_wholly: u64,
    /// Origins that refuse one agent or more wholly or partly.
    pub any_refused: u64,
}

/// The verdicts that rest on one basis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BasisReport {
    /// What they rest on.
    pub basis: Reason,
    /// Origins of the snapshot.
    pub origins: u64,
    /// Of these the origins that are refused to every agent by the status policy, without any rule.
    pub origins_refused: u64,
    /// URLs of the lists.
    pub urls: Option<u64>,
    /// Of these the URLs refused to each agent, in the order of the agents.
    pub urls_refused: Option<Vec<u64>>,
}

/// One of the origins that refuse most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OriginReport {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// What its verdicts rest on.
    pub basis: Reason,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// When its robots.txt was fetched, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub fetched_at: Option<i64>,
    /// How much is refused to each agent, in the order of the agents.
    pub agents: Vec<Coverage>,
    /// URLs of the lists.
    pub urls: Option<u64>,
    /// Of these the URLs refused to one agent or more.
    pub urls_refused: Option<u64>,
}

/// The rules that most origins have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulesByOrigins {
    /// How many different disallow rules the agents meet.
    pub distinct: u64,
    /// Those that most pairs of origin and agent meet, at most as many as asked for; among them that of most origins comes first.
    pub top: Vec<RuleByOrigins>,
}

/// A rule, and how many origins have it for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleByOrigins {
    /// The rule with its path in normal form, such as `Disallow: /private/`.
    pub rule: String,
    /// Origins whose rules for one agent or more hold it.
    pub origins: u64,
    /// The same for each agent, in the order of the agents.
    pub agents: Vec<u64>,
}

/// The rules that decide about refused URLs, counted on a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecidingRules {
    /// Each so-manieth refused URL, in the order of the lists, beginning with the first, was explained.
    pub every: u64,
    /// How many URLs that were.
    pub explained: u64,
    /// Of these the URLs that no rule refuses, but the status of the answer or what unknown origins stand for.
    pub not_by_rule: u64,
    /// The rules that decide about most of them, at most as many as asked for.
    pub top: Vec<DecidingRule>,
}

/// A rule, and how many URLs of the sample it refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecidingRule {
    /// The line as it stands in the robots.txt, without its comment.
    pub rule: String,
    /// URLs that it refuses to one agent or more.
    pub urls: u64,
    /// The same for each agent, in the order of the agents.
    pub agents: Vec<u64>,
}

/// What robots.txt files say in one of the fields about the use of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignalReport {
    /// The field in lower case.
    pub field: &'static str,
    /// Distinct robots.txt files that have it.
    pub files: u64,
    /// Origins that obey such a file.
    pub origins: u64,
    /// Origins that have it with a path, so for a part of their URLs.
    pub with_path: u64,
    /// What is said, such as `ai-train=no`, by the origins that say it.
    pub values: Vec<SignalValue>,
    /// How many more different values there are.
    pub more: u64,
    /// Origins that say something that is not of the form `key=value`.
    pub other: u64,
}

/// One thing that is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignalValue {
    /// In lower case, without white space.
    pub value: String,
    /// Origins that say it, once or several times.
    pub origins: u64,
}

/// One refusal, explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The URL.
    pub url: String,
    /// Whether it is a URL of the lists; else it was made up from the rule.
    pub from_lists: bool,
    /// The agent that may not fetch it.
    pub agent: String,
    /// The origin whose robots.txt decides; `None` if the snapshot does not know it.
    pub origin: Option<String>,
    /// What the verdict rests on.
    pub basis: Reason,
    /// The URL of the robots.txt that decides, in the end of redirects.
    pub robots_url: Option<String>,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// When it was fetched, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub fetched_at: Option<i64>,
    /// The deciding rule; `None` where no rule decides.
    pub rule: Option<RobotsLine>,
    /// The user-agent lines of the groups that hold for the agent.
    pub agent_lines: Vec<RobotsLine>,
    /// Whether these name the agent; else they are those of the global groups.
    pub named: bool,
}

/// A line of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RobotsLine {
    /// Its number, from 1.
    pub line: u32,
    /// Its text, without comment and surrounding white space.
    pub text: String,
}

/// A time as in `2026-01-31T12:00:00Z`.
fn rfc3339<S: Serializer>(seconds: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).map(|time| time.to_string());
    text.serialize(serializer)
}
