//! Rules without effect: duplicates, rules that another always overrides, and redundant ones.
//!
//! A finding holds for every agent and both profiles. An agent obeys all groups that name it, so a
//! rule counts once for each audience of its group: each set of agents that obey the same groups. A
//! rule is superfluous if it is superfluous in each of them. Some parsers obey only the first or the
//! last group of an agent, so it must be superfluous in its own group alone, too. So no group loses
//! all of its rules, which would join it with the next one.
//!
//! So that parsers without wildcards lose nothing either, a path without them never yields to one of
//! the same kind with them.
//!
//! Any of the reported rules can be removed, alone or together. A rule is compared with rules of
//! lower rank, and with rules that decide instead of it. The last of these is never reported.

use crate::lint::budget::Budget;
use crate::lint::code::Code;
use crate::lint::edits::LineFix;
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::readings::{Audience, Rank, Reading, RuleReadings, rules_of};
use crate::lint::unsettled::{OpenReading, UnsettledGroups};
use crate::profile::Profile;
use crate::robots::RuleKind;
use crate::robots::pattern::Pattern;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Among more rules, only equal patterns are compared, because the number of comparisons grows with
/// the square. The largest group in a corpus of 40,000 hosts has 7,368 rules.
const MAX_COMPARED: usize = 1 << 13;

/// The same for comparisons with wildcard rules, which cost some twenty times as much as others. It
/// bounds the time of a hostile file to seconds.
const MAX_WILDCARD_COMPARISONS: usize = 1 << 23;

/// Audiences together may have this many times the rules of the file; the groups of further ones
/// have no findings. Names in overlapping groups would otherwise multiply the rules of a hostile
/// file, as for `compile`.
const MAX_MERGED: usize = 4;

/// The other rule that decides may be in another group, but the group of this one has a rule, too.
const REMOVE: &str = "remove the line";

/// Checks the rules of all groups.
pub(super) fn check(
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    unsettled: &UnsettledGroups,
    findings: &mut FindingCollector,
) {
    if unsettled.is_whole_file {
        return;
    }
    // Groups that may get another name, as if no other group had their names.
    let alone: Vec<Vec<usize>> = unsettled.alone.iter().map(|group| vec![*group]).collect();
    // Agents obey different sets of rules, and a rule may be superfluous in some only. So each
    // audience is checked alone, and a rule is reported if all audiences agree.
    let mut states: HashMap<u32, State<'_, '_>> = HashMap::new();
    let mut unchecked = unsettled.groups.clone();
    let repeated = repeated_in_group(rules, &unsettled.open_lines);
    let mut budget = Budget::new(rules.len() * MAX_MERGED);
    let needed = needed_in_own_group(rules, audiences, &mut budget);
    for groups in alone
        .iter()
        .chain(audiences.iter().map(|audience| &audience.groups))
    {
        let len = groups
            .iter()
            .map(|group| rules_of(rules, *group).len())
            .sum();
        if !budget.take_rules(len) {
            unchecked.extend(groups);
            continue;
        }
        let own: Vec<&RuleReadings<'_>> = groups
            .iter()
            .flat_map(|group| rules_of(rules, *group))
            .collect();
        let open = groups
            .iter()
            .filter_map(|group| unsettled.open_rules.get(group));
        let open: Vec<&OpenReading> = open.flatten().collect();
        let mut superfluous = superfluous_rules(&own, &mut budget);
        drop_unsettled(&own, &open, &repeated, &mut superfluous, &mut budget);
        for rule in own {
            let reason = superfluous.get(&rule.line).copied();
            states
                .entry(rule.line)
                .and_modify(|state| state.add(reason))
                .or_insert_with(|| State::new(reason));
        }
    }
    for rule in rules {
        if !unchecked.contains(&rule.group) {
            if let Some(State::Superfluous(reason, other)) = states.get(&rule.line) {
                // A contradiction of two groups is worth a finding: its author chooses one rule.
                if reason.is_contradiction(rule) || !needed.contains(&rule.line) {
                    add_superfluous(rule, reason, other.as_ref(), findings);
                }
            }
        } else if let Some(other) = repeated.get(&rule.line) {
            let code = Code::DuplicateRule;
            add_superfluous(rule, &Reason { code, other }, None, findings);
        }
    }
}

/// The rules that repeat an earlier one of their own group, by line, with that rule. They stay
/// superfluous whatever other findings change, unless they have one themselves.
fn repeated_in_group<'r, 'a>(
    rules: &'r [RuleReadings<'a>],
    open_lines: &HashSet<u32>,
) -> HashMap<u32, &'r RuleReadings<'a>> {
    let mut repeated = HashMap::new();
    for group in rules.chunk_by(|a, b| a.group == b.group) {
        let group: Vec<&RuleReadings<'_>> = group.iter().collect();
        let mut reasons = HashMap::new();
        without_duplicates(&group, &mut reasons);
        reasons.retain(|line, _| !open_lines.contains(line));
        repeated.extend(
            reasons
                .into_iter()
                .map(|(line, reason)| (line, reason.other)),
        );
    }
    repeated
}

/// The lines of the rules that are superfluous only together with other groups of the same agents.
///
/// RFC 9309 merges such groups, but some parsers obey one of them alone, such as the
/// `urllib.robotparser` of Python 3.13.0 the first. Without the rule, they would allow its paths.
fn needed_in_own_group(
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    budget: &mut Budget,
) -> HashSet<u32> {
    let merged: BTreeSet<usize> = audiences
        .iter()
        .filter(|audience| audience.groups.len() > 1)
        .flat_map(|audience| audience.groups.iter().copied())
        .collect();
    let mut needed = HashSet::new();
    for group in merged {
        let own: Vec<&RuleReadings<'_>> = rules_of(rules, group).iter().collect();
        // Without a comparison, every rule counts as needed.
        let superfluous = match budget.take_rules(own.len()) {
            true => superfluous_rules(&own, budget),
            false => HashMap::new(),
        };
        let lines = own.iter().map(|rule| rule.line);
        needed.extend(lines.filter(|line| !superfluous.contains_key(line)));
    }
    needed
}

/// Whether all these rules may be compared with each other.
fn may_compare(rules: &[&RuleReadings<'_>], budget: &mut Budget) -> bool {
    let wildcard_rules = rules.iter().filter(|rule| rule.google.has_wildcard());
    let wildcard = rules.len() * wildcard_rules.count();
    rules.len() <= MAX_COMPARED
        && wildcard <= MAX_WILDCARD_COMPARISONS
        && budget.take_comparisons(rules.len() * rules.len(), wildcard)
}

/// Why a rule is superfluous for one audience.
#[derive(Clone, Copy)]
struct Reason<'r, 'a> {
    code: Code,
    /// The rule that decides in its place.
    other: &'r RuleReadings<'a>,
}

impl Reason<'_, '_> {
    /// Whether a rule with this reason contradicts the rule that decides in its place.
    fn is_contradiction(&self, rule: &RuleReadings<'_>) -> bool {
        self.code == Code::NeverDecides && self.other.kind != rule.kind
    }

    fn is_same(&self, other: &Self) -> bool {
        self.code == other.code && self.other.line == other.other.line
    }
}

/// The state of a rule after some of its audiences.
enum State<'r, 'a> {
    /// Superfluous for all so far: the reason for the first, and the first that differs from it.
    /// The code of the former is that of all, or [`Code::RedundantRule`] if they differ.
    Superfluous(Reason<'r, 'a>, Option<Reason<'r, 'a>>),
    Necessary,
}

impl<'r, 'a> State<'r, 'a> {
    fn new(reason: Option<Reason<'r, 'a>>) -> Self {
        reason.map_or(Self::Necessary, |reason| Self::Superfluous(reason, None))
    }

    fn add(&mut self, reason: Option<Reason<'r, 'a>>) {
        match (&mut *self, reason) {
            (Self::Superfluous(first, differing), Some(reason)) => {
                if differing.is_none() && !first.is_same(&reason) {
                    *differing = Some(reason);
                }
                if first.code != reason.code {
                    first.code = Code::RedundantRule;
                }
            }
            _ => *self = Self::Necessary,
        }
    }
}

fn add_superfluous(
    rule: &RuleReadings<'_>,
    reason: &Reason<'_, '_>,
    differing: Option<&Reason<'_, '_>>,
    findings: &mut FindingCollector,
) {
    findings.add_fixable(rule.line, reason.code, || {
        let (message, help) = describe(rule, reason, differing);
        // An allow and a disallow contradict each other, and the author must choose.
        let fix = (!reason.is_contradiction(rule)).then(|| LineFix::remove(rule.line));
        FindingTexts { message, help, fix }
    });
}

/// The message and the help of a superfluous rule.
fn describe(
    rule: &RuleReadings<'_>,
    reason: &Reason<'_, '_>,
    differing: Option<&Reason<'_, '_>>,
) -> (String, String) {
    let text = quote(rule.text);
    let other = reason.other;
    let other_text = quote(other.text);
    let line = other.line;
    // The agents of different groups may have different reasons; two of them suffice.
    if let Some(Reason { other: second, .. }) = differing {
        let message = format!(
            "{text} changes nothing: for some of its agents {other_text} on line {line} \
             decides in its place, for others {} on line {}",
            quote(second.text),
            second.line
        );
        return (message, REMOVE.to_owned());
    }
    match reason.code {
        Code::DuplicateRule => (
            format!("{text} repeats line {line} for the same agents"),
            REMOVE.to_owned(),
        ),
        Code::NeverDecides => describe_override(rule, other),
        _ => {
            let kind = rule.kind.name();
            let message = format!(
                "{text} changes nothing: without it, {other_text} on line {line} gives the \
                 same {kind} for every URL"
            );
            (message, REMOVE.to_owned())
        }
    }
}

fn describe_override(rule: &RuleReadings<'_>, winner: &RuleReadings<'_>) -> (String, String) {
    let line = winner.line;
    let is_longer = winner.google.rank.0 > rule.google.rank.0;
    let reason = if is_longer {
        "its path is longer"
    } else {
        "allow wins between paths of equal length"
    };
    let message = format!(
        "{} never decides: {} on line {line} matches every URL that it matches, and {reason}",
        quote(rule.text),
        quote(winner.text)
    );
    let help = match (winner.kind == rule.kind, winner.group == rule.group) {
        (true, _) => REMOVE.to_owned(),
        (false, true) => format!("remove this line, or line {line} if this one is meant to decide"),
        // A group without its only rule would be joined with the next one.
        (false, false) => format!(
            "write one group for these agents, with this rule or with that of line {line}, \
             whichever is meant to decide"
        ),
    };
    (message, help)
}

/// The superfluous ones of the rules that one audience obeys, by line.
fn superfluous_rules<'r, 'a>(
    rules: &[&'r RuleReadings<'a>],
    budget: &mut Budget,
) -> HashMap<u32, Reason<'r, 'a>> {
    let mut reasons = HashMap::new();
    let unique = without_duplicates(rules, &mut reasons);
    if may_compare(&unique, budget) {
        add_overridden(&unique, &mut reasons);
        add_redundant(&unique, &mut reasons);
    } else {
        let mut by_pattern: BTreeMap<&[u8], Vec<&RuleReadings<'_>>> = BTreeMap::new();
        for &rule in &unique {
            by_pattern
                .entry(&rule.google.starred)
                .or_default()
                .push(rule);
        }
        for equal in by_pattern.values() {
            add_overridden(equal, &mut reasons);
        }
    }
    reasons
}

/// Drops the reasons of rules that share a path with an open or a contested one. The latter is an
/// allow that always wins over a disallow, or the reverse: its author may remove either of them, and
/// needs the other rules then. Rules that only repeat others of their group are not contested.
fn drop_unsettled<'r, 'a>(
    rules: &[&'r RuleReadings<'a>],
    open: &[&OpenReading],
    repeated: &HashMap<u32, &RuleReadings<'_>>,
    reasons: &mut HashMap<u32, Reason<'r, 'a>>,
    budget: &mut Budget,
) {
    let mut contested: HashMap<u32, &RuleReadings<'_>> = HashMap::new();
    let mut settled = Vec::new();
    for &rule in rules {
        match reasons.get(&rule.line) {
            Some(reason) if reason.is_contradiction(rule) => {
                contested.insert(reason.other.line, reason.other);
            }
            Some(reason) if !repeated.contains_key(&rule.line) => {
                settled.push((rule, reason.other));
            }
            _ => {}
        }
    }
    let contested: Vec<&Reading<'_>> = contested
        .values()
        .flat_map(|rule| [&rule.google, &rule.rfc])
        .collect();
    let wildcard = contested
        .iter()
        .filter(|reading| reading.has_wildcard())
        .count()
        + open
            .iter()
            .filter(|open| open.reading.has_wildcard())
            .count();
    let all = contested.len() + open.len();
    let is_compared = budget.take_comparisons(all * settled.len(), wildcard * settled.len());
    for (rule, other) in settled {
        if !is_compared
            || contested.iter().any(|reading| rule.may_depend_on(reading))
            || open.iter().any(|open| depends_on(rule, other, open))
        {
            reasons.remove(&rule.line);
        }
    }
}

/// Whether a rule may be superfluous, with `other` in its place, only until an open rule is mended.
fn depends_on(rule: &RuleReadings<'_>, other: &RuleReadings<'_>, open: &OpenReading) -> bool {
    // A rank that changes matters only if it passes that of one of the two.
    let ranks = [&rule.google, &rule.rfc, &other.google, &other.rfc].map(|reading| reading.rank);
    let passes = |mended: Rank| {
        ranks
            .iter()
            .any(|rank| (open.reading.rank < *rank) != (mended < *rank))
    };
    open.mended_rank.is_none_or(passes) && rule.may_depend_on(&open.reading)
}

/// Removes all but the first of equal rules.
fn without_duplicates<'r, 'a>(
    rules: &[&'r RuleReadings<'a>],
    reasons: &mut HashMap<u32, Reason<'r, 'a>>,
) -> Vec<&'r RuleReadings<'a>> {
    let mut firsts: HashMap<(RuleKind, &Pattern<'a>, &Pattern<'a>), &'r RuleReadings<'a>> =
        HashMap::new();
    let mut unique = Vec::with_capacity(rules.len());
    for &rule in rules {
        // Parsers that ignore an inexact line need its duplicate, so neither is removed.
        if rule.is_exact {
            let first = *firsts
                .entry((rule.kind, &rule.google.pattern, &rule.rfc.pattern))
                .or_insert(rule);
            if first.line != rule.line {
                reasons.insert(
                    rule.line,
                    Reason {
                        code: Code::DuplicateRule,
                        other: first,
                    },
                );
                continue;
            }
        }
        unique.push(rule);
    }
    unique
}

/// Adds the rules that another rule overrides everywhere, for all parsers.
///
/// `/a*` overrides `/a`, but is the one that can go: it is redundant, and each parser reads `/a`.
fn add_overridden<'r, 'a>(
    rules: &[&'r RuleReadings<'a>],
    reasons: &mut HashMap<u32, Reason<'r, 'a>>,
) {
    for rule in rules.iter().filter(|rule| rule.is_exact) {
        let may_replace = |winner: &RuleReadings<'_>| {
            winner.is_exact
                && winner.overrides(rule)
                && rule.may_yield_to(winner)
                && (winner.kind != rule.kind || !winner.has_same_paths(rule))
        };
        if let Some(winner) = rules.iter().find(|winner| may_replace(winner)) {
            reasons.insert(
                rule.line,
                Reason {
                    code: Code::NeverDecides,
                    other: winner,
                },
            );
        }
    }
}

/// A pattern of a rule in the order of precedence.
struct Ranked<'r, 'a> {
    reading: &'r Reading<'a>,
    rule: &'r RuleReadings<'a>,
    /// Not the first pattern of the rule, but such as the folder of an index page.
    is_further: bool,
}

/// Adds the rules without which a shorter one decides in the same way. The reasons have the
/// overridden ones.
///
/// From a rule downwards in the order of precedence, each rule that may share a path with it is
/// examined. If the first of the other kind comes later than one of the same kind that covers the
/// rule, then the rule changes nothing.
fn add_redundant<'r, 'a>(
    rules: &[&'r RuleReadings<'a>],
    reasons: &mut HashMap<u32, Reason<'r, 'a>>,
) {
    let by_google = redundancies(rules, reasons, Profile::Google);
    let by_rfc = redundancies(rules, reasons, Profile::Rfc9309);
    for rule in rules {
        if let (Some(other), true) = (by_google.get(&rule.line), by_rfc.contains_key(&rule.line)) {
            reasons.entry(rule.line).or_insert(Reason {
                code: Code::RedundantRule,
                other,
            });
        }
    }
}

/// For the lines of redundant rules, the rule that decides without each. Overridden rules do not
/// count as such, so that all reported rules can be removed together.
fn redundancies<'r, 'a>(
    rules: &[&'r RuleReadings<'a>],
    overridden: &HashMap<u32, Reason<'r, 'a>>,
    profile: Profile,
) -> HashMap<u32, &'r RuleReadings<'a>> {
    let mut order: Vec<Ranked<'r, 'a>> = Vec::with_capacity(rules.len());
    for &rule in rules {
        let (reading, further) = match profile {
            Profile::Google => (&rule.google, rule.folder.as_slice()),
            Profile::Rfc9309 => (&rule.rfc, rule.rfc_further.as_slice()),
        };
        order.push(Ranked {
            reading,
            rule,
            is_further: false,
        });
        order.extend(further.iter().map(|reading| Ranked {
            reading,
            rule,
            is_further: true,
        }));
    }
    // Of equal rules, the later one is redundant, never both.
    order.sort_by_key(|ranked| Reverse((ranked.reading.rank, ranked.rule.line)));
    let mut redundant = HashMap::new();
    for (at, ranked) in order.iter().enumerate() {
        if ranked.is_further || ranked.rule.has_further() || !ranked.rule.is_exact {
            continue;
        }
        // Without the rule, the next lower rules decide its paths. It is redundant if one of them
        // covers it before a rule of the other kind can match.
        let cover = order[at + 1..]
            .iter()
            .filter(|other| !other.reading.is_disjoint(ranked.reading))
            .take_while(|other| other.rule.kind == ranked.rule.kind)
            .find(|other| {
                let is_kept = other.rule.is_exact && !overridden.contains_key(&other.rule.line);
                !other.is_further
                    && is_kept
                    && ranked.rule.may_yield_to(other.rule)
                    && other.reading.covers(ranked.reading)
            });
        if let Some(cover) = cover {
            redundant.insert(ranked.rule.line, cover.rule);
        }
    }
    redundant
}
