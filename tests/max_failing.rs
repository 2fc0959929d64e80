//! `compile --previous` refuses a crawl whose fetcher probably failed, and archives without
//! captures.

use crate::test_dir::TestDir;
use serde_json::{Value, json};

/// The capture of a site's robots.txt with these keys.
fn capture(site: usize, second: usize, keys: &Value) -> String {
    let mut object = json!({
        "url": format!("https://site-{site:05}.example/robots.txt"),
        "fetched_at": 1_780_000_000 + second,
    });
    let all = object.as_object_mut().unwrap();
    all.extend(keys.as_object().unwrap().clone());
    format!("{object}\n")
}

fn rules() -> Value {
    json!({"body": "User-agent: *\nDisallow: /private/\n"})
}

fn failure(cause: &str) -> Value {
    json!({"error": cause})
}

/// A directory with the snapshot `old` of the first sites, all with rules.
fn with_old(sites: usize) -> TestDir {
    let dir = TestDir::new();
    let first: String = (0..sites).map(|site| capture(site, 0, &rules())).collect();
    dir.write("first.jsonl", first);
    dir.done_line("compile -q -o old first.jsonl");
    dir
}

const COMPILE: &str = "compile -q --previous old -o new night.jsonl";

impl TestDir {
    /// Asserts that the night is refused with this message, and nothing written.
    fn refuses(&self, message: &str) {
        let line = format!("{COMPILE} --stats-json stats.json");
        self.fails(&line.split(' ').collect::<Vec<_>>(), &[message]);
    }
}

/// The case: a night in which no name resolves would disallow nearly every URL.
#[test]
fn a_night_without_a_network_is_refused() {
    let dir = with_old(1000);
    let mut night = String::new();
    for site in 0..1000 {
        let keys = match site {
            0..3 => rules(),
            3 => json!({"status": 503}),
            4 | 5 => json!({"status": 429}),
            6 => failure("tls: certificate has expired"),
            _ => failure("dns: Temporary failure in name resolution"),
        };
        night += &capture(site, 9, &keys);
    }
    dir.write("night.jsonl", night);
    dir.refuses(
        "robosieve: night.jsonl: 997 of the 1000 captured origins that answered in the previous \
         snapshot fail now (99.7 %, more than 20 %): dns 993, status 429 2, status 503 1, tls 1; \
         nothing is written: fetch them again if the fetcher or its network failed; \
         --max-failing 100% accepts the failures as those of the sites\n",
    );
    // OLD may be the output.
    let over = "compile -q --previous old -o old night.jsonl";
    dir.fails(&over.split(' ').collect::<Vec<_>>(), &["997 of the 1000"]);
    dir.refuses("99.7 %, more than 20 %");
    dir.fails(
        &[
            &COMPILE.split(' ').collect::<Vec<_>>()[..],
            &["--max-failing", "99.6%"],
        ]
        .concat(),
        &["more than 99.6 %"],
    );
    // The message says how to accept it.
    dir.done_line(&format!("{COMPILE} --max-failing 99.7%"));
    let accepted = format!("{COMPILE} --max-failing 100% --stats-json stats.json");
    dir.done_line(&accepted);
    let stats: Value = serde_json::from_slice(&dir.read("stats.json")).unwrap();
    assert_eq!(stats["answered_before"], 1000);
    assert_eq!(stats["newly_failing"], 997);
    assert_eq!(stats["newly_failing_causes"]["dns"], 993);

    // The failures come back after the retry interval, the answers after a day.
    let due = |time: &str| {
        let listed = dir.stdout_of(&format!("due -q -s new --stale-at {time}"));
        listed.lines().count()
    };
    // 1,780,000,009 seconds since 1970 are 2026-05-28T20:26:49Z.
    assert_eq!(due("2026-05-28T21:26:48Z"), 0);
    assert_eq!(due("2026-05-28T21:26:49Z"), 997);
    assert_eq!(due("2026-05-29T20:26:49Z"), 1000);
    // Those failed before the next night, so they say nothing about it: it may fail for them again.
    dir.write(
        "night.jsonl",
        (7..1000)
            .map(|site| capture(site, 99, &failure("timeout")))
            .collect::<String>(),
    );
    dir.done_line("compile -q --previous new -o new night.jsonl");
}

#[test]
fn a_fifth_of_a_hundred_sites_may_fail() {
    let dir = with_old(120);
    for (sites, failing, is_refused) in [
        (100, 20, false),
        (100, 21, true),
        (99, 99, false),
        (120, 24, false),
        (120, 25, true),
    ] {
        let mut night = String::new();
        for site in 0..sites {
            let keys = if site < failing {
                failure("timeout")
            } else {
                rules()
            };
            night += &capture(site, 9, &keys);
        }
        dir.write("night.jsonl", night);
        match is_refused {
            true => dir.refuses(&format!("{failing} of the {sites} captured origins")),
            false => drop(dir.done_line(COMPILE)),
        }
    }
    // Without OLD nothing answered before.
    dir.fails_as("compile -o new --max-failing 20% night.jsonl | --previous <OLD> | required");
    dir.fails(
        &[
            &COMPILE.split(' ').collect::<Vec<_>>()[..],
            &["--max-failing", "20"],
        ]
        .concat(),
        &["percent sign", "such as 20%"],
    );
}

/// The definition of SEMANTICS: only captured origins count that answered in OLD.
#[test]
fn origins_count_that_answered_before_and_are_captured_now() {
    let dir = TestDir::new();
    let hub = "https://hub.example/rules.txt";
    let redirect = json!({"status": 301, "headers": {"location": hub}});
    let hub_capture = |second: usize, keys: &Value| {
        capture(0, second, keys).replace("https://site-00000.example/robots.txt", hub)
    };
    let mut first = hub_capture(0, &rules());
    for site in 0..700 {
        let keys = match site / 100 {
            // A 404 and a redirect are answers too.
            1 => json!({"status": 404}),
            2 => redirect.clone(),
            // These failed before.
            3 => failure("timeout"),
            _ => rules(),
        };
        first += &capture(site, 100, &keys);
    }
    dir.write("first.jsonl", first);
    dir.done_line("compile -q -o old first.jsonl");
    let mut night = String::new();
    for site in 0..900 {
        night += &match site / 100 {
            0 => capture(site, 200, &json!({"status": 304})),
            1 => capture(site, 200, &json!({"status": 503})),
            // The target answers no more.
            2 => capture(site, 200, &redirect),
            3 => capture(site, 200, &failure("timeout")),
            // Older than OLD.
            4 => capture(site, 50, &failure("timeout")),
            // The newest capture counts.
            5 => capture(site, 150, &failure("timeout")) + &capture(site, 200, &rules()),
            // Not captured.
            6 => continue,
            // Unknown before.
            _ => capture(site, 200, &failure("timeout")),
        };
    }
    night += &hub_capture(200, &failure("connection refused"));
    dir.write("night.jsonl", night);
    dir.refuses(
        "200 of the 400 captured origins that answered in the previous snapshot fail now (50 %, \
         more than 20 %): connection refused 100, status 503 100;",
    );
    // An origin whose target alone is captured is not captured itself.
    dir.write(
        "night.jsonl",
        hub_capture(200, &failure("connection refused")),
    );
    dir.done_line(COMPILE);
}

#[test]
fn archives_without_a_capture_are_refused() {
    let dir = with_old(3);
    let page = capture(1, 9, &rules()).replace("robots.txt", "page");
    for (night, message) in [
        ("", "no capture of any /robots.txt (of other URLs: 0"),
        (&*page, "no capture of any /robots.txt (of other URLs: 1"),
        (
            "{\"url\": \"no\", \"status\": 404}\n",
            "no capture of any /robots.txt (of other URLs: 0, without a URL: 1",
        ),
    ] {
        dir.write("night.jsonl", night);
        dir.refuses(&format!("robosieve: night.jsonl: {message}"));
        dir.fails_as(&format!(
            "compile -o new night.jsonl | {message} | nothing is written"
        ));
    }
    dir.write("night.jsonl", capture(1, 999_999, &rules()));
    let line = format!("{COMPILE} --as-of 2026-05-28T21:00:00Z");
    dir.fails(
        &line.split(' ').collect::<Vec<_>>(),
        &["newer than the time to compile as of: 1"],
    );
    // A capture that changes nothing is a capture, and without an archive OLD is written again.
    dir.write("night.jsonl", capture(1, 0, &rules()));
    dir.done_line(COMPILE);
    dir.done_line("compile -q --previous old -o again");
    assert_eq!(dir.read("again"), dir.read("old"));
}
