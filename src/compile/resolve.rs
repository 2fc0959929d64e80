//! Each origin's outcome: redirects followed inside the archive, newest capture first, failures and last good copies.

use super::detail::{self, lacking};
use super::fetch::{Fetch, FetchAnswer, Fetches, ROBOTS_PATH, UrlKey};
use super::files::File;
use super::history::{self, Event, Said};
use super::links::Links;
use super::previous::Known;
use crate::error::Result;
use crate::robots::condense::Delivery;
use crate::snapshot::{Outcome, OutcomeClass};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

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
    let web = Web { fetches, links };
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
}

impl<'f> Web<'f> {
    /// The outcome of an origin whose robots.txt has this URL and these captures.
    fn resolve(&self, key: &[u8], url: &'f [u8], captures: &'f [Fetch]) -> Result<Resolved> {
        let events = history::of(url, captures, self.links)?;
        let mut way = Way { visited: vec![url], hops: 0, until: None };
        let mut resolved = self.outcome(&events, &mut way)?;
        resolved.key = key.into();
        resolved.by_capture = matches!(events.first().map(|event| &event.said), Some(Said::Capture(_)));
        Ok(resolved)
    }

    /// The outcome of what is known of the URL at the end of the way, newest first.
    fn outcome(&self, events: &[Event<'f>], way: &mut Way<'f>) -> Result<Resolved> {
        match events.first().map(|event| &event.said) {
            Some(Said::Capture(fetch)) => match &fetch.answer {
                FetchAnswer::Redirect(target) => self.redirect(fetch, target.as_ref(), way),
                FetchAnswer::Rules(file, delivery) => {
                    let mut resolved = settle(fetch, OutcomeClass::Rules, way);
                    resolved.file = Some(FileRef::New(file.clone()));
                    resolved.outcome.cut_short = *delivery == Delivery::CutShort;
                    Ok(resolved)
                }
                FetchAnswer::ClientError => Ok(settle(fetch, OutcomeClass::ClientError, way)),
                FetchAnswer::ServerError => self.failed(settle(fetch, OutcomeClass::ServerError, way), events, way),
                FetchAnswer::Unreachable(cause) => {
                    let mut resolved = settle(fetch, OutcomeClass::Unreachable, way);
                    resolved.detail = Some(cause.as_bytes().into());
                    self.failed(resolved, events, way)
                }
            },
            Some(Said::Known(known)) => self.taken_over(known, events, way),
            // Neither is ever the newest; nobody would be told anything by them.
            Some(Said::FirstFailure | Said::LastGood(_)) | None => Ok(nothing()),
        }
    }

    fn redirect(&self, fetch: &'f Fetch, target: Option<&'f UrlKey>, way: &mut Way<'f>) -> Result<Resolved> {
        let unresolved = |why: String, way: &Way<'_>| {
            let mut resolved = settle(fetch, OutcomeClass::Unresolved, way);
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
            None => unresolved(lacking(target), way),
        }
    }

    /// The outcome of a URL so many redirects further on; `None`, and no step taken, if nothing is known of it.
    fn follow(&self, url: &'f [u8], hops: u8, way: &mut Way<'f>) -> Result<Option<Resolved>> {
        let mut events = history::of(url, self.fetches.of(url), self.links)?;
        if let Some(until) = way.until {
            events.retain(|event| event.time <= Some(until));
        }
        if events.is_empty() {
            return Ok(None);
        }
        way.visited.push(url);
        way.hops += hops;
        self.outcome(&events, way).map(Some)
    }

    /// The outcome that the previous snapshot knows, brought up to date where its redirects led to something that was captured.
    fn taken_over(&self, known: &Known<'f>, events: &[Event<'f>], way: &mut Way<'f>) -> Result<Resolved> {
        let outcome = known.entry.outcome();
        let hops = way.hops.saturating_add(known.hops);
        if hops > MAX_HOPS {
            let mut resolved = self.as_known(known, way);
            let unresolved = OutcomeClass::Unresolved;
            resolved.outcome = Outcome {
                class: unresolved,
                hops: way.hops,
                cut_short: false,
                first_failure: None,
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
        let (source, detail) = known.entry.notes();
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
    fn failed(&self, mut resolved: Resolved, events: &[Event<'f>], way: &mut Way<'f>) -> Result<Resolved> {
        let run = events.iter().take_while(|event| event.is_failure()).count();
        let (failures, before) = events.split_at(run);
        resolved.outcome.first_failure = failures.last().and_then(|event| event.time);
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
        fetched: None,
        first_failure: None,
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

fn settle(fetch: &Fetch, class: OutcomeClass, way: &Way<'_>) -> Resolved {
    Resolved {
        key: Box::default(),
        outcome: Outcome {
            class,
            status: fetch.status,
            hops: way.hops,
            cut_short: false,
            fetched: fetch.time,
            first_failure: None,
            max_age: fetch.max_age,
        },
        file: None,
        last_good: None,
        source: (way.hops > 0).then(|| way.url().into()),
        detail: None,
        by_capture: false,
    }
}
