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
///
/// Each edition of Google's specification is a policy of its own. `docs/SEMANTICS.md` has a table of
/// all of them, with the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StatusPolicy {
    /// Another name of [`Google2023`](Self::Google2023), and the default of profile `google`.
    Google,
    /// Google's specification of 2012. 4xx, including 429, allows. 5xx and network errors disallow,
    /// however long they last.
    Google2012,
    /// Google's specification of 2019. 4xx, including 429, allows. 5xx and network errors disallow
    /// until 30 days after the first failure. Then the last good copy applies; without one,
    /// everything is allowed.
    Google2019,
    /// Google's specification of 2023: that of 2019, but a 429 is a server error, as a 5xx is.
    Google2023,
    /// Google's documentation as of April 2026. 4xx except 429 allows. 429, 5xx and network errors
    /// disallow for 12 hours after the first failure. Then the last good copy applies; without one,
    /// everything is allowed. From 30 days on everything is allowed.
    Google2026,
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
        Google2012 = "google-2012",
        Google2019 = "google-2019",
        Google2023 = "google-2023",
        Google2026 = "google-2026",
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
            OutcomeClass::ClientError if outcome.has_no_robots_txt() => Self::NoRobotsTxt,
            OutcomeClass::ClientError => Self::Forbidden,
            OutcomeClass::ServerError => Self::ServerError,
            OutcomeClass::Unreachable => Self::Unreachable,
            OutcomeClass::Unresolved => Self::UnresolvedRedirect,
        }
    }
}

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// The meaning of each kind of answer without rules: one row of the table in `docs/SEMANTICS.md`,
/// "Results of fetching". The rows below name their sources.
///
/// Every policy allows the other 4xx, and redirects that end without an answer.
struct StatusTable {
    /// 401 and 403.
    forbidden: Ruling,
    /// A redirect to a URL that the archive lacks.
    missing_target: Ruling,
    /// Whether 429 is a failure, like 5xx and network errors. Otherwise it is an answer that
    /// allows, as any 4xx, and it ends a run of failures.
    has_429_as_failure: bool,
    /// The ruling on a failing site by the age of its run of failures, in order of age. The first
    /// phase is also that of a run whose age is unknown.
    failure: &'static [Phase],
}

/// From an age in seconds on, the ruling on a failing site. Without a good copy,
/// [`LastGood`](Ruling::LastGood) is [`Allow`](Ruling::Allow).
struct Phase {
    from: i64,
    ruling: Ruling,
}

const fn from_age(from: i64, ruling: Ruling) -> Phase {
    Phase { from, ruling }
}

/// Google, 2012, "HTTP result codes". 4xx are all alike, and 401 and 403 are named. 5xx are a full
/// disallow until another answer comes. The text leaves permanent server errors and network errors
/// open; Own: both disallow.
const GOOGLE_2012: StatusTable = StatusTable {
    forbidden: Ruling::Allow,
    missing_target: Ruling::Allow,
    has_429_as_failure: false,
    failure: &[from_age(0, Ruling::Disallow)],
};

/// Google, 2019, "HTTP result codes". 4xx are all alike. 5xx are a full disallow, and after 30 days
/// the last copy in the cache is used; without one there are no restrictions. Network errors are
/// server errors.
const GOOGLE_2019: StatusTable = StatusTable {
    forbidden: Ruling::Allow,
    missing_target: Ruling::Allow,
    has_429_as_failure: false,
    failure: &[
        from_age(0, Ruling::Disallow),
        from_age(30 * DAY, Ruling::LastGood),
    ],
};

/// Google, 2023, "Handling of errors and HTTP status codes". 4xx except 429 allow, and 429 is among
/// the server errors. The rest is that of 2019.
const GOOGLE_2023: StatusTable = StatusTable {
    has_429_as_failure: true,
    ..GOOGLE_2019
};

/// Google, April 2026, "Handling of errors and HTTP status codes". The crawl stops for the first 12
/// hours, which include their last second. Then the last good copy is used, and without one there
/// are no restrictions. After 30 days the site counts as one without a robots.txt, if it is
/// generally available. Own: whoever can fetch a page finds it available, and both times count from
/// the first failure. The text excepts 429 from the 4xx; that it is a server error is said in 2023.
const GOOGLE_2026: StatusTable = StatusTable {
    failure: &[
        from_age(0, Ruling::Disallow),
        from_age(12 * HOUR + 1, Ruling::LastGood),
        from_age(30 * DAY, Ruling::Allow),
    ],
    ..GOOGLE_2023
};

/// RFC 9309. §2.3.1.3: 4xx is "unavailable", and everything may be fetched. §2.3.1.4: 5xx and
/// network errors are "unreachable", which is a full disallow. After a long time, for example 30
/// days, the crawler may assume "unavailable", or use a cached copy; Own: it does the former.
const RFC9309: StatusTable = StatusTable {
    forbidden: Ruling::Allow,
    missing_target: Ruling::Allow,
    has_429_as_failure: false,
    failure: &[
        from_age(0, Ruling::Disallow),
        from_age(30 * DAY, Ruling::Allow),
    ],
};

/// Own: any answer that may hide rules disallows.
const STRICT: StatusTable = StatusTable {
    forbidden: Ruling::Disallow,
    missing_target: Ruling::Disallow,
    has_429_as_failure: true,
    failure: &[from_age(0, Ruling::Disallow)],
};

impl StatusPolicy {
    fn table(self) -> &'static StatusTable {
        match self {
            Self::Google2012 => &GOOGLE_2012,
            Self::Google2019 => &GOOGLE_2019,
            Self::Google | Self::Google2023 => &GOOGLE_2023,
            Self::Google2026 => &GOOGLE_2026,
            Self::Rfc9309 => &RFC9309,
            Self::Strict => &STRICT,
        }
    }
}

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
    let table = policy.table();
    match outcome.class {
        OutcomeClass::Rules => Ruling::Rules,
        OutcomeClass::ClientError if outcome.has_no_robots_txt() => Ruling::Allow,
        OutcomeClass::ClientError => table.forbidden,
        OutcomeClass::Unresolved if outcome.target_missing => table.missing_target,
        OutcomeClass::Unresolved => Ruling::Allow,
        OutcomeClass::ServerError if outcome.status == 429 && !table.has_429_as_failure => {
            Ruling::Allow
        }
        OutcomeClass::ServerError | OutcomeClass::Unreachable => {
            table.ruling_on_failure(outcome, has_last_good, at)
        }
    }
}

/// The times, in seconds since 1970, at which the ruling of a policy on a failing outcome may change.
pub(crate) fn ruling_changes(policy: StatusPolicy, outcome: &Outcome) -> impl Iterator<Item = i64> {
    let table = policy.table();
    table.first_failure(outcome).into_iter().flat_map(|first| {
        let phases = table.failure.iter();
        phases.map(move |phase| first.saturating_add(phase.from))
    })
}

impl StatusTable {
    /// The first of the failures of an outcome. Each policy has its own run of them.
    fn first_failure(&self, outcome: &Outcome) -> Option<i64> {
        match self.has_429_as_failure {
            true => outcome.first_failure,
            false => outcome.first_unreachable,
        }
    }

    fn ruling_on_failure(&self, outcome: &Outcome, has_last_good: bool, at: Option<i64>) -> Ruling {
        let first = self.first_failure(outcome);
        let now = at.or(outcome.fetched);
        let age = now.zip(first).map(|(now, first)| now.saturating_sub(first));
        let phase = self
            .failure
            .iter()
            .rev()
            .find(|phase| age >= Some(phase.from));
        let ruling = phase.unwrap_or(&self.failure[0]).ruling;
        // The stored copy precedes the run of failures that counts 429. If the other run begins
        // later, a 429 came between, which to this policy is an answer without a robots.txt.
        let is_last_answer =
            self.has_429_as_failure || outcome.first_unreachable == outcome.first_failure;
        match ruling {
            Ruling::LastGood if !(has_last_good && is_last_answer) => Ruling::Allow,
            ruling => ruling,
        }
    }
}
