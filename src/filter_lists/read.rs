//! An opened file of filter lists, and the search for the entry that decides about a URL.
//!
//! The search goes down from the suffix with two labels: a Bloom filter ends it for nearly all
//! hosts. A host that is there says whether deeper ones are, so most searches end after one probe
//! of the index. A hash alone could be wrong once in 10^12 probes, so the text of a host is compared
//! before it counts. Only a host without entries may count by its hash: it leads to deeper hosts,
//! whose texts are compared.
//!
//! The searches for the origins of a batch take turns. Each look-up ends with a prefetch of the
//! bucket that the next one reads.
//!
//! The most specific entry decides: of the host with the most labels, and there the longest path.
//! An exception wins against an entry that is no more specific.

use super::format::{
    ClassRow, FilterAnswer, HOST_PATHS_LEN, HOSTS_PER_BLOCK, HostFilter, HostPathsRow, LABEL_END,
    ListsMetadata, MAX_LABELS, PATH_ENTRY_LEN, PATH_GROUP_LEN, PathEntryRow, PathGroupRow,
    class_width, hash_host, stored_bytes,
};
use super::words::{WordMemory, Words, word_text};
use crate::bytes::wire::{array, bytes, u32_at};
use crate::error::{Error, Result};
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::rule_set::RuleSet;
use crate::matcher::wildcard;
use crate::matcher::{Candidate, PathSignature};
use crate::profile::Profile;
use crate::simd::{self, AnyBackend, Backend};
use crate::snapshot::format::{FileKind, Section};
use crate::snapshot::index::{self, BUCKET_LEN, Load, Probe};
use crate::snapshot::section_file::SectionFile;
use crate::url::escape::normalize_path;
use crate::url::{self, default_port, is_address};
use ::bytes::Bytes;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The most hosts that are compared with one suffix. A tag has 16 bits, so an honest index hardly
/// ever has two hosts to compare; a forged one could have all hosts of 64 buckets.
const MAX_COMPARED: usize = 64;

/// A compiled file of filter lists: mapped ([`FilterLists::open`]) or in memory
/// ([`FilterLists::new`]).
///
/// Clones share the bytes. Opening reads the header and the names of the lists, so its cost does
/// not depend on the number of entries. Nothing that a file holds panics. Look-ups do not verify
/// what they read: call [`verify_checksums`](Self::verify_checksums) first, or damage may change
/// answers silently. For a file from elsewhere, call `verify`, of the feature
/// `filter-lists`.
#[derive(Clone)]
pub struct FilterLists {
    pub(super) file: SectionFile,
    pub(super) metadata: Arc<ListsMetadata>,
    pub(super) words: Option<Words>,
}

/// The entry that decides about a URL.
#[derive(Clone, Copy, Debug)]
pub struct ListMatch<'l> {
    lists: &'l FilterLists,
    decision: ListDecision,
}

/// An entry that decides about URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListDecision {
    pub is_exception: bool,
    /// The set of its lists.
    set: u16,
    entry: EntryPlace,
}

/// Where the text of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EntryPlace {
    Domain {
        host: u32,
    },
    Host {
        host: u32,
    },
    Path {
        host: u32,
        group: u32,
        entry: u32,
    },
    Word {
        word: u32,
    },
    /// The first soft word of a URL, and the one that made them enough.
    SoftWords {
        first: u32,
        last: u32,
    },
    Substring {
        word: u32,
    },
}

impl ListDecision {
    /// The decision of an entry that is not an exception.
    pub(super) fn listed(set: u16, entry: EntryPlace) -> Self {
        Self {
            is_exception: false,
            set,
            entry,
        }
    }
}

/// What the lists say about an origin, for any path.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginEntries {
    /// The hosts whose entries for paths may decide, from the most labels on.
    paths: Vec<HostPaths>,
    /// The entry that decides if none of these does.
    whole: Option<ListDecision>,
}

impl OriginEntries {
    /// Whether no list has the origin, whatever the path.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_none() && self.paths.is_empty()
    }

    /// The entry that decides about all paths alike; `None` if it depends on the path.
    #[inline]
    pub(crate) fn decision_of_all(&self) -> Option<Option<ListDecision>> {
        self.paths.is_empty().then_some(self.whole)
    }
}

/// The search for what the lists say about an origin, down from the suffix with two labels. It
/// makes one look-up for each suffix, so that several searches can take turns.
#[derive(Debug)]
pub(crate) struct OriginSearch<'o> {
    /// The host of the origin, without a dot at its end.
    host: &'o [u8],
    /// The suffix that is looked up next; `None` at the end of the search.
    suffix: Option<&'o [u8]>,
    /// The hash of that suffix.
    hash: u64,
    labels_left: usize,
    /// What the lists say about the shorter suffixes.
    found: OriginEntries,
}

impl OriginSearch<'_> {
    /// Continues with the suffix of one label more, if there is one.
    #[inline]
    fn lengthen(&mut self, seed: u64) {
        self.labels_left = self.labels_left.saturating_sub(1);
        let suffix = self.suffix.filter(|_| self.labels_left > 0);
        self.suffix = suffix.and_then(|suffix| longer_suffix(self.host, suffix));
        if let Some(suffix) = self.suffix {
            self.hash = hash_host(suffix, seed);
        }
    }

    /// What the lists say about the origin, after the end of the search.
    pub(crate) fn take_entries(&mut self) -> OriginEntries {
        std::mem::take(&mut self.found)
    }
}

/// The suffix of a host that a search begins with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstSuffix {
    pub hash: u64,
    pub len: usize,
}

impl FirstSuffix {
    #[inline(always)]
    fn new(suffix: &[u8], seed: u64) -> Self {
        Self {
            hash: hash_host(suffix, seed),
            len: suffix.len(),
        }
    }
}

/// The Bloom filter of the hosts that a search begins with.
#[derive(Clone, Copy)]
pub(crate) struct SuffixFilter<'l> {
    words: &'l [[u8; 8]],
    seed: u64,
    /// Whether it cannot end a search, as there are names of one label too.
    is_skipped: bool,
}

impl SuffixFilter<'_> {
    /// The first suffix of the plain origin of `len` bytes at the start of `text`. Prefetches what
    /// [`may_have`](Self::may_have) reads.
    #[inline(always)]
    pub(crate) fn prefetch_plain(
        self,
        text: &[u8],
        len: usize,
        backend: impl Backend,
    ) -> FirstSuffix {
        let first = FirstSuffix::new(plain_suffix(text, len, backend), self.seed);
        let word = HostFilter::word_of(first.hash, self.words.len());
        if let Some(word) = self.words.get(word) {
            simd::prefetch(word);
        }
        first
    }

    /// Whether a list may have an entry for an origin with this hash. Nearly all that no list has
    /// are dismissed.
    #[inline(always)]
    pub(crate) fn may_have(self, hash: u64) -> bool {
        self.is_skipped | self.has(hash)
    }

    /// Whether the host with this hash may be there.
    #[inline(always)]
    fn has(self, hash: u64) -> bool {
        let answer = self.look_up(hash);
        answer.may_have_entries | answer.may_have_deeper
    }

    #[inline(always)]
    fn look_up(self, hash: u64) -> FilterAnswer {
        HostFilter::look_up(self.words, hash)
    }
}

/// A host of an origin with entries for paths.
#[derive(Clone, Copy, Debug)]
struct HostPaths {
    host: u32,
    /// Whether it is the host of the origin, not a domain that has it.
    is_whole: bool,
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

impl fmt::Debug for FilterLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterLists")
            .field("len", &self.byte_len())
            .finish_non_exhaustive()
    }
}

impl FilterLists {
    /// Opens compiled lists in memory.
    ///
    /// # Errors
    /// [`NotFilterLists`](crate::ErrorKind::NotFilterLists), and
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) if header and metadata contradict the bytes.
    pub fn new(data: impl Into<Bytes>) -> Result<Self> {
        let file = SectionFile::new(data.into(), FileKind::FilterLists);
        file.and_then(Self::of_file).map_err(Error::of_lists)
    }

    /// Maps the file at `path`. It must not be changed in place while it is open; robosieve replaces
    /// files by renaming.
    ///
    /// # Errors
    /// As [`new`](Self::new), and errors of the operating system. Each names the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = SectionFile::open(path, FileKind::FilterLists);
        file.and_then(Self::of_file)
            .map_err(|err| err.of_lists().at(path))
    }

    fn of_file(file: SectionFile) -> Result<Self> {
        file.verify_range(Section::ListMetadata, 0, usize::MAX)?;
        let metadata: ListsMetadata =
            serde_json::from_slice(file.section(Section::ListMetadata))
                .map_err(|err| Error::corrupt(format!("the metadata ({err})")))?;
        let words = Words::of_file(&file, &metadata)?;
        Ok(Self {
            file,
            metadata: Arc::new(metadata),
            words,
        })
    }

    /// The description that the file stores.
    pub fn metadata(&self) -> &ListsMetadata {
        &self.metadata
    }

    /// The length of the whole file in bytes.
    pub fn byte_len(&self) -> u64 {
        self.file.byte_len()
    }

    /// The header checksum, which identifies the content of an undamaged file.
    pub fn checksum(&self) -> u64 {
        self.file.checksum()
    }

    /// The name and the length in bytes of every section, in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.file.sections()
    }

    /// Checks the checksums of all blocks, on all threads of the current rayon pool. This detects
    /// accidental damage, not a forged file.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) with the section and the block.
    pub fn verify_checksums(&self) -> Result<()> {
        self.file
            .verify_all()
            .and_then(|()| self.file.verify_padding())
            .map_err(|err| self.damage(err))
    }

    /// Whether the file still has the content with which it was opened. Lists in memory do.
    ///
    /// Cost: that of a look at the attributes of the file; if it was written to, the whole file is
    /// read again.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) if the content is another, and errors of the
    /// operating system.
    pub fn verify_unchanged(&self) -> Result<()> {
        self.file.verify_unchanged().map_err(|err| self.damage(err))
    }

    /// An error of the bytes, as one about this file.
    pub(super) fn damage(&self, err: Error) -> Error {
        let err = err.of_lists();
        match self.file.path() {
            Some(path) => err.at(path),
            None => err,
        }
    }

    /// The entry that decides about a URL; `None` if no list has it, or the text is not a URL.
    ///
    /// Cost: a few tens of nanoseconds for most URLs, which no list names.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) if the bytes contradict each other.
    pub fn find(&self, url: &[u8]) -> Result<Option<ListMatch<'_>>> {
        self.searcher().find(url)
    }

    /// A searcher for many URLs, which remembers what the lists say about the last origin.
    ///
    /// ```
    /// # #[cfg(feature = "filter-lists")] {
    /// # use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
    /// # let mut compiler = ListCompiler::new();
    /// # compiler.add("own", ListKind::Block, "shop.example/cart\n".as_bytes())?;
    /// # let lists = FilterLists::new(compiler.finish()?.to_vec()?)?;
    /// let mut searcher = lists.searcher();
    /// for (url, is_listed) in [("/cart/1", true), ("/cart/2", true), ("/tea", false)] {
    ///     let url = format!("https://shop.example{url}");
    ///     assert_eq!(searcher.find(url.as_bytes())?.is_some(), is_listed);
    /// }
    /// # }
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn searcher(&self) -> ListSearcher<'_> {
        ListSearcher {
            lists: self,
            memory: SearchMemory::default(),
        }
    }

    /// The entry that decides about a URL, with the memory of earlier URLs.
    pub(crate) fn decide_url(
        &self,
        url: &[u8],
        memory: &mut SearchMemory,
    ) -> Result<Option<ListDecision>> {
        let mut key = std::mem::take(&mut memory.key);
        let decision = match url::split(url, Profile::Google, &mut key) {
            Some(parts) => self.decide_parts(parts.origin, parts.path, memory),
            None => Ok(None),
        };
        memory.key = key;
        decision
    }

    /// The same, given the canonical key of the origin and the rest of the URL, with or without a
    /// fragment.
    pub(crate) fn decide_parts(
        &self,
        url_origin: &[u8],
        rest: &[u8],
        memory: &mut SearchMemory,
    ) -> Result<Option<ListDecision>> {
        let SearchMemory {
            origin,
            entries,
            words,
            ..
        } = memory;
        if url_origin != origin.as_slice() {
            // After an error, nothing is known of the origin.
            origin.clear();
            *entries = self.entries_of(url_origin)?;
            origin.extend_from_slice(url_origin);
        }
        // Few hosts have entries for paths.
        let decision = match entries.decision_of_all() {
            Some(decision) => decision,
            None => self.decide(url_origin, entries, &list_path(rest))?,
        };
        if decision.is_some() {
            return Ok(decision);
        }
        let Some(mut search) = self.word_search(words) else {
            return Ok(None);
        };
        search.find(authority(url_origin), rest, AnyBackend::detect())
    }

    /// The filter that a search begins with.
    #[inline]
    pub(crate) fn suffix_filter(&self) -> SuffixFilter<'_> {
        SuffixFilter {
            words: self.file.section(Section::HostFilter).as_chunks().0,
            seed: self.file.seed(),
            is_skipped: self.metadata.top_labels > 0,
        }
    }

    /// What the lists say about the origin with a canonical key.
    pub(crate) fn entries_of(&self, origin: &[u8]) -> Result<OriginEntries> {
        let Some(origin) = OriginParts::of(origin) else {
            return Ok(OriginEntries::default());
        };
        let filter = self.suffix_filter();
        let first = FirstSuffix::new(first_suffix(origin.host), filter.seed);
        if !filter.may_have(first.hash) {
            return Ok(OriginEntries::default());
        }
        let Some(mut search) = self.start_search(origin.host, first)? else {
            return Ok(OriginEntries::default());
        };
        self.finish_searches(std::slice::from_mut(&mut search))?;
        Ok(search.found)
    }

    /// Starts the search for a plain origin with the suffix of [`SuffixFilter::prefetch_plain`].
    /// `None` if no list has its host.
    #[inline]
    pub(crate) fn search_plain<'o>(
        &self,
        origin: &'o [u8],
        first: FirstSuffix,
    ) -> Result<Option<OriginSearch<'o>>> {
        self.start_search(plain_host(origin), first)
    }

    /// Starts the search for a host whose first suffix may be in the filter. Prefetches the bucket of
    /// the suffix that is looked up first. `None` if there is none.
    fn start_search<'o>(
        &self,
        host: &'o [u8],
        first: FirstSuffix,
    ) -> Result<Option<OriginSearch<'o>>> {
        let mut search = OriginSearch {
            host,
            suffix: host.get(host.len().saturating_sub(first.len)..),
            hash: first.hash,
            labels_left: MAX_LABELS,
            found: OriginEntries::default(),
        };
        // Few lists have names of one label.
        if self.metadata.top_labels > 0 {
            self.look_up_top_label(&mut search)
                .map_err(|err| self.damage(err))?;
        } else if !self.suffix_filter().look_up(first.hash).may_have_entries {
            // The first suffix is `co.uk`, or another that has only deeper hosts.
            search.lengthen(self.file.seed());
            if search.suffix.is_none() {
                return Ok(None);
            }
        }
        index::prefetch(self.buckets(), search.hash);
        Ok(Some(search))
    }

    /// Looks up the last label of a host. Ends the search if the filter lacks the first suffix, for
    /// which it was not asked.
    #[inline(never)]
    fn look_up_top_label(&self, search: &mut OriginSearch<'_>) -> Result<()> {
        let host = search.host;
        if let Some(label) = top_label(host)
            && let Some(number) = self.find_filtered(label)?
        {
            self.enter(number, label.len() == host.len(), &mut search.found)?;
        }
        if !self.suffix_filter().has(search.hash) {
            search.suffix = None;
        }
        Ok(())
    }

    /// Takes searches to their ends: one suffix of each origin after the other, so that the cache
    /// misses of the origins overlap.
    pub(crate) fn finish_searches(&self, searches: &mut [OriginSearch<'_>]) -> Result<()> {
        while searches.iter().any(|search| search.suffix.is_some()) {
            for search in &mut *searches {
                self.look_up_next(search).map_err(|err| self.damage(err))?;
            }
        }
        Ok(())
    }

    /// Looks up the next suffix of a search. Prefetches the bucket of the one after it.
    fn look_up_next(&self, search: &mut OriginSearch<'_>) -> Result<()> {
        let Some(suffix) = search.suffix.take() else {
            return Ok(());
        };
        let probe = index::probe(self.buckets(), search.hash);
        // All ancestors of an entry from two labels on are there, so nothing deeper is.
        if probe == Probe::ABSENT {
            return Ok(());
        }
        // Most hosts that are found have no entries, only deeper hosts, such as `co.uk`. If the
        // bucket has no other candidate, a comparison of texts changes nothing: if this host is not
        // the suffix, no list has a deeper one.
        let needs_text = probe.more || self.class_of(probe.offset)?.has_entries();
        if needs_text {
            let Some(number) = self.find_hashed(suffix, search.hash)? else {
                return Ok(());
            };
            let is_whole = suffix.len() == search.host.len();
            if !self.enter(number, is_whole, &mut search.found)?.has_deeper {
                return Ok(());
            }
        }
        search.suffix = Some(suffix);
        search.lengthen(self.file.seed());
        if search.suffix.is_some() {
            index::prefetch(self.buckets(), search.hash);
        }
        Ok(())
    }

    /// Notes what the lists say about a host with a number, which is deeper than the hosts before.
    fn enter(&self, number: u32, is_whole: bool, found: &mut OriginEntries) -> Result<ClassRow> {
        let class = self.class_of(number)?;
        if let Some(decision) = class.decision(number, is_whole, |set| self.first_list(set))? {
            found.whole = Some(decision);
            // Of less specific hosts, paths do not count any more.
            found.paths.clear();
        }
        if class.has_paths {
            // From the most labels on.
            let host = HostPaths {
                host: number,
                is_whole,
            };
            found.paths.insert(0, host);
        }
        Ok(class)
    }

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
    fn groups_of(&self, host: u32) -> Result<Range<u32>> {
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

    /// The number of a host that is looked up first: the filter ends the search for most.
    pub(super) fn find_filtered(&self, host: &[u8]) -> Result<Option<u32>> {
        let hash = hash_host(host, self.file.seed());
        if !self.suffix_filter().has(hash) {
            return Ok(None);
        }
        self.find_hashed(host, hash)
    }

    fn buckets(&self) -> &[[u8; BUCKET_LEN]] {
        self.file.section(Section::HostIndex).as_chunks().0
    }

    /// The number of a host whose hash is known.
    pub(super) fn find_hashed(&self, host: &[u8], hash: u64) -> Result<Option<u32>> {
        let mut compared = 0;
        for number in index::candidates(self.buckets(), hash, Load::FourFifths) {
            compared += 1;
            if compared > MAX_COMPARED {
                return Err(Error::corrupt("too many hosts with one tag in the index"));
            }
            if self.has_text(number, host)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The number of a host, whether or not the filter has it.
    #[cfg(test)]
    pub(super) fn find_host(&self, host: &[u8]) -> Result<Option<u32>> {
        self.find_hashed(host, hash_host(host, self.file.seed()))
    }

    /// Whether the index has a host with the tag of this one.
    #[cfg(test)]
    pub(super) fn has_candidate(&self, host: &[u8]) -> bool {
        index::probe(self.buckets(), hash_host(host, self.file.seed())) != Probe::ABSENT
    }

    /// Whether the host with a number has this text.
    ///
    /// The block is not decoded. The loop tracks how many bytes at its start each host has in
    /// common with the text. A host that shares more bytes with the one before has just as many in
    /// common.
    pub(super) fn has_text(&self, number: u32, host: &[u8]) -> Result<bool> {
        let is_address = is_address(host);
        let mut rows = self.block_rows(number)?;
        let (mut common, mut len) = (0, 0);
        for _ in 0..=number % HOSTS_PER_BLOCK {
            let row = rows.next(len)?;
            len = row.shared + row.own.len();
            if row.shared <= common {
                let rest = host.get(..host.len() - row.shared).unwrap_or_default();
                common = row.shared + common_len(stored_bytes(rest, is_address), row.own);
            }
        }
        Ok(common == host.len() && len == host.len())
    }

    /// The stored form of the host with a number. Decodes its block up to it.
    pub(super) fn stored_host(&self, number: u32) -> Result<Vec<u8>> {
        let mut rows = self.block_rows(number)?;
        let mut stored = Vec::with_capacity(64);
        for _ in 0..=number % HOSTS_PER_BLOCK {
            let row = rows.next(stored.len())?;
            stored.truncate(row.shared);
            stored.extend_from_slice(row.own);
        }
        Ok(stored)
    }

    /// The rows of the block with a host.
    fn block_rows(&self, number: u32) -> Result<HostRows<'_>> {
        let blocks = self.file.section(Section::HostBlocks);
        let block = (number / HOSTS_PER_BLOCK) as usize;
        Ok(HostRows {
            texts: self.file.section(Section::HostTexts),
            at: u32_at(blocks, block * 4, "a block of hosts")? as usize,
        })
    }

    /// The host with a number in its canonical form.
    fn host_text(&self, number: u32) -> Result<String> {
        let mut stored = self.stored_host(number)?;
        stored.reverse();
        for b in stored.iter_mut().filter(|b| **b == LABEL_END) {
            *b = b'.';
        }
        Ok(String::from_utf8_lossy(&stored).into_owned())
    }

    pub(super) fn class_of(&self, host: u32) -> Result<ClassRow> {
        let classes = self.file.section(Section::HostClasses);
        let rows = self.file.section(Section::ClassRows);
        let width = class_width(rows);
        let at = (host as usize).saturating_mul(width);
        let what = "the class of a host";
        let class = match width {
            1 => u16::from(array::<1>(classes, at, what)?[0]),
            _ => u16::from_le_bytes(array(classes, at, what)?),
        };
        ClassRow::decode(rows, class)
    }

    /// The lists of a set, in their order.
    pub(super) fn lists_of(&self, set: u16) -> Result<&[[u8; 2]]> {
        let sets = self.file.section(Section::ListSets);
        let count = u32_at(sets, 0, "the number of sets")? as usize;
        let set = usize::from(set);
        let Some(before) = set.checked_sub(1).filter(|_| set < count) else {
            return Err(Error::corrupt(format!("a set of lists {set} of {count}")));
        };
        let ends = |set: usize| u32_at(sets, 4 + 4 * set, "the end of a set");
        let (start, end) = (ends(before)? as usize, ends(set)? as usize);
        let ends_len = count.saturating_mul(4).saturating_add(4);
        let at = start.saturating_mul(2).saturating_add(ends_len);
        let len = end.saturating_sub(start).saturating_mul(2);
        Ok(bytes(sets, at, len, "a set of lists")?.as_chunks().0)
    }

    /// The first list of a set.
    fn first_list(&self, set: u16) -> Result<u16> {
        let first = self.lists_of(set)?.first();
        first
            .map(|list| u16::from_le_bytes(*list))
            .ok_or_else(|| Error::corrupt("an empty set of lists"))
    }
}

/// Reads the rows of `host texts` one after the other.
struct HostRows<'f> {
    texts: &'f [u8],
    at: usize,
}

/// A row of `host texts`.
struct HostRow<'f> {
    /// The number of bytes that are those of the host before.
    shared: usize,
    /// The other bytes.
    own: &'f [u8],
}

impl<'f> HostRows<'f> {
    /// The next row, after a host of `len_before` bytes.
    #[inline]
    fn next(&mut self, len_before: usize) -> Result<HostRow<'f>> {
        let [shared, len] = array(self.texts, self.at, "a host")?;
        let at = self.at.saturating_add(2);
        let own = bytes(self.texts, at, len.into(), "the text of a host")?;
        let shared = usize::from(shared);
        if shared > len_before {
            return Err(Error::corrupt(
                "a host shares more than its predecessor has",
            ));
        }
        self.at = at + own.len();
        Ok(HostRow { shared, own })
    }
}

/// The number of bytes at the start that are equal.
#[inline]
fn common_len(text: impl Iterator<Item = u8>, other: &[u8]) -> usize {
    text.zip(other).take_while(|(a, b)| a == *b).count()
}

impl ClassRow {
    /// The entry for the whole host that decides: an exception if there is one, and of equal ones
    /// that of the list that comes first.
    fn decision(
        &self,
        host: u32,
        is_whole: bool,
        first_list: impl Fn(u16) -> Result<u16>,
    ) -> Result<Option<ListDecision>> {
        let entries = [
            (true, self.domain_exception, EntryPlace::Domain { host }),
            (true, self.host_exception, EntryPlace::Host { host }),
            (false, self.domain, EntryPlace::Domain { host }),
            (false, self.host, EntryPlace::Host { host }),
        ];
        let mut deciding: Option<ListDecision> = None;
        for (is_exception, set, entry) in entries {
            let counts = set != 0 && (is_whole || matches!(entry, EntryPlace::Domain { .. }));
            if !counts {
                continue;
            }
            let is_earlier = match &deciding {
                None => true,
                Some(other) if other.is_exception != is_exception => false,
                Some(other) => first_list(set)? < first_list(other.set)?,
            };
            if is_earlier {
                deciding = Some(ListDecision {
                    is_exception,
                    set,
                    entry,
                });
            }
        }
        Ok(deciding)
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

impl<'o> OriginParts<'o> {
    /// The parts of a canonical key.
    pub(super) fn of(key: &'o [u8]) -> Option<Self> {
        let scheme_end = memchr::memmem::find(key, b"://")?;
        let (scheme, authority) = (key.get(..scheme_end)?, key.get(scheme_end + 3..)?);
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

/// The first suffix of a host that is looked up.
#[inline]
pub(super) fn first_suffix(host: &[u8]) -> &[u8] {
    if is_address(host) {
        return host;
    }
    let top = memchr::memrchr(b'.', host).unwrap_or(0);
    let start = memchr::memrchr(b'.', &host[..top]).map_or(0, |dot| dot + 1);
    &host[start..]
}

/// The host of a plain origin: `http://host` or `https://host`, without a dot at its end.
#[inline(always)]
pub(crate) fn plain_host(origin: &[u8]) -> &[u8] {
    let start = 7 + usize::from(origin.get(4) == Some(&b's'));
    origin.get(start..).unwrap_or_default()
}

/// The host of an origin with a canonical key, and its port if it has one.
#[inline]
fn authority(origin: &[u8]) -> &[u8] {
    match memchr::memmem::find(origin, b"://") {
        Some(at) => &origin[at + 3..],
        None => origin,
    }
}

/// As [`first_suffix`], of the host in a plain origin of `len` bytes at the start of `text`. Such a
/// host is not an address. Cost: one vector step, if the host has less than 32 bytes.
#[inline(always)]
pub(super) fn plain_suffix(text: &[u8], len: usize, backend: impl Backend) -> &[u8] {
    let start = 7 + usize::from(text.get(4) == Some(&b's'));
    let host_len = len.wrapping_sub(start);
    let window: Option<&[u8; 32]> = text.get(start..).and_then(|text| text.first_chunk());
    match window {
        Some(window) if host_len < 32 => {
            let dots = backend.equal_bytes(window, &[b'.'; 32]) & ((1 << host_len) - 1);
            let last = (1u32 << 31).unbounded_shr(dots.leading_zeros());
            let suffix = 32 - (dots ^ last).leading_zeros();
            window.get(suffix as usize..host_len).unwrap_or_default()
        }
        _ => first_suffix(plain_host(text.get(..len).unwrap_or_default())),
    }
}

/// The suffix of a host with one label more.
fn longer_suffix<'h>(host: &'h [u8], suffix: &[u8]) -> Option<&'h [u8]> {
    let dot = host.len().checked_sub(suffix.len())?.checked_sub(1)?;
    // Labels are short, so the start of a vector search would take longer.
    let before = host.get(..dot)?.iter().rposition(|b| *b == b'.');
    host.get(before.map_or(0, |dot| dot + 1)..)
}

/// The last label of a name with several.
fn top_label(host: &[u8]) -> Option<&[u8]> {
    let dot = memchr::memrchr(b'.', host).filter(|_| !is_address(host))?;
    host.get(dot + 1..)
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

/// Finds the entries that decide about many URLs: [`FilterLists::searcher`].
#[derive(Clone, Debug)]
pub struct ListSearcher<'l> {
    lists: &'l FilterLists,
    memory: SearchMemory,
}

/// What a search remembers of earlier URLs. It is of use with the same lists only.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchMemory {
    /// Memory for keys of origins that are not in canonical form.
    key: Vec<u8>,
    /// The key of the last origin; empty before the first.
    origin: Vec<u8>,
    /// What the lists say about it.
    entries: OriginEntries,
    pub(crate) words: WordMemory,
}

impl<'l> ListSearcher<'l> {
    /// As [`FilterLists::find`]. Cost: for a URL of the same origin as the last one, a comparison of
    /// the origins; and the rules for paths, if the lists have some for the host.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) if the bytes contradict each other.
    pub fn find(&mut self, url: &[u8]) -> Result<Option<ListMatch<'l>>> {
        let found = self.lists.decide_url(url, &mut self.memory)?;
        Ok(found.map(|decision| ListMatch::new(self.lists, decision)))
    }
}

impl<'l> ListMatch<'l> {
    pub(crate) fn new(lists: &'l FilterLists, decision: ListDecision) -> Self {
        Self { lists, decision }
    }

    pub(crate) fn decision(&self) -> ListDecision {
        self.decision
    }

    /// Whether the entry is an exception, so that the URL is not listed.
    pub fn is_exception(&self) -> bool {
        self.decision.is_exception
    }

    /// The names of the lists that have the entry, in their order.
    pub fn lists(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        let names = &self.lists.metadata.lists;
        let numbers = self.list_numbers();
        numbers.filter_map(|list| names.get(list).map(|list| list.name.as_str()))
    }

    /// These names with commas between them, as columns of tables have them.
    pub(crate) fn list_names(&self) -> String {
        self.lists().collect::<Vec<_>>().join(",")
    }

    /// The positions of these lists in [`ListsMetadata::lists`], ascending.
    pub fn list_numbers(&self) -> impl Iterator<Item = usize> + use<'l> {
        // A set of a damaged file has no lists.
        let lists = self.lists.lists_of(self.decision.set).unwrap_or_default();
        let numbers = lists.iter().map(|list| u16::from_le_bytes(*list).into());
        let count = self.lists.metadata.lists.len();
        // The lists of a set ascend. A forged set could repeat one with a long name.
        let mut next = 0;
        numbers.map_while(move |list: usize| {
            if list < next || list >= count {
                return None;
            }
            next = list + 1;
            Some(list)
        })
    }

    /// The entry as a line of a list: `example.com`, `=example.com` for a host without its
    /// subdomains, or a URL prefix. Exceptions begin with `@@`. Words are `word:casino`,
    /// `soft:live,adult` for the first and the last of those that were needed, and
    /// `substring:bigwin`.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) if the bytes contradict each other.
    pub fn entry(&self) -> Result<String> {
        self.entry_text().map_err(|err| self.lists.damage(err))
    }

    fn entry_text(&self) -> Result<String> {
        let mark = if self.is_exception() { "@@" } else { "" };
        let lists = self.lists;
        let word_text = |word| {
            word_text(&lists.file, word).map(|text| String::from_utf8_lossy(text).into_owned())
        };
        Ok(match self.decision.entry {
            EntryPlace::Word { word } => format!("word:{}", word_text(word)?),
            EntryPlace::Substring { word } => format!("substring:{}", word_text(word)?),
            EntryPlace::SoftWords { first, last } if first == last => {
                format!("soft:{}", word_text(first)?)
            }
            EntryPlace::SoftWords { first, last } => {
                format!("soft:{},{}", word_text(first)?, word_text(last)?)
            }
            EntryPlace::Domain { host } => format!("{mark}{}", lists.host_text(host)?),
            EntryPlace::Host { host } => {
                let text = lists.host_text(host)?;
                // An address has no subdomains.
                let exact = if is_address(text.as_bytes()) { "" } else { "=" };
                format!("{mark}{exact}{text}")
            }
            EntryPlace::Path { host, group, entry } => {
                let group = PathGroupRow::decode(lists.file.section(Section::PathGroups), group)?;
                let pattern = lists.path_pattern(entry)?;
                let scheme = group.scheme.name().map(|name| format!("{name}://"));
                // `*.gif/` would be taken for a part of a path.
                let domain = match (group.is_domain, &scheme) {
                    (false, _) => "",
                    (true, Some(_)) => "*.",
                    (true, None) => "||",
                };
                let port = if group.port == 0 {
                    String::new()
                } else {
                    format!(":{}", group.port)
                };
                let end = if pattern.row.is_anchored { "$" } else { "" };
                // An entry for a scheme or a port has all paths.
                let has_origin = group.port != 0 || scheme.is_some();
                let path = String::from_utf8_lossy(pattern.text);
                let path = match &*path {
                    "/" if has_origin && end.is_empty() => "",
                    path => path,
                };
                format!(
                    "{mark}{}{domain}{}{port}{path}{end}",
                    scheme.unwrap_or_default(),
                    lists.host_text(host)?,
                )
            }
        })
    }
}
