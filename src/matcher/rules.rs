//! A path against the rules where they lie in the snapshot: the highest rule that matches decides.

use super::hot::HotSets;
use super::index::StemIndex;
use super::subject::Subject;
use crate::error::Result;
use crate::robots::pattern::glob_matches_behind;
use crate::simd::{Machine, Work};
use crate::snapshot::packed::PackedRule;
use crate::snapshot::ruleset::{RuleSet, Rules};
use crate::snapshot::signature::{Signature, path_signature, path_signs};
use crate::snapshot::stems::{Found, Stems};
use crate::snapshot::view::View;
use crate::snapshot::wild::Wild;
use std::ops::Range;

/// What was seen of a path when its signature was asked for: most paths meet no rule that does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    signature: Signature,
    known: Known,
    /// Patterns that were compared in full, and did not match.
    missed: usize,
}

/// How much of a path's signature is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    Signs,
    Whole,
}

impl Seen {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { signature: [0; 2], known: Known::Nothing, missed: 0 }
    }

    /// The signature as far as it is known, but at least that of the signs.
    #[inline(always)]
    fn signs(&mut self, path: &[u8], machine: impl Machine) -> Signature {
        if self.known == Known::Nothing {
            self.signature = path_signs(path, machine);
            self.known = Known::Signs;
        }
        self.signature
    }

    /// The whole signature, of one whose signs are known.
    #[inline(always)]
    fn whole_signature(&mut self, path: &[u8], machine: impl Machine) -> Signature {
        self.signature = path_signature(path, self.signature, machine);
        self.known = Known::Whole;
        self.signature
    }
}

/// Whether the rules of a set let the URL with this path be fetched; what no rule matches is allowed. The set is at a place of the snapshot.
///
/// # Errors
/// `Corrupt` if a rule's pattern lies outside the file.
#[inline(always)]
pub(crate) fn allows(
    set: (u32, &RuleSet<'_>),
    subject: Subject<'_>,
    hot: &mut HotSets,
    machine: impl Machine,
) -> Result<bool> {
    Ok(is_allowed(highest(set, (subject, None), hot, machine)?))
}

/// What the rule of this rank says; 0 is that of none.
#[inline(always)]
fn is_allowed(rank: u32) -> bool {
    rank == 0 || PackedRule::rank_allows(rank)
}

impl View<'_> {
    /// As [`allows`], by what lies at a place of the snapshot; `seen` is what was seen of the path when it was compared with other rules.
    ///
    /// # Errors
    /// `Corrupt` if a rule's pattern lies outside the file.
    #[inline(always)]
    pub(crate) fn allows(
        &self,
        (place, rules): (u32, &Rules<'_>),
        (subject, seen): (Subject<'_>, &mut Seen),
        hot: &mut HotSets,
        machine: impl Machine,
    ) -> Result<bool> {
        Ok(is_allowed(match rules {
            Rules::Set(set) => highest((place, set), (subject, Some(seen)), hot, machine)?,
            Rules::Union(places) => self.highest_of_union(places, (subject, seen), machine)?,
        }))
    }

    #[cold]
    fn highest_of_union(
        &self,
        places: &[[u8; 4]],
        (subject, seen): (Subject<'_>, &mut Seen),
        machine: impl Machine,
    ) -> Result<u32> {
        places.iter().try_fold(0, |rank, place| {
            let set = self.rule_set(u32::from_le_bytes(*place))?;
            Ok(rank.max(machine.apart(Search { set: &set, index: None, subject, seen: Some(seen) })?))
        })
    }
}

/// The rank of the rule that decides about the URL with this path, the highest that matches; 0 where none does.
///
/// Only what the few rule sets need that most URLs meet is part of the loop over lines: with all the rest in it there were too few registers.
#[inline(always)]
fn highest(
    (place, set): (u32, &RuleSet<'_>),
    (subject, seen): (Subject<'_>, Option<&mut Seen>),
    hot: &mut HotSets,
    machine: impl Machine,
) -> Result<u32> {
    let layout = hot.meet(place, set, subject.path)?;
    let index = layout.and_then(|layout| layout.index.as_ref());
    if let Some(table) = layout.and_then(|layout| layout.table.as_ref()) {
        let floor = if table.is_wild() { machine.apart(SearchLiteral { set, index, subject })? } else { 0 };
        return table.highest(&set.wild, subject, floor, machine);
    }
    if set.wild.len() > 0 {
        return machine.apart(Search { set, index, subject, seen });
    }
    // Most rule sets are short lists of folders, with none of which most paths begin.
    match set.stems.root_alone(subject.word) {
        Some(rank) => Ok(rank),
        None => machine.apart(SearchLiteral { set, index, subject }),
    }
}

/// A path and rules as they lie in the snapshot, and their stems laid out anew, if they were.
struct Search<'w, 'a, 'p> {
    set: &'w RuleSet<'a>,
    index: Option<&'w StemIndex>,
    subject: Subject<'p>,
    /// `None` if it was not compared with other rules.
    seen: Option<&'w mut Seen>,
}

impl Work for Search<'_, '_, '_> {
    type Output = Result<u32>;

    /// The rank of the highest rule that matches; 0 where none does.
    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<u32> {
        let Self { set: RuleSet { stems, wild }, index, subject, seen } = self;
        let mut unseen = Seen::new();
        let seen = seen.unwrap_or(&mut unseen);
        let Found { rank: mut highest, branch: mut number } = find((stems, index), subject, machine)?;
        loop {
            let branch = wild.branch(number)?;
            if branch.best > highest {
                highest = first_match((wild, branch.rules()), (subject.path, seen), highest, machine)?;
            }
            // Parents have lower numbers, so this ends in a damaged file too.
            if branch.parent >= number {
                return Ok(highest);
            }
            number = branch.parent;
        }
    }
}

/// A path and the literal rules of a rule set.
struct SearchLiteral<'w, 'a, 'p> {
    set: &'w RuleSet<'a>,
    index: Option<&'w StemIndex>,
    subject: Subject<'p>,
}

impl Work for SearchLiteral<'_, '_, '_> {
    type Output = Result<u32>;

    /// The rank of the highest that matches; 0 where none does.
    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<u32> {
        Ok(find((&self.set.stems, self.index), self.subject, machine)?.rank)
    }
}

/// What a path begins with.
#[inline(always)]
fn find(
    (stems, index): (&Stems<'_>, Option<&StemIndex>),
    subject: Subject<'_>,
    machine: impl Machine,
) -> Result<Found> {
    match index {
        Some(index) => Ok(index.find(subject.tail(), subject.word, machine)),
        None => stems.find(subject.tail(), subject.word, machine),
    }
}

/// Of more rules some nearly always have the signs that a path has, so the whole signature is needed in any case: a twentieth less time on a site
/// with 528 rules with wildcards.
const MANY: usize = 16;

/// So few rules, if their signs are there, are compared in full sooner than pairs are gathered.
const FEW: usize = 2;

/// Of a run of rules the rank of the first that matches and is higher than `floor`, else `floor`.
///
/// Signs and signature are compared one after the other, as the signature costs more and is needed only by few paths.
#[inline(always)]
fn first_match(
    (wild, run): (&Wild<'_>, Range<usize>),
    (path, seen): (&[u8], &mut Seen),
    floor: u32,
    machine: impl Machine,
) -> Result<u32> {
    let mut next = run.start;
    let mut signature = seen.signs(path, machine);
    if run.len() > MANY && seen.known != Known::Whole {
        signature = seen.whole_signature(path, machine);
    }
    while let Some(skipped) = machine.next_within(wild.signatures(next, run.end)?, signature) {
        next += skipped;
        let Some(rule) = wild.rule(next).filter(|rule| rule.rank() > floor) else { break };
        if (run.len() > FEW || seen.missed >= FEW) && seen.known != Known::Whole {
            signature = seen.whole_signature(path, machine);
            continue;
        }
        if glob_matches_behind(wild.pattern(&rule)?, rule.anchored, path, machine) {
            return Ok(rule.rank());
        }
        seen.missed += 1;
        next += 1;
    }
    Ok(floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::pack;
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
        pack(&rules).unwrap()
    }

    fn search(set: &RuleSet<'_>, path: &[u8]) -> Result<u32> {
        AnyMachine::detect().run(Search { set, index: None, subject: Subject::new(path), seen: None })
    }

    fn allows(rules: &[(&str, RuleKind)], path: &str) -> bool {
        let (sets, patterns) = set(rules);
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        set.verify(&sets).unwrap();
        let rank = search(&set, path.as_bytes()).unwrap();
        rank == 0 || PackedRule::rank_allows(rank)
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
    fn rules_with_wildcards_are_found_by_what_they_begin_with() {
        use RuleKind::{Allow, Disallow};
        // One stem is a literal rule too, one has a rule before and a rule behind it, and one stands behind the eight bytes of its word.
        let rules = [
            ("/shop", Disallow),
            ("/shop/*/public", Allow),
            ("/shop/$", Allow),
            ("/shop/basket/of/*?id=", Disallow),
            ("/shop/basket/of/", Allow),
            ("/*.pdf$", Disallow),
        ];
        let expected = [
            ("/shop/x", false),
            ("/shop/x/public", true),
            ("/shop/", true),
            ("/shop/basket/of/fruit", true),
            ("/shop/basket/of/fruit?id=1", false),
            ("/shop/basket/of", false),
            ("/shop/basket/of/fruit/public?id=1", false),
            ("/shop/basket/on/fruit/public?id=1", true),
            ("/sho.pdf", false),
            ("/sho/public", true),
        ];
        for (path, allowed) in expected {
            assert_eq!(allows(&rules, path), allowed, "{path}");
        }
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
        assert!(search(&cut, b"/a/long/pattern/of/more/than/eight").is_err());
        assert!(RuleSet::decode(&sets[..sets.len() - 1], 0, &patterns).is_err());
        // A head of 32 bytes, then the branches: root and `/a/`, each its first rule, how many, rank of the first, parent; behind the
        // stem, whose link has the branch's number in its bits from 22 on.
        let (sets, patterns) = set(&[("/a/*b", RuleKind::Disallow)]);
        let answer = |at: usize, byte: u8| {
            let mut sets = sets.clone();
            sets[at] = byte;
            let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
            search(&set, b"/a/b")
        };
        let (link, branch) = (32 + 16, 32 + 24 + 16);
        assert!(answer(branch + 4, sets[branch + 4]).unwrap() > 0);
        assert!(answer(branch + 4, 200).is_err(), "a branch of rules that are not there");
        assert!(answer(link + 3, 0xff).is_err(), "a branch that is not there");
        assert!(RuleSet::decode(&sets, u32::MAX, &patterns).is_err());
    }

    proptest! {
        /// Tables and signatures dismiss different rules, but leave all that match.
        #[test]
        fn by_a_table_or_in_the_snapshot_the_same_rule_decides(
            rules in vec((vec(select(b"/ab*?.".to_vec()), 0..14), any::<[bool; 2]>()), 1..300),
            paths in vec(vec(select(b"/ab?.\0".to_vec()), 0..70), 1..90),
        ) {
            let rules: Vec<SetRule<'_>> = rules
                .into_iter()
                .map(|(tail, [anchored, allow])| {
                    let kind = if allow { RuleKind::Allow } else { RuleKind::Disallow };
                    SetRule { text: [b"/", &tail[..]].concat().into(), anchored, kind }
                })
                .collect();
            let (sets, patterns) = pack(&rules).unwrap();
            let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
            let paths: Vec<Vec<u8>> = paths.iter().map(|tail| [b"/", &tail[..]].concat()).collect();
            let mut hot = HotSets::after(20);
            for path in &paths {
                let slow = search(&set, path).unwrap();
                let fast = highest((8, &set), (Subject::new(path), None), &mut hot, AnyMachine::detect()).unwrap();
                prop_assert_eq!(fast, slow, "{}", path.escape_ascii());
            }
        }
    }
}
