//! The encoder of rule sets: canonical rules to the bytes that [`RuleSet`] reads.
//!
//! A rule has three shapes: the parsed line ([`Rule`](crate::robots::Rule)), the canonical rule of
//! a merged group ([`CanonicalRule`]), and the packed rule of the file ([`PackedRule`]). A set is
//! encoded when it is interned ([`EncodedRules`](super::encoded_set::EncodedRules)); the snapshot's
//! writer copies it.

use super::packed_rule::{PackedRule, checked_place};
use super::prefix_automaton::{self, FirstByteFilter, LiteralPrefix, PrefixLink};
use super::rule_set::{RuleSet, UNION};
use super::wildcard::{self, UNANCHORED, WildcardBucket};
use crate::error::{Error, Result};
use crate::robots::RuleKind;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

/// A rule of a canonical rule set, before it is packed.
#[derive(Clone, Debug)]
pub(crate) struct CanonicalRule<'t> {
    /// The pattern's normal form without the anchor.
    pub text: Cow<'t, [u8]>,
    pub anchored: bool,
    pub kind: RuleKind,
}

impl CanonicalRule<'_> {
    /// As [`Pattern::priority`](crate::robots::pattern::Pattern::priority).
    pub(crate) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }
}

/// Appends the encoded rule set to `out`; `store` returns the place of a pattern in the section
/// `patterns`.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge) if the patterns exceed their 64 GiB.
pub(crate) fn encode(
    rules: &[CanonicalRule<'_>],
    out: &mut Vec<u8>,
    mut store: impl FnMut(&[u8]) -> u64,
) -> Result<()> {
    let mut layout = Layout::new(rules);
    for rule in layout.literal.iter_mut().chain(&mut layout.wildcard).filter(|rule| rule.is_stored()) {
        rule.packed.place = checked_place(store(rule.pattern))?;
    }
    let buckets = layout.buckets();
    let states = layout.states(&buckets);
    let links = prefix_automaton::links(&states);
    let filter = FirstByteFilter::of(&states);
    for number in [states.len(), buckets.len(), layout.wildcard.len(), filter.root_rank as usize] {
        out.extend_from_slice(&(number as u32).to_le_bytes());
    }
    out.extend([filter.firsts, filter.seconds].into_iter().flat_map(u64::to_le_bytes));
    prefix_automaton::encode(&states, &links, out)?;
    let rows = layout.bucket_rows(&buckets, &states, &links);
    wildcard::encode(&rows, layout.wildcard.iter().map(|rule| rule.pattern), out);
    out.extend(layout.wildcard.iter().flat_map(|rule| rule.packed.encode().to_le_bytes()));
    Ok(())
}

/// The encoded rule set, and a section `patterns` of its own.
///
/// # Errors
/// As [`encode`].
pub(crate) fn pack(rules: &[CanonicalRule<'_>]) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut set, mut patterns) = (Vec::new(), Vec::new());
    encode(rules, &mut set, |text| append_pattern(&mut patterns, text))?;
    Ok((set, patterns))
}

/// Appends a pattern to a section `patterns`; returns its place there.
pub(super) fn append_pattern(patterns: &mut Vec<u8>, text: &[u8]) -> u64 {
    patterns.extend_from_slice(text);
    (patterns.len() - text.len()) as u64
}

/// Appends a union of rule sets, given by their places in units of 8 bytes.
pub(crate) fn encode_union(places: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&UNION.to_le_bytes());
    out.extend_from_slice(&(places.len() as u32).to_le_bytes());
    out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    out.resize(out.len().next_multiple_of(8), 0);
}

/// A canonical rule with its packed form.
struct RuleLayout<'a> {
    /// The pattern without redundant stars at its end.
    pattern: &'a [u8],
    /// The text before the first star, or nothing if that is at most the `/`.
    literal_prefix: &'a [u8],
    packed: PackedRule,
    is_literal: bool,
}

/// More stars than these at the end stay in the pattern: four bits hold what they add to the
/// priority.
const MAX_STARS: usize = 14;

impl<'a> RuleLayout<'a> {
    fn new(rule: &'a CanonicalRule<'_>) -> Self {
        // Stars at the end change nothing but the priority, and `…*$` is `…`.
        let end = rule.text.iter().rposition(|&b| b != b'*').map_or(0, |i| i + 1);
        let stars = rule.text.len() - end;
        let stars = if stars > MAX_STARS { 0 } else { stars };
        let pattern = &rule.text[..rule.text.len() - stars];
        let prefix = memchr::memchr(b'*', pattern).map_or(pattern, |star| &pattern[..star]);
        // `*` alone is kept as the empty pattern, which matches everything.
        let is_literal = prefix.len() == pattern.len() && !pattern.is_empty();
        let packed = PackedRule {
            place: 0,
            len: pattern.len(),
            extra: stars + usize::from(rule.anchored),
            allow: rule.kind == RuleKind::Allow,
            anchored: rule.anchored && stars == 0,
            is_prefix_only: false,
        };
        let literal_prefix = if is_literal || prefix.len() > 1 { prefix } else { b"" };
        Self { pattern, literal_prefix, packed, is_literal }
    }

    /// Whether the section `patterns` stores the pattern: a short literal rule fits into its word.
    fn is_stored(&self) -> bool {
        !self.is_literal || !self.packed.is_inline()
    }

    fn state(&self) -> LiteralPrefix<'a> {
        LiteralPrefix { text: self.pattern, packed: self.packed, bucket: None }
    }

    fn literal_order(&self, other: &Self) -> Ordering {
        self.state().order(&other.state())
    }

    /// By literal prefix, then by rank.
    fn wildcard_order(&self, other: &Self) -> Ordering {
        let key = |rule: &Self| (rule.literal_prefix, Reverse(rule.packed.rank()));
        key(self).cmp(&key(other))
    }
}

/// The rules of a set in the order of the file.
struct Layout<'a> {
    literal: Vec<RuleLayout<'a>>,
    wildcard: Vec<RuleLayout<'a>>,
}

/// The wildcard rules that share a literal prefix.
struct BucketLayout<'a> {
    literal_prefix: &'a [u8],
    /// Indices into [`Layout::wildcard`].
    rules: Range<usize>,
}

impl<'a> Layout<'a> {
    fn new(rules: &'a [CanonicalRule<'_>]) -> Self {
        let rules = rules.iter().map(RuleLayout::new);
        let (mut literal, mut wildcard): (Vec<_>, Vec<_>) = rules.partition(|rule| rule.is_literal);
        // Canonical rules are sorted by text, so both are in order already, or nearly so.
        literal.sort_by(RuleLayout::literal_order);
        wildcard.sort_by(RuleLayout::wildcard_order);
        // Of literal rules that match the same paths (`/a` and `/a*`), the highest decides.
        literal.dedup_by(|later, first| {
            let same = first.literal_order(later) == Ordering::Equal;
            if same && later.packed.rank() > first.packed.rank() {
                first.packed = later.packed;
            }
            same
        });
        Self { literal, wildcard }
    }

    /// The unanchored bucket, which may be empty, then the bucket of each literal prefix.
    fn buckets(&self) -> Vec<BucketLayout<'a>> {
        let mut buckets: Vec<BucketLayout<'a>> = Vec::new();
        if !self.wildcard.is_empty() {
            buckets.push(BucketLayout { literal_prefix: b"", rules: 0..0 });
        }
        for (number, rule) in self.wildcard.iter().enumerate() {
            match buckets.last_mut() {
                Some(bucket) if bucket.literal_prefix == rule.literal_prefix => bucket.rules.end += 1,
                _ => buckets.push(BucketLayout { literal_prefix: rule.literal_prefix, rules: number..number + 1 }),
            }
        }
        buckets
    }

    /// The states of the automaton, sorted: literal rules, and the prefixes of the buckets.
    fn states(&self, buckets: &[BucketLayout<'a>]) -> Vec<LiteralPrefix<'a>> {
        let literal = self.literal.iter().map(RuleLayout::state);
        let of_buckets = buckets.iter().zip(0..).skip(1).map(|(bucket, number)| LiteralPrefix {
            text: bucket.literal_prefix,
            packed: PackedRule {
                place: bucket.rules.start as u64,
                len: bucket.literal_prefix.len(),
                extra: 0,
                allow: false,
                anchored: false,
                is_prefix_only: true,
            },
            bucket: Some(number),
        });
        let mut states: Vec<LiteralPrefix<'_>> = literal.chain(of_buckets).collect();
        // Stable: a literal rule precedes the bucket of the same text, and gets it.
        states.sort_by(LiteralPrefix::order);
        states.dedup_by(|later, first| {
            let same = first.order(later) == Ordering::Equal;
            if same {
                first.bucket = later.bucket;
            }
            same
        });
        states
    }

    /// The rows of the buckets; the links of their states give the parents.
    fn bucket_rows(
        &self,
        buckets: &[BucketLayout<'a>],
        states: &[LiteralPrefix<'_>],
        links: &[PrefixLink],
    ) -> Vec<WildcardBucket> {
        let row = |bucket: &BucketLayout<'_>| WildcardBucket {
            first: bucket.rules.start as u32,
            count: bucket.rules.len() as u32,
            best: self.wildcard[bucket.rules.clone()].first().map_or(0, |rule| rule.packed.rank()),
            parent: UNANCHORED,
        };
        let mut rows: Vec<WildcardBucket> = buckets.iter().map(row).collect();
        for (state, link) in states.iter().zip(links) {
            if let Some(row) = state.bucket.and_then(|number| rows.get_mut(number as usize)) {
                row.parent = link.parent.map_or(UNANCHORED, |parent| links[parent as usize].bucket);
            }
        }
        rows
    }
}

impl RuleSet<'_> {
    /// Checks what look-ups rely on: `bytes` are what encoding the rules gives, and all patterns
    /// are within bounds.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if they are not.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<()> {
        let rules = self.rules().map(|rule| rule.map(|(text, rule)| canonical_rule(text, &rule)));
        let rules = rules.collect::<Result<Vec<_>>>()?;
        let stored = self.packed_rules().filter(|(word, rule)| word.is_none() || !rule.is_inline());
        let places: Vec<u64> = stored.map(|(_, rule)| rule.place).collect();
        let (mut again, mut places) = (Vec::with_capacity(bytes.len()), places.into_iter());
        encode(&rules, &mut again, |_| places.next().unwrap_or_default())?;
        if again == bytes { Ok(()) } else { Err(Error::corrupt("a rule set that is not what its rules encode to")) }
    }
}

/// The canonical rule with this pattern and packed form.
fn canonical_rule(mut text: Vec<u8>, rule: &PackedRule) -> CanonicalRule<'static> {
    // Stars and anchor that were cut off.
    let (stars, anchored) = match rule.extra {
        extra if rule.anchored => (extra.saturating_sub(1), true),
        extra if extra > MAX_STARS => (MAX_STARS, true),
        extra => (extra, false),
    };
    text.resize(text.len() + stars, b'*');
    let kind = if rule.allow { RuleKind::Allow } else { RuleKind::Disallow };
    CanonicalRule { text: text.into(), anchored, kind }
}
