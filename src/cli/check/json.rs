//! Answers as JSON. docs/CHECK.md documents the keys: scripts rely on them.

use super::super::time::time;
use super::{CheckAnswer, RobotsSource};
use robosieve::judge::{Explanation, RuleLine, UrlExplanation};
use robosieve::preferences::PreferenceExplanation;
use robosieve::robots::{BodyFacts, LooksLike};
use serde_json::{Map, Value, json};
use std::path::Path;

/// One answer; `all` also lists the rules that do not match.
pub(super) fn object(answer: &CheckAnswer<'_>, all: bool) -> Value {
    let (basis, origin, robots) = match &answer.robots {
        RobotsSource::Snapshot { why } => {
            let origin = why.origin.as_ref().map(|origin| origin.as_str());
            (why.reason.name(), origin.into(), snapshot_facts(why))
        }
        RobotsSource::File { path, body } => ("rules", Value::Null, file_facts(path, body)),
    };
    let rules = answer.rules;
    json!({
        "url": answer.url, "agent": answer.agent.label(), "verdict": answer.verdict.name(), "basis": basis,
        "origin": origin, "robots": robots, "path": rules.map(|why| &why.path), "group": rules.and_then(group),
        "rule": rules.and_then(|why| why.deciding.as_ref()).map(|rule| Value::from(rule_object(rule))),
        "losers": rules.map_or(Vec::new(), |why| losers(why, all)),
        "not_matching": rules.map_or(0, |why| why.losers.iter().filter(|(_, loss)| !loss.is_match()).count()),
        "preferences": preferences(answer.preferences),
    })
}

/// The entry of the origin in the snapshot; null if there is none.
fn snapshot_facts(why: &UrlExplanation<'_>) -> Value {
    let Some(entry) = &why.entry else { return Value::Null };
    let outcome = entry.outcome();
    json!({
        "origin": entry.origin(), "outcome": outcome.class.name(), "status": outcome.status, "hops": outcome.hops,
        "source": entry.source(), "detail": entry.detail(), "cut_short": outcome.cut_short,
        "fetched_at": outcome.fetched.map(time), "first_failure": outcome.first_failure.map(time),
        "max_age": outcome.max_age, "has_last_good": entry.has_last_good(), "via_other_scheme": why.via_other_scheme,
        "past_limit": outcome.past_limit, "looks_like": outcome.looks_like.map(LooksLike::name),
    })
}

fn file_facts(path: &Path, body: &BodyFacts) -> Value {
    json!({
        "file": path.to_string_lossy(), "bytes": body.bytes, "ignored_bytes": body.ignored_bytes,
        "ignored_from_line": body.ignored_from, "looks_like": body.looks_like.map(|other| other.name()),
    })
}

/// The group or groups of the agent; null if there is none.
fn group(why: &Explanation) -> Option<Value> {
    (!why.agent_lines.is_empty()).then(|| json!({ "name": why.named, "lines": lines(&why.agent_lines) }))
}

fn lines(lines: &[(u32, String)]) -> Vec<Value> {
    lines.iter().map(|(line, text)| json!({ "line": line, "text": text })).collect()
}

fn rule_object(rule: &RuleLine) -> Map<String, Value> {
    let fields: [(&str, Value); 5] = [
        ("line", rule.line.into()),
        ("text", rule.text.as_str().into()),
        ("kind", rule.kind.name().into()),
        ("pattern", rule.pattern.as_str().into()),
        ("length", rule.length.into()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn losers(why: &Explanation, all: bool) -> Vec<Value> {
    let shown = why.losers.iter().filter(|(_, loss)| all || loss.is_match());
    let object = |(rule, loss): &(RuleLine, robosieve::judge::Rejection)| {
        let mut object = rule_object(rule);
        object.insert("reason".to_owned(), loss.name().into());
        Value::from(object)
    };
    shown.map(object).collect()
}

fn preferences(why: &PreferenceExplanation) -> Value {
    let said = why.preferences;
    let signals: Map<String, Value> = said.signals.iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    json!({
        "train-ai": said.train_ai.name(), "search": said.search.name(), "content-signal": signals,
        "usage_lines": lines(&why.usage_lines), "signal_lines": lines(&why.signal_lines),
    })
}
