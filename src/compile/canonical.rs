//! Groups to canonical rule sets: merged by agent name, normalised, sorted, without what changes no verdict.

use crate::matcher::build::CanonicalRule;
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Robots, Rule, RuleKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Merging the groups of every name may multiply the rules of a malicious file. Up to this many times its own rules
/// (and some to begin with) they are merged; beyond, a name's groups stay separate sets that are judged together.
const MAX_GROWTH: usize = 4;
const FREE_RULES: usize = 4096;

/// What a robots.txt says, by agent name: each answer is the index of a [`Merged`].
#[derive(Debug, Default)]
pub(super) struct ByAgent<'r> {
    pub merged: Vec<Merged<'r>>,
    /// The merged global groups, if there are any.
    pub global: Option<usize>,
    /// Product tokens and extended tokens.
    pub named: BTreeMap<&'r [u8], usize>,
}

/// The groups that one or more names share.
#[derive(Debug)]
pub(super) enum Merged<'r> {
    /// One canonical rule set.
    Set(Vec<CanonicalRule<'r>>),
    /// The rule sets of several groups, of whose matching rules the longest decides.
    Union(Vec<Vec<CanonicalRule<'r>>>),
}

/// Sorts the groups of a robots.txt by the names they name and merges those of each name (RFC 9309 §2.2.1).
pub(super) fn by_agent<'r>(robots: &'r Robots<'_>) -> ByAgent<'r> {
    let mut global = Vec::new();
    let mut named: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    let push = |groups: &mut Vec<usize>, group| {
        if groups.last() != Some(&group) {
            groups.push(group);
        }
    };
    for (i, group) in robots.groups().iter().enumerate() {
        for agent in group.agents().iter().map(|line| line.named()) {
            if agent.global {
                push(&mut global, i);
            }
            let names = [Some(&agent.token), agent.extended.as_ref()];
            for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
                push(named.entry(name).or_default(), i);
            }
        }
    }
    let mut merger = Merger::new(robots);
    let global = (!global.is_empty()).then(|| merger.merge(global));
    let named = named.into_iter().map(|(name, groups)| (name, merger.merge(groups))).collect();
    ByAgent { merged: merger.merged, global, named }
}

struct Merger<'r> {
    robots: &'r Robots<'r>,
    merged: Vec<Merged<'r>>,
    known: HashMap<Vec<usize>, usize>,
    /// Rules that may still be merged.
    budget: usize,
}

impl<'r> Merger<'r> {
    fn new(robots: &'r Robots<'r>) -> Self {
        let rules: usize = robots.groups().iter().map(|group| group.rules().len()).sum();
        Self { robots, merged: Vec::new(), known: HashMap::new(), budget: rules * MAX_GROWTH + FREE_RULES }
    }

    fn merge(&mut self, groups: Vec<usize>) -> usize {
        if let Some(&index) = self.known.get(&groups) {
            return index;
        }
        let profile = self.robots.profile();
        let rules: Vec<&[Rule<'_>]> = groups.iter().map(|&group| self.robots.groups()[group].rules()).collect();
        let count: usize = rules.iter().map(|rules| rules.len()).sum();
        let merged = if groups.len() == 1 || count <= self.budget {
            self.budget = self.budget.saturating_sub(count);
            Merged::Set(reduce(canonical(&rules, profile)))
        } else {
            Merged::Union(rules.iter().map(|rules| canonical(&[rules], profile)).collect())
        };
        self.merged.push(merged);
        self.known.insert(groups, self.merged.len() - 1);
        self.merged.len() - 1
    }
}

/// The rules of these groups that can match anything, each pattern once, in the order of their texts: that in which they will be packed.
fn canonical<'r>(groups: &[&'r [Rule<'r>]], profile: Profile) -> Vec<CanonicalRule<'r>> {
    let mut set = Vec::with_capacity(groups.iter().map(|rules| rules.len()).sum());
    for rule in groups.iter().copied().flatten() {
        let pattern = rule.pattern();
        let folder =
            (profile == Profile::Google && rule.kind() == RuleKind::Allow).then(|| pattern.index_folder()).flatten();
        let mut add = |text: Cow<'r, [u8]>, anchored| set.push(CanonicalRule { text, anchored, kind: rule.kind() });
        if pattern.can_match() {
            add(Cow::Borrowed(&pattern.text), pattern.anchored);
        }
        if let Some(folder) = folder.filter(Pattern::can_match) {
            add(Cow::Owned(folder.text.into_owned()), folder.anchored);
        }
    }
    set.sort_unstable_by(|a, b| (&a.text, a.anchored, a.kind).cmp(&(&b.text, b.anchored, b.kind)));
    // Equal patterns are neighbours, allow first, and allow wins between them.
    set.dedup_by(|later, first| later.text == first.text && later.anchored == first.anchored);
    set
}

/// Leaves out rules without which every URL is judged the same. (The set must be judged alone: in a union a rule that
/// changes nothing here may overrule one of another set.)
fn reduce(mut set: Vec<CanonicalRule<'_>>) -> Vec<CanonicalRule<'_>> {
    // What no rule matches is allowed, so allows below the last disallow say nothing.
    let disallows = set.iter().filter(|rule| rule.kind == RuleKind::Disallow);
    let Some(last) = disallows.map(CanonicalRule::priority).min() else { return Vec::new() };
    set.retain(|rule| rule.kind == RuleKind::Disallow || rule.priority() >= last);
    if set.iter().all(|rule| rule.kind == RuleKind::Disallow) {
        drop_covered(&mut set);
    }
    set
}

/// Where nothing is allowed explicitly, a rule that begins with another's whole literal path says nothing new.
fn drop_covered(set: &mut Vec<CanonicalRule<'_>>) {
    let mut cover: Option<Cow<'_, [u8]>> = None;
    set.retain(|rule| {
        let is_covered = cover.as_ref().is_some_and(|cover| rule.text.starts_with(cover));
        if !is_covered && !rule.anchored && !rule.text.contains(&b'*') {
            cover = Some(rule.text.clone());
        }
        !is_covered
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(robots: &str, name: &str) -> Vec<String> {
        let robots = Robots::parse(robots.as_bytes(), Profile::Google);
        let by_agent = by_agent(&robots);
        let index = by_agent.named.get(name.as_bytes()).copied().or(by_agent.global).unwrap();
        match &by_agent.merged[index] {
            Merged::Set(rules) => rules
                .iter()
                .map(|rule| {
                    format!(
                        "{:?} {}{}",
                        rule.kind,
                        String::from_utf8_lossy(&rule.text),
                        if rule.anchored { "$" } else { "" }
                    )
                })
                .collect(),
            Merged::Union(_) => panic!("a union"),
        }
    }

    #[test]
    fn what_changes_no_verdict_is_left_out() {
        let rules =
            texts("user-agent: *\nallow: /\ndisallow: /a\ndisallow: /a/b\ndisallow: x\ndisallow:\ndisallow: /a", "");
        assert_eq!(rules, ["Disallow /a"]);
        let rules = texts("user-agent: *\nallow: /a/b\ndisallow: /a\nallow: /a\ndisallow: /a/b/c", "");
        assert_eq!(rules, ["Disallow /a/b/c"]);
        let rules = texts("user-agent: *\nallow: /a/b\ndisallow: /a\ndisallow: /a/b/c$", "");
        assert_eq!(rules, ["Disallow /a", "Allow /a/b", "Disallow /a/b/c$"]);
    }

    #[test]
    fn the_groups_of_a_name_are_merged() {
        let robots = "user-agent: a\ndisallow: /1\nuser-agent: *\ndisallow: /2\nuser-agent: A/2\ndisallow: /3";
        assert_eq!(texts(robots, "a"), ["Disallow /1", "Disallow /3"]);
        assert_eq!(texts(robots, "b"), ["Disallow /2"]);
    }

    #[test]
    fn merging_does_not_multiply_a_malicious_file() {
        let mut robots = (0..3000).map(|i| format!("user-agent: a{}\n", letters(i))).collect::<String>();
        robots.extend((0..3000).map(|i| format!("disallow: /{i}\n")));
        robots.extend((0..3000).map(|i| format!("user-agent: a{}\nallow: /{i}/x\n", letters(i))));
        let robots = Robots::parse(robots.as_bytes(), Profile::Google);
        let by_agent = by_agent(&robots);
        let merged = by_agent.merged.iter().filter(|merged| matches!(merged, Merged::Set(_))).count();
        assert_eq!(by_agent.merged.len(), 3000);
        assert!(merged < 20, "{merged} sets of 3,001 rules");
    }

    fn letters(i: usize) -> String {
        i.to_string().bytes().map(|b| char::from(b - b'0' + b'a')).collect()
    }
}
