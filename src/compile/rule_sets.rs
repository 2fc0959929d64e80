//! Groups to canonical rule sets: merged by agent name, sorted, without redundant rules.
//!
//! Canonical sets make equal rules equal bytes. Robots.txt files repeat each other, so a real
//! archive has 6 times as many rule sets as distinct ones.

use crate::matcher::build::CanonicalRule;
use crate::matcher::canonical::{canonical, reduce};
use crate::robots::{RobotsRef, Rule};
use std::collections::{BTreeMap, HashMap};

/// The most that merging may multiply the rules of a file, plus [`FREE_RULES`].
///
/// A malicious file names many agents in overlapping groups, so that merging the groups of each
/// name multiplies its rules. Beyond this limit a name's groups stay separate sets, judged as a
/// union.
const MAX_GROWTH: usize = 4;
/// Rules that merging may add in any file.
const FREE_RULES: usize = 4096;

/// The rules of a robots.txt by agent name, as indices into `merged`.
#[derive(Debug, Default)]
pub(crate) struct RulesByAgent<'r> {
    pub merged: Vec<MergedRules<'r>>,
    /// The merged global groups, if there are any.
    pub global: Option<usize>,
    /// Product tokens and extended tokens.
    pub named: BTreeMap<&'r [u8], usize>,
}

/// The rules of one or more agent names.
#[derive(Debug)]
pub(crate) enum MergedRules<'r> {
    /// One canonical rule set.
    Set(Vec<CanonicalRule<'r>>),
    /// The rule sets of several groups; the longest matching rule of all decides.
    Union(Vec<Vec<CanonicalRule<'r>>>),
}

/// Adds a group, unless another line of it added it already.
fn add_group(groups: &mut Vec<usize>, group: usize) {
    if groups.last() != Some(&group) {
        groups.push(group);
    }
}

/// Merges the groups of each agent name (RFC 9309 §2.2.1).
pub(crate) fn by_agent<'r>(robots: &'r RobotsRef<'_>) -> RulesByAgent<'r> {
    let mut global = Vec::new();
    let mut named: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (i, group) in robots.groups().iter().enumerate() {
        for line in group.agents() {
            if line.is_global() {
                add_group(&mut global, i);
            }
            let names = [Some(&line.named().token), line.named().extended.as_ref()];
            for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
                add_group(named.entry(name).or_default(), i);
            }
        }
    }
    // The budget bounds what a hostile file with overlapping groups can multiply.
    let rules: usize = robots
        .groups()
        .iter()
        .map(|group| group.rules().len())
        .sum();
    let budget = rules * MAX_GROWTH + FREE_RULES;
    let mut merger = GroupMerger {
        robots,
        merged: Vec::new(),
        by_groups: HashMap::new(),
        budget,
    };
    let global = (!global.is_empty()).then(|| merger.merge(global));
    let named = named
        .into_iter()
        .map(|(name, groups)| (name, merger.merge(groups)))
        .collect();
    RulesByAgent {
        merged: merger.merged,
        global,
        named,
    }
}

struct GroupMerger<'r> {
    robots: &'r RobotsRef<'r>,
    merged: Vec<MergedRules<'r>>,
    /// Index by groups: names of the same groups share their rules.
    by_groups: HashMap<Vec<usize>, usize>,
    /// The number of rules that may still be merged.
    budget: usize,
}

impl<'r> GroupMerger<'r> {
    fn merge(&mut self, groups: Vec<usize>) -> usize {
        if let Some(&index) = self.by_groups.get(&groups) {
            return index;
        }
        // Beyond the budget, the groups stay apart, and the highest rank of all decides.
        let rules: Vec<&[Rule<'_>]> = groups
            .iter()
            .map(|&group| self.robots.groups()[group].rules())
            .collect();
        let count: usize = rules.iter().map(|rules| rules.len()).sum();
        let merged = if groups.len() == 1 || count <= self.budget {
            self.budget = self.budget.saturating_sub(count);
            MergedRules::Set(reduce(canonical(&rules)))
        } else {
            MergedRules::Union(rules.iter().map(|rules| canonical(&[rules])).collect())
        };
        self.merged.push(merged);
        self.by_groups.insert(groups, self.merged.len() - 1);
        self.merged.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn texts(robots: &str, name: &str) -> Vec<String> {
        let robots = RobotsRef::parse(robots.as_bytes(), Profile::Google);
        let by_agent = by_agent(&robots);
        let index = by_agent
            .named
            .get(name.as_bytes())
            .copied()
            .or(by_agent.global)
            .unwrap();
        let MergedRules::Set(rules) = &by_agent.merged[index] else {
            panic!("a union")
        };
        let text = |rule: &CanonicalRule<'_>| {
            let anchor = if rule.anchored { "$" } else { "" };
            format!(
                "{:?} {}{anchor}",
                rule.kind,
                String::from_utf8_lossy(&rule.text)
            )
        };
        rules.iter().map(text).collect()
    }

    #[test]
    fn redundant_rules_are_dropped() {
        let rules = texts(
            "user-agent: *\n\
             allow: /\n\
             disallow: /a\n\
             disallow: /a/b\n\
             disallow: x\n\
             disallow:\n\
             disallow: /a",
            "",
        );
        assert_eq!(rules, ["Disallow /a"]);
        let rules = texts(
            "user-agent: *\nallow: /a/b\ndisallow: /a\nallow: /a\ndisallow: /a/b/c",
            "",
        );
        assert_eq!(rules, ["Disallow /a/b/c"]);
        let rules = texts(
            "user-agent: *\nallow: /a/b\ndisallow: /a\ndisallow: /a/b/c$",
            "",
        );
        assert_eq!(rules, ["Disallow /a", "Allow /a/b", "Disallow /a/b/c$"]);
    }

    #[test]
    fn the_groups_of_a_name_are_merged() {
        let robots = "user-agent: a\n\
                      disallow: /1\n\
                      user-agent: *\n\
                      disallow: /2\n\
                      user-agent: A/2\n\
                      disallow: /3";
        assert_eq!(texts(robots, "a"), ["Disallow /1", "Disallow /3"]);
        assert_eq!(texts(robots, "b"), ["Disallow /2"]);
    }

    #[test]
    fn merging_does_not_multiply_malicious_files() {
        let mut robots = (0..3000)
            .map(|i| format!("user-agent: a{}\n", letters(i)))
            .collect::<String>();
        robots.extend((0..3000).map(|i| format!("disallow: /{i}\n")));
        robots.extend((0..3000).map(|i| format!("user-agent: a{}\nallow: /{i}/x\n", letters(i))));
        let robots = RobotsRef::parse(robots.as_bytes(), Profile::Google);
        let by_agent = by_agent(&robots);
        let merged = by_agent
            .merged
            .iter()
            .filter(|merged| matches!(merged, MergedRules::Set(_)))
            .count();
        assert_eq!(by_agent.merged.len(), 3000);
        assert!(merged < 20, "{merged} sets of 3,001 rules");
    }

    fn letters(i: usize) -> String {
        i.to_string()
            .bytes()
            .map(|b| char::from(b - b'0' + b'a'))
            .collect()
    }
}
