//! A rule's path in normal form: what it matches, and how long it counts.

use crate::profile::Profile;
use crate::url::escape::normalize_rule;
use std::borrow::Cow;

/// A rule's path after normalisation: every `*` is the wildcard, every `$` a literal, the anchor a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern<'a> {
    /// The path without the final `$`.
    pub text: Cow<'a, [u8]>,
    /// The path ended in `$`: it must reach to the end of the URL.
    pub anchored: bool,
}

impl<'a> Pattern<'a> {
    /// The normal form of the path in an `allow` or `disallow` line.
    pub(crate) fn new(value: &'a [u8], profile: Profile) -> Self {
        let (text, anchored) = normalize_rule(value, profile);
        Self { text, anchored }
    }

    /// The bytes that decide between matching rules: as written, wildcards and `$` included (RFC 9309 §2.2.2).
    pub(crate) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    /// Whether it can match any URL at all; a URL's path begins with `/`.
    pub(crate) fn can_match(&self) -> bool {
        matches!(self.text.first(), Some(b'/' | b'*'))
    }

    /// The second meaning of `allow: …/index.html` in profile `Google`: the folder itself, `…/$`.
    pub(crate) fn index_folder(&self) -> Option<Pattern<'static>> {
        let slash = memchr::memrchr(b'/', &self.text)?;
        self.text[slash..]
            .starts_with(b"/index.htm")
            .then(|| Pattern { text: Cow::Owned(self.text[..=slash].to_vec()), anchored: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_page_also_means_its_folder() {
        let folder = |text: &str| {
            Pattern::new(text.as_bytes(), Profile::Google).index_folder().map(|p| (p.text.to_vec(), p.priority()))
        };
        assert_eq!(folder("/a/index.html"), Some((b"/a/".to_vec(), 4)));
        assert_eq!(folder("/index.htm*x$"), Some((b"/".to_vec(), 2)));
        assert_eq!(folder("/index.html/a"), None);
    }
}
