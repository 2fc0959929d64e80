//! A path against the rules where they lie in the snapshot: the highest rule that matches decides.

use crate::error::Result;
use crate::robots::pattern::glob_matches;
use crate::snapshot::Snapshot;
use crate::snapshot::ruleset::{PREFIX_LEN, PackedRule, RuleSet, Rules, path_signature, prefix_word};

/// A path made ready to be compared with many rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'p> {
    /// The normalised path; begins with `/`.
    pub path: &'p [u8],
    /// The bytes behind the `/` as a word.
    word: u64,
}

impl<'p> Subject<'p> {
    #[inline]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        let behind = path.get(1..).unwrap_or_default();
        let word = match behind.first_chunk::<PREFIX_LEN>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => prefix_word(behind, behind.len()),
        };
        Self { path, word }
    }
}

/// Which bits of a prefix word count, by the number of literal bytes.
const MASKS: [u64; PREFIX_LEN + 1] = {
    let mut masks = [u64::MAX; PREFIX_LEN + 1];
    let mut len = 0;
    while len < PREFIX_LEN {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

impl<D: AsRef<[u8]>> Snapshot<D> {
    /// Whether the rules at `place` let the URL with this path be fetched; what no rule matches is allowed.
    #[inline]
    pub(crate) fn allows(&self, place: u32, subject: &Subject<'_>) -> Result<bool> {
        let rule = match self.rules(place)? {
            Rules::Set(set) => deciding(&set, subject)?,
            Rules::Union(places) => self.deciding_of_union(places, subject)?,
        };
        Ok(rule.is_none_or(|rule| rule.allow))
    }

    #[cold]
    fn deciding_of_union(&self, places: &[[u8; 4]], subject: &Subject<'_>) -> Result<Option<PackedRule>> {
        let mut best: Option<PackedRule> = None;
        for place in places {
            let rule = deciding(&self.rule_set(u32::from_le_bytes(*place))?, subject)?;
            if rule.map(|rule| rule.rank()) > best.map(|rule| rule.rank()) {
                best = rule;
            }
        }
        Ok(best)
    }
}

/// The rule that decides about the URL with this path: the highest that matches. Without one it is allowed.
///
/// # Errors
/// `Corrupt` if a rule's pattern lies outside the file.
#[inline]
fn deciding(set: &RuleSet<'_>, subject: &Subject<'_>) -> Result<Option<PackedRule>> {
    let best = first_rooted(set, subject)?;
    if set.floating().0.is_empty() { Ok(best) } else { first_floating(set, subject, best) }
}

/// The first rooted rule that matches. Tried and not kept: masks stored beside the prefixes (half as much again
/// to read for a table look-up that hits the first cache).
#[inline]
fn first_rooted(set: &RuleSet<'_>, subject: &Subject<'_>) -> Result<Option<PackedRule>> {
    let (words, rules) = set.rooted();
    for (probe, rule) in words.iter().zip(rules) {
        let rule = u64::from_le_bytes(*rule);
        let mask = MASKS[((rule >> 56) & 15).min(PREFIX_LEN as u64) as usize];
        if (u64::from_le_bytes(*probe) ^ subject.word) & mask == 0 {
            let rule = PackedRule::decode(rule);
            if matches_rooted(set, &rule, subject)? {
                return Ok(Some(rule));
            }
        }
    }
    Ok(None)
}

/// The prefix has matched; what remains?
#[inline]
fn matches_rooted(set: &RuleSet<'_>, rule: &PackedRule, subject: &Subject<'_>) -> Result<bool> {
    // Zeros stand behind a short path in its word: the lengths must be compared even where the words are equal.
    if rule.is_inline() {
        return Ok(if rule.anchored { subject.path.len() == rule.len } else { subject.path.len() >= rule.len });
    }
    matches_stored(set, rule, subject)
}

fn matches_stored(set: &RuleSet<'_>, rule: &PackedRule, subject: &Subject<'_>) -> Result<bool> {
    Ok(glob_matches(set.pattern(rule)?, rule.anchored, subject.path))
}

/// The first floating rule that matches and ranks above the rooted one found, else that one.
fn first_floating(set: &RuleSet<'_>, subject: &Subject<'_>, rooted: Option<PackedRule>) -> Result<Option<PackedRule>> {
    let floor = rooted.map_or(0, |rule| rule.rank());
    let path_bits = path_signature(subject.path);
    let (words, rules) = set.floating();
    for (probe, rule) in words.iter().zip(rules) {
        if u64::from_le_bytes(*probe) & !path_bits != 0 {
            continue;
        }
        let rule = PackedRule::decode(u64::from_le_bytes(*rule));
        if rule.rank() <= floor {
            break;
        }
        if matches_stored(set, &rule, subject)? {
            return Ok(Some(rule));
        }
    }
    Ok(rooted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::snapshot::ruleset::{SetRule, encode};

    fn set(rules: &[(&str, RuleKind)]) -> (Vec<u8>, Vec<u8>) {
        let rules: Vec<SetRule> = rules
            .iter()
            .map(|(text, kind)| match text.strip_suffix('$') {
                Some(text) => SetRule { text: text.into(), anchored: true, kind: *kind },
                None => SetRule { text: (*text).into(), anchored: false, kind: *kind },
            })
            .collect();
        let (mut out, mut patterns) = (Vec::new(), Vec::new());
        encode(&rules, &mut out, |text| {
            patterns.extend_from_slice(text);
            (patterns.len() - text.len()) as u64
        })
        .unwrap();
        (out, patterns)
    }

    fn allows(rules: &[(&str, RuleKind)], path: &str) -> bool {
        let (sets, patterns) = set(rules);
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        set.verify().unwrap();
        deciding(&set, &Subject::new(path.as_bytes())).unwrap().is_none_or(|rule| rule.allow)
    }

    #[test]
    fn the_highest_rank_decides_across_both_runs() {
        use RuleKind::{Allow, Disallow};
        let rules = [("/folder/", Allow), ("/*.html", Disallow), ("/folder/page*", Disallow), ("/folder/page", Allow)];
        assert!(allows(&rules, "/folder/x.html"), "/folder/ is longer than /*.html");
        assert!(!allows(&rules, "/folder/page"), "a star at the end counts");
        assert!(!allows(&rules, "/x.html"));
        assert!(allows(&rules, "/fold"));
    }

    #[test]
    fn short_paths_are_not_taken_for_zero_bytes() {
        use RuleKind::Disallow;
        assert!(allows(&[("/a\u{1}", Disallow)], "/a"));
        assert!(!allows(&[("/$", Disallow)], "/") && allows(&[("/$", Disallow)], "/a"));
        assert!(!allows(&[("*", Disallow)], "/") && !allows(&[("/abc*$", Disallow)], "/abcd"));
        assert!(allows(&[("/12345678$", Disallow)], "/123456789"));
        assert!(!allows(&[(&format!("/a{}", "*".repeat(20)), Disallow)], "/a"));
    }

    #[test]
    fn damage_is_an_error() {
        let (sets, patterns) = set(&[("/a/long/pattern/of/more/than/eight", RuleKind::Disallow)]);
        let cut = RuleSet::decode(&sets, 0, &patterns[..5]).unwrap();
        assert!(deciding(&cut, &Subject::new(b"/a/long/pattern/of/more/than/eight")).is_err());
        assert!(RuleSet::decode(&sets[..sets.len() - 1], 0, &patterns).is_err());
        assert!(RuleSet::decode(&sets, u32::MAX, &patterns).is_err());
    }
}
