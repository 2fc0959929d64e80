//! Fault injection for tests: records the steps of writing, and fails each in turn.

use crate::atomic::steps::Step;
use crate::atomic::unfinished::is_uninterrupted;
use std::cell::{Cell, RefCell};
use std::io;

thread_local! {
    /// The number of steps of this thread that succeed before one fails.
    static REMAINING: Cell<Option<u32>> = const { Cell::new(None) };
    /// The steps of this thread since the last call of [`recorded`].
    static STEPS: RefCell<Vec<RecordedStep>> = const { RefCell::new(Vec::new()) };
    /// What the file system seems to lack for this thread.
    static LACKING: Cell<&'static [Feature]> = const { Cell::new(&[]) };
}

/// What a file system may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Exchange,
    HardLinks,
}

/// A step that this thread has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordedStep {
    pub step: Step,
    /// Whether signal handlers wait until it is done.
    pub is_uninterrupted: bool,
}

/// Marks a step of writing; fails if it is the chosen one.
pub(super) fn step(step: Step) -> io::Result<()> {
    let is_uninterrupted = is_uninterrupted();
    STEPS.with_borrow_mut(|steps| {
        steps.push(RecordedStep {
            step,
            is_uninterrupted,
        });
    });
    match REMAINING.get() {
        Some(0) => {
            REMAINING.set(None);
            Err(io::ErrorKind::StorageFull.into())
        }
        Some(remaining) => {
            REMAINING.set(Some(remaining - 1));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Whether the file system seems to lack this.
pub(super) fn lacks(feature: Feature) -> bool {
    LACKING.get().contains(&feature)
}

/// Sets what the file system seems to lack for this thread.
pub(super) fn set_lacking(features: &'static [Feature]) {
    LACKING.set(features);
}

/// Takes the steps that this thread has reached.
pub(super) fn recorded() -> Vec<RecordedStep> {
    STEPS.take()
}

/// Runs `work` repeatedly and fails its first step, its second and so on, until it has no further
/// step. Passes each result but the last to `check`. Returns the number of steps.
pub(super) fn fail_each_step<T>(mut work: impl FnMut() -> T, mut check: impl FnMut(T)) -> u32 {
    for step in 0.. {
        REMAINING.set(Some(step));
        let result = work();
        if REMAINING.take().is_some() {
            return step;
        }
        check(result);
    }
    unreachable!("the loop has no upper bound")
}
