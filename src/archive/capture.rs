//! A capture: the answer to one request for a URL, whichever archive format recorded it.

use super::captures_file::CapturesBlock;
use crate::digest::Digest;
use bytes::Bytes;

/// One recorded fetch of a URL.
#[derive(Debug)]
pub(crate) struct Capture {
    /// The requested URL, as written.
    pub url: Vec<u8>,
    /// The time of the fetch, in seconds since 1970.
    pub time: Option<i64>,
    pub answer: CaptureAnswer,
    /// In a JSON line without a body, a key that looks like the body.
    pub unread_key: Option<String>,
    /// Its text seems to be [coded once more](super::coded_text).
    pub has_coded_text: bool,
}

/// The HTTP response to one request, or the cause of a failed fetch in a few words.
pub(crate) type CaptureAnswer = Result<CapturedResponse, String>;

/// The reference of a WARC `revisit` record to the body of another record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PayloadReference {
    /// The digest that both records state for the body.
    pub digest: Digest,
    /// The other record has another URL.
    pub of_other_url: bool,
}

/// The failure of a record whose body is that of another URL, which no input has.
pub(crate) const BODY_OF_OTHER_URL: &str = "a revisit record that refers to another URL";

/// The parts of an HTTP response that decide an outcome.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturedResponse {
    pub status: u16,
    /// The `Location` header, as written.
    pub location: Option<Vec<u8>>,
    /// `max-age` of the `Cache-Control` header, in seconds.
    pub max_age: Option<u32>,
    /// The `Retry-After` header of a 429 or a 5xx.
    pub retry_after: Option<RetryAfter>,
    /// The body after content decoding, up to a little over the 500 KiB that count.
    pub body: Bytes,
    /// Whether the archive has only the beginning of the body, so that its last line may be cut.
    pub cut_short: bool,
    /// The digest that the archive states for the body as sent. `None` if it states none, or has
    /// only the beginning of the body.
    pub payload: Option<Digest>,
    /// The record that has the body, if this one has none.
    pub revisit: Option<PayloadReference>,
}

/// The value of a `Retry-After` header (RFC 9110 §10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    /// Seconds after the response.
    Seconds(u32),
    /// A time, in seconds since 1970.
    At(i64),
}

impl RetryAfter {
    /// The seconds to wait after a response of this time; at most `u32::MAX - 1`, and 0 if the time
    /// to retry has passed. `None` for a time to retry if that of the response is unknown.
    pub(crate) fn seconds(self, fetched: Option<i64>) -> Option<u32> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::At(time) => {
                let wait = time.saturating_sub(fetched?);
                Some(wait.clamp(0, i64::from(u32::MAX - 1)) as u32)
            }
        }
    }
}

/// The parsed content of an entry.
#[derive(Debug)]
pub(crate) enum EntryContent {
    Captures(Vec<Capture>),
    /// Captures that were decoded before, with their condensed texts.
    Block(CapturesBlock),
    /// A file of a directory that is not a robots.txt: its path and the reason.
    NotRobots(String),
}

/// Whether a body is cut short, from the archive's reason for truncating it (`WARC-Truncated`).
///
/// # Errors
/// The failure if the fetch itself broke off: rules may be missing.
pub(super) fn is_cut_short(truncated: Option<&[u8]>) -> Result<bool, String> {
    match truncated.map(<[u8]>::to_ascii_lowercase).as_deref() {
        Some(reason @ (b"time" | b"disconnect")) => {
            Err(format!("truncated: {}", String::from_utf8_lossy(reason)))
        }
        other => Ok(other.is_some()),
    }
}
