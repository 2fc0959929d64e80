//! `report --group-by FILE`, and series from the dates in names: against hand-made counts.

use super::{compile, compiled, done, parsed};
use crate::command::assert_has;
use crate::test_dir::TestDir;
use serde_json::{Value, json};

/// A web of five domains in `s.rsieve`. `b.com` has two hosts.
fn web() -> TestDir {
    let all = "user-agent: *\ndisallow: /";
    compiled(&[
        ("https://a.com", 200, "user-agent: x\ndisallow: /"),
        ("https://www.b.com", 200, "user-agent: x\ndisallow: /1"),
        ("https://blog.b.com", 200, all),
        ("https://c.org", 200, all),
        ("https://d.org", 404, ""),
        ("http://1.2.3.4", 503, ""),
    ])
}

fn report(dir: &TestDir, args: &[&str]) -> String {
    let start = ["report", "-q", "-s", "s.rsieve", "-a", "x,y"];
    done(dir.run(&[&start, args].concat()))
}

/// The names of the groups, their units, and those that disallow each agent wholly.
fn sizes(report: &Value) -> Vec<(String, u64, Vec<u64>)> {
    let groups = report["groups"].as_array().unwrap();
    let wholly = |group: &Value| {
        let agents = group["agents"].as_array().unwrap();
        agents
            .iter()
            .map(|of| of["wholly"].as_u64().unwrap())
            .collect()
    };
    groups
        .iter()
        .map(|group| {
            let name = group["name"].as_str().unwrap().to_owned();
            (name, group["units"].as_u64().unwrap(), wholly(group))
        })
        .collect()
}

#[test]
fn groups_of_a_file_are_counted() {
    let dir = web();
    let group =
        |name: &str, units: u64, wholly: [u64; 2]| (name.to_owned(), units, wholly.to_vec());
    let file = "domain,kind\n# comment\na.com,\"News, daily\"\nwww.B.com.\tNews, daily\n\
                c.org,shops\nabsent.example,empty\n";
    dir.write("g.csv", file);
    let by_domain = parsed(&report(&dir, &["--group-by", "g.csv", "--json-to", "-"]));
    assert_eq!(
        sizes(&by_domain),
        [
            group("News, daily", 2, [1, 0]),
            group("shops", 1, [1, 1]),
            group("empty", 0, [0, 0]),
            group("(no group)", 2, [1, 1]),
        ]
    );
    assert_eq!(
        by_domain["group_list"],
        json!({ "entries": 4, "units_matched": 3, "overruled": 0 })
    );
    // By host, blog.b.com has no line.
    let by_host = ["--group-by", "g.csv", "--by", "host", "--json-to", "-"];
    let by_host = parsed(&report(&dir, &by_host));
    assert_eq!(sizes(&by_host)[3], group("(no group)", 3, [2, 2]));
    let table = report(&dir, &["--group-by", "g.csv"]);
    for line in [
        "60.0 % of the domains have a group; News, daily is the largest: 40.0 %",
        "  wholly disallowed                     domains            x            y",
        "  News, daily                        2   40.0 %       50.0 %          0 %",
        "  wholly, by name                                          x            y",
        "  News, daily                                         50.0 %          0 %",
        "  (no group)                                             0 %          0 %",
        "  empty                                                    -            -",
    ] {
        assert!(table.lines().any(|of| of == line), "{line}\n{table}");
    }
    let csv = report(&dir, &["--group-by", "g.csv", "--csv-to", "-"]);
    for line in [
        "group_list,,,units_matched,3",
        "groups,shops,,units,1",
        "groups,\"News, daily\",x,origins_wholly_by_name,1",
    ] {
        assert!(csv.lines().any(|of| of == line), "{line}\n{csv}");
    }
    let page = report(&dir, &["--group-by", "g.csv", "--html", "-"]);
    assert_has(&page, "data-m=\"/groups/0/agents/0/wholly_by_name\">1<");
}

fn groups_of_one_site(groups: u32) -> String {
    let lines = (0..groups).map(|number| format!("site-{number}.example,group {number}\n"));
    lines.collect()
}

#[test]
fn groups_that_a_table_leaves_out_are_where_it_says() {
    let dir = web();
    dir.write("g.csv", groups_of_one_site(51));
    let table = report(&dir, &["--group-by", "g.csv"]);
    assert_has(
        &table,
        "  And 1 more group, which --json-to and --csv-to have.\n",
    );
    for option in ["--json-to", "--csv-to"] {
        let all = report(&dir, &["--group-by", "g.csv", option, "-"]);
        for name in ["group 50", "(no group)"] {
            assert_has(&all, name);
        }
    }
}

#[test]
fn groups_add_up_for_any_order_and_number_of_threads() {
    let dir = TestDir::new();
    dir.compile_small("s.rsieve");
    let rows = dir.stdout_of("export -q -s s.rsieve -a x --as jsonl -o -");
    // Three groups by the length of the host, and hosts without one.
    let mut lines: Vec<String> = rows
        .lines()
        .map(|row| parsed(row)["host"].as_str().unwrap().to_owned())
        .filter(|host| host.len() % 4 > 0)
        .map(|host| format!("{host},group {}\n", host.len() % 4))
        .collect();
    lines.sort();
    lines.dedup();
    dir.write("g.csv", lines.concat());
    lines.reverse();
    dir.write("r.csv", lines.concat());
    for by in ["origin", "host"] {
        let run = |file: &str, threads: &str| {
            let options = ["--by", by, "--group-by", file, "-j", threads];
            parsed(&report(&dir, &[&options[..], &["--json-to", "-"]].concat()))
        };
        let one = run("g.csv", "1");
        let groups = one["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 4, "{by}");
        for (number, agent) in one["agents"].as_array().unwrap().iter().enumerate() {
            for (key, whole) in agent["origins"].as_object().unwrap() {
                let parts = groups
                    .iter()
                    .map(|group| group["agents"][number][key].as_u64().unwrap());
                assert_eq!(Some(parts.sum()), whole.as_u64(), "{by} {key}");
            }
        }
        assert_eq!(one["groups"], run("r.csv", "1")["groups"], "{by}");
        assert_eq!(one["groups"], run("g.csv", "4")["groups"], "{by}");
    }
}

#[test]
fn hostile_group_files_are_safe() {
    let dir = web();
    let evil = "\u{1b}[31m\u{202e}<script>=1+1";
    let mut file = format!("a.com,{evil}\nc.org\t").into_bytes();
    file.extend_from_slice(b"\xff\xfe\x00\n");
    dir.write("evil.csv", &file);
    for form in [
        &[][..],
        &["--html", "-"],
        &["--csv-to", "-"],
        &["--json-to", "-"],
    ] {
        let text = report(&dir, &[&["--group-by", "evil.csv"], form].concat());
        let is_safe = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(text.chars().all(is_safe), "{text}");
        assert!(
            form != ["--html", "-"] || !text.contains("<script>"),
            "{text}"
        );
    }
    // A million lines of ten thousand groups: the page stays small.
    let many: String = (0..1_000_000)
        .map(|i| format!("site{i}.example,group {}\n", i % 10_000))
        .collect();
    dir.write("many.csv", many);
    let run = dir.run_line("report -q -s s.rsieve -a x --group-by many.csv --html -");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.len() < 300_000, "{}", run.stdout.len());
    let warning = "many.csv: only 0 of its 1,000,000 names name domains of s.rsieve";
    run.says(warning);
    let long = format!("a.com,{}\n", "x".repeat(1 << 20));
    dir.write("long.csv", long);
    dir.write("twice.csv", "a.com,x\nb.com,y\na.com,y\n");
    dir.write("tranco.csv", "1,a.com\n");
    for (file, expected) in [
        (
            "long.csv",
            "long.csv: line 1: longer than 64 KiB; give a host or domain and a group",
        ),
        (
            "twice.csv",
            "twice.csv: line 3: line 1 has \"a.com\" in another group; keep one",
        ),
        (
            "tranco.csv",
            "tranco.csv: line 1: \"1\" is a number; give the host or domain first",
        ),
        (
            "country",
            "--group-by country: give tld, or a file of hosts and their groups",
        ),
    ] {
        let run = dir.run_line(&format!("report -s s.rsieve -a x --group-by {file}"));
        run.refused(expected);
    }
    let run = dir.run_line("report -s s.rsieve -a x --group-by many.csv --csv-to many.csv");
    run.says("overwritten while it is read");
}

#[test]
fn hosts_of_one_domain_in_two_groups_cause_a_warning() {
    let dir = web();
    let file = "blog.b.com,blogs\nb.com,shops\nwww.b.com,news\n";
    dir.write("g.csv", file);
    let run = dir.run_line("report -q -s s.rsieve -a x --group-by g.csv --json-to -");
    let expected = "robosieve: warning: g.csv: 2 lines have another group than the line that \
                    decides on their domain: line 1, and line 2 decides\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), expected));
    let report = parsed(&done(run));
    assert_eq!(report["group_list"]["overruled"], 2);
    assert_eq!(sizes(&report)[0].0, "shops");
}

/// Snapshots of two months and a week, with names that have the dates.
fn months(dir: &TestDir) -> [&'static str; 3] {
    let names = [
        "w-2026-10.rsieve",
        "CC-MAIN-2026-38.rsieve",
        "20260901.rsieve",
    ];
    let named = "user-agent: x\ndisallow: /";
    for (name, robots) in names.into_iter().zip([named, "", named]) {
        let captures = [
            ("https://a.com", 200, named),
            ("https://c.org", 200, robots),
        ];
        compile(dir, name, &captures);
    }
    names
}

#[test]
fn dates_in_names_order_and_label_a_series() {
    let dir = TestDir::new();
    let names = months(&dir);
    let series = |snapshots: &[&str]| {
        let args = ["report", "-q", "-a", "x", "--csv-to", "-", "--series"];
        done(dir.run(&[&args[..], snapshots].concat()))
    };
    let csv = series(&["*.rsieve"]);
    let lines: Vec<String> = csv
        .lines()
        .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","))
        .collect();
    assert_eq!(
        lines,
        [
            "label,agent,units,wholly",
            "2026-09-01,x,2,2",
            "2026-W38,x,2,1",
            "2026-10,x,2,2"
        ]
    );
    assert_eq!(series(&names), csv, "in any order");
    std::fs::copy(dir.path(names[0]), dir.path("2026-10-01.rsieve")).unwrap();
    std::fs::copy(dir.path(names[0]), dir.path("web.rsieve")).unwrap();
    for (snapshots, expected) in [
        (
            &["*10*.rsieve"][..],
            "2026-10-01.rsieve and w-2026-10.rsieve have the same date, 2026-10-01",
        ),
        (
            &["web.rsieve", names[0]],
            "--series web.rsieve: the name has no date",
        ),
        (
            &["b=web.rsieve", names[0]],
            "w-2026-10.rsieve: has no label, and b=web.rsieve has one",
        ),
        (
            &["2026-09_2026-10.rsieve"],
            "the name has several dates; give each snapshot a label",
        ),
        (
            &["none*.rsieve"],
            "no file has this name, and as a glob it matches none",
        ),
        (&["2026-11.rsieve"], "2026-11.rsieve: No such file"),
    ] {
        let args = ["report", "-a", "x", "--series"];
        let run = dir.run(&[&args[..], snapshots].concat());
        run.refused(expected);
    }
}

#[test]
fn series_has_the_groups_of_a_file() {
    let dir = TestDir::new();
    let names = months(&dir);
    dir.write("g.csv", "c.org,shops\nz.org,none\n");
    let series = |form: &[&str]| {
        let args = ["report", "-q", "-a", "x", "--group-by", "g.csv"];
        let series = [&["--series"][..], &names].concat();
        done(dir.run(&[&args[..], form, &series].concat()))
    };
    let table = series(&[]);
    for line in [
        "  wholly x                    2026-09-01    2026-W38     2026-10",
        "  shops                            100 %         0 %       100 %",
        "  none                                 -           -           -",
        "  (no group)                       100 %       100 %       100 %",
    ] {
        assert!(table.lines().any(|of| of == line), "{line}\n{table}");
    }
    let csv = series(&["--csv-to", "-"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with("label,agent,group,units,wholly,"),
        "{csv}"
    );
    assert_eq!(lines.len(), 1 + 3 * 4);
    assert_eq!(
        lines[2],
        "2026-09-01,x,shops,1,1,1,0,0,0,0,0,0,1.000000,0.000000"
    );
    let report = parsed(&series(&["--json-to", "-"]));
    assert_eq!(report["points"][1]["groups"][0]["agents"][0]["wholly"], 0);
    let page = series(&["--html", "-"]);
    assert_has(
        &page,
        "<strong>shops</strong> <span>100\u{a0}%, by name 100\u{a0}%",
    );
    // What the table leaves out is where it says.
    dir.write("g.csv", groups_of_one_site(50));
    let table = series(&[]);
    assert_has(
        &table,
        "  And 1 more group, which --json-to and --csv-to have.\n",
    );
    for option in ["--json-to", "--csv-to"] {
        assert_has(&series(&[option, "-"]), "group 49");
    }
    dir.write("w.csv", "a.com,1\n");
    let weighed = series(&["--weights", "w.csv", "--csv-to", "-"]);
    let columns = |line: &str| line.split(',').count();
    let mut lines = weighed.lines();
    let header = columns(lines.next().unwrap());
    assert!(lines.all(|line| columns(line) == header), "{weighed}");
}
