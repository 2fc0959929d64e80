//! Sums over the rows of an audit. Requests that only claim to be of a crawler count apart: they
//! are not findings about the crawler.

use super::super::figures::escape::escape_cut;
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
        let rows = |is_claimed: bool| {
            report
                .crawlers
                .iter()
                .filter(move |row| row.is_claimed() == is_claimed)
        };
        let sum = |is_claimed, count: fn(&CrawlerAudit) -> u64| rows(is_claimed).map(count).sum();
        let claims = ClaimTotals {
            requests: sum(true, |row| row.requests),
            disallowed: sum(true, |row| row.disallowed),
        };
        Self {
            crawlers: rows(false).filter(|row| row.requests > 0).count() as u64,
            broke: rows(false).filter(|row| row.disallowed > 0).count() as u64,
            requests: sum(false, |row| row.requests),
            disallowed: sum(false, |row| row.disallowed),
            claims: report
                .crawlers
                .iter()
                .any(|row| row.identity.is_some())
                .then_some(claims),
        }
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
        (Some(Identity::Verified), Some(operator)) => Some(format!("{operator}, verified")),
        (Some(Identity::Verified), None) => Some("verified".to_owned()),
        (None, operator) => operator.map(str::to_owned),
    }
}
