//! A bounded pool of values that threads take and return.

use crate::threads;
use crossbeam_queue::ArrayQueue;

/// Values that no call uses. Those for which it has no room are dropped, so memory is bounded by
/// the number of cores.
pub(super) struct Pool<T>(ArrayQueue<T>);

impl<T> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("len", &self.0.len())
            .finish_non_exhaustive()
    }
}

impl<T> Pool<T> {
    pub(super) fn new() -> Self {
        Self(ArrayQueue::new(threads::cores() * 2))
    }

    /// A value of the pool, or a new one.
    pub(super) fn take_or_else(&self, new: impl FnOnce() -> T) -> T {
        self.0.pop().unwrap_or_else(new)
    }

    /// Returns a value; a full pool drops it.
    pub(super) fn put_back(&self, value: T) {
        let _ = self.0.push(value);
    }
}
