//! Tests of the ordered pipeline on real threads.

use super::ordered::{BYTES_PER_WORKER, OrderedItem, run};
use super::source::{BlockSource, LARGE_BLOCK};
use crate::error::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const STEP: usize = 1 << 20;

/// Inputs of three blocks each, which grow to `block_len` bytes. Nothing is allocated.
struct GrowingBlocks {
    block_len: usize,
    /// The bytes of all blocks that are not written yet, and the most there were.
    held: AtomicUsize,
    most: AtomicUsize,
}

#[derive(Default)]
struct GrowingBlock {
    input: usize,
    number: usize,
    len: usize,
}

impl BlockSource for GrowingBlocks {
    type Input = usize;
    type Reader = (usize, usize);
    type Block = GrowingBlock;

    fn open(&self, input: usize) -> Result<(usize, usize)> {
        Ok((input, 0))
    }

    fn read(
        &self,
        (input, next): &mut (usize, usize),
        block: &mut GrowingBlock,
        grow: &dyn Fn(usize),
    ) -> Result<bool> {
        if *next == 3 {
            return Ok(false);
        }
        let mut len = 0;
        while len < self.block_len {
            if len >= LARGE_BLOCK {
                grow(len + STEP);
            }
            len += STEP;
            let held = self.held.fetch_add(STEP, Ordering::Relaxed) + STEP;
            self.most.fetch_max(held, Ordering::Relaxed);
            std::thread::yield_now();
        }
        *block = GrowingBlock {
            input: *input,
            number: *next,
            len,
        };
        *next += 1;
        Ok(true)
    }

    fn is_slow(&self, _reader: &(usize, usize)) -> bool {
        true
    }

    fn bytes_held(&self, block: &GrowingBlock) -> usize {
        block.len
    }
}

#[test]
fn large_blocks_keep_the_order_within_the_memory() {
    const INPUTS: usize = 12;
    for threads in [1, 2, 8] {
        for block_len in [STEP, 63 << 20] {
            let source = GrowingBlocks {
                block_len,
                held: AtomicUsize::new(0),
                most: AtomicUsize::new(0),
            };
            let judging = AtomicUsize::new(0);
            let mut written = Vec::new();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| {
                run(
                    &source,
                    (0..INPUTS).collect(),
                    || (),
                    |block, ()| {
                        let others = judging.fetch_add(1, Ordering::Relaxed);
                        assert!(others == 0 || block.len < LARGE_BLOCK);
                        std::thread::yield_now();
                        judging.fetch_sub(1, Ordering::Relaxed);
                        Ok(())
                    },
                    |item| {
                        if let OrderedItem::Block(block) = item {
                            written.push((block.input, block.number));
                            source.held.fetch_sub(block.len, Ordering::Relaxed);
                        }
                        Ok(())
                    },
                )
                .unwrap();
            });
            let expected: Vec<_> = (0..INPUTS)
                .flat_map(|input| (0..3).map(move |number| (input, number)))
                .collect();
            assert_eq!(written, expected);
            // Blocks count twice while they are read. The block that is written next has no
            // bound, nor has the one that is being written, and each worker may have a block
            // that is not large yet.
            let bound = threads * (BYTES_PER_WORKER + LARGE_BLOCK + STEP) + 2 * block_len;
            let most = source.most.load(Ordering::Relaxed);
            assert!(most <= bound, "{most} bytes on {threads} threads");
        }
    }
}

/// Inputs of a small block and a large one. The first large block waits until no other one
/// grows, then grows too.
struct FirstIsLast {
    others: usize,
    /// The bytes of the other blocks.
    held: AtomicUsize,
    /// The other blocks that are read.
    read: AtomicUsize,
}

impl FirstIsLast {
    /// More than all workers have.
    const LEN: usize = 512 << 20;

    fn grow_to_the_end(&self, grow: &dyn Fn(usize), is_first: bool) {
        if !is_first {
            self.held.fetch_add(LARGE_BLOCK, Ordering::SeqCst);
        }
        for len in (LARGE_BLOCK..Self::LEN).step_by(STEP) {
            grow(len + STEP);
            if !is_first {
                self.held.fetch_add(STEP, Ordering::SeqCst);
            }
        }
    }
}

impl BlockSource for FirstIsLast {
    type Input = usize;
    type Reader = (usize, usize);
    type Block = GrowingBlock;

    fn open(&self, input: usize) -> Result<(usize, usize)> {
        Ok((input, 0))
    }

    fn read(
        &self,
        (input, next): &mut (usize, usize),
        block: &mut GrowingBlock,
        grow: &dyn Fn(usize),
    ) -> Result<bool> {
        let len = [STEP, Self::LEN, 0][*next];
        *block = GrowingBlock {
            input: *input,
            number: *next,
            len,
        };
        *next += 1;
        if len <= STEP {
            return Ok(len > 0);
        }
        let is_first = *input == 0;
        if is_first {
            // Growing blocks count twice.
            let room = (self.others + 1) * (BYTES_PER_WORKER / 2 - 2 * STEP);
            let start = Instant::now();
            let mut last = 0;
            let mut unchanged = 0;
            while (last < room || unchanged < 1000) && self.read.load(Ordering::SeqCst) == 0 {
                let is_long = start.elapsed() > Duration::from_secs(600);
                assert!(
                    !is_long,
                    "waited 600 s for the other blocks to fill the memory"
                );
                std::thread::yield_now();
                let held = self.held.load(Ordering::SeqCst);
                unchanged = if held == last { unchanged + 1 } else { 0 };
                last = held;
            }
        }
        self.grow_to_the_end(grow, is_first);
        if !is_first {
            self.read.fetch_add(1, Ordering::SeqCst);
        }
        Ok(true)
    }

    fn is_slow(&self, _reader: &(usize, usize)) -> bool {
        true
    }

    fn bytes_held(&self, block: &GrowingBlock) -> usize {
        block.len
    }
}

#[test]
fn growing_blocks_wait_for_the_one_that_is_written_next() {
    const THREADS: usize = 4;
    let source = FirstIsLast {
        others: THREADS - 1,
        held: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
    };
    let mut before_first = None;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build();
    pool.unwrap().install(|| {
        run(
            &source,
            (0..THREADS).collect(),
            || (),
            |block, ()| {
                if block.input == 0 && block.len > STEP {
                    assert_eq!(
                        source.read.load(Ordering::SeqCst),
                        0,
                        "a block grew beyond the memory"
                    );
                }
                Ok(())
            },
            |item| {
                if let OrderedItem::Block(block) = item
                    && block.input == 0
                {
                    before_first = Some(source.held.load(Ordering::SeqCst));
                }
                Ok(())
            },
        )
        .unwrap();
    });
    let most = THREADS * (BYTES_PER_WORKER / 2 + STEP);
    assert!(before_first.unwrap() <= most, "{before_first:?} bytes");
}
