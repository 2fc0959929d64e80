//! The rules of short old texts are stored, and those of others are parsed. Both give the verdicts of
//! a compilation as of the time.

use crate::forging::overlapping_groups;
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
use serde_json::json;

/// The most bytes of an old text, and of its rules, that are stored: docs/FORMAT.md, section 22.
const MAX_STORED: usize = 8192;

const AGENTS: [&str; 3] = ["FooBot", "am", "*"];
const PATHS: [&str; 5] = ["/", "/p", "/a/b", "/a/bm/x", "/p/zz"];

/// An old text, and a newer one that allows everything.
fn captures(old: &str) -> String {
    let line = |time: i64, body: &str| {
        json!({"url": "https://e.example/robots.txt", "fetched_at": time, "body": body}).to_string()
            + "\n"
    };
    line(1_000_000_000, old) + &line(1_100_000_000, "user-agent: *\nallow: /\n")
}

fn compiled(captures: &str, compiler: Compiler) -> Snapshot {
    let mut compiler = compiler;
    compiler.add_reader("archive", captures.as_bytes()).unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    snapshot.verify().unwrap();
    snapshot
}

fn verdicts(snapshot: &Snapshot, options: JudgeOptions) -> Vec<Verdict> {
    let agents = AGENTS.map(|agent| agent.parse().unwrap());
    let judge = Judge::new(snapshot.clone(), &agents, options).unwrap();
    let mut found = Vec::new();
    for path in PATHS {
        let url = format!("https://e.example{path}");
        found.extend(judge.judge(url.as_bytes()).unwrap().iter());
    }
    found
}

fn section_len(history: &Snapshot, name: &str) -> u64 {
    let mut sections = history.sections();
    sections.find(|(other, _)| *other == name).unwrap().1
}

/// The number of old texts with stored rules.
fn stored(history: &Snapshot) -> u64 {
    section_len(history, "old files") / 16 - 1
}

/// Compiles a history whose old text is this, and compares its verdicts. Returns whether the rules of
/// the text are stored.
fn is_stored(old: &str) -> bool {
    let captures = captures(old);
    let history = compiled(&captures, Compiler::default().history(true));
    let time = 1_050_000_000;
    let as_of = compiled(&captures, Compiler::default().as_of(time));
    let expected = verdicts(&as_of, JudgeOptions::default().at(time));
    assert!(expected.contains(&Verdict::Disallowed));
    let found = verdicts(&history, JudgeOptions::default().as_of(time));
    assert_eq!(found, expected, "{old}");
    match stored(&history) {
        0 => false,
        count => {
            assert_eq!(count, 1);
            true
        }
    }
}

/// A text of this length, with two rules.
fn text_of(len: usize) -> String {
    let head =
        "user-agent: *\ndisallow: /p\nuser-agent: foobot\nallow: /p/zz\ndisallow: /\nsitemap: /";
    // The name of a sitemap counts for the length of the text only.
    head.to_owned() + &"m".repeat(len - head.len() - 1) + "\n"
}

#[test]
fn rules_of_texts_up_to_a_length_are_stored() {
    for len in [100, 1000, MAX_STORED - 1, MAX_STORED] {
        assert!(is_stored(&text_of(len)), "{len}");
    }
    for len in [MAX_STORED + 1, 2 * MAX_STORED, 50_000] {
        assert!(!is_stored(&text_of(len)), "{len}");
    }
}

/// A text below the limit, whose overlapping groups make rules above it.
#[test]
fn rules_above_the_limit_are_not_stored() {
    let text = overlapping_groups("disallow: /a\n", |letter| format!("allow: /a/b{letter}\n"));
    assert!(is_stored(&text));
    let large: String = (0..40).map(|n| format!("disallow: /a{n}/b\n")).collect();
    let text = overlapping_groups(&(large + "disallow: /a\n"), |letter| {
        format!("allow: /a/b{letter}\n")
    });
    assert!(text.len() < MAX_STORED);
    assert!(!is_stored(&text));
}

/// Nine old texts with equal rules take the space of one.
#[test]
fn equal_rules_are_stored_once() {
    let old = |number: u32, rules: &str| {
        json!({
            "url": "https://e.example/robots.txt",
            "fetched_at": 1_000_000_000 + number,
            "body": format!("user-agent: *\n{rules}\nsitemap: /{number}\n"),
        })
        .to_string()
            + "\n"
    };
    let history = |captures: &str| compiled(captures, Compiler::default().history(true));
    let size = |snapshot| section_len(snapshot, "old rule sets");
    let one = history(&(old(0, "disallow: /a") + &old(9, "allow: /")));
    let many: String = (0..9).map(|number| old(number, "disallow: /a")).collect();
    let many = history(&(many + &old(9, "allow: /")));
    assert_eq!((stored(&one), stored(&many)), (1, 9));
    assert!(size(&one) > 0);
    assert_eq!(size(&one), size(&many));
}

/// Long texts of three sites, each stored as the difference to the newest text of its site.
#[test]
fn differences_to_several_texts_are_told_apart() {
    let body = |site: &str, version: u32| {
        let lines = (0..500).map(|n| format!("disallow: /{site}/path-{}\n", n * n));
        format!(
            "user-agent: *\n{}disallow: /v{version}\n",
            lines.collect::<String>()
        )
    };
    let sites = ["a", "b", "c"];
    let mut captures = String::new();
    for version in 0..6 {
        for site in sites {
            let url = format!("https://{site}.example/robots.txt");
            let time = 1_000_000_000 + version;
            let body = body(site, version);
            let line = json!({"url": url, "fetched_at": time, "body": body});
            captures += &(line.to_string() + "\n");
        }
    }
    let history = compiled(&captures, Compiler::default().history(true));
    assert_eq!(stored(&history), 0);
    let frames = section_len(&history, "history frames");
    assert!(frames < 15 * 200, "{frames} bytes of 15 differences");
    let agents = ["FooBot".parse().unwrap()];
    let judge = Judge::new(history, &agents, JudgeOptions::default()).unwrap();
    for version in 0..6 {
        let time = 1_000_000_000 + i64::from(version);
        for site in sites {
            let judged = |path: &str| {
                let url = format!("https://{site}.example/{path}");
                judge.judge_as_of(url.as_bytes(), time).unwrap().get(0)
            };
            assert_eq!(judged(&format!("{site}/path-9")), Verdict::Disallowed);
            for path in 0..6 {
                let is_disallowed = judged(&format!("v{path}")) == Verdict::Disallowed;
                assert_eq!(is_disallowed, path == version, "{site} {version} {path}");
            }
        }
    }
}
