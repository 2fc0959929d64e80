//! An event count: workers without a block wait here until another worker changes something.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts changes, and wakes the workers that wait for one.
#[derive(Default)]
pub(crate) struct WorkQueue {
    lock: Mutex<()>,
    /// How often the bell was rung, and how many wait for it.
    rung: AtomicU64,
    waiting: AtomicUsize,
    changed: Condvar,
}

impl WorkQueue {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often the bell was rung.
    pub(crate) fn rung(&self) -> u64 {
        self.rung.load(Ordering::SeqCst)
    }

    /// Tells all who wait that something has changed. Nearly always nobody does, and then no lock is taken.
    pub(crate) fn ring(&self) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        // Who is not seen here sees that the bell was rung: each first writes what the other reads.
        if self.waiting.load(Ordering::SeqCst) > 0 {
            drop(self.lock());
            self.changed.notify_all();
        }
    }

    /// Waits until the bell is rung more often than that.
    pub(crate) fn wait(&self, rung: u64) {
        let mut guard = self.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while self.rung() <= rung {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
