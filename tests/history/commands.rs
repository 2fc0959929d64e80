//! The command on a snapshot with a history, against the same command on snapshots that are compiled
//! as of each time.

use super::archive;
use super::model::Capture;
use super::webs::Round;
use crate::generate::Random;
use crate::test_dir::TestDir;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a history and a snapshot compiled as of a time have apart: properties of the file, and times
/// of captures between those that a history keeps. REPORT and `Compiled::as_of` list them.
const APART: &[&str] = &[
    "bytes",
    "checksum",
    "captured_from",
    "captured_to",
    "fetched_at",
    "made_at",
    "newest_capture",
    "snapshot",
    "sections",
    // Columns of `export`.
    "age",
    "detail",
    "fetched",
    "max_age",
    "retry_after",
    "stale_from",
];

fn rfc3339(time: i64) -> String {
    Timestamp::from_second(time).unwrap().to_string()
}

/// A directory with the archive of some webs, a snapshot with its history, and the URLs of all
/// origins; with some times.
fn dir_of_webs(seed: u64) -> (TestDir, Vec<String>, Vec<i64>) {
    let dir = TestDir::new();
    let mut random = Random(seed);
    let Round { webs, mut times } = Round::new(&mut random, 12);
    let captures: Vec<Capture> = webs.iter().flat_map(|web| web.captures.clone()).collect();
    let origins = webs.iter().flat_map(|web| web.origins.clone());
    let urls: Vec<String> = origins
        .flat_map(|origin| ["/x", "/y/z"].map(|path| format!("{origin}{path}")))
        .collect();
    dir.write("captures.jsonl", archive(&captures, &mut random));
    dir.write("urls.txt", urls.join("\n") + "\n");
    dir.done_line("compile -q --history -o years captures.jsonl");
    random.shuffle(&mut times);
    times.truncate(4);
    // Times that no RFC 3339 text has are asked in other tests.
    times.retain(|time| (0..4_000_000_000).contains(time));
    times.sort_unstable();
    times.dedup();
    assert!(times.len() > 1, "{times:?}");
    (dir, urls, times)
}

/// Compiles the snapshot as of a time.
fn compile_as_of(dir: &TestDir, time: i64) -> String {
    let name = format!("then-{time}");
    let time = rfc3339(time);
    dir.done_line(&format!(
        "compile -q --as-of {time} -o {name} captures.jsonl"
    ));
    name
}

const ADDED: &str = "--as jsonl --add origin,reason,crawl_delay,rule,line,agent --preferences";

#[test]
fn annotated_lists_are_those_of_the_snapshot_of_that_time() {
    let (dir, _, times) = dir_of_webs(3);
    for time in times {
        let then = compile_as_of(&dir, time);
        let time = rfc3339(time);
        for options in ["", "--status-policy strict", "--scheme any --unknown allow"] {
            let run = |snapshot: &str, at: &str| {
                dir.stdout_of(&format!(
                    "annotate -q -s {snapshot} {at} {time} -a a,b {options} {ADDED} urls.txt"
                ))
            };
            assert_eq!(
                run("years", "--as-of"),
                run(&then, "--at"),
                "{time} {options}"
            );
        }
    }
}

#[test]
fn the_bytes_of_a_history_depend_on_the_captures_only() {
    let (dir, ..) = dir_of_webs(6);
    let mut lines: Vec<String> = dir
        .read_text("captures.jsonl")
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    Random(7).shuffle(&mut lines);
    dir.write("shuffled.jsonl", lines.concat());
    let (half, rest) = lines.split_at(lines.len() / 2);
    dir.write("half.jsonl", half.concat());
    dir.write("rest.jsonl", rest.concat());
    dir.done_line("captures -q -o half.captures half.jsonl");
    for (number, inputs) in [
        "-j 1 shuffled.jsonl",
        "--memory 64K captures.jsonl",
        "rest.jsonl half.captures",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("other-{number}");
        dir.done_line(&format!("compile -q --history -o {name} {inputs}"));
        assert!(dir.read(&name) == dir.read("years"), "{inputs}");
    }
    // Without the history, the snapshot is the one that has none.
    dir.done_line("compile -q -o newest captures.jsonl");
    let urls = "-q -a a,b --as jsonl --add origin,reason urls.txt";
    let newest = dir.stdout_of(&format!("annotate -s newest {urls}"));
    assert_eq!(newest, dir.stdout_of(&format!("annotate -s years {urls}")));
}

/// The verdicts and the reason in a line of `annotate --as jsonl --add reason`.
fn verdicts(line: &str) -> (Value, Value) {
    let object: Value = serde_json::from_str(line).unwrap();
    (object["robots"].clone(), object["robots_reason"].clone())
}

#[test]
fn rows_of_every_format_are_judged_as_of_their_times() {
    let (dir, urls, times) = dir_of_webs(4);
    let mut random = Random(4);
    let mut expected = BTreeMap::new();
    for &time in &times {
        let at = rfc3339(time);
        let lines = dir.stdout_of(&format!(
            "annotate -q -s years --as-of {at} -a a,b --as jsonl --add reason urls.txt"
        ));
        for (url, line) in urls.iter().zip(lines.lines()) {
            expected.insert((url.as_str(), time), verdicts(line));
        }
    }
    let rows: Vec<(&str, i64)> = (0..600)
        .map(|_| {
            let url = &urls[random.below(urls.len() as u64) as usize];
            (
                url.as_str(),
                times[random.below(times.len() as u64) as usize],
            )
        })
        .collect();
    let digits = |time: i64| rfc3339(time).replace(['-', ':', 'T', 'Z'], "");
    let mut files = [const { String::new() }; 5];
    files[0].push_str("when,url\n");
    for &(url, time) in &rows {
        let at = rfc3339(time);
        let stamp = digits(time);
        files[0] += &format!("{at},{url}\n");
        files[1] += &format!("{url}\t{time}\n");
        files[2] += &format!("{{\"url\":\"{url}\",\"m\":{{\"at\":{time}000}}}}\n");
        files[3] += &format!("example)/ {stamp} {{\"url\":\"{url}\"}}\n");
        files[4] += &format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {at}\r\n\
             Content-Length: 0\r\n\r\n\r\n\r\n"
        );
    }
    let cases = [
        ("a.csv", "--as-of-column when"),
        ("a.tsv", "--field 1 --as-of-column 2"),
        ("a.jsonl", "--as-of-column m.at"),
        ("a.cdxj", "--as-of-record"),
        ("a.warc", "--as-of-record"),
    ];
    for ((name, options), content) in cases.into_iter().zip(files) {
        dir.write(name, content);
        let lines = dir.stdout_of(&format!(
            "annotate -q -s years -a a,b --as jsonl --add reason {options} {name}"
        ));
        assert_eq!(lines.lines().count(), rows.len(), "{name}");
        for (row, line) in rows.iter().zip(lines.lines()) {
            assert_eq!(verdicts(line), expected[row], "{name}: {row:?} {line}");
        }
    }
}

#[test]
fn rows_without_a_time_are_unknown_or_newest() {
    let dir = TestDir::new();
    dir.write(
        "captures.jsonl",
        r#"{"url": "https://e.example/robots.txt", "body": "user-agent: *\ndisallow: /", "fetched_at": "2026-03-01T00:00:00Z"}
{"url": "https://e.example/robots.txt", "body": "", "fetched_at": "2026-05-01T00:00:00Z"}"#,
    );
    dir.done_line("compile -q --history -o years captures.jsonl");
    let url = "https://e.example/";
    dir.write(
        "rows.csv",
        format!(
            "url,at\n{url},2026-04\n{url},\n{url},soon\nnot a URL,\n{url},2026-06-01\n\
             https://f.example/,\n"
        ),
    );
    // The verdict and the reason of each row.
    let untimed = "unknown unknown-time";
    let invalid = "invalid not-a-url";
    let cases = [
        ("", [untimed, untimed, invalid, untimed]),
        (
            "--no-time newest",
            [
                "allowed rules",
                "allowed rules",
                invalid,
                "unknown unknown-origin",
            ],
        ),
        (
            "--unknown allow",
            [
                "allowed unknown-time",
                "allowed unknown-time",
                invalid,
                "allowed unknown-time",
            ],
        ),
    ];
    for (options, [empty, unread, not_a_url, absent]) in cases {
        let lines = dir.stdout_of(&format!(
            "annotate -q -s years -a a --as jsonl --add reason --as-of-column at {options} rows.csv"
        ));
        let mut found = Vec::new();
        for line in lines.lines() {
            let (robots, reason) = verdicts(line);
            found.push(format!(
                "{} {}",
                robots["a"].as_str().unwrap(),
                reason.as_str().unwrap()
            ));
        }
        let dated = ["disallowed rules", "allowed rules"];
        let expected = [dated[0], empty, unread, not_a_url, dated[1], absent];
        assert_eq!(found, expected, "{options}");
    }
    // They are counted.
    dir.done_line("filter -q -s years -a a --as-of-column at -o out --stats-json counts rows.csv");
    let counts: Value = serde_json::from_str(&dir.read_text("counts")).unwrap();
    assert!(
        counts.to_string().contains("\"without_time\":3"),
        "{counts}"
    );
    // Without a history, a time is refused.
    dir.done_line("compile -q -o newest captures.jsonl");
    for options in ["--as-of 2026-04", "--as-of-column at"] {
        let ran = dir.run_line(&format!(
            "filter -q -s newest -a a {options} -o out rows.csv"
        ));
        ran.refused("no history").says("compile --history");
    }
}

#[test]
fn errors_about_histories_name_the_snapshot() {
    let (dir, ..) = dir_of_webs(8);
    let bytes = dir.read("years");
    let versions = &crate::forging::extents(&bytes)[15];
    let mut damaged = bytes.clone();
    damaged[versions.start + versions.len() / 2] ^= 1;
    dir.write("damaged", damaged);
    for verb in ["filter -o out", "annotate -o out", "filter --out-dir outs"] {
        // Without a time, nothing reads the history.
        dir.done_line(&format!("{verb} -q -s damaged -a a urls.txt"));
        std::fs::remove_dir_all(dir.path("outs")).ok();
        std::fs::remove_file(dir.path("out")).ok();
        let ran = dir.run_line(&format!(
            "{verb} -q -s damaged -a a --as-of 2026-06 urls.txt"
        ));
        ran.refused("damaged: damaged snapshot: the section \"versions\"");
        assert!(!dir.path("out").exists(), "{verb}");
    }
    // An audit verifies everything, so what it finds later has right checksums.
    let mut sections = crate::forging::sections(&bytes);
    let versions = &mut sections[15];
    for row in versions.chunks_mut(24) {
        row[22] = 0xfe;
    }
    dir.write("forged", crate::forging::assemble(&sections));
    let site = dir.read_text("urls.txt").lines().next().unwrap().to_owned();
    let site = site.split('/').take(3).collect::<Vec<_>>().join("/");
    dir.write(
        "access.log",
        "192.0.2.1 - - [01/Feb/2027:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 9 \"-\" \"GPTBot\"\n",
    );
    let ran = dir.run_line(&format!(
        "audit -q -s forged --host {site} -o out access.log"
    ));
    ran.refused("forged: damaged snapshot: a version of an unknown kind");
    assert!(!dir.path("out").exists());
    dir.run_line("compile -q --previous years -o new captures.jsonl")
        .refused("years: cannot be used as the previous snapshot: it has a history")
        .refused("(--history)");
}

/// Compares two values; the keys of [`APART`] may differ.
fn assert_same(path: &str, a: &Value, b: &Value) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{path}");
            for (key, value) in a.iter().filter(|(key, _)| !APART.contains(&key.as_str())) {
                assert_same(&format!("{path}/{key}"), value, &b[key]);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{path}");
            for (a, b) in a.iter().zip(b) {
                assert_same(path, a, b);
            }
        }
        _ => assert_eq!(a, b, "{path}"),
    }
}

#[test]
fn reports_tables_and_differences_are_those_of_the_snapshots_of_their_times() {
    let (dir, _, times) = dir_of_webs(5);
    let json = |line: &str| -> Value { serde_json::from_str(&dir.stdout_of(line)).unwrap() };
    let table = |line: &str| -> Value {
        let lines = dir.stdout_of(line);
        lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .collect()
    };
    let mut earlier: Option<(i64, String)> = None;
    for &time in &times {
        let then = compile_as_of(&dir, time);
        let at = rfc3339(time);
        let report = "report -q -a a,b --json-to -";
        assert_same(
            "report",
            &json(&format!("{report} -s {then} --at {at}")),
            &json(&format!("{report} -s years --as-of {at}")),
        );
        let export = "export -q -a a,b --as jsonl";
        assert_same(
            "export",
            &table(&format!("{export} -s {then} --at {at}")),
            &table(&format!("{export} -s years --as-of {at}")),
        );
        if let Some((before, before_name)) = &earlier {
            let before = rfc3339(*before);
            assert_same(
                "diff",
                &json(&format!("diff -q --json {before_name} {then}")),
                &json(&format!("diff -q --json --from {before} --to {at} years")),
            );
        }
        earlier = Some((time, then));
    }
}
