//! An audit as one self-contained HTML page, in the design of `report`: no script, nothing loaded.
//!
//! The templates escape every text. Every count has its JSON pointer in `data-m`.

use super::super::escape::escape_cut;
use super::super::report::counted;
use super::super::report::html::{
    BarRow, BarSegment, bar_rows, code, document, fact, head, legend, number, number_of, unbroken,
};
use super::super::summary::grouped;
use super::table::after_robots_txt;
use maud::{Markup, html};
use robosieve::audit::{AuditReport, CrawlerAudit};

/// The most characters of a name, and of a text of a site or a log.
const NAME: usize = 40;
const TEXT: usize = 120;

pub(super) fn page(report: &AuditReport) -> String {
    let title = title(report);
    document(html! {
            (head(&title))
            body {
                header {
                    p.kicker { "robots.txt audit of access logs" }
                    h1 { (title) }
                    dl.facts {
                        (fact("Lines", number("/lines", report.lines)))
                        (fact("Requests of crawlers", html! { (grouped(numbered(report).map(|(_, crawler)| crawler.requests).sum())) }))
                        (fact("Lines of other agents", number_of("/other_agents", report.other_agents, report.lines)))
                        (fact("Invalid lines", number_of("/invalid", report.invalid, report.lines)))
                        @if report.before_first_snapshot > 0 {
                            (fact("Before the first snapshot", number("/before_first_snapshot", report.before_first_snapshot)))
                        }
                    }
                }
                main {
                    (requests(report))
                    (rules(report))
                    (addresses(report))
                }
                footer {
                    p {
                        "A request for /robots.txt is always allowed. Hosts that no snapshot contains are unknown. \
                         A User-Agent header is a claim: other programs may send it too."
                    }
                    p { "Made by robosieve " (env!("CARGO_PKG_VERSION")) "." }
                }
            }
    })
}

/// The main finding.
fn title(report: &AuditReport) -> String {
    let broke = numbered(report).filter(|(_, crawler)| crawler.disallowed > 0).count() as u64;
    let seen = numbered(report).count() as u64;
    match seen {
        0 => "No crawler made a request".to_owned(),
        _ => format!("{} of {} broke the rules", grouped(broke), counted(seen, "crawler")),
    }
}

fn numbered(report: &AuditReport) -> impl Iterator<Item = (usize, &CrawlerAudit)> {
    report.crawlers.iter().enumerate().filter(|(_, crawler)| crawler.requests > 0)
}

fn requests(report: &AuditReport) -> Markup {
    let rows: Vec<BarRow<'_>> = numbered(report).map(|(i, crawler)| row(i, crawler)).collect();
    html! {
        @if !rows.is_empty() {
            section {
                p.kicker { "Requests by crawler" }
                h2 { "How many requests the rules refuse" }
                (legend(&[("disallowed", "refused"), ("allowed", "allowed"), ("unknown", "unknown host")]))
                (bar_rows(&rows, "requests"))
            }
        }
    }
}

fn row(i: usize, crawler: &CrawlerAudit) -> BarRow<'_> {
    let place = |key: &str| format!("/crawlers/{i}/{key}");
    BarRow {
        name: &crawler.name,
        headline: html! { "refused " (number_of(&place("disallowed"), crawler.disallowed, crawler.requests)) },
        segments: vec![
            BarSegment::new("disallowed", "refused", crawler.disallowed),
            BarSegment::new("allowed", "allowed", crawler.allowed),
            BarSegment::new("unknown", "unknown host", crawler.unknown),
        ],
        refusals: 1,
        details: html! {
            span { "of " (number(&place("requests"), crawler.requests)) " requests, " }
            span { "allowed " (number(&place("allowed"), crawler.allowed)) ", " }
            span { "unknown " (number(&place("unknown"), crawler.unknown)) "; " }
            span { "robots.txt " (number(&place("robots_txt"), crawler.robots_txt)) }
        },
    }
}

fn rules(report: &AuditReport) -> Markup {
    html! {
        @for (i, crawler) in numbered(report).filter(|(_, crawler)| crawler.disallowed > 0) {
            @let unit = if crawler.rules_exact { "requests" } else { "requests (estimated)" };
            section {
                p.kicker { (escape_cut(&crawler.name, NAME)) @if let Some(operator) = crawler.operator { ", " (operator) } }
                h2 { (unbroken(&after_robots_txt(crawler))) }
                p.soft {
                    "Of the refused requests, " (number(&format!("/crawlers/{i}/disallowed_2xx"), crawler.disallowed_2xx))
                    " were answered with 2xx, with " (number(&format!("/crawlers/{i}/disallowed_bytes"), crawler.disallowed_bytes)) " bytes."
                    @if let Some((first, last)) = crawler.first.as_ref().zip(crawler.last.as_ref()) { " Seen from " (first) " to " (last) "." }
                }
                table.pairs {
                    thead { tr { th { "Broken rule" } th { "Example" } th.n { "Requests" } } }
                    tbody {
                        @for (n, rule) in crawler.rules.iter().enumerate() {
                            tr {
                                td { (code(&rule.rule, TEXT)) }
                                td { (code(&rule.example, TEXT)) }
                                td.n data-unit=(unit) { (number(&format!("/crawlers/{i}/rules/{n}/requests"), rule.requests)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The columns of the table of addresses: the key of the JSON, and the heading.
const ADDRESSES: [(&str, &str); 4] = [
    ("verified", "Verified"),
    ("verified_disallowed", "Verified, refused"),
    ("claimed", "Only claimed"),
    ("claimed_disallowed", "Only claimed, refused"),
];

fn addresses(report: &AuditReport) -> Markup {
    let verified = || numbered(report).filter(|(_, crawler)| crawler.verified.is_some());
    html! {
        @if verified().next().is_some() {
            section {
                p.kicker { "Addresses" }
                h2 { "Requests from the published addresses of the crawlers" }
                table.stacked {
                    thead { tr { th { "Crawler" } @for (_, heading) in ADDRESSES { th.n { (heading) } } } }
                    tbody {
                        @for (i, crawler) in verified() {
                            tr {
                                th.origin { (escape_cut(&crawler.name, NAME)) }
                                @for ((key, heading), count) in ADDRESSES.into_iter().zip([
                                    crawler.verified, crawler.verified_disallowed, crawler.claimed, crawler.claimed_disallowed,
                                ]) {
                                    td.n data-label=(heading) { (number(&format!("/crawlers/{i}/{key}"), count.unwrap_or_default())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
