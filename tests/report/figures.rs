//! The figures of a report, against the letters of `annotate` and against each other.

use super::{columns, compiled, done, parsed, texts};
use crate::command::{assert_has, checkout, robosieve_with, words};
use crate::test_dir::TestDir;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const AGENTS: &str = "GPTBot,Googlebot,Googlebot-Image:Googlebot,MJ12bot,FooBot";

/// A directory with a snapshot of the shipped archive, and the shipped list.
fn small_dir() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s.rsieve");
    let list = checkout().join("datasets/small/urls.txt");
    std::fs::copy(list, dir.path("urls.txt")).unwrap();
    dir
}

fn report(dir: &TestDir, args: &[&str]) -> Value {
    let all = [&["report", "-q", "-s", "s.rsieve", "--json-to", "-"], args].concat();
    parsed(&done(dir.run(&all)))
}

/// The sum of the numbers at a pointer into each element of an array.
fn sum(array: &Value, pointer: &str) -> u64 {
    let elements = array.as_array().unwrap().iter();
    elements
        .map(|of| of.pointer(pointer).unwrap().as_u64().unwrap())
        .sum()
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
    let dir = small_dir();
    for options in [
        &[][..],
        &["--status-policy", "strict"],
        &["--unknown", "allow"],
        &["--scheme", "any"],
    ] {
        let annotate = ["annotate", "-q", "-s", "s.rsieve", "-a", AGENTS, "urls.txt"];
        let annotated = done(dir.run(&[&annotate[..], options].concat()));
        let report = report(&dir, &[&["-a", AGENTS, "urls.txt"], options].concat());
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
            let refused = sum(&report["bases"], &format!("/urls_refused/{agent}"));
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
        assert_eq!(sum(&report["bases"], "/urls"), lines);
    }
}

#[test]
fn origins_are_counted_by_disallowed_urls() {
    let dir = small_dir();
    let annotated = dir.stdout_of(&format!("annotate -q -s s.rsieve -a {AGENTS} urls.txt"));
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
    let report = report(&dir, &["-a", AGENTS, "--top", "1000", "urls.txt"]);
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
    let dir = small_dir();
    let plain = dir.read_text("urls.txt");
    let urls: Vec<&str> = plain
        .lines()
        .filter(|line| !line.contains(['"', '\u{fffd}', '\0', '\r']))
        .collect();
    // Many blocks, so that every thread gets some.
    let many: String = std::iter::repeat_n(urls.join("\n") + "\n", 60).collect();
    dir.write("many.txt", &many);
    let csv: String = many.lines().map(|url| format!("x,\"{url}\"\n")).collect();
    dir.write("many.csv", format!("id,url\n{csv}"));
    let undated = |args: &[&str]| {
        let mut report = report(&dir, &[&["-a", AGENTS], args].concat());
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
    let shop = "User-agent: a\nDisallow: /cart\n\nUser-agent: *\nDisallow: /cart\nDisallow: /x*y$\nContent-Signal: search=yes, ai-train=no\n";
    let dir = compiled(&[
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
    ]);
    let report = report(&dir, &["-a", "a,b"]);
    let counts = |wholly: [u64; 3], partly: [u64; 2], not: u64| {
        json!({
            "wholly": wholly.iter().sum::<u64>(), "wholly_by_name": wholly[0], "wholly_by_global": wholly[1],
            "wholly_by_status": wholly[2], "partly": partly.iter().sum::<u64>(), "partly_by_name": partly[0],
            "partly_by_global": partly[1], "not": not,
        })
    };
    assert_eq!(report["agents"][0]["origins"], counts([1, 0, 1], [2, 0], 2));
    assert_eq!(report["agents"][1]["origins"], counts([0, 0, 1], [0, 2], 3));
    assert_eq!(
        report["together"],
        json!({
            "all_wholly": 1, "any_wholly": 2, "any_refused": 4, "any_disallowed": 4,
        })
    );
    assert_eq!(
        columns(&report["bases"], ["basis", "origins", "origins_refused"]),
        json!([
            ["rules", 3, 0],
            ["no-robots-txt", 1, 0],
            ["forbidden", 1, 0],
            ["server-error", 1, 1]
        ])
    );
    assert_eq!(
        columns(&report["rules"]["top"], ["rule", "origins", "agents"]),
        json!([
            ["Disallow: /cart", 2, [2, 2]],
            ["Disallow: /x*y$", 2, [0, 2]],
            ["Disallow: /", 1, [1, 0]],
        ])
    );
    assert_eq!(report["rules"]["distinct"], 3);
    assert_eq!(report["signals"][0]["files"], 1);
    assert_eq!(
        report["signals"][0]["values"][0],
        json!({ "value": "ai-train=no", "origins": 2 })
    );
    // The origin that disallows both comes first, then those that disallow one agent wholly, by
    // rules.
    assert_eq!(
        texts(&report["top_origins"], "origin"),
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
        json!([{ "line": 1, "text": "User-agent: a" }])
    );
}

/// The causes: a name of a chain counts as a name, and an agent without any group is not
/// disallowed.
#[test]
fn names_the_global_group_and_the_status_policy_are_told_apart() {
    let dir = compiled(&[
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
    ]);
    let report = report(&dir, &["-a", "a,a-b:b,c"]);
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
    let table = dir.stdout_of("report -q -s s.rsieve -a x,a,c");
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
    let dir = compiled(&[
        (
            "https://one.example",
            200,
            "user-agent: *\nDisallow: /a # why\nDisallow: /b\nAllow: /a/x",
        ),
        ("https://two.example", 503, ""),
    ]);
    let list = "https://one.example/a/1\nhttps://one.example/a/2\nhttps://one.example/a/x\nhttps://one.example/b\nhttps://two.example/\n";
    let ran = robosieve_with(
        dir.root(),
        &words("report -q -s s.rsieve -a a --json-to - -"),
        list.as_bytes(),
    );
    let report = parsed(&done(ran));
    assert_eq!(
        report["deciding"],
        json!({
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
        json!({ "line": 2, "text": "Disallow: /a" })
    );
}

#[test]
fn sets_count_units_that_refuse_some_or_all_members() {
    let dir = compiled(&[
        ("https://one.example", 200, "user-agent: a\ndisallow: /"),
        (
            "https://two.example",
            200,
            "user-agent: a\nuser-agent: b\ndisallow: /",
        ),
        ("https://three.example", 200, "user-agent: b\ndisallow: /x"),
        ("https://four.example", 503, ""),
        ("https://five.example", 404, ""),
    ]);
    let sets = words("report -q -s s.rsieve -a @ab=a,b -a c,@bc=b,c");
    let output = |more: &[&str]| done(dir.run(&[&sets[..], more].concat()));
    let report = parsed(&output(&["--json-to", "-"]));
    assert_eq!(
        report["sets"],
        json!([
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
    assert_has(&csv, "\nsets,'@bc,,agents,2\nsets,'@bc,,all_wholly,1\n");
    let table = output(&[]);
    let row =
        "  @bc                                2   40.0 %         1   20.0 %         3   60.0 %";
    assert!(table.lines().any(|line| line == row), "{table}");
    let heading =
        "60.0 % of the domains wholly disallow one or more agents of @ab, 40.0 % all of them";
    assert_has(&table, heading);
    let page = output(&["--html", "-"]);
    assert_has(&page, "data-m=\"/sets/1/any_refused\"");
    let series = dir.stdout_of("report -q --series now=s.rsieve -a @ab=a,b");
    assert_has(
        &series,
        "  one of the set wholly            now\n  @ab                           60.0 %\n",
    );
}

/// The rows are labelled "wholly", and the headline calls the first agent the most disallowed.
#[test]
fn agents_are_sorted_by_whole_refusals() {
    let all_but_named = "user-agent: Named\nallow: /\nuser-agent: *\ndisallow: /";
    let dir = compiled(&[
        ("https://a.example", 200, all_but_named),
        ("https://b.example", 200, all_but_named),
        ("https://c.example", 200, "user-agent: Named\ndisallow: /"),
    ]);
    // `Other` is disallowed wholly by two sites and by name by none; `Named` by one, by name.
    let args = ["report", "-q", "-s", "s.rsieve", "-a", "Named,Other"];
    let table = done(dir.run(&args));
    assert_has(&table, "Other is disallowed most: 66.7 %");
    let page = done(dir.run(&[&args[..], &["--html", "-"]].concat()));
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
    let captures = [
        ("https://a.example", 200, ""),
        ("http://a.example", 200, "user-agent: a\ndisallow: /"),
    ];
    let dir = compiled(&captures);
    dir.write("urls.txt", "http://a.example/x\n");
    let report = report(&dir, &["-a", "a,b", "urls.txt"]);
    assert_eq!(report["agents"][0]["origins"]["not"], 1);
    let top = &report["top_origins"][0];
    assert_eq!(top["origin"], "http://a.example");
    assert_eq!(
        (&top["agents"][0], &top["agents"][1]),
        (&"wholly".into(), &"not".into())
    );
    assert_eq!(top["urls_disallowed"], 1);
}
