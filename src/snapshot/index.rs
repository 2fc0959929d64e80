//! The index from an origin's hash to its entry: a hash table of buckets, each one cache line.

use crate::simd::{self, TAGS_LEN};
use crate::snapshot::format::NONE;

/// The length of a bucket: a cache line.
pub(crate) const BUCKET_LEN: usize = 64;

/// Keys in a bucket: so many tags, the mark, and so many places.
const KEYS: usize = 10;
const MARK_AT: usize = 2 * KEYS;
const PLACES_AT: usize = MARK_AT + 4;

/// The buckets for so many keys, with half of the room left empty: so one key in seventy lies behind its bucket.
fn bucket_count(keys: usize) -> usize {
    keys / (KEYS / 2) + 1
}

/// The bucket in which the search for a key begins. The high bits of the product spread over any number of buckets.
#[inline]
fn start(hash: u64, buckets: usize) -> usize {
    ((u128::from(hash) * buckets as u128) >> 64) as usize
}

/// Bits of the hash that tell most other keys apart without reading them; never 0, which is no key.
#[inline]
fn tag(hash: u64) -> u16 {
    (hash as u16).max(1)
}

/// An index on its way: of keys, given by hash and place, each put into the first bucket with room.
pub(super) struct IndexBuilder {
    buckets: Vec<[u8; BUCKET_LEN]>,
}

impl IndexBuilder {
    /// For so many keys.
    pub(super) fn new(keys: usize) -> Self {
        let mut empty = [0; BUCKET_LEN];
        empty[PLACES_AT..].fill(NONE as u8);
        Self { buckets: vec![empty; bucket_count(keys)] }
    }

    /// Adds a key; no more than there is room for.
    pub(super) fn add(&mut self, hash: u64, place: u32) {
        let mut at = start(hash, self.buckets.len());
        while !put(&mut self.buckets[at], hash, place) {
            at = (at + 1) % self.buckets.len();
        }
    }

    pub(super) fn finish(self) -> Vec<[u8; BUCKET_LEN]> {
        self.buckets
    }
}

/// Puts a key into a bucket; marks the bucket if it is full.
fn put(bucket: &mut [u8; BUCKET_LEN], hash: u64, place: u32) -> bool {
    let free = bucket[..MARK_AT].as_chunks::<2>().0.iter().position(|tag| *tag == [0; 2]);
    match free {
        Some(free) => {
            bucket[2 * free..][..2].copy_from_slice(&tag(hash).to_le_bytes());
            bucket[PLACES_AT + 4 * free..][..4].copy_from_slice(&place.to_le_bytes());
        }
        None => bucket[MARK_AT] = 1,
    }
    free.is_some()
}

/// What the first look at the index tells of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// The place of the first entry that may be the key's; [`NONE`] if its bucket has none.
    pub place: u32,
    /// Other entries may be the key's too.
    pub more: bool,
}

impl Probe {
    /// The snapshot does not hold the key.
    pub(crate) const ABSENT: Self = Self { place: NONE, more: false };
    /// Nothing is known: there was no look.
    pub(crate) const NOT_TAKEN: Self = Self { place: NONE, more: true };
}

/// Looks into the first bucket of a hash. Without a branch that depends on what is there: while one look waits for its cache line, the
/// next ones are under way.
#[inline]
pub(super) fn probe(index: &[[u8; BUCKET_LEN]], hash: u64) -> Probe {
    let Some(bucket) = index.get(start(hash, index.len())) else { return Probe::ABSENT };
    let lanes = lanes(bucket, hash);
    // Behind the last place of the bucket is the lane of no match, so the place is a choice and not a branch.
    let place = place(bucket, lanes.trailing_zeros() as usize % 32);
    Probe {
        place: if lanes == 0 { NONE } else { place },
        more: is_marked(bucket) | (lanes & lanes.wrapping_sub(1) != 0),
    }
}

/// Asks the memory for the bucket that a look at this hash begins with.
#[inline]
pub(super) fn prefetch(index: &[[u8; BUCKET_LEN]], hash: u64) {
    if let Some(bucket) = index.get(start(hash, index.len())) {
        simd::prefetch(bucket);
    }
}

/// The places of all entries that may have a key with this hash, the most likely first. Expected: one bucket, one place or none.
pub(super) fn candidates(index: &[[u8; BUCKET_LEN]], hash: u64) -> impl Iterator<Item = u32> {
    let (before, behind) = index.split_at_checked(start(hash, index.len())).unwrap_or_default();
    let mut buckets = behind.iter().chain(before);
    let mut current: Option<(&[u8; BUCKET_LEN], u32)> = buckets.next().map(|bucket| (bucket, lanes(bucket, hash)));
    std::iter::from_fn(move || {
        loop {
            let (bucket, lanes_left) = current?;
            if lanes_left != 0 {
                current = Some((bucket, lanes_left & (lanes_left - 1)));
                return Some(place(bucket, lanes_left.trailing_zeros() as usize));
            }
            current = is_marked(bucket).then(|| buckets.next()).flatten().map(|bucket| (bucket, lanes(bucket, hash)));
        }
    })
}

/// The lanes of a bucket with the tag of this hash, one bit each.
#[inline]
fn lanes(bucket: &[u8; BUCKET_LEN], hash: u64) -> u32 {
    let Some(tags) = bucket.first_chunk::<TAGS_LEN>() else { return 0 };
    simd::equal_tags(tags, tag(hash)) & ((1 << KEYS) - 1)
}

#[inline]
fn is_marked(bucket: &[u8; BUCKET_LEN]) -> bool {
    bucket[MARK_AT] != 0
}

#[inline]
fn place(bucket: &[u8; BUCKET_LEN], lane: usize) -> u32 {
    let places = bucket[PLACES_AT..].as_chunks().0;
    u32::from_le_bytes(places[lane.min(KEYS - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn build(keys: impl ExactSizeIterator<Item = (u64, u32)>) -> Vec<[u8; BUCKET_LEN]> {
        let mut index = IndexBuilder::new(keys.len());
        keys.for_each(|(hash, place)| index.add(hash, place));
        index.finish()
    }

    proptest! {
        /// Hashes of few different bits: buckets that overflow, equal tags.
        #[test]
        fn every_key_is_found(
            hashes in vec(prop_oneof![any::<u64>(), (0..4u64).prop_map(|h| h << 62), 0..3u64, Just(u64::MAX)], 0..200),
            others in vec(any::<u64>(), 20),
        ) {
            let keys: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
            let index = build(keys.iter().copied());
            for &(hash, place) in &keys {
                let found: Vec<u32> = candidates(&index, hash).collect();
                prop_assert!(found.contains(&place));
                let probe = probe(&index, hash);
                prop_assert!(probe.more || found == [probe.place]);
                prop_assert!(probe.place == NONE || probe.place == found[0]);
            }
            for hash in others {
                let found: Vec<u32> = candidates(&index, hash).collect();
                let probe = probe(&index, hash);
                prop_assert!(probe.more || found.first().copied().unwrap_or(NONE) == probe.place);
                prop_assert_eq!(found.is_empty() && !probe.more, probe == Probe::ABSENT);
            }
        }
    }

    #[test]
    fn a_damaged_index_ends() {
        for fill in [0, 1, u8::MAX] {
            let index = [[fill; BUCKET_LEN]; 3];
            assert!(candidates(&index, 0x0101).count() <= 3 * KEYS);
            probe(&index, u64::MAX);
        }
        assert_eq!(candidates(&[], 5).count(), 0);
        assert_eq!(probe(&[], 5), Probe::ABSENT);
    }

    #[test]
    fn few_keys_lie_behind_their_bucket() {
        let hash = |i: u32| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        let index = build((0..100_000).map(|i| (hash(i), i)));
        let marked = index.iter().filter(|bucket| is_marked(bucket)).count();
        assert!(marked * 50 < index.len(), "{marked} of {}", index.len());
    }
}
