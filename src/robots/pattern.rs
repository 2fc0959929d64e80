//! A rule's path in normal form: what it matches, and how long it counts.

use crate::profile::Profile;
use crate::simd::{AnyMachine, Machine};
use crate::url::escape::normalize_rule;
use memchr::memmem;
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

    /// Whether the normalised `path` matches.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        glob_matches(&self.text, self.anchored, path, AnyMachine::detect())
    }
}

/// Whether `path` matches `text`, in which `*` stands for any run of bytes.
///
/// The pieces between the stars are taken one after the other, each at its first place behind the last: if any
/// choice of places matches, the leftmost does, because it leaves the most room. Only the last piece of an
/// anchored pattern is held to the end. So the cost is linear in the path however many stars there are, where
/// trying every place takes exponential time on patterns like `/(*a)×20*b`.
#[inline(always)]
pub(crate) fn glob_matches(text: &[u8], anchored: bool, path: &[u8], machine: impl Machine) -> bool {
    let Some(star) = machine.find_byte(text, b'*') else {
        return path.starts_with(text) && (!anchored || path.len() == text.len());
    };
    let Some(rest) = path.strip_prefix(&text[..star]) else { return false };
    behind_matches(&text[star + 1..], anchored, rest, machine)
}

/// As [`glob_matches`], of a path that is known to begin with what `text` has before its first star. True of a text without any.
#[inline(always)]
pub(crate) fn glob_matches_behind(text: &[u8], anchored: bool, path: &[u8], machine: impl Machine) -> bool {
    let Some(star) = machine.find_byte(text, b'*') else { return true };
    path.get(star..).is_some_and(|rest| behind_matches(&text[star + 1..], anchored, rest, machine))
}

/// Whether what `pattern`, which stands behind a star, says is found in `rest`.
#[inline(always)]
pub(crate) fn behind_matches(mut pattern: &[u8], anchored: bool, mut rest: &[u8], machine: impl Machine) -> bool {
    // The end is the cheapest to look at, and most paths fail there.
    if anchored && !rest.ends_with(&pattern[pattern.iter().rposition(|&b| b == b'*').map_or(0, |star| star + 1)..]) {
        return false;
    }
    while let Some(star) = machine.find_byte(pattern, b'*') {
        let Some(at) = find(rest, &pattern[..star], machine) else { return false };
        rest = &rest[at + star..];
        pattern = &pattern[star + 1..];
    }
    if anchored { rest.ends_with(pattern) } else { find(rest, pattern, machine).is_some() }
}

/// The first place of `needle`. Building a searcher costs more than a short look: 40 to 50 ns a call were measured
/// for `memmem::find` on paths, so it is left to long ones.
#[inline(always)]
fn find(haystack: &[u8], needle: &[u8], machine: impl Machine) -> Option<usize> {
    if haystack.len() > 256 { memmem::find(haystack, needle) } else { machine.find(haystack, needle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leftmost_places_suffice() {
        let m = |pattern: &str, path: &str| Pattern::new(pattern.as_bytes(), Profile::Google).matches(path.as_bytes());
        assert!(m("/*ab", "/aab"));
        assert!(m("/*.php$", "/a.php/b.php"));
        assert!(!m("/*.php$", "/a.php/b"));
        assert!(m("*$", "/x") && m("/a**b*$", "/ab") && m("/a$b", "/a$bc"));
        assert!(!m("/a*b$", "/b") && !m("/ab*b$", "/ab"), "pieces do not overlap");
        assert!(!m(&format!("/{}*b", "*a".repeat(20)), &"/a".repeat(5000)));
    }

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
