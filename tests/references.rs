//! The documentation names files and scripts that exist, and `scripts/x` describes each script.

use crate::command::{checkout, rust_files};
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// The tracked files of some patterns. Empty, with a notice, without git.
fn tracked(patterns: &[&str]) -> Vec<String> {
    let mut command = Command::new("git");
    command
        .arg("ls-files")
        .args(patterns)
        .current_dir(checkout());
    let listed = command.output().map(|ran| ran.stdout).unwrap_or_default();
    if listed.is_empty() {
        eprintln!("SKIPPED: this is not a git checkout");
    }
    let listed = String::from_utf8(listed).unwrap();
    listed.lines().map(str::to_owned).collect()
}

/// Runs `scripts/x`. `None` without Python.
fn x(args: &[&str]) -> Option<Output> {
    let mut command = Command::new("python3");
    let ran = command
        .arg(checkout().join("scripts/x"))
        .args(args)
        .output();
    if ran.is_err() {
        eprintln!("SKIPPED: python3 is not installed");
    }
    ran.ok()
}

/// The scripts that `scripts/x` lists: a name and a summary each.
fn scripts() -> Option<BTreeMap<String, String>> {
    let listed = String::from_utf8(x(&[])?.stdout).unwrap();
    let rows = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let scripts = rows.map(|row| row.split_once(' ').unwrap());
    Some(
        scripts
            .map(|(name, summary)| (name.to_owned(), summary.trim().to_owned()))
            .collect(),
    )
}

#[test]
fn scripts_are_described_by_their_heads() {
    let Some(scripts) = scripts() else { return };
    assert!(scripts.len() > 30, "{scripts:?}");
    for (name, summary) in &scripts {
        assert!(
            (20..100).contains(&summary.len()),
            "{name}: its first sentence is {summary:?}"
        );
    }
    let ran = x(&["fuzz", "--help"]).unwrap();
    let head = String::from_utf8(ran.stdout).unwrap();
    let is_whole = head.starts_with(&scripts["fuzz"]) && head.contains("--coverage");
    assert!(ran.status.success() && is_whole, "{head}");
}

#[test]
fn an_unknown_script_names_the_nearest() {
    let Some(ran) = x(&["fuz"]) else { return };
    let message = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{message}");
    assert!(message.contains("did you mean fuzz?"), "{message}");
}

#[test]
fn scripts_in_the_documentation_exist() {
    let Some(scripts) = scripts() else { return };
    let files = tracked(&["*.md", "*.rs", "*.toml", ".ci", "scripts"]);
    let mut named = 0;
    for file in &files {
        // A file that is deleted and not yet committed.
        let Ok(text) = std::fs::read_to_string(checkout().join(file)) else {
            continue;
        };
        for after in text.split("scripts/").skip(1) {
            let is_part = |c: char| !(c.is_alphanumeric() || "-_./ ".contains(c));
            let path = after.split(is_part).next().unwrap();
            let mut words = path.split(' ');
            let script = words.next().unwrap().trim_end_matches('.');
            let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
            let command = words.next().filter(is_name).filter(|_| script == "x");
            let name = command.map(|name| name.trim_end_matches('.'));
            named += usize::from(name.is_some());
            assert!(
                name.is_none_or(|name| scripts.contains_key(name)),
                "{file}: there is no script {path}"
            );
        }
    }
    assert!(
        files.is_empty() || named > 100,
        "{named} names of scripts found"
    );
}

#[test]
fn source_files_in_the_documentation_exist() {
    let folders = [
        "src",
        "cli/src",
        "tests",
        "benches",
        "examples",
        "fuzz",
        "python/src",
        "synthetic/src",
        "web/src",
    ];
    let files: Vec<_> = folders
        .iter()
        .flat_map(|folder| rust_files(&checkout().join(folder)))
        .collect();
    for page in tracked(&["*.md"]) {
        let Ok(text) = std::fs::read_to_string(checkout().join(&page)) else {
            continue;
        };
        let names = text.split('`').skip(1).step_by(2);
        for name in names.filter(|name| name.ends_with(".rs") && !name.contains("VERB")) {
            assert!(
                files.iter().any(|file| file.ends_with(name)),
                "{page}: there is no {name}"
            );
        }
    }
}
