//! A series as text for a terminal: one row per agent, one column per snapshot.

use super::super::figures::counts::grouped;
use super::super::figures::escape::escape_cut;
use super::super::figures::shares::{share, weight_share};
use super::super::figures::table::{Columns, longest};
use super::unit_names::units;
use robosieve::report::{AgentPoint, Series, SeriesPoint};

/// The most characters of a name and of a label, and the width of the table.
const NAME: usize = 26;
const LABEL: usize = 16;
const WIDTH: usize = 100;

/// The share of an agent at a point.
type Share = fn(&SeriesPoint, &AgentPoint) -> Option<String>;

/// The tables of a series, each with its title.
const SHARES: [(&str, Share); 5] = [
    ("refused wholly", |point, agent| {
        Some(share(agent.origins.wholly, point.units))
    }),
    ("refused wholly by name", |point, agent| {
        Some(share(agent.origins.wholly_by_name, point.units))
    }),
    ("refused partly", |point, agent| {
        Some(share(agent.origins.partly, point.units))
    }),
    ("refused wholly, by weight", |point, agent| {
        Some(weight_share(
            agent.weighted?.wholly,
            point.weights.as_ref()?.matched,
        ))
    }),
    ("refused partly, by weight", |point, agent| {
        Some(weight_share(
            agent.weighted?.partly,
            point.weights.as_ref()?.matched,
        ))
    }),
];

pub(super) fn series_table(series: &Series) -> String {
    let mut out = title(series) + "\n";
    let width = longest(labels(&series.points)).max(8) + 2;
    let columns = Columns {
        indent: 2,
        name: NAME,
        gap: 0,
        cells: &[width],
    };
    // As many columns as fit; the others follow below.
    for points in series.points.chunks(((WIDTH - NAME - 2) / width).max(1)) {
        let mut line = |name: &str, cells: Vec<String>| {
            out.push_str(columns.row(name, cells).trim_end());
            out.push('\n');
        };
        line("", Vec::new());
        line("", labels(points));
        line(
            units(series.by),
            points.iter().map(|point| grouped(point.units)).collect(),
        );
        for (title, share) in SHARES {
            let rows = series.agents_by_refusal().into_iter().filter_map(|agent| {
                let cells: Option<Vec<String>> = points
                    .iter()
                    .map(|point| share(point, point.agents.get(agent)?))
                    .collect();
                Some((series.agents.get(agent)?, cells?))
            });
            let rows: Vec<_> = rows.collect();
            if !rows.is_empty() {
                line("", Vec::new());
                line(title, labels(points));
                rows.into_iter()
                    .for_each(|(agent, cells)| line(&escape_cut(agent, NAME - 1), cells));
            }
        }
    }
    out
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
    let snapshots = match series.points.len() {
        1 => "1 snapshot".to_owned(),
        count => format!("{count} snapshots"),
    };
    let title = format!("What robots.txt lets {agents} fetch, in {snapshots}");
    let units = units(series.by);
    match series.common_units {
        Some(common) => format!(
            "{title}\ncounted: the {} {units} that all snapshots share",
            grouped(common)
        ),
        None => format!(
            "{title}\ncounted: all {units} of each snapshot; --common counts only shared ones"
        ),
    }
}
