//! A path against the rules where they lie in the snapshot: the highest rule that matches decides.

use super::hot::{HotSets, LargeSet, Layout};
use super::sieve::Sieve;
use super::subject::Subject;
use super::table::{Look, Table};
use crate::error::{Error, Result};
use crate::robots::pattern::glob_matches_behind;
use crate::robots::reference;
use crate::simd::{Machine, Work};
use crate::snapshot::packed::PackedRule;
use crate::snapshot::ruleset::{RuleSet, Rules};
use crate::snapshot::signature::{Signature, path_signature, path_signs};
use crate::snapshot::stems::Found;
use crate::snapshot::view::View;
use crate::snapshot::wild::{ROOT, Wild};
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

    /// The whole signature.
    #[inline(always)]
    fn whole_signature(&mut self, path: &[u8], machine: impl Machine) -> Signature {
        if self.known != Known::Whole {
            self.signature = path_signature(path, self.signs(path, machine), machine);
            self.known = Known::Whole;
        }
        self.signature
    }
}

/// What the few steps tell of a path that decide about most paths.
#[derive(Debug)]
pub(crate) enum FirstLook<'h> {
    /// Whether it may be fetched.
    Told(bool),
    /// That more of the path is to be compared with some rules.
    Left(Left<'h>),
    /// Nothing, but how the rules are laid out.
    Large(&'h LargeSet),
    /// Nothing.
    Untold,
}

/// Rules that are left to be compared with a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left<'h> {
    table: &'h Table,
    rules: u64,
}

/// Looks at a path whether few steps tell what the rules say of it that are at a place of the snapshot.
///
/// Only this is part of the loop over lines: with all the rest in it there were too few registers.
#[inline(always)]
pub(crate) fn first_look<'h>(place: u32, subject: Subject<'_>, hot: &'h mut HotSets) -> FirstLook<'h> {
    match hot.layout(place) {
        Some(Layout::Table(table)) => match table.look(subject) {
            Look::None => FirstLook::Told(true),
            Look::Rule(rank) => FirstLook::Told(PackedRule::rank_allows(rank)),
            Look::Left(rules) => FirstLook::Left(Left { table, rules }),
        },
        Some(Layout::Large(large)) => FirstLook::Large(large),
        Some(Layout::Stored) | None => FirstLook::Untold,
    }
}

/// The same by [few](are_few) rules, with none of which most paths begin.
#[inline(always)]
pub(crate) fn look_at_few(set: &RuleSet<'_>, subject: Subject<'_>) -> FirstLook<'static> {
    let rank = set.stems.root_alone(subject.word());
    rank.map_or(FirstLook::Untold, |rank| FirstLook::Told(is_allowed(rank)))
}

/// Whether the rules of a set are literal and too few to be laid out anew, as in most sets: short lists of folders.
pub(crate) fn are_few(set: &RuleSet<'_>) -> bool {
    set.wild.len() == 0 && !Layout::fits(set)
}

/// What is done where the first look at a path did not tell.
pub(crate) trait SecondLook {
    /// Whether the rules of the set, which is at a place of the snapshot, let the URL with this path be fetched; what no rule matches is allowed.
    ///
    /// # Errors
    /// `Corrupt` if a rule's pattern lies outside the file.
    fn allows(self, set: (u32, &RuleSet<'_>), subject: Subject<'_>, machine: impl Machine) -> Result<bool>;
}

impl SecondLook for Left<'_> {
    #[inline(always)]
    fn allows(self, _set: (u32, &RuleSet<'_>), subject: Subject<'_>, machine: impl Machine) -> Result<bool> {
        Ok(is_allowed(self.table.highest_left(subject, self.rules, machine)))
    }
}

impl SecondLook for &LargeSet {
    #[inline(always)]
    fn allows(self, (_, set): (u32, &RuleSet<'_>), subject: Subject<'_>, machine: impl Machine) -> Result<bool> {
        Ok(is_allowed(SearchLarge { set, large: self, subject, seen: None }.run(machine)?))
    }
}

/// Where the rules are not laid out anew they are searched in the snapshot; that they met the path is counted.
impl SecondLook for &mut HotSets {
    #[inline(always)]
    fn allows(self, (place, set): (u32, &RuleSet<'_>), subject: Subject<'_>, machine: impl Machine) -> Result<bool> {
        self.meet(place, set, subject.path)?;
        rejudge_promoted((place, set), self, machine)?;
        Ok(is_allowed(match set.wild.len() {
            0 => SearchLiteral { set, subject }.run(machine)?,
            _ => Search { set, subject, seen: None }.run(machine)?,
        }))
    }
}

/// What the rule of this rank says; 0 is that of none.
#[inline(always)]
fn is_allowed(rank: u32) -> bool {
    rank == 0 || PackedRule::rank_allows(rank)
}

impl View<'_> {
    /// Whether what lies at a place of the snapshot lets the URL with this path be fetched; `seen` is what was seen of the path when it was
    /// compared with other rules.
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
            Rules::Set(set) => highest((place, set), (subject, seen), hot, machine)?,
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
            Ok(rank.max(machine.apart(Search { set: &set, subject, seen: Some(seen) })?))
        })
    }
}

/// The rank of the rule that decides about the URL with this path, the highest that matches; 0 where none does.
#[inline(always)]
fn highest(
    (place, set): (u32, &RuleSet<'_>),
    (subject, seen): (Subject<'_>, &mut Seen),
    hot: &mut HotSets,
    machine: impl Machine,
) -> Result<u32> {
    hot.meet(place, set, subject.path)?;
    rejudge_promoted((place, set), hot, machine)?;
    match hot.layout(place) {
        Some(Layout::Table(table)) => Ok(table.highest(subject, 0, machine)),
        Some(Layout::Large(large)) => machine.apart(SearchLarge { set, large, subject, seen: Some(seen) }),
        _ if set.wild.len() > 0 => machine.apart(Search { set, subject, seen: Some(seen) }),
        _ => match set.stems.root_alone(subject.word()) {
            Some(rank) => Ok(rank),
            None => machine.apart(SearchLiteral { set, subject }),
        },
    }
}

/// Pairs of rule and path that a re-judgement compares at most, as the reference is slow.
const REJUDGED_PAIRS: usize = 20_000;

/// Debug builds only: judges sample paths again with the rule set that was just promoted, and
/// compares each verdict with the reference's. Two layouts of one rule set must never disagree.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) if they disagree: in a damaged file, or by a defect of the layout.
#[inline(always)]
fn rejudge_promoted((place, set): (u32, &RuleSet<'_>), hot: &mut HotSets, machine: impl Machine) -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    let samples = hot.take_promoted();
    if samples.is_empty() {
        return Ok(());
    }
    let rules = set.rules().collect::<Result<Vec<_>>>()?;
    for path in samples.iter().take((REJUDGED_PAIRS / rules.len().max(1)).max(1)) {
        let matching = rules.iter().filter(|(text, rule)| reference::matches_normal(text, rule.anchored, path));
        let expected = matching.map(|(_, rule)| rule.rank()).max().unwrap_or(0);
        let subject = Subject::new(path);
        let found = match hot.layout(place) {
            Some(Layout::Table(table)) => table.highest(subject, 0, machine),
            Some(Layout::Large(large)) => SearchLarge { set, large, subject, seen: None }.run(machine)?,
            Some(Layout::Stored) | None => Search { set, subject, seen: None }.run(machine)?,
        };
        if found != expected {
            return Err(Error::corrupt("a promoted rule set that disagrees with its rules"));
        }
    }
    Ok(())
}

/// A path and rules too many for one table, laid out anew.
struct SearchLarge<'w, 'a, 'p> {
    set: &'w RuleSet<'a>,
    large: &'w LargeSet,
    subject: Subject<'p>,
    /// `None` if it was not compared with other rules.
    seen: Option<&'w mut Seen>,
}

impl Work for SearchLarge<'_, '_, '_> {
    type Output = Result<u32>;

    /// The rank of the highest rule that matches; 0 where none does.
    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<u32> {
        let Self { set, large, subject, seen } = self;
        let found = match &large.index {
            Some(index) => index.find(subject.tail(), subject.first),
            None => set.stems.find(subject.tail(), subject.word(), machine)?,
        };
        match &large.wild {
            Some(table) => Ok(table.highest(subject, found.rank, machine)),
            None if set.wild.len() == 0 => Ok(found.rank),
            None => climb(&set.wild, large.sieve.as_ref(), found, (subject.path, seen), machine),
        }
    }
}

/// A path and rules as they lie in the snapshot.
struct Search<'w, 'a, 'p> {
    set: &'w RuleSet<'a>,
    subject: Subject<'p>,
    /// `None` if it was not compared with other rules.
    seen: Option<&'w mut Seen>,
}

impl Work for Search<'_, '_, '_> {
    type Output = Result<u32>;

    /// The rank of the highest rule that matches; 0 where none does.
    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<u32> {
        let Self { set: RuleSet { stems, wild }, subject, seen } = self;
        let found = stems.find(subject.tail(), subject.word(), machine)?;
        climb(wild, None, found, (subject.path, seen), machine)
    }
}

/// A path and the literal rules of a rule set.
struct SearchLiteral<'w, 'a, 'p> {
    set: &'w RuleSet<'a>,
    subject: Subject<'p>,
}

impl Work for SearchLiteral<'_, '_, '_> {
    type Output = Result<u32>;

    /// The rank of the highest that matches; 0 where none does.
    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<u32> {
        Ok(self.set.stems.find(self.subject.tail(), self.subject.word(), machine)?.rank)
    }
}

/// The rank of the highest rule that matches, given what was found of the literal ones, and the branch of the longest stem: on this branch and
/// on those of shorter stems down to the root, which may have a sieve.
#[inline(always)]
fn climb(
    wild: &Wild<'_>,
    sieve: Option<&Sieve>,
    Found { rank: mut highest, branch: mut number }: Found,
    (path, seen): (&[u8], Option<&mut Seen>),
    machine: impl Machine,
) -> Result<u32> {
    let mut unseen = Seen::new();
    let seen = seen.unwrap_or(&mut unseen);
    loop {
        let branch = wild.branch(number)?;
        if branch.best > highest {
            let run = (wild, branch.rules());
            highest = match sieve {
                Some(sieve) if number == ROOT => first_left(sieve, run, (path, seen), highest, machine)?,
                _ => first_match(run, (path, seen), highest, machine)?,
            };
        }
        // Parents have lower numbers, so this ends in a damaged file too.
        if branch.parent >= number {
            return Ok(highest);
        }
        number = branch.parent;
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
    let mut signature = if run.len() > MANY { seen.whole_signature(path, machine) } else { seen.signs(path, machine) };
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

/// The same, of the rules that have a sieve.
#[inline(always)]
fn first_left(
    sieve: &Sieve,
    (wild, run): (&Wild<'_>, Range<usize>),
    (path, seen): (&[u8], &mut Seen),
    floor: u32,
    machine: impl Machine,
) -> Result<u32> {
    let found = sieve.find(seen.whole_signature(path, machine), machine, |number| {
        let rule = wild.rule(run.start + number).filter(|rule| rule.rank() > floor);
        let Some(rule) = rule else { return Some(Ok(floor)) };
        match wild.pattern(&rule) {
            Ok(pattern) => glob_matches_behind(pattern, rule.anchored, path, machine).then(|| Ok(rule.rank())),
            Err(error) => Some(Err(error)),
        }
    });
    found.unwrap_or(Ok(floor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::generate::{rule_paths, text, url_paths};
    use crate::profile::Profile;
    use crate::robots::RuleKind;
    use crate::robots::pattern::Pattern;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::pack;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

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
        AnyMachine::detect().run(Search { set, subject: Subject::new(path), seen: None })
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
        /// The reference is the oracle: tables, indexes, sieves and signatures dismiss different
        /// rules, but never one that decides. Every path is judged before and after the promotion
        /// of the rule set.
        #[test]
        fn every_layout_of_a_rule_set_agrees_with_the_reference(
            rules in rule_paths(),
            made in vec((any::<Index>(), text(0..3), text(0..3)), 1..60),
            profile in select(vec![Profile::Google, Profile::Rfc9309]),
        ) {
            let mut paths = url_paths(&rules, made, profile);
            paths.truncate((20_000 / rules.len()).max(4));
            let kind = |allow| if allow { RuleKind::Allow } else { RuleKind::Disallow };
            let patterns = rules.iter().map(|(path, allow)| (Pattern::new(path.as_bytes(), profile), kind(*allow)));
            let set_rules: Vec<SetRule<'_>> = patterns
                .filter(|(pattern, _)| pattern.can_match())
                .map(|(pattern, kind)| SetRule { text: pattern.text, anchored: pattern.anchored, kind })
                .collect();
            let (sets, patterns) = pack(&set_rules).unwrap();
            let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
            set.verify(&sets).unwrap();
            let rank = |path: &[u8], (rule, allow): &(String, bool)| {
                let priority = reference::priority(rule.as_bytes(), profile, path);
                if priority > 0 { priority as u32 * 2 + u32::from(*allow) } else { 0 }
            };
            let expected: Vec<u32> =
                paths.iter().map(|path| rules.iter().map(|rule| rank(path, rule)).max().unwrap_or(0)).collect();
            let promoted_after = 20;
            let (mut hot, machine) = (HotSets::after(promoted_after), AnyMachine::detect());
            for _ in 0..=(promoted_after as usize).div_ceil(paths.len()) {
                for (path, &rank) in paths.iter().zip(&expected) {
                    let (subject, shown) = (Subject::new(path), path.escape_ascii());
                    prop_assert_eq!(search(&set, path).unwrap(), rank, "stored: {}", shown);
                    let first = match first_look(8, subject, &mut hot) {
                        FirstLook::Told(is_allowed) => is_allowed,
                        FirstLook::Left(left) => left.allows((8, &set), subject, machine).unwrap(),
                        FirstLook::Large(large) => large.allows((8, &set), subject, machine).unwrap(),
                        FirstLook::Untold => (&mut hot).allows((8, &set), subject, machine).unwrap(),
                    };
                    prop_assert_eq!(first, is_allowed(rank), "first look: {}", shown);
                    if let FirstLook::Told(few) = look_at_few(&set, subject) && are_few(&set) {
                        prop_assert_eq!(few, is_allowed(rank), "few rules: {}", shown);
                    }
                    let hot_rank = highest((8, &set), (subject, &mut Seen::new()), &mut hot, machine).unwrap();
                    prop_assert_eq!(hot_rank, rank, "promoted: {}", shown);
                }
            }
        }
    }
}
