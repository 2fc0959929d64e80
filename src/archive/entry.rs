//! An archive entry: cheap to cut out on the reader's thread, parsed later on another.

use super::capture::EntryContent;
use super::dir::RobotsFile;
use super::jsonl::JsonlLine;
use super::warc::WarcRecord;
use crate::error::Result;

/// One entry of an archive, not yet parsed.
#[derive(Debug)]
pub(crate) enum ArchiveEntry {
    Warc(WarcRecord),
    Jsonl(JsonlLine),
    File(RobotsFile),
}

/// The weight of a file that is not read yet.
const FILE_WEIGHT: usize = 4096;

impl ArchiveEntry {
    /// Parses the entry.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) (skippable) for a line that is not a JSON
    /// object of the documented form; what the file system refuses.
    pub(crate) fn parse(self) -> Result<EntryContent> {
        match self {
            Self::Warc(record) => Ok(EntryContent::Captures(record.capture().into_iter().collect())),
            Self::Jsonl(line) => line.capture().map(|capture| EntryContent::Captures(vec![capture])),
            Self::File(file) => file.parse(),
        }
    }

    /// Its memory in bytes, which bounds the queue between readers and parsers.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Warc(record) => record.bytes.len(),
            Self::Jsonl(line) => line.text.len(),
            Self::File(_) => FILE_WEIGHT,
        }
    }
}
