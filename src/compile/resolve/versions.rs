//! The versions of the answer of a URL: where its history changes.
//!
//! The newest event up to an instant decides what a URL answers then. So each event begins a version,
//! unless it confirms the one before, or a better one has the same second.
//!
//! A previous snapshot without a history has one answer of each URL, which becomes its first version.

use super::history::{EventKind, EventsSince, OK, UrlEvent, UrlHistory};
use crate::compile::incremental::previous_answer::{EarlierRedirect, PreviousAnswer};
use crate::compile::ingest::capture_record::{BodyFlags, Fetch, FetchAnswer};
use crate::compile::ingest::text_store::TextId;
use crate::compile::ingest::url_key::UrlKey;
use crate::snapshot::OutcomeClass;

/// A version of the answer of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlVersion {
    /// The time of the event that begins it.
    pub from: Option<i64>,
    /// The time of the last event that confirms it.
    pub last_seen: Option<i64>,
    pub status: u16,
    pub answer: UrlAnswer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UrlAnswer {
    /// 2xx.
    Rules { text: TextId, flags: BodyFlags },
    /// 4xx except 429.
    ClientError,
    /// 429, 5xx or a network error, with the answer before the run of failures.
    Failure {
        class: OutcomeClass,
        first_failure: Option<i64>,
        first_unreachable: Option<i64>,
        before: AnswerBefore,
    },
    /// A redirect; the target if it names one.
    Redirect(Option<RedirectTarget>),
    /// A redirect to a URL that is too long to be stored, in the history of a previous snapshot.
    LostRedirect,
}

/// A URL, and the number of redirects that lead to it: one, unless a previous snapshot without a
/// history has the end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RedirectTarget {
    pub url: UrlKey,
    pub hops: u8,
}

/// The answer before a run of failures, if it leads to a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerBefore {
    Nothing,
    Text(TextId),
    Redirect(RedirectTarget),
}

impl UrlVersion {
    /// The URL that it redirects to, or that the answer before its failures redirects to.
    pub(crate) fn target(&self) -> Option<&UrlKey> {
        match &self.answer {
            UrlAnswer::Redirect(target) => target.as_ref().map(|target| &target.url),
            UrlAnswer::Failure {
                before: AnswerBefore::Redirect(target),
                ..
            } => Some(&target.url),
            _ => None,
        }
    }

    /// What a failure after it has as the answer before.
    pub(super) fn as_answer_before(&self) -> AnswerBefore {
        match &self.answer {
            UrlAnswer::Rules { text, .. } => AnswerBefore::Text(*text),
            UrlAnswer::Redirect(Some(target)) => AnswerBefore::Redirect(target.clone()),
            _ => AnswerBefore::Nothing,
        }
    }
}

impl UrlHistory<'_> {
    /// The versions, oldest first.
    pub(super) fn versions(&self) -> Vec<UrlVersion> {
        let mut versions: Vec<UrlVersion> = Vec::new();
        for start in (0..self.len()).rev() {
            let events = self.since(start);
            let newer = start.checked_sub(1).map(|newer| self.since(newer));
            let (Some(event), newer) = (events.first(), newer.and_then(|newer| newer.first()))
            else {
                continue;
            };
            // Of the events of one second, the first in the order of the history decides.
            if newer.is_some_and(|newer| newer.time == event.time) {
                continue;
            }
            let Some(found) = version_of(event, &events) else {
                continue;
            };
            match versions.last_mut() {
                Some(last) if last.status == found.status && last.answer == found.answer => {
                    last.last_seen = event.time;
                }
                _ => versions.push(found),
            }
        }
        versions
    }
}

/// The version that begins with an event, the newest of `events`. `None` for an event whose time the
/// previous snapshot does not keep, as it is older than the answer of that snapshot.
fn version_of(event: &UrlEvent<'_>, events: &EventsSince<'_, '_>) -> Option<UrlVersion> {
    let version = |status, answer| UrlVersion {
        from: event.time,
        last_seen: event.time,
        status,
        answer,
    };
    Some(match &event.kind {
        EventKind::Capture(capture) => version(capture.status, answer_of_capture(capture, events)),
        EventKind::Previous(answer) => {
            let status = answer.entry.outcome().status;
            version(status, answer_of_previous(answer, events))
        }
        EventKind::StoredRedirect(redirect) => {
            version(redirect.status, UrlAnswer::Redirect(end_of(redirect)))
        }
        EventKind::LostRedirect { status } => version(*status, UrlAnswer::LostRedirect),
        // A 304 confirmed the copy from before the failures, and has a time.
        EventKind::LastGood(copy) if event.confirmed => {
            let answer = UrlAnswer::Rules {
                text: copy.text,
                flags: BodyFlags::default(),
            };
            version(OK, answer)
        }
        EventKind::EarlierRedirect(redirect) if event.confirmed => {
            version(redirect.status, UrlAnswer::Redirect(end_of(redirect)))
        }
        _ => return None,
    })
}

fn answer_of_capture(capture: &Fetch, events: &EventsSince<'_, '_>) -> UrlAnswer {
    let class = match &capture.answer {
        FetchAnswer::Rules(body) => {
            return UrlAnswer::Rules {
                text: body.text,
                flags: body.flags,
            };
        }
        FetchAnswer::Redirect(target) => return UrlAnswer::Redirect(one_redirect(target.as_ref())),
        FetchAnswer::ClientError => return UrlAnswer::ClientError,
        FetchAnswer::ServerError => OutcomeClass::ServerError,
        FetchAnswer::Unreachable(_) | FetchAnswer::NotModified | FetchAnswer::Revisit(_) => {
            OutcomeClass::Unreachable
        }
    };
    failure_of(class, events)
}

/// The answer of a URL in a previous snapshot without a history. Of a redirect it has the end.
fn answer_of_previous(answer: &PreviousAnswer<'_>, events: &EventsSince<'_, '_>) -> UrlAnswer {
    if answer.is_redirect() {
        return UrlAnswer::Redirect(target_of_previous(answer));
    }
    match (answer.class(), answer.rules) {
        (OutcomeClass::Rules, Some(text)) => UrlAnswer::Rules {
            text,
            flags: BodyFlags::of_outcome(answer.entry.outcome()),
        },
        (class, _) if class.is_failure() => failure_of(class, events),
        _ => UrlAnswer::ClientError,
    }
}

/// A failure, the newest of `events`.
fn failure_of(class: OutcomeClass, events: &EventsSince<'_, '_>) -> UrlAnswer {
    UrlAnswer::Failure {
        class,
        first_failure: events.first_failure(),
        first_unreachable: events.first_unreachable(),
        before: answer_before(events),
    }
}

/// The answer before the run of failures that the newest of `events` ends.
fn answer_before(events: &EventsSince<'_, '_>) -> AnswerBefore {
    let before = events.before_failures();
    let target = match before.first().map(|event| &event.kind) {
        Some(EventKind::Capture(capture)) => match &capture.answer {
            FetchAnswer::Rules(body) => return AnswerBefore::Text(body.text),
            FetchAnswer::Redirect(target) => one_redirect(target.as_ref()),
            _ => None,
        },
        Some(EventKind::LastGood(copy)) => return AnswerBefore::Text(copy.text),
        Some(EventKind::Previous(answer)) => match answer.rules_text() {
            Some(text) => return AnswerBefore::Text(text),
            None => target_of_previous(answer),
        },
        Some(EventKind::StoredRedirect(redirect)) => end_of(redirect),
        Some(EventKind::EarlierRedirect(redirect)) => {
            end_of(redirect).filter(|_| !redirect.is_without_copy)
        }
        _ => None,
    };
    target.map_or(AnswerBefore::Nothing, AnswerBefore::Redirect)
}

/// The target of a captured redirect.
fn one_redirect(target: Option<&UrlKey>) -> Option<RedirectTarget> {
    target.map(|url| RedirectTarget {
        url: url.clone(),
        hops: 1,
    })
}

/// The URL that the redirects of a previous answer lead to: the last one that answered, or else the
/// one that was not captured.
fn target_of_previous(answer: &PreviousAnswer<'_>) -> Option<RedirectTarget> {
    let end = answer.redirect_end().or_else(|| answer.missing_target());
    end.and_then(|(url, hops)| {
        Some(RedirectTarget {
            url: UrlKey::of_canonical(url)?,
            hops,
        })
    })
}

/// The URL at the end of redirects.
fn end_of(redirect: &EarlierRedirect) -> Option<RedirectTarget> {
    redirect.end.as_ref().map(|url| RedirectTarget {
        url: url.clone(),
        hops: redirect.hops,
    })
}
