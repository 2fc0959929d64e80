//! The outcome of fetching an origin's robots.txt, to which a status policy is applied later.

use crate::named_value::named_values;
use crate::robots::LooksLike;

/// The most redirects that are followed (RFC 9309 §2.3.1.2; Google's specification).
pub(crate) const MAX_HOPS: u8 = 5;

/// The class of an outcome. Status policies decide by class, and by some statuses within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum OutcomeClass {
    /// 2xx: the rules of the body apply.
    Rules = 0,
    /// 4xx except 429: no restrictions.
    ClientError = 1,
    /// 429 and 5xx.
    ServerError = 2,
    /// DNS failure, timeout, reset, or an answer that is not HTTP.
    Unreachable = 3,
    /// A redirect with more than five hops, a loop, or a target that the archive lacks. It counts
    /// as 404, but [`Strict`](crate::judge::StatusPolicy::Strict) disallows if the target is
    /// missing.
    Unresolved = 4,
}

named_values! {
    /// The name in reports and JSON.
    OutcomeClass {
        Rules = "rules",
        ClientError = "client-error",
        ServerError = "server-error",
        Unreachable = "unreachable",
        Unresolved = "unresolved-redirect",
    }
}

impl OutcomeClass {
    /// The class of a response with this HTTP status, 0 for none. `None` for 3xx: the class is that
    /// of the answer to which a redirect leads, or which a 304 confirms.
    pub(crate) fn of_status(status: u16) -> Option<Self> {
        match status {
            200..=299 => Some(Self::Rules),
            300..=399 => None,
            429 | 500..=599 => Some(Self::ServerError),
            400..=499 => Some(Self::ClientError),
            _ => Some(Self::Unreachable),
        }
    }

    /// Whether it is a temporary failure, after which a crawler asks again: 429, 5xx, and network
    /// errors.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::ServerError | Self::Unreachable)
    }

    /// The class of a stored number.
    pub(super) fn from_u8(value: u8) -> Option<Self> {
        [
            Self::Rules,
            Self::ClientError,
            Self::ServerError,
            Self::Unreachable,
            Self::Unresolved,
        ]
        .into_iter()
        .find(|class| *class as u8 == value)
    }
}

/// The outcome of fetching an origin's robots.txt.
///
/// It states facts only: judging applies a [`StatusPolicy`](crate::judge::StatusPolicy) to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The class.
    pub class: OutcomeClass,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// The number of redirects followed.
    pub hops: u8,
    /// Whether the archive kept only the beginning of the body.
    pub cut_short: bool,
    /// The time of the newest capture, in seconds since 1970.
    pub fetched: Option<i64>,
    /// Whether the body is longer than 500 KiB; the rest is ignored (RFC 9309 §2.5).
    pub past_limit: bool,
    /// The other format that the body looks like, if it does not look like a robots.txt.
    pub looks_like: Option<LooksLike>,
    /// Whether redirects led to a URL that the archive lacks.
    pub target_missing: bool,
    /// The time of the first failure in the run of failures that includes the newest capture, in
    /// seconds since 1970. Failures are 429, 5xx and network errors, as Google counts them.
    pub first_failure: Option<i64>,
    /// The same for a run of 5xx and network errors only, which a 429 ends: RFC 9309 counts 429 as
    /// "unavailable" (§2.3.1.3), and only the others as "unreachable" (§2.3.1.4).
    pub first_unreachable: Option<i64>,
    /// The `max-age` of the answer's `Cache-Control`, in seconds. `None` for a failure, which says
    /// nothing about the lifetime of a robots.txt.
    pub max_age: Option<u32>,
    /// The `Retry-After` of a failure, in seconds after the capture.
    pub retry_after: Option<u32>,
}

impl Outcome {
    /// An outcome of this class and status, without times.
    pub(crate) fn new(class: OutcomeClass, status: u16) -> Self {
        Self {
            class,
            status,
            hops: 0,
            cut_short: false,
            fetched: None,
            past_limit: false,
            looks_like: None,
            target_missing: false,
            first_failure: None,
            first_unreachable: None,
            max_age: None,
            retry_after: None,
        }
    }

    /// Whether the site says that it has no robots.txt: 4xx except 401, 403 and 429. Every status
    /// policy allows everything then, whatever the times.
    pub(crate) fn has_no_robots_txt(&self) -> bool {
        self.class == OutcomeClass::ClientError && !matches!(self.status, 401 | 403)
    }

    /// How long to wait before the next fetch, in seconds, as the answer itself states it.
    pub(crate) fn wait(&self) -> Option<u32> {
        self.max_age.or(self.retry_after)
    }

    /// Sets the wait that an answer of this class states.
    pub(crate) fn set_wait(&mut self, wait: Option<u32>) {
        if self.class.is_failure() {
            self.retry_after = wait;
        } else {
            self.max_age = wait;
        }
    }
}
