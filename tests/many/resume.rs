//! The files that a rerun skips, and those that it processes again.

use super::snapshot_dir;
use crate::test_dir::TestDir;
use std::fs;

/// A case: the change, the arguments of the rerun, the number of skipped files of three, and the
/// reason it prints.
struct Case {
    change: fn(&TestDir),
    args: &'static [&'static str],
    skips: usize,
    why: &'static str,
}

const FILTER: &[&str] = &["filter", "-s", "web.rsieve", "-a", "FooBot"];

const CASES: &[Case] = &[
    Case {
        change: |_| {},
        args: FILTER,
        skips: 3,
        why: "",
    },
    Case {
        change: |dir| dir.write("in/b", "https://h1.example/x\n"),
        args: FILTER,
        skips: 2,
        why: "input changed",
    },
    Case {
        change: |dir| touch(dir, "in/b"),
        args: FILTER,
        skips: 2,
        why: "input changed",
    },
    Case {
        change: |dir| remove(dir, "out/a"),
        args: FILTER,
        skips: 2,
        why: "output missing or changed",
    },
    Case {
        change: |dir| dir.write("out/a", ""),
        args: FILTER,
        skips: 2,
        why: "output missing or changed",
    },
    Case {
        change: |dir| remove(dir, "out/.robosieve/a.json"),
        args: FILTER,
        skips: 2,
        why: "not done yet",
    },
    Case {
        change: |dir| dir.write("out/.robosieve/a.json", "{"),
        args: FILTER,
        skips: 2,
        why: "state not readable",
    },
    Case {
        change: recompile,
        args: FILTER,
        skips: 0,
        why: "made by another snapshot",
    },
    Case {
        change: other_version,
        args: FILTER,
        skips: 2,
        why: "made by another version",
    },
    Case {
        change: |_| {},
        args: &["filter", "-s", "web.rsieve", "-a", "BarBot"],
        skips: 0,
        why: "other options",
    },
    Case {
        change: |_| {},
        args: &["annotate", "-s", "web.rsieve", "-a", "FooBot"],
        skips: 0,
        why: "other options",
    },
    Case {
        change: |_| {},
        args: &[
            "filter",
            "-s",
            "web.rsieve",
            "-a",
            "FooBot",
            "--scheme",
            "any",
        ],
        skips: 0,
        why: "other options",
    },
    Case {
        change: |_| {},
        args: &[
            "filter",
            "-s",
            "web.rsieve",
            "-a",
            "FooBot",
            "--keep",
            "disallowed",
        ],
        skips: 0,
        why: "other options",
    },
    Case {
        change: |_| {},
        args: &[
            "filter",
            "-s",
            "web.rsieve",
            "-a",
            "FooBot",
            "--invalid-to",
            "odd",
        ],
        skips: 0,
        why: "output missing or changed",
    },
    // A moved directory stays complete.
    Case {
        change: |dir| {
            fs::rename(dir.path("out"), dir.path("moved")).unwrap();
            std::os::unix::fs::symlink("moved", dir.path("out")).unwrap();
        },
        args: FILTER,
        skips: 3,
        why: "",
    },
];

fn touch(dir: &TestDir, name: &str) {
    let file = fs::File::options()
        .append(true)
        .open(dir.path(name))
        .unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
}

fn remove(dir: &TestDir, name: &str) {
    fs::remove_file(dir.path(name)).unwrap();
}

fn recompile(dir: &TestDir) {
    dir.write(
        "one.jsonl",
        r#"{"url": "https://h1.example/robots.txt", "status": 200, "body": ""}"#,
    );
    dir.done(&["compile", "-q", "-o", "web.rsieve", "one.jsonl"]);
}

fn other_version(dir: &TestDir) {
    let state = dir.read_text("out/.robosieve/a.json");
    let other = state.replace(
        concat!("robosieve ", env!("CARGO_PKG_VERSION")),
        "robosieve 0.0.1",
    );
    assert_ne!(state, other);
    dir.write("out/.robosieve/a.json", other);
}

#[test]
fn reruns_process_only_incomplete_files() {
    for (number, case) in CASES.iter().enumerate() {
        let dir = snapshot_dir();
        for name in ["in/a", "in/b", "in/c"] {
            dir.write(name, "https://h1.example/x\nhttps://h1.example/foo\n?\n");
        }
        dir.done(&[FILTER, &["--out-dir", "out", "in"]].concat());
        (case.change)(&dir);
        let ran = dir.done(&[case.args, &["--out-dir", "out", "--resume", "in"]].concat());
        let (skips, todo) = (case.skips, 3 - case.skips);
        let summary =
            format!("resume: {skips} of 3 files are complete and skipped, {todo} to do\n");
        ran.says(&summary).says(case.why);
        let done = format!("files 3  done {todo}  skipped {skips}  failed 0");
        assert!(ran.stderr.contains(&done), "case {number}: {}", ran.stderr);
        // As after a run without --resume, and the next rerun skips everything.
        let after = ["a", "b", "c"].map(|name| dir.read_text(&format!("out/{name}")));
        let next = dir.done(&[case.args, &["--out-dir", "out", "--resume", "in"]].concat());
        next.says("3 of 3 files are complete");
        let ran = dir.done(&[case.args, &["--out-dir", "out", "in"]].concat());
        ran.says("files 3  done 3  skipped 0");
        let expected = ["a", "b", "c"].map(|name| dir.read_text(&format!("out/{name}")));
        assert_eq!(after, expected, "case {number}");
    }
}

#[test]
fn skipped_files_are_counted_separately() {
    let dir = snapshot_dir();
    for name in ["in/a", "in/b"] {
        dir.write(name, "https://h1.example/x\nhttps://h1.example/foo\n");
    }
    dir.done(&[FILTER, &["--out-dir", "out", "in"]].concat());
    dir.write("in/b", "?\nhttps://u.example/\n");
    let ran = dir.done(&[FILTER, &["--out-dir", "out", "--resume", "in"]].concat());
    for line in [
        "\nlines 2  allowed 0  disallowed 0  unknown 1  invalid 1\nbytes 21 ",
        "\nskipped files: lines 2  allowed 1  disallowed 1  unknown 0  invalid 0  bytes 44\n",
        "\ntogether: lines 4  allowed 1  disallowed 1  unknown 1  invalid 1  bytes 65\n",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
}
