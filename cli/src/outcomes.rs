//! The outcomes of origins in words.

use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::time::time;
use robosieve::robots::LooksLike;
use robosieve::snapshot::{Counts, OriginEntry};
use std::fmt::Write as _;

/// The number of origins per outcome, with names.
pub(crate) fn outcome_counts(counts: &Counts) -> [(&'static str, u64); 5] {
    [
        ("rules (2xx)", counts.outcome_rules),
        ("no restrictions (4xx)", counts.outcome_client_error),
        ("server error (429, 5xx)", counts.outcome_server_error),
        ("unreachable", counts.outcome_unreachable),
        ("unresolved redirect", counts.outcome_unresolved),
    ]
}

/// One line about the source of an origin's robots.txt.
pub(crate) fn describe_outcome(entry: &OriginEntry<'_>) -> String {
    let outcome = entry.outcome();
    // The answer of the site comes first, as it decides between rules and a policy.
    let mut out = outcome.class.name().to_owned();
    if outcome.status > 0 {
        let _ = write!(out, ", status {}", outcome.status);
    }
    if let Some(fetched) = outcome.fetched {
        let _ = write!(out, ", fetched {}", time(fetched));
    }
    if let Some(source) = entry.source() {
        let redirects = counted(outcome.hops.into(), "redirect");
        let _ = write!(out, ", from {} after {redirects}", escape(&source));
    }
    // The age of a failure and the last good copy decide what a policy makes of it.
    if let Some(first) = outcome.first_failure {
        let _ = write!(out, ", failing since {}", time(first));
    }
    if entry.has_last_good() {
        out.push_str(", last good copy kept");
    }
    if let Some(detail) = entry.detail() {
        let _ = write!(out, ", {}", escape(&detail));
    }
    // These say that the rules may not be those that the site meant.
    if outcome.cut_short {
        out.push_str(", cut short in the archive");
    }
    if outcome.past_limit {
        out.push_str(", longer than 500 KiB: the rest is ignored");
    }
    match outcome.looks_like {
        Some(LooksLike::Html) => {
            out.push_str(", looks like HTML: only lines of known fields count")
        }
        Some(LooksLike::Utf16) => out.push_str(", looks like UTF-16, which is not decoded"),
        _ => {}
    }
    out
}
