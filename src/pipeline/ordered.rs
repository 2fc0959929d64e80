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
//! Separate threads for reading and writing were no faster, and took two queues more.

use super::reorder_buffer::{BlockPosition, BufferedItem, ReorderBuffer};
use super::scheduler::{InputScheduler, ReadTarget, ReadTask};
use super::source::BlockSource;
use crate::error::{Error, Result};
use crate::threads;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The blocks per worker by which reading may be ahead of writing.
const AHEAD_PER_WORKER: usize = 4;

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
        in_flight: 0,
        error: None,
    };
    let max_in_flight = source.max_in_flight(threads);
    let pipeline = Pipeline {
        source,
        state: Mutex::new(state),
        changed: Condvar::new(),
        max_in_flight,
    };
    rayon::scope(|pool| {
        for _ in 0..threads {
            pool.spawn(|_| {
                // Other workers would wait for the block of a worker that panics.
                let _stop = StopOnPanic(&pipeline);
                let mut scratch = scratch();
                while let Some((read, block)) = pipeline.start_read() {
                    pipeline.process(read, block, |block| work(block, &mut scratch));
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
    max_in_flight: usize,
}

struct PipelineState<S: BlockSource, W> {
    scheduler: InputScheduler<S::Input, S::Reader>,
    reorder: ReorderBuffer<S::Block>,
    /// `None` while a worker writes.
    write: Option<W>,
    spare: Vec<S::Block>,
    /// Blocks that workers have, or that wait in the reorder buffer.
    in_flight: usize,
    error: Option<Error>,
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
            let has_room = state.in_flight < self.max_in_flight;
            if let Some(read) = state.scheduler.start_read(written, has_room) {
                state.in_flight += 1;
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

    /// Returns the reader of a block, so that another worker can read on.
    fn return_reader(&self, input: u64, reader: S::Reader) -> BlockPosition {
        let is_slow = self.source.is_slow(&reader);
        let position = self.lock().scheduler.return_reader(input, reader, is_slow);
        self.changed.notify_all();
        position
    }

    /// Ends an input that gave no block.
    fn end_input(&self, input: u64, unused: S::Block, has_failed: bool) -> BlockPosition {
        let mut state = self.lock();
        state.in_flight -= 1;
        state.spare.push(unused);
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
        work: impl FnOnce(&mut S::Block) -> Result<()>,
    ) {
        let input = read.input;
        let (position, item) = match read_block(self.source, read.target, &mut block) {
            // The reader is returned before the slow part, so that another worker reads meanwhile.
            Ok(Some(reader)) => {
                let position = self.return_reader(input, reader);
                let done = self.source.load(&mut block).and_then(|()| work(&mut block));
                (
                    position,
                    done.map_or_else(BufferedItem::Failed, |()| BufferedItem::Block(block)),
                )
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
        self.deliver(position, item);
    }

    /// Inserts an item, and writes all whose turn has come unless another worker does.
    fn deliver(&self, position: BlockPosition, item: BufferedItem<S::Block>) {
        let mut state = self.lock();
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
                BufferedItem::Block(mut block) => {
                    (write(OrderedItem::Block(&mut block)), Some(block))
                }
                BufferedItem::EndOfInput => (write(OrderedItem::EndOfInput), None),
                BufferedItem::Failed(err) => (Err(err), None),
            };
            state = self.lock();
            state.write = Some(write);
            if let Some(block) = written {
                state.in_flight -= 1;
                state.spare.push(block);
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
) -> Result<Option<S::Reader>> {
    let mut reader = match target {
        ReadTarget::Unopened(input) => source.open(input)?,
        ReadTarget::Open(reader) => reader,
    };
    let has_block = source.read(&mut reader, block)?;
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
