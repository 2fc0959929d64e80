//! The answer to a request for a robots.txt, as a crawler hands it to the compiler.

use crate::archive::capture::{Capture, CapturedResponse, RetryAfter};
use crate::archive::coded_text::is_coded;
use crate::archive::http::MAX_KEPT;
use bytes::Bytes;

/// An HTTP response to a request for a robots.txt, for
/// [`Compiler::add_response`](crate::Compiler::add_response).
///
/// ```
/// use robosieve::compile::HttpResponse;
/// let target = b"https://www.e.example/robots.txt";
/// let moved = HttpResponse::new(301).location(target).fetched_at(1_767_225_600);
/// assert_eq!(moved.status, 301);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpResponse<'a> {
    /// The status code. For a 206, whose body may be a part, pass 200 if its `Content-Range` has the
    /// whole body, and a [failure](FetchResult::Failure) otherwise.
    pub status: u16,
    /// The body without its content coding. Only that of a 2xx response counts, and of it the first
    /// 500 KiB.
    pub body: &'a [u8],
    /// The value of the `Location` header, which may be relative; read for redirects.
    pub location: Option<&'a [u8]>,
    /// The `max-age` of the `Cache-Control` header, in seconds.
    pub max_age: Option<u32>,
    /// The `Retry-After` header of a 429 or a 5xx, in seconds after the response; ignored for
    /// others.
    pub retry_after: Option<u32>,
    /// When it was fetched, in seconds since 1970; `None`: older than any known time.
    pub fetched_at: Option<i64>,
}

impl<'a> HttpResponse<'a> {
    /// A response with this status, an empty body and no headers, fetched at an unknown time.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// Sets [`body`](Self::body).
    pub fn body(mut self, body: &'a [u8]) -> Self {
        self.body = body;
        self
    }

    /// Sets [`location`](Self::location).
    pub fn location(mut self, location: &'a [u8]) -> Self {
        self.location = Some(location);
        self
    }

    /// Sets [`max_age`](Self::max_age).
    pub fn max_age(mut self, seconds: u32) -> Self {
        self.max_age = Some(seconds);
        self
    }

    /// Sets [`retry_after`](Self::retry_after).
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Sets [`fetched_at`](Self::fetched_at).
    pub fn fetched_at(mut self, time: i64) -> Self {
        self.fetched_at = Some(time);
        self
    }
}

/// The result of a request for a robots.txt, for
/// [`Compiler::add_responses`](crate::Compiler::add_responses).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchResult<'a> {
    /// An HTTP response.
    Response(HttpResponse<'a>),
    /// There was no HTTP response. It counts like a server error (RFC 9309 §2.3.1.4).
    Failure {
        /// The cause in a few words.
        cause: &'a str,
        /// When it was tried, in seconds since 1970; `None`: earlier than any known time.
        fetched_at: Option<i64>,
    },
}

impl FetchResult<'_> {
    /// The capture of this result of a request for `url`.
    pub(super) fn capture(self, url: &[u8]) -> Capture {
        let (time, answer) = match self {
            Self::Failure { cause, fetched_at } => (fetched_at, Err(cause.to_owned())),
            Self::Response(HttpResponse {
                status,
                body,
                location,
                max_age,
                retry_after,
                fetched_at,
            }) => {
                // No more of a body is kept in any case, so the rest is not copied.
                let body = Bytes::copy_from_slice(&body[..body.len().min(MAX_KEPT)]);
                let location = location.map(<[u8]>::to_vec);
                (
                    fetched_at,
                    Ok(CapturedResponse {
                        status,
                        location,
                        max_age,
                        retry_after: retry_after.map(RetryAfter::Seconds),
                        body,
                        ..CapturedResponse::default()
                    }),
                )
            }
        };
        let has_coded_text = answer.as_ref().is_ok_and(|response| {
            (200..300).contains(&response.status) && is_coded(&response.body)
        });
        Capture {
            url: url.to_vec(),
            time,
            answer,
            unread_key: None,
            has_coded_text,
        }
    }
}
