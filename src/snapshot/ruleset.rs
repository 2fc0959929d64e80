//! A rule set in the file: packed so that the matcher runs over it where it lies; encoder beside decoder.
//!
//! *Literal* rules, without wildcards, are sorted by their paths and linked to their prefixes: one binary search finds all that
//! match, so the cost hardly grows with their number. Rules with wildcards stand by priority (longest first, allow before
//! disallow), so that the first hit decides. *Rooted* ones begin with literal bytes behind the first `/`; the first eight lie
//! side by side, and comparing them dismisses nearly every rule without touching its pattern. *Floating* ones begin with `*` or
//! `/*`; for them, and for the rooted ones that are left, signatures are compared.

use super::literal::{self, Literal, Literals, PREFIX_LEN, Starts, prefix_word};
use super::packed::{PackedRule, checked_place};
use super::wild::{self, Wild};
use super::wire::{Fields, array, bytes, u32_at};
use crate::error::Result;
use crate::robots::RuleKind;
use crate::simd::LANES;
use std::borrow::Cow;
use std::cmp::Ordering;

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
pub(super) struct Draft<'a> {
    /// The pattern without redundant stars at its end.
    pub text: &'a [u8],
    packed: PackedRule,
    run: Run,
}

/// The runs of a rule set, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Run {
    /// Without wildcards.
    Literal,
    /// With wildcards, behind a literal beginning.
    Rooted,
    /// Beginning with `*` or `/*`.
    Floating,
}

impl<'a> Draft<'a> {
    fn new(rule: &'a SetRule<'_>) -> Self {
        // Stars at the end change nothing but the priority, and `…*$` is `…`; what they add is kept in 4 bits.
        let bare = rule.text.iter().rposition(|&b| b != b'*').map_or(0, |i| i + 1);
        let stars = rule.text.len() - bare;
        let stars = if stars > 14 { 0 } else { stars };
        let text = &rule.text[..rule.text.len() - stars];
        let literal = memchr::memchr(b'*', text).unwrap_or(text.len());
        // `*` alone is kept as the empty text, which matches everything.
        let run = match literal {
            len if len == text.len() && len > 0 => Run::Literal,
            0 | 1 => Run::Floating,
            _ => Run::Rooted,
        };
        let packed = PackedRule {
            place: 0,
            len: text.len(),
            extra: stars + usize::from(rule.anchored),
            prefix_len: literal.saturating_sub(1).min(PREFIX_LEN),
            allow: rule.kind == RuleKind::Allow,
            anchored: rule.anchored && stars == 0,
        };
        Self { text, packed, run }
    }

    /// A rule with wildcards as it came out of a file.
    pub(super) fn of_packed(text: &'a [u8], packed: PackedRule) -> Self {
        Self { text, packed, run: if packed.prefix_len > 0 { Run::Rooted } else { Run::Floating } }
    }

    pub(super) fn rank(&self) -> u32 {
        self.packed.rank()
    }

    /// The first literal bytes behind the `/`, and which bits of them count.
    pub(super) fn prefix(&self) -> (u64, u64) {
        let mask = prefix_mask(self.packed.prefix_len);
        (prefix_word(self.tail()) & mask, mask)
    }

    /// Whether the pattern lies in the section `patterns`: that of a short literal rule is whole in its word.
    fn is_stored(&self) -> bool {
        self.run != Run::Literal || !self.packed.is_inline()
    }

    /// What follows the first `/`.
    fn tail(&self) -> &'a [u8] {
        self.text.get(1..).unwrap_or_default()
    }

    fn literal(&self) -> Literal<'a> {
        (self.text, self.packed)
    }

    /// Literal rules by text, so that they are found by searching; the others by rank, so that the first hit decides.
    fn order(&self, other: &Self) -> Ordering {
        self.run.cmp(&other.run).then_with(|| match self.run {
            Run::Literal => literal::order(&self.literal(), &other.literal()),
            _ => other.packed.rank().cmp(&self.packed.rank()),
        })
    }
}

/// The bits of a prefix word that `len` bytes fill.
fn prefix_mask(len: usize) -> u64 {
    if len == 0 { 0 } else { u64::MAX << (64 - 8 * len.min(PREFIX_LEN)) }
}

/// The rules as they will lie in the file, and how many of them are literal, and literal or rooted.
fn drafts<'a>(rules: &'a [SetRule<'_>]) -> (Vec<Draft<'a>>, usize, usize) {
    let mut drafts: Vec<Draft<'_>> = rules.iter().map(Draft::new).collect();
    drafts.sort_by(Draft::order);
    // Of literal rules that match the same paths (`/a` and `/a*`) the highest decides.
    drafts.dedup_by(|later, first| {
        let same = first.run == Run::Literal && later.run == Run::Literal && first.order(later) == Ordering::Equal;
        if same && later.packed.rank() > first.packed.rank() {
            first.packed = later.packed;
        }
        same
    });
    let literal_end = drafts.partition_point(|draft| draft.run == Run::Literal);
    let rooted_end = drafts.partition_point(|draft| draft.run <= Run::Rooted);
    (drafts, literal_end, rooted_end)
}

/// How many of the rules of a canonical set [`encode`] stores: of literal ones that match the same paths, one.
pub(crate) fn stored_count(rules: &FlatRules) -> usize {
    // Only stars at their ends make two different paths one pattern.
    if rules.iter().any(|rule| rule.text.ends_with(b"*")) {
        drafts(&rules.iter().collect::<Vec<_>>()).0.len()
    } else {
        rules.iter().count()
    }
}

/// The length of what [`encode`] appends, and of the patterns that it stores.
pub(super) fn encoded_len(rules: &[SetRule<'_>]) -> (usize, usize) {
    let (drafts, literal_end, rooted_end) = drafts(rules);
    let stored = drafts.iter().filter(|draft| draft.is_stored()).map(|draft| draft.text.len());
    (packed_len(literal_end, rooted_end - literal_end, drafts.len() - rooted_end), stored.sum())
}

/// The length of a set of so many literal, rooted and floating rules.
fn packed_len(literal: usize, rooted: usize, floating: usize) -> usize {
    HEAD_LEN + literal * 24 + wild::groups_len(rooted, floating) + (rooted + floating) * 8
}

/// The length of what [`encode_union`] appends.
pub(super) fn union_len(places: usize) -> usize {
    UNION_HEAD_LEN + (places * 4).next_multiple_of(8)
}

/// Appends the packed form of `rules` to `out`; `store` gives the place of a pattern in the section `patterns`.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge) if the patterns outgrow their 64 GiB.
pub(crate) fn encode(rules: &[SetRule<'_>], out: &mut Vec<u8>, mut store: impl FnMut(&[u8]) -> u64) -> Result<()> {
    let (mut drafts, literal_end, rooted_end) = drafts(rules);
    for draft in &mut drafts {
        if draft.is_stored() {
            draft.packed.place = checked_place(store(draft.text))?;
        }
    }
    let (literal, rooted) = (&drafts[..literal_end], &drafts[literal_end..rooted_end]);
    let literals: Vec<Literal<'_>> = literal.iter().map(Draft::literal).collect();
    let starts = Starts::of(&literals);
    for number in [literal.len() as u32, rooted.len() as u32, (drafts.len() - rooted_end) as u32, starts.root] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend([starts.firsts, starts.seconds].into_iter().flat_map(u64::to_le_bytes));
    put(out, literal, |draft| prefix_word(draft.tail()));
    put(out, literal, |draft| draft.packed.encode());
    out.extend(literal::links(&literals).into_iter().flat_map(u64::to_le_bytes));
    wild::encode_groups(rooted, &drafts[rooted_end..], out);
    put(out, &drafts[literal_end..], |draft| draft.packed.encode());
    Ok(())
}

fn put(out: &mut Vec<u8>, drafts: &[Draft<'_>], word: impl Fn(&Draft<'_>) -> u64) {
    out.extend(drafts.iter().flat_map(|draft| word(draft).to_le_bytes()));
}

/// Stands where a rule set has its count of literal rules: several rule sets follow that are judged together.
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
        if u32_at(sets, at, "a rule set's count of literal rules")? != UNION {
            return RuleSet::decode(sets, place, patterns).map(Self::Set);
        }
        let count = u32_at(sets, at + 4, "a union's count of rule sets")? as usize;
        let places = bytes(sets, at + UNION_HEAD_LEN, count * 4, "a union's rule sets")?;
        Ok(Self::Union(places.as_chunks().0))
    }

    /// The length that it takes in the file.
    pub(super) fn encoded_len(&self) -> usize {
        match self {
            Self::Set(set) => {
                let rooted = set.wild.first_floating();
                packed_len(set.literals.words.len(), rooted, set.wild.len() - rooted)
            }
            Self::Union(places) => union_len(places.len()),
        }
    }
}

/// A rule set where it lies in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSet<'a> {
    pub literals: Literals<'a>,
    pub wild: Wild<'a>,
}

impl<'a> RuleSet<'a> {
    /// The rule set at `place` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(crate) fn decode(sets: &'a [u8], place: u32, patterns: &'a [u8]) -> Result<Self> {
        let at = place as usize * 8;
        let head: [u8; HEAD_LEN] = array(sets, at, "a rule set's head")?;
        let mut head = Fields(&head);
        let (literal, rooted, floating) = (head.u32() as usize, head.u32() as usize, head.u32() as usize);
        let starts = Starts { root: head.u32(), firsts: head.u64(), seconds: head.u64() };
        let len = packed_len(literal, rooted, floating) - HEAD_LEN;
        let mut rest = bytes(sets, at + HEAD_LEN, len, "a rule set's rules")?;
        let literals = Literals {
            starts,
            words: run(&mut rest, literal),
            packed: run(&mut rest, literal),
            links: run(&mut rest, literal),
            patterns,
        };
        let wild = Wild {
            rooted: run(&mut rest, rooted.div_ceil(LANES)),
            floating: run(&mut rest, floating.div_ceil(LANES)),
            rooted_count: rooted,
            packed: run(&mut rest, rooted + floating),
            patterns,
        };
        Ok(Self { literals, wild })
    }

    /// The number of rules.
    pub(crate) fn len(&self) -> usize {
        self.literals.words.len() + self.wild.len()
    }

    /// Checks what look-ups rely on: the order of the rules, patterns within bounds, words, links and signatures that belong
    /// to their patterns.
    pub(crate) fn verify(&self) -> Result<()> {
        self.literals.verify()?;
        self.wild.verify()
    }
}

/// Takes so many items of a length from the front; none if there are fewer.
#[inline]
fn run<'a, const LEN: usize>(rest: &mut &'a [u8], count: usize) -> &'a [[u8; LEN]] {
    let (items, tail) = rest.split_at_checked(count * LEN).unwrap_or_default();
    *rest = tail;
    items.as_chunks().0
}
