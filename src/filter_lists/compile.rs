//! Compiles lists into one file: sorts the hosts, and gives each the set of its lists.
//!
//! Hosts are sorted in their stored form, reversed and by labels, so that the subdomains of a host
//! follow it. One pass over them then finds the hosts that have deeper entries, and adds the
//! ancestors that are in no list themselves: a search from the suffix of two labels on needs both.
//!
//! Entries with a path, a scheme or a port are few in most lists. They become rule sets of the
//! matcher, per host, scheme and port.

use super::entry::{Entry, EntryOptions, NotAnEntry, Scope};
use super::format::{
    CLASS_ROW_LEN, ClassRow, HOSTS_PER_BLOCK, HostFilter, HostPathsRow, LABEL_END, ListMetadata,
    ListsMetadata, PathEntryRow, PathGroupRow, Scheme, WordsIn, WordsMetadata, class_width,
    hash_host, is_list_name, is_top_label, stored_form,
};
use super::text::{Example, ListReport, read_entries, read_words};
use super::word::{EncodedWords, WordEntries, WordKind};
use super::words::MAX_SOFT_THRESHOLD;
use crate::atomic::AtomicFile;
use crate::decode::{Decoder, read_whole, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{DETECTION_LEN, FileFormat};
use crate::matcher::build::{self, CanonicalRule};
use crate::named_value::named_values;
use crate::output::{OutputFile, is_standard_stream};
use crate::profile::Profile;
use crate::robots::RuleKind;
use crate::robots::pattern::Pattern;
use crate::simd;
use crate::snapshot::format::{FileKind, NONE, Section};
use crate::snapshot::index::{BUCKET_LEN, IndexBuilder, Load};
use crate::snapshot::sections::Sections;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Seek, Write};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3Default;

/// Compiles filter lists: your own lists of domains, hosts and URL prefixes.
///
/// Lists are added in the order of their importance: of equal entries, the first list is named.
/// An entry of an allow list is an exception, as is a line that begins with `@@` in any list.
///
/// Memory: some 40 bytes for each entry, and its text. The result is the same for the same lists.
///
/// ```
/// use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
/// let mut compiler = ListCompiler::new();
/// let adult = "adult.example\n0.0.0.0 ads.example\n";
/// let report = compiler.add("adult", ListKind::Block, adult.as_bytes())?;
/// assert_eq!(report.entries, 2);
/// compiler.add("ours", ListKind::Allow, "good.adult.example\n".as_bytes())?;
/// let lists = FilterLists::new(compiler.finish()?.to_vec()?)?;
/// let found = lists.find(b"https://www.adult.example/x")?.unwrap();
/// assert_eq!((found.lists().next(), found.is_exception()), (Some("adult"), false));
/// assert!(lists.find(b"https://good.adult.example/")?.unwrap().is_exception());
/// assert!(lists.find(b"https://example.com/")?.is_none());
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ListCompiler {
    options: EntryOptions,
    lists: Vec<ListMetadata>,
    hosts: HostEntries,
    paths: PathEntries,
    words: WordEntries,
    words_in: WordsIn,
    /// 0 for the default.
    soft_threshold: u32,
}

/// The number of different soft words that list a URL, if nothing else is said: as datatrove has it.
const SOFT_THRESHOLD: u32 = 2;

/// The entries for whole hosts. A text may repeat one entry, so equal ones are dropped whenever there
/// are many: memory depends on the distinct entries.
#[derive(Debug, Default)]
struct HostEntries {
    entries: Vec<HostEntry>,
    /// The stored forms of their hosts, one after the other.
    texts: Vec<u8>,
    /// The number of entries that the last compaction left.
    compacted: usize,
    /// The bytes of `texts` that it left.
    compacted_bytes: usize,
}

/// The entries for paths.
#[derive(Debug, Default)]
struct PathEntries {
    entries: Vec<PathEntry>,
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
const COMPACTED_BYTES: usize = if cfg!(test) { 64 } else { 128 << 20 };

/// Whether the entries of a list are listed, or exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// The URLs of its entries are listed, but for lines that begin with `@@`.
    Block,
    /// All its entries are exceptions.
    Allow,
    /// Each line is a word. A URL that has it is listed: as a whole, between other characters than
    /// letters and digits.
    Words,
    /// Each line is a word. A URL that has several is listed
    /// ([`soft_threshold`](ListCompiler::soft_threshold)).
    SoftWords,
    /// Each line is a text. A URL that has it anywhere is listed, without the characters other than
    /// letters and digits in both.
    Substrings,
}

named_values! {
    /// The name, as it is written in reports.
    ListKind {
        Block = "block",
        Allow = "allow",
        Words = "words",
        SoftWords = "soft-words",
        Substrings = "substrings",
    }
}

impl ListKind {
    /// The kind of its words, if it has words.
    fn of_words(self) -> Option<WordKind> {
        match self {
            Self::Words => Some(WordKind::Word),
            Self::SoftWords => Some(WordKind::SoftWord),
            Self::Substrings => Some(WordKind::Substring),
            Self::Block | Self::Allow => None,
        }
    }
}

/// The bytes of a list that are read at once.
const READ_BUFFER: usize = 256 << 10;

/// Why a file that begins with `start` is not a text, and a remedy. A compiled file whose magic
/// number is damaged has NUL bytes after it.
fn not_a_text(start: &[u8]) -> Option<String> {
    let start = &start[..start.len().min(DETECTION_LEN)];
    let binary = || start.contains(&0).then_some(FileFormat::Binary);
    let format = FileFormat::of(start).or_else(binary)?;
    let remedy = match format {
        FileFormat::Gzip | FileFormat::Zstd => "compressed twice; decompress it once first",
        FileFormat::FilterLists => {
            "compiled already; give it alone and without a name, or the texts of which it was compiled"
        }
        _ => format
            .unpack()
            .unwrap_or("write its domains as text first, one per line"),
    };
    Some(format!(
        "{}, not a list of domains; {remedy}",
        format.name()
    ))
}

/// An entry for a whole host.
#[derive(Clone, Copy, Debug)]
struct HostEntry {
    /// The [`sort_key`] of the stored form.
    start: u128,
    /// The offset of the stored form in `texts`.
    text: u64,
    len: u8,
    kind: HostKind,
    list: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HostKind {
    Domain,
    DomainException,
    Host,
    HostException,
}

/// An entry for paths of a host, or for one scheme or port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PathEntry {
    /// In its stored form.
    host: Vec<u8>,
    is_domain: bool,
    scheme: Scheme,
    port: u16,
    has_wildcards: bool,
    priority: usize,
    text: Vec<u8>,
    is_anchored: bool,
    /// An allow sorts before a disallow with the same pattern.
    is_listed: bool,
    list: u16,
}

/// The most entries of a rule set, and the most bytes of their patterns. A host with more has
/// several sets, each of which a URL asks.
const MAX_GROUP_ENTRIES: usize = 20_000;
const MAX_GROUP_BYTES: usize = 1 << 20;

/// How many hosts before its use memory is prefetched.
const PREFETCH_DISTANCE: usize = 32;

/// The most seeds that are tried for the index. Even of a hundred million hosts, nearly all seeds
/// fit.
const MAX_SEEDS: u32 = 64;

/// The most lists of a file.
const MAX_LISTS: usize = u16::MAX as usize;

impl ListCompiler {
    /// The most soft words that a URL may need.
    pub const MAX_SOFT_THRESHOLD: u32 = MAX_SOFT_THRESHOLD;

    /// Without lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts public suffixes such as `com` and `co.uk` as domains; off by default, because a line
    /// that lists one is nearly always a mistake.
    pub fn allow_suffixes(mut self, allow: bool) -> Self {
        self.options.allow_suffixes = allow;
        self
    }

    /// How many different soft words a URL has to have in order to be listed; 2 by default. A number
    /// below 1 is taken for 1, and one above [`MAX_SOFT_THRESHOLD`](Self::MAX_SOFT_THRESHOLD) for
    /// that.
    pub fn soft_threshold(mut self, threshold: u32) -> Self {
        self.soft_threshold = threshold.clamp(1, MAX_SOFT_THRESHOLD);
        self
    }

    /// The part of URLs in which words and substrings are looked for; all after the scheme by
    /// default.
    pub fn words_in(mut self, part: WordsIn) -> Self {
        self.words_in = part;
        self
    }

    /// Adds a list by its name, the reason for the URLs that it names. Returns what the text held.
    ///
    /// # Errors
    /// Errors of the reader, without a path; [`BadList`](ErrorKind::BadList) for a text without any
    /// entry, but with lines that are none, and for a name with other characters than letters, digits,
    /// `-`, `_` and `.`; [`TooLarge`](ErrorKind::TooLarge) for more than 65,535 lists.
    pub fn add(&mut self, name: &str, kind: ListKind, text: impl BufRead) -> Result<ListReport> {
        if !is_list_name(name) {
            let what = format!(
                "the name {name:?} of a list has other characters than letters, digits, -, _ and ."
            );
            return Err(ErrorKind::BadList(what).into());
        }
        let list = u16::try_from(self.lists.len())
            .ok()
            .filter(|list| usize::from(*list) < MAX_LISTS)
            .ok_or_else(|| ErrorKind::TooLarge(format!("over {MAX_LISTS} lists")))?;
        let Self {
            options,
            hosts,
            paths,
            words,
            ..
        } = self;
        let mut report = ListReport::default();
        if let Some(kind) = kind.of_words() {
            read_words(text, kind, &mut report, &mut |word: &[u8]| {
                words.push(word, kind, list);
            })?;
            return self.add_read(name, report);
        }
        read_entries(text, *options, &mut report, &mut |entry: Entry<'_>| {
            let entry = Entry {
                is_exception: entry.is_exception || kind == ListKind::Allow,
                ..entry
            };
            if entry.path.is_none() && entry.scheme.is_none() && entry.port.is_none() {
                hosts.push(&entry, list);
            } else {
                paths.push(PathEntry::of(&entry, list));
            }
        })?;
        if kind == ListKind::Allow {
            report.exceptions = report.entries;
        }
        self.add_read(name, report)
    }

    /// Adds a list whose entries were read.
    fn add_read(&mut self, name: &str, report: ListReport) -> Result<ListReport> {
        if let (0, Some(first)) = (report.entries, report.examples.first()) {
            let Example { line, text, reason } = first;
            let hint = match reason {
                NotAnEntry::PublicSuffix => "; if its lines are words, name it as a list of words",
                _ => "",
            };
            let what =
                format!("no line is an entry of a list: line {line} is `{text}` ({reason}){hint}");
            return Err(ErrorKind::BadList(what).into());
        }
        self.lists.push(ListMetadata {
            name: name.to_owned(),
            entries: report.entries,
            exceptions: report.exceptions,
        });
        Ok(report)
    }

    /// Adds the list in a file (`-`: standard input), plain, gzip or zstd, as [`add`](Self::add)
    /// does.
    ///
    /// # Errors
    /// As [`add`](Self::add), with the path; [`BadList`](ErrorKind::BadList) for a file of another
    /// format than text.
    pub fn add_path(&mut self, name: &str, kind: ListKind, path: &Path) -> Result<ListReport> {
        self.add_file(name, kind, path)
            .map_err(|err| err.final_damage().at(path))
    }

    fn add_file(&mut self, name: &str, kind: ListKind, path: &Path) -> Result<ListReport> {
        let input = if is_standard_stream(path) {
            standard_input()
        } else {
            read_whole(File::open(path)?)
        };
        let mut input = BufReader::with_capacity(READ_BUFFER, input);
        let start = input.fill_buf().map_err(Error::from_io)?;
        if let Some(what) = refuse_by_name(path, start) {
            return Err(ErrorKind::BadList(what).into());
        }
        let mut decoded = Decoder::new(input).map_err(Error::from_io)?;
        while decoded.peeked().len() < DETECTION_LEN
            && decoded.peek_more().map_err(Error::from_io)?
        {}
        if let Some(what) = not_a_text(decoded.peeked()) {
            return Err(ErrorKind::BadList(what).into());
        }
        let text = BufReader::with_capacity(READ_BUFFER, decoded);
        self.add(name, kind, text)
    }

    /// The compiled file, ready to be written.
    ///
    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge) for more than four billion hosts or entries for paths, 4
    /// GiB of their texts, or 65,535 different sets of lists.
    pub fn finish(self) -> Result<CompiledLists> {
        let Self {
            lists,
            mut hosts,
            mut paths,
            words,
            words_in,
            soft_threshold,
            ..
        } = self;
        hosts.sort();
        paths.sort();
        let mut builder = FileBuilder::default();
        builder.add_all(&hosts.entries, &hosts.texts, &paths.entries)?;
        drop(hosts);
        builder.words = words.encode(&mut builder.sets)?;
        let mut file = builder.finish()?;
        let [words, soft_words, substrings] = file.words.counts;
        let words = (words + soft_words + substrings > 0).then_some(WordsMetadata {
            words,
            soft_words,
            substrings,
            soft_threshold: match soft_threshold {
                0 => SOFT_THRESHOLD,
                threshold => threshold,
            },
            part: words_in,
        });
        let metadata = ListsMetadata {
            tool: format!("robosieve {}", env!("CARGO_PKG_VERSION")),
            lists,
            hosts: file.listed_hosts,
            paths: file.path_entries_len,
            top_labels: file.top_labels,
            words,
        };
        file.metadata = serde_json::to_vec(&metadata).map_err(std::io::Error::from)?;
        Ok(file)
    }
}

impl HostEntries {
    fn push(&mut self, entry: &Entry<'_>, list: u16) {
        let entry = HostEntry::new(entry, list, &mut self.texts);
        self.entries.push(entry);
        if self.entries.len() >= COMPACTED_HOSTS.max(2 * self.compacted)
            || self.texts.len() >= COMPACTED_BYTES.max(2 * self.compacted_bytes)
        {
            self.compact();
        }
    }

    fn sort(&mut self) {
        let texts = &self.texts;
        self.entries.par_sort_unstable_by(|a, b| {
            let by_start = a.start.cmp(&b.start);
            let by_text = by_start.then_with(|| a.stored(texts).cmp(b.stored(texts)));
            by_text.then_with(|| (a.kind, a.list).cmp(&(b.kind, b.list)))
        });
    }

    /// Drops equal entries, and the texts that no entry has any more.
    fn compact(&mut self) {
        self.sort();
        let texts = std::mem::take(&mut self.texts);
        self.entries.dedup_by(|a, b| {
            (a.start, a.kind, a.list) == (b.start, b.kind, b.list)
                && a.stored(&texts) == b.stored(&texts)
        });
        let mut last = 0..0;
        for entry in &mut self.entries {
            let stored = entry.stored(&texts);
            // Neighbours may share a host.
            if self.texts.get(last.clone()) != Some(stored) || last.is_empty() {
                last = self.texts.len()..self.texts.len() + stored.len();
                self.texts.extend_from_slice(stored);
            }
            entry.text = last.start as u64;
        }
        self.compacted = self.entries.len();
        self.compacted_bytes = self.texts.len();
    }
}

impl PathEntries {
    fn push(&mut self, entry: PathEntry) {
        self.bytes += entry.byte_len();
        self.entries.push(entry);
        if self.entries.len() >= COMPACTED_PATHS.max(2 * self.compacted)
            || self.bytes >= COMPACTED_BYTES.max(2 * self.compacted_bytes)
        {
            self.sort();
            self.bytes = self.entries.iter().map(PathEntry::byte_len).sum();
            self.compacted = self.entries.len();
            self.compacted_bytes = self.bytes;
        }
    }

    /// Sorts the entries, and drops equal ones.
    fn sort(&mut self) {
        self.entries.par_sort_unstable();
        self.entries.dedup();
    }
}

impl HostEntry {
    fn new(entry: &Entry<'_>, list: u16, texts: &mut Vec<u8>) -> Self {
        let text = texts.len();
        texts.extend(stored_form(entry.host));
        Self {
            start: sort_key(&texts[text..]),
            text: text as u64,
            // Entries have at most 253 bytes of it.
            len: (texts.len() - text) as u8,
            kind: match (entry.scope, entry.is_exception) {
                (Scope::Domain, false) => HostKind::Domain,
                (Scope::Domain, true) => HostKind::DomainException,
                (Scope::Host, false) => HostKind::Host,
                (Scope::Host, true) => HostKind::HostException,
            },
            list,
        }
    }

    fn stored<'t>(&self, texts: &'t [u8]) -> &'t [u8] {
        texts
            .get(self.text as usize..self.text as usize + usize::from(self.len))
            .unwrap_or_default()
    }
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
            // The parser of entries lets no other byte through.
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

    fn of(entry: &Entry<'_>, list: u16) -> Self {
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

    /// Whether both have the same pattern in the same group, of whatever lists.
    fn is_same(&self, other: &Self) -> bool {
        self.is_same_group(other)
            && self.text == other.text
            && self.is_anchored == other.is_anchored
            && self.is_listed == other.is_listed
    }

    fn is_same_group(&self, other: &Self) -> bool {
        self.host == other.host
            && self.is_domain == other.is_domain
            && self.scheme == other.scheme
            && self.port == other.port
            && self.has_wildcards == other.has_wildcards
    }
}

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
struct FileBuilder {
    sets: ListSets,
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
    words: EncodedWords,
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
    fn add_all(
        &mut self,
        mut hosts: &[HostEntry],
        texts: &[u8],
        mut paths: &[PathEntry],
    ) -> Result<()> {
        loop {
            // The texts are in the order of the lists.
            if let Some(later) = hosts.get(PREFETCH_DISTANCE)
                && let Some(text) = texts.get(later.text as usize)
            {
                simd::prefetch(text);
            }
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
        let ends = memchr::memchr_iter(LABEL_END, host).skip(1);
        for len in ends.collect::<Vec<_>>() {
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
        self.is_suffix
            .push(memchr::memchr_iter(LABEL_END, host).count() < 2);
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
    fn finish(mut self) -> Result<CompiledLists> {
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
        let mut stored = Vec::new();
        let mut host = Vec::new();
        let mut rest = &self.host_texts[..];
        // Each insertion is a cache miss, so the buckets of some hosts are prefetched first.
        let mut waiting: VecDeque<(u64, u32)> = VecDeque::with_capacity(PREFETCH_DISTANCE);
        for (number, is_suffix) in (0..).zip(&self.is_suffix) {
            let [shared, len, text @ ..] = rest else {
                return false;
            };
            let (text, later) = text.split_at(usize::from(*len));
            rest = later;
            stored.truncate(usize::from(*shared));
            stored.extend_from_slice(text);
            host.clear();
            host.extend(stored.iter().rev().map(|b| match *b {
                LABEL_END => b'.',
                b => b,
            }));
            let hash = hash_host(&host, seed);
            if *is_suffix {
                HostFilter::add(filter, hash, self.class_of_host(number));
            }
            index.prefetch(hash);
            waiting.push_back((hash, number));
            if waiting.len() == PREFETCH_DISTANCE
                && let Some((hash, number)) = waiting.pop_front()
                && !index.add(hash, number)
            {
                return false;
            }
        }
        waiting
            .into_iter()
            .all(|(hash, number)| index.add(hash, number))
    }
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

/// Compiled lists, ready to be written.
#[derive(Debug)]
pub struct CompiledLists {
    seed: u64,
    metadata: Vec<u8>,
    host_filter: Vec<u8>,
    host_index: Vec<[u8; BUCKET_LEN]>,
    host_texts: Vec<u8>,
    host_blocks: Vec<u8>,
    host_classes: Vec<u8>,
    class_rows: Vec<u8>,
    list_sets: Vec<u8>,
    host_paths: Vec<u8>,
    path_groups: Vec<u8>,
    path_rules: Vec<u8>,
    path_entries: Vec<u8>,
    path_texts: Vec<u8>,
    words: EncodedWords,
    listed_hosts: u64,
    top_labels: u64,
    path_entries_len: u64,
}

impl CompiledLists {
    /// The number of distinct hosts with entries of their own.
    pub fn hosts(&self) -> u64 {
        self.listed_hosts
    }

    /// The number of distinct entries for paths, schemes or ports.
    pub fn paths(&self) -> u64 {
        self.path_entries_len
    }

    /// The number of distinct words, soft words and substrings.
    pub fn words(&self) -> u64 {
        self.words.counts.iter().sum()
    }

    /// Writes the file, which appears whole or not at all: to a temporary file, which is renamed.
    /// Returns its length in bytes.
    ///
    /// # Errors
    /// I/O errors with the path.
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<u64> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        let len = self.write_atomic(&mut file).map_err(|err| err.at(path))?;
        file.commit()?;
        Ok(len)
    }

    /// Writes to a new file, which appears on commit: alone, or together with others
    /// ([`OutputFile::commit_all`]). Returns its length in bytes.
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to); a file name with a compressed ending.
    pub fn write_into(&self, file: &mut OutputFile) -> Result<u64> {
        self.write_atomic(file.uncompressed()?)
    }

    fn write_atomic(&self, file: &mut AtomicFile) -> Result<u64> {
        if !file.is_stream() {
            return self.write(file);
        }
        // The head is written last, which a stream cannot do.
        let bytes = self.to_vec()?;
        file.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    fn write(&self, out: impl Write + Seek) -> Result<u64> {
        let contents: [(Section, &[u8]); Section::LISTS.len()] = [
            (Section::ListMetadata, &self.metadata),
            (Section::HostFilter, &self.host_filter),
            (Section::HostIndex, self.host_index.as_flattened()),
            (Section::HostTexts, &self.host_texts),
            (Section::HostBlocks, &self.host_blocks),
            (Section::HostClasses, &self.host_classes),
            (Section::ClassRows, &self.class_rows),
            (Section::ListSets, &self.list_sets),
            (Section::HostPaths, &self.host_paths),
            (Section::PathGroups, &self.path_groups),
            (Section::PathRules, &self.path_rules),
            (Section::PathEntries, &self.path_entries),
            (Section::PathTexts, &self.path_texts),
            (Section::Words, &self.words.rows),
            (Section::WordTexts, &self.words.texts),
            (Section::WordFilter, &self.words.filter),
        ];
        let mut sections = Sections::new(out, FileKind::FilterLists, contents.len() + 1);
        let slots = contents.map(|(section, bytes)| sections.reserve(section, bytes.len() as u64));
        for (slot, (_, bytes)) in slots.into_iter().zip(contents) {
            sections.fill(slot, |out| out.append(bytes))?;
        }
        sections.finish(self.seed)
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// None in practice: memory cannot fail to be written.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        self.write(&mut out)?;
        Ok(out.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_entries_are_dropped_by_their_bytes_too() {
        let mut compiler = ListCompiler::new();
        let long = "a".repeat(COMPACTED_BYTES - 4);
        let lines = format!("{long}.example\np.example/{long}\n").repeat(4);
        compiler
            .add("own", ListKind::Block, lines.as_bytes())
            .unwrap();
        // Without bytes, more entries than these are sorted at once.
        let ListCompiler { hosts, paths, .. } = &compiler;
        assert_eq!((hosts.entries.len(), paths.entries.len()), (1, 1));
        assert_eq!(hosts.texts.len(), long.len() + ".example".len());
    }
}
