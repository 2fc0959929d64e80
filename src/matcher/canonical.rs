//! Parsed rules to canonical rules: sorted, each pattern once, without redundant rules.

use super::build::CanonicalRule;
use crate::robots::pattern::Pattern;
use crate::robots::{Rule, RuleKind};
use std::borrow::Cow;

/// Appends the rule of a pattern, unless no URL can match it.
fn push<'r>(pattern: Pattern<'r>, kind: RuleKind, set: &mut Vec<CanonicalRule<'r>>) {
    if pattern.can_match() {
        set.push(CanonicalRule {
            text: pattern.text,
            anchored: pattern.anchored,
            kind,
        });
    }
}

/// The rules of these groups that can match a URL, each pattern once, sorted by text.
pub(crate) fn canonical<'r>(groups: &[&'r [Rule<'r>]]) -> Vec<CanonicalRule<'r>> {
    let mut set = Vec::with_capacity(groups.iter().map(|rules| rules.len()).sum());
    for rule in groups.iter().copied().flatten() {
        push(rule.pattern(), rule.kind(), &mut set);
        for pattern in rule.further() {
            push(pattern.borrowed(), rule.kind(), &mut set);
        }
    }
    set.sort_unstable_by(|a, b| (&a.text, a.anchored, a.kind).cmp(&(&b.text, b.anchored, b.kind)));
    // Equal patterns are neighbours with allow first, and allow wins between them.
    set.dedup_by(|later, first| later.text == first.text && later.anchored == first.anchored);
    set
}

/// Drops rules that change no verdict. Valid for sets that are judged alone: in a union, a rule
/// that is redundant here may overrule a rule of another set.
pub(crate) fn reduce(mut set: Vec<CanonicalRule<'_>>) -> Vec<CanonicalRule<'_>> {
    // URLs that no rule matches are allowed, so an allow needs a disallow of lower priority.
    let disallows = set.iter().filter(|rule| rule.kind == RuleKind::Disallow);
    let Some(last) = disallows.map(CanonicalRule::priority).min() else {
        return Vec::new();
    };
    set.retain(|rule| rule.kind == RuleKind::Disallow || rule.priority() >= last);
    if set.iter().all(|rule| rule.kind == RuleKind::Disallow) {
        drop_covered(&mut set);
    }
    set
}

/// Drops rules whose text begins with the whole literal path of another. Valid for sets without
/// allows.
fn drop_covered(set: &mut Vec<CanonicalRule<'_>>) {
    let mut cover: Option<Cow<'_, [u8]>> = None;
    set.retain(|rule| {
        let is_covered = cover
            .as_ref()
            .is_some_and(|cover| rule.text.starts_with(cover));
        if !is_covered && !rule.anchored && !rule.text.contains(&b'*') {
            cover = Some(rule.text.clone());
        }
        !is_covered
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The disallow rules of a sorted set that are left.
    fn reduced(rules: &[&str]) -> Vec<String> {
        let rules = rules.iter().map(|rule| CanonicalRule {
            text: rule.trim_end_matches('$').as_bytes().into(),
            anchored: rule.ends_with('$'),
            kind: RuleKind::Disallow,
        });
        let left = reduce(rules.collect());
        let shown = left.into_iter().map(|rule| {
            let text = String::from_utf8(rule.text.into_owned()).unwrap();
            text + if rule.anchored { "$" } else { "" }
        });
        shown.collect()
    }

    #[test]
    fn only_whole_literal_paths_cover_others() {
        assert_eq!(reduced(&["/a", "/a$", "/ab", "/ac*d", "/b"]), ["/a", "/b"]);
        for apart in [["/a$", "/ab"], ["/a*b$", "/a*bc"], ["/a*", "/ab"]] {
            assert_eq!(reduced(&apart), apart);
        }
    }
}
