//! Checks of groups: repeated agents, user-agent lines that something separates, empty groups.

use crate::lint::body::RawFacts;
use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::unsettled::UnsettledName;
use crate::profile::Profile;
use crate::robots::{AgentLine, Group, RobotsRef, field};
use std::collections::{HashMap, HashSet};

/// Fields that belong to a group without being rules.
pub(super) const GROUP_FIELDS: &[&str] = &[
    "crawl-delay",
    "request-rate",
    "visit-time",
    "content-signal",
    "content-usage",
];

/// Checks all groups. `several` are the lines with several fields, and `unsettled` the names that are
/// probably meant otherwise.
pub(super) fn check(
    robots: &RobotsRef<'_>,
    raw: &RawFacts,
    several: &HashSet<u32>,
    unsettled: &[UnsettledName],
    findings: &mut FindingCollector,
) {
    let mut first_lines = HashMap::new();
    for (index, group) in robots.groups().iter().enumerate() {
        let mut is_joined = false;
        for pair in group.agents().windows(2) {
            let [previous, next] = [&pair[0], &pair[1]].map(AgentLine::line);
            // The rule that ends the list may be in the earlier line.
            if several.contains(&previous) {
                is_joined = true;
            } else if let Some(separator) = separator(robots, &raw.blank, previous, next) {
                is_joined = true;
                add_joined_groups(previous, next, &separator, findings);
            }
        }
        for agent in group.agents() {
            let here = AgentUse {
                line: agent.line(),
                group: index,
                is_shared: group.agents().len() > 1,
                is_joined,
            };
            check_repetition(agent, here, &mut first_lines, findings);
        }
        if !raw.has_lone_return {
            check_blank_lines(group, &raw.blank, findings);
        }
        // A group without rules may still be there for another field, such as a crawl delay.
        if group.rules().is_empty() && !has_group_fields(robots, index) {
            let has_new_names = group.agents().iter().any(|agent| {
                first_lines
                    .get(name_of(agent))
                    .is_none_or(|first| first.group == index)
            });
            // The names of an empty group may be repeated by mistake.
            let is_unsettled = unsettled.iter().any(|name| name.group == index);
            if has_new_names || !is_unsettled {
                add_empty_group(group, has_new_names, findings);
            }
        }
    }
}

/// Reports blank lines between the user-agent lines of a group and its first rule.
fn check_blank_lines(group: &Group<'_>, blank_lines: &[u32], findings: &mut FindingCollector) {
    let (Some(agent), Some(rule)) = (group.agents().last(), group.rules().first()) else {
        return;
    };
    let first = blank_lines.partition_point(|line| *line < agent.line());
    let end = blank_lines.partition_point(|line| *line < rule.line());
    let blank: &[u32] = blank_lines.get(first..end).unwrap_or_default();
    let &[line, ref others @ ..] = blank else {
        return;
    };
    findings.add_fixable(rule.line(), Code::BlankLine, || FindingTexts {
        message: format!(
            "the blank line {line} precedes the first rule of the group: parsers that follow the \
             convention of 1994 end the group there, so its rules apply to no crawler"
        ),
        help: match others {
            [] => "remove the blank line".to_owned(),
            _ => "remove the blank lines above".to_owned(),
        },
        fix: Some(LineFix {
            is_safe: true,
            edits: blank
                .iter()
                .map(|line| LineEdit::Remove { line: *line })
                .collect(),
        }),
    });
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

/// A use of a name.
struct AgentUse {
    line: u32,
    group: usize,
    /// The group has further user-agent lines.
    is_shared: bool,
    /// Something separates the user-agent lines of the group.
    is_joined: bool,
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
    here: AgentUse,
    first_lines: &mut HashMap<Vec<u8>, AgentUse>,
    findings: &mut FindingCollector,
) {
    let name = name_of(agent);
    if name.is_empty() {
        return;
    }
    let Some(first) = first_lines.get(name) else {
        first_lines.insert(name.to_vec(), here);
        return;
    };
    findings.add_fixable(agent.line(), Code::RepeatedAgent, || {
        // The name in the spelling of the file: it is the start of the value.
        let value = value_of(agent);
        let name = quote(&value[..name.len().min(value.len())]);
        let line = first.line;
        if first.group == here.group {
            // Joined groups may be meant as two, of which this line begins the second.
            let (help, fix) = match here.is_joined {
                true => ("write the name once", None),
                false => ("remove this line", Some(LineFix::remove(agent.line()))),
            };
            return FindingTexts {
                message: format!("line {line} names {name} in the same group already"),
                help: help.to_owned(),
                fix,
            };
        }
        let message = format!(
            "line {line} names {name} too: RFC 9309 applies the rules of both groups together, \
             some parsers only the first group"
        );
        FindingTexts {
            message,
            // The rules of a shared group are for its other agents too.
            help: match first.is_shared || here.is_shared {
                true => format!("write one group for {name} alone, with the rules of both"),
                false => format!("move the rules into the group of line {line}"),
            },
            fix: None,
        }
    });
}

/// What separates two user-agent lines of one group.
struct Separator {
    name: String,
    /// What to do if one group is meant.
    remedy: String,
}

/// What separates two user-agent lines of one group, if anything does.
fn separator(
    robots: &RobotsRef<'_>,
    blank_lines: &[u32],
    previous: u32,
    next: u32,
) -> Option<Separator> {
    // Fields and blank lines are sorted, so the first one after the earlier line is enough.
    let fields = robots.other_fields();
    let field = fields.get(fields.partition_point(|field| field.line() < previous));
    let field = field.filter(|field| field.line() < next);
    let blank = blank_lines.get(blank_lines.partition_point(|line| *line < previous));
    match (field, blank) {
        (Some(field), _) => {
            let name = format!("the {} of line {}", field.name(), field.line());
            let remedy = format!("move {name} below the rules");
            Some(Separator { name, remedy })
        }
        (None, Some(line)) if *line < next => {
            let name = format!("the blank line {line}");
            let remedy = format!("remove {name}");
            Some(Separator { name, remedy })
        }
        _ => None,
    }
}

/// Reports user-agent lines that are one group although something separates them.
fn add_joined_groups(
    previous: u32,
    next: u32,
    separator: &Separator,
    findings: &mut FindingCollector,
) {
    let Separator { name, remedy } = separator;
    findings.add(next, Code::JoinedGroups, || {
        let message = format!(
            "this line belongs to the group of line {previous}, whose agents obey the same rules: \
             only a rule ends a list of user-agent lines, {name} does not"
        );
        let help = format!(
            "{remedy} if one group is meant; otherwise give the group of line {previous} rules of \
             its own above this line (`Allow: /` lets its agents fetch everything)"
        );
        (message, help)
    });
}
