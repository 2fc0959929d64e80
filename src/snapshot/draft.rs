//! A rule set before it is packed: its rules in canonical form; then sorted, with their stems, and the branches that begin there.

use super::packed::PackedRule;
use super::stems::{Link, Stem};
use super::wild::{Branch, ROOT};
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

/// A rule on its way into the file.
pub(super) struct Draft<'a> {
    /// The pattern without redundant stars at its end.
    pub text: &'a [u8],
    /// What it has before its first wildcard; nothing if that is no more than the `/`. Of a literal rule all of it.
    stem: &'a [u8],
    pub packed: PackedRule,
    literal: bool,
}

/// More stars at the end than these stay in the pattern: there are four bits for what they add to the priority.
pub(super) const MAX_STARS: usize = 14;

impl<'a> Draft<'a> {
    fn new(rule: &'a SetRule<'_>) -> Self {
        // Stars at the end change nothing but the priority, and `…*$` is `…`; what they add is kept in 4 bits.
        let end = rule.text.iter().rposition(|&b| b != b'*').map_or(0, |i| i + 1);
        let stars = rule.text.len() - end;
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
    pub(super) fn is_stored(&self) -> bool {
        !self.literal || !self.packed.is_inline()
    }

    fn as_stem(&self) -> Stem<'a> {
        Stem { text: self.text, packed: self.packed, branch: None }
    }

    /// Literal rules by text; those with wildcards by stem, and on each by rank.
    fn order(&self, other: &Self) -> Ordering {
        match self.literal {
            true => self.as_stem().order(&other.as_stem()),
            false => (self.stem, Reverse(self.packed.rank())).cmp(&(other.stem, Reverse(other.packed.rank()))),
        }
    }
}

/// A rule set on its way into the file: its rules as they will lie there, and how many of them are literal.
pub(super) struct Drafts<'a> {
    pub rules: Vec<Draft<'a>>,
    literal: usize,
}

impl<'a> Drafts<'a> {
    pub(super) fn new(rules: &'a [SetRule<'_>]) -> Self {
        let (mut literal, mut wild) = (Vec::with_capacity(rules.len()), Vec::new());
        for rule in rules.iter().map(Draft::new) {
            if rule.literal { literal.push(rule) } else { wild.push(rule) }
        }
        // Canonical rules are sorted by text: both are in order already, or nearly so.
        literal.sort_by(Draft::order);
        wild.sort_by(Draft::order);
        // Of literal rules that match the same paths (`/a` and `/a*`) the highest decides.
        literal.dedup_by(|later, first| {
            let same = first.order(later) == Ordering::Equal;
            if same && later.packed.rank() > first.packed.rank() {
                first.packed = later.packed;
            }
            same
        });
        let count = literal.len();
        literal.append(&mut wild);
        Self { rules: literal, literal: count }
    }

    /// Those with wildcards.
    pub(super) fn wild(&self) -> &[Draft<'a>] {
        &self.rules[self.literal..]
    }

    /// The rules with wildcards stem by stem; those without a stem first, though there be none.
    pub(super) fn branches(&self) -> Vec<(&'a [u8], Range<usize>)> {
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
    pub(super) fn stems(&self, branches: &[(&'a [u8], Range<usize>)]) -> Vec<Stem<'a>> {
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

    /// The branches as rows, of which the links of the stems tell the parents.
    pub(super) fn rows(
        &self,
        branches: &[(&'a [u8], Range<usize>)],
        stems: &[Stem<'_>],
        links: &[Link],
    ) -> Vec<Branch> {
        let row = |(_, rules): &(&[u8], Range<usize>)| Branch {
            first: rules.start as u32,
            count: rules.len() as u32,
            best: self.wild()[rules.clone()].first().map_or(0, |rule| rule.packed.rank()),
            parent: ROOT,
        };
        let mut rows: Vec<Branch> = branches.iter().map(row).collect();
        for (stem, link) in stems.iter().zip(links) {
            if let Some(row) = stem.branch.and_then(|number| rows.get_mut(number as usize)) {
                row.parent = link.parent.map_or(ROOT, |parent| links[parent as usize].branch);
            }
        }
        rows
    }
}
