//! The URL inside a line.

/// The line without its line end (LF or CRLF).
#[inline]
pub(super) fn url_of(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
