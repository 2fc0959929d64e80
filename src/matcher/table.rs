//! The rules of a hot rule set side by side: one look at both ends of a path dismisses nearly all of them.
//!
//! Searching the stems takes steps that wait for one another, and what they lead to is decided by branches that the processor cannot foresee
//! when paths come in no order. Up to a hundred rules or so are told in less time all at once: for each of a few places in a path, and for each
//! byte that may stand there, one word has a bit for each rule that it suits. (Comparing the first and the last four bytes with those of eight
//! rules by one vector instruction took as many instructions for eight rules, and twice as many for 64.)
//!
//! What a pattern has between its first star and its end is not seen so. Where that is more than stars, the rule has a fingerprint, and all
//! fingerprints are looked for in one pass, but only in paths that one of these rules suits.

use super::parts::{END_LEN, Parts};
use super::pieces::{Inner, Told, of_buckets};
use super::subject::Subject;
use crate::error::Result;
use crate::robots::pattern::{behind_matches, glob_matches};
use crate::simd::{BUCKETS, Fingerprints, Machine, Work};
use crate::snapshot::packed::PackedRule;
use crate::snapshot::ruleset::RuleSet;
use crate::snapshot::stems::{PREFIX_LEN, prefix_word};
use crate::snapshot::wild::Wild;
use std::array;
use std::cmp::Reverse;

/// Up to so many rules a table holds the literal ones too: more are found sooner by the index of their stems (100 literal rules take 23 ns here
/// and there, 250 take 29 ns here and 25 ns there, 65 rules of all kinds 18 ns here and 26 ns there).
const MOST: usize = 128;

/// Fewer literal rules alone are mostly dismissed by the bytes that they begin with, at less cost.
const LEAST: usize = 8;

/// Rules with wildcards that a table may hold: more have so many fingerprints that these tell too little of a path (100 rules take 89 ns here
/// and 118 ns in the snapshot, 250 take 219 ns and 129 ns).
const MOST_WILD: usize = 128;

/// Up to 128 rules with wildcards, and the literal ones of their set if there are not many.
#[derive(Debug)]
pub(crate) struct Table {
    /// The rules of the highest ranks, and all others in the order of theirs.
    first: Block,
    others: Vec<Block>,
    fingerprints: Fingerprints,
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
        let mut rules = set.rules().collect::<Result<Vec<_>>>()?;
        rules.retain(|(text, _)| !is_wild || text.contains(&b'*'));
        rules.sort_by_key(|(_, packed)| Reverse(packed.rank()));
        let mut blocks: Vec<Block> = rules.chunks(BLOCK).map(Block::new).collect();
        let inner = rules.iter().map(|(text, packed)| Parts::of(text, packed.anchored).inner);
        let inner = inner.enumerate().map(|(number, text)| Inner { block: number / BLOCK, rule: number % BLOCK, text });
        let told = Told::new(&inner.collect::<Vec<_>>(), blocks.len(), samples);
        for (block, buckets) in blocks.iter_mut().zip(told.rules) {
            block.tell(buckets);
        }
        let mut blocks = blocks.into_iter();
        let first = blocks.next().unwrap_or_else(|| Block::new(&[]));
        Ok(Self { first, others: blocks.collect(), fingerprints: told.fingerprints, is_wild })
    }

    /// Whether the literal rules of the set are not in here.
    #[inline(always)]
    pub(super) fn is_wild(&self) -> bool {
        self.is_wild
    }

    /// The rank of the highest of these rules that matches, if it is higher than `floor`, else `floor`.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if a rule's pattern lies outside the file.
    #[inline(always)]
    pub(super) fn highest(
        &self,
        wild: &Wild<'_>,
        subject: Subject<'_>,
        floor: u32,
        machine: impl Machine,
    ) -> Result<u32> {
        let rank = self.first.highest(&self.fingerprints, (subject, floor), wild, machine)?;
        if rank > floor || self.others.is_empty() {
            return Ok(rank);
        }
        machine.apart(Others { table: self, wild, subject, floor })
    }
}

/// A path and the rules that are not in the first block of a table. Done apart, as in a loop over all blocks there would be so much to be
/// prepared that it took as long as the first.
struct Others<'w, 'a> {
    table: &'w Table,
    wild: &'w Wild<'a>,
    subject: Subject<'w>,
    floor: u32,
}

impl Work for Others<'_, '_> {
    type Output = Result<u32>;

    /// The rank of the highest that matches, if it is higher than `floor`, else `floor`.
    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<u32> {
        let Self { table, wild, subject, floor } = self;
        for block in &table.others {
            let rank = block.highest(&table.fingerprints, (subject, floor), wild, machine)?;
            if rank > floor {
                return Ok(rank);
            }
        }
        Ok(floor)
    }
}

/// Rules in a block: one bit each of a word.
const BLOCK: usize = 64;

/// Bytes at the beginning of a path, behind the `/`, that are looked at for all rules at once.
const BEGIN_LEN: usize = 4;

/// Up to 64 rules, one bit each in its words.
#[derive(Debug)]
struct Block {
    /// For each place from the beginning on, and from the end backwards, the rules that each byte suits.
    begins: [[u64; 256]; BEGIN_LEN],
    ends: [[u64; 256]; END_LEN],
    rows: Vec<Row>,
    /// The rules of which the edges do not tell whether they match.
    partial: u64,
    /// Of these, those that have a fingerprint, and the least length of a path that one of them matches.
    told: u64,
    told_from: usize,
    /// The rules of each bucket of fingerprints.
    buckets: [u64; BUCKETS],
}

impl Block {
    /// The block of up to 64 rules, no fingerprints yet.
    fn new(rules: &[(Vec<u8>, PackedRule)]) -> Self {
        let parts: Vec<Parts<'_>> = rules.iter().map(|(text, packed)| Parts::of(text, packed.anchored)).collect();
        let begin = |place| parts.iter().map(move |parts| parts.begin().get(place).copied());
        let end = |place| parts.iter().map(move |parts| parts.tail.iter().rev().nth(place).copied());
        let partial = parts.iter().zip(0..).fold(0, |bits, (parts, rule)| bits | u64::from(!parts.are_seen()) << rule);
        Self {
            begins: array::from_fn(|place| suited_by_byte(begin(place))),
            ends: array::from_fn(|place| suited_by_byte(end(place))),
            rows: parts.iter().zip(rules).map(|(parts, (text, packed))| Row::new(parts, text, packed)).collect(),
            partial,
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

    /// The rank of the highest of these rules that matches, if it is higher than `floor`, else `floor`.
    #[inline(always)]
    fn highest(
        &self,
        fingerprints: &Fingerprints,
        (subject, floor): (Subject<'_>, u32),
        wild: &Wild<'_>,
        machine: impl Machine,
    ) -> Result<u32> {
        let path = subject.path;
        let suited = self.suited(subject);
        let (mut left, mut slashes) = (suited, u8::MAX);
        if suited & self.told != 0 {
            left &= !self.told;
            if path.len() >= self.told_from {
                let found = machine.look_for(fingerprints, path);
                left |= suited & of_buckets(&self.buckets, found.buckets);
                slashes = found.slashes;
            }
        }
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(row) = self.rows.get(number).filter(|row| row.rank > floor) else { break };
            if !row.has_edges(subject) || row.slashes > slashes {
                continue;
            }
            if self.partial >> number & 1 == 0 || row.matches(path, wild, machine)? {
                return Ok(row.rank);
            }
        }
        Ok(floor)
    }

    /// The rules that both ends of a path suit.
    #[inline(always)]
    fn suited(&self, Subject { path, word }: Subject<'_>) -> u64 {
        // A path of one byte is `/`.
        let [before, last] = path.last_chunk().unwrap_or(&[0, b'/']).map(usize::from);
        let [a, b, c, d, ..] = word.to_be_bytes().map(usize::from);
        let ([first, second, third, fourth], [end, next]) = (&self.begins, &self.ends);
        first[a] & second[b] & third[c] & fourth[d] & end[last] & next[before]
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

/// A rule.
#[derive(Debug)]
struct Row {
    /// The first bytes of a path behind its `/`, as far as the rule says what they are.
    word: u64,
    mask: u64,
    /// A path that matches is as long as this, and no longer than by `span`.
    len: u32,
    rank: u32,
    span: usize,
    /// How many slashes there must be, up to 255.
    slashes: u8,
    /// What is left to compare if the edges are there.
    rest: Rest,
    packed: u64,
}

/// What is left to compare of a pattern.
#[derive(Debug)]
enum Rest {
    /// The whole of it, without stars.
    Literal,
    /// What stands behind its first star, which is here.
    Behind(u16),
    /// The whole of it, as it begins with more than a word.
    Glob,
}

impl Row {
    fn new(parts: &Parts<'_>, text: &[u8], packed: &PackedRule) -> Self {
        let begin = parts.begin();
        Self {
            word: prefix_word(begin),
            mask: !u64::MAX.checked_shr(8 * begin.len() as u32).unwrap_or(0),
            len: parts.len() as u32,
            rank: packed.rank(),
            // No path is longer by as much as this.
            span: if parts.star.is_none() && packed.anchored { 0 } else { usize::MAX / 2 },
            slashes: memchr::memchr_iter(b'/', text).count().min(255) as u8,
            rest: match parts.star {
                None => Rest::Literal,
                Some(star) if begin.len() <= PREFIX_LEN => Rest::Behind(star as u16),
                Some(_) => Rest::Glob,
            },
            packed: packed.encode(),
        }
    }

    /// Whether a path has the first bytes of the rule, and a length that it can match.
    #[inline(always)]
    fn has_edges(&self, Subject { path, word }: Subject<'_>) -> bool {
        (word ^ self.word) & self.mask == 0 && path.len().wrapping_sub(self.len as usize) <= self.span
    }

    /// Whether a path that has its edges matches.
    #[inline(always)]
    fn matches(&self, path: &[u8], wild: &Wild<'_>, machine: impl Machine) -> Result<bool> {
        let packed = PackedRule::decode(self.packed);
        let text = wild.pattern(&packed)?;
        Ok(match self.rest {
            Rest::Literal => path.starts_with(text),
            Rest::Behind(star) => {
                let star = usize::from(star);
                let (text, path) = (text.get(star + 1..).unwrap_or_default(), path.get(star..).unwrap_or_default());
                behind_matches(text, packed.anchored, path, machine)
            }
            Rest::Glob => glob_matches(text, packed.anchored, path, machine),
        })
    }
}
