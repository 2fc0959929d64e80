//! Checks of preferences about use: the values of `content-usage` (IETF AIPREF) and
//! `content-signal` (contentsignals.org), and permissions for pages that may not be fetched.
//!
//! Parsers skip every member that they do not know, without an error. So an objection with a small
//! mistake is not an objection.

use crate::agent::without_separators;
use crate::crawlers::spelling::is_within;
use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::readings::{Audience, Reading, RuleReadings, rules_of};
use crate::preferences::usage::{self, UsageMember};
use crate::preferences::{Preference, SignalMember, Signals};
use crate::robots::pattern::Pattern;
use crate::robots::{OtherField, RobotsRef, RuleKind};
use std::collections::{BTreeMap, HashSet};

/// Checks the lines of a file that is parsed for both profiles, except those in `skipped`.
pub(super) fn check(
    google: &RobotsRef<'_>,
    rfc: &RobotsRef<'_>,
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    skipped: &HashSet<u32>,
    findings: &mut FindingCollector,
) {
    let mut access = Access::new(rules, audiences);
    for field in google
        .other_fields()
        .iter()
        .filter(|field| !skipped.contains(&field.line()))
    {
        let is_permission = match field.name() {
            "content-usage" => {
                check_usage(field.line(), field.value(), findings)
                    && access.refuses_path(field, [google, rfc])
            }
            // Programs disagree whether a signal of one group is for the whole file.
            "content-signal" => {
                check_signals(field.line(), field.value(), findings) && access.refuses_all
            }
            _ => false,
        };
        if is_permission {
            add_useless_permission(field, findings);
        }
    }
}

/// Checks the value of a `content-usage` line. Returns whether it agrees to a use.
fn check_usage(line: u32, value: &[u8], findings: &mut FindingCollector) -> bool {
    let (path, dictionary) = usage::split_path(value);
    let Some(members) = usage::members(dictionary) else {
        findings.add_fixable(line, Code::UsageValue, || {
            describe_malformed(line, path, dictionary)
        });
        return false;
    };
    // A path alone takes back what shorter paths state. With a comma, the blank after it is
    // missing.
    if members.is_empty() && path.is_none_or(|path| path.contains(&b',')) {
        findings.add(line, Code::UsageValue, || {
            let message = format!("the content-usage {} has no preference", quote(value));
            (
                message,
                "write a preference, such as `train-ai=n`; a blank separates it from a path"
                    .to_owned(),
            )
        });
    }
    // Of repeated members the last counts.
    let members: BTreeMap<&str, Preference> = members
        .iter()
        .map(|UsageMember { key, preference }| (*key, *preference))
        .collect();
    for (key, preference) in &members {
        if !usage::KEYS.contains(key) {
            findings.add(line, Code::UsageKey, || {
                describe_key(key, &usage::KEYS, ["content-usage", "content-signal"])
            });
        } else if *preference == Preference::Unknown {
            findings.add(line, Code::UsageValue, || {
                let message = format!(
                    "in {}, the value of `{key}` is neither `y` nor `n`, so the line states no \
                     preference for it",
                    quote(value)
                );
                (
                    message,
                    format!("write `{key}=n` to object, or `{key}=y` to agree"),
                )
            });
        }
    }
    usage::KEYS
        .iter()
        .any(|key| members.get(key) == Some(&Preference::Yes))
}

fn describe_malformed(line: u32, path: Option<&[u8]>, dictionary: &[u8]) -> FindingTexts {
    let message = format!(
        "{} is not a dictionary of RFC 9651, so the line states no preference",
        quote(dictionary)
    );
    let path = path
        .map(|path| format!("{} ", String::from_utf8_lossy(path)))
        .unwrap_or_default();
    let repaired = repaired(dictionary);
    let help = match &repaired {
        Some(dictionary) => format!(
            "write {}",
            quote(format!("Content-Usage: {path}{dictionary}").as_bytes())
        ),
        None => "write keys in lower case, `=` without blanks, and commas between members: \
                 `train-ai=n, search=y`"
            .to_owned(),
    };
    let edit = repaired.map(|by| LineEdit::Value {
        line,
        len: dictionary.len(),
        by,
    });
    FindingTexts {
        message,
        help,
        fix: edit.map(|edit| LineFix::new(false, edit)),
    }
}

/// The dictionary that a malformed one probably means: keys in lower case, no blanks around `=`,
/// and commas between members.
fn repaired(dictionary: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(dictionary).ok()?.to_ascii_lowercase();
    let joined = text.split('=').map(str::trim).collect::<Vec<_>>().join("=");
    let members = joined
        .split([',', ';', ' ', '\t'])
        .filter(|member| !member.is_empty());
    let spelled = members.map(|member| match member.split_once('=') {
        Some((key, "no")) => format!("{key}=n"),
        Some((key, "yes")) => format!("{key}=y"),
        _ => member.to_owned(),
    });
    let repaired = spelled.collect::<Vec<_>>().join(", ");
    let is_right = usage::members(repaired.as_bytes())?.iter().all(|member| {
        usage::KEYS.contains(&member.key) && member.preference != Preference::Unknown
    });
    is_right.then_some(repaired)
}

/// Checks the value of a `content-signal` line. Returns whether it agrees to a use.
fn check_signals(line: u32, value: &[u8], findings: &mut FindingCollector) -> bool {
    if value.starts_with(b"/") {
        findings.add(line, Code::SignalValue, || {
            let message = format!(
                "the content-signal {} has a path, so it states no signal",
                quote(value)
            );
            (
                message,
                "remove the path: content signals are for the whole site; `Content-Usage` has paths"
                    .to_owned(),
            )
        });
        return false;
    }
    let mut is_empty = true;
    let mut is_permission = false;
    // Parsers skip a malformed member and read the others, so each has its own finding.
    for member in Signals::members(value) {
        is_empty = false;
        let signals = member.signals();
        is_permission |= [signals.search, signals.ai_input, signals.ai_train].contains(&Some(true));
        if !signals.is_empty() {
            continue;
        }
        match Signals::KEYS
            .into_iter()
            .find(|key| key.as_bytes() == member.key)
        {
            Some(key) => findings.add(line, Code::SignalValue, || describe_signal(key, &member)),
            None => findings.add(line, Code::SignalKey, || {
                let key = String::from_utf8_lossy(&member.key);
                describe_key(&key, &Signals::KEYS, ["content-signal", "content-usage"])
            }),
        }
    }
    if is_empty {
        findings.add(line, Code::SignalValue, || {
            let message = "the content-signal line has no value, so it states no signal".to_owned();
            (
                message,
                "write members separated by commas, such as `search=yes, ai-train=no`".to_owned(),
            )
        });
    }
    is_permission
}

fn describe_signal(key: &str, member: &SignalMember) -> (String, String) {
    let values = match key {
        "use" => "`immediate`, `reference` or `full`",
        _ => "`yes` or `no`",
    };
    let message = match &member.value {
        Some(value) => {
            format!(
                "the value {} of the content signal `{key}` is not {values}, so parsers skip it",
                quote(value)
            )
        }
        None => format!("the content signal `{key}` has no value, so parsers skip it"),
    };
    // A value with a blank or `;` probably has the next member in it.
    let is_joined = member
        .value
        .iter()
        .flatten()
        .any(|byte| b" \t;".contains(byte));
    let help = match is_joined {
        true => "separate the members with commas, such as `search=yes, ai-train=no`".to_owned(),
        false => format!("write `{key}=` and {values}"),
    };
    (message, help)
}

/// Describes a key that is not one of `keys`. `fields` are the field of the line, and the other field
/// for preferences.
fn describe_key(key: &str, keys: &[&str], fields: [&str; 2]) -> (String, String) {
    let [field, other] = fields;
    let quoted = quote(key.as_bytes());
    let message = format!("`{field}` has no key {quoted}, so parsers skip it");
    let is_of_other = if field == "content-usage" {
        Signals::KEYS.contains(&key)
    } else {
        usage::KEYS.contains(&key)
    };
    let help = if is_of_other {
        format!(
            "{quoted} is a key of `{other}`; here write {}",
            any_of(keys)
        )
    } else if let Some(close) = close_key(key, keys) {
        format!("write `{close}`")
    } else {
        format!("write {}, or remove the member", any_of(keys))
    };
    (message, help)
}

/// The keys in backquotes, separated by commas and `or`.
fn any_of(keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match &quoted[..] {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        all => all.concat(),
    }
}

/// What separates the words of a key.
const SEPARATORS: &[u8] = b"-_ .";

/// The key that another is a misspelling of: at most two edits, and [`SEPARATORS`] do not count.
fn close_key<'k>(key: &str, keys: &[&'k str]) -> Option<&'k str> {
    // No key is longer, and short texts are close to any key.
    if !(4..=20).contains(&key.len()) {
        return None;
    }
    let given = without_separators(key.as_bytes(), SEPARATORS);
    keys.iter().copied().find(|key| {
        let edits = if key.len() < 6 { 1 } else { 2 };
        is_within(
            &given,
            &without_separators(key.as_bytes(), SEPARATORS),
            edits,
        )
    })
}

/// Whether a group with these rules refuses every URL.
fn refuses_everything(rules: &[RuleReadings<'_>]) -> bool {
    rules.iter().any(RuleReadings::refuses_all)
        && rules.iter().all(|rule| rule.kind == RuleKind::Disallow)
}

/// The path of a `content-usage` line, as both profiles read it.
struct PathReadings<'a> {
    google: Reading<'a>,
    rfc: Reading<'a>,
}

impl PathReadings<'_> {
    /// Whether a rule refuses every URL under the path.
    fn is_refused_by(&self, rule: &RuleReadings<'_>) -> bool {
        rule.kind == RuleKind::Disallow
            && rule.is_exact
            && rule.google.covers(&self.google)
            && rule.rfc.covers(&self.rfc)
    }

    /// Whether a rule may allow some URL under the path.
    fn may_be_allowed_by(&self, rule: &RuleReadings<'_>) -> bool {
        rule.kind == RuleKind::Allow
            && !(rule.google.is_disjoint(&self.google) && rule.rfc.is_disjoint(&self.rfc))
    }
}

/// The most rules and audiences that are compared with the paths of permissions. Hostile files have
/// many of each.
const MAX_COMPARISONS: usize = 1 << 22;

/// Which agents may fetch nothing.
struct Access<'r, 'a> {
    rules: &'r [RuleReadings<'a>],
    /// The groups of each audience.
    groups: Vec<&'r [usize]>,
    /// Whether no agent may fetch anything: each group refuses everything, and `*` has one.
    refuses_all: bool,
    /// The comparisons that are left.
    budget: usize,
}

impl<'r, 'a> Access<'r, 'a> {
    fn new(rules: &'r [RuleReadings<'a>], audiences: &'r [Audience<'_, '_>]) -> Self {
        let all_groups: HashSet<usize> = audiences
            .iter()
            .flat_map(|audience| audience.groups.iter().copied())
            .collect();
        Self {
            rules,
            groups: audiences
                .iter()
                .map(|audience| audience.groups.as_slice())
                .collect(),
            refuses_all: audiences.iter().any(|audience| audience.is_global)
                && all_groups
                    .iter()
                    .all(|group| refuses_everything(rules_of(rules, *group))),
            budget: MAX_COMPARISONS,
        }
    }

    /// Whether the agents of a `content-usage` line may fetch nothing under its path, for both
    /// profiles: in each audience of its group, one disallow covers the path, and no allow is about
    /// it.
    fn refuses_path(&mut self, field: &OtherField<'_>, profiles: [&RobotsRef<'_>; 2]) -> bool {
        let Some(group) = field.group() else {
            return false;
        };
        // A hostile file has many lines and many rules, so the comparisons have a budget. Beyond
        // it, the line counts as not refused, which reports nothing.
        let Some(left) = self.budget.checked_sub(self.groups.len()) else {
            return false;
        };
        self.budget = left;
        let audiences: Vec<&[usize]> = self
            .groups
            .iter()
            .copied()
            .filter(|groups| groups.binary_search(&group).is_ok())
            .collect();
        let len: usize = audiences
            .iter()
            .copied()
            .flatten()
            .map(|group| rules_of(self.rules, *group).len())
            .sum();
        let Some(left) = self.budget.checked_sub(2 * len) else {
            return false;
        };
        self.budget = left;
        let path = usage::split_path(field.value()).0.unwrap_or(b"/");
        let [google, rfc] = profiles
            .map(|robots| Reading::new(Pattern::new(path, robots.profile()), RuleKind::Allow));
        let path = PathReadings { google, rfc };
        !audiences.is_empty()
            && audiences.into_iter().all(|groups| {
                let mut own = groups.iter().flat_map(|group| rules_of(self.rules, *group));
                own.clone().any(|rule| path.is_refused_by(rule))
                    && !own.any(|rule| path.may_be_allowed_by(rule))
            })
    }
}

fn add_useless_permission(field: &OtherField<'_>, findings: &mut FindingCollector) {
    findings.add(field.line(), Code::UselessPermission, || {
        let value = quote(field.value());
        let message = match field.name() {
            "content-usage" => {
                format!("{value} agrees to a use of pages that are disallowed to its agents")
            }
            _ => format!(
                "{value} agrees to a use of pages, and every page is disallowed to every agent"
            ),
        };
        (
            message,
            "allow the pages to the crawlers that are meant, or remove the permission".to_owned(),
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_dictionaries_are_repaired() {
        for (dictionary, expected) in [
            ("Train-AI=n", Some("train-ai=n")),
            ("train-ai = n", Some("train-ai=n")),
            ("train-ai=n search=y", Some("train-ai=n, search=y")),
            ("train-ai=no; Search=YES", Some("train-ai=n, search=y")),
            ("train-ai=n,", Some("train-ai=n")),
            ("Train-AI=never", None),
            ("é", None),
        ] {
            assert_eq!(
                repaired(dictionary.as_bytes()).as_deref(),
                expected,
                "{dictionary}"
            );
        }
    }

    #[test]
    fn close_keys_are_found() {
        for (key, expected) in [
            ("ai_train", Some("ai-train")),
            ("aitrain", Some("ai-train")),
            ("ai-training", None),
            ("ai-inputs", Some("ai-input")),
            ("serach", Some("search")),
            ("ai", None),
            ("user", Some("use")),
            ("", None),
        ] {
            assert_eq!(close_key(key, &Signals::KEYS), expected, "{key}");
        }
    }
}
