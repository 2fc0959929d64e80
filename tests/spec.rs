//! Runs the specification cases of `tests/cases` through every judge. `tests/cases/README.md`
//! describes them.

use crate::added_columns;
use crate::command::checkout;
use crate::snapshots::judge_for;
use crate::test_dir::TestDir;
use base64::Engine;
use robosieve::compile::Compiled;
use robosieve::job::{Input, Job, Output};
use robosieve::judge::{Rows, StatusPolicy, explain};
use robosieve::robots::reference;
use robosieve::{
    AgentMatch, Compiler, Judge, JudgeOptions, NamedValue, Origin, Profile, Robots, RobotsRef,
    Snapshot, Verdict,
};
use serde::Deserialize;
use std::collections::HashSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};

pub(crate) fn cases_dir() -> PathBuf {
    checkout().join("tests/cases")
}

fn toml_files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The cases of a directory, whose names must be unique.
pub(crate) fn load<T: for<'de> Deserialize<'de>>(dir: &Path) -> Vec<T> {
    #[derive(Deserialize)]
    struct Cases<T> {
        case: Vec<T>,
    }
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let mut names = HashSet::new();
    let parse = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let cases = toml::from_str::<Cases<T>>(&text)
            .unwrap_or_else(|err| panic!("{}: {err}", path.display()));
        for Named { name } in toml::from_str::<Cases<Named>>(&text).unwrap().case {
            assert!(
                names.insert(name.clone()),
                "a second case is called {name:?}"
            );
        }
        cases.case
    };
    toml_files(dir).iter().flat_map(parse).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesCase {
    pub name: String,
    pub clause: String,
    profile: Option<Profile>,
    robots: Option<String>,
    robots_base64: Option<String>,
    robots_repeat: Option<Vec<Repeat>>,
    pub agent: String,
    agent_match: Option<String>,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    disallow: Vec<String>,
    pub line: Option<u32>,
}

/// A text of a robots.txt that repeats.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeat {
    text: String,
    times: usize,
}

/// The robots.txt of a case: texts that repeat, a text, or bytes in base64.
pub(crate) fn robots_body(
    text: Option<&str>,
    base64: Option<&str>,
    repeat: Option<&[Repeat]>,
) -> Vec<u8> {
    match (repeat, text, base64) {
        (Some(parts), ..) => parts
            .iter()
            .map(|part| part.text.repeat(part.times))
            .collect::<String>()
            .into_bytes(),
        (None, Some(text), _) => text.as_bytes().to_vec(),
        (None, None, coded) => base64::engine::general_purpose::STANDARD
            .decode(coded.unwrap())
            .unwrap(),
    }
}

impl RulesCase {
    pub(crate) fn all() -> Vec<Self> {
        let cases: Vec<Self> = load(&cases_dir());
        assert!(
            cases
                .iter()
                .all(|case| !case.clause.is_empty() && case.urls().count() > 0)
        );
        cases
    }

    pub(crate) fn robots(&self) -> Vec<u8> {
        robots_body(
            self.robots.as_deref(),
            self.robots_base64.as_deref(),
            self.robots_repeat.as_deref(),
        )
    }

    pub(crate) fn profiles(&self) -> Vec<Profile> {
        self.profile
            .map_or(vec![Profile::Google, Profile::Rfc9309], |profile| {
                vec![profile]
            })
    }

    pub(crate) fn agent_match(&self) -> AgentMatch {
        match self.agent_match.as_deref() {
            None | Some("extended") => AgentMatch::Extended,
            Some("google") => AgentMatch::Google,
            Some(other) => panic!("{}: agent_match {other:?}", self.name),
        }
    }

    /// Every URL, and whether it is allowed.
    pub(crate) fn urls(&self) -> impl Iterator<Item = (&str, bool)> {
        let allow = self.allow.iter().map(|url| (url.as_str(), true));
        allow.chain(self.disallow.iter().map(|url| (url.as_str(), false)))
    }
}

/// Collects failures until the end of a test, so that it prints all of them.
#[derive(Default)]
pub(crate) struct Failures {
    checked: usize,
    failed: Vec<String>,
}

impl Failures {
    pub(crate) fn check<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: impl FnOnce() -> String,
        found: T,
        expected: T,
    ) {
        self.checked += 1;
        if found != expected {
            self.failed.push(format!(
                "{}: found {found:?}, expected {expected:?}",
                what()
            ));
        }
    }

    pub(crate) fn finish(self, name: &str) {
        println!(
            "{name}: {} of {} as expected",
            self.checked - self.failed.len(),
            self.checked
        );
        assert!(self.checked > 0, "{}", self.failed.join("\n"));
        assert!(self.failed.is_empty(), "{}", self.failed.join("\n"));
    }
}

#[test]
fn reference_passes_the_cases() {
    let mut failures = Failures::default();
    for case in RulesCase::all() {
        let (robots, agent) = (case.robots(), case.agent.parse().unwrap());
        for profile in case.profiles() {
            for (url, allowed) in case.urls() {
                let what = || format!("{} [{}] {profile:?} {url}", case.name, case.clause);
                let answer =
                    reference::judge(&robots, &agent, case.agent_match(), profile, url.as_bytes());
                failures.check(what, answer.allowed, allowed);
                if let Some(line) = case.line {
                    failures.check(what, answer.line, line);
                }
            }
        }
    }
    failures.finish("rules by the reference");
}

#[test]
fn explanation_passes_the_cases() {
    let mut failures = Failures::default();
    for case in RulesCase::all() {
        let (body, agent) = (case.robots(), case.agent.parse().unwrap());
        for profile in case.profiles() {
            let robots = Robots::parse(&*body, profile);
            for (url, allowed) in case.urls() {
                let what = || format!("{} [{}] {profile:?} {url}", case.name, case.clause);
                let agent_match = case.agent_match();
                let why = explain(robots.parsed(), &agent, agent_match, url.as_bytes());
                failures.check(what, why.verdict == Verdict::Allowed, allowed);
                failures.check(
                    what,
                    robots.parsed().allows_with(&agent, agent_match, url),
                    allowed,
                );
                // So many rows are judged by the compiled rules.
                let rows = [url.as_bytes(); 12];
                let check = |_, found| failures.check(what, found, allowed);
                let rows = Rows::Slices(&rows);
                let judged = robots
                    .parsed()
                    .allows_rows(&agent, agent_match, rows, check);
                judged.unwrap();
                if let Some(line) = case.line {
                    failures.check(what, why.deciding.map_or(0, |rule| rule.line), line);
                }
            }
        }
    }
    failures.finish("rules by the explanation");
}

fn compile(case: &RulesCase, profile: Profile) -> Compiled {
    let mut compiler = Compiler::new(profile);
    compiler
        .add_robots("http://example.com", &case.robots())
        .unwrap();
    compiler.finish().unwrap()
}

fn judge_all(case: &RulesCase, snapshot: &Snapshot, failures: &mut Failures) {
    let profile = snapshot.profile().unwrap();
    let options = JudgeOptions::default().agent_match(case.agent_match());
    let judge = Judge::new(snapshot, &[case.agent.parse().unwrap()], options).unwrap();
    for (url, allowed) in case.urls() {
        let what = || format!("{} [{}] {profile:?} {url}", case.name, case.clause);
        let verdict = judge.judge(url.as_bytes()).unwrap().get(0);
        failures.check(
            what,
            verdict,
            if allowed {
                Verdict::Allowed
            } else {
                Verdict::Disallowed
            },
        );
        // `explain` fails if the stored text gives another verdict.
        let why = judge.explain(url.as_bytes(), 0).unwrap();
        failures.check(what, why.verdict, verdict);
        if let (Some(line), Some(rules)) = (case.line, why.rules) {
            failures.check(what, rules.deciding.map_or(0, |rule| rule.line), line);
        }
    }
}

#[test]
fn snapshot_in_memory_passes_the_cases() {
    let mut failures = Failures::default();
    for case in RulesCase::all() {
        for profile in case.profiles() {
            let snapshot = Snapshot::new(compile(&case, profile).to_vec().unwrap()).unwrap();
            snapshot.verify().unwrap();
            judge_all(&case, &snapshot, &mut failures);
        }
    }
    failures.finish("rules by a snapshot in memory");
}

#[test]
fn reopened_snapshot_passes_the_cases() {
    let dir = TestDir::new();
    let path = dir.path("case.rsieve");
    let mut failures = Failures::default();
    for case in RulesCase::all() {
        for profile in case.profiles() {
            compile(&case, profile).write_to(&path).unwrap();
            judge_all(&case, &Snapshot::open(&path).unwrap(), &mut failures);
        }
    }
    failures.finish("rules by a snapshot written and reopened");
}

#[test]
fn pipeline_passes_the_cases() {
    let mut failures = Failures::default();
    for case in RulesCase::all() {
        for profile in case.profiles() {
            let snapshot = Snapshot::new(compile(&case, profile).to_vec().unwrap()).unwrap();
            let options = JudgeOptions::default().agent_match(case.agent_match());
            let judge =
                Judge::new(snapshot.clone(), &[case.agent.parse().unwrap()], options).unwrap();
            let list: String = case.urls().map(|(url, _)| format!("{url}\n")).collect();
            let expected: String = case
                .urls()
                .map(|(url, allowed)| format!("{}\t{url}\n", if allowed { 'A' } else { 'D' }))
                .collect();
            let what = || format!("{} [{}] {profile:?}", case.name, case.clause);
            failures.check(what, annotate(&judge, &list), expected);
        }
    }
    failures.finish("rules by the whole pipeline");
}

pub(crate) fn annotate(judge: &Judge, list: &str) -> String {
    let mut out = Vec::new();
    let input = Input::from_reader("list", Cursor::new(list.to_owned()));
    let written = Job::new(judge).annotate(vec![input], Output::from_writer(&mut out));
    written.unwrap().commit().unwrap();
    String::from_utf8(out).unwrap()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FetchCase {
    name: String,
    clause: String,
    captures: Vec<toml::Value>,
    agent: String,
    expect: Vec<Expectation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    pub url: String,
    google: Option<char>,
    #[serde(rename = "google-2012")]
    google_2012: Option<char>,
    #[serde(rename = "google-2019")]
    google_2019: Option<char>,
    #[serde(rename = "google-2026")]
    google_2026: Option<char>,
    rfc9309: Option<char>,
    strict: Option<char>,
    scheme_any: Option<char>,
}

impl Expectation {
    /// The letter under a status policy, if the case has one. `has_429`: a capture of the case is a
    /// 429, the only answer that the editions of 2019 and 2023 read differently.
    pub(crate) fn letter(&self, policy: StatusPolicy, has_429: bool) -> Option<char> {
        match policy.name() {
            "google" | "google-2023" => self.google,
            "google-2012" => self.google_2012,
            "google-2019" if has_429 => self.google_2019,
            "google-2019" => self.google_2019.or(self.google),
            "google-2026" => self.google_2026,
            "rfc9309" => self.rfc9309,
            "strict" => self.strict,
            name => panic!("no case has letters of {name}"),
        }
    }
}

/// Whether one of these captures is a 429.
pub(crate) fn has_429(captures: &[toml::Value]) -> bool {
    captures.iter().any(|capture| {
        let status = capture.get("status").and_then(toml::Value::as_integer);
        status == Some(429)
    })
}

impl FetchCase {
    /// The captures as a JSONL archive, in the given order.
    fn archive(&self, reversed: bool) -> String {
        let mut lines: Vec<String> = self
            .captures
            .iter()
            .map(|capture| serde_json::to_string(capture).unwrap() + "\n")
            .collect();
        if reversed {
            lines.reverse();
        }
        lines.concat()
    }
}

#[test]
fn fetch_cases_pass_under_every_policy() {
    let dir = TestDir::new();
    let archive = dir.path("captures.jsonl");
    let mut failures = Failures::default();
    for case in load::<FetchCase>(&cases_dir().join("fetch")) {
        let snapshots: Vec<Vec<u8>> = [false, true]
            .into_iter()
            .map(|reversed| {
                std::fs::write(&archive, case.archive(reversed)).unwrap();
                let mut compiler = Compiler::default();
                compiler.add_path(&archive).unwrap();
                compiler.finish().unwrap().to_vec().unwrap()
            })
            .collect();
        failures.check(
            || format!("{}: inputs reversed", case.name),
            snapshots[0] == snapshots[1],
            true,
        );
        let snapshot = Snapshot::new(snapshots[0].clone()).unwrap();
        snapshot.verify().unwrap();
        let has_429 = has_429(&case.captures);
        let policies = StatusPolicy::NAMES.iter().map(|(policy, name)| {
            let options = JudgeOptions::default().status_policy(*policy);
            (*name, *policy, options)
        });
        let any_scheme = JudgeOptions::default()
            .status_policy(StatusPolicy::Google)
            .any_scheme(true);
        for (name, policy, options) in
            policies.chain([("scheme_any", StatusPolicy::Google, any_scheme)])
        {
            let judge =
                Judge::new(snapshot.clone(), &[case.agent.parse().unwrap()], options).unwrap();
            for expected in &case.expect {
                let letter = match name {
                    "scheme_any" => expected.scheme_any,
                    _ => expected.letter(policy, has_429),
                };
                let Some(letter) = letter else { continue };
                let what = || format!("{} [{}] {name} {}", case.name, case.clause, expected.url);
                let found = annotate(&judge, &expected.url).chars().next();
                failures.check(what, found, Some(letter));
                let why = judge.explain(expected.url.as_bytes(), 0).unwrap();
                failures.check(what, why.verdict.letter(), letter);
                let line = &added_columns::added(&judge, expected.url.as_bytes())[0];
                let reason = line["robots_reason"].as_str();
                failures.check(what, reason, Some(why.reason.name()));
            }
        }
    }
    failures.finish("fetch outcomes");
}

/// Whether `path` is the path of `url`: a robots.txt that disallows only this path disallows the
/// URL.
fn refuses_exactly(profile: Profile, origin: &str, path: &str, url: &str) -> bool {
    let mut compiler = Compiler::new(profile);
    compiler
        .add_robots(
            origin,
            format!("user-agent: *\ndisallow: {path}$").as_bytes(),
        )
        .unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let judge = judge_for(&snapshot, "FooBot");
    let robots = format!("user-agent: *\ndisallow: {path}$");
    let robots = RobotsRef::parse(robots.as_bytes(), profile);
    let explained = explain(
        &robots,
        &"FooBot".parse().unwrap(),
        AgentMatch::Extended,
        url.trim().as_bytes(),
    );
    let judged = judge.judge(url.as_bytes()).unwrap().get(0);
    judged == Verdict::Disallowed && explained.verdict == judged
}

#[test]
fn origins_and_paths_are_as_listed() {
    let text = std::fs::read_to_string(cases_dir().join("origins.tsv")).unwrap();
    let mut failures = Failures::default();
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let fields: Vec<&str> = line.split('\t').collect();
        let ([url, origin, path, ..], rfc_path) = (&fields[..], fields.get(3)) else {
            panic!("{line:?}")
        };
        let found = Origin::of(url.as_bytes()).map_or("-".to_owned(), |origin| origin.to_string());
        let again =
            Origin::of(found.as_bytes()).map_or("-".to_owned(), |origin| origin.to_string());
        failures.check(|| format!("{url:?}"), &*found, origin);
        failures.check(|| format!("origin of {found:?}"), &*again, origin);
        for (profile, path) in [
            (Profile::Google, path),
            (Profile::Rfc9309, rfc_path.unwrap_or(path)),
        ] {
            // RFC 9309 §2.2.2: no rule disallows /robots.txt.
            if *origin != "-" && (profile == Profile::Google || *path != "/robots.txt") {
                let refused = refuses_exactly(profile, origin, path, url);
                failures.check(
                    || format!("path of {url:?}: {path:?} {profile:?}"),
                    refused,
                    true,
                );
            }
        }
    }
    failures.finish("origins and paths");
}

/// The examples of `tests/cases/README.md` are cases of the suite.
#[test]
fn readme_examples_are_cases() {
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let directories =
        ["", "fetch", "preferences", "responses", "extensions"].map(|name| cases_dir().join(name));
    let cases: String = directories
        .iter()
        .flat_map(|dir| toml_files(dir))
        .map(read)
        .collect();
    let readme = read(cases_dir().join("README.md"));
    let examples = readme
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap());
    let examples: Vec<&str> = examples
        .filter(|example| example.starts_with("[[case]]"))
        .collect();
    assert_eq!(examples.len(), 5);
    for example in examples {
        assert!(
            cases.contains(example),
            "no case of tests/cases is:\n{example}"
        );
    }
}
