//! An audit by a snapshot with a history: each line as of its own time, with the requests that
//! other rules may have allowed counted apart.
//!
//! `tests/history/audits.rs` has random webs.

use super::{audit_line, crawler, json_line, lines, requests};
use crate::command::assert_has;
use crate::generate::Random;
use crate::test_dir::TestDir;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fmt::Write;

/// 2026-08-01T00:00:00Z, the first capture.
const START: i64 = 1_785_542_400;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The line of a JSON log for a request.
fn request(time: i64, url: &str, agent: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let request = format!("GET /{path} HTTP/1.1");
    let line = json!({"time": time, "scheme": scheme, "host": host, "request": request,
        "status": 200, "bytes": 9, "user_agent": agent});
    format!("{line}\n")
}

/// The line of an archive for a robots.txt with this body.
fn capture(url: &str, time: i64, body: &str) -> String {
    let line = json!({"url": url, "status": 200, "body": body, "fetched_at": time});
    format!("{line}\n")
}

/// The line of an archive for an answer without a body: a status, and a target if it is a redirect.
fn answer(url: &str, time: i64, status: u16, target: Option<&str>) -> String {
    let mut line = json!({"url": url, "status": status, "fetched_at": time});
    if let Some(target) = target {
        line["headers"] = json!({"location": target});
    }
    format!("{line}\n")
}

/// A directory with a snapshot `h` of an archive, with its history, and a log.
fn dir_of(archive: &str, log: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("captures.jsonl", archive);
    dir.write("access.log", log);
    dir.done_line("compile -q --history -o h captures.jsonl");
    dir
}

/// The letters of all lines of the log.
fn letters(dir: &TestDir, options: &str) -> String {
    let ran = audit_line(dir, &format!("-q {options} access.log --as annotate"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.text().lines().map(|line| &line[..1]).collect()
}

/// A version of a robots.txt, as the model knows it.
struct Version {
    found: i64,
    last_seen: i64,
    /// The paths that begin with these are disallowed to GPTBot, and to all others.
    gptbot: &'static [&'static str],
    others: &'static [&'static str],
}

/// Three changes.
const VERSIONS: [Version; 4] = [
    Version {
        found: START,
        last_seen: START + 6 * DAY,
        gptbot: &["/private/"],
        others: &["/private/", "/cart/"],
    },
    Version {
        found: START + 9 * DAY,
        last_seen: START + 9 * DAY,
        gptbot: &["/private/", "/news/"],
        others: &["/cart/"],
    },
    // The next two come within a day.
    Version {
        found: START + 12 * DAY,
        last_seen: START + 12 * DAY + HOUR,
        gptbot: &["/"],
        others: &["/private/", "/cart/"],
    },
    Version {
        found: START + 12 * DAY + 8 * HOUR,
        last_seen: START + 20 * DAY,
        gptbot: &["/news/", "/cart/"],
        others: &[],
    },
];

impl Version {
    fn text(&self) -> String {
        let mut text = String::new();
        for (agent, prefixes) in [("GPTBot", self.gptbot), ("*", self.others)] {
            writeln!(text, "User-agent: {agent}").unwrap();
            for prefix in prefixes {
                writeln!(text, "Disallow: {prefix}").unwrap();
            }
            text.push('\n');
        }
        text
    }

    fn allows(&self, agent: &str, path: &str) -> bool {
        let prefixes = if agent == "GPTBot" {
            self.gptbot
        } else {
            self.others
        };
        !prefixes.iter().any(|prefix| path.starts_with(prefix))
    }
}

/// The archive of [`VERSIONS`]: the first and the last capture of each.
fn archive_of_versions() -> String {
    let url = "https://s.example/robots.txt";
    let mut archive = String::new();
    for version in &VERSIONS {
        for time in [version.found, version.last_seen] {
            archive += &capture(url, time, &version.text());
        }
    }
    archive
}

/// The letter of a request by the definitions of docs/AUDIT.md, and whether it is in a gap that the
/// rules on both sides disallow.
fn model(time: i64, agent: &str, path: &str) -> (char, bool) {
    if path == "/robots.txt" {
        return ('A', false);
    }
    let Some(current) = VERSIONS.iter().rposition(|version| version.found <= time) else {
        return ('U', false);
    };
    if VERSIONS[current].allows(agent, path) {
        return ('A', false);
    }
    for earlier in 0..current {
        let replaced = VERSIONS[earlier + 1].found;
        if time - replaced <= DAY && VERSIONS[earlier].allows(agent, path) {
            return ('C', false);
        }
    }
    let is_in_gap = time > VERSIONS[current].last_seen;
    match VERSIONS.get(current + 1) {
        Some(next) if is_in_gap && next.allows(agent, path) => ('B', false),
        Some(_) => ('D', is_in_gap),
        None => ('D', false),
    }
}

#[derive(Default)]
struct Counts {
    requests: u64,
    allowed: u64,
    disallowed: u64,
    unknown: u64,
    within_day: u64,
    between: u64,
    disallowed_between: u64,
    disallowed_after_last: u64,
}

#[test]
fn counts_over_three_changes_are_those_of_a_slow_model() {
    let mut random = Random(11);
    let paths = ["/private/a", "/news/b", "/cart/c", "/d", "/robots.txt"];
    let agents = ["GPTBot", "CCBot", "Firefox"];
    let mut times = Vec::new();
    for version in &VERSIONS {
        for edge in [version.found, version.last_seen] {
            times.extend([-1, 0, 1, DAY - 1, DAY, DAY + 1].map(|offset| edge + offset));
        }
    }
    times.extend((0..300).map(|_| START - DAY + random.below(24 * DAY as u64) as i64));
    // Servers log what they have sent, so a log is only nearly in order.
    times.sort_unstable();
    for at in (1..times.len()).step_by(7) {
        times.swap(at - 1, at);
    }
    let (mut log, mut expected_letters, mut broken) = (String::new(), String::new(), String::new());
    let mut counts = [Counts::default(), Counts::default()];
    let mut before_first = 0;
    for time in times {
        for path in paths {
            let agent = agents[random.below(3) as usize];
            let line = request(time, &format!("https://s.example{path}"), agent);
            log += &line;
            let Some(number) = agents[..2].iter().position(|name| *name == agent) else {
                expected_letters.push('-');
                continue;
            };
            let (letter, is_between) = model(time, agent, path);
            expected_letters.push(letter);
            let counts = &mut counts[number];
            counts.requests += 1;
            let count = match letter {
                'A' => &mut counts.allowed,
                'U' => &mut counts.unknown,
                'C' => &mut counts.within_day,
                'B' => &mut counts.between,
                _ => &mut counts.disallowed,
            };
            *count += 1;
            counts.disallowed_between += u64::from(is_between);
            let is_after_last = letter == 'D' && time > VERSIONS[VERSIONS.len() - 1].last_seen;
            counts.disallowed_after_last += u64::from(is_after_last);
            before_first += u64::from(letter == 'U');
            if letter == 'D' {
                broken += &line;
            }
        }
    }
    for count in &counts {
        let all = [count.within_day, count.between, count.disallowed_between];
        assert!(all.iter().all(|count| *count > 0), "{all:?}");
    }
    // The last rules disallow nothing to the other crawler.
    assert!(counts[0].disallowed_after_last > 0 && counts[1].disallowed_after_last == 0);
    let dir = dir_of(&archive_of_versions(), &log);
    assert_eq!(letters(&dir, "-s h"), expected_letters);
    let options = "-s h access.log --lines broken.log --html page.html --top 1000";
    let report = json_with_warning(&dir, options, "before the first capture");
    assert_eq!(dir.read_text("broken.log"), broken);
    assert_eq!(report["has_history"], true);
    assert_eq!(report["before_first_capture"], before_first);
    assert_eq!(report["before_first_snapshot"], 0);
    let csv = audit_line(&dir, &format!("-q {options} --csv"));
    let csv: Vec<Vec<&str>> = csv
        .text()
        .lines()
        .map(|row| row.split(',').collect())
        .collect();
    let table = audit_line(&dir, &format!("-q {options}"));
    for (name, counts) in agents.into_iter().zip(&counts) {
        let expected = [
            ("requests", counts.requests),
            ("allowed", counts.allowed),
            ("disallowed", counts.disallowed),
            ("unknown", counts.unknown),
            ("within_day_of_change", counts.within_day),
            ("between_captures", counts.between),
            ("disallowed_between_captures", counts.disallowed_between),
            (
                "disallowed_after_last_capture",
                counts.disallowed_after_last,
            ),
        ];
        let row = csv.iter().find(|row| row[0] == name).unwrap();
        for (key, count) in expected {
            assert_eq!(crawler(&report, name)[key], count, "{name}: {key}");
            let column = csv[0].iter().position(|column| *column == key).unwrap();
            assert_eq!(row[column], count.to_string(), "{name}: {key}");
        }
        // crawler, requests, disallowed, share, %, 2xx, in 24 h, between, unknown
        let row = table
            .text()
            .lines()
            .find(|line| line.starts_with(&format!("  {name}")));
        let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
        let found = [cells[1], cells[2], cells[6], cells[7], cells[8]];
        let expected = [
            counts.requests,
            counts.disallowed,
            counts.within_day,
            counts.between,
            counts.unknown,
        ];
        assert_eq!(found, expected.map(|count| count.to_string()), "{name}");
        let after = &crawler(&report, name)["after_robots_txt"];
        let sum =
            ["disallowed_after", "disallowed_without"].map(|key| after[key].as_u64().unwrap());
        assert_eq!(sum[0] + sum[1], counts.disallowed);
        assert_rules_are_repeatable(&dir, crawler(&report, name), counts.disallowed);
    }
    assert_page_has_the_figures(&dir.read_text("page.html"), &report);
    let open: u64 = counts.iter().map(|count| count.within_day).sum();
    for told in [
        format!("{open} within 24 h of a change"),
        format!("before the first capture of their site: {before_first} requests of crawlers"),
    ] {
        assert_has(table.text(), &told);
    }
    // On any number of threads.
    for threads in ["-j 1", "-j 5"] {
        let found = json_with_warning(&dir, &format!("{options} {threads}"), "");
        assert_eq!(found, report, "{threads}");
    }
}

/// Asserts that the rules have all disallowed requests, and that `check` as of the time of each
/// example names the same rule.
fn assert_rules_are_repeatable(dir: &TestDir, crawler: &Value, disallowed: u64) {
    let name = crawler["name"].as_str().unwrap();
    let mut sum = 0;
    for rule in crawler["rules"].as_array().unwrap() {
        sum += rule["requests"].as_u64().unwrap();
        let [url, time] = ["example", "example_time"].map(|key| rule[key].as_str().unwrap());
        let ran = dir.run_line(&format!("check -s h --json -a {name} --as-of {time} {url}"));
        let found: Value = serde_json::from_str(ran.text()).unwrap();
        assert_eq!(found["rule"]["text"], rule["rule"], "{rule}");
    }
    assert_eq!(sum, disallowed);
}

/// Asserts that each number of a page is the figure that its pointer names, and that those of a
/// history are there.
fn assert_page_has_the_figures(page: &str, report: &Value) {
    let mut seen = Vec::new();
    for rest in page.split("data-m=\"").skip(1) {
        let (pointer, rest) = rest.split_once("\">").unwrap();
        let number = rest.split('<').next().unwrap().replace(',', "");
        assert_eq!(
            report.pointer(pointer).unwrap().to_string(),
            number,
            "{pointer}"
        );
        seen.push(pointer);
    }
    for pointer in [
        "/before_first_capture",
        "/crawlers/0/within_day_of_change",
        "/crawlers/0/between_captures",
        "/crawlers/0/disallowed_between_captures",
        "/crawlers/0/disallowed_after_last_capture",
        "/crawlers/1/between_captures",
    ] {
        assert!(seen.contains(&pointer), "{pointer}: {seen:?}");
    }
    let time = report["crawlers"][0]["rules"][0]["example_time"]
        .as_str()
        .unwrap();
    assert!(page.contains(time));
}

/// Asserts the letters of requests of GPTBot. A row is a time after [`START`], a URL and a letter.
fn assert_letters(archive: &str, options: &str, rows: &[(i64, &str, char)]) {
    // A site whose rules are known at all times, so that some request can be judged.
    let always = r#"{"url":"https://always.example/robots.txt","status":200,"body":""}"#;
    let archive = format!("{always}\n{archive}");
    let mut log = request(START, "https://always.example/", "GPTBot");
    for (time, url, _) in rows {
        log += &request(START + time, url, "GPTBot");
    }
    let dir = dir_of(&archive, &log);
    let found = letters(&dir, &format!("-s h {options}"));
    let expected: String = rows.iter().map(|(.., letter)| *letter).collect();
    let found = &found[1..];
    let differing = rows
        .iter()
        .zip(found.chars())
        .find(|(row, letter)| row.2 != *letter);
    assert_eq!(found, expected, "{differing:?}");
}

#[test]
fn a_day_and_a_gap_have_exact_edges() {
    let url = "https://s.example/robots.txt";
    let archive = [
        capture(url, START, "user-agent: *\ndisallow: /b"),
        capture(
            url,
            START + 10 * DAY,
            "user-agent: *\ndisallow: /a\ndisallow: /b",
        ),
        capture(
            url,
            START + 14 * DAY,
            "user-agent: *\ndisallow: /a\ndisallow: /b",
        ),
        capture(url, START + 20 * DAY, "user-agent: *\ndisallow: /b"),
    ]
    .concat();
    let [a, b] = ["https://s.example/a", "https://s.example/b"];
    let found = 10 * DAY;
    let seen = 14 * DAY;
    let changed = 20 * DAY;
    assert_letters(
        &archive,
        "",
        &[
            (-1, b, 'U'),
            (0, b, 'D'),
            // Nothing is known of the time before the first capture, so it allows nothing.
            (1, b, 'D'),
            (DAY, b, 'D'),
            (found - 1, a, 'A'),
            (found, a, 'C'),
            (found, b, 'D'),
            (found + DAY - 1, a, 'C'),
            (found + DAY, a, 'C'),
            (found + DAY + 1, a, 'D'),
            (seen - 1, a, 'D'),
            (seen, a, 'D'),
            (seen + 1, a, 'B'),
            (seen + 1, b, 'D'),
            (changed - 1, a, 'B'),
            (changed - 1, b, 'D'),
            (changed, a, 'A'),
            (changed, b, 'D'),
            (1000 * DAY, b, 'D'),
        ],
    );
}

#[test]
fn any_rules_of_the_day_count() {
    let url = "https://s.example/robots.txt";
    let rules = |path: &str| format!("user-agent: *\ndisallow: {path}");
    let archive = [
        capture(url, START, &rules("/")),
        capture(url, START + 10 * DAY, &rules("/x")),
        capture(url, START + 10 * DAY + 2 * HOUR, &rules("/y")),
        capture(url, START + 10 * DAY + 4 * HOUR, &rules("/")),
    ]
    .concat();
    let [x, y, z] = [
        "https://s.example/x",
        "https://s.example/y",
        "https://s.example/z",
    ];
    let at = |hours: i64| 10 * DAY + hours * HOUR;
    assert_letters(
        &archive,
        "",
        &[
            // In the gap before the tenth day, which all but /x ends.
            (5 * DAY, x, 'D'),
            (5 * DAY, z, 'B'),
            (at(0), x, 'D'),
            (at(2), y, 'C'),
            (at(5), x, 'C'),
            (at(5), y, 'C'),
            // The rules that allow /y were replaced at hour 2, those that allow /x at hour 4.
            (at(26), y, 'C'),
            (at(26) + 1, y, 'D'),
            (at(28), x, 'C'),
            (at(28) + 1, x, 'D'),
        ],
    );
}

#[test]
fn redirects_and_their_targets_have_bounds_of_their_own() {
    let [s, t] = [
        "https://s.example/robots.txt",
        "https://t.example/robots.txt",
    ];
    let archive = [
        answer(s, START, 301, Some(t)),
        answer(s, START + 30 * DAY, 301, Some(t)),
        capture(t, START + 2 * DAY, "user-agent: *\ndisallow: /a"),
        capture(t, START + 8 * DAY, "user-agent: *\ndisallow: /a"),
        capture(t, START + 10 * DAY, "user-agent: *\ndisallow: /b"),
        // The redirect ends: the rules of its target do not.
        capture(s, START + 40 * DAY, "user-agent: *\ndisallow: /c"),
        capture(t, START + 50 * DAY, "user-agent: *\ndisallow: /b"),
    ]
    .concat();
    let [a, b, c] = [
        "https://s.example/a",
        "https://s.example/b",
        "https://s.example/c",
    ];
    assert_letters(
        &archive,
        "",
        &[
            (-1, a, 'U'),
            // A target without a capture is missing, which allows everything.
            (DAY, a, 'A'),
            (2 * DAY, a, 'C'),
            (3 * DAY + 1, a, 'D'),
            (8 * DAY, a, 'D'),
            (8 * DAY + 1, a, 'B'),
            (10 * DAY, b, 'C'),
            (11 * DAY + 1, b, 'D'),
            // The redirect was seen on day 30, and the target on day 50: the earlier one counts.
            (30 * DAY, b, 'D'),
            (30 * DAY + 1, b, 'B'),
            (40 * DAY, c, 'C'),
            (41 * DAY + 1, c, 'D'),
            (45 * DAY, "https://t.example/b", 'D'),
        ],
    );
    // Both targets fail for long, and have last good copies. That of the second disallows /a, as the
    // rules at the end do, and that of the first allows it.
    let u = "https://u.example/robots.txt";
    let mut copies = capture(t, START, "user-agent: *\ndisallow: /a")
        + &capture(u, START, "user-agent: *\ndisallow: /b")
        + &answer(s, START + 40 * DAY, 301, Some(u))
        + &answer(s, START + 40 * DAY + 2 * HOUR, 301, Some(t))
        + &capture(
            s,
            START + 40 * DAY + 4 * HOUR,
            "user-agent: *\ndisallow: /a",
        );
    for target in [t, u] {
        copies += &answer(target, START + DAY, 503, None);
        copies += &answer(target, START + 60 * DAY, 503, None);
    }
    let hours = |hours: i64| 40 * DAY + hours * HOUR;
    assert_letters(
        &copies,
        "",
        &[
            (hours(1), a, 'A'),
            (hours(3), a, 'C'),
            (hours(5), a, 'C'),
            (hours(26), a, 'C'),
            (hours(26) + 1, a, 'D'),
        ],
    );
    // Of the missing target, the strict policy says that it disallows.
    assert_letters(
        &archive,
        "--status-policy strict",
        &[(-1, a, 'D'), (DAY, a, 'D'), (2 * DAY, a, 'D')],
    );
}

#[test]
fn failing_sites_are_judged_by_the_age_of_their_failure() {
    let url = "https://s.example/robots.txt";
    let archive = [
        capture(url, START, "user-agent: *\ndisallow: /a"),
        answer(url, START + 5 * DAY, 503, None),
        answer(url, START + 50 * DAY, 503, None),
        capture(url, START + 60 * DAY, "user-agent: *\ndisallow: /b"),
    ]
    .concat();
    let [a, b] = ["https://s.example/a", "https://s.example/b"];
    assert_letters(
        &archive,
        "",
        &[
            // Only the first capture has the rules, so a gap begins at once.
            (1, a, 'D'),
            (5 * DAY - 1, a, 'D'),
            // The failure disallows everything, and a crawler may still have the copy of day 4.
            (5 * DAY, b, 'C'),
            (6 * DAY, b, 'C'),
            (6 * DAY + 1, b, 'D'),
            (6 * DAY + 1, a, 'D'),
            (35 * DAY - 1, b, 'D'),
            // From day 35 on, the last good copy holds.
            (35 * DAY, b, 'A'),
            (35 * DAY, a, 'D'),
            (50 * DAY + 1, a, 'B'),
            // Day 60 disallows what the copy allowed.
            (60 * DAY, b, 'C'),
            (61 * DAY + 1, b, 'D'),
        ],
    );
    // From 12 hours on by the copy, from 30 days on without rules.
    assert_letters(
        &archive,
        "--status-policy google-2026",
        &[
            (5 * DAY + 12 * HOUR, b, 'C'),
            (5 * DAY + 12 * HOUR + 1, b, 'A'),
            (5 * DAY + 12 * HOUR + 1, a, 'D'),
            (35 * DAY, a, 'A'),
            (60 * DAY + 1, b, 'C'),
        ],
    );
    // The failure ends before the day is over that a copy may be used: a phase is not a change.
    let recovered = [
        capture(url, START, ""),
        answer(url, START + 5 * DAY, 503, None),
        answer(url, START + 5 * DAY + HOUR, 503, None),
        capture(url, START + 9 * DAY, "user-agent: *\ndisallow: /a"),
    ]
    .concat();
    assert_letters(
        &recovered,
        "--status-policy google-2026",
        &[
            (5 * DAY + 2 * HOUR, a, 'C'),
            (5 * DAY + 12 * HOUR + 1, a, 'A'),
            (9 * DAY, a, 'C'),
            (10 * DAY + 1, a, 'D'),
        ],
    );
}

#[test]
fn the_other_scheme_decides_until_the_own_one_is_captured() {
    let archive = [
        capture(
            "http://s.example/robots.txt",
            START,
            "user-agent: *\ndisallow: /a",
        ),
        capture(
            "https://s.example/robots.txt",
            START + 10 * DAY,
            "user-agent: *\ndisallow: /b",
        ),
    ]
    .concat();
    let [a, b] = ["https://s.example/a", "https://s.example/b"];
    assert_letters(
        &archive,
        "",
        &[
            (-1, a, 'U'),
            (0, a, 'D'),
            (1, a, 'B'),
            (10 * DAY, b, 'C'),
            (11 * DAY + 1, b, 'D'),
        ],
    );
    assert_letters(
        &archive,
        "--scheme exact",
        &[(1, a, 'U'), (10 * DAY, b, 'D')],
    );
}

#[test]
fn requests_from_before_the_first_capture_are_counted_and_told() {
    let archive = archive_of_versions();
    let url = "https://s.example/private/a";
    let early = request(START - 1, url, "GPTBot");
    let log = early.clone()
        + &request(START - 1, "https://s.example/robots.txt", "GPTBot")
        + &request(START - 1, "https://other.example/", "GPTBot")
        + &request(START, url, "GPTBot");
    let dir = dir_of(&archive, &log);
    let report = json_with_warning(
        &dir,
        "-s h access.log",
        "2 of 4 requests of crawlers could not be judged: one is from before the first capture of \
         its site, and no snapshot has the hosts of the others, such as https://other.example (1), \
         https://s.example (1)",
    );
    assert_eq!(requests(&report, "GPTBot"), [4, 1, 1, 2, 1]);
    assert_eq!(report["before_first_capture"], 1);
    // Without another request, nothing can be judged.
    dir.write("access.log", early);
    let ran = audit_line(&dir, "-s h access.log");
    ran.refused("all are from before the first capture of their site");
    // The strict policy disallows what is not known. It is no change of rules.
    dir.write("access.log", request(START - 1, url, "GPTBot"));
    let report = json_line(&dir, "-s h access.log --status-policy strict");
    assert_eq!(requests(&report, "GPTBot"), [1, 0, 1, 0, 0]);
    assert_eq!(report["before_first_capture"], 1);
    assert_eq!(
        crawler(&report, "GPTBot")["rules"][0]["rule"],
        "unknown-origin"
    );
}

/// The JSON of `audit`, which warns of requests that it could not judge.
fn json_with_warning(dir: &TestDir, line: &str, warning: &str) -> Value {
    let ran = audit_line(dir, &format!("{line} --json"));
    ran.says(warning);
    serde_json::from_str(ran.text()).unwrap()
}

#[test]
fn dated_snapshots_judge_by_their_newest_rules() {
    let mut random = Random(3);
    let mut log = String::new();
    for _ in 0..400 {
        let time = START + random.below(22 * DAY as u64) as i64;
        let path = ["/private/a", "/news/b", "/cart/c", "/d"][random.below(4) as usize];
        let agent = ["GPTBot", "CCBot"][random.below(2) as usize];
        log += &request(time, &format!("https://s.example{path}"), agent);
    }
    let dir = dir_of(&archive_of_versions(), &log);
    // A snapshot for each version, compiled as of its first capture.
    let mut dated = String::new();
    for (number, version) in VERSIONS.iter().enumerate() {
        let time = Timestamp::from_second(version.found).unwrap();
        dir.done_line(&format!(
            "compile -q --as-of {time} -o then-{number} captures.jsonl"
        ));
        dir.done_line(&format!(
            "compile -q --history --as-of {time} -o history-{number} captures.jsonl"
        ));
        write!(dated, "-s {time}=then-{number} ").unwrap();
    }
    let by_dates = json_line(&dir, &format!("{dated} access.log --top 100"));
    // With histories, the dated snapshots give the same figures.
    let dated_histories = dated.replace("then-", "history-");
    let by_histories = json_line(&dir, &format!("{dated_histories} access.log --top 100"));
    assert_eq!(by_dates, by_histories);
    assert_eq!(by_dates["has_history"], false);
    // The history allows the same requests, and divides the disallowed ones.
    let by_history = json_line(&dir, "-s h access.log --top 100");
    for name in ["GPTBot", "CCBot"] {
        let [dated, history] = [&by_dates, &by_history].map(|report| crawler(report, name));
        let count = |crawler: &Value, key: &str| crawler[key].as_u64().unwrap();
        assert_eq!(count(dated, "allowed"), count(history, "allowed"));
        let parts = ["disallowed", "within_day_of_change", "between_captures"];
        let parts = parts.map(|key| count(history, key));
        assert!(parts.iter().all(|part| *part > 0), "{parts:?}");
        assert_eq!(count(dated, "disallowed"), parts.iter().sum::<u64>());
        assert_eq!(count(dated, "within_day_of_change"), 0);
    }
    // A date asks for the newest rules of one snapshot too.
    let newest = dir.stdout_of("audit -s 1970=h access.log");
    dir.done_line("compile -q -o newest captures.jsonl");
    assert_eq!(newest, dir.stdout_of("audit -s newest access.log"));
    assert!(!newest.contains("in 24 h"), "{newest}");
    let report = json_line(&dir, "-s 1970=h access.log");
    assert_eq!(
        (&report["has_history"], lines(&report)),
        (&json!(false), [400, 0, 0])
    );
}

#[test]
fn claims_and_exceptions_stay_apart() {
    let log = request(START + 9 * DAY, "https://s.example/news/b", "GPTBot")
        + &request(START + 11 * DAY, "https://s.example/news/b", "ChatGPT-User")
        + &request(START + 10 * DAY + 1, "https://s.example/news/b", "GPTBot");
    let log = log.replace('}', r#","client":"198.51.100.7"}"#);
    let dir = dir_of(&archive_of_versions(), &log);
    dir.write(
        "gptbot.json",
        r#"{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}"#,
    );
    assert_eq!(letters(&dir, "-s h --verify-ips gptbot.json"), "cAd");
    let ran = audit_line(&dir, "-s h access.log --verify-ips gptbot.json");
    assert!(!ran.text().contains("Not counted"), "{ran:?}");
}

/// What a site can do to make the walk through the answers of a day long.
#[test]
fn sites_that_change_all_the_time_get_the_benefit_of_the_doubt() {
    let url = "https://s.example/robots.txt";
    let page = "https://s.example/x";
    let time = |number: i64| START + 10 * DAY + number * 60;
    let flapping = |number: i64| {
        let path = if number % 2 == 0 { "/" } else { "/x" };
        format!("user-agent: *\ndisallow: {path}")
    };
    let distinct = |number: i64| format!("user-agent: *\ndisallow: /x\ndisallow: /{number}");
    // Some 450 KB each.
    let long = |number: i64| {
        let paths = (0..30_000).map(|path| format!("disallow: /{number}/{path}\n"));
        format!("user-agent: *\ndisallow: /x\n{}", paths.collect::<String>())
    };
    // Some 7 KB each, whose rules are stored.
    let stored = |number: i64| {
        let comments = "sitemap: https://s.example/map\n".repeat(225);
        format!("user-agent: *\ndisallow: /x\ndisallow: /{number}\n{comments}")
    };
    for (what, versions, text, letter) in [
        ("two texts", 1000, &flapping as &dyn Fn(i64) -> String, 'D'),
        ("many texts", 1000, &distinct, 'D'),
        ("too many answers", 1030, &distinct, 'C'),
        ("long texts", 8, &long, 'D'),
        ("too long texts", 12, &long, 'C'),
        ("texts with stored rules", 500, &stored, 'D'),
        ("too many texts with stored rules", 700, &stored, 'C'),
    ] {
        let mut archive = capture(url, START, "user-agent: *\ndisallow: /x");
        for number in 0..versions {
            archive += &capture(url, time(number), &text(number));
        }
        // Seen until the end, so that the request is in no gap.
        archive += &capture(url, START + 12 * DAY, &text(versions - 1));
        let asked = time(versions) - START;
        println!("{what}");
        assert_letters(
            &archive,
            "",
            &[(asked, page, letter), (asked + 1, page, letter)],
        );
    }
}

#[test]
fn the_rules_of_many_long_texts_are_dropped_and_read_again() {
    let mut archive = String::new();
    let mut rows = Vec::new();
    let sites: Vec<String> = (0..45)
        .map(|site| format!("https://s{site}.example"))
        .collect();
    let pages: Vec<String> = sites.iter().map(|site| format!("{site}/x")).collect();
    for (number, site) in sites.iter().enumerate() {
        let paths = (0..30_000).map(|path| format!("disallow: /{number}/{path}\n"));
        let text = format!("user-agent: *\ndisallow: /x\n{}", paths.collect::<String>());
        let url = format!("{site}/robots.txt");
        archive += &capture(&url, START, &text);
        archive += &capture(&url, START + 5 * DAY, &text);
        archive += &capture(&url, START + 9 * DAY, "user-agent: *\nallow: /");
    }
    for time in [DAY, 7 * DAY, DAY] {
        let letter = if time == DAY { 'D' } else { 'B' };
        rows.extend(pages.iter().map(|page| (time, page.as_str(), letter)));
    }
    assert_letters(&archive, "", &rows);
}
