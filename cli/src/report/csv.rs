//! A report as CSV: one figure per line, so that it can be filtered and pivoted.

use super::fold::{CoverageCounts, Interval, Report, Series, SeriesPoint, UnitGroup};
use crate::figures::csv::{DelimitedText, csv_field};
use std::fmt::{Display, Write as _};

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
    disallowed_since(report, &mut out);
    reasons(report, &agents, &mut out);
    top_origins(report, &agents, &mut out);
    rules(report, &agents, &mut out);
    signals(report, &mut out);
    out.0
}

/// The figures of the whole report: the wholes that a spreadsheet divides the counts below by.
fn totals(report: &Report, out: &mut CsvWriter) {
    // The checksum distinguishes two reports of one snapshot from those of different ones.
    let snapshot = &report.snapshot;
    let key = ["snapshot", "", ""];
    out.line(key, "checksum", &snapshot.checksum);
    out.line(key, "origins", snapshot.origins);
    out.line(key, "robots_files", snapshot.robots_files);
    // Every share of an agent is one of the units.
    out.line(["units", "", ""], "by", report.by.name());
    out.line(["units", "", ""], "units", report.units);
    if let Some(sample) = &report.sample {
        let counts = [
            ("size", sample.size.into()),
            ("seed", sample.seed),
            ("units", sample.units),
            ("of", sample.of),
        ];
        out.counts(["sample", "", ""], "", counts);
    }
    if let Some(weights) = &report.weights {
        let key = ["weights", "", ""];
        out.line(key, "entries", weights.entries);
        out.line(key, "entries_matched", weights.entries_matched);
        out.line(key, "units_matched", weights.units_matched);
        out.line(key, "listed", weights.listed);
        out.line(key, "matched", weights.matched);
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
        out.counts(["lists", "", ""], "", counts);
    }
    // These depend on the set of agents, and cannot be added up from the lines of each.
    let key = ["together", "", ""];
    out.counts(key, "", report.together.named());
    let intervals = report.together_intervals.iter();
    out.intervals(key, "", intervals.flat_map(|of| of.named()));
    out.line(["rules", "", ""], "distinct", report.rules.distinct);
    // A sample of the disallowed URLs is explained, so its size is the whole of these shares.
    if let Some(deciding) = &report.deciding {
        let counts = [
            ("every", deciding.every),
            ("explained", deciding.explained),
            ("not_by_rule", deciding.not_by_rule),
        ];
        out.counts(["deciding", "", ""], "", counts);
    }
}

/// The coverage of each agent, by count and by weight, and its verdicts on the URLs.
fn agent_counts(report: &Report, out: &mut CsvWriter) {
    for agent in &report.agents {
        let key = ["agents", "", &agent.agent];
        out.counts(key, "origins_", agent.units.named());
        let intervals = agent.intervals.iter();
        out.intervals(key, "origins_", intervals.flat_map(|of| of.named()));
        let weighted = agent.weighted.iter();
        out.counts(key, "weighted_", weighted.flat_map(|of| of.named()));
        let urls = agent.urls();
        out.counts(key, "urls_", urls.iter().flat_map(|urls| urls.named()));
    }
}

/// The sets of agents, each with the units that disallow some or all of its agents.
fn sets(report: &Report, out: &mut CsvWriter) {
    for set in &report.sets {
        let key = ["sets", &set.name, ""];
        out.line(key, "agents", set.agents.len());
        out.counts(key, "", set.together.named());
        let intervals = set.intervals.iter();
        out.intervals(key, "", intervals.flat_map(|of| of.named()));
    }
}

/// The domains that dominate a figure.
fn concentrations(report: &Report, out: &mut CsvWriter) {
    for of in &report.concentrations {
        let agent = of.agent.as_deref().unwrap_or_default();
        let key = ["concentrations", &of.domain, agent];
        out.counts(key, "", [("units", of.units), ("of", of.of)]);
    }
}

/// The groups, each with the coverage of every agent.
fn groups(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    if let Some(list) = &report.group_list {
        let key = ["group_list", "", ""];
        out.line(key, "entries", list.entries);
        out.line(key, "units_matched", list.units_matched);
        out.line(key, "overruled", list.overruled);
    }
    for group in report.groups.iter().flatten() {
        out.line(["groups", &group.name, ""], "of", group.of);
        out.line(["groups", &group.name, ""], "units", group.units);
        for (number, (agent, counts)) in agents.iter().zip(&group.agents).enumerate() {
            let key = ["groups", &group.name, agent];
            out.counts(key, "origins_", counts.named());
            let intervals = group.intervals.iter().filter_map(|of| of.get(number));
            out.intervals(key, "origins_", intervals.flat_map(|of| of.named()));
        }
    }
}

/// The periods in which units began to disallow each agent.
fn disallowed_since(report: &Report, out: &mut CsvWriter) {
    if let Some(since) = &report.disallowed_since {
        for of in &since.agents {
            let key = ["disallowed_since", "", &of.agent];
            out.counts(
                key,
                "",
                [("origins", of.units), ("first_answer", of.first_answer)],
            );
            for (period, began) in since.periods.iter().zip(&of.began) {
                out.line(["disallowed_since", period, &of.agent], "origins", began);
            }
        }
    }
}

/// The reasons of the verdicts.
fn reasons(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    for reason in &report.reasons {
        let name = reason.reason.name();
        let key = ["bases", name, ""];
        out.line(key, "origins", reason.origins);
        out.line(key, "origins_refused", reason.origins_refused);
        out.intervals(key, "", reason.interval.map(|of| ("origins", of)));
        // Without lists there are no URLs, and a line with 0 would read as a count.
        out.counts(key, "", reason.urls.map(|urls| ("urls", urls)));
        let refused = reason.urls_refused.as_deref().unwrap_or_default();
        out.by_agent("bases", name, agents, "urls_refused", refused);
    }
}

/// The origins that disallow most, with their coverage for each agent.
fn top_origins(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    for origin in &report.top_origins {
        let name = &origin.origin;
        let key = ["top_origins", name, ""];
        out.line(key, "basis", origin.reason.name());
        for (agent, coverage) in agents.iter().zip(&origin.agents) {
            out.line(["top_origins", name, agent], "refused", coverage.name());
        }
        out.counts(key, "", origin.urls.map(|urls| ("urls", urls)));
        out.counts(
            key,
            "",
            origin.urls_refused.map(|urls| ("urls_refused", urls)),
        );
    }
}

/// The rules that most units have, and those that disallow most URLs.
fn rules(report: &Report, agents: &[&str], out: &mut CsvWriter) {
    for rule in &report.rules.top {
        let key = ["rules", &rule.rule, ""];
        out.line(key, "origins", rule.origins);
        out.intervals(key, "", rule.interval.map(|of| ("origins", of)));
        out.by_agent("rules", &rule.rule, agents, "origins", &rule.agents);
    }
    for rule in report.deciding.iter().flat_map(|deciding| &deciding.top) {
        out.line(["deciding", &rule.rule, ""], "urls", rule.urls);
        out.by_agent("deciding", &rule.rule, agents, "urls", &rule.agents);
    }
}

/// The declared preferences, each field a section of its own.
fn signals(report: &Report, out: &mut CsvWriter) {
    for signal in &report.signals {
        let key = [signal.field, "", ""];
        out.line(key, "files", signal.files);
        out.line(key, "origins", signal.origins);
        out.line(key, "with_path", signal.with_path);
        out.line(key, "other", signal.other);
        out.intervals(key, "", signal.interval.map(|of| ("origins", of)));
        for value in &signal.values {
            let key = [signal.field, &value.value, ""];
            out.line(key, "origins", value.origins);
            out.intervals(key, "", value.interval.map(|of| ("origins", of)));
        }
    }
}

/// A series as CSV: one line per snapshot and agent, and with groups also per group. Shares are
/// fractions of the units; with weights, further columns have their sums and shares.
pub(super) fn series_csv(series: &Series) -> String {
    let names: Vec<&str> = CoverageCounts::<u64>::default()
        .named()
        .map(|(name, _)| name)
        .collect();
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
        for group in std::iter::once(None).chain(point.groups.iter().flatten().map(Some)) {
            for agent in 0..point.agents.len() {
                push_point(point, agent, group, columns, &mut out);
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

/// The line of an agent in a snapshot, or in a group of it. Weights cover all units, so their
/// columns are empty in the line of a group.
fn push_point(
    point: &SeriesPoint,
    number: usize,
    group: Option<&UnitGroup>,
    columns: SeriesColumns,
    out: &mut String,
) {
    let agent = &point.agents[number];
    let (counts, intervals, units) = match group {
        Some(group) => {
            let intervals = group.intervals.as_ref();
            (
                group.agents[number],
                intervals.map(|of| of[number]),
                group.units,
            )
        }
        None => (agent.units, agent.intervals, point.units),
    };
    let _ = write!(
        out,
        "{},{}",
        csv_field(&point.label),
        csv_field(&agent.agent)
    );
    if columns.has_groups {
        let _ = write!(out, ",{}", csv_field(group.map_or("", |group| &group.name)));
    }
    // The counts and their shares, then the same by weight, in the order of the header.
    let _ = write!(out, ",{units}");
    push_counts(
        &counts,
        [counts.wholly as f64, counts.partly as f64],
        units as f64,
        out,
    );
    for of in intervals.iter().flat_map(|of| [of.wholly, of.partly]) {
        let _ = write!(out, ",{:.6},{:.6}", of.low, of.high);
    }
    match agent.weighted.zip(point.weights.as_ref()) {
        // The weight, the sums by coverage, and two shares.
        _ if group.is_some() && columns.has_weights => {
            *out += &",".repeat(1 + counts.named().count() + 2);
        }
        Some((of, weights)) if group.is_none() => {
            let _ = write!(out, ",{}", weights.matched);
            push_counts(&of, [of.wholly, of.partly], weights.matched, out);
        }
        _ => {}
    }
    out.push('\n');
}

/// The counts, and the fractions `[wholly, partly]` of the whole. A whole of 0 has the fractions 0.
fn push_counts<N: Copy + Display>(
    counts: &CoverageCounts<N>,
    parts: [f64; 2],
    whole: f64,
    out: &mut String,
) {
    for (_, value) in counts.named() {
        let _ = write!(out, ",{value}");
    }
    for part in parts {
        let _ = write!(out, ",{:.6}", if whole > 0.0 { part / whole } else { 0.0 });
    }
}

struct CsvWriter(String);

/// The section, the item and the agent of a figure; empty where they do not apply.
type Key<'k> = [&'k str; 3];

impl CsvWriter {
    fn line(&mut self, [section, item, agent]: Key<'_>, measure: &str, value: impl Display) {
        let value = value.to_string();
        let fields = [section, item, agent, measure, &value].map(csv_field);
        DelimitedText::Csv.push_row(fields, &mut self.0);
    }

    /// The counts, each with the name of its measure behind a prefix.
    fn counts<'c, N: Display>(
        &mut self,
        key: Key<'_>,
        prefix: &str,
        counts: impl IntoIterator<Item = (&'c str, N)>,
    ) {
        for (measure, value) in counts {
            self.line(key, &format!("{prefix}{measure}"), value);
        }
    }

    /// The ends of the intervals of counts, as fractions; nothing without a sample.
    fn intervals<'c>(
        &mut self,
        key: Key<'_>,
        prefix: &str,
        of: impl IntoIterator<Item = (&'c str, Interval)>,
    ) {
        for (measure, Interval { low, high }) in of {
            let ends = [("low", low), ("high", high)];
            let ends = ends.map(|(end, value)| (end, format!("{value:.6}")));
            self.counts(key, &format!("{prefix}{measure}_"), ends);
        }
    }

    /// The counts of each agent.
    fn by_agent(&mut self, section: &str, item: &str, agents: &[&str], measure: &str, of: &[u64]) {
        for (agent, value) in agents.iter().zip(of) {
            self.line([section, item, agent], measure, value);
        }
    }
}
