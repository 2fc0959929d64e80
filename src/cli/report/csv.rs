//! A report as CSV: one figure per line, so that it can be filtered and pivoted.

use super::super::figures::csv::{DelimitedText, csv_field};
use robosieve::report::{CoverageCounts, Report, Series};
use std::fmt::{Display, Write as _};
use std::ops::AddAssign;

/// Lines of `section,item,agent,measure,value`; fields that do not apply are empty.
pub(super) fn csv(report: &Report) -> String {
    let mut out = CsvWriter("section,item,agent,measure,value\n".to_owned());
    let agents: Vec<&str> = report
        .agents
        .iter()
        .map(|agent| agent.agent.as_str())
        .collect();
    facts(report, &mut out);
    for agent in &report.agents {
        out.coverages("agents", "", &agent.agent, "origins", &agent.origins);
        agent
            .weighted
            .iter()
            .for_each(|weighted| out.coverages("agents", "", &agent.agent, "weighted", weighted));
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
    for of in &report.concentrations {
        let agent = of.agent.as_deref().unwrap_or_default();
        out.counts(
            "concentrations",
            &of.domain,
            agent,
            &[("units", of.units), ("of", of.of)],
        );
    }
    for group in report.groups.iter().flatten() {
        out.count("groups", &group.name, "", "units", group.units);
        for (agent, counts) in agents.iter().zip(&group.agents) {
            out.coverages("groups", &group.name, agent, "origins", counts);
        }
    }
    for of in &report.bases {
        let name = of.basis.name();
        out.counts(
            "bases",
            name,
            "",
            &[
                ("origins", of.origins),
                ("origins_refused", of.origins_refused),
            ],
        );
        of.urls
            .into_iter()
            .for_each(|urls| out.count("bases", name, "", "urls", urls));
        out.by_agent(
            "bases",
            name,
            &agents,
            "urls_refused",
            of.urls_refused.as_deref().unwrap_or_default(),
        );
    }
    for origin in &report.top_origins {
        out.line(
            "top_origins",
            &origin.origin,
            "",
            "basis",
            origin.basis.name(),
        );
        for (agent, reach) in agents.iter().zip(&origin.agents) {
            out.line(
                "top_origins",
                &origin.origin,
                agent,
                "refused",
                reach.name(),
            );
        }
        origin
            .urls
            .into_iter()
            .for_each(|urls| out.count("top_origins", &origin.origin, "", "urls", urls));
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
        signal
            .values
            .iter()
            .for_each(|value| out.count(signal.field, &value.value, "", "origins", value.origins));
    }
    out.0
}

/// A series as CSV: one line per snapshot and agent. Shares are fractions of the units; with weights,
/// further columns have their sums and shares.
pub(super) fn series_csv(series: &Series) -> String {
    let names = CoverageCounts::<u64>::NAMES;
    let has_weights = series.points.iter().any(|point| point.weights.is_some());
    let mut out = format!(
        "label,agent,units,{},share_wholly,share_partly",
        names.join(",")
    );
    if has_weights {
        out += ",weight";
        names
            .iter()
            .for_each(|name| out += &format!(",weighted_{name}"));
        out += ",weighted_share_wholly,weighted_share_partly";
    }
    out.push('\n');
    for point in &series.points {
        for agent in &point.agents {
            let _ = write!(
                out,
                "{},{},{}",
                csv_field(&point.label),
                csv_field(&agent.agent),
                point.units
            );
            let counts = agent.origins;
            push_counts(
                &counts,
                [counts.wholly as f64, counts.partly as f64],
                point.units as f64,
                &mut out,
            );
            if let Some((weighted, weights)) = agent.weighted.zip(point.weights.as_ref()) {
                let _ = write!(out, ",{}", weights.matched);
                push_counts(
                    &weighted,
                    [weighted.wholly, weighted.partly],
                    weights.matched,
                    &mut out,
                );
            }
            out.push('\n');
        }
    }
    out
}

/// The counts, and the fractions `[wholly, partly]` of the whole. A whole of 0 has the fractions 0.
fn push_counts<N: Copy + AddAssign + Display>(
    counts: &CoverageCounts<N>,
    parts: [f64; 2],
    whole: f64,
    out: &mut String,
) {
    counts.values().iter().for_each(|value| {
        let _ = write!(out, ",{value}");
    });
    for part in parts {
        let _ = write!(out, ",{:.6}", if whole > 0.0 { part / whole } else { 0.0 });
    }
}

fn facts(report: &Report, out: &mut CsvWriter) {
    out.line("snapshot", "", "", "checksum", &report.snapshot.checksum);
    out.counts(
        "snapshot",
        "",
        "",
        &[
            ("origins", report.snapshot.origins),
            ("robots_files", report.snapshot.robots_files),
        ],
    );
    out.line("units", "", "", "by", report.by.name());
    out.count("units", "", "", "units", report.units);
    if let Some(weights) = &report.weights {
        let counts = [
            ("entries", weights.entries),
            ("entries_matched", weights.entries_matched),
            ("units_matched", weights.units_matched),
        ];
        out.counts("weights", "", "", &counts);
        out.line("weights", "", "", "listed", &weights.listed.to_string());
        out.line("weights", "", "", "matched", &weights.matched.to_string());
    }
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
        let counts = [
            ("every", deciding.every),
            ("explained", deciding.explained),
            ("not_by_rule", deciding.not_by_rule),
        ];
        out.counts("deciding", "", "", &counts);
    }
}

struct CsvWriter(String);

impl CsvWriter {
    fn line(&mut self, section: &str, item: &str, agent: &str, measure: &str, value: &str) {
        let fields = [section, item, agent, measure, value].map(csv_field);
        DelimitedText::Csv.push_row(fields, &mut self.0);
    }

    fn count(&mut self, section: &str, item: &str, agent: &str, measure: &str, value: u64) {
        self.line(section, item, agent, measure, &value.to_string());
    }

    fn counts(&mut self, section: &str, item: &str, agent: &str, counts: &[(&str, u64)]) {
        counts
            .iter()
            .for_each(|(measure, value)| self.count(section, item, agent, measure, *value));
    }

    fn coverages<N: Copy + AddAssign + Display>(
        &mut self,
        section: &str,
        item: &str,
        agent: &str,
        prefix: &str,
        counts: &CoverageCounts<N>,
    ) {
        for (name, value) in CoverageCounts::<N>::NAMES.iter().zip(counts.values()) {
            self.line(
                section,
                item,
                agent,
                &format!("{prefix}_{name}"),
                &value.to_string(),
            );
        }
    }

    fn by_agent(
        &mut self,
        section: &str,
        item: &str,
        agents: &[&str],
        measure: &str,
        values: &[u64],
    ) {
        agents
            .iter()
            .zip(values)
            .for_each(|(agent, value)| self.count(section, item, agent, measure, *value));
    }
}
