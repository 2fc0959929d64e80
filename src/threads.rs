//! The number of threads of a job, and starting a thread without a panic.

use crate::error::Result;
use std::io;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism};

/// Locks a mutex and ignores poison: a panic ends the whole job, so nobody uses what it leaves.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of cores that the process may use, counted once: counting reads files of the system,
/// which takes 24 microseconds.
///
/// ```
/// assert!(robosieve::threads::cores() >= 1);
/// ```
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}

/// The most threads that one job uses, whatever the size of the current rayon pool: four for each
/// core, or 512 if that is more.
///
/// Each thread costs memory and start-up time, and more threads than cores gain nothing: 100,000
/// threads stall a machine for minutes. The library starts no pools. A program that builds one
/// should cap its size with this function.
///
/// ```
/// let asked: usize = 100_000;
/// let threads = asked.min(robosieve::threads::max_threads());
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
/// assert!(robosieve::threads::max_threads() >= 512);
/// # let _ = pool;
/// ```
pub fn max_threads() -> usize {
    (4 * cores()).max(512)
}

/// The number of threads of the current rayon pool that a job uses.
pub(crate) fn workers() -> usize {
    rayon::current_num_threads().min(max_threads())
}

/// Starts a thread outside the pool.
///
/// # Errors
/// An [`Io`](crate::ErrorKind::Io) error if the operating system starts no thread, where
/// `Scope::spawn` would panic.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Ok(Builder::new().spawn_scoped(scope, work).map_err(|err| {
        let todo = "use fewer threads (-j N), or raise the limit on processes (ulimit -u) or on \
                    memory (ulimit -v)";
        io::Error::new(err.kind(), format!("cannot start a thread: {err}; {todo}"))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_use_at_most_max_threads() {
        for (threads, used) in [(1, 1), (3, 3), (max_threads() + 8, max_threads())] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .stack_size(1 << 16)
                .build()
                .unwrap();
            assert_eq!(pool.install(workers), used);
        }
    }
}
