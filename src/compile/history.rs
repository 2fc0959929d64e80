//! What is known of one URL, newest first: its captures, and among them what the previous snapshot holds.

use super::fetch::{Fetch, FetchAnswer, Rank};
use super::links::Links;
use super::previous::Known;
use crate::error::Result;
use crate::snapshot::OutcomeClass;
use std::cmp::Ordering;

/// Something known, and the time it is known of; `None`, older than any, if that is not told.
pub(super) struct Event<'f> {
    pub time: Option<i64>,
    pub said: Said<'f>,
}

pub(super) enum Said<'f> {
    /// A capture.
    Capture(&'f Fetch),
    /// What the previous snapshot knows, which stands for its newest capture of the URL.
    Known(Known<'f>),
    /// The first of the failures that `Known` is the last of.
    FirstFailure,
    /// The good copy from before these: a row of the previous snapshot.
    LastGood(u32),
}

impl Event<'_> {
    /// Whether it is a failure that a site recovers from.
    pub(super) fn is_failure(&self) -> bool {
        match &self.said {
            Said::Capture(fetch) => fetch.is_failure(),
            Said::Known(known) => known.is_failure(),
            Said::FirstFailure => true,
            Said::LastGood(_) => false,
        }
    }
}

/// What is known of a URL, newest first: `captures` are its captures.
pub(super) fn of<'f>(url: &[u8], captures: &'f [Fetch], links: Option<&Links<'f>>) -> Result<Vec<Event<'f>>> {
    let events = captures.iter().map(|fetch| Event { time: fetch.time, said: Said::Capture(fetch) });
    let mut events: Vec<Event<'_>> = events.collect();
    if let Some(links) = links
        && let Some(known) = links.known(url)?
    {
        let mut at = 0;
        while at < captures.len() && is_newer(&captures[at], &known, links)? {
            at += 1;
        }
        insert(&mut events, at, known);
    }
    Ok(events)
}

/// Puts what the previous snapshot knows in its places: the newest capture, and of a failure the first one and the good copy.
fn insert<'f>(events: &mut Vec<Event<'f>>, mut at: usize, known: Known<'f>) {
    let (fetched, first) = (known.entry.outcome().fetched, known.entry.outcome().first_failure);
    let (failed, last_good) = (known.is_failure(), known.entry.last_good());
    events.insert(at, Event { time: fetched, said: Said::Known(known) });
    if !failed {
        return;
    }
    let first = first.min(fetched);
    at = place_behind(events, at, first);
    events.insert(at, Event { time: first, said: Said::FirstFailure });
    if let Some(row) = last_good {
        // When it was made is not kept; nothing that is known of stood between.
        let time = first.and_then(|first| first.checked_sub(1));
        at = place_behind(events, at, time);
        events.insert(at, Event { time, said: Said::LastGood(row) });
    }
}

/// The first place behind `at` that is also behind all events as new as `time`.
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
    let facts = fetch.facts();
    if rank == Rank::Redirect || facts.0 != rank {
        // Of a redirect that was followed the status is not kept.
        return Ok(facts.0.cmp(&rank));
    }
    let order = facts.cmp(&(rank, outcome.status, outcome.max_age));
    Ok(match (&fetch.answer, known.good()) {
        (FetchAnswer::Rules(file, _), Some(row)) if order.is_eq() => file.frame().cmp(links.previous.frame(row)?),
        (FetchAnswer::Unreachable(cause), _) if order.is_eq() => {
            cause.as_bytes().cmp(known.entry.notes().1.unwrap_or_default())
        }
        _ => order,
    })
}
