//! Files of other formats instead of lists, archives, robots.txt files or snapshots: they are read,
//! or refused with the name of the format.

use super::*;
use crate::command::assert_has;
use std::fs::File;

/// A skippable zstd frame, as in files of `pzstd` and in seekable files.
fn skippable(kind: u8) -> Vec<u8> {
    let payload = b"user data";
    [
        &[0x50 + kind, 0x2a, 0x4d, 0x18],
        &(payload.len() as u32).to_le_bytes()[..],
        payload,
    ]
    .concat()
}

/// A few bytes of each format, and the words of the message.
fn other_formats() -> Vec<(&'static str, Vec<u8>, &'static [&'static str])> {
    let parquet = [
        b"PAR1\x15\x04\x15\x10\x15\x14\x4c\x15".as_slice(),
        &[0; 64],
        b"PAR1",
    ]
    .concat();
    let snapshot = snapshot(ROBOTS);
    vec![
        (
            "x.xz",
            b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46".to_vec(),
            &["an xz file", "xz -d"],
        ),
        (
            "x.bz2",
            b"BZh91AY&SY\x01\x02\x03\x04".to_vec(),
            &["a bzip2 file", "bzip2 -d"],
        ),
        (
            "x",
            b"\x04\x22\x4d\x18\x64\x40\xa7\0\0".to_vec(),
            &["an lz4 file", "lz4 -d"],
        ),
        (
            "x.zip",
            b"PK\x03\x04\x14\0\0\0\x08\0".to_vec(),
            &["a zip archive", "unzip"],
        ),
        (
            "x.arrow",
            b"ARROW1\0\0\xff\xff\xff\xff\x78\0\0\0".to_vec(),
            &["an Arrow file", "Parquet"],
        ),
        (
            "x.stream",
            b"\xff\xff\xff\xff\x78\0\0\0\x10\0\0\0\0\0\0\0".to_vec(),
            &["an Arrow file", "Parquet"],
        ),
        (
            "x.rsieve",
            snapshot.clone(),
            &["a robosieve snapshot", "name it as the snapshot"],
        ),
        (
            "x.rsieve.gz",
            gz(&snapshot),
            &["a robosieve snapshot", "name it as the snapshot"],
        ),
        (
            "x.parquet.gz",
            gz(&parquet),
            &["a Parquet file", "decompress it first"],
        ),
        (
            "x.parquet.zst",
            zst(&parquet),
            &["a Parquet file", "decompress it first"],
        ),
        ("x.gz", gz(gz(LIST)), &["compressed twice"]),
        (
            "x.png",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(),
            &["a PNG image", "list of URLs"],
        ),
        (
            "x.pdf",
            b"%PDF-1.7\nhttps://a.example/\n".to_vec(),
            &["a PDF document", "list of URLs"],
        ),
        (
            "x.exe",
            b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\n".to_vec(),
            &["none of the 1 lines"],
        ),
        (
            "x.txt",
            b"\xff\xfeh\0t\0t\0p\0:\0/\0/\0".to_vec(),
            &["UTF-16", "iconv"],
        ),
    ]
}

#[test]
fn other_formats_are_refused_as_lists() {
    let dir = snapshot_dir();
    for (name, bytes, expected) in other_formats() {
        dir.write(name, &bytes);
        let parts = expected.join(" | ");
        for verb in ["filter", "annotate"] {
            let command = format!("{verb} -q -s good.rsieve -a FooBot {name}");
            dir.fails_to_write_as(&format!("{command} | {name} | {parts}"));
        }
        let command = format!("report -q -s good.rsieve -a FooBot {name} --json-to new");
        dir.fails_as(&format!("{command} | {name} | {parts}"));
        // Also without a file name.
        let args = ["filter", "-q", "-s", "good.rsieve", "-a", "FooBot"];
        dir.assert_failure(&args.join(" "), &expected[..1], || {
            robosieve_with(dir.root(), &args, &bytes)
        });
    }
}

/// `filter` and `annotate` read WARC files, `report` does not.
#[test]
fn warc_files_are_recognised_in_every_compression() {
    let dir = snapshot_dir();
    let warc = warc(response().len());
    for (name, bytes) in [
        ("x.warc", warc.clone()),
        ("x.warc.gz", gz(&warc)),
        ("x.wet.zst", zst(&warc)),
    ] {
        dir.write(name, bytes);
        let args = [
            "report",
            "-q",
            "-s",
            "good.rsieve",
            "-a",
            "FooBot",
            name,
            "--json-to",
            "new",
        ];
        dir.done(&args);
        let report = dir.read_text("new");
        assert!(report.contains("\"lines\": 3,"), "{name}: {report}");
    }
}

#[test]
fn foreign_files_fail_alone() {
    let dir = snapshot_dir();
    dir.write(
        "x.arc.gz",
        gz(b"filedesc://x.arc 0.0.0.0 20010101000000 text/plain 76\n1 0 x\n"),
    );
    dir.write("none.txt", "one\ntwo\n");
    let args = words("filter -s good.rsieve -a FooBot --out-dir out x.arc.gz list.txt none.txt");
    let ran = dir.run(&args);
    assert_eq!(ran.code, Some(2));
    for expected in [
        "x.arc.gz: damaged at byte 0: the file ends inside an ARC record",
        "none.txt: none of the 2 lines has a URL",
        "2 of 3 files failed",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
    assert_eq!(dir.read("out/list.txt"), b"https://a.example/\n");
    assert!(!dir.path("out/x.warc.gz").exists() && !dir.path("out/none.txt").exists());
}

#[test]
fn runs_without_urls_replace_nothing() {
    let dir = snapshot_dir();
    dir.write("none.txt", "one\n\ntwo\n");
    dir.write("none.csv", "url,n\nx,1\n");
    dir.write("none.jsonl", "{\"url\":1}\n");
    for (name, lines) in [
        ("none.txt", "3 lines"),
        ("none.csv", "1 lines"),
        ("none.jsonl", "1 lines"),
    ] {
        let judge = format!("-q -s good.rsieve -a FooBot {name}");
        let parts = format!("none of the | {lines} | --input-format");
        for verb in ["filter", "annotate"] {
            dir.fails_to_write_as(&format!("{verb} {judge} | {parts}"));
        }
        dir.fails_as(&format!("filter {judge} --invalid-to old | {parts}"));
        dir.fails_as(&format!("report {judge} | {parts}"));
        // One URL suffices, with any verdict.
        dir.write("unknown.txt", "https://unknown.example/\n");
        dir.done_line(&format!(
            "filter -q -s good.rsieve -a FooBot --input-format text {name} unknown.txt"
        ));
    }
}

#[test]
fn empty_inputs_are_accepted() {
    let dir = snapshot_dir();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("empty.gz", gz(b"")),
        ("empty.zst", zst(b"")),
        ("skipped.zst", skippable(0)),
        ("blank", b"\n \r\n\t\n".to_vec()),
        ("mark", b"\xef\xbb\xbf".to_vec()),
        ("header.csv", b"url,n\n".to_vec()),
        ("marked.csv", b"\xef\xbb\xbfurl,n\n".to_vec()),
    ] {
        dir.write(name, bytes);
        for verb in ["filter", "annotate", "report"] {
            dir.done(&[verb, "-q", "-s", "good.rsieve", "-a", "FooBot", name]);
        }
    }
}

#[test]
fn all_zstd_frames_are_read() {
    let dir = snapshot_dir();
    let (first, rest) = LIST.split_at(30);
    for (name, bytes) in [
        ("first", [skippable(0), zst(LIST)].concat()),
        (
            "kinds",
            [skippable(15), skippable(3), zst(LIST), skippable(1)].concat(),
        ),
        ("frames", [zst(first), zst(rest)].concat()),
        ("between", [zst(first), skippable(2), zst(rest)].concat()),
    ] {
        dir.write(name, bytes);
        let args = words("annotate -q -s good.rsieve -a FooBot --as mask");
        assert_eq!(
            dir.done(&[&args[..], &[name]].concat()).stdout,
            b"1\n0\n0\n0\n",
            "{name}"
        );
    }
    let whole = [skippable(0), zst(LIST)].concat();
    for len in [5, 12, 16, 25, whole.len() - 1] {
        dir.write("cut.zst", &whole[..len]);
        dir.fails_to_write_as("filter -q -s good.rsieve -a FooBot cut.zst | cut.zst");
    }
    dir.write(
        "archive.jsonl.zst",
        [skippable(0), zst(json_line("a").as_bytes())].concat(),
    );
    dir.done(&["compile", "-q", "archive.jsonl.zst", "-o", "new"]);
    assert_eq!(dir.letters("new"), "AUU");
}

#[test]
fn compressed_extensions_require_compression() {
    let dir = snapshot_dir();
    let mut damaged = gz(LIST);
    damaged[0] ^= 1;
    for (name, bytes, expected) in [
        ("x.gz", Vec::new(), "it is empty"),
        ("x.zst", Vec::new(), "it is empty"),
        ("x.GZ", Vec::new(), "it is empty"),
        ("x.gz", damaged, "damaged"),
        ("x.zst", LIST.to_vec(), "not compressed"),
        ("x.xz", LIST.to_vec(), "decompress it first"),
        ("x.bz2", Vec::new(), "it is empty"),
        // As Spark writes them: a length, a block of Snappy that begins with a literal; and zlib.
        (
            "x.txt.snappy",
            [&b"\0\0\0\x1f\0\0\0\x21\x1f\x78"[..], LIST].concat(),
            "decompress it first",
        ),
        (
            "x.txt.deflate",
            b"\x78\x9c\xcb\x28\x29\x29\x28\xb6\xd2\xd7\x07\0\x14\x4a\x03\xf6".to_vec(),
            "decompress it first",
        ),
    ] {
        dir.write(name, bytes);
        let filter = "filter -q -s good.rsieve -a FooBot list.txt";
        dir.fails_to_write_as(&format!("{filter} {name} | {name} | {expected}"));
    }
    // The content decides, not the extension.
    dir.write("swapped.gz", zst(LIST));
    dir.done_line("filter -q -s good.rsieve -a FooBot swapped.gz");
    // A compressed archive of zero bytes is damaged, not empty.
    dir.write("a.warc.gz", "");
    dir.fails_to_write_as(
        "compile good.jsonl a.warc.gz | a.warc.gz | it is empty | --skip-damaged",
    );
    dir.done_line("compile -q --skip-damaged --stats-json stats.json good.jsonl a.warc.gz -o new");
    assert_eq!(dir.stat("damaged"), 1);
}

/// If the file cannot be read, its error names it, whatever its extension says.
#[cfg(unix)]
#[test]
fn unreadable_parquet_is_refused() {
    let dir = snapshot_dir();
    std::os::unix::fs::symlink("loop.parquet", dir.path("loop.parquet")).unwrap();
    for name in ["loop.parquet", "missing.parquet"] {
        dir.fails_to_write_as(&format!("filter -s good.rsieve -a FooBot {name} | {name}"));
    }
}

#[test]
fn directories_of_robots_files_name_skipped_files() {
    let dir = snapshot_dir();
    dir.write("folder/a.example", ROBOTS);
    dir.write("folder/b.example.txt", [0xff, 0xfe].as_slice());
    let others: [(&str, Vec<u8>, &str); 7] = [
        (
            "plain.parquet",
            b"PAR1\x15\x04\x15\x10\x15\x14\x4c\x15".to_vec(),
            "a Parquet file",
        ),
        ("README.md", b"# About\n".to_vec(), "its name is not HOST"),
        ("not a host", ROBOTS.into(), "its name is not HOST"),
        ("c.example", b"\x7fELF\x02\x01\x01\0".to_vec(), "a program"),
        ("q.example", warc(response().len()), "a WARC archive"),
        (
            "d.example.gz",
            gz(ROBOTS.as_bytes()),
            "a gzip file; decompress it first",
        ),
        ("robots.txt", ROBOTS.into(), "its name is not HOST"),
    ];
    for (name, bytes, _) in &others {
        dir.write(&format!("folder/{name}"), bytes);
    }
    let ran = dir.done_line("compile --stats-json stats.json folder -o new");
    ran.says("warning: 7 entries of directories are left out");
    let row = ran
        .stderr
        .lines()
        .find(|line| line.contains("files left out"))
        .unwrap();
    assert!(row.ends_with(" 7"), "{row}");
    assert_eq!(dir.letters("new").as_str(), "AAU");
    assert_eq!(dir.stat("skipped_files"), 7);
    let hosts = dir.run(&["inspect", "new", "--json"]);
    assert!(
        String::from_utf8(hosts.stdout)
            .unwrap()
            .contains("\"origins\": 4")
    );
    // The message names the first five. None of them is a snapshot.
    for (name, bytes, why) in &others {
        fs::remove_dir_all(dir.path("folder")).unwrap();
        fs::create_dir(dir.path("folder")).unwrap();
        dir.write(&format!("folder/{name}"), bytes);
        let name = format!("{name} (");
        dir.fails_to_write_as(&format!(
            "compile -q folder | {name} | {why} | no capture | files left out: 1"
        ));
    }
}

/// As `wget -x` and `curl --create-dirs` store files.
#[test]
fn directories_named_after_hosts_hold_their_robots_txt() {
    let dir = snapshot_dir();
    dir.write("folder/a.example/robots.txt", ROBOTS);
    dir.write("folder/a.example/index.html", "<html>");
    dir.write("folder/https_b.example_443/robots.txt", ROBOTS);
    dir.write("folder/c.example/other.txt", ROBOTS);
    dir.write("folder/not a host/robots.txt", ROBOTS);
    dir.write("folder/.hidden/robots.txt", ROBOTS);
    let ran = dir.done_line("compile --stats-json stats.json folder -o new");
    ran.says("2 entries of directories are left out")
        .says("folder/c.example (a directory, and not HOST/robots.txt), ");
    assert_eq!(dir.letters("new").as_str(), "AAU");
    assert_eq!(dir.stat("skipped_files"), 2);
    dir.done_line("lint -q folder");
    fs::remove_dir_all(dir.path("folder/a.example")).unwrap();
    fs::remove_dir_all(dir.path("folder/https_b.example_443")).unwrap();
    dir.fails_to_write_as(
        "compile folder | no capture | files left out: 2 such as folder/c.example",
    );
}

/// Recorders put indexes and logs beside their archives.
#[test]
fn files_beside_archives_are_left_out_and_named() {
    let dir = snapshot_dir();
    dir.write("folder/a.warc", record("a"));
    dir.write("folder/a.cdxj", "com,example)/ 2026 {}\n");
    dir.write("folder/crawl.log", "x\n");
    dir.write("folder/SHA256SUMS", "x\n");
    dir.write("folder/logs/b.warc", record("b"));
    let ran = dir.done_line("compile --stats-json stats.json folder -o new");
    ran.says("warning: 4 entries of directories are left out: ")
        .says("folder/a.cdxj (beside archives), ")
        .says("folder/logs (a directory, and not HOST/robots.txt)");
    assert_eq!(dir.stat("skipped_files"), 4);
    assert_eq!(dir.letters("new").as_str(), "AUU");
    for name in ["b.example", "b.example.txt", "b.example/robots.txt"] {
        dir.write(&format!("folder/{name}"), ROBOTS);
        dir.fails_to_write_as(&format!(
            "compile folder | a directory of archives (a.warc) | other files too ({name}) | \
             name the archives themselves"
        ));
        let top = dir.path("folder").join(name.split('/').next().unwrap());
        match top.is_dir() {
            true => fs::remove_dir_all(top).unwrap(),
            false => fs::remove_file(top).unwrap(),
        }
    }
}

/// Names that a URL can have as a host, and a file rather not.
#[test]
fn files_that_are_named_otherwise_set_no_rules() {
    let dir = snapshot_dir();
    dir.write("folder/a.example.txt", ROBOTS);
    for name in [
        "1.txt",
        "b.example_robots.txt",
        "c.example.robots.txt",
        "robots_b.example.txt",
    ] {
        dir.write(&format!("folder/{name}"), ROBOTS);
    }
    let ran = dir.done_line("compile --stats-json stats.json folder -o new");
    ran.says("4 entries of directories are left out");
    assert_eq!(dir.stat("skipped_files"), 4);
    assert_eq!(dir.letters("new").as_str(), "AUU");
}

/// `str()` of Python's bytes, BLOBs of DuckDB, and binary columns as base64.
#[test]
fn texts_that_are_coded_once_more_are_named_in_a_warning() {
    let dir = snapshot_dir();
    let line = |host: &str, body: &str| {
        let url = format!("https://{host}.example/robots.txt");
        serde_json::json!({"url": url, "body": body}).to_string() + "\n"
    };
    let lines = [
        line("c", r"b'User-agent: *\nDisallow: /\n'"),
        line("b", r"User-agent: *\x0ADisallow: /\x0A"),
        line("a", "User-agent: *\nDisallow: /\n"),
    ];
    dir.write("a.jsonl", lines.concat());
    dir.write("folder/d.example", "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3g=");
    let ran = dir.done_line("compile -q --stats-json stats.json a.jsonl folder -o new");
    ran.says(
        "warning: 4 texts allow everything, but look like a robots.txt that was coded once more",
    )
    .says("such as that of http://d.example/robots.txt");
    assert_eq!(dir.stat("coded_texts"), 4);
    assert_eq!(dir.letters("new").as_str(), "DAA");
    // A site may serve such a text.
    let block = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\\nDisallow: /";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/robots.txt\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    dir.write("a.warc", record);
    dir.done_line("compile -q --stats-json stats.json a.warc -o new");
    assert_eq!(dir.stat("coded_texts"), 0);
}

/// As Scrapy, pandas and browsers (HAR) write JSON.
#[test]
fn json_over_several_lines_gets_the_command_that_writes_lines() {
    let dir = snapshot_dir();
    let object = r#"{"url": "https://a.example/robots.txt", "status": 404}"#;
    for (text, advice) in [
        (format!("[{object}]"), "jq -c '.[]'"),
        (format!("[\n{object},\n{object}\n]\n"), "jq -c '.[]'"),
        ("{\n  \"log\": {}\n}\n".to_owned(), "jq -c ."),
        (format!("{object},\n{object}\n"), "sed 's/,$//'"),
    ] {
        dir.write("a.json", text);
        dir.fails_to_write_as(&format!("compile a.json | a.json: | {advice}"));
    }
    dir.write("a.json", "[Section]\nkey=value\n");
    let message = dir.fails_to_write_as("compile a.json | neither WARC nor JSONL");
    assert!(!message.contains("jq"), "{message}");
}

#[test]
fn archives_are_detected_by_content() {
    let dir = snapshot_dir();
    dir.write("folder/a.arc.gz", gz(record("a")));
    dir.write("folder/b.warc", record("b"));
    dir.done(&["compile", "-q", "folder", "-o", "new"]);
    assert_eq!(dir.letters("new"), "AAU");
    // A folder of texts of sites, of which one is an archive.
    fs::remove_file(dir.path("folder/a.arc.gz")).unwrap();
    fs::remove_file(dir.path("folder/b.warc")).unwrap();
    dir.write("folder/c.gz", gz(record("c")));
    dir.done(&["compile", "-q", "folder", "-o", "new"]);
    assert_eq!(dir.letters("new"), "UUA");
    for name in ["b.example.gz", "notes.log"] {
        dir.write(&format!("folder/{name}"), ROBOTS);
        dir.fails_to_write_as(&format!("compile folder | {name} | name the archives"));
        fs::remove_file(dir.path(&format!("folder/{name}"))).unwrap();
    }
    // The body of a site does not decide the format.
    for name in [
        "evil.example",
        "evil.example/robots.txt",
        "evil.example_robots.txt",
    ] {
        fs::remove_dir_all(dir.path("folder")).unwrap();
        fs::create_dir(dir.path("folder")).unwrap();
        dir.write(&format!("folder/{name}"), record("a"));
        let expected = format!("{name} (a WARC archive)");
        dir.fails_to_write(&["compile", "folder"], &[&expected]);
    }
}

#[test]
fn formats_of_non_snapshots_are_named() {
    let dir = snapshot_dir();
    let bytes = snapshot(ROBOTS);
    let cases = [
        "x.gz | but a gzip file; decompress it first (gunzip)",
        "x.zst | but a zstd file; decompress it first (zstd -d)",
        "x.warc | but a WARC archive; compile it first | robosieve compile -o",
        "x.png | but a PNG image | robosieve compile -o",
        "x.txt | not a robosieve snapshot; `robosieve compile -o",
        "empty | not a robosieve snapshot: it is empty",
    ];
    dir.write("x.gz", gz(&bytes));
    dir.write("x.zst", zst(&bytes));
    dir.write("x.warc", record("a"));
    dir.write("x.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    dir.write("x.txt", LIST);
    dir.write("empty", "");
    for row in cases {
        let (name, _) = case(row);
        let parts = format!("not a robosieve snapshot | {row}");
        let message = dir.fails_as(&format!("filter -s {name} -a FooBot list.txt | {parts}"));
        assert!(!message.contains("magic"), "{message}");
        dir.fails_as(&format!("inspect {name} | {parts}"));
        dir.fails_as(&format!(
            "compile good.jsonl --previous {name} -o new | {parts}"
        ));
    }
}

#[test]
fn check_reads_a_compressed_robots_txt() {
    let dir = snapshot_dir();
    dir.write("robots.txt.gz", gz(ROBOTS.as_bytes()));
    dir.write(
        "robots.txt.zst",
        [skippable(0), zst(ROBOTS.as_bytes())].concat(),
    );
    for name in ["robots.txt.gz", "robots.txt.zst"] {
        let ran = dir.run(&["check", "--robots", name, "-a", "FooBot", "/x"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{name}");
    }
    dir.write("cut.gz", cut(gz(ROBOTS.as_bytes())));
    dir.fails_as("check --robots cut.gz -a FooBot /x | cut.gz | damaged");
}

#[test]
fn archives_of_other_formats_are_named() {
    let dir = snapshot_dir();
    let cases = [
        (
            "x.xz",
            b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46".to_vec(),
            &["an xz file", "xz -d"][..],
        ),
        (
            "x.gz",
            gz(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            &["a PNG image"],
        ),
    ];
    for (name, bytes, expected) in cases {
        dir.write(name, bytes);
        dir.fails_to_write(
            &["compile", "good.jsonl", name],
            &[&[name], expected].concat(),
        );
    }
}

#[test]
fn urls_are_refused_as_files() {
    let dir = snapshot_dir();
    let cases = [
        "compile -o new s3://bucket/x.warc.gz | aws s3 cp",
        "compile -o s3://bucket/new good.jsonl | aws s3 cp",
        "compile -o new good.jsonl --previous gs://bucket/old | gcloud storage",
        "filter -s https://h.example/x.rsieve -a FooBot list.txt | curl",
        "check -s https://h.example/x.rsieve -a FooBot https://a.example/ | curl",
        "inspect hdfs://n/x.rsieve | hdfs dfs",
        "filter -s good.rsieve -a FooBot list.txt https://h.example/urls.gz | curl",
        "filter -s good.rsieve -a FooBot s3://bucket/*.gz | aws s3 cp",
        "filter -s good.rsieve -a FooBot --files-from names | aws s3 cp",
        "filter -s good.rsieve -a FooBot --files-from https://h.example/names | curl",
        "filter -s good.rsieve -a FooBot list.txt --disallowed-to file:///tmp/no | /tmp/no",
        "filter -s good.rsieve -a FooBot list.txt -o abfs://x/y | download",
    ];
    dir.write("names", "list.txt\ns3://bucket/urls.gz\n");
    for row in cases {
        dir.fails_as(&format!("{row} | local files only"));
    }
    // This verb takes URLs as arguments.
    dir.run_line("check -s good.rsieve -a FooBot https://a.example/")
        .succeeds();
}

#[test]
fn compile_expands_globs() {
    let dir = snapshot_dir();
    dir.write("folder/a.warc", record("a"));
    fs::create_dir(dir.path("folder/deep")).unwrap();
    dir.write("folder/deep/b.warc", record("b"));
    dir.write("folder/deep/[c].warc", record("c"));
    for (pattern, letters) in [
        ("folder/*.warc", "AUU"),
        ("folder/**/*.warc", "AAA"),
        ("folder/deep/?.warc", "UAU"),
        ("folder/deep/[c].warc", "UUA"),
    ] {
        dir.done(&["compile", "-q", pattern, "-o", "new"]);
        assert_eq!(dir.letters("new"), letters, "{pattern}");
    }
    dir.fails_to_write_as("compile folder/*.gz | folder/*.gz | matches none");
}

/// Starts a run that waits for standard input, truncates the file `name` meanwhile, and lets the
/// run read it.
#[cfg(unix)]
fn shortened(dir: &TestDir, name: &str, verb: &[&str], to: u64) -> Ran {
    use std::io::Read;
    // The run reads its first input from a pipe, after it has examined the others.
    let mut child = Command::new(env!("CARGO_BIN_EXE_robosieve"))
        .args(verb)
        .args(["-", name])
        .current_dir(dir.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds: once it is written, the run is reading and has opened all of its
    // inputs.
    input
        .write_all(&b"https://a.example/\n".repeat(100_000))
        .unwrap();
    File::options()
        .write(true)
        .open(dir.path(name))
        .unwrap()
        .set_len(to)
        .unwrap();
    drop(input);
    let (mut stdout, mut stderr) = (Vec::new(), String::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            child
                .stdout
                .take()
                .unwrap()
                .read_to_end(&mut stdout)
                .unwrap()
        });
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
    });
    Ran {
        args: verb.join(" "),
        code: child.wait().unwrap().code(),
        stdout,
        stderr,
    }
}

#[cfg(unix)]
#[test]
fn shrinking_lists_are_errors() {
    let dir = snapshot_dir();
    let members: Vec<u8> = (0..3).flat_map(|_| gz(LIST)).collect();
    let frames: Vec<u8> = (0..3).flat_map(|_| zst(LIST)).collect();
    let verb = words("filter -q -j1 -s good.rsieve -a FooBot -o new");
    // Each is truncated where it looks complete.
    for (name, bytes, to) in [
        ("x.txt", LIST.repeat(100_000), LIST.len() * 20_000),
        ("y.txt", LIST.repeat(2), LIST.len()),
        ("z.txt", LIST.to_vec(), 0),
        ("x.csv", b"url\nhttps://a.example/\n".repeat(9), 4),
        ("x.gz", members.clone(), members.len() / 3),
        ("x.zst", frames.clone(), frames.len() / 3),
    ] {
        dir.write(name, bytes);
        let ran = shortened(&dir, name, &verb, to as u64);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
        ran.says(&format!("{name}: ")).says("became shorter");
        assert!(!dir.path("new").exists(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn shrinking_redirected_lists_are_errors() {
    let dir = snapshot_dir();
    // Longer than the bytes that are read at the start to recognise its format.
    dir.write("x.txt", LIST.repeat(100_000));
    assert!(
        Command::new("mkfifo")
            .arg(dir.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let child = Command::new(env!("CARGO_BIN_EXE_robosieve"))
        .args([
            "filter",
            "-q",
            "-j1",
            "-s",
            "good.rsieve",
            "-a",
            "FooBot",
            "-o",
            "new",
            "pipe",
            "-",
        ])
        .current_dir(dir.root())
        .stdin(File::open(dir.path("x.txt")).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Opening waits for the reader. Writing more than a pipe holds waits for its first block.
    let mut pipe = File::options().write(true).open(dir.path("pipe")).unwrap();
    pipe.write_all(&b"https://a.example/\n".repeat(100_000))
        .unwrap();
    File::options()
        .write(true)
        .open(dir.path("x.txt"))
        .unwrap()
        .set_len(50_000 * LIST.len() as u64)
        .unwrap();
    drop(pipe);
    let ran = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(2), "{stderr}");
    assert_has(&stderr, "standard input: the file became shorter");
    assert!(!dir.path("new").exists());
}
