//! The contents of a snapshot, as its writer takes them.

use crate::digest::{Digest, digest};
use crate::error::Result;
use crate::matcher::rule_set::RuleSet;
use crate::snapshot::format::{FILE_LEN, NAMED_LEN};
use crate::snapshot::outcome::Outcome;
use std::borrow::Cow;

/// One origin; files by number.
pub(crate) struct OriginContents<'a> {
    pub key: &'a [u8],
    pub outcome: &'a Outcome,
    pub file: Option<u32>,
    pub last_good: Option<u32>,
    pub source: Option<&'a [u8]>,
    pub detail: Option<&'a [u8]>,
    /// The digest that the archive states for the file, or for the last good copy.
    pub payload: Option<Digest>,
    pub earlier_redirect: Option<EarlierRedirect<'a>>,
}

/// The redirects that preceded the failures of an origin without a last good copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlierRedirect<'a> {
    /// The status at their end.
    pub status: u16,
    /// The canonical URL of their end. `None` for a redirect without a target.
    pub end: Option<&'a [u8]>,
    /// The redirects to the end.
    pub hops: u8,
}

/// One robots.txt. Inherited parts are borrowed from the previous snapshot.
#[derive(Debug)]
pub(crate) struct FileContents<'p> {
    /// The compressed condensed text.
    pub frame: Cow<'p, [u8]>,
    /// The rules of all agents, each once.
    pub rules: Vec<RulesContents<'p>>,
    /// For all agents that are not named; an index into `rules`.
    pub global: Option<usize>,
    /// Sorted by name.
    pub named: Vec<NamedContents<'p>>,
}

impl FileContents<'_> {
    /// The bytes of its rules, and of the rows that refer to them, if no other file has the same.
    pub(crate) fn encoded_len(&self) -> usize {
        let rules: usize = self.rules.iter().map(RulesContents::encoded_len).sum();
        rules + FILE_LEN + self.named.len() * NAMED_LEN
    }
}

/// A named agent of a robots.txt.
#[derive(Debug)]
pub(crate) struct NamedContents<'p> {
    pub name: Cow<'p, [u8]>,
    /// An index into the rules of the file.
    pub rules: usize,
}

/// The rules of one or more agent names.
#[derive(Debug)]
pub(crate) enum RulesContents<'p> {
    Set(DigestedSet<'p>),
    /// Rule sets that are judged together.
    Union(Vec<DigestedSet<'p>>),
    /// Rules of an earlier file, at this offset.
    Offset(u32),
}

impl RulesContents<'_> {
    /// The bytes of the rules; none for those of an earlier file.
    fn encoded_len(&self) -> usize {
        match self {
            Self::Set(set) => set.encoded.len(),
            Self::Union(sets) => sets.iter().map(|set| set.encoded.len() + 4).sum(),
            Self::Offset(_) => 0,
        }
    }
}

/// An encoded rule set. Its digest stands for it, so that the writer keeps no rules.
#[derive(Debug)]
pub(crate) struct DigestedSet<'p> {
    pub digest: Digest,
    pub encoded: Cow<'p, [u8]>,
}

impl<'p> DigestedSet<'p> {
    pub(crate) fn new(encoded: impl Into<Cow<'p, [u8]>>) -> Self {
        let encoded = encoded.into();
        Self {
            digest: digest(&encoded),
            encoded,
        }
    }

    /// The number of rules.
    pub(crate) fn rule_count(&self) -> Result<u64> {
        Ok(RuleSet::decode(&self.encoded, 0)?.len() as u64)
    }
}
