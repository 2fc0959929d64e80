//! `report --series`, and the options of units: their outputs against hand-made counts and against
//! reports on single snapshots.

use super::{Capture, compile, compiled, done, parsed, texts};
use crate::command::{assert_has, words};
use crate::test_dir::TestDir;
use serde_json::json;

/// Three snapshots of a small web: `GPTBot` is disallowed partly, then by name, then also by `*`.
fn some_months() -> TestDir {
    let dir = TestDir::new();
    let all = "user-agent: *\ndisallow: /x";
    let named = "user-agent: GPTBot\ndisallow: /";
    compile(
        &dir,
        "1.rsieve",
        &[
            ("https://a.com", 200, all),
            ("https://b.com", 404, ""),
            ("https://www.c.de", 200, all),
        ],
    );
    compile(
        &dir,
        "2.rsieve",
        &[
            ("https://a.com", 200, named),
            ("http://a.com", 200, all),
            ("https://b.com", 404, ""),
        ],
    );
    compile(
        &dir,
        "3.rsieve",
        &[
            ("https://www.a.com", 200, named),
            ("https://b.com", 200, "user-agent: *\ndisallow: /"),
            ("https://c.de", 503, ""),
            ("https://d.de", 200, named),
        ],
    );
    dir
}

/// The snapshots of [`some_months`].
const SERIES: [&str; 4] = [
    "--series",
    "2025-01=1.rsieve",
    "odd, label=2.rsieve",
    "3=3.rsieve",
];

fn run(dir: &TestDir, args: &[&str]) -> String {
    done(dir.run(&[&["report", "-q", "-a", "CCBot,GPTBot"], args].concat()))
}

#[test]
fn series_has_the_figures_of_each_snapshot() {
    let dir = some_months();
    dir.write("w.csv", "a.com,4\nb.com,2\nz.com,1\n");
    for units in [
        &[][..],
        &["--by", "host"],
        &["--by", "domain", "--weights", "w.csv"],
        &["--status-policy", "strict"],
    ] {
        let found = parsed(&run(&dir, &[&SERIES, units, &["--json-to", "-"]].concat()));
        assert_eq!(found["agents"], json!(["CCBot", "GPTBot"]));
        let points = found["points"].as_array().unwrap();
        let labels = texts(&found["points"], "label");
        assert_eq!(labels, ["2025-01", "odd, label", "3"]);
        for (point, snapshot) in points.iter().zip(["1.rsieve", "2.rsieve", "3.rsieve"]) {
            let args = [&["-s", snapshot], units, &["--json-to", "-"]].concat();
            let one = parsed(&run(&dir, &args));
            for key in ["snapshot", "judging", "units", "weights", "together"] {
                assert_eq!(point[key], one[key], "{units:?} {snapshot} {key}");
            }
            for agent in 0..2 {
                for key in ["agent", "origins", "weighted"] {
                    assert_eq!(
                        point["agents"][agent][key], one["agents"][agent][key],
                        "{units:?} {snapshot} {key}"
                    );
                }
            }
        }
    }
}

#[test]
fn series_of_domains_equals_counts_by_hand() {
    let dir = some_months();
    dir.write("w.csv", "rank,domain\n1,a.com\n2,b.com\n4,c.de\n");
    let series = [&SERIES[..], &["--by", "domain"]].concat();
    let csv = run(&dir, &[&series[..], &["--csv-to", "-"]].concat());
    let expected = "\
label,agent,units,wholly,wholly_by_name,wholly_by_global,wholly_by_status,partly,partly_by_name,partly_by_global,not,share_wholly,share_partly
2025-01,CCBot,3,0,0,0,0,2,0,2,1,0.000000,0.666667
2025-01,GPTBot,3,0,0,0,0,2,0,2,1,0.000000,0.666667
\"odd, label\",CCBot,2,0,0,0,0,0,0,0,2,0.000000,0.000000
\"odd, label\",GPTBot,2,1,1,0,0,0,0,0,1,0.500000,0.000000
3,CCBot,4,2,0,1,1,0,0,0,2,0.500000,0.000000
3,GPTBot,4,4,2,1,1,0,0,0,0,1.000000,0.000000
";
    assert_eq!(csv, expected);
    // Of the domains, a.com and b.com are in all snapshots. Their weights are 1 and 1/2.
    let common = ["--common", "--weights", "w.csv", "--csv-to", "-"];
    let csv = run(&dir, &[&series[..], &common].concat());
    let ends: Vec<&str> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(",GPTBot,").last().unwrap())
        .collect();
    assert_eq!(
        ends[1],
        "2,0,0,0,0,1,0,1,1,0.000000,0.500000,1.5,0,0,0,0,1,0,1,0.5,0.000000,0.666667"
    );
    assert_eq!(
        ends[3],
        "2,1,1,0,0,0,0,0,1,0.500000,0.000000,1.5,1,1,0,0,0,0,0,0.5,0.666667,0.000000"
    );
    assert_eq!(
        ends[5],
        "2,2,1,1,0,0,0,0,0,1.000000,0.000000,1.5,1.5,1,0.5,0,0,0,0,0,1.000000,0.000000"
    );
    let table = run(&dir, &[&series[..], &["--common"]].concat());
    assert_has(&table, "counted: the 2 domains that all snapshots share\n");
    assert_has(
        &table,
        "  GPTBot                             0 %      50.0 %       100 %\n",
    );
}

#[test]
fn wide_series_fit_the_width() {
    let dir = some_months();
    let snapshots: Vec<String> = (1..=40)
        .map(|i| format!("label \u{1b} of month {i}=1.rsieve"))
        .collect();
    let snapshots: Vec<&str> = snapshots.iter().map(String::as_str).collect();
    let table = run(&dir, &[&["--series"], &snapshots[..]].concat());
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    assert!(!table.contains('\u{1b}'));
    let blocks = table.matches("\n  domains ").count();
    assert!(
        blocks > 8 && table.matches("\n  GPTBot ").count() == blocks * 3,
        "{table}"
    );
}

#[test]
fn weights_count_hosts_by_default() {
    let dir = some_months();
    dir.write("w.csv", "a.com,1\n");
    let figures = |units: &str| {
        let line = format!("report -q -s 1.rsieve -a GPTBot --json-to - {units}");
        let report = parsed(&dir.stdout_of(&line));
        ["by", "units", "agents"].map(|key| report[key].clone())
    };
    let by_host = figures("--by host --weights w.csv");
    assert_eq!(figures("--weights w.csv"), by_host);
    assert_eq!(
        (&figures("")[0], &by_host[0]),
        (&json!("domain"), &json!("host"))
    );
}

#[test]
fn reports_name_the_unit_and_a_domain_that_dominates() {
    let dir = TestDir::new();
    let refuses = "user-agent: *\ndisallow: /";
    let origins: Vec<String> = (0..30).map(|i| format!("https://s{i}.large.com")).collect();
    let sites: Vec<Capture<'_>> = origins
        .iter()
        .map(|origin| (origin.as_str(), 200, refuses))
        .collect();
    let others = [("https://a.com", 200, ""), ("https://b.com", 404, "")];
    compile(&dir, "s", &[&sites[..], &others].concat());
    let report =
        |args: &[&str]| done(dir.run(&[&["report", "-q", "-s", "s", "-a", "x"], args].concat()));
    let note = "large.com alone has 30 of the 30 origins that disallow x wholly.";
    for (by, expected) in [
        (&[][..], "counted: 3 domains, each by one of its origins"),
        (
            &["--by", "host"],
            "counted: 32 hosts, each by one of its origins",
        ),
        (
            &["--by", "origin"],
            "counted: origins; http, https, www and every port count separately",
        ),
    ] {
        let table = report(by);
        assert_has(&table, expected);
        assert_eq!(table.contains(note), by == ["--by", "origin"], "{table}");
        assert_eq!(
            table.contains("With --by domain, each domain counts once."),
            !by.is_empty(),
            "{table}"
        );
        let page = report(&[by, &["--html", "-"]].concat());
        assert_eq!(
            page.contains(&note[..note.len() - 1]),
            by == ["--by", "origin"],
            "{page}"
        );
    }
    let csv = report(&["--by", "origin", "--csv-to", "-"]);
    assert_has(
        &csv,
        "\nconcentrations,large.com,x,units,30\nconcentrations,large.com,x,of,30\n",
    );
}

#[test]
fn wrong_options_of_units_are_refused() {
    let dir = some_months();
    dir.write("twice.csv", "a.com,1\nA.com,2\n");
    dir.write("other.rsieve", "no snapshot");
    for (args, cause) in [
        (
            "-s 1.rsieve --weights twice.csv",
            "twice.csv: line 2: line 1 has \"a.com\" too",
        ),
        (
            "-s 1.rsieve --by host --weights none.csv",
            "none.csv: No such file",
        ),
        (
            "-s 1.rsieve --by host --weights twice.csv --csv-to twice.csv",
            "overwritten while it is read",
        ),
        ("-s 1.rsieve --by site", "invalid value 'site'"),
        ("-s 1.rsieve --common", "cannot be used with"),
        ("-s 1.rsieve --series a=1.rsieve", "cannot be used with"),
        (
            "--series a=1.rsieve --group-by tld",
            "--group-by tld: a series takes a file of groups",
        ),
        ("--series 1.rsieve", "give each snapshot a label"),
        ("--series =1.rsieve", "give each snapshot a label"),
        ("--series a=1.rsieve a=2.rsieve", "has the label a too"),
        (
            "--series a=1.rsieve b=other.rsieve --json-to new.json",
            "other.rsieve: not a robosieve snapshot",
        ),
        (
            "--series a=1.rsieve b=2.rsieve --csv-to 2.rsieve",
            "overwritten while it is read",
        ),
    ] {
        let ran = dir.run_line(&format!("report -a a {args}"));
        ran.refused(cause);
        assert!(ran.stdout.is_empty(), "{args:?}");
    }
    assert!(!dir.path("new.json").exists());
    compile(&dir, "z.rsieve", &[("https://z.com", 404, "")]);
    let ran = dir.run_line("report -a GPTBot --series a=1.rsieve z=z.rsieve --common");
    ran.refused("no domain is in all snapshots");
}

#[test]
fn weights_of_another_kind_give_a_warning() {
    let robots: Vec<String> = (0..200)
        .map(|i| format!("https://www.site{i}.com"))
        .collect();
    let robots: Vec<Capture<'_>> = robots
        .iter()
        .map(|origin| (origin.as_str(), 404, ""))
        .collect();
    let dir = compiled(&robots);
    let list: String = (0..200)
        .map(|i| format!("{},site{i}.com\n", i + 1))
        .collect();
    dir.write("w.csv", list + "201,www.site7.com\n");
    let run = |by: &str| {
        dir.run_line(&format!(
            "report -s s.rsieve -q -a GPTBot --by {by} --weights w.csv"
        ))
    };
    let ran = run("host");
    ran.says("warning: w.csv: only 1 of its 201 names name hosts of s.rsieve");
    let ran = run("domain");
    assert!(!ran.stderr.contains("w.csv"), "{}", ran.stderr);
    let table = done(ran);
    let list = dir.read("w.csv");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, &list).unwrap();
    dir.write("w.csv", gzip.finish().unwrap());
    assert_eq!(done(run("domain")), table, "a compressed list");
    assert_has(
        &table,
        "Weighted: 200 of 200 domains are listed, with > 99.9 % of the weight of the list",
    );
}

#[test]
fn formats_agree_on_units() {
    let dir = some_months();
    dir.write("w.csv", "a.com\t0.1\nd.de\t0.2\n");
    let args = words("-s 3.rsieve --by domain --weights w.csv --group-by tld");
    let json = parsed(&run(&dir, &[&args[..], &["--json-to", "-"]].concat()));
    assert_eq!((&json["by"], &json["units"]), (&json!("domain"), &json!(4)));
    let csv = run(&dir, &[&args[..], &["--csv-to", "-"]].concat());
    for line in [
        "units,,,by,domain".to_owned(),
        "units,,,units,4".to_owned(),
        "weights,,,entries,2".to_owned(),
        format!("weights,,,matched,{}", json["weights"]["matched"]),
        format!(
            "agents,,GPTBot,weighted_wholly_by_name,{}",
            json["agents"][1]["weighted"]["wholly_by_name"]
        ),
        "groups,de,,units,2".to_owned(),
        "groups,de,GPTBot,origins_wholly_by_status,1".to_owned(),
        "groups,com,CCBot,origins_wholly_by_global,1".to_owned(),
    ] {
        assert_has(&csv, &format!("\n{line}\n"));
    }
    assert_eq!(json["groups"][0]["name"], "com");
    let table = run(&dir, &args);
    assert_has(
        &table,
        "  com                    2   50.0 %        100 %       50.0 %\n",
    );
    assert_has(&table, "counted: 4 domains, each by one of its origins\n");
}
