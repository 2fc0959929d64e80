//! `report --sample`: the sample, and the intervals of its shares.

use super::{Capture, compiled, done, parsed, texts};
use crate::command::{assert_has, words};
use crate::test_dir::TestDir;
use robosieve::{Agent, Compiler, Judge, JudgeOptions, Snapshot};
use robosieve_cli::report::{GroupList, Grouping, Reporter, Sampling, UnitKind};
use serde_json::{Value, json};

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
fn web(is_reversed: bool) -> TestDir {
    let mut captures: Vec<(String, u16, String)> = (0..40)
        .map(|site| (format!("https://site{site}.example"), 200, robots(site)))
        .collect();
    if is_reversed {
        captures.reverse();
    }
    let captures: Vec<Capture<'_>> = captures
        .iter()
        .map(|(origin, status, robots)| (origin.as_str(), *status, robots.as_str()))
        .collect();
    compiled(&captures)
}

fn report(dir: &TestDir, args: &[&str]) -> String {
    let start = words("report -q -s s.rsieve -a @ab=a,b --by host");
    done(dir.run(&[&start, args].concat()))
}

fn figures(dir: &TestDir, args: &[&str]) -> Value {
    let text = report(dir, &[args, &["--json-to", "-"]].concat());
    let mut json = parsed(&text);
    json.as_object_mut().unwrap().remove("made_at");
    json
}

#[test]
fn a_sample_depends_on_names_and_seed_alone() {
    let dir = web(false);
    let sample = ["--sample", "15"];
    let one = figures(&dir, &[&sample[..], &["-j", "1"]].concat());
    assert_eq!(
        one["sample"],
        json!({ "size": 15, "seed": 0, "units": 15, "of": 40 })
    );
    assert_eq!(one, figures(&dir, &[&sample[..], &["-j", "4"]].concat()));
    let other = figures(&dir, &["--sample", "15", "--seed", "1"]);
    assert_ne!(one["top_origins"], other["top_origins"]);
    assert_eq!(one, figures(&web(true), &sample));
    // A larger sample contains the smaller one.
    let larger = figures(&dir, &["--sample", "25", "--top", "40"]);
    let smaller = figures(&dir, &["--sample", "15", "--top", "40"]);
    let larger = texts(&larger["top_origins"], "origin");
    let smaller = texts(&smaller["top_origins"], "origin");
    assert!(!smaller.is_empty() && smaller.iter().all(|name| larger.contains(name)));
}

#[test]
fn a_sample_of_all_units_has_exact_shares() {
    let dir = web(false);
    let sample = figures(&dir, &["--sample", "1000"]);
    let whole = figures(&dir, &[]);
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
    let dir = web(false);
    dir.write("g.csv", "site1.example,one\nsite2.example,one\n");
    let options = ["--sample", "20", "--seed", "3", "--group-by", "g.csv"];
    let json = figures(&dir, &options);
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
    let csv = report(&dir, &[&options[..], &["--csv-to", "-"]].concat());
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
    let table = report(&dir, &options);
    let head = "counted: a random sample of 20 of 40 hosts, seed 3; shares have 95 % intervals";
    assert!(table.lines().any(|line| line == head), "{table}");
    // Two agents, a set, and two groups in three tables.
    let rows = table.matches("    95 % interval ").count();
    assert_eq!(rows, 2 + 1 + 2 * 3, "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    let page = report(&dir, &[&options[..], &["--html", "-"]].concat());
    assert_has(&page, "Random sample of");
    std::fs::copy(dir.path("s.rsieve"), dir.path("2026-09.rsieve")).unwrap();
    let args = words("report -q -a a --by host --sample 20 --seed 3");
    let series = |form: &[&str]| {
        let series = ["--series", "2026-09.rsieve"];
        done(dir.run(&[&args[..], form, &series].concat()))
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
    let dir = compiled(&[("https://a.com", 200, "")]);
    dir.write("w.csv", "a.com,1\n");
    for (args, expected) in [
        ("--sample 0", "invalid value '0'"),
        ("--sample -1", "-1"),
        ("--seed 1", "--sample"),
        ("--sample 1 --seed x", "invalid value 'x'"),
        ("--sample 1 --weights w.csv", "cannot be used with"),
    ] {
        let run = dir.run_line(&format!("report -s s.rsieve -a x {args}"));
        run.refused(expected);
    }
    let empty = dir.stdout_of("report -q -s s.rsieve -a x --sample 5");
    assert_has(&empty, "a random sample of 1 of 1 domain, seed 0");
}
