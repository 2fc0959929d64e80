//! The figures of a report, against the letters of `annotate` and against each other.

use super::{compile, done, output_of, write};
use crate::command::{checkout, robosieve, robosieve_with, words};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const AGENTS: &str = "GPTBot,Googlebot,Googlebot-Image:Googlebot,MJ12bot,FooBot";

fn small() -> std::path::PathBuf {
    checkout().join("datasets/small")
}

/// Compiles the shipped archive in `dir`.
fn compile_small(dir: &Path) {
    for file in ["robots.warc", "more.jsonl", "urls.txt"] {
        std::fs::copy(small().join(file), dir.join(file)).unwrap();
    }
    output_of(dir, "compile -q -o s.rsieve robots.warc more.jsonl");
}

fn report(dir: &Path, args: &[&str]) -> Value {
    let all = [&["report", "-q", "-s", "s.rsieve", "--json-to", "-"], args].concat();
    serde_json::from_str(&done(robosieve(dir, &all))).unwrap()
}

/// The number of lines per letter, for each agent.
fn letters(annotated: &str, agents: usize) -> Vec<BTreeMap<char, u64>> {
    let mut counts = vec![BTreeMap::new(); agents];
    for line in annotated.lines() {
        for (letter, counts) in line.chars().zip(&mut counts) {
            *counts.entry(letter).or_default() += 1;
        }
    }
    counts
}

#[test]
fn url_counts_equal_annotate() {
    let dir = tempfile::tempdir().unwrap();
    compile_small(dir.path());
    for options in [
        &[][..],
        &["--status-policy", "strict"],
        &["--unknown", "allow"],
        &["--scheme", "any"],
    ] {
        let annotated = done(robosieve(
            dir.path(),
            &[
                &["annotate", "-q", "-s", "s.rsieve", "-a", AGENTS, "urls.txt"],
                options,
            ]
            .concat(),
        ));
        let report = report(dir.path(), &[&["-a", AGENTS, "urls.txt"], options].concat());
        for (agent, letters) in letters(&annotated, 5).into_iter().enumerate() {
            let urls = &report["agents"][agent]["urls"];
            for (letter, verdict) in [
                ('A', "allowed"),
                ('D', "disallowed"),
                ('U', "unknown"),
                ('I', "invalid"),
            ] {
                assert_eq!(
                    urls[verdict],
                    letters.get(&letter).copied().unwrap_or(0),
                    "{options:?} {agent} {verdict}"
                );
            }
            // The counts of reasons have the same sum.
            let refused: u64 = report["bases"]
                .as_array()
                .unwrap()
                .iter()
                .map(|of| of["urls_refused"][agent].as_u64().unwrap())
                .sum();
            assert_eq!(urls["disallowed"], refused, "{options:?} {agent}");
        }
        let lines = annotated.lines().count() as u64;
        let verdicts: Vec<&str> = annotated
            .lines()
            .map(|line| line.split('\t').next().unwrap())
            .collect();
        let count = |test: fn(&&&str) -> bool| verdicts.iter().filter(test).count() as u64;
        assert_eq!(report["lists"]["lines"], lines);
        assert_eq!(
            report["lists"]["refused_to_any"],
            count(|line| line.contains('D')),
            "{options:?}"
        );
        assert_eq!(
            report["lists"]["allowed_to_all"],
            count(|line| line.chars().all(|letter| letter == 'A')),
            "{options:?}"
        );
        let of_bases: u64 = report["bases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["urls"].as_u64().unwrap())
            .sum();
        assert_eq!(of_bases, lines);
    }
}

#[test]
fn origins_are_counted_by_disallowed_urls() {
    let dir = tempfile::tempdir().unwrap();
    compile_small(dir.path());
    let annotated = output_of(
        dir.path(),
        &format!("annotate -q -s s.rsieve -a {AGENTS} urls.txt"),
    );
    let mut expected: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (verdicts, url) in annotated.lines().filter_map(|line| line.split_once('\t')) {
        let Some(origin) = robosieve::Origin::of(url.trim().as_bytes()) else {
            continue;
        };
        let [urls, refused] = expected.entry(origin.to_string()).or_default();
        *urls += 1;
        *refused += u64::from(verdicts.contains('D'));
    }
    expected.retain(|_, [_, refused]| *refused > 0);
    let report = report(dir.path(), &["-a", AGENTS, "--top", "1000", "urls.txt"]);
    let found = report["top_origins"].as_array().unwrap();
    let counts = found.iter().map(|of| {
        let count = |name: &str| of[name].as_u64().unwrap();
        (
            of["origin"].as_str().unwrap().to_owned(),
            [count("urls"), count("urls_refused")],
        )
    });
    assert_eq!(counts.collect::<BTreeMap<_, _>>(), expected);
    assert!(found.is_sorted_by_key(|of| std::cmp::Reverse(of["urls_refused"].as_u64())));
}

#[test]
fn figures_ignore_threads_and_list_format() {
    let dir = tempfile::tempdir().unwrap();
    compile_small(dir.path());
    let plain = std::fs::read_to_string(dir.path().join("urls.txt")).unwrap();
    let urls: Vec<&str> = plain
        .lines()
        .filter(|line| !line.contains(['"', '\u{fffd}', '\0', '\r']))
        .collect();
    // Many blocks, so that every thread gets some.
    let many: String = std::iter::repeat_n(urls.join("\n") + "\n", 60).collect();
    write(&dir, "many.txt", &many);
    let csv: String = many.lines().map(|url| format!("x,\"{url}\"\n")).collect();
    write(&dir, "many.csv", format!("id,url\n{csv}"));
    let undated = |args: &[&str]| {
        let mut report = report(dir.path(), &[&["-a", AGENTS], args].concat());
        report.as_object_mut().unwrap().remove("made_at");
        report["lists"]
            .as_object_mut()
            .map(|lists| lists.remove("bytes"));
        report
    };
    let one = undated(&["-j", "1", "many.txt"]);
    assert!(
        one["deciding"]["every"].as_u64().unwrap() > 1,
        "every line is sampled"
    );
    assert_eq!(one, undated(&["-j", "4", "many.txt"]));
    assert_eq!(one, undated(&["-j", "3", "many.csv"]));
    assert_eq!(undated(&["-j", "1"]), undated(&["-j", "4"]));
}

#[test]
fn rules_reasons_and_signals_are_counted_by_origin() {
    let dir = tempfile::tempdir().unwrap();
    let shop = "User-agent: a\nDisallow: /cart\n\nUser-agent: *\nDisallow: /cart\nDisallow: /x*y$\nContent-Signal: search=yes, ai-train=no\n";
    compile(
        dir.path(),
        &[
            ("https://one.example", 200, shop),
            ("https://two.example", 200, shop),
            (
                "https://three.example",
                200,
                "user-agent: a\ndisallow: /\n\nuser-agent: *\ndisallow:\nallow: /",
            ),
            ("https://four.example", 404, ""),
            ("https://five.example", 403, ""),
            ("https://six.example", 503, ""),
        ],
    );
    let report = report(dir.path(), &["-a", "a,b"]);
    let counts = |wholly: [u64; 3], partly: [u64; 2], not: u64| {
        serde_json::json!({
            "wholly": wholly.iter().sum::<u64>(), "wholly_by_name": wholly[0], "wholly_by_global": wholly[1],
            "wholly_by_status": wholly[2], "partly": partly.iter().sum::<u64>(), "partly_by_name": partly[0],
            "partly_by_global": partly[1], "not": not,
        })
    };
    assert_eq!(report["agents"][0]["origins"], counts([1, 0, 1], [2, 0], 2));
    assert_eq!(report["agents"][1]["origins"], counts([0, 0, 1], [0, 2], 3));
    assert_eq!(
        report["together"],
        serde_json::json!({
            "all_wholly": 1, "any_wholly": 2, "any_refused": 4, "any_disallowed": 4,
        })
    );
    let bases: Vec<(&str, u64, u64)> = report["bases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| {
            (
                of["basis"].as_str().unwrap(),
                of["origins"].as_u64().unwrap(),
                of["origins_refused"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        bases,
        [
            ("rules", 3, 0),
            ("no-robots-txt", 1, 0),
            ("forbidden", 1, 0),
            ("server-error", 1, 1)
        ]
    );
    let rules = report["rules"]["top"].as_array().unwrap();
    let rules: Vec<(&str, u64, &Value)> = rules
        .iter()
        .map(|rule| {
            (
                rule["rule"].as_str().unwrap(),
                rule["origins"].as_u64().unwrap(),
                &rule["agents"],
            )
        })
        .collect();
    let by_agent = |a: u64, b: u64| serde_json::json!([a, b]);
    assert_eq!(
        rules,
        [
            ("Disallow: /cart", 2, &by_agent(2, 2)),
            ("Disallow: /x*y$", 2, &by_agent(0, 2)),
            ("Disallow: /", 1, &by_agent(1, 0)),
        ]
    );
    assert_eq!(report["rules"]["distinct"], 3);
    assert_eq!(report["signals"][0]["files"], 1);
    assert_eq!(
        report["signals"][0]["values"][0],
        serde_json::json!({ "value": "ai-train=no", "origins": 2 })
    );
    // The origin that disallows both comes first, then those that disallow one agent wholly, by
    // rules.
    let top: Vec<&str> = report["top_origins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["origin"].as_str().unwrap())
        .collect();
    assert_eq!(
        top,
        [
            "https://six.example",
            "https://three.example",
            "https://one.example",
            "https://two.example"
        ]
    );
    let example = &report["example"];
    assert_eq!(
        (example["url"].as_str(), example["rule"]["line"].as_u64()),
        (Some("https://one.example/cart"), Some(2))
    );
    assert_eq!(
        example["agent_lines"],
        serde_json::json!([{ "line": 1, "text": "User-agent: a" }])
    );
}

/// The causes: a name of a chain counts as a name, and an agent without any group is not
/// disallowed.
#[test]
fn names_the_global_group_and_the_status_policy_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    compile(
        dir.path(),
        &[
            (
                "https://named.example",
                200,
                "user-agent: a\ndisallow: /\n\nuser-agent: *\ndisallow: /x",
            ),
            ("https://global.example", 200, "user-agent: *\ndisallow: /"),
            ("https://other.example", 200, "user-agent: c\ndisallow: /"),
            (
                "https://parent.example",
                200,
                "user-agent: b\ndisallow: /\n\nuser-agent: *\ndisallow:",
            ),
            (
                "https://spared.example",
                200,
                "user-agent: a\nallow: /\n\nuser-agent: *\ndisallow: /",
            ),
            ("https://failing.example", 503, ""),
        ],
    );
    let report = report(dir.path(), &["-a", "a,a-b:b,c"]);
    let names = [
        "wholly_by_name",
        "wholly_by_global",
        "wholly_by_status",
        "partly_by_name",
        "partly_by_global",
        "not",
    ];
    for (agent, expected) in [[1, 1, 1, 0, 0, 3], [1, 2, 1, 0, 1, 1], [1, 2, 1, 0, 1, 1]]
        .into_iter()
        .enumerate()
    {
        let counts = &report["agents"][agent]["origins"];
        assert_eq!(
            names.map(|name| counts[name].as_u64().unwrap()),
            expected,
            "{agent}"
        );
        assert_eq!(counts["wholly"], expected[..3].iter().sum::<u64>());
        assert_eq!(counts["partly"], expected[3..5].iter().sum::<u64>());
    }
    let table = output_of(dir.path(), "report -q -s s.rsieve -a x,a,c");
    let agents = table
        .lines()
        .skip_while(|line| !line.starts_with("  domains that disallow"))
        .skip(1)
        .take(3);
    let names: Vec<&str> = agents
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(
        names,
        ["c", "a", "x"],
        "those disallowed by name come first: {table}"
    );
}

#[test]
fn deciding_rules_equal_explanations() {
    let dir = tempfile::tempdir().unwrap();
    compile(
        dir.path(),
        &[
            (
                "https://one.example",
                200,
                "user-agent: *\nDisallow: /a # why\nDisallow: /b\nAllow: /a/x",
            ),
            ("https://two.example", 503, ""),
        ],
    );
    let list = "https://one.example/a/1\nhttps://one.example/a/2\nhttps://one.example/a/x\nhttps://one.example/b\nhttps://two.example/\n";
    let ran = robosieve_with(
        dir.path(),
        &words("report -q -s s.rsieve -a a --json-to - -"),
        list.as_bytes(),
    );
    let report: Value = serde_json::from_str(&done(ran)).unwrap();
    assert_eq!(
        report["deciding"],
        serde_json::json!({
            "every": 1, "explained": 4, "not_by_rule": 1,
            "top": [
                { "rule": "Disallow: /a", "urls": 2, "agents": [2] },
                { "rule": "Disallow: /b", "urls": 1, "agents": [1] },
            ],
        })
    );
    assert_eq!(report["example"]["url"], "https://one.example/a/1");
    assert_eq!(
        report["example"]["rule"],
        serde_json::json!({ "line": 2, "text": "Disallow: /a" })
    );
}

#[test]
fn sets_count_units_that_refuse_some_or_all_members() {
    let dir = tempfile::tempdir().unwrap();
    compile(
        dir.path(),
        &[
            ("https://one.example", 200, "user-agent: a\ndisallow: /"),
            (
                "https://two.example",
                200,
                "user-agent: a\nuser-agent: b\ndisallow: /",
            ),
            ("https://three.example", 200, "user-agent: b\ndisallow: /x"),
            ("https://four.example", 503, ""),
            ("https://five.example", 404, ""),
        ],
    );
    let sets = words("report -q -s s.rsieve -a @ab=a,b -a c,@bc=b,c");
    let output = |more: &[&str]| done(robosieve(dir.path(), &[&sets[..], more].concat()));
    let report: Value = serde_json::from_str(&output(&["--json-to", "-"])).unwrap();
    assert_eq!(
        report["sets"],
        serde_json::json!([
            {
                "name": "@ab", "agents": ["a", "b"], "any_wholly": 3, "all_wholly": 2,
                "any_refused": 4, "any_disallowed": 4,
            },
            {
                "name": "@bc", "agents": ["b", "c"], "any_wholly": 2, "all_wholly": 1,
                "any_refused": 3, "any_disallowed": 3,
            },
        ])
    );
    assert_eq!(report["together"]["all_wholly"], 1, "of a, b and c");
    let csv = output(&["--csv-to", "-"]);
    assert!(
        csv.contains("\nsets,'@bc,,agents,2\nsets,'@bc,,all_wholly,1\n"),
        "{csv}"
    );
    let table = output(&[]);
    let row =
        "  @bc                                2   40.0 %         1   20.0 %         3   60.0 %";
    assert!(table.lines().any(|line| line == row), "{table}");
    let heading =
        "60.0 % of the domains wholly disallow one or more agents of @ab, 40.0 % all of them";
    assert!(table.contains(heading), "{table}");
    let page = output(&["--html", "-"]);
    assert!(page.contains("data-m=\"/sets/1/any_refused\""), "{page}");
    let series = output_of(dir.path(), "report -q --series now=s.rsieve -a @ab=a,b");
    assert!(
        series.contains(
            "  one of the set wholly            now\n  @ab                           60.0 %\n"
        ),
        "{series}"
    );
}

/// The rows are labelled "wholly", and the headline calls the first agent the most disallowed.
#[test]
fn agents_are_sorted_by_whole_refusals() {
    let dir = tempfile::tempdir().unwrap();
    let all_but_named = "user-agent: Named\nallow: /\nuser-agent: *\ndisallow: /";
    super::compile(
        dir.path(),
        &[
            ("https://a.example", 200, all_but_named),
            ("https://b.example", 200, all_but_named),
            ("https://c.example", 200, "user-agent: Named\ndisallow: /"),
        ],
    );
    // `Other` is disallowed wholly by two sites and by name by none; `Named` by one, by name.
    let args = ["report", "-q", "-s", "s.rsieve", "-a", "Named,Other"];
    let table = done(robosieve(dir.path(), &args));
    assert!(
        table.contains("Other is disallowed most: 66.7 %"),
        "{table}"
    );
    let page = done(robosieve(
        dir.path(),
        &[&args[..], &["--html", "-"]].concat(),
    ));
    let bar_of = |name: &str| page.find(&format!("<strong>{name}</strong> <span>wholly"));
    assert!(bar_of("Other").unwrap() < bar_of("Named").unwrap());
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("  Other ") || line.starts_with("  Named "))
        .collect();
    assert!(rows[0].starts_with("  Other "), "{table}");
}

/// The first capture represents its domain. The rules of the other one apply to no counted unit.
#[test]
fn listed_origins_show_what_they_disallow_without_representing_a_unit() {
    let dir = tempfile::tempdir().unwrap();
    let captures = [
        ("https://a.example", 200, ""),
        ("http://a.example", 200, "user-agent: a\ndisallow: /"),
    ];
    compile(dir.path(), &captures);
    write(&dir, "urls.txt", "http://a.example/x\n");
    let report = report(dir.path(), &["-a", "a,b", "urls.txt"]);
    assert_eq!(report["agents"][0]["origins"]["not"], 1);
    let top = &report["top_origins"][0];
    assert_eq!(top["origin"], "http://a.example");
    assert_eq!(
        (&top["agents"][0], &top["agents"][1]),
        (&"wholly".into(), &"not".into())
    );
    assert_eq!(top["urls_disallowed"], 1);
}
