//! A study over twelve months, on archives whose truth is known. The generator of this test decides
//! the stance of each site in each month, and counts. The figures of the command must be equal.

use crate::command::robosieve;
use crate::report::done;
use robosieve_synthetic::{Order, Web, WebOptions};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

const MONTHS: u64 = 12;

/// The agents of the study. Sites name only the first.
const AGENTS: [&str; 2] = ["GPTBot", "CCBot"];

/// The units by which sites are counted.
const UNITS: [&str; 3] = ["origin", "host", "domain"];

/// The statement of a site about crawlers in a month.
#[derive(Clone, Copy)]
enum Stance {
    RefusesGptBot,
    RefusesPartToGptBot,
    SparesGptBot,
    RefusesAll,
    RefusesPart,
    Open,
    NoFile,
    Fails,
}

use Stance::*;

/// The stances of a site until it adopts rules for GPTBot, and from then on.
const BEFORE: [Stance; 8] = [
    Open,
    Open,
    Open,
    RefusesPart,
    RefusesPart,
    RefusesAll,
    NoFile,
    Fails,
];
const AFTER: [Stance; 5] = [
    RefusesGptBot,
    RefusesGptBot,
    RefusesGptBot,
    RefusesPartToGptBot,
    SparesGptBot,
];

impl Stance {
    /// The stance of a domain; `None` if the crawl of the month misses it. A domain adopts rules in
    /// one of the twelve months, or in none of them.
    fn of(domain: &str, month: u64) -> Option<Self> {
        if xxh3_64(format!("{month} {domain}").as_bytes()).is_multiple_of(16) {
            return None;
        }
        let hash = xxh3_64(domain.as_bytes());
        let (adoption, rest) = (1 + hash % (2 * MONTHS), (hash / (2 * MONTHS)) as usize);
        Some(if month < adoption {
            BEFORE[rest % BEFORE.len()]
        } else {
            AFTER[rest % AFTER.len()]
        })
    }

    /// The status of the answer, and the groups that decide on the agents.
    fn answer(self) -> (u16, &'static str) {
        match self {
            RefusesGptBot => (
                200,
                "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n",
            ),
            RefusesPartToGptBot => (
                200,
                "User-agent: GPTBot\nDisallow: /articles/\n\nUser-agent: *\nDisallow: /\n",
            ),
            SparesGptBot => (
                200,
                "User-agent: GPTBot\nDisallow:\n\nUser-agent: *\nDisallow: /\n",
            ),
            RefusesAll => (200, "User-agent: *\nDisallow: /\n"),
            RefusesPart => (200, "User-agent: *\nDisallow: /private/\n"),
            Open => (200, "User-agent: *\nAllow: /\n"),
            NoFile => (404, ""),
            Fails => (503, ""),
        }
    }

    /// The figure that counts the site, for each of [`AGENTS`].
    fn figures(self) -> [&'static str; 2] {
        match self {
            RefusesGptBot => ["wholly_by_name", "partly_by_global"],
            RefusesPartToGptBot => ["partly_by_name", "wholly_by_global"],
            SparesGptBot => ["not", "wholly_by_global"],
            RefusesAll => ["wholly_by_global"; 2],
            RefusesPart => ["partly_by_global"; 2],
            Open | NoFile => ["not"; 2],
            Fails => ["wholly_by_status"; 2],
        }
    }
}

/// An origin of the synthetic web, as `https://www.a.test`.
struct Site {
    origin: String,
    /// The generated robots.txt, in which all groups are for another agent.
    unrelated: String,
}

impl Site {
    fn host(&self) -> &str {
        self.origin
            .split("://")
            .nth(1)
            .unwrap()
            .split(':')
            .next()
            .unwrap()
    }

    /// The last two labels of the host. All origins of a domain have one stance, so the counts by
    /// origin, host and domain are all known.
    fn domain(&self) -> &str {
        let host = self.host();
        host.rmatch_indices('.')
            .nth(1)
            .map_or(host, |(dot, _)| &host[dot + 1..])
    }

    /// The name of the unit, one of [`UNITS`], that the origin belongs to.
    fn unit(&self, unit: &str) -> &str {
        match unit {
            "origin" => &self.origin,
            "host" => self.host(),
            _ => self.domain(),
        }
    }

    fn capture(&self, month: u64, stance: Stance) -> Value {
        let (status, groups) = stance.answer();
        let body = if status == 200 {
            format!("{}\n{groups}", self.unrelated)
        } else {
            String::new()
        };
        let fetched_at = format!("2025-{month:02}-15T00:00:00Z");
        json!({ "url": format!("{}/robots.txt", self.origin), "status": status, "body": body, "fetched_at": fetched_at })
    }
}

/// The origins of a synthetic web with the rules of their robots.txt files.
fn sites() -> Vec<Site> {
    let web = Web::new(
        WebOptions::default()
            .seed(11)
            .origins(800)
            .urls(0)
            .order(Order::Sorted),
    );
    let archive = std::io::read_to_string(web.archive()).unwrap();
    let site = |line: &str| {
        let capture: Value = serde_json::from_str(line).unwrap();
        let body = capture["body"]
            .as_str()
            .unwrap_or_default()
            .trim_start_matches('\u{feff}');
        let is_agent = |line: &str| line.to_ascii_lowercase().starts_with("user-agent");
        let lines = body.lines().map(|line| {
            if is_agent(line) {
                "User-agent: OtherBot"
            } else {
                line
            }
        });
        Site {
            origin: capture["url"]
                .as_str()
                .unwrap()
                .strip_suffix("/robots.txt")
                .unwrap()
                .to_owned(),
            unrelated: lines.collect::<Vec<_>>().join("\n"),
        }
    };
    archive.lines().map(site).collect()
}

/// The counts of a month: for each agent, units by figure.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    units: u64,
    agents: [BTreeMap<&'static str, u64>; 2],
}

impl Truth {
    /// Counts the units of a month; with `is_common`, those that all crawls have.
    fn of(sites: &[Site], month: u64, unit: &str, is_common: bool) -> Self {
        let in_all =
            |site: &Site| (1..=MONTHS).all(|month| Stance::of(site.domain(), month).is_some());
        let mut truth = Self::default();
        let mut seen = BTreeSet::new();
        for site in sites.iter().filter(|site| !is_common || in_all(site)) {
            let Some(stance) = Stance::of(site.domain(), month) else {
                continue;
            };
            if !seen.insert(site.unit(unit)) {
                continue;
            }
            truth.units += 1;
            for (agent, figure) in truth.agents.iter_mut().zip(stance.figures()) {
                *agent.entry(figure).or_default() += 1;
            }
        }
        truth
    }

    /// Asserts that the counts of an agent, as the command writes them, are these.
    fn assert_equal(&self, agent: usize, counts: &Value, context: &str) {
        let truth = |figure: &str| self.agents[agent].get(figure).copied().unwrap_or_default();
        let sum = |figures: &[&str]| figures.iter().map(|figure| truth(figure)).sum::<u64>();
        let (wholly, partly) = (
            ["wholly_by_name", "wholly_by_global", "wholly_by_status"],
            ["partly_by_name", "partly_by_global"],
        );
        for figure in wholly.iter().chain(&partly).chain(&["not"]) {
            assert_eq!(
                counts[figure],
                truth(figure),
                "{} {figure} {context}: {counts}",
                AGENTS[agent]
            );
        }
        assert_eq!(counts["wholly"], sum(&wholly), "{context}");
        assert_eq!(counts["partly"], sum(&partly), "{context}");
    }
}

/// The sites, and a directory with the snapshot of each month: `2025-01.rsieve` and so on.
struct Study {
    dir: TempDir,
    sites: Vec<Site>,
}

impl Study {
    fn new() -> Self {
        let (dir, sites) = (tempfile::tempdir().unwrap(), sites());
        for month in 1..=MONTHS {
            let captures = sites
                .iter()
                .filter_map(|site| Some(site.capture(month, Stance::of(site.domain(), month)?)));
            let archive = captures
                .map(|capture| format!("{capture}\n"))
                .collect::<String>();
            fs::write(dir.path().join("archive.jsonl"), archive).unwrap();
            let snapshot = format!("2025-{month:02}.rsieve");
            done(robosieve(
                dir.path(),
                &["compile", "-q", "-o", &snapshot, "archive.jsonl"],
            ));
        }
        Self { dir, sites }
    }

    /// The arguments of a report on all months.
    fn arguments(unit: &str) -> Vec<String> {
        let fixed = [
            "report",
            "-q",
            "-a",
            &AGENTS.join(","),
            "--by",
            unit,
            "--series",
        ]
        .map(str::to_owned);
        let snapshots = (1..=MONTHS).map(|month| format!("2025-{month:02}=2025-{month:02}.rsieve"));
        fixed.into_iter().chain(snapshots).collect()
    }

    fn report(&self, unit: &str, options: &[&str]) {
        let arguments = Self::arguments(unit);
        let arguments: Vec<&str> = arguments
            .iter()
            .map(String::as_str)
            .chain(options.iter().copied())
            .collect();
        done(robosieve(self.dir.path(), &arguments));
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    /// The page of the series.
    fn page(&self, unit: &str) -> String {
        self.report(unit, &["--html", "s.html"]);
        self.read("s.html")
    }

    /// The series of all months, as JSON and as the lines of the CSV by column.
    fn series(&self, unit: &str, is_common: bool) -> (Value, Vec<BTreeMap<String, String>>) {
        let common: &[&str] = if is_common { &["--common"] } else { &[] };
        self.report(
            unit,
            &[&["--json-to", "s.json", "--csv-to", "s.csv"], common].concat(),
        );
        let (json, csv) = (self.read("s.json"), self.read("s.csv"));
        let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned));
        let header: Vec<String> = lines.next().unwrap().collect();
        let lines = lines
            .map(|line| header.iter().cloned().zip(line).collect())
            .collect();
        (serde_json::from_str(&json).unwrap(), lines)
    }
}

#[test]
fn reports_of_each_month_equal_the_truth() {
    let Study { dir, sites } = Study::new();
    let mut by_name = Vec::new();
    for month in 1..=MONTHS {
        let snapshot = format!("2025-{month:02}.rsieve");
        let truth = Truth::of(&sites, month, "origin", false);
        let args = [
            "report",
            "-q",
            "-s",
            &snapshot,
            "-a",
            &AGENTS.join(","),
            "--by",
            "origin",
            "--json-to",
            "-",
        ];
        let report: Value = serde_json::from_str(&done(robosieve(dir.path(), &args))).unwrap();
        for agent in 0..AGENTS.len() {
            truth.assert_equal(agent, &report["agents"][agent]["origins"], &snapshot);
        }
        by_name.push(truth.agents[0]["wholly_by_name"]);
        assert!((500..800).contains(&truth.units), "{}", truth.units);
        assert!(truth.agents[0].len() >= 5, "all figures occur: {truth:?}");
    }
    assert!(
        by_name.is_sorted() && by_name[11] > 5 * by_name[0],
        "more sites refuse GPTBot each month: {by_name:?}"
    );
}

/// The chart's numbers: `--series` by origin, host and domain, as JSON and CSV.
#[test]
fn series_by_each_unit_equal_the_truth() {
    let study = Study::new();
    for unit in UNITS {
        for is_common in [false, true] {
            let truths: Vec<Truth> = (1..=MONTHS)
                .map(|month| Truth::of(&study.sites, month, unit, is_common))
                .collect();
            let (json, csv) = study.series(unit, is_common);
            for (month, truth) in (1..).zip(&truths) {
                let (point, label) = (&json["points"][month - 1], format!("2025-{month:02}"));
                assert_eq!(point["label"], label, "{unit}");
                assert_eq!(point["units"], truth.units, "{unit}");
                for agent in 0..AGENTS.len() {
                    truth.assert_equal(
                        agent,
                        &point["agents"][agent]["origins"],
                        &format!("{unit} {label}"),
                    );
                }
            }
            assert_eq!(csv.len(), truths.len() * AGENTS.len());
            for (row, line) in csv.iter().enumerate() {
                let (month, agent) = (row / AGENTS.len(), row % AGENTS.len());
                let counts: Value = line
                    .iter()
                    .map(|(name, value)| (name.clone(), number(value)))
                    .collect();
                truths[month].assert_equal(agent, &counts, &format!("{unit}, line {row}"));
                assert_eq!(*line["label"], *format!("2025-{:02}", month + 1));
                assert_eq!(&*line["agent"], AGENTS[agent]);
                let share = counts["wholly"].as_f64().unwrap() / truths[month].units as f64;
                assert!(
                    (line["share_wholly"].parse::<f64>().unwrap() - share).abs() < 1e-6,
                    "{line:?}"
                );
            }
        }
    }
}

/// A point of a line chart: the value that its title says, and its height.
struct ChartPoint {
    label: String,
    line: String,
    percent: f64,
    y: f64,
}

/// A chart of the page: its agent, the value at its upper edge, and its points.
struct Chart {
    agent: String,
    top: f64,
    points: Vec<ChartPoint>,
}

/// The text between two others, the first after the start.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split_once(end).unwrap().0
}

/// A number of per cent, such as `20.9 %`.
fn percent(text: &str) -> f64 {
    text.split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap_or_else(|err| panic!("{text}: {err}"))
}

/// The upper and the lower edge of the lines of a chart.
const TOP: f64 = 10.0;
const BOTTOM: f64 = 134.0;

fn charts(page: &str) -> Vec<Chart> {
    let point = |circle: &str| {
        let title = between(circle, "<title>", "</title>");
        let (label, rest) = title.split_once(", ").unwrap();
        let (line, value) = rest.split_once(':').unwrap();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let y = between(circle, "cy=\"", "\"").parse().unwrap();
        ChartPoint {
            label: label.to_owned(),
            line,
            percent: percent(value),
            y,
        }
    };
    let chart = |svg: &str| {
        let svg = svg.split("</svg>").next().unwrap();
        let agent = between(svg, "aria-label=\"", ":").to_owned();
        // The text of the upper grid line is four units below it.
        let top = percent(between(svg, "y=\"14\">", "<"));
        Chart {
            agent,
            top,
            points: svg.split("<circle ").skip(1).map(point).collect(),
        }
    };
    page.split("<svg class=\"chart\"")
        .skip(1)
        .map(chart)
        .collect()
}

/// The drawn lines and their titles, for each agent: one chart of what is disallowed as a whole,
/// and one of partial ones, each with a line of those by name.
#[test]
fn charts_of_the_series_equal_the_truth() {
    let study = Study::new();
    let truths: Vec<Truth> = (1..=MONTHS)
        .map(|month| Truth::of(&study.sites, month, "domain", false))
        .collect();
    let charts = charts(&study.page("domain"));
    let (mut agents, mut points) = (Vec::new(), 0);
    for chart in &charts {
        let agent = AGENTS.iter().position(|name| *name == chart.agent).unwrap();
        agents.push(chart.agent.as_str());
        let kind = if chart.points.iter().any(|point| point.line == "wholly") {
            "wholly"
        } else {
            "partly"
        };
        for point in &chart.points {
            let month: usize = point
                .label
                .strip_prefix("2025-")
                .unwrap()
                .trim()
                .parse()
                .unwrap();
            let truth = &truths[month - 1];
            let sum = |prefix: &str| -> u64 {
                truth.agents[agent]
                    .iter()
                    .filter(|(figure, _)| figure.starts_with(prefix))
                    .map(|(_, count)| count)
                    .sum()
            };
            let count = match point.line.as_str() {
                "by name" => sum(&format!("{kind}_by_name")),
                line => sum(line),
            };
            let expected = 100.0 * count as f64 / truth.units as f64;
            let context = format!("{} {} {}: {expected}", chart.agent, point.label, point.line);
            assert!(
                (point.percent - expected).abs() <= 0.0501,
                "{context}, the title says {}",
                point.percent
            );
            let y = BOTTOM - expected / chart.top * (BOTTOM - TOP);
            assert!(
                (point.y - y).abs() <= 0.0501,
                "{context}, drawn at {} instead of {y}",
                point.y
            );
            points += 1;
        }
    }
    agents.sort_unstable();
    assert_eq!(agents, ["CCBot", "CCBot", "GPTBot", "GPTBot"]);
    assert_eq!(points, charts.len() * 2 * truths.len());
}

/// A count as JSON; anything else as a text.
fn number(value: &str) -> Value {
    value
        .parse::<u64>()
        .map_or_else(|_| value.into(), Value::from)
}
