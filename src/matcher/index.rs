//! The stems of a hot rule set, to be found by the first eight bytes of a path, and then by the next eight where that is not enough.
//!
//! Searching the stems where they lie takes a binary search over their first bytes, another one over the texts of those that begin alike,
//! a comparison, and a walk along links: each step waits for the one before, and the branches cannot be foreseen. Here the first bytes of a
//! path tell which lengths stems may have that it begins with, mostly none or one; for each of these a table of hashes is asked, and what
//! the walk would lead to is found there.
//!
//! (Sorted words in blocks of sixteen, each compared at once, with what is found by the number of bytes shared, took as long as the binary
//! search: three blocks that wait for one another. All lengths asked for, in turn and without branches: 6 ns more. Buckets of eight words
//! that are compared at once: 34 ns instead of 27 with 10,000 rules.)

use crate::error::Result;
use crate::snapshot::stems::{Found, NOTHING, NUMBER_BITS, PREFIX_LEN, RANK_BITS, StemText, Stems};
use crate::words::{begins, first_word};
use std::collections::VecDeque;
use std::mem;

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
    slots: Vec<Slot>,
    more: Vec<More>,
    /// What stems have behind the bytes that they share with others.
    rests: Vec<u8>,
}

/// The stems that begin with the same bytes, a multiple of eight, by their next eight, or as many as they have.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The first of its slots; in which two of them a word may be, its products with two factors tell, shifted by this and one more.
    first: u32,
    shift: u8,
    /// The lengths of its words, one bit each.
    lens: u16,
}

/// A word, zeros behind one that is not whole, and what it leads to; in a place left the empty one with what is found if nothing is.
///
/// A word is in one of two slots: both are loaded at once, and what is found needs to wait for no more than a comparison.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Slot {
    word: u64,
    answer: Answer,
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
        size_of_val(&*self.slots) + size_of_val(&*self.more) + self.rests.len()
    }

    /// What a path begins with, given what follows its `/` and the first word of that: as [`Stems::find`] does.
    #[inline(always)]
    pub(super) fn find(&self, tail: &[u8], mut word: u64) -> Found {
        let [a, b, c, d, ..] = word.to_le_bytes().map(usize::from);
        let [first, second, third, fourth] = &self.starts;
        let mut lens = first[a] & second[b] & third[c] & fourth[d];
        let (mut node, mut none, mut rest) = (&self.root, self.none, tail);
        loop {
            let answer = self.answer(node, lens, word).unwrap_or(none);
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
                    let is_it = text.is_some_and(|text| begins(rest, text) && (!anchored || rest.len() == text.len()));
                    return if is_it { *whole } else { found };
                }
                Next::Node(next) => (node, none) = (next, Answer::new(found, NO_MORE)),
            }
            (lens, word) = (node.lens, first_word(rest));
        }
    }

    /// What the longest of a node's words leads to that a path with this word begins with, if it is of one of these lengths.
    #[inline(always)]
    fn answer(&self, node: &Node, mut lens: u16, word: u64) -> Option<Answer> {
        while lens != 0 {
            let len = lens.ilog2();
            lens ^= 1 << len;
            let wanted = head(word, len as usize);
            let [a, b] = node.places(wanted).map(|place| self.slots.get((node.first + place) as usize));
            let (a, b) = (a?, b?);
            if a.word == wanted {
                return Some(a.answer);
            }
            if b.word == wanted {
                return Some(b.answer);
            }
        }
        None
    }
}

impl Node {
    /// The slots, of this node's, one of which a word is in if it is one of this node.
    #[inline(always)]
    fn places(&self, word: u64) -> [u32; 2] {
        FACTORS.map(|factor| (word.wrapping_mul(factor) >> 1 >> (self.shift % 64)) as u32)
    }

    /// How many slots it has.
    fn len(&self) -> usize {
        1 << (63 - self.shift)
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
            slots: Vec::new(),
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
        let word_of = |stem: &StemText| first_word(&stem.text[due.skipped..]);
        let mut words = Vec::new();
        // Stems of this node that the next words may begin with, each with how many bytes of a word it has.
        let mut open: Vec<(usize, u64, Found)> = Vec::new();
        for stems in due.stems.chunk_by(|a, b| word_of(a) == word_of(b)) {
            let Some(word) = stems.first().map(word_of) else { continue };
            while open.pop_if(|(len, other, _)| (*other ^ word).unbounded_shl(64 - 8 * *len as u32) != 0).is_some() {}
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

    /// Adds a node of these words: twice as many slots at least, and no more than are needed for all to find a place.
    fn add_node(&mut self, words: &[(u64, Answer)], lens: u16, none: Answer) -> Option<Node> {
        let first = self.index.slots.len() as u32;
        let least = (2 * words.len()).next_power_of_two().ilog2() as u8;
        let mut nodes = (least..least + 4).map(|bits| Node { first, shift: 63 - bits, lens });
        let (node, slots) = nodes.find_map(|node| Some((node, node.fill(words, none)?)))?;
        self.index.slots.extend(slots);
        Some(node)
    }
}

impl Node {
    /// Its slots with these words in them; `None` if not all find a place.
    fn fill(&self, words: &[(u64, Answer)], none: Answer) -> Option<Vec<Slot>> {
        let mut slots = vec![Slot { word: 0, answer: none }; self.len()];
        // The empty word, which is looked for at the end of a path, is in all slots that are left.
        for &(word, answer) in words.iter().filter(|(word, _)| *word != 0) {
            let mut slot = Slot { word, answer };
            let [mut place, _] = self.places(word);
            let mut turns = 0..MOST_TURNS;
            while slot.word != 0 {
                turns.next()?;
                mem::swap(&mut slot, &mut slots[place as usize]);
                // What was there goes to its other place.
                let [a, b] = self.places(slot.word);
                place = if a == place { b } else { a };
            }
        }
        Some(slots)
    }
}

/// Words that are moved to make room for one; more are a sign that there is none.
const MOST_TURNS: usize = 100;

/// For each byte the lengths, up to that of a word, of the stems that have it at a place, or that end before.
fn lens_by_byte(stems: &[StemText], place: usize) -> [u16; 256] {
    let (mut lens, mut any) = ([0; 256], 0);
    for stem in stems {
        let byte = stem.text.get(place);
        *byte.map_or(&mut any, |byte| &mut lens[usize::from(*byte)]) |= 1 << stem.text.len().min(PREFIX_LEN);
    }
    lens.map(|lens| (lens | any) & !1)
}

/// What words are multiplied with: odd numbers with as many bits set as not.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// The first bytes of a word, one at least and eight at most.
#[inline(always)]
fn head(word: u64, len: usize) -> u64 {
    word & u64::MAX.wrapping_shr(64 - 8 * len as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::simd::AnyMachine;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::{RuleSet, pack};
    use crate::snapshot::stems::prefix_word;
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
                let expected = stems.find(&tail, prefix_word(&tail), machine).unwrap();
                prop_assert_eq!(index.find(&tail, first_word(&tail)), expected, "{}", tail.escape_ascii());
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
                tails.iter().for_each(|tail| _ = index.find(tail, first_word(tail)));
            }
        }
    }

    #[test]
    fn many_stems_find_their_slots() {
        let rule = |i: u32| SetRule {
            text: format!("/{:x}/{i}", i.wrapping_mul(0x9e37_79b9)).into_bytes().into(),
            anchored: false,
            kind: RuleKind::Disallow,
        };
        let (sets, patterns) = pack(&(0..20_000).map(rule).collect::<Vec<_>>()).unwrap();
        let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
        let index = StemIndex::new(&stems).unwrap().unwrap();
        assert!(index.size() < 200 * stems.len(), "{} bytes", index.size());
        for stem in stems.texts().map(Result::unwrap) {
            let find = |tail: &[u8]| index.find(tail, first_word(tail));
            assert_eq!(find(&stem.text), stem.found);
            assert_eq!(find(&[&stem.text[..], b"/more"].concat()), stem.found);
            assert_eq!(find(&stem.text[..stem.text.len() - 1]).rank, 0);
        }
    }

    #[test]
    fn every_path_begins_with_the_root() {
        let rule =
            |text: &'static str| SetRule { text: text.as_bytes().into(), anchored: false, kind: RuleKind::Disallow };
        let (sets, patterns) = pack(&["/", "/b"].map(rule)).unwrap();
        let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
        let index = StemIndex::new(&stems).unwrap().unwrap();
        let rank = |tail: &[u8]| index.find(tail, first_word(tail)).rank;
        assert!(rank(b"") > 0 && rank(b"a") == rank(b"") && rank(b"b") > rank(b""));
    }

    #[test]
    fn words_that_find_no_place_are_refused() {
        let none = Answer::new(NOTHING, NO_MORE);
        let words: Vec<(u64, Answer)> = (1..6).map(|word| (word, none)).collect();
        let node = Node { shift: 61, ..Node::default() };
        assert!(node.fill(&words[..1], none).is_some() && node.fill(&words, none).is_none());
    }
}
