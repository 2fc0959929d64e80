//! A rule set in the bytes of a snapshot, and the search for the rule that decides about a path.
//!
//! A rule set has two parts: the [automaton](PrefixAutomaton) of literal prefixes, which finds the
//! literal rules that match and the bucket of wildcard rules to try, and the
//! [buckets](WildcardBuckets). The matcher runs on them as they are stored; `build.rs` encodes
//! them.

use super::candidate::{Candidate, PathSignature};
use super::packed_rule::{OFFSET_BITS, PREFIX_LEN, PackedRule};
use super::prefix_automaton::{FirstByteFilter, PrefixAutomaton};
use super::wildcard::{ROW_LEN, UNANCHORED, WildcardBuckets};
use crate::bytes::wire::{array, bytes, u32_at};
use crate::error::{Error, Result};
use crate::robots::line::MAX_BODY;
use crate::simd::Backend;

/// The bytes of a state: its word, its packed rule, its link.
const STATE_LEN: usize = 24;

/// The bytes of a wildcard rule: its signature and its packed rule.
const WILDCARD_LEN: usize = ROW_LEN + 8;

/// The most pattern bytes of a set. 500 KiB of a robots.txt count (RFC 9309 §2.5). An escape makes
/// three bytes of one, and an index page adds at most one more rule of its own length.
pub(super) const MAX_PATTERN_BYTES: usize = 6 * MAX_BODY;

/// The least bytes of a line with a rule: `allow:/` and its end.
const MIN_RULE_LINE: usize = 8;

/// The most bytes of a set, and of all sets of a union, as they are the rules of one robots.txt. For
/// each byte of a line, patterns take at most six bytes ([`MAX_PATTERN_BYTES`]), and the rest of a
/// rule at most eight: 64 bytes (a state, a bucket and a wildcard rule) for a line of eight.
pub(crate) const MAX_SET_LEN: usize = 16 * MAX_BODY;

/// The most sets of a union. Each is that of a group, which has at least the lines `useragent:a`
/// and `allow:/`.
const MAX_UNION: usize = MAX_BODY / 20;

/// The first word of a union, where a rule set has its number of states.
pub(super) const UNION: u32 = u32::MAX;
const UNION_HEAD_LEN: usize = 8;

/// The rules of an agent name, as the snapshot stores them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rules<'a> {
    /// One rule set, as nearly always.
    Set(RuleSet<'a>),
    /// The offsets of several rule sets; the highest matching rule of all decides.
    Union(&'a [[u8; 4]]),
}

impl<'a> Rules<'a> {
    /// Decodes the rules at `offset` of the section `sets`, in units of 8 bytes.
    #[inline]
    pub(crate) fn decode(sets: &'a [u8], offset: u32) -> Result<Self> {
        let at = offset as usize * 8;
        if u32_at(sets, at, "a rule set's number of prefixes")? != UNION {
            return RuleSet::decode(sets, offset).map(Self::Set);
        }
        let count = u32_at(sets, at + 4, "a union's number of rule sets")? as usize;
        if count > MAX_UNION {
            return Err(Error::corrupt(format!(
                "a union of {count} rule sets, where a robots.txt has at most {MAX_UNION} groups"
            )));
        }
        let offsets = bytes(sets, at + UNION_HEAD_LEN, count * 4, "a union's rule sets")?;
        Ok(Self::Union(offsets.as_chunks().0))
    }

    /// The length in the file.
    pub(crate) fn encoded_len(&self) -> usize {
        match self {
            Self::Set(set) => set.encoded_len(),
            Self::Union(offsets) => UNION_HEAD_LEN + (offsets.len() * 4).next_multiple_of(8),
        }
    }
}

/// The sizes of a rule set's parts, and its filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleSetHead {
    pub states: u32,
    pub buckets: u32,
    pub wildcards: u32,
    pub pattern_bytes: u32,
    pub filter: FirstByteFilter,
}

impl RuleSetHead {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let Self { filter, .. } = self;
        // The rank of a rule `/` is below 34, so it fits above the 24 bits of the length.
        let last = self.pattern_bytes | filter.root_rank << OFFSET_BITS;
        let numbers = [self.states, self.buckets, self.wildcards, last];
        out.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        out.extend(
            [filter.firsts, filter.seconds]
                .into_iter()
                .flat_map(u64::to_le_bytes),
        );
    }

    /// Reads whole words: one of two numbers takes fewer instructions than two reads.
    #[inline(always)]
    fn decode(head: &[u8; RuleSet::HEAD_LEN]) -> Self {
        let words: &[[u8; 8]] = head.as_chunks().0;
        let counts = u64::from_le_bytes(words[0]);
        let more_counts = u64::from_le_bytes(words[1]);
        let last = (more_counts >> 32) as u32;
        let filter = FirstByteFilter {
            root_rank: last >> OFFSET_BITS,
            firsts: u64::from_le_bytes(words[2]),
            seconds: u64::from_le_bytes(words[3]),
        };
        Self {
            states: counts as u32,
            buckets: (counts >> 32) as u32,
            wildcards: more_counts as u32,
            pattern_bytes: last & ((1 << OFFSET_BITS) - 1),
            filter,
        }
    }

    /// The length of the rule set with this head.
    #[inline(always)]
    pub(super) fn encoded_len(&self) -> usize {
        RuleSet::HEAD_LEN
            + self.states as usize * STATE_LEN
            + self.buckets as usize * ROW_LEN
            + self.wildcards as usize * WILDCARD_LEN
            + (self.pattern_bytes as usize).next_multiple_of(8)
    }
}

/// The error of the rule set at `offset`, which [`RuleSet::decode`] rejects.
#[cold]
#[inline(never)]
fn damaged_set(sets: &[u8], offset: u32) -> Error {
    let at = offset as usize * 8;
    let head = match array(sets, at, "a rule set's head") {
        Ok(head) => RuleSetHead::decode(&head),
        Err(err) => return err,
    };
    if head.pattern_bytes as usize > MAX_PATTERN_BYTES {
        return Error::corrupt("a rule set with over 3 MB of paths");
    }
    if head.encoded_len() > MAX_SET_LEN {
        return Error::corrupt("a rule set of over 8 MB");
    }
    let start = at + RuleSet::HEAD_LEN;
    let len = head.encoded_len() - RuleSet::HEAD_LEN;
    match bytes(sets, start, len, "a rule set's rules") {
        Ok(_) => Error::corrupt("a rule set"),
        Err(err) => err,
    }
}

/// A rule set in the file, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSet<'a> {
    head: RuleSetHead,
    /// The word of each state, then the packed rule of each, then the link of each.
    states: &'a [[u8; 8]],
    /// The buckets, then the signature of each wildcard rule.
    rows: &'a [[u8; ROW_LEN]],
    /// The packed wildcard rules.
    packed: &'a [[u8; 8]],
    /// The pattern bytes, without the padding.
    patterns: &'a [u8],
}

impl<'a> RuleSet<'a> {
    /// The length of the head, which states the length of the whole set.
    pub(crate) const HEAD_LEN: usize = 32;

    /// Decodes the rule set at `offset` of the section `sets`, in units of 8 bytes.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it lies outside of the section, or has more rules
    /// or pattern bytes than a robots.txt gives.
    #[inline(always)]
    pub(crate) fn decode(sets: &'a [u8], offset: u32) -> Result<Self> {
        Self::parts(sets, offset).ok_or_else(|| damaged_set(sets, offset))
    }

    /// The parts of the rule set at `offset`, if the section has all of them.
    #[inline(always)]
    fn parts(sets: &'a [u8], offset: u32) -> Option<Self> {
        let stored = sets.get(offset as usize * 8..)?;
        let (head, rest) = stored.split_first_chunk()?;
        let head = RuleSetHead::decode(head);
        let [states, buckets, wildcards, pattern_bytes] = [
            head.states,
            head.buckets,
            head.wildcards,
            head.pattern_bytes,
        ]
        .map(|number| number as usize);
        let (states, rest) = rest.split_at_checked(states * STATE_LEN)?;
        let (rows, rest) = rest.split_at_checked((buckets + wildcards) * ROW_LEN)?;
        let (packed, rest) = rest.split_at_checked(wildcards * 8)?;
        let (padded, rest) = rest.split_at_checked(pattern_bytes.next_multiple_of(8))?;
        let patterns = padded.get(..pattern_bytes)?;
        let len = stored.len() - rest.len();
        let is_sound = (pattern_bytes <= MAX_PATTERN_BYTES) & (len <= MAX_SET_LEN);
        is_sound.then_some(Self {
            head,
            states: states.as_chunks().0,
            rows: rows.as_chunks().0,
            packed: packed.as_chunks().0,
            patterns,
        })
    }

    /// The literal prefixes.
    #[inline(always)]
    pub(crate) fn prefixes(&self) -> PrefixAutomaton<'a> {
        PrefixAutomaton {
            filter: self.head.filter,
            len: self.head.states as usize,
            states: self.states,
            patterns: self.patterns,
        }
    }

    /// The wildcard rules.
    #[inline(always)]
    pub(crate) fn wildcards(&self) -> WildcardBuckets<'a> {
        WildcardBuckets {
            buckets: self.head.buckets as usize,
            rows: self.rows,
            packed: self.packed,
            patterns: self.patterns,
        }
    }

    /// The number of wildcard rules.
    #[inline(always)]
    pub(super) fn wildcards_len(&self) -> usize {
        self.head.wildcards as usize
    }

    /// The number of states of the automaton.
    #[inline(always)]
    pub(super) fn states_len(&self) -> usize {
        self.head.states as usize
    }

    /// The length in the file.
    #[inline]
    pub(crate) fn encoded_len(&self) -> usize {
        self.head.encoded_len()
    }

    /// The rank of the rule that decides, of the rule set at `offset`, if the first two bytes of a
    /// path tell it: 0 if none does. Reads the head alone, and nothing else of the set is checked.
    #[inline(always)]
    pub(super) fn highest_by_first_bytes(
        sets: &[u8],
        offset: u32,
        candidate: Candidate<'_>,
    ) -> Option<u32> {
        let stored = sets.get(offset as usize * 8..).unwrap_or_default();
        let head = RuleSetHead::decode(stored.first_chunk()?);
        if head.wildcards > 0 {
            None
        } else {
            head.filter.dismiss(candidate.word())
        }
    }

    /// The rank of the highest rule that matches, which decides; 0 if none does.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes contradict each other.
    #[inline(always)]
    pub(crate) fn highest(
        &self,
        candidate: Candidate<'_>,
        signature: &mut PathSignature,
        backend: impl Backend,
    ) -> Result<u32> {
        let found = self
            .prefixes()
            .find(candidate.tail(), candidate.word(), backend)?;
        if self.head.wildcards == 0 {
            return Ok(found.rank);
        }
        self.wildcards()
            .highest(found.bucket, found.rank, candidate.path, signature, backend)
    }

    /// The number of rules.
    pub(crate) fn len(&self) -> usize {
        self.prefixes().literal_rules().count() + self.wildcards_len()
    }

    /// The rules in stored order, each with its pattern: literal rules, then wildcard rules.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a pattern outside of the rule set, and for more or
    /// longer rules than a robots.txt has.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Result<(Vec<u8>, PackedRule)>> {
        let prefixes = self.prefixes();
        let mut budget = TextBudget::default();
        let literal = prefixes.literal_rules().map(move |(state, rule)| {
            budget.take(rule.len)?;
            Ok((prefixes.text(state)?, rule))
        });
        literal.chain(self.wildcard_rules())
    }

    /// The wildcard rules in stored order, each with its pattern. The text does not tell whether a
    /// rule has wildcards: rules of stars alone (`*`, `**`) are stored with an empty pattern. Ends at
    /// the first error.
    ///
    /// # Errors
    /// As [`rules`](Self::rules).
    pub(super) fn wildcard_rules(&self) -> impl Iterator<Item = Result<(Vec<u8>, PackedRule)>> {
        let mut state = 0;
        let mut budget = TextBudget::default();
        let mut buckets = 0..self.head.buckets;
        let by_bucket = std::iter::from_fn(move || {
            let number = buckets.next()?;
            let rules = self.bucket_rules(number, &mut state, &mut budget);
            if rules.is_err() {
                buckets = 0..0;
            }
            Some(rules)
        });
        by_bucket.flat_map(|rules| match rules {
            Ok(rules) => rules.into_iter().map(Ok).collect(),
            Err(err) => vec![Err(err)],
        })
    }

    /// The rules of a bucket. States and buckets are sorted alike, so the search for the state with
    /// the bucket's literal prefix begins at `state`, where the search for that of the previous
    /// bucket ended.
    fn bucket_rules(
        &self,
        number: u32,
        state: &mut usize,
        budget: &mut TextBudget,
    ) -> Result<Vec<(Vec<u8>, PackedRule)>> {
        let (prefixes, wildcards) = (self.prefixes(), self.wildcards());
        let bucket = wildcards.bucket(number)?;
        let prefix = if number == UNANCHORED {
            Vec::new()
        } else {
            *state = (*state..prefixes.len())
                .find(|&state| prefixes.link(state).bucket == number)
                .ok_or_else(|| Error::corrupt("a bucket without a literal prefix"))?;
            prefixes.text(*state)?
        };
        let rules = wildcards.rules_of(number, &bucket).map(|number| {
            let rule = wildcards
                .rule(number)
                .ok_or_else(|| Error::corrupt("a wildcard rule that is not there"))?;
            let stored = rule.stored(wildcards.patterns, bucket.prefix_len as usize)?;
            budget.take(prefix.len() + stored.len())?;
            Ok(([&prefix, stored].concat(), rule))
        });
        rules.collect()
    }
}

impl RuleSet<'_> {
    /// Checks that no two rules share pattern bytes, by the lengths alone. In a forged file, many
    /// rules could refer to the same long pattern, and each would be copied.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if they do, or if some bytes belong to no rule.
    pub(super) fn verify_stored_lengths(&self) -> Result<()> {
        let (prefixes, wildcards) = (self.prefixes(), self.wildcards());
        let mut stored = 0;
        for state in 0..prefixes.len() {
            stored += prefixes
                .packed_rule(state)
                .len
                .saturating_sub(1 + PREFIX_LEN);
        }
        let mut next = 0;
        for number in 0..self.head.buckets {
            let bucket = wildcards.bucket(number)?;
            let rules = wildcards.rules_of(number, &bucket);
            if rules.start != next || rules.end < rules.start {
                return Err(Error::corrupt("wildcard buckets that share rules"));
            }
            next = rules.end;
            for number in rules {
                let len = wildcards.rule(number).map_or(0, |rule| rule.len);
                stored += len.saturating_sub(bucket.prefix_len as usize);
            }
        }
        if stored == self.head.pattern_bytes as usize {
            Ok(())
        } else {
            Err(Error::corrupt(format!(
                "a rule set with {} pattern bytes, whose rules have {stored}",
                self.head.pattern_bytes
            )))
        }
    }
}

/// The bytes that the rules of one set may still have. The rules are those of one robots.txt, but
/// the numbers of a forged file can claim any.
struct TextBudget {
    left: usize,
}

impl Default for TextBudget {
    fn default() -> Self {
        // Each rule takes the bytes of a line too, so the number of short rules is bounded.
        Self {
            left: MAX_PATTERN_BYTES + MAX_BODY,
        }
    }
}

impl TextBudget {
    fn take(&mut self, len: usize) -> Result<()> {
        match self.left.checked_sub(len + MIN_RULE_LINE) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::corrupt(
                "a rule set with more rules than 500 KiB of a robots.txt have",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::build::{CanonicalRule, encode};
    use crate::robots::RuleKind::{self, Allow, Disallow};
    use crate::simd::AnyBackend;

    fn encoded(rules: &[(&str, RuleKind)]) -> Vec<u8> {
        let rules = rules.iter().map(|(text, kind)| CanonicalRule {
            text: text.strip_suffix('$').unwrap_or(text).as_bytes().into(),
            anchored: text.ends_with('$'),
            kind: *kind,
        });
        encode(&rules.collect::<Vec<_>>()).unwrap()
    }

    fn highest(set: &RuleSet<'_>, path: &[u8]) -> Result<u32> {
        set.highest(
            Candidate::new(path),
            &mut PathSignature::new(),
            AnyBackend::detect(),
        )
    }

    fn allows(rules: &[(&str, RuleKind)], path: &str) -> bool {
        let bytes = encoded(rules);
        let set = RuleSet::decode(&bytes, 0).unwrap();
        set.verify(&bytes).unwrap();
        PackedRule::rank_allows(highest(&set, path.as_bytes()).unwrap())
    }

    #[test]
    fn highest_rank_decides_among_literal_and_wildcard_rules() {
        let rules = [
            ("/folder/", Allow),
            ("/*.html", Disallow),
            ("/folder/page*", Disallow),
            ("/folder/page", Allow),
        ];
        assert!(
            allows(&rules, "/folder/x.html"),
            "/folder/ is longer than /*.html"
        );
        assert!(!allows(&rules, "/folder/page"), "a star at the end counts");
        assert!(!allows(&rules, "/x.html"));
        assert!(allows(&rules, "/fold"));
    }

    #[test]
    fn wildcard_rules_are_found_by_their_literal_prefix() {
        // One prefix is a literal rule too, one sorts between two rules, and one is longer than its
        // word.
        let rules = [
            ("/shop", Disallow),
            ("/shop/*/public", Allow),
            ("/shop/$", Allow),
            ("/shop/basket/of/*?id=", Disallow),
            ("/shop/basket/of/", Allow),
            ("/*.pdf$", Disallow),
        ];
        let expected = [
            ("/shop/x", false),
            ("/shop/x/public", true),
            ("/shop/", true),
            ("/shop/basket/of/fruit", true),
            ("/shop/basket/of/fruit?id=1", false),
            ("/shop/basket/of", false),
            ("/shop/basket/of/fruit/public?id=1", false),
            ("/shop/basket/on/fruit/public?id=1", true),
            ("/sho.pdf", false),
            ("/sho/public", true),
        ];
        for (path, allowed) in expected {
            assert_eq!(allows(&rules, path), allowed, "{path}");
        }
    }

    #[test]
    fn short_paths_are_not_taken_for_zero_bytes() {
        assert!(allows(&[("/a\u{1}", Disallow)], "/a"));
        assert!(!allows(&[("/$", Disallow)], "/") && allows(&[("/$", Disallow)], "/a"));
        assert!(!allows(&[("*", Disallow)], "/") && !allows(&[("/abc*$", Disallow)], "/abcd"));
        assert!(allows(&[("/12345678$", Disallow)], "/123456789"));
        assert!(!allows(
            &[(&format!("/a{}", "*".repeat(20)), Disallow)],
            "/a"
        ));
        // The most stars that are not stored, with and without the anchor that they make void.
        for end in ["", "$"] {
            let rule = format!("/a{}{end}", "*".repeat(14));
            assert!(!allows(&[(&rule, Disallow)], "/abc"), "{rule}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = encoded(&[("/a/long/pattern/of/more/than/eight", Disallow)]);
        assert!(RuleSet::decode(&bytes[..bytes.len() - 1], 0).is_err());
        // The head of 32 bytes has the number of pattern bytes in its fourth number. The packed
        // rule of the only state follows the word.
        let with = |bytes: &[u8], at: usize, byte: u8| {
            let mut bytes = bytes.to_vec();
            bytes[at] = byte;
            bytes
        };
        assert!(
            RuleSet::decode(&with(&bytes, 14, 0xff), 0).is_err(),
            "more patterns than a robots.txt has"
        );
        let outside = with(&bytes, 32 + 8, 100);
        let set = RuleSet::decode(&outside, 0).unwrap();
        assert!(highest(&set, b"/a/long/pattern/of/more/than/eight").is_err());
        // The state `/a/`: word, packed rule, link (the number of its bucket begins at bit 22);
        // then the buckets, unanchored and `/a/`: first rule, length of the prefix, best rank,
        // parent.
        let bytes = encoded(&[("/a/*b", Disallow)]);
        let highest_with = |at: usize, byte: u8| {
            let bytes = with(&bytes, at, byte);
            let set = RuleSet::decode(&bytes, 0).unwrap();
            highest(&set, b"/a/b")
        };
        let (link, bucket) = (32 + 16, 32 + 24 + 16);
        assert!(highest_with(bucket, bytes[bucket]).unwrap() > 0);
        assert!(
            highest_with(bucket, 200).is_err(),
            "a bucket of rules that are not there"
        );
        assert!(
            highest_with(link + 3, 0xff).is_err(),
            "a bucket that is not there"
        );
        assert!(RuleSet::decode(&bytes, u32::MAX).is_err());
    }

    /// A set of these parts, which a forger need not encode as the rules do. A state is a word, a
    /// packed rule and a link.
    fn forged(
        states: &[[u64; 3]],
        buckets: &[[u32; 4]],
        wildcards: &[u64],
        text: &[u8],
    ) -> Vec<u8> {
        let head = RuleSetHead {
            states: states.len() as u32,
            buckets: buckets.len() as u32,
            wildcards: wildcards.len() as u32,
            pattern_bytes: text.len() as u32,
            filter: FirstByteFilter {
                root_rank: 0,
                firsts: u64::MAX,
                seconds: u64::MAX,
            },
        };
        let mut out = Vec::new();
        head.encode(&mut out);
        for part in 0..3 {
            out.extend(states.iter().flat_map(|state| state[part].to_le_bytes()));
        }
        out.extend(
            buckets
                .as_flattened()
                .iter()
                .flat_map(|number| number.to_le_bytes()),
        );
        out.resize(out.len() + wildcards.len() * ROW_LEN, 0);
        out.extend(wildcards.iter().flat_map(|rule| rule.to_le_bytes()));
        out.extend_from_slice(text);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    /// A packed rule of this length, whose pattern begins at offset 0.
    fn packed(len: usize, is_prefix_only: bool) -> u64 {
        PackedRule {
            offset: 0,
            len,
            extra: 0,
            allow: false,
            anchored: false,
            is_prefix_only,
        }
        .encode()
    }

    const WORD: u64 = u64::from_be_bytes(*b"aaaaaaaa");
    const NO_LINK: u64 = (1 << 22) - 1;

    #[test]
    fn rules_end_at_the_bytes_of_a_robots_txt() {
        // Both sets have some 70 KB, and 13 MB of rules that share their patterns.
        let text = [b'b'; 65_526];
        let literal = forged(
            &[[WORD, packed(65_535, false), NO_LINK]; 200],
            &[],
            &[],
            &text,
        );
        let wildcards = forged(&[], &[[0, 0, 0, 0]], &[packed(65_526, false); 200], &text);
        for bytes in [literal, wildcards] {
            let set = RuleSet::decode(&bytes, 0).unwrap();
            let mut read = 0;
            let failed = set.rules().find_map(|rule| match rule {
                Ok((text, _)) => {
                    read += text.len();
                    None
                }
                Err(err) => Some(err.to_string()),
            });
            assert!(failed.is_some_and(|err| err.contains("more rules than")));
            assert!(read < MAX_PATTERN_BYTES + MAX_BODY, "{read}");
            let err = set.verify(&bytes).unwrap_err().to_string();
            assert!(err.contains("65526 pattern bytes"), "{err}");
        }
    }

    #[test]
    fn empty_rules_end_too() {
        // Every other bucket has all rules.
        let buckets: Vec<[u32; 4]> = (0..2000)
            .map(|number| [number % 2 * 1000, 0, 0, 0])
            .collect();
        let links = |number: u64| [number, packed(1, true), NO_LINK | number << 22];
        let states: Vec<[u64; 3]> = (1..2000).map(links).collect();
        let bytes = forged(&states, &buckets, &[packed(0, false); 1000], b"");
        let set = RuleSet::decode(&bytes, 0).unwrap();
        assert!(set.rules().count() < 500_000);
        let err = set.verify(&bytes).unwrap_err().to_string();
        assert!(err.contains("share rules"), "{err}");
    }

    #[test]
    fn larger_sets_and_unions_than_of_a_robots_txt_are_refused() {
        let claims = |states: u32| {
            let mut bytes = forged(&[], &[], &[], b"");
            bytes[..4].copy_from_slice(&states.to_le_bytes());
            bytes.resize(24 * 1_000_000, 0);
            RuleSet::decode(&bytes, 0)
                .map(drop)
                .map_err(|err| err.to_string())
        };
        assert_eq!(claims(100_000), Ok(()));
        assert!(claims(400_000).unwrap_err().contains("over 8 MB"));
        let paths = |len: usize| {
            let mut bytes = forged(&[], &[], &[], b"");
            bytes[12..16].copy_from_slice(&(len as u32).to_le_bytes());
            bytes.resize(RuleSet::HEAD_LEN + len.next_multiple_of(8), 0);
            RuleSet::decode(&bytes, 0)
                .map(drop)
                .map_err(|err| err.to_string())
        };
        assert_eq!(paths(MAX_PATTERN_BYTES), Ok(()));
        assert!(
            paths(MAX_PATTERN_BYTES + 1)
                .unwrap_err()
                .contains("over 3 MB of paths")
        );
        let union = |members: usize| {
            let bytes = crate::matcher::build::encode_union(&vec![0; members]);
            Rules::decode(&bytes, 0)
                .map(drop)
                .map_err(|err| err.to_string())
        };
        assert_eq!(union(MAX_UNION), Ok(()));
        assert!(
            union(MAX_UNION + 1)
                .unwrap_err()
                .contains("25601 rule sets")
        );
    }

    #[test]
    fn lengths_are_those_of_the_encoding() {
        let sets = [encoded(&[]), encoded(&[("/a", Disallow), ("/b*c", Allow)])];
        let unions = (0..10).map(|members| crate::matcher::build::encode_union(&vec![7; members]));
        for bytes in unions.chain(sets) {
            let rules = Rules::decode(&bytes, 0).unwrap();
            assert_eq!(rules.encoded_len(), bytes.len());
        }
    }

    #[test]
    fn longer_rules_than_of_a_robots_txt_are_not_encoded() {
        // 48 states, each with 64,000 bytes after its word.
        let mut texts: Vec<String> = (10..58)
            .map(|number| format!("/{number}{:a<64006}", ""))
            .collect();
        let encoded_len = |texts: &[String]| {
            let rules = texts.iter().map(|text| CanonicalRule {
                text: text.as_bytes().into(),
                anchored: false,
                kind: Disallow,
            });
            encode(&rules.collect::<Vec<_>>()).map(|bytes| bytes.len())
        };
        assert!(encoded_len(&texts).unwrap() > MAX_PATTERN_BYTES);
        texts.push("/123456789".to_owned());
        let err = encoded_len(&texts).unwrap_err().to_string();
        assert!(err.contains("over 3 MB of paths"), "{err}");
    }

    #[test]
    fn searches_follow_no_more_links_than_prefixes_nest() {
        // No state is a prefix of the path, and each is linked to the one before it.
        let chain = |count: u64| {
            let link = |number: u64| number.checked_sub(1).unwrap_or(NO_LINK);
            let states: Vec<[u64; 3]> = (0..count)
                .map(|number| [WORD, packed(100, false), link(number)])
                .collect();
            let bytes = forged(&states, &[], &[], &[b'A'; 100]);
            highest(&RuleSet::decode(&bytes, 0).unwrap(), b"/aaaaaaaaB")
        };
        assert_eq!(chain(4000).unwrap(), 0);
        assert!(
            chain(5000)
                .unwrap_err()
                .to_string()
                .contains("a chain of prefix links")
        );
        let deep = |count: u32| {
            let buckets: Vec<[u32; 4]> = (0..count)
                .map(|number| [0, 1, 0, number.saturating_sub(1)])
                .collect();
            let link = NO_LINK | u64::from(count - 1) << 22;
            let bytes = forged(
                &[[0, packed(1, true), link]],
                &buckets,
                &[packed(2, false)],
                b"*b",
            );
            highest(&RuleSet::decode(&bytes, 0).unwrap(), b"/a")
        };
        assert_eq!(deep(4000).unwrap(), 0);
        assert!(
            deep(5000)
                .unwrap_err()
                .to_string()
                .contains("a chain of wildcard buckets")
        );
    }

    #[test]
    fn the_deepest_nested_rules_are_matched() {
        // Half of the bytes that the rules of a robots.txt have.
        let longest = "a".repeat(1700);
        let texts: Vec<String> = (0..=longest.len())
            .map(|len| format!("/{}", &longest[..len]))
            .collect();
        let rules: Vec<(&str, RuleKind)> = texts.iter().map(|text| (&**text, Disallow)).collect();
        let bytes = encoded(&rules);
        let set = RuleSet::decode(&bytes, 0).unwrap();
        set.verify(&bytes).unwrap();
        let path = format!("/{longest}b");
        assert_eq!(
            highest(&set, path.as_bytes()).unwrap(),
            2 * (longest.len() as u32 + 1)
        );
        // This path is before the deepest states, so the search follows all links.
        assert_eq!(highest(&set, b"/aaaaaaaaab").unwrap(), 2 * 10);
    }

    #[test]
    fn searches_read_each_rule_once() {
        let rank = 1000;
        let search = |buckets: &[[u32; 4]], wildcards: usize| {
            let link = NO_LINK | (buckets.len() as u64 - 1) << 22;
            let state = [0, packed(1, true), link];
            let rules = vec![packed(3, false); wildcards];
            let bytes = forged(&[state], buckets, &rules, b"*bc");
            highest(&RuleSet::decode(&bytes, 0).unwrap(), b"/a").map_err(|err| err.to_string())
        };
        assert_eq!(search(&[[0, 0, rank, 0]], 1), Ok(0));
        assert!(
            search(&[[0, 0, rank, 0]], 2)
                .unwrap_err()
                .contains("share their patterns")
        );
        // The bucket in the middle has no rules that are there, and is skipped.
        let twice = [[0, 0, rank, 0], [1, 0, 0, 0], [0, 0, rank, 0]];
        assert!(search(&twice, 1).unwrap_err().contains("share rules"));
    }

    #[test]
    fn only_what_words_have_no_room_for_is_stored() {
        let set = |rules: &[(&str, RuleKind)]| {
            let bytes = encoded(rules);
            let set = RuleSet::decode(&bytes, 0).unwrap();
            String::from_utf8(set.patterns.to_vec()).unwrap()
        };
        assert_eq!(set(&[("/12345678", Disallow)]), "");
        assert_eq!(
            set(&[("/123456789ab", Disallow), ("/123456789", Allow)]),
            "99ab"
        );
        assert_eq!(
            set(&[
                ("/123456789/*.x", Disallow),
                ("/*.y", Allow),
                ("*", Disallow)
            ]),
            "9//*.y*.x"
        );
    }
}
