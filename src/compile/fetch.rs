//! Captures in the form that outcomes are settled from: keyed by canonical URL, sorted, newest first.

use crate::archive::{Answer, Capture, Response};
use crate::compile::files::File;
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::condense::Delivery;
use crate::robots::{BodyFacts, LooksLike};
use crate::url;
use crate::url::escape::normalize_path;
use ::url::Url;
use rayon::slice::ParallelSliceMut;
use std::cmp::Ordering;
use std::sync::Arc;

/// The path at which an origin's robots.txt lies (RFC 9309 §2.3); at any other it is none.
pub(super) const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// A canonical URL: origin and path with query, without the fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UrlKey {
    text: Box<[u8]>,
    origin_len: u16,
}

impl UrlKey {
    /// The key of a URL; `None` if it is none, or its origin is too long to be one.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let mut buffer = Vec::new();
        let parts = url::split(text, Profile::Rfc9309, &mut buffer)?;
        let origin_len = u16::try_from(parts.origin.len()).ok()?;
        let path = normalize_path(parts.path, Profile::Google);
        let slash: &[u8] = if parts.slash { b"/" } else { b"" };
        Some(Self { text: [parts.origin, slash, &path].concat().into(), origin_len })
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn origin(&self) -> &[u8] {
        &self.text[..usize::from(self.origin_len)]
    }

    /// Whether it is the URL of an origin's robots.txt.
    pub(super) fn is_robots(&self) -> bool {
        &self.text[usize::from(self.origin_len)..] == ROBOTS_PATH
    }
}

/// One capture.
#[derive(Debug)]
pub(super) struct Fetch {
    pub key: UrlKey,
    /// In seconds since 1970; `None`, older than any, where the archive does not say.
    pub time: Option<i64>,
    pub status: u16,
    pub max_age: Option<u32>,
    pub answer: FetchAnswer,
}

/// What came back, as far as it matters.
#[derive(Debug)]
pub(super) enum FetchAnswer {
    /// 2xx.
    Rules(Arc<File>, Body),
    /// 3xx but 304; the target if the answer names one.
    Redirect(Option<UrlKey>),
    /// 304, or a WARC `revisit` record: the copy that the crawler has is still valid.
    NotModified,
    /// 4xx but 429.
    ClientError,
    /// 429 and 5xx.
    ServerError,
    /// No answer, or one that is not HTTP; the cause.
    Unreachable(Box<str>),
}

/// Facts of a body that the lines kept of it do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Body {
    /// The archive kept only its beginning.
    pub cut_short: bool,
    pub past_limit: bool,
    pub looks_like: Option<LooksLike>,
}

impl Body {
    fn of(response: &Response) -> Self {
        let facts = BodyFacts::of(&response.body);
        let cut_short = response.delivery == Delivery::CutShort;
        Self { cut_short, past_limit: facts.ignored_bytes > 0, looks_like: facts.looks_like }
    }
}

/// How much an answer says; what says most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Rules,
    Redirect,
    NotModified,
    ClientError,
    ServerError,
    Unreachable,
}

impl Fetch {
    /// Takes a capture apart; `intern` gives the robots.txt of a body. `None` if its URL is not one.
    pub(super) fn new(
        capture: Capture,
        intern: impl FnOnce(&[u8], Delivery) -> Result<Arc<File>>,
    ) -> Result<Option<Self>> {
        let Some(key) = UrlKey::new(&capture.url) else { return Ok(None) };
        let (status, max_age, answer) = match capture.answer {
            Answer::Failed(cause) => (0, None, FetchAnswer::Unreachable(cause.into())),
            Answer::Http(response) => (response.status, response.max_age, classify(&capture.url, response, intern)?),
        };
        Ok(Some(Self { key, time: capture.time, status, max_age, answer }))
    }

    /// What captures of the same second are ordered by first: how much the answer says, status, `max-age`.
    pub(super) fn origin_metadata(&self) -> (Rank, u16, Option<u32>) {
        let rank = match &self.answer {
            FetchAnswer::Rules(..) => Rank::Rules,
            FetchAnswer::Redirect(_) => Rank::Redirect,
            FetchAnswer::NotModified => Rank::NotModified,
            FetchAnswer::ClientError => Rank::ClientError,
            FetchAnswer::ServerError => Rank::ServerError,
            FetchAnswer::Unreachable(_) => Rank::Unreachable,
        };
        (rank, self.status, self.max_age)
    }

    /// Whether it is a failure that a site recovers from, after which its last good copy matters. A
    /// 304 counts as one here: of those that confirm a copy, [`history`](crate::compile::history) puts the
    /// copy in their place.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.answer, FetchAnswer::ServerError | FetchAnswer::Unreachable(_) | FetchAnswer::NotModified)
    }

    /// By key; newest first; of captures made in the same second the one that says most first, and so on down to the
    /// content, so that the order never depends on that of the inputs.
    fn order(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| other.time.cmp(&self.time)).then_with(|| self.content_order(other))
    }

    fn content_order(&self, other: &Self) -> Ordering {
        self.origin_metadata().cmp(&other.origin_metadata()).then_with(|| match (&self.answer, &other.answer) {
            (FetchAnswer::Rules(a, body_a), FetchAnswer::Rules(b, body_b)) => {
                (a.frame(), body_a).cmp(&(b.frame(), body_b))
            }
            (FetchAnswer::Redirect(a), FetchAnswer::Redirect(b)) => a.cmp(b),
            (FetchAnswer::Unreachable(a), FetchAnswer::Unreachable(b)) => a.cmp(b),
            _ => Ordering::Equal,
        })
    }
}

fn classify(
    url: &[u8],
    response: Response,
    intern: impl FnOnce(&[u8], Delivery) -> Result<Arc<File>>,
) -> Result<FetchAnswer> {
    Ok(match response.status {
        200..=299 => FetchAnswer::Rules(intern(&response.body, response.delivery)?, Body::of(&response)),
        304 => FetchAnswer::NotModified,
        300..=399 => FetchAnswer::Redirect(response.location.and_then(|location| target(url, &location))),
        429 | 500..=599 => FetchAnswer::ServerError,
        400..=499 => FetchAnswer::ClientError,
        status => FetchAnswer::Unreachable(format!("HTTP status {status}").into()),
    })
}

/// The URL that a `Location`, which may be relative, leads to (RFC 9110 §10.2.2).
fn target(base: &[u8], location: &[u8]) -> Option<UrlKey> {
    let location = String::from_utf8_lossy(location);
    let target = if location.starts_with("http://") || location.starts_with("https://") {
        Url::parse(&location)
    } else {
        Url::parse(std::str::from_utf8(base).ok()?).and_then(|base| base.join(&location))
    };
    UrlKey::new(target.ok()?.as_str().as_bytes())
}

/// All captures, sorted.
pub(super) struct Fetches(Vec<Fetch>);

impl Fetches {
    pub(super) fn new(mut fetches: Vec<Fetch>) -> Self {
        fetches.par_sort_unstable_by(Fetch::order);
        Self(fetches)
    }

    /// The number of captures.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// The number of captures of URLs that are no robots.txt.
    pub(super) fn other_urls(&self) -> u64 {
        self.0.iter().filter(|fetch| !fetch.key.is_robots()).count() as u64
    }

    /// The captures of a canonical URL, newest first.
    pub(super) fn of(&self, url: &[u8]) -> &[Fetch] {
        let start = self.0.partition_point(|fetch| fetch.key.text() < url);
        let len = self.0[start..].partition_point(|fetch| fetch.key.text() == url);
        &self.0[start..start + len]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Fetch> {
        self.0.iter()
    }

    /// The captures of each origin's robots.txt, in the order of the keys.
    pub(super) fn robots(&self) -> Vec<&[Fetch]> {
        let mut origins: Vec<&[Fetch]> =
            self.0.chunk_by(|a, b| a.key == b.key).filter(|fetches| fetches[0].key.is_robots()).collect();
        // The captures are sorted by whole URLs; an origin's `:` sorts behind the `/` of a shorter one.
        origins.par_sort_unstable_by(|a, b| a[0].key.origin().cmp(b[0].key.origin()));
        origins
    }
}
