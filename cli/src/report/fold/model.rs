//! The figures of a report. Serialized, they are the JSON of `robosieve report`.

use super::access::Access;
use super::disallowed_keys;
use super::sampling::{Interval, SampleFacts};
use super::unit_kind::UnitKind;
use jiff::Timestamp;
use robosieve::Profile;
use robosieve::export::Coverage;
use robosieve::judge::Reason;
use robosieve::robots::RobotsLine;
use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::ops::AddAssign;

/// Aggregate figures of a snapshot, and of lists of URLs if there are any, for some agents.
///
/// Texts that sites wrote ([rules](RuleByOrigins::rule), origins, values) may contain anything
/// except line ends. Escape them before showing them.
///
/// All counts of origins count the units of [`by`](Self::by), except those of the lists: each unit
/// counts by one of its origins.
///
/// Serialized, a field with `refused` in its name has two keys: this name, and the same with
/// `disallowed`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The snapshot.
    pub snapshot: SnapshotFacts,
    /// The options of judging.
    pub judging: Judging,
    /// The units that are counted: origins, hosts or domains.
    pub by: UnitKind,
    /// The number of counted units.
    pub units: u64,
    /// The sample that these units are; `None` if all are counted.
    pub sample: Option<SampleFacts>,
    /// The weights of the units; `None` without weights.
    pub weights: Option<WeightFacts>,
    /// All lists together; `None` without lists.
    pub lists: Option<ListFacts>,
    /// Each agent, in the order given.
    pub agents: Vec<AgentReport>,
    /// Origins by the number of agents that they disallow.
    pub together: Together,
    /// The intervals of their shares; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together_intervals: Option<Together<Interval>>,
    /// The sets of agents, in the order given.
    pub sets: Vec<SetReport>,
    /// The figures that one domain holds more than a tenth of. Empty by domain, where each domain
    /// counts once.
    pub concentrations: Vec<Concentration>,
    /// The units by group: by top-level domain, or by a list. `None` unless requested.
    pub groups: Option<Vec<UnitGroup>>,
    /// The list that groups the units, if there is one.
    pub group_list: Option<GroupListFacts>,
    /// The periods in which the units began to disallow the agents. `None` unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed_since: Option<SincePeriods>,
    /// The reasons of verdicts, only those that occur.
    #[serde(rename = "bases")]
    pub reasons: Vec<ReasonReport>,
    /// The origins that disallow most. With lists, all origins by disallowed URLs; without, one
    /// origin per unit, by the number of agents that are disallowed wholly, then partly. At most
    /// `--top`.
    pub top_origins: Vec<OriginReport>,
    /// The most frequent rules.
    pub rules: RulesByOrigins,
    /// The rules that decide about disallowed URLs of the lists.
    pub deciding: Option<DecidingRules>,
    /// Declared preferences about the use of content: `content-signal`, `content-usage`, `license`.
    pub signals: Vec<SignalReport>,
    /// One explained URL that is disallowed; `None` if nothing is.
    pub example: Option<Example>,
}

/// The description of the snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotFacts {
    /// Its [`checksum`](robosieve::Snapshot::checksum), in hexadecimal.
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
pub struct Judging {
    /// The name of the status policy, such as `google` or `google-2019`.
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
pub struct ListFacts {
    /// Lines, or rows of Parquet files, with at most one URL each. The sum of the next four.
    pub lines: u64,
    /// URLs that every agent may fetch.
    pub allowed_to_all: u64,
    /// URLs that one agent or more may not fetch.
    #[serde(flatten, serialize_with = "disallowed_keys::refused_to_any")]
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

/// The weights of a report's units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightFacts {
    /// The entries of the list of weights.
    pub entries: u64,
    /// Of these, the entries that name a unit.
    pub entries_matched: u64,
    /// The units that an entry names. All other units weigh nothing.
    pub units_matched: u64,
    /// The sum of all weights in the list.
    pub listed: f64,
    /// The sum of the weights of the units: the whole of weighted shares.
    pub matched: f64,
}

/// A list that groups the units of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupListFacts {
    /// The units that the list has.
    pub entries: u64,
    /// The counted units that have a group.
    pub units_matched: u64,
    /// The lines that give a unit another group than the line that decides.
    pub overruled: u64,
}

/// The units in one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitGroup {
    /// The name of the group in the list, and [`NO_GROUP`](super::group_list::NO_GROUP) for the other units.
    /// Or the top-level domain, such as `com`; `(ip)` for addresses, and `(other)` for the units
    /// beyond the largest domains.
    pub name: String,
    /// The number of units in the group.
    pub of: u64,
    /// The number of counted units: all, or those of a sample of the group.
    pub units: u64,
    /// The units by coverage, for each agent in the order given.
    pub agents: Vec<CoverageCounts>,
    /// The intervals of the shares of the counted units, for each agent; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<CoverageCounts<Interval>>>,
}

impl UnitGroup {
    /// The sample of the group in a report with this sample.
    pub fn sample(&self, of_report: &SampleFacts) -> SampleFacts {
        SampleFacts {
            units: self.units,
            of: self.of,
            ..*of_report
        }
    }
}

/// The periods in which units began to disallow everything to agents, by the history of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SincePeriods {
    /// The length of a period, such as `month`.
    pub every: String,
    /// The periods with a count, the oldest first, such as `2026-03`.
    pub periods: Vec<String>,
    /// Each agent, in the order given.
    pub agents: Vec<AgentSince>,
}

/// The units whose rules disallow everything to an agent, by the time when that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentSince {
    /// The agent as given.
    pub agent: String,
    /// All of them: `wholly_by_name` and `wholly_by_global` of the agent.
    pub units: u64,
    /// Of these, the units that did so in their first answer, or since an unknown time.
    pub first_answer: u64,
    /// The others, by the period of the capture that found it.
    pub began: Vec<u64>,
}

/// A figure that one registrable domain holds more than a tenth of. Figures of less than 20 units
/// are not examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Concentration {
    /// The agent whose figure it is: the units that disallow it wholly. `None` for the figure of
    /// all units.
    pub agent: Option<String>,
    /// The domain that holds most.
    pub domain: String,
    /// The units of the figure that belong to the domain.
    pub units: u64,
    /// The figure.
    pub of: u64,
}

/// The figures of one agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentReport {
    /// The agent as given.
    pub agent: String,
    /// The units by coverage.
    #[serde(rename = "origins")]
    pub units: CoverageCounts,
    /// The intervals of the shares of the units; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<CoverageCounts<Interval>>,
    /// The sums of the weights by coverage; `None` without weights.
    pub weighted: Option<CoverageCounts<f64>>,
    /// The URLs of the lists by verdict.
    #[serde(skip_serializing_if = "AgentUrls::is_in_series")]
    pub urls: AgentUrls,
}

/// The URLs of the lists for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum AgentUrls {
    /// The counts by verdict.
    Counted(UrlCounts),
    /// The report has no lists: null in the JSON.
    NoLists,
    /// A series takes no lists: its JSON leaves the key out.
    InSeries,
}

impl AgentUrls {
    fn is_in_series(&self) -> bool {
        *self == Self::InSeries
    }
}

/// Defines a struct of counts: its fields, their names in the JSON, and their values in this order.
/// With another `N` it has the sums of weights, or the intervals of shares.
macro_rules! counts {
    ($(#[$of:meta])* $type:ident { $($(#[$doc:meta])* $name:ident,)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct $type<N = u64> {
            $($(#[$doc])* pub $name: N,)*
        }

        impl<N: Copy> $type<N> {
            /// Each count with its name in the JSON.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, N)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            /// The count with this name in the JSON. Without such a count, it is 0.
            pub fn get(&self, name: &str) -> N
            where
                N: Default,
            {
                let found = self.named().find(|(known, _)| *known == name);
                debug_assert!(found.is_some(), "no count is named {name}");
                found.map_or(N::default(), |(_, count)| count)
            }
        }
    };
}

/// Defines a struct of counts of units, whose shares have intervals in a sample.
macro_rules! unit_counts {
    ($(#[$of:meta])* $type:ident { $($(#[$doc:meta])* $name:ident,)* }) => {
        counts! { $(#[$of])* $type { $($(#[$doc])* $name,)* } }

        impl $type {
            /// The intervals of the shares of a sample's units.
            pub(super) fn intervals(&self, sample: &SampleFacts) -> $type<Interval> {
                let interval = |part| sample.interval(part, sample.units);
                $type { $($name: interval(self.$name),)* }
            }
        }
    };
}

unit_counts! {
    /// Units by [`Coverage`] and by the cause of it: their number, or with `f64` the sum of
    /// their weights. The sum of `wholly`, `partly` and `not` is that of all units.
    ///
    /// "By name" means that a group of the robots.txt names the agent, or an agent of its chain. "By
    /// global" means that none does, so the groups for `*` apply. "By status" means that the status
    /// policy decides, without rules: the site fails, for example.
    CoverageCounts {
        /// The sum of the next three.
        wholly,
        wholly_by_name,
        wholly_by_global,
        wholly_by_status,
        /// The sum of the next two.
        partly,
        partly_by_name,
        partly_by_global,
        not,
    }
}

impl<N: Copy + AddAssign> CoverageCounts<N> {
    pub(super) fn add(&mut self, access: Access, origins: N) {
        let (sum, part) = match access {
            Access::WhollyByName => (&mut self.wholly, Some(&mut self.wholly_by_name)),
            Access::WhollyByGlobal => (&mut self.wholly, Some(&mut self.wholly_by_global)),
            Access::WhollyByStatus => (&mut self.wholly, Some(&mut self.wholly_by_status)),
            Access::PartlyByName => (&mut self.partly, Some(&mut self.partly_by_name)),
            Access::PartlyByGlobal => (&mut self.partly, Some(&mut self.partly_by_global)),
            Access::Not => (&mut self.not, None),
        };
        *sum += origins;
        part.into_iter().for_each(|part| *part += origins);
    }

    /// Adds the counts of other units.
    pub(super) fn merge(&mut self, later: &Self) {
        self.wholly += later.wholly;
        self.wholly_by_name += later.wholly_by_name;
        self.wholly_by_global += later.wholly_by_global;
        self.wholly_by_status += later.wholly_by_status;
        self.partly += later.partly;
        self.partly_by_name += later.partly_by_name;
        self.partly_by_global += later.partly_by_global;
        self.not += later.not;
    }
}

impl<N: Copy> CoverageCounts<N> {
    /// The parts of all units that a table or a bar shows, the most disallowed first.
    pub fn causes(&self) -> [N; 5] {
        [
            self.wholly_by_name,
            self.wholly_by_global,
            self.wholly_by_status,
            self.partly,
            self.not,
        ]
    }
}

impl CoverageCounts {
    /// The sort key of agents, the most disallowed last.
    pub(super) fn refusal_rank(&self) -> [u64; 3] {
        [self.wholly, self.wholly_by_name, self.partly]
    }
}

impl AgentReport {
    /// The URLs of the lists by verdict; `None` without lists.
    pub fn urls(&self) -> Option<UrlCounts> {
        match self.urls {
            AgentUrls::Counted(urls) => Some(urls),
            _ => None,
        }
    }
}

impl Report {
    /// The numbers of the agents, the most disallowed first: by `wholly`, then `wholly_by_name`,
    /// then `partly`. Agents with equal counts keep their order.
    pub fn agents_by_refusal(&self) -> Vec<usize> {
        let mut agents: Vec<usize> = (0..self.agents.len()).collect();
        agents.sort_by_key(|&agent| Reverse(self.agents[agent].units.refusal_rank()));
        agents
    }

    /// The numbers of the agents, that with the most disallowed URLs first. Agents with equal
    /// counts keep their order, so without lists all do.
    pub fn agents_by_refused_urls(&self) -> Vec<usize> {
        let mut agents: Vec<usize> = (0..self.agents.len()).collect();
        agents.sort_by_key(|&agent| Reverse(self.agents[agent].urls().map(|urls| urls.disallowed)));
        agents
    }
}

counts! {
    /// URLs by verdict. The sum is the number of lines.
    UrlCounts {
        /// URLs that the agent may fetch.
        allowed,
        /// URLs that it may not fetch.
        disallowed,
        /// URLs of origins that the snapshot does not contain.
        unknown,
        /// Lines without a URL.
        invalid,
    }
}

unit_counts! {
    /// Units by the number of agents that they disallow.
    Together {
        /// Every agent wholly.
        all_wholly,
        /// One agent or more wholly.
        any_wholly,
        /// One agent or more wholly or partly.
        #[serde(flatten, serialize_with = "disallowed_keys::any_refused")]
        any_refused,
    }
}

/// Some agents of a report under one name, such as the members of `@ai-train`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSubset {
    /// The name.
    pub name: String,
    /// The positions of its agents in those of the judge. Others than these are ignored.
    pub agents: Vec<usize>,
}

/// The figures of a set of agents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetReport {
    /// The name as given, such as `@ai-train`.
    pub name: String,
    /// The agents of the set.
    pub agents: Vec<String>,
    /// Units by the number of agents of the set that they disallow.
    #[serde(flatten)]
    pub together: Together,
    /// The intervals of their shares; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Together<Interval>>,
}

impl Together {
    /// Adds origins that disallow this much to each agent.
    pub(super) fn add(&mut self, accesses: impl Iterator<Item = Access>, origins: u64) {
        let mut is_any_refused = false;
        let mut is_any_wholly = false;
        let mut is_all_wholly = true;
        for access in accesses {
            let coverage = access.coverage();
            is_any_refused |= coverage != Coverage::Not;
            is_any_wholly |= coverage == Coverage::Wholly;
            is_all_wholly &= coverage == Coverage::Wholly;
        }
        self.any_refused += u64::from(is_any_refused) * origins;
        self.any_wholly += u64::from(is_any_wholly) * origins;
        self.all_wholly += u64::from(is_all_wholly) * origins;
    }
}

/// The verdicts with one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReasonReport {
    /// The reason.
    #[serde(rename = "basis")]
    pub reason: Reason,
    /// Origins of the snapshot.
    pub origins: u64,
    /// The interval of their share; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Of these, the origins that the status policy disallows to every agent, without a rule.
    #[serde(flatten, serialize_with = "disallowed_keys::origins_refused")]
    pub origins_refused: u64,
    /// URLs of the lists.
    pub urls: Option<u64>,
    /// Of these, the URLs disallowed to each agent, in the order of the agents.
    #[serde(flatten, serialize_with = "disallowed_keys::urls_refused")]
    pub urls_refused: Option<Vec<u64>>,
}

/// One of the origins that disallow most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OriginReport {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// The reason of its verdicts.
    #[serde(rename = "basis")]
    pub reason: Reason,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// The time when its robots.txt was fetched, in seconds since 1970.
    #[serde(serialize_with = "rfc3339")]
    pub fetched_at: Option<i64>,
    /// The coverage for each agent, in the order of the agents.
    pub agents: Vec<Coverage>,
    /// URLs of the lists.
    pub urls: Option<u64>,
    /// Of these, the URLs disallowed to one agent or more.
    #[serde(flatten, serialize_with = "disallowed_keys::urls_refused")]
    pub urls_refused: Option<u64>,
}

/// The most frequent disallow rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RulesByOrigins {
    /// The number of distinct disallow rules that the agents obey.
    pub distinct: u64,
    /// The rules with the most pairs of an origin and an agent that obeys them there, at most
    /// `--top`. They are sorted by the number of origins.
    pub top: Vec<RuleByOrigins>,
}

/// A rule, and the number of origins that have it for an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleByOrigins {
    /// The rule with its path in normal form, such as `Disallow: /private/`.
    pub rule: String,
    /// Origins with the rule in the rules for one agent or more.
    pub origins: u64,
    /// The interval of their share; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The same for each agent, in the order of the agents.
    pub agents: Vec<u64>,
}

/// The rules that decide about disallowed URLs, estimated from a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecidingRules {
    /// The sampling interval: the sample has every n-th disallowed URL of the lists, from the first
    /// on.
    pub every: u64,
    /// The number of URLs in the sample, which are explained.
    pub explained: u64,
    /// Of these, the URLs that the status policy or the option for unknown origins disallows.
    pub not_by_rule: u64,
    /// The rules that decide about most of them, at most `--top`.
    pub top: Vec<DecidingRule>,
}

/// A rule, and the number of URLs of the sample that it disallows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecidingRule {
    /// The line of the robots.txt, without its comment.
    pub rule: String,
    /// URLs that it disallows to one agent or more.
    pub urls: u64,
    /// The same for each agent, in the order of the agents.
    pub agents: Vec<u64>,
}

/// The declared preferences of one field about the use of content.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SignalReport {
    /// The field in lower case.
    pub field: &'static str,
    /// Distinct robots.txt files with the field.
    pub files: u64,
    /// Origins that use such a file.
    pub origins: u64,
    /// The interval of their share; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Origins that have the field with a path, which limits it to a part of their URLs.
    pub with_path: u64,
    /// The values, such as `ai-train=no`, sorted by the number of origins; for `license` the hosts
    /// of the URLs.
    pub values: Vec<SignalValue>,
    /// The number of further values.
    pub more: u64,
    /// Origins with a value that does not have the form `key=value`, or that is not an absolute
    /// URL.
    pub other: u64,
}

/// One value of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SignalValue {
    /// The value in lower case, without white space.
    pub value: String,
    /// Origins with the value, once or several times.
    pub origins: u64,
    /// The interval of their share of the origins with the field; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// One explained URL that is disallowed to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    #[serde(rename = "basis")]
    pub reason: Reason,
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

/// Serializes a time as `2026-01-31T12:00:00Z`.
fn rfc3339<S: Serializer>(seconds: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = seconds
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .map(|time| time.to_string());
    text.serialize(serializer)
}
