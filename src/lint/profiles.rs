//! Rules that the profiles `google` and `rfc9309` read differently.

use crate::lint::budget::Budget;
use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::readings::{Audience, Rank, RuleReadings, rules_by_line, rules_of};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Group, RobotsRef, Rule, RuleKind};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Compares the rules of a file that is parsed for both profiles, except those of the lines in
/// `skipped`.
pub(super) fn check(
    google: &RobotsRef<'_>,
    rfc: &RobotsRef<'_>,
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    skipped: &HashSet<u32>,
    findings: &mut FindingCollector,
) {
    let rfc = rules_by_line(rfc);
    let merged: HashSet<usize> = audiences
        .iter()
        .filter(|audience| audience.groups.len() > 1)
        .flat_map(|audience| audience.groups.iter().copied())
        .collect();
    let mut budget = Budget::new(0);
    for (index, group) in google.groups().iter().enumerate() {
        let allowed = allowed_len(group);
        // Rules of other groups may decide on the paths of a group that is merged with them.
        let own = match merged.contains(&index) {
            true => &[],
            false => rules_of(rules, index),
        };
        let alike = lines_decided_alike(own, &mut budget);
        for google in group
            .rules()
            .iter()
            .filter(|rule| !skipped.contains(&rule.line()))
        {
            // Lines that RFC 9309 does not read, or reads longer, have findings of their own.
            let same = rfc.get(&google.line());
            let same = same.filter(|rfc| rfc.text().len() == google.text().len());
            if let Some(rfc) = same.filter(|_| google.pattern().can_match()) {
                let is_alike = alike.contains(&google.line());
                check_rule(google, rfc, allowed, is_alike, findings);
            }
        }
    }
}

/// The lines of rules that the profiles read differently, but that leave no URL to a different
/// verdict.
///
/// Either the file has the path in all its forms, such as `/a%3Ab` and `/a:b`, or the rule changes
/// nothing in either profile. In both cases, no rule of the other kind may come between those that
/// decide in its place. An author who wrote all forms has done what there is to do.
fn lines_decided_alike(rules: &[RuleReadings<'_>], budget: &mut Budget) -> HashSet<u32> {
    let mut forms: HashMap<(RuleKind, &Pattern<'_>), Forms<'_>> = HashMap::new();
    for rule in rules.iter().filter(|rule| rule.is_exact) {
        let key = (rule.kind, &rule.rfc.pattern);
        forms.entry(key).or_default().add(rule);
    }
    let differing = |rule: &&RuleReadings<'_>| {
        rule.is_exact && !rule.has_further() && rule.google.pattern != rule.rfc.pattern
    };
    let mut lines = HashSet::new();
    let wildcard = rules.iter().filter(|rule| rule.google.has_wildcard());
    let wildcard = wildcard.count();
    for rule in rules.iter().filter(differing) {
        // Without a comparison, the rule is reported.
        if !budget.take_comparisons(rules.len(), wildcard) {
            break;
        }
        let between = |low: Rank, high: Rank| {
            rules
                .iter()
                .filter(|other| other.kind != rule.kind && !are_disjoint(rule, other))
                .any(|other| {
                    let ranks = [other.google.rank, other.rfc.rank];
                    other.has_further() || ranks.iter().any(|rank| low <= *rank && *rank <= high)
                })
        };
        let own_low = rule.google.rank.min(rule.rfc.rank);
        let own_high = rule.google.rank.max(rule.rfc.rank);
        let forms = &forms[&(rule.kind, &rule.rfc.pattern)];
        // A path that no rule matches is allowed.
        let is_alike = (rule.kind == RuleKind::Allow && !between((0, false), own_high))
            || (forms.are_complete() && forms.ranks.is_some_and(|(low, high)| !between(low, high)))
            || highest_cover(rule, rules)
                .is_some_and(|rank| !between(own_low.min(rank), own_high.max(rank)));
        if is_alike {
            lines.insert(rule.line);
        }
    }
    lines
}

/// The rank of the rule that decides in place of this one for both profiles; of several, the highest.
/// Both must read it alike: of two rules that differ in the same way, one has an effect.
fn highest_cover(rule: &RuleReadings<'_>, rules: &[RuleReadings<'_>]) -> Option<Rank> {
    let covers = |other: &&RuleReadings<'_>| {
        other.kind == rule.kind
            && other.is_exact
            && !other.has_further()
            && other.google.pattern == other.rfc.pattern
            && other.google.covers(&rule.google)
            && other.rfc.covers(&rule.rfc)
    };
    let ranks = rules.iter().filter(covers).map(|other| other.google.rank);
    ranks.max()
}

/// The rules of a group that are one for RFC 9309, once their escapes are decoded.
#[derive(Default)]
struct Forms<'r> {
    google: HashSet<&'r [u8]>,
    /// The offsets in the decoded path that any of them escapes.
    escaped: BTreeSet<usize>,
    /// A pattern is not a form in which each character is either itself or its escape.
    is_other: bool,
    /// The lowest and the highest rank of both profiles.
    ranks: Option<(Rank, Rank)>,
}

/// With more escapes, the forms of a path are not counted.
const MAX_ESCAPED: usize = 8;

impl<'r> Forms<'r> {
    fn add(&mut self, rule: &'r RuleReadings<'_>) {
        let [google, rfc] = [&rule.google.pattern.text, &rule.rfc.pattern.text];
        match escaped_offsets(google, rfc) {
            Some(offsets) if !rule.has_further() => self.escaped.extend(offsets),
            _ => self.is_other = true,
        }
        self.google.insert(google);
        let low = rule.google.rank.min(rule.rfc.rank);
        let high = rule.google.rank.max(rule.rfc.rank);
        self.ranks = Some(match self.ranks {
            None => (low, high),
            Some(ranks) => (ranks.0.min(low), ranks.1.max(high)),
        });
    }

    /// Whether each set of the characters is escaped in one of the forms.
    fn are_complete(&self) -> bool {
        let count = self.escaped.len();
        !self.is_other && count <= MAX_ESCAPED && self.google.len() == 1 << count
    }
}

/// The offsets in `decoded` of the characters that are escapes in `path`; `None` if the texts differ
/// in anything else. Escapes of `*` and `$` have no other form.
fn escaped_offsets(path: &[u8], decoded: &[u8]) -> Option<Vec<usize>> {
    let mut offsets = Vec::new();
    let mut rest = path;
    for (at, byte) in decoded.iter().enumerate() {
        match rest {
            [first, tail @ ..] if first == byte => rest = tail,
            [b'%', high, low, tail @ ..] if !b"*$".contains(byte) => {
                let digits = [*high, *low];
                let code = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
                if code != *byte {
                    return None;
                }
                offsets.push(at);
                rest = tail;
            }
            _ => return None,
        }
    }
    rest.is_empty().then_some(offsets)
}

/// Whether no URL matches both rules.
fn are_disjoint(rule: &RuleReadings<'_>, other: &RuleReadings<'_>) -> bool {
    rule.google.is_disjoint(&other.google) && rule.rfc.is_disjoint(&other.rfc)
}
/// The path that parsers fetch in any case.
const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// The length of the longest allow of a group that matches `/robots.txt`; 0 without one.
fn allowed_len(group: &Group<'_>) -> usize {
    let allows = group.rules().iter();
    let patterns = allows
        .filter(|rule| rule.kind() == RuleKind::Allow)
        .map(Rule::pattern);
    let matching = patterns.filter(|pattern| pattern.matches(ROBOTS_TXT));
    matching.map(|pattern| len(&pattern)).max().unwrap_or(0)
}

/// The length of a pattern by which rules have precedence.
fn len(pattern: &Pattern<'_>) -> usize {
    pattern.text.len() + usize::from(pattern.anchored)
}

/// Checks a rule of a group whose allow of `/robots.txt` has the length `allowed`. `is_alike`: the
/// profiles read it differently, and give the same verdicts.
fn check_rule(
    google: &Rule<'_>,
    rfc: &Rule<'_>,
    allowed: usize,
    is_alike: bool,
    findings: &mut FindingCollector,
) {
    if is_alike {
        return;
    }
    // Different patterns explain every other difference, so they are reported alone.
    let line = google.line();
    if google.pattern() != rfc.pattern() {
        findings.add_fixable(line, Code::ProfilesDiffer, || {
            let value = google.value();
            let [google, rfc] = [google, rfc].map(|rule| text(&rule.pattern()));
            let at = google.iter().zip(&rfc).take_while(|(a, b)| a == b).count();
            let [google, rfc] = [google, rfc].map(|text| quote_from(&text, at));
            let edit = decoded_path(value).map(|by| LineEdit::Value {
                line,
                len: value.len(),
                by,
            });
            FindingTexts {
                message: format!(
                    "Google's parser compares URLs with {google} as it is; RFC 9309 decodes \
                     escapes first and compares with {rfc}"
                ),
                help:
                    "write letters, digits, `-`, `.`, `_` and `~` without escapes, and others as \
                       the site's URLs have them; no form of `%2A` and `%24` suits both"
                        .to_owned(),
                fix: edit.map(|edit| LineFix::new(false, edit)),
            }
        });
        return;
    }
    if let Some(further) = rfc.further().first() {
        findings.add(line, Code::ProfilesDiffer, || {
            let further = quote(&text(further));
            let message = format!(
                "RFC 9309 takes `/` and `?` in a query for the same as their escapes, so it reads \
                 this rule as {further} too; Google's parser does not"
            );
            let help = "write a rule for each form that the URLs have".to_owned();
            (message, help)
        });
        return;
    }
    if let (RuleKind::Allow, Some(folder)) = (google.kind(), google.pattern().index_folder()) {
        findings.add(line, Code::ProfilesDiffer, || {
            let folder = quote(&text(&folder));
            let message = format!(
                "Google's parser also reads this rule as an allow of {folder}, RFC 9309 does not"
            );
            (
                message,
                format!("add `Allow: ` with {folder} if that is meant"),
            )
        });
    }
    let pattern = &google.pattern();
    let is_disallow = google.kind() == RuleKind::Disallow && is_about_robots_txt(pattern);
    if is_disallow && len(pattern) > allowed {
        findings.add(line, Code::ProfilesDiffer, || {
            let message = format!(
                "{} disallows /robots.txt itself for Google's parser, and RFC 9309 always allows that",
                quote(google.text())
            );
            let help = if pattern.text[..] == *ROBOTS_TXT {
                "remove the rule: crawlers fetch /robots.txt in any case"
            } else if len(pattern) <= ROBOTS_TXT.len() {
                "add `Allow: /robots.txt`: crawlers fetch it in any case"
            } else {
                "narrow the path so that it does not match /robots.txt: crawlers fetch it in any \
                 case"
            };
            (message, help.to_owned())
        });
    }
}

/// A path without escapes of unreserved characters (RFC 3986 §2.3), if both profiles then read it
/// in the same way.
fn decoded_path(path: &[u8]) -> Option<String> {
    let mut decoded = String::with_capacity(path.len());
    let mut rest = std::str::from_utf8(path).ok()?;
    while let Some((start, escape)) = rest.split_once('%') {
        decoded.push_str(start);
        let code = escape
            .get(..2)
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        let is_unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        match code.filter(is_unreserved) {
            Some(byte) => {
                decoded.push(byte.into());
                rest = &escape[2..];
            }
            None => {
                decoded.push('%');
                rest = escape;
            }
        }
    }
    decoded.push_str(rest);
    let [google, rfc] = [Profile::Google, Profile::Rfc9309]
        .map(|profile| Pattern::new(decoded.as_bytes(), profile));
    (google == rfc).then_some(decoded)
}

/// Whether a rule matches `/robots.txt`, but not every path.
fn is_about_robots_txt(pattern: &Pattern<'_>) -> bool {
    pattern.matches(ROBOTS_TXT) && !pattern.matches(b"/")
}

/// The most characters of a quotation before the place that it is about.
const MAX_BEFORE: usize = 40;

/// Quotes a path so that the byte at `at` is seen. A long path begins shortly before it.
fn quote_from(path: &[u8], at: usize) -> String {
    if at <= MAX_BEFORE {
        return quote(path);
    }
    let start = at - MAX_BEFORE / 2;
    // An escape stays whole.
    let start = (start - 2..=start)
        .find(|&at| path[at] == b'%')
        .unwrap_or(start);
    quote(&[b"\xe2\x80\xa6", &path[start..]].concat())
}

fn text(pattern: &Pattern<'_>) -> Vec<u8> {
    [&pattern.text[..], if pattern.anchored { b"$" } else { b"" }].concat()
}
