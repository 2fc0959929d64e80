//! An audit as text for a terminal.

use super::super::escape::escape_cut;
use super::super::report::{counted, share};
use super::super::summary::grouped;
use robosieve::audit::{AuditReport, CrawlerAudit};
use std::fmt::Write as _;

/// The most characters of a name, of a rule and of an example.
const NAME: usize = 22;
const RULE: usize = 50;
const EXAMPLE: usize = 80;

pub(super) fn table(report: &AuditReport) -> String {
    let mut out = heading(report) + "\n";
    if report.before_first_snapshot > 0 {
        let _ = writeln!(
            out,
            "{} of crawlers from before the first snapshot, which judged them",
            counted(report.before_first_snapshot, "request")
        );
    }
    if report.crawlers.is_empty() {
        return out;
    }
    let row = |name: &str, cells: [String; 7]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!(" {cell:>10}")).collect();
        format!("  {name:<NAME$}{}\n", cells.join("")).replace(" \n", "\n")
    };
    let names = ["requests", "refused", "share", "of it 2xx", "unknown", "robots.txt", "bytes"];
    out += &format!("\n{}", row("crawler", names.map(str::to_owned)));
    for crawler in &report.crawlers {
        let cells = [
            grouped(crawler.requests),
            grouped(crawler.disallowed),
            share(crawler.disallowed, crawler.requests),
            grouped(crawler.disallowed_2xx),
            grouped(crawler.unknown),
            grouped(crawler.robots_txt),
            grouped(crawler.bytes),
        ];
        out += &row(&escape_cut(&crawler.name, NAME - 2), cells);
    }
    report.crawlers.iter().filter(|crawler| is_detailed(crawler)).for_each(|crawler| details(crawler, &mut out));
    out
}

/// The main finding.
pub(super) fn heading(report: &AuditReport) -> String {
    let seen = report.crawlers.iter().filter(|crawler| crawler.requests > 0);
    let broke = report.crawlers.iter().filter(|crawler| crawler.disallowed > 0).count() as u64;
    let requests: u64 = report.crawlers.iter().map(|crawler| crawler.requests).sum();
    format!(
        "{} of {} broke the rules ({} of crawlers in {}; {} of other agents, {} invalid)",
        grouped(broke),
        counted(seen.count() as u64, "crawler"),
        counted(requests, "request"),
        counted(report.lines, "line"),
        grouped(report.other_agents),
        grouped(report.invalid),
    )
}

/// Whether a crawler has more than a row: it broke rules, or its addresses are verified.
fn is_detailed(crawler: &CrawlerAudit) -> bool {
    crawler.disallowed > 0 || crawler.verified.is_some_and(|_| crawler.requests > 0)
}

fn details(crawler: &CrawlerAudit, out: &mut String) {
    let mut line = |text: String| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(String::new());
    let operator = crawler.operator.map_or_else(String::new, |operator| format!(" ({operator})"));
    let span = crawler.first.as_deref().zip(crawler.last.as_deref());
    let span = span.map_or_else(String::new, |(first, last)| format!(": {first} to {last}"));
    line(format!("{}{operator}{span}", escape_cut(&crawler.name, NAME)));
    for (verified, claimed, what) in [
        (crawler.verified, crawler.claimed, "requests"),
        (crawler.verified_disallowed, crawler.claimed_disallowed, "refused requests"),
    ] {
        if let Some((verified, claimed)) = verified.zip(claimed) {
            line(format!("  {what}: {} verified, {} only claimed", grouped(verified), grouped(claimed)));
        }
    }
    if crawler.disallowed > 0 {
        line(format!("  {}", after_robots_txt(crawler)));
    }
    for rule in &crawler.rules {
        line(format!(
            "  {} × {}  e.g. {}",
            grouped(rule.requests),
            escape_cut(&rule.rule, RULE),
            escape_cut(&rule.example, EXAMPLE)
        ));
    }
}

/// How long after a request for the robots.txt the crawler broke it.
pub(super) fn after_robots_txt(crawler: &CrawlerAudit) -> String {
    let fetches = crawler.after_robots_txt;
    let without = format!("{} without reading robots.txt in these logs", grouped(fetches.disallowed_without));
    match (fetches.shortest_seconds, fetches.longest_seconds) {
        (Some(shortest), Some(longest)) => {
            let (shortest, longest) = (duration(shortest), duration(longest));
            let times = if shortest == longest { shortest } else { format!("{shortest} to {longest}") };
            let after = grouped(fetches.disallowed_after);
            format!("{after} refused after reading robots.txt ({times} before), {without}")
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
