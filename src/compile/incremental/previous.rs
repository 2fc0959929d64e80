//! The snapshot of an earlier compilation, read in place.

use crate::compile::ingest::url_key::ROBOTS_PATH;
use crate::error::{Error, ErrorKind, Result};
use crate::matcher::encoded_set::EncodedSet;
use crate::matcher::rule_set::Rules;
use crate::profile::Profile;
use crate::snapshot::Metadata;
use crate::snapshot::format::{FileRow, NONE, NamedRow};
use crate::snapshot::read::{OriginEntry, Snapshot};
use crate::snapshot::text::DICTIONARY;
use crate::snapshot::write::TOOL;
use jiff::Timestamp;

/// An opened snapshot whose structure is verified.
#[derive(Debug)]
pub(crate) struct PreviousSnapshot {
    pub snapshot: Snapshot,
    metadata: Metadata,
}

/// The rules of one agent name: an encoded set, or the places of several.
pub(crate) enum PreviousRules<'p> {
    Set(EncodedSet<'p>),
    Union(Vec<u32>),
}

impl PreviousSnapshot {
    /// Verifies the whole structure: the new snapshot copies rules and texts of the old one, so it
    /// would make the contradictions of a forged file its own, with right checksums.
    pub(crate) fn new(snapshot: Snapshot) -> Result<Self> {
        snapshot.verify()?;
        let metadata = snapshot.metadata()?;
        Ok(Self { snapshot, metadata })
    }

    /// Fails if it has captures newer than `as_of`: it does not keep the earlier captures.
    pub(crate) fn check_as_of(&self, as_of: i64) -> Result<()> {
        let captured = self.metadata.captured.filter(|(_, newest)| *newest > as_of);
        let Some((_, newest)) = captured else { return Ok(()) };
        let newest = Timestamp::from_second(newest).map_or_else(|_| newest.to_string(), |time| time.to_string());
        let what = format!(
            "its newest capture is of {newest}, later than the time to compile as of; take an earlier snapshot, or the archives"
        );
        Err(ErrorKind::BadPrevious(what).into())
    }

    /// Whether compiling its texts for `profile` would give the same rule sets. Another version may
    /// parse them differently.
    pub(crate) fn is_reusable(&self, profile: Profile) -> bool {
        self.metadata.tool == TOOL && self.metadata.profile == profile && self.snapshot.dictionary() == DICTIONARY
    }

    /// The origin in a row; rows are sorted by key.
    pub(crate) fn origin(&self, row: u32) -> Result<OriginEntry<'_>> {
        self.snapshot.origin_at(row).map_err(damaged)
    }

    /// The origin whose robots.txt has this URL.
    pub(crate) fn origin_of(&self, url: &[u8]) -> Result<Option<OriginEntry<'_>>> {
        let Some(key) = url.strip_suffix(ROBOTS_PATH) else { return Ok(None) };
        let Some(entry) = self.snapshot.view().find(key).map_err(damaged)? else { return Ok(None) };
        self.origin(entry.row).map(Some)
    }

    pub(crate) fn file(&self, row: u32) -> Result<FileRow> {
        self.snapshot.view().file(row).map_err(damaged)
    }

    /// The compressed text of a robots.txt.
    pub(crate) fn frame(&self, row: u32) -> Result<&[u8]> {
        self.snapshot.frame(&self.file(row)?).map_err(damaged)
    }

    /// The condensed text of a robots.txt.
    pub(crate) fn text(&self, row: u32) -> Result<Vec<u8>> {
        self.snapshot.text(row).map_err(damaged)
    }

    /// The named agents of a robots.txt: numbers of tokens, and places of rules.
    pub(crate) fn named(&self, file: &FileRow) -> Result<impl Iterator<Item = (u32, u32)> + '_> {
        let rows = self.snapshot.view().named(file).map_err(damaged)?;
        Ok(rows.iter().map(NamedRow::decode).map(|row| (row.token, row.rule_set)))
    }

    /// The place of the rules for all other agents.
    pub(crate) fn global(&self, file: &FileRow) -> Option<u32> {
        (file.global != NONE).then_some(file.global)
    }

    /// The places of all rules of a robots.txt: the global ones, then those of the named agents.
    pub(crate) fn rules_of(&self, file: &FileRow) -> Result<impl Iterator<Item = u32> + '_> {
        Ok(self.global(file).into_iter().chain(self.named(file)?.map(|(_, place)| place)))
    }

    pub(crate) fn rules(&self, place: u32) -> Result<PreviousRules<'_>> {
        let view = self.snapshot.view();
        match view.rules(place).map_err(damaged)? {
            Rules::Set(set) => view.encoded_set(place, set).map(PreviousRules::Set).map_err(damaged),
            Rules::Union(parts) => {
                let parts: Vec<u32> = parts.iter().map(|part| u32::from_le_bytes(*part)).collect();
                // Parts must be sets, so that no union contains itself.
                parts.iter().try_for_each(|&part| view.rule_set(part).map(drop)).map_err(damaged)?;
                Ok(PreviousRules::Union(parts))
            }
        }
    }

    /// The places of all rules, in the order of the file.
    pub(crate) fn places(&self) -> Result<Vec<u32>> {
        self.snapshot.view().rule_places().map_err(damaged)
    }

    /// The number of names, after a check that the last one exists.
    pub(crate) fn token_count(&self) -> Result<u64> {
        let count = self.snapshot.token_count().map_err(damaged)?;
        count.checked_sub(1).map_or(Ok(count), |last| self.snapshot.token(last).map(|_| count).map_err(damaged))
    }

    pub(crate) fn token(&self, number: u32) -> Result<&[u8]> {
        self.snapshot.token(number.into()).map_err(damaged)
    }
}

/// Marks an error as one of the previous snapshot, so that it is not reported for another file.
pub(crate) fn damaged(err: Error) -> Error {
    ErrorKind::BadPrevious(err.to_string()).into()
}
