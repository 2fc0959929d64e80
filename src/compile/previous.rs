//! The snapshot of an earlier compilation: what it knows of a URL, and its parts where they lie.

use crate::compile::detail::lacked;
use crate::compile::fetch::ROBOTS_PATH;
use crate::error::{Error, ErrorKind, Result};
use crate::matcher::encoded_set::EncodedSet;
use crate::matcher::rule_set::Rules;
use crate::profile::Profile;
use crate::snapshot::format::{FileRow, NONE, NamedRow, Section};
use crate::snapshot::read::{OriginEntry, Snapshot};
use crate::snapshot::text::DICTIONARY;
use crate::snapshot::write::TOOL;
use crate::snapshot::{Metadata, OutcomeClass};
use jiff::Timestamp;

/// An opened snapshot whose checksums are right. Its rows are read where they lie; what turns out to be damaged all the same, in a file
/// that was made to deceive, is an error that names it.
#[derive(Debug)]
pub(super) struct Previous {
    snapshot: Snapshot,
    metadata: Metadata,
}

/// What a snapshot says to one name: a rule set as it lies, or the places of several.
pub(super) enum OldRules<'p> {
    Set(EncodedSet<'p>),
    Union(Vec<u32>),
}

impl Previous {
    pub(super) fn new(snapshot: Snapshot) -> Result<Self> {
        snapshot.verify_checksums()?;
        let metadata = snapshot.metadata()?;
        Ok(Self { snapshot, metadata })
    }

    /// An error if it holds captures newer than a time: what it held before them is not known any more.
    pub(super) fn check_as_of(&self, as_of: i64) -> Result<()> {
        match self.metadata.captured {
            Some((_, newest)) if newest > as_of => {
                let newest =
                    Timestamp::from_second(newest).map_or_else(|_| newest.to_string(), |time| time.to_string());
                Err(ErrorKind::BadPrevious(format!(
                    "its newest capture is of {newest}, later than the time to compile as of; take an earlier snapshot, or the archives"
                ))
                .into())
            }
            _ => Ok(()),
        }
    }

    /// Whether compiling its texts for a profile would give the bytes that it holds. Another version may have read them otherwise.
    pub(super) fn is_reusable(&self, profile: Profile) -> bool {
        self.metadata.tool == TOOL && self.metadata.profile == profile && self.snapshot.dictionary() == DICTIONARY
    }

    pub(super) fn origin_count(&self) -> u32 {
        self.snapshot.origin_count()
    }

    /// The origin in a row; rows are in the order of the keys.
    pub(super) fn origin(&self, row: u32) -> Result<OriginEntry<'_>> {
        self.snapshot.origin_at(row).map_err(damaged)
    }

    /// The origin whose robots.txt this URL is.
    pub(super) fn origin_of(&self, url: &[u8]) -> Result<Option<OriginEntry<'_>>> {
        let Some(key) = url.strip_suffix(ROBOTS_PATH) else { return Ok(None) };
        let Some(entry) = self.snapshot.view().find(key).map_err(damaged)? else { return Ok(None) };
        self.origin(entry.row).map(Some)
    }

    pub(super) fn file_count(&self) -> u32 {
        self.snapshot.file_count()
    }

    pub(super) fn file(&self, row: u32) -> Result<FileRow> {
        self.snapshot.view().file(row).map_err(damaged)
    }

    /// The compressed text of a robots.txt.
    pub(super) fn frame(&self, row: u32) -> Result<&[u8]> {
        self.snapshot.frame(&self.file(row)?).map_err(damaged)
    }

    /// The text of a robots.txt, as it was condensed.
    pub(super) fn text(&self, row: u32) -> Result<Vec<u8>> {
        self.snapshot.text(row).map_err(damaged)
    }

    /// What a robots.txt says to the names it names: number of the token, place of the rules.
    pub(super) fn named(&self, file: &FileRow) -> Result<impl Iterator<Item = (u32, u32)> + '_> {
        let rows = self.snapshot.view().named(file).map_err(damaged)?;
        Ok(rows.iter().map(NamedRow::decode).map(|row| (row.token, row.rule_set)))
    }

    /// The place of the rules for everybody else.
    pub(super) fn global(&self, file: &FileRow) -> Option<u32> {
        (file.global != NONE).then_some(file.global)
    }

    /// The places of the rules of a robots.txt: the global ones first, then those of the names in their order.
    pub(super) fn rules_of(&self, file: &FileRow) -> Result<impl Iterator<Item = u32> + '_> {
        Ok(self.global(file).into_iter().chain(self.named(file)?.map(|(_, place)| place)))
    }

    pub(super) fn rules(&self, place: u32) -> Result<OldRules<'_>> {
        let view = self.snapshot.view();
        match view.rules(place).map_err(damaged)? {
            Rules::Set(set) => view.encoded_set(place, set).map(OldRules::Set).map_err(damaged),
            Rules::Union(parts) => {
                let parts: Vec<u32> = parts.iter().map(|part| u32::from_le_bytes(*part)).collect();
                // Of sets alone, so that no union leads to itself.
                parts.iter().try_for_each(|&part| view.rule_set(part).map(drop)).map_err(damaged)?;
                Ok(OldRules::Union(parts))
            }
        }
    }

    /// The places of all rules, in their order.
    pub(super) fn places(&self) -> Result<Vec<u32>> {
        self.snapshot.view().rule_places().map_err(damaged)
    }

    /// The number of names; all of them are there.
    pub(super) fn token_count(&self) -> Result<u64> {
        let count = self.snapshot.token_count().map_err(damaged)?;
        count.checked_sub(1).map_or(Ok(count), |last| self.snapshot.token(last).map(|_| count).map_err(damaged))
    }

    /// The length of a section in bytes.
    pub(super) fn len(&self, section: Section) -> u64 {
        self.snapshot.section(section).len() as u64
    }

    pub(super) fn token(&self, number: u32) -> Result<&[u8]> {
        self.snapshot.token(number.into()).map_err(damaged)
    }
}

/// An error in reading the previous snapshot, among files that are being written.
pub(super) fn damaged(err: Error) -> Error {
    ErrorKind::BadPrevious(err.to_string()).into()
}

/// What the previous snapshot knows of one URL.
#[derive(Clone, Debug)]
pub(super) struct Known<'p> {
    pub entry: OriginEntry<'p>,
    /// Redirects between the URL and what answered.
    pub hops: u8,
}

impl<'p> Known<'p> {
    /// Of the robots.txt of the entry's own origin.
    pub(super) fn of_origin(entry: OriginEntry<'p>) -> Self {
        let hops = entry.outcome().hops;
        Self { entry, hops }
    }

    /// Of the URL that answered when the entry's robots.txt was asked for.
    pub(super) fn of_source(entry: OriginEntry<'p>) -> Self {
        Self { entry, hops: 0 }
    }

    /// Whether the URL itself failed, so that its last good copy matters.
    pub(super) fn is_failure(&self) -> bool {
        self.hops == 0 && matches!(self.class(), OutcomeClass::ServerError | OutcomeClass::Unreachable)
    }

    /// Whether that failure is one that RFC 9309 calls "unreachable" (§2.3.1.4): not a 429.
    pub(super) fn is_unreachable(&self) -> bool {
        self.is_failure() && self.entry.outcome().status != 429
    }

    /// Whether the URL itself answered with a redirect.
    pub(super) fn is_redirect(&self) -> bool {
        self.hops > 0 || self.class() == OutcomeClass::Unresolved
    }

    /// The robots.txt that the URL itself answered with.
    pub(super) fn good(&self) -> Option<u32> {
        self.entry.rules_file().filter(|_| self.hops == 0 && self.class() == OutcomeClass::Rules)
    }

    /// The URL that answered in the end, if it is another, and the redirects there.
    pub(super) fn end(&self) -> Option<(&'p [u8], u8)> {
        self.entry.strings().0.filter(|_| self.hops > 0).map(|url| (url, self.hops))
    }

    /// The URL that the redirects led to in the end and that was not captured, and the redirects there.
    pub(super) fn lacked(&self) -> Option<(&'p [u8], u8)> {
        let detail = self.entry.strings().1.filter(|_| self.class() == OutcomeClass::Unresolved)?;
        Some((lacked(detail)?, self.hops.saturating_add(1)))
    }

    pub(super) fn class(&self) -> OutcomeClass {
        self.entry.outcome().class
    }
}
