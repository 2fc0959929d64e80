//! When sites began to disallow, by period: by hand, and against the rows of an export.

use super::parsed;
use crate::generate::Random;
use crate::test_dir::TestDir;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NOBODY: &str = "User-agent: *\nDisallow: /";
const NO_A: &str = "User-agent: A\nDisallow: /";
const ANYBODY: &str = "User-agent: *\nDisallow:";

/// A capture: the host, the day, and the body; a status instead of a body for a failure.
fn line(host: &str, day: &str, answer: &str) -> String {
    let url = format!("https://{host}.example/robots.txt");
    let capture = match answer.parse::<u16>() {
        Ok(status) => json!({"url": url, "fetched_at": day, "status": status}),
        Err(_) => json!({"url": url, "fetched_at": day, "body": answer}),
    };
    format!("{capture}\n")
}

/// A directory with the history `s` of captures.
fn history(lines: &[String]) -> TestDir {
    let dir = TestDir::new();
    dir.write("a.jsonl", lines.concat());
    dir.stdout_of("compile -q --history -o s a.jsonl");
    dir
}

/// Two hosts disallow everyone from the first, two `A` later, one only by its status.
fn small() -> TestDir {
    let lines = [
        ("first", "2025-01-31", NOBODY),
        ("first", "2025-03-01", NOBODY),
        ("other", "2025-02-01", NOBODY),
        ("other", "2025-05-01", NO_A),
        ("later", "2025-01-31", ANYBODY),
        ("later", "2025-02-28", NO_A),
        ("again", "2025-01-01", NO_A),
        ("again", "2025-02-01", "404"),
        ("again", "2026-04-05", NOBODY),
        ("down", "2025-01-01", ANYBODY),
        ("down", "2025-02-01", "503"),
        ("open", "2025-02-01", ANYBODY),
    ];
    history(&lines.map(|(host, day, answer)| line(host, day, answer)))
}

#[test]
fn beginnings_are_counted_by_period() {
    let dir = small();
    let since = |options: &str| {
        let report = dir.stdout_of(&format!("report -q -s s -a A,B --json-to - {options}"));
        parsed(&report)["disallowed_since"].clone()
    };
    assert_eq!(
        since("--disallowed-since"),
        json!({
            "every": "month",
            "periods": ["2025-02", "2026-04"],
            "agents": [
                {"agent": "A", "units": 4, "first_answer": 2, "began": [1, 1]},
                {"agent": "B", "units": 2, "first_answer": 1, "began": [0, 1]},
            ],
        })
    );
    for (period, labels) in [
        ("year", json!(["2025", "2026"])),
        ("quarter", json!(["2025-Q1", "2026-Q2"])),
        ("week", json!(["2025-W09", "2026-W14"])),
        ("day", json!(["2025-02-28", "2026-04-05"])),
    ] {
        assert_eq!(
            since(&format!("--disallowed-since --every {period}"))["periods"],
            labels
        );
    }
    assert_eq!(since(""), Value::Null);
}

#[test]
fn all_outputs_have_the_periods() {
    let dir = small();
    let table = dir.stdout_of("report -s s -a A,B --disallowed-since --csv-to s.csv --html s.html");
    for part in [
        "Rules of 4 domains disallow A wholly; 2 of them began after their first answer",
        "the first answer                2              1",
        "2025-02                         1              0",
        "2026-04                         1              1",
        "all                             4              2",
    ] {
        assert!(table.contains(part), "{table}");
    }
    let csv = dir.read_text("s.csv");
    for line in [
        "disallowed_since,,A,origins,4",
        "disallowed_since,,A,first_answer,2",
        "disallowed_since,2025-02,A,origins,1",
        "disallowed_since,2025-02,B,origins,0",
        "disallowed_since,2026-04,B,origins,1",
    ] {
        assert!(csv.lines().any(|found| found == line), "{line}: {csv}");
    }
    let page = dir.read_text("s.html");
    for pointer in [
        "agents/0/first_answer",
        "agents/0/began/1",
        "agents/1/units",
    ] {
        let pointer = format!("data-m=\"/disallowed_since/{pointer}\"");
        assert!(page.contains(&pointer), "{pointer}");
    }
    let without = dir.stdout_of("report -s s -a A,B --csv-to s.csv --html s.html");
    assert!(!without.contains("later answer"));
    assert!(!dir.read_text("s.html").contains("disallowed_since"));
}

/// The page and the table show the newest of many periods, and the JSON has all.
#[test]
fn many_periods_are_cut_in_tables() {
    let mut lines = Vec::new();
    for number in 0..70 {
        let host = format!("h{number}");
        lines.push(line(&host, "2000-01-01", ANYBODY));
        lines.push(line(&host, &format!("{}-06-01", 2001 + number), NOBODY));
    }
    let dir = history(&lines);
    let table = dir.stdout_of(
        "report -s s -a A --disallowed-since --every year --json-to s.json --html s.html",
    );
    assert!(
        table.contains("earlier                        34\n"),
        "{table}"
    );
    assert!(table.contains("2035                            1\n") && !table.contains("2034"));
    let report = parsed(&dir.read_text("s.json"));
    assert_eq!(
        report["disallowed_since"]["periods"]
            .as_array()
            .unwrap()
            .len(),
        70
    );
    let page = dir.read_text("s.html");
    assert!(page.contains("The 10 oldest periods are left out"));
    assert!(page.contains("/began/10\"") && !page.contains("/began/9\""));
}

#[test]
fn counts_of_random_histories_are_those_of_exported_rows() {
    let mut random = Random(11);
    let answers = [NOBODY, NO_A, ANYBODY, "404", "503"];
    let mut lines = Vec::new();
    for host in 0..120 {
        for _ in 0..1 + random.below(5) {
            let day = format!(
                "2025-{:02}-{:02}",
                1 + random.below(12),
                1 + random.below(28)
            );
            lines.push(line(&format!("h{host}"), &day, random.pick(&answers)));
        }
    }
    let dir = history(&lines);
    let rows = dir.stdout_of(
        "export -q -s s -a A,B --long --as jsonl --columns \
         agent,access,named,disallowed_after,disallowed_since",
    );
    // For each agent and month; the first answer has no month.
    let mut expected: BTreeMap<(String, String), u64> = BTreeMap::new();
    for row in rows.lines().map(parsed) {
        if row["access"] == "blocked" && !row["named"].is_null() {
            let month = match row["disallowed_after"].is_null() {
                true => String::new(),
                false => row["disallowed_since"].as_str().unwrap()[..7].to_owned(),
            };
            let agent = row["agent"].as_str().unwrap().to_owned();
            *expected.entry((agent, month)).or_default() += 1;
        }
    }
    assert!(expected.len() > 15, "{expected:?}");
    let report = parsed(&dir.stdout_of("report -q -s s -a A,B --disallowed-since --json-to -"));
    let mut found = BTreeMap::new();
    let since = &report["disallowed_since"];
    for (number, of) in since["agents"].as_array().unwrap().iter().enumerate() {
        let agent = of["agent"].as_str().unwrap().to_owned();
        found.insert(
            (agent.clone(), String::new()),
            of["first_answer"].as_u64().unwrap(),
        );
        let began = of["began"].as_array().unwrap();
        for (period, count) in since["periods"].as_array().unwrap().iter().zip(began) {
            let key = (agent.clone(), period.as_str().unwrap().to_owned());
            found.insert(key, count.as_u64().unwrap());
        }
        let counts = &report["agents"][number]["origins"];
        let by_rules =
            ["wholly_by_name", "wholly_by_global"].map(|key| counts[key].as_u64().unwrap());
        assert_eq!(of["units"].as_u64(), Some(by_rules.iter().sum()));
    }
    found.retain(|_, count| *count > 0);
    assert_eq!(found, expected);
}

#[test]
fn periods_need_a_history_of_one_snapshot() {
    let dir = small();
    dir.stdout_of("compile -q -o newest a.jsonl");
    dir.all_fail(&[
        "report -s newest -a A --disallowed-since --every year | newest: the snapshot has no history | \
         compile --history",
        "report -s s -a A --disallowed-since --every year --as-of 2025-03 | cannot be used with",
        "report -a A --series x=s --disallowed-since --every year | cannot be used with",
        "report -s s -a A --disallowed-since --every decade | decade",
        "report -s s -a A --every month | --every: needs --series with one snapshot | --disallowed-since",
        "report -a A --series s --every month --at now | leave --at out",
    ]);
}

#[test]
fn a_beginning_after_an_answer_of_unknown_time_has_a_period() {
    let dir = TestDir::new();
    let line = |time: Value, body: &str| {
        let url = "https://a.example/robots.txt";
        format!(
            "{}\n",
            json!({"url": url, "body": body, "fetched_at": time})
        )
    };
    let refusing = "user-agent: *\ndisallow: /";
    dir.write(
        "a.jsonl",
        line(Value::Null, "") + &line(json!("2026-03-01T00:00:00Z"), refusing),
    );
    dir.done_line("compile -q --history -o s a.jsonl");
    let report = parsed(&dir.stdout_of("report -q -s s -a A --disallowed-since --json-to -"));
    let since = &report["disallowed_since"];
    assert_eq!(since["periods"], json!(["2026-03"]));
    assert_eq!(since["agents"][0]["first_answer"], 0);
    assert_eq!(since["agents"][0]["began"], json!([1]));
}
