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
//! guards all shared state; workers hold it for a moment at the ends of these steps. Each change of
//! the state ends with [`Pipeline::unlock`], which wakes the workers that the change lets go on.
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
use super::sync::{self, Condvar, Mutex, MutexGuard};
use crate::error::{Error, Result};
use crate::threads;
use std::cell::Cell;
use std::io;
use std::sync::PoisonError;

/// The blocks per worker by which reading may be ahead of writing.
const AHEAD_PER_WORKER: usize = 4;

/// The bytes of blocks in flight per worker from which only the block that is written next is read.
/// Ordinary blocks have a few times 300 KiB with their results.
pub(super) const BYTES_PER_WORKER: usize = 32 << 20;

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
    run_on(threads::workers(), source, inputs, scratch, work, write)
}

/// [`run`] with this number of workers.
pub(super) fn run_on<S: BlockSource, T>(
    workers: usize,
    source: &S,
    inputs: Vec<S::Input>,
    scratch: impl Fn() -> T + Sync,
    work: impl Fn(&mut S::Block, &mut T) -> Result<()> + Sync,
    write: impl FnMut(OrderedItem<'_, S::Block>) -> Result<()> + Send,
) -> Result<()> {
    let state = PipelineState {
        scheduler: InputScheduler::new(inputs, workers, (workers * AHEAD_PER_WORKER) as u64),
        reorder: ReorderBuffer::new(),
        write: Some(write),
        spare: Vec::new(),
        bytes_in_flight: 0,
        idle: 0,
        is_waking: false,
        growing: 0,
        error: None,
    };
    let pipeline = Pipeline {
        source,
        state: Mutex::new(state),
        read_can_start: Condvar::new(),
        block_can_grow: Condvar::new(),
        large: Mutex::new(()),
        max_bytes: workers * BYTES_PER_WORKER,
    };
    sync::run_workers(workers, || {
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
    /// Idle workers wait for it.
    read_can_start: Condvar,
    /// Workers with a block that grows wait for it.
    block_can_grow: Condvar,
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
    /// The workers that wait for a read.
    idle: usize,
    /// Whether one of them is woken and has not looked for a read since.
    is_waking: bool,
    /// The workers that wait until their blocks can grow.
    growing: usize,
    error: Option<Error>,
}

impl<S: BlockSource, W> PipelineState<S, W> {
    /// Whether no further read starts.
    fn has_ended(&self) -> bool {
        self.error.is_some() || self.scheduler.is_finished()
    }

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
        lock(&self.state)
    }

    /// Unlocks the state after a change, and wakes the workers that the change lets go on.
    ///
    /// Each wake-up is a system call, so a worker is woken only if it has something to do. Of the
    /// idle workers it is one: that one takes a read, and then wakes the next if another read can
    /// start. So whenever the state is unlocked, no read can start, or no worker is idle, or one of
    /// them is waking.
    fn unlock(&self, mut state: MutexGuard<'_, PipelineState<S, W>>) {
        let has_ended = state.has_ended();
        let wakes_one = !has_ended
            && state.idle > 0
            && !state.is_waking
            && state.scheduler.can_start_read(
                state.reorder.next_position(),
                state.bytes_in_flight < self.max_bytes,
            );
        state.is_waking |= wakes_one;
        let wakes_all = has_ended && state.idle > 0;
        // Blocks that grow are rare, and each waits for another position.
        let wakes_growing = state.growing > 0;
        drop(state);
        if wakes_one {
            self.read_can_start.notify_one();
        }
        if wakes_all {
            self.read_can_start.notify_all();
        }
        if wakes_growing {
            self.block_can_grow.notify_all();
        }
    }

    /// Waits for the next read and gives it with a block to fill; `None` after the last read, or
    /// after an error.
    fn start_read(&self) -> Option<(SourceRead<S>, S::Block)> {
        let mut state = self.lock();
        while !state.has_ended() {
            let written = state.reorder.next_position();
            let has_room = state.bytes_in_flight < self.max_bytes;
            if let Some(read) = state.scheduler.start_read(written, has_room) {
                let block = state.spare.pop().unwrap_or_default();
                // Another read may be possible, for another idle worker.
                self.unlock(state);
                return Some((read, block));
            }
            state.idle += 1;
            state = self
                .read_can_start
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            // This worker looks now, whoever was to be woken.
            state.is_waking = false;
        }
        None
    }

    /// Records the error that ends the run, and wakes all workers.
    fn stop(&self, err: Error) {
        let mut state = self.lock();
        state.error.get_or_insert(err);
        self.unlock(state);
    }

    /// Counts a block that has grown, and waits for room unless it is the next to be written.
    fn grow(&self, position: BlockPosition, counted: &Cell<usize>, bytes: usize) {
        let mut state = self.lock();
        state.recount(counted, bytes);
        while state.bytes_in_flight > self.max_bytes
            && state.reorder.next_position() != position
            && state.error.is_none()
        {
            state.growing += 1;
            state = self
                .block_can_grow
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.growing -= 1;
        }
        // More bytes in flight let nobody go on, so nobody is woken.
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
        self.unlock(state);
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
        self.unlock(state);
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
                let alone = is_large.then(|| lock(&self.large));
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
            // If another worker writes, it finds this item when it looks for the next one.
            let Some(mut write) = state.write.take() else {
                break;
            };
            let Some(item) = state.reorder.pop() else {
                state.write = Some(write);
                break;
            };
            // Writing may take long, and the other workers need the lock meanwhile.
            self.unlock(state);
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
        }
        self.unlock(state);
    }
}

/// Locks a mutex. A worker that panicked has stopped the run, and nobody uses the state it left.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
