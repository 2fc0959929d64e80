//! What the outcome of fetching a robots.txt means: rules, allow or disallow, by the user's policy.

use crate::snapshot::{Outcome, OutcomeClass};

/// Whether an agent may fetch a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may.
    Allowed,
    /// It may not.
    Disallowed,
    /// The snapshot has no robots.txt, nor the lack of one, for the URL's origin.
    Unknown,
    /// The text is not a URL with scheme and host.
    Invalid,
}

impl Verdict {
    /// `A`, `D`, `U` or `I`, as `robosieve annotate` writes it.
    pub fn letter(self) -> char {
        match self {
            Self::Allowed => 'A',
            Self::Disallowed => 'D',
            Self::Unknown => 'U',
            Self::Invalid => 'I',
        }
    }

    /// The word for people: `allowed`, `disallowed`, `unknown`, `invalid`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Disallowed => "disallowed",
            Self::Unknown => "unknown",
            Self::Invalid => "invalid",
        }
    }
}

/// The verdict on the URLs of origins that the snapshot does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownOrigin {
    /// All agents may fetch them.
    Allow,
    /// None may.
    Disallow,
}

/// What an answer other than 2xx means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusPolicy {
    /// Google's published handling: 4xx but 429 allows; 429, 5xx and network errors disallow until 30 days after the first
    /// failure, then the last good copy holds, without one all is allowed.
    Google,
    /// RFC 9309 §2.3.1: 4xx, 429 too, allows; 5xx and network errors disallow, and allow after 30 days.
    Rfc9309,
    /// The cautious reading: unknown origins, redirects to a URL that the archive lacks, 401, 403,
    /// 429, 5xx and network errors disallow.
    Strict,
}

/// What holds for all URLs of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// The rules of the newest robots.txt.
    Rules,
    /// The rules of the last good copy.
    LastGood,
    Allow,
    Disallow,
}

/// How long a failing site keeps crawlers out (RFC 9309 §2.3.1.4 recommends 30 days; so does Google).
const FAILURE_SECONDS: i64 = 30 * 24 * 60 * 60;

/// What an outcome means under a policy. `has_last_good` tells whether a copy from before the failures is kept.
///
/// The age of a failure is counted to the newest capture, which is the last that anyone knows of it: so a verdict
/// depends on the snapshot alone, not on the day it is asked for. Whoever takes a site that was not asked since to be failing
/// still gives the time `at` which that is judged.
pub(crate) fn ruling(policy: StatusPolicy, outcome: &Outcome, has_last_good: bool, at: Option<i64>) -> Ruling {
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

/// Whether the run of failures began 30 days ago or earlier. Each policy counts its own run: for
/// Google 429 is a failure, for RFC 9309 it is "unavailable" (§2.3.1.3) and ends a run.
fn is_long_ago(policy: StatusPolicy, outcome: &Outcome, at: Option<i64>) -> bool {
    let first = if policy == StatusPolicy::Rfc9309 { outcome.first_unreachable } else { outcome.first_failure };
    let age = at.or(outcome.fetched).zip(first).map(|(now, first)| now.saturating_sub(first));
    age.is_some_and(|age| age >= FAILURE_SECONDS)
}
