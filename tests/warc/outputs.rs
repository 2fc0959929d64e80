//! Kept and rejected records, with their compression, annotations and indexes.

use super::{FOUR, all, gunzip, gz, gz_each, judging, members, of, record, response, snapshot_dir};
use crate::command::{robosieve_with, words};
use std::fs;
use std::io::Write;

#[test]
fn gzip_members_are_copied() {
    let dir = snapshot_dir();
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
    dir.write("in.warc.gz", &file);
    let ran = dir.done(&judging(
        &[
            &["filter", "in.warc.gz", "-o", "go.warc.gz", "-j", "3"],
            FOUR,
        ]
        .concat(),
    ));
    for (name, letters) in [
        ("go.warc.gz", "KA"),
        ("no.warc.gz", "D"),
        ("new.warc.gz", "U"),
        ("odd.warc.gz", "I"),
    ] {
        let expected: Vec<u8> = of(letters).iter().flat_map(|text| odd(text)).collect();
        assert!(dir.read(name) == expected, "{name}");
    }
    let counts = "lines 15  allowed 6  disallowed 5  unknown 2  invalid 2\n";
    assert!(ran.stderr.contains(counts), "{}", ran.stderr);
    ran.says("warcinfo records, not counted above: 1\n");
    // Standard output gets members too, and standard input is read as a file.
    let args = ["filter", "-q", "-s", "s.rsieve", "-a", "FooBot"];
    let piped = robosieve_with(dir.root(), &args, &file);
    assert!(piped.stdout == dir.read("go.warc.gz"), "{}", piped.stderr);
    dir.done(&judging(&words(
        "filter --keep disallowed in.warc.gz -o kept.gz",
    )));
    let expected: Vec<u8> = of("KD").iter().flat_map(|text| odd(text)).collect();
    assert!(dir.read("kept.gz") == expected);
}

#[test]
fn plain_records_stay_plain_or_become_members() {
    let dir = snapshot_dir();
    dir.write("in.warc", all().concat());
    dir.done(&judging(&words(
        "filter in.warc -o go.warc --disallowed-to no.wet.gz --unknown-to new.warc.zst",
    )));
    assert_eq!(dir.read("go.warc"), of("KA").concat());
    assert_eq!(members(&dir.read("no.wet.gz")), of("D"));
    let found = zstd::decode_all(&dir.read("new.warc.zst")[..]).unwrap();
    assert_eq!(found, of("U").concat());
    assert_eq!(
        dir.done(&judging(&["filter", "-q", "in.warc"])).stdout,
        of("KA").concat()
    );
    // The last record of an input may lack its blank lines; it gets them if another follows.
    let mut cut = of("A").concat();
    cut.truncate(cut.len() - 4);
    dir.write("cut.warc", &cut);
    assert_eq!(
        dir.done(&judging(&["filter", "-q", "cut.warc", "cut.warc"]))
            .stdout,
        [&cut, &b"\r\n\r\n"[..], &cut].concat()
    );
    // A plain and a gzip input give members.
    dir.write("in.warc.gz", gz_each(&all()));
    dir.done(&judging(&words(
        "filter in.warc in.warc.gz -o both.warc.gz",
    )));
    let found = members(&dir.read("both.warc.gz"));
    assert_eq!(found, [of("KA"), of("KA")].concat());
}

#[test]
fn files_compressed_as_a_whole_are_cut_into_members() {
    let dir = snapshot_dir();
    dir.write("in.warc.gz", gz(all().concat()));
    dir.done(&judging(
        &[&["filter", "in.warc.gz", "-o", "go.warc.gz"], FOUR].concat(),
    ));
    for (name, letters) in [
        ("go.warc.gz", "KA"),
        ("no.warc.gz", "D"),
        ("new.warc.gz", "U"),
        ("odd.warc.gz", "I"),
    ] {
        assert_eq!(members(&dir.read(name)), of(letters), "{name}");
    }
    // Members with several records after members with one.
    let (first, rest) = (all()[..2].to_vec(), all()[2..].concat());
    dir.write(
        "part.warc.gz",
        [gz_each(&first), gz(b""), gz(&rest)].concat(),
    );
    dir.done(&judging(&["filter", "part.warc.gz", "-o", "go.warc.gz"]));
    assert_eq!(members(&dir.read("go.warc.gz")), of("KA"));
    // A zstd file is read as plain records, and written as the name says.
    dir.write(
        "in.warc.zst",
        zstd::encode_all(&all().concat()[..], 1).unwrap(),
    );
    dir.done(&judging(&words(
        "filter in.warc.zst -o go.warc --disallowed-to no.warc.gz",
    )));
    assert_eq!(dir.read("go.warc"), of("KA").concat());
    assert_eq!(members(&dir.read("no.warc.gz")), of("D"));
}

#[test]
fn annotating_gives_a_line_per_record() {
    let dir = snapshot_dir();
    dir.write("in.warc.gz", gz_each(&all()));
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
        "A\turn:text:https://e.example/a",
        "D\turn:pageinfo:https://e.example/x1",
        "D\tyoutube-dl:https://e.example/x2",
        "U\tscreenshot:https://other.example/",
        "A\thttps://e.example/b",
        "D\thttps://e.example/x2",
        "",
    ];
    let ran = dir.done(&judging(&["annotate", "in.warc.gz"]));
    ran.says("lines 15  allowed 6  disallowed 5  unknown 2  invalid 2\n");
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), urls.join("\n"));
    let mask = dir
        .done(&judging(&["annotate", "-q", "--as", "mask", "in.warc.gz"]))
        .stdout;
    assert_eq!(mask, b"0\n1\n1\n1\n0\n0\n0\n0\n1\n0\n1\n0\n0\n0\n1\n0\n");
    let preferences = dir
        .done(&judging(&["annotate", "-q", "--preferences", "in.warc.gz"]))
        .stdout;
    let lines: Vec<&str> = std::str::from_utf8(&preferences).unwrap().lines().collect();
    assert_eq!(lines[0], "I\t--\t-\t-\t-");
    assert_eq!(lines[1], "A\tn-\t-\t-\thttps://e.example/a");
    assert_eq!(lines[7], "U\t--\t-\t-\thttps://other.example/");
    // The places of the records are those of the members, or of the text.
    for (name, file) in [("in.warc.gz", gz_each(&all())), ("in.warc", all().concat())] {
        dir.write(name, &file);
        let lines = dir
            .done(&judging(&["annotate", "-q", "--as", "jsonl", name]))
            .stdout;
        let mut end = 0;
        for (line, text) in String::from_utf8(lines).unwrap().lines().zip(all()) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            let [offset, length] =
                ["offset", "length"].map(|key| object[key].as_u64().unwrap() as usize);
            assert_eq!(offset, end, "{line}");
            end += length;
            let stored = &file[offset..end];
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
        dir.done(&judging(&["annotate", "-q", "--as", "jsonl", "in.warc"]))
            .stdout,
    )
    .unwrap();
    let lines: Vec<&str> = objects.lines().collect();
    let len = all()[0].len();
    let expected = format!(
        "{{\"type\":\"warcinfo\",\"offset\":0,\"length\":{len},\"date\":\"2026-03-04T05:06:07Z\",\
             \"id\":\"urn:uuid:warcinfo\",\"robots\":{{\"FooBot\":\"invalid\"}}}}"
    );
    assert_eq!(lines[0], expected);
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
pub(super) fn check_index(index: &[u8], kept: &[u8], file_name: &str) -> usize {
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
    let dir = snapshot_dir();
    let records = [
        all(),
        vec![record(
            "conversion",
            "https://www.e.example/A?b=2&a=1",
            b"text",
        )],
    ]
    .concat();
    dir.write("in.warc", records.concat());
    dir.write("in.warc.gz", gz_each(&records));
    for (input, output) in [
        ("in.warc", "go.warc"),
        ("in.warc", "go.warc.gz"),
        ("in.warc.gz", "go.warc.gz"),
    ] {
        dir.done(&judging(&words(&format!(
            "filter --unknown allow {input} -o {output} --cdxj go.cdxj"
        ))));
        let index = dir.read("go.cdxj");
        // The first response, its metadata and its revisit, the other response, the text and the
        // screenshot, the resource, and the conversion.
        let found = check_index(&index, &dir.read(output), output);
        assert_eq!(found, 8, "{input} {output}");
        let text = String::from_utf8(index).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let start = "example,e)/a 20260304050607 {\"url\": \"https://e.example/a\", \"mime\": \"text/html\", \
                     \"status\": \"200\", \"length\": \"";
        assert!(lines[0].starts_with(start), "{}", lines[0]);
        assert!(
            lines[7].starts_with("example,e)/a?a=1&b=2 20260304050607 {"),
            "{}",
            lines[7]
        );
    }
    let cases = [
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
    ];
    for (args, expected) in cases {
        let message = dir.fails(&judging(args), &[]);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
    dir.write("list", b"https://e.example/a\n");
    assert!(
        dir.fails(
            &judging(&["filter", "list", "-o", "x", "--cdxj", "i.cdxj"]),
            &[]
        )
        .contains("no input is one")
    );
}

#[test]
fn each_input_gets_outputs_of_its_name() {
    let dir = snapshot_dir();
    fs::create_dir(dir.path("in")).unwrap();
    dir.write("in/a.warc.gz", gz_each(&all()));
    dir.write("in/b.warc.wet", all().concat());
    dir.write(
        "in/c.warc.zst",
        zstd::encode_all(&all().concat()[..], 1).unwrap(),
    );
    dir.write("in/list.txt", b"https://e.example/a\nhttps://e.example/x\n");
    let args = words("filter in --out-dir go --disallowed-to no -j 2");
    dir.done(&judging(&args));
    assert_eq!(dir.read("go/a.warc.gz"), gz_each(&of("KA")));
    assert_eq!(dir.read("no/b.warc.wet"), of("D").concat());
    let found = zstd::decode_all(&dir.read("go/c.warc.zst")[..]).unwrap();
    assert_eq!(found, of("KA").concat());
    assert_eq!(dir.read("go/list.txt"), b"https://e.example/a\n");
    let again = dir.done(&judging(&[&args[..], &["--resume"]].concat()));
    again.says("4 of 4 files are complete");
    assert!(
        again.stderr.contains("together: lines 47") || again.stderr.contains("lines 47"),
        "{again:?}"
    );
    dir.done(&judging(&words(
        "filter in/a.warc.gz in/b.warc.wet --out-dir go --cdxj index",
    )));
    for name in ["a.warc.gz", "b.warc.wet"] {
        let index = dir.read(&format!("index/{name}.cdxj"));
        let found = check_index(&index, &dir.read(&format!("go/{name}")), name);
        assert_eq!(found, 5, "{name}");
    }
    dir.done(&judging(&["annotate", "in", "--out-dir", "letters"]));
    assert!(
        gunzip(&dir.read("letters/a.warc.tsv.gz")).starts_with(b"I\t-\nA\thttps://e.example/a\n")
    );
}

/// The text of a page is not a response of its server.
#[test]
fn secondary_records_are_not_compiled_as_robots_txt() {
    let dir = snapshot_dir();
    let body = b"user-agent: *\ndisallow: /";
    let page = "urn:text:https://new.example/robots.txt";
    dir.write(
        "robots.warc",
        [
            response("https://e.example/robots.txt", body),
            response(page, body),
            record("resource", page, body),
            record("revisit", page, b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        ]
        .concat(),
    );
    let line = serde_json::json!({"url": page, "status": 200, "body": "disallow"});
    dir.write("robots.jsonl", format!("{line}\n"));
    dir.done_line("compile -q robots.warc robots.jsonl -o t.rsieve");
    let list = "https://e.example/a\nhttps://new.example/a\n";
    dir.write("list", list);
    let ran = dir.done(&["annotate", "-q", "-s", "t.rsieve", "-a", "FooBot", "list"]);
    let expected = b"D\thttps://e.example/a\nU\thttps://new.example/a\n";
    assert_eq!(ran.stdout, expected);
}

/// JWAT's test files have them: a line that begins with a blank continues the value before it.
#[test]
fn folded_fields_have_their_values() {
    let dir = snapshot_dir();
    let robots = String::from_utf8(response(
        "https://fold.example/robots.txt",
        b"User-agent: *\nDisallow: /x\n",
    ))
    .unwrap();
    let (head, block) = robots.split_once("\r\n\r\n").unwrap();
    let folded = format!("{}\r\n\r\n{block}", head.replace(": ", ":\r\n\t"));
    dir.write("in.warc", folded.as_bytes());
    dir.done(&["compile", "-q", "-o", "fold.rsieve", "in.warc"]);
    let args = words("annotate -q -s fold.rsieve -a FooBot --as jsonl in.warc");
    let lines = dir.done(&args).stdout;
    let object: serde_json::Value = serde_json::from_slice(&lines).unwrap();
    assert_eq!(object["url"], "https://fold.example/robots.txt");
    assert_eq!(object["type"], "response");
    assert_eq!(object["date"], "2026-03-04T05:06:07Z");
    assert_eq!(object["robots"]["FooBot"], "allowed");
}
