//! A rule's path in normal form, and its priority.

use crate::profile::Profile;
use crate::url::escape::normalize_rule;
use std::borrow::Cow;

/// A rule's path in normal form: every `*` is the wildcard, every `$` a literal, the anchor a flag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pattern<'a> {
    /// The path without the final `$`.
    pub text: Cow<'a, [u8]>,
    /// The path ended in `$`: a match must end at the end of the URL.
    pub anchored: bool,
}

impl<'a> Pattern<'a> {
    /// The normal form of the path in an `allow` or `disallow` line.
    pub(crate) fn new(value: &'a [u8], profile: Profile) -> Self {
        let (text, anchored) = normalize_rule(value, profile);
        Self { text, anchored }
    }

    /// The number of bytes of the path, wildcards and `$` included. Of the rules that match, the
    /// one with the highest priority decides (RFC 9309 §2.2.2).
    pub(crate) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    /// Whether it can match any URL: the path of every URL begins with `/`.
    pub(crate) fn can_match(&self) -> bool {
        matches!(self.text.first(), Some(b'/' | b'*'))
    }

    /// The second pattern of `allow: …/index.html` in profile `Google`: the folder itself, `…/$`.
    pub(crate) fn index_folder(&self) -> Option<Pattern<'static>> {
        let slash = memchr::memrchr(b'/', &self.text)?;
        self.text[slash..]
            .starts_with(b"/index.htm")
            .then(|| Pattern {
                text: Cow::Owned(self.text[..=slash].to_vec()),
                anchored: true,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_pages_also_allow_their_folder() {
        let folder = |text: &str| {
            Pattern::new(text.as_bytes(), Profile::Google)
                .index_folder()
                .map(|p| (p.text.to_vec(), p.priority()))
        };
        assert_eq!(folder("/a/index.html"), Some((b"/a/".to_vec(), 4)));
        assert_eq!(folder("/index.htm*x$"), Some((b"/".to_vec(), 2)));
        assert_eq!(folder("/index.html/a"), None);
    }
}
