//! The inputs of a run, one behind the other; where decoding takes long, some side by side.
//!
//! A compressed list is decoded by one worker at a time, which takes longer than judging what comes of it. So a worker that finds the first
//! input taken reads blocks of the next, which wait for their turn, as long as there is room for them. Plain lists are read by all workers
//! as it is.

use crate::error::Remedy;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::FilterProgress;
use crate::pipeline::blocks::{Block, Blocks, Input, Part};
use crate::pipeline::reorder_buffer::Place;
use crate::pipeline::work_queue::WorkQueue;
use crate::records::RecordOptions;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The inputs that are being read, and those that will be.
pub(crate) struct InputScheduler<'r> {
    state: Mutex<State>,
    options: &'r RecordOptions,
    progress: &'r (dyn Fn(FilterProgress) + Sync),
    board: Arc<WorkQueue>,
    threads: usize,
}

struct State {
    inputs: std::vec::IntoIter<Input>,
    /// Those begun, in their order; the first is not at its end.
    lanes: VecDeque<Lane>,
    /// The number of the next input.
    next: u64,
    /// The header of the first input that has one.
    header: Option<Vec<u8>>,
    /// Bytes of the inputs that are done.
    before: u64,
}

/// One input.
struct Lane {
    /// The place of the next block.
    place: Place,
    /// Away while a worker reads of it.
    blocks: Option<Box<Blocks>>,
    is_compressed: bool,
    is_done: bool,
    bytes_read: u64,
}

/// What a worker takes up.
enum Job {
    /// An input that is to be begun.
    Begin(u64, Input),
    Go(u64, Box<Blocks>),
}

/// What came of looking for a block.
pub(crate) enum Next {
    /// A block was read, but not fetched yet.
    Block(Place),
    End(Place),
    Failed(Place, Error),
    /// There is nothing more to be read.
    Nothing,
}

impl<'r> InputScheduler<'r> {
    pub(crate) fn new(
        inputs: Vec<Input>,
        options: &'r RecordOptions,
        progress: &'r (dyn Fn(FilterProgress) + Sync),
        board: Arc<WorkQueue>,
        threads: usize,
    ) -> Self {
        let inputs = inputs.into_iter();
        let state = State { inputs, lanes: VecDeque::new(), next: 0, header: None, before: 0 };
        Self { state: Mutex::new(state), options, progress, board, threads }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the next block of an input of which nobody reads, of the first if possible. `room_ahead` tells whether there is room for
    /// blocks of others; `None` if the run has stopped.
    pub(crate) fn next(&self, block: &mut Block, room_ahead: impl Fn() -> Option<bool>) -> Next {
        loop {
            let rung = self.board.rung();
            let first = self.state().first();
            if let Some(job) = first {
                return self.read(job, block);
            }
            let Some(room_ahead) = room_ahead() else { return Next::Nothing };
            let mut state = self.state();
            if let Some(job) = room_ahead.then(|| state.further(self.threads)).flatten() {
                drop(state);
                return self.read(job, block);
            }
            if state.is_at_end() {
                return Next::Nothing;
            }
            drop(state);
            self.board.wait(rung);
        }
    }

    fn read(&self, job: Job, block: &mut Block) -> Next {
        let (number, blocks) = match job {
            Job::Begin(number, input) => (number, self.begin(input)),
            Job::Go(number, blocks) => (number, Ok(blocks)),
        };
        let read = blocks.and_then(|mut blocks| {
            let more = self.read_block(&mut blocks, block)?;
            Ok((blocks, more))
        });
        let next = self.state().put_back(number, read, self.progress);
        self.board.ring();
        next
    }

    fn begin(&self, input: Input) -> Result<Box<Blocks>> {
        Ok(Box::new(Blocks::new(input, self.options)?))
    }

    /// Reads a block; of headers only the first. `false` at the end of the input.
    fn read_block(&self, blocks: &mut Blocks, block: &mut Block) -> Result<bool> {
        loop {
            if !blocks.next(block)? {
                return Ok(false);
            }
            if block.part != Part::Header || self.state().is_first(block, blocks)? {
                return Ok(true);
            }
        }
    }
}

impl State {
    /// The first input, if nobody reads of it.
    fn first(&mut self) -> Option<Job> {
        match self.lanes.front_mut() {
            Some(lane) => lane.take(),
            None => self.begin(),
        }
    }

    /// Another input than the first: one of which nobody reads, or the one behind all that were begun.
    fn further(&mut self, most: usize) -> Option<Job> {
        if let Some(job) = self.lanes.iter_mut().find_map(Lane::take) {
            return Some(job);
        }
        // Of each its first block is there, so headers come in the order of the inputs.
        let can_begin = self.lanes.len() < most
            && self.lanes.iter().all(|lane| lane.is_compressed && (lane.is_done || lane.place.block > 0));
        can_begin.then(|| self.begin()).flatten()
    }

    fn begin(&mut self) -> Option<Job> {
        let input = self.inputs.next()?;
        let place = Place { input: self.next, block: 0 };
        self.lanes.push_back(Lane { place, blocks: None, is_compressed: false, is_done: false, bytes_read: 0 });
        self.next += 1;
        Some(Job::Begin(place.input, input))
    }

    /// Whether all inputs are at their ends.
    fn is_at_end(&self) -> bool {
        self.lanes.is_empty() && self.inputs.len() == 0
    }

    /// Takes note of what a worker has read of an input.
    fn put_back(
        &mut self,
        number: u64,
        read: Result<(Box<Blocks>, bool)>,
        progress: &(dyn Fn(FilterProgress) + Sync),
    ) -> Next {
        let Some(lane) = self.lanes.iter_mut().find(|lane| lane.place.input == number) else { return Next::Nothing };
        let place = lane.place;
        let next = match read {
            Ok((blocks, true)) => {
                lane.place.block += 1;
                lane.bytes_read = blocks.bytes_read();
                lane.is_compressed = blocks.are_compressed();
                lane.blocks = Some(blocks);
                Next::Block(place)
            }
            Ok((blocks, false)) => {
                lane.bytes_read = blocks.bytes_read();
                lane.is_done = true;
                Next::End(place)
            }
            Err(err) => {
                lane.is_done = true;
                Next::Failed(place, err)
            }
        };
        if let Next::Failed(..) = next {
            // What is behind it will not be put out.
            self.inputs.by_ref().for_each(drop);
        }
        while self.lanes.front().is_some_and(|lane| lane.is_done) {
            self.before += self.lanes.pop_front().map_or(0, |lane| lane.bytes_read);
        }
        let bytes_read = self.before + self.lanes.iter().map(|lane| lane.bytes_read).sum::<u64>();
        progress(FilterProgress { bytes_read });
        next
    }

    /// Whether this header is the first; the others must be equal to it, as there can be only one in an output.
    fn is_first(&mut self, block: &Block, blocks: &Blocks) -> Result<bool> {
        let Some(first) = &self.header else {
            self.header = Some(block.data().to_vec());
            return Ok(true);
        };
        if first.trim_ascii_end() == block.data().trim_ascii_end() {
            return Ok(false);
        }
        let what = "its header is another than that of the first input; give each input an output of its own";
        let err = Error::from(ErrorKind::BadList(what.to_owned())).with_remedy(Remedy::SeparateOutputs);
        Err(err.at(blocks.path()))
    }
}

impl Lane {
    fn take(&mut self) -> Option<Job> {
        Some(Job::Go(self.place.input, self.blocks.take()?))
    }
}
