//! A report as CSV: one figure per line, so that it can be filtered and pivoted.

use super::super::escape::escape;
use robosieve::report::{CoverageCounts, Report};
use std::fmt::Write as _;

/// Lines of `section,item,agent,measure,value`; fields that do not apply are empty.
pub(super) fn csv(report: &Report) -> String {
    let mut out = CsvWriter("section,item,agent,measure,value\n".to_owned());
    let agents: Vec<&str> = report.agents.iter().map(|agent| agent.agent.as_str()).collect();
    facts(report, &mut out);
    for agent in &report.agents {
        for (name, count) in CoverageCounts::<u64>::NAMES.iter().zip(agent.origins.values()) {
            out.count("agents", "", &agent.agent, &format!("origins_{name}"), count);
        }
        if let Some(urls) = agent.urls {
            let counts = [
                ("urls_allowed", urls.allowed),
                ("urls_disallowed", urls.disallowed),
                ("urls_unknown", urls.unknown),
                ("urls_invalid", urls.invalid),
            ];
            out.counts("agents", "", &agent.agent, &counts);
        }
    }
    for of in &report.bases {
        let name = of.basis.name();
        out.counts("bases", name, "", &[("origins", of.origins), ("origins_refused", of.origins_refused)]);
        of.urls.into_iter().for_each(|urls| out.count("bases", name, "", "urls", urls));
        out.by_agent("bases", name, &agents, "urls_refused", of.urls_refused.as_deref().unwrap_or_default());
    }
    for origin in &report.top_origins {
        out.line("top_origins", &origin.origin, "", "basis", origin.basis.name());
        for (agent, reach) in agents.iter().zip(&origin.agents) {
            out.line("top_origins", &origin.origin, agent, "refused", reach.name());
        }
        origin.urls.into_iter().for_each(|urls| out.count("top_origins", &origin.origin, "", "urls", urls));
        origin
            .urls_refused
            .into_iter()
            .for_each(|urls| out.count("top_origins", &origin.origin, "", "urls_refused", urls));
    }
    for rule in &report.rules.top {
        out.count("rules", &rule.rule, "", "origins", rule.origins);
        out.by_agent("rules", &rule.rule, &agents, "origins", &rule.agents);
    }
    for rule in report.deciding.iter().flat_map(|deciding| &deciding.top) {
        out.count("deciding", &rule.rule, "", "urls", rule.urls);
        out.by_agent("deciding", &rule.rule, &agents, "urls", &rule.agents);
    }
    for signal in &report.signals {
        let counts = [
            ("files", signal.files),
            ("origins", signal.origins),
            ("with_path", signal.with_path),
            ("other", signal.other),
        ];
        out.counts(signal.field, "", "", &counts);
        signal.values.iter().for_each(|value| out.count(signal.field, &value.value, "", "origins", value.origins));
    }
    out.0
}

fn facts(report: &Report, out: &mut CsvWriter) {
    out.line("snapshot", "", "", "checksum", &report.snapshot.checksum);
    out.counts(
        "snapshot",
        "",
        "",
        &[("origins", report.snapshot.origins), ("robots_files", report.snapshot.robots_files)],
    );
    if let Some(lists) = &report.lists {
        let counts = [
            ("lines", lists.lines),
            ("allowed_to_all", lists.allowed_to_all),
            ("refused_to_any", lists.refused_to_any),
            ("unknown", lists.unknown),
            ("invalid", lists.invalid),
            ("origins", lists.origins),
        ];
        out.counts("lists", "", "", &counts);
    }
    let together = report.together;
    let counts = [
        ("all_wholly", together.all_wholly),
        ("any_wholly", together.any_wholly),
        ("any_refused", together.any_refused),
    ];
    out.counts("together", "", "", &counts);
    out.count("rules", "", "", "distinct", report.rules.distinct);
    if let Some(deciding) = &report.deciding {
        let counts =
            [("every", deciding.every), ("explained", deciding.explained), ("not_by_rule", deciding.not_by_rule)];
        out.counts("deciding", "", "", &counts);
    }
}

struct CsvWriter(String);

impl CsvWriter {
    fn line(&mut self, section: &str, item: &str, agent: &str, measure: &str, value: &str) {
        let _ = writeln!(self.0, "{section},{},{},{measure},{}", quoted(item), quoted(agent), quoted(value));
    }

    fn count(&mut self, section: &str, item: &str, agent: &str, measure: &str, value: u64) {
        self.line(section, item, agent, measure, &value.to_string());
    }

    fn counts(&mut self, section: &str, item: &str, agent: &str, counts: &[(&str, u64)]) {
        counts.iter().for_each(|(measure, value)| self.count(section, item, agent, measure, *value));
    }

    fn by_agent(&mut self, section: &str, item: &str, agents: &[&str], measure: &str, values: &[u64]) {
        agents.iter().zip(values).for_each(|(agent, value)| self.count(section, item, agent, measure, *value));
    }
}

/// A field without control characters, quoted if necessary. A spreadsheet reads a field that begins
/// with `=`, `+`, `-` or `@` as a formula, which a site could inject. An apostrophe in front makes
/// it text.
pub(crate) fn quoted(field: &str) -> String {
    let formula = if field.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    let field = escape(field);
    match field.contains([',', '"']) {
        true => format!("\"{formula}{}\"", field.replace('"', "\"\"")),
        false => format!("{formula}{field}"),
    }
}
