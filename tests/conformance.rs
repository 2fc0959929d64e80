//! The table of parsers in `conformance`: each parser has a program and a pinned version, and the
//! documents were made from the newest record.

use crate::command::checkout;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use robosieve::{Agent, AgentMatch, Profile, RobotsRef};
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

/// The levels of the kit.
const LEVELS: [&str; 4] = ["core", "full", "hostile", "time"];

fn kit(level: &str) -> serde_json::Value {
    serde_json::from_str(&read(&format!("kit/{level}.json"))).unwrap()
}

/// The robots.txt of a case, in whichever form it is written.
fn robots_of(case: &serde_json::Value) -> Vec<u8> {
    if let Some(text) = case["robots"].as_str() {
        return text.into();
    }
    if let Some(text) = case["robots_base64"].as_str() {
        return STANDARD.decode(text).unwrap();
    }
    let mut robots = String::new();
    for part in case["robots_parts"].as_array().unwrap() {
        let times = part[1].as_u64().unwrap() as usize;
        robots += &part[0].as_str().unwrap().repeat(times);
    }
    robots.into_bytes()
}

#[test]
fn both_profiles_give_the_answers_of_the_kit() {
    let mut asked = 0;
    for level in LEVELS {
        for case in kit(level)["cases"].as_array().unwrap() {
            let robots = robots_of(case);
            let rfc = RobotsRef::parse(&robots, Profile::Rfc9309);
            let google = RobotsRef::parse(&robots, Profile::Google);
            for test in case["tests"].as_array().unwrap() {
                let agent: Agent = test["agent"].as_str().unwrap().parse().unwrap();
                let url = test["url"].as_str().unwrap().as_bytes();
                let expected = test["allowed"].as_bool().unwrap();
                let by_rfc = rfc.allows_with(&agent, AgentMatch::Extended, url);
                assert_eq!(by_rfc, expected, "{}: {test}", case["id"]);
                let by_google = google.allows_with(&agent, AgentMatch::Google, url);
                let expected = test["google"].as_bool().unwrap_or(expected);
                assert_eq!(by_google, expected, "{}: {test}", case["id"]);
                asked += 1;
            }
        }
    }
    assert!(asked > 3_000, "{asked}");
}

#[test]
fn the_kit_is_described() {
    let readme = read("kit/README.md");
    let sums = read("kit/SHA256SUMS");
    let mut bytes = 0;
    let mut ids = BTreeSet::new();
    for level in LEVELS {
        bytes += read(&format!("kit/{level}.json")).len();
        assert!(sums.contains(&format!("  {level}.json")), "{level}");
        let kit = kit(level);
        let cases = kit["cases"].as_array().unwrap();
        let questions = cases
            .iter()
            .map(|case| case["tests"].as_array().unwrap().len());
        let questions: usize = questions.sum();
        let row = format!("| `{level}.json` | {questions} |");
        assert!(
            readme.replace(',', "").contains(&row),
            "kit/README.md has no {row}"
        );
        for case in cases {
            assert!(
                ids.insert((level, case["id"].to_string())),
                "{}",
                case["id"]
            );
            for key in ["category", "source", "licence"] {
                assert!(case[key].is_string(), "{}: {key}", case["id"]);
            }
            if level == "core" {
                assert!(case["clause"].is_string(), "{}", case["id"]);
                let tests = case["tests"].as_array().unwrap();
                assert!(
                    tests.iter().all(|test| test["google"].is_null()),
                    "{}",
                    case["id"]
                );
            }
        }
    }
    assert!(bytes < 2_000_000, "{bytes}");
}
