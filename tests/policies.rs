//! Each status policy, at each age of a failure: the table `tests/cases/policies.tsv`, through the
//! library and the command.

use crate::recrawl::{compile, compile_all};
use crate::spec::{Failures, cases_dir};
use crate::test_dir::TestDir;
use robosieve::judge::{Reason, StatusPolicy};
use robosieve::{Judge, JudgeOptions, NamedValue, Profile, Snapshot};
use serde_json::{Value, json};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
/// 2026-01-10T00:00:00Z.
const FIRST: i64 = 1_767_225_600 + 9 * DAY;

/// A row of the table: a site that answers the same since some time.
struct Row {
    /// Its host, which no other row has.
    host: String,
    answer: String,
    /// Whether a good copy precedes the answer.
    has_copy: bool,
    /// In seconds.
    age: i64,
    /// For each policy of the header, the letters of `/x`, which the copy disallows, and of `/y`.
    letters: Vec<String>,
}

impl Row {
    fn parse(line: &str, number: usize) -> Self {
        let fields: Vec<&str> = line.split('\t').collect();
        Self {
            host: format!("row{number}.example"),
            answer: fields[0].to_owned(),
            has_copy: fields[1] == "copy",
            age: age(fields[2]),
            letters: fields[3..].iter().map(|&text| text.to_owned()).collect(),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host)
    }

    fn urls(&self) -> [String; 2] {
        [self.url("/x"), self.url("/y")]
    }

    fn capture(&self, time: i64, mut capture: Value) -> String {
        capture["url"] = json!(self.url("/robots.txt"));
        capture["fetched_at"] = json!(jiff::Timestamp::from_second(time).unwrap().to_string());
        capture.to_string() + "\n"
    }

    /// The copy, if there is one, as a crawl; otherwise a crawl of another site.
    fn copy(&self) -> String {
        let copy = self.capture(
            FIRST - 5 * DAY,
            json!({"body": "user-agent: *\ndisallow: /x\n"}),
        );
        match self.has_copy {
            true => copy,
            false => copy.replace("row", "other"),
        }
    }

    /// The answer at an age.
    fn at(&self, age: i64) -> String {
        let redirect = |to: &str| json!({"status": 301, "headers": {"Location": to}});
        let answer = match self.answer.as_str() {
            "timeout" => json!({"error": "timeout"}),
            "loop" => redirect("/robots.txt"),
            "missing" => redirect("https://nobody.example/robots.txt"),
            status => json!({"status": status.parse::<u16>().unwrap(), "body": ""}),
        };
        self.capture(FIRST + age, answer)
    }
}

/// The seconds of `30d`, `12h+1s`, `30d-1s` or `0`.
fn age(text: &str) -> i64 {
    let (text, second) = match (text.strip_suffix("+1s"), text.strip_suffix("-1s")) {
        (Some(text), _) => (text, 1),
        (_, Some(text)) => (text, -1),
        _ => (text, 0),
    };
    let number = |text: &str| text.parse::<i64>().unwrap();
    let time = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => number(days) * DAY,
        (_, Some(hours)) => number(hours) * HOUR,
        _ => number(text),
    };
    time + second
}

struct Table {
    /// The names of the policies in the header.
    policies: Vec<String>,
    rows: Vec<Row>,
}

fn table() -> Table {
    let text = std::fs::read_to_string(cases_dir().join("policies.tsv")).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header = lines.next().unwrap().split('\t').skip(3);
    let policies: Vec<String> = header.map(str::to_owned).collect();
    let rows: Vec<Row> = lines
        .zip(0..)
        .map(|(line, number)| Row::parse(line, number))
        .collect();
    assert!(rows.iter().all(|row| row.letters.len() == policies.len()));
    Table { policies, rows }
}

/// The snapshot of all rows, each at its age.
fn archive(rows: &[Row]) -> String {
    let row = |row: &Row| match row.age {
        0 => row.copy() + &row.at(0),
        age => row.copy() + &row.at(0) + &row.at(age),
    };
    rows.iter().map(row).collect()
}

/// The letters of a row, with the explanation checked against them.
fn letters(judge: &Judge, row: &Row) -> String {
    let mut letters = String::new();
    let mut is_copy = false;
    for url in row.urls() {
        let letter = judge.judge(url.as_bytes()).unwrap().get(0).letter();
        let why = judge.explain(url.as_bytes(), 0).unwrap();
        assert_eq!(why.verdict.letter(), letter, "{url}");
        assert_eq!(
            why.by_last_good,
            why.reason == Reason::LastGoodCopy,
            "{url}"
        );
        is_copy = why.by_last_good;
        letters.push(letter);
    }
    // Only the copy distinguishes the paths.
    assert_eq!(letters == "DA", is_copy, "{}", row.host);
    letters
}

/// Compares the letters of a row under a policy.
fn check_row(row: &Row, policy: &str, expected: &str, judge: &Judge, failures: &mut Failures) {
    let what = || format!("{policy} {} {} {}", row.answer, row.has_copy, row.age);
    failures.check(what, letters(judge, row), expected.to_owned());
}

fn judge(snapshot: &[u8], policy: &str, at: Option<i64>) -> Judge {
    let policy: StatusPolicy = policy.parse().unwrap();
    let options = JudgeOptions::default().status_policy(policy).at(at);
    let snapshot = Snapshot::new(snapshot.to_vec()).unwrap();
    Judge::new(snapshot, &["FooBot".parse().unwrap()], options).unwrap()
}

#[test]
fn every_policy_is_in_the_table() {
    let Table { policies, .. } = table();
    for (_, name) in StatusPolicy::NAMES {
        // `google` is another name of `google-2023`.
        assert!(
            *name == "google" || policies.iter().any(|policy| policy == name),
            "{name}"
        );
    }
    assert_eq!(policies.len() + 1, StatusPolicy::NAMES.len());
}

#[test]
fn policies_judge_as_the_table_says() {
    let Table { policies, rows } = table();
    let mut failures = Failures::default();
    for profile in [Profile::Google, Profile::Rfc9309] {
        let snapshot = compile(profile, None, &archive(&rows));
        for (column, policy) in policies.iter().enumerate() {
            let judge = judge(&snapshot, policy, None);
            for row in &rows {
                check_row(row, policy, &row.letters[column], &judge, &mut failures);
            }
        }
        let [google, edition] = ["google", "google-2023"].map(|name| judge(&snapshot, name, None));
        for row in &rows {
            check_row(
                row,
                "google",
                &letters(&edition, row),
                &google,
                &mut failures,
            );
        }
    }
    failures.finish("policies");
}

#[test]
fn policies_judge_at_the_requested_time() {
    let Table { policies, rows } = table();
    let mut failures = Failures::default();
    // The site is not asked again after the first answer, or it still answers the same later.
    let first: String = rows.iter().map(|row| row.copy() + &row.at(0)).collect();
    let later: String = rows.iter().map(|row| row.at(400 * DAY)).collect();
    let [early, late] =
        [first.clone(), first + &later].map(|archive| compile(Profile::Google, None, &archive));
    for (column, policy) in policies.iter().enumerate() {
        for row in &rows {
            for snapshot in [&early, &late] {
                let judge = judge(snapshot, policy, Some(FIRST + row.age));
                check_row(row, policy, &row.letters[column], &judge, &mut failures);
            }
        }
    }
    failures.finish("policies");
}

#[test]
fn policies_judge_crawls_over_each_other() {
    let Table { policies, rows } = table();
    let mut failures = Failures::default();
    let crawls = [
        rows.iter().map(Row::copy).collect(),
        rows.iter().map(|row| row.at(0)).collect(),
        rows.iter()
            .filter(|row| row.age > 0)
            .map(|row| row.at(row.age))
            .collect(),
    ];
    let snapshot = compile_all(Profile::Google, crawls);
    for (column, policy) in policies.iter().enumerate() {
        let judge = judge(&snapshot, policy, None);
        for row in &rows {
            check_row(row, policy, &row.letters[column], &judge, &mut failures);
        }
    }
    failures.finish("policies");
}

#[test]
fn verbs_take_every_policy() {
    let Table { policies, rows } = table();
    let dir = TestDir::new();
    dir.write("all.jsonl", archive(&rows));
    dir.done(&["compile", "-q", "all.jsonl", "-o", "web"]);
    let urls: Vec<String> = rows.iter().flat_map(Row::urls).collect();
    dir.write("urls", urls.join("\n") + "\n");
    let run = |args: &[&str], policy: &str| {
        let options = ["-s", "web", "-a", "FooBot", "--status-policy", policy];
        let ran = dir.run(&[args, &options, &["urls"]].concat());
        (ran.code, ran.text().to_owned())
    };
    for (column, policy) in policies.iter().enumerate() {
        let letters: String = rows
            .iter()
            .map(|row| row.letters[column].as_str())
            .collect();
        let lines = || letters.chars().zip(&urls);
        let annotated: String = lines()
            .map(|(letter, url)| format!("{letter}\t{url}\n"))
            .collect();
        let found = run(&["annotate", "-q"], policy);
        assert_eq!(found, (Some(0), annotated), "{policy}");
        let kept: String = lines()
            .filter(|(letter, _)| *letter == 'A')
            .map(|(_, url)| url.clone() + "\n")
            .collect();
        assert_eq!(run(&["filter", "-q"], policy), (Some(0), kept), "{policy}");
        let explained = [
            "check",
            "--explain",
            "-s",
            "web",
            "-a",
            "FooBot",
            "--status-policy",
            policy,
        ];
        let all: Vec<&str> = urls.iter().map(String::as_str).collect();
        let ran = dir.run(&[&explained[..], &all].concat());
        let found: String = String::from_utf8(ran.stdout)
            .unwrap()
            .lines()
            .filter_map(|line| line.split_once("\tFooBot\t"))
            .map(|(verdict, url)| {
                let letter = verdict.to_uppercase().chars().next().unwrap();
                format!("{letter}\t{url}\n")
            })
            .collect();
        let expected = lines()
            .map(|(l, url)| format!("{l}\t{url}\n"))
            .collect::<String>();
        assert_eq!(found, expected, "{policy}");
    }
}

#[test]
fn verbs_judge_every_policy_at_the_requested_time() {
    let Table { policies, rows } = table();
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| row.answer == "503" && row.has_copy)
        .collect();
    let dir = TestDir::new();
    dir.write("a.jsonl", rows[0].copy() + &rows[0].at(0));
    dir.done(&["compile", "-q", "a.jsonl", "-o", "web"]);
    dir.write("urls", rows[0].urls().join("\n") + "\n");
    for (column, policy) in policies.iter().enumerate() {
        for row in &rows {
            let at = jiff::Timestamp::from_second(FIRST + row.age)
                .unwrap()
                .to_string();
            let options = [
                "-s",
                "web",
                "-a",
                "FooBot",
                "--status-policy",
                policy,
                "--at",
                &at,
                "urls",
            ];
            let ran = dir.done(&[&["annotate", "-q"], &options[..]].concat());
            let out = ran.text();
            let found: String = out.lines().filter_map(|line| line.chars().next()).collect();
            assert_eq!(found, row.letters[column], "{policy} {at}");
        }
    }
}

#[test]
fn only_rfc_9309_allows_the_robots_txt_of_an_unreachable_site() {
    let capture = json!({
        "url": "https://a.example/robots.txt", "status": 503, "body": "",
        "fetched_at": "2026-01-10T00:00:00Z",
    });
    for (profile, expected) in [(Profile::Google, 'D'), (Profile::Rfc9309, 'A')] {
        let snapshot = compile(profile, None, &format!("{capture}\n"));
        let judge = judge(&snapshot, "rfc9309", None);
        let letter = |url: &str| {
            let letter = judge.judge(url.as_bytes()).unwrap().get(0).letter();
            let why = judge.explain(url.as_bytes(), 0).unwrap();
            assert_eq!(why.verdict.letter(), letter, "{url}");
            letter
        };
        assert_eq!(letter("https://a.example/robots.txt"), expected);
        assert_eq!(letter("https://a.example/x"), 'D');
    }
}
