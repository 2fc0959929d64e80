//! Lets the steps of writing fail one after the other, in tests.

use std::cell::Cell;
use std::io;

thread_local! {
    /// Steps of this thread until one fails.
    static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A step, which fails if its turn has come.
pub(super) fn step() -> io::Result<()> {
    match LEFT.get() {
        Some(0) => {
            LEFT.set(None);
            Err(io::ErrorKind::StorageFull.into())
        }
        Some(left) => {
            LEFT.set(Some(left - 1));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Runs `work` again and again, failing its first step, its second and so on, until no step is left
/// to fail. `check` looks at each result but the last; gives how many there were.
pub(super) fn fail_each_step<T>(mut work: impl FnMut() -> T, mut check: impl FnMut(T)) -> u32 {
    for place in 0.. {
        LEFT.set(Some(place));
        let result = work();
        if LEFT.take().is_some() {
            return place;
        }
        check(result);
    }
    unreachable!("the loop has no end of its own")
}
