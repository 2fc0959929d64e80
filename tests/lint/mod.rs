//! `lint`: the cases of `tests/cases/lint`, the examples of `docs/LINT.md`, properties on random
//! files, and the command with its outputs and exit statuses.

mod advice;
mod command;
pub(crate) mod effects;
mod mends;

use crate::command::{case, checkout};
use crate::spec::{Repeat, cases_dir, load, robots_body};
use effects::line_count;
use robosieve::lint::{Code, Fixable, lint};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs;
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

impl LintCase {
    fn robots(&self) -> Vec<u8> {
        robots_body(
            self.robots.as_deref(),
            self.robots_base64.as_deref(),
            self.robots_repeat.as_deref(),
        )
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
            .map(|finding| format!("{} help: {}\n", finding.message, finding.help))
            .collect::<String>()
    };
    for row in [
        "User-agent: openai\nDisallow: / | for OpenAI it has | `GPTBot` | `ChatGPT-User` | \
         `OAI-SearchBot`",
        "User-agent: chatgpt\nDisallow: / | `ChatGPT-User`,  | `GPTBot`",
        "User-agent: GPTBt\nDisallow: / | `GPTBot` (OpenAI) | help: write `User-agent: GPTBot`",
        "User-agent: baiduspider+\nDisallow: / | read it as `baiduspider` | \
         help: write `User-agent: Baiduspider`",
        "User-agent: MJ12bt\nDisallow: / | read it as `MJ` | help: write `User-agent: MJ12bot`",
        "User-agent: FooBot\nUser-agent: b\nDisallow: / | \
         no crawlers with 2 names of this file: `FooBot` and `b` help:",
        "User-agent-purpose: x\nDisallow: / | reads it as `User-agent` | \
         help: remove the line, or write `User-agent:` if",
        "\u{feff}# a\nUser-agent: *\nDisallow: /a | \
         it is in front of no field, so parsers read all lines as without it",
        "\u{feff}User-agent: *\nDisallow: /a | others read it as a part of the first field",
        "User-agent: *\nDisallow: /0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/a%3Ab | \
         456789/0123456789/a%3Ab` | 456789/0123456789/a:b`",
        "LLM-Policy: /llms.txt | only programs that know it read the line",
        "Content-Usage: Train-AI=n | not a dictionary of RFC 9651 | \
         help: write `Content-Usage: train-ai=n`",
        "Content-Usage: /a Train-AI=no | help: write `Content-Usage: /a train-ai=n`",
        "Content-Usage: train-ai=no | neither `y` nor `n` | help: write `train-ai=n` to object",
        "Content-Usage: ai-train=no | \
         `ai-train` is a key of `content-signal`; here write `train-ai` or `search`",
        "Content-Signal: ai_train=no | `content-signal` has no key `ai_train` | \
         help: write `ai-train`",
        "Content-Signal: search=yes ai-train=no | help: separate the members with commas",
        "Content-Signal: use=all | is not `immediate`, `reference` or `full`",
        "User-agent: GPTBot\nDisallow: /a\nUser-agent: CCBot\nDisallow: /\nUser-agent: GPTBot\n\
         User-agent: CCBot\nDisallow: /a\nDisallow: /a/b | \
         for some of its agents `Disallow: /a` on line 2 decides in its place, for others \
         `Disallow: /a` on line 7",
        "User-agent: *\nDisallow: /a\nUser-agent: GPTBot\nDisallow: /b | \
         `GPTBot` obeys the groups that name it and none of `*`, so `Disallow: /a` on line 2 does \
         not",
    ] {
        let (robots, expected) = case(row);
        let found = all(robots);
        for part in expected {
            assert!(found.contains(part), "{robots}: {part} is not in {found}");
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
