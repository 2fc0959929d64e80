//! Reads lists of domains, hosts, URL prefixes and words, and compiles them into one file.

use super::builder::FileBuilder;
use super::compiled::CompiledLists;
use super::entries::Entries;
use super::entry::{Entry, EntryOptions, NotAnEntry};
use super::format::{ListMetadata, ListsMetadata, WordsIn, WordsMetadata, is_list_name};
use super::read::FilterLists;
use super::text::{Example, ListReport, PART_SIZE, read_entries, read_words};
use super::word::{WordEntries, WordKind};
use super::words::MAX_SOFT_THRESHOLD;
use crate::decode::{Decoder, read_whole, refuse_by_name, standard_input};
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{DETECTION_LEN, FileFormat};
use crate::named_value::named_values;
use crate::output::is_standard_stream;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Compiles filter lists: your own lists of domains, hosts and URL prefixes.
///
/// Lists are added in the order of their importance: of equal entries, the first list is named.
/// An entry of an allow list is an exception, as is a line that begins with `@@` in any list.
///
/// All threads of the current rayon pool parse and sort. Memory: some 40 bytes for each entry, and
/// twice its text. The result is the same for the same lists.
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
    entries: Entries,
    /// What the rules with `$badfilter` of all lists cancel, as entries of list 0.
    cancelled: Entries,
    words: WordEntries,
    words_in: Option<WordsIn>,
    soft_threshold: Option<u32>,
}

/// The number of different soft words that list a URL, if nothing else is said: as datatrove has it.
const SOFT_THRESHOLD: u32 = 2;

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

/// Why a file that begins with `start` is not a text, and a remedy. A compiled file whose magic
/// number is damaged has NUL bytes after it.
fn not_a_text(start: &[u8]) -> Option<String> {
    let start = &start[..start.len().min(DETECTION_LEN)];
    let binary = || start.contains(&0).then_some(FileFormat::Binary);
    let format = FileFormat::of(start).or_else(binary)?;
    let remedy = match format {
        FileFormat::Gzip | FileFormat::Zstd => "compressed twice; decompress it once first",
        FileFormat::FilterLists => {
            "compiled already; add it as compiled lists, which have names of their own, or add its texts"
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

/// The entries in a part of a list, and those that it cancels.
#[derive(Debug, Default)]
struct ListPart {
    entries: Entries,
    cancelled: Entries,
}

impl ListPart {
    fn push(&mut self, entry: &Entry<'_>, is_allow_list: bool, list: u16) {
        let entry = Entry {
            is_exception: entry.is_exception || is_allow_list,
            ..*entry
        };
        if entry.is_cancellation {
            self.cancelled.push(&entry, 0);
        } else {
            self.entries.push(&entry, list);
        }
    }
}

/// Why compiled lists with such words do not go with others.
fn other_words(words: &WordsMetadata) -> String {
    format!(
        "its words are looked for in another part of URLs than those of other lists, or its soft words \
         with another threshold (here: `{}`, {}); compile the texts of all with the same ones",
        words.part, words.soft_threshold
    )
}

/// What a list may be of which no line is an entry, by its first line.
fn hint(first: &Example) -> &'static str {
    let is_word = first.text.bytes().all(|b| b.is_ascii_alphanumeric());
    match first.reason {
        // `casino` is a top-level domain too.
        NotAnEntry::PublicSuffix if is_word => {
            "; if its lines are words, name it as a list of words; if they are suffixes, allow \
             suffixes (allow_suffixes)"
        }
        NotAnEntry::OneLabel if is_word => "; if its lines are words, name it as a list of words",
        NotAnEntry::PublicSuffix | NotAnEntry::OneLabel => {
            "; if its lines are suffixes, allow suffixes (allow_suffixes)"
        }
        _ => "",
    }
}

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
        self.soft_threshold = Some(threshold.clamp(1, MAX_SOFT_THRESHOLD));
        self
    }

    /// The part of URLs in which words and substrings are looked for; all after the scheme by
    /// default.
    pub fn words_in(mut self, part: WordsIn) -> Self {
        self.words_in = Some(part);
        self
    }

    /// Adds a list by its name, the reason for the URLs that it names. Returns what the text held.
    ///
    /// A rule with `$badfilter` cancels the equal entries of all lists, also of those that are added
    /// later.
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
        let list = self.next_list(1)?;
        let mut report = ListReport::default();
        if let Some(kind) = kind.of_words() {
            let parse = |word: &[u8], words: &mut WordEntries| words.push(word, kind, list);
            read_words(text, kind, &mut report, parse, |part| {
                self.words.append(part)
            })?;
            return self.add_read(name, report);
        }
        let is_allow_list = kind == ListKind::Allow;
        read_entries(
            text,
            self.options,
            &mut report,
            |entry, part: &mut ListPart| part.push(&entry, is_allow_list, list),
            |part| {
                self.entries.append(part.entries);
                self.cancelled.append(part.cancelled);
            },
        )?;
        if is_allow_list {
            report.exceptions = report.entries;
        }
        self.add_read(name, report)
    }

    /// Adds lists that are compiled already, with their names and in their order.
    ///
    /// The result is that of their texts, but that a rule with `$badfilter` in these texts has only
    /// cancelled entries of the lists that were compiled with it. If the file has words, they are looked
    /// for in the same part of URLs and with the same threshold as before; what
    /// [`words_in`](Self::words_in) or [`soft_threshold`](Self::soft_threshold) has set must be the same,
    /// and holds for the other words too. Returns the lists.
    ///
    /// Cost: verifies the file, and then takes as long as the entries of a text do, without its parsing.
    ///
    /// ```
    /// use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
    /// let mut compiler = ListCompiler::new();
    /// compiler.add("ads", ListKind::Block, "ads.example\n".as_bytes())?;
    /// let ads = FilterLists::new(compiler.finish()?.to_vec()?)?;
    ///
    /// let mut compiler = ListCompiler::new();
    /// assert_eq!(compiler.add_compiled(&ads)?[0].name, "ads");
    /// compiler.add("ours", ListKind::Allow, "good.ads.example\n".as_bytes())?;
    /// let lists = FilterLists::new(compiler.finish()?.to_vec()?)?;
    /// assert!(lists.find(b"https://good.ads.example/")?.unwrap().is_exception());
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DamagedLists`](ErrorKind::DamagedLists); [`BadList`](ErrorKind::BadList) for words that are
    /// looked for in another way; [`TooLarge`](ErrorKind::TooLarge) for more than 65,535 lists.
    pub fn add_compiled(&mut self, lists: &FilterLists) -> Result<&[ListMetadata]> {
        lists.verify()?;
        let metadata = lists.metadata();
        let first_list = self.next_list(metadata.lists.len())?;
        if let Some(words) = &metadata.words {
            let has_soft_words = words.soft_words > 0;
            let is_other = self.words_in.is_some_and(|part| part != words.part)
                || has_soft_words
                    && self
                        .soft_threshold
                        .is_some_and(|threshold| threshold != words.soft_threshold);
            if is_other {
                return Err(lists.damage(ErrorKind::BadList(other_words(words)).into()));
            }
            self.words_in = Some(words.part);
            if has_soft_words {
                self.soft_threshold = Some(words.soft_threshold);
            }
        }
        let (entries, words) = lists.entries(first_list).map_err(|err| lists.damage(err))?;
        self.entries.append(entries);
        self.words.append(words);
        self.lists.extend_from_slice(&metadata.lists);
        Ok(&self.lists[usize::from(first_list)..])
    }

    /// The number of the first of some further lists.
    fn next_list(&self, further: usize) -> Result<u16> {
        let first = u16::try_from(self.lists.len()).ok();
        first
            .filter(|first| usize::from(*first) + further <= MAX_LISTS)
            .ok_or_else(|| ErrorKind::TooLarge(format!("over {MAX_LISTS} lists")).into())
    }

    /// Adds a list whose entries were read.
    fn add_read(&mut self, name: &str, report: ListReport) -> Result<ListReport> {
        let found = report.entries + report.cancellations;
        if let (0, Some(first)) = (found, report.examples.first()) {
            let Example { line, text, reason } = first;
            let what = format!(
                "no line is an entry of a list: line {line} is `{text}` ({reason}){}",
                hint(first)
            );
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
        let mut input = BufReader::with_capacity(PART_SIZE, input);
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
        let text = BufReader::with_capacity(PART_SIZE, decoded);
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
            mut entries,
            mut cancelled,
            words,
            words_in,
            soft_threshold,
            ..
        } = self;
        entries.compact();
        cancelled.compact();
        let Entries {
            mut hosts,
            mut paths,
        } = entries;
        // Adblockers void a rule by `$badfilter` in whichever of their lists it is.
        hosts.remove(&cancelled.hosts);
        paths.remove(&cancelled.paths);
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
            soft_threshold: soft_threshold.unwrap_or(SOFT_THRESHOLD),
            part: words_in.unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter_lists::entries::COMPACTED_BYTES;

    #[test]
    fn equal_entries_are_dropped_by_their_bytes_too() {
        let mut compiler = ListCompiler::new();
        let long = "a".repeat(COMPACTED_BYTES - 4);
        let lines = format!("{long}.example\np.example/{long}\n").repeat(4);
        compiler
            .add("own", ListKind::Block, lines.as_bytes())
            .unwrap();
        // Without bytes, more entries than these are sorted at once.
        let Entries { hosts, paths } = &compiler.entries;
        assert_eq!((hosts.entries.len(), paths.entries.len()), (1, 1));
        assert_eq!(hosts.texts.len(), long.len() + ".example".len());
    }
}
