//! `robosieve report`: figures against other computations, formats against each other, and the page
//! in a browser.

mod browser;
mod figures;
mod groups;
mod outputs;
mod pages;
mod reach;
mod sampling;
mod series;
mod units;

use crate::command::{Ran, robosieve, words};
use std::path::Path;
use tempfile::TempDir;

/// Captures of a small web, as JSON lines.
pub(crate) fn archive(robots: &[(&str, u16, &str)]) -> String {
    let line = |(origin, status, body): &(&str, u16, &str)| {
        let fetched_at = "2026-09-15T06:00:00Z";
        let url = format!("{origin}/robots.txt");
        serde_json::json!({ "url": url, "status": status, "body": body, "fetched_at": fetched_at })
            .to_string()
            + "\n"
    };
    robots.iter().map(line).collect()
}

/// Compiles captures into `s.rsieve` in `dir`.
pub(crate) fn compile(dir: &Path, robots: &[(&str, u16, &str)]) {
    std::fs::write(dir.join("robots.jsonl"), archive(robots)).unwrap();
    output_of(dir, "compile -q -o s.rsieve robots.jsonl");
}

/// Runs a command, asserts success, and returns its standard output.
pub(crate) fn done(ran: Ran) -> String {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    String::from_utf8(ran.stdout).unwrap()
}

/// Runs a command line of words without blanks, asserts success, and returns its standard output.
pub(crate) fn output_of(dir: &Path, line: &str) -> String {
    done(robosieve(dir, &words(line)))
}

/// Writes a file into a directory.
pub(crate) fn write(dir: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(dir.path().join(name), text).unwrap();
}
