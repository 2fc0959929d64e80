//! The answer of one URL in the previous snapshot.

use crate::compile::ingest::text_store::TextId;
use crate::compile::ingest::url_key::UrlKey;
use crate::digest::Digest;
use crate::snapshot::OutcomeClass;
use crate::snapshot::details::parse_missing_target;
use crate::snapshot::read::OriginEntry;

/// The redirects that preceded the failures of an origin without a last good copy.
///
/// Only their end is kept, as for other redirects: it has a history of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EarlierRedirect {
    /// The status at the end, or that of a redirect without a target.
    pub status: u16,
    /// The last URL, or the one that was not captured. `None` for a redirect without a target.
    pub end: Option<UrlKey>,
    /// The redirects to the end.
    pub hops: u8,
    /// Whether the previous snapshot has the end too. It knew the times of both then, and that the end
    /// had no copy when the failures began.
    pub is_without_copy: bool,
}

/// The answer of one URL in the previous snapshot.
#[derive(Clone, Debug)]
pub(crate) struct PreviousAnswer<'p> {
    pub entry: OriginEntry<'p>,
    /// The robots.txt of the entry's rules.
    pub rules: Option<TextId>,
    /// The last good copy, if the newest capture failed.
    pub last_good: Option<TextId>,
    /// The digest that an archive stated for either of these.
    pub payload: Option<Digest>,
    /// The redirect before the failures, if there is no last good copy.
    pub earlier_redirect: Option<EarlierRedirect>,
    /// The number of redirects from the URL to its final answer.
    pub hops: u8,
}

impl<'p> PreviousAnswer<'p> {
    /// Whether the URL itself failed, so that its last good copy counts.
    pub(crate) fn is_failure(&self) -> bool {
        self.hops == 0
            && matches!(
                self.class(),
                OutcomeClass::ServerError | OutcomeClass::Unreachable
            )
    }

    /// Whether that failure is "unreachable" in RFC 9309 (§2.3.1.4), so not a 429.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.is_failure() && self.entry.outcome().status != 429
    }

    /// Whether the URL itself answered with a redirect.
    pub(crate) fn is_redirect(&self) -> bool {
        self.hops > 0 || self.class() == OutcomeClass::Unresolved
    }

    /// The robots.txt that the URL itself returned.
    pub(crate) fn rules_text(&self) -> Option<TextId> {
        self.rules
            .filter(|_| self.hops == 0 && self.class() == OutcomeClass::Rules)
    }

    /// The URL at the end of the redirects, and their number.
    pub(crate) fn redirect_end(&self) -> Option<(&'p [u8], u8)> {
        self.entry
            .strings()
            .0
            .filter(|_| self.hops > 0)
            .map(|url| (url, self.hops))
    }

    /// The URL at the end of the redirects that was not captured, and their number.
    pub(crate) fn missing_target(&self) -> Option<(&'p [u8], u8)> {
        let detail = self
            .entry
            .strings()
            .1
            .filter(|_| self.class() == OutcomeClass::Unresolved)?;
        Some((parse_missing_target(detail)?, self.hops.saturating_add(1)))
    }

    /// The end of the redirect before the failures.
    pub(crate) fn earlier_redirect_end(&self) -> Option<&UrlKey> {
        self.earlier_redirect
            .as_ref()
            .and_then(|redirect| redirect.end.as_ref())
    }

    pub(crate) fn class(&self) -> OutcomeClass {
        self.entry.outcome().class
    }
}
