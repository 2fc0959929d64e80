//! The snapshot of an earlier compilation, read in place.
//!
//! Its encoded rules are copied: parsing the texts again took twice the instructions with a million
//! origins.

use crate::digest::{Digest, digest};
use crate::error::{Error, ErrorKind, Result};
use crate::matcher::rule_set::Rules;
use crate::profile::Profile;
use crate::robots::condense::condense;
use crate::snapshot::Metadata;
use crate::snapshot::format::{FileRow, NONE, NamedRow};
use crate::snapshot::read::{OriginEntry, Snapshot};
use crate::snapshot::text_reader::TextReader;
use crate::snapshot::write::has_current_texts;
use crate::time_span::TimeSpan;
use crate::url::ROBOTS_PATH;
use jiff::Timestamp;

/// An opened snapshot whose structure is verified.
#[derive(Debug)]
pub(crate) struct PreviousSnapshot {
    pub snapshot: Snapshot,
    metadata: Metadata,
    /// The digests of its texts, as this version condenses them: of those of files, by row, and then
    /// of the old ones of its history.
    pub digests: Vec<Digest>,
}

/// The rules of one agent name: the bytes of a set, or the offsets of several.
pub(crate) enum PreviousRules<'p> {
    Set(&'p [u8]),
    Union(Vec<u32>),
}

impl PreviousSnapshot {
    /// Verifies the whole structure: the new snapshot copies outcomes and texts of the old one, so
    /// it would make the contradictions of a forged file its own, with right checksums.
    pub(crate) fn new(snapshot: Snapshot) -> Result<Self> {
        let metadata = snapshot.metadata()?;
        let is_current = has_current_texts(&metadata.tool, snapshot.dictionary());
        let digests = snapshot.verify_and_map_texts(|text| {
            // Another version may keep other lines.
            if is_current {
                digest(text)
            } else {
                digest(&condense(text, false))
            }
        })?;
        Ok(Self {
            snapshot,
            metadata,
            digests,
        })
    }

    /// Fails if it has captures newer than `as_of`: it does not keep the earlier captures.
    pub(crate) fn check_as_of(&self, as_of: i64) -> Result<()> {
        let captured = self.metadata.captured;
        let Some(TimeSpan { newest, .. }) = captured.filter(|span| span.newest > as_of) else {
            return Ok(());
        };
        let what = format!(
            "its newest capture is from {}, later than the time to compile as of; take an earlier \
             snapshot, or the archives",
            time_text(newest)
        );
        Err(ErrorKind::BadPrevious(what).into())
    }

    /// Whether its compressed texts are those that this program would write.
    pub(crate) fn has_current_texts(&self) -> bool {
        has_current_texts(&self.metadata.tool, self.snapshot.dictionary())
    }

    /// Whether its rule sets are those that this program would compile for `profile`.
    pub(crate) fn has_current_rules(&self, profile: Profile) -> bool {
        self.has_current_texts() && self.metadata.profile == profile
    }

    /// The origin in a row; rows are sorted by key.
    pub(crate) fn origin(&self, row: u32) -> Result<OriginEntry<'_>> {
        self.snapshot.origin_at(row).map_err(damaged)
    }

    /// The first row from `row` on whose key is not less than `key`. Rows are sorted.
    ///
    /// Cost: a search in steps that double, so that a merge of two lists is linear.
    pub(crate) fn first_row_from(&self, key: &[u8], row: u32) -> Result<u32> {
        let count = self.snapshot.origin_count();
        let mut low = row;
        let mut high = row;
        let mut step = 1;
        while high < count && self.is_less(high, key)? {
            low = high + 1;
            high = count.min(high.saturating_add(step));
            step *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_less(middle, key)? {
                low = middle + 1
            } else {
                high = middle
            }
        }
        Ok(low)
    }

    fn is_less(&self, row: u32, key: &[u8]) -> Result<bool> {
        Ok(self.origin(row)?.key() < key)
    }

    /// The origin with this key.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<OriginEntry<'_>>> {
        let Some(entry) = self.snapshot.find(key).map_err(damaged)? else {
            return Ok(None);
        };
        self.origin(entry.row).map(Some)
    }

    /// The origin whose robots.txt has this URL.
    pub(crate) fn origin_of(&self, url: &[u8]) -> Result<Option<OriginEntry<'_>>> {
        url.strip_suffix(ROBOTS_PATH)
            .map_or(Ok(None), |key| self.find(key))
    }

    pub(crate) fn file(&self, row: u32) -> Result<FileRow> {
        self.snapshot.view().file(row).map_err(damaged)
    }

    /// Whether a text is that of a file, so that it has a frame and encoded rules.
    pub(crate) fn has_file(&self, text: u32) -> bool {
        text < self.snapshot.file_count()
    }

    /// The compressed text of a robots.txt.
    pub(crate) fn frame(&self, row: u32) -> Result<&[u8]> {
        self.snapshot.frame(&self.file(row)?).map_err(damaged)
    }

    /// A reader of its condensed texts.
    pub(crate) fn texts(&self) -> TextReader {
        TextReader::new(&self.snapshot)
    }

    /// The named agents of a robots.txt: numbers of tokens, and offsets of rules.
    pub(crate) fn named(&self, file: &FileRow) -> Result<impl Iterator<Item = (u32, u32)> + '_> {
        let rows = self.snapshot.view().named(file).map_err(damaged)?;
        Ok(rows
            .iter()
            .map(NamedRow::decode)
            .map(|row| (row.token, row.rule_set)))
    }

    /// The offset of the rules for all other agents.
    pub(crate) fn global(&self, file: &FileRow) -> Option<u32> {
        (file.global != NONE).then_some(file.global)
    }

    /// The rules at an offset.
    pub(crate) fn rules(&self, offset: u32) -> Result<PreviousRules<'_>> {
        let view = self.snapshot.view();
        match view.rules(offset).map_err(damaged)? {
            Rules::Set(_) => view
                .rule_bytes(offset)
                .map(PreviousRules::Set)
                .map_err(damaged),
            Rules::Union(parts) => {
                let parts: Vec<u32> = parts.iter().map(|part| u32::from_le_bytes(*part)).collect();
                // Parts must be sets, so that no union contains itself.
                parts
                    .iter()
                    .try_for_each(|&part| view.rule_set(part).map(drop))
                    .map_err(damaged)?;
                Ok(PreviousRules::Union(parts))
            }
        }
    }

    /// The text of a token.
    pub(crate) fn token(&self, number: u32) -> Result<&[u8]> {
        self.snapshot.token(number.into()).map_err(damaged)
    }
}

/// A time in RFC 3339; the number of seconds for one that has no year.
pub(super) fn time_text(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// Marks an error as one of the previous snapshot, so that it is not reported for another file.
pub(crate) fn damaged(err: Error) -> Error {
    ErrorKind::BadPrevious(err.to_string()).into()
}
