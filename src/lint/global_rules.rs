//! Groups that silently replace the rules of `*`.
//!
//! A crawler that any group names obeys these groups alone (RFC 9309 §2.2.1). Authors who repeat
//! nothing from the groups of `*` often expect their rules to add up.
//!
//! A rule of `*` counts as dropped only if a path shows it: the groups of `*` refuse the path, and
//! the groups of the named crawler have no rule for it. So a group that states its wish, with
//! `Allow: /`, `Disallow: /` or an empty `Disallow:`, is not reported.

use crate::lint::agents::{GROUP_FIELDS, value_of};
use crate::lint::code::Code;
use crate::lint::finding::{FindingCollector, quote};
use crate::lint::readings::{Audience, Reading, RuleReadings, rules_of};
use crate::robots::{RobotsRef, RuleKind};
use std::collections::HashSet;

/// The most comparisons of a path with a rule. Hostile files have many groups and many rules of
/// `*`.
const MAX_COMPARISONS: usize = 1 << 22;

/// Compares the rules of `*` with those of every other audience.
pub(super) fn check(
    robots: &RobotsRef<'_>,
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    findings: &mut FindingCollector,
) {
    let Some(global) = audiences.iter().find(|audience| audience.is_global) else {
        return;
    };
    let global_rules = rules_obeyed(rules, global);
    // Where `*` may fetch nothing, a group for a crawler is an exception, and replaces it on
    // purpose.
    if global_rules.iter().any(|rule| rule.refuses_all()) {
        return;
    }
    let refused = refused_paths(&global_rules);
    if refused.is_empty() {
        return;
    }
    let mut lines = HashSet::new();
    let mut budget = MAX_COMPARISONS;
    for audience in audiences.iter().filter(|audience| !audience.is_global) {
        let len: usize = audience
            .groups
            .iter()
            .map(|group| rules_of(rules, *group).len())
            .sum();
        let Some(left) = budget.checked_sub(len * refused.len()) else {
            return;
        };
        budget = left;
        if len == 0 && is_stated_or_empty(robots, audience) {
            continue;
        }
        let own = rules_obeyed(rules, audience);
        let dropped: Vec<&RefusedPath<'_, '_>> = refused
            .iter()
            .filter(|path| !own.iter().any(|rule| path.is_matched_by(rule)))
            .collect();
        // A line has up to two names, so two audiences may begin at it.
        if let [first, ..] = dropped[..]
            && lines.insert(audience.first.line())
        {
            add_finding(audience, first.rule, dropped.len(), findings);
        }
    }
}

/// The rules that an audience obeys.
fn rules_obeyed<'r, 'a>(
    rules: &'r [RuleReadings<'a>],
    audience: &Audience<'_, '_>,
) -> Vec<&'r RuleReadings<'a>> {
    audience
        .groups
        .iter()
        .flat_map(|group| rules_of(rules, *group))
        .collect()
}

/// Whether groups without paths say themselves that everything is allowed, with an empty rule, or
/// have no purpose, which is the finding `empty-group`.
fn is_stated_or_empty(robots: &RobotsRef<'_>, audience: &Audience<'_, '_>) -> bool {
    let has_rule_lines = audience
        .groups
        .iter()
        .any(|group| !robots.groups()[*group].rules().is_empty());
    has_rule_lines
        || !robots.other_fields().iter().any(|field| {
            let is_own = field
                .group()
                .is_some_and(|group| audience.groups.binary_search(&group).is_ok());
            is_own && GROUP_FIELDS.contains(&field.name())
        })
}

/// A path that a rule of `*` refuses, as both profiles read it.
struct RefusedPath<'r, 'a> {
    rule: &'r RuleReadings<'a>,
    google: Vec<u8>,
    rfc: Vec<u8>,
}

impl RefusedPath<'_, '_> {
    /// Whether a rule is about this path, in either profile.
    fn is_matched_by(&self, rule: &RuleReadings<'_>) -> bool {
        rule.google.pattern.matches(&self.google)
            || rule.rfc.pattern.matches(&self.rfc)
            || rule
                .folder
                .as_ref()
                .is_some_and(|folder| folder.pattern.matches(&self.google))
            || rule
                .rfc_further
                .iter()
                .any(|further| further.pattern.matches(&self.rfc))
    }
}

/// For each disallow a path that it matches and that the rules refuse in both profiles, if there is
/// one.
fn refused_paths<'r, 'a>(rules: &[&'r RuleReadings<'a>]) -> Vec<RefusedPath<'r, 'a>> {
    // Each costs a comparison with all rules.
    let most = MAX_COMPARISONS / rules.len().max(1);
    let disallows = rules
        .iter()
        .filter(|rule| rule.kind == RuleKind::Disallow && rule.is_exact)
        .take(most);
    let paths = disallows.map(|rule| RefusedPath {
        rule,
        google: example(&rule.google),
        rfc: example(&rule.rfc),
    });
    paths.filter(|path| is_refused(rules, path)).collect()
}

/// A path that a pattern matches. Each star becomes a character that few rules have.
fn example(reading: &Reading<'_>) -> Vec<u8> {
    let path: Vec<u8> = reading
        .pattern
        .text
        .iter()
        .map(|&byte| if byte == b'*' { b'~' } else { byte })
        .collect();
    if path.starts_with(b"/") {
        path
    } else {
        [b"/", path.as_slice()].concat()
    }
}

/// Whether a disallow decides on a path in both profiles.
fn is_refused(rules: &[&RuleReadings<'_>], path: &RefusedPath<'_, '_>) -> bool {
    let by_google = rules
        .iter()
        .flat_map(|rule| std::iter::once(&rule.google).chain(&rule.folder));
    let google = by_google
        .filter(|reading| reading.pattern.matches(&path.google))
        .map(|reading| reading.rank)
        .max();
    let by_rfc = rules
        .iter()
        .flat_map(|rule| std::iter::once(&rule.rfc).chain(&rule.rfc_further))
        .filter(|reading| reading.pattern.matches(&path.rfc));
    let rfc = by_rfc.map(|reading| reading.rank).max();
    [google, rfc]
        .into_iter()
        .all(|best| best.is_some_and(|(_, is_allow)| !is_allow))
}

fn add_finding(
    audience: &Audience<'_, '_>,
    rule: &RuleReadings<'_>,
    count: usize,
    findings: &mut FindingCollector,
) {
    findings.add(audience.first.line(), Code::GroupReplacesGlobal, || {
        let name = quote(value_of(audience.first));
        let text = quote(rule.text);
        let line = rule.line;
        let message = match count {
            1 => format!(
                "{name} obeys the groups that name it and none of `*`, so {text} on line {line} \
                 does not apply to it"
            ),
            _ => format!(
                "{name} obeys the groups that name it and none of `*`, so {count} rules of `*` do \
                 not apply to it, such as {text} on line {line}"
            ),
        };
        let help = "repeat in this group the rules of `*` that are meant for it too, or write \
                    `Allow:` lines for what it may fetch";
        (message, help.to_owned())
    });
}
