//! A path against the rules where they lie in the snapshot: the highest rule that matches decides.

use super::hot::HotSets;
use crate::error::Result;
use crate::robots::pattern::glob_matches_behind;
use crate::simd::Machine;
use crate::snapshot::packed::PackedRule;
use crate::snapshot::ruleset::{RuleSet, Rules};
use crate::snapshot::signature::{Signature, path_signature, path_signs};
use crate::snapshot::stems::{Found, prefix_word};
use crate::snapshot::view::View;
use crate::snapshot::wild::{self, Wild};
use std::ops::Range;

/// A path made ready to be compared with many rules.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'p> {
    /// The normalised path; begins with `/`.
    path: &'p [u8],
    /// The first bytes behind the `/`.
    word: u64,
    /// As far as it is known: most paths meet no rule that asks for it.
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

impl<'p> Subject<'p> {
    #[inline]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        Self {
            path,
            word: prefix_word(path.get(1..).unwrap_or_default()),
            signature: [0; 2],
            known: Known::Nothing,
            missed: 0,
        }
    }

    /// What follows the `/`.
    #[inline]
    fn tail(&self) -> &'p [u8] {
        self.path.get(1..).unwrap_or_default()
    }

    /// The signature as far as it is known, but at least that of the signs.
    #[inline(always)]
    fn signs(&mut self, machine: impl Machine) -> Signature {
        if self.known == Known::Nothing {
            self.signature = path_signs(self.path, machine);
            self.known = Known::Signs;
        }
        self.signature
    }

    /// The whole signature, of one whose signs are known.
    #[inline(always)]
    fn whole_signature(&mut self, machine: impl Machine) -> Signature {
        self.signature = path_signature(self.path, self.signature, machine);
        self.known = Known::Whole;
        self.signature
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
            Rules::Set(set) => highest(set, subject, Some((place, hot)), machine)?,
            Rules::Union(places) => self.highest_of_union(places, subject, machine)?,
        };
        Ok(rank == 0 || PackedRule::rank_allows(rank))
    }

    #[cold]
    fn highest_of_union(&self, places: &[[u8; 4]], subject: &mut Subject<'_>, machine: impl Machine) -> Result<u32> {
        places.iter().try_fold(0, |rank, place| {
            let set = self.rule_set(u32::from_le_bytes(*place))?;
            Ok(rank.max(highest(&set, subject, None, machine)?))
        })
    }
}

/// The rank of the rule that decides about the URL with this path, the highest that matches; 0 where none does. `hot` is what is known
/// of the rule set at that place, if many paths met it.
///
/// # Errors
/// `Corrupt` if a rule's pattern lies outside the file.
#[inline(always)]
fn highest(
    set: &RuleSet<'_>,
    subject: &mut Subject<'_>,
    mut hot: Option<(u32, &mut HotSets)>,
    machine: impl Machine,
) -> Result<u32> {
    let recalled = hot.as_mut().and_then(|(place, hot)| hot.recall(*place, &set.wild, subject.word));
    let (told, numbers, rank) = match recalled {
        Some((told, memo)) => (told, memo.numbers(), memo.rank()),
        None => {
            let Found { rank, branch } = set.stems.find(subject.tail(), subject.word, machine)?;
            let mut runs = set.wild.runs_above(branch, rank)?.peekable();
            if runs.peek().is_none() {
                return Ok(rank);
            }
            let told = match &mut hot {
                Some((place, hot)) => hot.meet(*place, set, (subject.path, subject.word), machine)?,
                None => None,
            };
            let Some(told) = told else { return highest_wild(&set.wild, runs, subject, rank, machine) };
            (told, wild::numbers(runs), rank)
        }
    };
    told.highest(&set.wild, numbers, subject.path, rank, machine)
}

/// The rank of the highest rule in these runs that matches, if it is higher than `floor`, else `floor`.
#[inline(always)]
fn highest_wild(
    wild: &Wild<'_>,
    runs: impl Iterator<Item = Range<usize>>,
    subject: &mut Subject<'_>,
    floor: u32,
    machine: impl Machine,
) -> Result<u32> {
    let mut rank = floor;
    for run in runs {
        rank = first_match(wild, run, subject, rank, machine)?;
    }
    Ok(rank)
}

/// So few rules, if their signs are there, are compared in full sooner than pairs are gathered.
const FEW: usize = 2;

/// Of a run of rules the rank of the first that matches and is higher than `floor`, else `floor`.
///
/// Signs and signature are compared one after the other, as the signature costs more and is needed only by few paths.
#[inline(always)]
fn first_match(
    wild: &Wild<'_>,
    run: Range<usize>,
    subject: &mut Subject<'_>,
    floor: u32,
    machine: impl Machine,
) -> Result<u32> {
    let mut next = run.start;
    let mut signature = subject.signs(machine);
    while let Some(skipped) = machine.next_within(wild.signatures(next, run.end)?, signature) {
        next += skipped;
        let Some(rule) = wild.rule(next).filter(|rule| rule.rank() > floor) else { break };
        if (run.len() > FEW || subject.missed >= FEW) && subject.known != Known::Whole {
            signature = subject.whole_signature(machine);
            continue;
        }
        if glob_matches_behind(wild.pattern(&rule)?, rule.anchored, subject.path, machine) {
            return Ok(rule.rank());
        }
        subject.missed += 1;
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

    fn allows(rules: &[(&str, RuleKind)], path: &str) -> bool {
        let (sets, patterns) = set(rules);
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        set.verify(&sets).unwrap();
        {
            let rank = highest(&set, &mut Subject::new(path.as_bytes()), None, AnyMachine::detect()).unwrap();
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
        assert!(
            highest(&cut, &mut Subject::new(b"/a/long/pattern/of/more/than/eight"), None, AnyMachine::detect())
                .is_err()
        );
        assert!(RuleSet::decode(&sets[..sets.len() - 1], 0, &patterns).is_err());
        // A head of 32 bytes, then the branches: root and `/a/`, each its first rule, how many, rank of the first, parent; behind the
        // stem, whose link has the branch's number in its bits from 22 on.
        let (sets, patterns) = set(&[("/a/*b", RuleKind::Disallow)]);
        let answer = |at: usize, byte: u8| {
            let mut sets = sets.clone();
            sets[at] = byte;
            let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
            highest(&set, &mut Subject::new(b"/a/b"), None, AnyMachine::detect())
        };
        let (link, branch) = (32 + 16, 32 + 24 + 16);
        assert!(answer(branch + 4, sets[branch + 4]).unwrap() > 0);
        assert!(answer(branch + 4, 200).is_err(), "a branch of rules that are not there");
        assert!(answer(link + 3, 0xff).is_err(), "a branch that is not there");
        assert!(RuleSet::decode(&sets, u32::MAX, &patterns).is_err());
    }

    proptest! {
        /// Fingerprints and signatures dismiss different rules, but leave all that match.
        #[test]
        fn told_by_fingerprints_or_by_signatures_the_same_rule_decides(
            rules in vec((vec(select(b"/ab*?.".to_vec()), 0..9), any::<[bool; 2]>()), 1..70),
            paths in vec(vec(select(b"/ab?.".to_vec()), 0..70), 1..90),
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
                let slow = highest(&set, &mut Subject::new(path), None, AnyMachine::detect()).unwrap();
                let mut subject = Subject::new(path);
                let told = highest(&set, &mut subject, Some((8, &mut hot)), AnyMachine::detect()).unwrap();
                prop_assert_eq!(told, slow, "{}", path.escape_ascii());
            }
        }
    }
}
