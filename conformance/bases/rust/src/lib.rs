//! Answers questions about robots.txt files with a Rust parser, by the protocol of
//! `conformance/README.md`.
//!
//! A parser is a program that calls [`serve`]. Its two functions are the calls that a user of the
//! crate makes. The base times them, catches panics, and keeps the parsed files if it is told to.

use base64::prelude::{BASE64_STANDARD, Engine};
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How often a parser reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parses {
    /// One parsed file answers for all agents.
    Once,
    /// A parsed file is of one agent.
    PerAgent,
}

#[derive(Deserialize)]
struct Question {
    robots: String,
    agents: Vec<String>,
    urls: Vec<String>,
    #[serde(default = "one")]
    repeat: u32,
    #[serde(default)]
    keep: bool,
}

fn one() -> u32 {
    1
}

#[derive(Default, Serialize)]
struct Answer {
    verdicts: Vec<String>,
    parse_ns: u128,
    ask_ns: u128,
}

/// The body for a crate that takes texts: bytes that are not UTF-8 become U+FFFD. A byte order mark
/// stays, because the crate must handle it.
pub fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

/// Path and query of a URL, for a crate that judges paths.
pub fn path(url: &str) -> &str {
    let path = url.strip_prefix("http://example.com").unwrap_or(url);
    let path = path.split('#').next().unwrap_or_default();
    if path.is_empty() { "/" } else { path }
}

/// Answers until the input ends. `parse` gets the body and, for [`Parses::PerAgent`], the agent;
/// `None` means that the crate refuses the file. `allowed` gets the parsed file, the agent and the URL.
pub fn serve<P>(
    parses: Parses,
    parse: impl Fn(&[u8], &str) -> Option<P>,
    allowed: impl Fn(&P, &str, &str) -> bool,
) {
    std::panic::set_hook(Box::new(|_| {}));
    let hello = match parses {
        Parses::Once => "once",
        Parses::PerAgent => "per agent",
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{{\"hello\": 1, \"parses\": \"{hello}\"}}").expect("a reader");
    let mut kept = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line.expect("a line")).expect("a question");
        let body = BASE64_STANDARD.decode(&question.robots).expect("base64");
        let mut answer = Answer::default();
        for _ in 0..question.repeat {
            answer = ask(parses, &parse, &allowed, &body, &question, &mut kept);
        }
        serde_json::to_writer(&mut out, &answer).expect("a reader");
        out.write_all(b"\n").expect("a reader");
        out.flush().expect("a reader");
    }
}

fn ask<P>(
    parses: Parses,
    parse: impl Fn(&[u8], &str) -> Option<P>,
    allowed: impl Fn(&P, &str, &str) -> bool,
    body: &[u8],
    question: &Question,
    kept: &mut Vec<P>,
) -> Answer {
    let mut answer = Answer::default();
    let mut parsed = None;
    for agent in &question.agents {
        if parses == Parses::PerAgent || answer.verdicts.is_empty() {
            let start = ProcessTime::now();
            let fresh = catch_unwind(AssertUnwindSafe(|| parse(body, agent)));
            answer.parse_ns += start.elapsed().as_nanos();
            let old = std::mem::replace(&mut parsed, fresh.ok().flatten());
            kept.extend(old.filter(|_| question.keep));
        }
        let start = ProcessTime::now();
        let letters = question.urls.iter().map(|url| match &parsed {
            None => 'E',
            Some(parsed) => match catch_unwind(AssertUnwindSafe(|| allowed(parsed, agent, url))) {
                Ok(true) => 'A',
                Ok(false) => 'D',
                Err(_) => 'E',
            },
        });
        answer.verdicts.push(letters.collect());
        answer.ask_ns += start.elapsed().as_nanos();
    }
    kept.extend(parsed.filter(|_| question.keep));
    answer
}
