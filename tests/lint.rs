//! `lint`: the cases of `tests/cases/lint`, the examples of `docs/LINT.md`, properties on random
//! files, and the command with its outputs and exit statuses.

use crate::command::{Ran, checkout, robosieve, robosieve_with};
use crate::generate::{AGENTS, ORIGIN, Random, config, robots_txt, rule_path, url};
use crate::spec::{cases_dir, load};
use base64::Engine;
use proptest::collection::vec;
use proptest::prelude::*;
use robosieve::lint::{Code, Finding, Fixable, InSnapshot, lint, survey};
use robosieve::robots::{AgentLine, reference};
use robosieve::{Agent, AgentMatch, Compiler, Profile, RobotsRef, Snapshot};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
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
            return parts
                .iter()
                .map(|part| part.text.repeat(part.times))
                .collect::<String>()
                .into_bytes();
        }
        match (&self.robots, &self.robots_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, coded) => base64::engine::general_purpose::STANDARD
                .decode(coded.as_ref().unwrap())
                .unwrap(),
        }
    }
}

fn places(body: &[u8]) -> Vec<String> {
    lint(body)
        .iter()
        .map(|finding| format!("{}:{}", finding.line, finding.code))
        .collect()
}

#[test]
fn cases_have_the_expected_findings() {
    let cases: Vec<LintCase> = load(&cases_dir().join("lint"));
    let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "case names are unique");
    let mut wrong = String::new();
    for case in &cases {
        assert!(
            !case.clause.is_empty() && (case.findings.is_some() != case.count.is_some()),
            "{}",
            case.name
        );
        let found = places(&case.robots());
        if case
            .findings
            .as_ref()
            .is_some_and(|expected| found != *expected)
            || case.count.is_some_and(|count| found.len() != count)
        {
            let found = &found[..found.len().min(20)];
            wrong += &format!(
                "{} ({}): expected {:?}, found {found:?}\n",
                case.name, case.clause, case.findings
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The examples of `docs/LINT.md`: a code, whether the example is bad, and its file. A block `sh`
/// is a command that prints the file.
fn examples() -> Vec<(String, bool, Vec<u8>)> {
    let page = fs::read_to_string(checkout().join("docs/LINT.md")).unwrap();
    let (mut code, mut examples) = (String::new(), Vec::new());
    let mut block: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(info)) => block = Some((info, String::new())),
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (Some((info, text)), Some(_)) => {
                let (language, kind) = info.split_once(' ').unwrap_or((info, ""));
                let body = match language {
                    "sh" => {
                        Command::new("bash")
                            .args(["-c", text])
                            .stderr(Stdio::inherit())
                            .output()
                            .unwrap()
                            .stdout
                    }
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
        let of_code = |bad: bool| {
            examples
                .iter()
                .filter(move |(name, is_bad, _)| name == code.name() && *is_bad == bad)
        };
        assert!(
            of_code(true).count() > 0 && of_code(false).count() > 0,
            "docs/LINT.md lacks an example of {code}"
        );
        for (_, is_bad, body) in of_code(true).chain(of_code(false)) {
            let found: HashSet<Code> = lint(body).iter().map(|finding| finding.code).collect();
            let expected: HashSet<Code> = is_bad.then_some(*code).into_iter().collect();
            if found != expected {
                wrong += &format!(
                    "{code}, {}: {found:?}\n",
                    if *is_bad { "bad" } else { "good" }
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_documentation_lists_all_codes_in_order() {
    let page = fs::read_to_string(checkout().join("docs/LINT.md")).unwrap();
    let headings: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    let names: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(headings, names);
    for code in Code::ALL {
        let row = format!(
            "| [{0}](#{0}) | {1} | {2} | {3} |",
            code.name(),
            code.severity(),
            code.in_snapshot().name(),
            code.fixable().name()
        );
        assert!(
            page.lines().any(|line| line.starts_with(&row)),
            "docs/LINT.md lacks the row {row}"
        );
        // The section of a code says what its fixes write.
        let section = page
            .split(&format!("### {}\n", code.name()))
            .nth(1)
            .unwrap();
        let section = section.split("\n### ").next().unwrap();
        let has_fix = section.lines().any(|line| line.starts_with("Fixed"));
        assert_eq!(has_fix, code.fixable() != Fixable::No, "{code}");
    }
}

/// Messages say what parsers make of a line, and what to write instead.
#[test]
fn messages_name_the_remedy() {
    let all = |robots: &str| {
        lint(robots.as_bytes())
            .into_iter()
            .map(|finding| format!("{} | {}\n", finding.message, finding.help))
            .collect::<String>()
    };
    for (robots, expected) in [
        (
            "User-agent: openai\nDisallow: /",
            &[
                "for OpenAI it has",
                "`GPTBot`",
                "`ChatGPT-User`",
                "`OAI-SearchBot`",
            ][..],
        ),
        (
            "User-agent: chatgpt\nDisallow: /",
            &["`ChatGPT-User`, ", "`GPTBot`"],
        ),
        (
            "User-agent: GPTBt\nDisallow: /",
            &["`GPTBot` (OpenAI)", "| write `User-agent: GPTBot`"],
        ),
        (
            "User-agent: baiduspider+\nDisallow: /",
            &[
                "read it as `baiduspider`",
                "| write `User-agent: Baiduspider`",
            ],
        ),
        (
            "User-agent: MJ12bt\nDisallow: /",
            &["read it as `MJ`", "| write `User-agent: MJ12bot`"],
        ),
        (
            "User-agent: FooBot\nUser-agent: b\nDisallow: /",
            &["no crawlers with 2 names of this file: `FooBot` and `b` |"],
        ),
        (
            "User-agent-purpose: x\nDisallow: /",
            &[
                "reads it as `User-agent`",
                "| remove the line, or write `User-agent:` if",
            ],
        ),
        (
            "LLM-Policy: /llms.txt",
            &["only programs that know it read the line"],
        ),
        (
            "Content-Usage: Train-AI=n",
            &[
                "not a dictionary of RFC 9651",
                "| write `Content-Usage: train-ai=n`",
            ],
        ),
        (
            "Content-Usage: /a Train-AI=no",
            &["| write `Content-Usage: /a train-ai=n`"],
        ),
        (
            "Content-Usage: train-ai=no",
            &["neither `y` nor `n`", "| write `train-ai=n` to object"],
        ),
        (
            "Content-Usage: ai-train=no",
            &["`ai-train` is a key of `content-signal`; here write `train-ai` or `search`"],
        ),
        (
            "Content-Signal: ai_train=no",
            &[
                "`content-signal` has no key `ai_train`",
                "| write `ai-train`",
            ],
        ),
        (
            "Content-Signal: search=yes ai-train=no",
            &["| separate the members with commas"],
        ),
        (
            "Content-Signal: use=all",
            &["is not `immediate`, `reference` or `full`"],
        ),
        (
            "User-agent: GPTBot\nDisallow: /a\nUser-agent: CCBot\nDisallow: /\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /a",
            &[
                "for some of its agents `Disallow: /a` on line 2 decides in its place, for others `Disallow: /` on line 4",
            ],
        ),
        (
            "User-agent: *\nDisallow: /a\nUser-agent: GPTBot\nDisallow: /b",
            &[
                "`GPTBot` obeys the groups that name it and none of `*`, so `Disallow: /a` on line 2 does not",
            ],
        ),
    ] {
        let found = all(robots);
        for part in expected {
            assert!(found.contains(part), "{robots}: {part} is not in {found}");
        }
    }
}

/// The number of lines as parsers count them: CR, LF and CRLF end a line.
fn line_count(body: &[u8]) -> u32 {
    let ends = (0..body.len())
        .filter(|&i| body[i] == b'\r' || (body[i] == b'\n' && (i == 0 || body[i - 1] != b'\r')));
    ends.count() as u32 + 1
}

/// The lines of a file, without their ends.
fn split_lines(body: &str) -> Vec<String> {
    body.replace("\r\n", "\n")
        .split(['\n', '\r'])
        .map(str::to_owned)
        .collect()
}

fn allowed(body: &str, agent: &Agent, profile: Profile, url: &str) -> reference::Answer {
    reference::judge(
        body.as_bytes(),
        agent,
        AgentMatch::Extended,
        profile,
        url.as_bytes(),
    )
}

/// The lines of a file that findings call without effect.
#[derive(Default)]
struct LinesWithoutEffect {
    /// Rules, and lines of other fields.
    removable: HashSet<u32>,
    /// User-agent lines that name nobody.
    nameless: HashSet<u32>,
}

/// The lines that a finding calls without effect; empty if it does not.
fn lines_without_effect(finding: &Finding, robots: &RobotsRef<'_>) -> LinesWithoutEffect {
    let mut lines = LinesWithoutEffect::default();
    match finding.code {
        Code::NeverDecides | Code::RedundantRule | Code::DuplicateRule => {
            lines.removable.insert(finding.line);
        }
        Code::NoLeadingSlash | Code::FullUrl | Code::OutsideGroup | Code::UnknownField => {
            lines.removable.insert(finding.line);
        }
        Code::EmptyRule if finding.message.ends_with("so it has no effect") => {
            lines.removable.insert(finding.line);
        }
        Code::RepeatedAgent if finding.help == "remove this line" => {
            lines.removable.insert(finding.line);
        }
        Code::EmptyGroup if finding.help == "remove the group" => {
            let group = robots.groups().last().unwrap();
            lines
                .removable
                .extend(group.agents().iter().map(|agent| agent.line()));
        }
        Code::EmptyAgent => drop(lines.nameless.insert(finding.line)),
        _ => {}
    }
    lines
}

/// The file without these lines. As the findings advise, an empty rule replaces the last rule of a
/// group.
fn without(body: &str, robots: &RobotsRef<'_>, lines: &LinesWithoutEffect) -> String {
    let mut texts: Vec<Option<String>> = split_lines(body).into_iter().map(Some).collect();
    lines
        .removable
        .iter()
        .for_each(|line| texts[*line as usize - 1] = None);
    lines
        .nameless
        .iter()
        .for_each(|line| texts[*line as usize - 1] = Some("user-agent: nobody".to_owned()));
    for group in robots.groups() {
        if let Some(first) = group.rules().first()
            && group
                .rules()
                .iter()
                .all(|rule| lines.removable.contains(&rule.line()))
        {
            texts[first.line() as usize - 1] = Some("disallow:".to_owned());
        }
    }
    texts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Asserts that no line that a finding calls without effect changes a verdict of the reference,
/// alone or together with the others. Returns the findings.
fn superfluous_lines_change_nothing(
    body: &str,
    agents: &[&str],
    urls: &[String],
) -> Result<Vec<Finding>, TestCaseError> {
    let findings = lint(body.as_bytes());
    let robots = RobotsRef::parse(body.as_bytes(), Profile::Google);
    let mut all = LinesWithoutEffect::default();
    let mut shortened = Vec::new();
    for finding in &findings {
        let lines = lines_without_effect(finding, &robots);
        if !lines.removable.is_empty() || !lines.nameless.is_empty() {
            shortened.push((finding.code, without(body, &robots, &lines)));
            all.removable.extend(lines.removable);
            all.nameless.extend(lines.nameless);
        }
    }
    if let Some((code, _)) = shortened.first() {
        shortened.push((*code, without(body, &robots, &all)));
    }
    let overridden: HashSet<u32> = findings
        .iter()
        .filter(|finding| finding.code == Code::NeverDecides)
        .map(|finding| finding.line)
        .collect();
    for agent in agents.iter().map(|name| name.parse::<Agent>().unwrap()) {
        for profile in [Profile::Google, Profile::Rfc9309] {
            for url in urls {
                let whole = allowed(body, &agent, profile, url);
                prop_assert!(
                    !overridden.contains(&whole.line),
                    "line {} decides on {url}",
                    whole.line
                );
                for (code, shorter) in &shortened {
                    let answer = allowed(shorter, &agent, profile, url);
                    let context =
                        format!("{code} {agent} {profile:?} {url}\n{body}\n--\n{shorter}");
                    prop_assert_eq!(answer.allowed, whole.allowed, "{}", context);
                }
            }
        }
    }
    Ok(findings)
}

/// Values of user-agent lines. `MJ12bot` is also named by `mj`, and `b c` by `b`.
const SHARED_NAMES: &[&str] = &["a", "A/2", "b", "b c", "MJ12bot", "mj", "*", "*", "c", ""];

/// The agents that obey groups with these names, chains among them.
pub(crate) const SHARED_AGENTS: &[&str] = &[
    "a",
    "b",
    "b c",
    "MJ12bot",
    "mj",
    "c",
    "x:a",
    "MJ12bot:b",
    "b:a",
    "*",
    "zz",
];

/// Paths that often cover each other.
const NESTED_PATHS: &[&str] = &[
    "/",
    "/",
    "/a",
    "/a",
    "/a/",
    "/a/b",
    "/a/b",
    "/a/b/c",
    "/a*",
    "/*b",
    "/a/*",
    "/a$",
    "/%61",
    "/a/index.html",
    "",
    "a/b",
    "http://h.example/a",
];

/// A file of a few groups that share some of their names.
pub(crate) fn file_of_shared_groups(random: &mut Random) -> String {
    let mut body = String::new();
    if random.below(8) == 0 {
        body += "disallow: /a\n";
    }
    for _ in 0..1 + random.below(5) {
        for _ in 0..1 + random.below(3) {
            body += &format!("user-agent: {}\n", random.pick(SHARED_NAMES));
        }
        body += random.pick(&["", "", "", "crawl-delay: 1\n", "noise: 1\n"]);
        for _ in 0..random.below(4) {
            let kind = random.pick(&["disallow", "disallow", "allow", "disalow"]);
            body += &format!("{kind}: {}\n", random.pick(NESTED_PATHS));
        }
        body += random.pick(&["", "\n"]);
    }
    body
}

/// Whether a line belongs to a group of which some agents obey other groups too, and some do not.
fn is_partly_shared(robots: &RobotsRef<'_>, line: u32) -> bool {
    let groups_of = |agent: &AgentLine<'_>| {
        let name = agent
            .text()
            .rsplit(|b| *b == b':')
            .next()
            .unwrap()
            .to_ascii_lowercase();
        let names = |other: &&AgentLine<'_>| {
            other
                .text()
                .rsplit(|b| *b == b':')
                .next()
                .unwrap()
                .eq_ignore_ascii_case(&name)
        };
        robots
            .groups()
            .iter()
            .filter(|group| group.agents().iter().any(|other| names(&other)))
            .count()
    };
    let group = robots
        .groups()
        .iter()
        .find(|group| group.rules().iter().any(|rule| rule.line() == line));
    let counts: HashSet<usize> = group
        .map(|group| group.agents().iter().map(groups_of).collect())
        .unwrap_or_default();
    counts.contains(&1) && counts.len() > 1
}

/// An agent obeys all groups that name it, so a line is without effect only if it is so in each
/// combination of groups that some agent obeys.
#[test]
fn superfluous_lines_of_shared_groups_change_nothing() {
    let mut random = Random(7);
    let urls: Vec<String> = [
        "",
        "/a",
        "/a/",
        "/a/b",
        "/ab",
        "/a/b/c",
        "/b",
        "/a/index.html",
        "/A/b",
    ]
    .map(|path| format!("{ORIGIN}{path}"))
    .to_vec();
    let (mut counts, mut partly_shared) = (HashMap::new(), HashMap::new());
    for _ in 0..1500 {
        let body = file_of_shared_groups(&mut random);
        let robots = RobotsRef::parse(body.as_bytes(), Profile::Google);
        for finding in superfluous_lines_change_nothing(&body, SHARED_AGENTS, &urls).unwrap() {
            *counts.entry(finding.code).or_insert(0) += 1;
            if is_partly_shared(&robots, finding.line) {
                *partly_shared.entry(finding.code).or_insert(0) += 1;
            }
        }
    }
    // The generator meets each code, and each kind of superfluous rule in such groups.
    for code in [
        Code::DuplicateRule,
        Code::NeverDecides,
        Code::RedundantRule,
        Code::EmptyRule,
        Code::NoLeadingSlash,
        Code::FullUrl,
        Code::OutsideGroup,
        Code::UnknownField,
        Code::RepeatedAgent,
        Code::EmptyGroup,
        Code::EmptyAgent,
    ] {
        assert!(
            counts.get(&code).is_some_and(|count| *count >= 25),
            "{code}: {counts:?}"
        );
    }
    for code in [Code::DuplicateRule, Code::NeverDecides, Code::RedundantRule] {
        assert!(
            partly_shared.get(&code).is_some_and(|count| *count >= 10),
            "{code}: {partly_shared:?}"
        );
    }
}

/// A group that replaces rules of `*`: some URL is refused to other agents, and the agent of the
/// line may fetch it without any rule.
#[test]
fn groups_replace_rules_of_the_global_group() {
    let mut random = Random(8);
    let paths: Vec<String> = NESTED_PATHS
        .iter()
        .map(|path| path.replace(['*'], "~").replace('$', ""))
        .collect();
    let urls: Vec<String> = paths
        .iter()
        .filter(|path| path.starts_with('/'))
        .map(|p| format!("{ORIGIN}{p}"))
        .collect();
    let mut count = 0;
    for _ in 0..2000 {
        let body = file_of_shared_groups(&mut random);
        let lines = split_lines(&body);
        for finding in lint(body.as_bytes())
            .iter()
            .filter(|finding| finding.code == Code::GroupReplacesGlobal)
        {
            count += 1;
            let name = lines[finding.line as usize - 1]
                .strip_prefix("user-agent: ")
                .unwrap();
            let names: Vec<&str> = if name == "MJ12bot" {
                vec![name, "mj"]
            } else {
                vec![name]
            };
            // The reference names an empty rule, although it decides nothing.
            let is_without_rule =
                |line: u32| line == 0 || lines[line as usize - 1].trim_end().ends_with(':');
            let is_shown = |profile, url: &String| {
                let global = allowed(&body, &"zz".parse().unwrap(), profile, url);
                let own = names
                    .iter()
                    .map(|name| allowed(&body, &name.parse().unwrap(), profile, url));
                !global.allowed
                    && own
                        .into_iter()
                        .any(|own| own.allowed && is_without_rule(own.line))
            };
            for profile in [Profile::Google, Profile::Rfc9309] {
                assert!(
                    urls.iter().any(|url| is_shown(profile, url)),
                    "{}\n{body}",
                    finding.message
                );
            }
        }
    }
    assert!(count > 100, "{count}");
}

proptest! {
    #![proptest_config(config(800))]

    #[test]
    fn superfluous_lines_of_any_file_change_nothing(body in robots_txt(), urls in vec(url(), 1..6)) {
        superfluous_lines_change_nothing(body.trim_start_matches('\u{feff}'), AGENTS, &urls)?;
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
        superfluous_lines_change_nothing(&body, &["a"], &urls)?;
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
    // Letters only, as in product tokens.
    let name = |i: usize| {
        i.to_string()
            .bytes()
            .map(|b| char::from(b - b'0' + b'a'))
            .collect::<String>()
    };
    let rules = |count: usize| {
        (0..count)
            .map(|i| format!("disallow: /{i}*a\n"))
            .collect::<String>()
    };
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
        // Names in overlapping groups, each with all rules of a large group.
        [
            "user-agent: shared\n".to_owned(),
            (0..9000)
                .map(|i| format!("user-agent: {}\n", name(i)))
                .collect::<String>(),
            (0..8000)
                .map(|i| format!("disallow: /{i}\n"))
                .collect::<String>(),
            (0..9000)
                .map(|i| format!("user-agent: {}\nallow:/\n", name(i)))
                .collect::<String>(),
        ]
        .concat()
        .into_bytes(),
        b"user-agent: openai\n".repeat(27_000),
        (0..20_000)
            .map(|i| format!("user-agent: {}zqbot\n", name(i)))
            .collect::<String>()
            .into_bytes(),
        [
            (0..5000)
                .map(|i| format!("user-agent: {}\n", name(i)))
                .collect::<String>(),
            (0..4000)
                .map(|i| format!("content-usage: /{i} train-ai=y\ndisallow: /{i}\n"))
                .collect::<String>(),
            (0..5000)
                .map(|i| format!("user-agent: {}\nallow:/\n", name(i)))
                .collect::<String>(),
        ]
        .concat()
        .into_bytes(),
        format!("content-usage: {}\n", "a=,".repeat(5000))
            .repeat(33)
            .into_bytes(),
        format!("content-signal: {}\n", "a=,".repeat(5000))
            .repeat(33)
            .into_bytes(),
        b"sitemap:\nsitemap: \xff\nuser-agent: \xff\ndisallow: \xff%".to_vec(),
    ];
    for body in bodies {
        let (findings, lines) = (lint(&body), line_count(&body));
        assert!(
            findings
                .iter()
                .all(|finding| (1..=lines).contains(&finding.line)),
            "{:?}",
            findings.last()
        );
        assert!(findings.len() <= Code::ALL.len() * 1001);
    }
}

fn run(dir: &Path, args: &[&str]) -> Ran {
    robosieve(dir, &[&["lint"], args].concat())
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|err| panic!("{err}: {}", String::from_utf8_lossy(&ran.stdout)))
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
        for (file, status) in ["clean", "note", "warning", "error"]
            .into_iter()
            .zip(statuses)
        {
            let deny = deny.map_or(vec![], |deny| vec!["--deny", deny]);
            assert_eq!(
                run(dir.path(), &[&deny[..], &[file]].concat()).code,
                Some(status),
                "{deny:?} {file}"
            );
        }
    }
    assert_eq!(
        run(
            dir.path(),
            &["--allow", "outside-group,empty-rule", "error"]
        )
        .code,
        Some(0)
    );
    assert_eq!(run(dir.path(), &["-", "-"]).code, Some(2));
    for args in [
        &["missing"][..],
        &[],
        &["--allow", "no-such-code", "clean"],
        &["--sarif", "--json", "clean"],
    ] {
        assert_eq!(run(dir.path(), args).code, Some(2), "{args:?}");
    }
}

#[test]
fn text_and_json_have_all_parts() {
    let dir = tempfile::tempdir().unwrap();
    let ran = robosieve_with(
        dir.path(),
        &["lint", "-"],
        b"User-agent: *\nDisallow: cart\n",
    );
    let expected = "standard input:2: error[no-leading-slash]: the path `cart` begins with neither / nor *, so it \
                    matches nothing\n  help: write `/cart`\n";
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected);
    assert_eq!(
        ran.stderr,
        "files 1  clean 0  errors 1  warnings 0  notes 0\n"
    );
    fs::write(
        dir.path().join("a.example"),
        "User-agent: *\nDisallow: cart\u{1b}\n",
    )
    .unwrap();
    fs::write(dir.path().join("b.example"), "User-agent: *\nDisallow: /\n").unwrap();
    fs::write(dir.path().join("notes.csv"), "x").unwrap();
    let json = json_of(&run(dir.path(), &["-q", "--json", "."]));
    let found: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (&finding["file"], &finding["line"], &finding["code"]))
        .collect();
    assert_eq!(found.len(), 2, "{json}");
    assert_eq!(
        (found[0].0, found[0].1, found[0].2),
        (
            &"./a.example".into(),
            &2.into(),
            &"control-character".into()
        )
    );
    let keys: Vec<&String> = json[1].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["code", "file", "fix", "help", "line", "message", "severity"]
    );
    assert_eq!(
        json_of(&run(dir.path(), &["-q", "--json", "b.example"])),
        Value::Array(vec![])
    );
    fs::write(
        dir.path().join("robots.txt"),
        "User-agent: *\nDisallow: /\n",
    )
    .unwrap();
    assert_eq!(
        run(dir.path(), &["."]).stderr,
        "files 1  clean 1  errors 0  warnings 0  notes 0\n"
    );
}

#[test]
fn unreadable_files_do_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bad.gz"), b"\x1f\x8bxxx").unwrap();
    fs::write(dir.path().join("error"), "User-agent: *\nDisallow: a\n").unwrap();
    let ran = run(dir.path(), &["--json", "bad.gz", "missing", "error"]);
    assert_eq!(
        (ran.code, json_of(&ran).as_array().unwrap().len()),
        (Some(2), 1)
    );
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(
        lines[0].starts_with("robosieve: bad.gz: damaged") && !lines[0].contains("--skip-damaged"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("robosieve: missing: "), "{}", lines[1]);
    assert_eq!(
        lines[2],
        "files 1  clean 0  errors 1  warnings 0  notes 0  unreadable 2"
    );
}

/// The properties that SARIF 2.1.0 requires (§3.13, §3.14, §3.18, §3.19, §3.27, §3.28).
#[test]
fn sarif_has_the_required_structure() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("a b.txt"),
        "Disallow: /\nUser-agent: GPTBot/1\nDisallow: b\n",
    )
    .unwrap();
    for (file, count) in [("a b.txt", 3), ("-", 0)] {
        let sarif = json_of(&run(dir.path(), &["-q", "--sarif", file]));
        assert_eq!(
            (&sarif["version"], sarif["runs"].as_array().unwrap().len()),
            (&"2.1.0".into(), 1)
        );
        assert!(
            sarif["$schema"]
                .as_str()
                .unwrap()
                .ends_with("/sarif-schema-2.1.0.json")
        );
        let driver = &sarif["runs"][0]["tool"]["driver"];
        assert_eq!(driver["name"], "robosieve");
        let rules = driver["rules"].as_array().unwrap();
        assert_eq!(rules.len(), Code::ALL.len());
        let ids: HashSet<&str> = rules
            .iter()
            .map(|rule| rule["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), rules.len());
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), count, "{sarif}");
        for result in results {
            let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(result["ruleId"], rule["id"]);
            assert_eq!(result["level"], rule["defaultConfiguration"]["level"]);
            for text in ["shortDescription", "fullDescription", "help"] {
                assert!(
                    rule[text]["text"]
                        .as_str()
                        .is_some_and(|text| text.ends_with('.')),
                    "{rule}"
                );
            }
            assert!(matches!(
                result["level"].as_str().unwrap(),
                "note" | "warning" | "error"
            ));
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
        assert_eq!(
            (&row["code"], &row["severity"]),
            (&code.name().into(), &code.severity().name().into())
        );
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
        compiler
            .add_robots(&format!("https://{host}.example"), robots)
            .unwrap();
    }
    compiler
        .add_robots("https://d.example", b"User-agent: *\nDisallow: /\n")
        .unwrap();
    compiler
        .add_robots("https://e.example", b"<html>\n")
        .unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let counted = survey(&snapshot, &[], |_| ()).unwrap();
    assert_eq!(
        (
            counted.origins,
            counted.files,
            counted.clean_origins,
            counted.clean_files
        ),
        (5, 3, 2, 2)
    );
    for row in &counted.codes {
        assert_ne!(row.code.in_snapshot(), InSnapshot::No);
        let expected = match row.code {
            Code::OutsideGroup | Code::NoLeadingSlash | Code::UnknownField => {
                (1, 3, Some("https://a.example"))
            }
            _ => (0, 0, None),
        };
        assert_eq!(
            (row.files, row.origins, row.example.as_deref()),
            expected,
            "{}",
            row.code
        );
    }
    let allowed = [Code::OutsideGroup, Code::NoLeadingSlash, Code::UnknownField];
    assert_eq!(
        survey(&snapshot, &allowed, |_| ()).unwrap().clean_origins,
        5
    );

    fs::write(dir.path().join("s.rsieve"), b"User-agent: *\n").unwrap();
    let mut compiler = Compiler::default();
    compiler
        .add_robots("https://a.example", b"User-agent: *\nDisallow: y\n")
        .unwrap();
    fs::write(
        dir.path().join("s.rsieve"),
        compiler.finish().unwrap().to_vec().unwrap(),
    )
    .unwrap();
    for args in [&["-q", "s.rsieve"][..], &["-q", "-s", "s.rsieve"]] {
        let ran = run(dir.path(), args);
        let text = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(
            (ran.code, text.lines().count()),
            (Some(0), 3),
            "{text}{}",
            ran.stderr
        );
        let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(
            row,
            ["no-leading-slash", "error", "1", "1", "https://a.example"]
        );
    }
    let json = json_of(&run(dir.path(), &["-q", "--json", "s.rsieve"]));
    assert_eq!(
        (&json[0]["origins"], &json[0]["clean_files"]),
        (&1.into(), &0.into())
    );
    for refused in [
        &["--sarif", "s.rsieve"][..],
        &["--deny", "note", "s.rsieve"],
        &["s.rsieve", "-"],
    ] {
        assert_eq!(run(dir.path(), refused).code, Some(2), "{refused:?}");
    }
}

/// A snapshot whose first bytes are damaged is refused. As a robots.txt it would have findings, and
/// `--fix` would change it.
#[test]
fn damaged_snapshots_are_not_robots_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut compiler = Compiler::default();
    compiler
        .add_robots("https://a.example", b"User-agent: *\nDisallow: y\n")
        .unwrap();
    let bytes = compiler.finish().unwrap().to_vec().unwrap();
    for bit in 0..64 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(dir.path().join("damaged.rsieve"), &flipped).unwrap();
        for option in ["-q", "--json", "--fix"] {
            let ran = run(dir.path(), &[option, "damaged.rsieve"]);
            assert!(
                ran.code == Some(2)
                    && ran.stdout.is_empty()
                    && ran.stderr.contains(" damaged.rsieve"),
                "bit {bit}: {option}: {ran:?}"
            );
        }
        assert!(fs::read(dir.path().join("damaged.rsieve")).unwrap() == flipped);
    }
}
