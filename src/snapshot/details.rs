//! The details of outcomes that this program states itself, in the words of the section `strings`.
//!
//! A later compilation parses that of a missing target, so the words are part of the format.

/// The answer names no target.
pub(crate) const NO_LOCATION: &str = "redirect without a valid Location";
/// The target is an earlier URL of the chain.
pub(crate) const LOOP: &str = "redirect loop";
/// The chain exceeds the limit.
pub(crate) const TOO_MANY: &str = "more than 5 redirects";
/// A 304 that confirms no known copy.
pub(crate) const NO_COPY: &str = "304 without an earlier copy";

const MISSING_PREFIX: &str = "redirect to ";
const MISSING_SUFFIX: &str = ", which the archive lacks";

/// The detail of a redirect to a canonical URL that was not captured.
pub(crate) fn missing_target(target: &[u8]) -> String {
    format!(
        "{MISSING_PREFIX}{}{MISSING_SUFFIX}",
        String::from_utf8_lossy(target)
    )
}

/// The target in a detail that [`missing_target`] wrote.
pub(crate) fn parse_missing_target(detail: &[u8]) -> Option<&[u8]> {
    detail
        .strip_prefix(MISSING_PREFIX.as_bytes())?
        .strip_suffix(MISSING_SUFFIX.as_bytes())
}
