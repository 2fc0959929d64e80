//! `robosieve audit`: hand-written logs with counts worked out by hand, hostile logs, all formats,
//! and a real server.

mod all_clear;
mod by_history;
mod chains;
mod formats;
mod hostile;
mod other_fields;
mod outputs;
mod robots;
mod server;

use crate::command::{Ran, words};
use crate::test_dir::TestDir;
use serde_json::Value;

/// robots.txt files of three origins.
const ROBOTS: &str = concat!(
    r#"{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: GPTBot\nDisallow: /private\n\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart\n"}"#,
    "\n",
    r#"{"url":"http://plain.example/robots.txt","status":200,"body":"User-agent: *\nDisallow: /x\n"}"#,
    "\n",
);

/// A directory with a snapshot `a` of [`ROBOTS`] and with a log `access.log`.
fn with_log(log: impl AsRef<[u8]>) -> TestDir {
    let dir = TestDir::new();
    dir.write("access.log", log);
    compile(&dir, "a", ROBOTS);
    dir
}

fn compile(dir: &TestDir, name: &str, robots: &str) {
    dir.write("robots.jsonl", robots);
    dir.run(&["compile", "-q", "-o", name, "robots.jsonl"])
        .succeeds();
}

/// Runs `audit` with these arguments.
fn audit(dir: &TestDir, args: &[&str]) -> Ran {
    dir.run(&[&["audit"], args].concat())
}

/// The JSON of `audit` with these arguments. Nothing else is said but that lines are invalid.
fn json(dir: &TestDir, args: &[&str]) -> Value {
    let ran = audit(dir, &[args, &["--json"]].concat());
    let said = ran.stderr.lines();
    let mut others = said.filter(|line| !line.contains("not audited, because"));
    assert_eq!((ran.code, others.next()), (Some(0), None), "{args:?}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// [`audit`] with arguments that blanks separate.
fn audit_line(dir: &TestDir, line: &str) -> Ran {
    audit(dir, &words(line))
}

/// [`json`] with arguments that blanks separate.
fn json_line(dir: &TestDir, line: &str) -> Value {
    json(dir, &words(line))
}

/// The crawler of this name.
fn crawler<'v>(report: &'v Value, name: &str) -> &'v Value {
    let all = report["crawlers"].as_array().unwrap();
    all.iter()
        .find(|crawler| crawler["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

/// The counts of a report: lines, invalid lines, lines of other agents.
fn lines(report: &Value) -> [u64; 3] {
    ["lines", "invalid", "other_agents"].map(|key| report[key].as_u64().unwrap())
}

/// The counts of a crawler: requests, allowed, disallowed, unknown, robots.txt.
fn requests(report: &Value, name: &str) -> [u64; 5] {
    let keys = ["requests", "allowed", "disallowed", "unknown", "robots_txt"];
    keys.map(|key| crawler(report, name)[key].as_u64().unwrap())
}
