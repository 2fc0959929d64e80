//! Each origin's outcome: redirects followed inside the archive, newest capture first, failures and last good copies.

use crate::compile::detail::{self, lacking};
use crate::compile::fetch::{Body, Fetch, FetchAnswer, Fetches, ROBOTS_PATH, UrlKey};
use crate::compile::files::File;
use crate::compile::history::{Event, Events, History, Said};
use crate::compile::links::Links;
use crate::compile::previous::Known;
use crate::error::Result;
use crate::snapshot::{Outcome, OutcomeClass};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Redirects that are followed (RFC 9309 §2.3.1.2; Google's specification).
const MAX_HOPS: u8 = 5;

/// What is known of one origin in the end.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub key: Box<[u8]>,
    pub outcome: Outcome,
    pub file: Option<FileRef>,
    pub last_good: Option<FileRef>,
    /// The URL that answered in the end, if it is not the origin's own.
    pub source: Option<Box<[u8]>>,
    pub detail: Option<Box<[u8]>>,
    /// Whether a capture of the origin's own robots.txt decided, not what the previous snapshot knows of it.
    pub by_capture: bool,
}

/// A robots.txt.
#[derive(Clone, Debug)]
pub(super) enum FileRef {
    /// One that was read now.
    New(Arc<File>),
    /// A row of the previous snapshot.
    Old(u32),
}

/// All origins that were captured, or that captures of other URLs may change, in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub origins: Vec<Resolved>,
    /// Those that a capture of their own robots.txt decided.
    pub by_capture: u64,
    /// Those that were captured, of which the previous snapshot knows something newer.
    pub outdated: u64,
}

/// Settles them.
pub(super) fn resolve_all(fetches: &Fetches, links: Option<&Links<'_>>) -> Result<Settled> {
    let web = Web { fetches, links, histories: RwLock::default() };
    // Collected as they are: results, of which any may fail, would be held twice for a moment.
    let failure = OnceLock::new();
    let resolve = |(key, url, captures)| {
        web.resolve(key, url, captures).unwrap_or_else(|err| {
            let _ = failure.set(err);
            nothing()
        })
    };
    let captured = fetches.robots().into_par_iter();
    let captured = captured.map(|captures| (captures[0].key.origin(), captures[0].key.text(), captures));
    let mut origins: Vec<Resolved> = captured.map(resolve).collect();
    let captured = origins.len() as u64;
    let by_capture = origins.iter().filter(|origin| origin.by_capture).count() as u64;
    let touched = links.map(Links::touched).unwrap_or_default();
    if !touched.is_empty() {
        let touched = touched.par_iter().map(|url| (&url[..url.len() - ROBOTS_PATH.len()], url.as_slice(), &[][..]));
        origins.par_extend(touched.map(resolve));
        origins.par_sort_unstable_by(|a, b| a.key.cmp(&b.key));
    }
    match failure.into_inner() {
        Some(err) => Err(err),
        None => Ok(Settled { origins, by_capture, outdated: captured - by_capture }),
    }
}

/// The way to a URL.
struct Way<'f> {
    /// The URLs come by, the last one included.
    visited: Vec<&'f [u8]>,
    /// Redirects followed. The previous snapshot tells of several at once, so this may be more than the URLs say.
    hops: u8,
    /// What is newer does not count, if this is given.
    until: Option<i64>,
}

impl<'f> Way<'f> {
    fn url(&self) -> &'f [u8] {
        self.visited.last().copied().unwrap_or_default()
    }
}

/// All that is known.
struct Web<'f> {
    fetches: &'f Fetches,
    links: Option<&'f Links<'f>>,
    /// The histories of URLs that were captured often. Any number of origins may redirect to one of
    /// these.
    histories: RwLock<HashMap<&'f [u8], Arc<History<'f>>>>,
}

/// The histories of URLs with fewer captures are made again for each origin that asks: that takes
/// less time than to keep them.
const OFTEN: usize = 16;

impl<'f> Web<'f> {
    /// The outcome of an origin whose robots.txt has this URL and these captures.
    fn resolve(&self, key: &[u8], url: &'f [u8], captures: &'f [Fetch]) -> Result<Resolved> {
        let history = self.history(url, captures)?;
        let events = history.all();
        let mut way = Way { visited: vec![url], hops: 0, until: None };
        let mut resolved = self.outcome(events, &mut way)?;
        resolved.key = key.into();
        resolved.by_capture =
            events.first().is_some_and(|event| event.confirmed || matches!(event.said, Said::Capture(_)));
        Ok(resolved)
    }

    /// What is known of a URL with these captures.
    fn history(&self, url: &'f [u8], captures: &'f [Fetch]) -> Result<Arc<History<'f>>> {
        if captures.len() < OFTEN {
            return History::new(url, captures, self.links).map(Arc::new);
        }
        let kept = self.histories.read().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
        if let Some(history) = kept {
            return Ok(history);
        }
        let history = Arc::new(History::new(url, captures, self.links)?);
        self.histories.write().unwrap_or_else(PoisonError::into_inner).insert(url, history.clone());
        Ok(history)
    }

    /// The outcome of what is known of the URL at the end of the way.
    fn outcome(&self, events: Events<'_, 'f>, way: &mut Way<'f>) -> Result<Resolved> {
        let Some(event) = events.first() else { return Ok(nothing()) };
        match &event.said {
            Said::Capture(fetch) => match &fetch.answer {
                FetchAnswer::Redirect(target) => self.redirect(event, (fetch.status, target.as_ref()), way),
                FetchAnswer::Rules(file, body) => {
                    let mut resolved = settle(event, fetch.status, OutcomeClass::Rules, way);
                    resolved.file = Some(FileRef::New(file.clone()));
                    let outcome = resolved.outcome;
                    let Body { cut_short, past_limit, looks_like } = *body;
                    resolved.outcome = Outcome { cut_short, past_limit, looks_like, ..outcome };
                    Ok(resolved)
                }
                FetchAnswer::ClientError => Ok(settle(event, fetch.status, OutcomeClass::ClientError, way)),
                FetchAnswer::ServerError => {
                    self.failed(settle(event, fetch.status, OutcomeClass::ServerError, way), events, way)
                }
                FetchAnswer::Unreachable(cause) => self.unreachable((event, fetch.status), cause, events, way),
                FetchAnswer::NotModified => self.unreachable((event, fetch.status), detail::NO_COPY, events, way),
            },
            Said::Known(known) => self.taken_over(known, events, way),
            Said::LastGood(row) if event.confirmed => {
                let mut resolved = settle(event, OK, OutcomeClass::Rules, way);
                resolved.file = Some(FileRef::Old(*row));
                Ok(resolved)
            }
            // None of these is ever the newest.
            Said::FirstFailure { .. } | Said::FirstUnreachable | Said::LastGood(_) => Ok(nothing()),
        }
    }

    fn unreachable(
        &self,
        (event, status): (&Event<'_>, u16),
        cause: &str,
        events: Events<'_, 'f>,
        way: &mut Way<'f>,
    ) -> Result<Resolved> {
        let mut resolved = settle(event, status, OutcomeClass::Unreachable, way);
        resolved.detail = Some(cause.as_bytes().into());
        self.failed(resolved, events, way)
    }

    /// The outcome of a redirect with this status to this target.
    fn redirect(
        &self,
        event: &Event<'f>,
        (status, target): (u16, Option<&'f UrlKey>),
        way: &mut Way<'f>,
    ) -> Result<Resolved> {
        let unresolved = |why: String, way: &Way<'_>| {
            let mut resolved = settle(event, status, OutcomeClass::Unresolved, way);
            resolved.detail = Some(why.into_bytes().into());
            Ok(resolved)
        };
        let Some(target) = target.map(UrlKey::text) else {
            return unresolved(detail::NO_LOCATION.to_owned(), way);
        };
        if way.visited.contains(&target) {
            return unresolved(detail::LOOP.to_owned(), way);
        }
        if way.hops >= MAX_HOPS {
            return unresolved(detail::TOO_MANY.to_owned(), way);
        }
        match self.follow(target, 1, way)? {
            Some(resolved) => Ok(resolved),
            None => {
                let mut resolved = unresolved(lacking(target), way)?;
                resolved.outcome.target_missing = true;
                Ok(resolved)
            }
        }
    }

    /// The outcome of a URL so many redirects further on; `None`, and no step taken, if nothing is known of it.
    fn follow(&self, url: &'f [u8], hops: u8, way: &mut Way<'f>) -> Result<Option<Resolved>> {
        let history = self.history(url, self.fetches.of(url))?;
        let events = history.until(way.until);
        if events.first().is_none() {
            return Ok(None);
        }
        way.visited.push(url);
        way.hops += hops;
        self.outcome(events, way).map(Some)
    }

    /// The outcome that the previous snapshot knows, brought up to date where its redirects led to something that was captured.
    fn taken_over(&self, known: &Known<'f>, events: Events<'_, 'f>, way: &mut Way<'f>) -> Result<Resolved> {
        let outcome = known.entry.outcome();
        let hops = way.hops.saturating_add(known.hops);
        if hops > MAX_HOPS {
            let mut resolved = self.as_known(known, way);
            let unresolved = OutcomeClass::Unresolved;
            resolved.outcome = Outcome {
                class: unresolved,
                hops: way.hops,
                cut_short: false,
                past_limit: false,
                looks_like: None,
                target_missing: false,
                first_failure: None,
                first_unreachable: None,
                ..resolved.outcome
            };
            (resolved.file, resolved.last_good) = (None, None);
            resolved.source = (way.hops > 0).then(|| way.url().into());
            resolved.detail = Some(detail::TOO_MANY.as_bytes().into());
            return Ok(resolved);
        }
        if let Some((url, further)) = self.captured_behind(known)
            && way.hops.saturating_add(further) <= MAX_HOPS
            && !way.visited.contains(&url)
            && let Some(resolved) = self.follow(url, further, way)?
        {
            return Ok(resolved);
        }
        let mut resolved = self.as_known(known, way);
        resolved.outcome = Outcome { hops, ..outcome.clone() };
        if let Some(event) = events.first().filter(|event| event.confirmed && known.good().is_some()) {
            (resolved.outcome.fetched, resolved.outcome.max_age) = (event.time, event.max_age);
        }
        if known.is_failure() { self.failed(resolved, events, way) } else { Ok(resolved) }
    }

    /// The URL that redirects which the previous snapshot knows led to, if it was captured since, and the redirects there.
    fn captured_behind(&self, known: &Known<'f>) -> Option<(&'f [u8], u8)> {
        let newest = |url: &[u8]| self.fetches.of(url).first();
        if let Some(lacked) = known.lacked()
            && newest(lacked.0).is_some()
        {
            return Some(lacked);
        }
        let is_end_open = known.class() == OutcomeClass::Unresolved;
        // Redirects that led nowhere are the same as before, unless where they ended answered anew.
        known.end().filter(|(url, _)| {
            newest(url).is_some_and(|fetch| !is_end_open || fetch.time > known.entry.outcome().fetched)
        })
    }

    /// What the previous snapshot knows, as it stands there.
    fn as_known(&self, known: &Known<'f>, way: &Way<'f>) -> Resolved {
        let (source, detail) = known.entry.strings();
        let answered = if known.hops > 0 { source } else { Some(way.url()).filter(|_| way.hops > 0) };
        Resolved {
            key: Box::default(),
            outcome: known.entry.outcome().clone(),
            file: known.entry.rules_file().map(FileRef::Old),
            last_good: known.entry.last_good().map(FileRef::Old),
            source: answered.map(Box::from),
            detail: detail.map(Box::from),
            by_capture: false,
        }
    }

    /// A failing newest capture: since when it fails, and what held before.
    fn failed(&self, mut resolved: Resolved, events: Events<'_, 'f>, way: &mut Way<'f>) -> Result<Resolved> {
        let before = events.before_failures();
        resolved.outcome.first_failure = events.first_failure();
        resolved.outcome.first_unreachable = events.first_unreachable();
        resolved.last_good = match before.first().map(|event| &event.said) {
            Some(Said::Capture(Fetch { answer: FetchAnswer::Rules(file, _), .. })) => Some(FileRef::New(file.clone())),
            Some(Said::LastGood(row)) => Some(FileRef::Old(*row)),
            Some(Said::Known(known)) if known.good().is_some() => known.good().map(FileRef::Old),
            Some(Said::Capture(Fetch { answer: FetchAnswer::Redirect(Some(_)), .. }) | Said::Known(_)) => {
                // An older redirect: what its target said when the failures began, or before it failed itself.
                way.until = resolved.outcome.first_failure.or(way.until);
                let target = self.outcome(before, way)?;
                target.file.or(target.last_good)
            }
            _ => None,
        };
        Ok(resolved)
    }
}

fn nothing() -> Resolved {
    let outcome = Outcome {
        class: OutcomeClass::Unresolved,
        status: 0,
        hops: 0,
        cut_short: false,
        past_limit: false,
        looks_like: None,
        fetched: None,
        target_missing: false,
        first_failure: None,
        first_unreachable: None,
        max_age: None,
    };
    Resolved {
        key: Box::default(),
        outcome,
        file: None,
        last_good: None,
        source: None,
        detail: None,
        by_capture: false,
    }
}

/// The HTTP status of a good answer, where that of the copy is not known any more.
const OK: u16 = 200;

fn settle(event: &Event<'_>, status: u16, class: OutcomeClass, way: &Way<'_>) -> Resolved {
    Resolved {
        key: Box::default(),
        outcome: Outcome {
            class,
            status,
            hops: way.hops,
            cut_short: false,
            past_limit: false,
            looks_like: None,
            fetched: event.time,
            target_missing: false,
            first_failure: None,
            first_unreachable: None,
            max_age: event.max_age,
        },
        file: None,
        last_good: None,
        source: (way.hops > 0).then(|| way.url().into()),
        detail: None,
        by_capture: false,
    }
}
