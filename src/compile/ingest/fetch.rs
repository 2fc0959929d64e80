//! Captures reduced to the data that decides outcomes: sorted by canonical URL, newest first.

use super::file_store::InternedFile;
use super::url_key::UrlKey;
use crate::archive::capture::CapturedResponse;
use crate::robots::{BodyFacts, LooksLike};
use ::url::Url;
use rayon::slice::ParallelSliceMut;
use std::cmp::Ordering;
use std::sync::Arc;

/// One capture.
#[derive(Debug)]
pub(crate) struct Fetch {
    pub key: UrlKey,
    /// In seconds since 1970. `None`, older than any time, if the archive has none.
    pub time: Option<i64>,
    pub status: u16,
    pub max_age: Option<u32>,
    pub answer: FetchAnswer,
}

/// The class of an answer, with the data that its outcome needs.
#[derive(Debug)]
pub(crate) enum FetchAnswer {
    /// 2xx.
    Rules(Arc<InternedFile>, BodyFlags),
    /// 3xx except 304; the target if the answer names one.
    Redirect(Option<UrlKey>),
    /// 304, or a WARC `revisit` record: the crawler's copy is still valid.
    NotModified,
    /// 4xx except 429.
    ClientError,
    /// 429 and 5xx.
    ServerError,
    /// No answer, or not HTTP; the cause.
    Unreachable(Box<str>),
}

impl FetchAnswer {
    /// The answer of a response that is not a 2xx; `url` is its URL.
    pub(super) fn without_body(url: &[u8], response: CapturedResponse) -> Self {
        match response.status {
            304 => Self::NotModified,
            300..=399 => Self::Redirect(response.location.and_then(|location| redirect_target(url, &location))),
            429 | 500..=599 => Self::ServerError,
            400..=499 => Self::ClientError,
            status => Self::Unreachable(format!("HTTP status {status}").into()),
        }
    }
}

/// The target of a `Location`, which may be relative (RFC 9110 §10.2.2).
fn redirect_target(base: &[u8], location: &[u8]) -> Option<UrlKey> {
    let location = String::from_utf8_lossy(location);
    let target = if location.starts_with("http://") || location.starts_with("https://") {
        Url::parse(&location)
    } else {
        Url::parse(std::str::from_utf8(base).ok()?).and_then(|base| base.join(&location))
    };
    UrlKey::new(target.ok()?.as_str().as_bytes())
}

/// Properties of a body that its condensed text does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BodyFlags {
    /// The archive kept only its beginning.
    pub cut_short: bool,
    pub past_limit: bool,
    pub looks_like: Option<LooksLike>,
}

impl BodyFlags {
    pub(super) fn of(response: &CapturedResponse) -> Self {
        let facts = BodyFacts::of(&response.body);
        Self { cut_short: response.cut_short, past_limit: facts.ignored_bytes > 0, looks_like: facts.looks_like }
    }
}

/// How informative an answer is; the most informative one sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnswerRank {
    Rules,
    Redirect,
    NotModified,
    ClientError,
    ServerError,
    Unreachable,
}

impl Fetch {
    /// The first sort key of captures of the same second.
    pub(crate) fn rank(&self) -> (AnswerRank, u16, Option<u32>) {
        let rank = match &self.answer {
            FetchAnswer::Rules(..) => AnswerRank::Rules,
            FetchAnswer::Redirect(_) => AnswerRank::Redirect,
            FetchAnswer::NotModified => AnswerRank::NotModified,
            FetchAnswer::ClientError => AnswerRank::ClientError,
            FetchAnswer::ServerError => AnswerRank::ServerError,
            FetchAnswer::Unreachable(_) => AnswerRank::Unreachable,
        };
        (rank, self.status, self.max_age)
    }

    /// Whether it is a temporary failure, after which the last good copy counts.
    ///
    /// A 304 is one here. Histories replace each 304 that confirms a copy by that copy, so only
    /// those without a copy remain.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self.answer, FetchAnswer::ServerError | FetchAnswer::Unreachable(_) | FetchAnswer::NotModified)
    }

    /// By key, then newest first. Captures of the same second sort by rank and content, so the
    /// order never depends on the order of the inputs.
    fn order(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| other.time.cmp(&self.time)).then_with(|| self.content_order(other))
    }

    fn content_order(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| match (&self.answer, &other.answer) {
            (FetchAnswer::Rules(a, flags_a), FetchAnswer::Rules(b, flags_b)) => {
                (&a.frame, flags_a).cmp(&(&b.frame, flags_b))
            }
            (FetchAnswer::Redirect(a), FetchAnswer::Redirect(b)) => a.cmp(b),
            (FetchAnswer::Unreachable(a), FetchAnswer::Unreachable(b)) => a.cmp(b),
            _ => Ordering::Equal,
        })
    }
}

/// All captures, sorted.
pub(crate) struct Fetches(Vec<Fetch>);

impl Fetches {
    pub(crate) fn new(mut fetches: Vec<Fetch>) -> Self {
        fetches.par_sort_unstable_by(Fetch::order);
        Self(fetches)
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// The number of captures of URLs other than a robots.txt.
    pub(crate) fn other_urls(&self) -> u64 {
        self.0.iter().filter(|fetch| !fetch.key.is_robots()).count() as u64
    }

    /// The captures of a canonical URL, newest first. Cost: two binary searches.
    pub(crate) fn of(&self, url: &[u8]) -> &[Fetch] {
        let start = self.0.partition_point(|fetch| fetch.key.text() < url);
        let len = self.0[start..].partition_point(|fetch| fetch.key.text() == url);
        &self.0[start..start + len]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Fetch> {
        self.0.iter()
    }

    /// The captures of each origin's robots.txt, sorted by origin.
    pub(crate) fn robots(&self) -> Vec<&[Fetch]> {
        let mut origins: Vec<&[Fetch]> =
            self.0.chunk_by(|a, b| a.key == b.key).filter(|fetches| fetches[0].key.is_robots()).collect();
        // Captures are sorted by whole URLs. In those, `:` of a port sorts after `/` of a shorter
        // origin.
        origins.par_sort_unstable_by(|a, b| a[0].key.origin().cmp(b[0].key.origin()));
        origins
    }
}
