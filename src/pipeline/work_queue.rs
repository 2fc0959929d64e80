//! Where workers without a block look for what to do, and wait for it.

use crate::decode::{Helpers, Span};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Spans of gzip lists that wait to be inflated, and a bell that tells that something has changed.
#[derive(Default)]
pub(crate) struct WorkQueue {
    spans: Mutex<VecDeque<Arc<Span>>>,
    /// How often the bell was rung, and how many wait for it.
    rung: AtomicU64,
    waiting: AtomicUsize,
    changed: Condvar,
}

impl WorkQueue {
    fn spans(&self) -> MutexGuard<'_, VecDeque<Arc<Span>>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
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
            drop(self.spans());
            self.changed.notify_all();
        }
    }

    /// Waits until the bell is rung more often than that.
    pub(crate) fn wait(&self, rung: u64) {
        let mut spans = self.spans();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while self.rung() <= rung {
            spans = self.changed.wait(spans).unwrap_or_else(PoisonError::into_inner);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// A span that waits.
    pub(crate) fn span(&self) -> Option<Arc<Span>> {
        self.spans().pop_front()
    }
}

/// Spans of one list that are on the way at most: with more threads more lists are read at once, and each has its own.
const MOST: usize = 16;

/// The workers, as a reader of gzip sees them.
pub(crate) struct Workers {
    pub board: Arc<WorkQueue>,
    pub threads: usize,
}

impl Helpers for Workers {
    fn have_time(&self) -> bool {
        self.board.spans().len() < self.threads
    }

    fn post(&self, span: Arc<Span>) -> bool {
        self.board.spans().push_back(span);
        self.board.ring();
        true
    }

    fn most(&self) -> usize {
        (self.threads * 2).min(MOST)
    }
}
