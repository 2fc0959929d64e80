//! A path on its way to be compared with rules.

use crate::words::{ends, first_word};

/// A path made ready to be compared with many rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'p> {
    /// The normalised path; begins with `/`.
    pub(super) path: &'p [u8],
    /// The first bytes of what follows the `/`, at most eight, as a little-endian number: zeros behind a shorter one.
    pub(super) first: u64,
    /// The last bytes of the path likewise, the last of them highest: zeros before a shorter one.
    pub(super) last: u64,
}

impl<'p> Subject<'p> {
    #[inline(always)]
    pub(crate) fn new(path: &'p [u8]) -> Self {
        let Some((slash, tail)) = path.split_first() else { return Self { path, first: 0, last: 0 } };
        if let Some([first, last]) = ends(tail) {
            return Self { path, first: u64::from_le_bytes(*first), last: u64::from_le_bytes(*last) };
        }
        // Not `last_word(path)`: what that reads is what was read to see whether the path is plain, and would be kept for all paths.
        let first = first_word(tail);
        let all = first << 8 | u64::from(*slash);
        Self { path, first, last: all << ((u64::BITS - 8 * path.len() as u32) % u64::BITS) }
    }

    /// The [`prefix_word`](crate::snapshot::stems::prefix_word) of what follows the `/`.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        self.first.swap_bytes()
    }

    /// What follows the `/`.
    #[inline]
    pub(super) fn tail(&self) -> &'p [u8] {
        self.path.get(1..).unwrap_or_default()
    }
}
