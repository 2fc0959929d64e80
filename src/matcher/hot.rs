//! Rules with wildcards that many URLs meet: each is told by a few bytes that the site's own paths seldom have, and these are looked
//! for all at once.
//!
//! A signature dismisses rules of any site, and is made of all pairs of a path. Where thousands of paths meet the same rules, as on
//! the few sites that make up much of a list, it pays to look at some of these paths first: of each rule the three bytes are taken
//! that the fewest of them hold. One pass over a path finds all of them, at half the cost of a signature and of comparing it.

use super::memo::Memo;
use crate::error::Result;
use crate::robots::pattern::glob_matches_behind;
use crate::simd::{BUCKETS, Fingerprints, Machine};
use crate::snapshot::ruleset::RuleSet;
use crate::snapshot::wild::Wild;

/// URLs that meet a rule set before its fingerprints are taken, which costs as much as matching about a thousand.
const MANY: u32 = 4096;

/// How many of the paths until then are looked at.
const SAMPLES: usize = 256;

/// How much of each is looked at: a line may be of megabytes, and these are kept.
const SAMPLE_LEN: usize = 1024;

/// Rule sets kept, each at the place that its number gives.
const KEPT: usize = 64;

/// With fewer rules there is little to save; more would need more bits.
const COUNTS: std::ops::RangeInclusive<usize> = 6..=64;

/// A fingerprint that as many samples have as this tells nothing.
const FREQUENT: usize = SAMPLES / 16;

/// The rule sets that many URLs of one thread met.
#[derive(Debug)]
pub(crate) struct HotSets {
    sets: Vec<HotSet>,
    many: u32,
}

#[derive(Debug, Default)]
struct HotSet {
    /// The place of the rule set in the snapshot.
    place: u32,
    /// URLs that met it, less those that met others which would stand here.
    met: u32,
    /// Only of one that is told by fingerprints.
    memo: Memo,
    samples: Vec<Vec<u8>>,
    told: Option<Told>,
}

impl Default for HotSets {
    fn default() -> Self {
        Self::after(MANY)
    }
}

impl HotSets {
    /// Sets that are told by fingerprints after so many URLs.
    pub(super) fn after(many: u32) -> Self {
        Self { sets: std::iter::repeat_with(HotSet::default).take(KEPT).collect(), many }
    }

    /// The rules at a place as they are told by fingerprints, and the memo of them, if it holds for paths with this word.
    #[inline]
    pub(super) fn recall(&mut self, place: u32, wild: &Wild<'_>, word: u64) -> Option<(&Told, &Memo)> {
        if !COUNTS.contains(&wild.len()) {
            return None;
        }
        let set = &mut self.sets[place as usize % KEPT];
        if set.place != place || !set.memo.recall(word) {
            return None;
        }
        set.met = self.many * 2;
        set.told.as_ref().map(|told| (told, &set.memo))
    }

    /// Counts that a path, given with its word, meets the rules at a place; gives them as they are told by fingerprints, if it is time.
    #[inline]
    pub(super) fn meet(
        &mut self,
        place: u32,
        rules: &RuleSet<'_>,
        (path, word): (&[u8], u64),
        machine: impl Machine,
    ) -> Result<Option<&Told>> {
        if !COUNTS.contains(&rules.wild.len()) {
            return Ok(None);
        }
        let set = &mut self.sets[place as usize % KEPT];
        if set.place != place || set.told.is_none() {
            set.count(place, &rules.wild, path, self.many)?;
        } else {
            set.met = self.many * 2;
            set.memo.note(rules, (path, word), machine)?;
        }
        Ok(set.told.as_ref().filter(|_| set.place == place))
    }
}

impl HotSet {
    #[cold]
    fn count(&mut self, place: u32, wild: &Wild<'_>, path: &[u8], many: u32) -> Result<()> {
        if self.place != place {
            self.met = self.met.saturating_sub(1);
            if self.met > 0 {
                return Ok(());
            }
            *self = Self { place, ..Self::default() };
        }
        self.met += 1;
        // Neighbours in a list are alike, so the samples are taken far apart. Where two sets take turns the count comes to the same number
        // again and again.
        if self.met.is_multiple_of((many / SAMPLES as u32).max(1)) && self.samples.len() < SAMPLES {
            self.samples.push(path[..path.len().min(SAMPLE_LEN)].to_vec());
        }
        if self.met >= many {
            self.told = Some(Told::new(wild, &std::mem::take(&mut self.samples))?);
        }
        Ok(())
    }
}

/// Up to 64 rules, told by fingerprints.
#[derive(Debug)]
pub(crate) struct Told {
    fingerprints: Fingerprints,
    /// The rules of each bucket, a bit for each rule's number.
    rules: [u64; BUCKETS],
    /// Those that have no fingerprint, or one that most paths have: they are always looked at.
    bare: u64,
    /// How many slashes each needs.
    slashes: [u8; 64],
}

impl Told {
    fn new(wild: &Wild<'_>, samples: &[Vec<u8>]) -> Result<Self> {
        let frequency = Frequency::of(samples);
        let mut told = Self { fingerprints: Fingerprints::new(), rules: [0; BUCKETS], bare: 0, slashes: [0; 64] };
        let mut buckets = Vec::new();
        for number in 0..wild.len().min(64) {
            let Some(rule) = wild.rule(number) else { continue };
            let pattern = wild.pattern(&rule)?;
            told.slashes[number] = memchr::memchr_iter(b'/', pattern).count().min(255) as u8;
            match frequency.rarest(pattern) {
                Some((count, piece)) if count < FREQUENT => buckets.push(Bucket::new(piece, number)),
                _ => told.bare |= 1 << number,
            }
        }
        merge(&mut buckets);
        for (number, bucket) in buckets.iter().enumerate() {
            bucket.pieces.iter().for_each(|piece| told.fingerprints.add(number, piece));
            told.rules[number] = bucket.rules;
        }
        Ok(told)
    }

    /// The rank of the highest of these rules, a bit for each number, that matches, if it is higher than `floor`, else `floor`.
    #[inline(always)]
    pub(super) fn highest(
        &self,
        wild: &Wild<'_>,
        numbers: u64,
        path: &[u8],
        floor: u32,
        machine: impl Machine,
    ) -> Result<u32> {
        if numbers == 0 {
            return Ok(floor);
        }
        let (rules, slashes) = self.look(path, machine);
        let mut rules = rules & numbers;
        let mut rank = floor;
        while rules != 0 {
            let number = rules.trailing_zeros() as usize;
            rules &= rules - 1;
            if self.slashes[number] > slashes {
                continue;
            }
            // Those of one branch stand by rank, but these may be of several.
            let Some(rule) = wild.rule(number).filter(|rule| rule.rank() > rank) else { continue };
            if glob_matches_behind(wild.pattern(&rule)?, rule.anchored, path, machine) {
                rank = rule.rank();
            }
        }
        Ok(rank)
    }

    /// The rules that a path may match, a bit for each number, and its slashes.
    #[inline(always)]
    fn look(&self, path: &[u8], machine: impl Machine) -> (u64, u8) {
        let found = machine.look_for(&self.fingerprints, path);
        let (mut left, mut rules) = (found.buckets, self.bare);
        while left != 0 {
            rules |= self.rules[left.trailing_zeros() as usize % BUCKETS];
            left &= left - 1;
        }
        (rules, found.slashes)
    }
}

/// Pieces that are looked for together, and their rules.
struct Bucket<'p> {
    pieces: Vec<&'p [u8]>,
    rules: u64,
    /// For each place which low and which high halves of bytes pass.
    passes: [[u16; 2]; 3],
}

impl<'p> Bucket<'p> {
    fn new(piece: &'p [u8], rule: usize) -> Self {
        let halves = |place: usize| piece.get(place).map_or([u16::MAX; 2], |byte| [1 << (byte & 15), 1 << (byte >> 4)]);
        Self { pieces: vec![piece], rules: 1 << rule, passes: [halves(0), halves(1), halves(2)] }
    }

    /// How many texts of three bytes are taken for one of the pieces if those of another bucket are added.
    fn width_with(&self, other: &Self) -> u64 {
        let both = self.passes.as_flattened().iter().zip(other.passes.as_flattened());
        both.map(|(a, b)| u64::from((a | b).count_ones())).product()
    }

    fn add(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
        self.rules |= other.rules;
        let both = self.passes.as_flattened_mut().iter_mut().zip(other.passes.as_flattened());
        both.for_each(|(own, other)| *own |= other);
    }
}

/// Merges buckets until no more are left than there can be; always the two that let the fewest other texts pass together, because a
/// bucket mixes the halves of all bytes that it has at a place.
fn merge(buckets: &mut Vec<Bucket<'_>>) {
    while buckets.len() > BUCKETS {
        let pairs = (1..buckets.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let gain = |(a, b): &(usize, usize)| {
            let (a, b) = (&buckets[*a], &buckets[*b]);
            a.width_with(b).saturating_sub(a.width_with(a) + b.width_with(b))
        };
        let Some((a, b)) = pairs.min_by_key(gain) else { return };
        let other = buckets.swap_remove(b);
        buckets[a].add(other);
    }
}

/// How many samples hold what.
struct Frequency {
    /// The codes of the pieces of all samples, sorted; each piece once for every sample that holds it.
    codes: Vec<u32>,
}

impl Frequency {
    fn of(samples: &[Vec<u8>]) -> Self {
        let mut codes = Vec::new();
        for sample in samples {
            let mut own: Vec<u32> = (1..=3).flat_map(|len| sample.windows(len)).map(code).collect();
            own.sort_unstable();
            own.dedup();
            codes.append(&mut own);
        }
        codes.sort_unstable();
        Self { codes }
    }

    fn count(&self, piece: &[u8]) -> usize {
        let code = code(piece);
        self.codes.partition_point(|other| *other <= code) - self.codes.partition_point(|other| *other < code)
    }

    /// Of a pattern's pieces of three bytes, or fewer between two stars, one that the fewest samples hold, and how many do.
    fn rarest<'p>(&self, pattern: &'p [u8]) -> Option<(usize, &'p [u8])> {
        let parts = pattern.split(|&b| b == b'*').filter(|part| !part.is_empty());
        let pieces = parts.flat_map(|part| part.windows(part.len().min(3)));
        pieces.map(|piece| (self.count(piece), piece)).min_by_key(|(count, piece)| {
            // Of equally rare ones those with signs, and then the longest, are likely to be the rarest in all other paths.
            let common = piece.iter().filter(|b| b.is_ascii_alphanumeric() || b"/-_".contains(b)).count();
            (*count, common, 3 - piece.len())
        })
    }
}

/// A piece of up to three bytes, and its length, as a number.
fn code(piece: &[u8]) -> u32 {
    piece.iter().fold(piece.len() as u32, |code, &byte| code << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::pack;
    use crate::snapshot::stems::prefix_word;

    #[test]
    fn a_set_is_told_when_many_paths_met_it_and_makes_room_when_they_stay_away() {
        let texts = ["/*?a=", "/*?b=", "/x/*.c", "/*/d/*", "*.pdf", "/x/*/y/*/z"];
        let rules =
            texts.map(|text| SetRule { text: text.as_bytes().into(), anchored: false, kind: RuleKind::Disallow });
        let (sets, patterns) = pack(&rules).unwrap();
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        let meets = |hot: &mut HotSets, place, path: &[u8]| {
            hot.meet(place, &set, (path, prefix_word(&path[1..])), AnyMachine::detect()).unwrap().is_some()
        };
        let mut turns = HotSets::after(1000);
        let long = [b"/".as_slice(), &[b'x'; 5000]].concat();
        for turn in 0..5000 {
            let place = 7 + if turn < 30 || turn % 2 == 1 { 0 } else { KEPT as u32 };
            assert!(!meets(&mut turns, place, &long));
        }
        let kept: Vec<usize> = turns.sets[7].samples.iter().map(Vec::len).collect();
        assert!(kept.len() <= SAMPLES && kept.iter().all(|len| *len <= SAMPLE_LEN), "{} samples", kept.len());
        let mut hot = HotSets::after(10);
        let mut meet = |place| meets(&mut hot, place, b"/x/a.html");
        assert!((0..9).all(|_| !meet(7)) && meet(7) && meet(7));
        let other = 7 + KEPT as u32;
        assert!(!meet(other) && meet(7), "it takes more than one to drive it out");
        assert!((0..40).any(|_| meet(other)), "but when nobody asks for it any more it goes");
    }

    #[test]
    fn the_piece_that_paths_seldom_have_tells_a_rule() {
        let samples = [b"/r/x/comments/1".to_vec(), b"/r/y/comments/2".to_vec()];
        let frequency = Frequency::of(&samples);
        assert_eq!(frequency.rarest(b"*/comment/"), Some((0, &b"nt/"[..])));
        assert_eq!(frequency.rarest(b"/*/com*?*"), Some((0, &b"?"[..])));
        assert_eq!(frequency.rarest(b"**"), None);
    }
}
