//! Hostile lines: escapes, quotes, huge headers, bad times, control characters.

use super::{audit, audit_line, json, json_line, lines, requests, with_log};
use crate::command::words;

fn line(target: &str, agent: &str) -> String {
    format!(
        "192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] \"GET {target} HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n"
    )
}

#[test]
fn hostile_lines_are_counted() {
    let megabyte = "x".repeat(1 << 20);
    let mut log: Vec<u8> = [
        // Requests of GPTBot, the first five disallowed; `%70` stays an escape in the default
        // profile.
        line("/private", r"\x22GPTBot\x22"),
        line("/private", r#"a \"b\" GPTBot \\"#),
        line("/private", &format!("{megabyte} GPTBot/1")),
        line("/private", &format!("GPTBot {megabyte}")),
        line(r"/p\x72ivate", "GPTBot"),
        line(r"/%70rivate", "GPTBot"),
        line("/a b c", "GPTBot"),
        line(r"/\x22\xff", "GPTBot"),
        line(&format!("/{megabyte}"), "GPTBot"),
        // Other agents.
        line("/private", &megabyte),
        line("/private", "xGPTBot"),
        line("/private", ""),
        line(r"\x16\x03\x01", "-"),
        // Invalid.
        line("/private", "GPTBot").replace("01/Aug", "00/Aug"),
        line("/private", "GPTBot").replace("+0000", "0000"),
        line("/private", "GPTBot").replace("Aug/2026", "Aug/-026"),
        line("/private", "GPTBot").replace(" 200 ", " 2x0 "),
        line("/private", "GPTBot").replace("\"GET", "GET"),
        line("private", "GPTBot"),
        "\n".to_owned(),
        "\"".repeat(1000) + "\n",
        "[\\\n".to_owned(),
    ]
    .concat()
    .into_bytes();
    log.extend_from_slice(b"\xff\x00\x1b[2J GPTBot\n");
    let dir = with_log(&log);
    for threads in ["1", "3"] {
        let report = json(
            &dir,
            &words(&format!("-s a --host example.com access.log -j {threads}")),
        );
        assert_eq!(lines(&report), [23, 10, 4]);
        assert_eq!(requests(&report, "GPTBot"), [9, 4, 5, 0, 0]);
    }
}

#[test]
fn nothing_is_printed_unescaped() {
    let target = "/private/\u{1b}[2J\u{202e}=1\"><script>";
    let dir = with_log(
        line("/private", "GPTBot") + &line(&target.replace('"', "\\\""), "GPTBot \u{1b}[2J"),
    );
    for form in ["table", "json", "csv"] {
        let ran = audit(
            &dir,
            &words(&format!(
                "-s a --host example.com access.log --as {form} --html a.html"
            )),
        );
        let page = dir.read_text("a.html");
        let printed = ran.text();
        assert_eq!(ran.code, Some(0));
        for text in [printed, &page] {
            assert!(
                !text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')),
                "{text}"
            );
        }
        assert!(!page.contains("<script"));
    }
}

#[test]
fn hostile_json_is_invalid() {
    let log = [
        r#"{"time":1785542400,"uri":"/private","agent":"GPTBot"}"#.as_bytes(),
        b"{\"time\":1785542400,\"uri\":\"/private\",\"agent\":\"GPTBot \xff\"}",
        br#"{"time":1785542400,"uri":"/private","agent":["GPTBot"],"status":200,"x":[[{}]]}"#,
        br#"{"time":"never","uri":"/private","agent":"GPTBot"}"#,
        br#"{"time":1785542400,"agent":"GPTBot"}"#,
        br#"{"time":1785542400,"uri":"/private","agent":"GPTBot""#,
        br#"{"time":1e999,"uri":"/private","agent":"GPTBot"}"#,
        &b"{\"x\":".repeat(100_000),
        b"[]",
    ];
    let dir = with_log(log.join(&b'\n'));
    let report = json_line(&dir, "-s a --host example.com access.log");
    assert_eq!(lines(&report), [9, 6, 0]);
    assert_eq!(requests(&report, "GPTBot"), [3, 0, 3, 0, 0]);
}

#[test]
fn a_log_of_invalid_lines_is_an_error() {
    let dir = with_log("a\nb\n");
    let ran = audit_line(
        &dir,
        "-s a --host example.com --log-format combined access.log",
    );
    ran.refused("none of the 2 lines");
    let dir = with_log("");
    let found = lines(&json_line(&dir, "-s a --host example.com access.log"));
    assert_eq!(found, [0, 0, 0]);
}
