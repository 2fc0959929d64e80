//! The values of `annotate --add`: those of single URLs, and the join key of exported tables.

use crate::command::{assert_has, checkout, robosieve_with, words};
use crate::snapshots::{compile_robots, judge_for};
use crate::test_dir::TestDir;
use robosieve::job::{AddedColumn, Form, Input, Job, Output};
use robosieve::judge::{StatusPolicy, UnknownOrigin};
use robosieve::{AgentMatch, Compiler, Judge, JudgeOptions, NamedValue, Origin, Snapshot, Verdict};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Cursor;

/// The lines of a list as objects with all added keys, except those of filter lists.
pub(crate) fn added(judge: &Judge, list: &[u8]) -> Vec<Value> {
    let mut out = Vec::new();
    let input = Input::from_reader("list", Cursor::new(list.to_owned()));
    let of_lists = [AddedColumn::List, AddedColumn::Entry];
    let columns = AddedColumn::NAMES.iter().map(|(column, _)| *column);
    let job = Job::new(judge)
        .form(Form::Jsonl)
        .add_columns(columns.filter(|column| !of_lists.contains(column)));
    let written = job.annotate(vec![input], Output::from_writer(&mut out));
    written.unwrap().commit().unwrap();
    let lines = out.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The added keys of a URL that is judged alone.
fn expected(judge: &Judge, url: &[u8]) -> [Value; 3] {
    let why = judge.explain(url, 0).unwrap();
    let decided = why.entry.map(|entry| entry.origin());
    let decided = decided.and_then(|origin| Origin::of(origin.as_bytes()));
    let delay = |agent| {
        let snapshot = judge.snapshot();
        let delay = |origin| {
            snapshot
                .crawl_delay(origin, agent, AgentMatch::Extended)
                .unwrap()
        };
        json!(
            decided
                .as_ref()
                .and_then(delay)
                .map(|delay| delay.as_secs_f64())
        )
    };
    let agents = judge.agents().iter();
    [
        json!(why.origin.map(|origin| origin.to_string())),
        json!(why.reason.name()),
        agents
            .map(|agent| (agent.to_string(), delay(agent)))
            .collect(),
    ]
}

/// The keys of the lines that disallow a URL, by the explanation for each agent.
fn expected_lines(judge: &Judge, url: &[u8]) -> [Value; 3] {
    let mut found = [json!({}), json!({}), json!({})];
    for (number, agent) in judge.agents().iter().enumerate() {
        let why = judge.explain(url, number).unwrap();
        let rules = why.rules.filter(|_| why.verdict == Verdict::Disallowed);
        let values = rules.map(|rules| {
            let line = rules.deciding.unwrap();
            let agent = rules.named.unwrap_or("*".to_owned());
            (json!(line.text), json!(line.line), json!(agent))
        });
        let (rule, line, name) = values.unwrap_or_default();
        for (found, value) in found.iter_mut().zip([rule, line, name]) {
            found[agent.to_string()] = value;
        }
    }
    found
}

fn keys_of(line: &Value) -> [Value; 3] {
    ["robots_origin", "robots_reason", "robots_crawl_delay"].map(|key| line[key].clone())
}

/// Numbers are compared as such: `10` is `10.0`.
fn with_floats([origin, reason, delays]: [Value; 3]) -> [Value; 3] {
    let delays = delays.as_object().unwrap().iter();
    let delays = delays.map(|(agent, delay)| (agent.clone(), json!(delay.as_f64())));
    [origin, reason, delays.collect()]
}

fn small() -> Snapshot {
    let mut compiler = Compiler::default();
    for archive in ["robots.warc", "more.jsonl"] {
        let path = checkout().join("datasets/small").join(archive);
        compiler.add_path(path).unwrap();
    }
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

#[test]
fn added_keys_have_the_values_of_single_urls() {
    let list = std::fs::read(checkout().join("datasets/small/urls.txt")).unwrap();
    let agents = ["GPTBot", "FooBot", "Googlebot-Image:Googlebot"];
    let agents = agents.map(|agent| agent.parse().unwrap());
    let snapshot = small();
    let policies = StatusPolicy::NAMES.iter().map(|(policy, _)| *policy);
    let mut reasons = HashSet::new();
    let mut with_line = 0;
    for options in policies.flat_map(|policy| {
        let options = JudgeOptions::default().status_policy(policy);
        let unknown = options.unknown(UnknownOrigin::Allow);
        [options, options.any_scheme(true), unknown]
    }) {
        let judge = Judge::new(snapshot.clone(), &agents, options).unwrap();
        let lines: Vec<&[u8]> = list.split_inclusive(|byte| *byte == b'\n').collect();
        let found = added(&judge, &list);
        assert_eq!(found.len(), lines.len());
        for (line, found) in lines.into_iter().zip(found) {
            let url = line.trim_ascii_end();
            let wanted = expected(&judge, url);
            assert_eq!(with_floats(keys_of(&found)), wanted, "{found} {options:?}");
            reasons.insert(found["robots_reason"].to_string());
            let lines = ["robots_rule", "robots_line", "robots_agent"];
            let lines = lines.map(|key| found[key].clone());
            assert_eq!(lines, expected_lines(&judge, url), "{found} {options:?}");
            with_line += usize::from(!lines[1]["FooBot"].is_null());
        }
    }
    assert!(with_line > 100, "{with_line}");
    // Every reason occurs, so none is untested. Only rows with times lack one: `tests/history` has
    // them.
    let found = reasons.len() + 1;
    assert_eq!(found, robosieve::judge::Reason::ALL.len(), "{reasons:?}");
}

/// The URLs of `tests/cases/origins.tsv`, and their origins; `None` for texts that are not URLs.
fn origin_cases() -> Vec<(String, Option<String>)> {
    let text = std::fs::read_to_string(checkout().join("tests/cases/origins.tsv")).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let cases = lines.map(|line| {
        let mut fields = line.split('\t').map(str::to_owned);
        let url = fields.next().unwrap();
        (url, fields.next().filter(|origin| origin != "-"))
    });
    cases.collect()
}

#[test]
fn origins_are_the_key_of_exported_tables() {
    let dir = TestDir::new();
    let cases = origin_cases();
    let mut compiler = Compiler::default();
    let origins: HashSet<&String> = cases
        .iter()
        .filter_map(|(_, origin)| origin.as_ref())
        .collect();
    for origin in &origins {
        compiler.add_robots(origin, b"").unwrap();
    }
    compiler.finish().unwrap().write_to(dir.path("s")).unwrap();
    let exported = dir.run(&["export", "-q", "-s", "s", "--columns", "origin"]);
    let exported = exported.text();
    let exported: HashSet<&str> = exported.lines().skip(1).collect();
    assert_eq!(exported.len(), origins.len());
    let list: String = cases.iter().map(|(url, _)| format!("{url}\n")).collect();
    let args = "annotate -q -s s -a a --as jsonl --input-format text --add origin,reason";
    let args: Vec<&str> = args.split(' ').collect();
    let ran = robosieve_with(dir.root(), &args, list.as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = ran.text();
    assert_eq!(lines.lines().count(), cases.len());
    for (line, (url, origin)) in lines.lines().zip(&cases) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["robots_origin"].as_str(), origin.as_deref(), "{url:?}");
        let is_joined = origin
            .as_deref()
            .is_some_and(|origin| exported.contains(origin));
        let reason = if is_joined { "rules" } else { "not-a-url" };
        assert_eq!(line["robots_reason"], reason, "{url:?}");
    }
}

/// A host may have a quote, which JSON escapes, and a URL may be long.
#[test]
fn origins_of_neighbouring_lines_are_their_own() {
    let judge = judge_for(small(), "FooBot");
    let long = format!("https://shop.example/{}", "x".repeat(70_000));
    let urls = [
        "http://a\"b.example/1",
        "http://a.unknown.example/",
        "http://b.unknown.example/",
        "HTTP://B.unknown.example:80/",
        "https://shop.example/cart",
        "https://shop.example:443/cart",
        "https://user@SHOP.example/x",
        &long,
        "",
        "http://a.unknown.example",
    ];
    let found = added(&judge, urls.join("\n").as_bytes());
    let origins = found.iter().map(|line| line["robots_origin"].as_str());
    let expected = urls.map(|url| Origin::of(url.as_bytes()).map(|origin| origin.to_string()));
    let expected: Vec<Option<&str>> = expected.iter().map(Option::as_deref).collect();
    assert_eq!(origins.collect::<Vec<_>>(), expected);
    assert_eq!(expected[0], Some("http://a\"b.example"));
}

/// A second key of the same name would hide the first, or the verdicts.
#[test]
fn keys_and_columns_that_are_there_are_refused() {
    let dir = TestDir::new();
    dir.write(
        "s",
        compile_robots("https://a.example", b"user-agent: *\ndisallow: /x"),
    );
    let object = |keys: &str| format!("{{\"url\":\"https://a.example/x\",{keys}}}\n");
    dir.write(
        "robots.jsonl",
        "{\"url\":\"https://a.example/\"}\n".to_owned() + &object("\"robots\":7"),
    );
    dir.write(
        "reason.jsonl",
        object("\"n\":{\"robots\":1},\"robots_reason\":7"),
    );
    dir.write("license.jsonl", object("\"robots_license\":[]"));
    dir.write("robots.csv", "url,Robots_A\nhttps://a.example/x,1\n");
    dir.write("robots.tsv", "url\trobots_reason\nhttps://a.example/x\t1\n");
    let annotate = "annotate -q -s s -a a --as";
    let filter = "filter -q -s s -a a --keep disallowed --disallowed-add";
    let [key, column] = ["key", "column"].map(|what| format!("there is a {what} "));
    let again = "already; give the new one another name (--as-name NAME)";
    let leave = "already; rename it, or leave out the new one (--disallowed-add)";
    for (line, file, what, name, advice) in [
        (
            format!("{annotate} jsonl"),
            "robots.jsonl",
            &key,
            "robots",
            again,
        ),
        (
            format!("{annotate} jsonl --add reason"),
            "reason.jsonl",
            &key,
            "robots_reason",
            again,
        ),
        (
            format!("{annotate} jsonl --preferences"),
            "license.jsonl",
            &key,
            "robots_license",
            again,
        ),
        (
            format!("{annotate} csv"),
            "robots.csv",
            &column,
            "robots_a",
            again,
        ),
        (
            format!("{annotate} csv --add reason"),
            "robots.tsv",
            &column,
            "robots_reason",
            again,
        ),
        (
            format!("{filter} reason"),
            "reason.jsonl",
            &key,
            "robots_reason",
            leave,
        ),
        (
            format!("{filter} reason"),
            "robots.tsv",
            &column,
            "robots_reason",
            leave,
        ),
    ] {
        let ran = dir.run_line(&format!("{line} {file}"));
        ran.refused(&format!("{file}: {what}{name:?} {advice}"));
    }
    // Keys and columns of other names, and of inner objects, are no obstacle.
    dir.done_line(&format!("{annotate} jsonl reason.jsonl"));
    dir.done_line(&format!("{annotate} csv --add origin robots.tsv"));
    dir.done_line(&format!("{filter} origin robots.jsonl"));
    // Another name.
    let named = dir.stdout_of(&format!(
        "{annotate} jsonl --as-name may --add reason --preferences robots.jsonl"
    ));
    assert_has(
        &named,
        "\"robots\":7,\"may\":{\"a\":\"disallowed\"},\"may_reason\":\"rules\",\"may_preferences\":{",
    );
    assert_has(&named, "\"may_license\":[]");
    let named = dir.stdout_of(&format!(
        "{annotate} csv --as-name may_ --add reason robots.csv"
    ));
    assert_eq!(
        named,
        "may_a,may_reason,url,Robots_A\ndisallowed,rules,https://a.example/x,1\n"
    );
    for (options, message) in [
        (
            "letters --as-name may",
            "the form letters has no name; only columns",
        ),
        (
            "jsonl --as-name line",
            "the key \"line\" is that of a line which is not an object",
        ),
    ] {
        dir.run_line(&format!("{annotate} {options} robots.csv"))
            .refused(message);
    }
    // The output is annotated again under another name only.
    dir.done_line(&format!("{annotate} jsonl reason.jsonl -o once.jsonl"));
    dir.run_line(&format!("{annotate} jsonl once.jsonl"))
        .refused("once.jsonl: there is a key \"robots\" already");
    dir.done_line(&format!("{annotate} jsonl --as-name again once.jsonl"));
}

#[test]
fn agents_that_are_named_twice_have_no_keys_and_columns() {
    let dir = TestDir::new();
    dir.write(
        "s",
        compile_robots("https://a.example", b"user-agent: *\ndisallow: /x"),
    );
    dir.write("in.csv", "url\nhttps://a.example/x\n");
    let twice =
        "the agent A is named twice, so two columns or keys would have one name; name it once";
    for options in ["--as jsonl", "--as csv"] {
        let line = format!("annotate -q -s s -a a,b,A {options} in.csv");
        dir.run_line(&line).refused(twice);
    }
    let filter = "filter -q -s s -a a,A --keep disallowed in.csv";
    dir.run_line(&format!("{filter} --disallowed-add rule"))
        .refused(twice);
    dir.done_line(&format!("{filter} --disallowed-add reason"));
    // Letters and digits have places, not names.
    assert_eq!(
        dir.stdout_of("annotate -q -s s -a a,A --as mask in.csv"),
        "00\n"
    );
}

#[test]
fn objects_and_columns_get_the_keys_too() {
    let dir = TestDir::new();
    let robots = b"user-agent: *\ncrawl-delay: 1.5";
    dir.write("s", compile_robots("https://a.example", robots));
    let keys = r#""robots_origin":"https://a.example","robots_reason":"rules","robots_crawl_delay":{"a":1.5}"#;
    let verdict = r#""robots":{"a":"allowed"}"#;
    for (name, text, expected) in [
        (
            "in.jsonl",
            "{\"url\": \"https://a.example/\", \"reason\": 7}\n",
            format!("{{\"url\": \"https://a.example/\", \"reason\": 7,{verdict},{keys}}}\n"),
        ),
        (
            "in.csv",
            "id,url\n1,https://a.example/\n",
            format!("{{\"line\":\"1,https://a.example/\",{verdict},{keys}}}\n"),
        ),
        (
            "in.warc",
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\n\
             Content-Length: 0\r\n\r\n\r\n\r\n",
            format!(
                "{{\"url\":\"https://a.example/\",\"type\":\"response\",\"offset\":0,\
                 \"length\":93,{verdict},{keys}}}\n"
            ),
        ),
    ] {
        dir.write(name, text);
        let args = "annotate -q -s s -a a --as jsonl --add origin,reason,crawl_delay --out-dir out";
        let args: Vec<&str> = args.split(' ').chain([name]).collect();
        let ran = dir.run(&args);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
        let output = match name.ends_with(".jsonl") {
            true => format!("out/{name}"),
            false => format!("out/{name}.jsonl"),
        };
        assert_eq!(dir.read_text(&output), expected, "{name}");
    }
}

#[test]
fn forms_without_keys_refuse_added_values() {
    let dir = TestDir::new();
    let snapshot = Compiler::default().finish().unwrap();
    snapshot.write_to(dir.path("s")).unwrap();
    dir.write("urls", "https://shop.example/\n");
    for (form, name) in [(&[][..], "letters"), (&["--as", "mask"], "mask")] {
        let args = words("annotate -s s -a a --add reason urls -o out");
        let ran = dir.run(&[&args, form].concat());
        let expected = format!(
            "the form {name} has no room for added columns; JSON lines (the form jsonl), tables \
             (the form csv) and Parquet files have it"
        );
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        assert!(!dir.path("out").exists());
    }
}
