//! `filter` and `annotate` on WARC, WET and WAT files: every record goes to one output with its
//! bytes, and with its gzip member.

mod mistakes;
mod other_archives;
mod outputs;
mod random;
mod zip_files;

use crate::command::cells;
use crate::test_dir::{TestDir, gz};
use std::io::{Read, Write};

/// A record with this type, URL (unless it is empty) and block.
fn record(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let target = if url.is_empty() {
        String::new()
    } else {
        format!("WARC-Target-URI: {url}\r\n")
    };
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\n{target}WARC-Date: 2026-03-04T05:06:07Z\r\n\
         WARC-Record-ID: <urn:uuid:{kind}>\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(url: &str, block: &[u8]) -> Vec<u8> {
    record(
        "response",
        url,
        &[
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\n",
            block,
        ]
        .concat(),
    )
}

fn gz_at(text: &[u8], level: u32) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

/// The text of all members.
fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .read_to_end(&mut text)
        .unwrap();
    text
}

/// The text of each member.
fn members(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let (mut member, mut text) = (flate2::bufread::GzDecoder::new(bytes), Vec::new());
        member.read_to_end(&mut text).unwrap();
        bytes = member.into_inner();
        texts.push(text);
    }
    texts
}

/// One of each: the letter of its output (`K` is the main output without a verdict), its type, URL
/// and block. A page is a response.
const RECORDS: &[&str] = &[
    "K | warcinfo |  | software: none\r\n",
    "A | request | https://e.example/a | GET /a HTTP/1.1\r\n\r\n",
    "A | page | https://e.example/a | <p>a",
    "A | metadata | <https://e.example/a> | fetchTimeMs: 7\r\n",
    "D | request | https://e.example/x1 | GET /x1 HTTP/1.1\r\n\r\n",
    "D | page | https://e.example/x1 | <p>x",
    "I | response | dns:e.example | 20260304050607\ne.example. 1 IN A 192.0.2.1\n",
    "U | page | https://other.example/ | ",
    "A | revisit | https://e.example/a | HTTP/1.1 304 Not Modified\r\n\r\n",
    "I | metadata |  | x: y\r\n",
    "A | resource | urn:text:https://e.example/a | text of a",
    "D | resource | urn:pageinfo:https://e.example/x1 | {}",
    "D | metadata | <youtube-dl:https://e.example/x2> | {}",
    "U | resource | screenshot:https://other.example/ | PNG",
    "D | conversion | https://e.example/x2 | t\u{e9}xt",
];

/// The letters and bytes of [`RECORDS`], and of one that is not text.
fn archive() -> Vec<(char, Vec<u8>)> {
    let record_of = |row: &&str| {
        let [letter, kind, url, block] = cells(row);
        let bytes = match kind {
            "page" => response(url, block.as_bytes()),
            _ => record(kind, url, block.as_bytes()),
        };
        (letter.parse().unwrap(), bytes)
    };
    let binary = record("resource", "https://e.example/b", &[0, 1, 0xff]);
    let mut records: Vec<_> = RECORDS.iter().map(record_of).collect();
    records.insert(14, ('A', binary));
    records
}

/// The text of the records with these letters.
fn of(letters: &str) -> Vec<Vec<u8>> {
    archive()
        .into_iter()
        .filter(|(letter, _)| letters.contains(*letter))
        .map(|(_, text)| text)
        .collect()
}

fn all() -> Vec<Vec<u8>> {
    of("KADUI")
}

fn gz_each(records: &[Vec<u8>]) -> Vec<u8> {
    records.iter().map(gz).collect::<Vec<_>>().concat()
}

/// A directory with the snapshot `s.rsieve`.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    dir.write(
        "robots/https_e.example.txt",
        b"user-agent: *\ndisallow: /x\ncontent-usage: train-ai=n",
    );
    dir.done(&["compile", "-q", "-o", "s.rsieve", "robots"]);
    dir
}

/// The arguments of a verb with the snapshot and an agent.
fn judging<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&[args[0], "-s", "s.rsieve", "-a", "FooBot"], &args[1..]].concat()
}

const FOUR: &[&str] = &[
    "--disallowed-to",
    "no.warc.gz",
    "--unknown-to",
    "new.warc.gz",
    "--invalid-to",
    "odd.warc.gz",
];
