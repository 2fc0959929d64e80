//! The number of threads of a job, starting a thread without a panic, and catching panics.

use crate::error::Result;
use std::cell::Cell;
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

thread_local! {
    static CATCHES_PANICS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the library returns a panic of this thread as an error.
///
/// The crate `parquet` panics on some damaged files. The panic hook of a program runs before the
/// library catches such a panic, and prints a message that nobody needs unless it asks here. No
/// other job runs on a thread while this is `true`.
///
/// ```
/// let default = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !robosieve::threads::catches_panics() {
///         default(panic);
///     }
/// }));
/// assert!(!robosieve::threads::catches_panics());
/// ```
pub fn catches_panics() -> bool {
    CATCHES_PANICS.get()
}

/// Runs `work`, which must not use the pool, since a thread that waits there runs other jobs.
/// Returns the message of a panic as an error.
#[cfg(feature = "parquet")]
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let before = CATCHES_PANICS.replace(true);
    // The error discards the unfinished work, so no caller sees it.
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHES_PANICS.set(before);
    done.map_err(|panic| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(other) => other
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |text| (*text).to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "parquet")]
    fn only_work_that_is_guarded_catches_panics() {
        let caught = catch_panic(|| {
            assert_eq!(
                catch_panic(|| panic!("{}", 1)),
                Err::<(), _>("1".to_owned())
            );
            assert!(catches_panics());
            panic!("two")
        });
        assert_eq!(caught, Err::<(), _>("two".to_owned()));
        assert!(!catches_panics());
        assert_eq!(catch_panic(|| 3), Ok(3));
    }

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
