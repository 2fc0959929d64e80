//! Streams a snapshot out: what each section holds, and which are written beside each other.

use crate::error::{ErrorKind, Result};
use crate::snapshot::contents::{Contents, FileContents, OriginContents, Rows};
use crate::snapshot::format::{
    Entry, FILE_LEN, FileRow, Metadata, NAMED_LEN, NONE, NamedRow, ORIGIN_METADATA_LEN, OriginMetadata, Section,
    hash_key,
};
use crate::snapshot::index::{BUCKET_LEN, IndexBuilder};
use crate::snapshot::sections::{Room, SectionWriter, Sections};
use crate::snapshot::store;
use crate::snapshot::text::DICTIONARY;
use std::collections::HashMap;
use std::io::{Seek, Write};

/// The program and version that write.
pub(crate) const TOOL: &str = concat!("robosieve ", env!("CARGO_PKG_VERSION"));

/// Writes the snapshot; gives its length in bytes. Two things at a time: what is written of origins and of texts is work for one thread, and
/// so is what lies beside it.
///
/// # Errors
/// What the output refuses, and [`ErrorKind::TooLarge`].
pub(crate) fn write<W: Write + Seek + Send>(contents: Contents<'_>, out: W) -> Result<u64> {
    let Contents { origins, files, rule_sets, .. } = &contents;
    let (metadata, keys) = (metadata(&contents)?, Keys::of(origins)?);
    let [named, texts] =
        files.par_sum(|file| [u64::from(file.named_len) * NAMED_LEN as u64, file.frame.len() as u64])?;

    let mut sections = Sections::new(out);
    let room = sections.leave(Section::Metadata, metadata.len() as u64);
    sections.fill(room, |out| out.put(&metadata))?;
    let of_origins = [
        sections.leave(Section::Index, (keys.index.len() * BUCKET_LEN) as u64),
        sections.leave(Section::Origins, keys.len),
        sections.leave(Section::OriginMetadata, (origins.len() * ORIGIN_METADATA_LEN) as u64),
    ];
    let of_files =
        [sections.leave(Section::Files, (files.len() * FILE_LEN) as u64), sections.leave(Section::Named, named)];
    let of_sets = sections.leave_open(Section::RuleSets);
    let (notes, encoded) = rayon::join(
        || write_origins(&sections, of_origins, origins, keys),
        || sections.fill(of_sets, |out| store::write_rule_sets(rule_sets, |bytes| out.put(bytes))),
    );
    let (notes, (places, patterns)) = (notes?, encoded?);

    sections.close(Section::RuleSets);
    let tokens = tokens(&contents.tokens);
    let of_patterns = sections.leave(Section::Patterns, patterns.bytes().len() as u64);
    let of_tokens = sections.leave(Section::Tokens, tokens.len() as u64);
    let of_texts = sections.leave(Section::Texts, texts);
    let of_dictionary = sections.leave(Section::Dictionary, DICTIONARY.len() as u64);
    let of_notes = sections.leave(Section::Strings, notes.bytes.len() as u64);
    let (rest, texts) = rayon::join(
        || {
            sections.fill(of_patterns, |out| out.put(patterns.bytes()))?;
            sections.fill(of_tokens, |out| out.put(&tokens))?;
            sections.fill(of_dictionary, |out| out.put(DICTIONARY))?;
            sections.fill(of_notes, |out| out.put(&notes.bytes))?;
            write_files(&sections, of_files, files, &places)
        },
        || sections.fill(of_texts, |out| files.iter().try_for_each(|file| out.put(file?.frame))),
    );
    rest.and(texts)?;
    sections.finish()
}

/// Writes what judging and reports need of origins; gives the texts that they refer to.
fn write_origins<W: Write + Seek>(
    sections: &Sections<W>,
    [index, entries, rows]: [Room; 3],
    origins: &Rows<'_, OriginContents<'_>>,
    Keys { places, index: buckets, .. }: Keys,
) -> Result<Notes> {
    sections.fill(index, |out| buckets.chunks(1 << 10).try_for_each(|buckets| out.put(buckets.as_flattened())))?;
    drop(buckets);
    let mut notes = Notes::default();
    sections.fill(entries, |entries| {
        sections.fill(rows, |rows| put_origins(entries, rows, origins, &places, &mut notes))
    })?;
    Ok(notes)
}

/// Puts out entries and facts, each row of which is looked at once, as it lies far from the others: both on all threads, but for the texts.
fn put_origins<W: Write + Seek>(
    entries: &mut SectionWriter<'_, W>,
    rows: &mut SectionWriter<'_, W>,
    origins: &Rows<'_, OriginContents<'_>>,
    places: &[u32],
    notes: &mut Notes,
) -> Result<()> {
    let mut facts_of_part = Vec::new();
    for some in origins.parts(ROWS_AT_ONCE) {
        let parts = origins.par_parts(some.clone(), |row, origin, (bytes, part): &mut (Vec<u8>, Vec<_>)| {
            entry(row, &origin).encode(bytes);
            part.push(origin);
            Ok(())
        })?;
        let mut places = places[some].iter();
        for (bytes, origins) in parts {
            entries.put(&bytes)?;
            facts_of_part.clear();
            for (origin, place) in origins.iter().zip(&mut places) {
                origin_metadata(origin, *place, notes)?.encode(&mut facts_of_part);
            }
            rows.put(&facts_of_part)?;
        }
    }
    Ok(())
}

/// Files refer to rule sets, which lie behind them.
fn write_files<W: Write + Seek>(
    sections: &Sections<W>,
    [rows, named]: [Room; 2],
    files: &Rows<'_, FileContents<'_>>,
    sets: &[u32],
) -> Result<()> {
    let (mut named_start, mut text_start) = (0, 0);
    sections.fill(rows, |out| {
        put_rows(out, files.iter(), |file, bytes| {
            let file = file?;
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
            row.encode(bytes);
            Ok(())
        })
    })?;
    sections.fill(named, |out| {
        put_rows_of(out, files, |_, file, bytes| {
            let rows = (file.named)()?.into_iter();
            rows.for_each(|(token, set)| NamedRow { token, rule_set: sets[set as usize] }.encode(bytes));
            Ok(())
        })
    })
}

fn metadata(contents: &Contents<'_>) -> Result<Vec<u8>> {
    let metadata = Metadata {
        tool: TOOL.to_owned(),
        profile: contents.profile,
        counts: contents.counts,
        captured: contents.captured,
    };
    serde_json::to_vec(&metadata).map_err(|err| std::io::Error::from(err).into())
}

/// How origins are found.
struct Keys {
    /// Where each one's entry begins, in units of 8 bytes.
    places: Vec<u32>,
    /// The length of all entries.
    len: u64,
    index: Vec<[u8; BUCKET_LEN]>,
}

impl Keys {
    fn of(origins: &Rows<'_, OriginContents<'_>>) -> Result<Self> {
        let too_large = || ErrorKind::TooLarge("over 32 GiB of origins".to_owned());
        let (mut places, mut len) = (Vec::with_capacity(origins.len()), 0);
        let mut index = IndexBuilder::new(origins.len());
        for some in origins.parts(ROWS_AT_ONCE) {
            for (hash, entry) in
                origins.par_map(some, |origin| Ok((hash_key(origin.key), Entry::len(origin.key.len()))))?
            {
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

fn origin_metadata(origin: &OriginContents<'_>, entry: u32, notes: &mut Notes) -> Result<OriginMetadata> {
    Ok(OriginMetadata {
        outcome: origin.outcome.clone(),
        entry,
        last_good: origin.last_good.unwrap_or(NONE),
        source: notes.add(origin.source)?,
        detail: notes.add(origin.detail)?,
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

/// The section `notes`: short texts with their lengths, equal ones stored once.
#[derive(Default)]
struct Notes {
    bytes: Vec<u8>,
    known: HashMap<Vec<u8>, u32>,
}

impl Notes {
    fn add(&mut self, text: Option<&[u8]>) -> Result<u32> {
        let Some(text) = text else { return Ok(NONE) };
        let text = &text[..text.len().min(usize::from(u16::MAX))];
        if let Some(&place) = self.known.get(text) {
            return Ok(place);
        }
        let place = u32::try_from(self.bytes.len() / 4).ok().filter(|&place| place != NONE);
        let place = place.ok_or_else(|| ErrorKind::TooLarge("over 16 GiB of notes".to_owned()))?;
        self.bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(text);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.known.insert(text.to_vec(), place);
        Ok(place)
    }
}

/// Rows that are encoded before any is put out.
const ROWS_AT_ONCE: usize = 1 << 14;

/// Encodes rows on all threads and puts them out, some at a time.
fn put_rows_of<T>(
    out: &mut SectionWriter<'_, impl Write + Seek>,
    rows: &Rows<'_, T>,
    encode: impl Fn(usize, T, &mut Vec<u8>) -> Result<()> + Sync,
) -> Result<()> {
    for some in rows.parts(ROWS_AT_ONCE) {
        let parts: Vec<Vec<u8>> = rows.par_parts(some, &encode)?;
        parts.iter().try_for_each(|bytes| out.put(bytes))?;
    }
    Ok(())
}

/// Encodes rows into a buffer and puts it out whenever it is full.
fn put_rows<T>(
    out: &mut SectionWriter<'_, impl Write + Seek>,
    rows: impl Iterator<Item = T>,
    mut encode: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut buffer = Vec::with_capacity(1 << 16);
    for row in rows {
        encode(row, &mut buffer)?;
        if buffer.len() >= 1 << 16 {
            out.put(&buffer)?;
            buffer.clear();
        }
    }
    out.put(&buffer)
}
