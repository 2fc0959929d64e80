//! The stems of a hot rule set, to be found by the first eight bytes of a path, and then by the next eight where that is not enough.
//!
//! Searching the stems where they lie takes a binary search over their first bytes, another one over the texts of those that begin alike,
//! a comparison, and a walk along links: each step waits for the one before, and the branches cannot be foreseen. Here the first bytes of a
//! path tell which lengths stems may have that it begins with, mostly none or one; for each of these a table of hashes is asked, and what
//! the walk would lead to is found there.
//!
//! (Sorted words in blocks of sixteen, each compared at once, with what is found by the number of bytes shared, took as long as the binary
//! search: three blocks that wait for one another. All lengths asked for, in turn and without branches: 6 ns more. Buckets of eight words
//! that are compared at once: 34 ns instead of 27 with 10,000 rules; where a word leads kept apart from it: 27 instead of 21.)

use crate::error::Result;
use crate::snapshot::packed::PREFIX_LEN;
use crate::snapshot::stems::{Found, NOTHING, StemText, Stems};
use crate::words::{begins, first_word};
use std::mem;

/// Fewer stems are found by one look where they lie.
const LEAST: usize = 32;

/// Places in a path that are looked at before anything else.
const STARTS: usize = 4;

/// The stems of a rule set.
#[derive(Debug)]
pub(crate) struct StemIndex {
    /// For each of the first places and each byte that may stand there, the lengths of the root's words that it suits.
    starts: [[Lens; 256]; STARTS],
    root: Node,
    /// Where a path goes with none of the root's words.
    none: Way,
    slots: Vec<Slot>,
    ends: Vec<End>,
    /// What stems have behind the bytes that they share with others.
    rests: Vec<u8>,
}

/// The lengths of words, one bit each: that of one byte is the lowest.
type Lens = u8;

/// The stems that begin with the same bytes, a multiple of eight, by their next eight, or as many as they have.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The lengths of its words, by the lowest bits of their first bytes.
    lens: [Lens; CLASSES],
    /// The first of its slots, and below that, in [`SHIFT_BITS`], by how much the products are shifted that tell in which two a word may be.
    slots: u32,
}

/// Kinds of first bytes that a node tells apart.
const CLASSES: usize = 8;
const SHIFT_BITS: u32 = 6;

/// A word, zeros behind one that is not whole, and where it leads; in a place left the empty one, which leads where no word does. (A line of
/// robots.txt ends at a NUL, so no stem has one.)
///
/// A word is in one of two slots: both are loaded at once, and as all that is to know of it lies in one half of a cache line, the next load
/// needs to wait for no more than a comparison.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot {
    word: u64,
    way: Way,
}

const _: () = assert!(size_of::<Slot>() == 32);

/// Where a word leads: what is found of a path that goes no further, and how stems go on.
#[derive(Clone, Copy, Debug)]
struct Way {
    found: Found,
    next: Next,
}

/// How stems go on behind a word.
#[derive(Clone, Copy, Debug)]
enum Next {
    None,
    Node(Node),
    /// Only one does: where the rest of it is, and what is found if a path has that.
    Rest {
        start: u32,
        len: u16,
        anchored: bool,
        found: Found,
    },
    /// An anchored stem ends with the word: what has this number tells more.
    End(u32),
}

/// The length of an anchored stem, what is found of a path that it is, and how longer stems go on.
#[derive(Debug)]
struct End {
    len: u32,
    found: Found,
    next: Next,
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
        size_of_val(&*self.slots) + size_of_val(&*self.ends) + self.rests.len()
    }

    /// What a path begins with, given what follows its `/` and the first word of that: as [`Stems::find`] does.
    #[inline(always)]
    pub(super) fn find(&self, tail: &[u8], word: u64) -> Found {
        let [a, b, c, d, ..] = word.to_le_bytes().map(usize::from);
        let [first, second, third, fourth] = &self.starts;
        let lens = first[a] & second[b] & third[c] & fourth[d];
        let mut way = self.way(&self.root, lens, word).unwrap_or(&self.none);
        let mut rest = tail;
        loop {
            let mut next = &way.next;
            if let Next::End(number) = next {
                let Some(end) = self.ends.get(*number as usize) else { return way.found };
                if tail.len() == end.len as usize {
                    return end.found;
                }
                next = &end.next;
            }
            rest = rest.get(PREFIX_LEN..).unwrap_or_default();
            match next {
                Next::Rest { start, len, anchored, found } => {
                    let text = self.rests.get(*start as usize..).and_then(|rests| rests.get(..usize::from(*len)));
                    let is_it = text.is_some_and(|text| begins(rest, text) && (!anchored || rest.len() == text.len()));
                    return if is_it { *found } else { way.found };
                }
                Next::Node(node) => {
                    let word = first_word(rest);
                    match self.way(node, node.lens(word), word) {
                        Some(next) => way = next,
                        None => return way.found,
                    }
                }
                Next::None | Next::End(_) => return way.found,
            }
        }
    }

    /// Where the longest of a node's words leads that a path with this word begins with, if it is of one of these lengths.
    #[inline(always)]
    fn way(&self, node: &Node, mut lens: Lens, word: u64) -> Option<&Way> {
        while lens != 0 {
            let lacking = lens.leading_zeros();
            lens ^= 1 << (7 - lacking);
            let wanted = word & u64::MAX >> (8 * lacking);
            let [a, b] = node.places(wanted).map(|place| self.slots.get(place));
            let (a, b) = (a?, b?);
            if a.word == wanted {
                return Some(&a.way);
            }
            if b.word == wanted {
                return Some(&b.way);
            }
        }
        None
    }
}

impl Node {
    /// The lengths of those of its words that a path with this word may begin with.
    #[inline(always)]
    fn lens(&self, word: u64) -> Lens {
        self.lens[word as usize % CLASSES]
    }

    /// The slots one of which a word is in if it is one of this node.
    #[inline(always)]
    fn places(&self, word: u64) -> [usize; 2] {
        FACTORS.map(|factor| self.first() + (word.wrapping_mul(factor) >> 1 >> self.shift()) as usize)
    }

    #[inline(always)]
    fn first(&self) -> usize {
        (self.slots >> SHIFT_BITS) as usize
    }

    #[inline(always)]
    fn shift(&self) -> u32 {
        self.slots % (1 << SHIFT_BITS)
    }

    /// How many slots it has.
    fn len(&self) -> usize {
        1 << (63 - self.shift())
    }
}

/// An index in the making.
struct Builder<'t> {
    index: StemIndex,
    /// The nodes that are to be made; those behind others have the higher numbers.
    due: Vec<Due<'t>>,
}

/// A node that is to be made.
#[derive(Clone, Copy)]
struct Due<'t> {
    stems: &'t [StemText],
    /// How many of their bytes lead there, and what is found of paths that have none of its words.
    skipped: usize,
    none: Found,
}

/// A word of a node that is to be made.
struct Word {
    word: u64,
    way: Way,
    /// The number of the node behind it, which the way does not tell yet.
    behind: Option<usize>,
}

impl<'t> Builder<'t> {
    fn new(stems: &'t [StemText]) -> Self {
        let none = Way { found: NOTHING, next: Next::None };
        let index = StemIndex {
            starts: std::array::from_fn(|place| lens_by_byte(stems, place)),
            root: Node::default(),
            none,
            slots: Vec::new(),
            ends: Vec::new(),
            rests: Vec::new(),
        };
        Self { index, due: vec![Due { stems, skipped: 0, none: NOTHING }] }
    }

    fn build(mut self) -> Option<StemIndex> {
        let mut words = Vec::new();
        while let Some(due) = self.due.get(words.len()).copied() {
            words.push(self.words(due));
        }
        let count: usize = words.iter().map(Vec::len).sum();
        let room = (SLOTS_OF_A_WORD * count + SLOTS).min((u32::MAX >> SHIFT_BITS) as usize);
        // Backwards, so that what is behind a word is there when its slot is filled.
        let mut nodes = vec![Node::default(); words.len()];
        for ((number, mut words), due) in words.into_iter().enumerate().zip(&self.due).rev() {
            for word in &mut words {
                word.lead_to(&nodes, &mut self.index.ends);
            }
            // The empty word is what is left where there is no other.
            let empty = words.first().filter(|word| word.word == 0);
            let none = empty.map_or(Way { found: due.none, next: Next::None }, |word| word.way);
            nodes[number] = self.index.add_node(&words, (due.lens(), none), room)?;
            // The last is the root.
            (self.index.root, self.index.none) = (nodes[number], none);
        }
        Some(self.index)
    }

    /// The words of a node, in order.
    fn words(&mut self, due: Due<'t>) -> Vec<Word> {
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
            let (mut next, behind) = self.go_on(longer, due.skipped + PREFIX_LEN, found);
            if let Some(stem) = ended.iter().find(|stem| stem.anchored) {
                self.index.ends.push(End { len: stem.text.len() as u32, found: stem.found, next });
                next = Next::End(self.index.ends.len() as u32 - 1);
            }
            words.push(Word { word, way: Way { found, next }, behind });
        }
        words
    }

    /// How stems go on behind so many bytes, given what is found so far: or the number of the node that is to tell it.
    fn go_on(&mut self, stems: &'t [StemText], skipped: usize, none: Found) -> (Next, Option<usize>) {
        match stems {
            [] => (Next::None, None),
            [stem] => {
                let (rest, start) = (&stem.text[skipped..], self.index.rests.len() as u32);
                self.index.rests.extend_from_slice(rest);
                let (anchored, found) = (stem.anchored, stem.found);
                (Next::Rest { start, len: rest.len() as u16, anchored, found }, None)
            }
            stems => {
                self.due.push(Due { stems, skipped, none });
                (Next::None, Some(self.due.len() - 1))
            }
        }
    }
}

impl Due<'_> {
    /// The lengths of the node's words.
    fn lens(&self) -> [Lens; CLASSES] {
        let mut lens = [0; CLASSES];
        for stem in self.stems {
            let rest = &stem.text[self.skipped..];
            lens[first_word(rest) as usize % CLASSES] |= len_bit(rest.len());
        }
        lens
    }
}

impl Word {
    /// Puts the node behind it, one of these, where the way tells it.
    fn lead_to(&mut self, nodes: &[Node], ends: &mut [End]) {
        let Some(node) = self.behind.map(|number| nodes[number]) else { return };
        match self.way.next {
            Next::End(number) => ends[number as usize].next = Next::Node(node),
            _ => self.way.next = Next::Node(node),
        }
    }
}

impl StemIndex {
    /// Adds a node of these words: twice as many slots at least, and no more than are needed for all to find a place; if there is room for these.
    fn add_node(&mut self, words: &[Word], (lens, none): ([Lens; CLASSES], Way), room: usize) -> Option<Node> {
        let first = self.slots.len();
        let least = (2 * words.len()).next_power_of_two().ilog2();
        let sizes = (least..63).take_while(|bits| first + (1 << bits) <= room);
        let mut nodes = sizes.map(|bits| Node { lens, slots: (first as u32) << SHIFT_BITS | (63 - bits) });
        let (node, slots) = nodes.find_map(|node| Some((node, node.fill(words, none)?)))?;
        self.slots.extend(slots);
        Some(node)
    }
}

impl Node {
    /// Its slots with these words in them; `None` if not all find a place.
    fn fill(&self, words: &[Word], none: Way) -> Option<Vec<Slot>> {
        let mut slots = vec![Slot { word: 0, way: none }; self.len()];
        // The empty word, which is looked for at the end of a path, is in all slots that are left.
        for &Word { word, way, .. } in words.iter().filter(|word| word.word != 0) {
            let mut slot = Slot { word, way };
            let [mut place, _] = self.places(word);
            let mut turns = 0..MOST_TURNS;
            while slot.word != 0 {
                turns.next()?;
                mem::swap(&mut slot, &mut slots[place - self.first()]);
                // What was there goes to its other place.
                let [a, b] = self.places(slot.word);
                place = if a == place { b } else { a };
            }
        }
        Some(slots)
    }
}

/// Slots that an index may have for each of its words, and beside: nearly all need three. (With so many in each node alone, two words had no place
/// once in 30,000 nodes.)
const SLOTS_OF_A_WORD: usize = 16;
const SLOTS: usize = 1 << 10;

/// Words that are moved to make room for one; more are a sign that there is none.
const MOST_TURNS: usize = 100;

/// For each byte the lengths of the words that have it at a place, or that end before.
fn lens_by_byte(stems: &[StemText], place: usize) -> [Lens; 256] {
    let (mut lens, mut any) = ([0; 256], 0);
    for stem in stems {
        let byte = stem.text.get(place);
        *byte.map_or(&mut any, |byte| &mut lens[usize::from(*byte)]) |= len_bit(stem.text.len());
    }
    lens.map(|lens| lens | any)
}

/// The bit for the length of the word that a text of so many bytes begins with; none for the empty one.
fn len_bit(len: usize) -> Lens {
    (1u16 << len.min(PREFIX_LEN) >> 1) as Lens
}

/// What words are multiplied with: odd numbers with as many bits set as not.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

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

    /// A rule set that disallows these.
    fn literal(texts: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> (Vec<u8>, Vec<u8>) {
        let texts = texts.into_iter().map(|text| text.into().into());
        let rules = texts.map(|text| SetRule { text, anchored: false, kind: RuleKind::Disallow });
        pack(&rules.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn many_stems_find_their_slots() {
        let (sets, patterns) = literal((0..20_000u32).map(|i| format!("/{:x}/{i}", i.wrapping_mul(0x9e37_79b9))));
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
        let (sets, patterns) = literal(["/", "/b"]);
        let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
        let index = StemIndex::new(&stems).unwrap().unwrap();
        let rank = |tail: &[u8]| index.find(tail, first_word(tail)).rank;
        assert!(rank(b"") > 0 && rank(b"a") == rank(b"") && rank(b"b") > rank(b""));
    }

    #[test]
    fn words_that_fall_together_find_room() {
        // Both places of both words are the same in up to 32 slots.
        let (sets, patterns) = literal(["/shop/a/a/bb/a", "/shop/a/aab"]);
        let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
        let index = StemIndex::new(&stems).unwrap().unwrap();
        assert!(index.slots.len() > 32);
        let rank = |tail: &[u8]| index.find(tail, first_word(tail)).rank;
        assert!(rank(b"shop/a/a/bb/a") > 0 && rank(b"shop/a/aabc") > 0 && rank(b"shop/a/a/bb/") == 0);
    }

    #[test]
    fn stems_that_share_a_long_beginning_are_indexed() {
        // One node for each eight bytes, of few stems.
        let text = |i: u32| format!("/{}{i}", "long/".repeat(4_000));
        let (sets, patterns) = literal((10..50).map(text));
        let stems = RuleSet::decode(&sets, 0, &patterns).unwrap().stems;
        let index = StemIndex::new(&stems).unwrap().unwrap();
        let rank = |text: &str| index.find(&text.as_bytes()[1..], first_word(&text.as_bytes()[1..])).rank;
        assert!(rank(&text(42)) > 0 && rank(&text(9)) == 0);
    }

    #[test]
    fn words_that_find_no_place_are_refused() {
        let none = Way { found: NOTHING, next: Next::None };
        let words: Vec<Word> = (1..6).map(|word| Word { word, way: none, behind: None }).collect();
        let node = Node { slots: 61, ..Node::default() };
        assert!(node.fill(&words[..1], none).is_some() && node.fill(&words, none).is_none());
    }
}
