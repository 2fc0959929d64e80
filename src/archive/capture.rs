//! A capture: what one request for a URL returned, whichever archive format recorded it.

use crate::robots::condense::Delivery;
use bytes::Bytes;

/// One recorded fetch of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capture {
    /// The requested URL, as written.
    pub url: Vec<u8>,
    /// The time of the fetch, in seconds since 1970.
    pub time: Option<i64>,
    /// The answer of the site.
    pub answer: CaptureAnswer,
    /// In a JSON line without a body, a key that looks like the body.
    pub unread_key: Option<String>,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaptureAnswer {
    /// An HTTP response.
    Http(CapturedResponse),
    /// No HTTP response: the cause in a few words.
    Failed(String),
}

impl Default for CaptureAnswer {
    fn default() -> Self {
        Self::Http(CapturedResponse::default())
    }
}

/// The parts of an HTTP response that decide an outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapturedResponse {
    pub status: u16,
    /// The `Location` header, as written.
    pub location: Option<Vec<u8>>,
    /// `max-age` of the `Cache-Control` header, in seconds.
    pub max_age: Option<u32>,
    /// The body after content decoding, up to a little over the 500 KiB that count.
    pub body: Bytes,
    pub delivery: Delivery,
}

/// The parsed content of an entry.
#[derive(Debug)]
pub(crate) enum EntryContent {
    Captures(Vec<Capture>),
    /// A file of a directory that is not a robots.txt: its path and the reason.
    NotRobots(String),
}

/// Parses an RFC 3339 time to seconds since 1970.
pub(super) fn parse_time(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}
