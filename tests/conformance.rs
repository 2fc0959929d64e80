//! The table of parsers in `conformance`: each parser has a program and a pinned version, and the
//! documents were made from the newest record.

use crate::command::checkout;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A line of contestants.tsv.
struct Parser {
    name: String,
    language: String,
    kind: String,
    package: String,
    version: String,
}

fn conformance() -> PathBuf {
    checkout().join("conformance")
}

fn read(path: &str) -> String {
    fs::read_to_string(conformance().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn parsers() -> Vec<Parser> {
    let table = read("contestants.tsv");
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let expected = "name\tlanguage\tkind\tpackage\tversion\tdescent\tlicence";
    assert_eq!(lines.next().unwrap(), expected);
    let parser = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, language, kind, package, version, _, _] = fields[..] else {
            panic!("{line}: seven columns expected");
        };
        let [name, language, kind, package, version] =
            [name, language, kind, package, version].map(str::to_owned);
        Parser {
            name,
            language,
            kind,
            package,
            version,
        }
    };
    lines.map(parser).collect()
}

#[test]
fn each_parser_has_a_program() {
    for Parser { name, language, .. } in parsers() {
        let folder = match language.as_str() {
            "C++" => "cpp".to_owned(),
            other => other.to_lowercase(),
        };
        let folder = conformance().join("parsers").join(folder);
        // A Java program has the name of its class, and Google's sources are the only ones in C++.
        let has_own_name = !matches!(language.as_str(), "Java" | "C++");
        let programs = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        assert!(
            programs
                .filter(|path| path.is_file())
                .any(|path| !has_own_name || is_named(&path, &name)),
            "{name}: no program in {}",
            folder.display()
        );
    }
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| stem == name)
}

#[test]
fn each_version_is_pinned() {
    let npm = read("locks/package.json");
    let crates = read("bases/rust/Cargo.toml");
    for Parser {
        name,
        kind,
        package,
        version,
        ..
    } in parsers()
    {
        let is_pinned = match kind.as_str() {
            "pypi" => {
                let lock = read(&format!("locks/{package}.txt"));
                // pip writes the normalised name.
                let name = package.to_lowercase().replace(['.', '_'], "-");
                let pin = format!("{name}=={version} ");
                lock.lines().any(|line| line.starts_with(&pin)) && lock.contains("--hash=sha256:")
            }
            "npm" => npm.contains(&format!("\"{package}\": \"{version}\"")),
            "crates" => crates.contains(&format!("{package} = {{ version = \"={version}\"")),
            // A commit, or a tag with a number.
            "git" => version.bytes().any(|b| b.is_ascii_digit()),
            // What the system has.
            "debian" | "standard-library" | "project" => true,
            other => panic!("{name}: unknown kind {other}"),
        };
        assert!(is_pinned, "{name}: {package} {version}");
    }
}

#[test]
fn lock_files_name_no_address_of_a_package() {
    for file in fs::read_dir(conformance().join("locks")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for word in ["index-url", "find-links", "\"resolved\""] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}

#[test]
fn documents_are_of_the_newest_record() {
    let records = fs::read_dir(conformance().join("record")).unwrap();
    let newest = records.map(|entry| entry.unwrap().path()).max().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&fs::read(&newest).unwrap()).unwrap();
    let questions = record["sha256"].as_str().unwrap();
    for document in ["docs/CONFORMANCE.md", "docs/conformance.html"] {
        let text = fs::read_to_string(checkout().join(document)).unwrap();
        assert!(
            text.contains(questions),
            "{document}: run conformance/run --page"
        );
    }
    let document = fs::read_to_string(checkout().join("docs/CONFORMANCE.md")).unwrap();
    for row in record["contestants"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        assert!(
            document.contains(name),
            "docs/CONFORMANCE.md has no row of {name}"
        );
    }
}

/// The part of a text between two others.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn the_documentation_lists_the_packages_of_debian() {
    let program = read("harness/contestants.py");
    let documentation = read("README.md");
    // A line of the program: `    "Go": "golang-go",`.
    let listed = between(&program, "\nDEBIAN = {\n", "\n}\n");
    let needed: BTreeSet<&str> = listed
        .lines()
        .flat_map(|line| line.split('"').nth(3).unwrap().split(' '))
        .collect();
    let command = between(&documentation, "apt-get install ", "```");
    let documented: BTreeSet<&str> = command
        .split_whitespace()
        .filter(|word| *word != "\\")
        .collect();
    assert_eq!(documented, needed);
}
