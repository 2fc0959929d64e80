//! A report as text for a terminal.

use super::super::escape::escape_cut;
use super::super::summary::grouped;
use super::findings;
use super::format::share;
use robosieve::report::Coverage;
use robosieve::report::{Example, Report};
use std::fmt::Write as _;

/// The most characters of an agent's name, of a rule and of an origin.
const NAME: usize = 26;
const RULE: usize = 60;
const ORIGIN: usize = 50;

pub(super) fn table(report: &Report) -> String {
    let mut out = ReportTable(String::new());
    head(report, &mut out);
    agents(report, &mut out);
    bases(report, &mut out);
    top_origins(report, &mut out);
    rules(report, &mut out);
    signals(report, &mut out);
    if let Some(why) = &report.example {
        example(why, &mut out);
    }
    out.0
}

struct ReportTable(String);

impl ReportTable {
    fn line(&mut self, text: impl AsRef<str>) {
        self.0.push_str(text.as_ref().trim_end());
        self.0.push('\n');
    }

    fn heading(&mut self, text: impl AsRef<str>) {
        self.0.push('\n');
        self.line(text);
    }

    /// A name padded to `width`, and right-aligned cells.
    fn row(&mut self, name: &str, width: usize, cells: &[String]) {
        let mut line = format!("  {name:<width$}");
        cells.iter().for_each(|cell| {
            let _ = write!(line, "{cell:>16}");
        });
        self.line(line);
    }
}

fn head(report: &Report, out: &mut ReportTable) {
    let snapshot = &report.snapshot;
    out.line(findings::title(report));
    out.line(format!(
        "snapshot: {} origins, {} robots.txt files, captured {}; profile {}, status policy {}",
        grouped(snapshot.origins),
        grouped(snapshot.robots_files),
        findings::captured(report),
        snapshot.profile.name(),
        report.judging.status_policy,
    ));
    if let Some(lists) = &report.lists {
        out.line(format!(
            "lists: {} lines, of {} of these origins; {} of others, {} that are no URLs",
            grouped(lists.lines),
            grouped(lists.origins),
            grouped(lists.unknown),
            grouped(lists.invalid)
        ));
    }
}

fn with_share(part: u64, whole: u64) -> String {
    format!("{} {:>8}", grouped(part), share(part, whole))
}

fn agents(report: &Report, out: &mut ReportTable) {
    origins(report, out);
    let Some((lists, heading)) = report.lists.as_ref().zip(findings::urls(report)) else { return };
    out.heading(heading);
    out.line(url_line("URLs", ["allowed", "disallowed", "unknown", "no URL"].map(str::to_owned)));
    for number in report.agents_by_refused_urls() {
        let Some((agent, urls)) = report.agents.get(number).and_then(|agent| Some((agent, agent.urls?))) else {
            continue;
        };
        let counts = [urls.allowed, urls.disallowed, urls.unknown, urls.invalid];
        out.line(url_line(&escape_cut(&agent.agent, NAME - 1), counts.map(|n| with_share(n, lists.lines))));
    }
}

fn url_line(name: &str, [allowed, disallowed, unknown, invalid]: [String; 4]) -> String {
    format!("  {name:<NAME$} {allowed:>17} {disallowed:>17} {unknown:>17} {invalid:>17}")
}

/// The origins that refuse each agent, and the shares of the causes. The most refused agent is
/// first.
fn origins(report: &Report, out: &mut ReportTable) {
    let whole = report.snapshot.origins;
    let line = |name: &str, wholly: String, shares: [String; 5]| {
        let [by_name, by_global, by_status, partly, not] = shares;
        format!("  {name:<NAME$}{wholly:>19}{by_name:>9}{by_global:>9}{by_status:>11}{partly:>10}{not:>10}")
    };
    out.heading(findings::origins(report));
    let names = ["by name", "by *", "by status", "partly", "not"].map(str::to_owned);
    out.line(line("origins that refuse", "wholly".to_owned(), names));
    for agent in report.agents_by_refusal().into_iter().filter_map(|number| report.agents.get(number)) {
        let of = agent.origins;
        let counts = [of.wholly_by_name, of.wholly_by_global, of.wholly_by_status, of.partly, of.not];
        let shares = counts.map(|count| share(count, whole));
        out.line(line(&escape_cut(&agent.agent, NAME - 1), with_share(of.wholly, whole), shares));
    }
}

fn widened(cell: String) -> String {
    format!("{cell:>22}")
}

fn bases(report: &Report, out: &mut ReportTable) {
    out.heading(findings::bases(report));
    let mut names = vec!["origins".to_owned()];
    names.extend(report.lists.iter().map(|_| "URLs".to_owned()));
    out.row("where verdicts come from", 42, &names.into_iter().map(widened).collect::<Vec<_>>());
    for of in &report.bases {
        let mut cells = vec![with_share(of.origins, report.snapshot.origins)];
        cells.extend(of.urls.zip(report.lists.as_ref()).map(|(urls, lists)| with_share(urls, lists.lines)));
        out.row(findings::basis(of.basis), 42, &cells.into_iter().map(widened).collect::<Vec<_>>());
    }
}

fn top_origins(report: &Report, out: &mut ReportTable) {
    out.heading(findings::top_origins(report));
    if report.top_origins.is_empty() {
        return;
    }
    out.line("  for each agent in turn: W refused wholly, P partly, - not");
    for origin in &report.top_origins {
        let letter = |reach: &Coverage| match reach {
            Coverage::Wholly => 'W',
            Coverage::Partly => 'P',
            Coverage::Not => '-',
        };
        let letters: String = origin.agents.iter().map(letter).collect();
        let cells = origin
            .urls
            .zip(origin.urls_refused)
            .map(|(urls, refused)| format!("  {} of {} URLs", grouped(refused), grouped(urls)));
        out.line(format!("  {:<ORIGIN$}  {letters}{}", escape_cut(&origin.origin, ORIGIN), cells.unwrap_or_default()));
    }
}

fn rules(report: &Report, out: &mut ReportTable) {
    if let Some((deciding, heading)) = report.deciding.as_ref().zip(findings::deciding(report)) {
        out.heading(heading);
        findings::sampled(report).into_iter().for_each(|text| out.line(format!("  {text}")));
        for rule in &deciding.top {
            out.row(&escape_cut(&rule.rule, RULE), RULE + 1, &[widened(with_share(rule.urls, deciding.explained))]);
        }
    }
    out.heading(findings::rules(report));
    for rule in &report.rules.top {
        out.row(&escape_cut(&rule.rule, RULE), RULE + 1, &[widened(with_share(rule.origins, report.snapshot.origins))]);
    }
}

fn signals(report: &Report, out: &mut ReportTable) {
    out.heading(findings::signals(report));
    for signal in report.signals.iter().filter(|signal| signal.origins > 0) {
        let name = findings::field_name(signal.field);
        for value in &signal.values {
            out.row(
                &format!("{name}: {}", escape_cut(&value.value, RULE)),
                RULE + 1,
                &[widened(with_share(value.origins, signal.origins))],
            );
        }
    }
}

fn example(why: &Example, out: &mut ReportTable) {
    out.heading(findings::example(why));
    let mut row = |name: &str, text: String| out.line(format!("  {name:<12}{text}"));
    row("URL", escape_cut(&why.url, 200));
    if let Some(url) = &why.robots_url {
        let fetched = why.fetched_at.map(|time| format!(", fetched {}", super::format::minute(time)));
        row("robots.txt", format!("{}{}", escape_cut(url, 200), fetched.unwrap_or_default()));
    }
    for line in why.agent_lines.iter().take(3) {
        row("group", format!("line {}: {}", line.line, escape_cut(&line.text, 120)));
    }
    match &why.rule {
        Some(rule) => row("rule", format!("line {}: {}", rule.line, escape_cut(&rule.text, 120))),
        None => row("because", findings::basis(why.basis).to_owned()),
    }
}
