//! `--stats-json` of every verb that counts, and the same in the metadata of Parquet files.

use crate::command::{checkout, words};
use crate::test_dir::TestDir;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use robosieve::Snapshot;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A directory with the snapshot `s` of `datasets/small`, its list and its table.
fn small() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s");
    for file in ["small/urls.txt", "small/pages.parquet", "site/access.log"] {
        let (_, name) = file.split_once('/').unwrap();
        std::fs::copy(checkout().join("datasets").join(file), dir.path(name)).unwrap();
    }
    dir
}

/// Runs a command with `--stats-json`, and returns the file.
fn stats(dir: &TestDir, command: &str) -> Value {
    dir.done_line(&format!("{command} --stats-json stats.json"));
    let stats = serde_json::from_slice(&dir.read("stats.json")).unwrap();
    std::fs::remove_file(dir.path("stats.json")).unwrap();
    stats
}

fn checksum(dir: &TestDir) -> String {
    format!("{:016x}", Snapshot::open(dir.path("s")).unwrap().checksum())
}

/// The label of a member of a set: its token, with the agent whose rules it obeys without its own.
fn label(row: &str) -> String {
    let cells: Vec<&str> = row.split('\t').collect();
    match cells[4] {
        "none" => cells[0].to_owned(),
        other => format!("{}:{other}", cells[0]),
    }
}

#[test]
fn every_verb_that_counts_records_its_run() {
    let dir = small();
    let version = format!("robosieve {}", env!("CARGO_PKG_VERSION"));
    let cases = [
        ("filter -q -s s -a @search,GPTBot urls.txt", "lines"),
        (
            "filter -q -s s -a @search,GPTBot --out-dir out urls.txt",
            "files",
        ),
        (
            "annotate -q -s s -a @search,GPTBot urls.txt",
            "agent_allowed",
        ),
        ("export -q -s s -a @search,GPTBot -o sites.parquet", "rows"),
        ("export -q -s s -a @search,GPTBot", "origins"),
        ("report -q -s s -a @search,GPTBot urls.txt", "report"),
        ("report -q -a @search,GPTBot --series A=s", "series"),
        ("diff s s -a @search,GPTBot", "diff"),
        (
            "audit -q -s s -a @search,GPTBot --host https://shop.example access.log",
            "audit",
        ),
        ("lint -q -s s", "lint"),
        ("due -q -s s urls.txt --stale-at 2026-10-01", "due"),
    ];
    for (command, key) in cases {
        let found = stats(&dir, command);
        assert_eq!(found["made_by"], json!(version), "{command}");
        let expected = json!(command.split(' ').next().unwrap());
        assert_eq!(found["arguments"][0], expected);
        let snapshot = &found["snapshots"][0];
        assert_eq!(snapshot["path"], "s", "{command}");
        assert_eq!(snapshot["checksum"], json!(checksum(&dir)), "{command}");
        assert_eq!(snapshot["origins"], 48, "{command}");
        assert!(!found[key].is_null(), "{command}: {found}");
        if command.contains("@search") {
            let members = dir.stdout_of("agents --tsv -a @search");
            let members: Vec<String> = members.lines().skip(1).map(label).collect();
            assert_eq!(found["sets"]["@search"], json!(members), "{command}");
            let mut agents = members.clone();
            agents.push("GPTBot".to_owned());
            assert_eq!(found["agents"], json!(agents), "{command}");
        }
    }
    dir.write("robots.txt", "User-agent: *\nDisallow: /a\nDisallow: /a\n");
    let found = stats(&dir, "lint -q robots.txt");
    assert_eq!(found["lint"]["files"], 1);
    assert_eq!(found["lint"]["clean"], 0);
    // The counts of compilations keep their keys.
    let robots = checkout()
        .join("datasets/small/more.jsonl")
        .display()
        .to_string();
    let found = stats(&dir, &format!("compile -q -o t {robots}"));
    assert!(found["counts"]["origins"].as_u64() > Some(0), "{found}");
    assert_eq!(found["made_by"], json!(version));
}

#[test]
fn counts_by_verdict_and_reason_add_up() {
    let dir = small();
    let found = stats(&dir, "filter -q -s s -a GPTBot urls.txt -o kept");
    let sum = |verdict: &str| -> u64 {
        let by_reason = found["reasons"][verdict].as_object().unwrap();
        by_reason.values().filter_map(Value::as_u64).sum()
    };
    assert_eq!(found["lines"], 381);
    assert_eq!(sum("allowed"), found["allowed"]);
    assert_eq!(sum("disallowed"), found["disallowed"]);
    assert_eq!(found["reasons"]["disallowed"]["server-error"], 9);
    // Also of the files that --resume skips.
    dir.done_line("filter -q -s s -a GPTBot --out-dir out urls.txt");
    let again = stats(
        &dir,
        "filter -q -s s -a GPTBot --out-dir out --resume urls.txt",
    );
    assert_eq!(again["reasons"], found["reasons"]);
    assert_eq!((&again["skipped"], &again["done"]), (&json!(1), &json!(0)));
}

#[test]
fn the_file_appears_with_the_outputs_or_not_at_all() {
    let dir = small();
    let filter = words("filter -s s -a GPTBot -o kept urls.txt");
    for (stats, expected) in [
        ("missing/stats.json", "missing"),
        ("kept", "--stats-json"),
        ("urls.txt", "--stats-json"),
        ("s", "--stats-json"),
        ("stats.parquet", "stats.parquet"),
    ] {
        dir.fails(
            &[&filter[..], &["--stats-json", stats]].concat(),
            &[expected],
        );
    }
    // The input fails after the outputs are open.
    dir.write("odd.jsonl", "[1]\n[2]\n");
    let odd = ["annotate", "-s", "s", "-a", "a", "-o", "kept", "odd.jsonl"];
    dir.fails(
        &[&odd[..], &["--stats-json", "stats.json"]].concat(),
        &["odd.jsonl"],
    );
    let printed = dir.stdout_of("annotate -q -s s -a GPTBot -o kept urls.txt --stats-json -");
    assert_eq!(
        serde_json::from_str::<Value>(&printed).unwrap()["lines"],
        381
    );
}

/// Inputs without a line, in each kind of file that is annotated.
#[test]
fn empty_inputs_have_a_zero_for_each_agent() {
    let dir = small();
    dir.write("empty.txt", "");
    let record = "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    dir.write("empty.warc", record);
    let table = crate::parquet::table(WriterProperties::builder(), &[]);
    dir.write("empty.parquet", table);
    for (list, output) in [
        ("empty.txt", "annotated.txt"),
        ("empty.warc", "annotated.txt"),
        ("empty.parquet", "annotated.parquet"),
    ] {
        for command in [
            format!("annotate -q -s s -a GPTBot,CCBot -o {output} {list}"),
            format!("annotate -q -s s -a GPTBot,CCBot --out-dir out {list}"),
        ] {
            let found = stats(&dir, &command);
            assert_eq!(found["lines"], 0, "{command}");
            assert_eq!(found["agent_allowed"], json!([0, 0]), "{command}");
        }
    }
    let counts: Value =
        serde_json::from_str(&metadata(&dir, "annotated.parquet")["robosieve.counts"]).unwrap();
    assert_eq!(counts["agent_allowed"], json!([0, 0]));
}

/// The metadata of a Parquet file.
fn metadata(dir: &TestDir, name: &str) -> BTreeMap<String, String> {
    let file = std::fs::File::open(dir.path(name)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata();
    let entries = entries.unwrap().iter();
    entries
        .map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default()))
        .collect()
}

#[test]
fn parquet_files_say_what_made_them() {
    let dir = small();
    let found = stats(
        &dir,
        "annotate -q -s s -a @search,GPTBot -o annotated.parquet pages.parquet",
    );
    dir.done_line("export -q -s s -a @search,GPTBot -o sites.parquet");
    for name in ["annotated.parquet", "sites.parquet"] {
        let entries = metadata(&dir, name);
        assert_eq!(entries["robosieve.version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(entries["robosieve.snapshot"], checksum(&dir));
        let sets: Value = serde_json::from_str(&entries["robosieve.sets"]).unwrap();
        assert_eq!(sets, found["sets"]);
        assert!(entries["robosieve.agents"].ends_with(",GPTBot"));
    }
    let counts: Value =
        serde_json::from_str(&metadata(&dir, "annotated.parquet")["robosieve.counts"]).unwrap();
    for key in ["lines", "disallowed", "reasons", "agent_allowed"] {
        assert_eq!(counts[key], found[key], "{key}");
    }
}
