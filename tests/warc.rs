//! `filter` and `annotate` on WARC, WET and WAT files: every record goes to one output with its
//! bytes, and with its gzip member.

use crate::command::{Ran, robosieve, robosieve_with};
use proptest::prelude::*;
use robosieve::job::{FilterStats, Form, Input, Job, Output, Outputs, Written};
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use tempfile::TempDir;

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

fn gz(text: &[u8]) -> Vec<u8> {
    gz_at(text, 6)
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

/// One of each: the text, and the letter of its output (`K` is the main output without a verdict).
fn archive() -> Vec<(char, Vec<u8>)> {
    vec![
        ('K', record("warcinfo", "", b"software: none\r\n")),
        (
            'A',
            record("request", "https://e.example/a", b"GET /a HTTP/1.1\r\n\r\n"),
        ),
        ('A', response("https://e.example/a", b"<p>a")),
        (
            'A',
            record("metadata", "<https://e.example/a>", b"fetchTimeMs: 7\r\n"),
        ),
        (
            'D',
            record(
                "request",
                "https://e.example/x1",
                b"GET /x1 HTTP/1.1\r\n\r\n",
            ),
        ),
        ('D', response("https://e.example/x1", b"<p>x")),
        (
            'I',
            record(
                "response",
                "dns:e.example",
                b"20260304050607\ne.example. 1 IN A 192.0.2.1\n",
            ),
        ),
        ('U', response("https://other.example/", b"")),
        (
            'A',
            record(
                "revisit",
                "https://e.example/a",
                b"HTTP/1.1 304 Not Modified\r\n\r\n",
            ),
        ),
        ('I', record("metadata", "", b"x: y\r\n")),
        (
            'A',
            record("resource", "https://e.example/b", &[0, 1, 0xff]),
        ),
        (
            'D',
            record("conversion", "https://e.example/x2", "t\u{e9}xt".as_bytes()),
        ),
    ]
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
    records
        .iter()
        .map(|record| gz(record))
        .collect::<Vec<_>>()
        .concat()
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        fs::create_dir(place.0.path().join("robots")).unwrap();
        place.write(
            "robots/https_e.example.txt",
            b"user-agent: *\ndisallow: /x\ncontent-usage: train-ai=n",
        );
        let ran = robosieve(
            place.0.path(),
            &["compile", "-q", "-o", "s.rsieve", "robots"],
        );
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Ran {
        let verb = [&[args[0], "-s", "s.rsieve", "-a", "FooBot"], &args[1..]].concat();
        robosieve(self.0.path(), &verb)
    }

    fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        ran
    }

    /// The message of a run that fails and writes nothing.
    fn fails(&self, args: &[&str]) -> String {
        let before = names(self.0.path());
        let ran = self.run(args);
        assert_eq!(
            (ran.code, names(self.0.path())),
            (Some(2), before),
            "{args:?}: {}",
            ran.stderr
        );
        ran.stderr
    }
}

fn names(dir: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names
}

const FOUR: &[&str] = &[
    "--disallowed-to",
    "no.warc.gz",
    "--unknown-to",
    "new.warc.gz",
    "--invalid-to",
    "odd.warc.gz",
];

#[test]
fn gzip_members_are_copied() {
    let place = Place::new();
    // Members with other levels, names and padding, as no other program would write them again.
    let odd = |text: &[u8]| {
        let mut out = flate2::GzBuilder::new()
            .filename("x")
            .mtime(7)
            .write(Vec::new(), flate2::Compression::new(1));
        out.write_all(text).unwrap();
        out.finish().unwrap()
    };
    let file: Vec<u8> = all()
        .iter()
        .flat_map(|text| [odd(text), vec![0; text.len() % 3]].concat())
        .collect();
    place.write("in.warc.gz", &file);
    let ran = place.ok(&[
        &["filter", "in.warc.gz", "-o", "go.warc.gz", "-j", "3"],
        FOUR,
    ]
    .concat());
    for (name, letters) in [
        ("go.warc.gz", "KA"),
        ("no.warc.gz", "D"),
        ("new.warc.gz", "U"),
        ("odd.warc.gz", "I"),
    ] {
        let expected: Vec<u8> = of(letters).iter().flat_map(|text| odd(text)).collect();
        assert!(place.read(name) == expected, "{name}");
    }
    let counts = "lines 11  allowed 5  disallowed 3  unknown 1  invalid 2\n";
    assert!(ran.stderr.contains(counts), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("warcinfo records, not counted above: 1\n"),
        "{}",
        ran.stderr
    );
    // Standard output gets members too, and standard input is read as a file.
    let args = ["filter", "-q", "-s", "s.rsieve", "-a", "FooBot"];
    let piped = robosieve_with(place.0.path(), &args, &file);
    assert!(piped.stdout == place.read("go.warc.gz"), "{}", piped.stderr);
    place.ok(&[
        "filter",
        "--keep",
        "disallowed",
        "in.warc.gz",
        "-o",
        "kept.gz",
    ]);
    let expected: Vec<u8> = of("KD").iter().flat_map(|text| odd(text)).collect();
    assert!(place.read("kept.gz") == expected);
}

#[test]
fn plain_records_stay_plain_or_become_members() {
    let place = Place::new();
    place.write("in.warc", &all().concat());
    place.ok(&[
        "filter",
        "in.warc",
        "-o",
        "go.warc",
        "--disallowed-to",
        "no.wet.gz",
        "--unknown-to",
        "new.warc.zst",
    ]);
    assert_eq!(place.read("go.warc"), of("KA").concat());
    assert_eq!(members(&place.read("no.wet.gz")), of("D"));
    assert_eq!(
        zstd::decode_all(&place.read("new.warc.zst")[..]).unwrap(),
        of("U").concat()
    );
    assert_eq!(
        place.ok(&["filter", "-q", "in.warc"]).stdout,
        of("KA").concat()
    );
    // The last record of an input may lack its blank lines; it gets them if another follows.
    let mut cut = of("A").concat();
    cut.truncate(cut.len() - 4);
    place.write("cut.warc", &cut);
    assert_eq!(
        place.ok(&["filter", "-q", "cut.warc", "cut.warc"]).stdout,
        [&cut, &b"\r\n\r\n"[..], &cut].concat()
    );
    // A plain and a gzip input give members.
    place.write("in.warc.gz", &gz_each(&all()));
    place.ok(&["filter", "in.warc", "in.warc.gz", "-o", "both.warc.gz"]);
    assert_eq!(
        members(&place.read("both.warc.gz")),
        [of("KA"), of("KA")].concat()
    );
}

#[test]
fn files_compressed_as_a_whole_are_cut_into_members() {
    let place = Place::new();
    place.write("in.warc.gz", &gz(&all().concat()));
    place.ok(&[&["filter", "in.warc.gz", "-o", "go.warc.gz"], FOUR].concat());
    for (name, letters) in [
        ("go.warc.gz", "KA"),
        ("no.warc.gz", "D"),
        ("new.warc.gz", "U"),
        ("odd.warc.gz", "I"),
    ] {
        assert_eq!(members(&place.read(name)), of(letters), "{name}");
    }
    // Members with several records after members with one.
    let (first, rest) = (all()[..2].to_vec(), all()[2..].concat());
    place.write(
        "part.warc.gz",
        &[gz_each(&first), gz(b""), gz(&rest)].concat(),
    );
    place.ok(&["filter", "part.warc.gz", "-o", "go.warc.gz"]);
    assert_eq!(members(&place.read("go.warc.gz")), of("KA"));
    // A zstd file is read as plain records, and written as the name says.
    place.write(
        "in.warc.zst",
        &zstd::encode_all(&all().concat()[..], 1).unwrap(),
    );
    place.ok(&[
        "filter",
        "in.warc.zst",
        "-o",
        "go.warc",
        "--disallowed-to",
        "no.warc.gz",
    ]);
    assert_eq!(place.read("go.warc"), of("KA").concat());
    assert_eq!(members(&place.read("no.warc.gz")), of("D"));
}

#[test]
fn annotating_gives_a_line_per_record() {
    let place = Place::new();
    place.write("in.warc.gz", &gz_each(&all()));
    let urls = [
        "I\t-",
        "A\thttps://e.example/a",
        "A\thttps://e.example/a",
        "A\thttps://e.example/a",
        "D\thttps://e.example/x1",
        "D\thttps://e.example/x1",
        "I\tdns:e.example",
        "U\thttps://other.example/",
        "A\thttps://e.example/a",
        "I\t-",
        "A\thttps://e.example/b",
        "D\thttps://e.example/x2",
        "",
    ];
    let ran = place.ok(&["annotate", "in.warc.gz"]);
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), urls.join("\n"));
    assert!(
        ran.stderr
            .contains("lines 11  allowed 5  disallowed 3  unknown 1  invalid 2\n"),
        "{}",
        ran.stderr
    );
    let mask = place
        .ok(&["annotate", "-q", "--as", "mask", "in.warc.gz"])
        .stdout;
    assert_eq!(mask, b"0\n1\n1\n1\n0\n0\n0\n0\n1\n0\n1\n0\n");
    let preferences = place
        .ok(&["annotate", "-q", "--preferences", "in.warc.gz"])
        .stdout;
    let lines: Vec<&str> = std::str::from_utf8(&preferences).unwrap().lines().collect();
    assert_eq!(
        [lines[0], lines[1], lines[7]],
        [
            "I\t--\t-\t-\t-",
            "A\tn-\t-\t-\thttps://e.example/a",
            "U\t--\t-\t-\thttps://other.example/"
        ]
    );
    // The places of the records are those of the members, or of the text.
    for (name, file) in [("in.warc.gz", gz_each(&all())), ("in.warc", all().concat())] {
        place.write(name, &file);
        let lines = place.ok(&["annotate", "-q", "--as", "jsonl", name]).stdout;
        let mut end = 0;
        for (line, text) in String::from_utf8(lines).unwrap().lines().zip(all()) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            let place = ["offset", "length"].map(|key| object[key].as_u64().unwrap() as usize);
            assert_eq!(place[0], end, "{line}");
            end += place[1];
            let stored = &file[place[0]..end];
            assert_eq!(
                if name == "in.warc" {
                    stored.to_vec()
                } else {
                    gunzip(stored)
                },
                text,
                "{line}"
            );
        }
        assert_eq!(end, file.len());
    }
    let objects = String::from_utf8(
        place
            .ok(&["annotate", "-q", "--as", "jsonl", "in.warc"])
            .stdout,
    )
    .unwrap();
    let lines: Vec<&str> = objects.lines().collect();
    let len = all()[0].len();
    assert_eq!(
        lines[0],
        format!(
            "{{\"type\":\"warcinfo\",\"offset\":0,\"length\":{len},\"date\":\"2026-03-04T05:06:07Z\",\
             \"id\":\"urn:uuid:warcinfo\",\"robots\":{{\"FooBot\":\"invalid\"}}}}"
        )
    );
    assert!(
        lines[3].starts_with("{\"url\":\"https://e.example/a\",\"type\":\"metadata\",\"offset\":"),
        "{}",
        lines[3]
    );
    assert!(
        lines[3].ends_with("\"id\":\"urn:uuid:metadata\",\"robots\":{\"FooBot\":\"allowed\"}}"),
        "{}",
        lines[3]
    );
}

/// The entries of an index must lead to the records that they name.
fn check_index(index: &[u8], kept: &[u8], file_name: &str) -> usize {
    let mut lines = 0;
    for line in std::str::from_utf8(index).unwrap().lines() {
        let object: serde_json::Value =
            serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number = |key: &str| object[key].as_str().unwrap().parse::<usize>().unwrap();
        let stored = &kept[number("offset")..][..number("length")];
        let text = if stored.starts_with(b"WARC/") {
            stored.to_vec()
        } else {
            gunzip(stored)
        };
        let head = String::from_utf8_lossy(&text).into_owned();
        let url = object["url"].as_str().unwrap();
        let targets = [
            format!("WARC-Target-URI: {url}\r\n"),
            format!("WARC-Target-URI: <{url}>\r\n"),
        ];
        assert!(targets.iter().any(|target| head.contains(target)), "{line}");
        assert!(object["filename"].as_str().unwrap().starts_with(file_name));
        lines += 1;
    }
    lines
}

#[test]
fn index_entries_lead_to_their_records() {
    let place = Place::new();
    let records = [
        all(),
        vec![record(
            "conversion",
            "https://www.e.example/A?b=2&a=1",
            b"text",
        )],
    ]
    .concat();
    place.write("in.warc", &records.concat());
    place.write("in.warc.gz", &gz_each(&records));
    for (input, output) in [
        ("in.warc", "go.warc"),
        ("in.warc", "go.warc.gz"),
        ("in.warc.gz", "go.warc.gz"),
    ] {
        place.ok(&[
            "filter",
            "--unknown",
            "allow",
            input,
            "-o",
            output,
            "--cdxj",
            "go.cdxj",
        ]);
        let index = place.read("go.cdxj");
        // The first response, its metadata and its revisit, the other response, the resource, and
        // the conversion.
        assert_eq!(
            check_index(&index, &place.read(output), output),
            6,
            "{input} {output}"
        );
        let text = String::from_utf8(index).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let start = "example,e)/a 20260304050607 {\"url\": \"https://e.example/a\", \"mime\": \"text/html\", \
                     \"status\": \"200\", \"length\": \"";
        assert!(lines[0].starts_with(start), "{}", lines[0]);
        assert!(
            lines[5].starts_with("example,e)/a?a=1&b=2 20260304050607 {"),
            "{}",
            lines[5]
        );
    }
    for (args, expected) in [
        (
            &["filter", "in.warc", "--cdxj", "i.cdxj"][..],
            "-o kept.warc.gz",
        ),
        (
            &["filter", "in.warc", "-o", "go.warc.zst", "--cdxj", "i.cdxj"],
            "zstd stream",
        ),
        (
            &["filter", "in.warc", "-o", "go.warc", "--cdxj", "go.warc"],
            "two outputs",
        ),
    ] {
        let message = place.fails(args);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
    place.write("list", b"https://e.example/a\n");
    assert!(
        place
            .fails(&["filter", "list", "-o", "x", "--cdxj", "i.cdxj"])
            .contains("no input is one")
    );
}

#[test]
fn each_input_gets_outputs_of_its_name() {
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    place.write("in/a.warc.gz", &gz_each(&all()));
    place.write("in/b.warc.wet", &all().concat());
    place.write(
        "in/c.warc.zst",
        &zstd::encode_all(&all().concat()[..], 1).unwrap(),
    );
    place.write("in/list.txt", b"https://e.example/a\nhttps://e.example/x\n");
    let args = [
        "filter",
        "in",
        "--out-dir",
        "go",
        "--disallowed-to",
        "no",
        "-j",
        "2",
    ];
    place.ok(&args);
    assert_eq!(place.read("go/a.warc.gz"), gz_each(&of("KA")));
    assert_eq!(place.read("no/b.warc.wet"), of("D").concat());
    assert_eq!(
        zstd::decode_all(&place.read("go/c.warc.zst")[..]).unwrap(),
        of("KA").concat()
    );
    assert_eq!(place.read("go/list.txt"), b"https://e.example/a\n");
    let again = place.ok(&[&args[..], &["--resume"]].concat());
    assert!(
        again.stderr.contains("4 of 4 files are complete"),
        "{}",
        again.stderr
    );
    assert!(
        again.stderr.contains("together: lines 35") || again.stderr.contains("lines 35"),
        "{}",
        again.stderr
    );
    place.ok(&[
        "filter",
        "in/a.warc.gz",
        "in/b.warc.wet",
        "--out-dir",
        "go",
        "--cdxj",
        "index",
    ]);
    for name in ["a.warc.gz", "b.warc.wet"] {
        let index = place.read(&format!("index/{name}.cdxj"));
        assert_eq!(
            check_index(&index, &place.read(&format!("go/{name}")), name),
            4,
            "{name}"
        );
    }
    place.ok(&["annotate", "in", "--out-dir", "letters"]);
    assert!(
        gunzip(&place.read("letters/a.warc.gz")).starts_with(b"I\t-\nA\thttps://e.example/a\n")
    );
}

#[test]
fn mistakes_have_advice() {
    let place = Place::new();
    place.write("in.warc.gz", &gz_each(&all()));
    place.write("in.warc", &all().concat());
    place.write("list", b"https://e.example/a\n");
    for (args, expected) in [
        (
            &["filter", "in.warc", "list", "-o", "x"][..],
            "give each kind to a run of its own",
        ),
        (
            &["annotate", "list", "in.warc.gz", "-o", "x"],
            "give each kind to a run of its own",
        ),
        (
            &["filter", "in.warc.gz", "-o", "go.warc"],
            "name it go.warc.gz",
        ),
        (
            &["filter", "in.warc.gz", "-o", "go.warc.zst"],
            "name it go.warc.gz",
        ),
        (&["filter", "in.warc", "-o", "go.txt"], "name it go.warc.gz"),
        (
            &["filter", "in.warc", "-o", "go.parquet"],
            "name it go.warc.gz",
        ),
        (&["annotate", "in.warc", "-o", "go.warc.gz"], "name it .tsv"),
        (
            &["annotate", "in.warc", "--as", "bits", "-o", "x"],
            "letters, jsonl or mask",
        ),
        (
            &["filter", "in.warc", "--field", "2", "-o", "x"],
            "WARC-Target-URI",
        ),
        (
            &["filter", "in.warc", "--host", "e.example", "-o", "x"],
            "WARC-Target-URI",
        ),
        (
            &["report", "in.warc", "--host", "e.example", "--json-to", "x"],
            "WARC-Target-URI",
        ),
        (
            &["report", "in.warc", "list", "--json-to", "x"],
            "of its own (--out-dir)",
        ),
    ] {
        let message = place.fails(args);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

#[test]
fn damage_names_the_file_and_the_offset() {
    let place = Place::new();
    let one = gz(&all()[1]);
    let two = gz(&all()[2]);
    let start = one.len();
    let long = |text: &[u8], by: usize| text[..text.len() - by].to_vec();
    let lies = String::from_utf8(all()[1].clone()).unwrap();
    let length = lies.find("Content-Length: ").unwrap() + 16;
    let with_length =
        |value: &str| format!("{}{value}{}", &lies[..length], &lies[length + 2..]).into_bytes();
    let mut flipped = two.clone();
    flipped[40] ^= 0x20;
    let mut checksum = two.clone();
    checksum[two.len() - 6] ^= 1;
    let third = all()[2].clone();
    let (half, rest) = third.split_at(60);
    for (name, bytes, offset, expected) in [
        (
            "cut.warc.gz",
            [one.clone(), long(&two, 9)].concat(),
            start,
            "ends inside this gzip member",
        ),
        (
            "trailer.warc.gz",
            [one.clone(), long(&two, 1)].concat(),
            start,
            "ends inside this gzip member",
        ),
        (
            "header.warc.gz",
            [&one, &two[..5]].concat(),
            start,
            "ends inside this gzip member",
        ),
        (
            "flipped.warc.gz",
            [&one, &flipped, &two[..]].concat(),
            start,
            "gzip member",
        ),
        (
            "checksum.warc.gz",
            [&one, &checksum, &two[..]].concat(),
            start,
            "checksum",
        ),
        (
            "garbage.warc.gz",
            [&one, b"garbage garbage".as_slice(), &two].concat(),
            start,
            "no gzip header",
        ),
        (
            "half.warc.gz",
            [one.clone(), gz(half), gz(rest)].concat(),
            start,
            "ends inside a WARC record",
        ),
        (
            "long.warc.gz",
            [one.clone(), gz(&with_length("99999"))].concat(),
            start,
            "ends inside a WARC record",
        ),
        (
            "short.warc.gz",
            [one.clone(), gz(&with_length("3")), two.clone()].concat(),
            start,
            "Content-Length is wrong",
        ),
        (
            "huge.warc.gz",
            [one.clone(), gz(&with_length("18446744073709551615"))].concat(),
            start,
            "Content-Length",
        ),
        (
            "none.warc.gz",
            [one.clone(), gz(b"WARC/1.0\r\n\r\n")].concat(),
            start,
            "Content-Length",
        ),
        (
            "other.warc.gz",
            [one.clone(), gz(b"<html>")].concat(),
            start,
            "should begin here",
        ),
        (
            "short.warc",
            [all()[1].clone(), with_length("3")].concat(),
            all()[1].len(),
            "Content-Length is wrong",
        ),
        (
            "long.warc",
            [all()[1].clone(), with_length("99")].concat(),
            all()[1].len(),
            "ends inside a WARC record",
        ),
        (
            "cut.warc",
            [&all()[1], &all()[2][..70]].concat(),
            all()[1].len(),
            "ends inside a WARC header",
        ),
        (
            "endless.warc",
            [b"WARC/1.0\r\n".as_slice(), &vec![b'x'; 2 << 20]].concat(),
            0,
            "header without end",
        ),
        (
            "endless.warc.gz",
            gz(&[b"WARC/1.0\r\n".as_slice(), &vec![b'x'; 40 << 20]].concat()),
            0,
            "header without end",
        ),
        (
            "whole.warc.gz",
            long(&gz(&all().concat()), 3),
            0,
            "gzip member",
        ),
    ] {
        place.write(name, &bytes);
        for args in [
            &["filter", name, "-o", "new.gz"][..],
            &["filter", name, "-o", "new.gz", "-j1"],
            &["annotate", name, "-o", "new"],
        ] {
            let message = place.fails(args);
            for word in [name, expected, &format!("byte {offset}:")] {
                assert!(message.contains(word), "{name}: {message}");
            }
        }
    }
}

/// A judge whose rules are those of [`Place`].
fn judge() -> Judge {
    let mut compiler = Compiler::default();
    compiler
        .add_robots("https://e.example", b"user-agent: *\ndisallow: /x")
        .unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    Judge::new(
        snapshot,
        &["FooBot".parse().unwrap()],
        JudgeOptions::default(),
    )
    .unwrap()
}

/// The figures of a report do not depend on the container of the URLs.
#[test]
fn reports_count_records_as_a_list_of_their_urls() {
    let place = Place::new();
    // Enough records for several blocks, and one that is too long to be held.
    let mut records = Vec::new();
    for number in 0..400 {
        records.extend(all());
        let url = format!("https://e.example/{}{number}", ["a", "x", "xy"][number % 3]);
        records.push(response(&url, &vec![b'p'; 4_000]));
    }
    records.push(response("https://e.example/xlong", &vec![7; 20 << 20]));
    let plain = records.concat();
    place.write("pages.warc", &plain);
    place.write("pages.warc.gz", &gz_each(&records));
    place.write("whole.warc.gz", &gz(&plain));
    place.ok(&[
        "annotate",
        "-q",
        "pages.warc",
        "--as",
        "jsonl",
        "-o",
        "all.jsonl",
    ]);
    let lines = String::from_utf8(place.read("all.jsonl")).unwrap();
    let urls: String = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|record| record["type"] != "warcinfo")
        .map(|record| format!("{}\n", record["url"].as_str().unwrap_or("-")))
        .collect();
    place.write("urls", urls.as_bytes());
    let report = |input: &str| {
        place.ok(&["report", "-q", input, "--json-to", "figures"]);
        let mut figures: serde_json::Value =
            serde_json::from_slice(&place.read("figures")).unwrap();
        // The bytes are those of records, and the time is that of the run.
        figures["lists"]["bytes"].take();
        figures["made_at"].take();
        figures
    };
    let expected = report("urls");
    assert!(expected["lists"]["refused_to_any"].as_u64().unwrap() > 800);
    for name in ["pages.warc", "pages.warc.gz", "whole.warc.gz"] {
        assert_eq!(report(name), expected, "{name}");
    }
}

/// The four outputs, the index, the counts, and the annotated lines.
type Filtered = ([Vec<u8>; 4], Vec<u8>, FilterStats, Vec<u8>);

fn filtered(judge: &Judge, file: &[u8], threads: usize, gzip: bool) -> Result<Filtered, String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let input = || vec![Input::from_reader("x", Cursor::new(file.to_vec()))];
    let dir = tempfile::tempdir().unwrap();
    // A name without the extension of an archive suits both compressions.
    let ending = if gzip { ".gz" } else { "" };
    let names = ["k", "o", "u", "i"].map(|name| dir.path().join(format!("{name}{ending}")));
    let index = dir.path().join("index.cdxj");
    let ran = pool.install(|| {
        let [kept, other, unknown, invalid] = names.each_ref().map(Some);
        let outputs = Outputs {
            kept,
            other,
            unknown,
            invalid,
            index: Some(&index),
        };
        let job = Job::new(judge).form(Form::Letters);
        let stats = job
            .filter(input(), outputs.try_map(Output::create)?)?
            .commit()?;
        let mut lines = Vec::new();
        let annotated = job.annotate(input(), Output::from_writer(&mut lines));
        assert_eq!(annotated.and_then(Written::commit)?, stats);
        let outs = names.map(|name| fs::read(name).unwrap());
        Ok((outs, fs::read(&index).unwrap(), stats, lines))
    });
    // The directory is another one in each run.
    let dir = dir.path().display().to_string();
    ran.map_err(|err: robosieve::Error| err.to_string().replace(&dir, "DIR"))
}

/// A record of a random file: its letter, its text, and the compression of its member.
#[derive(Clone)]
struct RandomRecord {
    letter: char,
    text: Vec<u8>,
    level: u32,
}

impl std::fmt::Debug for RandomRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} bytes at level {}",
            self.letter,
            self.text.len(),
            self.level
        )
    }
}

/// A block: text, noise, or a WARC file of gzip members, whose headers look like those of the
/// outer file if the member does not compress them.
fn block() -> impl Strategy<Value = Vec<u8>> {
    let noise = |len: usize, seed: u64| {
        let mut state = seed | 1;
        let next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        std::iter::repeat_with(next).take(len).collect::<Vec<u8>>()
    };
    prop_oneof![
        6 => (0..2000usize).prop_map(|len| b"text ".repeat(len)),
        4 => (0..40_000usize, any::<u64>()).prop_map(move |(len, seed)| noise(len, seed)),
        1 => (1..3_000_000usize, any::<u64>()).prop_map(move |(len, seed)| noise(len, seed)),
        1 => Just(vec![b'z'; 17 << 20]),
        3 => (1..300usize, any::<u64>()).prop_map(move |(count, seed)| {
            gz(&record("response", "https://e.example/x", &noise(4000, seed))).repeat(count)
        }),
    ]
}

fn random_record() -> impl Strategy<Value = RandomRecord> {
    let kind = prop_oneof![
        Just(('A', "response", "https://e.example/a")),
        Just(('D', "response", "https://e.example/x")),
        Just(('U', "conversion", "https://u.example/")),
        Just(('I', "resource", "dns:e.example")),
        Just(('I', "metadata", "")),
        Just(('K', "warcinfo", "")),
    ];
    (kind, block(), prop_oneof![Just(0u32), Just(1), Just(6)]).prop_map(
        |((letter, kind, url), block, level)| RandomRecord {
            letter,
            text: record(kind, url, &block),
            level,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn outputs_partition_the_records(records in proptest::collection::vec(random_record(), 1..12)) {
        let judge = judge();
        let members: Vec<Vec<u8>> = records.iter().map(|record| gz_at(&record.text, record.level)).collect();
        let texts: Vec<Vec<u8>> = records.iter().map(|record| record.text.clone()).collect();
        let of = |letters: &str, parts: &[Vec<u8>]| -> Vec<u8> {
            let parts = records.iter().zip(parts).filter(|(record, _)| letters.contains(record.letter));
            parts.flat_map(|(_, part)| part.clone()).collect()
        };
        let count = |letter: char| records.iter().filter(|record| record.letter == letter).count() as u64;
        for (file, parts) in [(members.concat(), &members), (texts.concat(), &texts)] {
            // An empty file is not a gzip file, so an output without records is an empty member.
            let none = if *parts == members { gz(b"") } else { Vec::new() };
            let one = filtered(&judge, &file, 1, false).unwrap();
            let (outs, index, stats, lines) = &one;
            for (out, letters) in outs.iter().zip(["KA", "D", "U", "I"]) {
                let expected = Some(of(letters, parts)).filter(|expected| !expected.is_empty());
                prop_assert!(*out == expected.unwrap_or_else(|| none.clone()), "{letters}");
            }
            let counted = [stats.allowed, stats.disallowed, stats.unknown, stats.invalid, stats.warcinfo];
            prop_assert_eq!(counted, ['A', 'D', 'U', 'I', 'K'].map(count));
            prop_assert_eq!(stats.lines, records.len() as u64 - count('K'));
            prop_assert_eq!(stats.bytes as usize, texts.concat().len());
            prop_assert_eq!(check_index(index, &outs[0], "k") as u64, count('A'));
            let letters: String = std::str::from_utf8(lines).unwrap().lines().map(|line| &line[..1]).collect();
            let expected: String = records.iter().map(|record| record.letter).collect();
            prop_assert_eq!(letters, expected.replace('K', "I"));
            prop_assert!(filtered(&judge, &file, 4, false).unwrap() == one, "threads");
        }
        // Texts become members of their own.
        let whole = filtered(&judge, &texts.concat(), 2, true).unwrap();
        for (out, letters) in whole.0.iter().zip(["KA", "D", "U", "I"]) {
            let expected: Vec<Vec<u8>> =
                records.iter().filter(|record| letters.contains(record.letter)).map(|record| record.text.clone()).collect();
            let expected = if expected.is_empty() { vec![Vec::new()] } else { expected };
            prop_assert!(self::members(out) == expected, "{letters}");
        }
        prop_assert_eq!(check_index(&whole.1, &whole.0[0], "k") as u64, count('A'));
    }

    #[test]
    fn damaged_bytes_are_errors_or_change_nothing_else(
        records in proptest::collection::vec(random_record().prop_filter("short", |record| record.text.len() < 9000), 1..6),
        at in any::<proptest::sample::Index>(),
        mask in 1..=255u8,
        cut in any::<bool>(),
    ) {
        let judge = judge();
        let mut file: Vec<u8> = records.iter().flat_map(|record| gz_at(&record.text, record.level)).collect();
        let at = at.index(file.len());
        file[at] ^= mask;
        if cut {
            file.truncate(at);
        }
        let one = filtered(&judge, &file, 1, false);
        let four = filtered(&judge, &file, 4, false);
        prop_assert!(one == four);
        if let Ok((outs, ..)) = one {
            // Bits of a header that mean nothing may differ; the texts are right.
            let texts: usize = outs.iter().map(|out| gunzip(out).len()).sum();
            let whole: usize = records.iter().map(|record| record.text.len()).sum();
            prop_assert!(texts == whole || cut, "{texts} {whole}");
        }
    }
}

#[test]
fn long_members_hold_one_record() {
    // Two records of 9 MiB in a member, after a member with one.
    let long = record("resource", "https://e.example/a", &vec![b'z'; 9 << 20]);
    let file = [gz(&all()[1]), gz(&[&long[..], &long].concat())].concat();
    let err = filtered(&judge(), &file, 2, false).unwrap_err();
    assert!(
        err.contains(&format!("byte {}: ", gz(&all()[1]).len()))
            && err.contains("decompress the file first"),
        "{err}"
    );
}

/// A member that holds a WARC file without compression: each block of the file ends before one
/// of the inner members, and none of these is a record.
#[test]
fn members_inside_a_member_are_no_records() {
    let inner = gz(&response("https://e.example/x", b"inner")).repeat(20_000);
    let outer = response("https://e.example/a", &inner);
    let (first, last) = (all()[1].clone(), all()[4].clone());
    assert!(inner.len() > 3 << 20, "{}", inner.len());
    let file = [gz(&first), gz_at(&outer, 0), gz(&last), gz(&first)].concat();
    for threads in [1, 3] {
        let (outs, _, stats, lines) = filtered(&judge(), &file, threads, false).unwrap();
        assert!(outs[0] == [gz(&first), gz_at(&outer, 0), gz(&first)].concat());
        assert_eq!((stats.allowed, stats.disallowed, stats.lines), (3, 1, 4));
        let expected = "A\thttps://e.example/a\nA\thttps://e.example/a\nD\thttps://e.example/x1\nA\thttps://e.example/a\n";
        assert_eq!(String::from_utf8(lines).unwrap(), expected);
    }
}
