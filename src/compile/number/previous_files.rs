//! The previous snapshot as a source of files, and which of two equal files is stored.

use crate::compile::incremental::previous::{PreviousSnapshot, damaged};
use crate::compile::ingest::file_store::InternedFile;
use crate::compile::resolve::resolved_origin::FileRef;
use crate::error::{Error, Result};
use std::sync::Arc;

/// A robots.txt, borrowed.
#[derive(Clone, Copy)]
pub(crate) enum FileView<'a> {
    /// A file of the captures.
    New(&'a Arc<InternedFile>),
    /// A row of the previous snapshot.
    Previous(u32),
}

impl<'a> From<&'a FileRef> for FileView<'a> {
    fn from(file: &'a FileRef) -> Self {
        match file {
            FileRef::New(file) => Self::New(file),
            FileRef::Previous(row) => Self::Previous(*row),
        }
    }
}

/// The previous snapshot, if there is one.
#[derive(Debug, Default)]
pub(crate) struct PreviousFiles {
    pub snapshot: Option<PreviousSnapshot>,
    /// By row, its files compiled again, if its rule sets cannot be copied; else empty.
    pub recompiled: Vec<Arc<InternedFile>>,
}

impl PreviousFiles {
    /// The file to store: the row of the previous snapshot if that can be copied, else the new
    /// file.
    pub(super) fn stored<'a>(&'a self, file: FileView<'a>) -> FileView<'a> {
        match file {
            FileView::New(new) => new.previous_row.assigned().map_or(file, FileView::Previous),
            FileView::Previous(row) => self.recompiled.get(row as usize).map_or(file, FileView::New),
        }
    }

    /// The previous snapshot.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn snapshot(&self) -> Result<&PreviousSnapshot> {
        self.snapshot.as_ref().ok_or_else(|| damaged(Error::corrupt("there is none")))
    }
}
