//! Checks of groups: repeated agents, user-agent lines that something separates, empty groups.

use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::profile::Profile;
use crate::robots::{AgentLine, Group, RobotsRef, field};
use std::collections::HashMap;

/// Fields that belong to a group without being rules.
pub(super) const GROUP_FIELDS: &[&str] = &[
    "crawl-delay",
    "request-rate",
    "visit-time",
    "content-signal",
    "content-usage",
];

/// Checks all groups. `blank_lines` are the numbers of blank lines, sorted.
pub(super) fn check(robots: &RobotsRef<'_>, blank_lines: &[u32], findings: &mut FindingCollector) {
    let mut first_lines = HashMap::new();
    for (index, group) in robots.groups().iter().enumerate() {
        for agent in group.agents() {
            check_repetition(agent, index, &mut first_lines, findings);
        }
        for pair in group.agents().windows(2) {
            check_separation(
                robots,
                blank_lines,
                pair[0].line(),
                pair[1].line(),
                findings,
            );
        }
        // A group without rules may still be there for another field, such as a crawl delay.
        if group.rules().is_empty() && !has_group_fields(robots, index) {
            let has_new_names = group.agents().iter().any(|agent| {
                first_lines
                    .get(name_of(agent))
                    .is_none_or(|first| first.group == index)
            });
            add_empty_group(group, has_new_names, findings);
        }
    }
}

/// Reports a group without rules. `has_new_names` says whether no earlier group has one of its
/// names.
fn add_empty_group(group: &Group<'_>, has_new_names: bool, findings: &mut FindingCollector) {
    let Some(first) = group.agents().first() else {
        return;
    };
    findings.add_fixable(first.line(), Code::EmptyGroup, || match has_new_names {
        true => FindingTexts {
            message: "no rule follows this user-agent line, so the group allows everything"
                .to_owned(),
            help: "write `Allow: /` below it if that is meant, or remove the group".to_owned(),
            fix: None,
        },
        false => FindingTexts {
            message: "no rule follows this user-agent line, so it adds nothing to earlier groups \
                      of its agents"
                .to_owned(),
            help: "remove the group".to_owned(),
            fix: Some(LineFix {
                is_safe: true,
                edits: group
                    .agents()
                    .iter()
                    .map(|agent| LineEdit::Remove { line: agent.line() })
                    .collect(),
            }),
        },
    });
}

/// The name of a user-agent line in canonical form, in lower case: groups with equal names apply to
/// the same agents.
fn name_of<'a>(agent: &'a AgentLine<'_>) -> &'a [u8] {
    let named = agent.named();
    match (agent.is_global(), &named.extended) {
        (true, _) => b"*",
        (false, Some(extended)) => extended,
        (false, None) => &named.token,
    }
}

/// The value of a user-agent line.
pub(super) fn value_of<'a>(agent: &AgentLine<'a>) -> &'a [u8] {
    field::split(agent.text(), Profile::Google).map_or(b"", |(_, value)| value)
}

/// The first use of a name.
struct FirstUse {
    line: u32,
    group: usize,
}

/// Whether a group has a field other than rules that is for its agents.
fn has_group_fields(robots: &RobotsRef<'_>, group: usize) -> bool {
    let mut fields = robots
        .other_fields()
        .iter()
        .filter(|field| field.group() == Some(group));
    fields.any(|field| GROUP_FIELDS.contains(&field.name()))
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
        first_lines.insert(
            name.to_vec(),
            FirstUse {
                line: agent.line(),
                group,
            },
        );
        return;
    };
    findings.add_fixable(agent.line(), Code::RepeatedAgent, || {
        // The name in the spelling of the file: it is the start of the value.
        let value = value_of(agent);
        let name = quote(&value[..name.len().min(value.len())]);
        let line = first.line;
        if first.group == group {
            return FindingTexts {
                message: format!("line {line} names {name} in the same group already"),
                help: "remove this line".to_owned(),
                fix: Some(LineFix::remove(agent.line())),
            };
        }
        let message = format!(
            "line {line} names {name} too: RFC 9309 applies the rules of both groups together, \
             some parsers only the first group"
        );
        FindingTexts {
            message,
            help: format!("move the rules into the group of line {line}"),
            fix: None,
        }
    });
}

/// Reports user-agent lines that are one group although something separates them.
fn check_separation(
    robots: &RobotsRef<'_>,
    blank_lines: &[u32],
    previous: u32,
    next: u32,
    findings: &mut FindingCollector,
) {
    // Fields and blank lines are sorted, so the first one after the earlier line is enough.
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
            "this line belongs to the group of line {previous}, whose agents obey the same rules: \
             only a rule ends a list of user-agent lines, {separator} does not"
        );
        let help = format!(
            "remove what separates the lines if one group is meant; otherwise write rules above \
             this line, such as `Allow: /`, for the group of line {previous}"
        );
        (message, help)
    });
}
