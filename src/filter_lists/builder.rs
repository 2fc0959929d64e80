//! Encodes sorted entries into the sections of a file: one pass over the hosts, then their index.
//!
//! Hosts are sorted in their stored form, reversed and by labels, so that the subdomains of a host
//! follow it. One pass over them then finds the hosts that have deeper entries, and adds the
//! ancestors that are in no list themselves: a search from the suffix of two labels on needs both.
//!
//! Entries with a path, a scheme or a port are few in most lists. They become rule sets of the
//! matcher, per host, scheme and port.

use super::compiled::CompiledLists;
use super::entries::{HostEntry, HostKind, PathEntry};
use super::format::{
    CLASS_ROW_LEN, ClassRow, HOSTS_PER_BLOCK, HostFilter, HostPathsRow, LABEL_END, PathEntryRow,
    PathGroupRow, class_width, hash_host, is_top_label,
};
use super::word::EncodedWords;
use crate::error::{ErrorKind, Result};
use crate::matcher::build::{self, CanonicalRule};
use crate::robots::RuleKind;
use crate::snapshot::format::NONE;
use crate::snapshot::index::{IndexBuilder, Load};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3Default;

/// The most entries of a rule set, and the most bytes of their patterns. A host with more has
/// several sets, each of which a URL asks.
const MAX_GROUP_ENTRIES: usize = 20_000;
const MAX_GROUP_BYTES: usize = 1 << 20;

/// How many hosts before its use a bucket is prefetched.
const PREFETCH_DISTANCE: usize = 32;

/// The blocks of hosts whose hashes are in memory at once.
const BLOCKS_HASHED_AT_ONCE: usize = 64 << 10;

/// The most seeds that are tried for the index. Even of a hundred million hosts, nearly all seeds
/// fit.
const MAX_SEEDS: u32 = 64;

/// The distinct sets of lists, by their numbers. The number 0 is the empty set.
#[derive(Debug)]
pub(super) struct ListSets {
    numbers: HashMap<Vec<u16>, u16>,
    /// The numbers of the sets of one list.
    of_one: Vec<Option<u16>>,
    /// The ends of the sets in `lists`.
    ends: Vec<u32>,
    lists: Vec<u16>,
}

impl ListSets {
    fn new() -> Self {
        Self {
            numbers: HashMap::from([(Vec::new(), 0)]),
            of_one: Vec::new(),
            ends: vec![0],
            lists: Vec::new(),
        }
    }

    /// The number of a set, whose lists ascend.
    pub(super) fn number_of(&mut self, lists: &[u16]) -> Result<u16> {
        // Nearly all entries are in one list.
        if let [list] = lists
            && let Some(Some(number)) = self.of_one.get(usize::from(*list))
        {
            return Ok(*number);
        }
        if let Some(number) = self.numbers.get(lists) {
            return Ok(*number);
        }
        let number = u16::try_from(self.ends.len())
            .map_err(|_| ErrorKind::TooLarge("over 65,535 different sets of lists".to_owned()))?;
        self.numbers.insert(lists.to_vec(), number);
        if let [list] = lists {
            let len = self.of_one.len().max(usize::from(*list) + 1);
            self.of_one.resize(len, None);
            self.of_one[usize::from(*list)] = Some(number);
        }
        self.lists.extend_from_slice(lists);
        self.ends.push(self.lists.len() as u32);
        Ok(number)
    }

    /// The number of sets, their ends, and their lists.
    fn encode(&self) -> Vec<u8> {
        let mut out = (self.ends.len() as u32).to_le_bytes().to_vec();
        out.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
        out.extend(self.lists.iter().flat_map(|list| list.to_le_bytes()));
        out
    }
}

/// The sections in progress.
#[derive(Debug)]
pub(super) struct FileBuilder {
    pub sets: ListSets,
    classes: HashMap<ClassRow, u32>,
    /// The class that was asked for last.
    last_class: u32,
    class_rows: Vec<ClassRow>,
    /// The class of each host.
    host_classes: Vec<u32>,
    host_texts: Vec<u8>,
    host_blocks: Vec<u8>,
    /// The host before, in its stored form.
    last: Vec<u8>,
    /// Whether each host is looked up by its own hash first: the keys of the filter.
    is_suffix: Vec<bool>,
    /// The hosts whose subdomains the next host may be, by their numbers and lengths.
    ancestors: Vec<Ancestor>,
    /// Those with deeper entries.
    has_deeper: Vec<u32>,
    host_paths: Vec<u8>,
    path_groups: Vec<u8>,
    path_groups_len: u32,
    path_rules: Vec<u8>,
    path_entries: Vec<u8>,
    path_entries_len: u32,
    path_texts: Vec<u8>,
    pub words: EncodedWords,
    listed_hosts: u64,
    top_labels: u64,
}

#[derive(Clone, Copy, Debug)]
struct Ancestor {
    number: u32,
    len: usize,
    /// Whether `has_deeper` has it.
    is_marked: bool,
}

impl Default for FileBuilder {
    fn default() -> Self {
        Self {
            sets: ListSets::new(),
            classes: HashMap::new(),
            last_class: 0,
            class_rows: Vec::new(),
            host_classes: Vec::new(),
            host_texts: Vec::new(),
            host_blocks: Vec::new(),
            last: Vec::new(),
            is_suffix: Vec::new(),
            ancestors: Vec::new(),
            has_deeper: Vec::new(),
            host_paths: Vec::new(),
            path_groups: Vec::new(),
            path_groups_len: 0,
            path_rules: Vec::new(),
            path_entries: Vec::new(),
            path_entries_len: 0,
            path_texts: Vec::new(),
            words: EncodedWords::default(),
            listed_hosts: 0,
            top_labels: 0,
        }
    }
}

impl FileBuilder {
    /// Merges both kinds of sorted entries, host by host.
    pub(super) fn add_all(
        &mut self,
        mut hosts: &[HostEntry],
        texts: &[u8],
        mut paths: &[PathEntry],
    ) -> Result<()> {
        loop {
            let next_host = hosts.first().map(|entry| entry.stored(texts));
            let next_path = paths.first().map(|entry| &*entry.host);
            let host = match (next_host, next_path) {
                (None, None) => return self.end_paths(),
                (Some(host), None) | (None, Some(host)) => host,
                (Some(one), Some(other)) => one.min(other),
            };
            let equal_hosts = hosts.iter().take_while(|entry| entry.stored(texts) == host);
            let (own_hosts, later_hosts) = hosts.split_at(equal_hosts.count());
            let equal_paths = paths.iter().take_while(|entry| entry.host == host);
            let (own_paths, later_paths) = paths.split_at(equal_paths.count());
            (hosts, paths) = (later_hosts, later_paths);
            self.add_host(host, own_hosts, own_paths)?;
        }
    }

    /// Adds a host with its entries, and its ancestors that are not there yet.
    fn add_host(&mut self, host: &[u8], lists: &[HostEntry], paths: &[PathEntry]) -> Result<()> {
        self.ancestors.retain(|ancestor| {
            // A host is a subdomain of the ones on the stack as long as it begins with them.
            host.get(ancestor.len) == Some(&LABEL_END)
                && host.get(..ancestor.len) == self.last.get(..ancestor.len)
        });
        for len in label_ends(host).skip(1) {
            if !self.ancestors.iter().any(|known| known.len == len) {
                self.append(&host[..len], ClassRow::default())?;
            }
        }
        for ancestor in self
            .ancestors
            .iter_mut()
            .filter(|ancestor| !ancestor.is_marked)
        {
            ancestor.is_marked = true;
            self.has_deeper.push(ancestor.number);
        }
        let mut class = ClassRow::default();
        for entries in lists.chunk_by(|a, b| a.kind == b.kind) {
            let mut names: Vec<u16> = entries.iter().map(|entry| entry.list).collect();
            names.dedup();
            let set = self.sets.number_of(&names)?;
            match entries[0].kind {
                HostKind::Domain => class.domain = set,
                HostKind::DomainException => class.domain_exception = set,
                HostKind::Host => class.host = set,
                HostKind::HostException => class.host_exception = set,
            }
        }
        self.listed_hosts += u64::from(!lists.is_empty());
        class.has_paths = !paths.is_empty();
        let number = self.append(host, class)?;
        if class.has_paths {
            self.add_paths(number, paths)?;
        }
        Ok(())
    }

    /// Appends a host, which sorts after the last one; returns its number.
    fn append(&mut self, host: &[u8], class: ClassRow) -> Result<u32> {
        let number = u32::try_from(self.host_classes.len())
            .ok()
            .filter(|number| *number < NONE)
            .ok_or_else(|| ErrorKind::TooLarge("over four billion hosts".to_owned()))?;
        if number.is_multiple_of(HOSTS_PER_BLOCK) {
            let start = u32::try_from(self.host_texts.len())
                .map_err(|_| ErrorKind::TooLarge("over 4 GiB of hosts".to_owned()))?;
            self.host_blocks.extend_from_slice(&start.to_le_bytes());
            self.last.clear();
        }
        let shared = self
            .last
            .iter()
            .zip(host)
            .take_while(|(one, other)| one == other)
            .count();
        // A host has at most 253 bytes.
        self.host_texts
            .extend_from_slice(&[shared as u8, (host.len() - shared) as u8]);
        self.host_texts.extend_from_slice(&host[shared..]);
        self.last.clear();
        self.last.extend_from_slice(host);
        self.is_suffix.push(label_ends(host).nth(1).is_none());
        self.top_labels += u64::from(is_top_label(host));
        let class = self.class_of(class);
        self.host_classes.push(class);
        self.ancestors.push(Ancestor {
            number,
            len: host.len(),
            is_marked: false,
        });
        Ok(number)
    }

    fn class_of(&mut self, row: ClassRow) -> u32 {
        // Neighbours have the same class more often than not.
        if self.class_rows.get(self.last_class as usize) == Some(&row) {
            return self.last_class;
        }
        if let Some(class) = self.classes.get(&row) {
            self.last_class = *class;
            return *class;
        }
        // There are fewer than hosts.
        let class = self.classes.len() as u32;
        self.classes.insert(row, class);
        self.class_rows.push(row);
        class
    }

    /// Adds the rules for paths of the host with a number.
    fn add_paths(&mut self, host: u32, paths: &[PathEntry]) -> Result<()> {
        HostPathsRow {
            host,
            first_group: self.path_groups_len,
        }
        .encode(&mut self.host_paths);
        for entries in paths.chunk_by(PathEntry::is_same_group) {
            let mut rest = entries;
            while !rest.is_empty() {
                let (group, later) = rest.split_at(Self::group_len(rest));
                self.add_group(group)?;
                rest = later;
            }
        }
        Ok(())
    }

    /// How many entries from the first on make a rule set. Equal patterns stay together.
    fn group_len(entries: &[PathEntry]) -> usize {
        let mut bytes = 0;
        let mut len = 0;
        for same in entries.chunk_by(PathEntry::is_same) {
            bytes += same[0].text.len();
            if len > 0 && (bytes > MAX_GROUP_BYTES || len + same.len() > MAX_GROUP_ENTRIES) {
                break;
            }
            len += same.len();
        }
        len
    }

    fn add_group(&mut self, entries: &[PathEntry]) -> Result<()> {
        let first = &entries[0];
        let rules = self.add_rules(entries)?;
        PathGroupRow {
            is_domain: first.is_domain,
            has_wildcards: first.has_wildcards,
            scheme: first.scheme,
            port: first.port,
            rules,
            first_entry: self.path_entries_len,
        }
        .encode(&mut self.path_groups);
        self.path_groups_len += 1;
        for same in entries.chunk_by(PathEntry::is_same) {
            let lists: Vec<u16> = same.iter().map(|entry| entry.list).collect();
            let text = u32::try_from(self.path_texts.len())
                .map_err(|_| ErrorKind::TooLarge("over 4 GiB of paths".to_owned()))?;
            PathEntryRow {
                text,
                set: self.sets.number_of(&lists)?,
                is_anchored: same[0].is_anchored,
                is_exception: !same[0].is_listed,
            }
            .encode(&mut self.path_entries);
            self.path_texts.extend_from_slice(&same[0].text);
            self.path_entries_len = self
                .path_entries_len
                .checked_add(1)
                .ok_or_else(|| ErrorKind::TooLarge("over four billion paths".to_owned()))?;
        }
        Ok(())
    }

    /// Encodes the rule set of a group; returns its offset in units of 8 bytes.
    fn add_rules(&mut self, entries: &[PathEntry]) -> Result<u32> {
        let rules = entries
            .iter()
            .map(|entry| group_rule(&entry.text, entry.is_anchored, !entry.is_listed))
            .collect();
        let offset = u32::try_from(self.path_rules.len() / 8)
            .map_err(|_| ErrorKind::TooLarge("over 32 GiB of rules for paths".to_owned()))?;
        self.path_rules.extend(encode_group(rules)?);
        Ok(offset)
    }

    /// Adds the last rows, which have the ends.
    fn end_paths(&mut self) -> Result<()> {
        if !self.host_paths.is_empty() {
            HostPathsRow {
                host: NONE,
                first_group: self.path_groups_len,
            }
            .encode(&mut self.host_paths);
            PathGroupRow::end(self.path_entries_len).encode(&mut self.path_groups);
            PathEntryRow {
                text: self.path_texts.len() as u32,
                set: 0,
                is_anchored: false,
                is_exception: false,
            }
            .encode(&mut self.path_entries);
        }
        Ok(())
    }

    /// Marks the hosts with deeper entries, and builds index and filter.
    pub(super) fn finish(mut self) -> Result<CompiledLists> {
        self.mark_deeper();
        let classes = self.number_classes()?;
        let mut hasher = Xxh3Default::new();
        hasher.update(&self.host_texts);
        let mut seed = hasher.digest();
        let keys = self.host_classes.len();
        let suffixes = (0..)
            .zip(&self.is_suffix)
            .filter(|(_, is_suffix)| **is_suffix);
        let filter_keys = suffixes.map(|(host, _)| HostFilter::keys(self.class_of_host(host)));
        let filter_words = HostFilter::words(filter_keys.sum());
        // Names that were chosen for a seed need another one.
        let mut seeds_left = MAX_SEEDS;
        let (index, filter) = loop {
            let mut index = IndexBuilder::new(keys, Load::FourFifths);
            let mut filter = vec![0; filter_words];
            if self.index_hosts(seed, &mut index, &mut filter) {
                break (index.finish(), filter);
            }
            seed = seed.wrapping_add(1);
            seeds_left -= 1;
            if seeds_left == 0 {
                return Err(ErrorKind::TooLarge("hosts that fit into no index".to_owned()).into());
            }
        };
        Ok(CompiledLists {
            seed,
            metadata: Vec::new(),
            host_filter: filter.into_iter().flat_map(u64::to_le_bytes).collect(),
            host_index: index,
            host_texts: self.host_texts,
            host_blocks: self.host_blocks,
            host_classes: classes.of_hosts,
            class_rows: classes.rows,
            list_sets: self.sets.encode(),
            host_paths: self.host_paths,
            path_groups: self.path_groups,
            path_rules: self.path_rules,
            path_entries: self.path_entries,
            path_texts: self.path_texts,
            words: self.words,
            listed_hosts: self.listed_hosts,
            top_labels: self.top_labels,
            path_entries_len: self.path_entries_len.into(),
        })
    }

    /// Gives the hosts with deeper entries classes that say so.
    fn mark_deeper(&mut self) {
        for number in std::mem::take(&mut self.has_deeper) {
            let class = self.host_classes[number as usize];
            let row = ClassRow {
                has_deeper: true,
                ..self.class_rows[class as usize]
            };
            self.host_classes[number as usize] = self.class_of(row);
        }
    }

    /// The class of a host.
    fn class_of_host(&self, number: u32) -> &ClassRow {
        &self.class_rows[self.host_classes[number as usize] as usize]
    }

    /// Numbers the classes by their first use: marking leaves classes that no host has.
    fn number_classes(&self) -> Result<EncodedClasses> {
        let mut numbers = vec![None; self.class_rows.len()];
        let mut rows = Vec::new();
        let mut of_hosts: Vec<u16> = Vec::with_capacity(self.host_classes.len());
        for class in &self.host_classes {
            let class = *class as usize;
            let number = match numbers[class] {
                Some(number) => number,
                None => {
                    let number = u16::try_from(rows.len() / CLASS_ROW_LEN).map_err(|_| {
                        ErrorKind::TooLarge("over 65,536 kinds of hosts".to_owned())
                    })?;
                    self.class_rows[class].encode(&mut rows);
                    numbers[class] = Some(number);
                    number
                }
            };
            of_hosts.push(number);
        }
        let of_hosts = match class_width(&rows) {
            1 => of_hosts.into_iter().map(|class| class as u8).collect(),
            _ => of_hosts.into_iter().flat_map(u16::to_le_bytes).collect(),
        };
        Ok(EncodedClasses { rows, of_hosts })
    }

    /// Adds all hosts to index and filter. Returns whether each will be found.
    fn index_hosts(&self, seed: u64, index: &mut IndexBuilder, filter: &mut [u64]) -> bool {
        let mut number = 0;
        let starts: Vec<u32> = self.host_block_starts().collect();
        for starts in starts.chunks(BLOCKS_HASHED_AT_ONCE) {
            let hashes: Vec<u64> = starts
                .par_iter()
                .flat_map_iter(|start| self.hash_block(*start, seed))
                .collect();
            for (at, hash) in hashes.iter().enumerate() {
                // Each insertion is a cache miss.
                if let Some(later) = hashes.get(at + PREFETCH_DISTANCE) {
                    index.prefetch(*later);
                }
                if self.is_suffix[number as usize] {
                    HostFilter::add(filter, *hash, self.class_of_host(number));
                }
                if !index.add(*hash, number) {
                    return false;
                }
                number += 1;
            }
        }
        true
    }

    /// The offsets of the blocks of hosts.
    fn host_block_starts(&self) -> impl Iterator<Item = u32> + '_ {
        let (starts, _) = self.host_blocks.as_chunks();
        starts.iter().map(|start| u32::from_le_bytes(*start))
    }

    /// The hashes of the hosts in the block that begins at an offset.
    fn hash_block(&self, start: u32, seed: u64) -> Vec<u64> {
        let mut hashes = Vec::with_capacity(HOSTS_PER_BLOCK as usize);
        let mut stored = Vec::new();
        let mut host = Vec::new();
        let mut rest = &self.host_texts[start as usize..];
        while hashes.len() < HOSTS_PER_BLOCK as usize
            && let [shared, len, text @ ..] = rest
        {
            let (text, later) = text.split_at(usize::from(*len));
            rest = later;
            stored.truncate(usize::from(*shared));
            stored.extend_from_slice(text);
            host.clear();
            host.extend(stored.iter().rev().map(|b| match *b {
                LABEL_END => b'.',
                b => b,
            }));
            hashes.push(hash_host(&host, seed));
        }
        hashes
    }
}

/// Where labels of a stored host end, but for the last. Hosts are too short for a vector search.
fn label_ends(host: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let ends = host.iter().enumerate().filter(|(_, b)| **b == LABEL_END);
    ends.map(|(at, _)| at)
}

/// The sections of classes.
struct EncodedClasses {
    rows: Vec<u8>,
    of_hosts: Vec<u8>,
}

/// The rule of an entry for paths.
pub(super) fn group_rule(text: &[u8], is_anchored: bool, is_exception: bool) -> CanonicalRule<'_> {
    CanonicalRule {
        text: Cow::Borrowed(text),
        anchored: is_anchored,
        kind: match is_exception {
            true => RuleKind::Allow,
            false => RuleKind::Disallow,
        },
    }
}

/// The rule set of a group of entries, given by their rules.
///
/// # Errors
/// [`TooLarge`](ErrorKind::TooLarge) for patterns of over 3 MB.
pub(super) fn encode_group(mut rules: Vec<CanonicalRule<'_>>) -> Result<Vec<u8>> {
    rules
        .sort_unstable_by(|a, b| (&a.text, a.anchored, a.kind).cmp(&(&b.text, b.anchored, b.kind)));
    // Equal patterns are neighbours with the exception first, which wins.
    rules.dedup_by(|later, first| later.text == first.text && later.anchored == first.anchored);
    build::encode(&rules)
}
