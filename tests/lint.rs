//! `lint`: the cases of `tests/cases/lint`, the examples of `docs/LINT.md`, properties on random
//! files, and the command with its outputs and exit statuses.

use crate::command::{Ran, robosieve, robosieve_with};
use crate::generate::{AGENTS, ORIGIN, config, robots_txt, rule_path, url};
use crate::spec::{cases_dir, load};
use base64::Engine;
use proptest::collection::vec;
use proptest::prelude::*;
use robosieve::lint::{Code, InSnapshot, lint, survey};
use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Compiler, Profile, Snapshot};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LintCase {
    name: String,
    clause: String,
    robots: Option<String>,
    robots_base64: Option<String>,
    robots_repeat: Option<Vec<Repeat>>,
    /// `LINE:CODE`, in order.
    findings: Option<Vec<String>>,
    /// Instead of `findings`: their number.
    count: Option<usize>,
}

#[derive(Deserialize)]
struct Repeat {
    text: String,
    times: usize,
}

impl LintCase {
    fn robots(&self) -> Vec<u8> {
        if let Some(parts) = &self.robots_repeat {
            return parts.iter().map(|part| part.text.repeat(part.times)).collect::<String>().into_bytes();
        }
        match (&self.robots, &self.robots_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, coded) => base64::engine::general_purpose::STANDARD.decode(coded.as_ref().unwrap()).unwrap(),
        }
    }
}

fn places(body: &[u8]) -> Vec<String> {
    lint(body).iter().map(|finding| format!("{}:{}", finding.line, finding.code)).collect()
}

#[test]
fn cases_have_the_expected_findings() {
    let cases: Vec<LintCase> = load(&cases_dir().join("lint"));
    let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "case names are unique");
    let mut wrong = String::new();
    for case in &cases {
        assert!(!case.clause.is_empty() && (case.findings.is_some() != case.count.is_some()), "{}", case.name);
        let found = places(&case.robots());
        if case.findings.as_ref().is_some_and(|expected| found != *expected)
            || case.count.is_some_and(|count| found.len() != count)
        {
            let found = &found[..found.len().min(20)];
            wrong += &format!("{} ({}): expected {:?}, found {found:?}\n", case.name, case.clause, case.findings);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The examples of `docs/LINT.md`: a code, whether the example is bad, and its file. A block `sh` is
/// a command that prints the file.
fn examples() -> Vec<(String, bool, Vec<u8>)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/LINT.md")).unwrap();
    let (mut code, mut examples) = (String::new(), Vec::new());
    let mut block: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(info)) => block = Some((info, String::new())),
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (Some((info, text)), Some(_)) => {
                let (language, kind) = info.split_once(' ').unwrap_or((info, ""));
                let body = match language {
                    "sh" => Command::new("bash").args(["-c", text]).stderr(Stdio::inherit()).output().unwrap().stdout,
                    _ => text.clone().into_bytes(),
                };
                if matches!(kind, "bad" | "good") {
                    examples.push((code.clone(), kind == "bad", body));
                }
                block = None;
            }
            (None, None) => {
                if let Some(heading) = line.strip_prefix("### ") {
                    code = heading.to_owned();
                }
            }
        }
    }
    examples
}

#[cfg(unix)]
#[test]
fn examples_of_the_documentation_have_their_code_alone() {
    let examples = examples();
    let mut wrong = String::new();
    for code in Code::ALL {
        let of_code =
            |bad: bool| examples.iter().filter(move |(name, is_bad, _)| name == code.name() && *is_bad == bad);
        assert!(of_code(true).count() > 0 && of_code(false).count() > 0, "docs/LINT.md lacks an example of {code}");
        for (_, is_bad, body) in of_code(true).chain(of_code(false)) {
            let found: HashSet<Code> = lint(body).iter().map(|finding| finding.code).collect();
            let expected: HashSet<Code> = is_bad.then_some(*code).into_iter().collect();
            if found != expected {
                wrong += &format!("{code}, {}: {found:?}\n", if *is_bad { "bad" } else { "good" });
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_documentation_lists_all_codes_in_order() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/LINT.md")).unwrap();
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let names: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(headings, names);
    for code in Code::ALL {
        let row = format!("| [{0}](#{0}) | {1} | {2} |", code.name(), code.severity(), code.in_snapshot().name());
        assert!(page.lines().any(|line| line.starts_with(&row)), "docs/LINT.md lacks the row {row}");
    }
}

/// The number of lines as parsers count them: CR, LF and CRLF end a line.
fn line_count(body: &[u8]) -> u32 {
    let ends = (0..body.len()).filter(|&i| body[i] == b'\r' || (body[i] == b'\n' && (i == 0 || body[i - 1] != b'\r')));
    ends.count() as u32 + 1
}

/// The lines of a file, without their ends.
fn split_lines(body: &str) -> Vec<String> {
    body.replace("\r\n", "\n").split(['\n', '\r']).map(str::to_owned).collect()
}

fn allowed(body: &str, agent: &Agent, profile: Profile, url: &str) -> reference::Answer {
    reference::judge(body.as_bytes(), agent, AgentMatch::Extended, profile, url.as_bytes())
}

/// Asserts that no rule that is reported as superfluous changes a verdict of the reference, alone or
/// together with the others. An empty rule replaces each, so that groups stay as they are.
fn superfluous_rules_change_nothing(body: &str, agents: &[&str], urls: &[String]) -> Result<(), TestCaseError> {
    let superfluous = [Code::NeverDecides, Code::RedundantRule, Code::DuplicateRule];
    let findings: Vec<_> =
        lint(body.as_bytes()).into_iter().filter(|finding| superfluous.contains(&finding.code)).collect();
    let lines = split_lines(body);
    let without = |removed: &dyn Fn(u32) -> bool| {
        let keep =
            |(i, line): (usize, &String)| if removed(i as u32 + 1) { "disallow:".to_owned() } else { line.clone() };
        lines.iter().enumerate().map(keep).collect::<Vec<_>>().join("\n")
    };
    let mut shortened: Vec<String> = findings.iter().map(|finding| without(&|line| line == finding.line)).collect();
    shortened.push(without(&|line| findings.iter().any(|finding| finding.line == line)));
    let overridden: HashSet<u32> =
        findings.iter().filter(|finding| finding.code == Code::NeverDecides).map(|finding| finding.line).collect();
    for agent in agents.iter().map(|name| name.parse::<Agent>().unwrap()) {
        for profile in [Profile::Google, Profile::Rfc9309] {
            for url in urls {
                let whole = allowed(body, &agent, profile, url);
                prop_assert!(!overridden.contains(&whole.line), "line {} decides on {url}", whole.line);
                for shorter in &shortened {
                    let answer = allowed(shorter, &agent, profile, url);
                    prop_assert_eq!(answer.allowed, whole.allowed, "{} {:?} {}\n{}", agent, profile, url, shorter);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(800))]

    #[test]
    fn superfluous_rules_of_any_file_change_nothing(body in robots_txt(), urls in vec(url(), 1..6)) {
        superfluous_rules_change_nothing(body.trim_start_matches('\u{feff}'), AGENTS, &urls)?;
    }

    #[test]
    fn superfluous_rules_of_a_group_change_nothing(
        rules in vec((any::<bool>(), rule_path()), 1..12), urls in vec(url(), 1..12),
    ) {
        let lines = rules.iter().map(|(allow, path)| format!("{}: {path}\n", if *allow { "allow" } else { "disallow" }));
        let body = format!("user-agent: *\n{}", lines.collect::<String>());
        // The paths of the rules are the likeliest to match them.
        let own = rules.iter().map(|(_, path)| format!("{ORIGIN}/{}", path.trim_start_matches('/').replace(['*', '$'], "")));
        let urls: Vec<String> = own.chain(urls).collect();
        superfluous_rules_change_nothing(&body, &["a"], &urls)?;
    }

    #[test]
    fn lines_of_findings_are_in_range(body in vec(any::<u8>(), 0..400), text in robots_txt()) {
        for body in [body.clone(), [text.as_bytes(), &body].concat()] {
            let lines = line_count(&body);
            for finding in lint(&body) {
                prop_assert!((1..=lines).contains(&finding.line), "{finding:?} of {lines} lines");
                prop_assert!(!finding.message.contains(['\n', '\r']) && !finding.help.is_empty());
            }
        }
    }
}

#[test]
fn hostile_files_are_checked() {
    let rules = |count: usize| (0..count).map(|i| format!("disallow: /{i}*a\n")).collect::<String>();
    let bodies: Vec<Vec<u8>> = vec![
        vec![0; 600_000],
        b"\r".repeat(600_000),
        b"a\n".repeat(300_000),
        b"disallow:\n".repeat(60_000),
        b"user-agent: a\n".repeat(40_000),
        format!("user-agent: *\n{}", rules(5000)).into_bytes(),
        format!("user-agent: *\ndisallow: /{}", "*a".repeat(100_000)).into_bytes(),
        b"\xff\xfe\0\0".to_vec(),
        b"\xef\xbb".to_vec(),
        b"%".to_vec(),
        b"sitemap:\nsitemap: \xff\nuser-agent: \xff\ndisallow: \xff%".to_vec(),
    ];
    for body in bodies {
        let (findings, lines) = (lint(&body), line_count(&body));
        assert!(findings.iter().all(|finding| (1..=lines).contains(&finding.line)), "{:?}", findings.last());
        assert!(findings.len() <= Code::ALL.len() * 1001);
    }
}

fn run(dir: &Path, args: &[&str]) -> Ran {
    robosieve(dir, &[&["lint"], args].concat())
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|err| panic!("{err}: {}", String::from_utf8_lossy(&ran.stdout)))
}

#[test]
fn exit_statuses_follow_the_denied_severity() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("clean", "User-agent: *\nDisallow: /a\n"),
        ("note", "User-agent: *\nDisallow: /a\nDisallow: /a\n"),
        ("warning", "User-agent: a/1\nDisallow: /a\n"),
        ("error", "Disallow: /a\nUser-agent: *\nDisallow: /a\n"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    for (deny, statuses) in [
        (None, [0, 0, 0, 1]),
        (Some("error"), [0, 0, 0, 1]),
        (Some("warning"), [0, 0, 1, 1]),
        (Some("note"), [0, 1, 1, 1]),
    ] {
        for (file, status) in ["clean", "note", "warning", "error"].into_iter().zip(statuses) {
            let deny = deny.map_or(vec![], |deny| vec!["--deny", deny]);
            assert_eq!(run(dir.path(), &[&deny[..], &[file]].concat()).code, Some(status), "{deny:?} {file}");
        }
    }
    assert_eq!(run(dir.path(), &["--allow", "outside-group,empty-rule", "error"]).code, Some(0));
    assert_eq!(run(dir.path(), &["-", "-"]).code, Some(2));
    for args in [&["missing"][..], &[], &["--allow", "no-such-code", "clean"], &["--sarif", "--json", "clean"]] {
        assert_eq!(run(dir.path(), args).code, Some(2), "{args:?}");
    }
}

#[test]
fn text_and_json_have_all_parts() {
    let dir = tempfile::tempdir().unwrap();
    let ran = robosieve_with(dir.path(), &["lint", "-"], b"User-agent: *\nDisallow: cart\n");
    let expected = "standard input:2: error[no-leading-slash]: the path `cart` begins with neither / nor *, so it \
                    matches nothing\n  help: write `/cart`\n";
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected);
    assert_eq!(ran.stderr, "files 1  clean 0  errors 1  warnings 0  notes 0\n");
    fs::write(dir.path().join("a.example"), "User-agent: *\nDisallow: cart\u{1b}\n").unwrap();
    fs::write(dir.path().join("b.example"), "User-agent: *\nDisallow: /\n").unwrap();
    fs::write(dir.path().join("notes.csv"), "x").unwrap();
    let json = json_of(&run(dir.path(), &["-q", "--json", "."]));
    let found: Vec<_> =
        json.as_array().unwrap().iter().map(|finding| (&finding["file"], &finding["line"], &finding["code"])).collect();
    assert_eq!(found.len(), 2, "{json}");
    assert_eq!((found[0].0, found[0].1, found[0].2), (&"./a.example".into(), &2.into(), &"control-character".into()));
    let keys: Vec<&String> = json[1].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["code", "file", "help", "line", "message", "severity"]);
    assert_eq!(json_of(&run(dir.path(), &["-q", "--json", "b.example"])), Value::Array(vec![]));
    fs::write(dir.path().join("robots.txt"), "User-agent: *\nDisallow: /\n").unwrap();
    assert_eq!(run(dir.path(), &["."]).stderr, "files 1  clean 1  errors 0  warnings 0  notes 0\n");
}

#[test]
fn unreadable_files_do_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bad.gz"), b"\x1f\x8bxxx").unwrap();
    fs::write(dir.path().join("error"), "User-agent: *\nDisallow: a\n").unwrap();
    let ran = run(dir.path(), &["--json", "bad.gz", "missing", "error"]);
    assert_eq!((ran.code, json_of(&ran).as_array().unwrap().len()), (Some(2), 1));
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("robosieve: bad.gz: damaged") && !lines[0].contains("--skip-damaged"), "{}", lines[0]);
    assert!(lines[1].starts_with("robosieve: missing: "), "{}", lines[1]);
    assert_eq!(lines[2], "files 1  clean 0  errors 1  warnings 0  notes 0  unreadable 2");
}

/// The properties that SARIF 2.1.0 requires (§3.13, §3.14, §3.18, §3.19, §3.27, §3.28).
#[test]
fn sarif_has_the_required_structure() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a b.txt"), "Disallow: /\nUser-agent: a/1\nDisallow: b\n").unwrap();
    for (file, count) in [("a b.txt", 3), ("-", 0)] {
        let sarif = json_of(&run(dir.path(), &["-q", "--sarif", file]));
        assert_eq!((&sarif["version"], sarif["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));
        assert!(sarif["$schema"].as_str().unwrap().ends_with("/sarif-schema-2.1.0.json"));
        let driver = &sarif["runs"][0]["tool"]["driver"];
        assert_eq!(driver["name"], "robosieve");
        let rules = driver["rules"].as_array().unwrap();
        assert_eq!(rules.len(), Code::ALL.len());
        let ids: HashSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), rules.len());
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), count, "{sarif}");
        for result in results {
            let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(result["ruleId"], rule["id"]);
            assert_eq!(result["level"], rule["defaultConfiguration"]["level"]);
            for text in ["shortDescription", "fullDescription", "help"] {
                assert!(rule[text]["text"].as_str().is_some_and(|text| text.ends_with('.')), "{rule}");
            }
            assert!(matches!(result["level"].as_str().unwrap(), "note" | "warning" | "error"));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "a%20b.txt");
            assert!((1..=3).contains(&place["region"]["startLine"].as_u64().unwrap()));
        }
    }
}

#[test]
fn codes_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let text = String::from_utf8(run(dir.path(), &["--codes"]).stdout).unwrap();
    assert_eq!(text.lines().count(), Code::ALL.len() + 1);
    let json = json_of(&run(dir.path(), &["--codes", "--json"]));
    for (row, code) in json.as_array().unwrap().iter().zip(Code::ALL) {
        assert_eq!((&row["code"], &row["severity"]), (&code.name().into(), &code.severity().name().into()));
        assert_eq!(Code::find(code.name()), Some(*code));
    }
}

/// Three origins share one bad file, one has a good one, and one has HTML.
#[test]
fn surveys_count_files_and_origins() {
    let dir = tempfile::tempdir().unwrap();
    let mut compiler = Compiler::default();
    for host in ["b", "a", "c"] {
        let robots = b"Disallow: /x\nUser-agent: *\nDisallow: y\nNoindex: /\n# a\nFoo: bar\n";
        compiler.add_robots(&format!("https://{host}.example"), robots).unwrap();
    }
    compiler.add_robots("https://d.example", b"User-agent: *\nDisallow: /\n").unwrap();
    compiler.add_robots("https://e.example", b"<html>\n").unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let counted = survey(&snapshot, &[], |_| ()).unwrap();
    assert_eq!((counted.origins, counted.files, counted.clean_origins, counted.clean_files), (5, 3, 2, 2));
    for row in &counted.codes {
        assert_ne!(row.code.in_snapshot(), InSnapshot::No);
        let expected = match row.code {
            Code::OutsideGroup | Code::NoLeadingSlash | Code::UnknownField => (1, 3, Some("https://a.example")),
            _ => (0, 0, None),
        };
        assert_eq!((row.files, row.origins, row.example.as_deref()), expected, "{}", row.code);
    }
    let allowed = [Code::OutsideGroup, Code::NoLeadingSlash, Code::UnknownField];
    assert_eq!(survey(&snapshot, &allowed, |_| ()).unwrap().clean_origins, 5);

    fs::write(dir.path().join("s.rsieve"), b"User-agent: *\n").unwrap();
    let mut compiler = Compiler::default();
    compiler.add_robots("https://a.example", b"User-agent: *\nDisallow: y\n").unwrap();
    fs::write(dir.path().join("s.rsieve"), compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    for args in [&["-q", "s.rsieve"][..], &["-q", "-s", "s.rsieve"]] {
        let ran = run(dir.path(), args);
        let text = String::from_utf8(ran.stdout).unwrap();
        assert_eq!((ran.code, text.lines().count()), (Some(0), 3), "{text}{}", ran.stderr);
        let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(row, ["no-leading-slash", "error", "1", "1", "https://a.example"]);
    }
    let json = json_of(&run(dir.path(), &["-q", "--json", "s.rsieve"]));
    assert_eq!((&json[0]["origins"], &json[0]["clean_files"]), (&1.into(), &0.into()));
    for refused in [&["--sarif", "s.rsieve"][..], &["--deny", "note", "s.rsieve"], &["s.rsieve", "-"]] {
        assert_eq!(run(dir.path(), refused).code, Some(2), "{refused:?}");
    }
}
