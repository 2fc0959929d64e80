//! An audit as one HTML page, in the design of `report`. Every count has its JSON pointer in
//! `data-m`.

use super::table::{EXCEPTED, after_robots_txt, excepted_finding, finding, open_finding};
use super::totals::{AuditTotals, label, sender};
use crate::figures::counts::grouped;
use crate::figures::escape::escape_cut;
use crate::figures::html::{
    BarRow, BarSegment, LONGEST_NAME, LONGEST_TEXT, bar_rows, code, document, fact, head, legend,
    number, number_of, unbroken,
};
use maud::{Markup, html};
use robosieve::audit::{AuditReport, CrawlerAudit};

/// The page. `host` is the site of `--host`, which a report without requests of crawlers does not name.
pub(super) fn page(report: &AuditReport, host: Option<&str>) -> String {
    let totals = AuditTotals::of(report);
    let title = finding(&totals);
    document(html! {
            (head(&title))
            body {
                header {
                    p.subject { (subject(report, host)) }
                    h1 { (title) }
                    @if let Some(finding) = excepted_finding(&totals.excepted) {
                        p { (finding) "." }
                    }
                    @if let Some(finding) = totals.open.as_ref().and_then(open_finding) {
                        p { (finding) "." }
                    }
                    p.soft { "Access logs audited by robots.txt; times are in UTC." }
                    dl.facts {
                        (fact("Lines", number("/lines", report.lines)))
                        (fact("Requests of crawlers", html! { (grouped(totals.requests)) }))
                        @if let Some(claims) = &totals.claims {
                            (fact("Requests that only claim a name", html! {
                                (grouped(claims.requests)) ", disallowed " (grouped(claims.disallowed))
                            }))
                        }
                        (fact("Lines of other agents", number_of("/other_agents", report.other_agents, report.lines)))
                        @if report.without_agent > 0 {
                            (fact("Of these without a User-Agent", number("/without_agent", report.without_agent)))
                        }
                        (fact("Invalid lines", number_of("/invalid", report.invalid, report.lines)))
                        @if report.before_first_snapshot > 0 {
                            (fact("Before the first snapshot", number("/before_first_snapshot", report.before_first_snapshot)))
                        }
                        @if report.before_first_capture > 0 {
                            (fact("Before the first capture of their site", number("/before_first_capture", report.before_first_capture)))
                        }
                    }
                }
                main {
                    (requests(report, RowGroup::Crawlers))
                    (requests(report, RowGroup::Excepted))
                    (requests(report, RowGroup::Claims))
                    (rules(report))
                }
                footer {
                    p {
                        "A request for /robots.txt is always allowed. Hosts that no snapshot \
                         contains are unknown. "
                        @if report.has_history {
                            "Each request is judged by the rules in force at its time; before the \
                             first capture of a site it is unknown. A request that the rules \
                             disallow does not count as disallowed within 24 hours of a change, if \
                             the rules before it allow the request, and between two captures, if \
                             the later rules do. "
                        }
                        "A User-Agent header is a claim: other programs may \
                         send it too."
                    }
                    p { "Made by robosieve " (env!("CARGO_PKG_VERSION")) "." }
                }
            }
    })
}

/// What the page is about: the sites and the days.
fn subject(report: &AuditReport, host: Option<&str>) -> Markup {
    let named: Vec<String> = report
        .sites
        .iter()
        .take(3)
        .map(|site| escape_cut(&site.origin, LONGEST_TEXT))
        .collect();
    let sites = match (report.site_count.saturating_sub(named.len() as u64), host) {
        (0, Some(host)) if named.is_empty() => escape_cut(host, LONGEST_TEXT),
        (0, None) if named.is_empty() => "A site that the logs do not name".to_owned(),
        (0, _) => named.join(", "),
        (1, _) => format!("{} and another site", named.join(", ")),
        (more, _) => format!("{} and {} other sites", named.join(", "), grouped(more)),
    };
    // The days of RFC 3339 times.
    let days = report.first.as_deref().zip(report.last.as_deref());
    let days = days.and_then(|(first, last)| first.get(..10).zip(last.get(..10)));
    html! {
        (sites)
        @if let Some((first, last)) = days {
            ", " span.date { (first) }
            @if first != last { " to " span.date { (last) } }
        }
    }
}

/// The rows of one section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowGroup {
    /// Crawlers whose disallowed requests break the rules.
    Crawlers,
    /// Those that act for a person, or whose operators name exceptions.
    Excepted,
    /// Requests that only claim to be of a crawler: they say nothing about it.
    Claims,
}

impl RowGroup {
    fn of(crawler: &CrawlerAudit) -> Self {
        match crawler.exception {
            _ if crawler.is_claimed() => Self::Claims,
            Some(_) => Self::Excepted,
            None => Self::Crawlers,
        }
    }
}

fn numbered(report: &AuditReport) -> impl Iterator<Item = (usize, &CrawlerAudit)> {
    report
        .crawlers
        .iter()
        .enumerate()
        .filter(|(_, crawler)| crawler.requests > 0)
}

/// The bars of the rows of a group.
fn requests(report: &AuditReport, group: RowGroup) -> Markup {
    let crawlers = numbered(report).filter(|(_, crawler)| RowGroup::of(crawler) == group);
    // The rows borrow their labels, so all labels are made first.
    let labels: Vec<_> = crawlers
        .map(|(i, crawler)| (i, crawler, label(crawler, LONGEST_NAME - 12)))
        .collect();
    let rows: Vec<BarRow<'_>> = labels
        .iter()
        .map(|(i, crawler, label)| row(*i, crawler, label, report.has_history))
        .collect();
    let (kicker, heading) = match group {
        RowGroup::Crawlers => ("Requests by crawler", "Requests that the rules disallow"),
        RowGroup::Excepted => ("Requests of others", EXCEPTED),
        RowGroup::Claims => (
            "Claims",
            "Requests that only claim to be of a crawler: their addresses are not published",
        ),
    };
    html! {
        @if !rows.is_empty() {
            section {
                p.kicker { (kicker) }
                h2 { (heading) }
                (legend(legend_keys(report.has_history)))
                (bar_rows(&rows, "requests"))
            }
        }
    }
}

/// The classes of the segments of a bar, and their names.
fn legend_keys(has_history: bool) -> &'static [(&'static str, &'static str)] {
    const KEYS: [(&str, &str); 5] = [
        ("disallowed", "disallowed"),
        ("global", "disallowed, within 24 hours of a change"),
        ("status", "disallowed, between captures"),
        ("allowed", "allowed"),
        ("unknown", "unknown host"),
    ];
    const WITHOUT_HISTORY: [(&str, &str); 3] = [KEYS[0], KEYS[3], KEYS[4]];
    if has_history { &KEYS } else { &WITHOUT_HISTORY }
}

fn row<'r>(i: usize, crawler: &CrawlerAudit, label: &'r str, has_history: bool) -> BarRow<'r> {
    let counts = [
        crawler.disallowed,
        crawler.within_day_of_change,
        crawler.between_captures,
        crawler.allowed,
        crawler.unknown,
    ];
    let counts = match has_history {
        true => counts.to_vec(),
        false => vec![crawler.disallowed, crawler.allowed, crawler.unknown],
    };
    let segments = legend_keys(has_history).iter().zip(counts);
    BarRow {
        name: label,
        headline: html! {
            "disallowed "
            (number_of(&pointer(i, "disallowed"), crawler.disallowed, crawler.requests))
        },
        segments: segments
            .map(|((class, name), count)| BarSegment::new(class, name, count))
            .collect(),
        refusals: 1,
        details: html! {
            span { "of " (number(&pointer(i, "requests"), crawler.requests)) " requests, " }
            @if has_history {
                span {
                    "within 24 hours of a change "
                    (number(&pointer(i, "within_day_of_change"), crawler.within_day_of_change)) ", "
                }
                span {
                    "between captures "
                    (number(&pointer(i, "between_captures"), crawler.between_captures)) ", "
                }
            }
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
        // A crawler without a disallowed request broke no rule.
        @for (i, crawler) in numbered(report).filter(|(_, crawler)| crawler.disallowed > 0) {
            section {
                p.kicker { (escape_cut(&crawler.name, LONGEST_NAME)) @if let Some(sender) = sender(crawler) { ", " (sender) } }
                h2 { (unbroken(&after_robots_txt(crawler))) }
                p.soft {
                    "Of the disallowed requests, "
                    (number(&pointer(i, "disallowed_2xx"), crawler.disallowed_2xx))
                    " were answered with 2xx, with "
                    (number(&pointer(i, "disallowed_bytes"), crawler.disallowed_bytes))
                    " bytes."
                    @if let Some((first, last)) = crawler.first.as_ref().zip(crawler.last.as_ref()) {
                        " Seen from " (first) " to " (last) "."
                    }
                    @if crawler.disallowed_between_captures > 0 {
                        " Between two captures that both disallow them: "
                        (number(
                            &pointer(i, "disallowed_between_captures"),
                            crawler.disallowed_between_captures,
                        ))
                        "."
                    }
                    @if crawler.disallowed_after_last_capture > 0 {
                        " After the last capture of the rules: "
                        (number(
                            &pointer(i, "disallowed_after_last_capture"),
                            crawler.disallowed_after_last_capture,
                        ))
                        "."
                    }
                }
                table.pairs {
                    thead {
                        tr {
                            th { "Broken rule" }
                            th { "Example" }
                            @if report.has_history { th { "Its time" } }
                            th.n { "Requests" }
                        }
                    }
                    tbody {
                        @for (n, rule) in crawler.rules.iter().enumerate() {
                            tr {
                                td { (code(&rule.rule, LONGEST_TEXT)) }
                                td { (code(&rule.example, LONGEST_TEXT)) }
                                @if report.has_history { td { (rule.example_time) } }
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
                        " disallowed requests were left out, because all rules together did not fit \
                         in memory."
                    }
                }
            }
        }
    }
}
