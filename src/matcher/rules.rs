//! A path against the rules where they lie in the snapshot: the highest rule that matches decides.

use super::hot::{HotSets, Told};
use crate::error::Result;
use crate::robots::pattern::glob_matches;
use crate::simd::{LANES, Lanes, Machine};
use crate::snapshot::literal::prefix_word;
use crate::snapshot::packed::PackedRule;
use crate::snapshot::ruleset::{RuleSet, Rules};
use crate::snapshot::signature::{Signature, path_signature, path_signs};
use crate::snapshot::view::View;
use crate::snapshot::wild::Wild;

/// A path made ready to be compared with many rules.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'p> {
    /// The normalised path; begins with `/`.
    path: &'p [u8],
    /// The first bytes behind the `/`.
    word: u64,
    /// Made when first needed: most paths meet no rule that asks for them.
    signs: Option<Signature>,
    signature: Option<Signature>,
}

impl<'p> Subject<'p> {
    #[inline]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        Self { path, word: prefix_word(path.get(1..).unwrap_or_default()), signs: None, signature: None }
    }

    /// What follows the `/`.
    #[inline]
    fn tail(&self) -> &'p [u8] {
        self.path.get(1..).unwrap_or_default()
    }

    #[inline(always)]
    fn signs(&mut self, machine: impl Machine) -> Signature {
        *self.signs.get_or_insert_with(|| path_signs(self.path, machine))
    }

    #[inline(always)]
    fn signature(&mut self, machine: impl Machine) -> Signature {
        let signs = self.signs(machine);
        *self.signature.get_or_insert_with(|| path_signature(self.path, signs, machine))
    }
}

impl View<'_> {
    /// Whether the rules let the URL with this path be fetched; what no rule matches is allowed.
    #[inline(always)]
    pub(crate) fn allows(
        &self,
        (place, rules): (u32, &Rules<'_>),
        subject: &mut Subject<'_>,
        hot: &mut HotSets,
        machine: impl Machine,
    ) -> Result<bool> {
        let rank = match rules {
            Rules::Set(set) => highest(set, subject, |wild, path| hot.meet(place, wild, path), machine)?,
            Rules::Union(places) => self.highest_of_union(places, subject, machine)?,
        };
        Ok(rank == 0 || PackedRule::rank_allows(rank))
    }

    #[cold]
    fn highest_of_union(&self, places: &[[u8; 4]], subject: &mut Subject<'_>, machine: impl Machine) -> Result<u32> {
        places.iter().try_fold(0, |rank, place| {
            let set = self.rule_set(u32::from_le_bytes(*place))?;
            Ok(rank.max(highest(&set, subject, |_, _| Ok(None), machine)?))
        })
    }
}

/// The rank of the rule that decides about the URL with this path, the highest that matches; 0 where none does. `told` says how
/// rules with wildcards are told, if not by signatures.
///
/// # Errors
/// `Corrupt` if a rule's pattern lies outside the file.
#[inline(always)]
fn highest<'h>(
    set: &RuleSet<'_>,
    subject: &mut Subject<'_>,
    told: impl FnOnce(&Wild<'_>, &[u8]) -> Result<Option<&'h Told>>,
    machine: impl Machine,
) -> Result<u32> {
    let rank = set.literals.highest(subject.tail(), subject.word)?;
    if set.wild.is_empty() {
        return Ok(rank);
    }
    match told(&set.wild, subject.path)? {
        Some(told) => told.highest(&set.wild, subject.path, rank, machine),
        None => highest_wild(&set.wild, subject, rank, machine),
    }
}

/// The rank of the highest rule with wildcards that matches, if it is higher than `floor`, else `floor`.
///
/// Prefixes, signs and signature are compared one after the other, as each costs more than the one before and dismisses most of
/// what came so far.
#[inline(always)]
fn highest_wild(wild: &Wild<'_>, subject: &mut Subject<'_>, floor: u32, machine: impl Machine) -> Result<u32> {
    let word = subject.word;
    if wild.floating.is_empty() && machine.next_rooted(wild.rooted, word, [u64::MAX; 2], 0).is_none() {
        return Ok(floor);
    }
    let signs = subject.signs(machine);
    let rooted = machine.next_rooted(wild.rooted, word, signs, 0);
    let floating = machine.next_floating(wild.floating, signs, 0);
    if rooted.is_none() && floating.is_none() {
        return Ok(floor);
    }
    let signature = if wild.len() <= FEW { signs } else { subject.signature(machine) };
    let mut rank = floor;
    if let Some((group, _)) = rooted {
        let next = |from| machine.next_rooted(wild.rooted, word, signature, from);
        rank = first_match(wild, subject.path, rank, (0, group), next, machine)?;
    }
    if let Some((group, _)) = floating {
        let next = |from| machine.next_floating(wild.floating, signature, from);
        rank = first_match(wild, subject.path, rank, (wild.first_floating(), group), next, machine)?;
    }
    Ok(rank)
}

/// So few rules, if their signs are there, are compared in full sooner than pairs are gathered.
const FEW: usize = 2;

/// Of the rules in the groups that `next` gives, beginning with group `from`, the rank of the first that matches and is higher
/// than `floor`, else `floor`. `first` is the number of the first rule of group 0.
#[inline(always)]
fn first_match(
    wild: &Wild<'_>,
    path: &[u8],
    floor: u32,
    (first, mut from): (usize, usize),
    next: impl Fn(usize) -> Option<(usize, Lanes)>,
    machine: impl Machine,
) -> Result<u32> {
    while let Some((group, mut lanes)) = next(from) {
        while lanes != 0 {
            let number = first + group * LANES + lanes.trailing_zeros() as usize;
            let Some(rule) = wild.rule(number).filter(|rule| rule.rank() > floor) else { return Ok(floor) };
            if glob_matches(wild.pattern(&rule)?, rule.anchored, path, machine) {
                return Ok(rule.rank());
            }
            lanes &= lanes - 1;
        }
        from = group + 1;
    }
    Ok(floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::simd::AnyMachine;
    use crate::snapshot::ruleset::{SetRule, encode};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn set(rules: &[(&str, RuleKind)]) -> (Vec<u8>, Vec<u8>) {
        let rules: Vec<SetRule<'_>> = rules
            .iter()
            .map(|(text, kind)| match text.strip_suffix('$') {
                Some(text) => SetRule { text: text.as_bytes().into(), anchored: true, kind: *kind },
                None => SetRule { text: text.as_bytes().into(), anchored: false, kind: *kind },
            })
            .collect();
        packed(&rules)
    }

    fn packed(rules: &[SetRule<'_>]) -> (Vec<u8>, Vec<u8>) {
        let (mut out, mut patterns) = (Vec::new(), Vec::new());
        encode(rules, &mut out, |text| {
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
            let rank =
                highest(&set, &mut Subject::new(path.as_bytes()), |_, _| Ok(None), AnyMachine::detect()).unwrap();
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
        assert!(
            highest(
                &cut,
                &mut Subject::new(b"/a/long/pattern/of/more/than/eight"),
                |_, _| Ok(None),
                AnyMachine::detect()
            )
            .is_err()
        );
        assert!(RuleSet::decode(&sets[..sets.len() - 1], 0, &patterns).is_err());
        assert!(RuleSet::decode(&sets, u32::MAX, &patterns).is_err());
    }

    proptest! {
        /// Fingerprints and signatures dismiss different rules, but leave all that match.
        #[test]
        fn told_by_fingerprints_or_by_signatures_the_same_rule_decides(
            rules in vec((vec(select(b"/ab*?.".to_vec()), 0..9), any::<[bool; 2]>()), 1..70),
            paths in vec(vec(select(b"/ab?.".to_vec()), 0..70), 1..30),
        ) {
            let rules: Vec<SetRule<'_>> = rules
                .into_iter()
                .map(|(tail, [anchored, allow])| {
                    let kind = if allow { RuleKind::Allow } else { RuleKind::Disallow };
                    SetRule { text: [b"/", &tail[..]].concat().into(), anchored, kind }
                })
                .collect();
            let (sets, patterns) = packed(&rules);
            let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
            let paths: Vec<Vec<u8>> = paths.iter().map(|tail| [b"/", &tail[..]].concat()).collect();
            let mut hot = HotSets::after(20);
            for path in &paths {
                let slow = highest(&set, &mut Subject::new(path), |_, _| Ok(None), AnyMachine::detect()).unwrap();
                let told = highest(&set, &mut Subject::new(path), |wild, path| hot.meet(8, wild, path), AnyMachine::detect()).unwrap();
                prop_assert_eq!(told, slow, "{}", path.escape_ascii());
            }
        }
    }
}
