//! The preferences of one robots.txt for all agents that are asked about: read once, then asked for many URLs.
//!
//! Lines stay with their groups, and each agent has a list of groups: merged for each agent, the lines of a hostile file in which
//! groups overlap would multiply. So a sheet takes memory in proportion to its file, and a URL at worst time in proportion to the
//! `content-usage` lines of the file times the length of its path.

use crate::agent::{Agent, AgentMatch};
use crate::preferences::usage::{self, Usage};
use crate::preferences::{Preferences, Signals};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Group, Robots};
use std::collections::HashMap;

/// Whether a condensed text, in which each line begins with its field, may hold a preference.
pub(crate) fn may_hold_any(condensed: &[u8]) -> bool {
    const START: &[u8] = b"content-";
    let starts = |line: &[u8]| line.get(..START.len()).is_some_and(|start| start.eq_ignore_ascii_case(START));
    starts(condensed) || memchr::memchr_iter(b'\n', condensed).any(|end| starts(&condensed[end + 1..]))
}

/// What one robots.txt says to some agents about use.
#[derive(Debug)]
pub(crate) struct PreferenceSet {
    /// The lines of the groups that have any.
    groups: Vec<Vec<Line>>,
    /// The different standings of agents.
    roles: Vec<Role>,
    /// For each agent its role.
    agents: Vec<u32>,
}

/// A `content-usage` line.
#[derive(Debug)]
struct Line {
    path: Pattern<'static>,
    usage: Usage,
}

/// What holds for the agents that obey the same groups.
#[derive(Debug, Default)]
struct Role {
    /// The groups with lines, among all of them.
    groups: Vec<u32>,
    signals: Signals,
}

/// One thread's memory for the answers of sheets.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// For each group the longest matching path, 0 for none, and what is said there.
    of_groups: Vec<(usize, Usage)>,
    of_roles: Vec<Preferences>,
    of_agents: Vec<Preferences>,
}

impl PreferenceSet {
    /// Reads a robots.txt; `None` if it says nothing to any of the agents.
    pub(crate) fn new(robots: &Robots<'_>, agents: &[Agent], how: AgentMatch) -> Option<Self> {
        let said = Said::new(robots);
        let (names, global) = addressed(robots.groups(), agents, how);
        let mut sheet = Self { groups: Vec::new(), roles: Vec::new(), agents: Vec::new() };
        let mut role_of: HashMap<Option<&[u8]>, u32> = HashMap::new();
        for agent in agents {
            let key = agent.keys(how).find(|key| !names[key].is_empty());
            let role = *role_of.entry(key).or_insert_with(|| {
                let groups = key.map_or(&global, |key| &names[key]);
                sheet.roles.push(said.role(groups));
                (sheet.roles.len() - 1) as u32
            });
            sheet.agents.push(role);
        }
        sheet.groups = said.lines;
        let says_something = |role: &Role| !role.groups.is_empty() || !role.signals.is_empty();
        sheet.roles.iter().any(says_something).then_some(sheet)
    }

    /// What holds for the agents, in their order, at a path in normal form.
    pub(crate) fn at<'a>(&self, path: &[u8], answers: &'a mut Answers) -> &'a [Preferences] {
        let Answers { of_groups, of_roles, of_agents } = answers;
        of_groups.clear();
        of_groups.extend(self.groups.iter().map(|lines| longest(lines, path)));
        of_roles.clear();
        of_roles.extend(self.roles.iter().map(|role| {
            let best = role.groups.iter().map(|&group| of_groups[group as usize]).reduce(longer);
            Preferences::new(best.unwrap_or_default().1, role.signals)
        }));
        of_agents.clear();
        of_agents.extend(self.agents.iter().map(|&role| of_roles[role as usize]));
        of_agents
    }
}

/// What the lines with the longest path come to. They stand by length, so those with the first that matches are all that count.
fn longest(lines: &[Line], path: &[u8]) -> (usize, Usage) {
    let mut best = (0, Usage::default());
    for line in lines {
        let length = line.path.priority();
        if length < best.0 {
            break;
        }
        if line.path.matches(path) {
            best = (length, best.1.and(line.usage));
        }
    }
    best
}

/// Of two answers that with the longer path; what both say where they are equally long.
fn longer(a: (usize, Usage), b: (usize, Usage)) -> (usize, Usage) {
    match a.0.cmp(&b.0) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal => (a.0, a.1.and(b.1)),
        std::cmp::Ordering::Greater => a,
    }
}

/// What the groups say, each by itself.
struct Said {
    lines: Vec<Vec<Line>>,
    /// For each group of the file its place in `lines`, if it has any.
    places: HashMap<usize, u32>,
    signals: HashMap<usize, Signals>,
    file_wide: Signals,
}

impl Said {
    fn new(robots: &Robots<'_>) -> Self {
        let (lines, places, signals) = Default::default();
        let mut said = Self { lines, places, signals, file_wide: Signals::default() };
        for field in robots.other_fields() {
            match (field.name(), field.group()) {
                ("content-usage", Some(group)) => said.add_usage(group, field.value(), robots.profile()),
                ("content-signal", group) => {
                    let place = group.map_or(&mut said.file_wide, |group| said.signals.entry(group).or_default());
                    *place = place.and(Signals::parse(field.value()));
                }
                _ => {}
            }
        }
        said.lines.iter_mut().for_each(sort);
        said
    }

    fn add_usage(&mut self, group: usize, value: &[u8], profile: Profile) {
        let place = *self.places.entry(group).or_insert_with(|| {
            self.lines.push(Vec::new());
            (self.lines.len() - 1) as u32
        });
        let (path, usage) = usage::parse_owned(value, profile);
        self.lines[place as usize].push(Line { path, usage });
    }

    fn role(&self, groups: &[usize]) -> Role {
        let signals = groups.iter().filter_map(|group| self.signals.get(group));
        let own = signals.fold(Signals::default(), |all, signals| all.and(*signals));
        Role {
            groups: groups.iter().filter_map(|group| self.places.get(group).copied()).collect(),
            signals: own.or(self.file_wide),
        }
    }
}

/// Puts the longest paths first, and makes one of lines with the same path.
fn sort(lines: &mut Vec<Line>) {
    let order = |line: &Line| std::cmp::Reverse(line.path.priority());
    lines.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.path.text.cmp(&b.path.text)));
    lines.dedup_by(|line, kept| {
        let same = line.path == kept.path;
        if same {
            kept.usage = kept.usage.and(line.usage);
        }
        same
    });
}

/// The groups that name each name the agents go by, and the global ones: one pass over the user-agent lines, however many agents.
fn addressed<'a>(
    groups: &[Group<'_>],
    agents: &'a [Agent],
    how: AgentMatch,
) -> (HashMap<&'a [u8], Vec<usize>>, Vec<usize>) {
    let mut names: HashMap<&[u8], Vec<usize>> = HashMap::new();
    names.extend(agents.iter().flat_map(|agent| agent.keys(how)).map(|key| (key, Vec::new())));
    let mut global = Vec::new();
    let add = |list: &mut Vec<usize>, group| {
        if list.last() != Some(&group) {
            list.push(group);
        }
    };
    for (number, group) in groups.iter().enumerate() {
        for named in group.agents().iter().map(|line| line.named()) {
            if named.global {
                add(&mut global, number);
            }
            for name in [Some(&named.token), named.extended.as_ref()].into_iter().flatten() {
                if let Some(list) = names.get_mut(name.as_slice()) {
                    add(list, number);
                }
            }
        }
    }
    (names, global)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_these_fields_is_seen_at_once() {
        for text in ["content-usage: a\n", "\n\nuser-agent: *\nContent-Signal: a\n"] {
            assert!(may_hold_any(text.as_bytes()), "{text:?}");
        }
        for text in ["", "content", "user-agent: *\ndisallow: /content-usage\n", "\ncont"] {
            assert!(!may_hold_any(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn a_sheet_that_says_nothing_is_none() {
        let sheet = |text: &str, agent: &str| {
            let robots = Robots::parse(text.as_bytes(), Profile::Google);
            PreferenceSet::new(&robots, &[agent.parse().unwrap()], AgentMatch::Extended).is_some()
        };
        let text = "user-agent: a\ncontent-usage: train-ai=n\ndisallow: /\nuser-agent: *\ncontent-signal: search=x";
        assert!(sheet(text, "a"));
        assert!(!sheet(text, "b"));
        assert!(sheet(&format!("content-signal: search=no\n{text}"), "b"));
    }
}
