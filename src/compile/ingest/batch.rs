//! A batch: the captures and counts of one thread.

use super::fetch::{BodyFlags, Fetch, FetchAnswer};
use super::file_store::FileStore;
use super::tally::IngestTally;
use super::url_key::UrlKey;
use crate::archive::capture::{Capture, CapturedResponse, EntryContent};
use crate::archive::reader::ArchiveEntry;
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::condense::CondensedText;
use crate::snapshot::text::Packer;

/// Options that all threads share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IngestOptions {
    pub profile: Profile,
    /// Count and skip damage instead of failing.
    pub skip_damaged: bool,
    /// Leave out captures newer than this time, in seconds since 1970.
    pub as_of: Option<i64>,
}

impl IngestOptions {
    /// Whether a capture of this time is left out.
    pub(crate) fn is_too_new(&self, time: Option<i64>) -> bool {
        self.as_of.is_some_and(|as_of| time > Some(as_of))
    }
}

/// Captures and counts; files go to the shared store.
pub(crate) struct CaptureBatch<'c> {
    options: IngestOptions,
    store: &'c FileStore,
    packer: Packer,
    pub fetches: Vec<Fetch>,
    pub tally: IngestTally,
}

impl<'c> CaptureBatch<'c> {
    pub(crate) fn new(options: IngestOptions, store: &'c FileStore) -> Result<Self> {
        let (fetches, tally) = (Vec::new(), IngestTally::default());
        Ok(Self { options, store, packer: Packer::new()?, fetches, tally })
    }

    /// Parses an archive entry and adds its captures.
    pub(super) fn add_entry(&mut self, entry: ArchiveEntry) -> Result<()> {
        match entry.parse() {
            Ok(EntryContent::Captures(captures)) => {
                captures.into_iter().try_for_each(|capture| self.add_capture(capture))?;
            }
            Ok(EntryContent::NotRobots(file)) => self.tally.skip_files(1, vec![file]),
            Err(err) if self.options.skip_damaged && err.is_skippable() => self.tally.report.damaged += 1,
            Err(err) => return Err(err),
        }
        Ok(())
    }

    /// Adds a capture, unless it is too new or its URL is not one.
    pub(crate) fn add_capture(&mut self, mut capture: Capture) -> Result<()> {
        self.tally.report.captures += 1;
        if self.options.is_too_new(capture.time) {
            self.tally.report.too_new += 1;
            return Ok(());
        }
        self.tally.report.undated += u64::from(capture.time.is_none());
        if let Some(key) = capture.unread_key.take() {
            self.tally.unread_key(key, 1);
        }
        let Some(key) = UrlKey::new(&capture.url) else {
            self.tally.report.not_urls += 1;
            return Ok(());
        };
        let (status, max_age, answer) = match capture.answer {
            Err(cause) => (0, None, FetchAnswer::Unreachable(cause.into())),
            Ok(response) => (response.status, response.max_age, self.intern_answer(&capture.url, response)?),
        };
        self.fetches.push(Fetch { key, time: capture.time, status, max_age, answer });
        Ok(())
    }

    /// The answer of a response to `url`; the body of a 2xx is interned.
    fn intern_answer(&mut self, url: &[u8], response: CapturedResponse) -> Result<FetchAnswer> {
        if !(200..300).contains(&response.status) {
            return Ok(FetchAnswer::without_body(url, response));
        }
        let flags = BodyFlags::of(&response);
        self.tally.body(&response.body);
        let text = CondensedText::of(&response.body, response.cut_short);
        let file = self.store.intern_text(&text, self.options.profile, &mut self.packer)?;
        Ok(FetchAnswer::Rules(file, flags))
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        append(&mut self.fetches, other.fetches);
        self.tally.merge(other.tally);
        self
    }
}

/// Appends captures; an empty list takes the other's memory instead of a copy.
pub(crate) fn append(fetches: &mut Vec<Fetch>, more: Vec<Fetch>) {
    if fetches.is_empty() { *fetches = more } else { fetches.extend(more) }
}
