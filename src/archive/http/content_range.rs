//! `Content-Range`: the part of a body that a 206 has.

use super::field_values::decimal;
use crate::bytes::trim;
use crate::robots::line::MAX_BODY;
use bstr::ByteSlice;

/// The value of a `Content-Range` (RFC 9110 §14.4): the first and last byte of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentRange {
    first: u64,
    last: u64,
    /// The length of the whole body, if it is known.
    total: Option<u64>,
}

impl ContentRange {
    /// From `bytes 0-33/5000`. `None` if it is not valid, or counts in another unit.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let (unit, range) = value.trim_ascii().split_once_str(" ")?;
        let (part, total) = range.split_once_str("/")?;
        let (first, last) = part.split_once_str("-")?;
        let range = Self {
            first: decimal(trim(first))?,
            last: decimal(trim(last))?,
            total: decimal(trim(total)),
        };
        let is_valid = range.first <= range.last
            && range.total.is_none_or(|total| range.last < total)
            && range.last < u64::MAX;
        (unit.eq_ignore_ascii_case(b"bytes") && is_valid).then_some(range)
    }

    pub(super) fn len(self) -> u64 {
        self.last - self.first + 1
    }

    pub(super) fn is_whole(self) -> bool {
        self.total == Some(self.len())
    }

    /// Whether the part is the whole body, or its beginning with the 500 KiB that count.
    pub(super) fn has_all_that_counts(self) -> bool {
        self.is_whole() || self.first == 0 && self.len() >= MAX_BODY as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::http::codings::MAX_KEPT;
    use crate::archive::http::tests::outcome as outcome_of_success;
    use crate::archive::http::{decode_body, parse};

    /// RFC 9110 §15.3.7.
    #[test]
    fn parts_of_a_body_are_failures() {
        let outcome = |headers: &str, len: usize| {
            let block = format!("HTTP/1.1 206 x\r\n{headers}\r\n\r\n{}", "#".repeat(len));
            parse(block.into(), false)
                .ok()
                .map(|response| response.cut_short)
        };
        for (headers, len, expected) in [
            ("Content-Range: bytes 0-33/34", 34, Some(false)),
            ("content-range:BYTES 0 - 33 / 34 ", 34, Some(false)),
            ("Content-Range: bytes 0-33/34", 33, None),
            ("Content-Range: bytes 0-33/5000", 34, None),
            ("Content-Range: bytes 0-33/*", 34, None),
            ("Content-Range: bytes 1-33/34", 33, None),
            ("Content-Range: bytes 0-33/33", 34, None),
            ("Content-Range: lines 0-33/34", 34, None),
            ("Content-Range: bytes */34", 34, None),
            ("Content-Type: multipart/byteranges; boundary=x", 34, None),
            ("", 34, None),
            // Crawlers ask for the 500 KiB that count. The last line of them may be cut.
            ("Content-Range: bytes 0-511999/900000", 512_000, Some(true)),
            ("Content-Range: bytes 0-511999/*", 512_000, Some(true)),
            ("Content-Range: bytes 0-511999/512000", 512_000, Some(false)),
            ("Content-Range: bytes 0-511998/900000", 511_999, None),
            ("Content-Range: bytes 1-512000/900000", 512_000, None),
            ("Content-Range: bytes 0-899999/900000", 511_999, None),
            ("Content-Range: bytes 0-899999/900000", 512_001, Some(true)),
            ("Content-Range: bytes 0-899999/900000", 512_002, Some(false)),
            ("Content-Range: bytes 0-18446744073709551615/*", 9, None),
        ] {
            assert_eq!(outcome(headers, len), expected, "{headers} {len}");
        }
        // The header has no meaning in other responses.
        assert!(outcome_of_success("Content-Range: bytes 0-3/9", b"user").is_ok());
        let range = |value: &'static str| [("Content-Range", value)];
        let long = vec![b'#'; MAX_KEPT];
        assert!(decode_body(b"user", range("bytes 0-3/4")).is_some());
        assert!(decode_body(b"user", range("bytes 0-3/9")).is_none());
        assert!(decode_body(&long, range("bytes 0-512001/900000")).is_some());
        assert!(decode_body(&long[..MAX_BODY], range("bytes 0-511999/900000")).is_none());
    }
}
