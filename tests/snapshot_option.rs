//! `-s SNAP` names the snapshot for every verb; `inspect`, `agents` and `diff` also take it as an
//! argument.

use crate::command::{Ran, cells};
use crate::test_dir::TestDir;

/// Runs a command line, without spaces in its words.
fn run(dir: &TestDir, line: &str) -> Ran {
    dir.run(&line.split(' ').collect::<Vec<_>>())
}

/// A directory with two different snapshots, `old` and `new`.
fn snapshots() -> TestDir {
    let dir = TestDir::new();
    for (name, rule) in [("old", "disallow: /a"), ("new", "disallow: /")] {
        let robots = format!(
            "{{\"url\": \"https://e.example/robots.txt\", \"body\": \"user-agent: GPTBot\\n{rule}\"}}\n"
        );
        dir.write("robots.jsonl", robots);
        run(&dir, &format!("compile -q -o {name} robots.jsonl")).succeeds();
    }
    dir
}

#[test]
fn option_and_argument_give_the_same_output() {
    let dir = snapshots();
    for row in [
        "inspect old | inspect -s old",
        "inspect old --json | inspect --json --snapshot old",
        "inspect old e.example | inspect -s old e.example",
        "inspect old https://e.example/x | inspect https://e.example/x -s old",
        "agents old | agents -s old",
        "agents old -a GPTBot --top 1 | agents --top 1 -a GPTBot -s old",
        "diff old new | diff -s old -s new",
        "diff new old -a GPTBot --json | diff -s new --json -a GPTBot --snapshot old",
    ] {
        let [argument, option] = cells(row);
        let (by_argument, by_option) = (run(&dir, argument), run(&dir, option));
        assert_eq!(by_argument.code, Some(0), "{argument}");
        assert_eq!(&by_argument.stderr[..], "", "{argument}");
        assert_eq!(by_argument, by_option, "{option}");
    }
}

#[test]
fn missing_and_repeated_snapshots_are_errors_with_advice() {
    let dir = snapshots();
    for row in [
        "inspect | no snapshot is named; give it as SNAP or as -s SNAP",
        "inspect old e.example -s new | \
         the snapshot is named twice, as old and as -s new; name it once",
        "inspect old -s new | the snapshot is named twice, as old and as -s new; name it once",
        "inspect https://e.example/ | \
         the snapshot comes first: robosieve inspect SNAP https://e.example/",
        "inspect -s https://e.example/ | local files only",
        "agents old -s new | the snapshot is named twice, as old and as -s new; name it once",
        "agents --top 3 | --top ranks the names in a snapshot, and none is named",
        "diff | diff compares two snapshots, and none is named; give OLD NEW, or -s OLD -s NEW",
        "diff old | and only one is named; give OLD NEW, or -s OLD -s NEW",
        "diff -s old | and only one is named",
        "diff -s old new | and these are named in both ways",
        "diff -s old -s new -s old | and -s names 3",
    ] {
        let [line, message] = cells(row);
        let ran = run(&dir, line);
        assert!(ran.code == Some(2) && ran.stdout.is_empty(), "{line}");
        assert!(ran.stderr.contains(message), "{line}: {}", ran.stderr);
    }
}
