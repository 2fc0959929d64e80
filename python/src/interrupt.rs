//! Long calls: they show their progress, and Ctrl-C ends them.
//!
//! Python runs its signal handlers on the main thread, between instructions of the interpreter. A
//! native call that takes hours would keep it from them. So the work runs on another thread, and
//! the calling thread looks for signals ten times a second.

use crate::errors::{caught, detached};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The time between two looks for signals.
const POLL: Duration = Duration::from_millis(100);

/// What the work and the calling thread exchange.
#[derive(Default)]
pub(crate) struct Watch {
    is_interrupted: AtomicBool,
    bytes_read: AtomicU64,
}

impl Watch {
    /// Records the progress of the work. After an interrupt, it does not return: it unwinds the
    /// thread, which ends a run of the library like a panic does, but without a message.
    pub(crate) fn report(&self, bytes_read: u64) {
        self.bytes_read.store(bytes_read, Ordering::Relaxed);
        if self.is_interrupted.load(Ordering::Relaxed) {
            resume_unwind(Box::new("interrupted"));
        }
    }
}

/// Calls `work` on another thread, without the interpreter's lock, and waits for it. Meanwhile it
/// calls `progress` with the number of bytes read. An exception of `progress` or of a signal
/// handler ends the work.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> PyResult<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let look = |py: Python<'_>| {
        py.check_signals()?;
        let bytes_read = watch.bytes_read.load(Ordering::Relaxed);
        progress.map_or(Ok(()), |progress| {
            progress.call1(py, (bytes_read,)).map(drop)
        })
    };
    detached(py, || {
        thread::scope(|scope| {
            let (done, waiting) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                let result = caught(|| work(&watch));
                drop(done);
                result
            });
            let mut looked = Ok(());
            while looked.is_ok() && waiting.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                looked = Python::attach(look);
            }
            if looked.is_err() {
                watch.is_interrupted.store(true, Ordering::Relaxed);
            }
            let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            looked.and_then(|()| Python::attach(look)).and(result)
        })
    })
}
