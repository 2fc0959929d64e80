//! Damaged, odd and missing input of every verb: exit codes, messages, and files that stay
//! unchanged.

mod compile;
mod formats;
mod judging;
#[cfg(target_os = "linux")]
mod limits;
mod lines;

use crate::command::{Ran, case, checkout, robosieve_with, words};
use crate::snapshots::compile_robots;
use crate::test_dir::{TestDir, gz};
use robosieve::Snapshot;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const ROBOTS: &str = "user-agent: *\ndisallow: /x\ndisallow: /*.secret$\n";
const LIST: &[u8] = b"https://a.example/\nhttps://a.example/x\nhttps://q.example/\nfoo\n";

/// A directory with an archive, a snapshot, a list, an older output `old`, and an empty directory
/// `folder`.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    let robots: Vec<String> = ["a", "b"].iter().map(|host| json_line(host)).collect();
    dir.write("good.jsonl", robots.concat());
    dir.write("good.rsieve", snapshot(ROBOTS));
    dir.write("list.txt", LIST);
    dir.write("old", "old content");
    fs::create_dir(dir.path("folder")).unwrap();
    dir
}

impl TestDir {
    /// [`fails`](Self::fails) with a new output, and with an existing one.
    fn fails_to_write(&self, args: &[&str], expected: &[&str]) -> String {
        self.fails(&[args, &["-o", "new"]].concat(), expected);
        self.fails(&[args, &["-o", "old"]].concat(), expected)
    }

    /// [`fails_to_write`](Self::fails_to_write) for a row: a command, and the parts of its message.
    fn fails_to_write_as(&self, row: &str) -> String {
        let (command, parts) = case(row);
        self.fails_to_write(&words(command), &parts)
    }

    /// The letters of the hosts `a`, `b` and `c` by the snapshot `name`.
    fn letters(&self, name: &str) -> String {
        let urls = b"https://a.example/\nhttps://b.example/\nhttps://c.example/\n";
        let ran = robosieve_with(
            self.root(),
            &["annotate", "-q", "-s", name, "-a", "FooBot"],
            urls,
        );
        ran.stdout
            .split(|&b| b == b'\n')
            .filter_map(|line| line.first())
            .map(|&b| char::from(b))
            .collect()
    }

    /// A number in the report `stats.json`.
    fn stat(&self, name: &str) -> u64 {
        let report: serde_json::Value = serde_json::from_slice(&self.read("stats.json")).unwrap();
        report[name].as_u64().unwrap()
    }
}

fn snapshot(robots: &str) -> Vec<u8> {
    compile_robots("https://a.example", robots)
}

fn json_line(host: &str) -> String {
    serde_json::json!({"url": format!("https://{host}.example/robots.txt"), "body": ROBOTS})
        .to_string()
        + "\n"
}

fn response() -> String {
    format!("HTTP/1.1 200 OK\r\n\r\n{ROBOTS}")
}

/// A WARC record of a host's robots.txt with this `Content-Length`.
fn record_of_length(host: &str, length: impl std::fmt::Display) -> Vec<u8> {
    let date = "2024-01-01T00:00:00Z";
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://{host}.example/robots.txt\r\nWARC-Date: {date}\r\nContent-Length: {length}\r\n\r\n"
    );
    (head + &response() + "\r\n\r\n").into_bytes()
}

fn record(host: &str) -> Vec<u8> {
    record_of_length(host, response().len())
}

/// Records of the hosts `a`, `b` and `c`; that of `b` has this `Content-Length`.
fn warc(length_of_b: impl std::fmt::Display) -> Vec<u8> {
    [record("a"), record_of_length("b", length_of_b), record("c")].concat()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut out = zstd::Encoder::new(Vec::new(), 3).unwrap();
    // With a checksum, as the zstd command writes it; without one a changed byte may only change
    // text.
    out.include_checksum(true).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// The bytes with the one in the middle inverted.
fn damage(mut bytes: Vec<u8>) -> Vec<u8> {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    bytes
}

fn cut(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// Each message names the file, and advice that this command has.
#[test]
fn messages_name_the_file_and_options_of_the_command() {
    let dir = TestDir::new();
    dir.compile_small("s");
    let table = std::fs::read(checkout().join("datasets/small/pages.parquet")).unwrap();
    dir.write("u.parquet", &table);
    dir.write("u.txt", "https://news.example/a\n");
    dir.write("quote.csv", "url\n\"https://news.example/a\n");
    dir.write("own.txt", "shop.example\n");
    dir.done_line("lists -q -o own.rlists own.txt");
    dir.write("u.txt.xz", b"\xfd7zXZ\0\0\x04");
    dir.all_fail(&[
        "filter -s s -a GPTBot u.parquet | ; name one with -o, such as -o out.parquet",
        "annotate -s s -a GPTBot --add reason u.txt | the form letters has no room | \
         (--as jsonl or --as csv, next to --add)",
        "annotate -s s -a GPTBot --as csv u.txt | u.txt: the form csv | (--as jsonl)",
        "inspect own.rlists | own.rlists: not a robosieve snapshot but a file of filter lists | \
         ; `robosieve lists FILE` shows it",
        "export -s s --columns GPTBot.access | --columns GPTBot.access: | name it with -a GPTBot",
        "filter -s s -a GPTBot quote.csv | quote.csv: line 2: a quote is opened here and not closed \
         before the end of the file",
        "bench -s s --urls u.txt.xz | u.txt.xz: an xz file, not a list of URLs",
    ]);
    let mixed = dir.run_line("report -s s -a GPTBot u.parquet u.txt");
    mixed.refused("give each kind to a run of its own");
    assert!(!mixed.stderr.contains("--out-dir"), "{mixed:?}");
}
