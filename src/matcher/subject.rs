//! A path on its way to be compared with rules.

use crate::snapshot::stems::{PREFIX_LEN, prefix_word};

/// A path made ready to be compared with many rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'p> {
    /// The normalised path; begins with `/`.
    pub(super) path: &'p [u8],
    /// The [`prefix_word`] of what follows the `/`.
    pub(super) word: u64,
}

impl<'p> Subject<'p> {
    #[inline(always)]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        let word = match path.first_chunk::<{ 1 + PREFIX_LEN }>() {
            Some([_, word @ ..]) => u64::from_be_bytes(*word),
            None => prefix_word(path.get(1..).unwrap_or_default()),
        };
        Self { path, word }
    }

    /// What follows the `/`.
    #[inline]
    pub(super) fn tail(&self) -> &'p [u8] {
        self.path.get(1..).unwrap_or_default()
    }
}
