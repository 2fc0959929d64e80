//! Parses an HTTP response: status, the headers that decide an outcome, decoded body.

mod body;
mod codings;
mod content_range;
mod field_values;
mod fields;
mod head;

pub use body::decode_body;
pub(super) use body::{BodyHeaders, Recorder};
pub(crate) use codings::MAX_KEPT;
pub(super) use field_values::{max_age, retry_after};
pub(crate) use fields::headers;
pub(crate) use head::{response_fields, status_of};

use super::capture::CaptureAnswer;
use bytes::Bytes;
use codings::{begins_with_chunk, codings};
use head::{ResponseHeaders, SplitResponse};
use std::borrow::Cow;

/// Parses a whole response. `cut_short`: the archive kept only its beginning.
///
/// Codings of `Content-Encoding` and `Transfer-Encoding` are decoded in reverse order. Common Crawl
/// renames the headers to `X-Crawler-…` after decoding, so those do not count. An incomplete
/// response is a failed fetch: as a robots.txt, it would allow URLs that the site may disallow.
///
/// # Errors
/// The cause of the failed fetch in a few words.
pub(super) fn parse(block: Bytes, cut_short: bool) -> CaptureAnswer {
    let split = SplitResponse::of(&block).ok_or(NOT_HTTP)?;
    let headers = ResponseHeaders::of(split.head);
    let mut response = split.without_body(&headers);
    let is_success = (200..300).contains(&split.status);
    // The status of a cut head counts if no header may change its meaning (RFC 9112 §8).
    let needs_headers = is_success || (300..400).contains(&split.status) && split.status != 304;
    if needs_headers && !split.is_whole {
        return Err("the head of the response is incomplete".to_owned());
    }
    // Only the body of a success can be a robots.txt.
    if !is_success {
        return Ok(response);
    }
    let body =
        BodyHeaders::of(&headers).decode(split.status, split.body, Recorder::Network, cut_short)?;
    response.cut_short = body.is_start;
    response.body = match body.bytes {
        Cow::Borrowed(bytes) => block.slice_ref(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(response)
}

/// Parses a response of which only the head was recorded, perhaps without its blank line.
///
/// # Errors
/// The cause in a few words if it is not an HTTP response.
pub(super) fn parse_head(block: &[u8]) -> CaptureAnswer {
    let response = SplitResponse::of(block).ok_or(NOT_HTTP)?;
    Ok(response.without_body(&ResponseHeaders::of(response.head)))
}

const NOT_HTTP: &str = "not an HTTP response";

/// Whether the block of a record is a response whose body begins with a chunk. Chunks may be many
/// times as long as their content.
pub(super) fn has_chunks(block: &[u8]) -> bool {
    SplitResponse::of(block).is_some_and(|response| {
        let headers = ResponseHeaders::of(response.head);
        let codings = codings(&headers.transfer_encoding);
        codings.iter().any(|coding| coding == b"chunked") && begins_with_chunk(response.body)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoded body under these headers, or the error.
    pub(super) fn outcome(headers: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let block = [
            b"HTTP/1.1 200 OK\r\n",
            headers.as_bytes(),
            b"\r\n\r\n",
            body,
        ]
        .concat();
        parse(block.into(), false).map(|response| response.body.to_vec())
    }

    #[test]
    fn head_and_body_are_separated() {
        let response = |block: &'static [u8]| parse(Bytes::from_static(block), false).unwrap();
        let r = response(
            b"HTTP/1.1 200 OK\r\ncache-control: public, Max-Age=60\r\n\r\nbody\r\n\r\nmore",
        );
        assert_eq!(
            (r.status, r.max_age, &r.body[..]),
            (200, Some(60), b"body\r\n\r\nmore".as_slice())
        );
        let r = response(b"HTTP/2 301\nLocation: /x y \n\n");
        assert_eq!(
            (r.status, r.location.as_deref()),
            (301, Some(b"/x y".as_slice()))
        );
        for bad in [
            &b""[..],
            b"\r\n",
            b"HTTP/1.1",
            b"HTTP/1.1 abc\r\n\r\n",
            b"HTTP/1.1 99999 x",
            b"<html>",
        ] {
            assert!(parse(bad.into(), false).is_err(), "{bad:?}");
        }
    }
}
