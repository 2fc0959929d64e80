//! What stars part a pattern into, and how much of it the two ends of a path tell.

use crate::snapshot::packed::PREFIX_LEN;

/// Bytes at the end of a path that are compared at once.
const SUFFIX_LEN: usize = 8;

/// What stars part a pattern into.
pub(super) struct Parts<'t> {
    /// What it begins with.
    head: &'t [u8],
    /// Where its first star stands.
    pub star: Option<usize>,
    /// What stands between, stars included; what is not anchored reaches to the end.
    pub inner: &'t [u8],
    /// What it ends with, if it is anchored.
    pub tail: &'t [u8],
}

impl<'t> Parts<'t> {
    /// The parts of a pattern.
    pub(super) fn of(text: &'t [u8], anchored: bool) -> Self {
        let Some(star) = memchr::memchr(b'*', text) else {
            return Self { head: text, star: None, inner: &[], tail: if anchored { text } else { &[] } };
        };
        let behind = &text[star + 1..];
        let last = if anchored { memchr::memrchr(b'*', behind).map_or(0, |at| at + 1) } else { behind.len() };
        Self { head: &text[..star], star: Some(star), inner: &behind[..last], tail: &behind[last..] }
    }

    /// What it begins with behind the `/`.
    pub(super) fn begin(&self) -> &'t [u8] {
        self.head.get(1..).unwrap_or_default()
    }

    /// Whether the edges and the length tell all.
    pub(super) fn are_seen(&self) -> bool {
        let is_tail_seen = self.star.is_none() || self.tail.len() <= SUFFIX_LEN;
        self.begin().len() <= PREFIX_LEN && is_tail_seen && self.inner.iter().all(|&b| b == b'*')
    }

    /// The least length of what matches.
    pub(super) fn len(&self) -> usize {
        if self.star.is_none() {
            return self.head.len();
        }
        self.head.len() + self.inner.iter().filter(|&&b| b != b'*').count() + self.tail.len()
    }
}
