//! A report as CSV: one figure per line, so that it can be filtered and pivoted.

use super::fold::{
    AgentPoint, CoverageCounts, Interval, Report, Series, SeriesPoint, TogetherIntervals, UnitGroup,
};
use crate::figures::csv::{DelimitedText, csv_field};
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
    totals(report, &mut out);
    agent_counts(report, &mut out);
    sets(report, &mut out);
    concentrations(report, &mut out);
    groups(report, &agents, &mut out);
    reasons(report, &agents, &mut out);
    top_origins(report, &agents, &mut out);
    rules(report, &agents, &mut out);
    signals(report, &mut out);
    out.0
}

/// The figures of the whole report: the wholes that a spreadsheet divides the counts below by.
fn totals(report: &Report, out: &mut CsvWriter) {
    // The checksum distinguishes two reports of one snapshot from those of different ones.
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
    // Every share of an agent is one of the units.
    out.line("units", "", "", "by", report.by.name());
    out.count("units", "", "", "units", report.units);
    if let Some(sample) = &report.sample {
        let counts = [
            ("size", sample.size.into()),
            ("seed", sample.seed),
            ("units", sample.units),
            ("of", sample.of),
        ];
        out.counts("sample", "", "", &counts);
    }
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
    // These depend on the set of agents, and cannot be added up from the lines of each.
    let together = report.together;
    let counts = [
        ("all_wholly", together.all_wholly),
        ("any_wholly", together.any_wholly),
        ("any_refused", together.any_refused),
    ];
    out.counts("together", "", "", &counts);
    if let Some(of) = &report.together_intervals {
        out.together_intervals("together", "", of);
    }
    out.count("rules", "", "", "distinct", report.rules.distinct);
    // A sample of the disallowed URLs is explained, so its size is the whole of these shares.
    if let Some(deciding) = &report.deciding {
        let counts = [
            ("every", deciding.every),
            ("explained", deciding.explained),
            ("not_by_rule", deciding.not_by_rule),
        ];
        out.counts("deciding", "", "", &counts);
    }
}

/// The coverage of each agent, by count and by weight, and its verdicts on the URLs.
fn agent_counts(report: &Report, out: &mut CsvWriter) {
    for agent in &report.agents {
        out.coverages("agents", "", &agent.agent, "origins", &agent.units);
        if let Some(intervals) = &agent.intervals {
            out.coverage_intervals("agents", "", &agent.agent, intervals);
        }
        if let Some(weighted) = &agent.weighted {
            out.coverages("agents", "", &agent.agent, "weighted", weighted);
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
}

/// The sets of agents, each with the units that disallow some or all of its agents.
fn sets(report: &Report, out: &mut CsvWriter) {
    for set in &report.sets {
        let counts = [
            ("agents", set.agents.len() as u64),
            ("all_wholly", set.together.all_wholly),
            ("any_wholly", set.together.any_wholly),
            ("any_refused", set.together.any_refused),
        ];
        out.counts("sets", &set.name, "", &counts);
        if let Some(of) = &set.intervals {
            out.together_intervals("sets", &set.name, of);
        }
    }
}

/// The domains that dominate a figure.
fn concentrations(report: &Report, out: &mut CsvWriter) {
    for of in &report.concentrations {
        let agent = of.agent.as_deref().unwrap_or_default();
        out.counts(
            "concentrations",
            &of.domain,
            agent,
            &[("units", of.units), ("of", of.of)],
        );
    }
}

/// The groups, each with the coverage of every agent.
fn groups(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    if let Some(list) = &report.group_list {
        let counts = [
            ("entries", list.entries),
            ("units_matched", list.units_matched),
            ("overruled", list.overruled),
        ];
        out.counts("group_list", "", "", &counts);
    }
    for group in report.groups.iter().flatten() {
        out.count("groups", &group.name, "", "of", group.of);
        out.count("groups", &group.name, "", "units", group.units);
        for (number, (agent, counts)) in agents.iter().zip(&group.agents).enumerate() {
            out.coverages("groups", &group.name, agent, "origins", counts);
            let intervals = group.intervals.as_ref();
            if let Some(intervals) = intervals.and_then(|of| of.get(number)) {
                out.coverage_intervals("groups", &group.name, agent, intervals);
            }
        }
    }
}

/// The reasons of the verdicts.
fn reasons(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    for reason in &report.reasons {
        let name = reason.reason.name();
        out.counts(
            "bases",
            name,
            "",
            &[
                ("origins", reason.origins),
                ("origins_refused", reason.origins_refused),
            ],
        );
        out.interval("bases", name, "", "origins", reason.interval);
        // Without lists there are no URLs, and a line with 0 would read as a count.
        if let Some(urls) = reason.urls {
            out.count("bases", name, "", "urls", urls);
        }
        out.by_agent(
            "bases",
            name,
            agents,
            "urls_refused",
            reason.urls_refused.as_deref().unwrap_or_default(),
        );
    }
}

/// The origins that disallow most, with their coverage for each agent.
fn top_origins(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    for origin in &report.top_origins {
        let name = &origin.origin;
        out.line("top_origins", name, "", "basis", origin.reason.name());
        for (agent, coverage) in agents.iter().zip(&origin.agents) {
            out.line("top_origins", name, agent, "refused", coverage.name());
        }
        if let Some(urls) = origin.urls {
            out.count("top_origins", name, "", "urls", urls);
        }
        if let Some(urls) = origin.urls_refused {
            out.count("top_origins", name, "", "urls_refused", urls);
        }
    }
}

/// The rules that most units have, and those that disallow most URLs.
fn rules(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    for rule in &report.rules.top {
        out.count("rules", &rule.rule, "", "origins", rule.origins);
        out.interval("rules", &rule.rule, "", "origins", rule.interval);
        out.by_agent("rules", &rule.rule, agents, "origins", &rule.agents);
    }
    for rule in report.deciding.iter().flat_map(|deciding| &deciding.top) {
        out.count("deciding", &rule.rule, "", "urls", rule.urls);
        out.by_agent("deciding", &rule.rule, agents, "urls", &rule.agents);
    }
}

/// The declared preferences, each field a section of its own.
fn signals(report: &Report, out: &mut CsvWriter) {
    for signal in &report.signals {
        let counts = [
            ("files", signal.files),
            ("origins", signal.origins),
            ("with_path", signal.with_path),
            ("other", signal.other),
        ];
        out.counts(signal.field, "", "", &counts);
        out.interval(signal.field, "", "", "origins", signal.interval);
        for value in &signal.values {
            out.count(signal.field, &value.value, "", "origins", value.origins);
            out.interval(signal.field, &value.value, "", "origins", value.interval);
        }
    }
}

/// A series as CSV: one line per snapshot and agent, and with groups also per group. Shares are
/// fractions of the units; with weights, further columns have their sums and shares.
pub(super) fn series_csv(series: &Series) -> String {
    let names = CoverageCounts::<u64>::NAMES;
    let columns = SeriesColumns {
        has_groups: series.points.iter().any(|point| point.groups.is_some()),
        has_weights: series.points.iter().any(|point| point.weights.is_some()),
        has_sample: series.points.iter().any(|point| point.sample.is_some()),
    };
    // Groups and weights belong to the whole run, so either all lines have these columns or none.
    let mut out = format!(
        "label,agent{},units,{},share_wholly,share_partly",
        if columns.has_groups { ",group" } else { "" },
        names.join(",")
    );
    if columns.has_sample {
        out += ",wholly_low,wholly_high,partly_low,partly_high";
    }
    if columns.has_weights {
        out += ",weight";
        for name in names {
            out += &format!(",weighted_{name}");
        }
        out += ",weighted_share_wholly,weighted_share_partly";
    }
    out.push('\n');
    // One line has all that a plot needs: pivots over labels or agents join nothing.
    for point in &series.points {
        for agent in &point.agents {
            push_agent_point(point, agent, columns, &mut out);
        }
        for group in point.groups.iter().flatten() {
            for agent in 0..point.agents.len() {
                push_group_point(point, group, agent, columns, &mut out);
            }
        }
    }
    out
}

/// The optional columns of a series.
#[derive(Clone, Copy)]
struct SeriesColumns {
    has_groups: bool,
    has_weights: bool,
    has_sample: bool,
}

/// The line of an agent in a snapshot.
fn push_agent_point(
    point: &SeriesPoint,
    agent: &AgentPoint,
    columns: SeriesColumns,
    out: &mut String,
) {
    let _ = write!(
        out,
        "{},{}{},{}",
        csv_field(&point.label),
        csv_field(&agent.agent),
        if columns.has_groups { "," } else { "" },
        point.units
    );
    // The counts and their shares, then the same by weight, in the order of the header.
    let counts = agent.units;
    push_counts(
        &counts,
        [counts.wholly as f64, counts.partly as f64],
        point.units as f64,
        out,
    );
    push_intervals(agent.intervals.as_ref(), out);
    if let Some((weighted, weights)) = agent.weighted.zip(point.weights.as_ref()) {
        let _ = write!(out, ",{}", weights.matched);
        push_counts(
            &weighted,
            [weighted.wholly, weighted.partly],
            weights.matched,
            out,
        );
    }
    out.push('\n');
}

/// The line of an agent in a group of a snapshot. Weights cover all units, so their columns are
/// empty.
fn push_group_point(
    point: &SeriesPoint,
    group: &UnitGroup,
    agent: usize,
    columns: SeriesColumns,
    out: &mut String,
) {
    let Some((name, counts)) = point.agents.get(agent).zip(group.agents.get(agent)) else {
        return;
    };
    let _ = write!(
        out,
        "{},{},{},{}",
        csv_field(&point.label),
        csv_field(&name.agent),
        csv_field(&group.name),
        group.units
    );
    push_counts(
        counts,
        [counts.wholly as f64, counts.partly as f64],
        group.units as f64,
        out,
    );
    let intervals = group.intervals.as_ref();
    push_intervals(intervals.and_then(|of| of.get(agent)), out);
    if columns.has_weights {
        // The weight, the sums by coverage, and two shares.
        *out += &",".repeat(1 + counts.values().len() + 2);
    }
    out.push('\n');
}

/// The ends of the intervals of wholly and partly; nothing without a sample.
fn push_intervals(intervals: Option<&CoverageCounts<Interval>>, out: &mut String) {
    for of in intervals.iter().flat_map(|of| [of.wholly, of.partly]) {
        let _ = write!(out, ",{:.6},{:.6}", of.low, of.high);
    }
}

/// The counts, and the fractions `[wholly, partly]` of the whole. A whole of 0 has the fractions 0.
fn push_counts<N: Copy + AddAssign + Display>(
    counts: &CoverageCounts<N>,
    parts: [f64; 2],
    whole: f64,
    out: &mut String,
) {
    for value in counts.values() {
        let _ = write!(out, ",{value}");
    }
    for part in parts {
        let _ = write!(out, ",{:.6}", if whole > 0.0 { part / whole } else { 0.0 });
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

    /// The ends of the interval of a count's share, as fractions; nothing without a sample.
    fn interval(
        &mut self,
        section: &str,
        item: &str,
        agent: &str,
        measure: &str,
        interval: Option<Interval>,
    ) {
        let Some(Interval { low, high, .. }) = interval else {
            return;
        };
        for (end, value) in [("low", low), ("high", high)] {
            let measure = format!("{measure}_{end}");
            self.line(section, item, agent, &measure, &format!("{value:.6}"));
        }
    }

    fn coverage_intervals(
        &mut self,
        section: &str,
        item: &str,
        agent: &str,
        intervals: &CoverageCounts<Interval>,
    ) {
        let names = CoverageCounts::<Interval>::NAMES;
        for (name, interval) in names.iter().zip(intervals.values()) {
            self.interval(
                section,
                item,
                agent,
                &format!("origins_{name}"),
                Some(interval),
            );
        }
    }

    fn together_intervals(&mut self, section: &str, item: &str, of: &TogetherIntervals) {
        for (name, interval) in [
            ("all_wholly", of.all_wholly),
            ("any_wholly", of.any_wholly),
            ("any_refused", of.any_refused),
        ] {
            self.interval(section, item, "", name, Some(interval));
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
