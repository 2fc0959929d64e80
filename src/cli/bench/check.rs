//! Compares verdicts of the pipeline with those of the slow reference, on a sample of the list.

use super::subject::Subject;
use anyhow::{Context, ensure};
use robosieve::{AgentMatch, Filter, Input, Judge, Origin, OutcomeClass, Snapshot, reference};
use std::io::Cursor;

/// At most so many lines are compared: the reference rereads the robots.txt for each.
const SAMPLE: usize = 2_000;

/// What was compared; all was equal.
pub(super) struct Checked {
    /// Lines taken from the list.
    pub sampled: usize,
    /// Those of them that rules decide. The others have verdicts by policy, which the reference knows nothing of.
    pub compared: usize,
    /// For each agent the compared lines that it may fetch.
    pub allowed: Vec<usize>,
}

/// Compares; a difference is an error that names the URL.
pub(super) fn compare(
    snapshot: &Snapshot,
    judge: &Judge,
    how: AgentMatch,
    subject: &Subject,
) -> anyhow::Result<Checked> {
    let profile = snapshot.profile()?;
    let lines = sample(&subject.urls);
    let mut annotated = Vec::new();
    let list = Cursor::new(lines.concat());
    Filter::new(judge).annotate(vec![Input::from_reader("sample", list)], &mut annotated)?;
    let mut checked = Checked { sampled: lines.len(), compared: 0, allowed: vec![0; judge.agents().len()] };
    for (line, annotated) in lines.into_iter().zip(annotated.split(|byte| *byte == b'\n')) {
        let url = line.trim_ascii();
        let Some(robots) = robots_of(snapshot, subject, url)? else { continue };
        checked.compared += 1;
        for ((agent, letter), count) in judge.agents().iter().zip(annotated).zip(&mut checked.allowed) {
            let allowed = reference::judge(&robots, agent, how, profile, url).allowed;
            *count += usize::from(allowed);
            ensure!(
                *letter == if allowed { b'A' } else { b'D' },
                "{}: for {agent} the verdict is {}, but the reference says {}: this is a bug, please report it",
                String::from_utf8_lossy(url),
                char::from(*letter),
                if allowed { "A" } else { "D" },
            );
        }
    }
    Ok(checked)
}

/// The robots.txt that a URL's origin obeys, if rules decide there.
fn robots_of(snapshot: &Snapshot, subject: &Subject, url: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(origin) = Origin::of(url) else { return Ok(None) };
    let Some(entry) = snapshot.origin(&origin)? else { return Ok(None) };
    if entry.outcome().class != OutcomeClass::Rules {
        return Ok(None);
    }
    match &subject.web {
        // The text before it was compiled.
        Some(web) => web.robots(origin.as_str()).with_context(|| format!("{origin}: not in the archive")).map(Some),
        None => Ok(snapshot.robots_text(&entry)?),
    }
}

/// Lines spread over a list, with their ends: those at equal distances.
fn sample(list: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut end = 0;
    for step in 0..SAMPLE {
        let place = list.len() * step / SAMPLE;
        if place < end || list.is_empty() {
            continue;
        }
        let start = memchr::memrchr(b'\n', &list[..place]).map_or(0, |before| before + 1);
        end = memchr::memchr(b'\n', &list[place..]).map_or(list.len(), |after| place + after + 1);
        lines.push(&list[start..end]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use robosieve::synthetic::{Web, WebOptions};
    use robosieve::{Compiler, JudgeOptions};
    use std::io::Read;

    /// A web, and a snapshot in which every one of its origins has other rules.
    #[test]
    fn a_wrong_verdict_is_told_with_its_url() {
        let web = Web::new(WebOptions { origins: 100, urls: 500, ..WebOptions::default() });
        let mut urls = String::new();
        web.urls().read_to_string(&mut urls).unwrap();
        let mut wrong = Compiler::default();
        for origin in urls.lines().filter_map(|url| Origin::of(url.as_bytes())) {
            if web.robots(origin.as_str()).is_some() {
                wrong.add_robots(origin.as_str(), b"user-agent: *\ndisallow: /").unwrap();
            }
        }
        let snapshot = Snapshot::new(wrong.finish().unwrap().to_vec().unwrap()).unwrap();
        let judge = Judge::new(&snapshot, &["FooBot".parse().unwrap()], JudgeOptions::default()).unwrap();
        let subject = Subject { name: String::new(), web: Some(web), urls: urls.into_bytes().into() };
        let error = compare(&snapshot, &judge, AgentMatch::default(), &subject).err().unwrap().to_string();
        assert!(error.starts_with("http") && error.contains("the verdict is D, but the reference says A"), "{error}");
    }

    #[test]
    fn a_sample_is_whole_lines_each_once() {
        assert!(sample(b"").is_empty());
        assert_eq!(sample(b"one\n\ntwo\nthree"), [&b"one\n"[..], b"\n", b"two\n", b"three"]);
        let list = "https://e.example/\n".repeat(10_000);
        let lines = sample(list.as_bytes());
        assert!((SAMPLE - 2..=SAMPLE).contains(&lines.len()));
        assert!(lines.iter().all(|line| *line == b"https://e.example/\n"));
    }
}
