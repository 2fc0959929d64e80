//! Status policies: an outcome of fetching a robots.txt becomes rules, allow or disallow.

use crate::explain::Reason;
use crate::named_value::named_values;
use crate::profile::Profile;
use crate::snapshot::{Outcome, OutcomeClass};

/// The verdict on URLs of origins that the snapshot does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownOrigin {
    /// All agents may fetch them.
    Allow,
    /// No agent may fetch them.
    Disallow,
}

named_values! {
    /// The name on the command line.
    UnknownOrigin {
        Allow = "allow",
        Disallow = "disallow",
    }
}

/// The meaning of answers other than 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StatusPolicy {
    /// Google's published policy. 4xx except 429 allows. 429, 5xx and network errors disallow until
    /// 30 days after the first failure. Then the last good copy applies; without one, everything is
    /// allowed.
    Google,
    /// RFC 9309 §2.3.1: 4xx, including 429, allows. 5xx and network errors disallow for 30 days,
    /// and allow then.
    Rfc9309,
    /// The cautious policy: unknown origins, redirects to a URL that the archive lacks, 401, 403,
    /// 429, 5xx and network errors disallow.
    Strict,
}

named_values! {
    /// The name on the command line and in reports.
    StatusPolicy {
        Google = "google",
        Rfc9309 = "rfc9309",
        Strict = "strict",
    }
}

impl StatusPolicy {
    /// The policy with the name of a profile, which is its default.
    pub(crate) fn of_profile(profile: Profile) -> Self {
        match profile {
            Profile::Google => Self::Google,
            Profile::Rfc9309 => Self::Rfc9309,
        }
    }
}

/// The ruling of a status policy on an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// The rules of the newest robots.txt apply.
    Rules,
    /// The rules of the last good copy apply.
    LastGood,
    /// All URLs are allowed.
    Allow,
    /// All URLs are disallowed.
    Disallow,
}

impl Reason {
    /// The reason for an origin with this outcome and the ruling of the status policy on it.
    pub(crate) fn of(outcome: &Outcome, ruling: Ruling) -> Self {
        match outcome.class {
            _ if ruling == Ruling::LastGood => Self::LastGoodCopy,
            OutcomeClass::Rules => Self::Rules,
            OutcomeClass::ClientError if matches!(outcome.status, 401 | 403) => Self::Forbidden,
            OutcomeClass::ClientError => Self::NoRobotsTxt,
            OutcomeClass::ServerError => Self::ServerError,
            OutcomeClass::Unreachable => Self::Unreachable,
            OutcomeClass::Unresolved => Self::UnresolvedRedirect,
        }
    }
}

/// The time for which a failing site disallows everything. RFC 9309 §2.3.1.4 recommends 30 days,
/// and so does Google.
const FAILURE_SECONDS: i64 = 30 * 24 * 60 * 60;

/// The ruling of a policy on an outcome. `has_last_good` says whether the snapshot has a last good
/// copy.
///
/// The age of a failure is the time from the first failure to the newest capture. So the verdict
/// depends on the snapshot only, and not on the current time. With `at`, the age is the time to
/// `at`: a site without newer captures counts as failing until then.
pub(crate) fn ruling(
    policy: StatusPolicy,
    outcome: &Outcome,
    has_last_good: bool,
    at: Option<i64>,
) -> Ruling {
    use OutcomeClass::{ClientError, Rules, ServerError, Unreachable, Unresolved};
    use StatusPolicy::{Google, Rfc9309, Strict};
    match (outcome.class, policy) {
        (Rules, _) => Ruling::Rules,
        (ClientError, Strict) if matches!(outcome.status, 401 | 403) => Ruling::Disallow,
        (Unresolved, Strict) if outcome.target_missing => Ruling::Disallow,
        (ClientError | Unresolved, _) => Ruling::Allow,
        (ServerError, Rfc9309) if outcome.status == 429 => Ruling::Allow,
        (ServerError | Unreachable, Strict) => Ruling::Disallow,
        (ServerError | Unreachable, _) if !is_long_ago(policy, outcome, at) => Ruling::Disallow,
        (ServerError | Unreachable, Google) if has_last_good => Ruling::LastGood,
        (ServerError | Unreachable, Google | Rfc9309) => Ruling::Allow,
    }
}

/// Whether the run of failures began 30 days ago or earlier. Each policy has its own run: for
/// Google a 429 is a failure; for RFC 9309 it is "unavailable" (§2.3.1.3) and ends a run.
fn is_long_ago(policy: StatusPolicy, outcome: &Outcome, at: Option<i64>) -> bool {
    let first = if policy == StatusPolicy::Rfc9309 {
        outcome.first_unreachable
    } else {
        outcome.first_failure
    };
    let age = at
        .or(outcome.fetched)
        .zip(first)
        .map(|(now, first)| now.saturating_sub(first));
    age.is_some_and(|age| age >= FAILURE_SECONDS)
}
