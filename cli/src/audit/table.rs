//! An audit as text for a terminal.

use super::totals::{AuditTotals, ClaimTotals, ExceptedTotals, OpenTotals, label, sender};
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape_cut;
use crate::figures::shares::share;
use crate::figures::table::Columns;
use robosieve::audit::{AuditReport, CrawlerAudit};
use std::fmt::Write as _;

/// The width of the column of names, and the part of it for ` (verified)`.
const NAME: usize = 22;
const IDENTITY: usize = 11;
/// The most characters of a rule and of an example.
const RULE: usize = 50;
const EXAMPLE: usize = 80;

pub(super) fn table(report: &AuditReport) -> String {
    let totals = AuditTotals::of(report);
    let mut out = heading(report, &totals) + "\n";
    if report.before_first_snapshot > 0 {
        let _ = writeln!(
            out,
            "{} of crawlers from before the first snapshot, which judged them",
            counted(report.before_first_snapshot, "request")
        );
    }
    if report.before_first_capture > 0 {
        push_line(&mut out, &before_first_capture(report));
    }
    if let Some(open) = &totals.open
        && let Some(finding) = open_finding(open)
    {
        push_line(&mut out, &finding);
    }
    if report.crawlers.is_empty() {
        return out;
    }
    // With claims, names are followed by how the sender was identified.
    let width = if totals.claims.is_some() {
        NAME + IDENTITY
    } else {
        NAME
    };
    let columns = Columns {
        indent: 2,
        name: width,
        gap: 1,
        cells: &[10],
    };
    let mut names = vec!["requests", "disallowed", "share", "of it 2xx"];
    if report.has_history {
        names.extend(["in 24 h", "between"]);
    }
    names.extend(["unknown", "robots.txt", "bytes"]);
    let _ = writeln!(out, "\n{}", columns.row("crawler", names));
    let mut is_excepted = false;
    for crawler in &report.crawlers {
        // Claims have the word in their names.
        if crawler.exception.is_some() && !crawler.is_claimed() && !is_excepted {
            is_excepted = true;
            let _ = writeln!(out, "  {EXCEPTED}:");
        }
        let mut cells = vec![
            grouped(crawler.requests),
            grouped(crawler.disallowed),
            share(crawler.disallowed, crawler.requests),
            answered(crawler),
        ];
        if report.has_history {
            cells.push(grouped(crawler.within_day_of_change));
            cells.push(grouped(crawler.between_captures));
        }
        cells.extend([crawler.unknown, crawler.robots_txt, crawler.bytes].map(grouped));
        let _ = writeln!(out, "{}", columns.row(&label(crawler, NAME - 2), cells));
    }
    report
        .crawlers
        .iter()
        .filter(|crawler| crawler.disallowed > 0)
        .for_each(|crawler| details(crawler, report.has_history, &mut out));
    out
}

/// The disallowed requests that were answered with 2xx, as far as the log has a status.
fn answered(crawler: &CrawlerAudit) -> String {
    match crawler.disallowed_without_status {
        0 => grouped(crawler.disallowed_2xx),
        all if all == crawler.disallowed => "not logged".to_owned(),
        _ => format!("{}+", grouped(crawler.disallowed_2xx)),
    }
}

/// The number of requests that are older than the captures of their site.
pub(super) fn before_first_capture(report: &AuditReport) -> String {
    let of_claims = match report.crawlers.iter().any(CrawlerAudit::is_claimed) {
        true => ", claims included",
        false => "",
    };
    format!(
        "before the first capture of their site: {} of crawlers{of_claims}",
        counted(report.before_first_capture, "request")
    )
}

/// The finding about requests that a history leaves open; `None` if there are none.
pub(super) fn open_finding(open: &OpenTotals) -> Option<String> {
    let kinds = [
        (open.within_day_of_change, "within 24 h of a change"),
        (open.between_captures, "between captures"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|(requests, _)| *requests > 0)
        .map(|(requests, kind)| format!("{} {kind}", grouped(requests)))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let requests = counted(open.within_day_of_change + open.between_captures, "request");
    Some(format!(
        "Not counted as disallowed, because other rules may have held: {requests}, {}",
        parts.join(" and ")
    ))
}

/// The heading of the crawlers whose disallowed requests need not break the rules.
pub(super) const EXCEPTED: &str = "Crawlers that act for a user or obey with exceptions";

/// The main finding. Claims and crawlers with exceptions are not among it.
pub(super) fn finding(totals: &AuditTotals) -> String {
    let broke = breakers(totals);
    // A request that was not judged is not one that kept the rules.
    if totals.unknown > 0 {
        let requests = counted(totals.requests, "request");
        format!(
            "{broke}; {} of {requests} could not be judged",
            grouped(totals.unknown)
        )
    } else {
        broke
    }
}

fn breakers(totals: &AuditTotals) -> String {
    match totals.crawlers {
        0 if totals.excepted.crawlers > 0 => {
            "Only crawlers that act for a user or obey with exceptions made requests".to_owned()
        }
        0 if totals.claims.is_some() => "No verified crawler made a request".to_owned(),
        0 => "No crawler made a request".to_owned(),
        crawlers => format!(
            "{} of {} broke the rules",
            grouped(totals.broke),
            counted(crawlers, "crawler")
        ),
    }
}

/// The finding about crawlers with exceptions; `None` if there are none.
pub(super) fn excepted_finding(excepted: &ExceptedTotals) -> Option<String> {
    let that = match excepted.crawlers {
        0 => return None,
        1 => "that acts for a user or obeys with exceptions",
        _ => "that act for a user or obey with exceptions",
    };
    Some(format!(
        "Of {} {that}, {} made disallowed requests ({} of {})",
        counted(excepted.crawlers, "crawler"),
        grouped(excepted.with_disallowed),
        grouped(excepted.disallowed),
        grouped(excepted.requests),
    ))
}

/// The headline about claims.
fn claims_headline(claims: &ClaimTotals) -> String {
    let (claim, whose) = match claims.requests {
        0 => return "0 requests only claim to be of a crawler".to_owned(),
        1 => ("claims", "its address is"),
        _ => ("claim", "their addresses are"),
    };
    let requests = counted(claims.requests, "request");
    let disallowed = grouped(claims.disallowed);
    format!(
        "{requests} only {claim} to be of a crawler: {whose} not published; {disallowed} disallowed"
    )
}

/// The findings, with the counts of lines.
fn heading(report: &AuditReport, totals: &AuditTotals) -> String {
    let more = excepted_finding(&totals.excepted)
        .into_iter()
        .chain(totals.claims.as_ref().map(claims_headline));
    let without_agent = match report.without_agent {
        0 => String::new(),
        lines => format!("{} without a User-Agent, ", grouped(lines)),
    };
    let more: String = more.map(|line| format!("\n{line}")).collect();
    format!(
        "{} ({} of crawlers in {}; {} of other agents, {without_agent}{} invalid){more}",
        finding(totals),
        counted(totals.requests, "request"),
        counted(report.lines, "line"),
        grouped(report.other_agents - report.without_agent),
        grouped(report.invalid),
    )
}

/// The lines about a crawler with disallowed requests. With a history, examples have the time as of
/// which they were judged.
fn details(crawler: &CrawlerAudit, has_history: bool, out: &mut String) {
    let sender = sender(crawler).map_or_else(String::new, |sender| format!(" ({sender})"));
    let span = crawler.first.as_deref().zip(crawler.last.as_deref());
    let span = span.map_or_else(String::new, |(first, last)| format!(": {first} to {last}"));
    let name = escape_cut(&crawler.name, NAME);
    out.push('\n');
    push_line(out, &format!("{name}{sender}{span}"));
    push_line(out, &format!("  {}", after_robots_txt(crawler)));
    if crawler.disallowed_between_captures > 0 {
        let requests = grouped(crawler.disallowed_between_captures);
        let text = format!("  {requests} of them between captures, which both disallow them");
        push_line(out, &text);
    }
    if crawler.disallowed_after_last_capture > 0 {
        let requests = grouped(crawler.disallowed_after_last_capture);
        let text = format!("  {requests} of them after the last capture of the rules");
        push_line(out, &text);
    }
    for rule in &crawler.rules {
        let requests = grouped(rule.requests);
        let text = escape_cut(&rule.rule, RULE);
        let example = escape_cut(&rule.example, EXAMPLE);
        let at = match has_history {
            true => format!(" at {}", rule.example_time),
            false => String::new(),
        };
        push_line(out, &format!("  {requests} × {text}  e.g. {example}{at}"));
    }
    if crawler.rules_left_out > 0 {
        let requests = counted(crawler.rules_left_out, "disallowed request");
        let text = format!(
            "  the rules of another {requests} were left out: all rules together did not fit in \
             memory"
        );
        push_line(out, &text);
    }
}

/// Appends a line without blanks at its end.
fn push_line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// How long after a request for the robots.txt the crawler broke it.
pub(super) fn after_robots_txt(crawler: &CrawlerAudit) -> String {
    let fetches = crawler.after_robots_txt;
    let without = format!(
        "{} without reading robots.txt in these logs",
        grouped(fetches.disallowed_without)
    );
    match (fetches.shortest_seconds, fetches.longest_seconds) {
        (Some(shortest), Some(longest)) => {
            let shortest = duration(shortest);
            let longest = duration(longest);
            let times = if shortest == longest {
                shortest
            } else {
                format!("{shortest} to {longest}")
            };
            let after = grouped(fetches.disallowed_after);
            format!("{after} disallowed after reading robots.txt ({times} before), {without}")
        }
        _ => without,
    }
}

/// A duration in its largest unit.
fn duration(seconds: i64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{csv, html};
    use super::*;
    use robosieve::audit::{BrokenRule, Identity};

    #[test]
    fn findings_count_claims_apart() {
        let row = |identity: Option<Identity>, requests: u64, disallowed: u64| {
            let mut row = CrawlerAudit::default();
            (row.identity, row.requests, row.disallowed) = (identity, requests, disallowed);
            row
        };
        let (verified, claimed) = (Some(Identity::Verified), Some(Identity::Claimed));
        for (rows, table_start, title) in [
            (
                vec![],
                "No crawler made a request (0 requests",
                "No crawler made a request",
            ),
            (
                vec![row(None, 3, 1)],
                "1 of 1 crawler broke the rules (3 requests",
                "1 of 1 crawler broke the rules",
            ),
            (
                vec![row(verified, 0, 0), row(claimed, 7, 2)],
                "No verified crawler made a request (0 requests of crawlers in 0 lines; 0 of other \
                 agents, 0 invalid)\n\
                 7 requests only claim to be of a crawler: their addresses are not published; 2 \
                 disallowed\n",
                "No verified crawler made a request",
            ),
            (
                vec![
                    row(None, 1, 1),
                    row(verified, 5, 0),
                    row(verified, 1, 1),
                    row(claimed, 0, 0),
                ],
                "2 of 3 crawlers broke the rules (7 requests of crawlers in 0 lines; 0 of other \
                 agents, 0 invalid)\n\
                 0 requests only claim to be of a crawler\n",
                "2 of 3 crawlers broke the rules",
            ),
        ] {
            let mut report = AuditReport::default();
            report.crawlers = rows;
            assert!(
                table(&report).starts_with(table_start),
                "{}",
                table(&report)
            );
            assert!(
                html::page(&report, None).contains(&format!("<h1>{title}</h1>")),
                "{title}"
            );
        }
    }

    #[test]
    fn rules_that_are_left_out_are_told() {
        let mut rule = BrokenRule::default();
        (rule.rule, rule.requests) = ("disallow: /a".to_owned(), 1000);
        let mut crawler = CrawlerAudit::default();
        (crawler.requests, crawler.disallowed, crawler.rules) = (5000, 5000, vec![rule]);
        let mut report = AuditReport::default();
        report.crawlers = vec![crawler.clone()];
        for text in [table(&report), html::page(&report, None)] {
            assert!(!text.contains("left out"), "{text}");
        }
        crawler.rules_left_out = 4000;
        report.crawlers = vec![crawler];
        assert!(
            table(&report).contains("the rules of another 4,000 disallowed requests were left out")
        );
        assert!(html::page(&report, None).contains("data-m=\"/crawlers/0/rules_left_out\">4,000<"));
        let csv = csv::csv(&report);
        let mut rows = csv.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let (names, values) = (rows.next().unwrap(), rows.next().unwrap());
        let column = names
            .iter()
            .position(|name| *name == "rules_left_out")
            .unwrap();
        assert_eq!(values[column], "4000");
    }
}
