//! `lint --fix`: the cases of `tests/cases/fix`, properties on random and real files, and the
//! command with the files that it rewrites.

use crate::command::{Ran, assert_starts, robosieve, robosieve_with};
use crate::generate::{AGENTS, ORIGIN, Random, config, robots_txt};
use crate::lint::effects::{SHARED_AGENTS, file_of_shared_groups};
use crate::spec::{cases_dir, load};
use crate::test_dir::TestDir;
use proptest::prelude::*;
use robosieve::lint::{Code, Fix, FixOptions, Fixable, apply, fix, lint};
use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Profile, RobotsRef};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FixCase {
    name: String,
    /// The codes of the findings that are mended, in any order.
    #[serde(default)]
    codes: BTreeSet<String>,
    before: String,
    /// The text with all safe fixes; absent if it is `before`.
    safe: Option<String>,
    /// The text with all fixes; absent if it is the safe one.
    r#unsafe: Option<String>,
}

fn mended(body: &str, unsafe_fixes: bool) -> robosieve::lint::Fixed {
    fix(
        body.as_bytes(),
        &FixOptions::new().unsafe_fixes(unsafe_fixes),
    )
}

#[test]
fn cases_have_the_expected_text() {
    let cases: Vec<FixCase> = load(&cases_dir().join("fix"));
    let mut seen: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
    let mut wrong = String::new();
    for case in &cases {
        let safe = case.safe.as_ref().unwrap_or(&case.before);
        let expected = [safe, case.r#unsafe.as_ref().unwrap_or(safe)];
        let mut codes = BTreeSet::new();
        for (expected, unsafe_fixes) in expected.into_iter().zip([false, true]) {
            let fixed = mended(&case.before, unsafe_fixes);
            let text = String::from_utf8_lossy(&fixed.body);
            if text != *expected {
                wrong += &format!("{}: expected {expected:?}, found {text:?}\n", case.name);
            }
            for finding in &fixed.mended {
                let is_safe = finding.fix().unwrap().is_safe;
                let name = finding.code.name().to_owned();
                seen.entry(name.clone()).or_default().insert(is_safe);
                codes.insert(name);
            }
        }
        if codes != case.codes {
            wrong += &format!(
                "{}: expected {:?}, found {codes:?}\n",
                case.name, case.codes
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // Each kind of fix that the table of codes has is a case.
    for code in Code::ALL {
        let expected: &[bool] = match code.fixable() {
            Fixable::Safe => &[true],
            Fixable::Unsafe => &[false],
            Fixable::Either => &[false, true],
            _ => &[],
        };
        let found = seen.remove(code.name()).unwrap_or_default();
        assert_eq!(found, expected.iter().copied().collect(), "{code}");
    }
}

/// URLs that the rules of a file match, or nearly match.
fn urls_of(body: &[u8]) -> BTreeSet<Vec<u8>> {
    let robots = RobotsRef::parse(body, Profile::Google);
    let mut urls = BTreeSet::new();
    for rule in robots.groups().iter().flat_map(|group| group.rules()) {
        for filler in [&b""[..], b"x"] {
            let mut url = ORIGIN.as_bytes().to_vec();
            if !rule.value().starts_with(b"/") {
                url.push(b'/');
            }
            for &byte in rule.value() {
                match byte {
                    b'*' => url.extend_from_slice(filler),
                    b'$' => {}
                    _ => url.push(byte),
                }
            }
            urls.insert([url.as_slice(), b"x"].concat());
            urls.insert(url);
        }
    }
    urls
}

/// The names in a file.
fn names_of(body: &[u8]) -> BTreeSet<String> {
    let robots = RobotsRef::parse(body, Profile::Google);
    let lines = robots.groups().iter().flat_map(|group| group.agents());
    lines
        .filter_map(|line| {
            let text = String::from_utf8_lossy(line.text()).into_owned();
            Some(text.split_once([':', ' '])?.1.trim().to_owned())
        })
        .collect()
}

/// What the reference is asked about each text.
struct Question<'a> {
    agent: &'a Agent,
    how: AgentMatch,
    profile: Profile,
    url: &'a [u8],
}

/// All agents and URLs, in both ways to match agents and both profiles.
fn questions_of<'a>(agents: &'a [Agent], urls: &'a BTreeSet<Vec<u8>>) -> Vec<Question<'a>> {
    let mut questions = Vec::new();
    for agent in agents {
        for how in [AgentMatch::Extended, AgentMatch::Google] {
            for profile in [Profile::Google, Profile::Rfc9309] {
                questions.extend(urls.iter().map(|url| Question {
                    agent,
                    how,
                    profile,
                    url,
                }));
            }
        }
    }
    questions
}

impl Question<'_> {
    /// Whether a text allows the URL, by the reference.
    fn is_allowed(&self, body: &[u8]) -> bool {
        reference::judge(body, self.agent, self.how, self.profile, self.url).allowed
    }
}

/// The first question that a text answers in another way than `expected`.
fn difference(questions: &[Question<'_>], expected: &[bool], body: &[u8]) -> Option<String> {
    let (question, before) = questions
        .iter()
        .zip(expected)
        .find(|(question, before)| question.is_allowed(body) != **before)?;
    let url = String::from_utf8_lossy(question.url);
    Some(format!(
        "{} {:?} {:?} {url}: {before} → {}",
        question.agent, question.how, question.profile, !before
    ))
}

/// Asserts what `fix` promises for any file.
fn assert_fixed(body: &[u8], others: &[&str]) -> usize {
    let shown = String::from_utf8_lossy(body);
    let fixed = fix(body, &FixOptions::new());
    let after = String::from_utf8_lossy(&fixed.body);
    // Each safe fix alone, as an editor applies it.
    let mut alone = Vec::new();
    for finding in lint(body) {
        if let Some(fix) = finding.fix().filter(|fix| fix.is_safe) {
            alone.push((finding.code, apply(body, [fix])));
        }
    }
    let mut urls = urls_of(body);
    urls.extend(urls_of(&fixed.body));
    let mut names: BTreeSet<String> = others.iter().map(|name| (*name).to_owned()).collect();
    names.extend(names_of(body));
    names.extend(names_of(&fixed.body));
    names.extend(alone.iter().flat_map(|(_, body)| names_of(body)));
    let agents: Vec<Agent> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let questions = questions_of(&agents, &urls);
    let verdicts: Vec<bool> = questions
        .iter()
        .map(|question| question.is_allowed(body))
        .collect();

    if let Some(changed) = difference(&questions, &verdicts, &fixed.body) {
        panic!("{changed}\n{shown}\n--\n{after}");
    }
    assert_eq!(
        fix(&fixed.body, &FixOptions::new()).body,
        fixed.body,
        "{shown}\n--\n{after}"
    );
    let left = lint(&fixed.body);
    let left = left
        .iter()
        .find(|found| found.fix().is_some_and(|fix| fix.is_safe));
    assert_eq!(left, None, "{shown}\n--\n{after}");
    assert!(fixed.verdict_changes.is_empty() && fixed.field_changes.is_empty());
    assert_eq!(fixed.mended.is_empty(), fixed.body == body);

    for (code, alone) in &alone {
        if let Some(changed) = difference(&questions, &verdicts, alone) {
            panic!("{code}: {changed}\n{shown}\n--\n{}", alone.escape_ascii());
        }
    }

    // Unsafe fixes come to an end too.
    let all = FixOptions::new().unsafe_fixes(true);
    let fixed = fix(body, &all);
    assert_eq!(fix(&fixed.body, &all).body, fixed.body, "{shown}");
    fixed.mended.len()
}

#[test]
fn fixes_of_shared_groups_change_no_verdict() {
    let mut random = Random(11);
    let mended: usize = (0..500)
        .map(|_| assert_fixed(file_of_shared_groups(&mut random).as_bytes(), SHARED_AGENTS))
        .sum();
    assert!(mended > 600, "{mended}");
}

proptest! {
    #![proptest_config(config(80))]

    #[test]
    fn fixes_of_any_file_change_no_verdict(body in robots_txt()) {
        assert_fixed(body.as_bytes(), AGENTS);
    }

    #[test]
    fn fixes_of_any_bytes_end(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        assert_fixed(&body, &["a"]);
    }

    #[test]
    fn listed_changes_are_real(body in robots_txt()) {
        assert_listed_changes(&body);
    }
}

#[test]
fn listed_changes_are_of_paths_that_urls_can_have() {
    // White space at the end of a URL is not part of its path, so `/$ ` is not an example.
    let body = "user-agent: a\ndisalow: /$ *\n";
    assert_listed_changes(body);
    let fixed = mended(body, true);
    assert_eq!(fixed.verdict_changes[0].path, "/$ x");
}

/// The listed examples are verdicts of the reference.
fn assert_listed_changes(body: &str) {
    let fixed = mended(body, true);
    for change in fixed
        .verdict_changes
        .iter()
        .filter(|change| change.path.is_ascii())
    {
        let profiles = match change.profile {
            Some(profile) => vec![profile],
            None => vec![Profile::Google, Profile::Rfc9309],
        };
        for name in &change.agents {
            // Some names of a file cannot be asked for.
            let Ok(agent) = name.parse::<Agent>() else {
                continue;
            };
            for &profile in &profiles {
                let url = format!("{ORIGIN}{}", change.path);
                let answers = [body.as_bytes(), &fixed.body].map(|text| {
                    reference::judge(text, &agent, AgentMatch::Extended, profile, url.as_bytes())
                        .allowed
                });
                let listed = [change.was_allowed, !change.was_allowed];
                assert_eq!(answers, listed, "{change:?}\n{body}");
            }
        }
    }
}

#[test]
fn hostile_files_are_fixed_in_bounded_time() {
    let many = |line: &str, count: usize| line.repeat(count);
    for body in [
        many("\r", 500_000),
        format!("user-agent: *\n{}", many("disallow: /a\n", 38_000)),
        format!("user-agent: *\n{}", many("disalow: /a\r", 38_000)),
        format!("user-agent: *\n{}", many("disalllow: a\n", 38_000)),
        many("user-agent: a/1\n", 32_000),
        (0..20_000)
            .map(|i| format!("disallow: /{i}*a\nuser-agent: a{i}\n"))
            .collect(),
        (0..3000)
            .map(|i| format!("user-agent: x\ndisallow: /{i}*a\ndisallow: /{i}*a*b\n"))
            .collect(),
    ] {
        for unsafe_fixes in [false, true] {
            fix(
                body.as_bytes(),
                &FixOptions::new().unsafe_fixes(unsafe_fixes),
            );
        }
    }
}

/// Callers may pass any fix to any text.
/// A program may have kept no more of a body than parsers read, as `Robots` does.
#[test]
fn fixes_stay_within_the_bytes_that_parsers_read() {
    const READ: usize = 512_000;
    for end in ["\n", "\r", "\r\n"] {
        let line = format!("dissallow: /0123456789{end}");
        let body = format!("user-agent: *{end}{}", line.repeat(READ / line.len() + 3));
        let findings = lint(body.as_bytes());
        let read = lint(&body.as_bytes()[..READ + 2]);
        let differs = findings.iter().zip(&read).find(|(a, b)| a != b);
        assert!(differs.is_none(), "{end:?}: {differs:?}");
        assert!(findings.len() == read.len(), "{end:?}: {differs:?}");
        let fixes: Vec<&Fix> = findings.iter().filter_map(|found| found.fix()).collect();
        assert!(fixes.len() >= 1000, "{end:?}: {}", fixes.len());
        for edit in fixes.iter().flat_map(|fix| &fix.edits) {
            assert!(edit.range.end <= READ, "{end:?}: {edit:?}");
        }
    }
}

#[test]
fn foreign_fixes_are_left_out() {
    let findings = lint(b"user-agent: *\ndisallow: /a\ndisallow: /a\n");
    let fix: &Fix = findings[0].fix().unwrap();
    assert_eq!(apply(b"short", [fix]), b"short");
    let found = apply(b"user-agent: *\ndisallow: /a\ndisallow: /a\n", [fix, fix]);
    assert_eq!(found, b"user-agent: *\ndisallow: /a\n");
}

fn run(dir: &Path, args: &[&str]) -> Ran {
    robosieve(dir, &[&["lint"], args].concat())
}

const BAD: &str = "User-agent: *\r\nDisallow: /cart\r\nDisallow: /cart/1 # old\r\n\
                   Disallow: tmp\r\nSite-map: https://e.example/s\r\n";
const SAFE: &str = "User-agent: *\r\nDisallow: /cart\r\n# old\r\n\
                    Disallow: tmp\r\nSitemap: https://e.example/s\r\n";

#[test]
fn files_are_rewritten_in_place() {
    let dir = TestDir::new();
    let path = dir.path("robots.txt");
    fs::write(&path, BAD).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("robots.txt", dir.path("link")).unwrap();
    }
    // Without the option nothing is written.
    run(dir.root(), &["robots.txt"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), BAD);
    let name = if cfg!(unix) { "link" } else { "robots.txt" };
    let ran = run(dir.root(), &["--fix", name, "robots.txt"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), SAFE);
    assert_eq!(ran.code, Some(1));
    let expected = "files 1  clean 0  errors 1  warnings 0  notes 0  fixed 2 in 1\n";
    assert_eq!(ran.stderr.as_str(), expected);
    let found = ran.text();
    assert_starts(found, &format!("{name}:4: error[no-leading-slash]"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert!(fs::symlink_metadata(dir.path("link")).unwrap().is_symlink());
    }
    // A second run writes nothing, so it keeps the time of the file.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    run(dir.root(), &["--fix", "robots.txt"]);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);

    let ran = run(dir.root(), &["--fix", "--unsafe-fixes", "robots.txt"]);
    assert_eq!(ran.code, Some(0));
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, SAFE.replace("tmp", "/tmp"));
    let change = "robosieve: note: robots.txt: `*`: /tmp was allowed, is now disallowed\n";
    assert!(ran.stderr.starts_with(change), "{}", ran.stderr);
    let found = fs::read_dir(dir.root()).unwrap().count();
    assert_eq!(found, if cfg!(unix) { 2 } else { 1 });
}

#[test]
fn lines_of_a_diff_end_at_line_feeds() {
    let dir = TestDir::new();
    let ran = robosieve_with(
        dir.root(),
        &["lint", "--diff", "-q", "-"],
        b"User-agent: *\rDisallow: /a\r",
    );
    let diff = ran.text();
    let (_, lines) = diff.split_once("@@\n").unwrap();
    let expected = "-User-agent: *\rDisallow: /a\r\n\\ No newline at end of file\n\
                    +User-agent: *\n+Disallow: /a\n";
    assert_eq!(lines, expected);
}

/// `patch` compares the lines of a diff with those of the file, byte by byte.
#[test]
fn diffs_keep_bytes_that_are_not_utf8() {
    let dir = TestDir::new();
    let ran = robosieve_with(
        dir.root(),
        &["lint", "--diff", "-q", "-"],
        b"User-agent: *\n# caf\xe9\nSite-map: https://e.example/s\n",
    );
    let expected = b"@@\n User-agent: *\n # caf\xe9\n-Site-map: https://e.example/s\n\
                     +Sitemap: https://e.example/s\n";
    assert!(ran.stdout.ends_with(expected), "{ran:?}");
}

#[test]
fn diffs_write_no_file() {
    let dir = TestDir::new();
    let path = dir.path("robots.txt");
    fs::write(&path, "User-agent: *\nSite-map: https://e.example/s\n").unwrap();
    let ran = run(dir.root(), &["--diff", "robots.txt"]);
    let expected = "--- robots.txt\n+++ robots.txt\n@@ -1,2 +1,2 @@\n User-agent: *\n-Site-map: https://e.example/s\n+Sitemap: https://e.example/s\n";
    assert_eq!(ran.text(), expected);
    assert_eq!(ran.code, Some(1));
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, "User-agent: *\nSite-map: https://e.example/s\n");
    let ran = run(
        dir.root(),
        &["--diff", "--allow", "misspelt-field", "robots.txt"],
    );
    assert_eq!((ran.code, ran.stdout.len()), (Some(0), 0));
    let ran = robosieve_with(
        dir.root(),
        &["lint", "--diff", "--fix", "-"],
        b"User-agent: *\nDisallow: /\n",
    );
    assert_eq!((ran.code, ran.stdout.len()), (Some(0), 0));
}

#[test]
fn standard_input_is_mended_to_standard_output() {
    let dir = TestDir::new();
    let ran = robosieve_with(dir.root(), &["lint", "--fix", "-"], BAD.as_bytes());
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.text(), SAFE);
    assert!(
        ran.stderr
            .starts_with("standard input:4: error[no-leading-slash]"),
        "{ran:?}"
    );
    let ran = robosieve_with(dir.root(), &["lint", "-q", "--fix", "-"], b"");
    assert_eq!((ran.code, ran.stdout.len()), (Some(0), 0));
}

#[test]
fn inputs_that_cannot_be_rewritten_are_refused() {
    let dir = TestDir::new();
    let zipped = zstd::encode_all(BAD.as_bytes(), 1).unwrap();
    dir.write("robots.txt.zst", &zipped);
    dir.write("renamed", &zipped);
    dir.write("plain.gz", BAD);
    fs::write(dir.path("long"), vec![b'#'; (16 << 20) + 1]).unwrap();
    dir.write("robots.txt", BAD);
    for (input, reason) in [
        ("robots.txt.zst", "is a compressed file"),
        ("renamed", "is a compressed file"),
        ("plain.gz", "is a compressed file"),
        ("long", "is longer than 16 MiB"),
        ("missing", "robosieve: missing: "),
        #[cfg(unix)]
        ("/dev/null", "is not a regular file"),
    ] {
        // The other files are mended nevertheless.
        dir.write("robots.txt", BAD);
        let ran = run(dir.root(), &["--fix", input, "robots.txt"]);
        assert_eq!(ran.code, Some(2), "{input}");
        assert!(ran.stderr.contains(reason), "{input}: {}", ran.stderr);
        let found = dir.read_text("robots.txt");
        assert_eq!(found, SAFE, "{input}");
    }
    assert_eq!(dir.read("renamed"), zipped);
    for args in [
        &["--unsafe-fixes", "robots.txt"][..],
        &["--diff", "--json", "robots.txt"],
        &["--fix", "-", "robots.txt"],
        &["--fix", "--json", "-"],
        &["--fix", "--codes"],
    ] {
        assert_eq!(run(dir.root(), args).code, Some(2), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn write_protected_files_are_not_rewritten() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TestDir::new();
    dir.write("robots.txt", BAD);
    dir.write("mended", SAFE);
    for name in ["robots.txt", "mended"] {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o444)).unwrap();
    }
    dir.write("other", BAD);
    let ran = run(dir.root(), &["--fix", "robots.txt", "mended", "other"]);
    assert_eq!(ran.code, Some(2));
    ran.says(
        "robosieve: robots.txt: cannot be an output: it is write-protected, and is not replaced",
    )
    .says("allow writing");
    assert!(!ran.stderr.contains("mended:"), "{}", ran.stderr);
    assert_eq!(dir.read_text("robots.txt"), BAD);
    assert_eq!(dir.read_text("other"), SAFE);
    // A diff writes nothing.
    assert_eq!(run(dir.root(), &["--diff", "robots.txt"]).code, Some(1));
}

#[test]
fn json_and_sarif_have_the_edits() {
    let dir = TestDir::new();
    dir.write(
        "robots.txt",
        "User-agent: *\nDisalow: /a\nDisallow: b\nAllow: .c\n",
    );
    let json: serde_json::Value =
        serde_json::from_slice(&run(dir.root(), &["-q", "--json", "robots.txt"]).stdout).unwrap();
    let expected = serde_json::json!([
        { "safe": false, "edits": [{ "start": 14, "end": 21, "text": "Disallow" }] },
        { "safe": false, "edits": [{ "start": 36, "end": 36, "text": "/" }] },
        null,
    ]);
    let fixes: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["fix"].clone())
        .collect();
    assert_eq!(serde_json::Value::from(fixes), expected);
    let sarif: serde_json::Value =
        serde_json::from_slice(&run(dir.root(), &["-q", "--sarif", "robots.txt"]).stdout).unwrap();
    let change = &sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "robots.txt");
    let expected = serde_json::json!({
        "deletedRegion": { "byteOffset": 14, "byteLength": 7 },
        "insertedContent": { "text": "Disallow" },
    });
    assert_eq!(change["replacements"][0], expected);
}
