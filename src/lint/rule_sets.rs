//! Rules without effect: duplicates, rules that another always overrides, and redundant ones.
//!
//! A pattern Q *covers* a pattern R if every path that R matches, Q matches too. The test is
//! one-sided, so that no finding is wrong: Q is matched with the text of R, in which each `*` of R is
//! a character that only a `*` of Q matches. A match carries over to every path of R, because
//! whatever replaces a star of R is inside the part that the star of Q took. For literal prefixes the
//! test is exact. Of rules with wildcards it misses some, and no union of rules covers another.
//!
//! A finding holds for every agent and both profiles. Rules are compared only if the same agents
//! obey them: within a group, and between groups with the same names.

use crate::lint::agents::name_of;
use crate::lint::code::Code;
use crate::lint::finding::{FindingCollector, quote};
use crate::robots::pattern::Pattern;
use crate::robots::{Group, Robots, Rule, RuleKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Among more rules, only equal patterns are compared, because the number of comparisons grows with
/// the square. The largest group in a corpus of 40,000 hosts has 7,368 rules.
const MAX_COMPARED: usize = 1 << 13;

/// The same for comparisons with wildcard rules, which cost some twenty times as much as others. It
/// bounds the time of a hostile file to seconds.
const MAX_WILDCARD_COMPARISONS: usize = 1 << 23;

/// A group that loses its last rule would be joined with the next group.
const REMOVE: &str = "remove the line, or its whole group if it has no other rule";

/// Checks the rules of all groups. `google` and `rfc` are the same file, parsed for both profiles.
/// `inexact` are the lines that not every parser reads: they are not reported here, and make no rule
/// superfluous.
pub(super) fn check(google: &Robots<'_>, rfc: &Robots<'_>, inexact: &HashSet<u32>, findings: &mut FindingCollector) {
    // Sorted, so that the order of findings is fixed.
    let mut classes: BTreeMap<Vec<&[u8]>, Vec<RuleReadings<'_>>> = BTreeMap::new();
    for (group, rfc) in google.groups().iter().zip(rfc.groups()) {
        let readings =
            group.rules().iter().zip(rfc.rules()).map(|(google, rfc)| RuleReadings::new(google, rfc, inexact));
        let readings = readings.filter(RuleReadings::has_effect);
        classes.entry(names(group)).or_default().extend(readings);
    }
    for rules in classes.into_values() {
        check_class(rules, findings);
    }
}

/// The names of a group in canonical form: groups with equal names apply to the same agents.
fn names<'a>(group: &'a Group<'_>) -> Vec<&'a [u8]> {
    let mut names: Vec<&[u8]> = group.agents().iter().map(name_of).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A rule as both profiles read it.
struct RuleReadings<'a> {
    line: u32,
    text: &'a [u8],
    kind: RuleKind,
    /// Every parser reads the line.
    is_exact: bool,
    google: Reading<'a>,
    rfc: Reading<'a>,
    /// The second pattern of `Allow: …/index.html` under Google.
    folder: Option<Reading<'a>>,
}

/// A rule as one profile reads it.
#[derive(Clone)]
struct Reading<'a> {
    pattern: Pattern<'a>,
    /// The length of the literal prefix. Every pair of rules compares it, and searches for the star
    /// were two fifths of the time of a survey.
    literal_len: usize,
    rank: Rank,
    /// The text in which each star is a character of its own; a pattern without anchor ends in one.
    starred: Vec<u8>,
}

/// The precedence of a matching rule: its length, then allow over disallow.
type Rank = (usize, bool);

impl<'a> Reading<'a> {
    fn new(pattern: Pattern<'a>, kind: RuleKind) -> Self {
        let rank = (pattern.priority(), kind == RuleKind::Allow);
        let end: &[u8] = if pattern.anchored { b"" } else { b"*" };
        let starred = [&pattern.text, end].concat();
        let literal_len = memchr::memchr(b'*', &pattern.text).unwrap_or(pattern.text.len());
        Self { pattern, literal_len, rank, starred }
    }

    /// Whether this pattern provably matches every path that `other` matches.
    fn covers(&self, other: &Self) -> bool {
        other.starred.starts_with(self.literal_prefix()) && self.pattern.matches(&other.starred)
    }

    /// Whether no path matches both patterns, because their literal prefixes differ.
    fn is_disjoint(&self, other: &Self) -> bool {
        let (a, b) = (self.literal_prefix(), other.literal_prefix());
        !a.starts_with(b) && !b.starts_with(a)
    }

    fn literal_prefix(&self) -> &[u8] {
        &self.pattern.text[..self.literal_len]
    }
}

impl<'a> RuleReadings<'a> {
    fn new(google: &Rule<'a>, rfc: &Rule<'a>, inexact: &HashSet<u32>) -> Self {
        let kind = google.kind();
        let folder = (kind == RuleKind::Allow).then(|| google.pattern().index_folder()).flatten();
        Self {
            line: google.line(),
            text: google.text(),
            kind,
            is_exact: !inexact.contains(&google.line()),
            google: Reading::new(google.pattern().clone(), kind),
            rfc: Reading::new(rfc.pattern().clone(), kind),
            folder: folder.map(|folder| Reading::new(folder, kind)),
        }
    }

    fn has_effect(&self) -> bool {
        self.google.pattern.can_match() && self.rfc.pattern.can_match()
    }

    /// Whether this rule has precedence on every path that `other` matches, so that `other` never
    /// decides. The folder of an index page is a second pattern of `other`, so the answer is then
    /// no.
    fn overrides(&self, other: &Self) -> bool {
        let has_precedence =
            |winner: &Reading<'_>, loser: &Reading<'_>| winner.rank > loser.rank && winner.covers(loser);
        other.folder.is_none() && has_precedence(&self.google, &other.google) && has_precedence(&self.rfc, &other.rfc)
    }
}

/// Checks rules that the same agents obey.
fn check_class(rules: Vec<RuleReadings<'_>>, findings: &mut FindingCollector) {
    let rules = without_duplicates(rules, findings);
    let wildcard_rules = rules.iter().filter(|rule| rule.google.pattern.text.contains(&b'*')).count();
    if rules.len() <= MAX_COMPARED && rules.len() * wildcard_rules <= MAX_WILDCARD_COMPARISONS {
        let overridden = check_overridden(&rules.iter().collect::<Vec<_>>(), findings);
        return check_redundant(&rules, &overridden, findings);
    }
    let mut by_pattern: BTreeMap<&[u8], Vec<&RuleReadings<'_>>> = BTreeMap::new();
    rules.iter().for_each(|rule| by_pattern.entry(&rule.google.starred).or_default().push(rule));
    for equal in by_pattern.values() {
        check_overridden(equal, findings);
    }
}

/// Reports and removes all but the first of equal rules.
fn without_duplicates<'a>(rules: Vec<RuleReadings<'a>>, findings: &mut FindingCollector) -> Vec<RuleReadings<'a>> {
    let mut first_lines: HashMap<(RuleKind, Pattern<'a>, Pattern<'a>), u32> = HashMap::new();
    let mut is_first = |rule: &RuleReadings<'a>| {
        if !rule.is_exact {
            return true;
        }
        let key = (rule.kind, rule.google.pattern.clone(), rule.rfc.pattern.clone());
        let first = *first_lines.entry(key).or_insert(rule.line);
        if first != rule.line {
            findings.add(rule.line, Code::DuplicateRule, || {
                (format!("{} repeats line {first} for the same agents", quote(rule.text)), REMOVE.to_owned())
            });
        }
        first == rule.line
    };
    rules.into_iter().filter(|rule| is_first(rule)).collect()
}

/// Reports the rules that another rule overrides everywhere, and returns their lines.
fn check_overridden(rules: &[&RuleReadings<'_>], findings: &mut FindingCollector) -> HashSet<u32> {
    let mut overridden = HashSet::new();
    for rule in rules {
        let Some(winner) = rules.iter().find(|winner| winner.overrides(rule)) else { continue };
        overridden.insert(rule.line);
        findings.add(rule.line, Code::NeverDecides, || {
            let (line, is_longer) = (winner.line, winner.google.rank.0 > rule.google.rank.0);
            let reason = if is_longer { "its path is longer" } else { "allow wins between paths of equal length" };
            let message = format!(
                "{} never decides: {} on line {line} matches every URL that it matches, and {reason}",
                quote(rule.text),
                quote(winner.text)
            );
            let help = match winner.kind == rule.kind {
                true => REMOVE.to_owned(),
                false => format!("remove this line, or line {line} if this one is meant to decide"),
            };
            (message, help)
        });
    }
    overridden
}

/// A rule, or the folder of an index page, in the order of precedence.
struct Ranked<'r, 'a> {
    reading: &'r Reading<'a>,
    rule: &'r RuleReadings<'a>,
    is_folder: bool,
}

/// Reports the rules without which a shorter one decides in the same way.
///
/// From a rule downwards in the order of precedence, each rule that may share a path with it is
/// examined. If the first of the other kind comes later than one of the same kind that covers the
/// rule, then the rule changes nothing.
fn check_redundant(rules: &[RuleReadings<'_>], overridden: &HashSet<u32>, findings: &mut FindingCollector) {
    let by_google = redundancies(rules, overridden, |rule| &rule.google, true);
    let by_rfc = redundancies(rules, overridden, |rule| &rule.rfc, false);
    for rule in rules.iter().filter(|rule| !overridden.contains(&rule.line)) {
        let (Some(other), true) = (by_google.get(&rule.line), by_rfc.contains_key(&rule.line)) else { continue };
        findings.add(rule.line, Code::RedundantRule, || {
            let (kind, line) = (rule.kind.name(), other.line);
            let message = format!(
                "{} changes nothing: without it, {} on line {line} gives the same {kind} for every URL",
                quote(rule.text),
                quote(other.text)
            );
            (message, REMOVE.to_owned())
        });
    }
}

/// For the lines of redundant rules, the rule that decides without each. Overridden rules do not
/// count as such, so that all reported rules can be removed together.
fn redundancies<'r, 'a>(
    rules: &'r [RuleReadings<'a>],
    overridden: &HashSet<u32>,
    reading: impl Fn(&'r RuleReadings<'a>) -> &'r Reading<'a>,
    has_folders: bool,
) -> HashMap<u32, &'r RuleReadings<'a>> {
    let own = rules.iter().map(|rule| Ranked { reading: reading(rule), rule, is_folder: false });
    let folders = rules.iter().filter(|_| has_folders).filter_map(|rule| {
        let reading = rule.folder.as_ref()?;
        Some(Ranked { reading, rule, is_folder: true })
    });
    let mut order: Vec<Ranked<'r, 'a>> = own.chain(folders).collect();
    // Of equal rules, the later one is redundant, never both.
    order.sort_by_key(|ranked| Reverse((ranked.reading.rank, ranked.rule.line)));
    let is_candidate =
        |ranked: &Ranked<'_, '_>| !ranked.is_folder && ranked.rule.folder.is_none() && ranked.rule.is_exact;
    let candidates = order.iter().enumerate().filter(|(_, ranked)| is_candidate(ranked));
    let found = candidates.filter_map(|(at, ranked)| {
        let mut below = order[at + 1..].iter().filter(|other| !other.reading.is_disjoint(ranked.reading));
        let same = |other: &&Ranked<'_, '_>| other.rule.kind == ranked.rule.kind;
        let is_cover = |other: &&Ranked<'_, '_>| {
            let is_kept = other.rule.is_exact && !overridden.contains(&other.rule.line);
            !other.is_folder && is_kept && other.reading.covers(ranked.reading)
        };
        let cover = below.by_ref().take_while(same).find(is_cover)?;
        Some((ranked.rule.line, cover.rule))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn reading(value: &str) -> Reading<'_> {
        Reading::new(Pattern::new(value.as_bytes(), Profile::Google), RuleKind::Disallow)
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
        for (q, r) in [("/a", "/"), ("/a$", "/a"), ("/a*b", "/a*"), ("/ab", "/a*b"), ("/*b$", "/a*b"), ("/*ab", "/a*b")]
        {
            assert!(!reading(q).covers(&reading(r)), "{q} {r}");
        }
    }
}
