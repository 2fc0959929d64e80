//! ARC and WACZ files: their records are those of the WARC files that they stand for.

use super::zip_files::{ZipEntry, deflated, stored, zip};
use super::{all, gunzip, gz_each, judging, members, of, snapshot_dir};
use crate::command::{case, robosieve_with, words};
use crate::snapshots::{judge_for, snapshot_of_robots};
use crate::test_dir::{TestDir, gz};
use robosieve::job::{Form, Input, Job, Output, Written};
use std::fs;

/// The records of an ARC file: the letter of each, its URL, and the rest of its line.
const ARC: &[&str] = &[
    "A | http://e.example/a",
    "D | https://e.example/x1",
    "A | https://e.example/a?q=two words",
    "I | dns:e.example",
    "U | https://other.example/",
];

/// The records of [`ARC`], the first of which describes the file.
fn arc_records() -> Vec<Vec<u8>> {
    let first = "1 0 Crawler\nURL IP-address Archive-date Content-type Archive-length\n";
    let first = format!(
        "filedesc://x.arc 0.0.0.0 20260304050607 text/plain {}\n{first}\n",
        first.len()
    );
    let pages = ARC.iter().map(|row| {
        let url = row.split_once(" | ").unwrap().1;
        let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{url}</p>");
        let line = format!("{url} 192.0.2.1 20260304050607 text/html {}", page.len());
        format!("{line}\n{page}\n").into_bytes()
    });
    [first.into_bytes()].into_iter().chain(pages).collect()
}

/// The snapshot of [`snapshot_dir`], with rules for http too.
fn arc_dir() -> TestDir {
    let dir = snapshot_dir();
    dir.write("robots/http_e.example.txt", b"user-agent: *\ndisallow: /x");
    dir.done(&["compile", "-q", "-o", "s.rsieve", "robots"]);
    dir.write("x.arc", arc_records().concat());
    dir.write("x.arc.gz", gz_each(&arc_records()));
    dir.write("whole.arc.gz", gz(arc_records().concat()));
    let zstd = zstd::encode_all(&arc_records().concat()[..], 1).unwrap();
    dir.write("x.arc.zst", zstd);
    dir
}

#[test]
fn arc_records_are_written_as_warc() {
    let dir = arc_dir();
    dir.done(&judging(&words(
        "filter x.arc -o kept.warc --disallowed-to no.warc --unknown-to new.warc --invalid-to odd.warc",
    )));
    let kept = dir.read_text("kept.warc");
    let targets: Vec<&str> = kept
        .lines()
        .filter_map(|line| line.strip_prefix("WARC-Target-URI: "))
        .collect();
    assert_eq!(
        targets,
        ["http://e.example/a", "https://e.example/a?q=two%20words"]
    );
    assert!(kept.starts_with("WARC/1.0\r\nWARC-Type: warcinfo\r\n"));
    assert!(
        dir.read_text("no.warc")
            .contains("<p>https://e.example/x1</p>\r\n\r\n")
    );
    assert!(
        dir.read_text("odd.warc")
            .contains("WARC-Target-URI: dns:e.example\r\n")
    );
    // The records do not depend on the compression, and are read again as they were written.
    for name in ["x.arc.gz", "whole.arc.gz", "x.arc.zst", "kept.warc"] {
        dir.done(&judging(&["filter", "-q", name, "-o", "again.warc"]));
        assert!(dir.read_text("again.warc") == kept, "{name}");
    }
    dir.done(&judging(&[
        "filter",
        "-q",
        "x.arc.gz",
        "-o",
        "kept.warc.gz",
    ]));
    let found = members(&dir.read("kept.warc.gz"));
    assert_eq!(found.len(), 3);
    assert!(found.concat() == kept.as_bytes());
    let piped = robosieve_with(
        dir.root(),
        &words("filter -q -s s.rsieve -a FooBot"),
        &dir.read("x.arc.gz"),
    );
    assert!(piped.stdout == kept.as_bytes(), "{}", piped.stderr);
}

#[test]
fn arc_records_are_annotated_without_places() {
    let dir = arc_dir();
    let expected: String = ["I\t-\n".to_owned()]
        .into_iter()
        .chain(ARC.iter().map(|row| {
            let (letter, url) = row.split_once(" | ").unwrap();
            format!("{letter}\t{}\n", url.replace(' ', "%20"))
        }))
        .collect();
    for name in ["x.arc", "x.arc.gz", "whole.arc.gz", "x.arc.zst"] {
        dir.done(&judging(&["annotate", "-q", name, "-o", "lines"]));
        assert_eq!(dir.read_text("lines"), expected, "{name}");
    }
    dir.done(&judging(&words("annotate -q x.arc.gz --as jsonl -o lines")));
    let second: serde_json::Value =
        serde_json::from_str(dir.read_text("lines").lines().nth(1).unwrap()).unwrap();
    let keys: Vec<&String> = second.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["date", "id", "robots", "type", "url"]);
    assert_eq!(second["date"], "2026-03-04T05:06:07Z");
    // A part of an ARC file is known by its name. As a list it would have lines of pages.
    dir.write("part.arc", arc_records()[1..3].concat());
    dir.done(&judging(&["annotate", "-q", "part.arc", "-o", "lines"]));
    assert_eq!(
        dir.read_text("lines"),
        "A\thttp://e.example/a\nD\thttps://e.example/x1\n"
    );
}

#[test]
fn captures_of_an_arc_file_are_compiled() {
    let dir = TestDir::new();
    let body = "user-agent: *\ndisallow: /x\n";
    let page = format!(
        "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let line = "https://e.example/robots.txt 192.0.2.1 20260304050607 text/plain";
    let robots = format!("{line} {}\n{page}\n", page.len()).into_bytes();
    let mut records = arc_records();
    records.push(robots.clone());
    dir.write("in/x.arc", records.concat());
    dir.write("in/x.arc.gz", gz_each(&records));
    for name in ["in/x.arc", "in/x.arc.gz", "in"] {
        dir.done(&["compile", "-q", name, "-o", "s.rsieve"]);
        let found = dir.done(&words("export -q -s s.rsieve --as jsonl"));
        let row: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!(row["origin"], "https://e.example", "{name}");
        assert_eq!(row["fetched"], "2026-03-04T05:06:07Z", "{name}");
        assert_eq!(row["outcome"], "rules", "{name}");
        assert_eq!(row["bytes"], body.len(), "{name}");
    }
    // The robots.txt of a record with too short a length has lost rules: it is not taken.
    let length = format!(" {}\n", page.len());
    let short = String::from_utf8(robots)
        .unwrap()
        .replacen(&length, " 55\n", 1);
    for (name, bytes) in [
        (
            "short.arc",
            [&records[0], short.as_bytes(), &records[1]].concat(),
        ),
        (
            "short.arc.gz",
            gz_each(&[records[0].clone(), short.into_bytes()]),
        ),
    ] {
        dir.write(name, bytes);
        dir.fails_as(&format!(
            "compile {name} -o new | {name} | an ARC record should begin here"
        ));
        let args = ["compile", "--skip-damaged", name, "-o", "new"];
        dir.fails(&args, &["no capture", "damaged places skipped: 1"]);
    }
}

/// A WACZ of two WARC files and an ARC file, as py-wacz, js-wacz and Browsertrix write one.
fn wacz() -> Vec<ZipEntry> {
    vec![
        stored("archive/data.warc.gz", &gz_each(&all())),
        deflated("pages/pages.jsonl", b"{\"format\": \"json-pages-1.0\"}\n"),
        deflated("archive/more.warc", &of("DA").concat()),
        stored("indexes/index.cdx.gz", &gz(b"")),
        stored("archive/old.arc.gz", &gz_each(&arc_records())),
        // The specification only recommends the ending, and a folder may have other files.
        deflated("archive/named-otherwise", &gz_each(&of("DA"))),
        stored("archive/notes.txt", b"https://e.example/a\n"),
        stored("archive/empty", b""),
        deflated("datapackage.json", b"{}"),
    ]
}

#[test]
fn a_wacz_stands_for_the_files_in_it() {
    let dir = arc_dir();
    dir.write("crawl.wacz", zip(&wacz()));
    dir.write("crawl.zip", zip(&wacz()));
    dir.write("data.warc.gz", gz_each(&all()));
    dir.write("more.warc", of("DA").concat());
    dir.write("old.arc.gz", gz_each(&arc_records()));
    dir.write("named-otherwise", gz_each(&of("DA")));
    let files = ["data.warc.gz", "more.warc", "old.arc.gz", "named-otherwise"];
    for args in [
        words("annotate -q -o out"),
        words("filter -q -o out.warc.gz"),
        words("filter -q --keep disallowed -o out.warc.gz"),
    ] {
        let out = args.last().unwrap();
        dir.done(&judging(&[&args[..], &files].concat()));
        let expected = dir.read(out);
        for name in ["crawl.wacz", "crawl.zip"] {
            dir.done(&judging(&[&args[..], &[name]].concat()));
            assert!(dir.read(out) == expected, "{name} {args:?}");
        }
    }
    // A record is found by the name of its file and its place there.
    dir.done(&judging(&words(
        "annotate -q crawl.wacz --as jsonl -o lines",
    )));
    let lines = dir.read_text("lines");
    assert_eq!(
        lines.lines().count(),
        16 + 2 * of("DA").len() + 1 + ARC.len()
    );
    let line: serde_json::Value = serde_json::from_str(lines.lines().nth(17).unwrap()).unwrap();
    assert_eq!(line["filename"], "more.warc");
    let place = ["offset", "length"].map(|key| line[key].as_u64().unwrap() as usize);
    assert_eq!(
        of("DA").concat()[place[0]..place[0] + place[1]],
        of("DA")[1]
    );
    // Converted records are in no file.
    assert_eq!(lines.matches("filename").count(), 16 + 2 * of("DA").len());
}

#[test]
fn captures_of_a_wacz_are_compiled() {
    let dir = TestDir::new();
    let small = fs::read(crate::command::checkout().join("datasets/small/robots.warc")).unwrap();
    dir.write("robots.warc", &small);
    dir.write(
        "crawl.wacz",
        zip(&[
            stored("archive/a.warc.gz", &gz(&small)),
            stored("indexes/index.cdx", b"not an archive"),
            stored("archive/notes.txt", b"not an archive"),
        ]),
    );
    dir.done(&words("compile -q robots.warc -o expected"));
    dir.done(&words("compile -q crawl.wacz -o found"));
    assert!(dir.read("found") == dir.read("expected"));
}

#[test]
fn outputs_in_a_directory_are_named_as_what_they_are() {
    let dir = arc_dir();
    dir.write("in/crawl.wacz", zip(&wacz()));
    dir.write("in/x.arc", arc_records().concat());
    dir.write("in/y.arc.gz", gz_each(&arc_records()));
    let args = words("filter in --out-dir go --cdxj index -j 2");
    dir.done(&judging(&args));
    for name in ["crawl.warc.gz", "y.warc.gz"] {
        assert!(gunzip(&dir.read(&format!("go/{name}"))).starts_with(b"WARC/1.0\r\n"));
        assert!(dir.read_text(&format!("index/{name}.cdxj")).contains(name));
    }
    assert!(dir.read("go/x.warc").starts_with(b"WARC/1.0\r\n"));
    let again = dir.done(&judging(&[&args[..], &["--resume"]].concat()));
    again.says("3 of 3 files are complete");
    dir.write("in/y.warc.gz", gz_each(&all()));
    dir.fails(
        &judging(&args),
        &[
            "y.arc.gz",
            "y.warc.gz: both give the output y.warc.gz",
            "--out-dir",
        ],
    );
}

#[test]
fn mistakes_and_damage_name_the_file() {
    let dir = arc_dir();
    dir.write("crawl.wacz", zip(&wacz()));
    let whole = zip(&wacz());
    dir.write("cut.wacz", &whole[..whole.len() - 200]);
    dir.write("empty.wacz", zip(&[stored("datapackage.json", b"{}")]));
    // An example of py-wacz for an invalid one.
    dir.write(
        "folder.wacz",
        zip(&[stored("data/archive/test.txt", b"test 123")]),
    );
    dir.write(
        "collection.wacz",
        zip(&[stored("a.wacz", &whole), stored("datapackage.json", b"{}")]),
    );
    let one = || stored("archive/a.warc.gz", &gz_each(&all()));
    let forged: [(&str, ZipEntry); 5] = [
        ("secret.wacz", ZipEntry { flags: 1, ..one() }),
        (
            "lzma.wacz",
            ZipEntry {
                method: 14,
                ..one()
            },
        ),
        ("crc.wacz", ZipEntry { crc: 1, ..one() }),
        (
            "short.wacz",
            ZipEntry {
                length: 99,
                ..one()
            },
        ),
        (
            "name.wacz",
            ZipEntry {
                name: "pages/a.warc.gz".to_owned(),
                ..one()
            },
        ),
    ];
    for (name, entry) in forged {
        dir.write(name, zip(&[entry, stored("archive/b.warc", b"")]));
    }
    dir.write("twice.wacz", zip(&[one(), one()]));
    // A zip bomb names the same bytes many times.
    let again = ZipEntry {
        offset: Some(0),
        ..stored("archive/b.warc.gz", b"")
    };
    let mut overlapping = one();
    overlapping.local_name = "archive/b.warc.gz".to_owned();
    overlapping.name = "archive/b.warc.gz".to_owned();
    dir.write(
        "overlap.wacz",
        zip(&[
            overlapping.clone(),
            ZipEntry {
                offset: Some(0),
                stored: overlapping.stored.clone(),
                ..again
            },
        ]),
    );
    for row in [
        "cut.wacz | damaged | the file ends before the directory of the zip archive; fetch it again",
        "empty.wacz | a WACZ file without WARC files in archive/",
        "folder.wacz | a WACZ file without WARC files in archive/",
        "collection.wacz | a collection of WACZ files: unpack it first (unzip)",
        "secret.wacz | archive/a.warc.gz is encrypted",
        "lzma.wacz | not compressed by deflate",
        "crc.wacz/archive/a.warc.gz | its checksum is not the one that the zip archive states",
        "short.wacz/archive/a.warc.gz | longer than the zip archive states",
        "name.wacz | another name than the file",
        "twice.wacz | two files \"archive/a.warc.gz\"",
        "overlap.wacz | the zip archive has two files \"archive/b.warc.gz\"",
    ] {
        let (name, expected) = case(row);
        let file = name.split('/').next().unwrap();
        dir.fails(
            &judging(&["filter", file, "-o", "new.warc.gz"]),
            &[&[name][..], &expected].concat(),
        );
        dir.fails(
            &["compile", file, "-o", "new"],
            &[&[name][..], &expected].concat(),
        );
    }
    for row in [
        "filter x.arc -o kept.arc | WARC records are written here | name it kept.warc.gz",
        "filter crawl.wacz -o kept.wacz | `wacz create -f FILE` | name it kept.warc.gz",
        "annotate crawl.wacz -o kept.wacz | the name says .wacz",
        "filter x.arc --field 2 -o x | WARC-Target-URI",
        "annotate folder.wacz -o x | without WARC files",
    ] {
        let (line, expected) = case(row);
        dir.fails(&judging(&words(line)), &expected);
    }
}

/// After any flipped bit, a WACZ is refused, or gives the same records.
#[test]
fn a_damaged_wacz_loses_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.wacz");
    let judge = judge_for(
        snapshot_of_robots("https://e.example", b"user-agent: *\ndisallow: /x"),
        "FooBot",
    );
    let annotate = || {
        let mut lines = Vec::new();
        let job = Job::new(&judge).form(Form::Letters);
        job.annotate(vec![Input::open(&path)?], Output::from_writer(&mut lines))
            .and_then(Written::commit)?;
        Ok::<_, robosieve::Error>(lines)
    };
    let intact = zip(&[
        stored("archive/a.warc.gz", &gz_each(&of("A")[..1])),
        deflated("archive/b.warc", &of("D")[0]),
    ]);
    fs::write(&path, &intact).unwrap();
    let expected = annotate().unwrap();
    assert_eq!(expected.iter().filter(|byte| **byte == b'\n').count(), 2);
    let mut unchanged = 0;
    for at in 0..intact.len() * 8 {
        let mut damaged = intact.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        if let Ok(lines) = annotate() {
            assert!(lines == expected, "byte {} bit {}", at / 8, at % 8);
            unchanged += 1;
        }
    }
    // Times, versions and attributes do not matter.
    assert!((50..intact.len() * 2).contains(&unchanged), "{unchanged}");
    for end in 0..intact.len() {
        fs::write(&path, &intact[..end]).unwrap();
        assert!(annotate().is_err(), "{end} bytes");
    }
}
