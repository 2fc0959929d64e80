//! Row groups through all workers, in order, with a bounded number of batches on the way.
//!
//! A column can be read only from its beginning, so of one row group one worker reads at a time, and judges what it has read while
//! the next one reads on. Who finds all row groups taken opens the next: files of many row groups are read side by side, one of a
//! single row group still keeps all workers busy.

use crate::error::{Error, Result};
use crate::parquet::input::{ParquetInput, guard};
use crate::parquet::urls::{Batch, UrlReader};
use crate::pipeline::workers::OnPanic;
use crate::threads;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Batches of one row group that may be read before the first of them is put out.
const AHEAD: u64 = 64;

/// What comes out, in the order of the rows.
pub(super) enum Step<O> {
    /// What a worker made of a batch.
    Rows(O),
    /// The row group is complete.
    End,
}

/// A row group: the number of its file, and its own within.
pub(super) type Place = (usize, usize);

/// Sends every batch of the row groups through `work`, on all threads of the current rayon pool, and on to `put`. Ends at the
/// first error.
pub(super) fn run<S, O: Send>(
    inputs: &[ParquetInput],
    places: &[Place],
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&Batch, &mut S) -> Result<O> + Sync,
    put: impl FnMut(Step<O>) -> Result<()> + Send,
) -> Result<()> {
    let threads = threads::workers();
    let state = State { places, next: 0, open: VecDeque::new(), put: Some(put), spare: Vec::new(), error: None };
    let queue = Queue { inputs, threads, state: Mutex::new(state), changed: Condvar::new() };
    rayon::scope(|pool| {
        for _ in 0..threads {
            pool.spawn(|_| {
                let _stop = OnPanic(|| queue.stop(std::io::Error::other("a worker panicked").into()));
                let mut scratch = scratch();
                while let Some(mut task) = queue.take() {
                    match queue.step(&mut task, |batch| work(batch, &mut scratch)) {
                        Ok(outcome) => queue.deliver(task, outcome),
                        Err(err) => queue.stop(err),
                    }
                }
            });
        }
    });
    let state = queue.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.error.map_or(Ok(()), Err)
}

struct Queue<'q, O, P> {
    inputs: &'q [ParquetInput],
    threads: usize,
    state: Mutex<State<'q, O, P>>,
    changed: Condvar,
}

struct State<'q, O, P> {
    places: &'q [Place],
    /// How many of them were opened.
    next: usize,
    /// Row groups being read, the first one's turn it is.
    open: VecDeque<Open<O>>,
    /// `None` while a worker puts out.
    put: Option<P>,
    spare: Vec<Batch>,
    error: Option<Error>,
}

/// A row group being read.
struct Open<O> {
    place: Place,
    reader: Reader,
    /// Batches that were begun, and that were put out.
    begun: u64,
    turn: u64,
    waiting: BTreeMap<u64, O>,
}

enum Reader {
    Unopened,
    /// A worker has it.
    Taken,
    Ready(Box<UrlReader>),
    Ended,
}

/// A batch to be read and judged.
struct Task {
    place: Place,
    number: u64,
    reader: Option<Box<UrlReader>>,
    batch: Batch,
}

impl<'q, O, P: FnMut(Step<O>) -> Result<()>> Queue<'q, O, P> {
    fn lock(&self) -> MutexGuard<'_, State<'q, O, P>> {
        // A worker that panicked has stopped the run; what it held is not used any more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch to be read; `None` when nothing is left to read, or the run has stopped.
    fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.error.is_some() {
                return None;
            }
            if let Some(task) = state.begin() {
                return Some(task);
            }
            if state.next == state.places.len() && state.open.iter().all(|open| matches!(open.reader, Reader::Ended)) {
                return None;
            }
            if state.open.len() < self.threads && state.next < state.places.len() {
                state.open_next();
            } else {
                // The batch whose turn it is belongs to a worker that does not wait here, so this ends.
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Reads a batch, lets the next worker read on, and judges it; `None` if the row group had ended.
    fn step(&self, task: &mut Task, work: impl FnOnce(&Batch) -> Result<O>) -> Result<Option<O>> {
        let input = &self.inputs[task.place.0];
        let (reader, any) = read(input, task).map_err(|err| err.at(&input.path))?;
        let mut state = self.lock();
        if let Some(open) = state.open.iter_mut().find(|open| open.place == task.place) {
            open.begun -= u64::from(!any);
            open.reader = if any { Reader::Ready(reader) } else { Reader::Ended };
        }
        drop(state);
        self.changed.notify_all();
        if any { work(&task.batch).map(Some) } else { Ok(None) }
    }

    fn deliver(&self, task: Task, outcome: Option<O>) {
        let mut state = self.lock();
        if let (Some(outcome), Some(open)) = (outcome, state.open.iter_mut().find(|open| open.place == task.place)) {
            open.waiting.insert(task.number, outcome);
        }
        state.spare.push(task.batch);
        while state.error.is_none() {
            let Some(mut put) = state.put.take() else { return };
            let Some(step) = state.next_step() else {
                state.put = Some(put);
                return;
            };
            drop(state);
            let result = put(step);
            state = self.lock();
            state.put = Some(put);
            if let Err(err) = result {
                state.error.get_or_insert(err);
            }
            self.changed.notify_all();
        }
    }

    fn stop(&self, err: Error) {
        self.lock().error.get_or_insert(err);
        self.changed.notify_all();
    }
}

/// Reads the batch of a task; its reader, and whether there was one.
fn read(input: &ParquetInput, task: &mut Task) -> Result<(Box<UrlReader>, bool)> {
    let mut reader = match task.reader.take() {
        Some(reader) => reader,
        None => guard(|| UrlReader::new(input, task.place.1).map(Box::new))?,
    };
    let any = reader.next(&mut task.batch, input.compose.as_ref())?;
    Ok((reader, any))
}

impl<O, P> State<'_, O, P> {
    /// Begins the next batch of the first row group that nobody reads and that is not too far ahead.
    fn begin(&mut self) -> Option<Task> {
        let is_free = |open: &&mut Open<O>| {
            matches!(open.reader, Reader::Ready(_) | Reader::Unopened) && open.begun < open.turn + AHEAD
        };
        let open = self.open.iter_mut().find(is_free)?;
        let reader = match std::mem::replace(&mut open.reader, Reader::Taken) {
            Reader::Ready(reader) => Some(reader),
            _ => None,
        };
        open.begun += 1;
        let batch = self.spare.pop().unwrap_or_default();
        Some(Task { place: open.place, number: open.begun - 1, reader, batch })
    }

    fn open_next(&mut self) {
        let place = self.places[self.next];
        self.next += 1;
        self.open.push_back(Open { place, reader: Reader::Unopened, begun: 0, turn: 0, waiting: BTreeMap::new() });
    }

    /// What is to be put out next, if it is there.
    fn next_step(&mut self) -> Option<Step<O>> {
        let open = self.open.front_mut()?;
        if let Some(outcome) = open.waiting.remove(&open.turn) {
            open.turn += 1;
            return Some(Step::Rows(outcome));
        }
        if !matches!(open.reader, Reader::Ended) || open.turn < open.begun {
            return None;
        }
        self.open.pop_front();
        Some(Step::End)
    }
}
