//! The redirect resolver: decides each origin's outcome from the histories of the URLs on its
//! chain.
//!
//! The newest event decides. A redirect continues with the history of its target. After a failure,
//! older events are searched for the last good copy, at the target of an older redirect too.

use super::history::{EventKind, EventsSince, OK, UrlEvent, UrlHistory};
use super::payloads::Payloads;
use super::resolved_origin::{DecidedBy, ResolvedOrigin};
use super::versions::UrlVersion;
use crate::archive::capture::BODY_OF_OTHER_URL;
use crate::compile::incremental::previous_answer::{EarlierRedirect, PreviousAnswer};
use crate::compile::incremental::previous_urls::{PreviousUrls, is_robots_url};
use crate::compile::ingest::capture_record::{AnswerRank, BodyFlags, Fetch, FetchAnswer};
use crate::compile::ingest::text_store::Texts;
use crate::compile::ingest::url_key::UrlKey;
use crate::compile::new_failures::is_failing;
use crate::compile::sort::table::{RobotsCaptures, SortedTable};
use crate::error::Result;
use crate::snapshot::details::{
    LOOP, NO_COPY, NO_LOCATION, TOO_MANY, missing_target, parse_missing_target,
};
use crate::snapshot::{MAX_HOPS, Outcome, OutcomeClass};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A chain of redirects.
struct RedirectChain<'p> {
    /// The histories of the URLs so far, the current one last.
    visited: Vec<Arc<UrlHistory<'p>>>,
    /// The redirects so far. The previous snapshot keeps the ends of chains only, so this may
    /// exceed the number of URLs.
    hops: u8,
    /// Ignore events newer than this time.
    until: Option<i64>,
    /// Whether events of the previous snapshot count that may have been there by then. Not behind a
    /// redirect before failures: the previous snapshot knew the time of its target, and that it had
    /// no copy by then.
    with_undated: bool,
    /// Whether a URL of the chain, or of a redirect before its failures, has captures that the
    /// history of the previous snapshot lacks.
    has_new_captures: bool,
}

impl<'p> RedirectChain<'p> {
    fn new(history: Arc<UrlHistory<'p>>) -> Self {
        Self {
            has_new_captures: history.has_new_captures(),
            visited: vec![history],
            hops: 0,
            until: None,
            with_undated: true,
        }
    }

    /// Whether the URL is on the chain, so that another redirect to it is a loop.
    fn has_visited(&self, url: &[u8]) -> bool {
        self.visited.iter().any(|visited| visited.key.text() == url)
    }

    /// Moves to a URL, `hops` redirects away.
    fn push(&mut self, history: Arc<UrlHistory<'p>>, hops: u8) {
        self.has_new_captures |= history.has_new_captures();
        self.visited.push(history);
        self.hops += hops;
    }

    /// An outcome of the current URL, without files.
    fn outcome(
        &self,
        class: OutcomeClass,
        status: u16,
        fetched: Option<i64>,
        wait: Option<u32>,
    ) -> ResolvedOrigin<'p> {
        let mut resolved = ResolvedOrigin::new(class, status);
        resolved.outcome.hops = self.hops;
        resolved.outcome.fetched = fetched;
        resolved.outcome.set_wait(wait);
        resolved.source = self.source().map(|url| url.to_vec().into());
        resolved
    }

    /// The outcome of a redirect with this status that leads nowhere.
    fn unresolved(&self, event: &UrlEvent<'p>, status: u16, detail: &str) -> ResolvedOrigin<'p> {
        self.outcome(OutcomeClass::Unresolved, status, event.time, event.wait)
            .with_detail(detail)
    }

    /// The current URL, if redirects led to it.
    fn source(&self) -> Option<&[u8]> {
        self.visited
            .last()
            .filter(|_| self.hops > 0)
            .map(|history| history.key.text())
    }
}

/// Captures and previous snapshot, with the histories that several origins share.
pub(crate) struct Resolver<'p> {
    pub table: &'p SortedTable,
    pub texts: &'p Texts,
    pub payloads: &'p Payloads,
    pub previous: Option<&'p PreviousUrls<'p>>,
    pub histories: SharedHistories<'p>,
    /// Whether the versions of origins are found too.
    pub with_versions: bool,
}

/// Histories of URLs with many captures, to which any number of origins may redirect.
///
/// When they are full, they are cleared: neighbours in the order of origins lead to the same hubs.
#[derive(Default)]
pub(crate) struct SharedHistories<'p>(RwLock<HistoryMap<'p>>);

#[derive(Default)]
struct HistoryMap<'p> {
    by_url: HashMap<UrlKey, Arc<UrlHistory<'p>>>,
    events: usize,
}

/// Shorter histories are built again for each origin, which is faster than keeping them.
const MIN_SHARED_EVENTS: usize = 16;

/// The most events that are kept: some 64 MiB.
const MAX_SHARED_EVENTS: usize = 1 << 19;

impl<'p> SharedHistories<'p> {
    fn get(&self, url: &UrlKey) -> Option<Arc<UrlHistory<'p>>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .by_url
            .get(url)
            .cloned()
    }

    fn insert(&self, history: &Arc<UrlHistory<'p>>) {
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if map.events + history.len() > MAX_SHARED_EVENTS {
            *map = HistoryMap::default();
        }
        if map
            .by_url
            .insert(history.key.clone(), history.clone())
            .is_none()
        {
            map.events += history.len();
        }
    }
}

impl<'p> Resolver<'p> {
    /// The outcome of an origin with captures of its robots.txt.
    pub(crate) fn resolve(&self, robots: RobotsCaptures) -> Result<ResolvedOrigin<'p>> {
        let RobotsCaptures {
            origin,
            mut captures,
        } = robots;
        self.payloads.resolve(&mut captures, self.texts, true)?;
        let answered_before = self.answered_before(&origin)?;
        let resolved =
            self.resolve_history(origin.into_vec().into(), captures, DecidedBy::NewerPrevious)?;
        Ok(ResolvedOrigin {
            answered_before,
            ..resolved
        })
    }

    /// Whether the previous snapshot has the origin with this key, and not as one that fails.
    fn answered_before(&self, key: &[u8]) -> Result<bool> {
        let Some(previous) = self.previous else {
            return Ok(false);
        };
        let entry = previous.previous.find(key)?;
        Ok(entry.is_some_and(|entry| !is_failing(entry.outcome())))
    }

    /// The outcome of an origin without captures of its robots.txt, in a row of the previous
    /// snapshot. It changes if its redirects lead to a captured URL.
    pub(crate) fn resolve_previous(&self, row: u32) -> Result<ResolvedOrigin<'p>> {
        let Some(previous) = self.previous else {
            return Ok(ResolvedOrigin::unknown());
        };
        let entry = previous.previous.origin(row)?;
        let key = entry.key();
        let answer = previous.answer(entry)?;
        let source = answer.entry.strings().0.map(Cow::Borrowed);
        let unchanged = ResolvedOrigin {
            key: key.into(),
            ..unchanged(&answer, source)
        };
        // A history has all redirects, and any of their URLs may have been captured. Without one, only
        // the ends of chains are known.
        if self.with_versions {
            return self.resolve_with_versions(unchanged);
        }
        if self.leads_to_capture(&answer)? {
            return self.resolve_history(key.into(), Vec::new(), DecidedBy::Redirects);
        }
        Ok(unchanged)
    }

    /// As [`resolve_previous`](Self::resolve_previous), with the versions of the origin. `unchanged`
    /// is its outcome in the previous snapshot.
    fn resolve_with_versions(&self, unchanged: ResolvedOrigin<'p>) -> Result<ResolvedOrigin<'p>> {
        let key = unchanged.key.clone();
        let history = Arc::new(self.history(UrlKey::robots_of(&key), Vec::new())?);
        let mut chain = RedirectChain::new(history.clone());
        let resolved = self.outcome(history.all(), &mut chain)?;
        let versions = history.versions();
        if !chain.has_new_captures {
            return Ok(ResolvedOrigin {
                versions,
                ..unchanged
            });
        }
        Ok(ResolvedOrigin {
            key,
            decided_by: DecidedBy::Redirects,
            versions,
            ..resolved
        })
    }

    /// Whether the redirects of a stored answer lead to a captured URL: those in force, or those
    /// before its failures. The end of the latter may have failed in turn, after a redirect of its
    /// own.
    fn leads_to_capture(&self, answer: &PreviousAnswer<'p>) -> Result<bool> {
        let Some(previous) = self.previous else {
            return Ok(false);
        };
        let mut answer = Cow::Borrowed(answer);
        for _ in 0..MAX_HOPS {
            let ends = [answer.redirect_end(), answer.missing_target()];
            for (url, _) in ends.into_iter().flatten() {
                if self.captured(url)?.is_some() {
                    return Ok(true);
                }
            }
            let Some(earlier_end) = answer.earlier_redirect_end() else {
                return Ok(false);
            };
            if self.captured(earlier_end.text())?.is_some() {
                return Ok(true);
            }
            let Some(next) = previous.answer_of(earlier_end.text())? else {
                return Ok(false);
            };
            answer = Cow::Owned(next);
        }
        Ok(false)
    }

    /// The outcome of an origin whose robots.txt has these captures; `otherwise` is what decides if
    /// none of them does.
    fn resolve_history(
        &self,
        origin: Cow<'p, [u8]>,
        captures: Vec<Fetch>,
        otherwise: DecidedBy,
    ) -> Result<ResolvedOrigin<'p>> {
        let history = Arc::new(self.history(UrlKey::robots_of(&origin), captures)?);
        let events = history.all();
        let resolved = self.outcome(events, &mut RedirectChain::new(history.clone()))?;
        let decided_by = if history.begins_with_capture() {
            DecidedBy::Capture
        } else {
            otherwise
        };
        let versions = if self.with_versions {
            history.versions()
        } else {
            Vec::new()
        };
        Ok(ResolvedOrigin {
            key: origin,
            decided_by,
            versions,
            ..resolved
        })
    }

    /// The versions of a URL that redirects lead to, oldest first; none without captures.
    pub(crate) fn versions_of(&self, url: &UrlKey) -> Result<Vec<UrlVersion>> {
        Ok(self.history_of(url)?.versions())
    }

    /// The history of a URL with these captures.
    fn history(&self, url: UrlKey, captures: Vec<Fetch>) -> Result<UrlHistory<'p>> {
        let Some(previous) = self.previous else {
            return Ok(UrlHistory::new(url, captures, None, self.texts));
        };
        let answer = previous.answer_of(url.text())?;
        if previous.has_history() {
            let versions = previous.versions_of(url.text())?;
            return Ok(UrlHistory::continued(url, captures, versions, answer));
        }
        Ok(UrlHistory::new(url, captures, answer, self.texts))
    }

    /// The history of a URL that redirects lead to.
    fn history_of(&self, url: &UrlKey) -> Result<Arc<UrlHistory<'p>>> {
        if let Some(history) = self.histories.get(url) {
            return Ok(history);
        }
        let history = Arc::new(self.history(url.clone(), self.captures_of(url)?)?);
        if history.len() >= MIN_SHARED_EVENTS {
            self.histories.insert(&history);
        }
        Ok(history)
    }

    /// The captures of a URL, newest first.
    fn captures_of(&self, url: &UrlKey) -> Result<Vec<Fetch>> {
        let mut captures = self.table.captures_of(url)?;
        self.payloads.resolve(&mut captures, self.texts, false)?;
        Ok(captures)
    }

    /// The outcome of the current URL of the chain, with these events.
    fn outcome(
        &self,
        events: EventsSince<'_, 'p>,
        chain: &mut RedirectChain<'p>,
    ) -> Result<ResolvedOrigin<'p>> {
        let Some(event) = events.first() else {
            return Ok(ResolvedOrigin::unknown());
        };
        match &event.kind {
            EventKind::Capture(capture) => self.capture_outcome(event, capture, events, chain),
            EventKind::Previous(answer) => self.previous_outcome(answer, events, chain),
            EventKind::LastGood(copy) => Ok(ResolvedOrigin {
                file: Some(copy.text),
                payload: copy.payload,
                ..chain.outcome(OutcomeClass::Rules, OK, event.time, event.wait)
            }),
            EventKind::EarlierRedirect(redirect)
            | EventKind::UndatedRedirect(redirect)
            | EventKind::StoredRedirect(redirect) => {
                if matches!(event.kind, EventKind::EarlierRedirect(_)) {
                    chain.with_undated = false;
                }
                let EarlierRedirect {
                    status, end, hops, ..
                } = redirect;
                self.redirect(event, *status, end.as_ref(), *hops, chain)
            }
            EventKind::LostRedirect { status } => {
                let detail = missing_target(b"a URL of over 64 KiB");
                let mut resolved = chain.unresolved(event, *status, &detail);
                resolved.outcome.target_missing = true;
                Ok(resolved)
            }
            // The newest event by a time within the stored run of failures.
            EventKind::FirstFailure { .. } | EventKind::FirstUnreachable => {
                let failed = chain.outcome(OutcomeClass::Unreachable, 0, event.time, event.wait);
                self.with_last_good(failed, events, chain)
            }
        }
    }

    /// The outcome of a capture, the newest event.
    fn capture_outcome(
        &self,
        event: &UrlEvent<'p>,
        capture: &Fetch,
        events: EventsSince<'_, 'p>,
        chain: &mut RedirectChain<'p>,
    ) -> Result<ResolvedOrigin<'p>> {
        let answered = |class| chain.outcome(class, capture.status, event.time, event.wait);
        // Answers return their outcome. For failures, an earlier good copy may stand in.
        let failed = match &capture.answer {
            FetchAnswer::Redirect(target) => {
                chain.with_undated = true;
                return self.redirect(event, capture.status, target.as_ref(), 1, chain);
            }
            FetchAnswer::Rules(body) => {
                let BodyFlags {
                    cut_short,
                    past_limit,
                    looks_like,
                } = body.flags;
                let resolved = answered(OutcomeClass::Rules);
                let outcome = Outcome {
                    cut_short,
                    past_limit,
                    looks_like,
                    ..resolved.outcome
                };
                return Ok(ResolvedOrigin {
                    outcome,
                    file: Some(body.text),
                    payload: body.payload,
                    ..resolved
                });
            }
            FetchAnswer::ClientError => return Ok(answered(OutcomeClass::ClientError)),
            FetchAnswer::ServerError => answered(OutcomeClass::ServerError),
            FetchAnswer::Unreachable(cause) => {
                answered(OutcomeClass::Unreachable).with_detail(cause)
            }
            // Its `max-age` is that of the copy that is not known.
            FetchAnswer::NotModified => chain
                .outcome(OutcomeClass::Unreachable, capture.status, event.time, None)
                .with_detail(NO_COPY),
            // `Payloads` has replaced it, so it is not a failure of the history.
            FetchAnswer::Revisit(_) => {
                return Ok(answered(OutcomeClass::Unreachable).with_detail(BODY_OF_OTHER_URL));
            }
        };
        self.with_last_good(failed, events, chain)
    }

    /// The outcome of a redirect with this status, and a target that is `hops` redirects away.
    fn redirect(
        &self,
        event: &UrlEvent<'p>,
        status: u16,
        target: Option<&UrlKey>,
        hops: u8,
        chain: &mut RedirectChain<'p>,
    ) -> Result<ResolvedOrigin<'p>> {
        let Some(target) = target else {
            return Ok(chain.unresolved(event, status, NO_LOCATION));
        };
        if chain.has_visited(target.text()) {
            return Ok(chain.unresolved(event, status, LOOP));
        }
        if chain.hops.saturating_add(hops) > MAX_HOPS {
            return Ok(chain.unresolved(event, status, TOO_MANY));
        }
        if let Some(resolved) = self.follow(target, hops, chain)? {
            return Ok(resolved);
        }
        // A later compilation may have the target, and finds it by the URL in the detail.
        let mut resolved = chain.unresolved(event, status, &missing_target(target.text()));
        resolved.outcome.target_missing = true;
        Ok(resolved)
    }

    /// The outcome of a URL, `hops` redirects away. `None`, and an unchanged chain, if the URL has
    /// no history.
    fn follow(
        &self,
        url: &UrlKey,
        hops: u8,
        chain: &mut RedirectChain<'p>,
    ) -> Result<Option<ResolvedOrigin<'p>>> {
        let history = self.history_of(url)?;
        let events = history.until(chain.until, chain.with_undated);
        if events.first().is_none() {
            return Ok(None);
        }
        chain.push(history.clone(), hops);
        self.outcome(events, chain).map(Some)
    }

    /// The outcome of an answer of the previous snapshot. If its redirects led to a URL that was
    /// captured since, that URL's history decides.
    fn previous_outcome(
        &self,
        answer: &PreviousAnswer<'p>,
        events: EventsSince<'_, 'p>,
        chain: &mut RedirectChain<'p>,
    ) -> Result<ResolvedOrigin<'p>> {
        // The snapshot keeps the number of redirects and only the last URL, so the number may
        // exceed the visited URLs.
        let hops = chain.hops.saturating_add(answer.hops);
        if hops > MAX_HOPS {
            return Ok(unresolved_previous(answer, events, chain, TOO_MANY));
        }
        let before = chain.hops;
        let is_too_far = |further: u8| before.saturating_add(further) > MAX_HOPS;
        if let Some((url, further)) = self.recaptured_target(answer)? {
            if is_too_far(further) {
                return Ok(unresolved_previous(answer, events, chain, TOO_MANY));
            }
            // A new capture of the stored end redirects back to here.
            if chain.has_visited(url.text()) {
                return Ok(unresolved_previous(answer, events, chain, LOOP));
            }
            if let Some(resolved) = self.follow(&url, further, chain)? {
                return Ok(resolved);
            }
        }
        // A stored loop, entered at another of its URLs.
        if let Some((url, _)) = answer.redirect_end()
            && chain.has_visited(url)
        {
            return Ok(unresolved_previous(answer, events, chain, LOOP));
        }
        // The last redirect counts, although its target is missing.
        if let Some((_, further)) = answer.missing_target()
            && is_too_far(further)
        {
            return Ok(unresolved_previous(answer, events, chain, TOO_MANY));
        }
        let source = match answer.hops {
            0 => chain.source().map(|url| url.to_vec().into()),
            _ => answer.entry.strings().0.map(Cow::Borrowed),
        };
        let mut resolved = unchanged(answer, source);
        resolved.outcome.hops = hops;
        // A copy that a 304 confirms has the time of the 304. At the end of redirects, it is that of
        // the target.
        if let Some(event) = events.first().filter(|event| event.confirmed)
            && answer.hops == 0
        {
            resolved.outcome.fetched = event.time;
            resolved.outcome.set_wait(event.wait);
        }
        if answer.is_failure() {
            self.with_last_good(resolved, events, chain)
        } else {
            Ok(resolved)
        }
    }

    /// The URL of the previous redirects from which new captures continue, and the number of
    /// redirects to it.
    fn recaptured_target(&self, answer: &PreviousAnswer<'p>) -> Result<Option<(UrlKey, u8)>> {
        let is_unresolved = answer.class() == OutcomeClass::Unresolved;
        if let Some((url, hops)) = answer.redirect_end()
            && let Some((url, newest)) = self.captured(url)?
        {
            // Where redirects led nowhere, the end is the last URL that redirects. Only a newer
            // capture of it, or one of the same second that says more, replaces that redirect.
            let fetched = answer.entry.outcome().fetched;
            let says_more = newest.rank().0 < AnswerRank::Redirect;
            let is_newer = newest.time > fetched || newest.time == fetched && says_more;
            if !is_unresolved || is_newer {
                return Ok(Some((url, hops)));
            }
        }
        // Before its failures, the end was a redirect that leads to a URL that is captured now. So
        // the end may have a last good copy, which its own history finds.
        if let Some((url, hops)) = answer.redirect_end()
            && answer.earlier_redirect.is_some()
            && self.leads_to_capture(answer)?
            && let Some(url) = UrlKey::of_canonical(url)
        {
            return Ok(Some((url, hops)));
        }
        let Some((url, hops)) = answer.missing_target() else {
            return Ok(None);
        };
        Ok(self.captured(url)?.map(|(url, _)| (url, hops)))
    }

    /// The newest capture of a canonical URL.
    fn captured(&self, url: &[u8]) -> Result<Option<(UrlKey, Fetch)>> {
        let Some(key) = UrlKey::of_canonical(url) else {
            return Ok(None);
        };
        // The order within a second is known only once the bodies of `revisit` records are.
        let newest = if self.table.counts.revisits == 0 {
            self.table.newest_of(&key)?
        } else {
            self.captures_of(&key)?.into_iter().next()
        };
        Ok(newest.map(|capture| (key, capture)))
    }

    /// Adds to a failure when it began, and the last good copy from before.
    fn with_last_good(
        &self,
        mut resolved: ResolvedOrigin<'p>,
        events: EventsSince<'_, 'p>,
        chain: &mut RedirectChain<'p>,
    ) -> Result<ResolvedOrigin<'p>> {
        let before = events.before_failures();
        resolved.outcome.first_failure = events.first_failure();
        resolved.outcome.first_unreachable = events.first_unreachable();
        let Some(event) = before.first() else {
            return Ok(resolved);
        };
        // The answer before the failures: a robots.txt, or an older redirect. That leads to the answer
        // of its target when the failures began, or to the last good copy of the target.
        // A URL of the chain that redirects here now may have had an answer of its own then, so only
        // this URL counts as visited. Its redirects add to those before, so the search ends.
        let mut earlier = RedirectChain {
            visited: chain.visited.last().cloned().into_iter().collect(),
            hops: chain.hops,
            until: resolved.outcome.first_failure.or(chain.until),
            with_undated: chain.with_undated,
            has_new_captures: false,
        };
        let target = self.outcome(before, &mut earlier)?;
        chain.has_new_captures |= earlier.has_new_captures;
        let text = target.file.or(target.last_good);
        resolved.last_good = text;
        resolved.payload = target.payload;
        // A later 304 confirms the redirect too. A good copy stands for the redirect that led to it.
        resolved.earlier_redirect = match text {
            Some(_) => None,
            None => earlier_redirect_of(event, &target, chain.hops),
        };
        Ok(resolved)
    }
}

/// The redirects of an event, if it is a redirect, given their outcome. `hops`: the redirects that
/// led to the URL of the event.
fn earlier_redirect_of(
    event: &UrlEvent<'_>,
    target: &ResolvedOrigin<'_>,
    hops: u8,
) -> Option<EarlierRedirect> {
    let stored = match &event.kind {
        EventKind::EarlierRedirect(redirect) => Some(redirect),
        EventKind::Previous(answer) if answer.is_redirect() => None,
        EventKind::Capture(Fetch {
            answer: FetchAnswer::Redirect(_),
            ..
        }) => None,
        _ => return None,
    };
    let followed = target.outcome.hops.saturating_sub(hops);
    let last = target.source.as_deref().filter(|_| followed > 0);
    let missing = target.detail.as_deref().and_then(parse_missing_target);
    // The row of an origin keeps the redirect of its robots.txt to a missing URL. Few rows keep that
    // of another URL, so the missing URL is the end.
    let (end, hops) = match (last, missing) {
        (Some(last), Some(missing)) if !is_robots_url(last) => (Some(missing), followed + 1),
        (Some(last), _) => (Some(last), followed),
        (None, missing) => (missing, 1),
    };
    let end = end.and_then(UrlKey::of_canonical);
    match stored {
        // Of the redirects to the stored end only their number is known, so they stay as they are,
        // unless new captures extend them.
        Some(stored) if end.is_none() || end == stored.end => Some(stored.clone()),
        _ => Some(EarlierRedirect {
            status: target.outcome.status,
            end,
            hops,
            is_without_copy: false,
        }),
    }
}

/// The outcome of redirects of the previous snapshot that lead nowhere. Their own status is not
/// stored, so that of their end stands in.
fn unresolved_previous<'p>(
    answer: &PreviousAnswer<'p>,
    events: EventsSince<'_, 'p>,
    chain: &RedirectChain<'p>,
    detail: &str,
) -> ResolvedOrigin<'p> {
    let stored = answer.entry.outcome();
    let confirmed = events.first().filter(|event| event.confirmed);
    let fetched = confirmed.map_or(stored.fetched, |event| event.time);
    let wait = confirmed.map_or(stored.max_age, |event| event.wait);
    chain
        .outcome(OutcomeClass::Unresolved, stored.status, fetched, wait)
        .with_detail(detail)
}

/// The outcome of the previous snapshot; `source` is the URL that answered after redirects.
fn unchanged<'p>(answer: &PreviousAnswer<'p>, source: Option<Cow<'p, [u8]>>) -> ResolvedOrigin<'p> {
    ResolvedOrigin {
        key: Cow::default(),
        outcome: answer.entry.outcome().clone(),
        file: answer.rules,
        last_good: answer.last_good,
        payload: answer.payload,
        earlier_redirect: answer.earlier_redirect.clone(),
        source,
        detail: answer.entry.strings().1.map(Cow::Borrowed),
        decided_by: DecidedBy::Previous,
        answered_before: false,
        versions: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::ingest::text_store::TextStore;
    use crate::spool::SpoolOptions;

    #[test]
    fn shared_histories_are_bounded() {
        let spools = SpoolOptions::new(std::env::temp_dir(), 1 << 20);
        let texts = TextStore::new(&spools).finish().unwrap();
        let half_of_all = |origin: &[u8]| {
            let capture = |time| Fetch {
                time: Some(time),
                status: 404,
                wait: None,
                answer: FetchAnswer::ClientError,
            };
            let captures = (0..MAX_SHARED_EVENTS as i64 / 2).map(capture).collect();
            let history = UrlHistory::new(UrlKey::robots_of(origin), captures, None, &texts);
            Arc::new(history)
        };
        let histories = [&b"https://a.example"[..], b"https://b.example"].map(half_of_all);
        let shared = SharedHistories::default();
        // What is there already counts once.
        for history in histories.iter().chain(&histories) {
            shared.insert(history);
        }
        let is_shared = |history: &Arc<UrlHistory<'_>>| shared.get(&history.key).is_some();
        assert!(histories.iter().all(is_shared));
        let third = half_of_all(b"https://c.example");
        shared.insert(&third);
        assert!(is_shared(&third));
        assert!(
            !histories.iter().any(is_shared),
            "what does not fit replaces all others"
        );
    }
}
