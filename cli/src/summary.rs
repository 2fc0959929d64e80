//! Summaries on stderr.

use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape;
use crate::figures::table::{Columns, longest};
use crate::outcomes::outcome_counts;
use crate::stderr::print_line;
use robosieve::Agent;
use robosieve::compile::{CapturesReport, CompileReport};
use robosieve::export::ExportStats;
use robosieve::job::{FilterStats, Keep, ListFilterStats};
use robosieve::judge::Reason;
use serde::Serialize;
use std::time::Duration;

/// The columns of a name and a number.
const COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: 26,
    gap: 0,
    cells: &[14],
};

/// Prints rows with a name and a number.
fn rows(rows: &[(&str, u64)]) {
    for (name, number) in rows {
        print_line(format_args!("{}", COLUMNS.row(name, [grouped(*number)])));
    }
}

/// Prints the rows whose number is not 0.
fn rows_if_any(all: &[(&str, u64)]) {
    for row in all.iter().filter(|(_, number)| *number > 0) {
        rows(&[*row]);
    }
}

/// Prints the size of a compiled snapshot, and what was skipped.
pub(crate) fn print_compile(
    report: &CompileReport,
    has_previous: bool,
    has_as_of: bool,
    has_history: bool,
    elapsed: Duration,
) {
    let counts = &report.counts;
    // The outcomes come first: they show whether the archives were those that the user meant.
    print_line(format_args!(
        "compiled {} in {:.2} s",
        counted(report.captures, "capture"),
        elapsed.as_secs_f64()
    ));
    rows(&[("origins", counts.origins)]);
    rows(&outcome_counts(counts));
    // A row of an option that is not given would be a 0 without a meaning.
    if has_previous {
        rows(&[
            ("kept as they were", report.inherited),
            ("captured, but not newer", report.outdated),
            ("answered before, fail now", report.newly_failing),
        ]);
    }
    if has_as_of {
        rows(&[
            ("captures left out as newer", report.too_new),
            ("captures of unknown time", report.undated),
        ]);
    }
    if has_history {
        rows(&[
            ("versions", report.versions),
            ("URLs with versions", report.history_urls),
            ("old texts", report.old_texts),
        ]);
    }
    // Captures and files without effect explain a count of origins that is too small.
    rows(&[
        ("found through redirects", counts.redirected),
        ("superseded captures", report.superseded),
        ("captures of other URLs", report.other_urls),
        ("captures without a URL", report.not_urls),
    ]);
    rows_if_any(&rare_captures(report));
    rows(&[
        ("damaged places skipped", report.damaged),
        ("files left out", report.skipped_files),
        ("distinct robots.txt", counts.files),
        ("rule sets before merging", counts.rule_sets_before),
        ("rule sets", counts.rule_sets),
        ("rules in them", counts.rules),
        ("agent names", counts.tokens),
        ("bytes in (archives)", report.bytes_in),
        ("bytes in (robots.txt)", report.body_bytes),
        ("bytes of distinct texts", report.distinct_text_bytes),
        ("bytes out", report.bytes_out),
    ]);
    if report.first_versions_from_previous {
        print_line(format_args!(
            "robosieve: note: the previous snapshot has no history: its answers became the first versions, and \
             nothing is known of the time before them"
        ));
    }
}

/// Captures whose archives lack something: most runs have none.
fn rare_captures(report: &CompileReport) -> [(&'static str, u64); 3] {
    [
        ("revisits without a body", report.revisits_without_body),
        ("captures of version 1", report.first_version),
        ("texts with cut lines", report.cut_texts),
    ]
}

pub(crate) fn print_captures(report: &CapturesReport, elapsed: Duration) {
    let CapturesReport { input, content, .. } = report;
    let seconds = elapsed.as_secs_f64();
    print_line(format_args!(
        "wrote {} in {seconds:.2} s",
        counted(content.captures, "capture")
    ));
    rows(&[
        ("origins", content.origins),
        ("captures of other URLs", content.other_urls),
        ("captures of unknown time", content.undated),
        ("captures without a URL", input.not_urls),
    ]);
    rows_if_any(&rare_captures(input));
    rows(&[
        ("damaged places skipped", input.damaged),
        ("files left out", input.skipped_files),
        ("distinct texts", content.texts),
        ("bytes in (inputs)", input.bytes_in),
        ("bytes in (robots.txt)", input.body_bytes),
        ("bytes of distinct texts", content.text_bytes),
        ("bytes out", input.bytes_out),
    ]);
}

/// What decides about the lines of a run. Counts of anything else would be zeros that mean "not
/// looked at".
#[derive(Debug, Default)]
pub(crate) struct JudgedBy {
    pub has_snapshot: bool,
    /// The names of the filter lists, if there are lists.
    pub lists: Option<Vec<String>>,
}

/// The counts of a run as JSON: without those of verdicts if lists alone decide.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum RunCounts<'s> {
    Verdicts(&'s FilterStats),
    Lists(ListFilterStats),
}

impl JudgedBy {
    pub(crate) fn counts<'s>(&self, stats: &'s FilterStats) -> RunCounts<'s> {
        if self.has_snapshot {
            RunCounts::Verdicts(stats)
        } else {
            RunCounts::Lists(stats.of_lists_alone())
        }
    }

    /// A snapshot alone.
    pub(crate) const SNAPSHOT: Self = Self {
        has_snapshot: true,
        lists: None,
    };
}

/// The counts of lines.
fn line_counts(stats: &FilterStats, by: &JudgedBy) -> Vec<String> {
    let mut counts = vec![("lines", stats.lines)];
    if by.has_snapshot {
        counts.extend([
            ("allowed", stats.allowed),
            ("disallowed", stats.disallowed),
            ("unknown", stats.unknown),
        ]);
    } else {
        counts.push(("not listed", stats.allowed));
    }
    if by.lists.is_some() {
        counts.push(("listed", stats.listed()));
    }
    counts.push(("invalid", stats.invalid));
    counts
        .iter()
        .map(|(name, count)| format!("{name} {}", grouped(*count)))
        .collect()
}

/// The counts of lines and bytes, after a title.
pub(crate) fn counts(title: &str, stats: &FilterStats, by: &JudgedBy) -> String {
    let mut items = line_counts(stats, by);
    items[0].insert_str(0, title);
    items.push(format!("bytes {}", grouped(stats.bytes)));
    wrap_items(&items)
}

/// The most columns of a summary.
const WIDTH: usize = 100;

/// Joins items into lines of at most `WIDTH` columns.
pub(crate) fn wrap_items(items: &[String]) -> String {
    let mut out = String::new();
    let mut column = 0;
    for item in items {
        let len = item.chars().count();
        if column == 0 {
            column = len;
        } else if column + 2 + len <= WIDTH {
            out.push_str("  ");
            column += 2 + len;
        } else {
            out.push_str("\n  ");
            column = 2 + len;
        }
        out.push_str(item);
    }
    out
}

/// The elapsed time, and the lines per second.
fn rate(lines: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    format!(
        "{seconds:.2} s  {} URL/s",
        grouped((lines as f64 / seconds) as u64)
    )
}

pub(crate) fn print_filter(stats: &FilterStats, by: &JudgedBy, elapsed: Duration) {
    print_line(format_args!("{}", wrap_items(&line_counts(stats, by))));
    print_line(format_args!(
        "bytes {}  {}",
        grouped(stats.bytes),
        rate(stats.lines, elapsed)
    ));
    print_listed(stats, by);
    print_without_rules(stats);
    if stats.warcinfo > 0 {
        print_line(format_args!(
            "warcinfo records, not counted above: {}",
            grouped(stats.warcinfo)
        ));
    }
    if stats.without_time > 0 {
        print_line(format_args!(
            "without a time, so not judged by rules: {}",
            grouped(stats.without_time)
        ));
    }
    if stats.via_other_scheme > 0 {
        print_line(format_args!(
            "judged by the entry of the other scheme: {}",
            grouped(stats.via_other_scheme)
        ));
    }
}

/// The counts of lines with a verdict by reason, such as `server-error 5, unreachable 1`: of the
/// reasons that are wanted and have lines.
pub(crate) fn reason_counts(
    stats: &FilterStats,
    verdict: Keep,
    is_wanted: impl Fn(&Reason) -> bool,
) -> Option<String> {
    let mut items = Vec::new();
    for reason in Reason::ALL.into_iter().filter(is_wanted) {
        let lines = match verdict {
            Keep::Disallowed => stats.reasons.disallowed(reason),
            _ => stats.reasons.allowed(reason),
        };
        if lines > 0 {
            items.push(format!("{reason} {}", grouped(lines)));
        }
    }
    (!items.is_empty()).then(|| items.join(", "))
}

/// Prints how many lines each list names, of those that name any.
pub(crate) fn print_listed(stats: &FilterStats, by: &JudgedBy) {
    let (Some(names), Some(lists)) = (&by.lists, &stats.lists) else {
        return;
    };
    let counts = names.iter().zip(&lists.listed_by);
    let counts = counts.filter(|(_, count)| **count > 0);
    let items: Vec<String> = counts
        .map(|(name, count)| format!("{} {}", escape(name), grouped(*count)))
        .collect();
    if !items.is_empty() {
        print_line(format_args!("listed by list: {}", items.join(", ")));
    }
}

/// Prints how many lines are disallowed without a rule, so that nobody takes an outage for an
/// opt-out.
fn print_without_rules(stats: &FilterStats) {
    let without = |reason: &Reason| !reason.is_by_rules();
    if let Some(counts) = reason_counts(stats, Keep::Disallowed, without) {
        print_line(format_args!("disallowed without a rule: {counts}"));
    }
}

/// Prints the size of the lists of a report.
pub(crate) fn print_report(lines: u64, bytes: u64, elapsed: Duration) {
    print_line(format_args!(
        "lines {}  bytes {}  {}",
        grouped(lines),
        grouped(bytes),
        rate(lines, elapsed)
    ));
}

/// Prints the size of an exported table.
pub(crate) fn print_export(stats: &ExportStats, elapsed: Duration) {
    let rows = grouped(stats.rows);
    let origins = grouped(stats.origins);
    let seconds = elapsed.as_secs_f64();
    print_line(format_args!(
        "rows {rows}  origins {origins}  {seconds:.2} s"
    ));
}

/// The numbers of listed URLs.
#[derive(Default, Serialize)]
pub(crate) struct DueCounts {
    pub unknown: u64,
    pub stale: u64,
    /// Origins that are left out because they are neither http nor https.
    pub other_schemes: u64,
}

/// Prints the numbers of robots.txt files that are due, and the size of the lists.
pub(crate) fn print_due(counts: &DueCounts, lists: Option<&FilterStats>, elapsed: Duration) {
    print_line(format_args!(
        "due {}  of unknown origins {}  stale {}  left out as neither http nor https {}",
        grouped(counts.unknown + counts.stale),
        grouped(counts.unknown),
        grouped(counts.stale),
        grouped(counts.other_schemes)
    ));
    if let Some(lists) = lists {
        print_line(format_args!(
            "lines {}  invalid {}  bytes {}  {}",
            grouped(lists.lines),
            grouped(lists.invalid),
            grouped(lists.bytes),
            rate(lists.lines, elapsed)
        ));
    }
}

/// Prints the counts of each agent, with the number of its letter, digit or column.
pub(crate) fn print_agents(stats: &FilterStats, agents: &[Agent]) {
    for row in agent_table(stats, agents) {
        print_line(format_args!("{row}"));
    }
}

/// One row per agent, aligned to the longest name.
fn agent_table(stats: &FilterStats, agents: &[Agent]) -> Vec<String> {
    let judged = stats.allowed + stats.disallowed;
    let names: Vec<String> = agents
        .iter()
        .map(|agent| escape(agent.label()).into_owned())
        .collect();
    let width = longest(&names).max(26);
    let mut rows = Vec::new();
    for (i, (name, &allowed)) in names.iter().zip(&stats.agent_allowed).enumerate() {
        let disallowed = judged.saturating_sub(allowed);
        rows.push(format!(
            "{:>4}  {name:<width$} allowed {:>14}  disallowed {:>14}",
            i + 1,
            grouped(allowed),
            grouped(disallowed)
        ));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_of_any_size_fit_the_width() {
        for number in [0, 381, 99_999_999, 10_u64.pow(12), u64::MAX] {
            let mut stats = FilterStats::default();
            stats.lines = number;
            stats.allowed = number;
            stats.disallowed = number;
            stats.unknown = number;
            stats.invalid = number;
            stats.bytes = number;
            stats.lists =
                Some(serde_json::from_value(json!({"listed": number, "listed_by": []})).unwrap());
            let by = JudgedBy {
                has_snapshot: true,
                lists: Some(vec!["ads".to_owned()]),
            };
            let text = counts("skipped files: ", &stats, &by);
            assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
            let words = text
                .split_whitespace()
                .filter(|word| **word == grouped(number))
                .count();
            assert_eq!(words, 7, "{text}");
        }
    }

    #[test]
    fn agent_columns_align_for_long_names() {
        let names = [
            "A",
            "Googlebot-Image:Googlebot",
            "A-crawler-whose-name-is-longer-than-any-other:Googlebot",
        ];
        let agents: Vec<Agent> = names.iter().map(|name| name.parse().unwrap()).collect();
        let mut stats = FilterStats::default();
        stats.allowed = 1_000_000;
        stats.agent_allowed = vec![7, 1_000_000, 0];
        let rows = agent_table(&stats, &agents);
        for column in [" allowed ", " disallowed "] {
            let positions: Vec<_> = rows.iter().map(|row| row.find(column)).collect();
            assert!(
                positions
                    .iter()
                    .all(|position| position.is_some() && *position == positions[0]),
                "{rows:#?}"
            );
        }
        assert!(
            rows.iter().all(|row| row.len() == rows[0].len()),
            "{rows:#?}"
        );
    }
}
