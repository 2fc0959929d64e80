//! Puts judged blocks out in the order of the inputs, whichever worker comes first.

use crate::error::{Error, Result};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::Block;
use crate::pipeline::work_queue::WorkQueue;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The place of a block: the number of its input, and its own there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub input: u64,
    pub block: u64,
}

/// What has a place.
#[expect(clippy::large_enum_variant, reason = "nearly all are blocks")]
pub(crate) enum Item {
    Block(Block, FilterStats),
    /// The end of an input.
    End,
    /// What ends the run when its turn comes.
    Failed(Error),
}

/// Blocks of inputs whose turn has not come that may be on the way: 128 MiB of lines.
const MAX_AHEAD: usize = 512;

/// A worker that comes with the item whose turn it is puts it out, and those that follow and wait already; the others leave theirs and go
/// on, unless too many wait.
pub(crate) struct ReorderBuffer<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
    /// How far behind the block whose turn it is a block of the same input may wait.
    limit: u64,
    board: Arc<WorkQueue>,
}

struct State<W> {
    /// `None` while a worker writes.
    write: Option<W>,
    turn: Place,
    waiting: BTreeMap<Place, Item>,
    spare: Vec<Block>,
    /// Blocks that workers have, or that wait.
    on_the_way: usize,
    total: FilterStats,
    error: Option<Error>,
}

impl<W: FnMut(&Block) -> io::Result<()>> ReorderBuffer<W> {
    pub(crate) fn new(limit: usize, board: Arc<WorkQueue>, write: W) -> Self {
        let state = State {
            write: Some(write),
            turn: Place::default(),
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            on_the_way: 0,
            total: FilterStats::default(),
            error: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), limit: limit as u64, board }
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        // A worker that panicked has stopped the run; what it held is not used any more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block to read into, used before if there is one; `None` when the run has stopped.
    pub(crate) fn spare(&self) -> Option<Block> {
        let mut state = self.state();
        if state.error.is_some() {
            return None;
        }
        state.on_the_way += 1;
        Some(state.spare.pop().unwrap_or_default())
    }

    /// Takes back a block that nothing was read into.
    pub(crate) fn give_back(&self, block: Block) {
        let mut state = self.state();
        state.on_the_way -= 1;
        state.spare.push(block);
    }

    /// Whether there is room for blocks of inputs whose turn has not come; `None` when the run has stopped.
    pub(crate) fn room_ahead(&self) -> Option<bool> {
        let state = self.state();
        state.error.is_none().then_some(state.on_the_way < MAX_AHEAD)
    }

    pub(crate) fn stop(&self, err: Error) {
        self.state().error.get_or_insert(err);
        self.tell();
    }

    /// Wakes all who wait for a change.
    fn tell(&self) {
        self.changed.notify_all();
        self.board.ring();
    }

    pub(crate) fn put(&self, place: Place, item: Item) {
        let mut state = self.state();
        // The block whose turn it is belongs to a worker that never waits here, so the others do not wait for ever.
        while state.error.is_none() && self.is_too_far(place, &state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.insert(place, item);
        while state.error.is_none() {
            let turn = state.turn;
            let Some(mut write) = state.write.take() else { return };
            let Some(item) = state.waiting.remove(&turn) else {
                state.write = Some(write);
                return;
            };
            let result = match item {
                Item::Block(block, stats) => {
                    drop(state);
                    let result = write(&block);
                    state = self.state();
                    state.turn.block += 1;
                    state.total.add(&stats);
                    state.on_the_way -= 1;
                    state.spare.push(block);
                    result.map_err(Error::from)
                }
                Item::End => {
                    state.turn = Place { input: turn.input + 1, block: 0 };
                    Ok(())
                }
                Item::Failed(err) => Err(err),
            };
            state.write = Some(write);
            if let Err(err) = result {
                state.error.get_or_insert(err);
            }
            self.tell();
        }
    }

    fn is_too_far(&self, place: Place, state: &State<W>) -> bool {
        if place.input == state.turn.input {
            place.block >= state.turn.block + self.limit
        } else {
            state.on_the_way >= MAX_AHEAD + self.limit as usize
        }
    }

    /// The counts, or the error that the run stopped with.
    pub(crate) fn finish(self) -> Result<FilterStats> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.error.map_or(Ok(state.total), Err)
    }
}
