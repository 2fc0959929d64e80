//! Texts of sites as Unicode.

use std::borrow::Cow;

/// The text of bytes that a site wrote; bytes that are not UTF-8 become U+FFFD.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
