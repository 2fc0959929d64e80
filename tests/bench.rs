//! `robosieve bench`: its output, and its check of the answers.

use crate::command::{Ran, robosieve, words};
use crate::test_dir::TestDir;
use serde_json::Value;
use std::path::Path;

fn bench(dir: &Path, args: &[&str]) -> Ran {
    robosieve(dir, &[&["bench", "-q", "-j", "1"], args].concat())
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_slice(&ran.stdout).unwrap()
}

const SMALL: [&str; 4] = ["--origins", "500", "--urls", "5k"];

#[test]
fn stages_are_timed() {
    let dir = TestDir::new();
    let report = json(&bench(
        dir.root(),
        &[&SMALL[..], &["--json", "--runs", "1", "--threads", "1,2"]].concat(),
    ));
    assert_eq!(report["synthetic"]["origins"], 500);
    assert_eq!(report["agents"][0], "GPTBot");
    assert_eq!(report["counts"]["lines"], 5_000);
    let number = |value: &Value| value.as_f64().is_some_and(f64::is_finite);
    for (measured, threads) in report["threads"].as_array().unwrap().iter().zip([1, 2]) {
        assert_eq!(measured["threads"], threads);
        for stage in ["split", "probe", "locate", "match", "write"] {
            for unit in ["ns_per_url", "cpu_ns_per_url"] {
                assert!(number(&measured["stages"][stage][unit]), "{stage}");
            }
        }
        let ceilings = &measured["ceilings"];
        for whole in [
            &measured["total"],
            &ceilings["floor"],
            &ceilings["newline_scan"],
            &ceilings["memcpy"],
        ] {
            assert!(
                ["ns_per_url", "urls_per_second", "gb_per_second"]
                    .iter()
                    .all(|unit| number(&whole[unit]))
            );
        }
        assert!(
            ["chained", "overlapped"]
                .iter()
                .all(|how| number(&ceilings["random_access_ns"][how]))
        );
    }
    // Rules decide most lines, and the reference judged these too.
    let compared = report["reference"]["compared"].as_u64().unwrap();
    assert!((1_000..2_000).contains(&compared));
    assert!(report["reference"]["allowed"][0].as_u64().unwrap() > compared / 2);
}

#[test]
fn order_changes_only_times() {
    let dir = TestDir::new();
    let counts = |order| {
        let more = words("--json --runs 1 -a FooBot,GPTBot --order");
        let args = [&SMALL[..], &more, &[order]].concat();
        json(&bench(dir.root(), &args))["counts"].clone()
    };
    assert_eq!(counts("sorted"), counts("shuffled"));
}

#[test]
fn table_names_stages_and_ceilings() {
    let dir = TestDir::new();
    let ran = bench(dir.root(), &[&SMALL[..], &["--runs", "1"]].concat());
    let table = ran.text();
    let rows = [
        "1 thread",
        "split",
        "probe",
        "locate",
        "match",
        "write",
        "total",
        "floor",
        "newline scan",
        "memcpy",
        "random access",
    ];
    let mut lines = table
        .lines()
        .skip_while(|line| !line.starts_with("1 thread"));
    assert!(
        rows.iter()
            .all(|row| lines.next().unwrap().trim_start().starts_with(row)),
        "{table}"
    );
    assert!(
        table.starts_with("synthetic web of 500 origins and 5,000 URLs, sorted, seed 1; GPTBot;"),
        "{table}"
    );
}

/// The web that `bench` writes for other tools is the one that it times.
#[test]
fn written_webs_give_the_same_counts() {
    let dir = TestDir::new();
    let ran = bench(dir.root(), &[&SMALL[..], &["--write-to", "web"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.as_slice(), &b""[..], "{ran:?}");
    let compiled = dir.run(&["compile", "-q", "-o", "web.rsieve", "web/robots.jsonl.zst"]);
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
    let given = words("-s web.rsieve --urls web/urls.txt -a GPTBot --json --runs 1");
    let given = json(&bench(dir.root(), &given));
    let made = json(&bench(
        dir.root(),
        &[&SMALL[..], &["--json", "--runs", "1"]].concat(),
    ));
    assert_eq!(given["synthetic"], Value::Null);
    for same in ["counts", "reference"] {
        assert_eq!(given[same], made[same]);
    }
}

#[test]
fn contradictory_options_are_refused() {
    let dir = TestDir::new();
    dir.write("empty.txt", "");
    dir.write(
        "robots.jsonl",
        r#"{"url": "https://e.example/robots.txt", "body": ""}"#,
    );
    dir.run(&["compile", "-q", "-o", "s.rsieve", "robots.jsonl"]);
    let cases = [
        (&["-s", "s.rsieve"][..], "-s needs --urls FILE"),
        (
            &["-s", "s.rsieve", "--urls", "empty.txt"],
            "empty.txt: holds no lines",
        ),
        (&["-s", "s.rsieve", "--urls", "missing.txt"], "missing.txt"),
        (
            &["-s", "s.rsieve", "--urls", "empty.txt", "--origins", "5"],
            "cannot be used with",
        ),
        (
            &["--urls", "list.txt"],
            "--urls list.txt: without -s it is the number of URLs",
        ),
        (&["--origins", "0"], "give a number like"),
        (&["--write-to", "web", "--json"], "cannot be used with"),
    ];
    for (args, says) in cases {
        let ran = bench(dir.root(), args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}
