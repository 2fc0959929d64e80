//! `scripts/x` lists, describes and runs the scripts, and every page names scripts that exist.

use crate::command::checkout;
use std::collections::BTreeSet;
use std::process::{Command, Output};

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

/// The names that `scripts/x` lists.
fn names() -> Option<BTreeSet<String>> {
    let listed = String::from_utf8(x(&[])?.stdout).unwrap();
    let rows = listed.lines().filter_map(|line| line.strip_prefix("  "));
    Some(
        rows.map(|row| row.split_whitespace().next().unwrap().to_owned())
            .collect(),
    )
}

#[test]
fn every_script_is_described_by_its_head() {
    let Some(names) = names() else { return };
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let ran = x(&[&name, "--help"]).unwrap();
        let head = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success() && head.len() > 40, "{name}: {head}");
        let summary = head.split(['.', ':']).next().unwrap();
        assert!(summary.len() < 110, "{name}: shorten its first sentence");
    }
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
    let Some(names) = names() else { return };
    let listed = Command::new("git")
        .args(["ls-files", "*.md", "*.rs", "*.toml", ".ci", "scripts"])
        .current_dir(checkout())
        .output();
    let Ok(listed) = listed else {
        return eprintln!("SKIPPED: git is not installed");
    };
    let mut named = 0;
    for file in String::from_utf8(listed.stdout).unwrap().lines() {
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
                name.is_none_or(|name| names.contains(name)),
                "{file}: there is no script {path}"
            );
        }
    }
    assert!(named > 100, "{named} names of scripts found");
}
