//! Summaries for people, on stderr.

use super::escape::escape;
use super::stderr::print_line;
use robosieve::report::ListFacts;
use robosieve::{Agent, CompileReport, Counts, FilterStats};
use std::time::Duration;

/// A number with thousands separated.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Names and numbers of the origins by outcome.
pub(crate) fn outcomes(counts: &Counts) -> [(&'static str, u64); 5] {
    [
        ("rules (2xx)", counts.outcome_rules),
        ("no restrictions (4xx)", counts.outcome_client_error),
        ("server error (429, 5xx)", counts.outcome_server_error),
        ("unreachable", counts.outcome_unreachable),
        ("unresolved redirect", counts.outcome_unresolved),
    ]
}

/// Prints aligned rows of a name and a number.
fn rows(rows: &[(&str, u64)]) {
    for (name, number) in rows {
        print_line(format_args!("  {name:<26}{:>14}", grouped(*number)));
    }
}

pub(crate) fn print_compile(report: &CompileReport, [has_previous, has_as_of]: [bool; 2], elapsed: Duration) {
    let counts = &report.counts;
    print_line(format_args!("compiled {} captures in {:.2} s", grouped(report.captures), elapsed.as_secs_f64()));
    rows(&[("origins", counts.origins)]);
    rows(&outcomes(counts).map(|(name, number)| (name, number)));
    if has_previous {
        rows(&[("taken over as they were", report.taken_over), ("captured, but not newer", report.outdated)]);
    }
    if has_as_of {
        rows(&[("captures left out as newer", report.too_new), ("captures of unknown time", report.undated)]);
    }
    rows(&[
        ("found through redirects", counts.redirected),
        ("superseded captures", report.superseded),
        ("captures of other URLs", report.other_urls),
        ("captures without a URL", report.not_urls),
        ("damaged places skipped", report.damaged),
        ("distinct robots.txt", counts.files),
        ("rule sets before merging", counts.rule_sets_before),
        ("rule sets", counts.rule_sets),
        ("rules in them", counts.rules),
        ("agent names", counts.tokens),
        ("bytes in (archives)", report.bytes_in),
        ("bytes in (robots.txt)", report.body_bytes),
        ("bytes in (distinct)", report.distinct_body_bytes),
        ("bytes out", report.bytes_out),
    ]);
    for (key, lines) in &report.unread_keys {
        print_line(format_args!(
            "warning: {} lines with a 2xx status have no body that is read, and count as unreachable: \"{}\" looks like it; \
             name it \"body\" (\"body_base64\", \"content\", \"text\" and \"robots\" are read too)",
            grouped(*lines),
            escape(key),
        ));
    }
}

/// The counts of lines, and their bytes.
pub(crate) fn counts(stats: &FilterStats) -> String {
    format!(
        "lines {}  allowed {}  disallowed {}  unknown {}  invalid {}  bytes {}",
        grouped(stats.lines),
        grouped(stats.allowed),
        grouped(stats.disallowed),
        grouped(stats.unknown),
        grouped(stats.invalid),
        grouped(stats.bytes),
    )
}

/// How long so many lines took, and how many that is a second.
fn rate(lines: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    format!("{seconds:.2} s  {} URL/s", grouped((lines as f64 / seconds) as u64))
}

pub(crate) fn print_filter(stats: &FilterStats, elapsed: Duration) {
    print_line(format_args!("{}  {}", counts(stats), rate(stats.lines, elapsed)));
    if stats.lines > 0 && stats.invalid == stats.lines {
        print_line(format_args!(
            "no line has a URL where it was looked for: --input-format, --field and --json-key say where URLs stand, \
             --default-scheme and --host make whole ones of those without"
        ));
    }
    if stats.via_other_scheme > 0 {
        print_line(format_args!("judged by the entry of the other scheme: {}", grouped(stats.via_other_scheme)));
    }
}

/// What was read for a report.
pub(crate) fn print_report(lists: &ListFacts, elapsed: Duration) {
    let (lines, bytes) = (grouped(lists.lines), grouped(lists.bytes));
    print_line(format_args!("lines {lines}  bytes {bytes}  {}", rate(lists.lines, elapsed)));
}

/// What came of each agent, under the number of its letter, digit or column.
pub(crate) fn print_agents(stats: &FilterStats, agents: &[Agent]) {
    let judged = stats.allowed + stats.disallowed;
    for (i, (agent, allowed)) in agents.iter().zip(&stats.agent_allowed).enumerate() {
        let number = i + 1;
        print_line(format_args!(
            "{number:>4}  {:<26} allowed {:>14}  disallowed {:>14}",
            escape(agent.label()),
            grouped(*allowed),
            grouped(judged.saturating_sub(*allowed))
        ));
    }
}
