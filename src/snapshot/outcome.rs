//! What fetching an origin's robots.txt came to: the facts that policies are applied to.

use crate::robots::LooksLike;
use serde::{Deserialize, Serialize};

/// What fetching an origin's robots.txt came to, as far as policies tell outcomes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum OutcomeClass {
    /// 2xx: the rules of the body hold.
    Rules = 0,
    /// 4xx but 429: no restrictions.
    ClientError = 1,
    /// 429 and 5xx.
    ServerError = 2,
    /// DNS failure, timeout, reset, or an answer that is not HTTP.
    Unreachable = 3,
    /// A redirect with more than five hops, a loop, or a target that the archive lacks: as 404, but
    /// [`Strict`](crate::StatusPolicy::Strict) disallows where the target is lacking.
    Unresolved = 4,
}

impl OutcomeClass {
    /// The class of a stored number.
    pub(super) fn from_u8(value: u8) -> Option<Self> {
        [Self::Rules, Self::ClientError, Self::ServerError, Self::Unreachable, Self::Unresolved]
            .into_iter()
            .find(|class| *class as u8 == value)
    }

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::ClientError => "client-error",
            Self::ServerError => "server-error",
            Self::Unreachable => "unreachable",
            Self::Unresolved => "unresolved-redirect",
        }
    }
}

/// The facts of fetching an origin's robots.txt; policies are applied to them when filtering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What it came to.
    pub class: OutcomeClass,
    /// The last HTTP status, 0 if there was none.
    pub status: u16,
    /// Redirects followed.
    pub hops: u8,
    /// Whether the archive kept only the beginning of the body.
    pub cut_short: bool,
    /// When the newest capture was made, in seconds since 1970.
    pub fetched: Option<i64>,
    /// Whether the body is longer than the 500 KiB that count (RFC 9309 §2.5).
    pub past_limit: bool,
    /// What else than a robots.txt the body looks like.
    pub looks_like: Option<LooksLike>,
    /// Whether redirects led to a URL that the archive lacks.
    pub target_missing: bool,
    /// The first failure in the run of failures that the newest capture ends, in seconds since
    /// 1970. Failures are 429, 5xx and network errors, as Google counts them.
    pub first_failure: Option<i64>,
    /// The same for the run of 5xx and network errors alone, which a 429 ends: RFC 9309 counts 429
    /// as "unavailable" (§2.3.1.3), and only the others as "unreachable" (§2.3.1.4).
    pub first_unreachable: Option<i64>,
    /// `max-age` of the answer's `Cache-Control`, in seconds.
    pub max_age: Option<u32>,
}

/// How long a robots.txt is fresh that says nothing of it (RFC 9309 §2.4; Google's specification, "caching").
const FRESH_SECONDS: i64 = 24 * 60 * 60;

impl Outcome {
    /// When the robots.txt should be fetched again, in seconds since 1970: its `max-age`, else 24 hours, after it was fetched. `None`
    /// if nobody knows when that was.
    pub fn stale_from(&self) -> Option<i64> {
        let fresh = self.max_age.map_or(FRESH_SECONDS, i64::from);
        self.fetched.map(|fetched| fetched.saturating_add(fresh))
    }

    /// Whether the robots.txt should be fetched again at `time`, in seconds since 1970: it is stale from then or before, or nobody
    /// knows from when. A stale copy still decides.
    pub fn is_stale_at(&self, time: i64) -> bool {
        self.stale_from().is_none_or(|from| from <= time)
    }
}
