//! Wildcard rules: the buckets that select the rules to try for a path, and the wildcard-segment
//! matcher that compares one of them.
//!
//! # Buckets
//!
//! Wildcard rules that share a literal prefix form a bucket. The
//! [prefix automaton](super::prefix_automaton) leads a path to the bucket of its longest literal
//! prefix. Parents of that bucket belong to shorter prefixes. The last is the *unanchored bucket*
//! of the rules that begin with `*` or `/*`. In a bucket, rules are sorted by rank (longest first,
//! allow before disallow), so the first that matches decides, and a bucket whose best rank is too
//! low is skipped. Of the others, the signature dismisses most.
//!
//! # Segments
//!
//! `*` stands for any run of bytes, so the stars cut a pattern into literal *segments*. Each
//! segment is searched (with memchr) at its first position after the previous one. If any choice of
//! positions matches, the leftmost does, because it leaves the most room for the rest. Only the
//! last segment of an anchored pattern is fixed: it must be a suffix of the path. The cost is
//! therefore linear in the path for any number of stars, where backtracking takes exponential time
//! on patterns such as `/(*a)×20*b`.

use super::candidate::PathSignature;
use super::packed_rule::{PREFIX_LEN, PackedRule};
use super::signature::signature;
use crate::bytes::wire::Fields;
use crate::error::{Error, Result};
use crate::robots::pattern::Pattern;
use crate::simd::Backend;
use memchr::{memchr, memmem};
use std::ops::Range;

/// The number of the unanchored bucket: rules without a literal prefix, which every path reaches.
pub(crate) const UNANCHORED: u32 = 0;

/// The most literal prefixes of a set that are prefixes of one another, and so the most links or
/// parents that a search follows. Their lengths differ, and the rules of a robots.txt have some
/// three million bytes, so there are fewer than 2,500.
pub(super) const MAX_NESTED_PREFIXES: usize = 4096;

/// The length of a bucket, and of a signature.
pub(super) const ROW_LEN: usize = 16;

/// The wildcard rules in the bytes of a rule set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WildcardBuckets<'a> {
    /// The number of buckets.
    pub(super) buckets: usize,
    /// The unanchored bucket, then one for each literal prefix that wildcard rules have; then both
    /// words of the signature of each rule.
    pub(super) rows: &'a [[u8; ROW_LEN]],
    /// The packed rules, and what follows them.
    pub(super) packed: &'a [[u8; 8]],
    /// The pattern bytes of the rule set.
    pub(super) patterns: &'a [u8],
}

/// The wildcard rules that share a literal prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WildcardBucket {
    /// The number of the first rule. The rules of a bucket end where those of the next one begin.
    pub first: u32,
    /// The length of the literal prefix, which the stored patterns lack.
    pub prefix_len: u32,
    /// The rank of the first rule, which is the highest; 0 if there is none.
    pub best: u32,
    /// The bucket of the next shorter prefix; the unanchored bucket is its own parent.
    pub parent: u32,
}

impl WildcardBucket {
    #[inline]
    fn decode(row: &[u8; ROW_LEN]) -> Self {
        let mut row = Fields(row);
        Self {
            first: row.u32(),
            prefix_len: row.u32(),
            best: row.u32(),
            parent: row.u32(),
        }
    }
}

/// Appends buckets, and the signatures of their rules.
pub(super) fn encode<'t>(
    buckets: &[WildcardBucket],
    patterns: impl Iterator<Item = &'t [u8]>,
    out: &mut Vec<u8>,
) {
    for WildcardBucket {
        first,
        prefix_len,
        best,
        parent,
    } in buckets
    {
        out.extend(
            [first, prefix_len, best, parent]
                .into_iter()
                .flat_map(|number| number.to_le_bytes()),
        );
    }
    out.extend(patterns.flat_map(signature).flat_map(u64::to_le_bytes));
}

/// In buckets with more rules, some rule nearly always passes the characters of a path's signature.
/// So the byte pairs are computed too, before any rule is tried. This saves a twentieth of the time
/// on a site with 528 wildcard rules.
const MANY: usize = 16;

/// If the signature's characters pass, so few rules are compared in full sooner than byte pairs are
/// gathered.
const FEW: usize = 2;

impl WildcardBuckets<'_> {
    /// The number of rules.
    #[inline(always)]
    fn len(&self) -> usize {
        self.rows.len().saturating_sub(self.buckets)
    }

    #[inline(always)]
    pub(super) fn rule(&self, number: usize) -> Option<PackedRule> {
        let word = self.packed.get(number).filter(|_| number < self.len());
        word.map(|word| PackedRule::decode(u64::from_le_bytes(*word)))
    }

    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it is not there.
    #[inline(always)]
    pub(super) fn bucket(&self, number: u32) -> Result<WildcardBucket> {
        match self.rows.get(number as usize) {
            Some(row) if (number as usize) < self.buckets => Ok(WildcardBucket::decode(row)),
            // Only a set without wildcard rules lacks the unanchored bucket.
            _ if number == UNANCHORED && self.len() == 0 => Ok(WildcardBucket {
                first: 0,
                prefix_len: 0,
                best: 0,
                parent: UNANCHORED,
            }),
            _ => Err(Error::corrupt("a bucket of a rule set that is not there")),
        }
    }

    /// The numbers of the rules of a bucket. In a damaged file, they may reach past the last rule.
    #[inline(always)]
    pub(super) fn rules_of(&self, number: u32, bucket: &WildcardBucket) -> Range<usize> {
        let next = number as usize + 1;
        let end = match self.rows.get(next) {
            Some(row) if next < self.buckets => WildcardBucket::decode(row).first as usize,
            _ => self.len(),
        };
        bucket.first as usize..end
    }

    /// The rank of the highest rule that matches and exceeds `floor`, else `floor`: searches the
    /// deepest bucket that the automaton found, and its parents.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for rules or patterns outside of the file.
    #[inline(always)]
    pub(super) fn highest(
        &self,
        deepest: u32,
        floor: u32,
        path: &[u8],
        signature: &mut PathSignature,
        backend: impl Backend,
    ) -> Result<u32> {
        let mut highest = floor;
        let mut number = deepest;
        let mut unread = Unread {
            rules: self.len(),
            pattern_bytes: self.patterns.len(),
        };
        for _ in 0..MAX_NESTED_PREFIXES {
            let bucket = self.bucket(number)?;
            if bucket.best > highest {
                let rules = unread.take_rules(self.rules_of(number, &bucket))?;
                let prefix_len = bucket.prefix_len as usize;
                highest = self.first_match(
                    rules,
                    prefix_len,
                    highest,
                    path,
                    signature,
                    &mut unread,
                    backend,
                )?;
            }
            if bucket.parent >= number {
                return Ok(highest);
            }
            number = bucket.parent;
        }
        Err(Error::corrupt("a chain of wildcard buckets"))
    }

    /// The rank of the first of these rules of a bucket that matches and exceeds `floor`, else
    /// `floor`. The path begins with the literal prefix of the bucket.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the state of one search")]
    fn first_match(
        &self,
        rules: Range<usize>,
        prefix_len: usize,
        floor: u32,
        path: &[u8],
        signature: &mut PathSignature,
        unread: &mut Unread,
        backend: impl Backend,
    ) -> Result<u32> {
        let mut next = rules.start;
        let rest = path.get(prefix_len..).unwrap_or_default();
        // The characters first: byte pairs cost five times as much, and few paths need them.
        let mut wanted = if rules.len() > MANY {
            signature.whole(path, backend)
        } else {
            signature.characters(path, backend)
        };
        loop {
            let signatures = self.rows.get(self.buckets + next..self.buckets + rules.end);
            let signatures =
                signatures.ok_or_else(|| Error::corrupt("a bucket of rules that are not there"))?;
            let Some(skipped) = backend.next_subset(signatures, wanted) else {
                return Ok(floor);
            };
            next += skipped;
            let Some(rule) = self.rule(next).filter(|rule| rule.rank() > floor) else {
                return Ok(floor);
            };
            if (rules.len() > FEW || signature.misses >= FEW) && !signature.is_whole() {
                wanted = signature.whole(path, backend);
                continue;
            }
            let stored = rule.stored(self.patterns, prefix_len)?;
            unread.take_pattern(stored)?;
            if matches_stored(stored, rule.anchored, rest) {
                return Ok(rule.rank());
            }
            signature.misses += 1;
            next += 1;
        }
    }
}

/// The rules and pattern bytes of a set that a search has not read yet. No two buckets share a rule
/// and no two rules share bytes, so a search that reads more is one in a forged file.
struct Unread {
    /// The rules before this one. A bucket's parent precedes it, and so do its rules.
    rules: usize,
    pattern_bytes: usize,
}

impl Unread {
    #[inline(always)]
    fn take_rules(&mut self, rules: Range<usize>) -> Result<Range<usize>> {
        if rules.end > self.rules {
            return Err(Error::corrupt("wildcard buckets that share rules"));
        }
        self.rules = rules.start;
        Ok(rules)
    }

    #[inline(always)]
    fn take_pattern(&mut self, pattern: &[u8]) -> Result<()> {
        match self.pattern_bytes.checked_sub(pattern.len()) {
            Some(left) => {
                self.pattern_bytes = left;
                Ok(())
            }
            None => Err(Error::corrupt("wildcard rules that share their patterns")),
        }
    }
}

impl Pattern<'_> {
    /// Whether a path in normal form matches.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        matches(&self.text, self.anchored, path)
    }
}

/// Whether `path` matches `pattern`, whose anchor is cut off; `anchored` says whether it had one.
#[inline]
pub(crate) fn matches(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
    // Most rules differ from most paths in the first bytes, and to find their stars costs more.
    let same = |(a, b): &(&u8, &u8)| a == b && **a != b'*';
    let common = pattern.iter().zip(path).take_while(same).count();
    match pattern.get(common) {
        None => !anchored || path.len() == pattern.len(),
        Some(b'*') => matches_after_star(&pattern[common + 1..], anchored, &path[common..]),
        Some(_) => false,
    }
}

/// As [`matches()`], for the pattern that a bucket has of a rule and the path after the bucket's
/// literal prefix. Such a pattern begins with its first star, or with the `/` of every path and the
/// star. An empty one is that of stars alone, which match.
#[inline]
fn matches_stored(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
    match (pattern, path) {
        ([b'*', pattern @ ..], path) | ([b'/', b'*', pattern @ ..], [_, path @ ..]) => {
            matches_after_star(pattern, anchored, path)
        }
        _ => pattern.is_empty(),
    }
}

/// Whether `rest` has the segments of `pattern` in their order; a star precedes the first of them.
#[inline]
pub(crate) fn matches_after_star(mut pattern: &[u8], anchored: bool, mut rest: &[u8]) -> bool {
    // The suffix is the cheapest to compare, and most paths fail there.
    if anchored && !rest.ends_with(last_segment(pattern)) {
        return false;
    }
    while let Some(star) = memchr(b'*', pattern) {
        let Some(at) = find(rest, &pattern[..star]) else {
            return false;
        };
        rest = &rest[at + star..];
        pattern = &pattern[star + 1..];
    }
    if anchored {
        rest.ends_with(pattern)
    } else {
        find(rest, pattern).is_some()
    }
}

fn last_segment(pattern: &[u8]) -> &[u8] {
    &pattern[pattern
        .iter()
        .rposition(|&b| b == b'*')
        .map_or(0, |star| star + 1)..]
}

/// Longer texts are searched by `memmem`. On paths, building its searcher costs more than the
/// search: 40 to 50 ns per call.
const SHORT: usize = 256;

/// The first position of `needle`.
#[inline]
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    if haystack.len() > SHORT {
        return memmem::find(haystack, needle);
    }
    // A path has many slashes, so the byte after a leading slash is the better one to search.
    let skip = usize::from(needle.len() > 1 && needle[0] == b'/');
    let Some(&probe) = needle.get(skip) else {
        return Some(0);
    };
    let mut from = skip;
    loop {
        let start = from + memchr(probe, haystack.get(from..)?)? - skip;
        if haystack[start..].starts_with(needle) {
            return Some(start);
        }
        from = start + skip + 1;
    }
}

/// Bytes at the end of a path that are compared at once.
const SUFFIX_LEN: usize = 8;

/// A pattern, cut at its first and its last star.
pub(super) struct Segments<'t> {
    /// The literal text before the first star.
    head: &'t [u8],
    /// The offset of the first star.
    pub first_star: Option<usize>,
    /// The text between the first and the last star, with the stars in it. Without an anchor, it
    /// reaches to the end.
    pub middle: &'t [u8],
    /// The suffix of an anchored pattern.
    pub tail: &'t [u8],
}

impl<'t> Segments<'t> {
    pub(super) fn of(pattern: &'t [u8], anchored: bool) -> Self {
        let Some(star) = memchr(b'*', pattern) else {
            let tail = if anchored { pattern } else { &[] };
            return Self {
                head: pattern,
                first_star: None,
                middle: &[],
                tail,
            };
        };
        let rest = &pattern[star + 1..];
        let last = if anchored {
            rest.len() - last_segment(rest).len()
        } else {
            rest.len()
        };
        Self {
            head: &pattern[..star],
            first_star: Some(star),
            middle: &rest[..last],
            tail: &rest[last..],
        }
    }

    /// The head without its leading `/`.
    pub(super) fn head_tail(&self) -> &'t [u8] {
        self.head.get(1..).unwrap_or_default()
    }

    /// Whether comparing the two ends and the length of a path decides.
    pub(super) fn are_decided_by_ends(&self) -> bool {
        let is_tail_short = self.first_star.is_none() || self.tail.len() <= SUFFIX_LEN;
        self.head_tail().len() <= PREFIX_LEN
            && is_tail_short
            && self.middle.iter().all(|&b| b == b'*')
    }

    /// The length of the shortest path that matches.
    pub(super) fn min_len(&self) -> usize {
        if self.first_star.is_none() {
            return self.head.len();
        }
        self.head.len() + self.middle.iter().filter(|&&b| b != b'*').count() + self.tail.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::reference;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    #[test]
    fn leftmost_positions_suffice() {
        let m = |pattern: &str, path: &str| match pattern.strip_suffix('$') {
            Some(pattern) => matches(pattern.as_bytes(), true, path.as_bytes()),
            None => matches(pattern.as_bytes(), false, path.as_bytes()),
        };
        assert!(m("/*ab", "/aab"));
        assert!(m("/*.php$", "/a.php/b.php"));
        assert!(!m("/*.php$", "/a.php/b"));
        assert!(m("*$", "/x") && m("/a**b*$", "/ab"));
        assert!(
            !m("/a*b$", "/b") && !m("/ab*b$", "/ab"),
            "segments do not overlap"
        );
        assert!(m("/a*/", "/ab/") && !m("/a*/", "/abc"), "a slash alone");
        assert!(!m(&format!("/{}*b", "*a".repeat(20)), &"/a".repeat(5000)));
    }

    proptest! {
        #[test]
        fn agrees_with_the_reference(
            pattern in vec(select(b"/*ab".to_vec()), 0..14), anchored in any::<bool>(),
            path in vec(select(b"/ab".to_vec()), 0..400),
        ) {
            let path = [b"/", &path[..]].concat();
            prop_assert_eq!(
                matches(&pattern, anchored, &path),
                reference::matches_normal(&pattern, anchored, &path)
            );
        }

        #[test]
        fn finds_the_first_position(text in vec(select(b"/a\0".to_vec()), 0..300), needle in vec(select(b"/a\0".to_vec()), 0..7)) {
            let expected = (0..=text.len()).find(|at| text[*at..].starts_with(&needle));
            prop_assert_eq!(find(&text, &needle), expected);
        }
    }
}
