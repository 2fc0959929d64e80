//! The history of one URL: its captures and its answer in the previous snapshot, newest first.
//!
//! A history is a sorted list of events. It precomputes which copy each 304 confirms and where each
//! run of failures ends, because many origins may redirect to one URL with many captures.

use crate::compile::incremental::previous_answer::{EarlierRedirect, PreviousAnswer};
use crate::compile::ingest::capture_record::{AnswerRank, Fetch, FetchAnswer};
use crate::compile::ingest::text_store::{TextDigests, TextId, Texts};
use crate::compile::ingest::url_key::UrlKey;
use crate::digest::Digest;
use crate::snapshot::OutcomeClass;
use std::cmp::Ordering;

pub(super) struct UrlHistory<'p> {
    pub key: UrlKey,
    events: Vec<UrlEvent<'p>>,
    /// The ends of the runs of failures around each event; empty if no event is a failure.
    run_ends: Vec<RunEnds>,
    /// The event of the previous snapshot that may be older than its place among the events.
    undated: Option<UndatedEvent<'p>>,
}

/// An event whose time the previous snapshot does not keep, only a later one.
struct UndatedEvent<'p> {
    /// The time with which it is among the events.
    latest: Option<i64>,
    /// The event by an earlier time.
    event: UrlEvent<'p>,
}

/// The index of the first event after a run of failures; for an event that is not a failure, its
/// own.
///
/// Events are sorted newest first, so the last event of a run is the first failure.
#[derive(Clone, Copy)]
struct RunEnds {
    /// Of 429, 5xx and network errors.
    failures: u32,
    /// Of 5xx and network errors.
    unreachable: u32,
}

#[derive(Clone)]
pub(super) struct UrlEvent<'p> {
    /// In seconds since 1970; `None`, older than any time, if the archive has none.
    pub time: Option<i64>,
    /// How long to wait before the next fetch, as the answer states it.
    pub wait: Option<u32>,
    pub kind: EventKind<'p>,
    /// A 304 at this time confirmed the copy of `kind`.
    pub confirmed: bool,
}

#[derive(Clone)]
pub(super) enum EventKind<'p> {
    /// A capture.
    Capture(Fetch),
    /// The answer in the previous snapshot: its newest capture of the URL.
    Previous(PreviousAnswer<'p>),
    /// The first 5xx or network error of the run that ends with `Previous`, after an earlier 429.
    FirstUnreachable,
    /// The first failure of the run that ends with `Previous`. `unreachable`: the run has no 429.
    FirstFailure { unreachable: bool },
    /// The good copy from before that run.
    LastGood(GoodCopy),
    /// The redirect from before that run.
    EarlierRedirect(EarlierRedirect),
    /// The redirect of `Previous`, by a time before that of its target.
    UndatedRedirect(EarlierRedirect),
}

/// The text of a robots.txt, and the digest that an archive stated for its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GoodCopy {
    pub text: TextId,
    pub payload: Option<Digest>,
}

impl<'p> UrlEvent<'p> {
    fn new(time: Option<i64>, wait: Option<u32>, kind: EventKind<'p>) -> Self {
        Self {
            time,
            wait,
            kind,
            confirmed: false,
        }
    }

    /// Whether it is a temporary failure.
    fn is_failure(&self) -> bool {
        match &self.kind {
            EventKind::Capture(capture) => capture.is_failure(),
            EventKind::Previous(answer) => answer.is_failure(),
            EventKind::FirstUnreachable | EventKind::FirstFailure { .. } => true,
            EventKind::LastGood(_)
            | EventKind::EarlierRedirect(_)
            | EventKind::UndatedRedirect(_) => false,
        }
    }

    /// Whether it is "unreachable" in RFC 9309 (§2.3.1.4): any failure except 429, which is
    /// "unavailable" (§2.3.1.3).
    fn is_unreachable(&self) -> bool {
        match &self.kind {
            EventKind::Capture(capture) => capture.is_failure() && capture.status != 429,
            EventKind::Previous(answer) => answer.is_unreachable(),
            EventKind::FirstUnreachable => true,
            EventKind::FirstFailure { unreachable } => *unreachable,
            EventKind::LastGood(_)
            | EventKind::EarlierRedirect(_)
            | EventKind::UndatedRedirect(_) => false,
        }
    }

    fn is_not_modified(&self) -> bool {
        matches!(
            self.kind,
            EventKind::Capture(Fetch {
                answer: FetchAnswer::NotModified,
                ..
            })
        )
    }

    /// Whether a later 304 can confirm it: a robots.txt, or a redirect.
    fn is_copy(&self) -> bool {
        match &self.kind {
            EventKind::Capture(capture) => {
                matches!(
                    capture.answer,
                    FetchAnswer::Rules(_) | FetchAnswer::Redirect(_)
                )
            }
            EventKind::Previous(answer) => answer.rules_text().is_some() || answer.is_redirect(),
            EventKind::FirstUnreachable | EventKind::FirstFailure { .. } => false,
            EventKind::LastGood(_)
            | EventKind::EarlierRedirect(_)
            | EventKind::UndatedRedirect(_) => true,
        }
    }
}

impl<'p> UndatedEvent<'p> {
    fn new(latest: Option<i64>, kind: EventKind<'p>) -> Self {
        Self {
            latest,
            event: UrlEvent::new(None, None, kind),
        }
    }
}

impl<'p> UrlHistory<'p> {
    /// The history of a URL with these captures, newest first, and its answer in the previous
    /// snapshot.
    pub(super) fn new(
        key: UrlKey,
        captures: Vec<Fetch>,
        previous: Option<PreviousAnswer<'p>>,
        texts: &Texts,
    ) -> Self {
        let newer = previous.as_ref().map_or(0, |answer| {
            captures
                .iter()
                .take_while(|capture| is_newer(capture, answer, texts))
                .count()
        });
        let mut events: Vec<UrlEvent<'_>> = captures
            .into_iter()
            .map(|capture| UrlEvent::new(capture.time, capture.wait, EventKind::Capture(capture)))
            .collect();
        // The old answer is an event among the new ones: some captures may be older.
        let undated = previous.and_then(|answer| insert(&mut events, newer, answer));
        confirm_copies(&mut events);
        let run_ends = run_ends(&events);
        Self {
            key,
            events,
            run_ends,
            undated,
        }
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn all(&self) -> EventsSince<'_, 'p> {
        self.since(0)
    }

    /// The events from the one with this number on.
    pub(super) fn since(&self, start: usize) -> EventsSince<'_, 'p> {
        EventsSince {
            history: self,
            start,
            oldest: None,
        }
    }

    /// The events up to the time `until`; all without it. With `with_undated`, an event that may
    /// have been there by then is the oldest of them.
    pub(super) fn until(&self, until: Option<i64>, with_undated: bool) -> EventsSince<'_, 'p> {
        let start = until.map_or(0, |until| {
            self.events
                .partition_point(|event| event.time > Some(until))
        });
        let undated = self.undated.as_ref();
        let is_cut = |undated: &&UndatedEvent<'p>| until.is_some() && undated.latest > until;
        EventsSince {
            history: self,
            start,
            oldest: undated
                .filter(|undated| with_undated && is_cut(undated))
                .map(|undated| &undated.event),
        }
    }
}

/// The events of a history from one on, newest first. Its first event may end a run of failures.
#[derive(Clone, Copy)]
pub(super) struct EventsSince<'h, 'p> {
    history: &'h UrlHistory<'p>,
    start: usize,
    /// An event before all others.
    oldest: Option<&'h UrlEvent<'p>>,
}

impl<'h, 'p> EventsSince<'h, 'p> {
    pub(super) fn first(&self) -> Option<&'h UrlEvent<'p>> {
        self.history.events.get(self.start).or(self.oldest)
    }

    /// The events before the run of failures.
    pub(super) fn before_failures(&self) -> Self {
        Self {
            start: self.run_end(|ends| ends.failures),
            ..*self
        }
    }

    /// The time of the first failure of the run.
    pub(super) fn first_failure(&self) -> Option<i64> {
        self.first_of_run(|ends| ends.failures)
    }

    /// The time of the first failure of the run of 5xx and network errors.
    pub(super) fn first_unreachable(&self) -> Option<i64> {
        self.first_of_run(|ends| ends.unreachable)
    }

    fn first_of_run(&self, end: impl Fn(&RunEnds) -> u32) -> Option<i64> {
        self.history.events[self.start..self.run_end(end)]
            .last()
            .and_then(|event| event.time)
    }

    fn run_end(&self, end: impl Fn(&RunEnds) -> u32) -> usize {
        self.history
            .run_ends
            .get(self.start)
            .map_or(self.start, |ends| end(ends) as usize)
    }
}

/// Replaces each 304 by the copy that it confirms, with the time of the 304.
///
/// The copy is the newest earlier answer that is not a failure, if it is a robots.txt or a
/// redirect. A `max-age` of the 304 replaces that of the copy (RFC 9111 §4.3.4). A 304 without a
/// copy stays.
fn confirm_copies(events: &mut [UrlEvent<'_>]) {
    if !events.iter().any(UrlEvent::is_not_modified) {
        return;
    }
    let mut copy: Option<usize> = None;
    for at in (0..events.len()).rev() {
        if let (true, Some(copy)) = (events[at].is_not_modified(), copy) {
            let wait = events[at].wait.or(events[copy].wait);
            events[at] = UrlEvent {
                time: events[at].time,
                wait,
                confirmed: true,
                ..events[copy].clone()
            };
        }
        if !events[at].is_failure() {
            copy = events[at].is_copy().then_some(at);
        }
    }
}

fn run_ends(events: &[UrlEvent<'_>]) -> Vec<RunEnds> {
    if !events.iter().any(UrlEvent::is_failure) {
        return Vec::new();
    }
    let end = events.len() as u32;
    let mut next = RunEnds {
        failures: end,
        unreachable: end,
    };
    let mut out = Vec::with_capacity(events.len());
    for (event, at) in events.iter().zip(0..end).rev() {
        // The previous snapshot has an earlier 429 without its time, so the run begins here.
        let is_run_start = matches!(event.kind, EventKind::FirstUnreachable);
        next = RunEnds {
            failures: if event.is_failure() {
                next.failures
            } else {
                at
            },
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

/// Inserts the answer of the previous snapshot: its newest capture and, for a failure, the first
/// failures and the good copy. Returns the event whose own time is not stored.
fn insert<'p>(
    events: &mut Vec<UrlEvent<'p>>,
    mut at: usize,
    answer: PreviousAnswer<'p>,
) -> Option<UndatedEvent<'p>> {
    let outcome = answer.entry.outcome();
    let fetched = outcome.fetched;
    let wait = outcome.wait();
    let first = outcome.first_failure.min(fetched);
    let unreachable = outcome.first_unreachable.min(fetched);
    let failed = answer.is_failure();
    let is_unreachable = answer.is_unreachable();
    let last_good = answer.last_good.map(|text| GoodCopy {
        text,
        payload: answer.payload,
    });
    let earlier_redirect = answer.earlier_redirect.clone();
    // Of a redirect that was followed, only the time of its target is stored.
    let redirect = answer.redirect_end().map(|(url, hops)| EarlierRedirect {
        status: outcome.status,
        end: UrlKey::of_canonical(url),
        hops,
    });
    events.insert(
        at,
        UrlEvent::new(fetched, wait, EventKind::Previous(answer)),
    );
    if !failed {
        let kind = redirect.map(EventKind::UndatedRedirect)?;
        return Some(UndatedEvent::new(fetched, kind));
    }
    // Inserts an event after the one at `at`, and after all events as new as `time`.
    let mut insert_after = |time: Option<i64>, kind| {
        at += 1 + events[at + 1..]
            .iter()
            .take_while(|event| event.time >= time)
            .count();
        events.insert(at, UrlEvent::new(time, None, kind));
    };
    if is_unreachable && unreachable != first {
        insert_after(unreachable, EventKind::FirstUnreachable);
    }
    insert_after(
        first,
        EventKind::FirstFailure {
            unreachable: is_unreachable && unreachable == first,
        },
    );
    let before = last_good.map(EventKind::LastGood);
    let kind = before.or(earlier_redirect.map(EventKind::EarlierRedirect))?;
    // The snapshot does not keep the time of the event, only that it is the one before. So no
    // capture that arrives later comes between.
    let time = first.and_then(|first| first.checked_sub(1));
    events.insert(at + 1, UrlEvent::new(time, None, kind.clone()));
    Some(UndatedEvent::new(time, kind))
}

/// Whether a capture is newer than the answer of the previous snapshot.
///
/// In the same second, the more informative one counts as newer, as among captures. If both times
/// are unknown, the capture counts as newer.
fn is_newer(capture: &Fetch, answer: &PreviousAnswer<'_>, texts: &Texts) -> bool {
    let outcome = answer.entry.outcome();
    let order = match capture.time.cmp(&outcome.fetched) {
        Ordering::Equal if capture.time.is_some() => content_order(capture, answer, texts),
        Ordering::Equal => Ordering::Less,
        order => order.reverse(),
    };
    order != Ordering::Greater
}

/// `Less` if the capture is more informative.
fn content_order(capture: &Fetch, answer: &PreviousAnswer<'_>, texts: &Texts) -> Ordering {
    let outcome = answer.entry.outcome();
    let rank = match outcome.class {
        _ if answer.hops > 0 => AnswerRank::Redirect,
        OutcomeClass::Rules => AnswerRank::Rules,
        OutcomeClass::ClientError => AnswerRank::ClientError,
        OutcomeClass::ServerError => AnswerRank::ServerError,
        OutcomeClass::Unreachable => AnswerRank::Unreachable,
        OutcomeClass::Unresolved => AnswerRank::Redirect,
    };
    let capture_rank = capture.rank();
    if rank == AnswerRank::Redirect || capture_rank.0 != rank {
        // The previous snapshot does not keep the status of a redirect that was followed.
        return capture_rank.0.cmp(&rank);
    }
    let order = capture_rank.cmp(&(rank, outcome.status, outcome.wait()));
    match (&capture.answer, answer.rules_text()) {
        (FetchAnswer::Rules(body), Some(other)) if order.is_eq() => {
            texts.digest(body.text).cmp(&texts.digest(other))
        }
        (FetchAnswer::Unreachable(cause), _) if order.is_eq() => cause
            .as_bytes()
            .cmp(answer.entry.strings().1.unwrap_or_default()),
        _ => order,
    }
}
