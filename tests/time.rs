//! Behaviour that depends on time: the 30 days of a failing site, stale copies, and captures that
//! are too new.

use crate::command::{robosieve, robosieve_with, words};
use crate::recrawl::{compile, compile_all};
use crate::test_dir::TestDir;
use robosieve::judge::StatusPolicy;
use robosieve::{Compiler, ErrorKind, Judge, JudgeOptions, Profile, Snapshot};
use serde_json::json;

const DAY: i64 = 24 * 60 * 60;
/// 2026-01-10T00:00:00Z.
const FIRST_FAILURE: i64 = 1_767_225_600 + 9 * DAY;

fn capture(time: i64, mut answer: serde_json::Value) -> String {
    answer["url"] = json!("https://a.example/robots.txt");
    answer["fetched_at"] = json!(jiff::Timestamp::from_second(time).unwrap().to_string());
    answer.to_string() + "\n"
}

fn good(time: i64) -> String {
    capture(time, json!({"body": "user-agent: *\ndisallow: /x\n"}))
}

fn failure(time: i64) -> String {
    capture(time, json!({"status": 503}))
}

/// The letters of a path that the last good copy disallows, of one that it allows, and of
/// `/robots.txt`.
fn letters(snapshot: &[u8], options: JudgeOptions) -> String {
    let snapshot = Snapshot::new(snapshot.to_vec()).unwrap();
    let judge = Judge::new(snapshot.clone(), &["FooBot".parse().unwrap()], options).unwrap();
    let letter = |url: &&str| {
        let letter = judge.judge(url.as_bytes()).unwrap().get(0).letter();
        let found = judge.explain(url.as_bytes(), 0).unwrap().verdict.letter();
        assert_eq!(found, letter, "{url}");
        letter
    };
    [
        "https://a.example/x",
        "https://a.example/y",
        "https://a.example/robots.txt",
    ]
    .iter()
    .map(letter)
    .collect()
}

/// Profile, days since the first failure, whether a good copy exists, and the letters. Google
/// robots.txt specification, 2023 edition, HTTP status codes, server errors: disallowed for 30
/// days, then the last good copy decides; without one everything is allowed. RFC 9309 §2.3.1.4:
/// disallowed, and allowed after 30 days; §2.2.2: `/robots.txt` itself is never disallowed.
const CASES: [(Profile, i64, bool, &str); 16] = [
    (Profile::Google, 0, true, "DDD"),
    (Profile::Google, 0, false, "DDD"),
    (Profile::Google, 29, true, "DDD"),
    (Profile::Google, 29, false, "DDD"),
    (Profile::Google, 30, true, "DAA"),
    (Profile::Google, 30, false, "AAA"),
    (Profile::Google, 31, true, "DAA"),
    (Profile::Google, 31, false, "AAA"),
    (Profile::Rfc9309, 0, true, "DDA"),
    (Profile::Rfc9309, 0, false, "DDA"),
    (Profile::Rfc9309, 29, true, "DDA"),
    (Profile::Rfc9309, 29, false, "DDA"),
    (Profile::Rfc9309, 30, true, "AAA"),
    (Profile::Rfc9309, 30, false, "AAA"),
    (Profile::Rfc9309, 31, true, "AAA"),
    (Profile::Rfc9309, 31, false, "AAA"),
];

/// The crawls up to the first failure: a good copy, or another site.
fn until_first_failure(has_good: bool) -> Vec<String> {
    let before = FIRST_FAILURE - 5 * DAY;
    let first = if has_good {
        good(before)
    } else {
        good(before).replace("a.example", "other.example")
    };
    vec![first, failure(FIRST_FAILURE)]
}

#[test]
fn thirty_days_span_crawls() {
    for (profile, days, has_good, expected) in CASES {
        let mut crawls = until_first_failure(has_good);
        if days > 0 {
            crawls.push(failure(FIRST_FAILURE + days * DAY));
        }
        let snapshot = compile_all(profile, crawls);
        let found = letters(&snapshot, JudgeOptions::default());
        assert_eq!(
            found, expected,
            "{profile:?}, {days} days, good copy: {has_good}"
        );
    }
}

#[test]
fn thirty_days_end_at_the_requested_time() {
    for (profile, days, has_good, expected) in CASES {
        let snapshot = compile_all(profile, until_first_failure(has_good));
        let at = |days: i64| JudgeOptions::default().at(FIRST_FAILURE + days * DAY);
        assert_eq!(
            letters(&snapshot, at(days)),
            expected,
            "{profile:?}, {days} days, good copy: {has_good}"
        );
        // Without a requested time the duration is zero, as it is before the first failure.
        let short = letters(&snapshot, at(0));
        assert_eq!(letters(&snapshot, JudgeOptions::default()), short);
        assert_eq!(letters(&snapshot, at(-100)), short);
        // The requested time may be earlier than the last failure.
        let longer = compile(profile, Some(snapshot), &failure(FIRST_FAILURE + 90 * DAY));
        assert_eq!(
            letters(&longer, at(days)),
            expected,
            "{profile:?}, {days} of 90 days, good copy: {has_good}"
        );
    }
}

#[test]
fn requested_time_changes_no_other_verdict() {
    let late = JudgeOptions::default().at(i64::MAX);
    let undated = compile(
        Profile::Google,
        None,
        "{\"url\": \"https://a.example/robots.txt\", \"status\": 503}",
    );
    let found = letters(&undated, late);
    assert_eq!(found, "DDD", "the first failure has no time");
    let found = letters(&compile(Profile::Google, None, &good(0)), late);
    assert_eq!(found, "DAA");
    let strict = late.status_policy(StatusPolicy::Strict);
    let found = letters(&compile(Profile::Google, None, &failure(0)), strict);
    assert_eq!(found, "DDD");
}

#[test]
fn verbs_judge_as_of_the_requested_time() {
    let dir = TestDir::new();
    dir.write(
        "a.jsonl",
        good(FIRST_FAILURE - DAY) + &failure(FIRST_FAILURE),
    );
    dir.done_line("compile -q a.jsonl -o web");
    let list = b"https://a.example/x\nhttps://a.example/y\n";
    // The first failure was on January 10. A date means its first second, so 30 days are over on
    // February 9.
    for (at, kept) in [
        ("2026-02-08", ""),
        ("2026-02-08T23:59:59Z", ""),
        ("2026-02-09", "https://a.example/y\n"),
    ] {
        let judge = ["-s", "web", "-a", "FooBot", "--at", at];
        let ran = robosieve_with(dir.root(), &[&["filter", "-q"][..], &judge].concat(), list);
        assert_eq!(ran.text(), kept, "{at}: {ran:?}");
        let letters = if kept.is_empty() { "DD" } else { "DA" };
        let ran = robosieve_with(
            dir.root(),
            &[&["annotate", "-q"][..], &judge].concat(),
            list,
        );
        assert_eq!(ran.stdout[0], letters.as_bytes()[0], "{at}");
        assert_eq!(ran.stdout[22], letters.as_bytes()[1], "{at}");
        let code = if kept.is_empty() { 1 } else { 0 };
        let ran = dir.run(
            &[
                &["check", "--explain"][..],
                &judge,
                &["https://a.example/y"],
            ]
            .concat(),
        );
        assert_eq!(ran.code, Some(code), "{at}: {}", ran.stderr);
    }
}

/// The fetch time and the freshness of each. Google, caching: 24 hours, unless Cache-Control says
/// otherwise. RFC 9309 §2.4: no more than 24 hours, whatever it says. A failure has no freshness: it is
/// asked again after an hour, or after its Retry-After (RFC 9110 §10.2.3), of which a day counts.
const CAPTURES: &str = r#"
{"url": "https://day.example/robots.txt", "fetched_at": "2026-01-01T00:00:00Z", "body": ""}
{"url": "https://hour.example/robots.txt", "fetched_at": "2026-01-01T00:00:00Z", "body": "", "headers": {"Cache-Control": "max-age=3600"}}
{"url": "https://week.example/robots.txt", "fetched_at": "2026-01-01T00:00:00Z", "body": "", "headers": {"Cache-Control": ["public", "max-age=604800"]}}
{"url": "https://gone.example/robots.txt", "fetched_at": "2026-01-01T12:00:00Z", "status": 404}
{"url": "https://failing.example/robots.txt", "fetched_at": "2026-01-01T12:00:00Z", "error": "timeout"}
{"url": "https://later.example/robots.txt", "fetched_at": "2026-01-01T12:00:00Z", "status": 503, "headers": {"Retry-After": "7200", "Cache-Control": "max-age=31536000"}}
{"url": "https://never.example/robots.txt", "fetched_at": "2026-01-01T12:00:00Z", "status": 503, "headers": {"Retry-After": "Fri, 01 Jan 2027 00:00:00 GMT"}}
{"url": "https://year.example/robots.txt", "fetched_at": "2026-01-01T12:00:00Z", "status": 503, "headers": {"Cache-Control": "max-age=31536000"}}
{"url": "http://week.example/robots.txt", "fetched_at": "2025-12-01T00:00:00Z", "status": 301, "headers": {"Location": "https://week.example/robots.txt"}}
{"url": "https://undated.example/robots.txt", "body": ""}
"#;

/// A time, and the hosts whose robots.txt is stale at that time; `w` is `http` of `week`.
const STALE: [(&str, &str); 12] = [
    ("2025-01-01", "undated"),
    ("2026-01-01T00:59:59Z", "undated"),
    ("2026-01-01T01:00:00Z", "hour undated"),
    ("2026-01-01T12:59:59Z", "hour undated"),
    ("2026-01-01T13:00:00Z", "failing hour undated year"),
    ("2026-01-01T13:59:59Z", "failing hour undated year"),
    ("2026-01-01T14:00:00Z", "failing hour later undated year"),
    ("2026-01-02", "day failing hour later undated year"),
    (
        "2026-01-02T11:59:59Z",
        "day failing hour later undated year",
    ),
    (
        "2026-01-02T12:00:00Z",
        "day failing gone hour later never undated year",
    ),
    (
        "2026-01-08T01:00:00+02:00",
        "day failing gone hour later never undated year",
    ),
    (
        "2026-01-08T02:00:00+02:00",
        "w day failing gone hour later never undated week year",
    ),
];

/// The same for a snapshot of profile `rfc9309`: the week of `week` is a day.
const STALE_RFC9309: [(&str, &str); 4] = [
    ("2026-01-01T01:00:00Z", "hour undated"),
    ("2026-01-01T23:59:59Z", "failing hour later undated year"),
    ("2026-01-02", "w day failing hour later undated week year"),
    (
        "2026-01-02T12:00:00Z",
        "w day failing gone hour later never undated week year",
    ),
];

#[test]
fn failing_origins_are_due_after_an_interval_of_their_own() {
    let dir = TestDir::new();
    dir.write("a.jsonl", CAPTURES);
    let compile = ["compile", "-q", "a.jsonl", "-o", "web"];
    assert_eq!(dir.run(&compile).code, Some(0));
    for (at, interval, hosts) in [
        ("2026-01-01T12:00:00Z", "0s", "failing hour undated year"),
        ("2026-01-01T12:09:59Z", "10m", "hour undated"),
        ("2026-01-01T12:10:00Z", "10m", "failing hour undated year"),
        // Retry-After counts in place of the interval.
        ("2026-01-01T14:00:00Z", "48h", "hour later undated"),
        (
            "2026-01-03T12:00:00Z",
            "48h",
            "day failing gone hour later never undated year",
        ),
    ] {
        let due = ["due", "-q", "-s", "web", "--stale-at", at];
        let retry = ["--retry-failed", interval];
        let ran = dir.run(&[&due[..], &retry].concat());
        let expected: String = hosts
            .split(' ')
            .map(|host| format!("https://{host}.example/robots.txt\n"))
            .collect();
        assert_eq!(ran.text(), expected, "{at} {interval}");
        let export = [
            "export",
            "-q",
            "-s",
            "web",
            "--columns",
            "origin",
            "--stale-at",
            at,
        ];
        let ran = dir.run(&[&export[..], &retry].concat());
        let rows = ran.text();
        let rows: String = rows
            .lines()
            .skip(1)
            .map(|origin| format!("{origin}/robots.txt\n"))
            .collect();
        assert_eq!(rows, expected, "{at} {interval}");
    }
    let wrong = words("due -s web --stale-at now --retry-failed 60");
    let ran = dir.run(&wrong);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("like 1h, 30m or 90s"), "{}", ran.stderr);
}

#[test]
fn stale_copies_are_listed() {
    assert_stale("google", &STALE);
    assert_stale("rfc9309", &STALE_RFC9309);
}

fn assert_stale(profile: &str, stale: &[(&str, &str)]) {
    let dir = TestDir::new();
    dir.write("a.jsonl", CAPTURES);
    let compile = [
        "compile",
        "-q",
        "--profile",
        profile,
        "a.jsonl",
        "-o",
        "web",
    ];
    assert_eq!(dir.run(&compile).code, Some(0));
    for (at, hosts) in stale {
        let url = |host: &str| match host {
            "w" => "http://week.example/robots.txt\n".to_owned(),
            host => format!("https://{host}.example/robots.txt\n"),
        };
        let expected: Vec<String> = hosts.split(' ').map(url).collect();
        assert_exported(dir.root(), at, &expected);
        let ran = dir.run(&["due", "-q", "-s", "web", "--stale-at", at]);
        assert_eq!(ran.text(), expected.concat(), "{at}: {ran:?}");
        let jsonl = ["due", "-q", "-s", "web", "--as", "jsonl", "--stale-at", at];
        let ran = dir.run(&jsonl);
        let objects = ran
            .stdout
            .split(|&b| b == b'\n')
            .filter(|line| !line.is_empty());
        let objects: Vec<serde_json::Value> = objects
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let urls: Vec<String> = objects
            .iter()
            .map(|object| object["url"].as_str().unwrap().to_owned() + "\n")
            .collect();
        assert_eq!(urls, expected, "{at}");
    }
}

/// Asserts that `export` selects these robots.txt URLs as stale, and that each is by its own row.
fn assert_exported(dir: &std::path::Path, at: &str, expected: &[String]) {
    let export = ["export", "-q", "-s", "web", "--as", "tsv"];
    let columns = ["--columns", "origin,stale_from"];
    let rows = |more: &[&str]| -> Vec<String> {
        let ran = robosieve(dir, &[&export[..], &columns, more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let text = ran.text();
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let selected = rows(&["--stale-at", at]);
    let urls: Vec<String> = selected
        .iter()
        .map(|row| row.split('\t').next().unwrap().to_owned() + "/robots.txt\n")
        .collect();
    assert_eq!(urls, expected, "{at}");
    // Without an offset, times in RFC 3339 sort as texts.
    let parsed: jiff::Timestamp = match at.len() {
        10 => format!("{at}T00:00:00Z").parse().unwrap(),
        _ => at.parse().unwrap(),
    };
    let mut by_row = rows(&[]);
    by_row.retain(|row| row.split('\t').nth(1).unwrap() <= parsed.to_string().as_str());
    assert_eq!(by_row, selected, "{at}");
}

#[test]
fn stale_copies_are_described_in_json() {
    let dir = TestDir::new();
    dir.write("a.jsonl", CAPTURES);
    dir.done_line("compile -q a.jsonl -o web");
    let ran = dir.run_line("due -s web --as jsonl --stale-at 2027-01-01");
    let lines: Vec<serde_json::Value> = ran
        .stdout
        .split(|&b| b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let of = |url: &str| {
        lines
            .iter()
            .find(|object| object["url"] == *url)
            .unwrap()
            .clone()
    };
    let expected = json!({
        "url": "https://failing.example/robots.txt", "origin": "https://failing.example",
        "reason": "stale", "outcome": "unreachable", "status": null, "fetched": "2026-01-01T12:00:00Z",
        "stale_from": "2026-01-01T13:00:00Z", "failing_since": "2026-01-01T12:00:00Z",
        "source": null, "detail": "timeout",
    });
    assert_eq!(of("https://failing.example/robots.txt"), expected);
    assert_eq!(
        of("https://undated.example/robots.txt")["stale_from"],
        json!(null)
    );
    assert_eq!(
        of("https://hour.example/robots.txt")["stale_from"],
        "2026-01-01T01:00:00Z"
    );
}

/// `--as-of`, the number of dropped captures, and the letters of `/old` and `/new`. Own: a date
/// means the whole day; see docs/SEMANTICS.md.
const AS_OF: [(&str, u64, &str); 6] = [
    ("2026-01-01", 3, "DA"),
    ("2026-01-10T11:59:59Z", 2, "DA"),
    ("2026-01-10T12:00:00Z", 1, "AD"),
    ("2026-01-10T13:00:00+01:00", 1, "AD"),
    ("2026-01-10", 1, "AD"),
    ("2026-01-11", 0, "DD"),
];

fn as_of_archive() -> String {
    let at = |days: i64, seconds: i64| 1_767_225_600 + days * DAY + seconds;
    let body = |path: &str| json!({"body": format!("user-agent: *\ndisallow: {path}\n")});
    let undated = "{\"url\": \"https://undated.example/robots.txt\", \"body\": \"\"}\n";
    let not_robots = capture(at(9, 0), body("/x")).replace("/robots.txt", "/other");
    [
        undated,
        &not_robots,
        &capture(at(10, 0), json!({"status": 503})),
        &capture(at(0, 0), body("/old")),
        &capture(at(9, 43_200), body("/new")),
    ]
    .concat()
}

#[test]
fn too_new_captures_are_counted() {
    let dir = TestDir::new();
    dir.write("a.jsonl", as_of_archive());
    for (as_of, too_new, expected) in AS_OF {
        let args = [
            "compile",
            "--as-of",
            as_of,
            "--stats-json",
            "stats",
            "a.jsonl",
            "-o",
            "web",
        ];
        let ran = dir.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let stats: serde_json::Value = serde_json::from_slice(&dir.read("stats")).unwrap();
        let counts = [&stats["captures"], &stats["too_new"], &stats["undated"]]
            .map(|count| count.as_u64().unwrap());
        assert_eq!(counts, [5, too_new, 1], "{as_of}");
        let line = format!("captures left out as newer{too_new:>14}");
        assert!(ran.stderr.contains(&line), "{as_of}: {}", ran.stderr);
        let list = b"https://a.example/old\nhttps://a.example/new\n";
        let ran = robosieve_with(
            dir.root(),
            &["annotate", "-q", "-s", "web", "-a", "FooBot"],
            list,
        );
        let letters: String = ran
            .stdout
            .split(|&b| b == b'\n')
            .filter_map(|line| line.first())
            .map(|&b| b as char)
            .collect();
        assert_eq!(letters, expected, "{as_of}");
    }
}

#[test]
fn cutoff_may_be_set_at_any_time() {
    let time = 1_767_225_600 + 5 * DAY;
    let compiled = |first: bool| {
        let mut compiler = Compiler::default();
        if first {
            compiler = compiler.as_of(time);
        }
        compiler
            .add_reader("archive", as_of_archive().as_bytes())
            .unwrap();
        let compiled = compiler.as_of(time).finish().unwrap();
        (compiled.report().too_new, compiled.to_vec().unwrap())
    };
    assert_eq!(compiled(true), compiled(false));
    assert_eq!(compiled(true).0, 3);
}

#[test]
fn too_new_previous_snapshots_are_refused() {
    let dir = TestDir::new();
    let run = |args: &[&str]| dir.run(&[&["compile", "-q", "a.jsonl", "-o", "new"], args].concat());
    dir.write("a.jsonl", as_of_archive());
    assert_eq!(run(&[]).code, Some(0));
    std::fs::rename(dir.path("new"), dir.path("old")).unwrap();
    run(&["--previous", "old", "--as-of", "2026-01-11"]).succeeds();
    let ran = run(&["--previous", "old", "--as-of", "2026-01-10"]);
    assert_eq!(ran.code, Some(2));
    for expected in [
        "old: ",
        "newest capture is from 2026-01-11T00:00:00Z",
        "take an earlier snapshot, or the archives",
    ] {
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    // The library accepts both calls in either order.
    let old = dir.read("old");
    let compiler = Compiler::default()
        .previous(Snapshot::new(old).unwrap())
        .unwrap()
        .as_of(FIRST_FAILURE);
    assert!(matches!(
        compiler.finish().unwrap_err().kind(),
        ErrorKind::BadPrevious(_)
    ));
}

#[test]
fn only_too_new_captures_write_nothing() {
    let dir = TestDir::new();
    dir.write("a.jsonl", good(FIRST_FAILURE));
    let ran = dir.run(&["compile", "--as-of", "2025-01-01", "a.jsonl", "-o", "new"]);
    ran.refused("newer than the time to compile as of: 1");
    assert!(!dir.path("new").exists());
}

#[test]
fn bad_times_are_explained() {
    let dir = TestDir::new();
    for args in [
        &["compile", "a", "-o", "b", "--as-of"][..],
        &["due", "-s", "a", "--stale-at"],
        &["check", "-s", "a", "--at"],
    ] {
        for (time, expected) in [
            (
                "2024-13-01",
                "no such date; give a time like 2026-01-31T12:00:00Z or a date like 2026-01-31",
            ),
            ("2024-01-01T12:00:00", "in UTC that is 2024-01-01T12:00:00Z"),
            ("yesterday", "not a time; give a time like"),
        ] {
            let ran = dir.run(&[args, &[time]].concat());
            ran.refused(expected);
        }
    }
}
