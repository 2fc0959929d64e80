//! Captures files: what they keep, how they are merged, described and verified, and their damage.

use crate::command::{assert_has, assert_starts, words};
use crate::external_sort::web;
use crate::forging::forged_captures;
use crate::test_dir::TestDir;
use robosieve::compile::CapturesFile;
use robosieve::{Compiler, Origin, Profile, Snapshot};
use serde_json::{Value, json};
use std::fs;

/// A directory with `a.jsonl` and `b.jsonl`, halves of one web, and `web.captures` with both.
/// A directory with two archives, `a.jsonl` and `b.jsonl`, and their captures file.
fn captures_dir() -> TestDir {
    let dir = TestDir::new();
    let lines = web(11, 600);
    dir.write("a.jsonl", lines[..300].concat());
    dir.write("b.jsonl", lines[300..].concat());
    dir.done(&["captures", "-q", "-o", "web.captures", "a.jsonl", "b.jsonl"]);
    dir
}

impl TestDir {
    /// The snapshot of these inputs.
    fn compiled(&self, inputs: &[&str]) -> Vec<u8> {
        self.done(&[&["compile", "-q", "-o", "new"], inputs].concat());
        self.read("new")
    }

    /// Runs `inspect --json` on a file.
    fn inspected(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.done(&[&["inspect", "--json"], args].concat()).stdout).unwrap()
    }
}

#[test]
fn captures_files_stand_for_their_archives() {
    let dir = captures_dir();
    let [both, a] = [&["a.jsonl", "b.jsonl"][..], &["a.jsonl"]].map(|inputs| dir.compiled(inputs));
    dir.write("a.rsieve", &a);
    dir.done(&["captures", "-q", "-o", "b.captures", "b.jsonl"]);
    fs::create_dir(dir.path("archive")).unwrap();
    fs::rename(dir.path("b.captures"), dir.path("archive/b.captures")).unwrap();
    fs::copy(dir.path("a.jsonl"), dir.path("archive/a.jsonl")).unwrap();
    for inputs in [
        &["web.captures"][..],
        &["web.captures", "b.jsonl"],
        &["archive/b.captures", "a.jsonl"],
        &["archive"],
    ] {
        assert!(dir.compiled(inputs) == both, "{inputs:?}");
    }
    // With every option that chooses among captures.
    for options in [
        &["--as-of", "2026-01-01T00:00:30Z"][..],
        &["--profile", "rfc9309"],
        &["--previous", "a.rsieve"],
        &["--memory", "10k", "--temp-dir", "archive"],
    ] {
        let from = |inputs: &[&str]| {
            let snapshot =
                dir.compiled(&[&["--stats-json", "stats.json"], options, inputs].concat());
            let mut stats: Value = serde_json::from_slice(&dir.read("stats.json")).unwrap();
            for of_inputs in ["arguments", "inputs", "bytes_in", "body_bytes"] {
                stats.as_object_mut().unwrap().remove(of_inputs).unwrap();
            }
            (snapshot, stats)
        };
        assert!(
            from(&["archive/b.captures"]) == from(&["b.jsonl"]),
            "{options:?}"
        );
        assert!(
            from(&["web.captures"]) == from(&["a.jsonl", "b.jsonl"]),
            "{options:?}"
        );
    }
}

#[test]
fn merged_files_are_those_of_all_captures() {
    let dir = captures_dir();
    let expected = dir.read("web.captures");
    dir.done(&["captures", "-q", "-o", "a.captures", "a.jsonl"]);
    for inputs in [
        &["b.jsonl", "a.jsonl"][..],
        &["a.captures", "b.jsonl"],
        &["b.jsonl", "a.captures"],
    ] {
        dir.done(
            &[
                &words("captures -q --memory 20k -j 3 -o merged.captures"),
                inputs,
            ]
            .concat(),
        );
        assert!(dir.read("merged.captures") == expected, "{inputs:?}");
    }
    // The output replaces none of the inputs.
    dir.fails_as(
        "captures -o web.captures web.captures a.jsonl | web.captures | same file as an input",
    );
    assert!(dir.read("web.captures") == expected);
}

#[test]
fn inspect_describes_and_verifies() {
    let dir = captures_dir();
    let found = dir.inspected(&["web.captures"]);
    let texts = CapturesFile::open(dir.path("web.captures"))
        .unwrap()
        .counts()
        .texts;
    assert_eq!(found["counts"]["captures"], json!(600));
    assert_eq!(found["verified"], "checksums");
    assert_eq!(found["captures_format_version"], 2);
    assert_eq!(found["bytes"], json!(dir.read("web.captures").len()));
    assert!(texts > 10 && found["counts"]["texts"] == json!(texts));
    assert_eq!(
        dir.inspected(&["--verify", "-s", "web.captures"])["verified"],
        "structure"
    );
    assert_eq!(
        dir.inspected(&["--no-verify", "web.captures"])["verified"],
        "nothing"
    );
    let table = String::from_utf8(dir.done(&["inspect", "web.captures"]).stdout).unwrap();
    assert_has(&table, "\ncaptures                             600\n");
    dir.fails_as("inspect web.captures https://h1.example | web.captures | compile it");
    dir.fails_as("due -s web.captures --stale-at now | web.captures | a captures file");
}

#[test]
fn other_verbs_say_what_a_captures_file_is() {
    let dir = captures_dir();
    dir.compiled(&["web.captures"]);
    dir.fails_as(
        "filter -s new -a GPTBot web.captures | a captures file, not a list of URLs | compile it",
    );
    dir.fails_as(
        "filter -s web.captures -a GPTBot a.jsonl | not a robosieve snapshot | a captures file",
    );
    dir.fails_as("compile -o x.captures a.jsonl | name it x.rsieve");
    fs::copy(dir.path("web.captures"), dir.path("archive")).unwrap();
    dir.fails_as("compile -o archive a.jsonl | is a captures file");
    for name in ["x.captures.gz", "x.jsonl"] {
        dir.fails_as(&format!("captures -o {name} a.jsonl | name it x.captures"));
    }
    dir.write("blank.jsonl", "\n");
    dir.fails_as("captures -o old.captures blank.jsonl | no capture | nothing is written");
    assert!(!dir.path("old.captures").exists());
}

#[test]
fn a_previous_snapshot_has_no_captures_to_write() {
    let dir = captures_dir();
    let old = robosieve::Snapshot::new(dir.compiled(&["a.jsonl"])).unwrap();
    let compiler = Compiler::new(Profile::Google).previous(old).unwrap();
    let err = compiler
        .write_captures(dir.path("x.captures"))
        .unwrap_err()
        .to_string();
    assert!(err.contains("a snapshot keeps none"), "{err}");
    assert!(!dir.path("x.captures").exists());
}

/// The snapshot of a captures file, or the error.
fn snapshot_of(bytes: &[u8], skip_damaged: bool) -> robosieve::Result<Vec<u8>> {
    let mut compiler = Compiler::default().skip_damaged(skip_damaged);
    compiler.add_reader("web.captures", bytes)?;
    compiler.finish()?.to_vec()
}

#[test]
fn flipped_bits_and_cuts_are_errors() {
    let dir = captures_dir();
    let bytes = dir.read("web.captures");
    assert!(snapshot_of(&bytes, false).is_ok());
    let step = (bytes.len() * 8 / 3000) | 1;
    let of_ends = (0..48 * 8).chain((bytes.len() - 112) * 8..bytes.len() * 8);
    for bit in (0..bytes.len() * 8).step_by(step).chain(of_ends) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let err = snapshot_of(&flipped, false).expect_err("a flipped bit");
        assert!(
            bit < 64 || err.to_string().starts_with("web.captures: "),
            "bit {bit}: {err}"
        );
        // Skipping damage may lose captures, but ends without an error or a panic.
        if bit > 3450 * 8 {
            snapshot_of(&flipped, true).unwrap();
        }
        if bit % 7 == 0 {
            dir.write("flipped", &flipped);
            assert!(
                CapturesFile::open(dir.path("flipped"))
                    .and_then(|file| file.verify_checksums())
                    .is_err(),
                "{bit}"
            );
        }
    }
    for len in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
        if len > 0 {
            snapshot_of(&bytes[..len], false).expect_err("a cut");
        }
    }
}

/// Files of more than one block: damage loses one block.
#[test]
fn damaged_blocks_are_named_or_skipped() {
    let dir = TestDir::new();
    let path = dir.path("web.captures");
    let mut compiler = Compiler::default();
    for site in 0..20_000 {
        compiler
            .add_robots(
                &format!("https://site{site}.example"),
                b"user-agent: *\ndisallow: /x",
            )
            .unwrap();
    }
    compiler.write_captures(&path).unwrap();
    let file = CapturesFile::open(&path).unwrap();
    assert!(file.blocks() > 3);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let err = snapshot_of(&bytes, false).unwrap_err().to_string();
    assert_starts(&err, "web.captures: damaged at byte ");
    assert_has(&err, "another checksum");
    let args = words("compile -q --skip-damaged --stats-json stats.json -o s web.captures");
    assert_eq!(dir.run(&args).code, Some(0));
    let stats: Value = serde_json::from_slice(&dir.read("stats.json")).unwrap();
    let kept = stats["captures"].as_u64().unwrap();
    assert!(stats["damaged"] == json!(1), "{kept}");
    assert!(kept < 20_000, "{kept}");
    assert!(kept > 10_000, "{kept}");
    let ran = dir.run(&["compile", "-q", "-o", "t", "web.captures"]);
    ran.refused("--skip-damaged");
}

/// Every byte of the records set to other values, with right checksums: each is refused, or it is
/// another valid capture. None panics.
#[test]
fn forged_records_are_refused() {
    let mut compiler = Compiler::default();
    let lines = [
        json!({"url": "https://a.example:81/robots.txt", "body": "user-agent: *\ndisallow: /", "fetched_at": 7}),
        json!({"url": "https://b.example/robots.txt", "status": 301, "headers": {"Location": "https://a.example:81/x"}}),
        json!({"url": "https://c.example/robots.txt", "error": "dns \u{e9}"}),
        json!({"url": "https://d.example/robots.txt", "status": 404, "headers": {"Cache-Control": "max-age=9"}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    compiler.add_reader("lines", lines.as_bytes()).unwrap();
    let dir = TestDir::new();
    compiler.write_captures(dir.path("x")).unwrap();
    let bytes = dir.read("x");
    let intact = snapshot_of(&bytes, false).unwrap();
    assert!(snapshot_of(&forged_captures(&bytes, |_| {}), false).unwrap() == intact);
    let (mut len, mut refused, mut accepted) = (0, 0, 0);
    forged_captures(&bytes, |records| len = records.len());
    for at in 0..len {
        for value in [0, 1, 2, 0x1f, 0x23, 0x41, 0x7f, 0x80, 0xc3, 0xff] {
            match snapshot_of(
                &forged_captures(&bytes, |records| records[at] = value),
                false,
            ) {
                Err(err) => {
                    assert!(
                        err.to_string()
                            .starts_with("web.captures: damaged at byte "),
                        "{at} {value}: {err}"
                    );
                    refused += 1;
                }
                Ok(snapshot) => {
                    robosieve::Snapshot::new(snapshot)
                        .unwrap()
                        .verify()
                        .unwrap();
                    accepted += 1;
                }
            }
        }
        snapshot_of(
            &forged_captures(&bytes, |records| records.truncate(at)),
            false,
        )
        .unwrap_err();
    }
    assert!(refused > accepted, "{refused} refused, {accepted} accepted");
}

/// A file of version 1, as archives of years have them. It has a failure with a `max-age`, a text with
/// a line that was cut, and a capture of each other class.
#[test]
fn files_of_version_1_stay_readable() {
    let dir = TestDir::new();
    dir.write("old.captures", include_bytes!("cases/version-1.captures"));
    let found = dir.inspected(&["--verify", "old.captures"]);
    assert_eq!(found["captures_format_version"], 1);
    assert_eq!(found["counts"]["captures"], 7);
    let compile = |profile| {
        let mut compiler = Compiler::new(profile);
        compiler.add_path(dir.path("old.captures")).unwrap();
        let compiled = compiler.finish().unwrap();
        let report = compiled.report().clone();
        (Snapshot::new(compiled.to_vec().unwrap()).unwrap(), report)
    };
    let (snapshot, report) = compile(Profile::Google);
    snapshot.verify().unwrap();
    assert_eq!((report.first_version, report.cut_texts), (7, 0));
    let outcome = |origin: &str| {
        let origin = Origin::of(origin.as_bytes()).unwrap();
        snapshot.origin(&origin).unwrap().unwrap().outcome().clone()
    };
    let rules = outcome("https://rules.example");
    assert_eq!((rules.status, rules.max_age), (200, Some(60)));
    let busy = outcome("https://busy.example");
    // The `max-age` of a failure is not its `Retry-After`.
    let found = (busy.status, busy.max_age, busy.retry_after);
    assert_eq!(found, (503, None, None));
    assert_eq!(outcome("http://moved.example").hops, 1);
    // Only this profile reads the end of a long line.
    assert_eq!(compile(Profile::Rfc9309).1.cut_texts, 1);
    // A captures file of this version stands for it.
    dir.done(&["captures", "-q", "-o", "new.captures", "old.captures"]);
    assert_eq!(
        dir.inspected(&["--verify", "new.captures"])["captures_format_version"],
        json!(2)
    );
    assert!(dir.compiled(&["new.captures"]) == dir.compiled(&["old.captures"]));
}
