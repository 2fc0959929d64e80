//! The stems of a hot rule set, to be found by the first eight bytes of a path, and then by the next eight where that is not enough.
//!
//! Searching the stems where they lie takes a binary search over their first bytes, another one over the texts of those that begin alike,
//! a comparison, and a walk along links: each step waits for the one before, and the branches cannot be foreseen. Here the first bytes of a
//! path tell which lengths stems may have that it begins with, mostly none or one; for each of these a table of hashes is asked, and what
//! the walk would lead to is found there. With 10,000 rules that takes 25 ns instead of 95.
//!
//! (Sorted words in blocks of sixteen, each compared at once, with what is found by the number of bytes shared, took as long as the binary
//! search: three blocks that wait for one another. All lengths asked for, in turn and without branches: 6 ns more.)

use crate::error::Result;
use crate::simd::{Machine, WORDS, prefetch};
use crate::snapshot::stems::{Found, NOTHING, NUMBER_BITS, PREFIX_LEN, RANK_BITS, StemText, Stems, prefix_word};
use std::collections::VecDeque;

/// Fewer stems are found by one look where they lie.
const LEAST: usize = 32;

/// Places in a path that are looked at before anything else.
const STARTS: usize = 4;

/// The stems of a rule set.
#[derive(Debug)]
pub(crate) struct StemIndex {
    /// For each of the first places and each byte that may stand there, the lengths of the root's words that it suits, one bit each.
    starts: [[u16; 256]; STARTS],
    root: Node,
    /// What is found of a path with none of the root's words.
    none: Answer,
    buckets: Vec<Bucket>,
    more: Vec<More>,
    /// What stems have behind the bytes that they share with others.
    rests: Vec<u8>,
}

/// The stems that begin with the same bytes, a multiple of eight, by their next eight, or as many as they have.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The first of its buckets; in which of them a word is, so many bits of its product with a factor tell, the highest.
    first: u32,
    bits: u8,
    factor: u8,
    /// The lengths of its words, one bit each.
    lens: u16,
}

/// Words, zeros behind those that are not whole, and what each leads to. The places left have a word that is not looked for here, or an empty one
/// with what is found if nothing is.
///
/// Two cache lines, of which the second is asked for while the first is looked at.
#[derive(Debug)]
#[repr(align(64))]
struct Bucket {
    words: [[u8; 8]; WORDS],
    answers: [Answer; WORDS],
}

/// What a word leads to, in one word, with as many bits each as a link in the snapshot has: from the lowest the rank that is found, the branch,
/// and the number of what else there is to look at.
#[derive(Clone, Copy, Debug)]
struct Answer(u64);

/// Nothing else.
const NO_MORE: u32 = (1 << NUMBER_BITS) - 1;

impl Answer {
    #[inline]
    fn new(found: Found, more: u32) -> Self {
        let numbers = u64::from(found.branch) | u64::from(more) << NUMBER_BITS;
        Self(u64::from(found.rank) | numbers << RANK_BITS)
    }

    #[inline(always)]
    fn found(self) -> Found {
        let branch = (self.0 >> RANK_BITS) as u32 & NO_MORE;
        Found { rank: self.0 as u32 & ((1 << RANK_BITS) - 1), branch }
    }

    #[inline(always)]
    fn more(self) -> u32 {
        (self.0 >> (RANK_BITS + NUMBER_BITS)) as u32
    }
}

/// What else there is to look at of a path that has a word.
#[derive(Debug)]
struct More {
    /// The length of the anchored stem that ends with the word, and what is found of a path that it is.
    exact: Option<(u32, Found)>,
    next: Next,
}

/// How stems go on behind a word.
#[derive(Debug)]
enum Next {
    None,
    Node(Node),
    /// Only one does: where the rest of it is, and what is found if a path has that.
    Rest {
        start: u32,
        len: u32,
        anchored: bool,
        found: Found,
    },
}

impl StemIndex {
    /// Whether a rule set is to have one.
    #[inline]
    pub(super) fn fits(stems: &Stems<'_>) -> bool {
        stems.len() >= LEAST
    }

    /// The index of stems that [`fit`](Self::fits); `None` if their hashes fall together, however they are made.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if a stem's text lies outside the file.
    pub(super) fn new(stems: &Stems<'_>) -> Result<Option<Self>> {
        let mut stems = stems.texts().collect::<Result<Vec<_>>>()?;
        // In a damaged file they may not be in their order, which all that follows relies on.
        stems.sort_by(|a, b| (&a.text, a.anchored).cmp(&(&b.text, b.anchored)));
        Ok(Builder::new(&stems).build())
    }

    /// The bytes that it takes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.buckets) + size_of_val(&*self.more) + self.rests.len()
    }

    /// What a path begins with, given what follows its `/` and the word of that: as [`Stems::find`] does.
    #[inline(always)]
    pub(super) fn find(&self, tail: &[u8], mut word: u64, machine: impl Machine) -> Found {
        let [a, b, c, d, ..] = word.to_be_bytes().map(usize::from);
        let [first, second, third, fourth] = &self.starts;
        let mut lens = first[a] & second[b] & third[c] & fourth[d];
        let (mut node, mut none, mut rest) = (&self.root, self.none, tail);
        loop {
            let answer = self.answer(node, lens, word, machine).unwrap_or(none);
            let found = answer.found();
            let Some(more) = self.more.get(answer.more() as usize) else { return found };
            if let Some((len, found)) = more.exact
                && tail.len() == len as usize
            {
                return found;
            }
            rest = rest.get(PREFIX_LEN..).unwrap_or_default();
            match &more.next {
                Next::None => return found,
                Next::Rest { start, len, anchored, found: whole } => {
                    let text = self.rests.get(*start as usize..).and_then(|rests| rests.get(..*len as usize));
                    let is_it =
                        text.is_some_and(|text| rest.starts_with(text) && (!anchored || rest.len() == text.len()));
                    return if is_it { *whole } else { found };
                }
                Next::Node(next) => (node, none) = (next, Answer::new(found, NO_MORE)),
            }
            (lens, word) = (node.lens, prefix_word(rest));
        }
    }

    /// What the longest of a node's words leads to that a path with this word begins with, if it is of one of these lengths.
    #[inline(always)]
    fn answer(&self, node: &Node, mut lens: u16, word: u64, machine: impl Machine) -> Option<Answer> {
        while lens != 0 {
            let len = lens.ilog2();
            lens ^= 1 << len;
            let wanted = word & HEADS[len as usize % HEADS.len()];
            let bucket = self.buckets.get((node.first + node.bucket_of(wanted)) as usize)?;
            prefetch(&bucket.answers);
            if let Some(answer) = bucket.answers.get(machine.place_of(&bucket.words, wanted)) {
                return Some(*answer);
            }
        }
        None
    }
}

impl Node {
    /// The bucket that a word is in, if it is one of this node.
    #[inline(always)]
    fn bucket_of(&self, word: u64) -> u32 {
        let product = word.wrapping_mul(FACTORS[usize::from(self.factor) % FACTORS.len()]);
        (product >> 1 >> ((63 - self.bits) & 63)) as u32
    }
}

/// An index in the making.
struct Builder<'t> {
    index: StemIndex,
    due: VecDeque<Due<'t>>,
}

/// A node that is to be made.
struct Due<'t> {
    stems: &'t [StemText],
    /// How many of their bytes lead there, and what is found of paths that have none of its words.
    skipped: usize,
    none: Found,
    /// Where it is the next; `NO_MORE` for the root.
    behind: u32,
}

impl<'t> Builder<'t> {
    fn new(stems: &'t [StemText]) -> Self {
        let index = StemIndex {
            starts: std::array::from_fn(|place| lens_by_byte(stems, place)),
            root: Node::default(),
            none: Answer::new(NOTHING, NO_MORE),
            buckets: Vec::new(),
            more: Vec::new(),
            rests: Vec::new(),
        };
        Self { index, due: VecDeque::from([Due { stems, skipped: 0, none: NOTHING, behind: NO_MORE }]) }
    }

    fn build(mut self) -> Option<StemIndex> {
        while let Some(due) = self.due.pop_front() {
            let words = self.words(&due);
            // The empty word is what is left where there is no other.
            let empty = words.first().filter(|(word, _)| *word == 0);
            let none = empty.map_or(Answer::new(due.none, NO_MORE), |(_, answer)| *answer);
            let lens = due.stems.iter().map(|stem| (stem.text.len() - due.skipped).min(PREFIX_LEN));
            let lens = lens.filter(|len| *len > 0).fold(0, |lens, len| lens | 1 << len);
            let node = self.add_node(&words, lens, none)?;
            match self.index.more.get_mut(due.behind as usize) {
                Some(more) => more.next = Next::Node(node),
                None => (self.index.root, self.index.none) = (node, none),
            }
        }
        (self.index.more.len() < NO_MORE as usize).then_some(self.index)
    }

    /// The words of a node, in order, and what each leads to.
    fn words(&mut self, due: &Due<'t>) -> Vec<(u64, Answer)> {
        let word_of = |stem: &StemText| prefix_word(&stem.text[due.skipped..]);
        let mut words = Vec::new();
        // Stems of this node that the next words may begin with, each with how many bytes of a word it has.
        let mut open: Vec<(usize, u64, Found)> = Vec::new();
        for stems in due.stems.chunk_by(|a, b| word_of(a) == word_of(b)) {
            let Some(word) = stems.first().map(word_of) else { continue };
            while open.pop_if(|(len, other, _)| (*other ^ word) & HEADS[*len] != 0).is_some() {}
            let ended = stems.iter().take_while(|stem| stem.text.len() <= due.skipped + PREFIX_LEN).count();
            let (ended, longer) = stems.split_at(ended);
            for stem in ended.iter().filter(|stem| !stem.anchored) {
                open.push((stem.text.len() - due.skipped, word, stem.found));
            }
            let found = open.last().map_or(due.none, |(_, _, found)| *found);
            let exact = ended.iter().find(|stem| stem.anchored).map(|stem| (stem.text.len() as u32, stem.found));
            words.push((word, Answer::new(found, self.add_more(exact, (longer, due.skipped + PREFIX_LEN, found)))));
        }
        words
    }

    /// Adds what else there is to look at, given the stems that go on, behind how many bytes, and what is found so far; gives its number.
    fn add_more(&mut self, exact: Option<(u32, Found)>, (stems, skipped, none): (&'t [StemText], usize, Found)) -> u32 {
        let number = self.index.more.len() as u32;
        let next = match stems {
            [] if exact.is_none() => return NO_MORE,
            [] => Next::None,
            [stem] => {
                let (rest, start) = (&stem.text[skipped..], self.index.rests.len() as u32);
                self.index.rests.extend_from_slice(rest);
                Next::Rest { start, len: rest.len() as u32, anchored: stem.anchored, found: stem.found }
            }
            stems => {
                self.due.push_back(Due { stems, skipped, none, behind: number });
                // Until it is made.
                Next::None
            }
        };
        self.index.more.push(More { exact, next });
        number
    }

    /// Adds a node of these words: as few buckets as hold them all, by the first factor that spreads them so.
    fn add_node(&mut self, words: &[(u64, Answer)], lens: u16, none: Answer) -> Option<Node> {
        let first = self.index.buckets.len() as u32;
        let least = words.len().div_ceil(WORDS / 2).next_power_of_two().ilog2() as u8;
        let bits = if words.len() <= WORDS { 0..=0 } else { least..=least + 3 };
        let mut nodes =
            bits.flat_map(|bits| (0..FACTORS.len() as u8).map(move |factor| Node { first, bits, factor, lens }));
        let (node, buckets) = nodes.find_map(|node| Some((node, node.fill(words, none)?)))?;
        self.index.buckets.extend(buckets);
        Some(node)
    }
}

impl Node {
    /// Its buckets with these words in them; `None` if one has too many.
    fn fill(&self, words: &[(u64, Answer)], none: Answer) -> Option<Vec<Bucket>> {
        let mut filled = vec![0; 1 << self.bits];
        // The empty word is looked for at the end of a path.
        let empty = || Bucket { words: [[0; 8]; WORDS], answers: [none; WORDS] };
        let mut buckets: Vec<Bucket> = std::iter::repeat_with(empty).take(filled.len()).collect();
        for (word, answer) in words {
            let number = self.bucket_of(*word) as usize;
            let (bucket, place) = (&mut buckets[number], filled[number]);
            *bucket.words.get_mut(place)? = word.to_le_bytes();
            bucket.answers[place] = *answer;
            filled[number] += 1;
        }
        Some(buckets)
    }
}

/// For each byte the lengths, up to that of a word, of the stems that have it at a place, or that end before.
fn lens_by_byte(stems: &[StemText], place: usize) -> [u16; 256] {
    let (mut lens, mut any) = ([0; 256], 0);
    for stem in stems {
        let byte = stem.text.get(place);
        *byte.map_or(&mut any, |byte| &mut lens[usize::from(*byte)]) |= 1 << stem.text.len().min(PREFIX_LEN);
    }
    lens.map(|lens| (lens | any) & !1)
}

/// What words are multiplied with, the first that spreads them well enough: odd numbers with as many bits set as not.
const FACTORS: [u64; 8] = [
    0x9e37_79b9_7f4a_7c15,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x27d4_eb2f_1656_67c5,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x8ebc_6af0_9c88_c6e3,
];

/// The bits of the first bytes of a word, by their number.
const HEADS: [u64; PREFIX_LEN + 1] = {
    let mut heads = [0; PREFIX_LEN + 1];
    let mut len = 1;
    while len <= PREFIX_LEN {
        heads[len] = heads[len - 1] >> 8 | 0xff << 56;
        len += 1;
    }
    heads
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::{RuleSet, pack};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Rules that begin alike, with wildcards or not, from the root to some words behind it.
    fn rules() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let text = (select(vec!["/", "/shop/", "/shop/basket/of/fruit/"]), vec(select(b"ab*/".to_vec()), 0..12));
        vec((text, any::<bool>()), 1..200).prop_map(|rules| {
            let rule = |((head, tail), anchored): ((&str, Vec<u8>), bool)| SetRule {
                text: [head.as_bytes(), &tail].concat().into(),
                anchored,
                kind: RuleKind::Disallow,
            };
            pack(&rules.into_iter().map(rule).collect::<Vec<_>>()).unwrap()
        })
    }

    /// What follows the `/` of paths that have as much in common with such rules.
    fn tails() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let tail =
            (select(vec!["", "shop/", "shop/basket/of/fruit/"]), vec(select(b"ab/\0\xff".to_vec()), 0..14), 0..22usize);
        let cut = |(head, tail, len): (&str, Vec<u8>, usize)| [&head.as_bytes()[..len.min(head.len())], &tail].concat();
        vec(tail.prop_map(cut), 1..60)
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_search_does((sets, patterns) in rules(), tails in tails()) {
            let machine = AnyMachine::detect();
            let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
            let index = StemIndex::new(&stems).unwrap().unwrap();
            for tail in tails {
                let word = prefix_word(&tail);
                let expected = stems.find(&tail, word, machine).unwrap();
                prop_assert_eq!(index.find(&tail, word, machine), expected, "{}", tail.escape_ascii());
            }
        }

        #[test]
        fn damaged_stems_are_an_error_or_an_index(
            (mut sets, patterns) in rules(), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5), tails in tails(),
        ) {
            const HEAD_LEN: usize = 32;
            for (at, byte) in damage {
                let body = sets.len() - HEAD_LEN;
                sets[HEAD_LEN + at.index(body)] = byte;
            }
            let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
            if let Ok(Some(index)) = StemIndex::new(&stems) {
                tails.iter().for_each(|tail| _ = index.find(tail, prefix_word(tail), AnyMachine::detect()));
            }
        }
    }

    #[test]
    fn many_stems_are_spread_over_buckets() {
        let rule = |i: u32| SetRule {
            text: format!("/{:x}/{i}", i.wrapping_mul(0x9e37_79b9)).into_bytes().into(),
            anchored: false,
            kind: RuleKind::Disallow,
        };
        let (sets, patterns) = pack(&(0..20_000).map(rule).collect::<Vec<_>>()).unwrap();
        let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
        let index = StemIndex::new(&stems).unwrap().unwrap();
        assert!(index.size() < 250 * stems.len(), "{} bytes", index.size());
        for stem in stems.texts().map(Result::unwrap) {
            let find = |tail: &[u8]| index.find(tail, prefix_word(tail), AnyMachine::detect());
            assert_eq!(find(&stem.text), stem.found);
            assert_eq!(find(&[&stem.text[..], b"/more"].concat()), stem.found);
            assert_eq!(find(&stem.text[..stem.text.len() - 1]).rank, 0);
        }
    }

    #[test]
    fn words_that_do_not_fit_a_bucket_are_refused() {
        let none = Answer::new(NOTHING, NO_MORE);
        let words: Vec<(u64, Answer)> = (1..10).map(|word| (word, none)).collect();
        let node = Node::default();
        assert!(node.fill(&words[..WORDS], none).is_some() && node.fill(&words, none).is_none());
    }
}
