//! Canonical URLs, by which captures are sorted and looked up.

use crate::profile::Profile;
use crate::url::escape::normalize_path;
use crate::url::{self, ROBOTS_PATH};

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
        Some(Self {
            text: [parts.origin, slash, &path].concat().into(),
            origin_len,
        })
    }

    /// The key with this text, whose first `origin_len` bytes are the origin.
    pub(crate) fn from_parts(text: &[u8], origin_len: u16) -> Self {
        Self {
            text: text.into(),
            origin_len,
        }
    }

    /// The key of a URL that is canonical; `None` for any other text.
    pub(crate) fn of_canonical(text: &[u8]) -> Option<Self> {
        // White space at the end of a path preceded a fragment, or it would have been trimmed.
        Self::new(&[text, b"#"].concat()).filter(|key| *key.text == *text)
    }

    /// The key with this text, whose first `origin_len` bytes are the origin, if it is one that
    /// [`new`](Self::new) makes.
    pub(super) fn of_parts(text: &[u8], origin_len: usize) -> Option<Self> {
        Self::of_canonical(text).filter(|key| key.origin_len() == origin_len)
    }

    /// The key of an origin's robots.txt.
    pub(crate) fn robots_of(origin: &[u8]) -> Self {
        Self {
            text: [origin, ROBOTS_PATH].concat().into(),
            origin_len: origin.len() as u16,
        }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn origin_len(&self) -> usize {
        self.origin_len.into()
    }

    /// The origin, and the path with the query.
    pub(crate) fn split(&self) -> (&[u8], &[u8]) {
        self.text.split_at(self.origin_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_texts_are_not_keys() {
        for (text, origin_len) in [
            ("http://a.example", 16),
            ("http://A.example/", 16),
            ("http://a.example:80/", 19),
            ("http://a.example/\u{e9}", 16),
            ("http://a.example/%e9", 16),
            ("http://a.example/#", 16),
            (" http://a.example/", 17),
            ("http://a.example/", 15),
            ("http://a.example/", 17),
            ("http://a.example/", 99),
            ("", 0),
            ("/robots.txt", 0),
        ] {
            assert_eq!(
                UrlKey::of_parts(text.as_bytes(), origin_len),
                None,
                "{text}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_key_is_recognised(
            scheme in prop::sample::select(vec!["http", "https", "HTTP", "ftp", "x+y"]),
            host in prop::sample::select(vec![
                "a.example", "A.Example.", "u:p@a.example", "1.2.3", "[::1]", "b\u{fc}cher.example", "xn--a", "a;b", "a_b.c",
                "%61.example", "\u{ff41}.example", "a.example:80", "a.example:0443", "a.example:", "xn--bcher-kva.example",
            ]),
            rest in "[/?;#%a0 \t\n\x0b\\\\@:.\u{e9}\u{85}\u{a0}*$-]{0,12}",
        ) {
            let url = format!("{scheme}://{host}{rest}");
            if let Some(key) = UrlKey::new(url.as_bytes()) {
                let found = UrlKey::of_parts(key.text(), key.origin_len());
                prop_assert_eq!(found.as_ref(), Some(&key), "{}", url);
            }
        }
    }
}
