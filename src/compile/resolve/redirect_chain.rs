//! The redirects followed from one origin's robots.txt.

/// The most redirects that are followed (RFC 9309 §2.3.1.2; Google's specification).
pub(super) const MAX_HOPS: u8 = 5;

/// A chain of redirects.
pub(super) struct RedirectChain<'f> {
    /// The URLs so far, the current one last.
    visited: Vec<&'f [u8]>,
    /// The redirects so far. The previous snapshot keeps the ends of chains only, so this may
    /// exceed the number of URLs.
    pub hops: u8,
    /// Ignore events newer than this time.
    pub until: Option<i64>,
}

impl<'f> RedirectChain<'f> {
    pub(super) fn new(url: &'f [u8]) -> Self {
        Self { visited: vec![url], hops: 0, until: None }
    }

    /// Whether the URL is on the chain, so that another redirect to it is a loop.
    pub(super) fn has_visited(&self, url: &[u8]) -> bool {
        self.visited.contains(&url)
    }

    /// Goes on to a URL, `hops` redirects away.
    pub(super) fn push(&mut self, url: &'f [u8], hops: u8) {
        self.visited.push(url);
        self.hops += hops;
    }

    /// The current URL, if redirects led to it.
    pub(super) fn source(&self) -> Option<&'f [u8]> {
        self.visited.last().copied().filter(|_| self.hops > 0)
    }
}
