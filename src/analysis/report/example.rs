//! One explained URL that is disallowed, as an example that a reader can check by hand.

use crate::analysis::report::counts::AgentCounts;
use crate::analysis::report::deciding::RefusedUrl;
use crate::analysis::report::model::Example;
use crate::analysis::report::rules::TopRules;
use crate::error::Result;
use crate::file_pass::find_origin;
use crate::judge::Verdict;
use crate::judge::engine::Engine;
use crate::robots::RobotsLine;

pub(super) fn example_of_lists(
    engine: &Engine<'_>,
    refused: &RefusedUrl,
) -> Result<Option<Example>> {
    let example = explain_refusal(engine, &refused.url, refused.agent)?;
    Ok(example.map(|example| Example {
        from_lists: true,
        ..example
    }))
}

/// Explains a URL made from the most frequent rule, at the first origin with this rule. If no such
/// URL is disallowed, explains the root of an origin that the status policy disallows without a
/// rule.
pub(super) fn example_of_snapshot(
    engine: &Engine<'_>,
    top: &TopRules,
    counts: &AgentCounts,
) -> Result<Option<Example>> {
    let snapshot = engine.snapshot();
    for (number, rule) in counts.rules.iter().enumerate() {
        let Some(first) = rule.first else { continue };
        let Some(row) = find_origin(engine, |source| source.file == Some(first.file))? else {
            continue;
        };
        let url = [snapshot.origin_at(row)?.key(), top.path(number)].concat();
        // Another rule of the file may allow the path: then try the next rule.
        if let Some(example) = explain_refusal(engine, &url, first.agent)? {
            return Ok(Some(example));
        }
    }
    match find_origin(engine, |source| source.refused)? {
        Some(row) => explain_refusal(engine, &[snapshot.origin_at(row)?.key(), b"/"].concat(), 0),
        None => Ok(None),
    }
}

/// Explains why the agent may not fetch the URL; `None` if it may.
fn explain_refusal(engine: &Engine<'_>, url: &[u8], agent: usize) -> Result<Option<Example>> {
    let reason = engine.judge(url, &mut engine.scratch())?.reason();
    let explanation = engine.explain(url, agent)?;
    let Some(name) = engine
        .agents()
        .get(agent)
        .filter(|_| explanation.verdict == Verdict::Disallowed)
    else {
        return Ok(None);
    };
    // Without an entry the origin is unknown, and without rules the status policy disallows the
    // URL.
    let entry = explanation.entry.as_ref();
    let rules = explanation.rules.as_ref();
    let rule = rules.and_then(|rules| rules.deciding.as_ref());
    Ok(Some(Example {
        url: String::from_utf8_lossy(url).into_owned(),
        from_lists: false,
        agent: name.to_string(),
        origin: entry.map(|entry| entry.origin()),
        reason,
        robots_url: entry.map(|entry| entry.source().unwrap_or_else(|| entry.robots_url())),
        status: entry.map_or(0, |entry| entry.outcome().status),
        fetched_at: entry.and_then(|entry| entry.outcome().fetched),
        rule: rule.map(|rule| RobotsLine::new(rule.line, rule.text.as_str())),
        agent_lines: rules
            .into_iter()
            .flat_map(|rules| &rules.agent_lines)
            .cloned()
            .collect(),
        named: rules.is_some_and(|rules| rules.named.is_some()),
    }))
}
