//! What the agents of a judge obey in each robots.txt, looked up once and remembered.
//!
//! Nearly always, all agents obey one rule set of a robots.txt, or none. Which one takes three reads
//! of the snapshot: the file, the names in it, and the head of the rules. In a list in random order
//! that is done for nearly every line, and each read is a cache miss. The memo makes it one read of
//! four bytes.

use std::sync::atomic::{AtomicU32, Ordering};

/// What all agents of a judge obey in a robots.txt, in the four bytes of the memo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Obeyed(u32);

impl Obeyed {
    /// It was not looked up. Zero, so that a new memo is memory that the system need not fill.
    const NOT_ASKED: Self = Self(0);
    /// There is no robots.txt, as the site says. Never in the memo, as it is known without.
    pub(super) const NO_ROBOTS_TXT: Self = Self(u32::MAX - 2);
    /// No agent obeys any rules.
    pub(super) const NO_RULES: Self = Self(u32::MAX - 1);
    /// Anything else, such as rules that differ between agents.
    pub(super) const OTHER: Self = Self(u32::MAX);

    /// All agents obey the rule set at this offset of the section `rule sets`.
    pub(super) fn one_set(offset: u32) -> Self {
        if offset < Self::NO_ROBOTS_TXT.0 - 1 {
            Self(offset + 1)
        } else {
            Self::OTHER
        }
    }

    /// The offset of the one rule set, unless this is a constant.
    #[inline(always)]
    pub(super) fn offset(self) -> u32 {
        self.0.wrapping_sub(1)
    }
}

/// What the agents of a judge obey, by the number of the robots.txt.
///
/// Any thread fills it. Two that look up the same file store the same value, so no order of the
/// accesses is needed.
#[derive(Debug)]
pub(super) struct FileMemo(Vec<AtomicU32>);

impl FileMemo {
    /// An empty memo for this number of files, of four bytes each.
    ///
    /// The conversion is done in place, so it touches no memory that the allocator has as zeros from
    /// the system. Where the allocator writes them, ten million origins cost 2 ms.
    pub(super) fn new(files: u32) -> Self {
        let unused = vec![Obeyed::NOT_ASKED.0; files as usize];
        Self(unused.into_iter().map(AtomicU32::new).collect())
    }

    /// What a robots.txt has for the agents, by `look_up` if it is not known yet.
    /// [`OTHER`](Obeyed::OTHER) beyond the last file.
    #[inline(always)]
    pub(super) fn get(&self, file: u32, look_up: impl FnOnce() -> Obeyed) -> Obeyed {
        let Some(place) = self.0.get(file as usize) else {
            return Obeyed::OTHER;
        };
        let known = Obeyed(place.load(Ordering::Relaxed));
        if known != Obeyed::NOT_ASKED {
            return known;
        }
        let found = look_up();
        place.store(found.0, Ordering::Relaxed);
        found
    }

    /// Whether [`get`](Self::get) would look this file up.
    #[inline(always)]
    pub(super) fn lacks(&self, file: u32) -> bool {
        let place = self.0.get(file as usize);
        place.is_some_and(|place| place.load(Ordering::Relaxed) == Obeyed::NOT_ASKED.0)
    }

    /// Prefetches what [`get`](Self::get) reads.
    #[inline(always)]
    pub(super) fn prefetch(&self, file: u32) {
        if let Some(place) = self.0.get(file as usize) {
            crate::simd::prefetch(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_looked_up_once() {
        let memo = FileMemo::new(3);
        let values = [Obeyed::one_set(0), Obeyed::NO_RULES, Obeyed::OTHER];
        for (file, value) in (0..).zip(values) {
            assert!(memo.lacks(file));
            assert_eq!(memo.get(file, || value), value);
            assert!(!memo.lacks(file));
            assert_eq!(memo.get(file, || unreachable!("it is known")), value);
        }
        assert_eq!(memo.get(3, || unreachable!("there is none")), Obeyed::OTHER);
        assert!(!memo.lacks(3) && !memo.lacks(u32::MAX));
        memo.prefetch(u32::MAX);
    }

    #[test]
    fn every_offset_is_kept_or_left_to_other_ways() {
        for offset in [0, 1, u32::MAX - 5, u32::MAX - 4] {
            assert_eq!(Obeyed::one_set(offset).offset(), offset);
        }
        for offset in u32::MAX - 3..=u32::MAX {
            assert_eq!(Obeyed::one_set(offset), Obeyed::OTHER);
        }
    }
}
