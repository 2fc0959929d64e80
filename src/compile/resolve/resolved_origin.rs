//! One origin's outcome, with the files that it refers to.

use crate::compile::ingest::file_store::InternedFile;
use crate::snapshot::{Outcome, OutcomeClass};
use std::sync::Arc;

/// The outcome of one origin.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedOrigin {
    pub key: Box<[u8]>,
    pub outcome: Outcome,
    pub file: Option<FileRef>,
    pub last_good: Option<FileRef>,
    /// The URL that answered, if it is not the origin's own robots.txt.
    pub source: Option<Box<[u8]>>,
    pub detail: Option<Box<[u8]>>,
    /// Whether a capture of the origin's own robots.txt decided, not the previous snapshot.
    pub by_capture: bool,
}

/// A robots.txt, or the rules of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContentRef<T> {
    /// Content of the captures.
    New(T),
    /// A row or a place of the previous snapshot.
    Previous(u32),
}

pub(crate) type FileRef = ContentRef<Arc<InternedFile>>;
pub(crate) type FileView<'a> = ContentRef<&'a Arc<InternedFile>>;

impl FileRef {
    pub(crate) fn view(&self) -> FileView<'_> {
        match self {
            Self::New(file) => ContentRef::New(file),
            Self::Previous(row) => ContentRef::Previous(*row),
        }
    }
}

impl ResolvedOrigin {
    /// An outcome without files and times.
    pub(super) fn new(class: OutcomeClass, status: u16) -> Self {
        let outcome = Outcome {
            class,
            status,
            hops: 0,
            cut_short: false,
            past_limit: false,
            looks_like: None,
            fetched: None,
            target_missing: false,
            first_failure: None,
            first_unreachable: None,
            max_age: None,
        };
        let (file, last_good, source, detail) = (None, None, None, None);
        Self { key: Box::default(), outcome, file, last_good, source, detail, by_capture: false }
    }

    /// The outcome of a URL without any event.
    pub(super) fn unknown() -> Self {
        Self::new(OutcomeClass::Unresolved, 0)
    }
}
