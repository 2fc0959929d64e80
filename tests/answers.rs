//! Archived responses that look like an empty robots.txt but are not: a body under another JSON
//! key, a `revisit` record, a redirect to a URL with many captures. An empty robots.txt would allow
//! everything.

use crate::command::assert_has;
use crate::snapshots::{judge_for, snapshot_of_captures};
use crate::test_dir::{TestDir, gz};
use base64::Engine;
use robosieve::{Compiler, Origin, Snapshot};
use serde_json::{Value, json};

/// Compiles an archive, JSON lines or WARC.
fn compile(archive: &[u8]) -> Snapshot {
    snapshot_of_captures(archive)
}

fn letter(snapshot: &Snapshot, url: &str) -> char {
    let judge = judge_for(snapshot, "FooBot");
    judge.judge(url.as_bytes()).unwrap().get(0).letter()
}

fn line(object: &Value) -> String {
    let mut line = json!({"url": "https://a.example/robots.txt", "status": 200});
    line.as_object_mut()
        .unwrap()
        .extend(object.as_object().unwrap().clone());
    line.to_string() + "\n"
}

#[test]
fn every_documented_body_key_is_read() {
    let robots = "User-agent: *\nDisallow: /x";
    for key in ["body", "content", "text", "robots", "robots_txt"] {
        let snapshot = compile(line(&json!({key: robots})).as_bytes());
        assert_eq!(letter(&snapshot, "https://a.example/x"), 'D', "{key}");
        assert_eq!(letter(&snapshot, "https://a.example/y"), 'A', "{key}");
    }
    let coded = compile(
        line(&json!({"body_base64": "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3g=", "text": "other"}))
            .as_bytes(),
    );
    let found = [
        letter(&coded, "https://a.example/x"),
        letter(&coded, "https://a.example/y"),
    ];
    assert_eq!(found, ['D', 'A'], "base64 takes precedence");
    let without_status =
        json!({"url": "https://a.example/robots.txt", "content": robots}).to_string();
    let found = letter(&compile(without_status.as_bytes()), "https://a.example/x");
    assert_eq!(found, 'D');
}

/// RFC 9110 §15.3.5: of the 2xx statuses only 204 has no body. For the others a missing body is
/// unknown, so the site is unreachable.
#[test]
fn success_without_body_is_unreachable() {
    for (object, expected) in [
        (json!({}), 'D'),
        (json!({"status": 206}), 'D'),
        (json!({"body": null}), 'D'),
        (json!({"text": ["a"]}), 'D'),
        (json!({"html": "User-agent: *"}), 'D'),
        (json!({"status": 204}), 'A'),
        (json!({"body": ""}), 'A'),
        (json!({"content": ""}), 'A'),
        (json!({"status": 404}), 'A'),
    ] {
        let found = letter(&compile(line(&object).as_bytes()), "https://a.example/x");
        assert_eq!(found, expected, "{object}");
    }
}

#[test]
fn unknown_body_keys_are_counted_in_a_warning() {
    let dir = TestDir::new();
    let objects = [
        json!({"html": "<html>"}),
        json!({"html": "<html>", "url": "https://b.example/robots.txt"}),
        json!({"x": "User-Agent: *\nDisallow: /", "url": "https://c.example/robots.txt"}),
        json!({"body": "", "html": "<html>", "url": "https://d.example/robots.txt"}),
        json!({"note": "nothing", "url": "https://e.example/robots.txt"}),
        json!({"body\u{202e}": "", "url": "https://f.example/robots.txt"}),
    ];
    dir.write("a.jsonl", objects.iter().map(line).collect::<String>());
    let ran = dir.run_line("compile -q -o s --stats-json stats.json a.jsonl");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.says("2 lines").says("\"html\" looks like the body");
    let stats = dir.read_text("stats.json");
    assert!(!stats.contains('\u{202e}'), "{stats}{ran:?}");
    assert!(!ran.stderr.contains('\u{202e}'), "{stats}{ran:?}");
    let stats: Value = serde_json::from_str(&stats).unwrap();
    let expected = json!({"body\u{202e}": 1, "html": 2, "x": 1});
    assert_eq!(stats["unread_keys"], expected);
}

/// As pandas, Polars, DuckDB, Python's `time.time()` and CDX servers write times.
#[test]
fn times_are_read_in_the_forms_of_other_programs() {
    let fetched = |object: Value| {
        let snapshot = compile(line(&object).as_bytes());
        let origin = Origin::of(b"https://a.example/").unwrap();
        let entry = snapshot.origin(&origin).unwrap().unwrap();
        entry.outcome().fetched
    };
    for time in [
        json!(1_767_312_000),
        json!(1_767_312_000.0),
        json!(1_767_312_000.987),
        json!(1_767_312_000_987i64),
        json!(20_260_102_000_000i64),
        json!("20260102000000"),
        json!("2026-01-02T00:00:00Z"),
        json!("2026-01-02T00:00:00.987"),
        json!("2026-01-02 00:00:00.987654"),
        json!("2026-01-02 02:00:00+02"),
        json!("2026-01-02 00:00:00 UTC"),
    ] {
        for object in [
            json!({"body": "", "fetched_at": time}),
            json!({"body": "", "timestamp": time, "fetched_at": null}),
            json!({"body": "", "timestamp": "yesterday", "fetched_at": time}),
        ] {
            assert_eq!(fetched(object.clone()), Some(1_767_312_000), "{object}");
        }
    }
    assert_eq!(
        fetched(json!({"body": "", "fetched_at": 900_000_000})),
        Some(900_000_000)
    );
    assert_eq!(
        fetched(json!({"body": "", "fetched_at": "", "timestamp": null})),
        None
    );
    for wrong in [
        json!(1.5),
        json!(999_999_999_999i64),
        json!(true),
        json!("yesterday"),
    ] {
        for key in ["fetched_at", "timestamp"] {
            let wrong = line(&json!({"body": "", key: wrong}));
            let err = Compiler::default()
                .add_reader("a.jsonl", wrong.as_bytes())
                .unwrap_err()
                .to_string();
            assert_has(&err, &format!("\"{key}\""));
            assert_has(&err, "line 1");
        }
    }
}

/// A failed request that counts as a 200 without rules would allow everything.
#[test]
fn failures_are_not_taken_for_successes() {
    let url = "https://a.example/robots.txt";
    let robots = "User-agent: *\nDisallow: /x";
    for (object, expected) in [
        // As requests, httpx and many crawlers name the status.
        (json!({"url": url, "status_code": 503, "body": "busy"}), "D"),
        (
            json!({"url": url, "status_code": "404", "body": robots}),
            "A",
        ),
        (
            json!({"url": url, "status": null, "status_code": 503, "text": ""}),
            "D",
        ),
        (
            json!({"url": url, "status": 200, "status_code": 503, "text": ""}),
            "A",
        ),
        (json!({"url": url, "http_code": 200, "body": robots}), "D"),
        (
            json!({"url": url, "http_code": 504, "body": "", "error": "timeout"}),
            "D",
        ),
        // A table of requests has a row for each, also for those that failed.
        (json!({"url": url, "status": null, "body": ""}), "D"),
        (json!({"url": url, "status": "", "body": ""}), "D"),
        (json!({"url": url, "status": null, "body": "x"}), "A"),
        (json!({"url": url, "body": ""}), "A"),
    ] {
        let found = letter(
            &compile(object.to_string().as_bytes()),
            "https://a.example/x",
        );
        assert_eq!(found.to_string(), expected, "{object}");
    }
    for key in ["http_code", "statusCode", "response_status", "code"] {
        let line = json!({"url": url, "body": "busy", key: 503}).to_string();
        let err = Compiler::default()
            .add_reader("a.jsonl", line.as_bytes())
            .unwrap_err();
        let expected = format!("no \"status\", but \"{key}\" is 503; name it \"status\"");
        assert_has(&err.to_string(), &expected);
    }
}

#[test]
fn captures_that_no_time_orders_give_a_warning() {
    let dir = TestDir::new();
    let day = |key: &str, day: u32, body: &str| {
        line(&json!({"body": body, key: format!("2026-01-0{day}")}))
    };
    for (key, warns) in [("crawl_date", true), ("fetched_at", false)] {
        dir.write("a.jsonl", day(key, 1, "x: y") + &day(key, 2, ""));
        let ran = dir.run_line("compile -q -o s a.jsonl");
        assert_eq!(
            ran.stderr
                .contains("no capture has a time, and 1 capture is"),
            warns,
            "{ran:?}"
        );
    }
    dir.write("a.jsonl", day("crawl_date", 1, ""));
    assert_eq!(dir.run_line("compile -q -o s a.jsonl").stderr, "");
}

#[test]
fn broken_lines_are_numbered_once() {
    let text = line(&json!({"body": ""})) + "{\"url\": tru}\n";
    let err = Compiler::default()
        .add_reader("a.jsonl", text.as_bytes())
        .unwrap_err()
        .to_string();
    assert_has(&err, "line 2: expected ident at column");
    assert!(!err.contains("line 1"), "{err}");
}

#[test]
fn truncation_reasons_ignore_case() {
    for (reason, expected) in [
        ("disconnect", 'D'),
        ("DISCONNECT", 'D'),
        ("Time", 'D'),
        ("length", 'A'),
    ] {
        let object = json!({"body": "user-agent: *\ndisallow: /y\n", "truncated": reason});
        let found = letter(&compile(line(&object).as_bytes()), "https://a.example/x");
        assert_eq!(found, expected, "{reason}");
    }
}

/// "User-agent: *\nDisallow: /x" of the encoder of Google, in base64.
const BROTLI: &str = "iwyAVXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3gD";

#[test]
fn content_codings_of_base64_bodies_are_decoded() {
    let coded = {
        let body = gz("User-agent: *\nDisallow: /x");
        base64::engine::general_purpose::STANDARD.encode(body)
    };
    let plain = "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3g=";
    for (coding, body, expected) in [
        (json!("gzip"), coded.as_str(), "DA"),
        (json!(["identity", "gzip"]), &coded, "DA"),
        (json!("gzip"), plain, "DA"),
        (json!("br"), plain, "DA"),
        (json!("br"), BROTLI, "DA"),
        (json!("compress"), plain, "DA"),
        (json!("br"), &coded, "DD"),
        (json!("gzip, compress"), &coded, "DD"),
    ] {
        let object = json!({"body_base64": body, "headers": {"Content-Encoding": coding}});
        let snapshot = compile(line(&object).as_bytes());
        let found: String = ["x", "y"]
            .map(|path| letter(&snapshot, &format!("https://a.example/{path}")))
            .iter()
            .collect();
        assert_eq!(found, expected, "{object}");
    }
}

fn record(kind: &str, day: u8, more: &str, block: &str) -> String {
    format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://a.example/robots.txt\r\n\
         WARC-Date: 2026-01-{day:02}T00:00:00Z\r\n{more}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// The letters of `/x` and `/y` from a WARC record with this block.
fn letters_of_block(block: &str) -> String {
    let snapshot = compile(record("response", 1, "", block).as_bytes());
    ["x", "y"]
        .map(|path| letter(&snapshot, &format!("https://a.example/{path}")))
        .iter()
        .collect()
}

/// Recorders decode a body and keep its headers. As a failure, the whole site would be disallowed;
/// as a text without rules, all of it allowed.
#[test]
fn blocks_of_recorders_that_decode_bodies_are_read() {
    let rules = "User-agent: *\r\nDisallow: /x\r\n";
    let cases = [
        ("Transfer-Encoding: chunked", rules, "DA"),
        ("Transfer-Encoding: chunked", "", "AA"),
        (
            "Transfer-Encoding: chunked",
            "1d\r\nUser-agent: *\r\nDisallow: /x\r\n\r\n0\r\n\r\n",
            "DA",
        ),
        (
            "Transfer-Encoding: chunked",
            "1d\r\nUser-agent: *\r\nDisallow",
            "DD",
        ),
        (
            "Content-Encoding: br\r\nTransfer-Encoding: chunked",
            rules,
            "DA",
        ),
        ("Content-Encoding: deflate", rules, "DA"),
        ("Content-Encoding: br\r\nContent-Length: 30", rules, "DA"),
        ("Content-Encoding: br\r\nContent-Length: 3000", rules, "DD"),
        ("Content-Encoding: compress", rules, "DA"),
        ("Content-Encoding: br", "\u{b}\u{1}\u{2}\u{3}", "DD"),
        ("Content-Encoding: gzip", "\u{b}\u{1}\u{2}\u{3}", "DD"),
    ];
    for (head, body, expected) in cases {
        let block = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
        assert_eq!(letters_of_block(&block), expected, "{head} {body:?}");
    }
}

/// A chunk of one byte takes six, so 500 KiB of content take 3 MB.
#[test]
fn short_chunks_are_read_as_far_as_a_body_counts() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let rules = "User-agent: *\nDisallow: /x\n";
    let chunks = |text: &str| -> String { text.chars().map(|c| format!("1\r\n{c}\r\n")).collect() };
    let filler = "#\n".repeat(150_000);
    let long = "#\n".repeat(300_000);
    for (body, expected) in [
        (chunks(&format!("{filler}{rules}")) + "0\r\n\r\n", "DA"),
        // Of 600 KB, 500 KiB count, whether or not the last chunk is there.
        (chunks(&format!("{rules}{long}")) + "0\r\n\r\n", "DA"),
        (chunks(&format!("{rules}{long}")), "DA"),
        (chunks(&format!("{long}{rules}")), "AA"),
        // The last chunk is missing, or chunks have more than six bytes for each of the body.
        (chunks(&format!("{filler}{rules}")), "DD"),
        (
            format!("1{}\r\na\r\n", ";a".repeat(30)).repeat(150_000) + "0\r\n\r\n",
            "DD",
        ),
    ] {
        let found = letters_of_block(&format!("{head}{body}"));
        assert_eq!(found, expected, "{} bytes", body.len());
    }
}

/// RFC 9112 §8. A head that breaks off is not one without rules.
#[test]
fn responses_with_incomplete_heads_are_unreachable() {
    let rules = "User-agent: *\nDisallow: /x\n";
    let long = "X-Header: 1\r\n".repeat(180_000);
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Ty".to_owned(), "DD"),
        ("HTTP/1.1 200 OK\r\n".to_owned(), "DD"),
        (
            "HTTP/1.1 301 Moved\r\nLocation: https://a.exa".to_owned(),
            "DD",
        ),
        ("HTTP/1.1 404 Not Found\r\nContent-Ty".to_owned(), "AA"),
        (format!("HTTP/1.1 200 OK\r\n{long}\r\n{rules}"), "DD"),
        (
            format!("HTTP/1.1 200 OK\r\n{}\r\n{rules}", &long[..500_006]),
            "DA",
        ),
        (
            format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{rules}"),
            "DA",
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n".to_owned(),
            "AA",
        ),
    ];
    for (block, expected) in cases {
        let start = &block[..block.len().min(60)];
        assert_eq!(letters_of_block(&block), expected, "{start:?}");
    }
}

/// WARC/1.1 §6.7: a `revisit` record has no body: the response equals an earlier one.
#[test]
fn revisit_records_confirm_the_previous_copy() {
    let copy = record(
        "response",
        1,
        "",
        "HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /x\n",
    );
    let own = "WARC-Refers-To-Target-URI: <https://a.example/robots.txt>\r\n";
    let other = "WARC-Refers-To-Target-URI: https://b.example/robots.txt\r\n";
    for (more, block, expected) in [
        ("", "HTTP/1.1 304 Not Modified\r\n\r\n", "DA"),
        (own, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", "DA"),
        // Writers leave out the blank line, because no body follows.
        (own, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n", "DA"),
        ("", "HTTP/1.1 404 Not Found\r\n", "AA"),
        (own, "", "DA"),
        (other, "HTTP/1.1 200 OK\r\n\r\n", "DD"),
        ("", "HTTP/1.1 404 Not Found\r\n\r\n", "AA"),
        ("", "HTTP/1.1 503 x\r\n\r\n", "DD"),
    ] {
        let snapshot = compile((copy.clone() + &record("revisit", 2, more, block)).as_bytes());
        let found: String = ["x", "y"]
            .map(|path| letter(&snapshot, &format!("https://a.example/{path}")))
            .iter()
            .collect();
        assert_eq!(found, expected, "{more:?} {block:?}");
        let entry = snapshot
            .origin(&Origin::of(b"https://a.example/").unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(
            entry.outcome().fetched,
            Some(1_767_312_000),
            "the time is that of the revisit record"
        );
    }
    let alone = compile(record("revisit", 2, own, "HTTP/1.1 200 OK\r\n\r\n").as_bytes());
    assert_eq!(
        letter(&alone, "https://a.example/x"),
        'D',
        "a revisit record without an earlier copy is unreachable"
    );
}

/// Many captures of one URL, and origins that redirect to it. Each origin gets the copy that was
/// current at its own time.
#[test]
fn redirects_resolve_to_the_copy_of_their_time() {
    let target = "https://t.example/robots.txt";
    let captures = (1..=28).map(|day| {
        json!({"url": target, "status": 200, "body": format!("user-agent: *\ndisallow: /{day}$"),
            "fetched_at": format!("2026-01-{day:02}T00:00:00Z")})
    });
    let redirect = |name: &str| {
        json!({"url": format!("https://{name}.example/robots.txt"), "status": 301,
            "headers": {"Location": target}, "fetched_at": "2026-01-01T00:00:00Z"})
    };
    let failures = |day: u8| {
        [format!("2026-01-{day:02}T12:00:00Z"), "2026-03-20T00:00:00Z".to_owned()]
            .map(|time| json!({"url": format!("https://f{day}.example/robots.txt"), "status": 503, "fetched_at": time}))
    };
    let followers = (1..=28).flat_map(|day| {
        failures(day)
            .into_iter()
            .chain([redirect(&format!("f{day}"))])
    });
    let lines: Vec<Value> = captures.chain([redirect("now")]).chain(followers).collect();
    let snapshot = compile(
        lines
            .iter()
            .map(|line| line.to_string() + "\n")
            .collect::<String>()
            .as_bytes(),
    );
    for day in 1..=28 {
        let refused = |host: &str| {
            (1..=28)
                .filter(|day| letter(&snapshot, &format!("https://{host}.example/{day}")) == 'D')
                .collect::<Vec<u8>>()
        };
        let found = refused(&format!("f{day}"));
        assert_eq!(found, [day], "its redirect failed from day {day} on");
        assert_eq!(refused("now"), [28]);
    }
}
