//! Answers as text: one line each, and the explanation below it.

use super::{CheckAnswer, RobotsSource};
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape;
use crate::outcomes::describe_outcome;
use crate::time::time;
use crate::value_enums::ExplainArg;
use robosieve::judge::{Explanation, RejectedRule, Rejection, RuleLine, UrlExplanation};
use robosieve::preferences::{Preference, PreferenceExplanation};
use robosieve::robots::{BodyFacts, LooksLike, RobotsLine, glued_comment_of_line};
use robosieve::snapshot::AnswerInForce;
use robosieve::{Agent, Verdict};
use std::fmt::Write;

/// The verdict, the agent and the URL; preferences for the agent follow as columns.
pub(super) fn headline(out: &mut String, answer: &CheckAnswer<'_>) {
    let verdict = answer.verdict.name();
    let agent = escape(answer.agent.label());
    let _ = write!(out, "{verdict}\t{agent}\t{}", escape(answer.url));
    let preferences = answer.preferences.preferences;
    let usage = [
        ("train-ai", preferences.train_ai),
        ("search", preferences.search),
    ];
    let usage = usage
        .iter()
        .filter(|(_, preference)| matches!(preference, Preference::Yes | Preference::No));
    let usage: Vec<String> = usage
        .map(|(key, preference)| format!("{key}={}", preference.letter()))
        .collect();
    if !usage.is_empty() {
        let _ = write!(out, "\tcontent-usage: {}", usage.join(","));
    }
    if !preferences.signals.is_empty() {
        let _ = write!(out, "\tcontent-signal: {}", preferences.signals);
    }
    let licenses = &answer.preferences.licenses;
    if !licenses.is_empty() {
        let _ = write!(out, "\tlicense: {}", escape(&licenses.join(" ")));
    }
    out.push('\n');
}

/// The source of the robots.txt, the deciding rule, the rules that lost, and the preferences.
pub(super) fn reasons(out: &mut String, answer: &CheckAnswer<'_>, which: ExplainArg) {
    match &answer.robots {
        RobotsSource::Snapshot { explanation } => explain_origin(out, explanation),
        RobotsSource::File { body, .. } => explain_body(out, body),
    }
    match (answer.rules, &answer.robots) {
        (Some(rules), _) if rules.verdict == Verdict::Invalid => row(
            out,
            "path",
            "none: neither a URL with scheme and host nor a path, which begins with /",
        ),
        (Some(rules), _) => {
            explain_rules(out, rules, answer.agent);
            explain_comment(out, rules, &answer.robots);
            explain_losers(out, rules, which);
        }
        (None, RobotsSource::Snapshot { explanation, .. }) if explanation.entry.is_some() => {
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
fn explain_use(out: &mut String, explanation: &PreferenceExplanation) {
    let preferences = explanation.preferences;
    if !explanation.usage_lines.is_empty() {
        // Both are `None` if the agent may not fetch the URL: the lines are there, and do not apply.
        match (preferences.train_ai.name(), preferences.search.name()) {
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
    robots_lines(out, &explanation.usage_lines);
    if !explanation.signal_lines.is_empty() {
        row(
            out,
            "signal",
            if preferences.signals.is_empty() {
                "nothing".to_owned()
            } else {
                preferences.signals.to_string()
            },
        );
    }
    robots_lines(out, &explanation.signal_lines);
    if !explanation.license_lines.is_empty() {
        row(
            out,
            "license",
            if explanation.licenses.is_empty() {
                "none that is an absolute URL".to_owned()
            } else {
                escape(&explanation.licenses.join(" ")).to_string()
            },
        );
    }
    robots_lines(out, &explanation.license_lines);
}

fn robots_lines(out: &mut String, lines: &[RobotsLine]) {
    for RobotsLine { line, text, .. } in lines {
        row(out, "", format!("line {line}: {text}"));
    }
}

fn row(out: &mut String, name: &str, text: impl std::fmt::Display) {
    let _ = writeln!(out, "  {name:<11} {text}");
}

fn explain_origin(out: &mut String, explanation: &UrlExplanation<'_>) {
    let Some(origin) = &explanation.origin else {
        return row(out, "origin", "none: not a URL with scheme and host");
    };
    let Some(entry) = &explanation.entry else {
        let then = match explanation.as_of {
            Some(time_asked) => format!(" as of {}: before its first capture", time(time_asked)),
            None => String::new(),
        };
        return row(
            out,
            "origin",
            format!("{origin} is not in the snapshot{then}"),
        );
    };
    row(out, "origin", entry.origin());
    // The row above has another origin than the URL, so this one says why.
    if explanation.via_other_scheme {
        row(
            out,
            "scheme",
            format!(
                "{origin} is not in the snapshot; the entry of the other scheme is used \
                 (--scheme any)"
            ),
        );
    }
    row(out, "robots.txt", describe_outcome(entry));
    if let Some(answer) = &explanation.in_force {
        row(out, "in force", bounds(answer));
        match &explanation.replaced {
            Some(replaced) => row(
                out,
                "before",
                format!(
                    "{}; {}",
                    describe_outcome(&replaced.entry),
                    bounds(replaced)
                ),
            ),
            None => row(out, "before", "no capture"),
        }
    }
    if explanation.by_last_good {
        row(
            out,
            "copy",
            "the last good one: the site has failed for longer than the policy disallows it",
        );
    }
}

/// The time in which an answer was in force. A capture shows one instant, so the end has two bounds.
fn bounds(answer: &AnswerInForce<'_>) -> String {
    let since = match answer.since {
        Some(since) => format!("since {}", time(since)),
        None => "since an unknown time".to_owned(),
    };
    let seen = match answer.last_seen {
        Some(seen) => format!(", seen unchanged until {}", time(seen)),
        None => String::new(),
    };
    let changed = match answer.changed_at {
        Some(changed) => format!(", found changed at {}", time(changed)),
        None => String::new(),
    };
    format!("{since}{seen}{changed}")
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

fn explain_rules(out: &mut String, explanation: &Explanation, agent: &Agent) {
    // The path in normal form is what the rules below were compared with.
    row(out, "path", &explanation.path);
    let group = match (&explanation.named, explanation.agent_lines.is_empty()) {
        (_, true) if agent.ignores_star() => {
            format!("none names {agent}, which ignores the groups for *: everything is allowed")
        }
        (_, true) => {
            format!("none names {agent}, and there is no global one: everything is allowed")
        }
        (Some(name), _) => format!("names {name}"),
        (None, _) => format!("global: no group names {agent}"),
    };
    row(out, "group", group);
    robots_lines(out, &explanation.agent_lines);
    match &explanation.deciding {
        Some(rule) => row(
            out,
            "rule",
            format!("{} (length {})", rule_text(rule), rule.length),
        ),
        None if explanation
            .losers
            .iter()
            .any(|loser| loser.rejection == Rejection::RobotsTxt) =>
        {
            row(
                out,
                "rule",
                "none: /robots.txt itself may always be fetched",
            );
        }
        None if !explanation.agent_lines.is_empty() => row(out, "rule", "none matches: allowed"),
        None => {}
    }
}

/// The end of the deciding line, if parsers read it as a comment although it looks like a part of
/// the path. A snapshot stores no comments.
fn explain_comment(out: &mut String, explanation: &Explanation, robots: &RobotsSource<'_>) {
    let RobotsSource::File { text, .. } = robots else {
        return;
    };
    let Some(rule) = &explanation.deciding else {
        return;
    };
    if let Some(comment) = glued_comment_of_line(text, rule.line) {
        let comment = String::from_utf8_lossy(comment);
        row(
            out,
            "comment",
            format!("{comment}: a # begins a comment, so this is not a part of the path"),
        );
    }
}

/// The matching rules that lost, and the number of other rules: a group may have thousands.
fn explain_losers(out: &mut String, explanation: &Explanation, which: ExplainArg) {
    for loser in explanation
        .losers
        .iter()
        .filter(|loser| which == ExplainArg::All || loser.rejection.is_match())
    {
        row(
            out,
            "lost",
            format!(
                "{} ({})",
                rule_text(&loser.rule),
                reason(loser, explanation)
            ),
        );
    }
    // Rules that do not match are only counted, unless all are asked for.
    let others = explanation
        .losers
        .iter()
        .filter(|loser| !loser.rejection.is_match())
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

fn reason(loser: &RejectedRule, explanation: &Explanation) -> String {
    let best = explanation.deciding.as_ref().map_or(0, |best| best.length);
    let length = loser.rule.length;
    match loser.rejection {
        Rejection::Shorter => format!("matches, but its length {length} is less than {best}"),
        Rejection::AllowWins => format!("matches with length {length} too, but allow wins"),
        // The others are the same for rules of any length.
        other => other.description().to_owned(),
    }
}
