//! One output per input.

use super::snapshot_dir;
use crate::command::{case, words};
use crate::test_dir::{file_names, gz};
use std::fs;
use std::io::Read;

const JUDGE: [&str; 5] = ["filter", "-s", "web.rsieve", "-a", "FooBot"];

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&JUDGE[..], more].concat()
}

/// A list of this number of lines, with every verdict.
pub(super) fn list(lines: usize) -> String {
    let line = |i: usize| match i % 7 {
        0 => "no URL\n".to_owned(),
        1 => format!("https://unknown{i}.example/\n"),
        2 | 3 => format!("https://h{}.example/p{i}\n", i % 10),
        _ => format!("https://h{}.example/{i}\n", i % 10),
    };
    (0..lines).map(line).collect()
}

#[test]
fn files_are_judged_independently() {
    let dir = snapshot_dir();
    for i in 0..200 {
        // The first line of each list is not a URL. A list with no URL at all would fail.
        dir.write(&format!("in/{i:03}.txt"), list(if i == 1 { 2 } else { i }));
    }
    dir.write("in/big.txt.gz", gz(list(300_000)));
    dir.write(
        "in/zst.txt.zst",
        zstd::encode_all(list(1000).as_bytes(), 1).unwrap(),
    );
    let to = words("--disallowed-to no --unknown-to new --invalid-to deep/odd");
    for threads in ["1", "2", "7"] {
        dir.done(&args(
            &[&["-j", threads, "--out-dir", "deep/go", "in"][..], &to].concat(),
        ));
        for name in ["000.txt", "001.txt", "199.txt", "big.txt.gz", "zst.txt.zst"] {
            let input = format!("in/{name}");
            let alone = format!("alone-{name}");
            dir.done(&args(&words(&format!(
                "-q -o {alone} --disallowed-to alone-no {input}"
            ))));
            let read = |path: &str| {
                let mut bytes = Vec::new();
                robosieve::decode::decode(fs::File::open(dir.path(path)).unwrap())
                    .unwrap()
                    .read_to_end(&mut bytes)
                    .unwrap();
                bytes
            };
            assert!(
                read(&format!("deep/go/{name}")) == read(&alone),
                "{name} with {threads} threads"
            );
            assert!(
                read(&format!("no/{name}")) == read("alone-no"),
                "{name} with {threads} threads"
            );
        }
        let lists = ["deep/go", "no", "new", "deep/odd"].map(|outputs| {
            let names = fs::read_dir(dir.path(outputs))
                .unwrap()
                .map(|entry| entry.unwrap().file_name());
            names.filter(|name| name != ".robosieve").count()
        });
        assert_eq!(lists, [202; 4]);
        fs::remove_dir_all(dir.path("deep")).unwrap();
    }
    // The extension decides, as with -o.
    assert!(dir.read("no/big.txt.gz").starts_with(&[0x1f, 0x8b]));
    assert!(
        dir.read("no/zst.txt.zst")
            .starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
    );
}

#[test]
fn annotate_writes_one_file_per_input() {
    let dir = snapshot_dir();
    dir.write("in/a", "https://h1.example/foo\nhttps://h1.example/p\n");
    dir.write("in/b", "https://h2.example/\n");
    let ran = dir.done_line("annotate -s web.rsieve -a FooBot,BarBot --out-dir out in");
    let expected = "DA\thttps://h1.example/foo\nDD\thttps://h1.example/p\n";
    assert_eq!(dir.read_text("out/a"), expected);
    assert_eq!(dir.read_text("out/b"), "AA\thttps://h2.example/\n");
    for line in [
        "files 2  done 2  skipped 0  failed 0",
        "lines 3  allowed 1  disallowed 2",
    ] {
        assert!(ran.stderr.contains(line), "{}", ran.stderr);
    }
    assert!(ran.stderr.lines().any(|line| {
        line.split_whitespace()
            .eq("2 BarBot allowed 2 disallowed 1".split(' '))
    }));
}

#[test]
fn annotations_are_named_as_what_they_are() {
    let dir = snapshot_dir();
    let record = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://h1.example/foo\r\n\
                  Content-Length: 2\r\n\r\nab\r\n\r\n";
    dir.write("in/a.warc", record);
    dir.write("in/a.warc.gz", gz(record));
    dir.write("in/a.csv", "url\nhttps://h1.example/foo\n");
    let annotate = "annotate -s web.rsieve -a FooBot --out-dir out";
    dir.done_line(&format!("{annotate} in"));
    assert_eq!(
        file_names(&dir.path("out")),
        [".robosieve", "a.csv", "a.warc.tsv", "a.warc.tsv.gz"]
    );
    assert_eq!(
        dir.read_text("out/a.warc.tsv"),
        "D\thttps://h1.example/foo\n"
    );
    let ran = dir.done_line(&format!("{annotate} --resume in"));
    ran.says("3 of 3 files are complete and skipped, 0 to do");
    // JSON lines have outputs and states of their own.
    let ran = dir.done_line(&format!("{annotate} --as jsonl --resume in"));
    ran.says("0 of 3 files are complete and skipped, 3 to do");
    let ran = dir.done_line(&format!("{annotate} --resume in"));
    ran.says("3 of 3 files are complete and skipped, 0 to do");
    for name in ["a.csv.jsonl", "a.warc.jsonl", "a.warc.jsonl.gz"] {
        assert!(dir.path("out").join(name).exists(), "{name}");
    }
    assert!(dir.read_text("out/a.csv.jsonl").starts_with('{'));
    // A list may have the name of the output of another.
    dir.write_list("in/a.warc.tsv");
    dir.fails_as(&format!(
        "{annotate} in | in/a.warc and in/a.warc.tsv: both give the output a.warc.tsv"
    ));
}

#[test]
fn shards_share_a_directory() {
    let dir = snapshot_dir();
    (0..10).for_each(|i| dir.write_list(&format!("in/{i}")));
    for shard in ["1/3", "2/3", "3/3"] {
        dir.done(&args(&["--out-dir", "out", "--shard", shard, "in"]));
    }
    (0..10).for_each(|i| {
        assert_eq!(
            dir.read_text(&format!("out/{i}")),
            dir.read_text(&format!("in/{i}"))
        )
    });
}

#[test]
fn failing_files_stop_no_other() {
    let dir = snapshot_dir();
    (0..5).for_each(|i| dir.write(&format!("in/{i}.gz"), gz(list(10))));
    let damaged = gz(list(10_000));
    dir.write("in/2.gz", &damaged[..damaged.len() / 2]);
    dir.write("out/2.gz", "from before");
    let ran = dir.run(&args(&["--out-dir", "out", "in"]));
    assert_eq!(ran.code, Some(2));
    for words in [
        "files 5  done 4  skipped 0  failed 1",
        "in/2.gz: damaged at byte",
        "1 of 5 files failed",
        "--resume",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert_eq!(dir.read_text("out/2.gz"), "from before");
    dir.write("in/2.gz", gz(list(10)));
    let ran = dir.done(&args(&["--out-dir", "out", "--resume", "in"]));
    ran.says("4 of 5 files are complete and skipped, 1 to do");
}

#[cfg(unix)]
#[test]
fn nameless_and_overwriting_outputs_are_refused() {
    let dir = snapshot_dir();
    ["in/a", "other/a", "in/b", "file"]
        .iter()
        .for_each(|name| dir.write_list(name));
    std::os::unix::fs::symlink(dir.path("in"), dir.path("link")).unwrap();
    dir.write_list("old/.robosieve/a");
    for (target, link) in [
        ("in/b", "other/b"),
        ("new", "zlink"),
        ("old/.robosieve", "states"),
        ("new/.robosieve", "new2"),
    ] {
        std::os::unix::fs::symlink(dir.path(target), dir.path(link)).unwrap();
    }
    for row in [
        "--out-dir out in/a in/a | in/a and in/a | name it once",
        // Also if they belong to different shards.
        "--out-dir out --shard 1/2 in/a in/b ./in/a | in/a and ./in/a",
        "--out-dir in in | in/a: would be overwritten while it is read | another directory",
        "--out-dir link in/a | link/a: would be overwritten",
        "--out-dir other in/b | other/b: would be overwritten",
        "--out-dir out --invalid-to in in | in/a: would be overwritten",
        "--out-dir file in | file: is a file | directory",
        "--out-dir out --unknown-to file in | file: is a file | directory",
        "--out-dir out --unknown-to ./out in | out: named for two outputs",
        // `gone` is created later, and then leads to `in` and to `out`.
        "--out-dir gone/../in in | `..` follows a folder that does not exist | without `..`",
        "--out-dir gone/.. in/a | `..` follows a folder that does not exist",
        "--out-dir out --unknown-to gone/../in in | `..` follows a folder that does not exist",
        "--out-dir out --disallowed-to gone/../out in | `..` follows a folder that does not exist",
        // As is `new`, which the link names.
        "--out-dir new --unknown-to zlink/x in | zlink is a link to a folder that does not exist",
        "--out-dir out --disallowed-to out/.robosieve in | --disallowed-to names the directory of the \
         state files",
        "--out-dir out --unknown-to out/.robosieve/x in | state files of --resume; name another",
        "--out-dir out --invalid-to states/x in | state files of --resume; name another",
        "--out-dir new --invalid-to new2 in | new/.robosieve: named for two outputs, --invalid-to",
        "--out-dir out */.robosieve/* | would be among the state files of --resume",
        "--out-dir out -o file in | leave one of them out",
        "--out-dir out | standard input has no name | -o",
        "--out-dir out in /dev/null | /dev/null: not a regular file | -o",
        "--resume in | --resume needs --out-dir",
        "--out-dir out in none | none: No such file",
    ] {
        let (more, parts) = case(row);
        dir.fails(&args(&words(more)), &parts);
    }
    assert!(
        !dir.path("out").exists(),
        "a refused run creates no directory"
    );
}
