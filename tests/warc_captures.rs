//! WARC records as captures of robots.txt files: `revisit` records with the body of another record,
//! `resource` records, and dates of low precision.

use crate::spec::annotate;
use robosieve::compile::CompileReport;
use robosieve::snapshot::OutcomeClass;
use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot};

/// A record of this type with these fields, each with its line end, and this block.
fn record(kind: &str, url: &str, fields: &str, block: &str) -> String {
    format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n{fields}Content-Length: {}\r\n\r\n\
         {block}\r\n\r\n",
        block.len()
    )
}

fn day(day: u32) -> String {
    format!("WARC-Date: 2026-01-{day:02}T00:00:00Z\r\n")
}

/// A response on a day of January with this body and digest.
fn response(host: &str, on: u32, digest: &str, body: &str) -> String {
    let fields = format!("{}WARC-Payload-Digest: {digest}\r\n", day(on));
    let block = format!("HTTP/1.1 200 OK\r\n\r\n{body}");
    record(
        "response",
        &format!("https://{host}.example/robots.txt"),
        &fields,
        &block,
    )
}

/// A `revisit` record on a day of January, which refers to the body of another host.
fn revisit(host: &str, on: u32, digest: &str, of: &str) -> String {
    let fields = format!(
        "{}WARC-Payload-Digest: {digest}\r\n\
         WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n\
         WARC-Refers-To-Target-URI: https://{of}.example/robots.txt\r\n",
        day(on)
    );
    let url = format!("https://{host}.example/robots.txt");
    record("revisit", &url, &fields, "HTTP/1.1 200 OK\r\n\r\n")
}

const SHA1: &str = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
/// The same digest in hexadecimal digits.
const SHA1_HEX: &str = "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709";
const SHA256: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const X: &str = "user-agent: *\ndisallow: /x\n";
const Y: &str = "user-agent: *\ndisallow: /y\n";

fn compile_over(old: Option<Vec<u8>>, archives: &[&str]) -> (Vec<u8>, CompileReport) {
    let mut compiler = Compiler::default();
    for archive in archives {
        compiler.add_reader("archive", archive.as_bytes()).unwrap();
    }
    if let Some(old) = old {
        compiler = compiler.previous(Snapshot::new(old).unwrap()).unwrap();
    }
    let compiled = compiler.finish().unwrap();
    let report = compiled.report().clone();
    let bytes = compiled.to_vec().unwrap();
    Snapshot::new(bytes.clone()).unwrap().verify().unwrap();
    (bytes, report)
}

fn compile(archives: &[&str]) -> (Vec<u8>, CompileReport) {
    compile_over(None, archives)
}

/// The letters of `/x` and `/y` of a host.
fn letters(snapshot: &[u8], host: &str) -> String {
    let snapshot = Snapshot::new(snapshot.to_vec()).unwrap();
    let agents = ["FooBot".parse().unwrap()];
    let judge = Judge::new(snapshot, &agents, JudgeOptions::default()).unwrap();
    ["x", "y"]
        .map(|path| annotate(&judge, &format!("https://{host}.example/{path}")))
        .iter()
        .map(|line| line.chars().next().unwrap())
        .collect()
}

/// WARC/1.1 §6.7.2: the payload is that of the record which the digest and the URI name.
#[test]
fn a_revisit_has_the_body_that_its_digest_names() {
    for (stored, stated) in [(SHA1, SHA1), (SHA1, SHA1_HEX), (SHA256, SHA256)] {
        let original = response("a", 1, stored, X);
        let reference = revisit("b", 2, stated, "a");
        let (together, report) = compile(&[&(original.clone() + &reference)]);
        assert_eq!(report.revisits_without_body, 0);
        for host in ["a", "b"] {
            assert_eq!(letters(&together, host), "DA", "{host}, {stated}");
        }
        // The record with the body may come later, from another input, and out of order.
        for archives in [
            [reference.as_str(), original.as_str()],
            [&original, &reference],
        ] {
            assert!(compile(&archives).0 == together, "{archives:?}");
            assert!(compile(&[&archives.concat()]).0 == together);
        }
        // It may be in the previous snapshot, and in captures files.
        let old = compile(&[&original]).0;
        assert!(compile_over(Some(old), &[&reference]).0 == together);
        let mut compiler = Compiler::default();
        for archive in [&reference, &original] {
            let mut captures = Compiler::default();
            captures.add_reader("archive", archive.as_bytes()).unwrap();
            let file = tempfile::Builder::new()
                .suffix(".captures")
                .tempfile()
                .unwrap();
            captures.write_captures(file.path()).unwrap();
            compiler.add_path(file.path()).unwrap();
        }
        assert!(compiler.finish().unwrap().to_vec().unwrap() == together);
    }
}

#[test]
fn a_body_in_the_previous_snapshot_is_found_behind_redirects_and_failures() {
    let moved = record(
        "response",
        "https://m.example/robots.txt",
        &day(1),
        "HTTP/1.1 301 x\r\nLocation: https://a.example/robots.txt\r\n\r\n",
    );
    let failed = |host: &str| {
        record(
            "response",
            &format!("https://{host}.example/robots.txt"),
            &day(3),
            "HTTP/1.1 503 x\r\n\r\n",
        )
    };
    let first = response("a", 1, SHA1, X) + &moved;
    let archives = [
        first.as_str(),
        &failed("a"),
        &revisit("b", 4, SHA1, "a"),
        &failed("b").replace("2026-01-03", "2026-02-20"),
    ];
    let mut over = None;
    for archive in archives {
        over = Some(compile_over(over, &[archive]).0);
    }
    let over = over.unwrap();
    assert!(over == compile(&archives).0);
    let snapshot = Snapshot::new(over).unwrap();
    let entry = snapshot
        .origin(&Origin::of(b"https://b.example/").unwrap())
        .unwrap()
        .unwrap();
    assert!(
        entry.has_last_good(),
        "the failure of b follows its revisit"
    );
}

/// A redirect or a failure on a day of January, by its status line and header.
fn answer(host: &str, on: u32, head: &str) -> String {
    let url = format!("https://{host}.example/robots.txt");
    record(
        "response",
        &url,
        &day(on),
        &format!("HTTP/1.1 {head}\r\n\r\n"),
    )
}

/// A stored loop ends where a record of the same second has a body, which says more.
#[test]
fn a_revisit_of_the_same_second_replaces_the_end_of_stored_redirects() {
    let moved = |host: &str, to: &str| {
        let head = format!("301 x\r\nLocation: https://{to}.example/robots.txt");
        answer(host, 2, &head)
    };
    let old = moved("a", "b") + &moved("b", "a");
    let new = response("c", 1, SHA1, X) + &revisit("b", 2, SHA1, "c");
    let over = compile_over(Some(compile(&[&old]).0), &[&new]).0;
    assert_eq!(letters(&over, "a"), "DA");
    assert!(over == compile(&[&old, &new]).0);
}

/// The failures of `a` began a second before those of its target `b`. Only the previous snapshot has
/// the copy of `b` from then.
#[test]
fn a_copy_behind_an_earlier_redirect_has_the_digest_of_the_previous_snapshot() {
    let old = response("b", 1, SHA1, X) + &answer("b", 4, "503 x");
    let moved = answer("a", 2, "301 x\r\nLocation: https://b.example/robots.txt");
    let failed = answer("a", 3, "503 x").replace("03T00:00:00Z", "03T23:59:59Z");
    let new = moved + &failed;
    let replaced = response("b", 5, SHA256, Y);
    let reference = revisit("c", 6, SHA1, "b");
    let archives = [&old, &new, &replaced, &reference].map(String::as_str);
    let over = archives
        .iter()
        .fold(None, |over, archive| Some(compile_over(over, &[archive]).0));
    // Only the copy of `a` has the body by now.
    assert_eq!(letters(&over.unwrap(), "c"), "DA");
}

/// The previous snapshot does not keep what a last good copy looked like.
#[test]
fn a_body_that_is_a_last_good_copy_too_is_one_body() {
    let html = format!("<html>\n{X}");
    let old = response("a", 1, SHA1, &html) + &answer("a", 2, "503 x");
    let new = response("b", 3, SHA1, &html) + &revisit("c", 4, SHA1, "b");
    let over = compile_over(Some(compile(&[&old]).0), &[&new]).0;
    assert_eq!(letters(&over, "c"), "DA");
    let snapshot = Snapshot::new(over).unwrap();
    let origin = Origin::of(b"https://c.example/").unwrap();
    let entry = snapshot.origin(&origin).unwrap().unwrap();
    assert_eq!(entry.outcome().class, OutcomeClass::Rules);
}

#[test]
fn a_revisit_without_its_body_is_counted() {
    // Of another URL: a failure, because the body is not known.
    let (bytes, report) = compile(&[&revisit("b", 2, SHA1, "a")]);
    assert_eq!(letters(&bytes, "b"), "DD".to_owned());
    assert_eq!(report.revisits_without_body, 1);
    let (other, report) = compile(&[&(response("a", 1, SHA256, X) + &revisit("b", 2, SHA1, "a"))]);
    assert_eq!(letters(&other, "b"), "DD".to_owned());
    assert_eq!(report.revisits_without_body, 1);
    // It confirms no copy of its own URL. That is the last good one.
    let (mixed, _) = compile(&[&(response("b", 1, SHA256, X) + &revisit("b", 2, SHA1, "a"))]);
    let snapshot = Snapshot::new(mixed).unwrap();
    let origin = Origin::of(b"https://b.example/").unwrap();
    let entry = snapshot.origin(&origin).unwrap().unwrap();
    assert_eq!(entry.outcome().class, OutcomeClass::Unreachable);
    assert!(entry.has_last_good());
    // Of its own URL: it confirms the copy before it, as a 304 does.
    let own = response("b", 1, SHA256, X) + &revisit("b", 2, SHA1, "b");
    let (own, report) = compile(&[&own]);
    assert_eq!(letters(&own, "b"), "DA".to_owned());
    assert_eq!(report.revisits_without_body, 1);
}

/// The newest copy of the URL is not the one that the record names.
#[test]
fn a_revisit_of_its_own_url_has_the_body_that_its_digest_names() {
    let archive =
        response("a", 1, SHA1, X) + &response("a", 2, SHA256, Y) + &revisit("a", 3, SHA1, "a");
    assert_eq!(letters(&compile(&[&archive]).0, "a"), "DA");
    // Without a digest, it is a 304.
    let undigested = archive.replace(&format!("WARC-Payload-Digest: {SHA1}\r\n"), "");
    assert_eq!(letters(&compile(&[&undigested]).0, "a"), "AD");
    // A server that confirms its copy says nothing about others.
    let confirmed = archive.replace("identical-payload-digest", "server-not-modified");
    assert_eq!(letters(&compile(&[&confirmed]).0, "a"), "AD");
}

#[test]
fn different_bodies_under_one_digest_are_unreachable() {
    let originals = response("a", 1, SHA1, X) + &response("c", 1, SHA1, Y);
    let reference = revisit("b", 2, SHA1, "a");
    let (bytes, _) = compile(&[&(originals.clone() + &reference)]);
    assert_eq!(letters(&bytes, "b"), "DD");
    let snapshot = Snapshot::new(bytes.clone()).unwrap();
    let entry = snapshot
        .origin(&Origin::of(b"https://b.example/").unwrap())
        .unwrap()
        .unwrap();
    assert_eq!(entry.outcome().class, OutcomeClass::Unreachable);
    assert!(
        entry.detail().unwrap().contains("different bodies"),
        "{entry:?}"
    );
    let old = compile(&[&originals]).0;
    assert!(compile_over(Some(old), &[&reference]).0 == bytes);
    // Equal rules are one body, whatever surrounds them.
    let equal = response("a", 1, SHA1, X) + &response("c", 1, SHA1, &format!("{X}# c\n"));
    assert_eq!(letters(&compile(&[&(equal + &reference)]).0, "b"), "DA");
    // Of a body that was cut, the digest may be that of the whole one.
    let cut = originals.replacen("WARC-Payload", "WARC-Truncated: length\r\nWARC-Payload", 1);
    assert_eq!(letters(&compile(&[&(cut + &reference)]).0, "b"), "AD");
}

/// The digests are in the external sort, so no number of them takes memory.
#[test]
fn digests_are_sorted_in_any_memory() {
    let sha1 = |number: u32| format!("sha1:{number:040x}");
    let mut archive = String::new();
    for number in 0..3000 {
        let body = format!(
            "user-agent: *\ndisallow: /{}\n",
            ["x", "y"][number as usize % 2]
        );
        archive += &revisit(&format!("b{number}"), 2, &sha1(number % 1500), "z");
        archive += &response(&format!("a{number}"), 1, &sha1(number % 1500), &body);
    }
    let (bytes, report) = compile(&[&archive]);
    assert_eq!(report.revisits_without_body, 0);
    assert_eq!(letters(&bytes, "b2"), "DA");
    assert_eq!(letters(&bytes, "b1501"), "AD");
    let mut compiler = Compiler::default().memory(1 << 16);
    compiler.add_reader("archive", archive.as_bytes()).unwrap();
    assert!(compiler.finish().unwrap().to_vec().unwrap() == bytes);
}

/// WARC/1.1 §6.5: the block of a `resource` is the content itself.
#[test]
fn a_resource_is_a_robots_txt() {
    let resource = |url: &str| record("resource", url, &day(1), X);
    let archive = resource("https://a.example/robots.txt")
        + &resource("<ftp://f.example/robots.txt>")
        + &resource("https://p.example/page")
        + &resource("urn:text:https://t.example/robots.txt")
        + &resource("https://q.example/page?/robots.txt");
    let (bytes, report) = compile(&[&archive]);
    assert_eq!(report.captures, 2);
    assert_eq!(report.counts.outcome_rules, 2);
    assert_eq!(report.not_urls, 0);
    assert_eq!(letters(&bytes, "a"), "DA");
    assert_eq!(letters(&bytes, "t"), "UU");
    // Its payload is its block, which a revisit may refer to.
    let fields = format!("{}WARC-Payload-Digest: {SHA1}\r\n", day(1));
    let digested = record("resource", "https://a.example/robots.txt", &fields, X);
    let found = letters(
        &compile(&[&(digested + &revisit("b", 2, SHA1, "a"))]).0,
        "b",
    );
    assert_eq!(found, "DA");
    let cut = archive.replace(
        "Content-Length",
        "WARC-Truncated: disconnect\r\nContent-Length",
    );
    assert_eq!(letters(&compile(&[&cut]).0, "a"), "DD");
}

/// WARC/1.1 §5.4: a date of low precision stands for the end of its period.
#[test]
fn a_date_of_low_precision_is_newer_than_an_older_capture() {
    let dated = |date: &str, body: &str| {
        record(
            "response",
            "https://a.example/robots.txt",
            &format!("WARC-Date: {date}\r\n"),
            &format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
        )
    };
    for (date, other) in [
        ("2026-02-01", "2026-02-01T23:59:58Z"),
        ("2026-02", "2026-02-28T23:59:58Z"),
        ("2026", "2020-01-01T00:00:00Z"),
        ("2026-02-01T10:30", "2026-02-01T10:30:58Z"),
        ("2026-02-01T10:30Z", "2026-02-01T10:30:58Z"),
    ] {
        let (bytes, report) = compile(&[&(dated(date, X) + &dated(other, Y))]);
        assert_eq!(letters(&bytes, "a"), "DA".to_owned(), "{date}");
        assert_eq!(report.undated, 0, "{date}");
        let end = other
            .replace(":58Z", ":59Z")
            .replace("2020-01-01T00:00:00", "2026-12-31T23:59:59");
        let expected = end.parse::<jiff::Timestamp>().unwrap().as_second();
        let snapshot = Snapshot::new(compile(&[&dated(date, X)]).0).unwrap();
        let entry = snapshot.origins().next().unwrap().unwrap();
        assert_eq!(entry.outcome().fetched, Some(expected), "{date}");
    }
    // `--as-of` compares the same instant.
    let mut compiler = Compiler::default().as_of(1_769_990_398);
    compiler
        .add_reader("archive", dated("2026-02-01", X).as_bytes())
        .unwrap();
    assert_eq!(compiler.finish().unwrap().report().too_new, 1);
}
