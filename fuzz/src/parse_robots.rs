//! Any bytes as robots.txt: the parser keeps line numbers, all judges agree with the reference,
//! `lint` and its fixes end, and safe fixes change no verdict.

use crate::agreement::judges_agree;
use crate::generate::ORIGIN;
use robosieve::lint::{FixOptions, fix, lint};
use robosieve::robots::{BodyFacts, reference};
use robosieve::{Agent, AgentMatch, Profile, Robots, RobotsRef};
use std::collections::BTreeSet;

pub(crate) fn run(body: &[u8]) {
    for profile in [Profile::Google, Profile::Rfc9309] {
        let parsed = RobotsRef::parse(body, profile);
        check_lines(body, &parsed);
        let owned = Robots::parse(body, profile);
        assert_eq!(format!("{:?}", owned.parsed()), format!("{parsed:?}"));
    }
    let parsed = RobotsRef::parse(body, Profile::Google);
    let agents = agents_of(&parsed);
    let urls = urls_of(&parsed);
    let refs: Vec<&[u8]> = urls.iter().map(Vec::as_slice).collect();
    judges_agree(body, &agents, &refs);

    let facts = BodyFacts::of(body);
    assert_eq!(facts.bytes, body.len());
    let line_count = lines(body) as u32;
    let findings = lint(body);
    for finding in &findings {
        assert!(
            finding.line <= line_count,
            "{finding:?} of {line_count} lines"
        );
        assert_eq!(finding.to_json()["line"], finding.line);
    }
    let fixed = fix(body, &FixOptions::new());
    for profile in [Profile::Google, Profile::Rfc9309] {
        for agent in &agents {
            for url in &urls {
                let verdict = |body| {
                    reference::judge(body, agent, AgentMatch::Extended, profile, url).allowed
                };
                assert_eq!(
                    verdict(&fixed.body),
                    verdict(body),
                    "a safe fix for {agent}, {profile:?}, {}",
                    url.escape_ascii()
                );
            }
        }
    }
    fix(body, &FixOptions::new().unsafe_fixes(true));
}

/// Lines end at LF, CR LF or CR; a robots.txt without a line end has one line.
fn lines(body: &[u8]) -> usize {
    let ends = body.iter().enumerate().filter(|&(at, &byte)| {
        byte == b'\r' || (byte == b'\n' && (at == 0 || body[at - 1] != b'\r'))
    });
    ends.count() + 1
}

/// Every line is in one place of the parsed form, with a text that is in the body at that line, in
/// the order of the file.
fn check_lines(body: &[u8], parsed: &RobotsRef<'_>) {
    let agents = || parsed.groups().iter().flat_map(|group| group.agents());
    let rules = || parsed.groups().iter().flat_map(|group| group.rules());
    let texts = agents().map(|line| (line.line(), line.text()));
    let texts = texts.chain(rules().map(|rule| (rule.line(), rule.text())));
    let others = parsed.other_fields().iter();
    let texts = texts.chain(others.map(|field| (field.line(), field.value())));
    let start = body.as_ptr() as usize;
    let mut numbers = BTreeSet::new();
    for (number, text) in texts {
        assert!(numbers.insert(number), "line {number} twice");
        if text.is_empty() {
            continue;
        }
        let at = text.as_ptr() as usize - start;
        assert!(body[at..].starts_with(text));
        let before = &body[..at];
        assert_eq!(
            lines(before),
            number as usize,
            "the number of a line at byte {at}"
        );
    }
    assert!(rules().map(|rule| rule.line()).is_sorted());
    assert!(agents().map(|line| line.line()).is_sorted());
}

/// The names of the first user-agent lines, and one that no line has.
fn agents_of(parsed: &RobotsRef<'_>) -> Vec<Agent> {
    let lines = parsed.groups().iter().flat_map(|group| group.agents());
    let values = lines.map(|line| {
        let text = String::from_utf8_lossy(line.text()).into_owned();
        text.split_once(':')
            .map_or(text.clone(), |(_, value)| value.trim().to_owned())
    });
    let named = values.filter_map(|value| value.parse().ok()).take(2);
    named.chain("Absent".parse()).collect()
}

/// URLs that the first rules match, if a `*` stands for nothing or for `x`.
fn urls_of(parsed: &RobotsRef<'_>) -> Vec<Vec<u8>> {
    let rules = parsed
        .groups()
        .iter()
        .flat_map(|group| group.rules())
        .take(2);
    let paths = rules.flat_map(|rule| {
        let value = rule.value();
        let end = value.strip_suffix(b"$").unwrap_or(value);
        let end = &end[..end.len().min(300)];
        let without: Vec<u8> = end.iter().copied().filter(|&byte| byte != b'*').collect();
        let with = end
            .iter()
            .map(|&byte| if byte == b'*' { b'x' } else { byte });
        [with.chain(*b"y").collect(), without]
    });
    let urls = paths.map(|path: Vec<u8>| {
        let slash = if path.starts_with(b"/") { "" } else { "/" };
        [ORIGIN.as_bytes(), slash.as_bytes(), path.trim_ascii_end()].concat()
    });
    let mut urls: Vec<_> = urls.chain([ORIGIN.as_bytes().to_vec()]).collect();
    // White space at the end of a URL is not a part of it for a judge, but for the reference.
    urls.retain(|url| !url.ends_with(b"\x0b"));
    urls
}
