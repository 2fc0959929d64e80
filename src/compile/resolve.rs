//! Each origin's outcome: redirects followed inside the archive, newest capture first, failures and last good copies.

use super::fetch::{Fetch, FetchAnswer, Fetches, UrlKey};
use super::files::File;
use crate::robots::condense::Delivery;
use crate::snapshot::{Outcome, OutcomeClass};
use rayon::prelude::*;
use std::sync::Arc;

/// Redirects that are followed (RFC 9309 §2.3.1.2; Google's specification).
const MAX_HOPS: u8 = 5;

/// What is known of one origin in the end.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub key: Vec<u8>,
    pub outcome: Outcome,
    pub file: Option<Arc<File>>,
    pub last_good: Option<Arc<File>>,
    /// The URL that answered in the end, if it is not the origin's own.
    pub source: Option<Vec<u8>>,
    pub detail: Option<String>,
}

/// Settles all origins, in the order of their keys.
pub(super) fn resolve_all(fetches: &Fetches) -> Vec<Resolved> {
    fetches.robots().into_par_iter().map(|captures| resolve(fetches, captures)).collect()
}

fn resolve(all: &Fetches, captures: &[Fetch]) -> Resolved {
    let key = &captures[0].key;
    let mut resolved = follow(all, captures, &mut vec![key]);
    resolved.key = key.origin().to_vec();
    resolved
}

/// The outcome of a URL's captures (newest first, at least one). `visited` is the way there, this URL included.
fn follow<'f>(all: &'f Fetches, captures: &'f [Fetch], visited: &mut Vec<&'f UrlKey>) -> Resolved {
    let newest = &captures[0];
    match &newest.answer {
        FetchAnswer::Redirect(target) => follow_redirect(all, newest, target.as_ref(), visited),
        FetchAnswer::Rules(file, delivery) => {
            let mut resolved = settle(newest, OutcomeClass::Rules, visited);
            resolved.file = Some(file.clone());
            resolved.outcome.cut_short = *delivery == Delivery::CutShort;
            resolved
        }
        FetchAnswer::ClientError => settle(newest, OutcomeClass::ClientError, visited),
        FetchAnswer::ServerError => failed(all, captures, OutcomeClass::ServerError, visited),
        FetchAnswer::Unreachable(cause) => {
            let mut resolved = failed(all, captures, OutcomeClass::Unreachable, visited);
            resolved.detail = Some(cause.to_string());
            resolved
        }
    }
}

fn settle(fetch: &Fetch, class: OutcomeClass, visited: &[&UrlKey]) -> Resolved {
    let hops = visited.len() - 1;
    Resolved {
        key: Vec::new(),
        outcome: Outcome {
            class,
            status: fetch.status,
            hops: hops as u8,
            cut_short: false,
            fetched: fetch.time,
            first_failure: None,
            max_age: fetch.max_age,
        },
        file: None,
        last_good: None,
        source: (hops > 0).then(|| fetch.key.text().to_vec()),
        detail: None,
    }
}

fn follow_redirect<'f>(
    all: &'f Fetches,
    fetch: &'f Fetch,
    target: Option<&'f UrlKey>,
    visited: &mut Vec<&'f UrlKey>,
) -> Resolved {
    let unresolved = |why: &str, visited: &[&UrlKey]| {
        let mut resolved = settle(fetch, OutcomeClass::Unresolved, visited);
        resolved.detail = Some(why.to_owned());
        resolved
    };
    let Some(target) = target else {
        return unresolved("redirect without a valid Location", visited);
    };
    if visited.contains(&target) {
        return unresolved("redirect loop", visited);
    }
    if visited.len() > usize::from(MAX_HOPS) {
        return unresolved("more than 5 redirects", visited);
    }
    let captures = all.of(target);
    if captures.is_empty() {
        let why = format!("redirect to {}, which the archive lacks", String::from_utf8_lossy(target.text()));
        return unresolved(&why, visited);
    }
    visited.push(target);
    follow(all, captures, visited)
}

/// A failing newest capture: since when it fails, and what held before.
fn failed<'f>(all: &'f Fetches, captures: &'f [Fetch], class: OutcomeClass, visited: &mut Vec<&'f UrlKey>) -> Resolved {
    let mut resolved = settle(&captures[0], class, visited);
    let run = captures.iter().take_while(|fetch| fetch.is_failure()).count();
    resolved.outcome.first_failure = captures[run - 1].time;
    resolved.last_good = match captures.get(run) {
        Some(Fetch { answer: FetchAnswer::Rules(file, _), .. }) => Some(file.clone()),
        Some(Fetch { answer: FetchAnswer::Redirect(Some(_)), .. }) => {
            // An older redirect: what its target says now, or said before it failed.
            let target = follow(all, &captures[run..], visited);
            target.file.or(target.last_good)
        }
        _ => None,
    };
    resolved
}
