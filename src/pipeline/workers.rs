//! Blocks through all workers, in order, with a bounded number on the way.
//!
//! Each worker takes a block, reads and judges it, and puts it out when its turn has come. Threads of their own for reading and writing were
//! tried: no faster, with two queues and two threads more.

use crate::error::Result;
use crate::pipeline::blocks::{Block, Input};
use crate::pipeline::reorder_buffer::{Item, ReorderBuffer};
use crate::pipeline::scheduler::{InputScheduler, Next};
use crate::pipeline::work_queue::WorkQueue;
use crate::pipeline::{FilterProgress, FilterStats};
use crate::records::RecordOptions;
use crate::threads;
use std::io;
use std::sync::Arc;

/// Sends every block of `inputs` through `work`, on all threads of the current rayon pool, and on to `write`, in the order of
/// the input. Ends at the first error in that order.
pub(crate) fn run<S>(
    inputs: Vec<Input>,
    options: &RecordOptions,
    progress: &(dyn Fn(FilterProgress) + Sync),
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut Block, &mut S, &mut FilterStats) -> Result<()> + Sync,
    write: impl FnMut(&Block) -> io::Result<()> + Send,
) -> Result<FilterStats> {
    let threads = threads::workers();
    let board = Arc::<WorkQueue>::default();
    let lanes = InputScheduler::new(inputs, options, progress, board.clone(), threads);
    let turns = ReorderBuffer::new(threads * 4, board, write);
    rayon::scope(|pool| {
        for _ in 0..threads {
            pool.spawn(|_| {
                let _stop = OnPanic(|| turns.stop(io::Error::other("a worker of the pipeline panicked").into()));
                let mut scratch = scratch();
                while let Some(mut block) = turns.spare() {
                    let (place, item) = match lanes.next(&mut block, || turns.room_ahead()) {
                        Next::Block(place) => {
                            let mut stats = FilterStats::default();
                            let judged = block.fetch().and_then(|()| work(&mut block, &mut scratch, &mut stats));
                            (place, judged.map_or_else(Item::Failed, |()| Item::Block(block, stats)))
                        }
                        other => {
                            turns.give_back(block);
                            match other {
                                Next::End(place) => (place, Item::End),
                                Next::Failed(place, err) => (place, Item::Failed(err)),
                                Next::Block(_) | Next::Nothing => return,
                            }
                        }
                    };
                    turns.put(place, item);
                }
            });
        }
    });
    turns.finish()
}

/// Stops the others when a worker panics: they must not wait for what it had taken up.
pub(crate) struct OnPanic<F: Fn()>(pub F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0();
        }
    }
}
