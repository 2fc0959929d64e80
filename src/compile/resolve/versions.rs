//! The versions of the answer of a URL: where its history changes.
//!
//! The newest event up to an instant decides what a URL answers then. So each event begins a version,
//! unless it confirms the one before, or a better one has the same second.

use super::history::{EventKind, EventsSince, UrlEvent, UrlHistory};
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
    Redirect(Option<UrlKey>),
}

/// The answer before a run of failures, if it leads to a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerBefore {
    Nothing,
    Text(TextId),
    Redirect(UrlKey),
}

impl UrlVersion {
    /// The URL that it redirects to, or that the answer before its failures redirects to.
    pub(crate) fn target(&self) -> Option<&UrlKey> {
        match &self.answer {
            UrlAnswer::Redirect(target) => target.as_ref(),
            UrlAnswer::Failure {
                before: AnswerBefore::Redirect(target),
                ..
            } => Some(target),
            _ => None,
        }
    }
}

impl UrlHistory<'_> {
    /// The versions, oldest first. Only captures have versions, so there is no previous snapshot.
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
            let Some((status, answer)) = answer_of(event, &events) else {
                continue;
            };
            match versions.last_mut() {
                Some(last) if last.status == status && last.answer == answer => {
                    last.last_seen = event.time;
                }
                _ => versions.push(UrlVersion {
                    from: event.time,
                    last_seen: event.time,
                    status,
                    answer,
                }),
            }
        }
        versions
    }
}

/// The status and the answer of an event, the newest of `events`.
fn answer_of(event: &UrlEvent<'_>, events: &EventsSince<'_, '_>) -> Option<(u16, UrlAnswer)> {
    let EventKind::Capture(capture) = &event.kind else {
        return None;
    };
    let class = match &capture.answer {
        FetchAnswer::Rules(body) => {
            let answer = UrlAnswer::Rules {
                text: body.text,
                flags: body.flags,
            };
            return Some((capture.status, answer));
        }
        FetchAnswer::Redirect(target) => {
            return Some((capture.status, UrlAnswer::Redirect(target.clone())));
        }
        FetchAnswer::ClientError => return Some((capture.status, UrlAnswer::ClientError)),
        FetchAnswer::ServerError => OutcomeClass::ServerError,
        FetchAnswer::Unreachable(_) | FetchAnswer::NotModified | FetchAnswer::Revisit(_) => {
            OutcomeClass::Unreachable
        }
    };
    let answer = UrlAnswer::Failure {
        class,
        first_failure: events.first_failure(),
        first_unreachable: events.first_unreachable(),
        before: answer_before(events),
    };
    Some((capture.status, answer))
}

/// The answer before the run of failures that the newest of `events` ends.
fn answer_before(events: &EventsSince<'_, '_>) -> AnswerBefore {
    let before = events.before_failures().first().map(|event| &event.kind);
    match before {
        Some(EventKind::Capture(Fetch {
            answer: FetchAnswer::Rules(body),
            ..
        })) => AnswerBefore::Text(body.text),
        Some(EventKind::Capture(Fetch {
            answer: FetchAnswer::Redirect(Some(target)),
            ..
        })) => AnswerBefore::Redirect(target.clone()),
        _ => AnswerBefore::Nothing,
    }
}
