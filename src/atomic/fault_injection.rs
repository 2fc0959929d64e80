//! Fault injection for tests: fails each step of writing in turn.

use std::cell::Cell;
use std::io;

thread_local! {
    /// The number of steps of this thread that succeed before one fails.
    static REMAINING: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Marks a step of writing; fails if it is the chosen one.
pub(super) fn step() -> io::Result<()> {
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
