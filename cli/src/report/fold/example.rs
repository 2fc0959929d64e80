//! One explained URL that is disallowed, as an example that a reader can check by hand.

use super::deciding::RefusedUrl;
use super::model::Example;
use super::origin_table::OriginTable;
use super::rules::{RuleCount, TopRules};
use robosieve::robots::RobotsLine;
use robosieve::{Judge, Result, Verdict};

pub(super) fn example_of_lists(judge: &Judge, refused: &RefusedUrl) -> Result<Option<Example>> {
    let example = explain_refusal(judge, &refused.url, refused.agent)?;
    Ok(example.map(|example| Example {
        from_lists: true,
        ..example
    }))
}

/// Explains a URL made from the most frequent rule, at the first origin with this rule. If no such
/// URL is disallowed, explains the root of an origin that the status policy disallows without a
/// rule.
pub(super) fn example_of_snapshot(
    judge: &Judge,
    table: &mut OriginTable,
    top: &TopRules,
    counts: &[RuleCount],
) -> Result<Option<Example>> {
    let url_at = |row: u32, path: &[u8]| -> Result<Vec<u8>> {
        let origin = judge.snapshot().origin_at(row)?.origin();
        Ok([origin.as_bytes(), path].concat())
    };
    for (number, rule) in counts.iter().enumerate() {
        let Some(first) = rule.first else { continue };
        let Some(row) = table.first_of_file(first.file)? else {
            continue;
        };
        // Another rule of the file may allow the path: then try the next rule.
        let example = explain_refusal(judge, &url_at(row, top.path(number))?, first.agent)?;
        if example.is_some() {
            return Ok(example);
        }
    }
    match table.first_disallowed()? {
        Some(row) => explain_refusal(judge, &url_at(row, b"/")?, 0),
        None => Ok(None),
    }
}

/// Explains why the agent may not fetch the URL; `None` if it may.
fn explain_refusal(judge: &Judge, url: &[u8], agent: usize) -> Result<Option<Example>> {
    let reason = judge.judge(url)?.reason();
    let explanation = judge.explain(url, agent)?;
    let Some(name) = judge
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
