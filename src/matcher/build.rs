//! The encoder of rule sets: canonical rules to the bytes that [`RuleSet`] reads.
//!
//! A rule has three shapes: the parsed line ([`Rule`](crate::robots::Rule)), the canonical rule of
//! a merged group ([`CanonicalRule`]), and the packed rule of the file ([`PackedRule`]). The bytes
//! of a set depend on its rules alone, so equal rules give equal bytes.

use super::packed_rule::{PREFIX_LEN, PackedRule};
use super::prefix_automaton::{self, FirstByteFilter, LiteralPrefix, PrefixLink};
use super::rule_set::{MAX_PATTERN_BYTES, RuleSet, RuleSetHead, UNION};
use super::wildcard::{self, UNANCHORED, WildcardBucket};
use crate::error::{Error, ErrorKind, Result};
use crate::robots::RuleKind;
use std::borrow::Cow;
use std::cmp::Ordering;
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

/// The encoded rule set.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge) for more rules or longer patterns than 500 KiB of
/// robots.txt can have.
pub(crate) fn encode(rules: &[CanonicalRule<'_>]) -> Result<Vec<u8>> {
    let mut layout = Layout::new(rules);
    let buckets = layout.buckets();
    let mut states = layout.states(&buckets);
    let patterns = layout.store_patterns(&buckets, &mut states);
    if patterns.len() > MAX_PATTERN_BYTES {
        return Err(
            ErrorKind::TooLarge("over 3 MB of paths in the rules of one agent".to_owned()).into(),
        );
    }
    // The head has all lengths, so a reader finds each part without the ones before.
    let links = prefix_automaton::links(&states);
    let head = RuleSetHead {
        states: states.len() as u32,
        buckets: buckets.len() as u32,
        wildcards: layout.wildcard.len() as u32,
        pattern_bytes: patterns.len() as u32,
        filter: FirstByteFilter::of(&states),
    };
    let mut out = Vec::with_capacity(head.encoded_len());
    head.encode(&mut out);
    prefix_automaton::encode(&states, &links, &mut out)?;
    let rows = layout.bucket_rows(&buckets, &states, &links);
    wildcard::encode(
        &rows,
        layout.wildcard.iter().map(|rule| rule.pattern),
        &mut out,
    );
    out.extend(
        layout
            .wildcard
            .iter()
            .flat_map(|rule| rule.packed.encode().to_le_bytes()),
    );
    out.extend_from_slice(&patterns);
    out.resize(out.len().next_multiple_of(8), 0);
    Ok(out)
}

/// A union of rule sets, given by their offsets in units of 8 bytes.
pub(crate) fn encode_union(offsets: &[u32]) -> Vec<u8> {
    let mut out = UNION.to_le_bytes().to_vec();
    out.extend_from_slice(&(offsets.len() as u32).to_le_bytes());
    out.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    out.resize(out.len().next_multiple_of(8), 0);
    out
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
        let end = rule
            .text
            .iter()
            .rposition(|&b| b != b'*')
            .map_or(0, |i| i + 1);
        let stars = rule.text.len() - end;
        let stars = if stars > MAX_STARS { 0 } else { stars };
        let pattern = &rule.text[..rule.text.len() - stars];
        let prefix = memchr::memchr(b'*', pattern).map_or(pattern, |star| &pattern[..star]);
        // `*` alone is kept as the empty pattern, which matches everything.
        let is_literal = prefix.len() == pattern.len() && !pattern.is_empty();
        let packed = PackedRule {
            offset: 0,
            len: pattern.len(),
            extra: stars + usize::from(rule.anchored),
            allow: rule.kind == RuleKind::Allow,
            anchored: rule.anchored && stars == 0,
            is_prefix_only: false,
        };
        let literal_prefix = if is_literal || prefix.len() > 1 {
            prefix
        } else {
            b""
        };
        Self {
            pattern,
            literal_prefix,
            packed,
            is_literal,
        }
    }

    fn state(&self) -> LiteralPrefix<'a> {
        LiteralPrefix {
            text: self.pattern,
            packed: self.packed,
            bucket: None,
        }
    }

    fn literal_order(&self, other: &Self) -> Ordering {
        self.state().order(&other.state())
    }

    /// By literal prefix, then by rank.
    fn wildcard_order(&self, other: &Self) -> Ordering {
        let by_prefix = self.literal_prefix.cmp(other.literal_prefix);
        by_prefix.then_with(|| other.packed.rank().cmp(&self.packed.rank()))
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
            buckets.push(BucketLayout {
                literal_prefix: b"",
                rules: 0..0,
            });
        }
        for (number, rule) in self.wildcard.iter().enumerate() {
            match buckets.last_mut() {
                Some(bucket) if bucket.literal_prefix == rule.literal_prefix => {
                    bucket.rules.end += 1
                }
                _ => buckets.push(BucketLayout {
                    literal_prefix: rule.literal_prefix,
                    rules: number..number + 1,
                }),
            }
        }
        buckets
    }

    /// The states of the automaton, sorted: literal rules, and the prefixes of the buckets.
    fn states(&self, buckets: &[BucketLayout<'a>]) -> Vec<LiteralPrefix<'a>> {
        let literal = self.literal.iter().map(RuleLayout::state);
        let of_buckets = buckets
            .iter()
            .zip(0..)
            .skip(1)
            .map(|(bucket, number)| LiteralPrefix {
                text: bucket.literal_prefix,
                packed: PackedRule {
                    offset: 0,
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

    /// The pattern bytes of the set: of each state the bytes that its word has no room for, of each
    /// wildcard rule those after its literal prefix. Sets the offsets of both.
    fn store_patterns(
        &mut self,
        buckets: &[BucketLayout<'a>],
        states: &mut [LiteralPrefix<'_>],
    ) -> Vec<u8> {
        let mut patterns = Vec::new();
        for state in states {
            let rest = state.text.get(1 + PREFIX_LEN..).unwrap_or_default();
            state.packed.offset = append_pattern(&mut patterns, rest);
        }
        for bucket in buckets {
            for rule in &mut self.wildcard[bucket.rules.clone()] {
                let rest = &rule.pattern[bucket.literal_prefix.len()..];
                rule.packed.offset = append_pattern(&mut patterns, rest);
            }
        }
        patterns
    }

    /// The rows of the buckets; the links of their states give the parents.
    fn bucket_rows(
        &self,
        buckets: &[BucketLayout<'a>],
        states: &[LiteralPrefix<'_>],
        links: &[PrefixLink],
    ) -> Vec<WildcardBucket> {
        let mut rows: Vec<WildcardBucket> = buckets
            .iter()
            .map(|bucket| WildcardBucket {
                first: bucket.rules.start as u32,
                prefix_len: bucket.literal_prefix.len() as u32,
                best: self.wildcard[bucket.rules.clone()]
                    .first()
                    .map_or(0, |rule| rule.packed.rank()),
                parent: UNANCHORED,
            })
            .collect();
        // The parent of a bucket is that of its state's link: the deepest bucket of a shorter
        // prefix.
        for (state, link) in states.iter().zip(links) {
            if let Some(row) = state
                .bucket
                .and_then(|number| rows.get_mut(number as usize))
            {
                row.parent = link
                    .parent
                    .map_or(UNANCHORED, |parent| links[parent as usize].bucket);
            }
        }
        rows
    }
}

/// Appends the text of a pattern; returns its offset, which is 0 for an empty text.
fn append_pattern(patterns: &mut Vec<u8>, text: &[u8]) -> usize {
    let offset = if text.is_empty() { 0 } else { patterns.len() };
    patterns.extend_from_slice(text);
    offset
}

impl RuleSet<'_> {
    /// Checks what look-ups rely on: `bytes` are what encoding the rules gives.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if they are not.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<()> {
        self.verify_stored_lengths()?;
        let rules = self
            .rules()
            .map(|rule| rule.map(|(text, rule)| canonical_rule(text, &rule)));
        let rules = rules.collect::<Result<Vec<_>>>()?;
        if encode(&rules)? == bytes {
            Ok(())
        } else {
            Err(Error::corrupt(
                "a rule set that is not what its rules encode to",
            ))
        }
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
    let kind = if rule.allow {
        RuleKind::Allow
    } else {
        RuleKind::Disallow
    };
    CanonicalRule {
        text: text.into(),
        anchored,
        kind,
    }
}
