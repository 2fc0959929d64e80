//! The body of a response: decoded, and checked to be whole, by the headers that describe it and by
//! what its recorder may have done to it.

use super::codings::{MAX_KEPT, codings, decode_all};
use super::content_range::ContentRange;
use super::field_values::declared_length;
use super::head::ResponseHeaders;
use crate::robots::line::MAX_BODY;
use bstr::ByteSlice;
use std::borrow::Cow;

/// The headers of a response that say how its body is coded, and how long it is.
#[derive(Debug)]
pub(in crate::archive) struct BodyHeaders {
    /// The codings, in decoding order.
    codings: Vec<Vec<u8>>,
    /// The largest `Content-Length`; that of a chunked response does not count.
    length: Option<u64>,
    range: Option<ContentRange>,
}

impl BodyHeaders {
    pub(super) fn of(headers: &ResponseHeaders<'_>) -> Self {
        let content = &headers.content_encoding;
        Self::new(
            content.iter().chain(&headers.transfer_encoding),
            &headers.content_length,
            headers.content_range.as_ref(),
        )
    }

    /// From the values of the headers: codings in the order in which they were applied, lengths,
    /// and the `Content-Range`.
    pub(in crate::archive) fn new<V: AsRef<[u8]>>(
        applied: impl IntoIterator<Item = V>,
        lengths: impl IntoIterator<Item = V>,
        range: Option<V>,
    ) -> Self {
        let codings = codings(applied);
        // Chunks say by themselves where the body ends (RFC 9112 §6.3).
        let is_chunked = codings.iter().any(|coding| coding == b"chunked");
        Self {
            length: declared_length(lengths).filter(|_| !is_chunked),
            range: range.and_then(|range| ContentRange::parse(range.as_ref())),
            codings,
        }
    }

    /// Decodes the body of a 2xx response. `cut_short`: the archive kept only its beginning.
    ///
    /// # Errors
    /// The cause in a few words if the body is damaged, incomplete, or of an unsupported coding.
    pub(in crate::archive) fn decode<'b>(
        &self,
        status: u16,
        body: &'b [u8],
        recorder: Recorder,
        cut_short: bool,
    ) -> Result<DecodedBody<'b>, String> {
        // RFC 9110 §15.3.7: a 206 says which part it has.
        let part = match (status, self.range) {
            (206, None) => return Err("a 206 without a valid Content-Range".to_owned()),
            (206, range) => range,
            _ => None,
        };
        if part.is_some_and(|part| !part.has_all_that_counts()) {
            return Err("a 206 with a part of the body".to_owned());
        }
        let mut is_start = cut_short || part.is_some_and(|part| !part.is_whole());
        let bytes = decode_all(&self.codings, body, is_start)?;
        let part_len = part.map(ContentRange::len);
        // A body that was coded ends where its coding says so.
        if let (Some(sent), Cow::Borrowed(bytes), false) =
            (self.length.max(part_len), &bytes, cut_short)
            && bytes.len() < MAX_KEPT
            && !recorder.may_have_got(sent, bytes, !self.codings.is_empty())
        {
            if bytes.len() < MAX_BODY {
                return Err("the body is shorter than its Content-Length".to_owned());
            }
            // It broke off, or its recorder stopped, after the bytes that count.
            is_start = true;
        }
        if is_start && bytes.is_empty() {
            return Err("nothing of the body was recorded".to_owned());
        }
        Ok(DecodedBody { bytes, is_start })
    }
}

/// The source of a recorded body: what may differ from the bytes that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archive) enum Recorder {
    /// The bytes of the connection. A coding may be decoded, with its header still there.
    Network,
    /// The bytes of an HTTP client. A coding may be decoded, and its header removed, but not the
    /// `Content-Length`: Scrapy does so.
    Client,
    /// The text of an HTTP client, which also converts it to Unicode.
    ClientText,
}

impl Recorder {
    /// Whether a body may be all of a body that was sent with this length. `is_coded`: a header
    /// names a coding, so the recorder decoded it.
    fn may_have_got(self, sent: u64, body: &[u8], is_coded: bool) -> bool {
        let len = body.len() as u64;
        // Compression makes only short texts longer: gzip adds 18 bytes and the name of a file. It
        // makes 20 bytes of nothing.
        let coded = match len {
            0 if is_coded => 20,
            1..256 if is_coded || self != Self::Network => len + 64,
            _ => len,
        };
        if sent <= coded || self != Self::ClientText {
            return sent <= coded;
        }
        // A byte order mark and line ends at the end may be removed. UTF-16 becomes half as long.
        let utf16 = 2 * body.to_str_lossy().encode_utf16().count() as u64;
        sent <= len + 7 || (utf16..=utf16 + 2).contains(&sent)
    }
}

/// A decoded body.
pub(in crate::archive) struct DecodedBody<'b> {
    /// A little over the first 500 KiB at most.
    pub bytes: Cow<'b, [u8]>,
    /// Whether it is only the beginning of the body, so that its last line may be cut.
    pub is_start: bool,
}

/// The body of a 2xx response as an HTTP client hands it over, without the codings of its
/// `Content-Encoding` headers; `None` if it is damaged, incomplete or of an unsupported coding, so
/// that the response counts as a failure.
///
/// Supported are `gzip`, `deflate`, `br` and `zstd`. Many clients decode the body and leave the
/// header. So a text that does not decode is returned as it is. A body that is shorter than its
/// `Content-Length` is incomplete (RFC 9112 §8), and so is a part of a body: `Content-Range` (RFC
/// 9110 §14.4). Other headers do not count: a client removes transfer codings. Of a decoded body, a
/// little over the first 500 KiB is returned.
///
/// ```
/// use robosieve::compile::decode_body;
/// let headers = [("Content-Encoding", "gzip")];
/// assert_eq!(decode_body(b"user-agent: *", headers).as_deref(), Some(&b"user-agent: *"[..]));
/// assert_eq!(decode_body(b"\x1f\x8bdamaged", headers), None);
/// assert_eq!(decode_body(b"user-agent", [("content-length", "13")]), None);
/// assert_eq!(decode_body(b"user-agent", [("content-range", "bytes 0-9/13")]), None);
/// ```
pub fn decode_body<N: AsRef<[u8]>, V: AsRef<[u8]>>(
    body: &[u8],
    headers: impl IntoIterator<Item = (N, V)>,
) -> Option<Cow<'_, [u8]>> {
    let mut encodings = Vec::new();
    let mut lengths = Vec::new();
    let mut range = None;
    for (name, value) in headers {
        match name.as_ref().to_ascii_lowercase().as_slice() {
            b"content-encoding" => encodings.push(value),
            b"content-length" => lengths.push(value),
            b"content-range" => range = range.or(Some(value)),
            _ => {}
        }
    }
    // Only a 206 has this header, among the successes.
    let status = if range.is_some() { 206 } else { 200 };
    let headers = BodyHeaders::new(encodings, lengths, range);
    let body = headers
        .decode(status, body, Recorder::Network, false)
        .ok()?;
    // Its caller cannot know that the last line is cut.
    let has_cut_line = body.is_start && body.bytes.len() < MAX_KEPT;
    (!has_cut_line).then_some(body.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::http::parse;
    use crate::archive::http::tests::outcome;

    /// Compression makes only short texts longer, so the length of the coded body shows whether a
    /// decoded one is whole.
    #[test]
    fn decoded_bodies_are_compared_with_the_length_of_the_coded_body() {
        let length = |coding: &str, sent: usize, len: usize| {
            let headers = format!("Content-Length: {sent}\r\n{coding}");
            outcome(&headers, &b"a".repeat(len)).is_ok()
        };
        for coding in ["Content-Encoding: gzip", "Content-Encoding: br"] {
            assert!(length(coding, 30, 500));
            assert!(length(coding, 77, 13));
            assert!(!length(coding, 78, 13));
            assert!(length(coding, 500, 500));
            assert!(!length(coding, 501, 500));
            assert!(length(coding, 20, 0));
            assert!(!length(coding, 21, 0));
        }
        assert!(!length("Content-Encoding: identity", 14, 13));
        // The 500 KiB that count are there, but their last line may be cut.
        let cut_short = |len: usize| {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n";
            let block = format!("{head}{}", "#".repeat(len));
            parse(block.into(), false)
                .ok()
                .map(|response| response.cut_short)
        };
        assert_eq!(
            [MAX_BODY - 1, MAX_BODY, MAX_BODY + 1, MAX_KEPT].map(cut_short),
            [None, Some(true), Some(true), Some(false)]
        );
    }
}
