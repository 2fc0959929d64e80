//! Writes the sections of a history: versions of all URLs, and the texts that only old versions have.
//! The rules of these are files without a text, so a [`FileWriter`](super::write::FileWriter) writes
//! them.
//!
//! Old texts get the numbers after those of the files, which are known only when all origins are. So
//! versions are spooled with the numbers of texts first, and renumbered at the end.

use crate::error::{ErrorKind, Result};
use crate::snapshot::format::NONE;
use crate::snapshot::history::{HistoryText, Version, VersionFailure};
use crate::snapshot::write::FileSections;
use crate::spool::{Spool, SpoolOptions, SpooledBytes};

/// Appends the versions of URLs.
#[derive(Debug)]
pub(crate) struct VersionWriter {
    starts: Spool,
    versions: Spool,
    failures: Spool,
    version_count: u32,
    failure_count: u32,
    encoded: Vec<u8>,
}

/// The versions of all URLs, in the order of their nodes.
#[derive(Debug)]
pub(crate) struct WrittenVersions {
    /// The first version of each node, and the number of all.
    pub starts: SpooledBytes,
    pub versions: SpooledBytes,
    pub failures: SpooledBytes,
}

impl VersionWriter {
    pub(crate) fn new(options: &SpoolOptions) -> Self {
        Self {
            starts: Spool::new(options, "version starts"),
            versions: Spool::new(options, "versions"),
            failures: Spool::new(options, "version failures"),
            version_count: 0,
            failure_count: 0,
            encoded: Vec::new(),
        }
    }

    /// Begins the next node.
    pub(crate) fn begin_node(&mut self) -> Result<()> {
        self.starts.append(&self.version_count.to_le_bytes())
    }

    /// The number of the next row of failures.
    pub(crate) fn next_failure(&self) -> u32 {
        self.failure_count
    }

    /// Appends a version of the current node.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`]; I/O errors of temporary data.
    pub(crate) fn append(
        &mut self,
        version: &Version,
        failure: Option<&VersionFailure>,
    ) -> Result<()> {
        self.version_count = self
            .version_count
            .checked_add(1)
            .filter(|&count| count != NONE)
            .ok_or_else(|| ErrorKind::TooLarge("four billion versions or more".to_owned()))?;
        self.encoded.clear();
        version.encode(&mut self.encoded);
        self.versions.append(&self.encoded)?;
        if let Some(failure) = failure {
            self.failure_count += 1;
            self.encoded.clear();
            failure.encode(&mut self.encoded);
            self.failures.append(&self.encoded)?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<WrittenVersions> {
        self.begin_node()?;
        Ok(WrittenVersions {
            starts: self.starts.finish()?,
            versions: self.versions.finish()?,
            failures: self.failures.finish()?,
        })
    }
}

/// Appends old texts.
#[derive(Debug)]
pub(crate) struct HistoryTextWriter {
    rows: Spool,
    frames: Spool,
    encoded: Vec<u8>,
}

impl HistoryTextWriter {
    pub(crate) fn new(options: &SpoolOptions) -> Self {
        Self {
            rows: Spool::new(options, "history texts"),
            frames: Spool::new(options, "history frames"),
            encoded: Vec::new(),
        }
    }

    /// Appends the frame of a text: the difference to the text with the number `base`, or a whole one
    /// for [`NONE`]. `rules` is the row of its rules in `old files`, or [`NONE`].
    pub(crate) fn append(&mut self, base: u32, rules: u32, frame: &[u8]) -> Result<()> {
        self.append_row(base, rules)?;
        self.frames.append(frame)
    }

    fn append_row(&mut self, base: u32, rules: u32) -> Result<()> {
        self.encoded.clear();
        HistoryText {
            start: self.frames.len(),
            base,
            rules,
        }
        .encode(&mut self.encoded);
        self.rows.append(&self.encoded)
    }

    /// The sections `history texts` and `history frames`.
    pub(crate) fn finish(mut self) -> Result<(SpooledBytes, SpooledBytes)> {
        // The end of the last text.
        self.append_row(NONE, NONE)?;
        Ok((self.rows.finish()?, self.frames.finish()?))
    }
}

/// The sections of a history, in temporary data.
#[derive(Debug)]
pub(crate) struct HistorySections {
    pub versions: WrittenVersions,
    /// The URLs of the nodes after the origins, as offsets in the section `strings`.
    pub urls: SpooledBytes,
    pub texts: SpooledBytes,
    pub frames: SpooledBytes,
    /// The rules of short old texts.
    pub rules: FileSections,
}
