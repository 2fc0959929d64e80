//! An audit as one HTML page, in the design of `report`. Every count has its JSON pointer in
//! `data-m`.

use super::table::{after_robots_txt, finding};
use super::totals::{AuditTotals, label, sender};
use crate::figures::counts::grouped;
use crate::figures::escape::escape_cut;
use crate::figures::html::{
    BarRow, BarSegment, LONGEST_NAME, LONGEST_TEXT, bar_rows, code, document, fact, head, legend,
    number, number_of, unbroken,
};
use maud::{Markup, html};
use robosieve::audit::{AuditReport, CrawlerAudit};

pub(super) fn page(report: &AuditReport) -> String {
    let totals = AuditTotals::of(report);
    let title = title(&totals);
    // Claims have a section of their own, because they say nothing about the crawlers.
    document(html! {
            (head(&title))
            body {
                header {
                    p.kicker { "robots.txt audit of access logs" }
                    h1 { (title) }
                    dl.facts {
                        (fact("Lines", number("/lines", report.lines)))
                        (fact("Requests of crawlers", html! { (grouped(totals.requests)) }))
                        @if let Some(claims) = &totals.claims {
                            (fact("Requests that only claim a name", html! {
                                (grouped(claims.requests)) ", refused " (grouped(claims.disallowed))
                            }))
                        }
                        (fact("Lines of other agents", number_of("/other_agents", report.other_agents, report.lines)))
                        (fact("Invalid lines", number_of("/invalid", report.invalid, report.lines)))
                        @if report.before_first_snapshot > 0 {
                            (fact("Before the first snapshot", number("/before_first_snapshot", report.before_first_snapshot)))
                        }
                    }
                }
                main {
                    (requests(report, false))
                    (requests(report, true))
                    (rules(report))
                }
                footer {
                    p {
                        "A request for /robots.txt is always allowed. Hosts that no snapshot \
                         contains are unknown. A User-Agent header is a claim: other programs may \
                         send it too."
                    }
                    p { "Made by robosieve " (env!("CARGO_PKG_VERSION")) "." }
                }
            }
    })
}

/// The main finding.
fn title(totals: &AuditTotals) -> String {
    match (totals.crawlers, &totals.claims) {
        (0, None) => "No crawler made a request".to_owned(),
        (0, Some(_)) => "No verified crawler made a request".to_owned(),
        _ => finding(totals),
    }
}

fn numbered(report: &AuditReport) -> impl Iterator<Item = (usize, &CrawlerAudit)> {
    report
        .crawlers
        .iter()
        .enumerate()
        .filter(|(_, crawler)| crawler.requests > 0)
}

/// The bars of crawlers, or those of requests that only claim to be of a crawler.
fn requests(report: &AuditReport, is_claimed: bool) -> Markup {
    let crawlers = numbered(report).filter(|(_, crawler)| crawler.is_claimed() == is_claimed);
    // The rows borrow their labels, so all labels are made first.
    let labels: Vec<_> = crawlers
        .map(|(i, crawler)| (i, crawler, label(crawler, LONGEST_NAME - 12)))
        .collect();
    let rows: Vec<BarRow<'_>> = labels
        .iter()
        .map(|(i, crawler, label)| row(*i, crawler, label))
        .collect();
    let (kicker, heading) = if is_claimed {
        (
            "Claims",
            "Requests that only claim to be of a crawler: their addresses are not published",
        )
    } else {
        ("Requests by crawler", "How many requests the rules refuse")
    };
    html! {
        @if !rows.is_empty() {
            section {
                p.kicker { (kicker) }
                h2 { (heading) }
                (legend(&[("disallowed", "refused"), ("allowed", "allowed"), ("unknown", "unknown host")]))
                (bar_rows(&rows, "requests"))
            }
        }
    }
}

fn row<'r>(i: usize, crawler: &CrawlerAudit, label: &'r str) -> BarRow<'r> {
    BarRow {
        name: label,
        headline: html! {
            "refused "
            (number_of(&pointer(i, "disallowed"), crawler.disallowed, crawler.requests))
        },
        segments: vec![
            BarSegment::new("disallowed", "refused", crawler.disallowed),
            BarSegment::new("allowed", "allowed", crawler.allowed),
            BarSegment::new("unknown", "unknown host", crawler.unknown),
        ],
        refusals: 1,
        details: html! {
            span { "of " (number(&pointer(i, "requests"), crawler.requests)) " requests, " }
            span { "allowed " (number(&pointer(i, "allowed"), crawler.allowed)) ", " }
            span { "unknown " (number(&pointer(i, "unknown"), crawler.unknown)) "; " }
            span { "robots.txt " (number(&pointer(i, "robots_txt"), crawler.robots_txt)) }
        },
    }
}

/// The pointer to a number of a crawler in the JSON.
fn pointer(crawler: usize, key: &str) -> String {
    format!("/crawlers/{crawler}/{key}")
}

fn rules(report: &AuditReport) -> Markup {
    html! {
        // A crawler without a refused request broke no rule.
        @for (i, crawler) in numbered(report).filter(|(_, crawler)| crawler.disallowed > 0) {
            section {
                p.kicker { (escape_cut(&crawler.name, LONGEST_NAME)) @if let Some(sender) = sender(crawler) { ", " (sender) } }
                h2 { (unbroken(&after_robots_txt(crawler))) }
                p.soft {
                    "Of the refused requests, "
                    (number(&pointer(i, "disallowed_2xx"), crawler.disallowed_2xx))
                    " were answered with 2xx, with "
                    (number(&pointer(i, "disallowed_bytes"), crawler.disallowed_bytes))
                    " bytes."
                    @if let Some((first, last)) = crawler.first.as_ref().zip(crawler.last.as_ref()) {
                        " Seen from " (first) " to " (last) "."
                    }
                }
                table.pairs {
                    thead { tr { th { "Broken rule" } th { "Example" } th.n { "Requests" } } }
                    tbody {
                        @for (n, rule) in crawler.rules.iter().enumerate() {
                            tr {
                                td { (code(&rule.rule, LONGEST_TEXT)) }
                                td { (code(&rule.example, LONGEST_TEXT)) }
                                td.n data-unit="requests" {
                                    (number(&pointer(i, &format!("rules/{n}/requests")), rule.requests))
                                }
                            }
                        }
                    }
                }
                @if crawler.rules_left_out > 0 {
                    p.soft {
                        "The rules of another "
                        (number(&pointer(i, "rules_left_out"), crawler.rules_left_out))
                        " refused requests were left out, because all rules together did not fit \
                         in memory."
                    }
                }
            }
        }
    }
}
