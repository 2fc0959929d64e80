//! A rule set in the file: packed so that the matcher runs over it where it lies; encoder beside decoder.
//!
//! All rules hang on *stems*, the literal bytes that they begin with. These are sorted and linked to their prefixes: one search
//! finds all that a path begins with, so the cost hardly grows with their number. *Literal* rules, without wildcards, are stems as a whole. Rules with
//! wildcards stand on the branch of their stem, by priority (longest first, allow before disallow), so that the first hit decides; those that begin
//! with `*` or `/*` on the root. Of those on a path's branches most are dismissed by comparing signatures.

use super::packed::{PackedRule, checked_place};
use super::stems::{self, Starts, Stem, Stems, inline_text};
use super::wild::{self, BRANCH_LEN, Branch, ROOT, SIGNATURE_LEN, Wild};
use super::wire::{Fields, array, bytes, u32_at};
use crate::error::{Error, Result};
use crate::robots::RuleKind;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

/// One rule of a canonical rule set, before it is packed.
#[derive(Clone, Debug)]
pub(crate) struct SetRule<'t> {
    /// The pattern's normal form without the anchor.
    pub text: Cow<'t, [u8]>,
    pub anchored: bool,
    pub kind: RuleKind,
}

impl SetRule<'_> {
    /// As [`Pattern::priority`](crate::robots::pattern::Pattern::priority).
    pub(crate) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }
}

/// A canonical rule set in one piece: millions are kept until the snapshot is written, and a rule with a string of its own takes
/// three times the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlatRules(Box<[u8]>);

/// Before each text: its length in four bytes, and one byte of flags.
const FLAT_HEAD: usize = 5;

impl FlatRules {
    pub(crate) fn new(rules: &[SetRule<'_>]) -> Self {
        let mut out = Vec::with_capacity(rules.iter().map(|rule| FLAT_HEAD + rule.text.len()).sum());
        for rule in rules {
            // No robots.txt is read beyond 500 KiB.
            out.extend_from_slice(&(rule.text.len() as u32).to_le_bytes());
            out.push(u8::from(rule.anchored) | u8::from(rule.kind == RuleKind::Allow) << 1);
            out.extend_from_slice(&rule.text);
        }
        Self(out.into())
    }

    /// Equal for equal rules.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = SetRule<'_>> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            let (head, tail) = rest.split_first_chunk::<FLAT_HEAD>()?;
            let [a, b, c, d, flags] = *head;
            let (text, tail) = tail.split_at_checked(u32::from_le_bytes([a, b, c, d]) as usize)?;
            rest = tail;
            let kind = if flags & 2 == 0 { RuleKind::Disallow } else { RuleKind::Allow };
            Some(SetRule { text: Cow::Borrowed(text), anchored: flags & 1 == 1, kind })
        })
    }
}

pub(super) const HEAD_LEN: usize = 32;

/// A rule on its way into the file.
struct Draft<'a> {
    /// The pattern without redundant stars at its end.
    text: &'a [u8],
    /// What it has before its first wildcard; nothing if that is no more than the `/`. Of a literal rule all of it.
    stem: &'a [u8],
    packed: PackedRule,
    literal: bool,
}

/// More stars at the end than these stay in the pattern: there are four bits for what they add to the priority.
const MAX_STARS: usize = 14;

impl<'a> Draft<'a> {
    fn new(rule: &'a SetRule<'_>) -> Self {
        // Stars at the end change nothing but the priority, and `…*$` is `…`; what they add is kept in 4 bits.
        let bare = rule.text.iter().rposition(|&b| b != b'*').map_or(0, |i| i + 1);
        let stars = rule.text.len() - bare;
        let stars = if stars > MAX_STARS { 0 } else { stars };
        let text = &rule.text[..rule.text.len() - stars];
        let stem = memchr::memchr(b'*', text).map_or(text, |star| &text[..star]);
        // `*` alone is kept as the empty text, which matches everything.
        let literal = stem.len() == text.len() && !text.is_empty();
        let packed = PackedRule {
            place: 0,
            len: text.len(),
            extra: stars + usize::from(rule.anchored),
            allow: rule.kind == RuleKind::Allow,
            anchored: rule.anchored && stars == 0,
            bare: false,
        };
        Self { text, stem: if literal || stem.len() > 1 { stem } else { b"" }, packed, literal }
    }

    /// Whether the pattern lies in the section `patterns`: that of a short literal rule is whole in its word.
    fn is_stored(&self) -> bool {
        !self.literal || !self.packed.is_inline()
    }

    fn as_stem(&self) -> Stem<'a> {
        Stem { text: self.text, packed: self.packed, branch: None }
    }

    /// Literal rules by text; then those with wildcards by stem, and on each by rank.
    fn order(&self, other: &Self) -> Ordering {
        other.literal.cmp(&self.literal).then_with(|| match self.literal {
            true => self.as_stem().order(&other.as_stem()),
            false => (self.stem, Reverse(self.packed.rank())).cmp(&(other.stem, Reverse(other.packed.rank()))),
        })
    }
}

/// A rule set on its way into the file: its rules as they will lie there, and how many of them are literal.
struct Drafts<'a> {
    rules: Vec<Draft<'a>>,
    literal: usize,
}

impl<'a> Drafts<'a> {
    fn new(rules: &'a [SetRule<'_>]) -> Self {
        let mut rules: Vec<Draft<'_>> = rules.iter().map(Draft::new).collect();
        rules.sort_by(Draft::order);
        // Of literal rules that match the same paths (`/a` and `/a*`) the highest decides.
        rules.dedup_by(|later, first| {
            let same = first.literal && later.literal && first.order(later) == Ordering::Equal;
            if same && later.packed.rank() > first.packed.rank() {
                first.packed = later.packed;
            }
            same
        });
        let literal = rules.partition_point(|draft| draft.literal);
        Self { rules, literal }
    }

    fn wild(&self) -> &[Draft<'a>] {
        &self.rules[self.literal..]
    }

    /// The rules with wildcards stem by stem; those without a stem first, though there be none.
    fn branches(&self) -> Vec<(&'a [u8], Range<usize>)> {
        let mut branches: Vec<(&[u8], Range<usize>)> = Vec::new();
        if !self.wild().is_empty() {
            branches.push((b"", 0..0));
        }
        for (number, rule) in self.wild().iter().enumerate() {
            match branches.last_mut() {
                Some((stem, rules)) if *stem == rule.stem => rules.end += 1,
                _ => branches.push((rule.stem, number..number + 1)),
            }
        }
        branches
    }

    /// The stems, sorted.
    fn stems(&self, branches: &[(&'a [u8], Range<usize>)]) -> Vec<Stem<'a>> {
        let literal = self.rules[..self.literal].iter().map(Draft::as_stem);
        let bare = branches.iter().zip(0..).skip(1).map(|((text, rules), number)| Stem {
            text,
            packed: PackedRule {
                place: rules.start as u64,
                len: text.len(),
                extra: 0,
                allow: false,
                anchored: false,
                bare: true,
            },
            branch: Some(number),
        });
        let mut stems: Vec<Stem<'_>> = literal.chain(bare).collect();
        // Stable: the literal rule stands before the bare stem of the same text, and takes its branch.
        stems.sort_by(Stem::order);
        stems.dedup_by(|later, first| {
            let same = first.order(later) == Ordering::Equal;
            if same {
                first.branch = later.branch;
            }
            same
        });
        stems
    }
}

/// How many of the rules of a canonical set [`encode`] stores: of literal ones that match the same paths, one.
pub(crate) fn stored_count(rules: &FlatRules) -> usize {
    // Only stars at their ends make two different paths one pattern.
    if rules.iter().any(|rule| rule.text.ends_with(b"*")) {
        Drafts::new(&rules.iter().collect::<Vec<_>>()).rules.len()
    } else {
        rules.iter().count()
    }
}

/// The length of what [`encode`] appends, and of the patterns that it stores.
pub(super) fn encoded_len(rules: &[SetRule<'_>]) -> (usize, usize) {
    let drafts = Drafts::new(rules);
    let branches = drafts.branches();
    let stored = drafts.rules.iter().filter(|draft| draft.is_stored()).map(|draft| draft.text.len());
    (packed_len(drafts.stems(&branches).len(), branches.len(), drafts.wild().len()), stored.sum())
}

/// The length of a set of so many stems, branches, and rules with wildcards.
fn packed_len(stems: usize, branches: usize, wild: usize) -> usize {
    HEAD_LEN + stems * STEM_LEN + branches * BRANCH_LEN + wild * (SIGNATURE_LEN + 8)
}

/// What a stem takes: its word, its packed word, its link.
const STEM_LEN: usize = 24;

/// The length of what [`encode_union`] appends.
pub(super) fn union_len(places: usize) -> usize {
    UNION_HEAD_LEN + (places * 4).next_multiple_of(8)
}

/// Appends the packed form of `rules` to `out`; `store` gives the place of a pattern in the section `patterns`.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge) if the patterns outgrow their 64 GiB.
pub(crate) fn encode(rules: &[SetRule<'_>], out: &mut Vec<u8>, mut store: impl FnMut(&[u8]) -> u64) -> Result<()> {
    let mut drafts = Drafts::new(rules);
    for draft in &mut drafts.rules {
        if draft.is_stored() {
            draft.packed.place = checked_place(store(draft.text))?;
        }
    }
    let (wild, branches) = (drafts.wild(), drafts.branches());
    let stems = drafts.stems(&branches);
    let links = stems::links(&stems);
    let starts = Starts::of(&stems);
    for number in [stems.len() as u32, branches.len() as u32, wild.len() as u32, starts.root] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend([starts.firsts, starts.seconds].into_iter().flat_map(u64::to_le_bytes));
    stems::encode(&stems, &links, out)?;
    let branch = |(_, rules): &(&[u8], Range<usize>)| Branch {
        first: rules.start as u32,
        count: rules.len() as u32,
        best: wild[rules.clone()].first().map_or(0, |rule| rule.packed.rank()),
        parent: ROOT,
    };
    let mut branches: Vec<Branch> = branches.iter().map(branch).collect();
    for (stem, link) in stems.iter().zip(&links) {
        if let Some(branch) = stem.branch.and_then(|number| branches.get_mut(number as usize)) {
            branch.parent = link.parent.map_or(ROOT, |parent| links[parent as usize].branch);
        }
    }
    wild::encode(&branches, wild.iter().map(|draft| draft.text), out);
    out.extend(wild.iter().flat_map(|draft| draft.packed.encode().to_le_bytes()));
    Ok(())
}

/// Stands where a rule set has its count of stems: several rule sets follow that are judged together.
const UNION: u32 = u32::MAX;
const UNION_HEAD_LEN: usize = 8;

/// Appends a union of rule sets, given by their places in units of 8 bytes.
pub(crate) fn encode_union(places: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&UNION.to_le_bytes());
    out.extend_from_slice(&(places.len() as u32).to_le_bytes());
    out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    out.resize(out.len().next_multiple_of(8), 0);
}

/// What an agent name refers to in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rules<'a> {
    /// One rule set, as nearly always.
    Set(RuleSet<'a>),
    /// The places of several, of whose matching rules the highest decides.
    Union(&'a [[u8; 4]]),
}

impl<'a> Rules<'a> {
    /// What lies at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(super) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        if u32_at(sets, at, "a rule set's count of stems")? != UNION {
            return RuleSet::decode(sets, place, patterns).map(Self::Set);
        }
        let count = u32_at(sets, at + 4, "a union's count of rule sets")? as usize;
        let places = bytes(sets, at + UNION_HEAD_LEN, count * 4, "a union's rule sets")?;
        Ok(Self::Union(places.as_chunks().0))
    }

    /// The length that it takes in the file.
    pub(super) fn encoded_len(&self) -> usize {
        match self {
            Self::Set(set) => packed_len(set.stems.words.len(), set.wild.branches.len(), set.wild.len()),
            Self::Union(places) => union_len(places.len()),
        }
    }
}

/// A rule set where it lies in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSet<'a> {
    pub stems: Stems<'a>,
    pub wild: Wild<'a>,
}

impl<'a> RuleSet<'a> {
    /// The rule set at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(crate) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        let head: [u8; HEAD_LEN] = array(sets, at, "a rule set's head")?;
        let mut head = Fields(&head);
        let (stems, branches, wild) = (head.u32() as usize, head.u32() as usize, head.u32() as usize);
        let starts = Starts { root: head.u32(), firsts: head.u64(), seconds: head.u64() };
        let len = packed_len(stems, branches, wild) - HEAD_LEN;
        let mut rest = bytes(sets, at + HEAD_LEN, len, "a rule set's rules")?;
        let (words, packed, links) = (run(&mut rest, stems), run(&mut rest, stems), run(&mut rest, stems));
        let wild = Wild {
            branches: run(&mut rest, branches),
            signatures: run(&mut rest, wild),
            packed: run(&mut rest, wild),
            patterns,
        };
        Ok(Self { stems: Stems { starts, words, packed, links, wild: wild.packed, patterns }, wild })
    }

    /// The number of rules.
    pub(crate) fn len(&self) -> usize {
        self.stems.literal().count() + self.wild.len()
    }

    /// The packed rules in the order in which they are stored, and the words of the literal ones, which come first.
    pub(super) fn packed_rules(&self) -> impl Iterator<Item = (Option<u64>, PackedRule)> {
        let wild = (0..self.wild.len()).filter_map(|number| self.wild.rule(number));
        self.stems.literal().map(|(word, rule)| (Some(word), rule)).chain(wild.map(|rule| (None, rule)))
    }

    /// Checks what look-ups rely on: that it is byte for byte what its rules are packed as, and patterns are within bounds.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<()> {
        let (mut rules, mut places) = (Vec::new(), Vec::new());
        for (word, rule) in self.packed_rules() {
            let text = match word.filter(|_| rule.is_inline()) {
                Some(word) => inline_text(word, rule.len, &mut Vec::new()).to_vec(),
                None => {
                    places.push(rule.place);
                    rule.pattern(self.wild.patterns)?.to_vec()
                }
            };
            rules.push(unpacked(text, &rule));
        }
        let (mut again, mut places) = (Vec::with_capacity(bytes.len()), places.into_iter());
        encode(&rules, &mut again, |_| places.next().unwrap_or_default())?;
        if again == bytes { Ok(()) } else { Err(Error::corrupt("a rule set that is not what its rules are packed as")) }
    }
}

/// The rule of this pattern that is packed so.
fn unpacked(mut text: Vec<u8>, rule: &PackedRule) -> SetRule<'static> {
    // What the stars and the anchor added, if they were cut off.
    let (stars, anchored) = match rule.extra {
        extra if rule.anchored => (extra.saturating_sub(1), true),
        extra if extra > MAX_STARS => (MAX_STARS, true),
        extra => (extra, false),
    };
    text.resize(text.len() + stars, b'*');
    SetRule { text: text.into(), anchored, kind: if rule.allow { RuleKind::Allow } else { RuleKind::Disallow } }
}

/// Takes so many items of a length from the front; none if there are fewer.
#[inline]
fn run<'a, const LEN: usize>(rest: &mut &'a [u8], count: usize) -> &'a [[u8; LEN]] {
    let (items, tail) = rest.split_at_checked(count * LEN).unwrap_or_default();
    *rest = tail;
    items.as_chunks().0
}
