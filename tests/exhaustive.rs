//! Every short rule on every short path: the matcher agrees with the slow reference.
//!
//! Rules and paths are all texts of the four symbols that a matcher treats differently: a character
//! of a path, the slash, `*` and `$`. So each combination of anchors, stars and ties up to these
//! lengths is asked, and not only those that a generator draws. With `ROBOSIEVE_TEST_EXHAUSTIVE=1`
//! the lengths are those of docs/RELIABILITY.md, and the test takes minutes.

use rayon::prelude::*;
use robosieve::judge::Rows;
use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Profile, RobotsRef};

const SYMBOLS: [u8; 4] = *b"a/*$";

/// The most symbols of a rule alone, of each of two rules, and of a path.
struct Lengths {
    rule: usize,
    rule_of_pair: usize,
    path: usize,
}

fn lengths() -> Lengths {
    match std::env::var_os("ROBOSIEVE_TEST_EXHAUSTIVE") {
        Some(_) => Lengths {
            rule: 6,
            rule_of_pair: 3,
            path: 7,
        },
        None => Lengths {
            rule: 4,
            rule_of_pair: 2,
            path: 4,
        },
    }
}

/// All texts of up to this many symbols, the shorter ones first.
fn texts(len: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut longest = texts.clone();
    for _ in 0..len {
        longest = longest
            .iter()
            .flat_map(|text| SYMBOLS.map(|symbol| format!("{text}{}", symbol as char)))
            .collect();
        texts.extend_from_slice(&longest);
    }
    texts
}

/// All paths of up to this many bytes. Each begins with a slash.
fn paths(len: usize) -> Vec<String> {
    texts(len - 1)
        .iter()
        .map(|text| format!("/{text}"))
        .collect()
}

/// The profiles, each of which has rules of its own.
const PROFILES: [Profile; 2] = [Profile::Google, Profile::Rfc9309];

/// Compares the answers to all paths under each text, by both profiles. Returns their number.
fn compare(robots: &[String], paths: &[String]) -> usize {
    robots.par_iter().for_each(|robots| {
        for profile in PROFILES {
            compare_paths(robots, profile, paths);
        }
    });
    robots.len() * PROFILES.len() * paths.len()
}

fn compare_paths(robots: &str, profile: Profile, paths: &[String]) {
    let agent: Agent = "FooBot".parse().unwrap();
    let how = AgentMatch::Extended;
    let rows: Vec<&[u8]> = paths.iter().map(String::as_bytes).collect();
    let parsed = RobotsRef::parse(robots.as_bytes(), profile);
    parsed
        .allows_rows(&agent, how, Rows::Slices(&rows), |row, is_allowed| {
            let expected = reference::judge(robots.as_bytes(), &agent, how, profile, rows[row]);
            assert_eq!(
                is_allowed, expected.allowed,
                "{profile:?}: {robots:?} and {:?}",
                paths[row]
            );
        })
        .unwrap();
}

#[test]
fn every_short_rule_agrees_with_the_reference() {
    let Lengths { rule, path, .. } = lengths();
    let robots: Vec<String> = texts(rule)
        .iter()
        .map(|rule| format!("user-agent: *\ndisallow: {rule}\n"))
        .collect();
    let asked = compare(&robots, &paths(path));
    println!("{asked} questions");
}

#[test]
fn every_pair_of_short_rules_agrees_with_the_reference() {
    let Lengths {
        rule_of_pair, path, ..
    } = lengths();
    let rules: Vec<String> = texts(rule_of_pair)
        .iter()
        .flat_map(|rule| ["allow", "disallow"].map(|key| format!("{key}: {rule}\n")))
        .collect();
    let mut robots = Vec::new();
    for (number, first) in rules.iter().enumerate() {
        for second in &rules[number..] {
            robots.push(format!("user-agent: *\n{first}{second}"));
        }
    }
    let asked = compare(&robots, &paths(path));
    println!("{asked} questions");
}
