//! The answer to a request for a robots.txt, as a crawler hands it to the compiler.

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
    /// The status code.
    pub status: u16,
    /// The body without its content coding. Only that of a 2xx response counts, and of it the first
    /// 500 KiB.
    pub body: &'a [u8],
    /// The value of the `Location` header, which may be relative; read for redirects.
    pub location: Option<&'a [u8]>,
    /// The `max-age` of the `Cache-Control` header, in seconds.
    pub max_age: Option<u32>,
    /// When it was fetched, in seconds since 1970; `None`: older than any known time.
    pub fetched_at: Option<i64>,
}

impl<'a> HttpResponse<'a> {
    /// A response with this status, an empty body and no headers, fetched at an unknown time.
    pub fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
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

    /// Sets [`fetched_at`](Self::fetched_at).
    pub fn fetched_at(mut self, time: i64) -> Self {
        self.fetched_at = Some(time);
        self
    }
}
