//! `-h` is a summary, `--help` the whole help, in groups of options.

use crate::command::{VERBS, assert_has, checkout, robosieve};
use std::path::Path;

fn help(args: &[&str]) -> String {
    let ran = robosieve(Path::new("."), args);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""), "{args:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// The headings of a help text, in order.
fn headings(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_suffix(':').filter(|line| !line.starts_with(' ')))
        .collect()
}

#[test]
fn short_help_fits_a_screen() {
    for verb in std::iter::once(None).chain(VERBS.iter().map(Some)) {
        let text = help(&verb.copied().into_iter().chain(["-h"]).collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() <= 40, "{verb:?}: {} lines", lines.len());
        // The usage of clap and the examples do not wrap.
        let is_prose =
            |line: &&&str| !line.starts_with("Usage: ") && !line.starts_with("  robosieve ");
        let long: Vec<&&str> = lines
            .iter()
            .filter(is_prose)
            .filter(|line| line.chars().count() > 100)
            .collect();
        assert!(long.is_empty(), "{verb:?}: {long:?}");
    }
}

#[test]
fn short_help_points_to_the_whole_help() {
    for verb in VERBS
        .iter()
        .filter(|verb| !["completions", "man"].contains(verb))
    {
        let (short, whole) = (help(&[verb, "-h"]), help(&[verb, "--help"]));
        assert_has(&short, &format!("`robosieve {verb} --help` shows "));
        assert!(whole.lines().count() > short.lines().count(), "{verb}");
        assert_eq!(whole, help(&["help", verb]));
    }
}

#[test]
fn inputs_come_first_and_options_are_grouped() {
    let groups = |verb| {
        headings(&help(&[verb, "--help"]))
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let lists = [
        "Arguments",
        "Common",
        "Policy",
        "Input",
        "Many files",
        "Examples",
    ];
    assert_eq!(groups("filter")[..6], lists);
    assert_eq!(groups("annotate")[..6], lists);
    let report = [
        "Arguments",
        "Common",
        "Policy",
        "Units",
        "Input",
        "Output",
        "Many files",
        "Examples",
    ];
    assert_eq!(groups("report")[..8], report);
    let compile = [
        "Arguments",
        "Common",
        "Policy",
        "Input",
        "Output",
        "Memory and temporary files",
        "Examples",
    ];
    assert_eq!(groups("compile")[..7], compile);
    let expected = ["Arguments", "Common", "Policy", "Output", "Examples"];
    assert_eq!(groups("check")[..5], expected);
    let expected = [
        "Common",
        "Synthetic web",
        "Policy",
        "Measurement",
        "Examples",
    ];
    assert_eq!(groups("bench")[..5], expected);
}

#[test]
fn every_verb_names_the_snapshot_with_the_same_option() {
    for verb in [
        "filter", "annotate", "report", "audit", "check", "inspect", "export", "lint", "agents",
        "diff", "due", "bench",
    ] {
        assert!(
            help(&[verb, "-h"]).contains("\n  -s, --snapshot <SNAP> "),
            "{verb}"
        );
    }
}

/// Whether a line of code names an option such as `--field`.
fn names_option(line: &str) -> bool {
    let code = line.split("//").next().unwrap();
    code.match_indices("--").any(|(at, _)| {
        let is_alone = !code[..at].ends_with(|c: char| c.is_alphanumeric());
        is_alone && code[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    })
}

#[test]
fn the_library_names_no_options() {
    let mut found = Vec::new();
    let mut folders = vec![checkout().join("src")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                let named = text
                    .lines()
                    .filter(|line| names_option(line) || line.contains("robosieve compile -"));
                found.extend(named.map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
