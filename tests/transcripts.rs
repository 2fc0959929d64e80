//! Documentation tests for the command line: runs every `console` block of the pages and compares
//! the output.
//!
//! The shell runs each line `$ COMMAND` together with the lines `> MORE` that follow it. The lines
//! up to the next command are the expected standard output and standard error. A line `...` matches
//! any number of lines. Times and rates are ignored, and a run of blanks equals one blank.
//! Downloads come from a local server with the layout of Common Crawl.

use crate::command::checkout;
use crate::commoncrawl::Server;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages with transcripts. Each page runs in a directory of its own, with links to `datasets`
/// and `scripts` of the project.
const PAGES: &[&str] = &[
    "README.md",
    "datasets/small/README.md",
    "docs/AUDIT.md",
    "docs/CHECK.md",
    "docs/EXPORT.md",
    "docs/GUIDE.md",
    "docs/LINT.md",
    "docs/LISTS.md",
    "docs/REPORT.md",
    "docs/WARC.md",
];

struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

impl Step {
    /// Adds a line that follows the command: a continuation, or expected output.
    fn add(&mut self, line: &str) {
        match line.strip_prefix("> ").filter(|_| self.expected.is_empty()) {
            Some(more) => self.command += &format!("\n{more}"),
            None => self.expected.push(line.to_owned()),
        }
    }
}

/// The commands of all `console` blocks of a page.
///
/// `scripts/try` prints lines that look like commands, so the rest of its block is expected output.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    let mut script = false;
    for (i, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            script = false;
            continue;
        }
        match line.strip_prefix("$ ").filter(|_| inside && !script) {
            Some(command) => {
                script = command == "scripts/try";
                steps.push(Step {
                    line: i + 1,
                    command: command.to_owned(),
                    expected: Vec::new(),
                });
            }
            None if inside => steps.last_mut().unwrap().add(line),
            None => {}
        }
    }
    steps
}

/// The words of a line, without times and rates.
fn words(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| {
        word.chars()
            .all(|c| c.is_ascii_digit() || c == '.' || c == ',')
    };
    let varies =
        |i: usize| is_number(words[i]) && matches!(words.get(i + 1), Some(&("s" | "URL/s")));
    (0..words.len())
        .filter(|&i| !varies(i))
        .map(|i| words[i])
        .collect()
}

/// Whether the output matches the expected lines; `...` matches any number of lines.
fn matches(found: &[&str], expected: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=found.len()).any(|skip| matches(&found[skip..], rest))
        }
        Some((first, rest)) => found
            .split_first()
            .is_some_and(|(line, found)| words(line) == words(first) && matches(found, rest)),
    }
}

fn run(command: &str, dir: &Path, crawl: &Server) -> String {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_robosieve"));
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let out = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(dir)
        .env("PATH", path)
        .env("ROBOSIEVE", binary)
        .env("LC_ALL", "C.UTF-8")
        .env("COMMONCRAWL", &crawl.address)
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn transcripts_match_the_output() {
    let root = checkout();
    let crawl = Server::start();
    let mut wrong = String::new();
    for page in PAGES {
        let dir = tempfile::tempdir().unwrap();
        for shared in ["datasets", "scripts"] {
            std::os::unix::fs::symlink(root.join(shared), dir.path().join(shared)).unwrap();
        }
        let steps = steps(&std::fs::read_to_string(root.join(page)).unwrap());
        assert!(!steps.is_empty(), "{page} shows no commands");
        for step in steps {
            let printed = run(&step.command, dir.path(), &crawl);
            if !matches(&printed.lines().collect::<Vec<_>>(), &step.expected) {
                wrong += &format!(
                    "{page}:{}: $ {}\nprints\n{printed}\n",
                    step.line, step.command
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
