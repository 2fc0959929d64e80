//! A rule set in the file: packed so that the matcher runs over it where it lies; encoder beside decoder.
//!
//! All rules hang on *stems*, the literal bytes that they begin with. These are sorted and linked to their prefixes: one search finds
//! all that a path begins with, so the cost hardly grows with their number. *Literal* rules, without wildcards, are stems as a whole.
//! Rules with wildcards stand on the branch of their stem, by priority (longest first, allow before disallow), so that the first hit
//! decides; those that begin with `*` or `/*` on the root. Of those on a path's branches most are dismissed by comparing signatures.

use super::draft::{Drafts, FlatRules, MAX_STARS, SetRule};
use super::packed::{PackedRule, checked_place};
use super::stems::{self, Starts, Stems, inline_text};
use super::wild::{self, BRANCH_LEN, SIGNATURE_LEN, Wild};
use super::wire::{Fields, array, bytes, u32_at};
use crate::error::{Error, Result};
use crate::robots::RuleKind;

pub(super) const HEAD_LEN: usize = 32;

/// How many of the rules of a canonical set [`encode`] stores: of literal ones that match the same paths, one.
pub(crate) fn stored_count(rules: &FlatRules) -> usize {
    // Only stars at their ends make two different paths one pattern, if there are no others.
    let ends_in_stars =
        |text: &[u8]| memchr::memchr(b'*', text).is_some_and(|at| text[at..].iter().all(|&b| b == b'*'));
    if rules.iter().any(|rule| ends_in_stars(&rule.text)) {
        Drafts::new(&rules.iter().collect::<Vec<_>>()).rules.len()
    } else {
        rules.iter().count()
    }
}

/// The length of a set of so many stems, branches, and rules with wildcards.
fn packed_len(stems: usize, branches: usize, wild: usize) -> usize {
    HEAD_LEN + stems * STEM_LEN + branches * BRANCH_LEN + wild * (SIGNATURE_LEN + 8)
}

/// What a stem takes: its word, its packed word, its link.
const STEM_LEN: usize = 24;

/// The length of what [`encode_union`] appends.
fn union_len(places: usize) -> usize {
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
    let rows = drafts.rows(&branches, &stems, &links);
    wild::encode(&rows, wild.iter().map(|draft| draft.text), out);
    out.extend(wild.iter().flat_map(|draft| draft.packed.encode().to_le_bytes()));
    Ok(())
}

/// The packed form of `rules`, and the section `patterns` that it alone refers to.
///
/// # Errors
/// As [`encode`].
pub(crate) fn pack(rules: &[SetRule<'_>]) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut set, mut patterns) = (Vec::new(), Vec::new());
    encode(rules, &mut set, |text| {
        patterns.extend_from_slice(text);
        (patterns.len() - text.len()) as u64
    })?;
    Ok((set, patterns))
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
        self.stems.literal().map(|(word, rule)| (Some(word), rule)).chain(self.packed_wild().map(|rule| (None, rule)))
    }

    fn packed_wild(&self) -> impl Iterator<Item = PackedRule> {
        (0..self.wild.len()).filter_map(|number| self.wild.rule(number))
    }

    /// The rules in the order in which they are stored, each with its pattern.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a pattern that lies outside the file.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Result<(Vec<u8>, PackedRule)>> {
        self.packed_rules().map(|(word, rule)| {
            let text = match word.filter(|_| rule.is_inline()) {
                Some(word) => inline_text(word, rule.len, &mut Vec::new()).to_vec(),
                None => rule.pattern(self.wild.patterns)?.to_vec(),
            };
            Ok((text, rule))
        })
    }

    /// The rules with wildcards in the order in which they are stored, each with its pattern. Among
    /// them are rules of stars alone (`*`, `**`), whose stored pattern is empty: the text does not
    /// tell whether a rule has wildcards.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a pattern that lies outside the file.
    pub(crate) fn wildcard_rules(&self) -> impl Iterator<Item = Result<(Vec<u8>, PackedRule)>> {
        self.packed_wild().map(|rule| Ok((self.wild.pattern(&rule)?.to_vec(), rule)))
    }

    /// Checks what look-ups rely on: that it is byte for byte what its rules are packed as, and patterns are within bounds.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<()> {
        let rules = self.rules().map(|rule| rule.map(|(text, rule)| unpacked(text, &rule)));
        let rules = rules.collect::<Result<Vec<_>>>()?;
        let stored = self.packed_rules().filter(|(word, rule)| word.is_none() || !rule.is_inline());
        let places: Vec<u64> = stored.map(|(_, rule)| rule.place).collect();
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
