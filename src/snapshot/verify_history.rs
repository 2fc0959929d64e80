//! Verification of a history: the order of its rows, and every reference from one to another.

use crate::bytes::wire::{NO_TIME, u32_at};
use crate::error::{Error, Result};
use crate::snapshot::format::{NONE, RuleSections, Section};
use crate::snapshot::history::{
    BeforeFailures, HISTORY_TEXT_LEN, VERSION_FAILURE_LEN, VERSION_LEN, VersionAnswer,
};
use crate::snapshot::read::Snapshot;
use crate::snapshot::text_reader::TextReader;
use rayon::prelude::*;

/// Nodes per parallel task.
const NODES_PER_TASK: u32 = 1 << 12;

impl Snapshot {
    /// Checks the history, if there is one; returns the result of `of_text` for each old text.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for the first contradiction.
    pub(super) fn verify_history<T: Send>(
        &self,
        of_text: impl Fn(&[u8]) -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        if !self.has_history() {
            let rules = RuleSections::OLD.all();
            let mut rest = Section::HISTORY.iter().chain(&rules);
            let has_rest = rest.any(|section| !self.section(*section).is_empty());
            return match has_rest {
                true => Err(Error::corrupt("a part of a history")),
                false => Ok(Vec::new()),
            };
        }
        self.verify_row_lengths()?;
        self.verify_starts()?;
        self.verify_urls()?;
        self.verify_version_failures()?;
        (0..self.node_count().div_ceil(NODES_PER_TASK))
            .into_par_iter()
            .try_for_each(|task| {
                let start = task * NODES_PER_TASK;
                let end = self.node_count().min(start.saturating_add(NODES_PER_TASK));
                (start..end).try_for_each(|node| self.verify_versions(node))
            })?;
        self.verify_old_rules()?;
        self.verify_old_texts(of_text)
    }

    /// Checks that each section has whole rows, and that there is a node for each origin and each
    /// other URL.
    fn verify_row_lengths(&self) -> Result<()> {
        for (section, len) in [
            (Section::VersionStarts, 4),
            (Section::Versions, VERSION_LEN),
            (Section::VersionFailures, VERSION_FAILURE_LEN),
            (Section::HistoryUrls, 4),
            (Section::HistoryTexts, HISTORY_TEXT_LEN),
        ] {
            if !self.section(section).len().is_multiple_of(len) {
                return Err(Error::corrupt(format!(
                    "a part of a row in the section \"{}\"",
                    section.name()
                )));
            }
        }
        let nodes = self.origin_count().checked_add(self.history_url_count());
        if nodes == Some(self.node_count()) {
            Ok(())
        } else {
            Err(Error::corrupt("a history of another number of URLs"))
        }
    }

    /// Checks that every version belongs to one node. Every node has one: an origin, or a URL, without
    /// a capture would not be there.
    fn verify_starts(&self) -> Result<()> {
        let starts = self.section(Section::VersionStarts);
        if u32_at(starts, 0, "the versions of a URL")? != 0 {
            return Err(Error::corrupt("versions before those of the first URL"));
        }
        let mut end = 0;
        for node in 0..self.node_count() {
            let versions = self.versions_of(node)?;
            if versions.is_empty() {
                return Err(Error::corrupt("a URL without a version"));
            }
            end = versions.end;
        }
        if end == self.version_count() {
            Ok(())
        } else {
            Err(Error::corrupt("versions of no URL"))
        }
    }

    /// Checks that the other URLs are sorted: they are found by binary search.
    fn verify_urls(&self) -> Result<()> {
        let mut last = None;
        for number in 0..self.history_url_count() {
            let url = self.history_url(number)?;
            if last >= Some(url) {
                return Err(Error::corrupt("the URLs of the history are out of order"));
            }
            last = Some(url);
        }
        Ok(())
    }

    /// Checks that each row of failures belongs to one version, in order.
    fn verify_version_failures(&self) -> Result<()> {
        let mut next = 0;
        for number in 0..self.version_count() {
            if let VersionAnswer::Failure { row, .. } = self.version(number)?.answer {
                if row != next {
                    return Err(Error::corrupt(
                        "the failures of the versions are out of order",
                    ));
                }
                next += 1;
            }
        }
        let rows = self.section(Section::VersionFailures).len() / VERSION_FAILURE_LEN;
        if next as usize == rows {
            Ok(())
        } else {
            Err(Error::corrupt("failures of no version"))
        }
    }

    /// Checks that the versions of a node are in order of time, and that what they refer to exists.
    fn verify_versions(&self, node: u32) -> Result<()> {
        let mut last = None;
        for number in self.versions_of(node)? {
            let version = self.version(number)?;
            let from = version.from.unwrap_or(NO_TIME);
            if last >= Some(from) || version.last_seen < version.from {
                return Err(Error::corrupt("the versions of a URL are out of order"));
            }
            last = Some(from);
            match version.answer {
                VersionAnswer::Rules { file, .. } => self.verify_text_number(file)?,
                VersionAnswer::Redirect(link) => {
                    self.string(link.target)?;
                }
                VersionAnswer::Failure { row, .. } => {
                    let failure = self.version_failure(row)?;
                    let is_later = failure.first_failure > version.from
                        || failure.first_unreachable > version.from;
                    if is_later {
                        return Err(Error::corrupt("a version before its first failure"));
                    }
                    match failure.before {
                        BeforeFailures::Nothing => {}
                        BeforeFailures::File(file) => self.verify_text_number(file)?,
                        BeforeFailures::Redirect(link) => {
                            self.string(link.target)?
                                .ok_or_else(|| Error::corrupt("a redirect without a target"))?;
                        }
                    }
                }
                VersionAnswer::ClientError | VersionAnswer::LostRedirect => {}
            }
        }
        Ok(())
    }

    /// Checks that there is a robots.txt, or an old text, with this number.
    fn verify_text_number(&self, file: u32) -> Result<()> {
        let count = u64::from(self.file_count()) + u64::from(self.history_text_count());
        if u64::from(file) < count {
            Ok(())
        } else {
            Err(Error::corrupt(
                "a version refers to a robots.txt that does not exist",
            ))
        }
    }

    /// Checks the rules of old texts: the files, which have no texts, and what they refer to. They
    /// belong to the texts in order.
    fn verify_old_rules(&self) -> Result<()> {
        let old = RuleSections::OLD;
        if !self.has_old_rules() {
            let has_rest = old
                .all()
                .iter()
                .any(|section| !self.section(*section).is_empty());
            return match has_rest {
                true => Err(Error::corrupt("a part of the rules of old texts")),
                false => Ok(()),
            };
        }
        self.tokens_of(old).verify()?;
        self.verify_rows_of(old, 0)?;
        let rule_sets = self.verify_rule_sets(old)?;
        self.verify_agents(old, &rule_sets.offsets)?;
        let mut next = 0;
        for number in 0..self.history_text_count() {
            let (text, _) = self.history_text(number)?;
            if text.rules != NONE {
                if text.rules != next {
                    return Err(Error::corrupt("the rules of old texts are out of order"));
                }
                next += 1;
            }
        }
        if next == self.view_of(old).file_count() {
            Ok(())
        } else {
            Err(Error::corrupt("the rules of no old text"))
        }
    }

    /// Checks that the old texts are in order, and decompresses each. Returns the result of `of_text`
    /// for each.
    fn verify_old_texts<T: Send>(
        &self,
        of_text: impl Fn(&[u8]) -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        let mut end = 0;
        for number in 0..self.history_text_count() {
            let (text, next) = self.history_text(number)?;
            if text.start != end || next < end {
                return Err(Error::corrupt("the old texts are out of order"));
            }
            if text.base != NONE {
                self.verify_text_number(text.base)?;
            }
            end = next;
        }
        let rows = self.section(Section::HistoryTexts).len() / HISTORY_TEXT_LEN;
        if rows == 0 || end != self.section(Section::HistoryFrames).len() as u64 {
            return Err(Error::corrupt("frames of no old text"));
        }
        let files = self.file_count();
        (0..self.history_text_count())
            .into_par_iter()
            .map_init(
                || TextReader::new(self),
                |reader, number| reader.read(files + number).map(|text| of_text(&text)),
            )
            .collect()
    }
}
