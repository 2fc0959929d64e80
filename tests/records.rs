//! URLs in columns, JSON objects and index lines: the same verdicts as one URL per line, and no
//! byte is lost.

use crate::command::{cells, robosieve_with, words};
use crate::snapshots::{compile_robots, judge_for, snapshot_of_captures};
use crate::test_dir::TestDir;
use proptest::prelude::*;
use robosieve::job::{FilterStats, Form, Input, Job, Keep, Output, Outputs, Require, Written};
use robosieve::records::{Field, InputFormat, RecordOptions};
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
use robosieve_synthetic::{Order, Web, WebOptions};
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::LazyLock;

const AGENTS: [&str; 2] = ["GPTBot", "FooBot"];

static SNAPSHOT: LazyLock<Snapshot> = LazyLock::new(|| {
    let mut compiler = Compiler::default();
    let rules = b"user-agent: GPTBot\ndisallow: /\nuser-agent: *\ndisallow: /x\n";
    for origin in [
        "https://e.example",
        "http://e.example",
        "https://f.example:8443",
    ] {
        compiler.add_robots(origin, rules).unwrap();
    }
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
});

fn judge() -> Judge {
    let agents = AGENTS.map(|agent| agent.parse().unwrap());
    Judge::new(&*SNAPSHOT, &agents, JudgeOptions::default()).unwrap()
}

fn annotate(
    name: &str,
    text: &[u8],
    options: &RecordOptions,
    form: Form,
) -> (Vec<u8>, FilterStats) {
    let mut out = Vec::new();
    let input = Input::from_reader(name, Cursor::new(text.to_vec()));
    let judge = judge();
    let job = Job::new(&judge).records(options.clone()).form(form);
    let written = job.annotate(vec![input], Output::from_writer(&mut out));
    let stats = written.unwrap().commit().unwrap();
    (out, stats)
}

/// The letters of each record, separated by blanks.
fn letters(name: &str, text: &str, options: &RecordOptions) -> String {
    let (out, stats) = annotate(name, text.as_bytes(), options, Form::Letters);
    let (mask, _) = annotate(name, text.as_bytes(), options, Form::Mask);
    assert_eq!(
        stats.lines,
        mask.iter().filter(|&&b| b == b'\n').count() as u64,
        "a line of the mask for each record"
    );
    let out = String::from_utf8(out).unwrap();
    // In the cases below, a line starts with two letters or is a header.
    let heads = out.split('\n').filter_map(|line| line.split_once('\t'));
    let heads: Vec<&str> = heads
        .map(|(head, _)| head)
        .filter(|head| head.len() == 2)
        .collect();
    heads.join(" ")
}

/// A reader of the output could not tell where one kind ends.
#[test]
fn lists_of_different_kinds_do_not_share_an_output() {
    let dir = TestDir::new();
    dir.compile_small("s");
    let url = "https://news.example/a";
    dir.write("u.csv", format!("url,n\n{url},1\n"));
    dir.write("more.csv", format!("url,n\n{url},2\n"));
    dir.write("u.tsv", format!("url\tn\n{url}\t1\n"));
    dir.write("u.jsonl", format!("{{\"url\":\"{url}\"}}\n"));
    dir.write("u.txt", format!("{url}\n"));
    dir.write("empty.jsonl", "");
    dir.write(
        "u.cdxj",
        format!("example,news)/a 20240305120000 {{\"url\":\"{url}\"}}\n"),
    );
    let csv = "a CSV table";
    for (inputs, kinds) in [
        ("u.csv u.jsonl", [csv, "JSON lines"]),
        ("u.csv u.txt", [csv, "a list of URLs"]),
        ("u.txt u.csv", ["a list of URLs", csv]),
        ("u.cdxj u.csv", ["a CDXJ index", csv]),
        ("u.csv u.tsv", [csv, "a table with tabs"]),
        ("u.jsonl u.cdxj", ["JSON lines", "a CDXJ index"]),
    ] {
        let [first, second] = [0, 1].map(|n| inputs.split(' ').nth(n).unwrap());
        for verb in ["filter --unknown allow", "annotate"] {
            let ran = dir.run_line(&format!("{verb} -q -j 1 -s s -a GPTBot {inputs} -o mixed"));
            let message = format!(
                "{second}: {}, but {first} is {}; give each kind",
                kinds[1], kinds[0]
            );
            ran.refused(&message).says("(--out-dir)");
            assert!(!dir.path("mixed").exists());
        }
        dir.done_line(&format!("annotate -q -s s -a GPTBot --as mask {inputs}"));
        dir.done_line(&format!("annotate -q -s s -a GPTBot --as jsonl {inputs}"));
        dir.done_line(&format!("report -q -s s -a GPTBot {inputs}"));
        dir.done_line(&format!("filter -q -s s -a GPTBot {inputs} --out-dir outs"));
    }
    dir.done_line("filter -q -s s -a GPTBot u.csv empty.jsonl more.csv");
}

/// The exact name comes first, then the only one that differs in case.
#[test]
fn names_of_columns_and_keys_are_compared_without_case() {
    let dir = TestDir::new();
    dir.compile_small("s");
    let [a, b] = ["https://shop.example/", "https://shop.example/cart"];
    dir.write("one.csv", format!("n,link\n1,{a}\n"));
    dir.write("semi.csv", format!("n;link\n1;{a}\n"));
    dir.write("both.csv", format!("Link,link\n{a},{b}\n"));
    dir.write(
        "one.jsonl",
        format!("{{\"n\":1}}\n{{\"Page\":{{\"Link\":\"{a}\"}}}}\n"),
    );
    dir.write(
        "both.jsonl",
        format!("{{\"Link\":\"{a}\",\"link\":\"{b}\"}}\n"),
    );
    let letters = |options: &str| {
        let text = dir.stdout_of(&format!("annotate -q -s s -a FooBot --as mask {options}"));
        text.replace('\n', "")
    };
    for (options, expected) in [
        ("--field LINK one.csv", "1"),
        ("--field LINK semi.csv", "1"),
        ("--field Link both.csv", "1"),
        ("--field link both.csv", "0"),
        ("--json-key page.link one.jsonl", "01"),
        ("--json-key Link both.jsonl", "1"),
        ("--json-key link both.jsonl", "0"),
    ] {
        assert_eq!(letters(options), expected, "{options}");
    }
    for options in ["--field LINK both.csv", "--json-key LINK both.jsonl"] {
        let ran = dir.run_line(&format!("annotate -q -s s -a FooBot {options}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}

#[test]
fn urls_are_found_in_every_format() {
    let with = |options: RecordOptions, word: &str| match word.split_once('=').unwrap() {
        ("field", name) => options.field(Field::from(name)),
        ("delimiter", "blank") => options.delimiter(b' '),
        ("delimiter", byte) => options.delimiter(byte.as_bytes()[0]),
        ("header", "yes") => options.header(true),
        ("format", "text") => options.format(InputFormat::Text),
        ("scheme", scheme) => options.default_scheme(scheme.to_owned()),
        ("json-key", key) => options.json_key(key.to_owned()),
        ("host", host) => options.host(host.to_owned()),
        _ => panic!("an unknown option {word}"),
    };
    // The name, the options, the letters of the records, and the text.
    let cases = [
        "list | none | DA DD II UU | https://e.example/\nhttps://e.example/x\n\nhttps://u.example/",
        "a.csv | none | DA DD | n,url\r\n1,https://e.example/\r\n2,https://e.example/x",
        "a.csv | none | DA DD II | \
         \"n\",\"URL\"\n\"a\nb\",\"https://e.example/\"\n,https://e.example/x,more\nshort\n",
        "a.csv | none | DA DD | https://e.example/\nhttps://e.example/x\n",
        "a.csv | none | DA | \u{feff}url,n\nhttps://e.example/,1\n",
        "a.csv | field=2 delimiter=; | DA | 1;\"https://e.example/\"\n",
        "a.tsv.gz | none | DA II | url\tn\nhttps://e.example/\t1\n\thttps://e.example/\n",
        "list | field=2 | DD | 1\thttps://e.example/x\t\"\n",
        "list.txt | field=2 | DD | 1\thttps://e.example/x\n",
        "list | field=2 delimiter=blank | DA | a https://e.example/ b\n",
        "list | field=url delimiter=blank | DA | n url\n1 https://e.example/\n",
        "list | field=2 header=yes | DA | what\twhere\n1\thttps://e.example/\n",
        "list | none | DA II II | {\"url\":\"https:\\/\\/e.example/\",\"n\":[1]}\n{\"n\":2}\n[]\n",
        "a.jsonl | none | II | {\"url\":\"https://e.example/\\n\"}\n",
        "list | json-key=page | DA | \
         {\"page\":\"https://e.example/\",\"url\":\"https://u.example/\"}\n",
        // The column or key that is named is meant, by whatever option.
        "a.jsonl | field=page | DA | \
         {\"page\":\"https://e.example/\",\"url\":\"https://u.example/\"}\n",
        "list | field=m.url | DA | {\"m\":{\"url\":\"https://e.example/\"}}\n",
        "a.txt | json-key=page | DA | {\"page\":\"https://e.example/\"}\n",
        "a.csv | json-key=page | DA | url,page\nhttps://u.example/,https://e.example/\n",
        "a.csv | json-key=page field=url | UU | url,page\nhttps://u.example/,https://e.example/\n",
        "a.cdxj | field=page | DA | \
         k 20260101000000 {\"url\": \"https://u.example/\", \"page\": \"https://e.example/\"}\n",
        "a.cdx | field=2 | DA | 20260101000000 https://e.example/\n",
        "a.cdx | field=r | DA |  CDX a r\nhttps://u.example/ https://e.example/\n",
        "cdx-1.gz | none | DA | \
         example,e)/ 20260101000000 {\"url\": \"https://e.example/\", \"status\": \"200\"}\n",
        "a.cdxj | none | II | broken\n",
        // Secondary records of browser crawlers, as in the indexes of WACZ files.
        "a.cdxj | none | DD DA II | \
         urn:text:https://e.example/x 20260101000000 {\"url\": \"urn:text:https://e.example/x\"}\n\
         urn:pageinfo:https://e.example/ 20260101000000 {\"url\": \
         \"urn:pageinfo:https://e.example/\"}\n\
         urn:uuid:1 20260101000000 {\"url\": \"urn:uuid:1\"}\n",
        "a.cdx | none | DD DA | \
         k 20260101000000 screenshot:https://e.example/x image/png\n\
         k 20260101000000 youtube-dl:00001:https://e.example/ video/mp4\n",
        "a.jsonl | none | DD UU | \
         {\"url\":\"urn:view:https://e.example/x\"}\n\
         {\"url\":\"urn:thumbnail:https://u.example/\"}\n",
        // A line of a list is a URL or not.
        "list | none | DA II | https://e.example/\nurn:text:https://e.example/\n",
        "list | scheme=https | DA II | \u{feff}https://e.example/\nurn:text:https://e.example/\n",
        // A sort key may have a brace, because cdxj-indexer and pywb decode `%7B` there.
        "a.cdxj | none | DD | example,e)/a{b} 20260101000000 {\"url\": \"https://e.example/x\"}\n",
        "a.cdxj | none | DD | \
         {\"url\": \"https://e.example/x\", \"m\": {\"url\": \"https://e.example/\"}}\n",
        // ArchiveWeb.page writes times to the millisecond.
        "list | none | DD | example,e)/ 20260101000000333 {\"url\": \"https://e.example/x\"}\n",
        // WACZ collections name their CDXJ so.
        "index.cdx.gz | none | DA | example,e)/ 20260101000000 {\"url\": \"https://e.example/\"}\n",
        "list | none | DA |  CDX N b a\nexample,e)/ 20260101000000 https://e.example/\n",
        "a.cdx | none | DA | example,e)/ 20260101000000 https://e.example/ text/html\n",
        "list | scheme=https | DD DA UU II | e.example/x\n//e.example/\nhttp://u.example/\n \n",
        "list | host=http://e.example | DD DA DD | /x\n//x\nhttps://e.example/x\n",
        "a.csv | format=text | DA | https://e.example/,1\n",
        "a.txt | none | DA DD | \u{feff}https://e.example/\nhttps://e.example/x\n",
        "a.txt | none | DA | \u{feff}https://e.example/",
        "a.txt | none | DA II | https://e.example/\n\u{feff}https://e.example/\n",
        "list | scheme=https | DA DD | \u{feff}e.example/\ne.example/x\n",
        "list | host=http://e.example | DD DA | \u{feff}/x\n/\n",
        "list | field=1 | DA DD | \u{feff}https://e.example/\tn\nhttps://e.example/x\tn\n",
        "a.tsv | none | DA | \u{feff}url\tn\nhttps://e.example/\t1\n",
        "list | field=2 header=yes | DA | \u{feff}n\twhere\n1\thttps://e.example/\n",
        "a.csv | none | DA | \u{feff}\"u\nrl\",\"url\"\n1,https://e.example/\n",
        "a.csv | field=1 | DA DD | \
         \u{feff}\"https://e.example/\",\"a\nb\"\n\"https://e.example/x\"\n",
        "list | none | DA II | \u{feff}{\"url\":\"https://e.example/\"}\n{\"n\":2}\n",
        "list | none | DA | \u{feff}example,e)/ 20260101000000 {\"url\":\"https://e.example/\"}\n",
        "list | none | DA | \u{feff} CDX N b a\nexample,e)/ 20260101000000 https://e.example/\n",
        "list | json-key=m.url | DA II | \
         {\"m\":{\"url\":\"https://e.example/\"}}\n{\"m\":[{\"url\":\"https://e.example/\"}]}\n",
        "list | json-key=m.url | DA | \
         {\"m.url\":\"https://e.example/\",\"m\":{\"url\":\"https://e.example/x\"}}\n",
        "a.cdxj | json-key=m.url | DD | \
         k 20260101000000 {\"m\": {\"url\": \"https://e.example/x\"}}\n",
        "list | scheme=https | II II II II DD II | \
         mailto:bob@e.example\nhttps:/e.example/x\nhttp:e.example\njavascript:x()\n\
         e.example:443/x\ntel:112\n",
        "a.csv | none |  | ",
        "a.csv | field=page |  | ",
        "a.jsonl | none |  | ",
    ];
    for row in cases {
        let [name, options, expected, text] = cells(row);
        let options = words(options).into_iter().filter(|word| *word != "none");
        let options = options.fold(RecordOptions::default(), with);
        assert_eq!(letters(name, text, &options), expected, "{row}");
    }
}

#[test]
fn json_lines_gain_a_key() {
    let text = "{\"url\":\"https://e.example/x\",\"n\":1} \r\n{}\n{\"url\":1}\n{\"url\":\"https://e.example/\",\nno\n";
    let (out, _) = annotate(
        "a.jsonl",
        text.as_bytes(),
        &RecordOptions::default(),
        Form::Jsonl,
    );
    let expected = [
        r#"{"url":"https://e.example/x","n":1,"robots":{"GPTBot":"disallowed","FooBot":"disallowed"}}"#,
        r#"{"robots":{"GPTBot":"invalid","FooBot":"invalid"}}"#,
        r#"{"url":1,"robots":{"GPTBot":"invalid","FooBot":"invalid"}}"#,
        r#"{"line":"{\"url\":\"https://e.example/\",","robots":{"GPTBot":"invalid","FooBot":"invalid"}}"#,
        r#"{"line":"no","robots":{"GPTBot":"invalid","FooBot":"invalid"}}"#,
    ];
    let found = String::from_utf8(out).unwrap();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    let (out, _) = annotate(
        "list",
        b"https://e.example/\xff\"\r\n",
        &RecordOptions::default(),
        Form::Jsonl,
    );
    let object: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(object["url"], "https://e.example/\u{fffd}\"");
    assert_eq!(object["robots"]["FooBot"], "allowed");
}

#[test]
fn kept_lines_keep_their_byte_order_mark() {
    let texts = [
        ("a.txt", "\u{feff}https://e.example/\n\u{feff}x\n"),
        ("a.csv", "\u{feff}url,n\nhttps://e.example/,1\n"),
    ];
    for (name, text) in texts {
        let (mut kept, mut invalid) = (Vec::new(), Vec::new());
        let judge = judge();
        let job = Job::new(&judge).keep(Keep::Allowed, Require::Any);
        let outputs = Outputs {
            kept: Some(Output::from_writer(&mut kept)),
            invalid: Some(Output::from_writer(&mut invalid)),
            ..Outputs::default()
        };
        job.filter(
            vec![Input::from_reader(
                name,
                Cursor::new(text.as_bytes().to_vec()),
            )],
            outputs,
        )
        .and_then(Written::commit)
        .unwrap();
        assert!(
            String::from_utf8(kept)
                .unwrap()
                .starts_with(text.split_inclusive('\n').next().unwrap()),
            "{name}"
        );
    }
    let (out, _) = annotate(
        "a.txt",
        texts[0].1.as_bytes(),
        &RecordOptions::default(),
        Form::Jsonl,
    );
    assert!(
        out.starts_with(b"{\"url\":\"https://e.example/\","),
        "{}",
        out.escape_ascii()
    );
    let (out, _) = annotate(
        "a.jsonl",
        b"\xef\xbb\xbf{\"n\":1}\n",
        &RecordOptions::default(),
        Form::Jsonl,
    );
    assert!(
        out.starts_with(b"\xef\xbb\xbf{\"n\":1,\"robots\":"),
        "{}",
        out.escape_ascii()
    );
}

/// URLs of some blocks in every format, each among text that is hard to parse.
#[test]
fn all_formats_give_the_same_verdicts() {
    let web = Web::new(
        WebOptions::default()
            .origins(300)
            .urls(12_000)
            .order(Order::Shuffled),
    );
    let snapshot = snapshot_of_captures(web.archive());
    let judge = judge_for(&snapshot, "GPTBot");
    let mut list = String::new();
    web.urls().read_to_string(&mut list).unwrap();
    let pad = "x".repeat(60);
    let with = |line: &dyn Fn(&str) -> String| list.lines().map(line).collect::<String>();
    let quoted = |url: &str| format!("\"a\r\n\"\"{pad},\",\"{url}\"\r\n");
    let forms = [
        ("urls.txt", list.clone()),
        (
            "urls.tsv",
            format!("n\turl\n{}", with(&|url| format!("\"{pad}\t{url}\t\n"))),
        ),
        ("urls.csv", format!("n,url\r\n{}", with(&quoted))),
        (
            "urls.jsonl",
            with(&|url| {
                format!(
                    "{{\"n\":\"{pad}}}\",\"url\":{}}}\n",
                    serde_json::Value::from(url)
                )
            }),
        ),
        (
            "urls.cdxj",
            with(&|url| {
                format!(
                    "k)/ 20260101000000 {{\"url\":{}}}\n",
                    serde_json::Value::from(url)
                )
            }),
        ),
        (
            "urls.cdx",
            format!(
                " CDX N b a m\n{}",
                with(&|url| format!("k)/ 20260101000000 {url} {pad}\n"))
            ),
        ),
    ];
    let mut expected = None;
    for (name, text) in forms {
        let input = || {
            vec![Input::from_reader(
                name,
                Cursor::new(text.clone().into_bytes()),
            )]
        };
        let mut mask = Vec::new();
        let stats = Job::new(&judge)
            .form(Form::Mask)
            .annotate(input(), Output::from_writer(&mut mask))
            .and_then(Written::commit)
            .unwrap();
        assert_eq!(mask.len(), 2 * 12_000, "{name}");
        let expected = expected.get_or_insert_with(|| (mask.clone(), stats.allowed));
        assert!(
            (mask, stats.allowed) == *expected,
            "{name}: the verdicts differ"
        );

        let (mut kept, mut other, mut unknown, mut invalid) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let outputs = Outputs {
            kept: Some(Output::from_writer(&mut kept)),
            other: Some(Output::from_writer(&mut other)),
            unknown: Some(Output::from_writer(&mut unknown)),
            invalid: Some(Output::from_writer(&mut invalid)),
            ..Outputs::default()
        };
        Job::new(&judge)
            .keep(Keep::Allowed, Require::All)
            .filter(input(), outputs)
            .and_then(Written::commit)
            .unwrap();
        assert!(!other.is_empty() && !unknown.is_empty());
        let found = pieces(name, &[kept, other, unknown, invalid]);
        assert_eq!(found, pieces(name, &[text.into_bytes()]), "{name}");
    }
}

/// The records of some files, sorted, without the header that they share.
fn pieces(name: &str, files: &[Vec<u8>]) -> Vec<String> {
    let end = if name.ends_with(".csv") {
        "\"\r\n"
    } else {
        "\n"
    };
    let mut all = Vec::new();
    let mut header = None;
    for file in files {
        let mut text = std::str::from_utf8(file).unwrap();
        if [".csv", ".tsv", ".cdx"]
            .iter()
            .any(|ending| name.ends_with(ending))
            && !text.is_empty()
        {
            let (first, rest) = text.split_once('\n').unwrap();
            assert_eq!(*header.get_or_insert(first), first);
            text = rest;
        }
        all.extend(text.split_inclusive(end).map(str::to_owned));
    }
    all.sort();
    all
}

#[test]
fn headers_are_written_once() {
    let dir = TestDir::new();
    let snapshot = dir.path("s.rsieve");
    small_snapshot(&snapshot);
    for (name, text) in [
        ("a.csv", "url\nhttps://e.example/\n"),
        ("b.csv", "url\r\nhttps://e.example/y"),
        ("c.csv", "link,url\n1,https://e.example/"),
        ("d.csv", "\u{feff}\"url\"\r\nhttps://e.example/z\n"),
    ] {
        dir.write(name, text);
    }
    let run = |args: &[&str]| {
        dir.run(&[&["filter", "-q", "-s", "s.rsieve", "-a", "FooBot"], args].concat())
    };
    let ran = run(&["a.csv", "b.csv"]);
    let found = ran.stdout.escape_ascii().to_string();
    assert_eq!(found, r"url\nhttps://e.example/\nhttps://e.example/y");
    // The names are compared, not the bytes.
    let ran = run(&["a.csv", "d.csv"]);
    assert_eq!(ran.text(), "url\nhttps://e.example/\nhttps://e.example/z\n");
    let ran = run(&["a.csv", "c.csv"]);
    assert_eq!(ran.code, Some(2));
    ran.says("c.csv: its header differs");
    // What is not a table has no header.
    for form in ["mask", "jsonl"] {
        let line = format!("annotate -q -s s.rsieve -a FooBot --as {form} a.csv c.csv");
        assert_eq!(dir.done_line(&line).text().lines().count(), 2);
    }
    dir.done_line("report -q -s s.rsieve -a FooBot a.csv c.csv");
}

fn small_snapshot(path: &Path) {
    std::fs::write(path, SNAPSHOT_BYTES.as_slice()).unwrap();
}

static SNAPSHOT_BYTES: LazyLock<Vec<u8>> =
    LazyLock::new(|| compile_robots("https://e.example", b"user-agent: *\ndisallow: /x\n"));

#[test]
fn errors_suggest_a_fix() {
    let dir = TestDir::new();
    small_snapshot(&dir.path("s.rsieve"));
    let files = [
        ("two.csv", "id,link\n1,x\n".to_owned()),
        ("open.csv", "n,url\n1,a\n2,\"b\n3,c\n".to_owned()),
        (
            "long.csv",
            format!("n,url\n1,a\n2,\"{}\"\n", "b\n".repeat(1_500_000)),
        ),
        ("no.cdx", " CDX N b\n".to_owned()),
        (
            "objects.jsonl",
            "{\"url\":\"https://e.example/\"}\n{}\n".to_owned(),
        ),
    ];
    for (name, text) in &files {
        dir.write(name, text);
    }
    dir.all_fail(&[
        "filter -q -s s.rsieve -a FooBot two.csv | \
         two.csv: no column \"url\": the first line has \"id\", \"link\"; name the column of the \
         URLs with --field",
        "filter -q -s s.rsieve -a FooBot two.csv --field page | \
         two.csv: no column \"page\": the first line has \"id\", \"link\"",
        "filter -q -s s.rsieve -a FooBot open.csv | open.csv: line 3: a quote is opened here",
        "filter -q -s s.rsieve -a FooBot long.csv | long.csv: line 3: a quote is opened here",
        "filter -q -s s.rsieve -a FooBot no.cdx | no.cdx: the CDX header names no field \"a\"",
        "filter -q -s s.rsieve -a FooBot --field r no.cdx | no column \"r\": the first line has \"N\", \"b\"",
        "filter -q -s s.rsieve -a FooBot --field 2 objects.jsonl | \
         objects.jsonl: column 2 of URLs: the keys of JSON objects have names; name the key",
        "filter -q -s s.rsieve -a FooBot --delimiter ,, two.csv | give one ASCII character",
        "filter -q -s s.rsieve -a FooBot --host e.example/x two.csv | give a host",
    ]);
    let filter = words("filter -q -s s.rsieve -a FooBot two.csv --default-scheme");
    dir.fails(&[&filter[..], &["ht tp"]].concat(), &["give a scheme"]);
    // A key that is in no line.
    let ran = dir.run_line("filter -s s.rsieve -a FooBot --json-key page objects.jsonl");
    assert_eq!(ran.code, Some(2));
    ran.says("none of the 2 lines")
        .says("--field or --json-key");
    // A format without quotes reads an open quote as text.
    dir.write("open.csv", "n,url\n1,a\n2,\"b\n3,https://e.example/\n");
    let args =
        words("annotate -q -s s.rsieve -a FooBot --input-format tsv --delimiter , --as mask");
    let ran = dir.run(&[&args[..], &["open.csv"]].concat());
    let found = (ran.code, ran.text(), &ran.stderr[..]);
    assert_eq!(found, (Some(0), "0\n0\n1\n", ""));
}

#[test]
fn access_logs_of_one_site_are_filtered() {
    let dir = TestDir::new();
    small_snapshot(&dir.path("s.rsieve"));
    let log = "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /x/1 HTTP/1.1\" 200 5\n192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /y HTTP/1.1\" 200 5\n";
    let args =
        words("filter -q -s s.rsieve -a FooBot --field 7 --delimiter space --host e.example");
    let ran = robosieve_with(
        dir.root(),
        &[&args[..], &["--keep", "disallowed"]].concat(),
        log.as_bytes(),
    );
    let found = ran.text();
    assert_eq!(found, format!("{}\n", log.lines().next().unwrap()));
}

proptest! {
    /// Any bytes in any format: nothing panics, and each byte is in exactly one output.
    #[test]
    fn no_byte_is_lost(
        text in proptest::collection::vec(proptest::sample::select(b"a,\t\"\n\r {}:/\xff".to_vec()), 0..200),
        format in proptest::sample::select(vec![
            InputFormat::Text, InputFormat::Tsv, InputFormat::Csv, InputFormat::Jsonl, InputFormat::Cdxj, InputFormat::Cdx,
        ]),
        scheme in any::<bool>(),
    ) {
        let has_columns = matches!(format, InputFormat::Tsv | InputFormat::Csv | InputFormat::Cdx);
        let options = RecordOptions::default()
            .format(format)
            .field(has_columns.then_some(Field::Number(1)))
            .default_scheme(scheme.then(|| "https".to_owned()));
        let (mut known, mut unknown, mut invalid) = (Vec::new(), Vec::new(), Vec::new());
        let outputs = Outputs {
            kept: Some(Output::from_writer(&mut known)),
            unknown: Some(Output::from_writer(&mut unknown)),
            invalid: Some(Output::from_writer(&mut invalid)),
            ..Outputs::default()
        };
        let judge = judge();
        let input = Input::from_reader("list", Cursor::new(text.clone()));
        match Job::new(&judge).records(options.clone()).filter(vec![input], outputs).and_then(Written::commit) {
            Ok(stats) => {
                prop_assert_eq!(stats.bytes, text.len() as u64);
                let (out, annotated) = annotate("list", &text, &options, Form::Letters);
                prop_assert_eq!(annotated.lines, stats.lines);
                prop_assert_eq!(out.len() as u64, text.len() as u64 + 3 * stats.lines);
                // A last line gets a line end if other lines follow it in an output. Here it is the
                // last one.
                prop_assert_eq!(known.len() + unknown.len() + invalid.len(), text.len());
            }
            Err(err) => {
                let refused = [
                    "a quote is opened", "a JSON ", "a comma follows", "the columns are not clear", "end with CR",
                ];
                let what = err.to_string();
                prop_assert!(refused.iter().any(|part| what.contains(part)), "{}", what);
            }
        }
    }
}
