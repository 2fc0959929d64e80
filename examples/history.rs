//! The rules in force: each page is judged by the robots.txt of the day on which it was fetched.

use robosieve::judge::Rows;
use robosieve::{Compiler, Judge, JudgeOptions, Origin, Result, Snapshot};

const CAPTURES: &str = r#"
{"url": "https://news.example/robots.txt", "fetched_at": "2026-01-05T00:00:00Z", "body": "User-agent: *\nDisallow: /drafts/"}
{"url": "https://news.example/robots.txt", "fetched_at": "2026-02-05T00:00:00Z", "body": "User-agent: *\nDisallow: /drafts/"}
{"url": "https://news.example/robots.txt", "fetched_at": "2026-03-05T00:00:00Z", "body": "User-agent: GPTBot\nDisallow: /"}
"#;

/// Seconds since 1970 of 2026-01-01.
const NEW_YEAR: i64 = 1_767_225_600;
const DAY: i64 = 24 * 60 * 60;

fn main() -> Result<()> {
    let mut compiler = Compiler::default().history(true);
    compiler.add_reader("captures", CAPTURES.as_bytes())?;
    let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    let judge = Judge::new(
        snapshot.clone(),
        &["GPTBot".parse()?],
        JudgeOptions::default(),
    )?;

    // A column of URLs, and one of the times at which they were fetched.
    let urls: [&[u8]; 4] = [b"https://news.example/a"; 4];
    let times = [0, 10, 50, 90].map(|days| Some(NEW_YEAR + days * DAY));
    let mut letters = String::new();
    judge.judge_rows_as_of(Rows::Slices(&urls), &times, |rows, verdicts| {
        letters.extend(rows.map(|_| verdicts.get(0).letter()));
        Ok(())
    })?;
    // Before the first capture, nobody knows the rules.
    assert_eq!(letters, "UAAD");

    // The answers of the site, each with the bounds of the time in which it held.
    let origin = Origin::of(b"https://news.example/").expect("a URL");
    let row = snapshot.origin(&origin)?.expect("an origin").row();
    let mut answers = 0;
    for answer in snapshot.timeline(row) {
        let answer = answer?;
        let text = snapshot.robots_text(&answer.entry)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let first = text.lines().next().unwrap_or_default();
        println!(
            "since {:?}, seen until {:?}, changed at {:?}: {first}",
            answer.since, answer.last_seen, answer.changed_at
        );
        answers += 1;
    }
    assert_eq!(answers, 2);
    Ok(())
}
