//! Sums over the rows of an audit. Requests that only claim to be of a crawler count apart: they
//! are not findings about the crawler. So do crawlers with an exception, whose disallowed requests
//! need not break the rules. The summary on standard error has the same sums.

use crate::figures::counts::grouped;
use crate::figures::escape::escape_cut;
use crate::stderr::print_line;
use crate::summary::wrap_items;
use robosieve::audit::{AuditReport, CrawlerAudit, Identity, RuleException};
use std::time::Duration;

/// The sums of an audit.
pub(super) struct AuditTotals {
    /// Crawlers with requests, and those of them that broke the rules.
    pub crawlers: u64,
    pub broke: u64,
    /// Crawlers with an exception and with requests.
    pub excepted: ExceptedTotals,
    /// The requests of all crawlers, and the disallowed ones of them.
    pub requests: u64,
    pub disallowed: u64,
    /// Those of the requests whose host no snapshot has, or not yet at their time.
    pub unknown: u64,
    /// Those of the requests that a history leaves open; `None` without a history.
    pub open: Option<OpenTotals>,
    /// Requests that only claim to be of a crawler; `None` if no addresses were compared.
    pub claims: Option<ClaimTotals>,
}

/// The sums of requests that the rules in force disallow, and that do not count as disallowed
/// because other rules may have held.
#[derive(Default)]
pub(super) struct OpenTotals {
    pub within_day_of_change: u64,
    pub between_captures: u64,
}

/// The sums of requests that only claim to be of a crawler.
pub(super) struct ClaimTotals {
    pub requests: u64,
    pub disallowed: u64,
}

/// The sums of crawlers that act for a person, or whose operators name exceptions.
#[derive(Default)]
pub(super) struct ExceptedTotals {
    /// Those with requests, and those of them with disallowed ones.
    pub crawlers: u64,
    pub with_disallowed: u64,
    pub requests: u64,
    pub disallowed: u64,
}

impl AuditTotals {
    pub(super) fn of(report: &AuditReport) -> Self {
        let mut claims = ClaimTotals {
            requests: 0,
            disallowed: 0,
        };
        let mut totals = Self {
            crawlers: 0,
            broke: 0,
            excepted: ExceptedTotals::default(),
            requests: 0,
            disallowed: 0,
            unknown: 0,
            open: None,
            claims: None,
        };
        let mut open = OpenTotals::default();
        for row in &report.crawlers {
            if row.is_claimed() {
                claims.requests += row.requests;
                claims.disallowed += row.disallowed;
                continue;
            }
            if row.exception.is_some() {
                totals.excepted.crawlers += u64::from(row.requests > 0);
                totals.excepted.with_disallowed += u64::from(row.disallowed > 0);
                totals.excepted.requests += row.requests;
                totals.excepted.disallowed += row.disallowed;
            } else {
                totals.crawlers += u64::from(row.requests > 0);
                totals.broke += u64::from(row.disallowed > 0);
            }
            totals.requests += row.requests;
            totals.disallowed += row.disallowed;
            totals.unknown += row.unknown;
            open.within_day_of_change += row.within_day_of_change;
            open.between_captures += row.between_captures;
        }
        totals.open = report.has_history.then_some(open);
        // Without published addresses, no request can be distinguished from a claim.
        if report.crawlers.iter().any(|row| row.identity.is_some()) {
            totals.claims = Some(claims);
        }
        totals
    }
}

/// The name of a row: the crawler's, cut to at most `max` characters, and its identity.
pub(super) fn label(row: &CrawlerAudit, max: usize) -> String {
    let name = escape_cut(&row.name, max);
    row.identity.map_or(name.clone(), |identity| {
        format!("{name} ({})", identity.name())
    })
}

/// What is known about the sender of the requests of a row: the operator, whether it is verified,
/// and its exception. `None` if nothing is known.
pub(super) fn sender(row: &CrawlerAudit) -> Option<String> {
    if row.is_claimed() {
        return Some("claimed, not from a published address".to_owned());
    }
    let exception = row.exception.and_then(|exception| match exception {
        RuleException::ActsForUser => Some("acts for a user"),
        RuleException::Partly => Some("obeys with exceptions"),
        _ => None,
    });
    let facts = [
        row.operator.as_deref(),
        row.identity.map(Identity::name),
        exception,
    ];
    let facts: Vec<&str> = facts.into_iter().flatten().collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

pub(super) fn print_audit(report: &AuditReport, elapsed: Duration) {
    let totals = AuditTotals::of(report);
    let mut items = vec![
        format!("lines {}", grouped(report.lines)),
        format!("of crawlers {}", grouped(totals.requests)),
        format!("disallowed {}", grouped(totals.disallowed)),
    ];
    if let Some(open) = totals.open {
        items.push(format!(
            "within a day of a change {}",
            grouped(open.within_day_of_change)
        ));
        items.push(format!(
            "between captures {}",
            grouped(open.between_captures)
        ));
    }
    if let Some(claims) = totals.claims {
        items.push(format!("claimed {}", grouped(claims.requests)));
        items.push(format!("claimed disallowed {}", grouped(claims.disallowed)));
    }
    items.push(format!("other agents {}", grouped(report.other_agents)));
    items.push(format!("invalid {}", grouped(report.invalid)));
    items.push(format!("{:.2} s", elapsed.as_secs_f64()));
    print_line(format_args!("{}", wrap_items(&items)));
}
