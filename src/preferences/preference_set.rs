//! Compiled preferences: those of one robots.txt for all requested agents, compiled once and
//! evaluated for many URLs.
//!
//! Lines are stored by group, and each agent has a list of groups. Merging the lines per agent
//! would multiply them in a hostile file with overlapping groups. So a set needs memory in
//! proportion to its file. A URL takes time in proportion to the file's `content-usage` lines times
//! the length of its path, in the worst case.

use crate::agent::{Agent, AgentMatch};
use crate::preferences::license::license_urls;
use crate::preferences::usage::{self, Usage};
use crate::preferences::{Preferences, Signals};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Group, RobotsRef};
use bstr::ByteSlice;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

/// Whether a condensed text may state a preference, or name a licence. In such a text each line
/// begins with its field.
pub(crate) fn may_have_preferences(condensed: &[u8]) -> bool {
    const STARTS: [&[u8]; 2] = [b"content-", b"license"];
    condensed.lines().any(|line| {
        STARTS.iter().any(|start| {
            line.get(..start.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(start))
        })
    })
}

/// The preferences of one robots.txt for a list of agents.
#[derive(Debug)]
pub(crate) struct PreferenceSet {
    /// The `content-usage` lines of each group that has any, the longest paths first.
    groups: Vec<Vec<UsageLine>>,
    /// The distinct lists of groups that agents obey.
    classes: Vec<AgentClass>,
    /// For each agent the index of its class.
    agents: Vec<u32>,
    /// The URLs of the licences, which are for all agents.
    licenses: Vec<String>,
}

/// A `content-usage` line.
#[derive(Debug)]
struct UsageLine {
    path: Pattern<'static>,
    usage: Usage,
}

/// The agents that obey the same groups.
#[derive(Debug, Default)]
struct AgentClass {
    /// Indices into [`PreferenceSet::groups`].
    groups: Vec<u32>,
    signals: Signals,
}

/// Buffers for evaluation, reused by a thread from URL to URL.
#[derive(Debug, Default)]
pub(crate) struct PreferenceBuffers {
    of_groups: Vec<MatchedUsage>,
    of_classes: Vec<Preferences>,
    of_agents: Vec<Preferences>,
}

/// The longest path of a group that matches, and its preferences.
#[derive(Clone, Copy, Debug, Default)]
struct MatchedUsage {
    /// The priority of the path; 0 if none matches.
    priority: usize,
    usage: Usage,
}

impl MatchedUsage {
    /// The one with the longer path, or both combined if the paths are equally long.
    fn longer(self, other: Self) -> Self {
        match self.priority.cmp(&other.priority) {
            Ordering::Less => other,
            Ordering::Equal => Self {
                priority: self.priority,
                usage: self.usage.and(other.usage),
            },
            Ordering::Greater => self,
        }
    }
}

impl PreferenceSet {
    /// Compiles a robots.txt; `None` if it has no licence and states no preference to any of the
    /// agents.
    pub(crate) fn new(robots: &RobotsRef<'_>, agents: &[Agent], how: AgentMatch) -> Option<Self> {
        let lines = PreferenceLines::new(robots);
        let addressed = AddressedGroups::new(robots.groups(), agents, how);
        let mut set = Self {
            groups: Vec::new(),
            classes: Vec::new(),
            agents: Vec::new(),
            licenses: license_urls(robots),
        };
        // Agents with the same first name that a group names are in one class. An agent that no
        // group names and that ignores `*` obeys no group.
        let mut class_of: HashMap<(Option<&[u8]>, bool), u32> = HashMap::new();
        for agent in agents {
            let key = agent
                .keys(how)
                .find(|key| !addressed.by_name[key].is_empty());
            let is_free = key.is_none() && agent.ignores_star();
            let class = *class_of.entry((key, is_free)).or_insert_with(|| {
                let groups = match key {
                    Some(key) => &addressed.by_name[key][..],
                    None if is_free => &[],
                    None => &addressed.global,
                };
                set.classes.push(lines.class(groups));
                (set.classes.len() - 1) as u32
            });
            set.agents.push(class);
        }
        set.groups = lines.usage;
        let has_any = set
            .classes
            .iter()
            .any(|class| !class.groups.is_empty() || !class.signals.is_empty());
        (has_any || !set.licenses.is_empty()).then_some(set)
    }

    /// The URLs of the licences.
    pub(crate) fn licenses(&self) -> &[String] {
        &self.licenses
    }

    /// The preferences of each agent, in the order of the agents, for a path in normal form.
    pub(crate) fn evaluate<'a>(
        &self,
        path: &[u8],
        buffers: &'a mut PreferenceBuffers,
    ) -> &'a [Preferences] {
        let PreferenceBuffers {
            of_groups,
            of_classes,
            of_agents,
        } = buffers;
        // Each group is matched once, though many classes may share it; a class has many agents.
        of_groups.clear();
        of_groups.extend(self.groups.iter().map(|lines| longest_match(lines, path)));
        of_classes.clear();
        of_classes.extend(self.classes.iter().map(|class| {
            let matches = class.groups.iter().map(|&group| of_groups[group as usize]);
            Preferences::new(
                matches
                    .reduce(MatchedUsage::longer)
                    .unwrap_or_default()
                    .usage,
                class.signals,
            )
        }));
        of_agents.clear();
        of_agents.extend(self.agents.iter().map(|&class| of_classes[class as usize]));
        of_agents
    }
}

/// Combines the lines with the longest path that matches. Lines are sorted by length, so the search
/// ends at the first line with a shorter path than the first match.
fn longest_match(lines: &[UsageLine], path: &[u8]) -> MatchedUsage {
    let mut best = MatchedUsage::default();
    for line in lines {
        let priority = line.path.priority();
        if priority < best.priority {
            break;
        }
        if line.path.matches(path) {
            best = MatchedUsage {
                priority,
                usage: best.usage.and(line.usage),
            };
        }
    }
    best
}

/// The preference lines of a file, by group.
#[derive(Default)]
struct PreferenceLines {
    usage: Vec<Vec<UsageLine>>,
    /// For each group of the file its index in `usage`, if it has such lines.
    usage_of_group: HashMap<usize, u32>,
    signals: HashMap<usize, Signals>,
    /// The signals before the first group, which apply to agents whose groups have none.
    file_wide: Signals,
}

impl PreferenceLines {
    fn new(robots: &RobotsRef<'_>) -> Self {
        let mut lines = Self::default();
        for field in robots.other_fields() {
            match (field.name(), field.group()) {
                ("content-usage", Some(group)) => {
                    lines.add_usage(group, field.value(), robots.profile())
                }
                ("content-signal", group) => {
                    let signals = group.map_or(&mut lines.file_wide, |group| {
                        lines.signals.entry(group).or_default()
                    });
                    *signals = signals.and(Signals::parse(field.value()));
                }
                _ => {}
            }
        }
        lines.usage.iter_mut().for_each(sort_and_merge);
        lines
    }

    fn add_usage(&mut self, group: usize, value: &[u8], profile: Profile) {
        let index = *self.usage_of_group.entry(group).or_insert_with(|| {
            self.usage.push(Vec::new());
            (self.usage.len() - 1) as u32
        });
        let (patterns, usage) = usage::parse(value, profile);
        // The patterns of a path have the same priority, and a statement combined with itself is
        // the same.
        let lines = patterns.iter().map(|Pattern { text, anchored }| UsageLine {
            path: Pattern {
                text: Cow::Owned(text.to_vec()),
                anchored: *anchored,
            },
            usage,
        });
        self.usage[index as usize].extend(lines);
    }

    /// The class of the agents that obey these groups.
    fn class(&self, groups: &[usize]) -> AgentClass {
        let signals = groups.iter().filter_map(|group| self.signals.get(group));
        let own = signals.fold(Signals::default(), |all, signals| all.and(*signals));
        AgentClass {
            groups: groups
                .iter()
                .filter_map(|group| self.usage_of_group.get(group).copied())
                .collect(),
            signals: own.or(self.file_wide),
        }
    }
}

/// Adds a group to a list in order. A group can name an agent twice.
fn add_group(list: &mut Vec<usize>, group: usize) {
    if list.last() != Some(&group) {
        list.push(group);
    }
}

/// Sorts lines by the length of their paths, the longest first, and merges lines with the same
/// path.
fn sort_and_merge(lines: &mut Vec<UsageLine>) {
    lines.sort_by(|a, b| {
        let by_priority = Reverse(a.path.priority()).cmp(&Reverse(b.path.priority()));
        by_priority.then_with(|| a.path.text.cmp(&b.path.text))
    });
    lines.dedup_by(|line, kept| {
        let same = line.path == kept.path;
        if same {
            kept.usage = kept.usage.and(line.usage);
        }
        same
    });
}

/// The groups of a file by the names of the requested agents.
struct AddressedGroups<'a> {
    /// For each name of the agents the groups that name it.
    by_name: HashMap<&'a [u8], Vec<usize>>,
    /// The groups for `*`.
    global: Vec<usize>,
}

impl<'a> AddressedGroups<'a> {
    /// One pass over the user-agent lines, for any number of agents.
    fn new(groups: &[Group<'_>], agents: &'a [Agent], how: AgentMatch) -> Self {
        let names = agents.iter().flat_map(|agent| agent.keys(how));
        let mut addressed = Self {
            by_name: names.map(|name| (name, Vec::new())).collect(),
            global: Vec::new(),
        };

        for (number, group) in groups.iter().enumerate() {
            for named in group.agents().iter().map(|line| line.named()) {
                if named.global {
                    add_group(&mut addressed.global, number);
                }
                for name in std::iter::once(&named.token).chain(&named.extended) {
                    if let Some(list) = addressed.by_name.get_mut(name.as_slice()) {
                        add_group(list, number);
                    }
                }
            }
        }
        addressed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_preferences_are_dismissed() {
        for text in [
            "content-usage: a\n",
            "\n\nuser-agent: *\nContent-Signal: a\n",
            "user-agent: *\nLicense: a\n",
        ] {
            assert!(may_have_preferences(text.as_bytes()), "{text:?}");
        }
        for text in [
            "",
            "content",
            "user-agent: *\ndisallow: /content-usage\n",
            "\ncont",
        ] {
            assert!(!may_have_preferences(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn sets_without_preferences_are_none() {
        let has_set = |text: &str, agent: &str| {
            let robots = RobotsRef::parse(text.as_bytes(), Profile::Google);
            PreferenceSet::new(&robots, &[agent.parse().unwrap()], AgentMatch::Extended).is_some()
        };
        let text = "user-agent: a\n\
                    content-usage: train-ai=n\n\
                    disallow: /\n\
                    user-agent: *\n\
                    content-signal: search=x";
        assert!(has_set(text, "a"));
        assert!(!has_set(text, "b"));
        assert!(has_set(&format!("content-signal: search=no\n{text}"), "b"));
        assert!(has_set(
            &format!("license: https://e.example/\n{text}"),
            "b"
        ));
        assert!(!has_set(&format!("license: /\n{text}"), "b"));
    }
}
