//! Canonical URLs, by which captures are sorted and looked up.

use crate::profile::Profile;
use crate::url;
use crate::url::escape::normalize_path;

/// The path of an origin's robots.txt (RFC 9309 §2.3).
pub(crate) const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// A canonical URL: origin and path with query, without the fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn origin(&self) -> &[u8] {
        &self.text[..usize::from(self.origin_len)]
    }

    /// Whether it is the URL of an origin's robots.txt.
    pub(crate) fn is_robots(&self) -> bool {
        &self.text[usize::from(self.origin_len)..] == ROBOTS_PATH
    }
}
