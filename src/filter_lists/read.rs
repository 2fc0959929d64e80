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

use super::decision::{ListDecision, ListMatch};
use super::format::{ClassRow, FilterAnswer, HostFilter, ListsMetadata, MAX_LABELS, hash_host};
use super::paths::{HostPaths, OriginParts, list_path};
use super::words::{WordMemory, Words};
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::simd::{self, AnyBackend, Backend};
use crate::snapshot::format::{FileKind, Section};
use crate::snapshot::index::{self, Probe};
use crate::snapshot::section_file::SectionFile;
use crate::url::{self, is_address};
use ::bytes::Bytes;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

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

/// What the lists say about an origin, for any path.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginEntries {
    /// The hosts whose entries for paths may decide, from the most labels on.
    pub(super) paths: Vec<HostPaths>,
    /// The entry that decides if none of these does.
    pub(super) whole: Option<ListDecision>,
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

    /// The number of a host that is looked up first: the filter ends the search for most.
    pub(super) fn find_filtered(&self, host: &[u8]) -> Result<Option<u32>> {
        let hash = hash_host(host, self.file.seed());
        if !self.suffix_filter().has(hash) {
            return Ok(None);
        }
        self.find_hashed(host, hash)
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
