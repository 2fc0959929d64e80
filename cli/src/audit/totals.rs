//! Sums over the rows of an audit. Requests that only claim to be of a crawler count apart: they
//! are not findings about the crawler.

use crate::figures::escape::escape_cut;
use robosieve::audit::{AuditReport, CrawlerAudit, Identity};

/// The sums of an audit.
pub(super) struct AuditTotals {
    /// Crawlers with requests, and those of them that broke the rules.
    pub crawlers: u64,
    pub broke: u64,
    /// The requests of crawlers, and the disallowed ones of them.
    pub requests: u64,
    pub disallowed: u64,
    /// Requests that only claim to be of a crawler; `None` if no addresses were compared.
    pub claims: Option<ClaimTotals>,
}

/// The sums of requests that only claim to be of a crawler.
pub(super) struct ClaimTotals {
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
            requests: 0,
            disallowed: 0,
            claims: None,
        };
        for row in &report.crawlers {
            if row.is_claimed() {
                claims.requests += row.requests;
                claims.disallowed += row.disallowed;
                continue;
            }
            totals.crawlers += u64::from(row.requests > 0);
            totals.broke += u64::from(row.disallowed > 0);
            totals.requests += row.requests;
            totals.disallowed += row.disallowed;
        }
        // Without published addresses, no request can be told from a claim.
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

/// What is known about the sender of the requests of a row: the operator, and whether it is
/// verified.
pub(super) fn sender(row: &CrawlerAudit) -> Option<String> {
    match (row.identity, row.operator.as_deref()) {
        (Some(Identity::Claimed), _) => Some("claimed, not from a published address".to_owned()),
        (Some(identity), Some(operator)) => Some(format!("{operator}, {}", identity.name())),
        (Some(identity), None) => Some(identity.name().to_owned()),
        (None, operator) => operator.map(str::to_owned),
    }
}
