//! Real robots.txt files and real URLs with expected verdicts. The data is not part of the
//! repository; without it the tests print `SKIPPED` and pass.

use crate::command::checkout;
use crate::snapshots::snapshot_of_robots;
use base64::Engine;
use robosieve::job::{Input, Job, Output};
use robosieve::judge::explain;
use robosieve::robots::reference;
use robosieve::{
    Agent, AgentMatch, Compiler, Judge, JudgeOptions, Origin, Profile, RobotsRef, Snapshot, Verdict,
};
use std::io::Write;
use std::path::PathBuf;

/// Prints to standard error directly: the test harness shows captured output of failures only.
fn notice(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The path of a corpus file. Prints a notice and returns `None` if it is absent.
fn corpus(file: &str) -> Option<PathBuf> {
    let path = checkout().join("../shared/corpus").join(file);
    if path.exists() {
        return Some(path);
    }
    notice(&format!(
        "SKIPPED: the corpus is not present ({file}), so its verdicts were not checked"
    ));
    None
}

#[test]
fn conformance_cases_pass() {
    let Some(path) = corpus("cases.jsonl") else {
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let (mut cases, mut right) = (0, 0);
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let robots = match case["robots"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => base64::engine::general_purpose::STANDARD
                .decode(case["robots_b64"].as_str().unwrap())
                .unwrap(),
        };
        let agent: Agent = case["agent"].as_str().unwrap().parse().unwrap();
        let url = case["url"].as_str().unwrap().as_bytes();
        let expected = case["google"].as_bool().unwrap();
        let slow =
            reference::judge(&robots, &agent, AgentMatch::Google, Profile::Google, url).allowed;
        let parsed = RobotsRef::parse(&robots, Profile::Google);
        // Some cases have texts that are not URLs, on which an explanation has no verdict.
        let explained = match explain(&parsed, &agent, AgentMatch::Google, url).verdict {
            Verdict::Invalid => parsed.allows_with(&agent, AgentMatch::Google, url),
            verdict => verdict == Verdict::Allowed,
        };
        cases += 1;
        if slow == expected
            && explained == expected
            && through_snapshot(&robots, &agent, url).is_none_or(|a| a == expected)
        {
            right += 1;
        } else {
            println!(
                "{}: {url:?} expected {expected}, slow {slow}, explained {explained}",
                case["name"]
            );
        }
    }
    notice(&format!(
        "cases.jsonl: {right} of {cases} equal the reference"
    ));
    assert_eq!(right, cases);
}

/// Judges by a snapshot. `None` if the URL has no host.
fn through_snapshot(robots: &[u8], agent: &Agent, url: &[u8]) -> Option<bool> {
    let origin = Origin::of(url)?;
    let snapshot = snapshot_of_robots(origin.as_str(), robots);
    let judge = Judge::new(
        snapshot.clone(),
        std::slice::from_ref(agent),
        JudgeOptions::default(),
    )
    .unwrap();
    Some(judge.judge(url).unwrap().get(0) == Verdict::Allowed)
}

#[test]
fn archive_urls_have_expected_verdicts() {
    let (Some(warc), Some(urls)) = (corpus("robots.warc.gz"), corpus("urls.tsv")) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.rsieve");
    let mut compiler = Compiler::default();
    compiler.add_path(warc).unwrap();
    compiler.finish().unwrap().write_to(&path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    snapshot.verify().unwrap();
    let agents: Vec<Agent> = ["FooBot", "Googlebot", "GPTBot", "CCBot", "Bingbot"]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
    let expected = std::fs::read(urls).unwrap();
    let lines: Vec<&[u8]> = expected.split_inclusive(|&b| b == b'\n').collect();
    let list: Vec<u8> = lines.iter().flat_map(|line| line[6..].to_vec()).collect();
    let mut out = Vec::new();
    let input = Input::from_reader("urls.tsv", std::io::Cursor::new(list));
    let written = Job::new(&judge).annotate(vec![input], Output::from_writer(&mut out));
    written.unwrap().commit().unwrap();
    let found: Vec<&[u8]> = out.split_inclusive(|&b| b == b'\n').collect();
    let right = lines.iter().zip(&found).filter(|(a, b)| a == b).count();
    notice(&format!("urls.tsv: {right} of {} lines equal", lines.len()));
    assert_eq!((right, found.len()), (lines.len(), lines.len()));
}
