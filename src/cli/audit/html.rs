//! An audit as one self-contained HTML page, in the design of `report`: no script, nothing loaded.
//!
//! The templates escape every text. Every count has its JSON pointer in `data-m`.

use super::super::escape::escape_cut;
use super::super::report::html::{BarSegment, bar, code, fact, head, legend, number, number_of, unbroken};
use super::table::{after_robots_txt, heading};
use maud::{DOCTYPE, Markup, html};
use robosieve::audit::{AuditReport, CrawlerAudit};

/// The most characters of a name, and of a text of a site or a log.
const NAME: usize = 40;
const TEXT: usize = 120;

pub(super) fn page(report: &AuditReport) -> String {
    let title = heading(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title))
            body {
                header {
                    p.kicker { "robots.txt audit of access logs" }
                    h1 { (title) }
                    dl.facts {
                        (fact("Lines", number("/lines", report.lines)))
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
        }
    };
    page.into_string() + "\n"
}

fn numbered(report: &AuditReport) -> impl Iterator<Item = (usize, &CrawlerAudit)> {
    report.crawlers.iter().enumerate().filter(|(_, crawler)| crawler.requests > 0)
}

fn requests(report: &AuditReport) -> Markup {
    html! {
        section {
            p.kicker { "Requests by crawler" }
            h2 { "How many requests the rules refuse" }
            (legend(&[("disallowed", "refused"), ("allowed", "allowed"), ("unknown", "unknown host")]))
            @for (i, crawler) in numbered(report) {
                div.row {
                    div {
                        strong { (escape_cut(&crawler.name, NAME)) }
                        span {
                            "refused " (number_of(&format!("/crawlers/{i}/disallowed"), crawler.disallowed, crawler.requests))
                            " of " (number(&format!("/crawlers/{i}/requests"), crawler.requests))
                            ", robots.txt " (number(&format!("/crawlers/{i}/robots_txt"), crawler.robots_txt))
                        }
                    }
                    (bar(&crawler.name, &[
                        BarSegment { class: "disallowed", name: "refused", size: crawler.disallowed },
                        BarSegment { class: "allowed", name: "allowed", size: crawler.allowed },
                        BarSegment { class: "unknown", name: "unknown host", size: crawler.unknown },
                    ]))
                }
            }
        }
    }
}

fn rules(report: &AuditReport) -> Markup {
    html! {
        @for (i, crawler) in numbered(report).filter(|(_, crawler)| crawler.disallowed > 0) {
            section {
                p.kicker { (escape_cut(&crawler.name, NAME)) @if let Some(operator) = crawler.operator { ", " (operator) } }
                h2 { (unbroken(&after_robots_txt(crawler))) }
                p.soft {
                    "Of the refused requests, " (number(&format!("/crawlers/{i}/disallowed_2xx"), crawler.disallowed_2xx))
                    " were answered with 2xx, with " (number(&format!("/crawlers/{i}/disallowed_bytes"), crawler.disallowed_bytes)) " bytes."
                    @if let Some((first, last)) = crawler.first.as_ref().zip(crawler.last.as_ref()) { " Seen from " (first) " to " (last) "." }
                }
                table {
                    thead { tr { th { "Broken rule" } th { "Example" } th.n { "Requests" } } }
                    tbody {
                        @for (n, rule) in crawler.rules.iter().enumerate() {
                            tr {
                                td { (code(&rule.rule, TEXT)) }
                                td { (code(&rule.example, TEXT)) }
                                td.n { (number(&format!("/crawlers/{i}/rules/{n}/requests"), rule.requests)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn addresses(report: &AuditReport) -> Markup {
    let verified = || numbered(report).filter(|(_, crawler)| crawler.verified.is_some());
    html! {
        @if verified().next().is_some() {
            section {
                p.kicker { "Addresses" }
                h2 { "Requests from the published addresses of the crawlers" }
                table {
                    thead { tr { th { "Crawler" } th.n { "Verified" } th.n { "Refused" } th.n { "Only claimed" } th.n { "Refused" } } }
                    tbody {
                        @for (i, crawler) in verified() {
                            tr {
                                td { (escape_cut(&crawler.name, NAME)) }
                                @for (key, count) in [
                                    ("verified", crawler.verified),
                                    ("verified_disallowed", crawler.verified_disallowed),
                                    ("claimed", crawler.claimed),
                                    ("claimed_disallowed", crawler.claimed_disallowed),
                                ] {
                                    td.n { (number(&format!("/crawlers/{i}/{key}"), count.unwrap_or_default())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
