//! The redirect resolver: decides each origin's outcome from the histories of the URLs on its
//! chain.
//!
//! The newest event decides. A redirect continues with the history of its target. After a failure,
//! older events are searched for the last good copy, at the target of an older redirect too.

use super::history::{EventKind, EventsSince, UrlEvent, UrlHistory};
use super::resolved_origin::{FileRef, ResolvedOrigin};
use crate::compile::incremental::previous_answer::{
    LOOP, NO_COPY, NO_LOCATION, PreviousAnswer, TOO_MANY, missing_target,
};
use crate::compile::incremental::previous_urls::PreviousUrls;
use crate::compile::ingest::fetch::{BodyFlags, Fetch, FetchAnswer, Fetches};
use crate::compile::ingest::url_key::{ROBOTS_PATH, UrlKey};
use crate::error::Result;
use crate::snapshot::{Outcome, OutcomeClass};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The outcomes of all origins that captures may change.
#[derive(Debug, Default)]
pub(crate) struct ResolvedOrigins {
    /// Sorted by key.
    pub origins: Vec<ResolvedOrigin>,
    /// The number decided by a capture of their own robots.txt.
    pub by_capture: u64,
    /// The number of captured origins for which the previous snapshot has something newer.
    pub outdated: u64,
}

/// Resolves all origins that captures may change.
pub(crate) fn resolve_all(fetches: &Fetches, previous_urls: Option<&PreviousUrls<'_>>) -> Result<ResolvedOrigins> {
    let resolver = Resolver { fetches, previous_urls, histories: RwLock::default() };
    // Collecting results would hold all origins twice for a moment, so an error is stored apart.
    let failure = OnceLock::new();
    let resolve = |key, url, captures| {
        resolver.resolve(key, url, captures).unwrap_or_else(|err| {
            let _ = failure.set(err);
            ResolvedOrigin::unknown()
        })
    };
    let captured = fetches.robots().into_par_iter();
    let mut origins: Vec<ResolvedOrigin> =
        captured.map(|captures| resolve(captures[0].key.origin(), captures[0].key.text(), captures)).collect();
    let captured = origins.len() as u64;
    let by_capture = origins.iter().filter(|origin| origin.by_capture).count() as u64;
    let affected = previous_urls.map_or(&[][..], |urls| &urls.affected);
    if !affected.is_empty() {
        let affected = affected.par_iter();
        origins.par_extend(affected.map(|url| resolve(&url[..url.len() - ROBOTS_PATH.len()], url, &[])));
        origins.par_sort_unstable_by(|a, b| a.key.cmp(&b.key));
    }
    match failure.into_inner() {
        Some(err) => Err(err),
        None => Ok(ResolvedOrigins { origins, by_capture, outdated: captured - by_capture }),
    }
}

/// The most redirects that are followed (RFC 9309 §2.3.1.2; Google's specification).
const MAX_HOPS: u8 = 5;

/// A chain of redirects.
struct RedirectChain<'f> {
    /// The URLs so far, the current one last.
    visited: Vec<&'f [u8]>,
    /// The redirects so far. The previous snapshot keeps the ends of chains only, so this may
    /// exceed the number of URLs.
    hops: u8,
    /// Ignore events newer than this time.
    until: Option<i64>,
}

impl<'f> RedirectChain<'f> {
    fn new(url: &'f [u8]) -> Self {
        Self { visited: vec![url], hops: 0, until: None }
    }

    /// Whether the URL is on the chain, so that another redirect to it is a loop.
    fn has_visited(&self, url: &[u8]) -> bool {
        self.visited.contains(&url)
    }

    /// Moves to a URL, `hops` redirects away.
    fn push(&mut self, url: &'f [u8], hops: u8) {
        self.visited.push(url);
        self.hops += hops;
    }

    /// An outcome of the current URL, without files.
    fn outcome(&self, class: OutcomeClass, status: u16, fetched: Option<i64>, max_age: Option<u32>) -> ResolvedOrigin {
        let mut resolved = ResolvedOrigin::new(class, status);
        resolved.outcome = Outcome { hops: self.hops, fetched, max_age, ..resolved.outcome };
        resolved.source = self.source().map(Box::from);
        resolved
    }

    /// The current URL, if redirects led to it.
    fn source(&self) -> Option<&'f [u8]> {
        self.visited.last().copied().filter(|_| self.hops > 0)
    }
}

/// Captures and previous snapshot, with the histories that several origins share.
struct Resolver<'f> {
    fetches: &'f Fetches,
    previous_urls: Option<&'f PreviousUrls<'f>>,
    /// Histories of URLs with many captures, to which any number of origins may redirect.
    histories: RwLock<HashMap<&'f [u8], Arc<UrlHistory<'f>>>>,
}

/// Histories of fewer captures are built again for each origin, which is faster than keeping them.
const MIN_KEPT_CAPTURES: usize = 16;

/// The status of a confirmed copy whose own status the previous snapshot does not keep.
const OK: u16 = 200;

impl<'f> Resolver<'f> {
    /// The outcome of the origin `key`, whose robots.txt has this URL and these captures.
    fn resolve(&self, key: &[u8], url: &'f [u8], captures: &'f [Fetch]) -> Result<ResolvedOrigin> {
        let history = self.history(url, captures)?;
        let events = history.all();
        let resolved = self.outcome(events, &mut RedirectChain::new(url))?;
        let by_capture =
            events.first().is_some_and(|event| event.confirmed || matches!(event.kind, EventKind::Capture(_)));
        Ok(ResolvedOrigin { key: key.into(), by_capture, ..resolved })
    }

    /// The history of a URL with these captures.
    fn history(&self, url: &'f [u8], captures: &'f [Fetch]) -> Result<Arc<UrlHistory<'f>>> {
        if captures.len() < MIN_KEPT_CAPTURES {
            return UrlHistory::new(url, captures, self.previous_urls).map(Arc::new);
        }
        let kept = self.histories.read().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
        if let Some(history) = kept {
            return Ok(history);
        }
        let history = Arc::new(UrlHistory::new(url, captures, self.previous_urls)?);
        self.histories.write().unwrap_or_else(PoisonError::into_inner).insert(url, history.clone());
        Ok(history)
    }

    /// The outcome of the current URL of the chain, with these events.
    fn outcome(&self, events: EventsSince<'_, 'f>, chain: &mut RedirectChain<'f>) -> Result<ResolvedOrigin> {
        let Some(event) = events.first() else { return Ok(ResolvedOrigin::unknown()) };
        match &event.kind {
            EventKind::Capture(fetch) => self.capture_outcome(event, fetch, events, chain),
            EventKind::Previous(answer) => self.previous_outcome(answer, events, chain),
            EventKind::LastGood(row) if event.confirmed => {
                let file = Some(FileRef::Previous(*row));
                Ok(ResolvedOrigin { file, ..chain.outcome(OutcomeClass::Rules, OK, event.time, event.max_age) })
            }
            // These are never the newest event.
            EventKind::FirstFailure { .. } | EventKind::FirstUnreachable | EventKind::LastGood(_) => {
                Ok(ResolvedOrigin::unknown())
            }
        }
    }

    /// The outcome of a capture, the newest event.
    fn capture_outcome(
        &self,
        event: &UrlEvent<'f>,
        fetch: &'f Fetch,
        events: EventsSince<'_, 'f>,
        chain: &mut RedirectChain<'f>,
    ) -> Result<ResolvedOrigin> {
        let answered = |class| chain.outcome(class, fetch.status, event.time, event.max_age);
        let unreachable = |cause: &str| ResolvedOrigin {
            detail: Some(cause.as_bytes().into()),
            ..answered(OutcomeClass::Unreachable)
        };
        let failed = match &fetch.answer {
            FetchAnswer::Redirect(target) => return self.redirect(event, fetch.status, target.as_ref(), chain),
            FetchAnswer::Rules(file, flags) => {
                let BodyFlags { cut_short, past_limit, looks_like } = *flags;
                let resolved = answered(OutcomeClass::Rules);
                let outcome = Outcome { cut_short, past_limit, looks_like, ..resolved.outcome };
                return Ok(ResolvedOrigin { outcome, file: Some(FileRef::New(file.clone())), ..resolved });
            }
            FetchAnswer::ClientError => return Ok(answered(OutcomeClass::ClientError)),
            FetchAnswer::ServerError => answered(OutcomeClass::ServerError),
            FetchAnswer::Unreachable(cause) => unreachable(cause),
            FetchAnswer::NotModified => unreachable(NO_COPY),
        };
        self.with_last_good(failed, events, chain)
    }

    /// The outcome of a redirect with this status and target.
    fn redirect(
        &self,
        event: &UrlEvent<'f>,
        status: u16,
        target: Option<&'f UrlKey>,
        chain: &mut RedirectChain<'f>,
    ) -> Result<ResolvedOrigin> {
        let unresolved = |why: &str, chain: &RedirectChain<'_>| ResolvedOrigin {
            detail: Some(why.as_bytes().into()),
            ..chain.outcome(OutcomeClass::Unresolved, status, event.time, event.max_age)
        };
        let Some(target) = target.map(UrlKey::text) else { return Ok(unresolved(NO_LOCATION, chain)) };
        if chain.has_visited(target) {
            return Ok(unresolved(LOOP, chain));
        }
        if chain.hops >= MAX_HOPS {
            return Ok(unresolved(TOO_MANY, chain));
        }
        if let Some(resolved) = self.follow(target, 1, chain)? {
            return Ok(resolved);
        }
        let mut resolved = unresolved(&missing_target(target), chain);
        resolved.outcome.target_missing = true;
        Ok(resolved)
    }

    /// The outcome of a URL, `hops` redirects away. `None`, and an unchanged chain, if the URL has
    /// no history.
    fn follow(&self, url: &'f [u8], hops: u8, chain: &mut RedirectChain<'f>) -> Result<Option<ResolvedOrigin>> {
        let history = self.history(url, self.fetches.of(url))?;
        let events = history.until(chain.until);
        if events.first().is_none() {
            return Ok(None);
        }
        chain.push(url, hops);
        self.outcome(events, chain).map(Some)
    }

    /// The outcome of an answer of the previous snapshot. If its redirects led to a URL that was
    /// captured since, that URL's history decides.
    fn previous_outcome(
        &self,
        answer: &PreviousAnswer<'f>,
        events: EventsSince<'_, 'f>,
        chain: &mut RedirectChain<'f>,
    ) -> Result<ResolvedOrigin> {
        let hops = chain.hops.saturating_add(answer.hops);
        if hops > MAX_HOPS {
            let Outcome { status, fetched, max_age, .. } = *answer.entry.outcome();
            let resolved = chain.outcome(OutcomeClass::Unresolved, status, fetched, max_age);
            return Ok(ResolvedOrigin { detail: Some(TOO_MANY.as_bytes().into()), ..resolved });
        }
        if let Some((url, further)) = self.recaptured_target(answer)
            && chain.hops.saturating_add(further) <= MAX_HOPS
            && !chain.has_visited(url)
            && let Some(resolved) = self.follow(url, further, chain)?
        {
            return Ok(resolved);
        }
        let mut resolved = inherited(answer, chain);
        resolved.outcome.hops = hops;
        if let Some(event) = events.first().filter(|event| event.confirmed && answer.robots_row().is_some()) {
            (resolved.outcome.fetched, resolved.outcome.max_age) = (event.time, event.max_age);
        }
        if answer.is_failure() { self.with_last_good(resolved, events, chain) } else { Ok(resolved) }
    }

    /// The URL to which redirects of the previous snapshot led, if it was captured since, and the
    /// number of these redirects.
    fn recaptured_target(&self, answer: &PreviousAnswer<'f>) -> Option<(&'f [u8], u8)> {
        let newest = |url: &[u8]| self.fetches.of(url).first();
        if let Some((url, hops)) = answer.missing_target()
            && newest(url).is_some()
        {
            return Some((url, hops));
        }
        let is_unresolved = answer.class() == OutcomeClass::Unresolved;
        // Unresolved redirects stay unresolved, unless the URL at their end has a newer capture.
        answer.redirect_end().filter(|(url, _)| {
            newest(url).is_some_and(|fetch| !is_unresolved || fetch.time > answer.entry.outcome().fetched)
        })
    }

    /// Adds to a failure when it began, and the last good copy from before.
    fn with_last_good(
        &self,
        mut resolved: ResolvedOrigin,
        events: EventsSince<'_, 'f>,
        chain: &mut RedirectChain<'f>,
    ) -> Result<ResolvedOrigin> {
        let before = events.before_failures();
        resolved.outcome.first_failure = events.first_failure();
        resolved.outcome.first_unreachable = events.first_unreachable();
        resolved.last_good = match before.first().map(|event| &event.kind) {
            Some(EventKind::Capture(Fetch { answer: FetchAnswer::Rules(file, _), .. })) => {
                Some(FileRef::New(file.clone()))
            }
            Some(EventKind::LastGood(row)) => Some(FileRef::Previous(*row)),
            Some(EventKind::Previous(answer)) if answer.robots_row().is_some() => {
                answer.robots_row().map(FileRef::Previous)
            }
            Some(EventKind::Capture(Fetch { answer: FetchAnswer::Redirect(Some(_)), .. }) | EventKind::Previous(_)) => {
                // An older redirect: the answer of its target when the failures began, or the last
                // good copy of the target.
                chain.until = resolved.outcome.first_failure.or(chain.until);
                let target = self.outcome(before, chain)?;
                target.file.or(target.last_good)
            }
            _ => None,
        };
        Ok(resolved)
    }
}

/// The outcome of the previous snapshot, unchanged.
fn inherited(answer: &PreviousAnswer<'_>, chain: &RedirectChain<'_>) -> ResolvedOrigin {
    let (source, detail) = answer.entry.strings();
    let source = if answer.hops > 0 { source } else { chain.source() };
    ResolvedOrigin {
        key: Box::default(),
        outcome: answer.entry.outcome().clone(),
        file: answer.entry.rules_file().map(FileRef::Previous),
        last_good: answer.entry.last_good().map(FileRef::Previous),
        source: source.map(Box::from),
        detail: detail.map(Box::from),
        by_capture: false,
    }
}
