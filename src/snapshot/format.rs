//! The layout of a snapshot: header, section table and rows, each encoder next to its decoder.
//!
//! All numbers are little-endian, and all rows have a fixed layout, so a mapped file is used as it
//! is. `docs/FORMAT.md` describes every byte.

use crate::bytes::wire::{Fields, array, bytes, time_bytes, u32_at, u64_at};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{FileFormat, LISTS_MAGIC, SNAPSHOT_MAGIC};
use crate::profile::Profile;
use crate::robots::LooksLike;
use crate::snapshot::outcome::{Outcome, OutcomeClass};
use crate::time_span::TimeSpan;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The version of the layout that this build writes and reads.
pub const FORMAT_VERSION: u32 = 5;

/// The version of the layout of filter lists.
pub(crate) const LISTS_VERSION: u32 = 2;

/// The null reference: the value of a field that refers to nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// The alignment of sections in bytes: a cache line, so that rows cross as few lines as possible.
pub(super) const SECTION_ALIGN: u64 = 64;

pub(super) const HEADER_LEN: usize = 40;
const TABLE_ROW_LEN: usize = 32;

/// The kinds of files that consist of sections. Each kind has sections of its own, and the
/// checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Snapshot,
    FilterLists,
}

impl FileKind {
    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Snapshot => SNAPSHOT_MAGIC,
            Self::FilterLists => LISTS_MAGIC,
        }
    }

    fn version(self) -> u32 {
        match self {
            Self::Snapshot => FORMAT_VERSION,
            Self::FilterLists => LISTS_VERSION,
        }
    }

    /// Its name, with the article.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "a snapshot",
            Self::FilterLists => "a compiled file of filter lists",
        }
    }

    /// The error for bytes of another kind. It names their format, if known, and the command that
    /// makes a file of this kind of them.
    pub(super) fn mismatch(self, data: &[u8]) -> Error {
        let format = FileFormat::of(data);
        let advice = match format {
            Some(FileFormat::Warc | FileFormat::Arc) if self == Self::Snapshot => {
                Some("compile it first")
            }
            _ => format.and_then(FileFormat::unpack),
        };
        let what = match (format.map(FileFormat::name), advice) {
            _ if data.is_empty() => ": it is empty".to_owned(),
            (None, _) => String::new(),
            (Some(name), None) => format!(" but {name}"),
            (Some(name), Some(advice)) => format!(" but {name}; {advice}"),
        };
        match self {
            Self::Snapshot => ErrorKind::NotASnapshot { what }.into(),
            Self::FilterLists => {
                Error::from(ErrorKind::NotFilterLists { what }).with_remedy(Remedy::CompileLists)
            }
        }
    }

    /// Whether files of this kind may have the section.
    fn has(self, section: Section) -> bool {
        section == Section::Checksums
            || match self {
                Self::Snapshot => !Section::LISTS.contains(&section),
                Self::FilterLists => Section::LISTS.contains(&section),
            }
    }
}

/// The sections that this version knows. A file has those of its kind in the order of
/// [`ALL`](Section::ALL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Section {
    Metadata = 1,
    Index = 2,
    Origins = 3,
    OriginMetadata = 4,
    OriginDetails = 5,
    Files = 6,
    Named = 7,
    RuleSets = 8,
    Tokens = 9,
    Texts = 10,
    Dictionary = 11,
    Strings = 12,
    /// The digests that archives state for the robots.txt files. Absent if there are none.
    Payloads = 14,
    /// The redirects before runs of failures. Absent if there are none.
    EarlierRedirects = 15,
    /// The first version of each URL with a history. Absent, with the next five, if there is none.
    VersionStarts = 16,
    Versions = 17,
    VersionFailures = 18,
    HistoryUrls = 19,
    HistoryTexts = 20,
    HistoryFrames = 21,
    /// The rules of short old texts, as [`RuleSections::OLD`]. Absent, with the next three, if there is
    /// no history, and in files of programs before them.
    OldFiles = 22,
    OldNamed = 23,
    OldRuleSets = 24,
    OldTokens = 25,
    /// These are those of a file of filter lists: `filter_lists/format.rs` describes them.
    ListMetadata = 26,
    HostFilter = 27,
    HostIndex = 28,
    HostTexts = 29,
    HostBlocks = 30,
    HostClasses = 31,
    ClassRows = 32,
    ListSets = 33,
    HostPaths = 34,
    PathGroups = 35,
    PathRules = 36,
    PathEntries = 37,
    PathTexts = 38,
    Words = 39,
    WordTexts = 40,
    WordFilter = 41,
    /// The checksums of the blocks of all other sections: the last one, whatever its number.
    Checksums = 13,
}

impl Section {
    pub(crate) const ALL: [Self; 41] = [
        Self::Metadata,
        Self::Index,
        Self::Origins,
        Self::OriginMetadata,
        Self::OriginDetails,
        Self::Files,
        Self::Named,
        Self::RuleSets,
        Self::Tokens,
        Self::Texts,
        Self::Dictionary,
        Self::Strings,
        Self::Payloads,
        Self::EarlierRedirects,
        Self::VersionStarts,
        Self::Versions,
        Self::VersionFailures,
        Self::HistoryUrls,
        Self::HistoryTexts,
        Self::HistoryFrames,
        Self::OldFiles,
        Self::OldNamed,
        Self::OldRuleSets,
        Self::OldTokens,
        Self::ListMetadata,
        Self::HostFilter,
        Self::HostIndex,
        Self::HostTexts,
        Self::HostBlocks,
        Self::HostClasses,
        Self::ClassRows,
        Self::ListSets,
        Self::HostPaths,
        Self::PathGroups,
        Self::PathRules,
        Self::PathEntries,
        Self::PathTexts,
        Self::Words,
        Self::WordTexts,
        Self::WordFilter,
        Self::Checksums,
    ];

    /// The sections of a file of filter lists, without the checksums.
    pub(crate) const LISTS: [Self; 16] = [
        Self::ListMetadata,
        Self::HostFilter,
        Self::HostIndex,
        Self::HostTexts,
        Self::HostBlocks,
        Self::HostClasses,
        Self::ClassRows,
        Self::ListSets,
        Self::HostPaths,
        Self::PathGroups,
        Self::PathRules,
        Self::PathEntries,
        Self::PathTexts,
        Self::Words,
        Self::WordTexts,
        Self::WordFilter,
    ];

    /// The sections of the history, without the rules of old texts.
    pub(crate) const HISTORY: [Self; 6] = [
        Self::VersionStarts,
        Self::Versions,
        Self::VersionFailures,
        Self::HistoryUrls,
        Self::HistoryTexts,
        Self::HistoryFrames,
    ];

    /// Its position in a [`SectionTable`].
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self as usize - 1
    }

    /// The section with this number in files of a kind.
    fn of_number(number: u32, kind: FileKind) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|section| *section as u32 == number && kind.has(*section))
    }

    /// Whether a file may lack it, and a reader may ignore it.
    fn is_optional(self) -> bool {
        matches!(self, Self::Payloads | Self::EarlierRedirects)
            || Self::HISTORY.contains(&self)
            || RuleSections::OLD.all().contains(&self)
    }

    /// The name in error messages and in the output of `inspect`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Index => "index",
            Self::Origins => "origins",
            Self::OriginMetadata => "origin metadata",
            Self::OriginDetails => "origin details",
            Self::Files => "files",
            Self::Named => "named",
            Self::RuleSets => "rule sets",
            Self::Tokens => "tokens",
            Self::Texts => "texts",
            Self::Dictionary => "dictionary",
            Self::Strings => "strings",
            Self::Payloads => "payloads",
            Self::EarlierRedirects => "earlier redirects",
            Self::VersionStarts => "version starts",
            Self::Versions => "versions",
            Self::VersionFailures => "version failures",
            Self::HistoryUrls => "history URLs",
            Self::HistoryTexts => "history texts",
            Self::HistoryFrames => "history frames",
            Self::OldFiles => "old files",
            Self::OldNamed => "old named",
            Self::OldRuleSets => "old rule sets",
            Self::OldTokens => "old tokens",
            Self::ListMetadata => "list metadata",
            Self::HostFilter => "host filter",
            Self::HostIndex => "host index",
            Self::HostTexts => "host texts",
            Self::HostBlocks => "host blocks",
            Self::HostClasses => "host classes",
            Self::ClassRows => "class rows",
            Self::ListSets => "list sets",
            Self::HostPaths => "host paths",
            Self::PathGroups => "path groups",
            Self::PathRules => "path rules",
            Self::PathEntries => "path entries",
            Self::PathTexts => "path texts",
            Self::Words => "words",
            Self::WordTexts => "word texts",
            Self::WordFilter => "word filter",
            Self::Checksums => "checksums",
        }
    }
}

/// The four sections with the rules of robots.txt files by agent name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleSections {
    pub files: Section,
    pub named: Section,
    pub rule_sets: Section,
    pub tokens: Section,
}

impl RuleSections {
    /// The rules of the files, which the newest answers have.
    pub(crate) const NEWEST: Self = Self {
        files: Section::Files,
        named: Section::Named,
        rule_sets: Section::RuleSets,
        tokens: Section::Tokens,
    };

    /// The rules of short old texts, which only a history has.
    pub(crate) const OLD: Self = Self {
        files: Section::OldFiles,
        named: Section::OldNamed,
        rule_sets: Section::OldRuleSets,
        tokens: Section::OldTokens,
    };

    /// In the order of the file.
    pub(crate) const fn all(self) -> [Section; 4] {
        [self.files, self.named, self.rule_sets, self.tokens]
    }
}

/// The position of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub offset: u64,
    pub len: u64,
    /// The checksum of the checksums of its blocks; 0 for the section of checksums itself.
    pub checksum: u64,
}

/// The length of a block, which has a checksum of its own.
pub(crate) const BLOCK_LEN: usize = 64 << 10;

/// The length of a block's checksum.
pub(super) const CHECKSUM_LEN: usize = 8;

impl Extent {
    /// The bytes of the section in a file with this extent in its table.
    #[inline]
    pub(super) fn bytes_in<'f>(&self, file: &'f [u8]) -> &'f [u8] {
        file.get(self.offset as usize..(self.offset + self.len) as usize)
            .unwrap_or_default()
    }

    /// The number of blocks: each but the last has [`BLOCK_LEN`] bytes.
    pub(super) fn blocks(&self) -> u64 {
        self.len.div_ceil(BLOCK_LEN as u64)
    }
}

/// The extents of the known sections, by [`Section::index`]. An absent section has length 0.
pub(crate) type SectionTable = [Extent; Section::ALL.len()];

/// A row of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectionRow {
    /// `None` for a section that this version does not know, and may ignore.
    pub section: Option<Section>,
    pub extent: Extent,
}

impl SectionRow {
    /// The name of the section in error messages and in the output of `inspect`.
    pub(super) fn name(&self) -> &'static str {
        self.section.map_or("unknown", Section::name)
    }
}

/// Header and section table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub kind: FileKind,
    /// All sections in the order of the file.
    pub rows: Vec<SectionRow>,
    /// The seed of the index's hashes.
    pub seed: u64,
}

impl Head {
    /// The known sections.
    pub(super) fn table(&self) -> SectionTable {
        let mut table: SectionTable = [Extent::default(); Section::ALL.len()];
        for row in &self.rows {
            if let Some(section) = row.section {
                table[section.index()] = row.extent;
            }
        }
        table
    }
}

/// A bit of the flags of a row: a reader that does not know the section must refuse the file.
const REQUIRED: u32 = 1;

/// The most sections of a file. A forged number of them costs no more.
const MAX_SECTIONS: usize = 64;

/// The offset of the header checksum.
pub(super) const HEADER_CHECKSUM_AT: usize = 32;

/// The length of the header, and of a table of this many sections. The first section follows them.
pub(super) const fn head_len(sections: usize) -> usize {
    HEADER_LEN + sections * TABLE_ROW_LEN
}

/// Encodes header and section table.
pub(super) fn encode_head(head: &Head, file_len: u64) -> Vec<u8> {
    let Head { kind, rows, seed } = head;
    let mut out = Vec::with_capacity(head_len(rows.len()));
    out.extend_from_slice(kind.magic());
    out.extend_from_slice(&kind.version().to_le_bytes());
    out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
    out.extend_from_slice(&file_len.to_le_bytes());
    out.extend_from_slice(&seed.to_le_bytes());
    // The checksum covers the header with zeros in its own place.
    out.extend_from_slice(&[0; 8]);
    for SectionRow { section, extent } in rows {
        // The writer writes known sections only.
        let number = section.map_or(0, |section| section as u32);
        let is_required = section.is_some_and(|section| !section.is_optional());
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&(if is_required { REQUIRED } else { 0 }).to_le_bytes());
        out.extend_from_slice(&extent.offset.to_le_bytes());
        out.extend_from_slice(&extent.len.to_le_bytes());
        out.extend_from_slice(&extent.checksum.to_le_bytes());
    }
    let checksum = xxh3_64(&out);
    out[HEADER_CHECKSUM_AT..HEADER_LEN].copy_from_slice(&checksum.to_le_bytes());
    out
}

/// Decodes header and section table.
///
/// The order of the checks determines the message: another file format first, then another version,
/// then damage, then a wrong length, then a section that this version does not know.
pub(super) fn decode_head(data: &[u8], kind: FileKind) -> Result<Head> {
    if !data.starts_with(kind.magic()) {
        return Err(kind.mismatch(data));
    }
    let found = u32_at(data, 8, "the format version")?;
    let supported = kind.version();
    if found != supported {
        return Err(ErrorKind::UnsupportedVersion { found, supported }.into());
    }
    // The number of sections is used before the checksum is compared, because it states how much the
    // checksum covers.
    let count = u32_at(data, 12, "the section count")? as usize;
    if count > MAX_SECTIONS {
        return Err(Error::corrupt(format!("{count} sections")));
    }
    let mut head = bytes(data, 0, head_len(count), "the header and section table")?.to_vec();
    let checksum = u64_at(&head, HEADER_CHECKSUM_AT, "the header checksum")?;
    head[HEADER_CHECKSUM_AT..HEADER_LEN].fill(0);
    if xxh3_64(&head) != checksum {
        return Err(Error::corrupt(
            "the header's checksum does not fit its content",
        ));
    }
    let file_len = u64_at(&head, 16, "the file length")?;
    if file_len != data.len() as u64 {
        return Err(Error::corrupt(format!(
            "the file is {} bytes long but should be {file_len}",
            data.len()
        )));
    }
    Ok(Head {
        kind,
        rows: decode_rows(&head, count, file_len, kind)?,
        seed: u64_at(&head, 24, "the seed of the index")?,
    })
}

/// Decodes the section table. All required sections are there, each once, and in the order of their
/// numbers, with the checksums last.
fn decode_rows(
    head: &[u8],
    count: usize,
    file_len: u64,
    kind: FileKind,
) -> Result<Vec<SectionRow>> {
    let mut rows = Vec::with_capacity(count);
    let mut last = 0;
    for position in 0..count {
        let at = HEADER_LEN + position * TABLE_ROW_LEN;
        let row: [u8; TABLE_ROW_LEN] = array(head, at, "a row of the section table")?;
        let mut fields = Fields(&row);
        let number = fields.u32();
        let flags = fields.u32();
        let extent = Extent {
            offset: fields.u64(),
            len: fields.u64(),
            checksum: fields.u64(),
        };
        let section = Section::of_number(number, kind);
        if section.is_none() && flags & REQUIRED != 0 {
            return Err(ErrorKind::UnknownSection { number }.into());
        }
        let row = SectionRow { section, extent };
        let is_last = position + 1 == count;
        let is_in_order = match section {
            Some(Section::Checksums) => is_last,
            _ => number > last && !is_last,
        };
        if !is_in_order {
            return Err(Error::corrupt("the sections are out of order"));
        }
        last = number;
        // A section outside of the file would read as an empty one later.
        let end = extent.offset.checked_add(extent.len);
        if end.is_none_or(|end| end > file_len) || extent.offset < head_len(count) as u64 {
            return Err(Error::corrupt(format!(
                "the section \"{}\" exceeds the file",
                row.name()
            )));
        }
        rows.push(row);
    }
    for section in Section::ALL
        .into_iter()
        .filter(|section| kind.has(*section))
    {
        let is_there = rows.iter().any(|row| row.section == Some(section));
        if !is_there && !section.is_optional() {
            return Err(Error::corrupt(format!(
                "the section table lacks the section \"{}\"",
                section.name()
            )));
        }
    }
    // Each block has a checksum, so a short section would leave blocks unverified.
    if let Some((checksums, others)) = rows.split_last() {
        let blocks: u64 = others.iter().map(|row| row.extent.blocks()).sum();
        if blocks.checked_mul(CHECKSUM_LEN as u64) != Some(checksums.extent.len) {
            return Err(Error::corrupt(
                "the section \"checksums\" has another length than the blocks need",
            ));
        }
    }
    Ok(rows)
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
    /// The times of its oldest and newest capture; `None` if no time is known.
    pub captured: Option<TimeSpan>,
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

/// The outcome of an origin, and references to the rest of it: a row of the section
/// `origin metadata`, with a row of `origin details` if it has more than nearly all others.
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

pub(super) const ORIGIN_METADATA_LEN: usize = 16;
pub(super) const ORIGIN_DETAILS_LEN: usize = 40;

/// The hops of a redirect in the byte before the flags, and a flag of it: the row refers to
/// details.
const HOPS: u8 = 0x07;
const HAS_DETAILS: u8 = 0x08;

/// The last byte of a row: three bits for the outcome's class, and flags.
const CLASS: u8 = 0x07;
const HTML: u8 = 0x08;
const UTF16: u8 = 0x10;
const PAST_LIMIT: u8 = 0x20;
const TARGET_MISSING: u8 = 0x40;
const CUT_SHORT: u8 = 0x80;

fn flag(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}

/// The properties of a body that an outcome records: bits of the flags of an origin, and of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BodyBits(pub(super) u8);

impl BodyBits {
    pub(crate) fn new(looks_like: Option<LooksLike>, past_limit: bool, cut_short: bool) -> Self {
        let looks_like = match looks_like {
            None => 0,
            Some(LooksLike::Html) => HTML,
            Some(LooksLike::Utf16) => UTF16,
        };
        Self(looks_like | flag(past_limit, PAST_LIMIT) | flag(cut_short, CUT_SHORT))
    }

    /// Sets the properties of an outcome.
    pub(crate) fn apply(self, outcome: &mut Outcome) {
        outcome.looks_like = match self.0 & (HTML | UTF16) {
            HTML => Some(LooksLike::Html),
            UTF16 => Some(LooksLike::Utf16),
            _ => None,
        };
        outcome.past_limit = self.0 & PAST_LIMIT != 0;
        outcome.cut_short = self.0 & CUT_SHORT != 0;
    }
}

impl OriginMetadata {
    /// The time of the newest capture, if a row has room for it: up to the year 2106.
    fn short_time(&self) -> Option<u32> {
        let Some(time) = self.outcome.fetched else {
            return Some(NONE);
        };
        u32::try_from(time).ok().filter(|&time| time != NONE)
    }

    /// Whether a row has no room for it.
    fn has_details(&self) -> bool {
        let Outcome {
            first_failure,
            first_unreachable,
            ..
        } = self.outcome;
        let references = [self.last_good, self.detail];
        self.short_time().is_none()
            || first_failure.is_some()
            || first_unreachable.is_some()
            || self.outcome.wait().is_some()
            || references != [NONE; 2]
    }

    /// Appends the row, and a row of details if it needs one: `details_row` is its number.
    pub(super) fn encode(&self, details_row: u32, row: &mut Vec<u8>, details: &mut Vec<u8>) {
        // Most origins need no details: their time and their source fit in the row.
        let o = &self.outcome;
        let has_details = self.has_details();
        let (time, reference) = match self.short_time() {
            Some(time) if !has_details => (time, self.source),
            _ => (NONE, details_row),
        };
        row.extend(
            [self.entry, time, reference]
                .into_iter()
                .flat_map(u32::to_le_bytes),
        );
        row.extend_from_slice(&o.status.to_le_bytes());
        row.push(o.hops & HOPS | flag(has_details, HAS_DETAILS));
        let body = BodyBits::new(o.looks_like, o.past_limit, o.cut_short);
        row.push(o.class as u8 | body.0 | flag(o.target_missing, TARGET_MISSING));
        if has_details {
            let times = [o.fetched, o.first_failure, o.first_unreachable];
            details.extend(times.into_iter().flat_map(time_bytes));
            let numbers = [
                self.last_good,
                o.wait().unwrap_or(NONE),
                self.source,
                self.detail,
            ];
            details.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        }
    }

    /// The row of details that a row refers to, if any.
    pub(super) fn details_row(rows: &[u8], row: u32) -> Result<Option<u32>> {
        Ok(Self::decode_row(rows, row)?.1)
    }

    pub(super) fn decode(rows: &[u8], details: &[u8], row: u32) -> Result<Self> {
        match Self::decode_row(rows, row)? {
            (metadata, Some(row)) => metadata.with_details(details, row),
            (metadata, None) => Ok(metadata),
        }
    }

    /// Decodes a row without its details; returns their row too.
    #[inline]
    fn decode_row(rows: &[u8], row: u32) -> Result<(Self, Option<u32>)> {
        let row: [u8; ORIGIN_METADATA_LEN] = array(
            rows,
            row as usize * ORIGIN_METADATA_LEN,
            "an origin's metadata",
        )?;
        let mut f = Fields(&row);
        let entry = f.u32();
        let time = f.u32();
        let reference = f.u32();
        let status = f.u16();
        let hops = f.u8();
        let flags = f.u8();
        let class = OutcomeClass::from_u8(flags & CLASS)
            .ok_or_else(|| Error::corrupt("an origin's outcome class"))?;
        let mut outcome = Outcome::new(class, status);
        outcome.hops = hops & HOPS;
        outcome.fetched = (time != NONE).then_some(i64::from(time));
        outcome.target_missing = flags & TARGET_MISSING != 0;
        BodyBits(flags).apply(&mut outcome);
        // With details, the reference is their row; without, it is the source.
        let metadata = Self {
            outcome,
            entry,
            last_good: NONE,
            source: reference,
            detail: NONE,
        };
        Ok((metadata, (hops & HAS_DETAILS != 0).then_some(reference)))
    }

    fn with_details(mut self, details: &[u8], row: u32) -> Result<Self> {
        let row: [u8; ORIGIN_DETAILS_LEN] = array(
            details,
            row as usize * ORIGIN_DETAILS_LEN,
            "an origin's details",
        )?;
        let mut f = Fields(&row);
        self.outcome.fetched = f.time();
        self.outcome.first_failure = f.time();
        self.outcome.first_unreachable = f.time();
        self.last_good = f.u32();
        self.outcome
            .set_wait(Some(f.u32()).filter(|&seconds| seconds != NONE));
        self.source = f.u32();
        self.detail = f.u32();
        Ok(self)
    }
}

/// The length of a row of the section `payloads`, which has one for each origin.
pub(super) const PAYLOAD_LEN: usize = 16;

/// The row of an origin without a digest.
pub(super) const NO_PAYLOAD: Digest = [0; PAYLOAD_LEN];

/// A row of the section `earlier redirects`: the redirects that preceded the failures of an origin
/// without a last good copy.
///
/// A later 304 confirms them, and ends the run of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierRedirectRow {
    /// The origin's row in the section `origin metadata`.
    pub origin: u32,
    /// The URL of their end in the section `strings`; [`NONE`] for a redirect without a target.
    pub end: u32,
    /// The status at the end.
    pub status: u16,
    /// The redirects to the end.
    pub hops: u8,
}

pub(super) const EARLIER_REDIRECT_LEN: usize = 12;

impl EarlierRedirectRow {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.origin.to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&[self.hops, 0]);
    }

    /// The row at a position of the section.
    pub(super) fn decode(rows: &[u8], position: usize) -> Result<Self> {
        let at = position * EARLIER_REDIRECT_LEN;
        let row: [u8; EARLIER_REDIRECT_LEN] = array(rows, at, "an earlier redirect")?;
        let mut f = Fields(&row);
        Ok(Self {
            origin: f.u32(),
            end: f.u32(),
            status: f.u16(),
            hops: f.u8(),
        })
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
    /// Whether the outcome is known to be [that of a site without a
    /// robots.txt](crate::snapshot::Outcome::has_no_robots_txt), which needs no look at the
    /// metadata.
    pub has_no_robots_txt: bool,
}

pub(super) const ENTRY_HEAD: usize = 12;

/// The class and the flag of an entry of a site without a robots.txt, as one number.
const NO_ROBOTS_TXT: u16 = OutcomeClass::ClientError as u16 | 1 << 8;

impl<'a> Entry<'a> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.file.to_le_bytes());
        out.extend_from_slice(&self.row.to_le_bytes());
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&[self.class as u8, u8::from(self.has_no_robots_txt)]);
        out.extend_from_slice(self.key);
        out.resize(out.len().next_multiple_of(8), 0);
    }

    /// Whether it states nothing but the truth about an outcome. Programs before this flag left it
    /// out.
    pub(super) fn is_of(&self, outcome: &Outcome) -> bool {
        self.class == outcome.class && (!self.has_no_robots_txt || outcome.has_no_robots_txt())
    }

    /// Whether the class and the byte after it are those of a site without a robots.txt.
    #[inline(always)]
    pub(super) fn is_no_robots_txt(class_and_flag: u16) -> bool {
        class_and_flag == NO_ROBOTS_TXT
    }

    /// The length of the entry at the start of some bytes; `None` if they do not have all of it.
    pub(super) fn encoded_len(data: &[u8]) -> Option<usize> {
        let len = (ENTRY_HEAD + usize::from(Self::key_len(data, 0).ok()?)).next_multiple_of(8);
        (len <= data.len()).then_some(len)
    }

    /// The length of the key of the entry at `offset`.
    pub(super) fn key_len(data: &[u8], offset: u32) -> Result<u16> {
        array(
            data,
            offset as usize * 8 + 8,
            "the length of an origin's key",
        )
        .map(u16::from_le_bytes)
    }

    /// The entry at `offset`, in units of 8 bytes.
    #[inline]
    pub(super) fn decode(data: &'a [u8], offset: u32) -> Result<Self> {
        let at = offset as usize * 8;
        let head: [u8; ENTRY_HEAD] = array(data, at, "an origin's entry")?;
        let mut f = Fields(&head);
        let file = f.u32();
        let row = f.u32();
        let key_len = f.u16();
        let class = f.u8();
        let flag = f.u8();
        let key = bytes(
            data,
            at + ENTRY_HEAD,
            usize::from(key_len),
            "an origin's key",
        )?;
        let class_and_flag = u16::from_le_bytes([class, flag]);
        let has_no_robots_txt = Self::is_no_robots_txt(class_and_flag);
        match OutcomeClass::from_u8(class) {
            Some(class) if flag == 0 || has_no_robots_txt => Ok(Self {
                key,
                file,
                row,
                class,
                has_no_robots_txt,
            }),
            _ => Err(Error::corrupt("an origin's outcome class")),
        }
    }
}

/// One distinct robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    /// The rule set of the global groups, in units of 8 bytes; [`NONE`] if there is no such group.
    pub global: u32,
    /// The first of its rows in the section `named`, and the first one after them.
    pub named: (u32, u32),
    /// The first byte of its compressed condensed text in the section `texts`, and the first one
    /// after it.
    pub text: (u64, u64),
}

/// A row of the section `files`. The agents and the text of a file end where those of the next one
/// begin, so a row after the last file ends those of that.
pub(crate) const FILE_LEN: usize = 16;

impl FileRow {
    /// Appends a row; the next row has the ends.
    pub(super) fn encode(global: u32, named_start: u32, text_start: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&global.to_le_bytes());
        out.extend_from_slice(&named_start.to_le_bytes());
        out.extend_from_slice(&text_start.to_le_bytes());
    }

    #[inline]
    pub(super) fn decode(data: &[u8], row: u32) -> Result<Self> {
        Self::get(data, row).ok_or_else(|| Error::corrupt("a robots.txt's row"))
    }

    /// The row with this number, if there is one.
    #[inline]
    pub(super) fn get(data: &[u8], row: u32) -> Option<Self> {
        let rows = data.get(row as usize * FILE_LEN..)?;
        rows.first_chunk().map(Self::of)
    }

    /// Decodes a row, given with the next one.
    #[inline]
    pub(super) fn of(rows: &[u8; 2 * FILE_LEN]) -> Self {
        let mut f = Fields(rows);
        let global = f.u32();
        let named_start = f.u32();
        let text_start = f.u64();
        // The next row begins where this one ends.
        let _global_of_next = f.u32();
        let named_end = f.u32();
        let text_end = f.u64();
        Self {
            global,
            named: (named_start, named_end),
            text: (text_start, text_end),
        }
    }

    /// The number of agent names with groups in the file; 0 in a damaged row.
    #[inline]
    pub(crate) fn named_len(&self) -> u32 {
        self.named.1.saturating_sub(self.named.0)
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
        Self {
            token: f.u32(),
            rule_set: f.u32(),
        }
    }
}

/// The hash of an origin's canonical key. The seed comes from all keys, so a site cannot choose
/// names that collide.
/// A private hash of four masked words and three products was not faster.
#[inline]
pub(crate) fn hash_key(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}
