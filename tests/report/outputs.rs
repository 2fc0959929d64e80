//! The formats of a report: they agree, escape site text, and are written completely or not at all.

use super::{Capture, compiled, done, parsed};
use crate::command::{assert_has, words};
use crate::test_dir::{TestDir, file_names};
use serde_json::Value;

/// A robots.txt with markup and scripts.
pub(super) const HOSTILE: &str = "User-agent: <script>alert(1)</script>\nUser-agent: *\n\
    Disallow: /<script>alert(1)</script>\nDisallow: /\"'><img src=x onerror=alert(1)>&amp;\n\
    Disallow: /\u{1b}[2J,\"quoted\"\nDisallow: /\u{202e}moc\nContent-Signal: <b>=yes, search=yes\n\
    Content-Signal: </style><script>=no\n";

/// All formats of one report: page, JSON, CSV.
pub(super) fn forms(dir: &TestDir, args: &[&str]) -> (String, Value, String) {
    let outputs = words("report -q -s s.rsieve --html r.html --json-to r.json --csv-to r.csv");
    assert_eq!(done(dir.run(&[&outputs, args].concat())), "");
    let json = parsed(&dir.read_text("r.json"));
    (dir.read_text("r.html"), json, dir.read_text("r.csv"))
}

fn some_web() -> TestDir {
    let dir = compiled(&[
        ("https://one.example", 200, HOSTILE),
        (
            "https://two.example",
            200,
            "user-agent: a\ndisallow: /\n\nuser-agent: *\ndisallow: /x",
        ),
        ("https://three.example", 404, ""),
        ("https://four.example", 503, ""),
    ]);
    let mut list: String = (0..1200)
        .map(|i| format!("https://two.example/x{i}\nhttps://one.example/{i}\n"))
        .collect();
    list += "https://four.example/\nhttps://five.example/\nno url\nhttps://one.example/<script>alert(1)</script>\n";
    dir.write("urls.txt", list);
    dir
}

/// The figures of the page: the path in the JSON, and the number.
pub(super) fn counted(page: &str) -> Vec<(String, u64)> {
    let spans = page.split("<span data-m=\"").skip(1);
    let read = |span: &str| {
        let (pointer, rest) = span.split_once("\">")?;
        let number = rest.split('<').next()?.replace(',', "");
        Some((pointer.to_owned(), number.parse().ok()?))
    };
    spans
        .map(|span| read(span).unwrap_or_else(|| panic!("{span:.80}")))
        .collect()
}

/// Asserts that all figures of the page equal those of the JSON.
pub(super) fn assert_figures(page: &str, json: &Value) -> usize {
    let counted = counted(page);
    for (pointer, number) in &counted {
        assert_eq!(json.pointer(pointer), Some(&(*number).into()), "{pointer}");
    }
    counted.len()
}

#[test]
fn page_and_csv_equal_the_json() {
    let dir = some_web();
    for list in [&[][..], &["urls.txt"]] {
        let (page, json, csv) = forms(&dir, &[&["-a", "a,b"], list].concat());
        assert!(assert_figures(&page, &json) > 20);
        for (name, agent) in ["a", "b"]
            .into_iter()
            .zip(json["agents"].as_array().unwrap())
        {
            for key in ["origins", "urls"] {
                for (measure, count) in agent[key].as_object().into_iter().flatten() {
                    assert_has(&csv, &format!("agents,,{name},{key}_{measure},{count}\n"));
                }
            }
        }
        for rule in json["rules"]["top"].as_array().unwrap() {
            let text = rule["rule"].as_str().unwrap().replace('\u{1b}', "\\u{1b}");
            let item = match text.contains([',', '"']) {
                true => format!("\"{}\"", text.replace('"', "\"\"")),
                false => text,
            };
            let line = format!("rules,{item},,origins,{}\n", rule["origins"]);
            assert_has(&csv, &line);
        }
    }
}

#[test]
fn site_text_is_escaped() {
    let dir = some_web();
    let (page, json, _) = forms(&dir, &["-a", "a,b,<script>x", "urls.txt"]);
    let lower = page.to_lowercase();
    assert!(
        lower.contains("&lt;script&gt;alert(1)"),
        "the page shows the text"
    );
    assert_eq!(
        lower.matches("<script").count()
            + lower.matches("<img").count()
            + lower.matches("<b>=").count(),
        0
    );
    assert_eq!(lower.matches("<style>").count(), 1);
    assert!(
        !page.contains(['\u{1b}', '\u{202e}']),
        "no control characters"
    );
    assert!(
        json.to_string().contains("<script>alert(1)"),
        "the JSON has the text unescaped"
    );
    let table = dir.stdout_of("report -q -s s.rsieve -a a,b urls.txt");
    assert_has(&table, "/<script>alert(1)</script>");
    assert!(!table.contains(['\u{1b}', '\u{202e}']), "{table:?}");
    // The page loads no resource and runs no script.
    for word in [
        "http-equiv=\"Content-Security-Policy\"",
        "default-src 'none'",
    ] {
        assert_has(&page, word);
    }
    for word in [
        " src=\"", "href=", "@import", "url(http", "url(//", "<link", "<iframe",
    ] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn page_size_is_bounded() {
    let rules: Vec<String> = (0..100)
        .map(|i| format!("disallow: /{i}{}\n", "<&\"'>".repeat(300)))
        .collect();
    let signals: String = (0..60)
        .map(|i| format!("content-signal: k{i}={}\n", "x".repeat(58)))
        .collect();
    let captures: Vec<(String, String)> = (0..300)
        .map(|i| {
            let host = format!(
                "https://{}{i}.example",
                format!("{}.", "x".repeat(60)).repeat(3)
            );
            let own: String = rules.iter().skip(i % 50).map(String::as_str).collect();
            (host, format!("user-agent: *\n{own}{signals}"))
        })
        .collect();
    let captures: Vec<Capture<'_>> = captures
        .iter()
        .map(|(host, body)| (host.as_str(), 200, body.as_str()))
        .collect();
    let dir = compiled(&captures);
    let agents: String = (0..200)
        .map(|i| format!("agent<&\"'>{}{i}\n", "<".repeat(100)))
        .collect();
    dir.write("agents.txt", agents);
    let list: String = captures
        .iter()
        .map(|(host, ..)| format!("{host}/0{}\n", "<&\"'>".repeat(300)))
        .collect();
    dir.write("urls.txt", list);
    for list in [&[][..], &["urls.txt"]] {
        let (page, json, _) = forms(
            &dir,
            &[&["--agents-from", "agents.txt", "--top", "10000"], list].concat(),
        );
        assert!(page.len() < 300_000, "{} bytes", page.len());
        assert_eq!(
            json["agents"].as_array().unwrap().len(),
            200,
            "the JSON has all agents"
        );
    }
}

#[test]
fn outputs_go_where_requested() {
    let dir = some_web();
    let run = |args: &[&str]| dir.run(&[&["report", "-s", "s.rsieve", "-a", "a"], args].concat());
    let table = run(&[]);
    assert!(done(table).starts_with("What robots.txt lets a fetch\nsnapshot: 4 origins, "));
    let with_file = run(&["--json-to", "r.json"]);
    assert!(
        String::from_utf8(with_file.stdout)
            .unwrap()
            .starts_with("What robots.txt lets a fetch\n")
    );
    assert!(run(&["--json-to", "r.json", "-q"]).stdout.is_empty());
    // In other verbs --json takes no value, so an option of this name would take a list as its output.
    for (option, advice) in [("--json", "'--json-to'"), ("--csv", "'--csv-to'")] {
        run(&[option, "r.json"]).refused(advice);
    }
    assert!(
        done(run(&["--csv-to", "-"]))
            .starts_with("section,item,agent,measure,value\nsnapshot,,,checksum,")
    );
    assert!(done(run(&["--html", "-", "--csv-to", "r.csv"])).starts_with("<!DOCTYPE html>"));
    let summed_up = run(&["urls.txt", "--json-to", "r.json"]);
    assert!(
        summed_up.stderr.starts_with("lines 2,404  bytes "),
        "{}",
        summed_up.stderr
    );
}

#[test]
fn failed_reports_leave_no_files() {
    let dir = some_web();
    for (args, cause) in [
        ("--json-to new.json missing.txt", "missing.txt"),
        (
            "--json-to new.json --csv-to new.json",
            "named for two outputs",
        ),
        ("--json-to - --csv-to -", "named for two outputs"),
        ("--html no/such/new.html", "there is no folder no/such"),
        ("--top 0", "0 is not in 1..=10000"),
        ("--shard 1/2", "--shard divides inputs"),
    ] {
        let ran = dir.run_line(&format!("report -s s.rsieve -a a {args}"));
        ran.refused(cause);
        assert!(ran.stdout.is_empty(), "{args:?}");
    }
    let left = file_names(dir.root());
    assert_eq!(left, ["robots.jsonl", "s.rsieve", "urls.txt"]);
}
