//! The units of a report in its texts, and the sections of sets, weights and groups.

use super::super::fold::{
    CoverageCounts, NO_GROUP, Report, SampleFacts, SetReport, UnitGroup, UnitKind,
};
use super::super::group_measures::{GROUP_MEASURES, GroupMeasure};
use super::super::headlines;
use crate::figures::escape::escape_cut;
use crate::figures::html::{
    BarRow, BarSegment, LONGEST_NAME, and_more, bar_rows, legend, number, number_of, number_within,
    unbroken,
};
use crate::figures::shares::weight_share;
use maud::{Markup, html};
use std::cmp::Ordering;

/// The most rows of agents, the most columns of agents, and the most rows of groups. The JSON has
/// all.
const AGENTS: usize = 40;
const COLUMNS: usize = 6;
const GROUPS: usize = 30;

/// The most rows of sets of agents.
const SETS: usize = 30;

/// The keys of the bars of coverages, in the order of [`coverage_segments`].
pub(super) const COVERAGES: [(&str, &str); 5] = [
    ("wholly", "disallowed wholly, by name"),
    ("global", "wholly, by *"),
    ("status", "wholly, by status"),
    ("partly", "disallowed partly"),
    ("not", "nothing disallowed"),
];

/// The number of leading segments of a bar of coverages that are disallowed wholly.
pub(super) const WHOLLY: usize = 3;

/// The segments of a bar of coverages, from counts or sums of weights.
pub(super) fn coverage_segments(sizes: [f64; 5]) -> Vec<BarSegment<'static>> {
    COVERAGES
        .into_iter()
        .zip(sizes)
        .map(|((class, name), size)| BarSegment { class, name, size })
        .collect()
}

/// A count of units and its share, with the interval of a sample.
pub(super) fn unit_number(report: &Report, pointer: &str, count: u64) -> Markup {
    number_in_sample(report.sample.as_ref(), pointer, count, report.units)
}

/// A count and its share of some units, with the interval of a sample.
pub(super) fn number_in_sample(
    sample: Option<&SampleFacts>,
    pointer: &str,
    count: u64,
    whole: u64,
) -> Markup {
    let interval = sample.map(|sample| sample.interval(count, whole));
    number_within(pointer, count, whole, interval.map(|of| (of.low, of.high)))
}

/// The explanation of units.
pub(super) fn explanation(by: UnitKind) -> String {
    let unit = match by {
        UnitKind::Origin => {
            return "An origin is a scheme, host and port: http, https and www are separate origins."
                .to_owned();
        }
        UnitKind::Host => "All schemes and ports of a host",
        _ => "All hosts of a registrable domain",
    };
    format!("{unit} count once, by one of its origins.")
}

/// The units that disallow some or all agents of each set; nothing without sets.
pub(super) fn sets(report: &Report) -> Markup {
    let Some(heading) = headlines::sets(report) else {
        return html! {};
    };
    html! {
        section {
            p.kicker { (report.by.plural_title()) " by set of agents" }
            h2 { (unbroken(&heading)) }
            table.stacked {
                thead { tr { th { "Set" } th.n { "Agents" } @for (_, name) in SET_COUNTS { th.n { (name) } } } }
                tbody { @for (s, set) in report.sets.iter().take(SETS).enumerate() { (set_row(s, set, report)) } }
            }
            (and_more(report.sets.len(), SETS, "set"))
        }
    }
}

/// The counts of a set: the key of the JSON, and the heading.
const SET_COUNTS: [(&str, &str); 3] = [
    ("any_wholly", "disallow one wholly"),
    ("all_wholly", "disallow all wholly"),
    ("any_refused", "disallow one in part"),
];

fn set_row(s: usize, set: &SetReport, report: &Report) -> Markup {
    html! {
        tr {
            th.origin { bdi { (escape_cut(&set.name, LONGEST_NAME)) } }
            td.n data-label="Agents" { (set.agents.len()) }
            @for (key, name) in SET_COUNTS {
                td.n data-label=(name) { (unit_number(report, &format!("/sets/{s}/{key}"), set.together.get(key))) }
            }
        }
    }
}

/// The weight of the units that disallow each agent; nothing without weights.
pub(super) fn weighted(report: &Report) -> Markup {
    let Some(weights) = &report.weights else {
        return html! {};
    };
    // By weight, another agent may be the most disallowed one, so this section has its own order.
    let mut agents: Vec<(&str, CoverageCounts<f64>)> = report
        .agents
        .iter()
        .filter_map(|agent| Some((agent.agent.as_str(), agent.weighted?)))
        .collect();
    agents.sort_by(|(_, a), (_, b)| {
        refused_weights(b)
            .partial_cmp(&refused_weights(a))
            .unwrap_or(Ordering::Equal)
    });
    let rows: Vec<BarRow<'_>> = agents
        .iter()
        .take(AGENTS)
        .map(|(name, counts)| weighted_row(name, counts, weights.matched))
        .collect();
    let heading = match agents.first() {
        Some((name, counts)) => format!(
            "{} is disallowed most: wholly by {} of the weight, {} by name",
            escape_cut(name, LONGEST_NAME),
            weight_share(counts.wholly, weights.matched),
            weight_share(counts.wholly_by_name, weights.matched)
        ),
        None => "No agents".to_owned(),
    };
    html! {
        section {
            p.kicker { "Weighted " (report.by.plural()) " by agent" }
            h2 { (unbroken(&heading)) }
            (legend(&COVERAGES))
            (bar_rows(&rows, "weights"))
            (and_more(agents.len(), AGENTS, "agent"))
            p.soft {
                "The weights name " (number("/weights/units_matched", weights.units_matched))
                " of the " (report.by.plural()) ". "
                (number_of("/weights/entries_matched", weights.entries_matched, weights.entries))
                " of the entries name one, with "
                (unbroken(&weight_share(weights.matched, weights.listed)))
                " of the listed weight. All other " (report.by.plural()) " weigh nothing."
            }
        }
    }
}

/// The weights that order agents: disallowed wholly by name, wholly, partly.
fn refused_weights(counts: &CoverageCounts<f64>) -> [f64; 3] {
    [counts.wholly_by_name, counts.wholly, counts.partly]
}

fn weight_text(part: f64, whole: f64) -> String {
    unbroken(&weight_share(part, whole))
}

/// The bar of an agent. A sum of weights means little to a reader, so the row has shares
/// alone.
fn weighted_row<'r>(name: &'r str, counts: &CoverageCounts<f64>, whole: f64) -> BarRow<'r> {
    let causes = counts.causes();
    let [by_name, by_global, by_status, partly, not] =
        causes.map(|weight| weight_text(weight, whole));
    BarRow {
        name,
        headline: html! { "wholly " (weight_text(counts.wholly, whole)) },
        // The bars have the colours of the section of counts, so that a reader compares the two.
        segments: coverage_segments(causes),
        refusals: WHOLLY,
        details: html! {
            span { "by name " (by_name) ", " }
            span { "by * " (by_global) ", " }
            span { "by status " (by_status) "; " }
            span { "partly " (partly) "; " }
            span { "not " (not) }
        },
    }
}

/// The groups, with a column for each of the most disallowed agents.
pub(super) fn groups(report: &Report) -> Markup {
    let Some(groups) = &report.groups else {
        return html! {};
    };
    // More columns do not fit a page, and on a phone each is a line of its block.
    let columns: Vec<usize> = report
        .agents_by_refusal()
        .into_iter()
        .take(COLUMNS)
        .collect();
    let names: Vec<String> = columns
        .iter()
        .map(|&i| escape_cut(&report.agents[i].agent, LONGEST_NAME))
        .collect();
    let columns = GroupColumns { columns, names };
    let kind = match report.group_list {
        Some(_) => "group",
        None => "top-level domain",
    };
    html! {
        section {
            p.kicker { (report.by.plural_title()) " by " (kind) }
            h2 { (unbroken(&headlines::groups(report).unwrap_or_else(|| format!("No {}", report.by.plural())))) }
            (group_table(report, groups, &columns, &GROUP_MEASURES[0]))
            (and_more(groups.len(), GROUPS, kind))
            (and_more(report.agents.len(), COLUMNS, "agent"))
            @if report.group_list.is_some() {
                @for measure in &GROUP_MEASURES[1..] {
                    details {
                        summary { (measure.caption) }
                        (group_table(report, groups, &columns, measure))
                    }
                }
            }
        }
    }
}

/// The agents of the tables of groups: their numbers and their names.
struct GroupColumns {
    columns: Vec<usize>,
    names: Vec<String>,
}

fn group_table(
    report: &Report,
    groups: &[UnitGroup],
    columns: &GroupColumns,
    measure: &GroupMeasure,
) -> Markup {
    let (kind, head) = match report.group_list {
        Some(_) => ("in each group", "Group"),
        None => ("with each top-level domain", "Domain"),
    };
    // The units without a group are last, and a study compares its groups with them.
    let shown = groups
        .iter()
        .enumerate()
        .filter(|(g, group)| *g < GROUPS || group.name == NO_GROUP);
    html! {
        table.stacked {
            caption { (measure.caption) ", of the " (report.by.plural()) " " (kind) "." }
            thead { tr { th { (head) } th.n { (report.by.plural_title()) } @for name in &columns.names { th.n { (name) } } } }
            tbody { @for (g, group) in shown { (group_row(g, group, report, columns, measure)) } }
        }
    }
}

fn group_row(
    g: usize,
    group: &UnitGroup,
    report: &Report,
    columns: &GroupColumns,
    measure: &GroupMeasure,
) -> Markup {
    let agents = columns.columns.iter();
    let cells = agents.filter_map(|&agent| Some((agent, group.agents.get(agent)?)));
    let sample = report.sample.map(|sample| group.sample(&sample));
    html! {
        tr {
            th.origin { bdi { (escape_cut(&group.name, LONGEST_NAME)) } }
            td.n data-label=(report.by.plural_title()) { (number(&format!("/groups/{g}/of"), group.of)) }
            @for ((agent, counts), name) in cells.zip(&columns.names) {
                td.n data-label=(name) { (number_in_sample(sample.as_ref(), &format!("/groups/{g}/agents/{agent}/{}", measure.key), counts.get(measure.key), group.units)) }
            }
        }
    }
}
