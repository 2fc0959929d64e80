//! The rules of a hot rule set side by side: one look at both ends of a path dismisses nearly all of them.
//!
//! Searching the stems takes steps that wait for one another, and what they lead to is decided by branches that the processor cannot foresee
//! when paths come in no order. Up to a hundred rules or so are told in less time all at once: for each of a few places in a path, and for each
//! byte that may stand there, one word has a bit for each rule that it suits. (Comparing the first and the last four bytes with those of eight
//! rules by one vector instruction took as many instructions for eight rules, and twice as many for 64.)
//!
//! What a pattern has between its first star and its end is not seen so. Where that is more than stars, the rule has a fingerprint, and all
//! fingerprints are looked for in one pass, but only in paths that one of these rules suits.

use super::parts::Parts;
use super::pieces::{Inner, Told, of_buckets};
use super::subject::Subject;
use crate::error::Result;
use crate::robots::pattern::{behind_matches, glob_matches};
use crate::simd::{BUCKETS, Fingerprints, Machine};
use crate::snapshot::packed::{PREFIX_LEN, PackedRule};
use crate::snapshot::ruleset::RuleSet;
use crate::words::{begins, first_word, last_word};
use std::array;
use std::cmp::Reverse;

/// Up to so many rules a table holds the literal ones too: more are found sooner by the index of their stems (100 literal rules take 23 ns here
/// and there, 250 take 29 ns here and 25 ns there, 65 rules of all kinds 18 ns here and 26 ns there).
const MOST: usize = 128;

/// Fewer literal rules alone are mostly dismissed by the bytes that they begin with, at less cost.
const LEAST: usize = 8;

/// Rules with wildcards that a table may hold: more have so many fingerprints that these tell too little of a path (100 rules take 59 ns here
/// and 65 ns without, 128 take 81 ns and 68 ns).
const MOST_WILD: usize = 104;

/// Up to 104 rules with wildcards, and the literal ones of their set if there are not many; or up to 128 of these alone.
#[derive(Debug)]
pub(crate) struct Table {
    /// The rules of the highest ranks, and all others in the order of theirs.
    first: Block,
    others: Vec<Block>,
    fingerprints: Fingerprints,
    /// What is left to compare of rules whose ends do not tell all.
    texts: Vec<u8>,
    /// Whether the literal rules are not among them.
    is_wild: bool,
}

impl Table {
    /// Whether a rule set is to have one.
    #[inline]
    pub(super) fn fits(set: &RuleSet<'_>) -> bool {
        match set.wild.len() {
            0 => (LEAST..=MOST).contains(&set.stems.len()),
            wild => wild <= MOST_WILD,
        }
    }

    /// The table of a rule set that [`fits`](Self::fits), given some of the paths that are judged by it.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if a rule's pattern lies outside the file.
    pub(super) fn new(set: &RuleSet<'_>, samples: &[Vec<u8>]) -> Result<Self> {
        let is_wild = set.len() > MOST;
        let mut rules: Vec<_> =
            if is_wild { set.wildcard_rules().collect::<Result<_>>() } else { set.rules().collect::<Result<_>>() }?;
        rules.sort_by_key(|(_, packed)| Reverse(packed.rank()));
        let mut texts = Vec::new();
        let mut blocks: Vec<Block> = rules.chunks(BLOCK).map(|rules| Block::new(rules, &mut texts)).collect();
        let inner = rules.iter().map(|(text, packed)| Parts::of(text, packed.anchored).inner);
        let inner = inner.enumerate().map(|(number, text)| Inner { block: number / BLOCK, rule: number % BLOCK, text });
        let told = Told::new(&inner.collect::<Vec<_>>(), blocks.len(), samples);
        for (block, buckets) in blocks.iter_mut().zip(told.rules) {
            block.tell(buckets);
        }
        let mut blocks = blocks.into_iter();
        let first = blocks.next().unwrap_or_else(|| Block::new(&[], &mut texts));
        Ok(Self { first, others: blocks.collect(), fingerprints: told.fingerprints, texts, is_wild })
    }

    /// Whether the literal rules of the set are not in here.
    #[inline(always)]
    pub(super) fn is_wild(&self) -> bool {
        self.is_wild
    }

    /// The bytes that it takes.
    pub(super) fn size(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.others) + self.texts.len()
    }

    /// What both ends of a path tell.
    #[inline(always)]
    pub(super) fn look(&self, subject: Subject<'_>) -> Look {
        let mut left = self.first.suited(subject);
        while left != 0 {
            let row = self.first.row(left);
            if row.has_edges(subject) {
                return if matches!(row.rest, Rest::Nothing) { Look::Rule(row.rank) } else { Look::Left(left) };
            }
            left &= left - 1;
        }
        if self.others.is_empty() { Look::None } else { Look::Left(0) }
    }

    /// The rank of the highest of these rules that matches; 0 where none does. Those of the first block of which `look` told that they are left,
    /// and all behind that.
    #[inline(always)]
    pub(super) fn highest_left(&self, subject: Subject<'_>, left: u64, machine: impl Machine) -> u32 {
        let rank = self.first.highest_of(left, (self, subject), 0, machine);
        if rank > 0 { rank } else { self.highest_of_others(subject, 0, machine) }
    }

    /// The rank of the highest of these rules that matches, if it is higher than `floor`, else `floor`.
    #[inline(always)]
    pub(super) fn highest(&self, subject: Subject<'_>, floor: u32, machine: impl Machine) -> u32 {
        let rank = self.first.highest_of(self.first.suited(subject), (self, subject), floor, machine);
        if rank > floor { rank } else { self.highest_of_others(subject, floor, machine) }
    }

    #[inline(always)]
    fn highest_of_others(&self, subject: Subject<'_>, floor: u32, machine: impl Machine) -> u32 {
        for block in &self.others {
            let rank = block.highest_of(block.suited(subject), (self, subject), floor, machine);
            if rank > floor {
                return rank;
            }
        }
        floor
    }
}

/// What both ends of a path tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Look {
    /// The rank of the rule that decides.
    Rule(u32),
    /// That no rule does.
    None,
    /// The rules of the first block that are left, one bit each.
    Left(u64),
}

/// Rules in a block: one bit each of a word.
const BLOCK: usize = 64;

/// Bytes at the beginning of a path, behind the `/`, that are looked at for all rules at once.
const BEGIN_LEN: usize = 4;

/// A number for the last two bytes of a path, given its last word. Rules by both bytes one after the other were dismissed no better, and by the last
/// alone so badly that an unsorted list took a fortieth more.
#[inline(always)]
fn end_number(last: u64) -> u8 {
    (((last >> 48) * 0x9d) >> 8) as u8
}

/// Up to 64 rules, one bit each in its words.
#[derive(Debug)]
struct Block {
    /// For each place from the beginning on the rules that each byte suits, and those that each number of an end does.
    begins: [[u64; 256]; BEGIN_LEN],
    ends: [u64; 256],
    /// The rules; behind the last such as match nothing.
    rows: [Row; BLOCK],
    /// Those that have a fingerprint, and the least length of a path that one of them matches.
    told: u64,
    told_from: usize,
    /// The rules of each bucket of fingerprints.
    buckets: [u64; BUCKETS],
}

impl Block {
    /// The block of up to 64 rules, no fingerprints yet.
    fn new(rules: &[(Vec<u8>, PackedRule)], texts: &mut Vec<u8>) -> Self {
        let parts: Vec<Parts<'_>> = rules.iter().map(|(text, packed)| Parts::of(text, packed.anchored)).collect();
        let begin = |place| parts.iter().map(move |parts| parts.begin().get(place).copied());
        let end = |parts: &Parts<'_>| (parts.tail.len() >= 2).then(|| end_number(last_word(parts.tail)));
        let mut rows = parts.iter().zip(rules).map(|(parts, (text, packed))| Row::new(parts, (text, packed), texts));
        Self {
            begins: array::from_fn(|place| suited_by_byte(begin(place))),
            ends: suited_by_byte(parts.iter().map(end)),
            rows: array::from_fn(|_| rows.next().unwrap_or_default()),
            told: 0,
            told_from: usize::MAX,
            buckets: [0; BUCKETS],
        }
    }

    /// Takes over fingerprints: the rules of each bucket.
    fn tell(&mut self, buckets: [u64; BUCKETS]) {
        self.buckets = buckets;
        self.told = buckets.iter().fold(0, |told, rules| told | rules);
        let told = self.rows.iter().zip(0..).filter(|(_, rule)| self.told >> rule & 1 == 1);
        self.told_from = told.map(|(row, _)| row.len as usize).min().unwrap_or(usize::MAX);
    }

    /// The rank of the highest of the rules that suit a path and match it, if it is higher than `floor`, else `floor`; of this block of a table.
    #[inline(always)]
    fn highest_of(
        &self,
        suited: u64,
        (table, subject): (&Table, Subject<'_>),
        floor: u32,
        machine: impl Machine,
    ) -> u32 {
        let path = subject.path;
        let (mut left, mut slashes) = (suited, u8::MAX);
        if suited & self.told != 0 {
            left &= !self.told;
            if path.len() >= self.told_from {
                let found = machine.look_for(&table.fingerprints, path);
                left |= suited & of_buckets(&self.buckets, found.buckets);
                slashes = found.slashes;
            }
        }
        while left != 0 {
            let row = self.row(left);
            if row.rank <= floor {
                break;
            }
            if row.has_edges(subject) && row.slashes <= slashes && row.matches(path, &table.texts, machine) {
                return row.rank;
            }
            left &= left - 1;
        }
        floor
    }

    /// The first of these rules.
    #[inline(always)]
    fn row(&self, rules: u64) -> &Row {
        &self.rows[rules.trailing_zeros() as usize % BLOCK]
    }

    /// The rules that both ends of a path suit.
    #[inline(always)]
    fn suited(&self, Subject { first, last, .. }: Subject<'_>) -> u64 {
        let [a, b, c, d, ..] = first.to_le_bytes().map(usize::from);
        let [first, second, third, fourth] = &self.begins;
        first[a] & second[b] & third[c] & fourth[d] & self.ends[usize::from(end_number(last))]
    }
}

/// For each byte a bit for each rule that it suits, given the byte that each asks for, if it asks for one.
fn suited_by_byte(asked: impl Iterator<Item = Option<u8>>) -> [u64; 256] {
    let (mut suits, mut any) = ([0; 256], 0);
    for (rule, byte) in asked.enumerate() {
        *byte.map_or(&mut any, |byte| &mut suits[usize::from(byte)]) |= 1 << rule;
    }
    suits.map(|rules| rules | any)
}

/// A rule; by default one that matches nothing.
#[derive(Debug, Default)]
struct Row {
    /// The first bytes of a path behind its `/`, as far as the rule says what they are.
    first: u64,
    first_mask: u64,
    /// The last bytes of a path likewise.
    last: u64,
    last_mask: u64,
    /// A path that matches is as long as this, and no longer than by `span`.
    len: u32,
    rank: u32,
    span: usize,
    /// How many slashes there must be, up to 255.
    slashes: u8,
    anchored: bool,
    /// What is left to compare if the edges are there; with which text, of those of the table.
    rest: Rest,
    text: (u32, u32),
}

/// What is left to compare of a pattern.
#[derive(Debug, Default)]
enum Rest {
    #[default]
    Nothing,
    /// The whole of it, without stars.
    Literal,
    /// What stands behind its first star, which is here.
    Behind(u16),
    /// The whole of it, as it begins with more than a word.
    Glob,
}

impl Row {
    /// The row of a rule; what will be left to compare of it is put behind `texts`.
    fn new(parts: &Parts<'_>, (text, packed): (&[u8], &PackedRule), texts: &mut Vec<u8>) -> Self {
        let begin = parts.begin();
        let edge = |len: usize| !u64::MAX.checked_shl(8 * len as u32).unwrap_or(0);
        let (rest, left) = match parts.star {
            _ if parts.are_seen() => (Rest::Nothing, &[][..]),
            None => (Rest::Literal, text),
            Some(star) if begin.len() <= PREFIX_LEN => (Rest::Behind(star as u16), &text[star + 1..]),
            Some(_) => (Rest::Glob, text),
        };
        let start = texts.len() as u32;
        texts.extend_from_slice(left);
        Self {
            first: first_word(begin),
            first_mask: edge(begin.len()),
            last: last_word(parts.tail),
            last_mask: edge(parts.tail.len()).swap_bytes(),
            len: parts.len() as u32,
            rank: packed.rank(),
            // No path is longer by as much as this.
            span: if parts.star.is_none() && packed.anchored { 0 } else { usize::MAX / 2 },
            slashes: memchr::memchr_iter(b'/', text).count().min(255) as u8,
            anchored: packed.anchored,
            rest,
            text: (start, texts.len() as u32),
        }
    }

    /// Whether a path has the first and the last bytes of the rule, and a length that it can match.
    #[inline(always)]
    fn has_edges(&self, Subject { path, first, last }: Subject<'_>) -> bool {
        let lacking = (first ^ self.first) & self.first_mask | (last ^ self.last) & self.last_mask;
        lacking == 0 && path.len().wrapping_sub(self.len as usize) <= self.span
    }

    /// Whether a path that has its edges matches, given the texts of its table.
    #[inline(always)]
    fn matches(&self, path: &[u8], texts: &[u8], machine: impl Machine) -> bool {
        let text = texts.get(self.text.0 as usize..self.text.1 as usize).unwrap_or_default();
        match self.rest {
            Rest::Nothing => true,
            Rest::Literal => begins(path, text),
            Rest::Behind(star) => {
                let path = path.get(usize::from(star)..).unwrap_or_default();
                behind_matches(text, self.anchored, path, machine)
            }
            Rest::Glob => glob_matches(text, self.anchored, path, machine),
        }
    }
}
