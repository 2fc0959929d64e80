//! Whether two robots.txt files give the same verdicts: a proof, or examples of changed ones.
//!
//! An agent obeys a set of rules in each file, A and B. The proof goes through their union. A rule
//! of the union that B lacks is *redundant over B* if a rule of B overrides it, or if the rules of B
//! that come next in the order of precedence give the same answer on each of its paths. If all
//! rules that B lacks are redundant over B, then the union and B answer alike: where such a rule
//! decides, B answers by its next rule, which has the same kind. The same holds for A, and then A
//! and B answer alike. The test of one rule is one-sided ([`readings`](super::readings)), so the
//! proof may fail for equal files, and never succeeds for different ones.

use crate::lint::agents::GROUP_FIELDS;
use crate::lint::budget::Budget;
use crate::lint::readings::{Reading, names_of};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{RobotsRef, RuleKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most rules in all proofs of a file, over all agents that obey different groups.
pub(super) const MAX_RULES: usize = 1 << 24;

/// Whether each agent has the same verdicts, preferences, crawl-delays and sitemaps in both files,
/// provably.
pub(super) fn are_equivalent(old: &[u8], new: &[u8], budget: &mut Budget) -> bool {
    let files = [Profile::Google, Profile::Rfc9309].map(|profile| FilePair::new(old, new, profile));
    // An agent with a chain of names obeys the first that a file names, so a name without rules of
    // its own counts too.
    files.iter().all(|pair| {
        pair.old.names.keys().eq(pair.new.names.keys())
            && pair.have_same_fields()
            && pair.have_same_verdicts(budget)
    })
}

/// Two files, parsed for one profile.
pub(super) struct FilePair<'a> {
    pub old: NamedGroups<'a>,
    pub new: NamedGroups<'a>,
    pub profile: Profile,
}

/// A parsed file, and the names in it.
pub(super) struct NamedGroups<'a> {
    pub robots: RobotsRef<'a>,
    /// The names, with the groups of each. `*` is the name of the global group.
    names: BTreeMap<Vec<u8>, BTreeSet<usize>>,
}

impl<'a> NamedGroups<'a> {
    fn new(body: &'a [u8], profile: Profile) -> Self {
        let robots = RobotsRef::parse(body, profile);
        let mut names: BTreeMap<Vec<u8>, BTreeSet<usize>> = BTreeMap::new();
        for (index, group) in robots.groups().iter().enumerate() {
            for name in group.agents().iter().flat_map(names_of) {
                match names.get_mut(name) {
                    Some(groups) => drop(groups.insert(index)),
                    None => drop(names.insert(name.to_vec(), BTreeSet::from([index]))),
                }
            }
        }
        Self { robots, names }
    }

    /// The groups that the agent with this name obeys.
    fn groups_of(&self, name: &[u8]) -> Vec<usize> {
        let groups = self.names.get(name).or_else(|| self.names.get(GLOBAL));
        groups.into_iter().flatten().copied().collect()
    }

    /// The fields of these groups that belong to a group, in the order of the file.
    fn group_fields(&self, groups: &[usize]) -> Vec<(&str, &[u8])> {
        let fields = self.robots.other_fields().iter().filter(|field| {
            let is_own = field.group().is_some_and(|group| groups.contains(&group));
            is_own && GROUP_FIELDS.contains(&field.name())
        });
        fields.map(|field| (field.name(), field.value())).collect()
    }

    fn rule_count(&self, groups: &[usize]) -> usize {
        let groups = groups.iter().map(|group| &self.robots.groups()[*group]);
        groups.map(|group| group.rules().len()).sum()
    }

    /// All rules of these groups that match any path, without duplicates.
    pub(super) fn rules_of(&self, groups: &[usize]) -> HashSet<PlainRule<'_>> {
        let mut rules = HashSet::new();
        for rule in groups
            .iter()
            .flat_map(|group| self.robots.groups()[*group].rules())
        {
            let kind = rule.kind();
            let patterns = rule.patterns().filter(Pattern::can_match);
            rules.extend(patterns.map(|pattern| PlainRule { pattern, kind }));
        }
        rules
    }
}

/// The name of the global group.
const GLOBAL: &[u8] = b"*";

/// A rule without its line.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct PlainRule<'a> {
    pub pattern: Pattern<'a>,
    pub kind: RuleKind,
}

/// Agents that obey the same groups in each file.
pub(super) struct Agents {
    /// In order; `*` stands for all that no file names.
    pub names: Vec<Vec<u8>>,
    /// The groups in each file.
    pub old: Vec<usize>,
    pub new: Vec<usize>,
}

impl<'a> FilePair<'a> {
    pub(super) fn new(old: &'a [u8], new: &'a [u8], profile: Profile) -> Self {
        let [old, new] = [old, new].map(|body| NamedGroups::new(body, profile));
        Self { old, new, profile }
    }

    /// All agents, by the groups that they obey. The agents that no file names obey the global
    /// groups.
    pub(super) fn agents(&self) -> Vec<Agents> {
        let mut by_groups: BTreeMap<[Vec<usize>; 2], Vec<Vec<u8>>> = BTreeMap::new();
        let named: BTreeSet<&[u8]> = [&self.old, &self.new]
            .iter()
            .flat_map(|file| file.names.keys().map(Vec::as_slice))
            .chain([GLOBAL])
            .collect();
        for name in named {
            let groups = [&self.old, &self.new].map(|file| file.groups_of(name));
            by_groups.entry(groups).or_default().push(name.to_vec());
        }
        let agents = by_groups.into_iter();
        agents
            .map(|([old, new], names)| Agents { names, old, new })
            .collect()
    }

    fn have_same_fields(&self) -> bool {
        let all_of = |file: &NamedGroups<'a>| -> Vec<(&'static str, &'a [u8])> {
            let fields = file.robots.other_fields().iter();
            fields.map(|field| (field.name(), field.value())).collect()
        };
        // The groups are compared by their fields, so that the cost is not that of each name.
        all_of(&self.old) == all_of(&self.new)
            && (!self.has_group_fields()
                || self.agents().iter().all(|agents| {
                    self.old.group_fields(&agents.old) == self.new.group_fields(&agents.new)
                }))
    }

    fn has_group_fields(&self) -> bool {
        let mut fields = self.old.robots.other_fields().iter();
        fields.any(|field| GROUP_FIELDS.contains(&field.name()))
    }

    fn have_same_verdicts(&self, budget: &mut Budget) -> bool {
        self.agents().iter().all(|agents| {
            let count = self.old.rule_count(&agents.old) + self.new.rule_count(&agents.new);
            if !budget.take_rules(count) {
                return false;
            }
            let old = self.old.rules_of(&agents.old);
            let new = self.new.rules_of(&agents.new);
            old == new
                || (are_redundant(old.difference(&new), &new, budget)
                    && are_redundant(new.difference(&old), &old, budget))
        })
    }
}

/// A rule as its position in the order of precedence sees it.
struct RankedRule<'a> {
    reading: Reading<'a>,
    kind: RuleKind,
}

/// Whether all of these rules are redundant over `kept`.
fn are_redundant<'r, 'a: 'r>(
    rules: impl Iterator<Item = &'r PlainRule<'a>>,
    kept: &HashSet<PlainRule<'a>>,
    budget: &mut Budget,
) -> bool {
    let rules: Vec<Reading<'a>> = rules.map(PlainRule::reading).collect();
    let ranked = ranked(kept);
    let wildcards = ranked.iter().filter(|rule| rule.reading.has_wildcard());
    let wildcard = rules.len() * wildcards.count();
    budget.take_comparisons(rules.len() * ranked.len(), wildcard)
        && rules.iter().all(|rule| is_redundant(rule, &ranked))
}

/// The rules in the order of precedence, the first of which decides.
fn ranked<'a>(rules: &HashSet<PlainRule<'a>>) -> Vec<RankedRule<'a>> {
    let with_kind = |rule: &PlainRule<'a>| RankedRule {
        reading: rule.reading(),
        kind: rule.kind,
    };
    let mut ranked: Vec<RankedRule<'a>> = rules.iter().map(with_kind).collect();
    ranked.sort_by_key(|rule| Reverse(rule.reading.rank));
    ranked
}

/// Whether a rule is redundant over others, which are in the order of precedence.
fn is_redundant(rule: &Reading<'_>, kept: &[RankedRule<'_>]) -> bool {
    let is_allow = rule.rank.1;
    let higher = kept.partition_point(|other| other.reading.rank > rule.rank);
    let (higher, lower) = kept.split_at(higher);
    if higher.iter().any(|other| other.reading.covers(rule)) {
        return true;
    }
    let next = lower
        .iter()
        .filter(|other| !other.reading.is_disjoint(rule))
        .find(|other| (other.kind == RuleKind::Allow) != is_allow || other.reading.covers(rule));
    // A path that no rule matches is allowed.
    next.map_or(is_allow, |other| {
        (other.kind == RuleKind::Allow) == is_allow
    })
}

impl<'a> PlainRule<'a> {
    fn reading(&self) -> Reading<'a> {
        Reading::new(self.pattern.clone(), self.kind)
    }
}
