//! Blocks from one reader through all workers to one writer, in order, with a bounded number on the way.

use super::block::{Block, Blocks, Input};
use super::stats::FilterStats;
use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::io;

/// How far a run has come, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterProgress {
    /// Bytes read from all inputs, before decoding.
    pub bytes_read: u64,
}

/// What a worker makes of a block, and its share of the counts.
type Done<T> = Result<(Block, T, FilterStats)>;

/// A block for any worker, and where its result is awaited.
type Job<T> = (Block, Sender<Done<T>>);

/// Sends every block of `inputs` through `work`, on all threads of the current rayon pool, and the results through
/// `write`, in the order of the input. Ends at the first error.
pub(super) fn run<S, T: Send>(
    inputs: Vec<Input>,
    progress: &(dyn Fn(FilterProgress) + Sync),
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&Block, &mut S, &mut FilterStats) -> Result<T> + Sync,
    write: impl FnMut(&Block, T) -> io::Result<()> + Send,
) -> Result<FilterStats> {
    let threads = rayon::current_num_threads();
    // The queue of awaited results bounds the blocks on the way; the jobs can never be more.
    let (await_send, awaited) = bounded(threads * 4 + 2);
    let (job_send, jobs) = unbounded::<Job<T>>();
    let (spent_send, spent) = unbounded();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_all(inputs, progress, spent, await_send, job_send));
        let writer = scope.spawn(|| write_all(awaited, spent_send, write));
        rayon::scope(|pool| {
            for _ in 0..threads {
                pool.spawn(|_| work_all(&jobs, &scratch, &work));
            }
        });
        let panicked = |_| Err(Error::from(io::Error::other("a thread of the pipeline panicked")));
        let read = reader.join().unwrap_or_else(panicked);
        let stats = writer.join().unwrap_or_else(|_| panicked(Box::new(())).map(|()| FilterStats::default()));
        // If writing failed, reading ended quietly; if reading failed, that is what the user must hear.
        read.and(stats)
    })
}

fn read_all<T>(
    inputs: Vec<Input>,
    progress: &(dyn Fn(FilterProgress) + Sync),
    spent: Receiver<Vec<u8>>,
    awaited: Sender<Receiver<Done<T>>>,
    jobs: Sender<Job<T>>,
) -> Result<()> {
    let mut before = 0;
    for input in inputs {
        let mut blocks = Blocks::new(input)?;
        while let Some(block) = blocks.next(spent.try_recv().unwrap_or_default())? {
            progress(FilterProgress { bytes_read: before + blocks.bytes_read() });
            let (result_send, result) = bounded(1);
            // Nobody waits any more once writing has failed.
            if awaited.send(result).is_err() || jobs.send((block, result_send)).is_err() {
                return Ok(());
            }
        }
        before += blocks.bytes_read();
    }
    Ok(())
}

fn work_all<S, T>(
    jobs: &Receiver<Job<T>>,
    scratch: &impl Fn() -> S,
    work: &impl Fn(&Block, &mut S, &mut FilterStats) -> Result<T>,
) {
    let mut scratch = scratch();
    for (block, result) in jobs {
        let mut stats = FilterStats::default();
        let done = work(&block, &mut scratch, &mut stats).map(|value| (block, value, stats));
        // The writer may have gone with an error of its own.
        let _ = result.send(done);
    }
}

fn write_all<T>(
    awaited: Receiver<Receiver<Done<T>>>,
    spent: Sender<Vec<u8>>,
    mut write: impl FnMut(&Block, T) -> io::Result<()>,
) -> Result<FilterStats> {
    let mut total = FilterStats::default();
    for result in awaited {
        // A result that never comes belongs to a block whose reader or worker has stopped.
        let Ok(done) = result.recv() else { break };
        let (block, value, stats) = done?;
        write(&block, value)?;
        total.add(&stats);
        let _ = spent.send(block.data);
    }
    Ok(total)
}
