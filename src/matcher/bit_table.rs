//! The bit-parallel table: up to 128 rules, compared with both ends of a path at once.
//!
//! The automaton's binary search takes steps that wait for one another, and branches that cannot be
//! predicted when paths come in no order. A table of up to a hundred rules needs neither. As in the
//! shift-and algorithm of Baeza-Yates and Gonnet, a word has a bit for each rule. Each of the first
//! four bytes of a path, and a hash of its last two, selects the word of the rules that it suits.
//! The conjunction of these five words is the set of rules whose both ends may match.
//!
//! This misses the text between a rule's first star and its suffix. Rules that have such a middle
//! get a *fingerprint* (see [`teddy`](super::teddy)). One vector search finds all fingerprints, but
//! only in paths whose ends suit one of these rules.
//!
//! With eight buckets of fingerprints, the search takes half the instructions, but a site with 37 %
//! of the unsorted list compared one more rule per path: samples decide between eight and sixteen.

use super::candidate::Candidate;
use super::packed_rule::{PREFIX_LEN, PackedRule};
use super::rule_set::RuleSet;
use super::teddy::{Buckets, RuleMiddle, rules_of_buckets};
use super::wildcard::{Segments, matches, matches_after_star};
use crate::bytes::{first_word, last_word, starts_with_masked};
use crate::error::Result;
use crate::simd::{BUCKETS, Backend, Fingerprints};
use std::array;
use std::cmp::Reverse;
use std::iter;

/// Rule sets with more rules keep the literal ones out of the table, because the automaton finds
/// them sooner. 100 literal rules take 23 ns either way, 250 take 29 ns here and 25 ns there.
const MAX_RULES: usize = 128;

/// With fewer literal rules and no others, the first-byte filter dismisses paths at less cost.
const MIN_LITERAL_RULES: usize = 8;

/// A rule set with more wildcard rules gets no table: most paths would contain one of its
/// fingerprints. With 100 rules a path takes 59 ns by the table and 65 ns without, with 128 rules
/// 81 ns and 68 ns.
const MAX_WILDCARD_RULES: usize = 104;

/// The rules of a promoted rule set.
#[derive(Debug)]
pub(crate) struct BitTable {
    /// The rules in the order of their ranks, the highest first, 64 in each lane.
    first: BitLane,
    others: Box<[BitLane]>,
    fingerprints: Fingerprints,
    /// The texts of rules that their ends do not decide, as far as they are compared.
    texts: Vec<u8>,
    has_literal_rules: bool,
}

impl BitTable {
    /// Whether a rule set is worth a table.
    #[inline]
    pub(super) fn fits(set: &RuleSet<'_>) -> bool {
        match set.wildcards_len() {
            0 => (MIN_LITERAL_RULES..=MAX_RULES).contains(&set.states_len()),
            wildcards => wildcards <= MAX_WILDCARD_RULES,
        }
    }

    /// The table of a rule set that [`fits`](Self::fits), given some of the paths that reach it.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if a rule's pattern lies outside of the file.
    pub(super) fn new(set: &RuleSet<'_>, samples: &[Vec<u8>]) -> Result<Self> {
        let has_literal_rules = set.len() <= MAX_RULES;
        let rules: Result<Vec<_>> = if has_literal_rules {
            set.rules().collect()
        } else {
            set.wildcard_rules().collect()
        };
        // By rank, so the lowest bit that is left is the highest rule.
        let mut rules = rules?;
        rules.sort_by_key(|(_, packed)| Reverse(packed.rank()));
        let mut texts = Vec::new();
        let mut lanes: Vec<BitLane> = rules
            .chunks(LANE_RULES)
            .map(|rules| BitLane::new(rules, &mut texts))
            .collect();
        // Fingerprints are chosen for all lanes together, because one search looks for all of them.
        let middles = rules
            .iter()
            .enumerate()
            .map(|(number, (pattern, packed))| RuleMiddle {
                lane: number / LANE_RULES,
                rule: number % LANE_RULES,
                text: Segments::of(pattern, packed.anchored).middle,
            });
        let buckets = Buckets::choose(&middles.collect::<Vec<_>>(), lanes.len(), samples);
        for (lane, buckets) in lanes.iter_mut().zip(buckets.rules) {
            lane.set_buckets(buckets);
        }
        let mut lanes = lanes.into_iter();
        let first = lanes
            .next()
            .unwrap_or_else(|| BitLane::new(&[], &mut texts));
        Ok(Self {
            first,
            others: lanes.collect(),
            fingerprints: buckets.fingerprints,
            texts,
            has_literal_rules,
        })
    }

    /// Whether the literal rules of the set are in the table.
    #[inline(always)]
    pub(super) fn has_literal_rules(&self) -> bool {
        self.has_literal_rules
    }

    /// The bytes of memory.
    pub(super) fn size(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.others) + self.texts.len()
    }

    /// The rank of the rule of the set that decides, if no text after a star need be searched; 0 if
    /// none matches.
    #[inline(always)]
    pub(super) fn highest_by_ends(&self, candidate: Candidate<'_>) -> Option<u32> {
        if !self.has_literal_rules {
            return None;
        }
        let first = &self.first;
        let mut left = first.suited_by_ends(candidate);
        while left != 0 {
            let row = first.row(left);
            if row.has_ends(candidate) {
                match row.rest {
                    Rest::Nothing => return Some(row.rank),
                    Rest::Literal if starts_with_masked(candidate.path, row.text(&self.texts)) => {
                        return Some(row.rank);
                    }
                    Rest::Literal => {}
                    Rest::AfterStar(_) | Rest::Whole => return None,
                }
            }
            left &= left - 1;
        }
        self.others.is_empty().then_some(0)
    }

    /// The rank of the highest rule of the table that matches, if it exceeds `floor`, else `floor`.
    #[inline(always)]
    pub(super) fn highest(
        &self,
        candidate: Candidate<'_>,
        floor: u32,
        backend: impl Backend,
    ) -> u32 {
        for lane in iter::once(&self.first).chain(&self.others) {
            let rank = lane.highest(self, candidate, floor, backend);
            if rank > floor {
                return rank;
            }
        }
        floor
    }
}

/// The rules of a lane: one bit each of a word.
const LANE_RULES: usize = 64;

/// The bytes after the leading `/` of a path that are looked up for all rules at once.
const HEAD_LEN: usize = 4;

/// A hash of the last two bytes of a path, given its last word. Looking up both bytes separately
/// dismissed no more rules; the last byte alone cost a fortieth more on an unsorted list.
#[inline(always)]
fn suffix_hash(last: u64) -> u8 {
    (((last >> 48) * 0x9d) >> 8) as u8
}

/// Up to 64 rules, one bit each.
#[derive(Debug)]
struct BitLane {
    /// For each of the first bytes of a path: the rules that each value suits.
    heads: [[u64; 256]; HEAD_LEN],
    /// For each suffix hash: the rules that it suits.
    suffixes: [u64; 256],
    /// The rules; unused rows match nothing.
    rows: [Row; LANE_RULES],
    /// The rules that have a fingerprint.
    fingerprinted: u64,
    /// The length of the shortest path that one of them matches.
    fingerprinted_min_len: usize,
    /// The rules of each bucket of fingerprints.
    buckets: [u64; BUCKETS],
}

impl BitLane {
    /// The lane of up to 64 rules, without fingerprints.
    fn new(rules: &[(Vec<u8>, PackedRule)], texts: &mut Vec<u8>) -> Self {
        let segments: Vec<Segments<'_>> = rules
            .iter()
            .map(|(text, packed)| Segments::of(text, packed.anchored))
            .collect();
        // A rule without a byte at a position, or without a tail of two bytes, suits any value
        // there.
        let heads = array::from_fn(|at| {
            let bytes = segments
                .iter()
                .map(|rule| rule.head_tail().get(at).copied());
            suited_by_value(bytes)
        });
        let suffixes = segments
            .iter()
            .map(|rule| (rule.tail.len() >= 2).then(|| suffix_hash(last_word(rule.tail))));
        let suffixes = suited_by_value(suffixes);
        let mut rows = segments
            .iter()
            .zip(rules)
            .map(|(segments, (text, packed))| Row::new(segments, text, packed, texts));
        Self {
            heads,
            suffixes,
            rows: array::from_fn(|_| rows.next().unwrap_or_default()),
            fingerprinted: 0,
            fingerprinted_min_len: usize::MAX,
            buckets: [0; BUCKETS],
        }
    }

    /// Adds fingerprints: the rules of each bucket.
    fn set_buckets(&mut self, buckets: [u64; BUCKETS]) {
        self.buckets = buckets;
        self.fingerprinted = buckets.iter().fold(0, |all, rules| all | rules);
        let rows = self
            .rows
            .iter()
            .zip(0..)
            .filter(|(_, rule)| self.fingerprinted >> rule & 1 == 1);
        self.fingerprinted_min_len = rows
            .map(|(row, _)| row.min_len as usize)
            .min()
            .unwrap_or(usize::MAX);
    }

    /// The rank of the highest rule that matches, if it exceeds `floor`, else `floor`.
    #[inline(always)]
    fn highest(
        &self,
        table: &BitTable,
        candidate: Candidate<'_>,
        floor: u32,
        backend: impl Backend,
    ) -> u32 {
        let path = candidate.path;
        let suited = self.suited_by_ends(candidate);
        let mut left = suited;
        let mut slashes = u8::MAX;
        // One search for the fingerprints replaces the comparison of most rules that have one.
        if suited & self.fingerprinted != 0 {
            left &= !self.fingerprinted;
            if path.len() >= self.fingerprinted_min_len {
                let found = backend.scan_fingerprints(&table.fingerprints, path);
                left |= suited & rules_of_buckets(&self.buckets, found.buckets);
                slashes = found.slashes;
            }
        }
        // The rows are sorted by rank, so the first match decides.
        while left != 0 {
            let row = self.row(left);
            if row.rank <= floor {
                break;
            }
            if row.has_ends(candidate)
                && row.slashes <= slashes
                && row.matches_rest(path, &table.texts)
            {
                return row.rank;
            }
            left &= left - 1;
        }
        floor
    }

    /// The row of the first of these rules.
    #[inline(always)]
    fn row(&self, rules: u64) -> &Row {
        &self.rows[rules.trailing_zeros() as usize % LANE_RULES]
    }

    /// The rules that both ends of a path may match.
    #[inline(always)]
    fn suited_by_ends(&self, Candidate { first, last, .. }: Candidate<'_>) -> u64 {
        let [a, b, c, d, ..] = first.to_le_bytes().map(usize::from);
        let [first, second, third, fourth] = &self.heads;
        first[a] & second[b] & third[c] & fourth[d] & self.suffixes[usize::from(suffix_hash(last))]
    }
}

/// For each value a bit for each rule that it suits, given the value that each rule requires, if it
/// requires one.
fn suited_by_value(required: impl Iterator<Item = Option<u8>>) -> [u64; 256] {
    let mut suited = [0; 256];
    let mut any = 0;
    for (rule, value) in required.enumerate() {
        *value.map_or(&mut any, |value| &mut suited[usize::from(value)]) |= 1 << rule;
    }
    suited.map(|rules| rules | any)
}

/// A rule; the default matches nothing.
#[derive(Debug, Default)]
struct Row {
    /// The required first bytes of a path after its `/`, and which bits of them are required.
    first: u64,
    first_mask: u64,
    /// The required last bytes likewise.
    last: u64,
    last_mask: u64,
    /// A matching path has at least this length, and at most `span` bytes more.
    min_len: u32,
    rank: u32,
    span: usize,
    /// The number of slashes that a matching path has at least, up to 255.
    slashes: u8,
    anchored: bool,
    /// The rest that is compared if the ends match, and its range in the table's texts.
    rest: Rest,
    text: (u32, u32),
}

/// The part of a pattern that is compared after its ends.
#[derive(Debug, Default)]
enum Rest {
    #[default]
    Nothing,
    /// All of a pattern without stars.
    Literal,
    /// The pattern after its first star, which is at this offset.
    AfterStar(u16),
    /// All of a pattern with stars, as its first segment is longer than a word.
    Whole,
}

impl Row {
    /// The row of a rule. Appends the text of its rest to `texts`.
    fn new(segments: &Segments<'_>, text: &[u8], packed: &PackedRule, texts: &mut Vec<u8>) -> Self {
        let head = segments.head_tail();
        let mask = |len: usize| !u64::MAX.checked_shl(8 * len as u32).unwrap_or(0);
        let (rest, left) = match segments.first_star {
            _ if segments.are_decided_by_ends() => (Rest::Nothing, &[][..]),
            None => (Rest::Literal, text),
            Some(star) if head.len() <= PREFIX_LEN => {
                (Rest::AfterStar(star as u16), &text[star + 1..])
            }
            Some(_) => (Rest::Whole, text),
        };
        let start = texts.len() as u32;
        texts.extend_from_slice(left);
        Self {
            first: first_word(head),
            first_mask: mask(head.len()),
            last: last_word(segments.tail),
            last_mask: mask(segments.tail.len()).swap_bytes(),
            min_len: segments.min_len() as u32,
            rank: packed.rank(),
            // No path is longer by this much.
            span: if segments.first_star.is_none() && packed.anchored {
                0
            } else {
                usize::MAX / 2
            },
            slashes: memchr::memchr_iter(b'/', text).count().min(255) as u8,
            anchored: packed.anchored,
            rest,
            text: (start, texts.len() as u32),
        }
    }

    /// Whether a path has the first and the last bytes of the rule, and a length that can match.
    #[inline(always)]
    fn has_ends(&self, Candidate { path, first, last }: Candidate<'_>) -> bool {
        let differing =
            (first ^ self.first) & self.first_mask | (last ^ self.last) & self.last_mask;
        differing == 0 && path.len().wrapping_sub(self.min_len as usize) <= self.span
    }

    /// The text that is left to compare.
    #[inline(always)]
    fn text<'t>(&self, texts: &'t [u8]) -> &'t [u8] {
        texts
            .get(self.text.0 as usize..self.text.1 as usize)
            .unwrap_or_default()
    }

    /// Whether a path that has the rule's ends matches, given the texts of its table.
    #[inline(always)]
    fn matches_rest(&self, path: &[u8], texts: &[u8]) -> bool {
        let text = self.text(texts);
        match self.rest {
            Rest::Nothing => true,
            Rest::Literal => starts_with_masked(path, text),
            Rest::AfterStar(star) => {
                let rest = path.get(usize::from(star)..).unwrap_or_default();
                matches_after_star(text, self.anchored, rest)
            }
            Rest::Whole => matches(text, self.anchored, path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::build::{CanonicalRule, encode};
    use crate::robots::RuleKind;
    use crate::simd::AnyBackend;

    fn with_table<T>(rules: &[String], ask: impl FnOnce(&BitTable) -> T) -> T {
        let rules: Vec<CanonicalRule<'_>> = rules
            .iter()
            .map(|rule| CanonicalRule {
                text: rule.trim_end_matches('$').as_bytes().into(),
                anchored: rule.ends_with('$'),
                kind: RuleKind::Disallow,
            })
            .collect();
        let bytes = encode(&rules).unwrap();
        let set = RuleSet::decode(&bytes, 0).unwrap();
        ask(&BitTable::new(&set, &[]).unwrap())
    }

    /// Whether a path matches the only rule of a table.
    fn is_match(rule: &str, path: &str) -> bool {
        with_table(&[rule.to_owned()], |table| {
            let candidate = Candidate::new(path.as_bytes());
            let rank = table.highest(candidate, 0, AnyBackend::detect());
            if let Some(by_ends) = table.highest_by_ends(candidate) {
                assert_eq!(by_ends, rank, "{rule} {path}");
            }
            rank > 0
        })
    }

    #[test]
    fn both_ends_are_compared_whole() {
        assert!(is_match("/aaaaaaaa*aaaaaaaa$", "/aaaaaaaa-aaaaaaaa"));
        assert!(
            !is_match("/aaaaaaaa*aaaaaaaa$", "/aaaabaaa-aaaabaaa"),
            "bytes that are not looked up, and differ alike at both ends"
        );
        assert!(is_match("/a*123456789$", "/a-123456789"));
        assert!(
            !is_match("/a*123456789$", "/a-x23456789"),
            "a suffix that is longer than a word"
        );
        assert!(
            is_match("/a*bbb*ccc$", "/abbbccc"),
            "the shortest path of a rule with a middle"
        );
    }

    #[test]
    fn sizes_count_each_part() {
        let rules: Vec<String> = (0..=LANE_RULES)
            .map(|n| format!("/{n}*/and/more"))
            .collect();
        with_table(&rules, |table| {
            let texts = table.texts.len();
            assert!(texts > 0);
            assert_eq!(
                table.size(),
                size_of::<BitTable>() + size_of::<BitLane>() + texts
            );
        });
    }
}
