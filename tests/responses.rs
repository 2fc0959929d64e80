//! Preferences in the header fields of HTTP responses: the cases of `tests/cases/responses`, random
//! headers, hostile headers, and the records of WARC files.

use crate::generate::{AGENTS, agent_value, config};
use crate::snapshots::snapshot_of_robots;
use crate::spec::{Failures, cases_dir, load};
use crate::waiting::bounded;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::job::{Form, Input, Job, Output};
use robosieve::preferences::{
    Preferences, ResponsePreferences, explain_preferences, reference as preferences_reference,
};
use robosieve::robots::reference as robots_reference;
use robosieve::{Agent, AgentMatch, Judge, JudgeOptions, Profile, RobotsRef};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Cursor;

const URL: &str = "http://example.com/a";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    clause: String,
    #[serde(default)]
    robots: String,
    headers: Vec<String>,
    #[serde(default = "foo_bot")]
    agent: String,
    agent_match: Option<String>,
    #[serde(default = "nothing")]
    usage: String,
    #[serde(default)]
    signals: String,
    #[serde(default)]
    tags: String,
}

fn foo_bot() -> String {
    "FooBot".to_owned()
}

fn nothing() -> String {
    "--".to_owned()
}

impl Case {
    fn agent(&self) -> Agent {
        self.agent.parse().unwrap()
    }

    fn agent_match(&self) -> AgentMatch {
        match self.agent_match.as_deref() {
            None => AgentMatch::Extended,
            Some("google") => AgentMatch::Google,
            Some(other) => panic!("{}: agent_match {other:?}", self.name),
        }
    }

    /// The fields as names and values. A folded line keeps its line end, which counts as a blank.
    fn fields(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let split = |line: &String| {
            let (name, value) = line.split_once(':').unwrap();
            (name.as_bytes().to_vec(), value.trim().as_bytes().to_vec())
        };
        self.headers.iter().map(split).collect()
    }

    /// What the robots.txt states, under the verdict of the reference.
    fn applied(&self, stated: Preferences) -> Preferences {
        let robots = self.robots.as_bytes();
        let (agent, how) = (self.agent(), self.agent_match());
        match robots_reference::judge(robots, &agent, how, Profile::Google, URL.as_bytes()).allowed
        {
            true => stated,
            false => stated.of_refused_url(),
        }
    }

    fn expected(&self) -> (String, String) {
        (self.usage.clone(), self.signals.clone())
    }

    fn what(&self) -> String {
        format!("{} [{}]", self.name, self.clause)
    }
}

fn cases() -> Vec<Case> {
    load::<Case>(&cases_dir().join("responses"))
}

/// Preferences as a case writes them.
fn shown(found: &Preferences) -> (String, String) {
    let letters = [found.train_ai.letter(), found.search.letter()];
    (letters.iter().collect(), found.signals.to_string())
}

#[test]
fn reference_passes_the_cases() {
    let mut failures = Failures::default();
    for case in cases() {
        let (agent, how) = (case.agent(), case.agent_match());
        let stated = preferences_reference::preferences(
            case.robots.as_bytes(),
            &agent,
            how,
            Profile::Google,
            URL.as_bytes(),
        );
        let combined =
            preferences_reference::with_response(case.applied(stated), &case.fields(), &agent, how);
        failures.check(|| case.what(), shown(&combined), case.expected());
    }
    failures.finish("responses by the reference");
}

#[test]
fn parsed_headers_pass_the_cases() {
    let mut failures = Failures::default();
    for case in cases() {
        let (agent, how) = (case.agent(), case.agent_match());
        let robots = RobotsRef::parse(case.robots.as_bytes(), Profile::Google);
        let stated = explain_preferences(&robots, &agent, how, URL.as_bytes()).preferences;
        let response = ResponsePreferences::from_headers(case.fields());
        let statements = response.statements_to(&agent, how);
        let combined = statements.combine(case.applied(stated));
        failures.check(|| case.what(), shown(&combined), case.expected());
        failures.check(
            || case.what(),
            statements.tags.to_string(),
            case.tags.clone(),
        );
    }
    failures.finish("parsed headers");
}

/// A record of this type with this block.
fn record(kind: &str, url: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

fn response(url: &str, headers: &[String]) -> String {
    let head: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    record(
        "response",
        url,
        &format!("HTTP/1.1 200 OK\r\n{head}\r\n<p>"),
    )
}

fn judge(robots: &str, agents: &[&str], how: AgentMatch) -> Judge {
    let snapshot = snapshot_of_robots("http://example.com", robots);
    let agents: Vec<Agent> = agents.iter().map(|name| name.parse().unwrap()).collect();
    Judge::new(snapshot, &agents, JudgeOptions::default().agent_match(how)).unwrap()
}

fn annotated(judge: &Judge, form: Form, file: &str) -> Vec<String> {
    let mut out = Vec::new();
    let input = Input::from_reader("pages.warc", Cursor::new(file.to_owned()));
    let job = Job::new(judge).form(form).preferences(true);
    let written = job.annotate(vec![input], Output::from_writer(&mut out));
    written.unwrap().commit().unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The objects of the records, with their preferences.
fn objects(judge: &Judge, file: &str) -> Vec<Value> {
    let lines = annotated(judge, Form::Jsonl, file);
    lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["robots_preferences"].take())
        .collect()
}

#[test]
fn records_pass_the_cases() {
    let mut failures = Failures::default();
    for case in cases() {
        let judge = judge(&case.robots, &[&case.agent], case.agent_match());
        let file = response(URL, &case.headers);
        let line = annotated(&judge, Form::Letters, &file).remove(0);
        let fields: Vec<&str> = line.split('\t').collect();
        let signals = fields[2].replace('-', if fields[2] == "-" { "" } else { "-" });
        let letters = (fields[1].to_owned(), signals);
        failures.check(|| case.what(), letters, case.expected());

        let object = objects(&judge, &file).remove(0)[&case.agent].take();
        let tags = object["sources"]["x-robots-tag"].as_array();
        let tags: Vec<&str> = tags.map_or(Vec::new(), |tags| {
            tags.iter().filter_map(Value::as_str).collect()
        });
        failures.check(|| case.what(), tags.join(","), case.tags.clone());
        let letter = |key: &str| match object[key].as_str() {
            Some("unknown") | None => "-",
            Some(other) => other,
        };
        let usage = ["train-ai", "search"].map(letter).concat();
        failures.check(|| case.what(), usage, case.usage.clone());
    }
    failures.finish("records of WARC files");
}

#[test]
fn sources_are_apart() {
    let robots = "user-agent: a\ncontent-usage: search=y\ncontent-signal: search=yes\ndisallow: /x\n\
                  user-agent: b\ndisallow: /y\n";
    let judge = judge(robots, &["a", "b"], AgentMatch::Extended);
    let headers = [
        "Content-Usage: train-ai=n",
        "Content-Signal: ai-train=no",
        "X-Robots-Tag: a: noai, noindex",
    ]
    .map(str::to_owned);
    let file = [
        response("http://example.com/", &headers),
        response("http://example.com/x", &headers),
        response("http://example.com/", &[]),
        response("http://unknown.example/", &headers[2..]),
        response("http://example.com/", &headers[..1]).replace("response", "revisit"),
        response("http://example.com/", &headers).replace("response", "resource"),
        record(
            "response",
            "http://example.com/",
            "Content-Usage: train-ai=n\r\n\r\n",
        ),
    ]
    .concat();
    let found = objects(&judge, &file);
    let expected = json!({
        "a": {
            "train-ai": "n", "search": "n", "content-signal": {"search": "yes", "ai-train": "no"},
            "sources": {
                "robots.txt": {"train-ai": "unknown", "search": "y", "content-signal": {"search": "yes"}},
                "content-usage": {"train-ai": "n", "search": "unknown"},
                "content-signal": {"ai-train": "no"},
                "x-robots-tag": ["noai", "noindex"],
            },
        },
        "b": {
            "train-ai": "n", "search": "unknown", "content-signal": {"ai-train": "no"},
            "sources": {
                "robots.txt": {"train-ai": "unknown", "search": "unknown", "content-signal": {}},
                "content-usage": {"train-ai": "n", "search": "unknown"},
                "content-signal": {"ai-train": "no"},
            },
        },
    });
    assert_eq!(found[0], expected);
    let refused = &found[1]["a"];
    assert_eq!(refused["train-ai"], Value::Null);
    assert_eq!(refused["search"], Value::Null);
    let not_applicable = json!({"train-ai": null, "search": null});
    assert_eq!(refused["sources"]["content-usage"], not_applicable);
    let expected = json!(["noai", "noindex"]);
    assert_eq!(refused["sources"]["x-robots-tag"], expected);
    for silent in [&found[2], &found[5], &found[6]] {
        assert!(silent["a"].get("sources").is_none(), "{silent}");
        assert_eq!(silent["a"]["search"], "y");
    }
    // An unknown origin has no robots.txt, but its response speaks for itself.
    assert_eq!(found[3]["a"]["train-ai"], "n");
    assert!(found[3]["b"].get("sources").is_none());
    assert_eq!(found[4]["b"]["train-ai"], "n");
}

#[test]
fn a_head_counts_up_to_16_kib() {
    let judge = judge("", &["a"], AgentMatch::Extended);
    let train_ai = |headers: &[String]| {
        objects(&judge, &response(URL, headers)).remove(0)["a"]["train-ai"].take()
    };
    let usage = "Content-Usage: train-ai=n".to_owned();
    let padding = |len: usize| format!("X: {}", "x".repeat(len));
    assert_eq!(train_ai(&[padding(16_000), usage.clone()]), "n");
    assert_eq!(train_ai(&[padding(16_400), usage.clone()]), "unknown");
    // The limit cuts the line after `train-ai=n`, so the line does not count.
    let long = format!("{usage}, x=\"{}\"", "x".repeat(20_000));
    assert_eq!(train_ai(std::slice::from_ref(&long)), "unknown");
    assert_eq!(train_ai(&[usage, long]), "n");
}

/// A line of a header: values that are almost valid, and names that often match.
fn header_line() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let usage = select(vec![
        "train-ai=n",
        "train-ai=y",
        "search=n",
        "search=y",
        "search=y, train-ai=n",
        "",
        ",",
        "a",
        "train-ai",
        "x=\"",
        "/a train-ai=n",
        "train-ai=n\0",
        "Train-AI=n",
        "search=n;a=1",
    ]);
    let signal = select(vec![
        "search=yes",
        "search=no,ai-train=NO",
        "ai-input=yes",
        "use=full",
        "use=immediate",
        "/a",
        "\0ai-train = yes\0",
        "x",
    ]);
    let rule = select(vec![
        "noai",
        "NOAI",
        "noimageai",
        "noindex",
        "none",
        "nofollow",
        "",
        "no ai",
        "noai=1",
        "unavailable_after: 25 Jun 2010 15:00:00 PST",
        "unavailable_after: Sunday",
        "max-snippet: 5",
        "01-Nov-26 15:00:00 UTC",
        " noindex\0",
        "2026 noai: noindex",
        "2bot: noai",
    ]);
    let name = prop_oneof![
        2 => Just(String::new()),
        1 => agent_value().prop_map(|name| format!("{name}: ")),
        1 => select(AGENTS).prop_map(|name| format!("{name} :")),
    ];
    let tags = vec((name, rule), 0..5).prop_map(|members| {
        let members: Vec<String> = members
            .into_iter()
            .map(|(name, rule)| name + rule)
            .collect();
        members.join(",")
    });
    let line = |name: &str, value: String| (name.as_bytes().to_vec(), value.into_bytes());
    prop_oneof![
        3 => usage.prop_map(move |value| line("Content-Usage", value.to_owned())),
        2 => signal.prop_map(move |value| line("content-signal", value.to_owned())),
        4 => tags.prop_map(move |value| line("X-Robots-Tag", value)),
        1 => select(vec!["image/png", "IMAGE/x", "text/html", "image"])
            .prop_map(move |value| line("Content-Type", value.to_owned())),
    ]
}

/// Preferences of a robots.txt that are combined with those of a header.
const ROBOTS: [&str; 5] = [
    "",
    "user-agent: *\ncontent-usage: train-ai=y, search=n\n",
    "user-agent: *\ncontent-usage: train-ai=n, search=y\ncontent-signal: search=no, use=reference\n",
    "content-signal: ai-train=yes, ai-input=no, use=full\n",
    "user-agent: *\ncontent-usage: train-ai=y\ncontent-signal: ai-train=no\ndisallow: /\n",
];

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn combinations_agree_with_the_reference(lines in vec(header_line(), 0..6), robots in select(&ROBOTS[..])) {
        let response = ResponsePreferences::from_headers(lines.iter().map(|(name, value)| (name, value)));
        for name in AGENTS {
            let agent: Agent = name.parse().unwrap();
            for how in [AgentMatch::Extended, AgentMatch::Google] {
                let case = Case {
                    name: String::new(), clause: String::new(), robots: robots.to_owned(), headers: Vec::new(),
                    agent: (*name).to_owned(), agent_match: None, usage: String::new(), signals: String::new(), tags: String::new(),
                };
                let stated = preferences_reference::preferences(robots.as_bytes(), &agent, how, Profile::Google, b"/");
                let stated = case.applied(stated);
                let slow = preferences_reference::with_response(stated, &lines, &agent, how);
                let statements = response.statements_to(&agent, how);
                prop_assert_eq!(statements.combine(stated), slow, "{} {:?} {:?}", name, how, lines);
                // Nothing stated changes nothing, and combining twice adds nothing.
                prop_assert!(!statements.is_empty() || slow == stated);
                prop_assert_eq!(statements.combine(slow), slow);
                prop_assert!(!response.is_empty() || statements.is_empty());
            }
        }
    }

    #[test]
    fn any_head_is_read_without_a_panic(block in vec(prop_oneof![6 => select(b":\r\n ,=\0X-Robots-Tag".to_vec()), 1 => any::<u8>()], 0..200)) {
        let judge = judge("", &["a"], AgentMatch::Extended);
        let block = format!("HTTP/1.1 200 OK\r\n{}", String::from_utf8_lossy(&block));
        prop_assert_eq!(objects(&judge, &record("response", URL, &block)).len(), 1);
    }
}

/// Headers with the highest cost per byte: `archive-headers` of `scripts/x bombs` measures them.
/// Here, costs that grow as a product of two sizes reach the bound of a wait.
#[test]
fn hostile_headers_end() {
    let agents: Vec<Agent> = (0..1000)
        .map(|n| format!("a{}", "b".repeat(n % 200)).parse().unwrap())
        .collect();
    let names: String = (0..100_000).map(|n| format!("a{n}: noai,")).collect();
    let read = bounded(move |step| {
        let cases = [
            ("one name", "x-robots-tag", "ab:noai,".repeat(200_000)),
            ("many names", "x-robots-tag", names),
            ("colons", "x-robots-tag", ":".repeat(1 << 20)),
            ("commas", "x-robots-tag", ",".repeat(1 << 20)),
            (
                "a long name",
                "x-robots-tag",
                format!("{}: noai", "a ".repeat(1 << 19)),
            ),
            (
                "members",
                "content-usage",
                "train-ai=n,".repeat(100_000) + "search=n",
            ),
            (
                "parameters",
                "content-usage",
                format!("train-ai=n{}", ";a=\"x\"".repeat(200_000)),
            ),
            ("signals", "content-signal", "ai-train=no,".repeat(100_000)),
        ];
        for (what, name, value) in cases {
            step(what.to_owned());
            let response = ResponsePreferences::from_headers([(name, value.as_str())]);
            for agent in &agents {
                response.statements_to(agent, AgentMatch::Extended);
            }
            let lines = value.as_bytes().chunks(8).map(|value| (name, value));
            ResponsePreferences::from_headers(lines);
        }
    });
    assert!(read.is_ok(), "a header fails; see its message above");
}
