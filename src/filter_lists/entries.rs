//! The entries of all lists in memory, as they are sorted: those for whole hosts, and those for paths.
//!
//! A text may repeat entries, so equal ones are dropped whenever there are many.

use super::entry::{Entry, Scope};
use super::format::{LABEL_END, PathGroupRow, Scheme, stored_form};
use super::paths::PathPattern;
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::simd;
use rayon::prelude::*;

/// Entries for whole hosts and for paths.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub hosts: HostEntries,
    pub paths: PathEntries,
}

impl Entries {
    pub(super) fn push(&mut self, entry: &Entry<'_>, list: u16) {
        if entry.path.is_none() && entry.scheme.is_none() && entry.port.is_none() {
            self.hosts.push(entry, list);
        } else {
            self.paths.push(PathEntry::of(entry, list));
        }
    }

    pub(super) fn append(&mut self, part: Self) {
        self.hosts.append(part.hosts);
        self.paths.append(part.paths);
    }

    pub(super) fn compact(&mut self) {
        self.hosts.compact();
        self.paths.compact();
    }
}

/// The entries for whole hosts. A text may repeat one entry, so equal ones are dropped whenever there
/// are many: memory depends on the distinct entries.
#[derive(Debug, Default)]
pub(super) struct HostEntries {
    pub entries: Vec<HostEntry>,
    /// The stored forms of their hosts, one after the other.
    pub texts: Vec<u8>,
    /// The number of entries that the last compaction left.
    compacted: usize,
    /// The bytes of `texts` that it left.
    compacted_bytes: usize,
}

/// The entries for paths.
#[derive(Debug, Default)]
pub(super) struct PathEntries {
    pub entries: Vec<PathEntry>,
    /// The bytes of their hosts and patterns.
    bytes: usize,
    /// As in [`HostEntries`].
    compacted: usize,
    compacted_bytes: usize,
}

/// As many entries are sorted at once. So lists of a few million, which hardly repeat entries, are
/// sorted once, at the end.
const COMPACTED_HOSTS: usize = if cfg!(test) { 16 } else { 8 << 20 };
const COMPACTED_PATHS: usize = if cfg!(test) { 8 } else { 1 << 20 };
/// Or as many bytes of them: a path may have 64 KiB.
pub(super) const COMPACTED_BYTES: usize = if cfg!(test) { 64 } else { 128 << 20 };

/// An entry for a whole host.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostEntry {
    /// The [`sort_key`] of the stored form.
    start: u128,
    /// The offset of the stored form in `texts`.
    pub text: u64,
    len: u8,
    pub kind: HostKind,
    pub list: u16,
}

/// What sorts entries for whole hosts before their lists.
type HostKey<'t> = (u128, &'t [u8], HostKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostKind {
    Domain,
    DomainException,
    Host,
    HostException,
}

/// An entry for paths of a host, or for one scheme or port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathEntry {
    /// In its stored form.
    pub host: Vec<u8>,
    pub is_domain: bool,
    pub scheme: Scheme,
    pub port: u16,
    pub has_wildcards: bool,
    priority: usize,
    pub text: Vec<u8>,
    pub is_anchored: bool,
    /// An allow sorts before a disallow with the same pattern.
    pub is_listed: bool,
    pub list: u16,
}

impl HostEntries {
    pub(super) fn push(&mut self, entry: &Entry<'_>, list: u16) {
        let kind = match (entry.scope, entry.is_exception) {
            (Scope::Domain, false) => HostKind::Domain,
            (Scope::Domain, true) => HostKind::DomainException,
            (Scope::Host, false) => HostKind::Host,
            (Scope::Host, true) => HostKind::HostException,
        };
        self.push_stored(stored_form(entry.host), kind, list);
    }

    /// Adds an entry for the host with a stored form.
    pub(super) fn push_stored(
        &mut self,
        stored: impl Iterator<Item = u8>,
        kind: HostKind,
        list: u16,
    ) {
        let entry = HostEntry::new(stored, kind, list, &mut self.texts);
        self.entries.push(entry);
        self.compact_if_due();
    }

    /// Adds the entries of another part of the lists.
    pub(super) fn append(&mut self, part: Self) {
        let start = self.texts.len() as u64;
        self.texts.extend_from_slice(&part.texts);
        self.entries
            .extend(part.entries.into_iter().map(|entry| HostEntry {
                text: start + entry.text,
                ..entry
            }));
        self.compact_if_due();
    }

    fn compact_if_due(&mut self) {
        if self.entries.len() >= COMPACTED_HOSTS.max(2 * self.compacted)
            || self.texts.len() >= COMPACTED_BYTES.max(2 * self.compacted_bytes)
        {
            self.compact();
        }
    }

    /// Sorts the entries, drops equal ones, and puts the texts in their order.
    pub(super) fn compact(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        self.entries.par_sort_unstable_by(|a, b| {
            let by_start = a.start.cmp(&b.start);
            let by_text = by_start.then_with(|| a.stored(&texts).cmp(b.stored(&texts)));
            by_text.then_with(|| (a.kind, a.list).cmp(&(b.kind, b.list)))
        });
        self.entries.dedup_by(|a, b| {
            (a.start, a.kind, a.list) == (b.start, b.kind, b.list)
                && a.stored(&texts) == b.stored(&texts)
        });
        self.texts = order_texts(&texts, &mut self.entries);
        self.compacted = self.entries.len();
        self.compacted_bytes = self.texts.len();
    }

    /// Removes the entries that equal one of `cancelled`, of whatever list. Both are compacted, and
    /// the cancelled entries are of list 0.
    pub(super) fn remove(&mut self, cancelled: &Self) {
        let texts = &self.texts;
        self.entries
            .retain(|entry| !cancelled.has(entry.key(texts)));
    }

    fn has(&self, key: HostKey<'_>) -> bool {
        let found = self
            .entries
            .binary_search_by(|entry| entry.key(&self.texts).cmp(&key));
        found.is_ok()
    }
}

/// How many entries before its use a text is prefetched.
const PREFETCH_DISTANCE: usize = 32;

/// The texts of sorted entries in their order, so that the next pass over the entries reads memory
/// from its start to its end. Each text is a cache miss here, which all threads share.
fn order_texts(texts: &[u8], entries: &mut [HostEntry]) -> Vec<u8> {
    const ENTRIES_PER_TASK: usize = 16 << 10;
    let len = entries.iter().map(|entry| usize::from(entry.len)).sum();
    let mut ordered = vec![0; len];
    let mut tasks = Vec::new();
    let mut rest = &mut ordered[..];
    let mut start = 0;
    for entries in entries.chunks_mut(ENTRIES_PER_TASK) {
        let len = entries.iter().map(|entry| usize::from(entry.len)).sum();
        let (own, later) = rest.split_at_mut(len);
        tasks.push((entries, own, start));
        rest = later;
        start += len as u64;
    }
    tasks
        .into_par_iter()
        .for_each(|(entries, mut own, mut start)| {
            for at in 0..entries.len() {
                if let Some(later) = entries.get(at + PREFETCH_DISTANCE)
                    && let Some(text) = texts.get(later.text as usize)
                {
                    simd::prefetch(text);
                }
                let entry = &mut entries[at];
                let (text, later) = own.split_at_mut(usize::from(entry.len));
                text.copy_from_slice(entry.stored(texts));
                own = later;
                entry.text = start;
                start += u64::from(entry.len);
            }
        });
    ordered
}

impl PathEntries {
    pub(super) fn push(&mut self, entry: PathEntry) {
        self.bytes += entry.byte_len();
        self.entries.push(entry);
        self.compact_if_due();
    }

    /// Adds the entries of another part of the lists.
    pub(super) fn append(&mut self, part: Self) {
        self.bytes += part.bytes;
        self.entries.extend(part.entries);
        self.compact_if_due();
    }

    fn compact_if_due(&mut self) {
        if self.entries.len() >= COMPACTED_PATHS.max(2 * self.compacted)
            || self.bytes >= COMPACTED_BYTES.max(2 * self.compacted_bytes)
        {
            self.compact();
        }
    }

    /// Removes the entries that equal one of `cancelled`, of whatever list. Both are compacted, and
    /// the cancelled entries are of list 0.
    pub(super) fn remove(&mut self, cancelled: &Self) {
        self.entries.retain(|entry| !cancelled.has(entry));
    }

    fn has(&self, entry: &PathEntry) -> bool {
        // An equal entry of list 0 is the last one up to this.
        let end = self.entries.partition_point(|own| own <= entry);
        let last = self.entries[..end].last();
        last.is_some_and(|last| last.is_same(entry))
    }

    /// Sorts the entries, and drops equal ones.
    pub(super) fn compact(&mut self) {
        self.entries.par_sort_unstable();
        self.entries.dedup();
        self.bytes = self.entries.iter().map(PathEntry::byte_len).sum();
        self.compacted = self.entries.len();
        self.compacted_bytes = self.bytes;
    }
}

impl HostEntry {
    fn new(
        stored: impl Iterator<Item = u8>,
        kind: HostKind,
        list: u16,
        texts: &mut Vec<u8>,
    ) -> Self {
        let text = texts.len();
        texts.extend(stored);
        Self {
            start: sort_key(&texts[text..]),
            text: text as u64,
            // Entries have at most 253 bytes of it.
            len: (texts.len() - text) as u8,
            kind,
            list,
        }
    }

    fn key<'t>(&self, texts: &'t [u8]) -> HostKey<'t> {
        (self.start, self.stored(texts), self.kind)
    }

    pub(super) fn stored<'t>(&self, texts: &'t [u8]) -> &'t [u8] {
        texts
            .get(self.text as usize..self.text as usize + usize::from(self.len))
            .unwrap_or_default()
    }
}

/// Whether the parser of entries lets a host with this byte of its stored form through.
pub(super) fn is_stored_byte(byte: u8) -> bool {
    matches!(byte, LABEL_END | b'a'..=b'z' | b'0'..=b'9') || b"-.:[]_".contains(&byte)
}

/// The first 21 bytes of a stored form, in six bits each and in their order: hosts have 41 different
/// bytes. They decide nearly all comparisons, so the sort reads few texts, each a cache miss.
fn sort_key(stored: &[u8]) -> u128 {
    let mut key = 0;
    for at in 0..21 {
        let code = stored.get(at).map_or(0, |b| match b {
            &LABEL_END => 1,
            b'-' => 2,
            b'.' => 3,
            b'0'..=b'9' => 4 + b - b'0',
            b':' => 14,
            b'[' => 15,
            b']' => 16,
            b'_' => 17,
            b'a'..=b'z' => 18 + b - b'a',
            // No entry has another byte ([`is_stored_byte`]).
            _ => 63,
        });
        key = key << 6 | u128::from(code);
    }
    key
}

impl PathEntry {
    /// The bytes of its host and its pattern.
    fn byte_len(&self) -> usize {
        self.host.len() + self.text.len()
    }

    pub(super) fn of(entry: &Entry<'_>, list: u16) -> Self {
        let path = entry.path.unwrap_or(b"/");
        let pattern = Pattern::of_rule(path, entry.is_exception, Profile::Google).pattern;
        Self {
            host: stored_form(entry.host).collect(),
            is_domain: entry.scope == Scope::Domain,
            scheme: entry.scheme.and_then(Scheme::of).unwrap_or(Scheme::ANY),
            port: entry.port.unwrap_or(0),
            has_wildcards: pattern.text.contains(&b'*'),
            priority: pattern.priority(),
            is_anchored: pattern.anchored,
            text: pattern.text.to_vec(),
            is_listed: !entry.is_exception,
            list,
        }
    }

    /// The entry of a pattern in a group of a compiled file.
    pub(super) fn of_pattern(
        host: Vec<u8>,
        group: &PathGroupRow,
        pattern: &PathPattern<'_>,
        list: u16,
    ) -> Self {
        Self {
            host,
            is_domain: group.is_domain,
            scheme: group.scheme,
            port: group.port,
            has_wildcards: group.has_wildcards,
            priority: pattern.priority(),
            text: pattern.text.to_vec(),
            is_anchored: pattern.row.is_anchored,
            is_listed: !pattern.row.is_exception,
            list,
        }
    }

    /// Whether both have the same pattern in the same group, of whatever lists.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.is_same_group(other)
            && self.text == other.text
            && self.is_anchored == other.is_anchored
            && self.is_listed == other.is_listed
    }

    pub(super) fn is_same_group(&self, other: &Self) -> bool {
        self.host == other.host
            && self.is_domain == other.is_domain
            && self.scheme == other.scheme
            && self.port == other.port
            && self.has_wildcards == other.has_wildcards
    }
}
