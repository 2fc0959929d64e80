//! Preferences about use: the cases of `tests/cases/preferences`, random files, and hostile files.

use crate::generate::{AGENTS, agent_value, concat, config};
use crate::snapshots::{judge_for, snapshot_of_captures, snapshot_of_robots};
use crate::spec::{Failures, Repeat, cases_dir, load, robots_body};
use crate::test_dir::TestDir;
use crate::waiting::bounded;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::compile::Compiled;
use robosieve::job::{Form, Input, Job, Output};
use robosieve::judge::{PreferenceJudge, StatusPolicy, UnknownOrigin};
use robosieve::preferences::{
    Preference, Preferences, explain_preferences, reference as preferences_reference,
};
use robosieve::records::{InputFormat, RecordOptions};
use robosieve::robots::reference as robots_reference;
use robosieve::{Agent, AgentMatch, Compiler, Judge, JudgeOptions, Profile, RobotsRef, Snapshot};
use serde::Deserialize;
use serde_json::Value;
use std::io::Cursor;

const ORIGIN: &str = "http://example.com";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    clause: String,
    profile: Option<Profile>,
    robots: Option<String>,
    robots_repeat: Option<Vec<Repeat>>,
    agent: String,
    agent_match: Option<String>,
    expect: Vec<Expectation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    url: String,
    #[serde(default = "nothing")]
    usage: String,
    #[serde(default)]
    signals: String,
}

fn nothing() -> String {
    "--".to_owned()
}

/// Preferences as a case writes them.
fn shown(found: &Preferences) -> (String, String) {
    (
        [found.train_ai.letter(), found.search.letter()]
            .iter()
            .collect(),
        found.signals.to_string(),
    )
}

impl Case {
    fn robots(&self) -> Vec<u8> {
        robots_body(self.robots.as_deref(), None, self.robots_repeat.as_deref())
    }

    fn agent_match(&self) -> AgentMatch {
        match self.agent_match.as_deref() {
            None => AgentMatch::Extended,
            Some("google") => AgentMatch::Google,
            Some(other) => panic!("{}: agent_match {other:?}", self.name),
        }
    }

    fn compiled(&self, profile: Profile) -> Compiled {
        let mut compiler = Compiler::new(profile);
        compiler.add_robots(ORIGIN, &self.robots()).unwrap();
        compiler.finish().unwrap()
    }
}

/// What is left of the preferences that the robots.txt states if the agent may not fetch the URL.
/// The reference judge decides.
fn applied(
    stated: Preferences,
    robots: &[u8],
    agent: &Agent,
    how: AgentMatch,
    profile: Profile,
    url: &str,
) -> Preferences {
    match robots_reference::judge(robots, agent, how, profile, url.as_bytes()).allowed {
        true => stated,
        false => stated.of_refused_url(),
    }
}

/// Runs every case through one function, for every URL and profile.
fn every_case(name: &str, mut ask: impl FnMut(&Case, Profile, &str) -> (String, String)) {
    let mut failures = Failures::default();
    for case in load::<Case>(&cases_dir().join("preferences")) {
        assert!(!case.clause.is_empty(), "{}", case.name);
        assert!(!case.expect.is_empty(), "{}", case.name);
        for profile in case
            .profile
            .map_or(vec![Profile::Google, Profile::Rfc9309], |profile| {
                vec![profile]
            })
        {
            for Expectation {
                url,
                usage,
                signals,
            } in &case.expect
            {
                let what = || format!("{} [{}] {profile:?} {url}", case.name, case.clause);
                failures.check(
                    what,
                    ask(&case, profile, url),
                    (usage.clone(), signals.clone()),
                );
            }
        }
    }
    failures.finish(name);
}

#[test]
fn reference_passes_the_cases() {
    every_case("preferences by the reference", |case, profile, url| {
        let (robots, agent, how) = (
            case.robots(),
            case.agent.parse().unwrap(),
            case.agent_match(),
        );
        let stated =
            preferences_reference::preferences(&robots, &agent, how, profile, url.as_bytes());
        shown(&applied(stated, &robots, &agent, how, profile, url))
    });
}

#[test]
fn explanation_passes_the_cases() {
    every_case("preferences by the text", |case, profile, url| {
        let (robots, agent, how) = (
            case.robots(),
            case.agent.parse().unwrap(),
            case.agent_match(),
        );
        let stated = explain_preferences(
            &RobotsRef::parse(&robots, profile),
            &agent,
            how,
            url.as_bytes(),
        );
        shown(&applied(
            stated.preferences,
            &robots,
            &agent,
            how,
            profile,
            url,
        ))
    });
}

/// The preferences of one URL by a snapshot, in bulk and as an explanation.
fn by_snapshot(case: &Case, snapshot: &Snapshot, url: &str) -> (String, String) {
    let options = JudgeOptions::default().agent_match(case.agent_match());
    let judge = Judge::new(snapshot, &[case.agent.parse().unwrap()], options).unwrap();
    let preferences = PreferenceJudge::new(&judge);
    let found = preferences.of(url.as_bytes()).unwrap().to_vec();
    let actual = preferences.of(url.as_bytes()).unwrap();
    assert_eq!(actual, found, "{}: second lookup", case.name);
    let explained = judge.explain(url.as_bytes(), 0).unwrap().preferences;
    assert_eq!([explained.preferences], *found, "{}: explained", case.name);
    shown(&found[0])
}

#[test]
fn snapshot_in_memory_passes_the_cases() {
    every_case(
        "preferences by a snapshot in memory",
        |case, profile, url| {
            by_snapshot(
                case,
                &Snapshot::new(case.compiled(profile).to_vec().unwrap()).unwrap(),
                url,
            )
        },
    );
}

#[test]
fn reopened_snapshot_passes_the_cases() {
    let dir = TestDir::new();
    let path = dir.path("case.rsieve");
    every_case(
        "preferences by a snapshot written and reopened",
        |case, profile, url| {
            case.compiled(profile).write_to(&path).unwrap();
            by_snapshot(case, &Snapshot::open(&path).unwrap(), url)
        },
    );
}

fn annotated(judge: &Judge, form: Form, records: RecordOptions, list: &str) -> String {
    let mut out = Vec::new();
    let input = Input::from_reader("list", Cursor::new(list.to_owned()));
    let job = Job::new(judge)
        .form(form)
        .records(records)
        .preferences(true);
    let written = job.annotate(vec![input], Output::from_writer(&mut out));
    written.unwrap().commit().unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn pipeline_passes_the_cases() {
    every_case("preferences by the whole pipeline", |case, profile, url| {
        let snapshot = Snapshot::new(case.compiled(profile).to_vec().unwrap()).unwrap();
        let options = JudgeOptions::default().agent_match(case.agent_match());
        let judge = Judge::new(snapshot.clone(), &[case.agent.parse().unwrap()], options).unwrap();
        let line = annotated(
            &judge,
            Form::Letters,
            RecordOptions::default(),
            &format!("{url}\n"),
        );
        let fields: Vec<&str> = line.trim_end().split('\t').collect();
        let [_, usage, signals, "-", rest] = fields[..] else {
            panic!("{line:?}")
        };
        assert_eq!(rest, url);
        (
            usage.to_owned(),
            if signals == "-" {
                String::new()
            } else {
                signals.to_owned()
            },
        )
    });
}

/// Compiles captures in JSONL.
fn snapshot_of(captures: &str) -> Snapshot {
    snapshot_of_captures(captures.as_bytes())
}

const SITES: &str = r#"
{"url": "https://a.example/robots.txt", "status": 200, "body": "user-agent: a\ncontent-usage: train-ai=n\ncontent-usage: /o search=y\ndisallow: /x\nuser-agent: *\ncontent-signal: ai-train=no,search=yes\n"}
{"url": "https://plain.example/robots.txt", "status": 200, "body": "user-agent: *\ndisallow: /x\n"}
{"url": "https://moved.example/robots.txt", "status": 301, "headers": {"Location": "https://a.example/robots.txt"}}
{"url": "https://gone.example/robots.txt", "status": 404, "body": "user-agent: *\ncontent-usage: train-ai=n\n"}
{"url": "https://fails.example/robots.txt", "status": 200, "fetched_at": "2026-01-01T00:00:00Z", "body": "user-agent: *\ncontent-usage: train-ai=n\n"}
{"url": "https://fails.example/robots.txt", "status": 503, "fetched_at": "2026-01-02T00:00:00Z"}
"#;

fn judge_of(snapshot: &Snapshot, options: JudgeOptions) -> Judge {
    Judge::new(
        snapshot,
        &["a".parse().unwrap(), "b".parse().unwrap()],
        options,
    )
    .unwrap()
}

#[test]
fn letters_gain_three_columns() {
    let snapshot = snapshot_of(SITES);
    let judge = judge_of(&snapshot, JudgeOptions::default());
    let list = "https://a.example/o\nhttps://plain.example/x\nhttps://a.example/x \r\n\nno URL\thttps://other.example/\nhttps://other.example/\nhttps://gone.example/\nhttps://moved.example/o";
    let expected = "AA\t-y;--\t-;search=yes,ai-train=no\t-\thttps://a.example/o\n\
        DD\t--;--\t-;-\t-\thttps://plain.example/x\n\
        DA\t--;--\t-;search=yes,ai-train=no\t-\thttps://a.example/x \r\n\
        II\t--;--\t-;-\t-\t\n\
        II\t--;--\t-;-\t-\tno URL\thttps://other.example/\n\
        UU\t--;--\t-;-\t-\thttps://other.example/\n\
        AA\t--;--\t-;-\t-\thttps://gone.example/\n\
        AA\t-y;--\t-;search=yes,ai-train=no\t-\thttps://moved.example/o";
    // Without an explicit format the tab makes this a list of columns.
    let text = RecordOptions::default().format(InputFormat::Text);
    assert_eq!(annotated(&judge, Form::Letters, text, list), expected);
}

#[test]
fn json_has_one_object_per_agent() {
    let snapshot = snapshot_of(SITES);
    let judge = judge_of(&snapshot, JudgeOptions::default());
    let urls = [
        "https://a.example/x",
        "https://plain.example/",
        "https://plain.example/x",
        "https://other.example/",
    ];
    let list: String = urls
        .iter()
        .map(|url| format!("{{\"url\": \"{url}\"}}\n"))
        .collect();
    let found = annotated(&judge, Form::Jsonl, RecordOptions::default(), &list);
    let lines: Vec<serde_json::Value> = found
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let none =
        serde_json::json!({"train-ai": "unknown", "search": "unknown", "content-signal": {}});
    let expected = serde_json::json!({
        "url": "https://a.example/x", "robots": {"a": "disallowed", "b": "allowed"},
        "robots_preferences": {
            "a": {"train-ai": null, "search": null, "content-signal": {}},
            "b": {"train-ai": "unknown", "search": "unknown", "content-signal": {"search": "yes", "ai-train": "no"}},
        },
        "robots_license": [],
    });
    assert_eq!(lines[0], expected);
    let refused = serde_json::json!({"train-ai": null, "search": null, "content-signal": {}});
    for (line, expected) in lines[1..].iter().zip([&none, &refused, &none]) {
        let wanted = serde_json::json!({"a": expected, "b": expected});
        assert_eq!(line["robots_preferences"], wanted);
    }
}

#[test]
fn csv_headers_gain_three_columns() {
    let snapshot = snapshot_of(SITES);
    let judge = judge_of(&snapshot, JudgeOptions::default());
    let list = "id,url\n1,https://a.example/o\n2,\"https://a.example/p\"\n3,\n";
    let csv = RecordOptions::default().format(InputFormat::Csv);
    let expected = "a,b\tcontent-usage\tcontent-signal\tlicense\tid,url\n\
        AA\t-y;--\t-;search=yes,ai-train=no\t-\t1,https://a.example/o\n\
        AA\tn-;--\t-;search=yes,ai-train=no\t-\t2,\"https://a.example/p\"\n\
        II\t--;--\t-;-\t-\t3,\n";
    assert_eq!(annotated(&judge, Form::Letters, csv, list), expected);
}

#[test]
fn licenses_are_a_column_and_a_key() {
    let snapshot = snapshot_of(concat!(
        r#"{"url": "https://l.example/robots.txt", "status": 200, "body": ""#,
        r#"License: https://l.example/l.xml\nuser-agent: a\ndisallow: /x\nlicense: /relative\n"#,
        r#"license: https://m.example/?\\"}"#,
        "\n",
        r#"{"url": "https://moved.example/robots.txt", "status": 301, "headers": {"Location": "https://l.example/robots.txt"}}"#,
        "\n",
        r#"{"url": "https://gone.example/robots.txt", "status": 404, "body": "license: https://l.example/l.xml"}"#,
    ));
    let judge = judge_of(&snapshot, JudgeOptions::default());
    let list = "https://l.example/x\nhttps://moved.example/\nhttps://gone.example/\nhttps://u.example/\n-\n";
    let text = RecordOptions::default().format(InputFormat::Text);
    let licenses = "https://l.example/l.xml https://m.example/?\\";
    assert_eq!(
        annotated(&judge, Form::Letters, text.clone(), list),
        format!(
            "DA\t--;--\t-;-\t{licenses}\thttps://l.example/x\n\
             AA\t--;--\t-;-\t{licenses}\thttps://moved.example/\n\
             AA\t--;--\t-;-\t-\thttps://gone.example/\n\
             UU\t--;--\t-;-\t-\thttps://u.example/\n\
             II\t--;--\t-;-\t-\t-\n"
        )
    );
    let lines = annotated(&judge, Form::Jsonl, text, list);
    let found: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["robots_license"].take())
        .collect();
    let both = serde_json::json!(["https://l.example/l.xml", "https://m.example/?\\"]);
    let none = serde_json::json!([]);
    assert_eq!(found, [&both, &both, &none, &none, &none].map(Value::clone));
    let explained = judge
        .explain(b"https://l.example/x", 0)
        .unwrap()
        .preferences;
    let lines: Vec<u32> = explained
        .license_lines
        .iter()
        .map(|line| line.line)
        .collect();
    assert_eq!(lines, [1, 4, 5]);
    let expected = ["https://l.example/l.xml", "https://m.example/?\\"];
    assert_eq!(explained.licenses, expected);
}

#[test]
fn preferences_follow_the_status_policy() {
    let snapshot = snapshot_of(SITES);
    let train_ai = |options, url: &str| {
        let judge = judge_of(&snapshot, options);
        let preferences = PreferenceJudge::new(&judge);
        let found = preferences.of(url.as_bytes()).unwrap()[0];
        assert_eq!(
            judge
                .explain(url.as_bytes(), 0)
                .unwrap()
                .preferences
                .preferences,
            found,
            "{url}"
        );
        found.train_ai
    };
    let plain = JudgeOptions::default();
    assert_eq!(train_ai(plain, "https://moved.example/"), Preference::No);
    let found = train_ai(plain, "https://gone.example/");
    assert_eq!(found, Preference::Unknown);
    let found = train_ai(plain, "https://fails.example/");
    assert_eq!(found, Preference::NotApplicable, "refused, by no rule");
    let late = plain.at(1_800_000_000);
    let found = train_ai(late, "https://fails.example/");
    assert_eq!(found, Preference::No, "the last good copy");
    let rfc = late.status_policy(StatusPolicy::Rfc9309);
    let found = train_ai(rfc, "https://fails.example/");
    assert_eq!(found, Preference::Unknown, "allowed, by no rule");
    assert_eq!(train_ai(plain, "http://a.example/"), Preference::Unknown);
    let found = train_ai(plain.any_scheme(true), "http://a.example/");
    assert_eq!(found, Preference::No);
    let found = train_ai(plain.unknown(UnknownOrigin::Allow), "http://b.example/");
    assert_eq!(found, Preference::Unknown);
}

#[test]
fn judges_do_not_share_caches() {
    let snapshot = snapshot_of(SITES);
    let judges = [&["a"], &["b"]].map(|[name]| judge_for(&snapshot, name));
    let preferences = judges.each_ref().map(PreferenceJudge::new);
    for _ in 0..2 {
        for (of, expected) in preferences.iter().zip(["", "search=yes,ai-train=no"]) {
            let found = of.of(b"https://a.example/").unwrap();
            let actual = found
                .iter()
                .map(|preferences| preferences.signals.to_string())
                .collect::<Vec<_>>();
            assert_eq!(actual, [expected]);
        }
    }
}

#[test]
fn masks_and_parquet_refuse_preferences() {
    let dir = TestDir::new();
    let mut compiler = Compiler::default();
    compiler.add_reader("captures", SITES.as_bytes()).unwrap();
    compiler.finish().unwrap().write_to(dir.path("s")).unwrap();
    dir.write("t.parquet", b"PAR1....PAR1");
    dir.write("urls", "https://a.example/\n");
    let run = |more: &[&str]| {
        dir.run(
            &[
                &["annotate", "-q", "-s", "s", "-a", "a", "--preferences"],
                more,
            ]
            .concat(),
        )
    };
    for (more, expected) in [
        (
            ["--as", "mask", "urls"].as_slice(),
            "the form mask cannot hold preferences; use letters or jsonl",
        ),
        (
            ["-o", "out.parquet", "t.parquet"].as_slice(),
            "preferences are for lists and WARC files; a Parquet file takes verdicts only",
        ),
    ] {
        let ran = run(more);
        assert_eq!(ran.code, Some(2), "{more:?}");
        assert_eq!(ran.stdout.as_slice(), b"".as_slice(), "{more:?}");
        assert!(ran.stderr.contains(expected), "{more:?}: {}", ran.stderr);
    }
    assert_eq!(run(&["urls"]).stdout, b"A\tn-\t-\t-\thttps://a.example/\n");
}

#[test]
fn check_prints_preferences_and_their_lines() {
    let dir = TestDir::new();
    let robots = "content-signal: search=yes\nuser-agent: *\ncontent-usage: train-ai=n\ncontent-usage: /a search=y, train-ai=n\n";
    dir.write("r.txt", robots);
    let run =
        |more: &[&str]| dir.run(&[&["check", "--robots", "r.txt", "-a", "FooBot"], more].concat());
    let headline =
        "allowed\tFooBot\t/a\tcontent-usage: train-ai=n,search=y\tcontent-signal: search=yes\n";
    assert_eq!(String::from_utf8(run(&["/a"]).stdout).unwrap(), headline);
    let explained = String::from_utf8(run(&["--explain", "/a"]).stdout).unwrap();
    assert!(explained.starts_with(headline), "{explained}");
    let expected = "\
          usage       train-ai n, search y\n              line 4: content-usage: /a search=y, train-ai=n\n  \
        signal      search=yes\n              line 1: content-signal: search=yes\n";
    assert!(explained.ends_with(expected), "{explained}");
    // Of a URL that may not be fetched, only the signals are left.
    dir.write("r.txt", robots.to_owned() + "disallow: /a\n");
    let refused = "disallowed\tFooBot\t/a\tcontent-signal: search=yes\n";
    let explained = String::from_utf8(run(&["--explain", "/a"]).stdout).unwrap();
    assert!(explained.starts_with(refused), "{explained}");
    assert!(
        explained.contains("\n  usage       does not apply: the agent may not fetch the URL\n"),
        "{explained}"
    );
    let json: serde_json::Value = serde_json::from_slice(&run(&["--json", "/a"]).stdout).unwrap();
    assert_eq!(json["preferences"]["train-ai"], Value::Null);
    assert_eq!(json["preferences"]["search"], Value::Null);
    dir.write("r.txt", "user-agent: *\ndisallow: /x");
    assert_eq!(run(&["/a"]).stdout, b"allowed\tFooBot\t/a\n");
}

/// More files with preferences than the cache of a thread holds, in an order that returns to them.
#[test]
fn evicted_preferences_are_reloaded() {
    let body = |n: usize| {
        format!(
            "user-agent: *\ncontent-usage: /{n} train-ai=n\n{}",
            format!("disallow: /{n}{}\n", "x".repeat(12_000)).repeat(30)
        )
    };
    let mut compiler = Compiler::default();
    for n in 0..40 {
        compiler
            .add_robots(&format!("https://h{n}.example"), body(n).as_bytes())
            .unwrap();
    }
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let judge = judge_of(&snapshot, JudgeOptions::default());
    // Each file twice at its own path and once at another.
    let path = |i: usize| {
        if i < 80 {
            (i % 40).to_string()
        } else {
            "other".to_owned()
        }
    };
    let list: String = (0..120)
        .map(|i| format!("https://h{}.example/{}\n", i % 40, path(i)))
        .collect();
    let found = annotated(&judge, Form::Letters, RecordOptions::default(), &list);
    assert_eq!(found.lines().count(), 120);
    for (i, line) in found.lines().enumerate() {
        let expected = if i < 80 { "n-;n-" } else { "--;--" };
        assert_eq!(line.split('\t').nth(1), Some(expected), "{i}: {line}");
    }
}

/// A line of a robots.txt with preferences: values that are almost valid, and agents that often
/// match.
fn preference_line() -> impl Strategy<Value = String> {
    let path = prop_oneof![
        3 => Just(String::new()),
        4 => (concat(&["/", "a", "b", "*", "$", "%41", "ä", "."], 0..5), select(vec![" ", "\t", "  ", ""]))
            .prop_map(|(path, blank)| format!("/{path}{blank}")),
    ];
    let member = select(vec![
        "train-ai=n",
        "train-ai=y",
        "search=n",
        "search=y",
        "train-ai=y;a=1",
        "train-ai",
        "search=?1",
        "other=n",
        "*",
        "train-ai=(y n)",
        "search=(\"a\";b);c",
        "a=\"x, train-ai=n\"",
        "b=:YQ==:",
        "b=:YQ:",
        "b=:Y:",
        "b=:YR:",
        "c=@12",
        "d=%\"%c3%a4\"",
        "d=%\"%C3\"",
        "e=-1.5",
        "e=1234567890123.1",
        "e=-",
        "n=",
        "=",
        "",
        "Search=n",
        "x=tok/en:!",
        "f=( )",
        "f=(1  2 )",
        "f=(1,2)",
        "a;b=?0",
        "search=y ;a",
        "\\",
    ]);
    let comma = select(vec![",", ", ", "\t, ", " ,"]);
    let usage = (
        path,
        vec((member, comma), 0..4),
        select(vec!["", "train-ai=n", "search=y", "train-ai=y "]),
    )
        .prop_map(|(path, members, last)| {
            let members: String = members
                .into_iter()
                .map(|(member, comma)| format!("{member}{comma}"))
                .collect();
            format!("{path}{members}{last}")
        });
    let member = select(vec![
        "search=yes",
        "search=no",
        "ai-input=no",
        "AI-Train=YES",
        "ai-train = no",
        "use=full",
        "use=immediate",
        "use=x",
        "x=no",
        "search",
        "=",
        "",
        "/a",
        "use=reference",
        "search=no=",
    ]);
    let signal = vec(member, 0..4).prop_map(|members| members.join(","));
    prop_oneof![
        4 => (select(vec!["content-usage:", "Content-Usage: ", "content-usage "]), usage).prop_map(|(key, value)| key.to_owned() + &value),
        3 => (select(vec!["content-signal:", "Content-Signal : "]), signal).prop_map(|(key, value)| key.to_owned() + &value),
        3 => agent_value().prop_map(|agent| format!("user-agent: {agent}")),
        2 => select(vec!["allow: /", "disallow: /a", "allow:", "sitemap: /s", "# c", "", "noise"]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn all_judges_agree_with_the_reference(
        lines in vec(preference_line(), 0..16),
        paths in vec(concat(&["/", "a", "b", "A", "ä", "%41", "?", ".", "#", "$", "*"], 0..6), 1..5),
    ) {
        let body = lines.join("\n");
        let agents: Vec<Agent> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
        for profile in [Profile::Google, Profile::Rfc9309] {
            let mut compiler = Compiler::new(profile);
            compiler.add_robots(ORIGIN, body.as_bytes()).unwrap();
            let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
            let parsed = RobotsRef::parse(body.as_bytes(), profile);
            for how in [AgentMatch::Extended, AgentMatch::Google] {
                let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default().agent_match(how)).unwrap();
                let bulk = PreferenceJudge::new(&judge);
                for path in &paths {
                    let url = format!("{ORIGIN}/{path}");
                    let fast = bulk.of(url.as_bytes()).unwrap();
                    for (agent, fast) in agents.iter().zip(fast) {
                        let slow = preferences_reference::preferences(body.as_bytes(), agent, how, profile, url.as_bytes());
                        let left = applied(slow, body.as_bytes(), agent, how, profile, &url);
                        prop_assert_eq!(fast, left, "in bulk: {} {:?} {}\n{}", agent, profile, url, body);
                        let text = explain_preferences(&parsed, agent, how, url.as_bytes()).preferences;
                        prop_assert_eq!(text, slow, "by the text: {} {:?} {}\n{}", agent, profile, url, body);
                    }
                }
            }
        }
    }
}

/// Any bytes of a dictionary, most of them with a meaning there.
fn dictionary_bytes() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop_oneof![6 => select(b"abnytrse-_.*=;,:?@%\"\\()01239 \t+/AZ~!".to_vec()), 1 => any::<u8>()];
    vec(odd, 0..24)
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn dictionary_parsers_agree(
        start in select(vec!["", "a=", "a=:", "a=\"", "a=%\"", "a=(", "a=1", "a=@1", "a;b="]), middle in dictionary_bytes(),
    ) {
        // The last member counts only if the whole dictionary is well-formed.
        let middle: Vec<u8> = middle.into_iter().filter(|b| !b"\r\n\0#".contains(b)).collect();
        let body = [b"user-agent: *\ncontent-usage: ", start.as_bytes(), &middle, b", train-ai=n"].concat();
        let agent: Agent = "a".parse().unwrap();
        let parsed = RobotsRef::parse(&body, Profile::Google);
        let fast = explain_preferences(&parsed, &agent, AgentMatch::Extended, b"/").preferences;
        let slow = preferences_reference::preferences(&body, &agent, AgentMatch::Extended, Profile::Google, b"/");
        prop_assert_eq!(fast, slow, "{}", String::from_utf8_lossy(&body));
    }
}

/// Files with the highest cost per byte: `site-preferences` of `scripts/x bombs` measures them.
/// Here, costs that grow as a product of two sizes reach the bound of a wait.
#[test]
fn hostile_files_end() {
    let long_path = format!("{ORIGIN}/{}", "ab".repeat(1000));
    let files = [
        (
            "a million lines for one path",
            format!(
                "user-agent: *\n{}",
                "content-usage: train-ai=n\n".repeat(1_000_000)
            ),
        ),
        (
            "different paths",
            (0..40_000).fold("user-agent: *\n".to_owned(), |text, n| {
                text + &format!("content-usage:/{n} train-ai=n\n")
            }),
        ),
        (
            "wildcards",
            (0..40_000).fold("user-agent: *\n".to_owned(), |text, n| {
                text + &format!("content-usage:/*a*b*{n}\n")
            }),
        ),
        (
            "stars",
            format!("user-agent: *\ncontent-usage: /{}b\n", "*a".repeat(8000)).repeat(30),
        ),
        (
            "members",
            format!(
                "user-agent: *\ncontent-usage: {}train-ai=n\n",
                "train-ai=y,".repeat(1400)
            )
            .repeat(30),
        ),
        (
            "parameters",
            format!(
                "user-agent: *\ncontent-usage: train-ai=n{}\n",
                ";a=\"x\"".repeat(2500)
            )
            .repeat(30),
        ),
        (
            "signals",
            format!(
                "user-agent: *\ncontent-signal: {}\n",
                "search=no,".repeat(1600)
            )
            .repeat(30),
        ),
        (
            "groups that overlap",
            (0..6_000).fold(String::new(), |text, n| {
                text + &format!(
                    "user-agent:a{}\nuser-agent:*\ncontent-usage:/{n} train-ai=n\nallow:\n",
                    "b".repeat(n % 200)
                )
            }),
        ),
    ];
    let agents: Vec<Agent> = (0..200)
        .map(|n| format!("a{}", "b".repeat(n)).parse().unwrap())
        .collect();
    let judged = bounded(move |step| {
        for (what, body) in files {
            step(what.to_owned());
            let snapshot = snapshot_of_robots(ORIGIN, body);
            let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
            let bulk = PreferenceJudge::new(&judge);
            bulk.of(b"http://example.com/").unwrap();
            for _ in 0..10 {
                bulk.of(long_path.as_bytes()).unwrap();
            }
        }
    });
    assert!(judged.is_ok(), "a file fails; see its message above");
}
