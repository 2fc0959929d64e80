//! `diff`: its table, JSON, picture and exit status.

use super::line;
use crate::command::{Ran, assert_has};
use crate::test_dir::TestDir;
use serde_json::{Value, json};

/// A directory with snapshots `old` and `new`. In `new` two sites start to disallow GPTBot, one
/// disallows all but Googlebot, and one disallows no agent.
fn two_snapshots() -> TestDir {
    let dir = TestDir::new();
    let site = |origin: &str, body: &str| line(&(origin, 200, body.to_owned()));
    let old = [
        site(
            "https://a.example",
            "user-agent: *\ndisallow: /admin\ndisallow: /tmp",
        ),
        site("https://b.example", "user-agent: *\ndisallow: /admin"),
        site(
            "https://c.example",
            "user-agent: Googlebot\nallow: /\nuser-agent: *\ndisallow: /x",
        ),
        site("https://d.example", "user-agent: *\ndisallow: /"),
        site("https://gone.example", ""),
    ];
    let evil = "user-agent: <b>\u{1b}[2J&\ndisallow: /";
    let new = [
        site(
            "https://a.example",
            "user-agent: *\ndisallow: /admin\nuser-agent: GPTBot\ndisallow: /",
        ),
        site(
            "https://b.example",
            "user-agent: *\ndisallow: /admin\nuser-agent: GPTBot\nuser-agent: CCBot\ndisallow: /",
        ),
        site(
            "https://c.example",
            &format!("user-agent: Googlebot\nallow: /\nuser-agent: *\ndisallow: /\n{evil}"),
        ),
        site("https://d.example", "user-agent: *\ndisallow:"),
        site("https://new.example", ""),
    ];
    for (name, lines) in [("old", old), ("new", new)] {
        dir.write("a.jsonl", lines.concat());
        dir.done(&["compile", "-q", "a.jsonl", "-o", name]);
    }
    dir
}

fn diff(dir: &TestDir, args: &[&str]) -> Ran {
    dir.run(&[&["diff", "old", "new"], args].concat())
}

#[test]
fn diff_prints_a_table() {
    let dir = two_snapshots();
    let ran = diff(&dir, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let text = String::from_utf8(ran.stdout).unwrap();
    let has = |words: &str| {
        text.lines()
            .any(|line| line.split_whitespace().eq(words.split(' ')))
    };
    for words in [
        "origins in both 4",
        "new 1",
        "gone 1",
        "rules changed 4",
        "outcome changed 0",
        "newly disallowed newly allowed",
        "agent wholly by name by * partly wholly by name by * partly",
        "* 1 0 1 0 1 0 1 0",
        "GPTBot 3 2 1 0 1 0 1 0",
        "CCBot 2 1 1 0 1 0 1 0",
        "GPTBot newly disallowed, for example",
        "https://a.example (group *, now group gptbot)",
        "- disallow: /admin",
        "- disallow: /tmp",
        "+ disallow: /",
    ] {
        assert!(has(words), "{words}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    assert_has(&text, "<b>\\u{1b}[2j&");
    let gpt = text
        .lines()
        .position(|line| line.starts_with("GPTBot "))
        .unwrap();
    let cc = text
        .lines()
        .position(|line| line.starts_with("CCBot "))
        .unwrap();
    assert!(gpt < cc);
    let none = String::from_utf8(diff(&dir, &["--examples", "0", "--top", "1"]).stdout).unwrap();
    assert!(!none.contains("for example"), "{none}");
    assert!(!none.contains("CCBot"), "{none}");
    assert_has(&none, "and 2 more names");
}

#[test]
fn diff_prints_json() {
    let dir = two_snapshots();
    let ran = diff(
        &dir,
        &["--json", "-a", "@ai-train,FooBot", "--examples", "1"],
    );
    let value: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let expected = json!({"snapshot": "old", "newest_capture": null, "origins": 5});
    assert_eq!(value["old"], expected);
    let expected = json!({"origins": 1, "examples": ["https://gone.example"]});
    assert_eq!(value["gone"], expected);
    let agent = |name: &str| {
        value["agents"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(agent("FooBot")["refused"]["origins"], 1);
    assert_eq!(
        agent("FooBot")["refused"]["examples"][0]["origin"],
        "https://c.example"
    );
    let example = json!({
        "origin": "https://a.example", "old_group": "*", "new_group": "gptbot",
        "removed": ["disallow: /admin", "disallow: /tmp"], "removed_more": 0, "added": ["disallow: /"], "added_more": 0,
    });
    assert_eq!(
        agent("GPTBot")["refused"],
        json!({"origins": 3, "by_name": 2, "by_global": 1, "named": 2, "examples": [example]})
    );
}

#[test]
fn diff_draws_svg() {
    let dir = two_snapshots();
    assert_eq!(diff(&dir, &["--svg", "out.svg"]).code, Some(0));
    let svg = dir.read_text("out.svg");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(svg.ends_with("</svg>\n"));
    assert_has(&svg, ">GPTBot</text>");
    assert_has(&svg, "&lt;b&gt;\\u{1b}[2j&amp;</text>");
    // Site text is escaped, and the picture loads no resource.
    let tags = svg.matches('<').count();
    let known = [
        "<svg ", "</svg>", "<title>", "</title>", "<style>", "</style>", "<rect ", "<path ",
        "<text ", "</text>",
    ];
    let found = known
        .iter()
        .map(|tag| svg.matches(tag).count())
        .sum::<usize>();
    assert_eq!(found, tags, "{svg}");
    assert!(!svg.contains("href") && !svg.contains("url("));
    // GPTBot: two by name, one by `*`; one was disallowed by `*`.
    assert_has(&svg, ">2 · 1 · 0</text>");
    assert_has(&svg, ">0 · 1 · 0</text>");
    for class in ["t", "r0", "r1", "a1"] {
        assert_has(&svg, &format!("<rect class=\"{class}\" "));
    }
    let ran = diff(&dir, &["--svg", "nowhere/out.svg"]);
    ran.refused("nowhere");
    assert!(ran.stdout.is_empty(), "{ran:?}");
}

#[test]
fn exit_status_reports_differences_on_request() {
    let dir = two_snapshots();
    assert_eq!(diff(&dir, &["--exit-code"]).code, Some(1));
    dir.done_line("diff old old --exit-code");
    dir.fails(&["diff", "old", "nowhere"], &["nowhere"]);
    dir.write("a.jsonl", line(&("https://a.example", 200, String::new())));
    dir.done_line("compile -q a.jsonl -o rfc --profile rfc9309");
    dir.fails_as("diff old rfc | old and rfc: cannot be compared");
}
