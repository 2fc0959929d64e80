//! Examples of verdicts and fields that differ between two texts of a robots.txt.

use crate::bytes::trim;
use crate::lint::equivalence::{FilePair, PlainRule};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{RobotsRef, RuleKind};
use std::collections::{BTreeMap, HashSet};

/// A path with another verdict than before, as an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerdictChange {
    /// The agents, in lower case. `*` stands for all that neither text names.
    pub agents: Vec<String>,
    /// The path with its query, in normal form. Bytes outside UTF-8 are U+FFFD.
    pub path: String,
    /// Whether the path was allowed before. It is refused now if it was allowed, and the reverse.
    pub was_allowed: bool,
    /// The profile with the change; `None`: both.
    pub profile: Option<Profile>,
}

/// A field that is not a rule, such as a sitemap, and that only one of two texts has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// The field's name in lower case.
    pub name: &'static str,
    /// Its value. Bytes outside UTF-8 are U+FFFD.
    pub value: String,
    /// Whether the new text has it.
    pub is_new: bool,
}

/// The most examples of one kind for the same agents.
const EXAMPLES: usize = 3;

/// The most rules whose paths are tried for the same agents.
const TRIED_RULES: usize = 64;

/// Examples of changed verdicts for each agent. They come from the paths of the rules that one text
/// lacks, so the list may miss a change, but never has a wrong one.
pub(super) fn verdict_changes(old: &[u8], new: &[u8]) -> Vec<VerdictChange> {
    let mut changes: Vec<VerdictChange> = Vec::new();
    for profile in [Profile::Google, Profile::Rfc9309] {
        for change in changes_under(&FilePair::new(old, new, profile)) {
            let is_same = |other: &&mut VerdictChange| {
                other.agents == change.agents
                    && other.path == change.path
                    && other.was_allowed == change.was_allowed
            };
            match changes.iter_mut().find(is_same) {
                Some(same) => same.profile = None,
                None => changes.push(change),
            }
        }
    }
    changes.sort_by(|a, b| {
        a.agents
            .cmp(&b.agents)
            .then(b.was_allowed.cmp(&a.was_allowed))
    });
    changes
}

fn changes_under(pair: &FilePair<'_>) -> Vec<VerdictChange> {
    let mut changes = Vec::new();
    for agents in pair.agents() {
        let old = pair.old.rules_of(&agents.old);
        let new = pair.new.rules_of(&agents.new);
        let mut differing: Vec<&PlainRule<'_>> = old.symmetric_difference(&new).collect();
        // The shortest paths are the plainest examples.
        differing.sort_by_key(|rule| (rule.pattern.priority(), &rule.pattern.text, rule.kind));
        let mut found = [0; 2];
        let mut seen = HashSet::new();
        for rule in differing.iter().take(TRIED_RULES) {
            let change = paths_of(&rule.pattern).into_iter().find_map(|path| {
                let [was_allowed, is_allowed] =
                    [&old, &new].map(|rules| is_allowed(rules, &path, pair.profile));
                let is_changed =
                    was_allowed != is_allowed && is_asked_as_written(&path, pair.profile);
                is_changed.then_some((path, was_allowed))
            });
            let Some((path, was_allowed)) = change else {
                continue;
            };
            let count = &mut found[usize::from(was_allowed)];
            let path = String::from_utf8_lossy(&path).into_owned();
            if *count == EXAMPLES || !seen.insert(path.clone()) {
                continue;
            }
            *count += 1;
            let names = agents
                .names
                .iter()
                .map(|name| String::from_utf8_lossy(name));
            changes.push(VerdictChange {
                agents: names.map(String::from).collect(),
                path,
                was_allowed,
                profile: Some(pair.profile),
            });
        }
    }
    changes
}

/// Paths that a pattern matches, with different texts in place of its stars and of its open end.
fn paths_of(pattern: &Pattern<'_>) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for filler in [&b""[..], b"x"] {
        let mut path = Vec::with_capacity(pattern.text.len() + 2);
        for &byte in pattern.text.iter() {
            match byte {
                b'*' => path.extend_from_slice(filler),
                _ => path.push(byte),
            }
        }
        if !path.starts_with(b"/") {
            path.insert(0, b'/');
        }
        paths.push(path.clone());
        if !pattern.anchored {
            path.extend_from_slice(b"x");
            paths.push(path);
        }
    }
    paths.dedup();
    paths
}

/// Whether a URL with this path is judged by exactly this path. `/%%41` has another normal form,
/// once `%41` is decoded, and the white space of `/a ` is trimmed from the end of a URL. The normal
/// forms of rules and of URLs differ in `*` and a final `$` only.
fn is_asked_as_written(path: &[u8], profile: Profile) -> bool {
    let form = Pattern::new(path, profile);
    form.text == path && !form.anchored && trim(path) == path
}

/// The verdict on a path in normal form.
fn is_allowed(rules: &HashSet<PlainRule<'_>>, path: &[u8], profile: Profile) -> bool {
    let matching = rules.iter().filter(|rule| rule.pattern.matches(path));
    let best = matching
        .map(|rule| (rule.pattern.priority(), rule.kind == RuleKind::Allow))
        .max();
    profile.always_allows(path) || best.is_none_or(|(_, is_allow)| is_allow)
}

/// The fields that only one text has. Rules are left out.
pub(super) fn field_changes(old: &[u8], new: &[u8]) -> Vec<FieldChange> {
    let mut counts: BTreeMap<(&'static str, Vec<u8>), i64> = BTreeMap::new();
    for (body, step) in [(old, -1), (new, 1)] {
        let robots = RobotsRef::parse(body, Profile::Google);
        for field in robots.other_fields() {
            *counts
                .entry((field.name(), field.value().to_vec()))
                .or_default() += step;
        }
    }
    let changed = counts.into_iter().filter(|(_, count)| *count != 0);
    changed
        .map(|((name, value), count)| FieldChange {
            name,
            value: String::from_utf8_lossy(&value).into_owned(),
            is_new: count > 0,
        })
        .collect()
}
