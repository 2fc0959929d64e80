//! One origin's outcome, with the texts that it refers to.

use super::versions::UrlVersion;
use crate::compile::incremental::previous_answer::EarlierRedirect;
use crate::compile::ingest::text_store::TextId;
use crate::digest::Digest;
use crate::snapshot::{Outcome, OutcomeClass};
use std::borrow::Cow;

/// The source of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    /// A capture of the origin's own robots.txt.
    Capture,
    /// The previous snapshot, although the origin was captured: it has something newer.
    NewerPrevious,
    /// The previous snapshot, with captures of URLs that its redirects lead to.
    Redirects,
    /// The previous snapshot alone.
    Previous,
}

/// The outcome of one origin. Inherited texts are borrowed from the previous snapshot.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedOrigin<'p> {
    pub key: Cow<'p, [u8]>,
    pub outcome: Outcome,
    pub file: Option<TextId>,
    pub last_good: Option<TextId>,
    /// The digest that an archive stated for either of these.
    pub payload: Option<Digest>,
    /// The redirect before the failures, if there is no last good copy.
    pub earlier_redirect: Option<EarlierRedirect>,
    /// The URL that answered, if it is not the origin's own robots.txt.
    pub source: Option<Cow<'p, [u8]>>,
    pub detail: Option<Cow<'p, [u8]>>,
    pub decided_by: DecidedBy,
    /// Whether the previous snapshot has the origin with an answer, so not with a failure.
    pub answered_before: bool,
    /// The versions of the origin's robots.txt; empty unless the snapshot gets a history.
    pub versions: Vec<UrlVersion>,
}

impl ResolvedOrigin<'_> {
    /// An outcome without files and times.
    pub(in crate::compile) fn new(class: OutcomeClass, status: u16) -> Self {
        Self {
            key: Cow::default(),
            outcome: Outcome::new(class, status),
            file: None,
            last_good: None,
            payload: None,
            earlier_redirect: None,
            source: None,
            detail: None,
            decided_by: DecidedBy::Previous,
            answered_before: false,
            versions: Vec::new(),
        }
    }

    /// This outcome with another detail.
    pub(in crate::compile) fn with_detail(self, detail: &str) -> Self {
        Self {
            detail: Some(detail.as_bytes().to_vec().into()),
            ..self
        }
    }

    /// The outcome of a URL without any event.
    pub(super) fn unknown() -> Self {
        Self::new(OutcomeClass::Unresolved, 0)
    }
}
