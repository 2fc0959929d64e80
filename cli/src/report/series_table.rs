//! A series as text for a terminal: one row per agent, one column per snapshot.

use super::fold::{AgentReport, SampleFacts, Series, SeriesPoint, Together};
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape_cut;
use crate::figures::shares::{interval, share, weight_share};
use crate::figures::table::{Columns, longest};

/// The most characters of a name and of a label, and the width of the table.
const NAME: usize = 26;
const LABEL: usize = 16;
const WIDTH: usize = 100;

/// The most agents with a table of groups, and the most groups in it.
const GROUP_AGENTS: usize = 5;
const GROUPS: usize = 50;

/// The share of an agent at a point.
type Share = fn(&SeriesPoint, &AgentReport) -> Option<String>;

/// The tables of a series, each with its title.
const SHARES: [(&str, Share); 5] = [
    ("disallowed wholly", |point, agent| {
        Some(unit_share(point, agent.units.wholly))
    }),
    ("disallowed wholly by name", |point, agent| {
        Some(unit_share(point, agent.units.wholly_by_name))
    }),
    ("disallowed partly", |point, agent| {
        Some(unit_share(point, agent.units.partly))
    }),
    ("disallowed wholly, by weight", |point, agent| {
        Some(weight_share(
            agent.weighted?.wholly,
            point.weights.as_ref()?.matched,
        ))
    }),
    ("disallowed partly, by weight", |point, agent| {
        Some(weight_share(
            agent.weighted?.partly,
            point.weights.as_ref()?.matched,
        ))
    }),
];

/// A count of a set.
type SetCount = fn(&Together) -> u64;

/// The tables of the sets of agents, each with its title.
const SET_COUNTS: [(&str, SetCount); 2] = [
    ("one of the set wholly", |set| set.any_wholly),
    ("all of the set wholly", |set| set.all_wholly),
];

pub(super) fn series_table(series: &Series) -> String {
    let mut out = title(series) + "\n";
    let sample = series.points.iter().find_map(|point| point.sample);
    // An interval follows each share of a sample.
    let share = if sample.is_some() { 16 } else { 8 };
    let width = longest(labels(&series.points)).max(share) + 2;
    let cells = [width];
    let columns = Columns {
        indent: 2,
        name: NAME,
        gap: 0,
        cells: &cells,
    };
    // As many columns as fit; the others follow below.
    for points in series.points.chunks(((WIDTH - NAME - 2) / width).max(1)) {
        let sizes = points.iter().map(|point| grouped(point.units)).collect();
        push_row("", Vec::new(), &columns, &mut out);
        push_row("", labels(points), &columns, &mut out);
        push_row(series.by.plural(), sizes, &columns, &mut out);
        for (title, share) in SHARES {
            push_shares(series, points, title, share, &columns, &mut out);
        }
        for agent in series.agents_by_refusal().into_iter().take(GROUP_AGENTS) {
            push_groups(series, points, agent, &columns, &mut out);
        }
        for (title, count) in SET_COUNTS {
            push_sets(points, title, count, &columns, &mut out);
        }
    }
    out
}

/// The rows of one share. A share that no agent has, such as one by weight without weights, has no
/// title either.
fn push_shares(
    series: &Series,
    points: &[SeriesPoint],
    title: &str,
    share: Share,
    columns: &Columns<'_>,
    out: &mut String,
) {
    let mut has_title = false;
    for agent in series.agents_by_refusal() {
        let cells: Option<Vec<String>> = points
            .iter()
            .map(|point| share(point, point.agents.get(agent)?))
            .collect();
        let Some((name, cells)) = series.agents.get(agent).zip(cells) else {
            continue;
        };
        if !has_title {
            push_row("", Vec::new(), columns, out);
            push_row(title, labels(points), columns, out);
            has_title = true;
        }
        push_row(&escape_cut(name, NAME - 1), cells, columns, out);
    }
}

/// The shares of each group that disallow an agent wholly.
fn push_groups(
    series: &Series,
    points: &[SeriesPoint],
    agent: usize,
    columns: &Columns<'_>,
    out: &mut String,
) {
    let names = series.group_names();
    let Some(agent_name) = series.agents.get(agent).filter(|_| !names.is_empty()) else {
        return;
    };
    push_row("", Vec::new(), columns, out);
    let title = format!("wholly {}", escape_cut(agent_name, NAME - 8));
    push_row(&title, labels(points), columns, out);
    for name in names.iter().take(GROUPS) {
        let shares = points.iter().map(|point| group_share(point, name, agent));
        push_row(&escape_cut(name, NAME - 1), shares.collect(), columns, out);
    }
    if names.len() > GROUPS {
        let more = counted((names.len() - GROUPS) as u64, "more group");
        out.push_str(&format!(
            "  And {more}, which --json-to and --csv-to have.\n"
        ));
    }
}

/// The share of a group's units that disallow all to an agent, with the interval of a sample.
fn group_share(point: &SeriesPoint, name: &str, agent: usize) -> String {
    // A share of no units would read as one that nothing disallows.
    let group = point.group(name).filter(|group| group.units > 0);
    let Some((group, counts)) = group.and_then(|group| Some((group, group.agents.get(agent)?)))
    else {
        return "-".to_owned();
    };
    let sample = point.sample.map(|sample| group.sample(&sample));
    with_interval(sample, counts.wholly, group.units)
}

/// The shares of the units that disallow each set of agents.
fn push_sets(
    points: &[SeriesPoint],
    title: &str,
    count: fn(&Together) -> u64,
    columns: &Columns<'_>,
    out: &mut String,
) {
    let Some(first) = points.first().filter(|first| !first.sets.is_empty()) else {
        return;
    };
    push_row("", Vec::new(), columns, out);
    push_row(title, labels(points), columns, out);
    for (number, set) in first.sets.iter().enumerate() {
        let mut shares = Vec::new();
        for point in points {
            let together = point.sets.get(number).map(|set| &set.together);
            shares.push(unit_share(point, together.map_or(0, count)));
        }
        push_row(&escape_cut(&set.name, NAME - 1), shares, columns, out);
    }
}

/// The share of a point's units, with the interval of a sample.
fn unit_share(point: &SeriesPoint, part: u64) -> String {
    with_interval(point.sample, part, point.units)
}

fn with_interval(sample: Option<SampleFacts>, part: u64, whole: u64) -> String {
    let share = share(part, whole);
    match sample.map(|sample| sample.interval(part, whole)) {
        Some(of) => format!("{share} {:>9}", interval(of.low, of.high)),
        None => share,
    }
}

fn push_row(name: &str, cells: Vec<String>, columns: &Columns<'_>, out: &mut String) {
    out.push_str(columns.row(name, cells).trim_end());
    out.push('\n');
}

/// The labels of points, as headings of their columns.
fn labels(points: &[SeriesPoint]) -> Vec<String> {
    points
        .iter()
        .map(|point| escape_cut(&point.label, LABEL - 1))
        .collect()
}

/// The number of agents and of snapshots, and the counted units.
fn title(series: &Series) -> String {
    let agents = match series.agents.as_slice() {
        [one] => escape_cut(one, NAME),
        agents => format!("{} agents", agents.len()),
    };
    let snapshots = counted(series.points.len() as u64, "snapshot");
    let title = format!("What robots.txt lets {agents} fetch, in {snapshots}");
    let units = series.by.plural();
    if let Some(sample) = series.points.iter().find_map(|point| point.sample) {
        let of = match series.common_units {
            Some(common) => format!(
                "the {} that all snapshots share",
                counted(common, series.by.name())
            ),
            None => format!("the {units} of each snapshot"),
        };
        return format!(
            "{title}\ncounted: a random sample of {} of {of}, seed {}; shares have 95 % intervals",
            grouped(sample.size.into()),
            sample.seed
        );
    }
    match series.common_units {
        Some(common) => format!(
            "{title}\ncounted: the {} that all snapshots share",
            counted(common, series.by.name())
        ),
        None => format!(
            "{title}\ncounted: all {units} of each snapshot; --common counts only shared ones"
        ),
    }
}
