//! The locks and threads of the ordered pipeline. In `model`, those of a model checker take their
//! place.

pub(super) use std::sync::{Condvar, Mutex, MutexGuard};

/// Runs this number of workers in the current rayon pool, and waits for them.
pub(super) fn run_workers(workers: usize, work: impl Fn() + Sync) {
    let work = &work;
    rayon::scope(|pool| {
        for _ in 0..workers {
            pool.spawn(move |_| work());
        }
    });
}
