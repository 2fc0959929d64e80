//! Crawl-delay and sitemaps: the cases of `tests/cases/extensions`, random files, and failed sites.

use crate::generate::config;
use crate::snapshots::snapshot_of_captures;
use crate::spec::{Failures, cases_dir, load};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::{Agent, AgentMatch, Compiler, Origin, Profile, RobotsRef, Snapshot};
use serde::Deserialize;
use std::collections::HashSet;
use std::time::Duration;

const ORIGIN: &str = "https://example.com";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    clause: String,
    robots: String,
    #[serde(default = "foobot")]
    agent: String,
    agent_match: Option<String>,
    crawl_delay: Option<f64>,
    #[serde(default)]
    sitemaps: Vec<String>,
}

fn foobot() -> String {
    "FooBot".to_owned()
}

/// The delay and the sitemaps of a site for an agent.
#[derive(Debug, PartialEq)]
struct Found {
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

fn by_robots(text: &[u8], profile: Profile, agent: &Agent, how: AgentMatch) -> Found {
    let robots = RobotsRef::parse(text, profile);
    let sitemaps = robots
        .sitemaps()
        .map(|field| String::from_utf8_lossy(field.value()).into_owned())
        .collect();
    Found {
        crawl_delay: robots.crawl_delay(agent, how),
        sitemaps,
    }
}

fn by_snapshot(snapshot: &Snapshot, origin: &str, agent: &Agent, how: AgentMatch) -> Found {
    let origin = Origin::of(origin.as_bytes()).unwrap();
    let sitemaps = snapshot.sitemaps(&origin).unwrap();
    let sitemaps = sitemaps
        .into_iter()
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect();
    Found {
        crawl_delay: snapshot.crawl_delay(&origin, agent, how).unwrap(),
        sitemaps,
    }
}

fn snapshot(text: &[u8], profile: Profile) -> Snapshot {
    let mut compiler = Compiler::new(profile);
    compiler.add_robots(ORIGIN, text).unwrap();
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

#[test]
fn cases_pass() {
    let (mut failures, mut names) = (Failures::default(), HashSet::new());
    for case in load::<Case>(&cases_dir().join("extensions")) {
        assert!(!case.clause.is_empty(), "{}", case.name);
        assert!(names.insert(case.name.clone()), "{}", case.name);
        let how = match case.agent_match.as_deref() {
            None | Some("extended") => AgentMatch::Extended,
            Some("google") => AgentMatch::Google,
            Some(other) => panic!("{}: agent_match {other:?}", case.name),
        };
        let (agent, text) = (case.agent.parse().unwrap(), case.robots.as_bytes());
        let crawl_delay = case.crawl_delay.map(Duration::from_secs_f64);
        for profile in [Profile::Google, Profile::Rfc9309] {
            let expected = || Found {
                crawl_delay,
                sitemaps: case.sitemaps.clone(),
            };
            let what = || format!("{} [{}] {profile:?}", case.name, case.clause);
            failures.check(what, by_robots(text, profile, &agent, how), expected());
            let snapshot = snapshot(text, profile);
            failures.check(
                what,
                by_snapshot(&snapshot, ORIGIN, &agent, how),
                expected(),
            );
        }
    }
    failures.finish("crawl-delay and sitemaps");
}

/// A line of a random robots.txt.
#[derive(Clone, Debug)]
enum Line {
    Agent(&'static str),
    Rule(&'static str),
    /// A value, and its milliseconds if it is valid.
    Delay(&'static str, Option<u64>),
    Other(&'static str),
}

impl Line {
    fn text(&self) -> String {
        match self {
            Self::Agent(name) => format!("User-agent: {name}"),
            Self::Rule(rule) => (*rule).to_owned(),
            Self::Delay(value, _) => format!("crawl-delay: {value}"),
            Self::Other(text) => (*text).to_owned(),
        }
    }
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let delays = [
        ("1", Some(1000)),
        ("0.25", Some(250)),
        ("30", Some(30_000)),
        ("0", Some(0)),
        ("x", None),
        ("", None),
    ];
    let others = [
        "sitemap: /a",
        "Sitemap: https://e.example/b",
        "sitemap: /a # c",
        "sitemap:",
        "# c",
        "",
        "noise",
        "host: h",
    ];
    let line = prop_oneof![
        4 => select(vec!["a", "b", "*", "A/2", "c"]).prop_map(Line::Agent),
        2 => select(vec!["disallow: /x", "allow: /", "disallow:"]).prop_map(Line::Rule),
        3 => select(delays.to_vec()).prop_map(|(value, millis)| Line::Delay(value, millis)),
        2 => select(others.to_vec()).prop_map(Line::Other),
    ];
    vec(line, 0..20)
}

fn text_of(lines: &[Line], end: &str) -> String {
    lines.iter().map(|line| line.text() + end).collect()
}

/// The delay for an agent with these names, in plain loops.
fn slow_delay(lines: &[Line], names: &[&str]) -> Option<Duration> {
    let token = |name: &str| name.split('/').next().unwrap().to_ascii_lowercase();
    let is_named = |name: &&&str| {
        lines
            .iter()
            .any(|line| matches!(line, Line::Agent(other) if token(other) == **name))
    };
    let key = *names.iter().find(is_named).unwrap_or(&"*");
    let (mut run, mut is_open, mut longest) = (Vec::new(), false, None);
    for line in lines {
        match line {
            Line::Agent(name) => {
                if !is_open {
                    run.clear();
                }
                is_open = true;
                run.push(token(name));
            }
            Line::Rule(_) => is_open = false,
            Line::Delay(_, millis) => {
                is_open = false;
                if run.iter().any(|name| name == key) {
                    longest = longest.max(millis.map(Duration::from_millis));
                }
            }
            Line::Other(_) => {}
        }
    }
    longest
}

const CHAINS: &[(&str, &[&str])] = &[
    ("a", &["a"]),
    ("b:a", &["b", "a"]),
    ("d", &["d"]),
    ("d:c", &["d", "c"]),
    ("*", &[]),
];

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn random_files_give_the_same_from_text_and_snapshot(
        lines in lines(),
        end in select(vec!["\n", "\r\n", "\r", "\n\n"]),
    ) {
        let text = text_of(&lines, end);
        let snapshot = snapshot(text.as_bytes(), Profile::Google);
        let origin = Origin::of(ORIGIN.as_bytes()).unwrap();
        let stored = snapshot.robots_text(&snapshot.origin(&origin).unwrap().unwrap()).unwrap().unwrap_or_default();
        for (chain, names) in CHAINS {
            let agent: Agent = chain.parse().unwrap();
            let found = by_robots(text.as_bytes(), Profile::Google, &agent, AgentMatch::Extended);
            prop_assert_eq!(found.crawl_delay, slow_delay(&lines, names));
            prop_assert_eq!(&found, &by_snapshot(&snapshot, ORIGIN, &agent, AgentMatch::Extended));
        }
        let numbers = |text: &[u8]| -> Vec<u32> {
            RobotsRef::parse(text, Profile::Google).sitemaps().map(|field| field.line()).collect()
        };
        prop_assert_eq!(numbers(text.as_bytes()), numbers(&stored));
    }

    #[test]
    fn delays_and_sitemaps_change_no_verdict(lines in lines()) {
        let rules: Vec<Line> =
            lines.iter().filter(|line| matches!(line, Line::Agent(_) | Line::Rule(_))).cloned().collect();
        let (with, without) = (text_of(&lines, "\n"), text_of(&rules, "\n"));
        let [with, without] = [&with, &without].map(|text| RobotsRef::parse(text.as_bytes(), Profile::Google));
        for (chain, _) in CHAINS {
            let agent = chain.parse().unwrap();
            prop_assert_eq!(with.allows(&agent, "/x"), without.allows(&agent, "/x"));
        }
    }
}

const SITES: &str = r#"
{"url": "https://a.example/robots.txt", "status": 200, "body": "user-agent: *\ncrawl-delay: 2\nsitemap: /a.xml\n"}
{"url": "https://moved.example/robots.txt", "status": 301, "headers": {"Location": "https://a.example/robots.txt"}}
{"url": "https://gone.example/robots.txt", "status": 404, "body": "user-agent: *\ncrawl-delay: 3\nsitemap: /b.xml\n"}
{"url": "https://fails.example/robots.txt", "status": 200, "fetched_at": "2026-01-01T00:00:00Z", "body": "user-agent: *\ncrawl-delay: 4\nsitemap: /c.xml\n"}
{"url": "https://fails.example/robots.txt", "status": 503, "fetched_at": "2026-01-02T00:00:00Z"}
{"url": "https://changed.example/robots.txt", "status": 200, "fetched_at": "2026-01-01T00:00:00Z", "body": "user-agent: *\ncrawl-delay: 5\n"}
{"url": "https://changed.example/robots.txt", "status": 200, "fetched_at": "2026-01-02T00:00:00Z", "body": "sitemap: /d.xml\n"}
"#;

#[test]
fn the_text_is_that_of_the_rules() {
    let snapshot = snapshot_of_captures(SITES.as_bytes());
    let agent = "FooBot".parse().unwrap();
    for (origin, seconds, sitemaps) in [
        ("https://a.example", Some(2), &["/a.xml"][..]),
        ("https://moved.example", Some(2), &["/a.xml"]),
        ("https://gone.example", None, &[]),
        ("https://fails.example", Some(4), &["/c.xml"]),
        ("https://changed.example", None, &["/d.xml"]),
        ("http://a.example", None, &[]),
        ("https://other.example", None, &[]),
    ] {
        let crawl_delay = seconds.map(Duration::from_secs);
        let expected = Found {
            crawl_delay,
            sitemaps: sitemaps.iter().map(|&text| text.to_owned()).collect(),
        };
        let found = by_snapshot(&snapshot, origin, &agent, AgentMatch::Extended);
        assert_eq!(found, expected, "{origin}");
    }
}
