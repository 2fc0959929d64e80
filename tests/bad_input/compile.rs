//! Archives that are damaged, truncated, of an unknown format, or missing.

use super::*;

#[test]
fn uncompressed_warcs_are_accepted() {
    let dir = snapshot_dir();
    let warc = warc(response().len());
    for (name, bytes) in [
        ("a.warc", warc.clone()),
        ("a.warc.gz", gz(&warc)),
        ("a.warc.zst", zst(&warc)),
    ] {
        dir.write(name, bytes);
        dir.done(&["compile", "-q", name, "-o", "new"]);
        assert_eq!(dir.letters("new"), "AAA", "{name}");
    }
}

#[test]
fn leading_white_space_of_json_lines_is_skipped() {
    let dir = snapshot_dir();
    dir.write("a.jsonl", "\n\n  \r\n\n".to_owned() + &json_line("a"));
    dir.done(&["compile", "-q", "a.jsonl", "-o", "new"]);
    assert_eq!(dir.letters("new"), "AUU");
}

#[test]
fn non_archives_are_refused() {
    let dir = snapshot_dir();
    dir.write("text", "hello\n");
    dir.write("html", "<!doctype html><title>x</title>");
    dir.write("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    dir.write("robots.txt", ROBOTS);
    for (name, cause) in [
        ("text", "neither WARC nor JSONL"),
        ("html", "neither WARC nor JSONL"),
        ("png", "neither WARC nor JSONL"),
        ("robots.txt", "neither WARC nor JSONL"),
        ("good.rsieve", "a snapshot, not an archive"),
        ("missing", "No such file"),
    ] {
        dir.fails_to_write(&["compile", name], &[name, cause]);
        dir.fails_to_write(&["compile", "good.jsonl", name], &[name, cause]);
        dir.fails_to_write_as(&format!(
            "compile {name} good.jsonl --skip-damaged | {name} | {cause}"
        ));
    }
}

#[test]
fn inputs_without_captures_write_no_snapshot() {
    let dir = snapshot_dir();
    dir.write("empty", "");
    dir.write("blank.gz", gz(b"\n\n"));
    dir.write("list.json", "  \n");
    for name in ["empty", "blank.gz", "list.json", "folder"] {
        dir.fails_to_write(&["compile", name], &[name]);
    }
}

#[test]
fn empty_inputs_among_others_are_accepted() {
    let dir = snapshot_dir();
    dir.write("empty", "");
    dir.done_line("compile -q empty good.jsonl folder -o new");
    assert_eq!(dir.letters("new"), "AAU");
}

/// Among robots.txt files, a file `a.warc.gz` would count as the robots.txt of a host of that name.
#[test]
fn directories_of_archives_are_read() {
    let dir = snapshot_dir();
    dir.write("folder/a.warc.gz", gz(record("a")));
    dir.write("folder/b.warc.gz", gz(record("b")));
    dir.done(&["compile", "-q", "folder", "-o", "new"]);
    assert_eq!(dir.letters("new"), "AAU");
    dir.write("folder/a.example", ROBOTS);
    dir.fails_to_write_as("compile folder | folder:  | a.warc.gz | a.example | name the archives");
}

#[test]
fn damaged_members_are_named_or_skipped() {
    let dir = snapshot_dir();
    let (a, b, c) = (gz(record("a")), gz(record("b")), gz(record("c")));
    let offset = format!("byte {}", a.len());
    dir.write("a.warc.gz", [a, damage(b), c].concat());
    dir.fails_to_write_as(&format!(
        "compile a.warc.gz | a.warc.gz | {offset} | --skip-damaged"
    ));
    dir.done_line("compile -q --skip-damaged --stats-json stats.json a.warc.gz -o new");
    assert_eq!(dir.letters("new").as_str(), "AUA");
    assert_eq!(dir.stat("damaged"), 1);
    assert_eq!(dir.stat("captures"), 2);
}

#[test]
fn truncated_members_are_named_or_skipped() {
    let dir = snapshot_dir();
    let whole = [gz(record("a")), gz(record("b"))].concat();
    let offset = format!("byte {}", whole.len());
    dir.write("a.warc.gz", [whole, cut(gz(record("c")))].concat());
    dir.fails_to_write_as(&format!(
        "compile a.warc.gz | a.warc.gz | {offset} | ends inside"
    ));
    dir.done_line("compile -q --skip-damaged --stats-json stats.json a.warc.gz -o new");
    assert_eq!(dir.letters("new").as_str(), "AAU");
    assert_eq!(dir.stat("damaged"), 1);
}

#[test]
fn damaged_warcs_are_refused() {
    let dir = snapshot_dir();
    let length = response().len();
    let mut short = warc(length);
    short.truncate(short.len() - 20);
    let cases = [
        ("cut off", short, "ends inside a WARC record"),
        ("too short", warc(10), "record should begin here"),
        ("too long", warc(length + 60), "record should begin here"),
        ("huge", warc(u64::MAX), "Content-Length"),
        ("beyond numbers", warc(u128::MAX), "Content-Length"),
        ("negative", warc(-1), "Content-Length"),
        ("a word", warc("many"), "Content-Length"),
        (
            "cut in a header",
            record("a")
                .into_iter()
                .chain(*b"WARC/1.0\r\nWARC-")
                .collect(),
            "inside a WARC header",
        ),
    ];
    for (what, bytes, cause) in cases {
        for (name, bytes) in [
            ("x.warc.zst", zst(&bytes)),
            ("x.warc.gz", gz(&bytes)),
            ("x.warc", bytes),
        ] {
            dir.write(name, bytes);
            let message = dir.fails_to_write(&["compile", name], &[name, "byte ", cause]);
            assert!(message.contains("--skip-damaged"), "{what}: {message}");
        }
    }
}

#[test]
fn records_around_damage_are_kept() {
    let dir = snapshot_dir();
    let length = response().len();
    let cases = [
        ("too short", warc(10), "AUA"),
        ("too long", warc(length + 60), "AUA"),
        ("huge", warc(u64::MAX), "AUA"),
        ("negative", warc(-1), "AUA"),
    ];
    for (what, bytes, expected) in cases {
        dir.write("x.warc", bytes);
        dir.done_line("compile -q --skip-damaged --stats-json stats.json x.warc -o new");
        let letters = dir.letters("new");
        // It is unspecified whether a record with a wrong length of its own is kept in part.
        let letters = format!("{}U{}", &letters[..1], &letters[2..]);
        assert_eq!(letters.as_str(), expected, "{what}");
        assert_eq!(dir.stat("damaged"), 1, "{what}");
    }
}

/// Records of 200 hosts, of which that of host 100 claims this length.
fn records_with_false_length(length: u64) -> Vec<Vec<u8>> {
    let record_of = |number| match number {
        100 => record_of_length("h100", length),
        _ => record(&format!("h{number}")),
    };
    (0..200).map(record_of).collect()
}

/// Whether the snapshot `new` has rules of a host.
fn has_rules(dir: &TestDir, host: &str) -> bool {
    let url = format!("https://{host}.example/x");
    let ran = dir.run(&["check", "-s", "new", "-a", "FooBot", &url]);
    ran.code == Some(1)
}

#[test]
fn a_false_length_costs_one_record() {
    let dir = snapshot_dir();
    let length = response().len() as u64;
    // The second ends in another record, the third exactly where the third record after it ends.
    let of_three = length + 3 * record("h101").len() as u64;
    for (claimed, plain_loss) in [(10 << 30, 1), (length + 500, 1), (of_three, 3)] {
        let records = records_with_false_length(claimed);
        let gzip: Vec<Vec<u8>> = records.iter().map(gz).collect();
        let zstd: Vec<Vec<u8>> = records.iter().map(|record| zst(record)).collect();
        let offset = gzip[..100].concat().len();
        for (name, bytes, loss) in [
            ("x.warc.gz", gzip.concat(), 1),
            ("x.warc.zst", zstd.concat(), 1),
            ("x.warc", records.concat(), plain_loss),
        ] {
            let len = bytes.len() as u64;
            dir.write(name, bytes);
            let args = [
                "compile",
                "-q",
                "--skip-damaged",
                "--stats-json",
                "stats.json",
                name,
            ];
            dir.done(&[&args[..], &["-o", "new"]].concat());
            let found = (
                dir.stat("captures"),
                dir.stat("damaged"),
                dir.stat("bytes_in"),
            );
            let undetected = loss == 3;
            let kept = 200 - loss;
            let expected = (kept, u64::from(!undetected), len);
            assert_eq!(found, expected, "{name} {claimed}");
            for host in ["h0", "h99", "h104", "h199"] {
                assert!(has_rules(&dir, host), "{name} {claimed}: {host}");
            }
            if !undetected {
                assert!(has_rules(&dir, "h101"), "{name} {claimed}");
                dir.fails_to_write(&["compile", name], &[name, "byte "]);
            }
        }
        let message = dir.fails_to_write(&["compile", "x.warc.gz"], &["x.warc.gz"]);
        assert!(message.contains(&format!("byte {offset}")), "{message}");
    }
}

/// A stream has no second reading: records after a false length are lost, and counted.
#[test]
fn false_lengths_in_streams_are_counted() {
    let dir = snapshot_dir();
    let text = records_with_false_length(10 << 30).concat();
    let args = words("compile -q --skip-damaged --stats-json stats.json -o new -");
    let ran = robosieve_with(dir.root(), &args, &text);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!((dir.stat("captures"), dir.stat("damaged")), (100, 1));
}

/// A site may write a record into its robots.txt. If the file is cut there, it counts as text.
#[test]
fn records_inside_records_are_text() {
    let dir = snapshot_dir();
    let forged = String::from_utf8(record("victim")).unwrap();
    let body = format!(
        "HTTP/1.1 200 OK\r\n\r\nuser-agent: *\r\n\r\n{forged}{}",
        "#".repeat(999)
    );
    let head = String::from_utf8(record_of_length("evil", body.len())).unwrap();
    let head = &head[..head.find("HTTP/1.1").unwrap()];
    let whole = format!("{head}{body}\r\n\r\n");
    let cut = &whole.as_bytes()[..whole.len() - 100];
    let plain = [&record("a"), cut].concat();
    let gzip = [gz(record("a")), gz(cut), gz(record("b"))].concat();
    let zstd = [zst(&record("a")), zst(cut), zst(&record("b"))].concat();
    for (name, bytes) in [("x.warc", plain), ("x.warc.gz", gzip), ("x.warc.zst", zstd)] {
        dir.write(name, bytes);
        dir.done(&["compile", "-q", "--skip-damaged", name, "-o", "new"]);
        assert!(has_rules(&dir, "a"), "{name}");
        assert!(name == "x.warc" || has_rules(&dir, "b"), "{name}");
        assert!(!has_rules(&dir, "victim"), "{name}");
    }
}

#[test]
fn bad_json_lines_are_numbered_or_skipped() {
    let dir = snapshot_dir();
    let cases = [
        (r#"{"url": "https://c.example/robots.txt", "#, "line 2"),
        ("user-agent: *", "line 2"),
        ("[]", "line 2"),
        ("{}", "url"),
        (r#"{"url": 5}"#, "expected a string"),
        (
            r#"{"url": "https://c.example/robots.txt", "body": [1]}"#,
            "expected a string",
        ),
        (
            r#"{"url": "https://c.example/robots.txt", "body_base64": "***"}"#,
            "body_base64",
        ),
        (
            r#"{"url": "https://c.example/robots.txt", "fetched_at": "yesterday"}"#,
            "fetched_at",
        ),
        (
            r#"{"url": "https://c.example/robots.txt", "fetched_at": 1.5}"#,
            "fetched_at",
        ),
        (
            r#"{"url": "https://c.example/robots.txt", "headers": [1]}"#,
            "expected an object of headers",
        ),
        (
            r#"{"url": "https://c.example/robots.txt", "status": "abc"}"#,
            "\"status\"",
        ),
    ];
    for (line, cause) in cases {
        dir.write(
            "x.jsonl",
            [&json_line("a"), line, "\n", &json_line("b")].concat(),
        );
        dir.fails_to_write(&["compile", "x.jsonl"], &["x.jsonl", "line 2", cause]);
        dir.done_line("compile -q --skip-damaged --stats-json stats.json x.jsonl -o new");
        assert_eq!(dir.letters("new").as_str(), "AAU", "{line}");
        assert_eq!(dir.stat("damaged"), 1, "{line}");
        fs::remove_file(dir.path("new")).unwrap();
    }
}

#[test]
fn wrong_field_types_are_named() {
    let dir = snapshot_dir();
    for (field, name) in [
        (r#""status": 99999"#, "\"status\""),
        (r#""status": 65536"#, "\"status\""),
        (r#""status": -1"#, "\"status\""),
        (r#""status": {}"#, "\"status\""),
        (r#""headers": {"location": 1}"#, "headers"),
    ] {
        dir.write(
            "x.jsonl",
            format!("{{\"url\": \"https://c.example/robots.txt\", {field}}}\n"),
        );
        let message = dir.fails_to_write(&["compile", "x.jsonl"], &["x.jsonl", "line 1", name]);
        assert!(!message.contains("untagged enum"), "{message}");
    }
}

#[test]
fn invalid_statuses_allow_nothing() {
    let dir = snapshot_dir();
    for status in [0, 42, 600, 999, 1000, 65535] {
        let line = serde_json::json!({"url": "https://c.example/robots.txt", "status": status, "body": ROBOTS});
        dir.write("x.jsonl", line.to_string());
        let ran = dir.run(&["compile", "-q", "x.jsonl", "-o", "new"]);
        assert!(
            ran.code == Some(2) || dir.letters("new") == "UUD",
            "{status}: {ran:?}"
        );
    }
}

#[test]
fn bad_json_on_standard_input_is_named() {
    let dir = snapshot_dir();
    let args = ["compile", "-", "-o", "old"];
    let text = json_line("a") + "{";
    dir.assert_failure(&args.join(" "), &["line 2"], || {
        robosieve_with(dir.root(), &args, text.as_bytes())
    });
}

#[test]
fn damaged_zstd_is_refused() {
    let dir = snapshot_dir();
    for (name, bytes) in [
        ("cut.warc.zst", cut(zst(&warc(response().len())))),
        ("cut.jsonl.zst", cut(zst(json_line("a").as_bytes()))),
        ("magic.zst", zst(b"x")[..4].to_vec()),
    ] {
        dir.write(name, bytes);
        dir.fails_to_write(&["compile", name], &[name, "zstd"]);
    }
}

#[test]
fn unwritable_outputs_are_named() {
    let dir = snapshot_dir();
    dir.fails_as("compile good.jsonl -o folder | folder | is a directory");
    dir.fails_as("compile good.jsonl -o no/new | no/new | no folder");
    dir.fails_as("compile good.jsonl -o list.txt/new | list.txt/new | Not a directory");
    dir.fails_to_write_as("compile good.jsonl --stats-json no/s | no/s");
    dir.fails_to_write_as("compile good.jsonl --stats-json folder | folder | irectory");
}

#[test]
fn report_may_not_replace_the_snapshot() {
    let dir = snapshot_dir();
    for path in ["old", "./old", "folder/../old"] {
        dir.fails_as(&format!(
            "compile good.jsonl -o old --stats-json {path} | old | two outputs"
        ));
    }
}

#[cfg(unix)]
#[test]
fn unwritable_folders_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = snapshot_dir();
    fs::set_permissions(dir.path("folder"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(dir.path("folder/probe"), "").is_ok() {
        return println!("SKIPPED: this user may write anywhere");
    }
    dir.fails_as("compile good.jsonl -o folder/new | folder/new | Permission denied");
    dir.fails_as(
        "filter -s good.rsieve -a a list.txt -o folder/new | folder/new | Permission denied",
    );
}

#[test]
fn unusable_previous_snapshots_are_named() {
    let dir = snapshot_dir();
    let good = snapshot(ROBOTS);
    let mut version = good.clone();
    version[8] = 9;
    dir.write("version", version);
    dir.write("short", &good[..good.len() - 1]);
    dir.write("flipped", damage(good));
    dir.write("empty", "");
    for (name, cause) in [
        ("missing", "No such file"),
        ("folder", "a directory where a snapshot is expected"),
        ("empty", "not a robosieve snapshot"),
        ("good.jsonl", "not a robosieve snapshot"),
        ("version", "compile the archives again with this version"),
        ("short", "damaged snapshot"),
        ("flipped", "has another checksum"),
    ] {
        dir.fails_to_write_as(&format!(
            "compile --previous {name} good.jsonl | {name} | {cause}"
        ));
        dir.fails_to_write(&["compile", "--previous", name], &[name, cause]);
    }
    dir.fails_to_write(&["compile"], &["<INPUT>"]);
    dir.fails_to_write_as("compile good.rsieve | good.rsieve | a snapshot | --previous");
}

#[test]
fn snapshots_may_replace_themselves() {
    let dir = snapshot_dir();
    dir.write("new.jsonl", json_line("c"));
    dir.done_line("compile -q --previous good.rsieve -o good.rsieve new.jsonl");
    assert_eq!(dir.letters("good.rsieve"), "AUA");
    let before = dir.read("good.rsieve");
    dir.done_line("compile -q --previous good.rsieve -o good.rsieve");
    assert!(before == dir.read("good.rsieve"));
    dir.write("bad.jsonl", "{");
    dir.fails_as("compile --previous good.rsieve -o good.rsieve bad.jsonl | bad.jsonl");
}

#[test]
fn profile_defaults_to_the_previous_snapshot() {
    let dir = snapshot_dir();
    let profile = |name: &str| {
        Snapshot::open(dir.path(name))
            .unwrap()
            .profile()
            .unwrap()
            .name()
    };
    dir.done_line("compile -q good.jsonl --profile rfc9309 -o rfc");
    dir.done_line("compile -q --previous rfc good.jsonl -o same");
    dir.done_line("compile -q --previous rfc --profile google -o other");
    let found = ["rfc", "same", "other"].map(profile);
    assert_eq!(found, ["rfc9309", "rfc9309", "google"]);
}

#[test]
fn empty_crawls_are_refused() {
    let dir = snapshot_dir();
    dir.write("empty.jsonl", "");
    dir.fails_to_write_as(
        "compile --previous good.rsieve empty.jsonl | empty.jsonl: no capture of any /robots.txt",
    );
    // Without a crawl, the snapshot is written again.
    dir.done_line("compile -q --previous good.rsieve -o new");
    assert!(dir.read("new") == dir.read("good.rsieve"));
}
