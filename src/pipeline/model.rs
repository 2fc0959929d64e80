//! Checks the ordered pipeline for lost wake-ups: the model checker `shuttle` runs its workers in
//! many orders, and fails when all of them wait.
//!
//! The source of the pipeline is compiled a second time here, with the locks and threads of the
//! model checker. Each operation on a lock or a condition variable lets another worker run, and
//! `notify_one` wakes any of those that wait. One running worker is enough to finish the work, so
//! some scenarios have steps that wait for one another: they finish only on several workers.

// The pipeline finds them in the module above it.
use super::{reorder_buffer, scheduler, source};
use crate::error::Result;
use ordered::{BYTES_PER_WORKER, OrderedItem, run_on};
use reorder_buffer::BlockPosition;
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};
use source::{BlockSource, LARGE_BLOCK};
use std::io;

#[allow(
    clippy::duplicate_mod,
    dead_code,
    reason = "other locks and threads, and only a part of it"
)]
#[path = "ordered.rs"]
mod ordered;

/// The locks and threads of the model checker.
mod sync {
    pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard};

    pub(super) fn run_workers(workers: usize, work: impl Fn() + Sync) {
        let work = &work;
        shuttle::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        });
    }
}

/// A run of the pipeline: the lengths of the blocks of each input. Nothing is allocated for them.
#[derive(Clone, Default)]
struct Scenario {
    workers: usize,
    inputs: Vec<Vec<usize>>,
    is_slow: bool,
    failure: Option<Step>,
    /// Steps, each with a later one that begins before it ends.
    waits: Vec<(Step, Step)>,
}

/// What a worker does with the block at a position.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Read(BlockPosition),
    Judge(BlockPosition),
    Write(BlockPosition),
}

/// A scenario that runs.
struct ModelRun<'s> {
    scenario: &'s Scenario,
    /// The steps that have begun.
    begun: sync::Mutex<Vec<Step>>,
    changed: sync::Condvar,
}

#[derive(Default)]
struct ModelBlock {
    position: BlockPosition,
    len: usize,
}

impl Scenario {
    /// Runs the pipeline, and compares what it writes.
    fn run(&self) {
        let run = ModelRun {
            scenario: self,
            begun: sync::Mutex::new(Vec::new()),
            changed: sync::Condvar::new(),
        };
        let mut written = Vec::new();
        let inputs = (0..self.inputs.len() as u64).collect();
        let result = run_on(
            self.workers,
            &run,
            inputs,
            || (),
            |block, ()| run.step(Step::Judge(block.position)),
            |item| {
                if let OrderedItem::Block(block) = item {
                    run.step(Step::Write(block.position))?;
                    written.push(block.position);
                }
                Ok(())
            },
        );
        let mut expected = self.positions();
        if let Some(Step::Read(failing) | Step::Judge(failing) | Step::Write(failing)) =
            self.failure
        {
            expected.retain(|position| *position < failing);
        }
        assert_eq!(written, expected);
        assert_eq!(result.is_err(), self.failure.is_some());
    }

    /// The positions of all blocks in the order of the inputs.
    fn positions(&self) -> Vec<BlockPosition> {
        let mut positions = Vec::new();
        for (input, blocks) in (0..).zip(&self.inputs) {
            positions.extend((0..blocks.len() as u64).map(|block| BlockPosition { input, block }));
        }
        positions
    }
}

impl ModelRun<'_> {
    /// Begins a step, and waits for the one that it needs. Fails if it is to fail.
    fn step(&self, step: Step) -> Result<()> {
        if self.scenario.failure == Some(step) {
            return Err(io::Error::other("planned").into());
        }
        let mut begun = self.begun.lock().unwrap();
        begun.push(step);
        self.changed.notify_all();
        for (_, needed) in self.scenario.waits.iter().filter(|wait| wait.0 == step) {
            while !begun.contains(needed) {
                begun = self.changed.wait(begun).unwrap();
            }
        }
        Ok(())
    }
}

impl BlockSource for ModelRun<'_> {
    type Input = u64;
    /// The position of the next block.
    type Reader = BlockPosition;
    type Block = ModelBlock;

    fn open(&self, input: u64) -> Result<BlockPosition> {
        Ok(BlockPosition { input, block: 0 })
    }

    fn read(
        &self,
        reader: &mut BlockPosition,
        block: &mut ModelBlock,
        grow: &dyn Fn(usize),
    ) -> Result<bool> {
        let position = *reader;
        let lengths = &self.scenario.inputs[position.input as usize];
        let Some(len) = lengths.get(position.block as usize) else {
            return Ok(false);
        };
        for grown in (LARGE_BLOCK..*len).step_by(LARGE_BLOCK) {
            grow(grown + LARGE_BLOCK);
        }
        self.step(Step::Read(position))?;
        *block = ModelBlock {
            position,
            len: *len,
        };
        reader.block += 1;
        Ok(true)
    }

    fn is_slow(&self, _reader: &BlockPosition) -> bool {
        self.scenario.is_slow
    }

    fn bytes_held(&self, block: &ModelBlock) -> usize {
        block.len
    }
}

/// Runs a scenario in the orders that a scheduler chooses.
fn check(scenario: &Scenario, scheduler: impl Scheduler + 'static) {
    let scenario = scenario.clone();
    let mut config = Config::default();
    config.stack_size = 1 << 18;
    Runner::new(scheduler, config).run(move || scenario.run());
}

/// Runs a scenario in random orders, and in orders with few changes of priorities, in which a
/// worker may stand still for long.
fn check_many_orders(scenario: &Scenario) {
    const SEED: u64 = 20261128;
    check(scenario, RandomScheduler::new_from_seed(SEED, 200));
    check(scenario, PctScheduler::new_from_seed(SEED, 3, 200));
}

fn at(input: u64, block: u64) -> BlockPosition {
    BlockPosition { input, block }
}

#[test]
fn workers_of_an_empty_input_end_in_every_order() {
    check(
        &Scenario {
            workers: 2,
            inputs: vec![vec![]],
            ..Scenario::default()
        },
        DfsScheduler::new(None, false),
    );
}

#[test]
fn small_and_large_blocks_are_written_in_order() {
    // One block may be as large as all that are in flight, so all others wait for it.
    for len in [1, 3 * LARGE_BLOCK, 4 * BYTES_PER_WORKER] {
        for (inputs, blocks) in [(1, 12), (5, 2), (2, 0)] {
            for workers in [2, 3, 4] {
                for is_slow in [false, true] {
                    check_many_orders(&Scenario {
                        workers,
                        inputs: vec![vec![len; blocks]; inputs],
                        is_slow,
                        ..Scenario::default()
                    });
                }
            }
        }
    }
}

#[test]
fn a_returned_reader_wakes_an_idle_worker() {
    // Each even block is judged until the judging of the next one begins, on another worker.
    let pairs =
        [0, 2, 4, 6].map(|block| (Step::Judge(at(0, block)), Step::Judge(at(0, block + 1))));
    for workers in [2, 3, 4] {
        check_many_orders(&Scenario {
            workers,
            inputs: vec![vec![1; 8]],
            waits: pairs.to_vec(),
            ..Scenario::default()
        });
    }
}

#[test]
fn a_woken_worker_wakes_the_next() {
    // When the first block is read, the next one can be read and the second input be opened, by two
    // workers at once.
    check_many_orders(&Scenario {
        workers: 3,
        inputs: vec![vec![1; 3]; 2],
        is_slow: true,
        waits: vec![
            (Step::Judge(at(0, 0)), Step::Read(at(1, 0))),
            (Step::Read(at(0, 1)), Step::Read(at(1, 0))),
        ],
        ..Scenario::default()
    });
}

#[test]
fn workers_read_on_while_a_block_is_written() {
    // With two workers, block 8 may be read once the first one is being written.
    check_many_orders(&Scenario {
        workers: 2,
        inputs: vec![vec![1; 10]],
        waits: vec![(Step::Write(at(0, 0)), Step::Read(at(0, 8)))],
        ..Scenario::default()
    });
}

#[test]
fn an_error_wakes_all_workers() {
    for step in [Step::Read, Step::Judge, Step::Write] {
        for position in [at(0, 0), at(0, 2), at(1, 1), at(2, 2)] {
            check_many_orders(&Scenario {
                workers: 3,
                inputs: vec![vec![BYTES_PER_WORKER; 3]; 3],
                is_slow: true,
                failure: Some(step(position)),
                ..Scenario::default()
            });
        }
    }
}
