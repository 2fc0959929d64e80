//! The limits of the machine: copying, scanning for newlines, random access.

use rayon::ThreadPool;
use rayon::prelude::*;
use std::hint::black_box;

/// Words of the random-access memory: 256 MiB, more than caches hold.
const WORDS: usize = 32 << 20;
/// Random accesses per thread.
pub(super) const ACCESSES: u64 = 1 << 20;
/// The chunk size of parallel work.
const CHUNK: usize = 256 << 10;
/// The most bytes that are copied; more gives the same rate.
const MAX_COPY: usize = 256 << 20;

/// The buffers of the measurements.
pub(super) struct Ceilings<'l> {
    list: &'l [u8],
    copy: Vec<u8>,
    words: Vec<u64>,
}

impl<'l> Ceilings<'l> {
    pub(super) fn new(list: &'l [u8]) -> Self {
        // Ones, not zeros: untouched zero pages share one physical page.
        Self {
            list,
            copy: vec![1; list.len().min(MAX_COPY)],
            words: vec![1; WORDS],
        }
    }

    /// Copies the list, and returns the number of bytes.
    pub(super) fn copy(&mut self, pool: &ThreadPool) -> usize {
        pool.install(|| {
            let chunks = self
                .list
                .par_chunks(CHUNK)
                .zip(self.copy.par_chunks_mut(CHUNK));
            chunks.for_each(|(from, to)| to.copy_from_slice(&from[..to.len()]));
        });
        black_box(&self.copy);
        self.copy.len()
    }

    /// Counts the newlines.
    pub(super) fn newlines(&self, pool: &ThreadPool) -> usize {
        pool.install(|| {
            self.list
                .par_chunks(CHUNK)
                .map(|chunk| memchr::memchr_iter(b'\n', chunk).count())
                .sum()
        })
    }

    /// On each thread, makes accesses whose addresses depend on the previous word.
    pub(super) fn chained(&self, pool: &ThreadPool) {
        pool.broadcast(|thread| {
            let start = thread.index() as u64;
            black_box(
                (0..ACCESSES).fold(start, |index, _| mix(index.wrapping_add(self.word(index)))),
            );
        });
    }

    /// On each thread, makes accesses at independent addresses, which the processor can overlap.
    pub(super) fn overlapped(&self, pool: &ThreadPool) {
        pool.broadcast(|thread| {
            let start = ACCESSES * thread.index() as u64;
            black_box(
                (start..start + ACCESSES)
                    .fold(0_u64, |sum, index| sum.wrapping_add(self.word(mix(index)))),
            );
        });
    }

    fn word(&self, index: u64) -> u64 {
        self.words[index as usize % WORDS]
    }
}

/// A cheap pseudo-random permutation: the finisher of SplitMix64, shortened.
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ number >> 27
}
