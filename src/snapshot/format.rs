//! The layout of a snapshot: header, section table and rows, each encoder next to its decoder.
//!
//! All numbers are little-endian, and all rows have a fixed layout, so a mapped file is used as it
//! is. `docs/FORMAT.md` describes every byte.

use crate::bytes::wire::{Fields, array, bytes, u32_at, u64_at};
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{FileFormat, SNAPSHOT_MAGIC};
use crate::profile::Profile;
use crate::robots::LooksLike;
use crate::snapshot::outcome::{Outcome, OutcomeClass};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The version of the layout that this build writes and reads.
pub const FORMAT_VERSION: u32 = 3;

/// The null reference: the value of a field that refers to nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// The alignment of sections in bytes: a cache line, so that rows cross as few lines as possible.
pub(super) const SECTION_ALIGN: u64 = 64;

pub(super) const HEADER_LEN: usize = 32;
const TABLE_ROW_LEN: usize = 32;

/// The sections, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Section {
    Metadata = 1,
    Index = 2,
    Origins = 3,
    OriginMetadata = 4,
    Files = 5,
    Named = 6,
    RuleSets = 7,
    Patterns = 8,
    Tokens = 9,
    Texts = 10,
    Dictionary = 11,
    Strings = 12,
}

impl Section {
    pub(crate) const ALL: [Self; 12] = [
        Self::Metadata,
        Self::Index,
        Self::Origins,
        Self::OriginMetadata,
        Self::Files,
        Self::Named,
        Self::RuleSets,
        Self::Patterns,
        Self::Tokens,
        Self::Texts,
        Self::Dictionary,
        Self::Strings,
    ];

    /// The name in error messages and in the output of `inspect`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Index => "index",
            Self::Origins => "origins",
            Self::OriginMetadata => "origin metadata",
            Self::Files => "files",
            Self::Named => "named",
            Self::RuleSets => "rule sets",
            Self::Patterns => "patterns",
            Self::Tokens => "tokens",
            Self::Texts => "texts",
            Self::Dictionary => "dictionary",
            Self::Strings => "strings",
        }
    }
}

/// The position, the length and the checksum of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub offset: u64,
    pub len: u64,
    pub checksum: u64,
}

/// The extents of all sections, in the order of [`Section::ALL`].
pub(crate) type SectionTable = [Extent; Section::ALL.len()];

/// The offset of the header checksum.
pub(super) const HEADER_CHECKSUM_AT: usize = 24;

/// The length of header and section table. The first section follows them.
pub(super) const fn head_len() -> usize {
    HEADER_LEN + Section::ALL.len() * TABLE_ROW_LEN
}

/// Encodes header and section table.
pub(super) fn encode_head(table: &SectionTable, file_len: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(head_len());
    out.extend_from_slice(SNAPSHOT_MAGIC);
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.extend_from_slice(&(table.len() as u32).to_le_bytes());
    out.extend_from_slice(&file_len.to_le_bytes());
    // The checksum covers the header with zeros in its own place.
    out.extend_from_slice(&[0; 8]);
    for (section, extent) in Section::ALL.iter().zip(table) {
        out.extend_from_slice(&u64::from(*section as u32).to_le_bytes());
        out.extend_from_slice(&extent.offset.to_le_bytes());
        out.extend_from_slice(&extent.len.to_le_bytes());
        out.extend_from_slice(&extent.checksum.to_le_bytes());
    }
    let checksum = xxh3_64(&out);
    out[24..32].copy_from_slice(&checksum.to_le_bytes());
    out
}

/// Decodes header and section table.
///
/// The order of the checks determines the message: another file format first, then another version,
/// then damage, then a wrong length.
pub(super) fn decode_head(data: &[u8]) -> Result<SectionTable> {
    if !data.starts_with(SNAPSHOT_MAGIC) {
        return Err(not_a_snapshot(data));
    }
    let found = u32_at(data, 8, "the format version")?;
    if found != FORMAT_VERSION {
        return Err(ErrorKind::UnsupportedVersion { found, supported: FORMAT_VERSION }.into());
    }
    let mut head = bytes(data, 0, head_len(), "the header and section table")?.to_vec();
    let checksum = u64_at(&head, HEADER_CHECKSUM_AT, "the header checksum")?;
    head[24..32].fill(0);
    if xxh3_64(&head) != checksum {
        return Err(Error::corrupt("the header's checksum does not fit its content"));
    }
    let file_len = u64_at(&head, 16, "the file length")?;
    if file_len != data.len() as u64 {
        return Err(Error::corrupt(format!("the file is {} bytes long but should be {file_len}", data.len())));
    }
    if u32_at(&head, 12, "the section count")? as usize != Section::ALL.len() {
        return Err(Error::corrupt("the section table has another number of sections"));
    }
    decode_table(&head, file_len)
}

/// The error for bytes that are not a snapshot. It names their format, if known, and the command
/// that makes a snapshot of them.
pub(super) fn not_a_snapshot(data: &[u8]) -> Error {
    let what = match FileFormat::of(data) {
        _ if data.is_empty() => ": it is empty".to_owned(),
        None => String::new(),
        Some(format @ (FileFormat::Warc | FileFormat::Arc)) => {
            format!(" but {}; compile it first", format.name())
        }
        Some(format) => match format.unpack() {
            Some(unpack) => format!(" but {}; {unpack}", format.name()),
            None => format!(" but {}", format.name()),
        },
    };
    ErrorKind::NotASnapshot { what }.into()
}

fn decode_table(head: &[u8], file_len: u64) -> Result<SectionTable> {
    let mut table = SectionTable::default();
    for (i, (section, extent)) in Section::ALL.iter().zip(&mut table).enumerate() {
        let at = HEADER_LEN + i * TABLE_ROW_LEN;
        let row: [u8; TABLE_ROW_LEN] = array(head, at, "a row of the section table")?;
        let mut fields = Fields(&row);
        if fields.u64() != u64::from(*section as u32) {
            return Err(Error::corrupt(format!("the section table lacks the section \"{}\"", section.name())));
        }
        *extent = Extent { offset: fields.u64(), len: fields.u64(), checksum: fields.u64() };
        let end = extent.offset.checked_add(extent.len);
        if end.is_none_or(|end| end > file_len) || extent.offset < head_len() as u64 {
            return Err(Error::corrupt(format!("the section \"{}\" exceeds the file", section.name())));
        }
    }
    Ok(table)
}

/// The description of a snapshot that it stores itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Metadata {
    /// The program and version that wrote it.
    pub tool: String,
    /// The profile it was compiled for.
    pub profile: Profile,
    /// The sizes of its parts.
    pub counts: Counts,
    /// The oldest and the newest time of its captures, in seconds since 1970.
    pub captured: Option<(i64, i64)>,
}

/// The sizes of a snapshot's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Origins with an entry.
    pub origins: u64,
    /// Origins whose robots.txt was found through a redirect.
    pub redirected: u64,
    /// Origins with the rules of a 2xx answer.
    pub outcome_rules: u64,
    /// Origins that answered with 4xx except 429.
    pub outcome_client_error: u64,
    /// Origins that answered with 429 or 5xx.
    pub outcome_server_error: u64,
    /// Origins with network errors, or with answers that are not HTTP.
    pub outcome_unreachable: u64,
    /// Origins whose redirects the archive does not resolve.
    pub outcome_unresolved: u64,
    /// Distinct robots.txt files, compared by their condensed text.
    pub files: u64,
    /// Rule sets of all files and agents before deduplication.
    pub rule_sets_before: u64,
    /// Distinct rule sets.
    pub rule_sets: u64,
    /// Rules in the distinct rule sets.
    pub rules: u64,
    /// Distinct agent names (product tokens and extended tokens).
    pub tokens: u64,
}

/// A row of the section `origin metadata`: the outcome, and references to the rest of the origin.
///
/// Judging a URL reads it only if the origin has no rules. So it is kept apart from [`Entry`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OriginMetadata {
    pub outcome: Outcome,
    /// The origin's entry in the section `origins`, in units of 8 bytes.
    pub entry: u32,
    /// The file of the last good copy if the newest capture failed, else [`NONE`].
    pub last_good: u32,
    /// The URL that answered after redirects, in the section `strings`; or [`NONE`].
    pub source: u32,
    /// The reason for a missing answer, in the section `strings`; or [`NONE`].
    pub detail: u32,
}

pub(super) const ORIGIN_METADATA_LEN: usize = 48;
const NO_TIME: i64 = i64::MIN;

/// The last byte of a row: three bits for the outcome's class, and flags.
const CLASS: u8 = 0x07;
const HTML: u8 = 0x08;
const UTF16: u8 = 0x10;
const PAST_LIMIT: u8 = 0x20;
const TARGET_MISSING: u8 = 0x40;
const CUT_SHORT: u8 = 0x80;

impl OriginMetadata {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let o = &self.outcome;
        out.extend_from_slice(&o.fetched.unwrap_or(NO_TIME).to_le_bytes());
        out.extend_from_slice(&o.first_failure.unwrap_or(NO_TIME).to_le_bytes());
        out.extend_from_slice(&o.first_unreachable.unwrap_or(NO_TIME).to_le_bytes());
        out.extend_from_slice(&self.entry.to_le_bytes());
        out.extend_from_slice(&self.last_good.to_le_bytes());
        out.extend_from_slice(&o.max_age.unwrap_or(NONE).to_le_bytes());
        out.extend_from_slice(&self.source.to_le_bytes());
        out.extend_from_slice(&self.detail.to_le_bytes());
        out.extend_from_slice(&o.status.to_le_bytes());
        out.push(o.hops);
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let body = flag(o.looks_like == Some(LooksLike::Html), HTML)
            | flag(o.looks_like == Some(LooksLike::Utf16), UTF16)
            | flag(o.past_limit, PAST_LIMIT);
        out.push(o.class as u8 | body | flag(o.target_missing, TARGET_MISSING) | flag(o.cut_short, CUT_SHORT));
    }

    pub(super) fn decode(data: &[u8], row: u32) -> Result<Self> {
        let row: [u8; ORIGIN_METADATA_LEN] = array(data, row as usize * ORIGIN_METADATA_LEN, "an origin's metadata")?;
        let mut f = Fields(&row);
        let time = |value: i64| (value != NO_TIME).then_some(value);
        let (fetched, first_failure, first_unreachable) = (time(f.i64()), time(f.i64()), time(f.i64()));
        let (entry, last_good, max_age, source, detail) = (f.u32(), f.u32(), f.u32(), f.u32(), f.u32());
        let (status, hops, flags) = (f.u16(), f.u8(), f.u8());
        let class = OutcomeClass::from_u8(flags & CLASS).ok_or_else(|| Error::corrupt("an origin's outcome class"))?;
        let outcome = Outcome {
            class,
            status,
            hops,
            cut_short: flags & CUT_SHORT != 0,
            fetched,
            past_limit: flags & PAST_LIMIT != 0,
            looks_like: match flags & (HTML | UTF16) {
                HTML => Some(LooksLike::Html),
                UTF16 => Some(LooksLike::Utf16),
                _ => None,
            },
            target_missing: flags & TARGET_MISSING != 0,
            first_failure,
            first_unreachable,
            max_age: (max_age != NONE).then_some(max_age),
        };
        Ok(Self { outcome, entry, last_good, source, detail })
    }
}

/// An entry of the section `origins`: the part of an origin that every look-up reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub key: &'a [u8],
    /// The robots.txt whose rules apply, or [`NONE`].
    pub file: u32,
    /// The origin's row in the section `origin metadata`.
    pub row: u32,
    pub class: OutcomeClass,
}

const ENTRY_HEAD: usize = 12;

impl<'a> Entry<'a> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.file.to_le_bytes());
        out.extend_from_slice(&self.row.to_le_bytes());
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&[self.class as u8, 0]);
        out.extend_from_slice(self.key);
        out.resize(out.len().next_multiple_of(8), 0);
    }

    /// The entry at `place`, in units of 8 bytes.
    #[inline]
    pub(super) fn decode(data: &'a [u8], place: u32) -> Result<Self> {
        let at = place as usize * 8;
        let head: [u8; ENTRY_HEAD] = array(data, at, "an origin's entry")?;
        let mut f = Fields(&head);
        let (file, row, key_len, class) = (f.u32(), f.u32(), f.u16(), f.u8());
        let key = bytes(data, at + ENTRY_HEAD, usize::from(key_len), "an origin's key")?;
        match OutcomeClass::from_u8(class) {
            Some(class) => Ok(Self { key, file, row, class }),
            None => Err(Error::corrupt("an origin's outcome class")),
        }
    }
}

/// A row of the section `files`: one distinct robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    /// The rule set of the global groups, in units of 8 bytes; [`NONE`] if there is no such group.
    pub global: u32,
    /// The number of agent names with groups in the file.
    pub named_len: u32,
    /// Its first row in the section `named`.
    pub named_start: u64,
    /// The compressed condensed text in the section `texts`.
    pub text_start: u64,
    pub text_len: u32,
    /// The length of the condensed text.
    pub raw_len: u32,
}

pub(super) const FILE_LEN: usize = 32;

impl FileRow {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.global.to_le_bytes());
        out.extend_from_slice(&self.named_len.to_le_bytes());
        out.extend_from_slice(&self.named_start.to_le_bytes());
        out.extend_from_slice(&self.text_start.to_le_bytes());
        out.extend_from_slice(&self.text_len.to_le_bytes());
        out.extend_from_slice(&self.raw_len.to_le_bytes());
    }

    #[inline]
    pub(super) fn decode(data: &[u8], row: u32) -> Result<Self> {
        array(data, row as usize * FILE_LEN, "a robots.txt's row").map(|row| Self::of(&row))
    }

    /// Decodes a whole row.
    #[inline]
    pub(super) fn of(row: &[u8; FILE_LEN]) -> Self {
        let mut f = Fields(row);
        Self {
            global: f.u32(),
            named_len: f.u32(),
            named_start: f.u64(),
            text_start: f.u64(),
            text_len: f.u32(),
            raw_len: f.u32(),
        }
    }
}

/// A row of the section `named`: the rule set that a robots.txt has for one agent name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedRow {
    pub token: u32,
    /// The rule set, in units of 8 bytes.
    pub rule_set: u32,
}

pub(crate) const NAMED_LEN: usize = 8;

impl NamedRow {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.token.to_le_bytes());
        out.extend_from_slice(&self.rule_set.to_le_bytes());
    }

    #[inline]
    pub(crate) fn decode(row: &[u8; NAMED_LEN]) -> Self {
        let mut f = Fields(row);
        Self { token: f.u32(), rule_set: f.u32() }
    }
}

/// The hash of an origin's canonical key.
#[inline]
pub(crate) fn hash_key(key: &[u8]) -> u64 {
    xxh3_64(key)
}
