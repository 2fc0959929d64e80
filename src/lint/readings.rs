//! The rules of a file as both profiles read them, and the agents that obey the same of them.
//!
//! A pattern Q *covers* a pattern R if every path that R matches, Q matches too. The test is
//! one-sided, so that no finding is wrong: Q is matched with the text of R, in which each `*` of R
//! is a character that only a `*` of Q matches. A match carries over to every path of R, because
//! whatever replaces a star of R is inside the part that the star of Q took. For literal prefixes
//! the test is exact. Of rules with wildcards it misses some.

use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{AgentLine, Group, RobotsRef, Rule, RuleKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The rules of all groups of `robots` that match any URL, in the order of the file. `other` is the
/// same file, parsed for the other profile. `inexact` are the lines that not every parser reads.
pub(super) fn read_rules<'a>(
    robots: &RobotsRef<'a>,
    other: &RobotsRef<'a>,
    inexact: &HashSet<u32>,
) -> Vec<RuleReadings<'a>> {
    let others = rules_by_line(other);
    let mut rules = Vec::new();
    for (index, group) in robots.groups().iter().enumerate() {
        let readings = group.rules().iter().map(|rule| {
            let other_rule = others.get(&rule.line()).copied();
            RuleReadings::new(index, rule, robots.profile(), other_rule, inexact)
        });
        rules.extend(readings.filter(RuleReadings::has_effect));
    }
    rules
}

/// The rules of a file by the numbers of their lines.
pub(super) fn rules_by_line<'r, 'a>(robots: &'r RobotsRef<'a>) -> HashMap<u32, &'r Rule<'a>> {
    let rules = robots.groups().iter().flat_map(Group::rules);
    rules.map(|rule| (rule.line(), rule)).collect()
}

/// Whether both profiles read the same groups from a file, with the same lines.
///
/// They differ in misspelt fields, missing colons and over-long lines. A user-agent line or a rule
/// that only one of them reads moves the rules below it to other groups.
pub(super) fn have_same_groups(google: &RobotsRef<'_>, rfc: &RobotsRef<'_>) -> bool {
    google.groups().len() == rfc.groups().len()
        && google.groups().iter().zip(rfc.groups()).all(|(a, b)| {
            let agents = |group: &Group<'_>| -> Vec<(u32, usize)> {
                let lines = group.agents().iter();
                lines.map(|line| (line.line(), line.text().len())).collect()
            };
            let rules = |group: &Group<'_>| -> Vec<(u32, usize)> {
                let lines = group.rules().iter();
                lines.map(|rule| (rule.line(), rule.text().len())).collect()
            };
            agents(a) == agents(b) && rules(a) == rules(b)
        })
}

/// The part of the rules, which are in the order of the file, that belongs to a group.
pub(super) fn rules_of<'r, 'a>(
    rules: &'r [RuleReadings<'a>],
    group: usize,
) -> &'r [RuleReadings<'a>] {
    let start = rules.partition_point(|rule| rule.group < group);
    let len = rules[start..].partition_point(|rule| rule.group == group);
    &rules[start..start + len]
}

/// The agents that obey the same groups: all groups that name them (RFC 9309 §2.2.1).
pub(super) struct Audience<'r, 'a> {
    /// The indices of the groups, in order.
    pub groups: Vec<usize>,
    /// The agents that no group names: they obey the groups of `*`.
    pub is_global: bool,
    /// The first user-agent line that names one of them.
    pub first: &'r AgentLine<'a>,
}

/// The audiences of a file, those of a single group first.
///
/// A user-agent line such as `MJ12bot` has two names, its product token `mj` and its extended token
/// (docs/SEMANTICS.md, Groups and agents). Both count, so that a finding holds for every agent.
pub(super) fn audiences<'r, 'a>(robots: &'r RobotsRef<'a>) -> Vec<Audience<'r, 'a>> {
    // The groups that each name selects, and the first line with the name.
    let mut by_name: BTreeMap<&[u8], (BTreeSet<usize>, &'r AgentLine<'a>)> = BTreeMap::new();
    for (index, group) in robots.groups().iter().enumerate() {
        for agent in group.agents() {
            for name in names_of(agent) {
                by_name
                    .entry(name)
                    .or_insert_with(|| (BTreeSet::new(), agent))
                    .0
                    .insert(index);
            }
        }
    }
    // Names that select the same groups are one audience, because the same rules apply to them.
    let mut by_groups: BTreeMap<Vec<usize>, Audience<'r, 'a>> = BTreeMap::new();
    for (name, (groups, first)) in by_name {
        let groups: Vec<usize> = groups.into_iter().collect();
        let audience = by_groups.entry(groups.clone()).or_insert(Audience {
            groups,
            is_global: false,
            first,
        });
        audience.is_global |= name == GLOBAL;
        if first.line() < audience.first.line() {
            audience.first = first;
        }
    }
    let mut all: Vec<Audience<'_, '_>> = by_groups.into_values().collect();
    all.sort_by_key(|audience| audience.groups.len());
    all
}

/// The name of the global group. No agent can have it.
const GLOBAL: &[u8] = b"*";

/// The names of a user-agent line in lower case. A line without a value has none.
pub(super) fn names_of<'r>(agent: &'r AgentLine<'_>) -> impl Iterator<Item = &'r [u8]> {
    let named = agent.named();
    let names = [
        Some(named.token.as_slice()),
        named.extended.as_deref(),
        agent.is_global().then_some(GLOBAL),
    ];
    names.into_iter().flatten().filter(|name| !name.is_empty())
}

/// A rule as both profiles read it.
pub(super) struct RuleReadings<'a> {
    /// The index of its group.
    pub group: usize,
    pub line: u32,
    pub text: &'a [u8],
    pub kind: RuleKind,
    /// Every parser reads the line.
    pub is_exact: bool,
    pub google: Reading<'a>,
    pub rfc: Reading<'a>,
    /// The second pattern of `Allow: …/index.html` under Google.
    pub folder: Option<Reading<'a>>,
    /// The further patterns under RFC 9309, for queries that begin in a star.
    pub rfc_further: Vec<Reading<'a>>,
}

/// A rule as one profile reads it.
#[derive(Clone)]
pub(super) struct Reading<'a> {
    pub pattern: Pattern<'a>,
    /// The length of the literal prefix. Every pair of rules compares it, and searches for the star
    /// were two fifths of the time of a survey.
    literal_len: usize,
    pub rank: Rank,
    /// The text in which each star is a character of its own; a pattern without anchor ends in one.
    pub starred: Vec<u8>,
}

/// The precedence of a matching rule: its length, then allow over disallow.
pub(super) type Rank = (usize, bool);

impl<'a> Reading<'a> {
    pub(super) fn new(pattern: Pattern<'a>, kind: RuleKind) -> Self {
        let rank = (pattern.priority(), kind == RuleKind::Allow);
        let end: &[u8] = if pattern.anchored { b"" } else { b"*" };
        let starred = [&pattern.text, end].concat();
        let literal_len = memchr::memchr(b'*', &pattern.text).unwrap_or(pattern.text.len());
        Self {
            pattern,
            literal_len,
            rank,
            starred,
        }
    }

    /// Whether this pattern provably matches every path that `other` matches.
    pub(super) fn covers(&self, other: &Self) -> bool {
        other.starred.starts_with(self.literal_prefix()) && self.pattern.matches(&other.starred)
    }

    /// Whether this pattern matches every path.
    fn covers_all(&self) -> bool {
        self.pattern.matches(b"/*")
    }

    /// Whether this rule has precedence on every path that `other` matches.
    fn overrides(&self, other: &Self) -> bool {
        self.rank > other.rank && self.covers(other)
    }

    /// Whether the pattern has a star.
    pub(super) fn has_wildcard(&self) -> bool {
        self.literal_len < self.pattern.text.len()
    }

    /// Whether parsers without wildcards, as the convention of 1994 has them, read the same path.
    fn is_plain(&self) -> bool {
        !self.has_wildcard() && !self.pattern.anchored
    }

    /// Whether no path matches both patterns, because their literal prefixes differ.
    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        let a = self.literal_prefix();
        let b = other.literal_prefix();
        !a.starts_with(b) && !b.starts_with(a)
    }

    fn literal_prefix(&self) -> &[u8] {
        &self.pattern.text[..self.literal_len]
    }
}

impl<'a> RuleReadings<'a> {
    /// The readings of a rule in the file as `profile` reads it, and of `other_rule`, which is the
    /// rule of the same line in the other profile.
    fn new(
        group: usize,
        rule: &Rule<'a>,
        profile: Profile,
        other_rule: Option<&Rule<'a>>,
        inexact: &HashSet<u32>,
    ) -> Self {
        let kind = rule.kind();
        let other_profile = match profile {
            Profile::Google => Profile::Rfc9309,
            Profile::Rfc9309 => Profile::Google,
        };
        // A line that the other profile does not read is not exact. Its rule is read there too, so
        // that fewer rules are found superfluous.
        let read = || Pattern::of_rule(rule.value(), kind == RuleKind::Allow, other_profile);
        let other = other_rule.map_or_else(read, |other| other.to_patterns());
        let own = rule.to_patterns();
        let (google, rfc) = match profile {
            Profile::Google => (own, other),
            Profile::Rfc9309 => (other, own),
        };
        let reading = |pattern| Reading::new(pattern, kind);
        let is_read_alike = other_rule
            .is_some_and(|other| other.kind() == kind && other.text().len() == rule.text().len());
        Self {
            group,
            line: rule.line(),
            text: rule.text(),
            kind,
            is_exact: is_read_alike && !inexact.contains(&rule.line()),
            google: reading(google.pattern),
            rfc: reading(rfc.pattern),
            folder: google.further.into_vec().into_iter().next().map(reading),
            rfc_further: rfc.further.into_vec().into_iter().map(reading).collect(),
        }
    }

    /// Whether it is a disallow of every URL, for all parsers.
    pub(super) fn refuses_all(&self) -> bool {
        self.kind == RuleKind::Disallow
            && self.is_exact
            && self.google.covers_all()
            && self.rfc.covers_all()
    }

    /// Whether another rule, which may change, can decide whether this one is superfluous. A rule of
    /// the same kind can only if it may decide in its place.
    pub(super) fn may_depend_on(&self, other: &Reading<'_>) -> bool {
        let is_same_kind = other.rank.1 == (self.kind == RuleKind::Allow);
        // The further patterns of a rule match other paths.
        match (self.has_further(), is_same_kind) {
            (true, _) => true,
            (false, true) => other.covers(&self.google) || other.covers(&self.rfc),
            (false, false) => !self.google.is_disjoint(other) || !self.rfc.is_disjoint(other),
        }
    }

    /// Whether it has a further pattern in either profile.
    pub(super) fn has_further(&self) -> bool {
        self.folder.is_some() || !self.rfc_further.is_empty()
    }

    /// Whether it matches any URL.
    fn has_effect(&self) -> bool {
        self.google.pattern.can_match() && self.rfc.pattern.can_match()
    }

    /// Whether this rule may go because `other` decides in its place. A path without wildcards
    /// stays beside one of the same kind with them, because some parsers read the former alone.
    pub(super) fn may_yield_to(&self, other: &Self) -> bool {
        self.kind != other.kind || !self.google.is_plain() || other.google.is_plain()
    }

    /// Whether both match the same paths, as `/*a` and `/*a*` do.
    pub(super) fn has_same_paths(&self, other: &Self) -> bool {
        [(&self.google, &other.google), (&self.rfc, &other.rfc)]
            .iter()
            .all(|(own, other)| own.covers(other) && other.covers(own))
    }

    /// Whether this rule has precedence on every path that `other` matches, so that `other` never
    /// decides. A further pattern of `other`, such as the folder of an index page, may decide, so
    /// the answer is then no.
    pub(super) fn overrides(&self, other: &Self) -> bool {
        !other.has_further()
            && self.google.overrides(&other.google)
            && self.rfc.overrides(&other.rfc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn reading(value: &str) -> Reading<'_> {
        Reading::new(
            Pattern::new(value.as_bytes(), Profile::Google),
            RuleKind::Disallow,
        )
    }

    #[test]
    fn covering_is_decided() {
        for (q, r) in [
            ("/", "/a"),
            ("/a", "/a"),
            ("/a", "/a$"),
            ("/a*", "/a"),
            ("/*", "/"),
            ("/*b", "/a*b"),
            ("/*b", "/ab/c*d"),
            ("/*$", "/a"),
            ("/*b$", "/a*b$"),
            ("/*a*", "/*xa"),
        ] {
            assert!(reading(q).covers(&reading(r)), "{q} {r}");
        }
        for (q, r) in [
            ("/a", "/"),
            ("/a$", "/a"),
            ("/a*b", "/a*"),
            ("/ab", "/a*b"),
            ("/*b$", "/a*b"),
            ("/*ab", "/a*b"),
        ] {
            assert!(!reading(q).covers(&reading(r)), "{q} {r}");
        }
    }
}
