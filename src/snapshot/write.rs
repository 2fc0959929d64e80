//! Writes a snapshot: sections grow in temporary data, in the order of origins, and are copied into
//! the file at the end.
//!
//! The origins and the files are appended by two writers, so that two threads can work at once. A
//! file refers to rule sets and names, an origin to files by number. The index is built last: the
//! seed of its hashes depends on all keys.

use crate::digest::{Digest, StreamDigest, digest, digest_hash};
use crate::error::{Error, ErrorKind, Result};
use crate::profile::Profile;
use crate::snapshot::contents::{EarlierRedirect, FileContents, OriginContents};
use crate::snapshot::format::{
    Counts, ENTRY_HEAD, EarlierRedirectRow, Entry, FileKind, FileRow, Metadata, NAMED_LEN,
    NO_PAYLOAD, NONE, NamedRow, ORIGIN_DETAILS_LEN, OriginMetadata, RuleSections, Section,
    hash_key,
};
use crate::snapshot::index::{BUCKET_LEN, IndexBuilder, Load};
use crate::snapshot::outcome::{Outcome, OutcomeClass};
use crate::snapshot::sections::{SectionSlot, Sections};
use crate::snapshot::store::RuleSetWriter;
use crate::snapshot::text::DICTIONARY;
use crate::snapshot::write_history::HistorySections;
use crate::spool::{Spool, SpoolOptions, SpooledBytes};
use crate::time_span::TimeSpan;
use hashbrown::HashTable;
use std::collections::HashMap;
use std::io::{Seek, Write};

/// The program and version in the metadata.
pub(crate) const TOOL: &str = concat!("robosieve ", env!("CARGO_PKG_VERSION"));

/// Whether this program condenses and compresses texts as the writer of a file did.
pub(crate) fn has_current_texts(tool: &str, dictionary: &[u8]) -> bool {
    tool == TOOL && dictionary == DICTIONARY
}

/// Appends origins: entries, metadata rows with details, and their strings.
#[derive(Debug)]
pub(crate) struct OriginWriter {
    /// Of all keys.
    digest: StreamDigest,
    entries: Spool,
    rows: Spool,
    details: Spool,
    payloads: PayloadColumn,
    earlier_redirects: Spool,
    strings: StringTable,
    /// Only those of origins are counted here.
    counts: Counts,
    /// The times of the oldest and the newest capture.
    captured: Option<TimeSpan>,
    encoded: Vec<u8>,
}

impl OriginWriter {
    pub(crate) fn new(options: &SpoolOptions) -> Self {
        Self {
            digest: StreamDigest::default(),
            entries: Spool::new(options, "origins"),
            rows: Spool::new(options, "origin metadata"),
            details: Spool::new(options, "origin details"),
            payloads: PayloadColumn::new(options),
            earlier_redirects: Spool::new(options, "earlier redirects"),
            strings: StringTable::new(options),
            counts: Counts::default(),
            captured: None,
            encoded: Vec::new(),
        }
    }

    /// Appends an origin. Origins are sorted by key and distinct.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`]; I/O errors of temporary data.
    pub(crate) fn append(&mut self, origin: &OriginContents<'_>) -> Result<()> {
        // Entries refer to rows and rows to entries, so both numbers are known first.
        let offset = u32::try_from(self.entries.len() / 8)
            .ok()
            .filter(|&offset| offset != NONE)
            .ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of origins".to_owned()))?;
        let row = u32::try_from(self.counts.origins)
            .ok()
            .filter(|&row| row != NONE);
        let row =
            row.ok_or_else(|| ErrorKind::TooLarge("four billion origins or more".to_owned()))?;
        let OriginContents { key, outcome, .. } = *origin;
        // The digest of all keys becomes the seed of the index.
        self.digest.update(&(key.len() as u16).to_le_bytes());
        self.digest.update(key);
        self.encoded.clear();
        Entry {
            key,
            file: origin.file.unwrap_or(NONE),
            row,
            class: outcome.class,
            has_no_robots_txt: outcome.has_no_robots_txt(),
        }
        .encode(&mut self.encoded);
        self.entries.append(&self.encoded)?;
        self.encoded.clear();
        let metadata = OriginMetadata {
            outcome: outcome.clone(),
            entry: offset,
            last_good: origin.last_good.unwrap_or(NONE),
            source: self.strings.intern(origin.source)?,
            detail: self.strings.intern(origin.detail)?,
        };
        let mut details = Vec::new();
        let details_row = (self.details.len() / ORIGIN_DETAILS_LEN as u64) as u32;
        metadata.encode(details_row, &mut self.encoded, &mut details);
        self.rows.append(&self.encoded)?;
        self.details.append(&details)?;
        self.payloads.append(row, origin.payload)?;
        if let Some(redirect) = &origin.earlier_redirect {
            self.append_earlier_redirect(row, redirect)?;
        }
        self.add_to_counts(outcome);
        Ok(())
    }

    /// The offset of a text in the section `strings`; [`NONE`] for no text.
    pub(crate) fn intern(&mut self, text: Option<&[u8]>) -> Result<u32> {
        self.strings.intern(text)
    }

    fn append_earlier_redirect(&mut self, row: u32, redirect: &EarlierRedirect<'_>) -> Result<()> {
        // A longer URL would be cut, and might be that of another file then.
        let end = redirect
            .end
            .filter(|end| end.len() <= usize::from(u16::MAX));
        self.encoded.clear();
        EarlierRedirectRow {
            origin: row,
            end: self.strings.intern(end)?,
            status: redirect.status,
            hops: redirect.hops,
        }
        .encode(&mut self.encoded);
        self.earlier_redirects.append(&self.encoded)
    }

    fn add_to_counts(&mut self, outcome: &Outcome) {
        let counts = &mut self.counts;
        counts.origins += 1;
        counts.redirected +=
            u64::from(outcome.hops > 0 && outcome.class != OutcomeClass::Unresolved);
        *match outcome.class {
            OutcomeClass::Rules => &mut counts.outcome_rules,
            OutcomeClass::ClientError => &mut counts.outcome_client_error,
            OutcomeClass::ServerError => &mut counts.outcome_server_error,
            OutcomeClass::Unreachable => &mut counts.outcome_unreachable,
            OutcomeClass::Unresolved => &mut counts.outcome_unresolved,
        } += 1;
        if let Some(time) = outcome.fetched {
            self.captured = Some(TimeSpan::extended(self.captured, time));
        }
    }
}

/// The section `payloads`: a digest for each origin, or nothing at all if no origin has one.
#[derive(Debug)]
struct PayloadColumn {
    digests: Spool,
    /// Whether any origin so far has a digest.
    is_used: bool,
}

impl PayloadColumn {
    fn new(options: &SpoolOptions) -> Self {
        Self {
            digests: Spool::new(options, "digests"),
            is_used: false,
        }
    }

    /// Appends the digest of the origin in a row.
    fn append(&mut self, row: u32, payload: Option<Digest>) -> Result<()> {
        if !self.is_used && payload.is_some() {
            self.is_used = true;
            // The origins before have none.
            for _ in 0..row {
                self.digests.append(&NO_PAYLOAD)?;
            }
        }
        if self.is_used {
            self.digests.append(&payload.unwrap_or(NO_PAYLOAD))?;
        }
        Ok(())
    }
}

/// Appends files: rows, named agents, texts, rule sets with patterns, and names.
#[derive(Debug)]
pub(crate) struct FileWriter {
    rows: Spool,
    /// Rows whose tokens are numbers by first use.
    named: Spool,
    texts: Spool,
    rule_sets: RuleSetWriter,
    /// Names with their numbers by first use.
    names: HashMap<Box<[u8]>, u32>,
    files: u64,
    rule_sets_before: u64,
    encoded: Vec<u8>,
    /// The offsets of the rules of one file.
    offsets: Vec<Option<u32>>,
}

impl FileWriter {
    pub(crate) fn new(options: &SpoolOptions) -> Self {
        Self {
            rows: Spool::new(options, "files"),
            named: Spool::new(options, "named agents"),
            texts: Spool::new(options, "texts"),
            rule_sets: RuleSetWriter::new(options),
            names: HashMap::new(),
            files: 0,
            rule_sets_before: 0,
            encoded: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// Appends a file, whose number is that of the files before. Returns the offsets of its rules.
    ///
    /// # Errors
    /// As [`OriginWriter::append`].
    pub(crate) fn append(
        &mut self,
        file: &FileContents<'_>,
    ) -> Result<impl Iterator<Item = u32> + '_> {
        self.offsets.clear();
        self.offsets.resize(file.rules.len(), None);
        let global = file
            .global
            .map(|rules| self.offset_of(file, rules))
            .transpose()?
            .unwrap_or(NONE);
        self.append_row(global)?;
        self.texts.append(&file.frame)?;
        self.encoded.clear();
        for named in &file.named {
            let rule_set = self.offset_of(file, named.rules)?;
            let token = match self.names.get(&*named.name) {
                Some(&token) => token,
                None => {
                    let token = self.names.len() as u32;
                    self.names.insert((*named.name).into(), token);
                    token
                }
            };
            NamedRow { token, rule_set }.encode(&mut self.encoded);
        }
        self.named.append(&self.encoded)?;
        self.files += 1;
        self.rule_sets_before += file.named.len() as u64 + u64::from(file.global.is_some());
        // Each of its rules is those of some agent.
        Ok(self.offsets.iter().map(|offset| offset.unwrap_or(NONE)))
    }

    /// Appends a row, whose agents and text are appended next.
    fn append_row(&mut self, global: u32) -> Result<()> {
        let named = u32::try_from(self.named.len() / NAMED_LEN as u64);
        let named = named
            .map_err(|_| ErrorKind::TooLarge("four billion named agents or more".to_owned()))?;
        self.encoded.clear();
        FileRow::encode(global, named, self.texts.len(), &mut self.encoded);
        self.rows.append(&self.encoded)
    }

    /// The number of files so far.
    pub(crate) fn count(&self) -> u64 {
        self.files
    }

    /// Ends the sections.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn finish(mut self) -> Result<FileSections> {
        // The end of the last file.
        self.append_row(NONE)?;
        let mut names: Vec<(Box<[u8]>, u32)> = self.names.into_iter().collect();
        names.sort_unstable();
        let mut tokens = vec![0; names.len()];
        names
            .iter()
            .zip(0..)
            .for_each(|((_, first_use), number)| tokens[*first_use as usize] = number);
        Ok(FileSections {
            count: self.files,
            rule_sets_before: self.rule_sets_before,
            rule_set_count: self.rule_sets.count(),
            rule_count: self.rule_sets.rules,
            rows: self.rows.finish()?,
            named: self.named.finish()?,
            tokens,
            names: encode_tokens(&names),
            rule_sets: self.rule_sets.sets.finish()?,
            texts: self.texts.finish()?,
        })
    }

    /// The offset of some rules of a file.
    fn offset_of(&mut self, file: &FileContents<'_>, rules: usize) -> Result<u32> {
        if let Some(offset) = self.offsets[rules] {
            return Ok(offset);
        }
        let offset = self.rule_sets.offset_of(&file.rules[rules])?;
        self.offsets[rules] = Some(offset);
        Ok(offset)
    }
}

/// The sections of some files, in temporary data.
#[derive(Debug)]
pub(crate) struct FileSections {
    count: u64,
    rule_sets_before: u64,
    rule_set_count: u64,
    rule_count: u64,
    rows: SpooledBytes,
    named: SpooledBytes,
    /// The final numbers of names, by number of first use.
    tokens: Vec<u32>,
    /// The section of the names.
    names: Vec<u8>,
    rule_sets: SpooledBytes,
    texts: SpooledBytes,
}

impl FileSections {
    /// Reserves the sections, in the order of the file.
    fn reserve<W: Write + Seek>(&self, of: RuleSections, sections: &mut Sections<W>) -> FileSlots {
        FileSlots {
            rows: sections.reserve(of.files, self.rows.len()),
            named: sections.reserve(of.named, self.named.len()),
            rule_sets: sections.reserve(of.rule_sets, self.rule_sets.len()),
            tokens: sections.reserve(of.tokens, self.names.len() as u64),
        }
    }
}

/// The places of the sections of some files.
struct FileSlots {
    rows: SectionSlot,
    named: SectionSlot,
    rule_sets: SectionSlot,
    tokens: SectionSlot,
}

/// A snapshot whose sections are complete, in temporary data.
#[derive(Debug)]
pub(crate) struct SnapshotSections {
    pub counts: Counts,
    metadata: Vec<u8>,
    /// The first seed to try for the index.
    seed: u64,
    entries: SpooledBytes,
    rows: SpooledBytes,
    details: SpooledBytes,
    /// Empty if there are none, as the next.
    payloads: SpooledBytes,
    earlier_redirects: SpooledBytes,
    files: FileSections,
    strings: SpooledBytes,
    history: Option<HistorySections>,
}

impl SnapshotSections {
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn new(
        profile: Profile,
        origins: OriginWriter,
        files: FileWriter,
        history: Option<HistorySections>,
    ) -> Result<Self> {
        let files = files.finish()?;
        let mut counts = origins.counts;
        counts.files = files.count;
        counts.rule_sets_before = files.rule_sets_before;
        counts.rule_sets = files.rule_set_count;
        counts.rules = files.rule_count;
        counts.tokens = files.tokens.len() as u64;
        let metadata = Metadata {
            tool: TOOL.to_owned(),
            profile,
            counts,
            captured: origins.captured,
        };
        Ok(Self {
            counts,
            metadata: serde_json::to_vec(&metadata).map_err(std::io::Error::from)?,
            seed: digest_hash(&origins.digest.finish()),
            entries: origins.entries.finish()?,
            rows: origins.rows.finish()?,
            details: origins.details.finish()?,
            payloads: origins.payloads.digests.finish()?,
            earlier_redirects: origins.earlier_redirects.finish()?,
            files,
            strings: origins.strings.bytes.finish()?,
            history,
        })
    }

    /// Writes the file; returns its length in bytes. The lengths of all sections are known, so two
    /// threads copy them at once. Temporary data are freed section by section.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn write<W: Write + Seek + Send>(self, out: W) -> Result<u64> {
        let present = Section::ALL.len() - Section::LISTS.len();
        let optional = [self.payloads.len(), self.earlier_redirects.len()];
        let mut absent = optional.iter().filter(|len| **len == 0).count();
        if self.history.is_none() {
            absent += Section::HISTORY.len() + RuleSections::OLD.all().len();
        }
        let mut sections = Sections::new(out, FileKind::Snapshot, present - absent);
        // Sections are reserved in the order of the file, before two threads fill them.
        let metadata = sections.reserve(Section::Metadata, self.metadata.len() as u64);
        let index_len = IndexBuilder::encoded_len(self.counts.origins as usize, Load::Half) as u64;
        let index = sections.reserve(Section::Index, index_len);
        let entries = sections.reserve(Section::Origins, self.entries.len());
        let rows = sections.reserve(Section::OriginMetadata, self.rows.len());
        let details = sections.reserve(Section::OriginDetails, self.details.len());
        let files = self.files.reserve(RuleSections::NEWEST, &mut sections);
        let texts = sections.reserve(Section::Texts, self.files.texts.len());
        let dictionary = sections.reserve(Section::Dictionary, DICTIONARY.len() as u64);
        let strings = sections.reserve(Section::Strings, self.strings.len());
        let mut reserve_optional =
            |section, len: u64| (len > 0).then(|| sections.reserve(section, len));
        let payloads = reserve_optional(Section::Payloads, self.payloads.len());
        let earlier_redirects =
            reserve_optional(Section::EarlierRedirects, self.earlier_redirects.len());
        let history = self.history.map(|history| {
            let HistorySections {
                versions,
                urls,
                texts,
                frames,
                rules,
            } = history;
            let parts = [
                versions.starts,
                versions.versions,
                versions.failures,
                urls,
                texts,
                frames,
            ];
            let mut slots = Vec::new();
            for (section, bytes) in Section::HISTORY.into_iter().zip(parts) {
                slots.push((sections.reserve(section, bytes.len()), bytes));
            }
            let old = rules.reserve(RuleSections::OLD, &mut sections);
            (slots, old, rules)
        });
        // One thread builds the index and copies the origins; the rules and the texts, the longest
        // sections, are the other's.
        let (origins, rest) = rayon::join(
            || -> Result<u64> {
                sections.fill(metadata, |out| out.append(&self.metadata))?;
                let built = build_index(&self.entries, self.counts.origins as usize, self.seed)?;
                let mut pieces = built.buckets.chunks(1 << 10);
                sections.fill(index, |out| {
                    pieces.try_for_each(|piece| out.append(piece.as_flattened()))
                })?;
                drop(built.buckets);
                copy(&sections, entries, self.entries)?;
                copy(&sections, rows, self.rows)?;
                copy(&sections, details, self.details)?;
                copy(&sections, files.rows, self.files.rows)?;
                copy_named(&sections, files.named, self.files.named, &self.files.tokens)?;
                copy(&sections, strings, self.strings)?;
                if let Some(slot) = payloads {
                    copy(&sections, slot, self.payloads)?;
                }
                if let Some(slot) = earlier_redirects {
                    copy(&sections, slot, self.earlier_redirects)?;
                }
                Ok(built.seed)
            },
            || -> Result<()> {
                copy(&sections, files.rule_sets, self.files.rule_sets)?;
                sections.fill(files.tokens, |out| out.append(&self.files.names))?;
                copy(&sections, texts, self.files.texts)?;
                sections.fill(dictionary, |out| out.append(DICTIONARY))?;
                let Some((slots, old, rules)) = history else {
                    return Ok(());
                };
                for (slot, bytes) in slots {
                    copy(&sections, slot, bytes)?;
                }
                copy(&sections, old.rows, rules.rows)?;
                copy_named(&sections, old.named, rules.named, &rules.tokens)?;
                copy(&sections, old.rule_sets, rules.rule_sets)?;
                sections.fill(old.tokens, |out| out.append(&rules.names))
            },
        );
        let seed = origins?;
        rest?;
        sections.finish(seed)
    }
}

/// The index of all entries.
struct BuiltIndex {
    /// The seed of its hashes.
    seed: u64,
    buckets: Vec<[u8; BUCKET_LEN]>,
}

/// Builds the index of some entries.
///
/// The seed is that given or, if a key would be too far from its first bucket, one of the next.
/// That takes names that were chosen for it, so nobody should see a second round.
fn build_index(entries: &SpooledBytes, count: usize, mut seed: u64) -> Result<BuiltIndex> {
    loop {
        let mut index = IndexBuilder::new(count, Load::Half);
        let mut rest = Vec::new();
        let mut offset = 0;
        let mut fits = true;
        let mut added = 0;
        entries.for_each_piece(|piece| {
            // A piece may end within an entry.
            rest.extend_from_slice(piece);
            let mut at = 0;
            while let Some(len) = Entry::encoded_len(&rest[at..]) {
                let key_len = Entry::key_len(&rest[at..], 0)?;
                let key = &rest[at + ENTRY_HEAD..][..usize::from(key_len)];
                fits &= index.add(hash_key(key, seed), offset);
                offset += (len / 8) as u32;
                at += len;
                added += 1;
            }
            rest.drain(..at);
            Ok(())
        })?;
        if added != count || !rest.is_empty() {
            return Err(Error::corrupt(
                "temporary data have another number of origins",
            ));
        }
        if fits {
            return Ok(BuiltIndex {
                seed,
                buckets: index.finish(),
            });
        }
        seed = seed.wrapping_add(1);
    }
}

/// Copies a section and frees its temporary data.
fn copy<W: Write + Seek>(
    sections: &Sections<W>,
    slot: SectionSlot,
    bytes: SpooledBytes,
) -> Result<()> {
    sections.fill(slot, |out| bytes.for_each_piece(|piece| out.append(piece)))
}

/// Copies the rows of named agents with the final numbers of names.
fn copy_named<W: Write + Seek>(
    sections: &Sections<W>,
    slot: SectionSlot,
    rows: SpooledBytes,
    tokens: &[u32],
) -> Result<()> {
    let mut renumbered = Vec::new();
    sections.fill(slot, |out| {
        rows.for_each_piece(|piece| {
            renumbered.clear();
            for row in piece.as_chunks::<NAMED_LEN>().0 {
                let NamedRow { token, rule_set } = NamedRow::decode(row);
                NamedRow {
                    token: tokens[token as usize],
                    rule_set,
                }
                .encode(&mut renumbered);
            }
            out.append(&renumbered)
        })
    })
}

/// The section `tokens`: the number of names, the ends of their texts, the texts.
fn encode_tokens(names: &[(Box<[u8]>, u32)]) -> Vec<u8> {
    let mut out = (names.len() as u64).to_le_bytes().to_vec();
    let mut end = 0u64;
    out.extend_from_slice(&end.to_le_bytes());
    for (name, _) in names {
        end += name.len() as u64;
        out.extend_from_slice(&end.to_le_bytes());
    }
    names
        .iter()
        .for_each(|(name, _)| out.extend_from_slice(name));
    out
}

/// The section `strings`, a string table: short texts with their lengths, each distinct one once.
#[derive(Debug)]
struct StringTable {
    bytes: Spool,
    /// Offsets by digest, in units of 4 bytes.
    offsets: HashTable<(Digest, u32)>,
}

impl StringTable {
    fn new(options: &SpoolOptions) -> Self {
        Self {
            bytes: Spool::new(options, "strings"),
            offsets: HashTable::new(),
        }
    }

    /// The offset of a text, in units of 4 bytes; [`NONE`] for no text.
    fn intern(&mut self, text: Option<&[u8]>) -> Result<u32> {
        let Some(text) = text else { return Ok(NONE) };
        let text = &text[..text.len().min(usize::from(u16::MAX))];
        // The table has digests instead of texts, which may be in a temporary file.
        let digest = digest(text);
        if let Some((_, offset)) = self
            .offsets
            .find(digest_hash(&digest), |(other, _)| *other == digest)
        {
            return Ok(*offset);
        }
        let offset = u32::try_from(self.bytes.len() / 4)
            .ok()
            .filter(|&offset| offset != NONE);
        let offset =
            offset.ok_or_else(|| ErrorKind::TooLarge("over 16 GiB of notes".to_owned()))?;
        self.bytes.append(&(text.len() as u16).to_le_bytes())?;
        self.bytes.append(text)?;
        let end = self.bytes.len();
        self.bytes
            .append(&[0; 4][..(end.next_multiple_of(4) - end) as usize])?;
        self.offsets
            .insert_unique(digest_hash(&digest), (digest, offset), |(other, _)| {
                digest_hash(other)
            });
        Ok(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::index::candidates;

    /// Names that all begin their search in one bucket under a known seed, as a site could choose
    /// them for an index without a secret.
    #[test]
    fn colliding_keys_get_another_seed() {
        let (count, seed) = (400, 7);
        let buckets = IndexBuilder::encoded_len(count, Load::Half) as u128 / BUCKET_LEN as u128;
        let names = (0..).map(|i| format!("https://h{i}.example"));
        let collides =
            |key: &String| (u128::from(hash_key(key.as_bytes(), seed)) * buckets) >> 64 == 0;
        let keys: Vec<String> = names.filter(collides).take(count).collect();
        let mut spool = Spool::new(
            &SpoolOptions::new(std::env::temp_dir(), usize::MAX),
            "origins",
        );
        let mut offsets = Vec::new();
        for (key, row) in keys.iter().zip(0..) {
            offsets.push((spool.len() / 8) as u32);
            let mut encoded = Vec::new();
            Entry {
                key: key.as_bytes(),
                file: NONE,
                row,
                class: OutcomeClass::ClientError,
                has_no_robots_txt: false,
            }
            .encode(&mut encoded);
            spool.append(&encoded).unwrap();
        }
        let index = build_index(&spool.finish().unwrap(), count, seed).unwrap();
        assert_ne!(index.seed, seed);
        for (key, offset) in keys.iter().zip(offsets) {
            assert!(
                candidates(
                    &index.buckets,
                    hash_key(key.as_bytes(), index.seed),
                    Load::Half
                )
                .any(|other| other == offset),
                "{key}"
            );
        }
    }
}
