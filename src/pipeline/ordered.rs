//! The ordered pipeline: every worker reads, judges and writes blocks, and the output keeps the
//! order of the inputs.
//!
//! A worker repeats three steps:
//!
//! 1. It takes an input that no other worker reads ([`InputScheduler`]) and reads the next block of
//!    it.
//! 2. It returns the reader, so that another worker can read on, and judges the block.
//! 3. It inserts the block into the [`ReorderBuffer`]. If no other worker writes, it writes all
//!    blocks whose turn has come.
//!
//! A worker waits only before step 1, when every input is busy or too far ahead of
//! the output. The block whose turn it is belongs to a worker that does not wait, so nobody waits
//! for ever. The first error in the order of the blocks ends the run, and so does a panic. One lock
//! guards all shared state; workers hold it for a moment at the ends of these steps.
//!
//! Memory is bounded in bytes, because an input chooses the size of its blocks: a list may have
//! lines of 64 MiB. All blocks together have [`BYTES_PER_WORKER`] times the number of workers. At
//! that bound, only the block that is written next is read or grows. One worker at a time judges a
//! large block, since judging takes several times its bytes.
//!
//! Separate threads for reading and writing were no faster, and took two queues more.

use super::reorder_buffer::{BlockPosition, BufferedItem, ReorderBuffer};
use super::scheduler::{InputScheduler, ReadTarget, ReadTask};
use super::source::{BlockSource, LARGE_BLOCK};
use crate::error::{Error, Result};
use crate::threads;
use std::cell::Cell;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The blocks per worker by which reading may be ahead of writing.
const AHEAD_PER_WORKER: usize = 4;

/// The bytes of blocks in flight per worker from which only the block that is written next is read.
/// Ordinary blocks have a few times 300 KiB with their results.
const BYTES_PER_WORKER: usize = 32 << 20;

/// An item for the writer, in the order of the inputs.
pub(crate) enum OrderedItem<'b, B> {
    Block(&'b mut B),
    EndOfInput,
}

/// Reads every block of `inputs`, sends it through `work` on all threads of the current rayon pool,
/// and calls `write` in the order of the inputs. Each worker has a scratch of its own.
///
/// # Errors
/// The first error in the order of the blocks; no later block is written.
pub(crate) fn run<S: BlockSource, T>(
    source: &S,
    inputs: Vec<S::Input>,
    scratch: impl Fn() -> T + Sync,
    work: impl Fn(&mut S::Block, &mut T) -> Result<()> + Sync,
    write: impl FnMut(OrderedItem<'_, S::Block>) -> Result<()> + Send,
) -> Result<()> {
    let threads = threads::workers();
    let state = PipelineState {
        scheduler: InputScheduler::new(inputs, threads, (threads * AHEAD_PER_WORKER) as u64),
        reorder: ReorderBuffer::new(),
        write: Some(write),
        spare: Vec::new(),
        bytes_in_flight: 0,
        error: None,
    };
    let pipeline = Pipeline {
        source,
        state: Mutex::new(state),
        changed: Condvar::new(),
        large: Mutex::new(()),
        max_bytes: threads * BYTES_PER_WORKER,
    };
    rayon::scope(|pool| {
        for _ in 0..threads {
            pool.spawn(|_| {
                // Other workers would wait for the block of a worker that panics.
                let _stop = StopOnPanic(&pipeline);
                let mut local = scratch();
                while let Some((read, block)) = pipeline.start_read() {
                    pipeline.process(read, block, |block, is_large| {
                        let done = work(block, &mut local);
                        // The buffers of the scratch grew with the block.
                        if is_large {
                            local = scratch();
                        }
                        done
                    });
                }
            });
        }
    });
    let state = pipeline
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    state.error.map_or(Ok(()), Err)
}

/// A read of a source.
type SourceRead<S> = ReadTask<<S as BlockSource>::Input, <S as BlockSource>::Reader>;

struct Pipeline<'p, S: BlockSource, W> {
    source: &'p S,
    state: Mutex<PipelineState<S, W>>,
    changed: Condvar,
    /// Held while a large block is judged.
    large: Mutex<()>,
    max_bytes: usize,
}

/// A judged block, and the bytes that it holds.
struct HeldBlock<B> {
    block: B,
    bytes: usize,
}

struct PipelineState<S: BlockSource, W> {
    scheduler: InputScheduler<S::Input, S::Reader>,
    reorder: ReorderBuffer<HeldBlock<S::Block>>,
    /// `None` while a worker writes.
    write: Option<W>,
    spare: Vec<S::Block>,
    /// The bytes of blocks that workers have read, or that wait in the reorder buffer.
    bytes_in_flight: usize,
    error: Option<Error>,
}

impl<S: BlockSource, W> PipelineState<S, W> {
    /// Counts a block with so many bytes, of which some are `counted` already.
    fn recount(&mut self, counted: &Cell<usize>, bytes: usize) {
        self.bytes_in_flight = self.bytes_in_flight + bytes - counted.replace(bytes);
    }

    /// Keeps a block with so many bytes for the next read.
    fn keep_spare(&mut self, block: S::Block, bytes: usize) {
        if bytes < LARGE_BLOCK {
            self.spare.push(block);
        }
    }
}

impl<S: BlockSource, W> Pipeline<'_, S, W> {
    fn lock(&self) -> MutexGuard<'_, PipelineState<S, W>> {
        // A worker that panicked has stopped the run, and nobody uses the state it left.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next read and gives it with a block to fill; `None` after the last read, or
    /// after an error.
    fn start_read(&self) -> Option<(SourceRead<S>, S::Block)> {
        let mut state = self.lock();
        loop {
            if state.error.is_some() || state.scheduler.is_finished() {
                return None;
            }
            let written = state.reorder.next_position();
            let has_room = state.bytes_in_flight < self.max_bytes;
            if let Some(read) = state.scheduler.start_read(written, has_room) {
                return Some((read, state.spare.pop().unwrap_or_default()));
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records the error that ends the run, and wakes all workers.
    fn stop(&self, err: Error) {
        self.lock().error.get_or_insert(err);
        self.changed.notify_all();
    }

    /// Counts a block that has grown, and waits for room unless it is the next to be written.
    fn grow(&self, position: BlockPosition, counted: &Cell<usize>, bytes: usize) {
        let mut state = self.lock();
        state.recount(counted, bytes);
        while state.bytes_in_flight > self.max_bytes
            && state.reorder.next_position() != position
            && state.error.is_none()
        {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the reader of a block with so many bytes, so that another worker can read on.
    fn return_reader(
        &self,
        input: u64,
        reader: S::Reader,
        counted: &Cell<usize>,
        bytes: usize,
    ) -> BlockPosition {
        let is_slow = self.source.is_slow(&reader);
        let mut state = self.lock();
        state.recount(counted, bytes);
        let position = state.scheduler.return_reader(input, reader, is_slow);
        drop(state);
        self.changed.notify_all();
        position
    }

    /// Ends an input that gave no block.
    fn end_input(&self, input: u64, unused: S::Block, has_failed: bool) -> BlockPosition {
        let bytes = self.source.bytes_held(&unused);
        let mut state = self.lock();
        state.keep_spare(unused, bytes);
        if has_failed {
            state.scheduler.drop_unopened();
        }
        let position = state.scheduler.end_input(input);
        drop(state);
        self.changed.notify_all();
        position
    }
}

impl<S: BlockSource, W: FnMut(OrderedItem<'_, S::Block>) -> Result<()>> Pipeline<'_, S, W> {
    /// Reads a block, judges it and delivers it.
    fn process(
        &self,
        read: SourceRead<S>,
        mut block: S::Block,
        work: impl FnOnce(&mut S::Block, bool) -> Result<()>,
    ) {
        let input = read.position.input;
        // The bytes of this block that are counted so far. A large block gets results that are as
        // long.
        let counted = Cell::new(0);
        let grow = |bytes| self.grow(read.position, &counted, 2 * bytes);
        let (position, item) = match read_block(self.source, read.target, &mut block, &grow) {
            // The reader is returned before the slow part, so that another worker reads meanwhile.
            Ok(Some(reader)) => {
                let bytes = self.source.bytes_held(&block);
                let is_large = bytes >= LARGE_BLOCK;
                let counted_bytes = if is_large { 2 * bytes } else { bytes };
                let position = self.return_reader(input, reader, &counted, counted_bytes);
                let alone = is_large.then(|| threads::lock(&self.large));
                let done = self.source.load(&mut block);
                let done = done.and_then(|()| work(&mut block, is_large));
                drop(alone);
                let bytes = self.source.bytes_held(&block);
                let item = done.map(|()| BufferedItem::Block(HeldBlock { block, bytes }));
                (position, item.unwrap_or_else(BufferedItem::Failed))
            }
            Ok(None) => (
                self.end_input(input, block, false),
                BufferedItem::EndOfInput,
            ),
            Err(err) => (
                self.end_input(input, block, true),
                BufferedItem::Failed(err),
            ),
        };
        self.deliver(position, item, &counted);
    }

    /// Inserts an item, and writes all whose turn has come unless another worker does. Some of its
    /// bytes are `counted` already.
    fn deliver(
        &self,
        position: BlockPosition,
        item: BufferedItem<HeldBlock<S::Block>>,
        counted: &Cell<usize>,
    ) {
        let mut state = self.lock();
        let bytes = match &item {
            BufferedItem::Block(held) => held.bytes,
            BufferedItem::EndOfInput | BufferedItem::Failed(_) => 0,
        };
        state.recount(counted, bytes);
        state.reorder.insert(position, item);
        while state.error.is_none() {
            // Another worker writes. It finds this item when it looks for the next one.
            let Some(mut write) = state.write.take() else {
                return;
            };
            let Some(item) = state.reorder.pop() else {
                state.write = Some(write);
                return;
            };
            // Writing may take long, and the other workers need the lock meanwhile.
            drop(state);
            let (result, written) = match item {
                BufferedItem::Block(mut held) => {
                    (write(OrderedItem::Block(&mut held.block)), Some(held))
                }
                BufferedItem::EndOfInput => (write(OrderedItem::EndOfInput), None),
                BufferedItem::Failed(err) => (Err(err), None),
            };
            state = self.lock();
            state.write = Some(write);
            if let Some(HeldBlock { block, bytes }) = written {
                state.bytes_in_flight -= bytes;
                state.keep_spare(block, bytes);
            }
            if let Err(err) = result {
                state.error.get_or_insert(err);
            }
            self.changed.notify_all();
        }
    }
}

/// Reads the next block of an input, and opens the input first if need be: its reader, or `None` at
/// its end.
fn read_block<S: BlockSource>(
    source: &S,
    target: ReadTarget<S::Input, S::Reader>,
    block: &mut S::Block,
    grow: &dyn Fn(usize),
) -> Result<Option<S::Reader>> {
    let mut reader = match target {
        ReadTarget::Unopened(input) => source.open(input)?,
        ReadTarget::Open(reader) => reader,
    };
    let has_block = source.read(&mut reader, block, grow)?;
    Ok(has_block.then_some(reader))
}

/// Stops the run when a worker panics, so that no other worker waits for its block.
struct StopOnPanic<'p, 's, S: BlockSource, W>(&'p Pipeline<'s, S, W>);

impl<S: BlockSource, W> Drop for StopOnPanic<'_, '_, S, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0
                .stop(io::Error::other("a worker of the pipeline panicked").into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
