//! Documentation tests for the command line: runs the blocks of the pages and compares the output.
//!
//! - In a `console` block, the shell runs each line `$ COMMAND` together with the lines `> MORE` that
//!   follow it. The lines up to the next command are the expected output.
//! - An `sh` block of the README has no prompts, so that a reader can copy it. The shell runs it as a
//!   whole, without the lines that install something. A `text` block that follows has the expected
//!   output; without one, the commands print nothing.
//!
//! Output is standard output and standard error. A line `...` matches any number of lines. Times and
//! rates are ignored, and a run of blanks equals one blank. Downloads come from a local server with
//! the layout of Common Crawl.

use crate::command::checkout;
use crate::commoncrawl::Server;
use crate::test_dir::TestDir;
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

/// The `sh` blocks of a page without prompts, each with the `text` block that follows it.
fn copied_steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block = "";
    // Whether a `text` block belongs to the last `sh` block: only blank lines are between them.
    let mut is_followed = false;
    for (i, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            if block.is_empty() {
                block = language;
                if block == "sh" {
                    steps.push(Step {
                        line: i + 2,
                        command: String::new(),
                        expected: Vec::new(),
                    });
                }
            } else {
                is_followed = block == "sh";
                block = "";
            }
            continue;
        }
        match block {
            "sh" if line.starts_with("cargo install ") => {}
            "sh" => steps.last_mut().unwrap().command += &format!("{line}\n"),
            "text" if is_followed => steps.last_mut().unwrap().expected.push(line.to_owned()),
            "" if !line.is_empty() => is_followed = false,
            _ => {}
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
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let steps = match page {
            &"README.md" => copied_steps(&text),
            _ => steps(&text),
        };
        assert!(!steps.is_empty(), "{page} shows no commands");
        for step in steps {
            let printed = run(&step.command, dir.path(), &crawl);
            if !matches(&printed.lines().collect::<Vec<_>>(), &step.expected) {
                wrong += &format!(
                    "{page}:{}: {}\nprints\n{printed}\n",
                    step.line, step.command
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The code of the README in Rust, with another path of the snapshot.
fn judge_as_the_readme_does(web: &Path) -> Result<(), Box<dyn std::error::Error>> {
    use robosieve::{Agent, Judge, JudgeOptions, Snapshot, Verdict};

    let agents: [Agent; 2] = ["GPTBot".parse()?, "MyBot".parse()?];
    let judge = Judge::new(Snapshot::open(web)?, &agents, JudgeOptions::default())?;
    let verdicts = judge.judge(b"https://news.example/world/")?;
    assert_eq!(
        [verdicts.get(0), verdicts.get(1)],
        [Verdict::Disallowed, Verdict::Allowed]
    );
    Ok(())
}

/// A text without the blanks and line ends that depend on the width of lines.
fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn the_rust_code_of_the_readme_runs() {
    let dir = TestDir::new();
    dir.compile_small("web.rsieve");
    judge_as_the_readme_does(&dir.path("web.rsieve")).unwrap();
    let readme = std::fs::read_to_string(checkout().join("README.md")).unwrap();
    let (_, code) = readme.split_once("```rust\n").unwrap();
    let (code, _) = code.split_once("```").unwrap();
    let tested = include_str!("transcripts.rs");
    let (_, tested) = tested.split_once("dyn std::error::Error>> {\n").unwrap();
    let (tested, _) = tested.split_once("    Ok(())\n").unwrap();
    assert_eq!(
        without_blanks(&code.replace("\"web.rsieve\"", "web")),
        without_blanks(tested)
    );
}
