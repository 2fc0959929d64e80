//! Canonical URLs, by which captures are sorted and looked up.

use crate::profile::Profile;
use crate::url;
use crate::url::escape::normalize_path;

/// The path of an origin's robots.txt (RFC 9309 §2.3).
pub(crate) const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// A canonical URL: origin and path with query, without the fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UrlKey {
    text: Box<[u8]>,
    origin_len: u16,
}

impl UrlKey {
    /// The key of a URL; `None` if the text is not a URL, or its origin is longer than 64 KiB.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let mut buffer = Vec::new();
        let parts = url::split(text, Profile::Rfc9309, &mut buffer)?;
        let origin_len = u16::try_from(parts.origin.len()).ok()?;
        let path = normalize_path(parts.path, Profile::Google);
        let slash: &[u8] = if parts.slash { b"/" } else { b"" };
        Some(Self { text: [parts.origin, slash, &path].concat().into(), origin_len })
    }

    /// The key with this text, whose first `origin_len` bytes are the origin.
    pub(super) fn from_parts(text: &[u8], origin_len: u16) -> Self {
        Self { text: text.into(), origin_len }
    }

    /// The key of a URL that is canonical; `None` for any other text.
    pub(crate) fn of_canonical(text: &[u8]) -> Option<Self> {
        Self::new(text).filter(|key| *key.text == *text)
    }

    /// The key of an origin's robots.txt.
    pub(crate) fn robots_of(origin: &[u8]) -> Self {
        Self { text: [origin, ROBOTS_PATH].concat().into(), origin_len: origin.len() as u16 }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The origin, and the path with the query.
    pub(crate) fn split(&self) -> (&[u8], &[u8]) {
        self.text.split_at(usize::from(self.origin_len))
    }
}
