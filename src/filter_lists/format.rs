//! The layout of a compiled file of filter lists: its rows, each encoder next to its decoder.
//!
//! The file has the head, the blocks and the checksums of a snapshot. `docs/FORMAT.md` describes
//! every byte. From a host to what decides about it:
//!
//! ```text
//! host filter   Bloom filter of the suffixes with two labels: most hosts end here
//! host index    hash of a host → its number
//! host texts    the hosts, front-coded, which the number finds through `host blocks`
//! host classes  number → class
//! class rows    class → the lists that name the host, and whether deeper hosts are there
//! host paths    number → the rules for paths of the host, if it has any
//! ```
//!
//! Words are apart: `word filter` dismisses nearly all of a URL, and `words`, sorted by their texts in
//! `word texts`, have the sets of lists.

use crate::bytes::wire::{Fields, array};
use crate::error::Result;
use crate::named_value::named_values;
use crate::snapshot::format::{NONE, hash_key};
use crate::url::is_address;
use serde::{Deserialize, Serialize};

/// The description of a file of filter lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListsMetadata {
    /// The program and version that wrote the file.
    pub tool: String,
    /// The lists in their order, which decides between equal entries.
    pub lists: Vec<ListMetadata>,
    /// The distinct entries for whole hosts.
    pub hosts: u64,
    /// The distinct entries for paths, schemes or ports.
    pub paths: u64,
    /// The hosts of one label, such as `com` or `localhost`, but not addresses. Most files have none,
    /// and then look-ups need not ask for them.
    pub top_labels: u64,
    /// The words of the lists; `None` if they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<WordsMetadata>,
}

/// What a file of filter lists says about its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WordsMetadata {
    /// The distinct hard words, each of which lists a URL.
    pub words: u64,
    /// The distinct soft words.
    pub soft_words: u64,
    /// The distinct substrings.
    pub substrings: u64,
    /// The number of different soft words that list a URL.
    pub soft_threshold: u32,
    /// The part of URLs in which words are looked for.
    pub part: WordsIn,
}

/// The part of URLs in which words are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WordsIn {
    /// Everything after the scheme, without user name, password and fragment.
    #[default]
    Url,
    /// The host and the port.
    Host,
    /// Path and query.
    Path,
}

named_values! {
    /// The name, as it is written in options and in the metadata.
    WordsIn {
        Url = "url",
        Host = "host",
        Path = "path",
    }
}

/// Whether a text may be the name of a list: it is part of columns and of messages.
///
/// ```
/// use robosieve::filter_lists::is_list_name;
/// assert!(is_list_name("ads.en-2026") && !is_list_name("a b") && !is_list_name(".a"));
/// ```
pub fn is_list_name(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// A list of a compiled file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListMetadata {
    /// The name, which is the reason for a URL that the list names.
    pub name: String,
    /// The entries that it had, equal ones included.
    pub entries: u64,
    /// Those that are exceptions.
    pub exceptions: u64,
}

/// The hosts of a block of `host texts`: only the first has its whole text.
pub(super) const HOSTS_PER_BLOCK: u32 = 16;

/// The most labels of a host that have entries of their own: a name has 253 bytes.
pub(super) const MAX_LABELS: usize = 127;

/// The byte between the labels of a stored host. It sorts before all others, so the subdomains of a
/// host follow it.
pub(super) const LABEL_END: u8 = 0;

/// What the lists say about a host: for each kind of entry a set of lists, 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ClassRow {
    /// The lists with the host and its subdomains.
    pub domain: u16,
    /// Those with an exception for them.
    pub domain_exception: u16,
    /// The lists with the host alone.
    pub host: u16,
    pub host_exception: u16,
    /// Whether subdomains of the host have entries.
    pub has_deeper: bool,
    /// Whether paths of the host have entries: `host paths` has its number.
    pub has_paths: bool,
}

pub(super) const CLASS_ROW_LEN: usize = 12;

/// With as many classes or fewer, the class of a host has one byte, else two.
pub(super) const MAX_SHORT_CLASSES: usize = 256;

/// The bytes of the class of a host, in a file with these class rows.
pub(super) fn class_width(class_rows: &[u8]) -> usize {
    if class_rows.len() / CLASS_ROW_LEN <= MAX_SHORT_CLASSES {
        1
    } else {
        2
    }
}

impl ClassRow {
    pub(super) fn sets(&self) -> [u16; 4] {
        [
            self.domain,
            self.domain_exception,
            self.host,
            self.host_exception,
        ]
    }

    /// Whether a list has the whole host.
    pub(super) fn is_listed(&self) -> bool {
        self.sets() != [0; 4]
    }

    /// Whether a list has the whole host or some of its paths.
    pub(super) fn has_entries(&self) -> bool {
        self.is_listed() || self.has_paths
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.sets().into_iter().flat_map(u16::to_le_bytes));
        out.extend_from_slice(&[self.has_deeper.into(), self.has_paths.into(), 0, 0]);
    }

    pub(super) fn decode(rows: &[u8], class: u16) -> Result<Self> {
        let at = usize::from(class) * CLASS_ROW_LEN;
        let row: [u8; CLASS_ROW_LEN] = array(rows, at, "a class of hosts")?;
        let mut fields = Fields(&row);
        Ok(Self {
            domain: fields.u16(),
            domain_exception: fields.u16(),
            host: fields.u16(),
            host_exception: fields.u16(),
            has_deeper: fields.u8() != 0,
            has_paths: fields.u8() != 0,
        })
    }
}

/// A host with entries for paths. The rows ascend by host; the groups of a host end where those of
/// the next row begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostPathsRow {
    /// The number of the host; [`NONE`] in the last row.
    pub host: u32,
    pub first_group: u32,
}

pub(super) const HOST_PATHS_LEN: usize = 8;

impl HostPathsRow {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.host.to_le_bytes());
        out.extend_from_slice(&self.first_group.to_le_bytes());
    }

    pub(super) fn decode(rows: &[u8], number: usize) -> Result<Self> {
        let row: [u8; HOST_PATHS_LEN] = array(
            rows,
            number.saturating_mul(HOST_PATHS_LEN),
            "the paths of a host",
        )?;
        let mut fields = Fields(&row);
        Ok(Self {
            host: fields.u32(),
            first_group: fields.u32(),
        })
    }
}

/// The URLs of a host for which a group of rules counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Scheme(u8);

impl Scheme {
    pub(super) const ANY: Self = Self(0);
    const NAMES: [&'static str; 3] = ["http", "https", "ftp"];

    /// The scheme with this name, if entries may have it.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        let names = Self::NAMES.iter().zip(1..);
        names
            .filter(|(known, _)| known.as_bytes() == name)
            .map(|(_, number)| Self(number))
            .next()
    }

    /// Whether it is any scheme, or one of those that have a name.
    pub(super) fn is_known(self) -> bool {
        usize::from(self.0) <= Self::NAMES.len()
    }

    /// The name; `None` for any scheme.
    pub(super) fn name(self) -> Option<&'static str> {
        Self::NAMES
            .get(usize::from(self.0).checked_sub(1)?)
            .copied()
    }
}

/// Rules for paths of a host, or of a domain, with one scheme and port or with any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathGroupRow {
    /// Whether the paths of subdomains are meant too.
    pub is_domain: bool,
    /// Whether the patterns have `*`. Those without are found by their text.
    pub has_wildcards: bool,
    pub scheme: Scheme,
    /// 0 for any port without a scheme, and for the default port of a scheme.
    pub port: u16,
    /// The offset of the rule set in `path rules`, in units of 8 bytes. An exception is an allow.
    pub rules: u32,
    /// The first of its rows in `path entries`, which end where those of the next group begin.
    pub first_entry: u32,
}

pub(super) const PATH_GROUP_LEN: usize = 12;

impl PathGroupRow {
    /// The last row has the ends.
    pub(super) fn end(first_entry: u32) -> Self {
        Self {
            is_domain: false,
            has_wildcards: false,
            scheme: Scheme::ANY,
            port: 0,
            rules: NONE,
            first_entry,
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let flags = u8::from(self.is_domain) | u8::from(self.has_wildcards) << 1;
        out.extend_from_slice(&[flags, self.scheme.0]);
        out.extend_from_slice(&self.port.to_le_bytes());
        out.extend_from_slice(&self.rules.to_le_bytes());
        out.extend_from_slice(&self.first_entry.to_le_bytes());
    }

    pub(super) fn decode(rows: &[u8], number: u32) -> Result<Self> {
        let at = (number as usize).saturating_mul(PATH_GROUP_LEN);
        let row: [u8; PATH_GROUP_LEN] = array(rows, at, "a group of paths")?;
        let mut fields = Fields(&row);
        let flags = fields.u8();
        Ok(Self {
            is_domain: flags & 1 != 0,
            has_wildcards: flags & 2 != 0,
            scheme: Scheme(fields.u8()),
            port: fields.u16(),
            rules: fields.u32(),
            first_entry: fields.u32(),
        })
    }
}

/// An entry for paths. The entries of a group ascend by priority, then by text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathEntryRow {
    /// The offset of its pattern in `path texts`, which ends where the next one begins.
    pub text: u32,
    /// The set of its lists.
    pub set: u16,
    pub is_anchored: bool,
    pub is_exception: bool,
}

pub(super) const PATH_ENTRY_LEN: usize = 8;

impl PathEntryRow {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text.to_le_bytes());
        out.extend_from_slice(&self.set.to_le_bytes());
        out.extend_from_slice(&[self.is_anchored.into(), self.is_exception.into()]);
    }

    pub(super) fn decode(rows: &[u8], number: u32) -> Result<Self> {
        let at = (number as usize).saturating_mul(PATH_ENTRY_LEN);
        let row: [u8; PATH_ENTRY_LEN] = array(rows, at, "an entry for paths")?;
        let mut fields = Fields(&row);
        Ok(Self {
            text: fields.u32(),
            set: fields.u16(),
            is_anchored: fields.u8() != 0,
            is_exception: fields.u8() != 0,
        })
    }
}

/// A word. The rows ascend by their texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordRow {
    /// The offset of its text in `word texts`, which ends where the next one begins.
    pub text: u32,
    /// The set of the lists that have it as a hard word; 0 for none.
    pub word: u16,
    /// That of the lists that have it as a soft word.
    pub soft_word: u16,
    /// That of the lists that have it as a substring.
    pub substring: u16,
}

pub(super) const WORD_ROW_LEN: usize = 12;

impl WordRow {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text.to_le_bytes());
        let sets = [self.word, self.soft_word, self.substring, 0];
        out.extend(sets.into_iter().flat_map(u16::to_le_bytes));
    }

    pub(super) fn decode(rows: &[u8], number: u32) -> Result<Self> {
        let at = (number as usize).saturating_mul(WORD_ROW_LEN);
        let row: [u8; WORD_ROW_LEN] = array(rows, at, "a word")?;
        let mut fields = Fields(&row);
        Ok(Self {
            text: fields.u32(),
            word: fields.u16(),
            soft_word: fields.u16(),
            substring: fields.u16(),
        })
    }

    /// Whether the word is looked for among the tokens of a URL.
    pub(super) fn is_token(&self) -> bool {
        self.word != 0 || self.soft_word != 0
    }
}

/// The factor of multiplicative hashes: 2^64 divided by the golden ratio (Knuth, volume 3, section 6.4).
pub(super) const HASH_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A Bloom filter with one or two bits for a word, both in one of its units of eight bytes. It has 64
/// to 128 bits per word, so that of a thousand words it fits into the first-level cache. It dismisses
/// nearly all tokens.
///
/// The hash needs only the length of a token and its last eight bytes, so that a token of any length
/// takes one load and a multiplication.
#[derive(Clone, Copy)]
pub(super) struct WordFilter<'f> {
    units: &'f [[u8; 8]],
    /// The highest bits of a hash, shifted by it, are the number of a unit.
    shift: u32,
}

impl<'f> WordFilter<'f> {
    const UNIT_LEN: usize = 8;
    const MIN_UNITS: usize = 8;

    /// The bytes of the filter of this number of words; 0 without words.
    pub(super) fn encoded_len(words: usize) -> usize {
        match words {
            0 => 0,
            _ => words.next_power_of_two().max(Self::MIN_UNITS) * Self::UNIT_LEN,
        }
    }

    /// A filter with these bytes. That of a forged file may have any length: units beyond its end have
    /// no bits.
    #[inline(always)]
    pub(super) fn new(bytes: &'f [u8]) -> Self {
        let units = bytes.as_chunks().0;
        Self {
            units,
            shift: Self::shift(units.len()),
        }
    }

    #[inline(always)]
    fn shift(units: usize) -> u32 {
        (units.max(2) as u64).leading_zeros() + 1
    }

    /// Whether no word is a token.
    #[inline(always)]
    pub(super) fn is_empty(self) -> bool {
        self.units.is_empty()
    }

    /// The bytes of the filter of these words.
    pub(super) fn encode(words: &[impl AsRef<[u8]>]) -> Vec<u8> {
        let mut bytes = vec![0; Self::encoded_len(words.len())];
        let units = bytes.as_chunks_mut().0;
        let shift = Self::shift(units.len());
        for word in words.iter().map(AsRef::as_ref) {
            let tail = [&[0; 8], word].concat();
            let tail = tail.last_chunk().copied().unwrap_or_default();
            let hash = Self::hash(u64::from_le_bytes(tail), word.len());
            if let Some(unit) = units.get_mut((hash >> shift) as usize) {
                *unit = (u64::from_le_bytes(*unit) | Self::mask(hash)).to_le_bytes();
            }
        }
        bytes
    }

    /// Whether a token of this length may be a word. `tail` has the eight bytes before its end.
    #[inline(always)]
    pub(super) fn may_have(self, tail: u64, len: usize) -> bool {
        let hash = Self::hash(tail, len);
        let mask = Self::mask(hash);
        self.units
            .get((hash >> self.shift) as usize)
            .is_some_and(|unit| u64::from_le_bytes(*unit) & mask == mask)
    }

    /// The bits of a hash in its unit. Their numbers are below those of the unit, of which there may
    /// be 2^20 without bits in common.
    #[inline(always)]
    fn mask(hash: u64) -> u64 {
        1 << (hash >> 38 & 63) | 1 << (hash >> 32 & 63)
    }

    #[inline(always)]
    fn hash(tail: u64, len: usize) -> u64 {
        // The bytes before a shorter token.
        let before = 64 - 8 * len.min(8) as u32;
        (tail.wrapping_shr(before) ^ len as u64).wrapping_mul(HASH_MULTIPLIER)
    }
}

/// A Bloom filter whose bits of a key are in one word, so that a look-up reads one cache line.
///
/// Most hosts are in no list. Their suffix of two labels ends the search here, in memory that fits
/// into the second-level cache. With twelve bits for a key, one look-up in nineteen is a false hit.
///
/// A host has a key if it has entries, and another if deeper hosts have some. So a search skips the
/// host `co.uk` of a list of domains, which a tenth of all hosts of a crawl have for their suffix.
pub(super) struct HostFilter;

/// What the filter says about a host. It may say yes by mistake, but not no.
#[derive(Clone, Copy)]
pub(super) struct FilterAnswer {
    pub may_have_entries: bool,
    pub may_have_deeper: bool,
}

impl HostFilter {
    const BITS_PER_KEY: usize = 12;

    /// The positions in a hash of the numbers of the bits, each of six bits.
    const ENTRIES: [u32; 2] = [0, 6];
    const DEEPER: [u32; 2] = [12, 18];

    /// The number of words for this number of keys.
    pub(super) fn words(keys: usize) -> usize {
        keys * Self::BITS_PER_KEY / 64 + 1
    }

    /// The number of keys of a host.
    pub(super) fn keys(class: &ClassRow) -> usize {
        usize::from(class.has_entries()) + usize::from(class.has_deeper)
    }

    /// Adds the keys of a host.
    pub(super) fn add(words: &mut [u64], hash: u64, class: &ClassRow) {
        let at = Self::word_of(hash, words.len());
        if let Some(word) = words.get_mut(at) {
            if class.has_entries() {
                *word |= Self::mask(hash, Self::ENTRIES);
            }
            if class.has_deeper {
                *word |= Self::mask(hash, Self::DEEPER);
            }
        }
    }

    /// What the filter says about a host with this hash.
    #[inline(always)]
    pub(super) fn look_up(words: &[[u8; 8]], hash: u64) -> FilterAnswer {
        let word = words.get(Self::word_of(hash, words.len()));
        let word = word.map_or(0, |word| u64::from_le_bytes(*word));
        let entries = Self::mask(hash, Self::ENTRIES);
        let deeper = Self::mask(hash, Self::DEEPER);
        FilterAnswer {
            may_have_entries: word & entries == entries,
            may_have_deeper: word & deeper == deeper,
        }
    }

    /// The high bits of the hash choose the word, as they choose a bucket of the index.
    #[inline]
    pub(super) fn word_of(hash: u64, words: usize) -> usize {
        ((u128::from(hash) * words as u128) >> 64) as usize
    }

    /// Two bits, by two fields of the hash. With four, one look-up in 44 is a false hit, but each takes
    /// twelve instructions more, about as many as the searches save.
    #[inline(always)]
    fn mask(hash: u64, [first, second]: [u32; 2]) -> u64 {
        1 << (hash >> first & 63) | 1 << (hash >> second & 63)
    }
}

/// The hash of a host, in filter and index.
#[inline]
pub(super) fn hash_host(host: &[u8], seed: u64) -> u64 {
    hash_key(host, seed)
}

/// Whether a host in its stored form is a name of one label.
pub(super) fn is_top_label(stored: &[u8]) -> bool {
    // The dots of a name are replaced, and those of an address are not.
    !stored.starts_with(b"]") && !stored.iter().any(|b| [LABEL_END, b'.'].contains(b))
}

/// A host as it is stored: reversed, so that a common suffix is a common prefix, with
/// [`LABEL_END`] in place of dots.
pub(super) fn stored_form(host: &[u8]) -> impl Iterator<Item = u8> + '_ {
    stored_bytes(host, is_address(host))
}

/// The same of a host, or of its start, of which it is known whether it is an address.
pub(super) fn stored_bytes(host: &[u8], is_address: bool) -> impl Iterator<Item = u8> + '_ {
    host.iter().rev().map(move |b| match b {
        b'.' if !is_address => LABEL_END,
        b => *b,
    })
}
