//! The page of a series: line charts of the shares that disallow each agent, and a table of them.

use super::super::fold::{Series, SeriesPoint};
use super::line_chart::{ChartLine, line_chart};
use super::unit_sections::{explanation, number_in_sample};
use crate::figures::escape::escape_cut;
use crate::figures::html::{
    LONGEST_NAME, ShareScale, and_more, document, fact, head, number, unbroken,
};
use crate::figures::shares::weight_share;
use crate::time::day;
use maud::{Markup, html};

/// The most agents with charts, the most labels of a table, and the most rows of all tables. The
/// JSON and the CSV have all.
const AGENTS: usize = 40;
const LABELS: usize = 24;
const ROWS: usize = 240;

/// The most groups with charts.
const GROUPS: usize = 30;

/// The most agents whose charts are larger.
const FEW: usize = 2;

/// The most pairs of an agent and a snapshot whose values are points of the charts.
const POINTS: usize = 480;

/// The most characters of a label.
const LABEL: usize = 24;

/// The page; `made_at` is its date, in seconds since 1970.
pub(in super::super) fn series_page(series: &Series, made_at: i64) -> String {
    let title = title(series);
    // All sections show the same agents in one order, and a page of thousands of charts would not
    // open.
    let agents: Vec<usize> = series
        .agents_by_refusal()
        .into_iter()
        .take(AGENTS)
        .collect();
    document(html! {
        (head(&title))
        body {
            (header(series, &title, made_at))
            main {
                (charts(series, &agents, &WHOLLY))
                (charts(series, &agents, &PARTLY))
                @if series.points.iter().any(|point| point.weights.is_some()) {
                    (charts(series, &agents, &WEIGHTED))
                }
                (group_charts(series, &agents))
                (tables(series, &agents))
            }
            footer {
                p {
                    (explanation(series.by))
                    " It disallows an agent wholly if every URL is disallowed, except perhaps \
                     /robots.txt; partly if some are."
                }
                p { "Made by robosieve " (env!("CARGO_PKG_VERSION")) "." }
            }
        }
    })
}

fn title(series: &Series) -> String {
    let agents = match series.agents.as_slice() {
        [one] => escape_cut(one, LONGEST_NAME),
        agents => format!("{} agents", agents.len()),
    };
    let refused = format!("{} that disallow {agents}", series.by.plural_title());
    match (series.points.first(), series.points.last()) {
        (Some(from), Some(to)) if series.points.len() > 1 => {
            format!(
                "{refused}, from {} to {}",
                escape_cut(&from.label, LABEL),
                escape_cut(&to.label, LABEL)
            )
        }
        _ => refused,
    }
}

fn header(series: &Series, title: &str, made_at: i64) -> Markup {
    html! {
        header {
            p.kicker { "robots.txt series, " (day(made_at)) }
            h1 { (title) }
            dl.facts {
                (fact("Snapshots", html! { (series.points.len()) }))
                @if let Some(sample) = series.points.iter().find_map(|point| point.sample) {
                    (fact("Random samples of", html! { (sample.size) ", seed " (sample.seed) }))
                }
                @if let Some(common) = series.common_units {
                    (fact(&format!("{} in all snapshots", series.by.plural_title()), number("/common_units", common)))
                }
                @if let Some((last, point)) = series.points.iter().enumerate().next_back() {
                    (fact(&format!("{} at {}", series.by.plural_title(), escape_cut(&point.label, LABEL)), number(&format!("/points/{last}/units"), point.units)))
                    (fact("Rules parsed with", html! { "profile " (point.snapshot.profile.name()) }))
                    (fact("Failures judged with", html! { "policy " (point.judging.status_policy) }))
                }
            }
        }
    }
}

/// A section of charts: two lines per agent.
struct ChartKind {
    kicker: &'static str,
    /// The adverb of the heading, and the name of the line of all: the share that disallows
    /// *wholly*.
    adverb: &'static str,
    /// The class of the line of all, and of the line by name.
    classes: [&'static str; 2],
    /// The keys of all and of the part by name.
    keys: [&'static str; 2],
    /// Whether the weights are counted, and not the units.
    is_weighted: bool,
}

const WHOLLY: ChartKind = ChartKind {
    kicker: "Disallowed wholly",
    adverb: "wholly",
    classes: ["l-wholly", "l-wholly named"],
    keys: ["wholly", "wholly_by_name"],
    is_weighted: false,
};

const PARTLY: ChartKind = ChartKind {
    kicker: "Disallowed partly",
    adverb: "partly",
    classes: ["l-partly", "l-partly named"],
    keys: ["partly", "partly_by_name"],
    is_weighted: false,
};

const WEIGHTED: ChartKind = ChartKind {
    kicker: "Disallowed wholly, weighted",
    is_weighted: true,
    ..WHOLLY
};

impl ChartKind {
    /// The part of an agent at a point with this key, and the whole.
    fn part(&self, point: &SeriesPoint, agent: usize, key: &str) -> [f64; 2] {
        let agent = point.agents.get(agent);
        match agent.zip(point.weights.as_ref()) {
            Some((agent, weights)) if self.is_weighted => {
                [agent.weighted.unwrap_or_default().get(key), weights.matched]
            }
            _ if self.is_weighted => [0.0; 2],
            _ => agent.map_or([0.0; 2], |agent| {
                [agent.units.get(key) as f64, point.units as f64]
            }),
        }
    }

    /// The two lines of some parts and their wholes at each point.
    fn lines(
        &self,
        series: &Series,
        has_points: bool,
        part: impl Fn(&SeriesPoint, &str) -> [f64; 2],
    ) -> [ChartLine<'static>; 2] {
        [0, 1].map(|line| {
            let parts = series
                .points
                .iter()
                .map(|point| part(point, self.keys[line]));
            ChartLine {
                class: self.classes[line],
                name: [self.adverb, "by name"][line],
                percents: parts
                    .map(|[part, whole]| ShareScale::WHOLE.position(part, whole))
                    .collect(),
                has_points,
            }
        })
    }

    /// The headline: the agent of the first chart, which is disallowed most, at the first and the
    /// last point.
    fn heading(&self, series: &Series, agents: &[usize]) -> String {
        let Some(&agent) = agents.first() else {
            return "No agents".to_owned();
        };
        let ends = [series.points.first(), series.points.last()].map(|point| {
            let [all, whole] =
                point.map_or([0.0; 2], |point| self.part(point, agent, self.keys[0]));
            weight_share(all, whole)
        });
        let name = escape_cut(&series.agents[agent], LONGEST_NAME);
        let units = series.by.plural();
        let whole = match self.is_weighted {
            true => format!("the weight of the {units}"),
            false => format!("the {units}"),
        };
        let adverb = self.adverb;
        match ends {
            [from, to] if series.points.len() > 1 => {
                format!("{from} of {whole} disallowed {name} {adverb} at first, and {to} at last")
            }
            [_, to] => format!("{to} of {whole} disallow {name} {adverb}"),
        }
    }
}

/// A section with one chart per agent.
fn charts(series: &Series, agents: &[usize], kind: &ChartKind) -> Markup {
    let labels = labels(series);
    // Each point is an element with its own text, which a large page has no room for.
    let has_points = agents.len() * labels.len() <= POINTS;
    let charts: Vec<(usize, [ChartLine<'_>; 2])> = agents
        .iter()
        .map(|&agent| {
            let part = |point: &SeriesPoint, key: &str| kind.part(point, agent, key);
            (agent, kind.lines(series, has_points, part))
        })
        .collect();
    let scale = common_scale(charts.iter().map(|(_, lines)| lines));
    html! {
        section {
            p.kicker { (kind.kicker) }
            h2 { (unbroken(&kind.heading(series, agents))) }
            (line_legend(kind))
            @if labels.is_empty() {
                p.soft { "There are no snapshots." }
            } @else {
                div.charts.few[agents.len() <= FEW] { @for (agent, lines) in &charts { (chart(&series.agents[*agent], &labels, lines, scale)) } }
            }
            (and_more(series.agents.len(), AGENTS, "agent"))
        }
    }
}

/// The labels of the snapshots.
fn labels(series: &Series) -> Vec<&str> {
    let points = series.points.iter();
    points.map(|point| point.label.as_str()).collect()
}

/// One scale for all charts, so that a reader compares them by the height of their lines.
fn common_scale<'c>(charts: impl Iterator<Item = &'c [ChartLine<'c>; 2]>) -> ShareScale {
    let most = charts
        .flat_map(|[total, _]| &total.percents)
        .copied()
        .fold(0.0, f64::max);
    ShareScale::of(most)
}

/// Small multiples: one chart per group, of the agent that is disallowed most. Nothing without
/// groups.
fn group_charts(series: &Series, agents: &[usize]) -> Markup {
    let names = series.group_names();
    let Some(&agent) = agents.first().filter(|_| !names.is_empty()) else {
        return html! {};
    };
    let labels = labels(series);
    let mut charts: Vec<(&str, [ChartLine<'_>; 2])> = Vec::new();
    for name in names.iter().take(GROUPS) {
        let part = |point: &SeriesPoint, key: &str| part_of_group(point, name, agent, key);
        charts.push((name, WHOLLY.lines(series, false, part)));
    }
    let scale = common_scale(charts.iter().map(|(_, lines)| lines));
    let units = series.by.plural();
    html! {
        section {
            p.kicker { "Disallowed wholly, by group" }
            h2 { "The " (units) " of each group that disallow " (escape_cut(&series.agents[agent], LONGEST_NAME)) }
            (line_legend(&WHOLLY))
            div.charts { @for (name, lines) in &charts { (chart(name, &labels, lines, scale)) } }
            (and_more(names.len(), GROUPS, "group"))
            (and_more(series.agents.len(), 1, "agent"))
        }
    }
}

/// The part of an agent in a group at a point, and the whole. A snapshot without units of the group
/// has 0.
fn part_of_group(point: &SeriesPoint, group: &str, agent: usize, key: &str) -> [f64; 2] {
    let group = point.group(group);
    let counts = group.and_then(|group| Some((group.agents.get(agent)?, group.units)));
    counts.map_or([0.0; 2], |(counts, units)| {
        [counts.get(key) as f64, units as f64]
    })
}

fn chart(agent: &str, labels: &[&str], lines: &[ChartLine<'_>; 2], scale: ShareScale) -> Markup {
    let [now, now_by_name] = lines.each_ref().map(|line| {
        let last = line.percents.last().copied().unwrap_or_default();
        unbroken(&weight_share(last, 100.0))
    });
    html! {
        figure {
            figcaption { strong { (escape_cut(agent, LONGEST_NAME)) } " " span { (now) ", by name " (now_by_name) } }
            (line_chart(agent, labels, lines, scale))
        }
    }
}

fn line_legend(kind: &ChartKind) -> Markup {
    html! {
        ul.legend {
            li { (line_key(kind.classes[0])) (kind.adverb) }
            li { (line_key(kind.classes[1])) "of these, by name" }
        }
    }
}

/// The sample of a line.
fn line_key(class: &str) -> Markup {
    html! { svg.key.long viewBox="0 0 28 14" aria-hidden="true" { g class=(class) { polyline points="0,7 28,7" {} circle cx="14" cy="7" r="3" {} } } }
}

/// The numbers of the charts: a table per agent, with the newest snapshots.
fn tables(series: &Series, agents: &[usize]) -> Markup {
    let shown = series.points.len().min(LABELS);
    let first = series.points.len() - shown;
    let tables = (ROWS / shown.max(1)).min(agents.len());
    html! {
        @if shown > 0 {
            section {
                p.kicker { "The numbers" }
                h2 { (series.by.plural_title()) " that disallow each agent" }
                @for &agent in agents.iter().take(tables) {
                    details {
                        summary { (escape_cut(&series.agents[agent], LONGEST_NAME)) }
                        table.stacked {
                            thead { tr { th { "Snapshot" } @for (_, name) in COLUMNS { th.n { (name) } } } }
                            tbody { @for (p, point) in series.points.iter().enumerate().skip(first) { (row(p, point, agent)) } }
                        }
                    }
                }
                (and_more(series.agents.len(), tables, "agent"))
                (and_more(series.points.len(), shown, "older snapshot"))
            }
        }
    }
}

/// The columns of the tables: the key of the JSON, and the heading.
const COLUMNS: [(&str, &str); 4] = [
    ("wholly", "wholly"),
    ("wholly_by_name", "wholly by name"),
    ("partly", "partly"),
    ("partly_by_name", "partly by name"),
];

fn row(p: usize, point: &SeriesPoint, agent: usize) -> Markup {
    let counts = point
        .agents
        .get(agent)
        .map(|of| of.units)
        .unwrap_or_default();
    html! {
        tr {
            th.origin { (escape_cut(&point.label, LABEL)) }
            @for (key, name) in COLUMNS {
                td.n data-label=(name) { (number_in_sample(point.sample.as_ref(), &format!("/points/{p}/agents/{agent}/origins/{key}"), counts.get(key), point.units)) }
            }
        }
    }
}
