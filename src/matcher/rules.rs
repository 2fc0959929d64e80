//! A path against the rules where they lie in the snapshot: the highest rule that matches decides.

use crate::error::Result;
use crate::robots::pattern::glob_matches;
use crate::simd;
use crate::snapshot::Snapshot;
use crate::snapshot::literal::prefix_word;
use crate::snapshot::packed::PackedRule;
use crate::snapshot::ruleset::{RuleSet, Rules};
use crate::snapshot::signature::{Signature, path_signature};
use std::cell::OnceCell;

/// A path made ready to be compared with many rules.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'p> {
    /// The normalised path; begins with `/`.
    path: &'p [u8],
    /// The first bytes behind the `/`.
    word: u64,
    /// Made when first needed: most paths meet no rule that asks for it.
    signature: OnceCell<Signature>,
}

impl<'p> Subject<'p> {
    #[inline]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        Self { path, word: prefix_word(path.get(1..).unwrap_or_default()), signature: OnceCell::new() }
    }

    /// What follows the `/`.
    #[inline]
    fn tail(&self) -> &'p [u8] {
        self.path.get(1..).unwrap_or_default()
    }

    fn signature(&self) -> Signature {
        *self.signature.get_or_init(|| path_signature(self.path))
    }
}

impl<D: AsRef<[u8]>> Snapshot<D> {
    /// Whether the rules at `place` let the URL with this path be fetched; what no rule matches is allowed.
    #[inline]
    pub(crate) fn allows(&self, place: u32, subject: &Subject<'_>) -> Result<bool> {
        let rank = match self.rules(place)? {
            Rules::Set(set) => highest(&set, subject)?,
            Rules::Union(places) => self.highest_of_union(places, subject)?,
        };
        Ok(rank == 0 || PackedRule::rank_allows(rank))
    }

    #[cold]
    fn highest_of_union(&self, places: &[[u8; 4]], subject: &Subject<'_>) -> Result<u32> {
        places.iter().try_fold(0, |rank, place| {
            let set = self.rule_set(u32::from_le_bytes(*place))?;
            Ok(rank.max(highest(&set, subject)?))
        })
    }
}

/// The rank of the rule that decides about the URL with this path, the highest that matches; 0 where none does.
///
/// # Errors
/// `Corrupt` if a rule's pattern lies outside the file.
#[inline]
fn highest(set: &RuleSet<'_>, subject: &Subject<'_>) -> Result<u32> {
    let rank = set.literals.highest(subject.tail(), subject.word)?;
    if set.wild_len() == 0 { Ok(rank) } else { highest_floating(set, subject, highest_rooted(set, subject, rank)?) }
}

/// The rank of the first rooted rule that matches and is higher than `floor`, else `floor`. The signature is asked for only where a
/// prefix agrees.
fn highest_rooted(set: &RuleSet<'_>, subject: &Subject<'_>, floor: u32) -> Result<u32> {
    let heads = (set.prefixes, set.masks);
    match simd::next_agreeing(heads.0, heads.1, subject.word, 0) {
        None => Ok(floor),
        Some(first) => {
            let signature = subject.signature();
            let next = |from| simd::next_agreeing_subset(heads, subject.word, set.signatures, signature, from);
            first_match(set, subject, floor, first, next)
        }
    }
}

/// The same among the floating rules.
fn highest_floating(set: &RuleSet<'_>, subject: &Subject<'_>, floor: u32) -> Result<u32> {
    let first = set.prefixes.len();
    if first == set.wild_len() {
        return Ok(floor);
    }
    let signature = subject.signature();
    first_match(set, subject, floor, first, |from| simd::next_subset(set.signatures, signature, from))
}

/// Of the rules that `next` gives, the rank of the first that matches and is higher than `floor`, else `floor`.
#[inline]
fn first_match(
    set: &RuleSet<'_>,
    subject: &Subject<'_>,
    floor: u32,
    mut from: usize,
    next: impl Fn(usize) -> Option<usize>,
) -> Result<u32> {
    while let Some(number) = next(from) {
        let Some(rule) = set.wild(number).filter(|rule| rule.rank() > floor) else { break };
        if glob_matches(set.pattern(&rule)?, rule.anchored, subject.path) {
            return Ok(rule.rank());
        }
        from = number + 1;
    }
    Ok(floor)
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
        {
            let rank = highest(&set, &Subject::new(path.as_bytes())).unwrap();
            rank == 0 || PackedRule::rank_allows(rank)
        }
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
        assert!(highest(&cut, &Subject::new(b"/a/long/pattern/of/more/than/eight")).is_err());
        assert!(RuleSet::decode(&sets[..sets.len() - 1], 0, &patterns).is_err());
        assert!(RuleSet::decode(&sets, u32::MAX, &patterns).is_err());
    }
}
