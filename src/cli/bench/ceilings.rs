//! What the machine can do at best: copying, looking for line ends, reaching into memory.

use rayon::ThreadPool;
use rayon::prelude::*;
use std::hint::black_box;

/// Words of the memory that is reached into: 256 MiB, more than caches hold.
const WORDS: usize = 32 << 20;
/// How often each thread reaches into it.
pub(super) const ACCESSES: u64 = 1 << 20;
/// Threads take pieces of this size.
const PIECE: usize = 256 << 10;
/// At most so much is copied: more is no slower.
const MAX_COPY: usize = 256 << 20;

/// The memory that the ceilings are measured with.
pub(super) struct Ceilings<'l> {
    list: &'l [u8],
    copy: Vec<u8>,
    words: Vec<u64>,
}

impl<'l> Ceilings<'l> {
    pub(super) fn new(list: &'l [u8]) -> Self {
        // Ones, not zeros: pages of zeros that nobody wrote are one page.
        Self { list, copy: vec![1; list.len().min(MAX_COPY)], words: vec![1; WORDS] }
    }

    /// Copies; gives the number of bytes.
    pub(super) fn copy(&mut self, pool: &ThreadPool) -> usize {
        pool.install(|| {
            let pieces = self.list.par_chunks(PIECE).zip(self.copy.par_chunks_mut(PIECE));
            pieces.for_each(|(from, to)| to.copy_from_slice(&from[..to.len()]));
        });
        black_box(&self.copy);
        self.copy.len()
    }

    /// Counts the line ends.
    pub(super) fn newlines(&self, pool: &ThreadPool) -> usize {
        pool.install(|| self.list.par_chunks(PIECE).map(|piece| memchr::memchr_iter(b'\n', piece).count()).sum())
    }

    /// On each thread, goes from place to place, each depending on what was found at the one before.
    pub(super) fn chained(&self, pool: &ThreadPool) {
        pool.broadcast(|thread| {
            let start = thread.index() as u64;
            black_box((0..ACCESSES).fold(start, |place, _| mix(place.wrapping_add(self.word(place)))));
        });
    }

    /// On each thread, goes to places that are known beforehand, so that the machine can wait for several at once.
    pub(super) fn overlapped(&self, pool: &ThreadPool) {
        pool.broadcast(|thread| {
            let start = ACCESSES * thread.index() as u64;
            black_box((start..start + ACCESSES).fold(0_u64, |sum, place| sum.wrapping_add(self.word(mix(place)))));
        });
    }

    fn word(&self, place: u64) -> u64 {
        self.words[place as usize % WORDS]
    }
}

/// A number that looks random (the finisher of SplitMix64, shortened), in a few cycles.
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ number >> 27
}
