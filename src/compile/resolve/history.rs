//! The history of one URL: its captures and its answer in the previous snapshot, newest first.
//!
//! A history is a sorted list of events. It precomputes which copy each 304 confirms and where each
//! run of failures ends, because many origins may redirect to one URL with many captures.
//!
//! If the previous snapshot has a history, its versions are events as captures are: one where a
//! version was found, and one where it was last seen. What captures of the same second hid is lost, so
//! a version that fails keeps what it states about its run.

use super::versions::{AnswerBefore, RedirectTarget, UrlAnswer, UrlVersion};
use crate::compile::incremental::previous_answer::{EarlierRedirect, PreviousAnswer};
use crate::compile::ingest::capture_record::{
    AnswerRank, BodyFlags, Fetch, FetchAnswer, RobotsBody, unknown_status,
};
use crate::compile::ingest::text_store::{TextDigests, TextId, Texts};
use crate::compile::ingest::url_key::UrlKey;
use crate::digest::Digest;
use crate::snapshot::OutcomeClass;
use std::cmp::Ordering;

/// The status of a copy whose own status the previous snapshot does not keep.
pub(super) const OK: u16 = 200;

/// The cause of an earlier failure, of which a history keeps the class only.
const LOST_CAUSE: &str = "a cause that the previous snapshot does not keep";

pub(super) struct UrlHistory<'p> {
    pub key: UrlKey,
    events: Vec<UrlEvent<'p>>,
    /// The number of the first event that is a version of the previous snapshot; `None` if that has
    /// no history.
    first_stored: Option<usize>,
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
/// Events are sorted newest first, so the last event of a run is the first failure. A run ends with
/// the first event that states when it began.
#[derive(Clone, Copy)]
struct RunEnds {
    /// Of 429, 5xx and network errors.
    failures: u32,
    /// Of 5xx and network errors.
    unreachable: u32,
    /// The answer before all failures.
    before: u32,
}

/// What a version that fails states about its run of failures.
#[derive(Clone)]
struct StoredRun<'p> {
    first_failure: Option<i64>,
    first_unreachable: Option<i64>,
    before: BeforeRun<'p>,
}

/// The answer before a stored run of failures.
#[derive(Clone)]
enum BeforeRun<'p> {
    /// That of the newest earlier event that is not a failure.
    Listed,
    /// One that the history lacks: it had the same second as a failure, or is older than the history.
    Hidden(Box<UrlEvent<'p>>),
    /// One that does not lead to a robots.txt, and that the history lacks.
    HiddenWithoutCopy,
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
    /// For a failure that is a version of the previous snapshot.
    run: Option<Box<StoredRun<'p>>>,
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
    /// A version of the previous snapshot: the redirects of a chain whose end alone is known.
    StoredRedirect(EarlierRedirect),
    /// A version of the previous snapshot: a redirect to a URL that is too long to be stored.
    LostRedirect { status: u16 },
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
            run: None,
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
            | EventKind::UndatedRedirect(_)
            | EventKind::StoredRedirect(_)
            | EventKind::LostRedirect { .. } => false,
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
            | EventKind::UndatedRedirect(_)
            | EventKind::StoredRedirect(_)
            | EventKind::LostRedirect { .. } => false,
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
            | EventKind::UndatedRedirect(_)
            | EventKind::StoredRedirect(_)
            | EventKind::LostRedirect { .. } => true,
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
            first_stored: None,
            run_ends,
            undated,
        }
    }

    /// The history of a URL with these captures, newest first, after its versions in the previous
    /// snapshot, oldest first. All captures are newer. `newest` is its answer in that snapshot, which
    /// has what versions lack: how long to wait, causes, and digests.
    pub(super) fn continued(
        key: UrlKey,
        captures: Vec<Fetch>,
        versions: Vec<UrlVersion>,
        newest: Option<PreviousAnswer<'p>>,
    ) -> Self {
        let first_stored = captures.len();
        let mut events: Vec<UrlEvent<'_>> = captures
            .into_iter()
            .map(|capture| UrlEvent::new(capture.time, capture.wait, EventKind::Capture(capture)))
            .collect();
        push_versions(&mut events, &versions);
        if let Some(newest) = newest.filter(|newest| newest.hops == 0) {
            add_details(&mut events[first_stored..], &newest);
        }
        confirm_copies(&mut events);
        let run_ends = run_ends(&events);
        Self {
            key,
            events,
            first_stored: Some(first_stored),
            run_ends,
            undated: None,
        }
    }

    /// Whether there are captures that the history of the previous snapshot lacks.
    pub(super) fn has_new_captures(&self) -> bool {
        self.first_stored.is_none_or(|first| first > 0)
    }

    /// Whether a capture decides what the URL answers now, not the previous snapshot.
    pub(super) fn begins_with_capture(&self) -> bool {
        let is_capture =
            |event: &UrlEvent<'_>| event.confirmed || matches!(event.kind, EventKind::Capture(_));
        match self.first_stored {
            Some(first_stored) => first_stored > 0,
            None => self.events.first().is_some_and(is_capture),
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
        let hidden = match self.stored_run().map(|run| &run.before) {
            None | Some(BeforeRun::Listed) => {
                return Self {
                    start: self.run_end(|ends| ends.before),
                    ..*self
                };
            }
            Some(BeforeRun::Hidden(event)) => Some(&**event),
            Some(BeforeRun::HiddenWithoutCopy) => None,
        };
        Self {
            history: self.history,
            start: self.history.events.len(),
            oldest: hidden,
        }
    }

    /// What a version of the previous snapshot states about the run of failures.
    fn stored_run(&self) -> Option<&'h StoredRun<'p>> {
        let end = self.run_end(|ends| ends.failures);
        self.history.events[self.start..end]
            .last()
            .and_then(|event| event.run.as_deref())
    }

    /// The time of the first failure of the run.
    pub(super) fn first_failure(&self) -> Option<i64> {
        let first = self.first_of_run(|ends| ends.failures)?;
        match &first.run {
            Some(run) => run.first_failure,
            None => first.time,
        }
    }

    /// The time of the first failure of the run of 5xx and network errors.
    pub(super) fn first_unreachable(&self) -> Option<i64> {
        let first = self.first_of_run(|ends| ends.unreachable)?;
        match &first.run {
            Some(run) => run.first_unreachable,
            None => first.time,
        }
    }

    /// The oldest event of a run.
    fn first_of_run(&self, end: impl Fn(&RunEnds) -> u32) -> Option<&'h UrlEvent<'p>> {
        self.history.events[self.start..self.run_end(end)].last()
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
    let mut copy: Option<UrlEvent<'_>> = None;
    for event in events.iter_mut().rev() {
        if let Some(run) = &event.run {
            // A failure of the previous snapshot, also a 304 without a copy, stays one.
            match &run.before {
                BeforeRun::Listed => {}
                BeforeRun::Hidden(before) => copy = Some((**before).clone()),
                BeforeRun::HiddenWithoutCopy => copy = None,
            }
            continue;
        }
        if event.is_not_modified()
            && let Some(copy) = &copy
        {
            *event = UrlEvent {
                time: event.time,
                wait: event.wait.or(copy.wait),
                confirmed: true,
                ..copy.clone()
            };
        }
        if !event.is_failure() {
            copy = event.is_copy().then(|| event.clone());
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
        before: end,
    };
    let mut out = Vec::with_capacity(events.len());
    for (event, at) in events.iter().zip(0..end).rev() {
        let is_stored = event.run.is_some();
        // The previous snapshot has an earlier 429 without its time, so the run begins here.
        let is_run_start = is_stored || matches!(event.kind, EventKind::FirstUnreachable);
        next = RunEnds {
            failures: match event.is_failure() {
                true if is_stored => at + 1,
                true => next.failures,
                false => at,
            },
            before: if event.is_failure() { next.before } else { at },
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

/// Appends the versions of the previous snapshot, given oldest first, as events.
fn push_versions(events: &mut Vec<UrlEvent<'_>>, versions: &[UrlVersion]) {
    // For each version, the newest earlier answer of the history that is not a failure.
    let mut answers_before = Vec::with_capacity(versions.len());
    let mut before = Some(AnswerBefore::Nothing);
    for version in versions {
        if !matches!(version.answer, UrlAnswer::Failure { .. }) {
            before = Some(version.as_answer_before());
        } else if version.status == 304 {
            // It confirmed no copy, so an answer of the same second that is not a copy is hidden.
            before = None;
        }
        answers_before.push(before.clone());
    }
    for (version, listed) in versions.iter().zip(&answers_before).rev() {
        if version.last_seen != version.from {
            events.push(event_of_version(
                version,
                version.last_seen,
                listed.as_ref(),
            ));
        }
        events.push(event_of_version(version, version.from, listed.as_ref()));
    }
}

/// A version as an event. `listed` is the newest earlier answer of the history that is not a failure,
/// unless a later one is hidden.
fn event_of_version<'p>(
    version: &UrlVersion,
    time: Option<i64>,
    listed: Option<&AnswerBefore>,
) -> UrlEvent<'p> {
    let status = version.status;
    let mut run = None;
    let kind = match &version.answer {
        UrlAnswer::Rules { text, flags } => rules_kind(time, status, *text, *flags),
        UrlAnswer::ClientError => capture_kind(time, status, FetchAnswer::ClientError),
        UrlAnswer::Redirect(target) => redirect_kind(time, status, target.as_ref()),
        UrlAnswer::LostRedirect => EventKind::LostRedirect { status },
        UrlAnswer::Failure {
            class,
            first_failure,
            first_unreachable,
            before,
        } => {
            run = Some(Box::new(StoredRun {
                first_failure: *first_failure,
                first_unreachable: *first_unreachable,
                before: before_run(before, listed),
            }));
            let answer = match class {
                OutcomeClass::ServerError => FetchAnswer::ServerError,
                _ if status == 304 => FetchAnswer::NotModified,
                _ if status > 0 => FetchAnswer::Unreachable(unknown_status(status)),
                _ => FetchAnswer::Unreachable(LOST_CAUSE.into()),
            };
            capture_kind(time, status, answer)
        }
    };
    UrlEvent {
        run,
        ..UrlEvent::new(time, None, kind)
    }
}

fn before_run<'p>(before: &AnswerBefore, listed: Option<&AnswerBefore>) -> BeforeRun<'p> {
    if Some(before) == listed {
        return BeforeRun::Listed;
    }
    // Its time and status are not stored, and nothing depends on them.
    let kind = match before {
        AnswerBefore::Nothing => return BeforeRun::HiddenWithoutCopy,
        AnswerBefore::Text(text) => rules_kind(None, OK, *text, BodyFlags::default()),
        AnswerBefore::Redirect(target) => redirect_kind(None, 0, Some(target)),
    };
    BeforeRun::Hidden(Box::new(UrlEvent::new(None, None, kind)))
}

fn capture_kind<'p>(time: Option<i64>, status: u16, answer: FetchAnswer) -> EventKind<'p> {
    EventKind::Capture(Fetch {
        time,
        status,
        wait: None,
        answer,
    })
}

fn rules_kind<'p>(time: Option<i64>, status: u16, text: TextId, flags: BodyFlags) -> EventKind<'p> {
    let body = RobotsBody {
        text,
        flags,
        payload: None,
    };
    capture_kind(time, status, FetchAnswer::Rules(body))
}

fn redirect_kind<'p>(
    time: Option<i64>,
    status: u16,
    target: Option<&RedirectTarget>,
) -> EventKind<'p> {
    match target {
        Some(RedirectTarget { url, hops }) if *hops > 1 => {
            EventKind::StoredRedirect(EarlierRedirect {
                status,
                end: Some(url.clone()),
                hops: *hops,
                is_without_copy: false,
            })
        }
        target => {
            let target = target.map(|target| target.url.clone());
            capture_kind(time, status, FetchAnswer::Redirect(target))
        }
    }
}

/// Adds what the previous snapshot keeps of the newest answer of a URL only. `events` are those of
/// its versions.
fn add_details(events: &mut [UrlEvent<'_>], newest: &PreviousAnswer<'_>) {
    let Some(first) = events.first_mut() else {
        return;
    };
    let outcome = newest.entry.outcome();
    first.wait = outcome.wait();
    if let EventKind::Capture(Fetch {
        answer: FetchAnswer::Unreachable(cause),
        ..
    }) = &mut first.kind
    {
        let detail = newest.entry.strings().1.unwrap_or_default();
        *cause = String::from_utf8_lossy(detail).into();
    }
    let Some(payload) = newest.payload else {
        return;
    };
    // The digest is that of the robots.txt in force, or of the last good copy.
    let text = newest.rules.or(newest.last_good);
    for event in events {
        if let EventKind::Capture(Fetch {
            answer: FetchAnswer::Rules(body),
            ..
        }) = &mut event.kind
            && Some(body.text) == text
        {
            body.payload = Some(payload);
            return;
        }
    }
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
        is_without_copy: false,
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
