//! The search for the entry of a host that decides about a path: the longest pattern.
//!
//! The entries of a host are rule sets of the matcher, one for each scheme and port. The rank of a rule
//! set's answer tells the length of the pattern, by which a binary search finds the entry.

use super::decision::{EntryPlace, ListDecision};
use super::format::{
    HOST_PATHS_LEN, HostPathsRow, PATH_ENTRY_LEN, PATH_GROUP_LEN, PathEntryRow, PathGroupRow,
};
use super::read::{FilterLists, OriginEntries};
use crate::bytes::wire::{bytes, u32_at};
use crate::error::{Error, Result};
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::rule_set::RuleSet;
use crate::matcher::wildcard;
use crate::matcher::{Candidate, PathSignature};
use crate::profile::Profile;
use crate::simd::AnyBackend;
use crate::snapshot::format::Section;
use crate::snapshot::section_file::SectionFile;
use crate::url::default_port;
use crate::url::escape::normalize_path;
use std::borrow::Cow;
use std::ops::Range;

/// A host of an origin with entries for paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostPaths {
    pub host: u32,
    /// Whether it is the host of the origin, not a domain that has it.
    pub is_whole: bool,
}

/// The parts of the key of an origin that entries are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct OriginParts<'o> {
    pub scheme: &'o [u8],
    /// Without a dot at its end.
    pub host: &'o [u8],
    /// The port that the key has.
    pub port: Option<u16>,
}

impl<'o> OriginParts<'o> {
    /// The parts of a canonical key.
    pub(super) fn of(key: &'o [u8]) -> Option<Self> {
        let scheme_end = memchr::memmem::find(key, b"://")?;
        let scheme = key.get(..scheme_end)?;
        let authority = key.get(scheme_end + 3..)?;
        // Colons within an IPv6 address are before its bracket.
        let port_at = match memchr::memrchr(b']', authority) {
            Some(bracket) => bracket + 1,
            None => memchr::memchr(b':', authority).unwrap_or(authority.len()),
        };
        let (host, port) = authority.split_at_checked(port_at)?;
        let digits = port.strip_prefix(b":");
        let port = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Some(Self {
            scheme,
            host: host.strip_suffix(b".").unwrap_or(host),
            port,
        })
    }

    /// Whether a group of rules counts for URLs of this origin.
    fn is_in(&self, group: &PathGroupRow) -> bool {
        let port = Some(group.port).filter(|port| *port != 0);
        match group.scheme.name() {
            Some(scheme) => scheme.as_bytes() == self.scheme && port == self.port,
            None => {
                let own = self.port.or_else(|| default_port(self.scheme));
                port.is_none() || port == own
            }
        }
    }
}

impl FilterLists {
    /// The entry that decides about a path in normal form, of the origin with a canonical key.
    pub(crate) fn decide(
        &self,
        origin: &[u8],
        entries: &OriginEntries,
        path: &[u8],
    ) -> Result<Option<ListDecision>> {
        self.search_paths(origin, entries, path)
            .map_err(|err| self.damage(err))
    }

    /// The search in the hosts with entries for paths, from the most labels on.
    fn search_paths(
        &self,
        origin: &[u8],
        entries: &OriginEntries,
        path: &[u8],
    ) -> Result<Option<ListDecision>> {
        let Some(origin) = OriginParts::of(origin).filter(|_| !entries.paths.is_empty()) else {
            return Ok(entries.whole);
        };
        let mut budget = SearchBudget::new(&self.file);
        for host in &entries.paths {
            if let Some(decision) = self.decide_by_paths(&origin, *host, path, &mut budget)? {
                return Ok(Some(decision));
            }
        }
        Ok(entries.whole)
    }

    /// The entry of a host that decides about a path: the longest pattern of all groups that count.
    fn decide_by_paths(
        &self,
        origin: &OriginParts<'_>,
        host: HostPaths,
        path: &[u8],
        budget: &mut SearchBudget,
    ) -> Result<Option<ListDecision>> {
        let groups = self.groups_of(host.host)?;
        let rules = self.file.section(Section::PathRules);
        let mut signature = PathSignature::new();
        let mut highest = 0;
        let mut deciding = Vec::new();
        for number in groups {
            let group = PathGroupRow::decode(self.file.section(Section::PathGroups), number)?;
            budget.take_group()?;
            if !(group.is_domain || host.is_whole) || !origin.is_in(&group) {
                continue;
            }
            let set = RuleSet::decode(rules, group.rules)?;
            budget.take_rules(&set)?;
            let rank = set.highest(Candidate::new(path), &mut signature, AnyBackend::detect())?;
            if rank > highest {
                highest = rank;
                deciding.clear();
            }
            if rank == highest && rank > 0 {
                deciding.push(number);
            }
        }
        if highest == 0 {
            return Ok(None);
        }
        let mut first: Option<ListDecision> = None;
        for group in deciding {
            for found in self.entries_with_rank(host.host, group, highest, path, budget)? {
                let is_earlier = match &first {
                    Some(other) => self.first_list(found.set)? < self.first_list(other.set)?,
                    None => true,
                };
                if is_earlier {
                    first = Some(found);
                }
            }
        }
        first
            .map(Some)
            .ok_or_else(|| Error::corrupt("a rule for paths has no entry"))
    }

    /// The entries of a group with a rank that match a path: at least the one that has the rank.
    fn entries_with_rank(
        &self,
        host: u32,
        group: u32,
        rank: u32,
        path: &[u8],
        budget: &mut SearchBudget,
    ) -> Result<Vec<ListDecision>> {
        let groups = self.file.section(Section::PathGroups);
        let row = PathGroupRow::decode(groups, group)?;
        let end = PathGroupRow::decode(groups, group + 1)?.first_entry;
        let priority = (rank / 2) as usize;
        // A pattern without wildcards is the start of the path or, with an anchor, all of it.
        let whole = Some(path).filter(|path| path.len() + 1 == priority);
        let texts = match row.has_wildcards {
            true => [Some(&b""[..]), None],
            false => [path.get(..priority), whole],
        };
        let mut found = Vec::new();
        for text in texts.into_iter().flatten() {
            let first = self.lower_bound(row.first_entry..end, priority, text, budget)?;
            for entry in first..end {
                let pattern = self.path_pattern(entry)?;
                budget.take_pattern(&pattern)?;
                let is_beyond = !row.has_wildcards && pattern.text != text;
                if pattern.priority() != priority || is_beyond {
                    break;
                }
                let is_of_kind = pattern.row.is_exception == PackedRule::rank_allows(rank);
                if is_of_kind && pattern.matches(path) {
                    found.push(ListDecision {
                        is_exception: pattern.row.is_exception,
                        set: pattern.row.set,
                        entry: EntryPlace::Path { host, group, entry },
                    });
                }
            }
        }
        Ok(found)
    }

    /// The first of these entries that is not before a priority and a text: the entries of a group
    /// ascend by them.
    fn lower_bound(
        &self,
        entries: Range<u32>,
        priority: usize,
        text: &[u8],
        budget: &mut SearchBudget,
    ) -> Result<u32> {
        let (mut low, mut high) = (entries.start, entries.end.max(entries.start));
        while low < high {
            let middle = low + (high - low) / 2;
            let pattern = self.path_pattern(middle)?;
            budget.take_pattern(&pattern)?;
            if (pattern.priority(), pattern.text) < (priority, text) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The groups of a host with entries for paths.
    pub(super) fn groups_of(&self, host: u32) -> Result<Range<u32>> {
        let rows = self.file.section(Section::HostPaths);
        let (mut low, mut high) = (0, (rows.len() / HOST_PATHS_LEN).saturating_sub(1));
        while low < high {
            let middle = low + (high - low) / 2;
            if HostPathsRow::decode(rows, middle)?.host < host {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let row = HostPathsRow::decode(rows, low)?;
        if row.host != host {
            return Err(Error::corrupt("a host without its paths"));
        }
        let next = HostPathsRow::decode(rows, low + 1)?;
        Ok(row.first_group..next.first_group)
    }

    /// The pattern of an entry for paths.
    pub(super) fn path_pattern(&self, entry: u32) -> Result<PathPattern<'_>> {
        let rows = self.file.section(Section::PathEntries);
        let row = PathEntryRow::decode(rows, entry)?;
        let end = u32_at(
            rows,
            (entry as usize)
                .saturating_add(1)
                .saturating_mul(PATH_ENTRY_LEN),
            "the end of a path",
        )?;
        let texts = self.file.section(Section::PathTexts);
        let len = (end as usize).saturating_sub(row.text as usize);
        Ok(PathPattern {
            text: bytes(texts, row.text as usize, len, "the text of a path")?,
            row,
        })
    }
}

/// The pattern of an entry for paths.
pub(super) struct PathPattern<'f> {
    pub text: &'f [u8],
    pub row: PathEntryRow,
}

impl PathPattern<'_> {
    pub(super) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.row.is_anchored)
    }

    fn matches(&self, path: &[u8]) -> bool {
        wildcard::matches(self.text, self.row.is_anchored, path)
    }
}

/// What the search for one URL may still read of the rules for paths.
///
/// It reads each group and its rule set once. In a forged file, many groups could refer to the same
/// large rule set, to the same entries or to the same texts: a megabyte took seconds for each URL.
struct SearchBudget {
    groups: usize,
    rule_bytes: usize,
    pattern_bytes: usize,
}

impl SearchBudget {
    /// The most often that an entry is read: by two binary searches, and from where each ends.
    const READS: usize = 4;

    fn new(file: &SectionFile) -> Self {
        let entries = file.section(Section::PathEntries).len();
        let texts = file.section(Section::PathTexts).len();
        Self {
            groups: file.section(Section::PathGroups).len() / PATH_GROUP_LEN,
            rule_bytes: file.section(Section::PathRules).len(),
            pattern_bytes: entries.saturating_add(texts).saturating_mul(Self::READS),
        }
    }

    fn take_group(&mut self) -> Result<()> {
        take(&mut self.groups, 1, "groups")
    }

    fn take_rules(&mut self, set: &RuleSet<'_>) -> Result<()> {
        take(&mut self.rule_bytes, set.encoded_len(), "rule sets")
    }

    fn take_pattern(&mut self, pattern: &PathPattern<'_>) -> Result<()> {
        let len = PATH_ENTRY_LEN.saturating_add(pattern.text.len());
        take(&mut self.pattern_bytes, len, "entries")
    }
}

fn take(left: &mut usize, amount: usize, what: &str) -> Result<()> {
    match left.checked_sub(amount) {
        Some(rest) => *left = rest,
        None => {
            return Err(Error::corrupt(format!(
                "hosts or groups share {what} for paths"
            )));
        }
    }
    Ok(())
}

/// The rest of a URL after its origin, with or without a fragment, as a path in the normal form that
/// entries are compared with.
pub(crate) fn list_path(rest: &[u8]) -> Cow<'_, [u8]> {
    let path = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    match path.first() {
        None => Cow::Borrowed(b"/"),
        Some(b'/') => normalize_path(path, Profile::Google),
        Some(_) => {
            let path = [b"/", path].concat();
            Cow::Owned(normalize_path(&path, Profile::Google).into_owned())
        }
    }
}
