//! How long a robots.txt is fresh, and when a failing one is asked for again.

use crate::profile::Profile;
use crate::snapshot::outcome::Outcome;

/// The lifetime of a robots.txt without `max-age` (Google's specification, "caching"), and the
/// longest in profile `rfc9309` (RFC 9309 §2.4).
const FRESH_SECONDS: u32 = 24 * 60 * 60;

/// The interval between two requests to a failing site, unless it is set: all editions of Google's
/// specification ask again sooner than after a day, and the failures of most sites end within hours.
const RETRY_SECONDS: u32 = 60 * 60;

/// The longest `Retry-After` that counts: a site must not be able to stay refused for a year.
const MAX_RETRY_AFTER: u32 = 24 * 60 * 60;

/// When the robots.txt of an origin should be fetched again.
///
/// An answer is fresh for 24 hours, or for the `max-age` of its `Cache-Control`; in profile
/// `rfc9309` for 24 hours at most. A failure (429, 5xx, network errors) says nothing about a
/// robots.txt, so its `max-age` is ignored: it is due after [`retry_failed`](Self::retry_failed), or
/// after its own `Retry-After`, of which a day counts.
///
/// ```
/// use robosieve::compile::HttpResponse;
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// let (found, failed) = (HttpResponse::new(404), HttpResponse::new(503));
/// compiler.add_response("https://a.example/robots.txt", found.fetched_at(0))?;
/// compiler.add_response("https://b.example/robots.txt", failed.fetched_at(0))?;
/// compiler.add_response("https://c.example/robots.txt", failed.fetched_at(0).retry_after(120))?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let freshness = snapshot.freshness()?;
/// let from = snapshot.origins().map(|entry| Ok(freshness.stale_from(entry?.outcome())));
/// let from = from.collect::<robosieve::Result<Vec<_>>>()?;
/// assert_eq!(from, [Some(24 * 3600), Some(3600), Some(120)]);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    profile: Profile,
    retry_failed: u32,
}

impl Freshness {
    /// Freshness in a snapshot of this profile ([`Snapshot::freshness`](crate::Snapshot::freshness)),
    /// with failing sites due after an hour.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            retry_failed: RETRY_SECONDS,
        }
    }

    /// Sets after how many seconds a failing site without `Retry-After` is due.
    pub fn retry_failed(mut self, seconds: u32) -> Self {
        self.retry_failed = seconds;
        self
    }

    /// The time from which a robots.txt with this outcome is stale, in seconds since 1970; `None` if
    /// the time of the capture is unknown.
    pub fn stale_from(&self, outcome: &Outcome) -> Option<i64> {
        let seconds = match (outcome.class.is_failure(), outcome.retry_after) {
            (true, Some(seconds)) => seconds.min(MAX_RETRY_AFTER),
            (true, None) => self.retry_failed,
            (false, _) => self.lifetime(outcome.max_age),
        };
        let fetched = outcome.fetched?;
        Some(fetched.saturating_add(i64::from(seconds)))
    }

    fn lifetime(&self, max_age: Option<u32>) -> u32 {
        let stated = max_age.unwrap_or(FRESH_SECONDS);
        match self.profile {
            Profile::Google => stated,
            Profile::Rfc9309 => stated.min(FRESH_SECONDS),
        }
    }

    /// Whether a robots.txt with this outcome should be fetched again at `time`, in seconds since
    /// 1970: it is stale, or the time of its capture is unknown. A stale robots.txt still decides
    /// verdicts.
    pub fn is_stale_at(&self, outcome: &Outcome, time: i64) -> bool {
        self.stale_from(outcome).is_none_or(|from| from <= time)
    }
}
