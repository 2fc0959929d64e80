//! The command `lint`: exit statuses and outputs.

use crate::command::{Ran, robosieve, robosieve_with};
use crate::snapshots::compile_robots;
use crate::test_dir::TestDir;
use robosieve::lint::{Code, InSnapshot, survey};
use robosieve::{Compiler, Snapshot};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

fn run(dir: &Path, args: &[&str]) -> Ran {
    robosieve(dir, &[&["lint"], args].concat())
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|err| panic!("{err}: {}", String::from_utf8_lossy(&ran.stdout)))
}

#[test]
fn exit_statuses_follow_the_denied_severity() {
    let dir = TestDir::new();
    for (name, text) in [
        ("clean", "User-agent: *\nDisallow: /a\n"),
        ("note", "User-agent: *\nDisallow: /a\nDisallow: /a\n"),
        ("warning", "User-agent: a/1\nDisallow: /a\n"),
        ("error", "Disallow: /a\nUser-agent: *\nDisallow: /a\n"),
    ] {
        dir.write(name, text);
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
                run(dir.root(), &[&deny[..], &[file]].concat()).code,
                Some(status),
                "{deny:?} {file}"
            );
        }
    }
    run(
        dir.root(),
        &["--allow", "outside-group,empty-rule", "error"],
    )
    .succeeds();
    assert_eq!(run(dir.root(), &["-", "-"]).code, Some(2));
    for args in [
        &["missing"][..],
        &[],
        &["--allow", "no-such-code", "clean"],
        &["--sarif", "--json", "clean"],
    ] {
        assert_eq!(run(dir.root(), args).code, Some(2), "{args:?}");
    }
}

#[test]
fn text_and_json_have_all_parts() {
    let dir = TestDir::new();
    let ran = robosieve_with(
        dir.root(),
        &["lint", "-"],
        b"User-agent: *\nDisallow: cart\n",
    );
    let expected = "\
        standard input:2: error[no-leading-slash]: the path `cart` begins with neither / nor *, so it \
                    matches nothing\n  help: write `/cart`\n";
    assert_eq!(ran.text(), expected);
    let expected = "files 1  clean 0  errors 1  warnings 0  notes 0\n";
    assert_eq!(ran.stderr, expected);
    dir.write("a.example", "User-agent: *\nDisallow: cart\u{1b}\n");
    dir.write("b.example", "User-agent: *\nDisallow: /x\n");
    dir.write("notes.csv", "x");
    let json = json_of(&run(dir.root(), &["-q", "--json", "."]));
    let found: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (&finding["file"], &finding["line"], &finding["code"]))
        .collect();
    assert_eq!(found.len(), 2, "{json}");
    assert_eq!(found[0].0, "./a.example");
    assert_eq!(found[0].1, 2);
    assert_eq!(found[0].2, "control-character");
    let keys: Vec<&String> = json[1].as_object().unwrap().keys().collect();
    let expected = ["code", "file", "fix", "help", "line", "message", "severity"];
    assert_eq!(keys, expected);
    let found = json_of(&run(dir.root(), &["-q", "--json", "b.example"]));
    assert_eq!(found, Value::Array(vec![]));
    dir.write("robots.txt", "User-agent: *\nDisallow: /x\n");
    let expected = "files 1  clean 1  errors 0  warnings 0  notes 0\n";
    assert_eq!(run(dir.root(), &["."]).stderr, expected);
}

#[test]
fn unreadable_files_do_not_stop_the_others() {
    let dir = TestDir::new();
    dir.write("bad.gz", b"\x1f\x8bxxx");
    dir.write("error", "User-agent: *\nDisallow: a\n");
    let ran = run(dir.root(), &["--json", "bad.gz", "missing", "error"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(json_of(&ran).as_array().unwrap().len(), 1);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(
        lines[0].starts_with("robosieve: bad.gz: damaged") && !lines[0].contains("--skip-damaged"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("robosieve: missing: "), "{}", lines[1]);
    let expected = "files 1  clean 0  errors 1  warnings 0  notes 0  unreadable 2";
    assert_eq!(lines[2], expected);
}

/// The properties that SARIF 2.1.0 requires (§3.13, §3.14, §3.18, §3.19, §3.27, §3.28).
#[test]
fn sarif_has_the_required_structure() {
    let dir = TestDir::new();
    dir.write(
        "a b.txt",
        "Disallow: /\nUser-agent: GPTBot/1\nDisallow: b\n",
    );
    for (file, count) in [("a b.txt", 3), ("-", 0)] {
        let sarif = json_of(&run(dir.root(), &["-q", "--sarif", file]));
        assert_eq!(sarif["version"], "2.1.0");
        assert_eq!(sarif["runs"].as_array().unwrap().len(), 1);
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
            let location = &result["locations"][0]["physicalLocation"];
            assert_eq!(location["artifactLocation"]["uri"], "a%20b.txt");
            assert!((1..=3).contains(&location["region"]["startLine"].as_u64().unwrap()));
        }
    }
}

#[test]
fn codes_are_listed() {
    let dir = TestDir::new();
    let text = String::from_utf8(run(dir.root(), &["--codes"]).stdout).unwrap();
    assert_eq!(text.lines().count(), Code::ALL.len() + 1);
    let json = json_of(&run(dir.root(), &["--codes", "--json"]));
    for (row, code) in json.as_array().unwrap().iter().zip(Code::ALL) {
        assert_eq!(row["code"], code.name());
        assert_eq!(row["severity"], code.severity().name());
        assert_eq!(Code::find(code.name()), Some(*code));
    }
}

/// Three origins share one bad file, one has a good one, and one has HTML.
#[test]
fn surveys_count_files_and_origins() {
    let dir = TestDir::new();
    let mut compiler = Compiler::default();
    for host in ["b", "a", "c"] {
        let robots = b"Disallow: /x\nUser-agent: *\nDisallow: y\nNoindex: /\n# a\nFoo: bar\n";
        compiler
            .add_robots(&format!("https://{host}.example"), robots)
            .unwrap();
    }
    compiler
        .add_robots("https://d.example", b"User-agent: *\nDisallow: /x\n")
        .unwrap();
    compiler
        .add_robots("https://e.example", b"<html>\n")
        .unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let counted = survey(&snapshot, &[], |_| ()).unwrap();
    assert_eq!(counted.origins, 5);
    assert_eq!(counted.files, 3);
    assert_eq!(counted.clean_origins, 2);
    assert_eq!(counted.clean_files, 2);
    for row in &counted.codes {
        assert_ne!(row.code.in_snapshot(), InSnapshot::No);
        let expected = match row.code {
            Code::OutsideGroup | Code::NoLeadingSlash | Code::UnknownField => {
                (1, 3, Some("https://a.example"))
            }
            _ => (0, 0, None),
        };
        let found = (row.files, row.origins, row.example.as_deref());
        assert_eq!(found, expected, "{}", row.code);
    }
    let allowed = [Code::OutsideGroup, Code::NoLeadingSlash, Code::UnknownField];
    assert_eq!(
        survey(&snapshot, &allowed, |_| ()).unwrap().clean_origins,
        5
    );

    let robots = b"User-agent: *\nDisallow: y\n";
    dir.write("s.rsieve", compile_robots("https://a.example", robots));
    for args in [&["-q", "s.rsieve"][..], &["-q", "-s", "s.rsieve"]] {
        let ran = run(dir.root(), args);
        let text = ran.text();
        assert_eq!(ran.code, Some(0), "{text}{ran:?}");
        assert_eq!(text.lines().count(), 3, "{text}{ran:?}");
        let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        let expected = ["no-leading-slash", "error", "1", "1", "https://a.example"];
        assert_eq!(row, expected);
    }
    let json = json_of(&run(dir.root(), &["-q", "--json", "s.rsieve"]));
    assert_eq!(json[0]["origins"], 1);
    assert_eq!(json[0]["clean_files"], 0);
    for refused in [
        &["--sarif", "s.rsieve"][..],
        &["--deny", "note", "s.rsieve"],
        &["s.rsieve", "-"],
    ] {
        assert_eq!(run(dir.root(), refused).code, Some(2), "{refused:?}");
    }
}

/// A snapshot whose first bytes are damaged is refused. As a robots.txt it would have findings, and
/// `--fix` would change it.
#[test]
fn damaged_snapshots_are_not_robots_files() {
    let dir = TestDir::new();
    let bytes = compile_robots("https://a.example", b"User-agent: *\nDisallow: y\n");
    for bit in 0..64 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        dir.write("damaged.rsieve", &flipped);
        for option in ["-q", "--json", "--fix"] {
            let ran = run(dir.root(), &[option, "damaged.rsieve"]);
            ran.refused(" damaged.rsieve");
            assert!(ran.stdout.is_empty(), "bit {bit}: {option}: {ran:?}");
        }
        assert!(dir.read("damaged.rsieve") == flipped);
    }
}
