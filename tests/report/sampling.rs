//! `report --sample`: the sample, and the intervals of its shares.

use super::{archive, compile, done, output_of, write};
use crate::command::{robosieve, words};
use robosieve::{Agent, Compiler, Judge, JudgeOptions, Snapshot};
use robosieve_cli::report::{GroupList, Grouping, Reporter, Sampling, UnitKind};
use serde_json::{Value, json};
use std::path::Path;

/// The agents of the generated web, each with the tenths of the sites that disallow it.
const AGENTS: [(&str, usize); 4] = [("a", 1), ("b", 3), ("c", 5), ("d", 8)];

/// The robots.txt of a site of the generated web.
fn robots(site: usize) -> String {
    let refused = AGENTS.iter().filter(|(_, tenths)| site % 10 < *tenths);
    refused
        .map(|(agent, _)| format!("user-agent: {agent}\ndisallow: /\n"))
        .collect()
}

/// A judge of a web of this many sites, of which a share is disallowed to each agent.
fn judge(sites: usize) -> Judge {
    let mut compiler = Compiler::default();
    for site in 0..sites {
        let origin = format!("https://site{site}.example");
        compiler
            .add_robots(&origin, robots(site).as_bytes())
            .unwrap();
    }
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let agents: Vec<Agent> = AGENTS
        .iter()
        .map(|(agent, _)| agent.parse().unwrap())
        .collect();
    Judge::new(snapshot, &agents, JudgeOptions::default()).unwrap()
}

#[test]
fn intervals_cover_the_true_share_in_95_of_100_samples() {
    const SITES: usize = 1000;
    const SEEDS: u64 = 1000;
    let judge = judge(SITES);
    // Half of the sites is a large part: without the correction for finite populations, the
    // intervals would cover the share nearly always.
    for size in [100, 500] {
        let mut covered = [0; AGENTS.len()];
        let mut reporter = Reporter::new(&judge);
        reporter.by = UnitKind::Host;
        for seed in 0..SEEDS {
            reporter.sampling = Some(Sampling { size, seed });
            let point = reporter.series_point("now").unwrap();
            assert_eq!(point.units, u64::from(size));
            for ((covered, (_, tenths)), agent) in covered.iter_mut().zip(AGENTS).zip(&point.agents)
            {
                let interval = agent.intervals.unwrap().wholly;
                let share = tenths as f64 / 10.0;
                *covered += u64::from(interval.low <= share && share <= interval.high);
            }
        }
        for ((agent, _), covered) in AGENTS.iter().zip(covered) {
            let rate = covered as f64 / SEEDS as f64;
            assert!(
                (0.93..=0.97).contains(&rate),
                "{agent}, {size} sites: {rate}"
            );
        }
    }
}

#[test]
fn samples_of_groups_have_the_same_size_each() {
    let judge = judge(1000);
    let list: String = (0..700)
        .map(|site| {
            format!(
                "site{site}.example,{}\n",
                if site < 30 { "head" } else { "body" }
            )
        })
        .collect();
    let list = GroupList::read(list.as_bytes(), UnitKind::Host).unwrap();
    let mut reporter = Reporter::new(&judge);
    reporter.by = UnitKind::Host;
    reporter.groups = Some(Grouping::List(&list));
    reporter.sampling = Some(Sampling { size: 100, seed: 7 });
    let report = reporter.of_snapshot().unwrap();
    let groups = report.groups.unwrap();
    let sizes: Vec<(&str, u64, u64)> = groups
        .iter()
        .map(|group| (group.name.as_str(), group.units, group.of))
        .collect();
    assert_eq!(
        sizes,
        [
            ("body", 100, 670),
            ("head", 30, 30),
            ("(no group)", 100, 300)
        ]
    );
    assert_eq!(report.group_list.unwrap().units_matched, 700);
    for group in &groups {
        for (counts, intervals) in group.agents.iter().zip(group.intervals.as_ref().unwrap()) {
            let share = counts.wholly as f64 / group.units as f64;
            let of = intervals.wholly;
            assert!(of.low <= share && share <= of.high, "{}", group.name);
            assert_eq!(
                of.low == of.high,
                group.name == "head",
                "the head is counted completely"
            );
        }
    }
}

/// A web of 40 hosts in `s.rsieve`; the order of its captures changes nothing.
fn web(dir: &Path, is_reversed: bool) {
    let mut captures: Vec<(String, u16, String)> = (0..40)
        .map(|site| (format!("https://site{site}.example"), 200, robots(site)))
        .collect();
    if is_reversed {
        captures.reverse();
    }
    let captures: Vec<(&str, u16, &str)> = captures
        .iter()
        .map(|(origin, status, robots)| (origin.as_str(), *status, robots.as_str()))
        .collect();
    compile(dir, &captures);
}

fn report(dir: &Path, args: &[&str]) -> String {
    let start = words("report -q -s s.rsieve -a @ab=a,b --by host");
    done(robosieve(dir, &[&start, args].concat()))
}

fn figures(dir: &Path, args: &[&str]) -> Value {
    let text = report(dir, &[args, &["--json-to", "-"]].concat());
    let mut json: Value = serde_json::from_str(&text).unwrap();
    json.as_object_mut().unwrap().remove("made_at");
    json
}

#[test]
fn a_sample_depends_on_names_and_seed_alone() {
    let dir = tempfile::tempdir().unwrap();
    web(dir.path(), false);
    let sample = ["--sample", "15"];
    let one = figures(dir.path(), &[&sample[..], &["-j", "1"]].concat());
    assert_eq!(
        one["sample"],
        json!({ "size": 15, "seed": 0, "units": 15, "of": 40 })
    );
    assert_eq!(
        one,
        figures(dir.path(), &[&sample[..], &["-j", "4"]].concat())
    );
    let other = figures(dir.path(), &["--sample", "15", "--seed", "1"]);
    assert_ne!(one["top_origins"], other["top_origins"]);
    web(dir.path(), true);
    assert_eq!(one, figures(dir.path(), &sample));
    // A larger sample contains the smaller one.
    let names = |report: &Value| -> Vec<String> {
        let origins = report["top_origins"].as_array().unwrap();
        origins
            .iter()
            .map(|of| of["origin"].as_str().unwrap().to_owned())
            .collect()
    };
    let larger = names(&figures(dir.path(), &["--sample", "25", "--top", "40"]));
    let smaller = names(&figures(dir.path(), &["--sample", "15", "--top", "40"]));
    assert!(!smaller.is_empty() && smaller.iter().all(|name| larger.contains(name)));
}

#[test]
fn a_sample_of_all_units_has_exact_shares() {
    let dir = tempfile::tempdir().unwrap();
    web(dir.path(), false);
    let sample = figures(dir.path(), &["--sample", "1000"]);
    let whole = figures(dir.path(), &[]);
    assert_eq!(whole["sample"], Value::Null);
    for (of_sample, of_whole) in sample["agents"]
        .as_array()
        .unwrap()
        .iter()
        .zip(whole["agents"].as_array().unwrap())
    {
        assert_eq!(of_sample["origins"], of_whole["origins"]);
        assert!(of_whole.get("intervals").is_none());
        for (key, interval) in of_sample["intervals"].as_object().unwrap() {
            let share = of_sample["origins"][key].as_f64().unwrap() / 40.0;
            assert_eq!(*interval, json!({ "low": share, "high": share }), "{key}");
        }
    }
}

#[test]
fn every_share_of_units_has_an_interval_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    web(dir.path(), false);
    write(&dir, "g.csv", "site1.example,one\nsite2.example,one\n");
    let options = ["--sample", "20", "--seed", "3", "--group-by", "g.csv"];
    let json = figures(dir.path(), &options);
    for pointer in [
        "/agents/0/intervals/wholly/low",
        "/together_intervals/any_wholly/high",
        "/sets/0/intervals/all_wholly/low",
        "/groups/1/intervals/0/not/high",
        "/bases/0/interval/low",
        "/rules/top/0/interval/high",
        "/signals/0/interval/high",
    ] {
        let end = json.pointer(pointer).and_then(Value::as_f64);
        assert!(
            end.is_some_and(|end| (0.0..=1.0).contains(&end)),
            "{pointer}: {end:?}"
        );
    }
    let csv = report(dir.path(), &[&options[..], &["--csv-to", "-"]].concat());
    let low = json["agents"][0]["intervals"]["wholly"]["low"]
        .as_f64()
        .unwrap();
    for line in [
        "sample,,,seed,3".to_owned(),
        format!("agents,,a,origins_wholly_low,{low:.6}"),
        "groups,one,a,origins_not_high,1.000000".to_owned(),
    ] {
        assert!(csv.lines().any(|of| of == line), "{line}\n{csv}");
    }
    let table = report(dir.path(), &options);
    let head = "counted: a random sample of 20 of 40 hosts, seed 3; shares have 95 % intervals";
    assert!(table.lines().any(|line| line == head), "{table}");
    // Two agents, a set, and two groups in three tables.
    let rows = table.matches("    95 % interval ").count();
    assert_eq!(rows, 2 + 1 + 2 * 3, "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    let page = report(dir.path(), &[&options[..], &["--html", "-"]].concat());
    assert!(page.contains("Random sample of"), "{page}");
    std::fs::copy(
        dir.path().join("s.rsieve"),
        dir.path().join("2026-09.rsieve"),
    )
    .unwrap();
    let args = words("report -q -a a --by host --sample 20 --seed 3");
    let series = |form: &[&str]| {
        let series = ["--series", "2026-09.rsieve"];
        done(robosieve(dir.path(), &[&args[..], form, &series].concat()))
    };
    let csv = series(&["--csv-to", "-"]);
    let (header, line) = csv.split_once('\n').unwrap();
    assert!(header.ends_with("share_partly,wholly_low,wholly_high,partly_low,partly_high"));
    assert!(line.contains(&format!(",{low:.6},")), "{csv}");
    assert!(series(&[]).contains("a random sample of 20 of the hosts of each snapshot, seed 3;"));
    assert!(series(&["--html", "-"]).contains("Random samples of"));
}

#[test]
fn misused_sample_options_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "robots.jsonl", archive(&[("https://a.com", 200, "")]));
    output_of(dir.path(), "compile -q -o s.rsieve robots.jsonl");
    write(&dir, "w.csv", "a.com,1\n");
    for (args, expected) in [
        ("--sample 0", "invalid value '0'"),
        ("--sample -1", "-1"),
        ("--seed 1", "--sample"),
        ("--sample 1 --seed x", "invalid value 'x'"),
        ("--sample 1 --weights w.csv", "cannot be used with"),
    ] {
        let run = robosieve(
            dir.path(),
            &words(&format!("report -s s.rsieve -a x {args}")),
        );
        run.refused(expected);
    }
    let empty = output_of(dir.path(), "report -q -s s.rsieve -a x --sample 5");
    assert!(
        empty.contains("a random sample of 1 of 1 domain, seed 0"),
        "{empty}"
    );
}
