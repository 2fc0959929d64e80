//! Writes a snapshot: the content of each section, and which sections are written concurrently.

use crate::error::{ErrorKind, Result};
use crate::snapshot::contents::{
    OriginContents, SnapshotContents, par_fold_rows, par_map_rows, par_sum_rows, row_ranges,
};
use crate::snapshot::format::{
    Entry, FILE_LEN, FileRow, NAMED_LEN, NONE, NamedRow, ORIGIN_METADATA_LEN, OriginMetadata, Section, hash_key,
};
use crate::snapshot::index::{BUCKET_LEN, IndexBuilder};
use crate::snapshot::sections::{SectionSlot, SectionWriter, Sections};
use crate::snapshot::store;
use crate::snapshot::text::DICTIONARY;
use std::collections::HashMap;
use std::io::{Seek, Write};

/// The program and version in the metadata.
pub(crate) const TOOL: &str = concat!("robosieve ", env!("CARGO_PKG_VERSION"));

/// Writes the snapshot; returns its length in bytes.
///
/// Origins and rule sets are written concurrently, then texts and the other sections: appending to
/// each of them is sequential, so two run at a time.
///
/// # Errors
/// I/O errors, and [`ErrorKind::TooLarge`].
pub(crate) fn write<W: Write + Seek + Send>(contents: &impl SnapshotContents, out: W) -> Result<u64> {
    let (metadata, keys) = (metadata(contents)?, OriginKeys::of(contents)?);
    let [named, texts] = par_sum_rows(contents.file_count(), |number| {
        let file = contents.file(number)?;
        Ok([u64::from(file.named_len) * NAMED_LEN as u64, file.frame.len() as u64])
    })?;

    let mut sections = Sections::new(out);
    let slot = sections.reserve(Section::Metadata, metadata.len() as u64);
    sections.fill(slot, |out| out.append(&metadata))?;
    let of_origins = [
        sections.reserve(Section::Index, (keys.index.len() * BUCKET_LEN) as u64),
        sections.reserve(Section::Origins, keys.len),
        sections.reserve(Section::OriginMetadata, (contents.origin_count() * ORIGIN_METADATA_LEN) as u64),
    ];
    let of_files = [
        sections.reserve(Section::Files, (contents.file_count() * FILE_LEN) as u64),
        sections.reserve(Section::Named, named),
    ];
    let of_sets = sections.reserve_open(Section::RuleSets);
    let (strings, encoded) = rayon::join(
        || write_origins(&sections, of_origins, contents, keys),
        || sections.fill(of_sets, |out| store::write_rule_sets(contents, out)),
    );
    let (strings, (places, patterns)) = (strings?, encoded?);

    sections.close(Section::RuleSets);
    let tokens = tokens(&contents.tokens());
    let of_patterns = sections.reserve(Section::Patterns, patterns.bytes().len() as u64);
    let of_tokens = sections.reserve(Section::Tokens, tokens.len() as u64);
    let of_texts = sections.reserve(Section::Texts, texts);
    let of_dictionary = sections.reserve(Section::Dictionary, DICTIONARY.len() as u64);
    let of_notes = sections.reserve(Section::Strings, strings.bytes.len() as u64);
    let (rest, texts) = rayon::join(
        || {
            sections.fill(of_patterns, |out| out.append(patterns.bytes()))?;
            sections.fill(of_tokens, |out| out.append(&tokens))?;
            sections.fill(of_dictionary, |out| out.append(DICTIONARY))?;
            sections.fill(of_notes, |out| out.append(&strings.bytes))?;
            write_files(&sections, of_files, contents, &places)
        },
        || {
            sections.fill(of_texts, |out| {
                (0..contents.file_count()).try_for_each(|number| out.append(contents.file(number)?.frame))
            })
        },
    );
    rest.and(texts)?;
    sections.finish()
}

/// Writes the index, the entries and the metadata rows of origins; returns the strings of the rows.
fn write_origins<W: Write + Seek>(
    sections: &Sections<W>,
    [index, entries, rows]: [SectionSlot; 3],
    contents: &impl SnapshotContents,
    OriginKeys { places, index: buckets, .. }: OriginKeys,
) -> Result<StringTable> {
    sections.fill(index, |out| buckets.chunks(1 << 10).try_for_each(|buckets| out.append(buckets.as_flattened())))?;
    drop(buckets);
    let mut strings = StringTable::default();
    sections.fill(entries, |entries| {
        sections.fill(rows, |rows| append_origins(entries, rows, contents, &places, &mut strings))
    })?;
    Ok(strings)
}

/// The entries of some origins.
#[derive(Default)]
struct EncodedEntries<'a> {
    bytes: Vec<u8>,
    origins: Vec<OriginContents<'a>>,
}

/// Appends entries and metadata rows in one pass, because each origin is an access to memory that
/// no cache holds. All threads make the origins and encode entries; one thread interns the strings.
fn append_origins<W: Write + Seek>(
    entries: &mut SectionWriter<'_, W>,
    rows: &mut SectionWriter<'_, W>,
    contents: &impl SnapshotContents,
    places: &[u32],
    strings: &mut StringTable,
) -> Result<()> {
    let mut metadata = Vec::new();
    for range in row_ranges(contents.origin_count(), ROWS_PER_WRITE) {
        let parts = par_fold_rows(range.clone(), |row, part: &mut EncodedEntries<'_>| {
            let origin = contents.origin(row)?;
            entry(row, &origin).encode(&mut part.bytes);
            part.origins.push(origin);
            Ok(())
        })?;
        let mut places = places[range].iter();
        for EncodedEntries { bytes, origins } in parts {
            entries.append(&bytes)?;
            metadata.clear();
            for (origin, place) in origins.iter().zip(&mut places) {
                origin_metadata(origin, *place, strings)?.encode(&mut metadata);
            }
            rows.append(&metadata)?;
        }
    }
    Ok(())
}

/// Writes the rows of files and of their named agents, which refer to the places of rule sets.
fn write_files<W: Write + Seek>(
    sections: &Sections<W>,
    [rows, named]: [SectionSlot; 2],
    contents: &impl SnapshotContents,
    sets: &[u32],
) -> Result<()> {
    let (mut named_start, mut text_start) = (0, 0);
    sections.fill(rows, |out| {
        let mut bytes = Vec::new();
        for range in row_ranges(contents.file_count(), ROWS_PER_WRITE) {
            bytes.clear();
            for number in range {
                let file = contents.file(number)?;
                let row = FileRow {
                    global: file.global.map_or(NONE, |set| sets[set as usize]),
                    named_len: file.named_len,
                    named_start,
                    text_start,
                    text_len: file.frame.len() as u32,
                    raw_len: file.raw_len,
                };
                named_start += u64::from(file.named_len);
                text_start += file.frame.len() as u64;
                row.encode(&mut bytes);
            }
            out.append(&bytes)?;
        }
        Ok(())
    })?;
    sections.fill(named, |out| {
        for range in row_ranges(contents.file_count(), ROWS_PER_WRITE) {
            let parts = par_fold_rows(range, |number, bytes: &mut Vec<u8>| {
                let rows = contents.named(number)?.into_iter();
                rows.map(|row| NamedRow { token: row.token, rule_set: sets[row.rule_set as usize] })
                    .for_each(|row| row.encode(bytes));
                Ok(())
            })?;
            parts.iter().try_for_each(|bytes| out.append(bytes))?;
        }
        Ok(())
    })
}

fn metadata(contents: &impl SnapshotContents) -> Result<Vec<u8>> {
    serde_json::to_vec(&contents.metadata()).map_err(|err| std::io::Error::from(err).into())
}

/// The index of origins by key.
struct OriginKeys {
    /// The places of the entries, in units of 8 bytes.
    places: Vec<u32>,
    /// The length of all entries.
    len: u64,
    index: Vec<[u8; BUCKET_LEN]>,
}

impl OriginKeys {
    fn of(contents: &impl SnapshotContents) -> Result<Self> {
        let count = contents.origin_count();
        let too_large = || ErrorKind::TooLarge("over 32 GiB of origins".to_owned());
        let (mut places, mut len) = (Vec::with_capacity(count), 0);
        let mut index = IndexBuilder::new(count);
        for range in row_ranges(count, ROWS_PER_WRITE) {
            let keys = par_map_rows(range, |row| {
                let key = contents.origin(row)?.key;
                Ok((hash_key(key), Entry::len(key.len())))
            })?;
            for (hash, entry) in keys {
                let place = u32::try_from(len / 8).ok().filter(|&place| place != NONE).ok_or_else(too_large)?;
                index.add(hash, place);
                places.push(place);
                len += entry as u64;
            }
        }
        Ok(Self { places, len, index: index.finish() })
    }
}

fn entry<'a>(row: usize, origin: &OriginContents<'a>) -> Entry<'a> {
    Entry { key: origin.key, file: origin.file.unwrap_or(NONE), row: row as u32, class: origin.outcome.class }
}

fn origin_metadata(origin: &OriginContents<'_>, entry: u32, strings: &mut StringTable) -> Result<OriginMetadata> {
    Ok(OriginMetadata {
        outcome: origin.outcome.clone(),
        entry,
        last_good: origin.last_good.unwrap_or(NONE),
        source: strings.intern(origin.source)?,
        detail: strings.intern(origin.detail)?,
    })
}

fn tokens(tokens: &[&[u8]]) -> Vec<u8> {
    let mut out = (tokens.len() as u64).to_le_bytes().to_vec();
    let mut end = 0u64;
    out.extend_from_slice(&end.to_le_bytes());
    for token in tokens {
        end += token.len() as u64;
        out.extend_from_slice(&end.to_le_bytes());
    }
    out.extend(tokens.iter().flat_map(|token| token.iter()));
    out
}

/// The section `notes`, a string table: short texts with their lengths, each distinct one once.
#[derive(Default)]
struct StringTable {
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, u32>,
}

impl StringTable {
    /// The place of a text, in units of 4 bytes; [`NONE`] for no text.
    fn intern(&mut self, text: Option<&[u8]>) -> Result<u32> {
        let Some(text) = text else { return Ok(NONE) };
        let text = &text[..text.len().min(usize::from(u16::MAX))];
        if let Some(&place) = self.places.get(text) {
            return Ok(place);
        }
        let place = u32::try_from(self.bytes.len() / 4).ok().filter(|&place| place != NONE);
        let place = place.ok_or_else(|| ErrorKind::TooLarge("over 16 GiB of notes".to_owned()))?;
        self.bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(text);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.places.insert(text.to_vec(), place);
        Ok(place)
    }
}

/// Rows that are encoded before they are written.
const ROWS_PER_WRITE: usize = 1 << 14;
