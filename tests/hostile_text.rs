//! Control characters in site text, archives, lists and file names: no verb prints them raw.

use crate::command::{assert_has, robosieve_with};
use crate::test_dir::TestDir;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// One of each kind: ESC, BEL, DEL, C1 and bidirectional controls.
const EVIL: &str = "\u{1b}]0;x\u{7}\u{7f}\u{9b}31m\u{202e}\u{2066}\u{200e}\u{200f}\u{61c}";

/// Characters that move the cursor, change colours or reorder a line.
fn is_hostile(c: char) -> bool {
    let bidi = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    bidi || (c.is_control() && c != '\n' && c != '\t')
}

fn assert_harmless(text: &[u8], what: &dyn std::fmt::Debug) {
    let text =
        std::str::from_utf8(text).unwrap_or_else(|err| panic!("{what:?} is not UTF-8: {err}"));
    let found: Vec<char> = text.chars().filter(|c| is_hostile(*c)).collect();
    assert!(
        found.is_empty(),
        "{what:?} has {found:?}:\n{}",
        text.escape_debug()
    );
    let command = text.lines().find(|line| is_build_command(line));
    assert_eq!(command, None, "{what:?}");
}

/// Whether a service that runs builds obeys the line: `::name::` at its start, `##name[` anywhere.
fn is_build_command(line: &str) -> bool {
    let starts_with_command = line
        .trim_start()
        .strip_prefix("::")
        .is_some_and(|rest| rest.contains("::"));
    let has_command = line.split("##").skip(1).any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .starts_with('[')
    });
    starts_with_command || has_command
}

fn robots() -> Vec<u8> {
    let text = format!(
        "User-agent: ::error file=src/main.rs,line=1::Evil\n\
         User-agent: ##vso[task.complete result=Failed;]\nUser-agent: ##teamcity[buildStop]\n\
         Disallow: ::set-output name=x::y\nDisallow: ##[error]z\nUser-agent: EvilCrawler\nUser-agent: Evil{EVIL}Crawler\nDisallow: /a{EVIL}\nDisallow: /é\u{202e}\n\
         User-agent: *\nDisallow: /x{EVIL}\nDisallow:\t/x\nContent-Usage: train-ai=n;{EVIL}\n\
         Content-Usage: train-ai=n\nContent-Signal: ai-train=no, {EVIL}=yes, =cmd=yes\nDisallow: /raw"
    );
    // A C1 byte alone, and other bytes that are not UTF-8.
    [text.as_bytes(), b"\x9b31m\xff\n"].concat()
}

/// Hostile names of the snapshot and of the list in [`hostile_dir`].
fn hostile_names() -> [String; 2] {
    [format!("s{EVIL}.rsieve"), format!("l{EVIL}.txt")]
}

/// Hosts `e` (rules), `f` (an error with text), `g` (a redirect) and `h` (a broken redirect), in
/// two snapshots of the same bytes, one of them with a hostile file name.
fn hostile_dir() -> TestDir {
    use base64::Engine as _;
    let dir = TestDir::new();
    let body = base64::engine::general_purpose::STANDARD.encode(robots());
    let location = |to: &str| json!({"location": to});
    let captures = [
        json!({"url": "https://e.example/robots.txt", "status": 200, "body_base64": body}),
        json!({"url": "https://f.example/robots.txt", "error": format!("dns\n{EVIL}")}),
        json!({"url": "https://g.example/robots.txt", "status": 301, "headers": location(&format!("https://e.example/r{EVIL}"))}),
        json!({"url": format!("https://e.example/r{EVIL}"), "status": 200, "body_base64": body}),
        json!({"url": "https://h.example/robots.txt", "status": 301, "headers": location(&format!("https://{EVIL}/"))}),
        json!({"url": "https://i.example/robots.txt", "status": 404}),
    ];
    let lines = captures.iter().map(|capture| format!("{capture}\n"));
    dir.write("a.jsonl", lines.collect::<String>());
    let [snapshot, list] = hostile_names();
    dir.done(&["compile", "-q", "a.jsonl", "-o", &snapshot]);
    fs::copy(dir.path(&snapshot), dir.path("s.rsieve")).unwrap();
    let refused = "user-agent: *\\ndisallow: /";
    dir.write(
        "old.jsonl",
        format!(
            "{{\"url\": \"https://e.example/robots.txt\", \"status\": 200, \"body\": \"{refused}\"}}\n"
        ),
    );
    dir.done(&["compile", "-q", "old.jsonl", "-o", "old.rsieve"]);
    dir.write(
        &list,
        format!("https://e.example/x{EVIL}\nhttps://e.example/a{EVIL}\n{EVIL}\n"),
    );
    dir.write("robots.txt", robots());
    dir.write(
        "odd.warc",
        format!(
            "WARC/1.0\r\nWARC-Type: {EVIL}\r\nWARC-Target-URI: {EVIL}\r\nContent-Length: {EVIL}\r\n\r\n"
        ),
    );
    dir.write(
        "odd.jsonl",
        format!("{{\"url\": \"https://{EVIL}/robots.txt\", \"status\": \"{EVIL}\"}}\n"),
    );
    dir.write("odd.txt", format!("(;{EVIL}\n"));
    dir.write("odd.tsv", format!("a{EVIL}\tb\nhttps://e.example/\tx\n"));
    dir.write("odd.parquet", format!("PAR1{EVIL}PAR1"));
    dir
}

#[test]
fn no_verb_prints_hostile_text() {
    let dir = hostile_dir();
    let [s, list] = &hostile_names();
    let url = format!("https://e.example/x{EVIL}\n\t");
    let agent = format!("Evil{}Crawler", EVIL.replace(['\u{7f}', '\t'], ""));
    let missing = &*format!("no{EVIL}");
    let values = [
        ("$S", s.as_str()),
        ("$LIST", list),
        ("$MISSING", missing),
        ("$URL", &url),
        ("$WHO", &agent),
        ("$EVIL", EVIL),
    ];
    let fill = |word: &str| {
        let values = values.iter();
        values.fold(word.to_owned(), |word, (name, value)| {
            word.replace(name, value)
        })
    };
    for line in [
        "check -s $S --explain -a EvilCrawler $URL https://e.example/a",
        "check -s $S --explain -a MyBot https://f.example/ https://g.example/x https://h.example/",
        "check -s $S -a $WHO $URL",
        "check -s $S -a MyBot $MISSING",
        "check -s $S -a MyBot https://$EVIL.example/",
        "check -s $MISSING -a MyBot $URL",
        "check --robots robots.txt --explain -a MyBot $URL",
        "check --robots $MISSING -a MyBot $URL",
        "check --robots robots.txt -a $WHO\n /x",
        "lint robots.txt",
        "lint --json robots.txt",
        "lint --sarif robots.txt $LIST",
        "lint $S",
        "lint --json $S",
        "lint $MISSING",
        "lint --allow $MISSING robots.txt",
        "inspect $S",
        "inspect $S --json",
        "due -s $S --stale-at 2030-01-01 $LIST",
        "due -s $S --stale-at 2030-01-01 --as jsonl $LIST",
        "due -s $S $MISSING",
        "due $LIST",
        "due --as jsonl $LIST",
        "inspect $S https://e.example",
        "inspect $S https://e.example --json",
        "inspect $S https://f.example",
        "inspect $S https://f.example --json",
        "inspect $S https://g.example",
        "inspect $S https://g.example --json",
        "inspect $S https://h.example",
        "inspect $S https://$EVIL.example",
        "inspect $S $EVIL",
        "agents $S",
        "agents $S --json",
        "agents $S --tsv",
        "agents $S -a $WHO",
        "agents $S -a EvilCrawlre",
        "agents -a $WHO",
        "agents -a $WHO --tsv",
        "agents -a $WHO --json",
        "agents $MISSING",
        "report -s $S -a EvilCrawler,MyBot $LIST",
        "report -s $S -a $WHO",
        "report -s $S -a @own=EvilCrawler,MyBot",
        "report -s $S -a MyBot --sample 1 --group-by tld",
        "report -s $S -a MyBot --csv-to - $LIST",
        "report -s $S -a $WHO --json-to - $LIST",
        "report -s $S -a $WHO --html - $LIST",
        "diff old.rsieve $S --examples 9",
        "diff old.rsieve $S --json",
        "diff $S old.rsieve -a MyBot --svg svg",
        "diff $S $MISSING",
        // Output lines are data and keep their bytes. Messages about them are escaped.
        "filter -s $S -a MyBot $LIST -o kept",
        "filter -s $S -a EvilCrawlre $LIST -o $EVIL",
        "filter -s $S -a MyBot $MISSING",
        "filter -s $S -a MyBot --out-dir out $LIST",
        "filter -s $S -a MyBot --out-dir out --resume $LIST",
        "filter -s $S -a GPTBot --out-dir out --resume $LIST",
        "filter -s $S -a MyBot --out-dir out2 --disallowed-to out $LIST $MISSING",
        "filter -s $S -a MyBot . -o kept",
        "filter -s $S -a MyBot $EVIL*.nothing",
        "filter -s $S -a MyBot --$EVIL",
        "annotate -s $S -a MyBot,EvilCrawler $LIST -o annotated",
        "annotate -s $S -a MyBot,$WHO $LIST -o annotated",
        "annotate -s $S --agents-from $MISSING $LIST",
        "bench -s $S --urls $LIST --runs 1 --threads 1",
        "bench -s $S --urls $LIST --runs 1 --threads 1 --json",
        "bench --origins 10 --urls 10 --write-to made$EVIL",
        "compile $MISSING -o new.rsieve",
        "compile $LIST -o new.rsieve",
        "compile --previous $MISSING -o new.rsieve",
        "compile odd.warc -o new.rsieve",
        "compile odd.jsonl -o new.rsieve",
        "compile odd.txt -o new.rsieve",
        "compile --previous odd.txt -o new.rsieve",
        "filter -s $S -a MyBot --field $EVIL odd.tsv -o kept",
        "filter -s $S -a MyBot --host $EVIL $LIST -o kept",
        "filter -s $S -a MyBot --json-key $EVIL odd.jsonl -o kept",
        "report -s $S -a MyBot --column $EVIL odd.parquet",
        "check -s $S -a Mozilla/$EVIL $URL",
        "check -s $S -a GPTBot --status-policy $EVIL $URL",
        "check -s $S --agents-from odd.txt $URL",
        "man $EVIL",
        "$EVIL",
    ] {
        let args: Vec<String> = line.split(' ').map(fill).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = dir.run(&args);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
        assert!(
            !ran.stdout.is_empty() || !ran.stderr.is_empty() || ran.code == Some(0),
            "{args:?}"
        );
        assert_harmless(&ran.stdout, &args);
        assert_harmless(ran.stderr.as_bytes(), &args);
    }
    assert_harmless(&dir.read("svg"), &"svg");
    let kept = dir.read("annotated");
    assert!(
        kept.ends_with(format!("\t{EVIL}\n").as_bytes()),
        "data keep their bytes"
    );
}

#[test]
fn hostile_text_is_escaped() {
    let dir = hostile_dir();
    let shown = "\\u{1b}]0;x\\u{7}\\u{7f}\\u{9b}31m\\u{202e}\\u{2066}\\u{200e}\\u{200f}\\u{61c}";
    let print = |args: &[&str]| String::from_utf8(dir.run(args).stdout).unwrap();
    let inspected = print(&["inspect", "s.rsieve", "https://e.example"]);
    assert_has(
        &inspected,
        &format!("User-agent: Evil{shown}Crawler\nDisallow: /a{shown}\n"),
    );
    assert_has(&inspected, "Disallow: /raw\u{fffd}31m\u{fffd}\n");
    let failed = print(&["inspect", "s.rsieve", "https://f.example"]);
    let expected = format!("# https://f.example: unreachable, dns\\n{shown}\n");
    assert_eq!(failed, expected);
    let checked = print(&[
        "check",
        "-s",
        "s.rsieve",
        "-a",
        "MyBot",
        &format!("https://e.example/x{EVIL}"),
    ]);
    assert!(
        checked.starts_with(&format!("disallowed\tMyBot\thttps://e.example/x{shown}\t")),
        "{checked}"
    );
    let json = |args: &[&str]| serde_json::from_str::<Value>(&print(args)).unwrap();
    let origin = json(&["inspect", "s.rsieve", "https://e.example", "--json"]);
    assert!(
        origin["robots_txt"]
            .as_str()
            .unwrap()
            .contains(&format!("Disallow: /a{EVIL}\n"))
    );
    assert_eq!(
        json(&["inspect", "s.rsieve", "https://f.example", "--json"])["detail"],
        format!("dns\n{EVIL}")
    );
    let names = json(&["agents", "s.rsieve", "--json"]);
    let expected = format!("evil{}crawler", EVIL.to_ascii_lowercase());
    assert!(
        names["agents"]
            .as_array()
            .unwrap()
            .iter()
            .any(|agent| agent["name"] == expected),
        "{names}"
    );
}

#[test]
fn csv_text_is_no_formula() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str], stdin: &[u8]| robosieve_with(Path::new(dir.path()), args, stdin);
    let line = r#"{"url": "https://e.example/robots.txt", "status": 200, "body": "User-agent: *\nContent-Signal: =1+1=yes,search=yes\nDisallow: /"}"#;
    run(&["compile", "-q", "-", "-o", "s"], line.as_bytes()).succeeds();
    for agent in ["=1+1", "+a", "-a", "@a"] {
        let name = format!("-a={agent}");
        let ran = run(&["report", "-s", "s", &name, "--csv-to", "-"], b"");
        let csv = String::from_utf8(ran.stdout).unwrap();
        if agent.starts_with('@') {
            assert_eq!(ran.code, Some(2), "an unknown set");
            continue;
        }
        assert_has(&csv, &format!("agents,,'{agent},origins_wholly,1\n"));
    }
}
