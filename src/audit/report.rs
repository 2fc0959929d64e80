//! The result of an audit. Its serialised form has stable keys, which `docs/AUDIT.md` lists.

use crate::audit::identity::Identity;
use crate::crawlers::{Compliance, KnownAgent, Purpose};
use serde::Serialize;

/// The counts of an audit.
///
/// `lines` is `invalid + other_agents` plus the requests of all crawlers. The comment lines of W3C
/// logs do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// The lines of all logs.
    pub lines: u64,
    /// Lines that do not have the format of their log, or whose request has no URL.
    pub invalid: u64,
    /// Those of `invalid` that do not have the format of their log and name a crawler. They were not
    /// audited.
    pub invalid_with_crawler: u64,
    /// The first of these lines, else the first one that does not have the format of its log.
    pub invalid_example: Option<InvalidLine>,
    /// Lines of browsers and of agents that are not looked for.
    pub other_agents: u64,
    /// Those of `other_agents` that have no User-Agent: the field is empty, `-` or `REDACTED`.
    pub without_agent: u64,
    /// The time of the first valid line of any agent, as RFC 3339.
    pub first: Option<String>,
    /// The time of the last one.
    pub last: Option<String>,
    /// The number of sites that requests of crawlers went to, up to 4,096.
    pub site_count: u64,
    /// The ten sites with the most requests of crawlers.
    pub sites: Vec<SiteAudit>,
    /// The ten sites with the most requests that no snapshot could judge.
    pub unknown_sites: Vec<SiteAudit>,
    /// Requests of crawlers that are older than the first snapshot, which judged them.
    pub before_first_snapshot: u64,
    /// Whether the snapshot has a history, so that each request was judged by the rules in force at
    /// its own time.
    pub has_history: bool,
    /// Requests of crawlers from before the first capture of their site, without those for
    /// `/robots.txt`. They are `unknown`, unless the status policy disallows what is not known. 0
    /// without a history.
    pub before_first_capture: u64,
    /// The crawlers with requests, and those that the caller named. A crawler with published
    /// addresses has two entries, by [`identity`](CrawlerAudit::identity). Claims come last, and
    /// before them crawlers with an [`exception`](CrawlerAudit::exception); otherwise the entries
    /// are sorted by disallowed requests, then by requests, then by name.
    pub crawlers: Vec<CrawlerAudit>,
}

/// The counts of one crawler, or of one identity of it. `requests` is `allowed + disallowed +
/// unknown + within_day_of_change + between_captures`. The last two are 0 without a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CrawlerAudit {
    /// The name as the caller gave it, else the token of the registry.
    pub name: String,
    /// The chain of names by which the requests were judged, as `-a` takes it: that of the caller,
    /// else the one that the operator documents ([`KnownAgent::agent`]).
    pub judged_as: String,
    /// Whether these requests come from the published addresses of the crawler; `None` if the
    /// caller gave none. The requests of [`Identity::Claimed`] only name the crawler.
    pub identity: Option<Identity>,
    /// The operator, if the registry knows it.
    pub operator: Option<String>,
    /// The purpose, if the crawler is in the registry.
    pub purpose: Option<&'static str>,
    /// Why disallowed requests of this crawler need not break the rules; `None` if they do.
    pub exception: Option<RuleException>,
    /// All requests, those for `/robots.txt` included.
    pub requests: u64,
    /// Requests that the rules allow. Those for `/robots.txt` always count here.
    pub allowed: u64,
    /// Requests that the rules disallow, but for those of
    /// [`within_day_of_change`](Self::within_day_of_change) and
    /// [`between_captures`](Self::between_captures).
    pub disallowed: u64,
    /// Requests to hosts that the snapshot does not contain, or not yet at the time of the request.
    pub unknown: u64,
    /// Requests that the rules in force disallow, and that rules allow which were found replaced at
    /// most 24 hours before: a crawler may use a copy of a robots.txt for that time (RFC 9309
    /// §2.4). What was in force before the first capture is not known, and allows nothing here. Of
    /// a site with more than 1,024 answers in these 24 hours, or with more than 4 MiB of different
    /// texts, all requests count that the rules in force disallow.
    pub within_day_of_change: u64,
    /// Requests that the rules in force disallow and the next ones allow, from between two
    /// captures: after the last one that found the answer unchanged, and before the one that found
    /// it changed ([`AnswerInForce`](crate::snapshot::AnswerInForce)). Requests of
    /// [`within_day_of_change`](Self::within_day_of_change) do not count here.
    pub between_captures: u64,
    /// Those of `disallowed` that are from between two captures, and that the next rules disallow
    /// too.
    pub disallowed_between_captures: u64,
    /// Those of `disallowed` that are later than the last capture of the rules, so that the site may
    /// have changed them since.
    pub disallowed_after_last_capture: u64,
    /// Requests for `/robots.txt`.
    pub robots_txt: u64,
    /// The bytes sent for all requests.
    pub bytes: u64,
    /// The bytes sent for disallowed requests.
    pub disallowed_bytes: u64,
    /// Disallowed requests that the server answered with 2xx.
    pub disallowed_2xx: u64,
    /// Disallowed requests without a status, which the log does not have. They are not among
    /// `disallowed_2xx`.
    pub disallowed_without_status: u64,
    /// Requests without the address of a client: the field has something else. So they are
    /// [claims](Identity::Claimed), whoever sent them. 0 without published addresses.
    pub without_address: u64,
    /// The time of the first request in the logs, as RFC 3339.
    pub first: Option<String>,
    /// The time of the last request.
    pub last: Option<String>,
    /// How long after a request for `/robots.txt` the crawler broke the rules.
    pub after_robots_txt: RobotsFetches,
    /// The rules that were broken most.
    pub rules: Vec<BrokenRule>,
    /// Disallowed requests that no rule counts: the rules of all crawlers take 256 MiB at most, and
    /// those that do not fit are left out.
    pub rules_left_out: u64,
}

/// A line that does not have the format of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InvalidLine {
    /// The log.
    pub path: String,
    /// The first 200 bytes of the line at most.
    pub start: String,
}

/// The requests of crawlers to one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SiteAudit {
    /// The origin; a text of the log if that is not one.
    pub origin: String,
    /// All requests.
    pub requests: u64,
    /// Requests that no snapshot could judge, because it does not contain the site, or not yet at
    /// the time of the request.
    pub unknown: u64,
}

/// Why disallowed requests of a crawler do not count as broken rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RuleException {
    /// It acts for a person: purpose `ai-user` or `ai-agent`.
    ActsForUser,
    /// Its operator names exceptions: `obeys` is `partly`.
    Partly,
}

impl RuleException {
    /// `acts-for-user` or `partly`, as in the JSON of a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::ActsForUser => "acts-for-user",
            Self::Partly => "partly",
        }
    }

    /// The exception of a row of the registry.
    pub(super) fn of(known: &KnownAgent) -> Option<Self> {
        match (known.purpose, known.obeys) {
            (Purpose::AiUser | Purpose::AiAgent, _) => Some(Self::ActsForUser),
            (_, Compliance::Partly) => Some(Self::Partly),
            _ => None,
        }
    }
}

impl CrawlerAudit {
    /// Whether these requests only claim to be of the crawler, so that they say nothing about it.
    pub fn is_claimed(&self) -> bool {
        self.identity == Some(Identity::Claimed)
    }
}

/// Disallowed requests by the last request of the same crawler and identity for the `/robots.txt`
/// of the same origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RobotsFetches {
    /// Disallowed requests after one for `/robots.txt`.
    pub disallowed_after: u64,
    /// Those of them within 24 hours, for which a crawler may use a cached robots.txt.
    pub disallowed_within_day: u64,
    /// Disallowed requests without an earlier one for `/robots.txt` in the logs.
    pub disallowed_without: u64,
    /// The shortest time between the two.
    pub shortest_seconds: Option<i64>,
    /// The longest time.
    pub longest_seconds: Option<i64>,
    /// The mean time.
    pub mean_seconds: Option<i64>,
}

/// A rule that a crawler broke.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The line of the robots.txt; without one the reason of the verdict, such as `server-error`.
    pub rule: String,
    /// The requests that broke it.
    pub requests: u64,
    /// The URL of the first of them.
    pub example: String,
    /// The time of that request, as RFC 3339. A history judged it as of this time.
    pub example_time: String,
}
