//! The header of a WARC record (ISO 28500): its limits, and the values of its fields.

use super::http::headers;

/// The longest WARC header; real ones stay far below.
pub(crate) const MAX_HEADER: u64 = 1 << 20;

/// The longest record. A larger length is damage, and would skip all records that follow.
const MAX_RECORD: u64 = 1 << 40;

/// The length of a record's block, from its header; `None` without a valid `Content-Length`.
pub(crate) fn content_length(head: &[u8]) -> Option<u64> {
    let [length] = headers(head, ["Content-Length"]);
    parse_length(length?)
}

/// The value of `Content-Length`.
pub(super) fn parse_length(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value)
        .ok()?
        .parse::<u64>()
        .ok()
        .filter(|length| *length <= MAX_RECORD)
}

/// The grammar of WARC/1.0 has URIs in angle brackets, and some tools write them.
pub(crate) fn without_brackets(uri: &[u8]) -> &[u8] {
    uri.strip_prefix(b"<")
        .and_then(|uri| uri.strip_suffix(b">"))
        .unwrap_or(uri)
}
