//! Checks of user-agent lines and groups.

use crate::crawlers::KnownAgent;
use crate::lint::code::Code;
use crate::lint::finding::{FindingCollector, quote};
use crate::robots::{AgentLine, Robots, field};
use std::collections::HashMap;

/// Fields that belong to a group without being rules.
const GROUP_FIELDS: &[&str] = &["crawl-delay", "request-rate", "visit-time", "content-signal", "content-usage"];

/// Checks the user-agent lines of all groups. `blank_lines` are the numbers of blank lines, sorted.
pub(super) fn check(robots: &Robots<'_>, blank_lines: &[u32], findings: &mut FindingCollector) {
    let mut first_lines = HashMap::new();
    for (index, group) in robots.groups().iter().enumerate() {
        for agent in group.agents() {
            check_name(agent, findings);
            check_repetition(agent, index, &mut first_lines, findings);
        }
        for pair in group.agents().windows(2) {
            check_separation(robots, blank_lines, pair[0].line(), pair[1].line(), findings);
        }
        let has_fields = || {
            let mut fields = robots.other_fields().iter().filter(|field| field.group() == Some(index));
            fields.any(|field| GROUP_FIELDS.contains(&field.name()))
        };
        if let (Some(first), [], false) = (group.agents().first(), group.rules(), has_fields()) {
            let is_new = |agent: &AgentLine<'_>| first_lines.get(name_of(agent)).is_none_or(|use_| use_.group == index);
            add_empty_group(first.line(), group.agents().iter().any(is_new), findings);
        }
    }
}

/// Reports a group without rules. `has_new_names` says whether no earlier group has one of its names.
fn add_empty_group(line: u32, has_new_names: bool, findings: &mut FindingCollector) {
    findings.add(line, Code::EmptyGroup, || match has_new_names {
        true => {
            let message = "no rule follows this user-agent line, so the group allows everything";
            (message.to_owned(), "write `Allow: /` below it if that is meant, or remove the group".to_owned())
        }
        false => {
            let message = "no rule follows this user-agent line, so it adds nothing to earlier groups of its agents";
            (message.to_owned(), "remove the group".to_owned())
        }
    });
}

/// The name of a user-agent line in canonical form, in lower case: groups with equal names apply to
/// the same agents.
pub(super) fn name_of<'a>(agent: &'a AgentLine<'_>) -> &'a [u8] {
    let named = agent.named();
    match (agent.is_global(), &named.extended) {
        (true, _) => b"*",
        (false, Some(extended)) => extended,
        (false, None) => &named.token,
    }
}

/// The value of a user-agent line.
fn value<'a>(agent: &AgentLine<'a>) -> &'a [u8] {
    field::split(agent.text()).map_or(b"", |(_, value)| value)
}

/// The first use of a name.
struct FirstUse {
    line: u32,
    group: usize,
}

fn check_repetition(
    agent: &AgentLine<'_>,
    group: usize,
    first_lines: &mut HashMap<Vec<u8>, FirstUse>,
    findings: &mut FindingCollector,
) {
    let name = name_of(agent);
    if name.is_empty() {
        return;
    }
    let Some(first) = first_lines.get(name) else {
        first_lines.insert(name.to_vec(), FirstUse { line: agent.line(), group });
        return;
    };
    findings.add(agent.line(), Code::RepeatedAgent, || {
        // The name in the spelling of the file: it is the start of the value.
        let (name, line) = (quote(&value(agent)[..name.len().min(value(agent).len())]), first.line);
        if first.group == group {
            return (format!("line {line} names {name} in the same group already"), "remove this line".to_owned());
        }
        let message = format!(
            "line {line} names {name} too: RFC 9309 applies the rules of both groups together, some parsers only the \
             first group"
        );
        (message, format!("move the rules into the group of line {line}"))
    });
}

/// Reports user-agent lines that are one group although something separates them.
fn check_separation(
    robots: &Robots<'_>,
    blank_lines: &[u32],
    previous: u32,
    next: u32,
    findings: &mut FindingCollector,
) {
    let fields = robots.other_fields();
    let field = fields.get(fields.partition_point(|field| field.line() < previous));
    let field = field.filter(|field| field.line() < next);
    let blank = blank_lines.get(blank_lines.partition_point(|line| *line < previous));
    let separator = match (field, blank) {
        (Some(field), _) => format!("the {} of line {}", field.name(), field.line()),
        (None, Some(line)) if *line < next => format!("the blank line {line}"),
        _ => return,
    };
    findings.add(next, Code::JoinedGroups, || {
        let message = format!(
            "this line belongs to the group of line {previous}, whose agents obey the same rules: only a rule ends a \
             list of user-agent lines, {separator} does not"
        );
        let help = format!(
            "remove what separates the lines if one group is meant; otherwise write rules above this line, such as \
             `Allow: /`, for the group of line {previous}"
        );
        (message, help)
    });
}

fn check_name(agent: &AgentLine<'_>, findings: &mut FindingCollector) {
    let value = value(agent);
    let named = agent.named();
    if value.is_empty() {
        return findings.add(agent.line(), Code::EmptyAgent, || {
            let message = "the user-agent line has no value, so it names no crawler".to_owned();
            (message, "write the name of a crawler, or `*` for all".to_owned())
        });
    }
    let rest = &value[named.token.len()..];
    if value == b"*" || rest.is_empty() || is_registered(named.extended.as_deref()) {
        return;
    }
    let is_version = |b: &u8| b.is_ascii_alphanumeric() || b".-_".contains(b);
    if let ([b'/', version @ ..], false) = (rest, named.token.is_empty())
        && version.iter().all(is_version)
    {
        return findings.add(agent.line(), Code::AgentVersion, || {
            let token = &value[..value.len() - rest.len()];
            let message =
                format!("parsers read {} as {}, so the group applies to all versions", quote(value), quote(token));
            (message, format!("write `User-agent: {}`", String::from_utf8_lossy(token)))
        });
    }
    findings.add(agent.line(), Code::AgentName, || describe_name(agent, value));
}

/// Whether the operator of a crawler documents this name, such as `MJ12bot`.
fn is_registered(name: Option<&[u8]>) -> bool {
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    name.is_some_and(|name| KnownAgent::find(name).is_some())
}

fn describe_name(agent: &AgentLine<'_>, value: &[u8]) -> (String, String) {
    let token = &value[..agent.named().token.len()];
    let reading = match (agent.is_global(), token) {
        (true, _) => "parsers read it as `*`".to_owned(),
        (false, b"") => "parsers that follow RFC 9309 find no name in it".to_owned(),
        (false, token) => format!("parsers that follow RFC 9309 read it as {}", quote(token)),
    };
    let help = if agent.is_global() {
        "write `User-agent: *`"
    } else if value.contains(&b',') {
        "write one user-agent line for each crawler"
    } else if value.contains(&b'(') || value.contains(&b';') {
        "write the product token alone, such as `Googlebot`, and not the whole User-Agent header"
    } else if value.contains(&b'*') {
        "write the whole name of each crawler: in a name, `*` is no wildcard"
    } else {
        "write the product token that the crawler's operator documents; it has letters, `-` and `_` only"
    };
    (format!("the name {} has characters other than letters, `-` and `_`: {reading}", quote(value)), help.to_owned())
}
