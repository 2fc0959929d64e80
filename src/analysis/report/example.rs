//! One refusal, explained: what a reader can check by hand.

use crate::analysis::report::counts::{ByAgent, parcels};
use crate::analysis::report::model::{Example, RobotsLine};
use crate::analysis::report::rules::TopRules;
use crate::analysis::report::survey::first_origin_of;
use crate::error::Result;
use crate::judge::Verdict;
use crate::judge::engine::Engine;
use rayon::prelude::*;

/// A URL of the lists that is refused to the agent of this number.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
pub(super) fn of_lists(judge: &Engine<'_>, url: &[u8], agent: usize) -> Result<Option<Example>> {
    Ok(explain(judge, url, agent)?.map(|example| Example { from_lists: true, ..example }))
}

/// A URL made up from the rule that most origins have, of the first of these; else the root of an origin that refuses everything.
///
/// # Errors
/// As [`of_lists`].
pub(super) fn of_snapshot(judge: &Engine<'_>, top: &TopRules, counts: &ByAgent) -> Result<Option<Example>> {
    let snapshot = judge.snapshot();
    for (number, having) in counts.rules.iter().enumerate() {
        let Some((file, agent)) = having.first else { continue };
        let Some(row) = first_origin_of(judge, file)? else { continue };
        let url = [snapshot.origin_at(row)?.key(), top.path(number)].concat();
        if let Some(example) = explain(judge, &url, agent)? {
            return Ok(Some(example));
        }
    }
    let refused = parcels(snapshot.origin_count()).map(|mut rows| {
        rows.find_map(|row| match judge.rule_source(row) {
            Ok(held) => held.refused.then_some(Ok(row)),
            Err(err) => Some(Err(err)),
        })
    });
    match refused.find_first(Option::is_some).flatten().transpose()? {
        Some(row) => explain(judge, &[snapshot.origin_at(row)?.key(), b"/"].concat(), 0),
        None => Ok(None),
    }
}

/// Explains why the agent may not fetch the URL; `None` if it may.
fn explain(judge: &Engine<'_>, url: &[u8], agent: usize) -> Result<Option<Example>> {
    let basis = judge.judge(url, &mut judge.scratch())?.reason();
    let why = judge.explain(url, agent)?;
    let Some(name) = judge.agents().get(agent).filter(|_| why.verdict == Verdict::Disallowed) else { return Ok(None) };
    let entry = why.entry.as_ref();
    let lines = |rules: &crate::judge::Explanation| -> Vec<RobotsLine> {
        let line = |(line, text): &(u32, String)| RobotsLine { line: *line, text: text.clone() };
        rules.agent_lines.iter().map(line).collect()
    };
    Ok(Some(Example {
        url: String::from_utf8_lossy(url).into_owned(),
        from_lists: false,
        agent: name.to_string(),
        origin: entry.map(|entry| entry.origin()),
        basis,
        robots_url: entry.map(|entry| entry.source().unwrap_or_else(|| entry.robots_url())),
        status: entry.map_or(0, |entry| entry.outcome().status),
        fetched_at: entry.and_then(|entry| entry.outcome().fetched),
        rule: why
            .rules
            .as_ref()
            .and_then(|rules| rules.deciding.as_ref())
            .map(|rule| RobotsLine { line: rule.line, text: rule.text.clone() }),
        agent_lines: why.rules.as_ref().map(lines).unwrap_or_default(),
        named: why.rules.as_ref().is_some_and(|rules| rules.named.is_some()),
    }))
}
