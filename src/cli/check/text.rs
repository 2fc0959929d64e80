//! Answers as text: one line each, and the explanation below it.

use super::super::figures::counts::{counted, grouped};
use super::super::figures::escape::escape;
use super::super::outcomes::describe_outcome;
use super::super::value_enums::ExplainArg;
use super::{CheckAnswer, RobotsSource};
use robosieve::Agent;
use robosieve::judge::{Explanation, Rejection, RuleLine, UrlExplanation};
use robosieve::preferences::{Preference, PreferenceExplanation};
use robosieve::robots::{BodyFacts, LooksLike};
use std::fmt::Write;

/// The verdict, the agent and the URL; preferences for the agent follow as columns.
pub(super) fn headline(out: &mut String, answer: &CheckAnswer<'_>) {
    let (verdict, agent) = (answer.verdict.name(), escape(answer.agent.label()));
    let _ = write!(out, "{verdict}\t{agent}\t{}", escape(answer.url));
    let said = answer.preferences.preferences;
    let usage = [("train-ai", said.train_ai), ("search", said.search)];
    let usage = usage
        .iter()
        .filter(|(_, preference)| matches!(preference, Preference::Yes | Preference::No));
    let usage: Vec<String> = usage
        .map(|(key, preference)| format!("{key}={}", preference.letter()))
        .collect();
    if !usage.is_empty() {
        let _ = write!(out, "\tcontent-usage: {}", usage.join(","));
    }
    if !said.signals.is_empty() {
        let _ = write!(out, "\tcontent-signal: {}", said.signals);
    }
    out.push('\n');
}

/// The source of the robots.txt, the deciding rule, the rules that lost, and the preferences.
pub(super) fn reasons(out: &mut String, answer: &CheckAnswer<'_>, which: ExplainArg) {
    match &answer.robots {
        RobotsSource::Snapshot { why } => explain_origin(out, why),
        RobotsSource::File { body, .. } => explain_body(out, body),
    }
    match (answer.rules, &answer.robots) {
        (Some(rules), _) => {
            explain_rules(out, rules, answer.agent);
            explain_losers(out, rules, which);
        }
        (None, RobotsSource::Snapshot { why, .. }) if why.entry.is_some() => {
            row(
                out,
                "because",
                format!(
                    "the outcome decides, not a rule: all URLs are {}",
                    answer.verdict.name()
                ),
            );
        }
        _ => {}
    }
    explain_use(out, answer.preferences);
}

/// The preferences, and their lines.
fn explain_use(out: &mut String, why: &PreferenceExplanation) {
    let said = why.preferences;
    if !why.usage_lines.is_empty() {
        match (said.train_ai.name(), said.search.name()) {
            (Some(train_ai), Some(search)) => row(
                out,
                "usage",
                format!("train-ai {train_ai}, search {search}"),
            ),
            _ => row(
                out,
                "usage",
                "does not apply: the agent may not fetch the URL",
            ),
        }
    }
    for (line, text) in &why.usage_lines {
        row(out, "", format!("line {line}: {text}"));
    }
    if !why.signal_lines.is_empty() {
        row(
            out,
            "signal",
            if said.signals.is_empty() {
                "nothing".to_owned()
            } else {
                said.signals.to_string()
            },
        );
    }
    for (line, text) in &why.signal_lines {
        row(out, "", format!("line {line}: {text}"));
    }
}

fn row(out: &mut String, name: &str, text: impl std::fmt::Display) {
    let _ = writeln!(out, "  {name:<11} {text}");
}

fn explain_origin(out: &mut String, why: &UrlExplanation<'_>) {
    let Some(origin) = &why.origin else {
        return row(out, "origin", "none: not a URL with scheme and host");
    };
    let Some(entry) = &why.entry else {
        return row(out, "origin", format!("{origin} is not in the snapshot"));
    };
    row(out, "origin", entry.origin());
    if why.via_other_scheme {
        row(
            out,
            "scheme",
            format!(
                "{origin} is not in the snapshot; the entry of the other scheme is used (--scheme any)"
            ),
        );
    }
    row(out, "robots.txt", describe_outcome(entry));
    if why.by_last_good {
        row(
            out,
            "copy",
            "the last good one: the site has failed for 30 days or more",
        );
    }
}

/// The parts of a file that are ignored or not understood.
fn explain_body(out: &mut String, body: &BodyFacts) {
    match body.looks_like {
        Some(LooksLike::Html) => row(
            out,
            "file",
            "looks like HTML, not like a robots.txt: only lines of known fields count",
        ),
        Some(LooksLike::Utf16) => row(
            out,
            "file",
            "looks like UTF-16; a robots.txt is UTF-8, so no line is understood",
        ),
        _ => {}
    }
    if let Some(line) = body.ignored_from {
        let [bytes, ignored] = [body.bytes, body.ignored_bytes].map(|count| grouped(count as u64));
        let text = format!(
            "{bytes} bytes; the last {ignored}, from line {} on, are past 500 KiB and ignored",
            grouped(line.into())
        );
        row(out, "file", text);
    }
}

fn explain_rules(out: &mut String, why: &Explanation, agent: &Agent) {
    row(out, "path", &why.path);
    let group = match (&why.named, why.agent_lines.is_empty()) {
        (_, true) => {
            format!("none names {agent}, and there is no global one: everything is allowed")
        }
        (Some(name), _) => format!("names {name}"),
        (None, _) => format!("global: no group names {agent}"),
    };
    row(out, "group", group);
    for (line, text) in &why.agent_lines {
        row(out, "", format!("line {line}: {text}"));
    }
    match &why.deciding {
        Some(rule) => row(
            out,
            "rule",
            format!("{} (length {})", rule_text(rule), rule.length),
        ),
        None if why
            .losers
            .iter()
            .any(|(_, loss)| *loss == Rejection::RobotsTxt) =>
        {
            row(
                out,
                "rule",
                "none: /robots.txt itself may always be fetched",
            );
        }
        None if !why.agent_lines.is_empty() => row(out, "rule", "none matches: allowed"),
        None => {}
    }
}

/// The matching rules that lost, and the number of other rules: a group may have thousands.
fn explain_losers(out: &mut String, why: &Explanation, which: ExplainArg) {
    for (rule, loss) in why
        .losers
        .iter()
        .filter(|(_, loss)| which == ExplainArg::All || loss.is_match())
    {
        row(
            out,
            "lost",
            format!("{} ({})", rule_text(rule), reason(*loss, rule, why)),
        );
    }
    let others = why
        .losers
        .iter()
        .filter(|(_, loss)| !loss.is_match())
        .count();
    if which == ExplainArg::Matching && others > 0 {
        let rules = counted(others as u64, "rule");
        let verb = if others == 1 { "does" } else { "do" };
        row(
            out,
            "others",
            format!("{rules} {verb} not match (--explain=all lists them)"),
        );
    }
}

fn rule_text(rule: &RuleLine) -> String {
    format!("line {}: {}", rule.line, rule.text)
}

fn reason(loss: Rejection, rule: &RuleLine, why: &Explanation) -> String {
    let best = why.deciding.as_ref().map_or(0, |best| best.length);
    match loss {
        Rejection::NoMatch => "does not match".to_owned(),
        Rejection::Empty => "has no path, so it has no effect".to_owned(),
        Rejection::Shorter => format!(
            "matches, but its length {} is less than {best}",
            rule.length
        ),
        Rejection::AllowWins => format!("matches with length {} too, but allow wins", rule.length),
        Rejection::Same => "matches too, with the same verdict".to_owned(),
        Rejection::RobotsTxt => "matches, but /robots.txt itself may always be fetched".to_owned(),
    }
}
