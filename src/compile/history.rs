//! What is known of one URL, newest first: its captures, and among them what the previous snapshot holds.
//!
//! A URL's history is a sorted list of events. Two things are worked out once, because many origins
//! may redirect to one URL that was captured many times, and each of them asks: which copy a 304
//! confirms, and where each run of failures ends.

use crate::compile::fetch::{Fetch, FetchAnswer, Rank};
use crate::compile::links::Links;
use crate::compile::previous::Known;
use crate::error::Result;
use crate::snapshot::OutcomeClass;
use std::cmp::Ordering;

/// All that is known of a URL.
pub(super) struct History<'f> {
    events: Vec<Event<'f>>,
    /// For each event where the runs of failures end that it is part of; empty if no event is a
    /// failure.
    run_ends: Vec<RunEnds>,
}

/// The number of the first event that is not part of a run of failures. Runs begin at the newest
/// event, so the last event of a run is the first failure. An event that is no failure ends the run
/// where it is.
#[derive(Clone, Copy)]
struct RunEnds {
    /// Of 429, 5xx and network errors.
    failures: u32,
    /// Of 5xx and network errors.
    unreachable: u32,
}

/// Something known, and the time it is known of; `None`, older than any, if the archive gives none.
#[derive(Clone)]
pub(super) struct Event<'f> {
    pub time: Option<i64>,
    pub max_age: Option<u32>,
    pub said: Said<'f>,
    /// A 304 at this time said that the copy `said` is still valid.
    pub confirmed: bool,
}

#[derive(Clone)]
pub(super) enum Said<'f> {
    /// A capture.
    Capture(&'f Fetch),
    /// What the previous snapshot knows: its newest capture of the URL.
    Known(Known<'f>),
    /// The first 5xx or network error of the run that `Known` ends, where a 429 came before it.
    FirstUnreachable,
    /// The first of the failures that `Known` is the last of. `unreachable`: no 429 is among them.
    FirstFailure { unreachable: bool },
    /// The good copy from before these: a row of the previous snapshot.
    LastGood(u32),
}

impl<'f> Event<'f> {
    fn new(time: Option<i64>, max_age: Option<u32>, said: Said<'f>) -> Self {
        Self { time, max_age, said, confirmed: false }
    }

    fn of_capture(fetch: &'f Fetch) -> Self {
        Self::new(fetch.time, fetch.max_age, Said::Capture(fetch))
    }

    /// Whether it is a failure that a site recovers from.
    fn is_failure(&self) -> bool {
        match &self.said {
            Said::Capture(fetch) => fetch.is_failure(),
            Said::Known(known) => known.is_failure(),
            Said::FirstUnreachable | Said::FirstFailure { .. } => true,
            Said::LastGood(_) => false,
        }
    }

    /// Whether RFC 9309 calls it "unreachable" (§2.3.1.4): a failure other than 429, which is
    /// "unavailable" (§2.3.1.3).
    fn is_unreachable(&self) -> bool {
        match &self.said {
            Said::Capture(fetch) => fetch.is_failure() && fetch.status != TOO_MANY_REQUESTS,
            Said::Known(known) => known.is_unreachable(),
            Said::FirstUnreachable => true,
            Said::FirstFailure { unreachable } => *unreachable,
            Said::LastGood(_) => false,
        }
    }

    fn is_not_modified(&self) -> bool {
        matches!(self.said, Said::Capture(Fetch { answer: FetchAnswer::NotModified, .. }))
    }

    /// Whether a later 304 confirms it: a robots.txt, or a redirect to where one may be.
    fn is_copy(&self) -> bool {
        match &self.said {
            Said::Capture(fetch) => matches!(fetch.answer, FetchAnswer::Rules(..) | FetchAnswer::Redirect(_)),
            Said::Known(known) => known.good().is_some() || known.is_redirect(),
            Said::FirstUnreachable | Said::FirstFailure { .. } => false,
            Said::LastGood(_) => true,
        }
    }
}

const TOO_MANY_REQUESTS: u16 = 429;

impl<'f> History<'f> {
    /// What is known of a URL, given its captures, newest first.
    pub(super) fn new(url: &[u8], captures: &'f [Fetch], links: Option<&Links<'f>>) -> Result<Self> {
        let mut events: Vec<Event<'_>> = captures.iter().map(Event::of_capture).collect();
        if let Some(links) = links
            && let Some(known) = links.known(url)?
        {
            let mut at = 0;
            while at < captures.len() && is_newer(&captures[at], &known, links)? {
                at += 1;
            }
            insert(&mut events, at, known);
        }
        confirm_copies(&mut events);
        let run_ends = run_ends(&events);
        Ok(Self { events, run_ends })
    }

    /// All events.
    pub(super) fn all(&self) -> Events<'_, 'f> {
        Events { history: self, start: 0 }
    }

    /// The events that are not newer than `until`, if it is given.
    pub(super) fn until(&self, until: Option<i64>) -> Events<'_, 'f> {
        let start = until.map_or(0, |until| self.events.partition_point(|event| event.time > Some(until)));
        Events { history: self, start }
    }
}

/// The events of a history from one on, newest first.
#[derive(Clone, Copy)]
pub(super) struct Events<'h, 'f> {
    history: &'h History<'f>,
    start: usize,
}

impl<'h, 'f> Events<'h, 'f> {
    /// The newest.
    pub(super) fn first(&self) -> Option<&'h Event<'f>> {
        self.history.events.get(self.start)
    }

    /// The events older than the run of failures that the newest ends.
    pub(super) fn before_failures(&self) -> Self {
        Self { start: self.run_end(|ends| ends.failures), ..*self }
    }

    /// The time of the first failure in the run that the newest ends.
    pub(super) fn first_failure(&self) -> Option<i64> {
        self.first_of_run(|ends| ends.failures)
    }

    /// The same of the run of 5xx and network errors.
    pub(super) fn first_unreachable(&self) -> Option<i64> {
        self.first_of_run(|ends| ends.unreachable)
    }

    fn first_of_run(&self, end: impl Fn(&RunEnds) -> u32) -> Option<i64> {
        self.history.events[self.start..self.run_end(end)].last().and_then(|event| event.time)
    }

    fn run_end(&self, end: impl Fn(&RunEnds) -> u32) -> usize {
        self.history.run_ends.get(self.start).map_or(self.start, |ends| end(ends) as usize)
    }
}

/// Replaces each 304 by the copy that it confirms: the newest answer before it that is no failure,
/// if that is a robots.txt or a redirect, with the time of the 304, and the `max-age` of the 304 if
/// it has one (RFC 9111 §4.3.4). A 304 without a copy stays, and is no answer.
fn confirm_copies(events: &mut [Event<'_>]) {
    if !events.iter().any(Event::is_not_modified) {
        return;
    }
    let mut copy: Option<usize> = None;
    for at in (0..events.len()).rev() {
        if let (true, Some(copy)) = (events[at].is_not_modified(), copy) {
            let max_age = events[at].max_age.or(events[copy].max_age);
            events[at] = Event { time: events[at].time, max_age, confirmed: true, ..events[copy].clone() };
        }
        if !events[at].is_failure() {
            copy = events[at].is_copy().then_some(at);
        }
    }
}

fn run_ends(events: &[Event<'_>]) -> Vec<RunEnds> {
    if !events.iter().any(Event::is_failure) {
        return Vec::new();
    }
    let end = events.len() as u32;
    let (mut next, mut out) = (RunEnds { failures: end, unreachable: end }, Vec::with_capacity(events.len()));
    for (event, at) in events.iter().zip(0..end).rev() {
        // A 429 that the previous snapshot does not date ended the run here.
        let is_run_start = matches!(event.said, Said::FirstUnreachable);
        next = RunEnds {
            failures: if event.is_failure() { next.failures } else { at },
            unreachable: match event.is_unreachable() {
                true if is_run_start => at + 1,
                true => next.unreachable,
                false => at,
            },
        };
        out.push(next);
    }
    out.reverse();
    out
}

/// Inserts what the previous snapshot knows at its places: the newest capture, and of a failure the
/// first ones and the good copy.
fn insert<'f>(events: &mut Vec<Event<'f>>, mut at: usize, known: Known<'f>) {
    let outcome = known.entry.outcome();
    let (fetched, max_age) = (outcome.fetched, outcome.max_age);
    let (first, unreachable) = (outcome.first_failure.min(fetched), outcome.first_unreachable.min(fetched));
    let (failed, is_unreachable) = (known.is_failure(), known.is_unreachable());
    let last_good = known.entry.last_good();
    events.insert(at, Event::new(fetched, max_age, Said::Known(known)));
    if !failed {
        return;
    }
    let mut insert_behind = |time: Option<i64>, said| {
        at = place_behind(events, at, time);
        events.insert(at, Event::new(time, None, said));
    };
    if is_unreachable && unreachable != first {
        insert_behind(unreachable, Said::FirstUnreachable);
    }
    insert_behind(first, Said::FirstFailure { unreachable: is_unreachable && unreachable == first });
    if let Some(row) = last_good {
        // The snapshot does not keep when the copy was made, only that nothing came between.
        insert_behind(first.and_then(|first| first.checked_sub(1)), Said::LastGood(row));
    }
}

/// The first place after `at` that is also after all events as new as `time`.
fn place_behind(events: &[Event<'_>], at: usize, time: Option<i64>) -> usize {
    at + 1 + events[at + 1..].iter().take_while(|event| event.time >= time).count()
}

/// Whether a capture is newer than what the previous snapshot knows. Of two of the same second the one that says more counts as newer, as
/// among captures; of two of unknown time the capture does.
fn is_newer(fetch: &Fetch, known: &Known<'_>, links: &Links<'_>) -> Result<bool> {
    let outcome = known.entry.outcome();
    let order = match fetch.time.cmp(&outcome.fetched) {
        Ordering::Equal if fetch.time.is_some() => content_order(fetch, known, links)?,
        Ordering::Equal => Ordering::Less,
        order => order.reverse(),
    };
    Ok(order != Ordering::Greater)
}

/// Less, if the capture says more.
fn content_order(fetch: &Fetch, known: &Known<'_>, links: &Links<'_>) -> Result<Ordering> {
    let outcome = known.entry.outcome();
    let rank = match outcome.class {
        _ if known.hops > 0 => Rank::Redirect,
        OutcomeClass::Rules => Rank::Rules,
        OutcomeClass::ClientError => Rank::ClientError,
        OutcomeClass::ServerError => Rank::ServerError,
        OutcomeClass::Unreachable => Rank::Unreachable,
        OutcomeClass::Unresolved => Rank::Redirect,
    };
    let facts = fetch.origin_metadata();
    if rank == Rank::Redirect || facts.0 != rank {
        // Of a redirect that was followed the status is not kept.
        return Ok(facts.0.cmp(&rank));
    }
    let order = facts.cmp(&(rank, outcome.status, outcome.max_age));
    Ok(match (&fetch.answer, known.good()) {
        (FetchAnswer::Rules(file, _), Some(row)) if order.is_eq() => file.frame().cmp(links.previous.frame(row)?),
        (FetchAnswer::Unreachable(cause), _) if order.is_eq() => {
            cause.as_bytes().cmp(known.entry.strings().1.unwrap_or_default())
        }
        _ => order,
    })
}
