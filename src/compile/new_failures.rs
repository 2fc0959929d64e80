//! The guard against an outage of the fetcher: how many captured origins fail that answered before.
//!
//! A failed fetch disallows a site, whether the site failed or the network of the fetcher did. The
//! archive does not tell the two apart, but the numbers do: sites fail one by one, and a fetcher
//! fails for most of them at once. An origin that failed before says nothing about the fetcher, so
//! only those count that had an answer in the previous snapshot.

use super::resolve::resolved_origin::{DecidedBy, ResolvedOrigin};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::snapshot::{Outcome, OutcomeClass};
use std::collections::BTreeMap;

/// The default of [`Compiler::max_failing`](crate::Compiler::max_failing).
pub(super) const DEFAULT_MAX_FAILING: f64 = 0.2;

/// Of fewer origins, the share says more about the sites than about the fetcher.
const MIN_ORIGINS: u64 = 100;

/// The most causes that are counted apart. Their texts come from archives.
const MAX_CAUSES: usize = 16;

/// The most characters of a cause.
const MAX_CAUSE_LEN: usize = 40;

/// The most causes in a message.
const SHOWN_CAUSES: usize = 5;

/// The captured origins that answered in the previous snapshot, and those of them that fail now.
#[derive(Clone, Debug, Default)]
pub(super) struct NewFailures {
    pub answered_before: u64,
    pub failing: u64,
    /// The failing ones by cause.
    pub causes: BTreeMap<String, u64>,
}

impl NewFailures {
    /// Counts an origin, if a capture decides it and the previous snapshot has an answer.
    pub(super) fn count(&mut self, origin: &ResolvedOrigin<'_>) {
        if origin.decided_by != DecidedBy::Capture || !origin.answered_before {
            return;
        }
        self.answered_before += 1;
        if !is_failing(&origin.outcome) {
            return;
        }
        self.failing += 1;
        let cause = cause(origin);
        if let Some(count) = self.causes.get_mut(&cause) {
            *count += 1;
        } else {
            // A site may choose the text of a cause, so the number of different ones is bounded.
            let is_full = self.causes.len() >= MAX_CAUSES;
            let cause = if is_full { OTHER.to_owned() } else { cause };
            *self.causes.entry(cause).or_default() += 1;
        }
    }

    /// Fails if more than this share of the origins that answered before fail now.
    pub(super) fn check(&self, max_failing: f64) -> Result<()> {
        let share = self.failing as f64 / self.answered_before as f64;
        // Written so that a limit that is not a number accepts nothing.
        if self.answered_before < MIN_ORIGINS || share <= max_failing {
            return Ok(());
        }
        let what = format!(
            "{} of the {} captured origins that answered in the previous snapshot fail now ({}, \
             more than {}): {}",
            self.failing,
            self.answered_before,
            percent(share),
            percent(max_failing),
            self.causes_text()
        );
        Err(Error::from(ErrorKind::TooManyFailing(what)).with_remedy(Remedy::AcceptFailures))
    }

    /// The causes with their counts, the most frequent ones first.
    fn causes_text(&self) -> String {
        let mut causes: Vec<(&str, u64)> = Vec::new();
        for (cause, count) in &self.causes {
            causes.push((cause, *count));
        }
        causes.sort_by_key(|(cause, count)| (*cause == OTHER, std::cmp::Reverse(*count)));
        let rest: u64 = causes
            .iter()
            .skip(SHOWN_CAUSES)
            .map(|(_, count)| count)
            .sum();
        causes.truncate(SHOWN_CAUSES);
        if rest > 0 {
            causes.push((OTHER, rest));
        }
        let texts: Vec<String> = causes
            .iter()
            .map(|(cause, count)| format!("{cause} {count}"))
            .collect();
        texts.join(", ")
    }
}

/// The causes beyond [`MAX_CAUSES`].
const OTHER: &str = "other causes";

/// Whether an outcome is a temporary failure: 429, 5xx or a network error.
pub(super) fn is_failing(outcome: &Outcome) -> bool {
    matches!(
        outcome.class,
        OutcomeClass::ServerError | OutcomeClass::Unreachable
    )
}

/// The cause of a failure in a few words: the status, or the text of the archive up to its colon,
/// such as `dns` of `dns: no such host`.
fn cause(origin: &ResolvedOrigin<'_>) -> String {
    if origin.outcome.class == OutcomeClass::ServerError {
        return format!("status {}", origin.outcome.status);
    }
    let detail = String::from_utf8_lossy(origin.detail.as_deref().unwrap_or_default());
    let cause = detail.split(':').next().unwrap_or_default().trim();
    match cause {
        "" => "unreachable".to_owned(),
        cause => cause.chars().take(MAX_CAUSE_LEN).collect(),
    }
}

/// A share in percent, with one decimal where it has one.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(detail: &str) -> ResolvedOrigin<'_> {
        let failed = ResolvedOrigin::new(OutcomeClass::Unreachable, 0);
        ResolvedOrigin {
            decided_by: DecidedBy::Capture,
            answered_before: true,
            ..failed.with_detail(detail)
        }
    }

    #[test]
    fn causes_are_bounded_in_number_and_length() {
        let mut failures = NewFailures::default();
        for number in 0..1000 {
            failures.count(&failed(&format!("{number} \u{e9}{}", "x".repeat(99))));
        }
        failures.count(&failed("dns: a: b"));
        failures.count(&failed(": b"));
        assert_eq!(failures.causes.len(), MAX_CAUSES + 1);
        assert_eq!(failures.causes[OTHER], 1002 - MAX_CAUSES as u64);
        assert!(
            failures
                .causes
                .keys()
                .all(|cause| cause.chars().count() <= MAX_CAUSE_LEN)
        );
        assert_eq!(failures.causes_text().split(", ").count(), SHOWN_CAUSES + 1);
    }

    #[test]
    fn a_share_at_the_limit_is_accepted() {
        for percent in 0..=100 {
            let failures = NewFailures {
                answered_before: 100,
                failing: percent,
                ..NewFailures::default()
            };
            let limit = percent as f64 / 100.0;
            failures.check(limit).unwrap();
            if percent > 0 {
                failures.check(limit - 0.01).unwrap_err();
                failures.check(f64::NAN).unwrap_err();
            }
        }
    }
}
