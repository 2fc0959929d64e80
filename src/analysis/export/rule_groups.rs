//! The groups of a robots.txt as rows: one per agent and rule.
//!
//! A group of 10,000 user-agent lines and 10,000 rules fits into a robots.txt, and has 100 million
//! such rows. So the rows of each file have a budget. A group that exceeds the rest of it has one
//! row per rule, without an agent.

use crate::agent::{Agent, AgentMatch};
use crate::robots::{AgentLine, RobotsRef, Rule, RuleKind};
use std::rc::Rc;

/// The most bytes of a file's rows with agents.
pub(super) const MAX_BYTES: u64 = 8 << 20;

/// The estimated bytes of a row in addition to its agent and its pattern.
const ROW: u64 = 64;

/// A group with its agents and rules.
#[derive(Debug)]
pub(super) struct RuleGroup {
    /// The number of the group, from 1.
    pub number: i64,
    /// The names of its rows; one `None` if there are too many.
    pub agents: Vec<Option<Rc<str>>>,
    pub rules: Vec<RuleText>,
}

/// A rule as written.
#[derive(Debug)]
pub(super) struct RuleText {
    pub kind: RuleKind,
    pub pattern: String,
    pub line: u32,
}

/// The groups that have rows: those that the agents obey, or all if there are no agents.
pub(super) fn rule_groups(
    robots: &RobotsRef<'_>,
    agents: &[Agent],
    how: AgentMatch,
) -> Vec<RuleGroup> {
    // The requested agents that obey each group.
    let mut names: Vec<Vec<Rc<str>>> = vec![Vec::new(); robots.groups().len()];
    for agent in agents {
        let label: Rc<str> = agent.label().into();
        for group in robots.groups_for(agent, how).0 {
            names[group].push(Rc::clone(&label));
        }
    }
    let mut left = MAX_BYTES;
    let mut groups = Vec::new();
    for (number, (group, mut names)) in (1..).zip(robots.groups().iter().zip(names)) {
        if agents.is_empty() {
            names = group.agents().iter().map(agent_name).collect();
        }
        let rules: Vec<RuleText> = group.rules().iter().map(rule_text).collect();
        if names.is_empty() || rules.is_empty() {
            continue;
        }
        // A group that exceeds the rest of the budget has its rules once, without an agent.
        let cost = cost(&names, &rules);
        let agents = if cost <= left {
            names.into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        left -= if cost <= left { cost } else { 0 };
        groups.push(RuleGroup {
            number,
            agents,
            rules,
        });
    }
    groups
}

/// The estimated bytes of a group's rows.
fn cost(names: &[Rc<str>], rules: &[RuleText]) -> u64 {
    let bytes_of_names: u64 = names.iter().map(|name| name.len() as u64).sum();
    let bytes_of_rules: u64 = rules
        .iter()
        .map(|rule| rule.pattern.len() as u64 + ROW)
        .sum();
    bytes_of_names * rules.len() as u64 + bytes_of_rules * names.len() as u64
}

/// The name in a user-agent line: `*`, or the name in lower case.
fn agent_name(line: &AgentLine<'_>) -> Rc<str> {
    let named = line.named();
    if named.global {
        return "*".into();
    }
    String::from_utf8_lossy(named.extended.as_deref().unwrap_or(&named.token)).into()
}

fn rule_text(rule: &Rule<'_>) -> RuleText {
    RuleText {
        kind: rule.kind(),
        pattern: String::from_utf8_lossy(rule.value()).into_owned(),
        line: rule.line(),
    }
}
