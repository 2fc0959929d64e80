//! A sharded interner: one shared value per distinct content, whichever thread inserts it first.

use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shards, each with a lock of its own, so that threads seldom wait for each other.
const SHARDS: usize = 64;

/// Values found by a hash of their content.
///
/// The hash has a random seed, and equal hashes are followed by a comparison. So no site can craft
/// a robots.txt that passes for another's.
#[derive(Debug)]
pub(super) struct Interner<T> {
    /// Values with their hashes.
    shards: Vec<Mutex<HashTable<(u64, T)>>>,
    /// The seed for hashes of contents.
    pub seed: u64,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        let shards = std::iter::repeat_with(|| Mutex::new(HashTable::new())).take(SHARDS);
        Self { shards: shards.collect(), seed: RandomState::new().hash_one(0) }
    }
}

impl<T: Clone> Interner<T> {
    fn shard(&self, hash: u64) -> MutexGuard<'_, HashTable<(u64, T)>> {
        // The table of a shard uses the lowest and the highest bits.
        let number = (hash >> 32) as usize % SHARDS;
        // A thread that panics while it holds the lock leaves out its value at worst.
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value with this hash and content, if there is one.
    pub(super) fn find(&self, hash: u64, is_same: impl Fn(&T) -> bool) -> Option<T> {
        let shard = self.shard(hash);
        shard.find(hash, |(other, value)| *other == hash && is_same(value)).map(|(_, value)| value.clone())
    }

    /// The value with the same content, or else `value`, which is inserted.
    pub(super) fn find_or_insert(&self, hash: u64, value: T, is_same: impl Fn(&T) -> bool) -> T {
        let mut shard = self.shard(hash);
        let is_same = |(other, value): &(u64, T)| *other == hash && is_same(value);
        let entry = shard.entry(hash, is_same, |(other, _)| *other).or_insert((hash, value));
        entry.get().1.clone()
    }

    /// All values, in no order.
    pub(super) fn into_values(self) -> Vec<T> {
        let shards = self.shards.into_iter().map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        shards.flatten().map(|(_, value)| value).collect()
    }
}
