//! Lines that findings call without effect change no verdict.

use crate::generate::{AGENTS, ORIGIN, Random, config, robots_txt, rule_path, url};
use proptest::collection::vec;
use proptest::prelude::*;
use robosieve::lint::{Code, Finding, lint};
use robosieve::robots::{AgentLine, reference};
use robosieve::{Agent, AgentMatch, Profile, RobotsRef};
use std::collections::{HashMap, HashSet};

/// The number of lines as parsers count them: CR, LF and CRLF end a line.
pub(super) fn line_count(body: &[u8]) -> u32 {
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

/// The file without these lines. An empty rule replaces the last rule of a group, such as one that
/// matches nothing.
fn without(body: &str, lines: &LinesWithoutEffect) -> String {
    let mut texts: Vec<Option<String>> = split_lines(body).into_iter().map(Some).collect();
    lines
        .removable
        .iter()
        .for_each(|line| texts[*line as usize - 1] = None);
    for line in &lines.nameless {
        // The field keeps its spelling, so that each profile reads it as before.
        let text = &mut texts[*line as usize - 1];
        let field = text.as_deref().and_then(|text| text.split(':').next());
        *text = field.map(|field| format!("{field}: nobody"));
    }
    // For RFC 9309 last, so that an empty rule which it reads takes the place of one that it reads.
    for (profile, empty_rule) in [
        (Profile::Google, "disalow:"),
        (Profile::Rfc9309, "disallow:"),
    ] {
        for group in RobotsRef::parse(body.as_bytes(), profile).groups() {
            if let Some(first) = group.rules().first()
                && group
                    .rules()
                    .iter()
                    .all(|rule| lines.removable.contains(&rule.line()))
            {
                texts[first.line() as usize - 1] = Some(empty_rule.to_owned());
            }
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
            shortened.push((finding.code, without(body, &lines)));
            all.removable.extend(lines.removable);
            all.nameless.extend(lines.nameless);
        }
    }
    if let Some((code, _)) = shortened.first() {
        shortened.push((*code, without(body, &all)));
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

/// Those of them that other groups share, and that no finding asks to change.
const SETTLED_NAMES: &[&str] = &["a", "A/2", "b", "MJ12bot", "mj", "*", "c"];

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

/// The first of them have no finding of their own.
const SETTLED_PATHS: usize = 11;

/// A file of a few groups that share some of their names.
pub(crate) fn file_of_shared_groups(random: &mut Random) -> String {
    let mut body = String::new();
    // No line is called superfluous next to some mistakes, so half of the files have none of these.
    if random.below(2) == 0 {
        for _ in 0..1 + random.below(5) {
            for _ in 0..1 + random.below(3) {
                body += &format!("user-agent: {}\n", random.pick(SETTLED_NAMES));
            }
            for _ in 0..random.below(5) {
                let kind = random.pick(&["disallow", "disallow", "disallow", "allow"]);
                let path = random.pick(&NESTED_PATHS[..SETTLED_PATHS]);
                body += &format!("{kind}: {path}\n");
            }
            body += random.pick(&["", "\n", "disallow:\n"]);
        }
        return body;
    }
    if random.below(8) == 0 {
        body += "disallow: /a\n";
    }
    for _ in 0..1 + random.below(5) {
        for _ in 0..1 + random.below(3) {
            body += &format!("user-agent: {}\n", random.pick(SHARED_NAMES));
        }
        body += random.pick(&["", "", "", "crawl-delay: 1\n", "noise: 1\n"]);
        for _ in 0..random.below(4) {
            let kind = random.pick(&[
                "disallow", "disallow", "disallow", "disallow", "allow", "allow", "allow",
                "disalow",
            ]);
            body += &format!("{kind}: {}\n", random.pick(NESTED_PATHS));
        }
        body += random.pick(&["", "\n"]);
    }
    body
}

/// Lines with a mistake whose mend changes groups, names or rules.
const BROKEN_LINES: &[&str] = &[
    "user-agnet: GPTBot",
    "user-agnet: b",
    "\u{feff}user-agent: *",
    "\u{feff}user-agent: CCBot",
    "user-agent GPTBot",
    "user-agent GPTBot:",
    "user-agent: GPTBt",
    "user-agent: GPTBot CCBot",
    "user-agent: GPTBot, a",
    "user-agent: * disallow: /a",
    "user-agent:",
    "useragent: CCBot",
    "agent: *",
    "disalllow: /a/b",
    "disalow: /a/b",
    "allow /a",
    "alow: /a",
    "disallow: a",
    "allow: a/b",
    "disallow: /a /b",
    "allow: http://h.example/a",
    "allow: /a/**",
    "disallow: /%61/b",
    "crawl-delay: 1",
];

/// A file of a few groups with up to three broken lines.
pub(crate) fn file_of_broken_lines(random: &mut Random) -> String {
    let mut lines = Vec::new();
    for _ in 0..1 + random.below(4) {
        for _ in 0..1 + random.below(2) {
            let name = random.pick(&["a", "b", "*", "*", "c", "GPTBot", "CCBot"]);
            lines.push(format!("user-agent: {name}\n"));
        }
        for _ in 0..1 + random.below(4) {
            let kind = random.pick(&["disallow", "disallow", "allow"]);
            let path = random.pick(&NESTED_PATHS[..SETTLED_PATHS]);
            lines.push(format!("{kind}: {path}\n"));
        }
        lines.push(random.pick(&["", "\n"]).to_owned());
    }
    for _ in 0..random.below(4) {
        let at = random.below(lines.len() as u64 + 1) as usize;
        lines.insert(at, format!("{}\n", random.pick(BROKEN_LINES)));
    }
    lines.concat()
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

/// A group that replaces rules of `*`: some URL is disallowed to other agents, and the agent of the
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
