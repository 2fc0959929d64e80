//! Blocks through all workers, in order, with a bounded number on the way.
//!
//! Each worker takes a block, reads and judges it, and puts it out when its turn has come. Threads of their own for reading and writing were
//! tried: no faster, with two queues and two threads more.

use super::block::{Block, Blocks, Input, Part};
use super::stats::FilterStats;
use crate::error::{Error, ErrorKind, Result};
use crate::records::RecordOptions;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How far a run has come, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterProgress {
    /// Bytes read from all inputs, before decoding.
    pub bytes_read: u64,
}

/// Sends every block of `inputs` through `work`, on all threads of the current rayon pool, and on to `write`, in the order of
/// the input. Ends at the first error.
pub(super) fn run<S>(
    inputs: Vec<Input>,
    options: &RecordOptions,
    progress: &(dyn Fn(FilterProgress) + Sync),
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut Block, &mut S, &mut FilterStats) -> Result<()> + Sync,
    write: impl FnMut(&Block) -> io::Result<()> + Send,
) -> Result<FilterStats> {
    let threads = rayon::current_num_threads();
    let source =
        Mutex::new(Source { inputs: inputs.into_iter(), options, blocks: None, header: None, before: 0, number: 0 });
    let turns = Turns::new(threads * 4, write);
    rayon::scope(|pool| {
        for _ in 0..threads {
            pool.spawn(|_| {
                let _stop = StopOnPanic(&turns);
                let mut scratch = scratch();
                while let Some((number, mut block)) = read(&source, &turns, progress) {
                    let mut stats = FilterStats::default();
                    match work(&mut block, &mut scratch, &mut stats) {
                        Ok(()) => turns.put(number, block, stats),
                        Err(err) => turns.stop(err),
                    }
                }
            });
        }
    });
    turns.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A worker that panicked has stopped the run; what it held is not used any more.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next block and its number; `None` at the end, or when the run has stopped.
fn read<W: FnMut(&Block) -> io::Result<()>>(
    source: &Mutex<Source<'_>>,
    turns: &Turns<W>,
    progress: &(dyn Fn(FilterProgress) + Sync),
) -> Option<(u64, Block)> {
    let mut block = turns.spare()?;
    let next = lock(source).next(&mut block, progress);
    match next.and_then(|number| block.fetch().map(|()| number)) {
        Ok(number) => Some((number?, block)),
        Err(err) => {
            turns.stop(err);
            None
        }
    }
}

/// The inputs, of which one worker reads at a time.
struct Source<'o> {
    inputs: std::vec::IntoIter<Input>,
    options: &'o RecordOptions,
    blocks: Option<Blocks>,
    /// The header of the first input that has one.
    header: Option<Vec<u8>>,
    /// Bytes of the inputs that are done.
    before: u64,
    number: u64,
}

impl Source<'_> {
    /// Reads the next block; its number, or `None` at the end of the last input.
    fn next(&mut self, block: &mut Block, progress: &dyn Fn(FilterProgress)) -> Result<Option<u64>> {
        loop {
            if self.blocks.is_none() {
                let Some(input) = self.inputs.next() else { return Ok(None) };
                self.blocks = Some(Blocks::new(input, self.options)?);
            }
            let Some(blocks) = &mut self.blocks else { return Ok(None) };
            if blocks.next(block)? {
                if block.part == Part::Header && !is_first(&mut self.header, block, blocks)? {
                    continue;
                }
                progress(FilterProgress { bytes_read: self.before + blocks.bytes_read() });
                self.number += 1;
                return Ok(Some(self.number - 1));
            }
            self.before += blocks.bytes_read();
            self.blocks = None;
        }
    }
}

/// Whether this header is the first; the others must be equal to it, as there can be only one in an output.
fn is_first(first: &mut Option<Vec<u8>>, block: &Block, blocks: &Blocks) -> Result<bool> {
    let Some(first) = first else {
        *first = Some(block.data().to_vec());
        return Ok(true);
    };
    if first.trim_ascii_end() == block.data().trim_ascii_end() {
        return Ok(false);
    }
    let what = "its header is another than that of the first input; give each input an output of its own (--out-dir)";
    Err(Error::from(ErrorKind::BadList(what.to_owned())).at(blocks.path()))
}

/// Puts judged blocks out in their order. A worker that comes with the block whose turn it is writes it, and those that follow and
/// wait already; the others leave theirs and go on, unless too many wait.
struct Turns<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
    limit: u64,
}

struct State<W> {
    /// `None` while a worker writes.
    write: Option<W>,
    /// The number of the block whose turn it is.
    turn: u64,
    waiting: BTreeMap<u64, (Block, FilterStats)>,
    spare: Vec<Block>,
    total: FilterStats,
    error: Option<Error>,
}

impl<W: FnMut(&Block) -> io::Result<()>> Turns<W> {
    fn new(limit: usize, write: W) -> Self {
        let state = State {
            write: Some(write),
            turn: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            total: FilterStats::default(),
            error: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), limit: limit as u64 }
    }

    /// A block to read into, used before if there is one; `None` when the run has stopped.
    fn spare(&self) -> Option<Block> {
        let mut state = lock(&self.state);
        if state.error.is_some() { None } else { Some(state.spare.pop().unwrap_or_default()) }
    }

    fn stop(&self, err: Error) {
        lock(&self.state).error.get_or_insert(err);
        self.changed.notify_all();
    }

    fn put(&self, number: u64, block: Block, stats: FilterStats) {
        let mut state = lock(&self.state);
        // The block whose turn it is belongs to a worker that never waits here, so the others do not wait for ever.
        while state.error.is_none() && number >= state.turn + self.limit {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.insert(number, (block, stats));
        while state.error.is_none() {
            let turn = state.turn;
            let Some(mut write) = state.write.take() else { return };
            let Some((block, stats)) = state.waiting.remove(&turn) else {
                state.write = Some(write);
                return;
            };
            drop(state);
            let result = write(&block);
            state = lock(&self.state);
            state.write = Some(write);
            state.turn += 1;
            state.total.add(&stats);
            state.spare.push(block);
            if let Err(err) = result {
                state.error.get_or_insert(err.into());
            }
            self.changed.notify_all();
        }
    }

    /// The counts, or the error that the run stopped with.
    fn finish(self) -> Result<FilterStats> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.error.map_or(Ok(state.total), Err)
    }
}

/// A worker that panics must not leave the others waiting for its block.
struct StopOnPanic<'t, W: FnMut(&Block) -> io::Result<()>>(&'t Turns<W>);

impl<W: FnMut(&Block) -> io::Result<()>> Drop for StopOnPanic<'_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(io::Error::other("a worker of the pipeline panicked").into());
        }
    }
}
