//! Compares verdicts of the pipeline with those of the slow reference, on a sample of the list.

use crate::Web;
use anyhow::{Context, ensure};
use robosieve::job::{Input, Job, Output};
use robosieve::robots::reference;
use robosieve::snapshot::OutcomeClass;
use robosieve::{AgentMatch, Judge, Origin, Snapshot};
use std::io::Cursor;

/// The most lines that are compared: the reference parses the robots.txt once per line.
const SAMPLE: usize = 2_000;

/// The counts of a comparison without differences.
pub struct ReferenceCheck {
    /// The sampled lines of the list.
    pub sampled: usize,
    /// The sampled lines that rules decide. The reference does not implement the policies, which
    /// decide the others.
    pub compared: usize,
    /// Per agent, the compared lines that it may fetch.
    pub allowed: Vec<usize>,
}

/// Compares a sample of the verdicts on a list with the reference. `web` is the synthetic web of the
/// snapshot, if it is one: then the reference reads its files, not those of the snapshot.
///
/// # Errors
/// If a verdict differs; the error names the URL.
pub fn compare(
    snapshot: &Snapshot,
    judge: &Judge,
    agent_match: AgentMatch,
    urls: &[u8],
    web: Option<&Web>,
) -> anyhow::Result<ReferenceCheck> {
    let profile = snapshot.profile()?;
    let lines = sample(urls);
    let mut annotated = Vec::new();
    let list = Cursor::new(lines.concat());
    let output = Output::from_writer(&mut annotated);
    Job::new(judge)
        .annotate(vec![Input::from_reader("sample", list)], output)?
        .commit()?;
    // Without the robots.txt of its origin, a line has a verdict by the status policy, which the
    // reference does not know.
    let mut checked = ReferenceCheck {
        sampled: lines.len(),
        compared: 0,
        allowed: vec![0; judge.agents().len()],
    };
    for (line, annotated) in lines
        .into_iter()
        .zip(annotated.split(|byte| *byte == b'\n'))
    {
        let url = line.trim_ascii();
        let Some(robots) = robots_of(snapshot, web, url)? else {
            continue;
        };
        checked.compared += 1;
        for ((agent, letter), count) in judge
            .agents()
            .iter()
            .zip(annotated)
            .zip(&mut checked.allowed)
        {
            let allowed = reference::judge(&robots, agent, agent_match, profile, url).allowed;
            *count += usize::from(allowed);
            ensure!(
                *letter == if allowed { b'A' } else { b'D' },
                "{}: for {agent} the verdict is {}, but the reference says {}: this is a bug, \
                 please report it",
                String::from_utf8_lossy(url),
                char::from(*letter),
                if allowed { "A" } else { "D" },
            );
        }
    }
    Ok(checked)
}

/// The robots.txt of a URL's origin, if rules decide there.
fn robots_of(
    snapshot: &Snapshot,
    web: Option<&Web>,
    url: &[u8],
) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(origin) = Origin::of(url) else {
        return Ok(None);
    };
    let Some(entry) = snapshot.origin(&origin)? else {
        return Ok(None);
    };
    if entry.outcome().class != OutcomeClass::Rules {
        return Ok(None);
    }
    match web {
        Some(web) => web
            .robots(origin.as_str())
            .with_context(|| format!("{origin}: not in the archive"))
            .map(Some),
        None => Ok(snapshot.robots_text(&entry)?),
    }
}

/// Lines at equal distances in a list, with their line ends.
fn sample(list: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut end = 0;
    for step in 0..SAMPLE {
        let position = list.len() * step / SAMPLE;
        if position < end || list.is_empty() {
            continue;
        }
        let start = memchr::memrchr(b'\n', &list[..position]).map_or(0, |newline| newline + 1);
        end = memchr::memchr(b'\n', &list[position..])
            .map_or(list.len(), |newline| position + newline + 1);
        lines.push(&list[start..end]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebOptions;
    use robosieve::{Compiler, JudgeOptions};
    use std::io::Read;

    /// The snapshot has wrong rules for every origin of the web.
    #[test]
    fn a_wrong_verdict_names_its_url() {
        let web = Web::new(WebOptions::default().origins(100).urls(500));
        let mut urls = String::new();
        web.urls().read_to_string(&mut urls).unwrap();
        let mut wrong = Compiler::default();
        for origin in urls.lines().filter_map(|url| Origin::of(url.as_bytes())) {
            if web.robots(origin.as_str()).is_some() {
                wrong
                    .add_robots(origin.as_str(), b"user-agent: *\ndisallow: /")
                    .unwrap();
            }
        }
        let snapshot = Snapshot::new(wrong.finish().unwrap().to_vec().unwrap()).unwrap();
        let judge = Judge::new(
            &snapshot,
            &["FooBot".parse().unwrap()],
            JudgeOptions::default(),
        )
        .unwrap();
        let checked = compare(
            &snapshot,
            &judge,
            AgentMatch::default(),
            urls.as_bytes(),
            Some(&web),
        );
        let error = checked.err().unwrap().to_string();
        assert!(
            error.starts_with("http")
                && error.contains("the verdict is D, but the reference says A"),
            "{error}"
        );
    }

    #[test]
    fn samples_are_distinct_whole_lines() {
        assert!(sample(b"").is_empty());
        assert_eq!(
            sample(b"one\n\ntwo\nthree"),
            [&b"one\n"[..], b"\n", b"two\n", b"three"]
        );
        let list = "https://e.example/\n".repeat(10_000);
        let lines = sample(list.as_bytes());
        assert!((SAMPLE - 2..=SAMPLE).contains(&lines.len()));
        assert!(lines.iter().all(|line| *line == b"https://e.example/\n"));
    }
}
