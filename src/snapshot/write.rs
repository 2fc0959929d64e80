//! Streams a snapshot out: section after section, checksummed on the way, the header last.

use super::copy::PackedSet;
use super::draft::FlatRules;
use super::format::{
    Counts, Entry, Extent, FILE_LEN, Facts, FileRow, MAGIC, Metadata, NAMED_LEN, NONE, NamedRow, SECTION_ALIGN,
    Section, Table, encode_head, hash_key, head_len,
};
use super::index;
use super::outcome::Outcome;
use super::store;
use super::text::DICTIONARY;
use crate::error::{Error, ErrorKind, Result};
use crate::profile::Profile;
use rayon::prelude::*;
use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3Default;

/// The program and version that write.
pub(crate) const TOOL: &str = concat!("robosieve ", env!("CARGO_PKG_VERSION"));

/// Everything a snapshot holds, numbered as it will lie in the file.
pub(crate) struct Contents<'a> {
    pub profile: Profile,
    pub counts: Counts,
    pub captured: Option<(i64, i64)>,
    /// Sorted and distinct; a token's number is its index.
    pub tokens: Vec<&'a [u8]>,
    pub rule_sets: Rows<'a, RuleSetContents<'a>>,
    pub files: Rows<'a, FileContents<'a>>,
    /// Sorted by key and distinct.
    pub origins: Rows<'a, OriginContents<'a>>,
}

/// Rows that are made when they are asked for: kept beside what they are made of, those of millions of origins would take more memory than
/// the rest of writing. A row that another snapshot has may turn out to be damaged.
pub(crate) struct Rows<'a, T> {
    len: usize,
    row: Box<dyn Fn(usize) -> Result<T> + Sync + 'a>,
}

impl<'a, T> Rows<'a, T> {
    /// So many rows, made by their numbers.
    pub(crate) fn new(len: usize, row: impl Fn(usize) -> Result<T> + Sync + 'a) -> Self {
        Self { len, row: Box::new(row) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Result<T>> + '_ {
        (0..self.len).map(|i| (self.row)(i))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Some rows turned into something, on all threads.
    pub(super) fn par_map<R: Send>(&self, rows: Range<usize>, map: impl Fn(T) -> Result<R> + Sync) -> Result<Vec<R>> {
        rows.into_par_iter().map(|i| map((self.row)(i)?)).collect()
    }
}

/// What one or more agent names are told.
pub(crate) enum RuleSetContents<'a> {
    Set(&'a FlatRules),
    /// One of another snapshot, copied as it is but for the places of its patterns.
    Packed(PackedSet<'a>),
    /// Rule sets by index, all lower than its own, that are judged together.
    Union(Vec<u32>),
}

/// Tokens and their rule sets, sorted by token: made when they are asked for, as each is a look at memory far away.
pub(crate) type Named<'a> = Box<dyn Fn() -> Result<Vec<(u32, u32)>> + 'a>;

/// One robots.txt; rule sets and tokens by index.
pub(crate) struct FileContents<'a> {
    pub global: Option<u32>,
    pub named_len: u32,
    pub named: Named<'a>,
    pub frame: &'a [u8],
    pub raw_len: u32,
}

/// One origin; files by index.
pub(crate) struct OriginContents<'a> {
    pub key: &'a [u8],
    pub outcome: Outcome,
    pub file: Option<u32>,
    pub last_good: Option<u32>,
    pub source: Option<&'a [u8]>,
    pub detail: Option<&'a [u8]>,
}

/// Writes the snapshot; gives its length in bytes.
///
/// # Errors
/// What the output refuses, and [`ErrorKind::TooLarge`].
pub(crate) fn write<W: Write + Seek>(contents: Contents<'_>, out: W) -> Result<u64> {
    let mut writer = Writer::new(out)?;
    writer.section(Section::Metadata, |out| out.put(&metadata(&contents)?))?;
    let places = entry_places(&contents.origins)?;
    writer.section(Section::Index, |out| {
        let hashes = contents.origins.par_map(0..contents.origins.len(), |origin| Ok(hash_key(origin.key)))?;
        let keys = hashes.into_iter().zip(places.iter().copied());
        index::build(keys).chunks(1 << 10).try_for_each(|buckets| out.put(buckets.as_flattened()))
    })?;
    writer.section(Section::Origins, |out| {
        out.put_rows_of(&contents.origins, |row, origin, bytes| {
            entry(row, &origin).encode(bytes);
            Ok(())
        })
    })?;
    let mut notes = Notes::default();
    writer.section(Section::Facts, |out| {
        let rows = contents.origins.iter().zip(&places);
        out.put_rows(rows, |(origin, place), bytes| {
            facts(&origin?, *place, &mut notes)?.encode(bytes);
            Ok(())
        })
    })?;
    // Files refer to rule sets, which lie behind them.
    let rooms = leave_for_files(&mut writer, &contents.files)?;
    let (sets, patterns) =
        writer.section(Section::RuleSets, |out| store::encode(&contents.rule_sets, |bytes| out.put(bytes)))?;
    writer.section(Section::Patterns, |out| out.put(patterns.bytes()))?;
    writer.section(Section::Tokens, |out| out.put(&tokens(&contents.tokens)))?;
    writer.section(Section::Texts, |out| contents.files.iter().try_for_each(|file| out.put(file?.frame)))?;
    writer.section(Section::Dictionary, |out| out.put(DICTIONARY))?;
    writer.section(Section::Notes, |out| out.put(&notes.bytes))?;
    write_files(&mut writer, rooms, &contents.files, &sets)?;
    writer.finish()
}

/// Leaves room for the sections `files` and `named`.
fn leave_for_files<W: Write + Seek>(writer: &mut Writer<W>, files: &Rows<'_, FileContents<'_>>) -> Result<[Room; 2]> {
    let named = files.iter().try_fold(0, |named, file| Ok::<_, Error>(named + u64::from(file?.named_len)))?;
    Ok([
        writer.leave(Section::Files, (files.len() * FILE_LEN) as u64)?,
        writer.leave(Section::Named, named * NAMED_LEN as u64)?,
    ])
}

fn write_files<W: Write + Seek>(
    writer: &mut Writer<W>,
    [files_room, named_room]: [Room; 2],
    files: &Rows<'_, FileContents<'_>>,
    sets: &[u32],
) -> Result<()> {
    let (mut named_start, mut text_start) = (0, 0);
    writer.fill(files_room, |out| {
        out.put_rows(files.iter(), |file, bytes| {
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
    writer.fill(named_room, |out| {
        out.put_rows_of(files, |_, file, bytes| {
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

/// Where each origin's entry begins, in units of 8 bytes.
fn entry_places(origins: &Rows<'_, OriginContents<'_>>) -> Result<Vec<u32>> {
    let too_large = || ErrorKind::TooLarge("over 32 GiB of origins".to_owned());
    let mut at = 0u64;
    origins
        .iter()
        .map(|origin| {
            let place = u32::try_from(at).ok().filter(|&place| place != NONE).ok_or_else(too_large)?;
            at += Entry::len(origin?.key.len()) as u64 / 8;
            Ok(place)
        })
        .collect()
}

fn entry<'a>(row: usize, origin: &OriginContents<'a>) -> Entry<'a> {
    Entry { key: origin.key, file: origin.file.unwrap_or(NONE), row: row as u32, class: origin.outcome.class }
}

fn facts(origin: &OriginContents<'_>, entry: u32, notes: &mut Notes) -> Result<Facts> {
    Ok(Facts {
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

struct Writer<W> {
    out: W,
    at: u64,
    table: Table,
}

impl<W: Write + Seek> Writer<W> {
    fn new(mut out: W) -> Result<Self> {
        out.write_all(&vec![0; head_len()])?;
        Ok(Self { out, at: head_len() as u64, table: Table::default() })
    }

    /// The next section; gives what `fill` gives.
    fn section<T>(&mut self, section: Section, fill: impl FnOnce(&mut SectionWriter<'_, W>) -> Result<T>) -> Result<T> {
        let offset = self.align()?;
        let (extent, filled) = self.write(offset, fill)?;
        self.at = offset + extent.len;
        self.table[section as usize - 1] = extent;
        Ok(filled)
    }

    /// Leaves room for the next section, which is so long, to [`fill`](Self::fill) it later.
    fn leave(&mut self, section: Section, len: u64) -> Result<Room> {
        let offset = self.align()?;
        self.at = offset + len;
        self.out.seek(SeekFrom::Start(self.at))?;
        Ok(Room { section, offset, len })
    }

    /// Fills a section for which room was left, when all others are written.
    fn fill(&mut self, room: Room, fill: impl FnOnce(&mut SectionWriter<'_, W>) -> Result<()>) -> Result<()> {
        self.out.seek(SeekFrom::Start(room.offset))?;
        let (extent, ()) = self.write(room.offset, fill)?;
        if extent.len != room.len {
            return Err(Error::corrupt(format!("the length of the section \"{}\"", room.section.name())));
        }
        self.table[room.section as usize - 1] = extent;
        Ok(())
    }

    /// Zeros up to where a section may begin.
    fn align(&mut self) -> Result<u64> {
        let offset = self.at.next_multiple_of(SECTION_ALIGN);
        self.out.write_all(&vec![0; (offset - self.at) as usize])?;
        Ok(offset)
    }

    fn write<T>(
        &mut self,
        offset: u64,
        fill: impl FnOnce(&mut SectionWriter<'_, W>) -> Result<T>,
    ) -> Result<(Extent, T)> {
        let mut writer = SectionWriter { out: &mut self.out, len: 0, hasher: Xxh3Default::new() };
        let filled = fill(&mut writer)?;
        Ok((Extent { offset, len: writer.len, checksum: writer.hasher.digest() }, filled))
    }

    fn finish(mut self) -> Result<u64> {
        self.out.seek(SeekFrom::Start(0))?;
        let head = encode_head(&self.table, self.at);
        debug_assert!(head.starts_with(MAGIC));
        self.out.write_all(&head)?;
        self.out.flush()?;
        Ok(self.at)
    }
}

/// Room that was left for a section.
struct Room {
    section: Section,
    offset: u64,
    len: u64,
}

/// Rows that are encoded before any is put out, and how many of them one thread takes at a time.
const ROWS_AT_ONCE: usize = 1 << 14;
const ROWS_OF_A_PART: usize = 1 << 9;

struct SectionWriter<'w, W> {
    out: &'w mut W,
    len: u64,
    hasher: Xxh3Default,
}

impl<W: Write> SectionWriter<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        self.len += bytes.len() as u64;
        Ok(self.out.write_all(bytes)?)
    }

    /// Encodes rows on all threads and puts them out, some at a time.
    fn put_rows_of<T>(
        &mut self,
        rows: &Rows<'_, T>,
        encode: impl Fn(usize, T, &mut Vec<u8>) -> Result<()> + Sync,
    ) -> Result<()> {
        for start in (0..rows.len).step_by(ROWS_AT_ONCE) {
            let end = rows.len.min(start + ROWS_AT_ONCE);
            let encode = |part: usize| -> Result<Vec<u8>> {
                let mut bytes = Vec::new();
                for i in part..end.min(part + ROWS_OF_A_PART) {
                    encode(i, (rows.row)(i)?, &mut bytes)?;
                }
                Ok(bytes)
            };
            let parts: Vec<_> =
                (start..end).into_par_iter().step_by(ROWS_OF_A_PART).map(encode).collect::<Result<_>>()?;
            parts.iter().try_for_each(|bytes| self.put(bytes))?;
        }
        Ok(())
    }

    /// Encodes rows into a buffer and puts it out whenever it is full.
    fn put_rows<T>(
        &mut self,
        rows: impl Iterator<Item = T>,
        mut encode: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = Vec::with_capacity(1 << 16);
        for row in rows {
            encode(row, &mut buffer)?;
            if buffer.len() >= 1 << 16 {
                self.put(&buffer)?;
                buffer.clear();
            }
        }
        self.put(&buffer)
    }
}
