//! What is told of a redirect that leads nowhere: the words, and what a later compilation reads back from them.

/// The answer names no target.
pub(super) const NO_LOCATION: &str = "redirect without a valid Location";
/// The target was come from.
pub(super) const LOOP: &str = "redirect loop";
/// One hop too many.
pub(super) const TOO_MANY: &str = "more than 5 redirects";

/// A 304 that confirms nothing known.
pub(super) const NO_COPY: &str = "304 without an earlier copy";

const BEFORE: &str = "redirect to ";
const BEHIND: &str = ", which the archive lacks";

/// The target, a canonical URL, was not captured.
pub(super) fn lacking(target: &[u8]) -> String {
    format!("{BEFORE}{}{BEHIND}", String::from_utf8_lossy(target))
}

/// The target that [`lacking`] tells of.
pub(super) fn lacked(detail: &[u8]) -> Option<&[u8]> {
    detail.strip_prefix(BEFORE.as_bytes())?.strip_suffix(BEHIND.as_bytes())
}
