//! The index: a bucketised hash table from the hash of an origin's key to its entry.
//!
//! A bucket is one cache line with room for ten keys. It stores a 16-bit *tag* of each key's hash
//! (a fingerprint, as in cuckoo filters and in the control bytes of Swiss tables), an overflow
//! flag, and the offset of each entry. A look-up compares all tags at once with one vector
//! instruction, and reads an entry only if its tag is equal. Collisions are resolved by linear
//! probing over buckets: a full bucket sets its overflow flag, and only then does a search continue
//! in the next one.
//!
//! ```text
//! bytes  0..20    20..24         24..64
//!        10 tags  overflow flag  10 offsets
//! ```
//!
//! The buckets of a snapshot are half full, so one key in seventy is not in its first bucket. An unknown origin
//! costs one cache miss, a known one a second miss for its entry.
//!
//! Tried and slower: probing single slots, where an absent origin took 13 slots at a load of four
//! fifths. A perfect hash would save space and cost a second access.

use crate::simd::{self, TAGS_LEN};
use crate::snapshot::format::NONE;

/// The length of a bucket: a cache line.
pub(crate) const BUCKET_LEN: usize = 64;

/// The number of keys in a bucket.
const KEYS: usize = 10;
const OVERFLOW_AT: usize = 2 * KEYS;
const OFFSETS_AT: usize = OVERFLOW_AT + 4;

/// How full the buckets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Of a snapshot: one key in seventy is not in its first bucket.
    Half,
    /// Of filter lists, where a Bloom filter answers most look-ups: five eighths of the space, and a
    /// bucket in four overflows.
    FourFifths,
}

impl Load {
    fn keys_per_bucket(self) -> usize {
        match self {
            Self::Half => KEYS / 2,
            Self::FourFifths => KEYS * 4 / 5,
        }
    }

    /// The most buckets that a search visits. Of a hundred million keys, none is so far from its
    /// first bucket. The writer chooses another seed if one is.
    fn max_probes(self) -> usize {
        match self {
            Self::Half => 16,
            // Of 4.6 million keys, the farthest was 31 buckets from its first one.
            Self::FourFifths => 64,
        }
    }
}

/// The number of buckets for this number of keys.
fn bucket_count(keys: usize, load: Load) -> usize {
    keys / load.keys_per_bucket() + 1
}

/// The bucket in which the search for a key begins.
///
/// Multiplication maps the hash to the range of buckets without a division, by its high bits. The
/// tag takes the low bits.
#[inline]
fn first_bucket(hash: u64, buckets: usize) -> usize {
    ((u128::from(hash) * buckets as u128) >> 64) as usize
}

/// The tag of a hash. Never 0, which marks a free lane.
#[inline]
fn tag(hash: u64) -> u16 {
    (hash as u16).max(1)
}

/// Builds an index. Each key goes to the first bucket with room.
#[derive(Debug)]
pub(crate) struct IndexBuilder {
    load: Load,
    buckets: Vec<[u8; BUCKET_LEN]>,
}

impl IndexBuilder {
    /// The length of an index of this number of keys.
    pub(crate) fn encoded_len(keys: usize, load: Load) -> usize {
        bucket_count(keys, load) * BUCKET_LEN
    }

    /// An empty index with room for this number of keys.
    pub(crate) fn new(keys: usize, load: Load) -> Self {
        let mut empty = [0; BUCKET_LEN];
        empty[OFFSETS_AT..].fill(NONE as u8);
        Self {
            load,
            buckets: vec![empty; bucket_count(keys, load)],
        }
    }

    /// Inserts the key with this hash; returns whether a search will find it.
    pub(crate) fn add(&mut self, hash: u64, offset: u32) -> bool {
        let first = first_bucket(hash, self.buckets.len());
        let count = self.buckets.len();
        (0..self.load.max_probes().min(count))
            .any(|step| insert(&mut self.buckets[(first + step) % count], hash, offset))
    }

    /// Prefetches the bucket that [`add`](Self::add) writes first for this hash.
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets, hash);
    }

    pub(crate) fn finish(self) -> Vec<[u8; BUCKET_LEN]> {
        self.buckets
    }
}

/// Inserts a key into a bucket. If the bucket is full, sets its overflow flag and returns `false`.
fn insert(bucket: &mut [u8; BUCKET_LEN], hash: u64, offset: u32) -> bool {
    let free = bucket[..OVERFLOW_AT]
        .as_chunks::<2>()
        .0
        .iter()
        .position(|tag| *tag == [0; 2]);
    match free {
        Some(free) => {
            bucket[2 * free..][..2].copy_from_slice(&tag(hash).to_le_bytes());
            bucket[OFFSETS_AT + 4 * free..][..4].copy_from_slice(&offset.to_le_bytes());
        }
        None => bucket[OVERFLOW_AT] = 1,
    }
    free.is_some()
}

/// The result of probing the first bucket of a hash, before any entry is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// The offset of the first entry with an equal tag, or [`NONE`].
    pub offset: u32,
    /// Whether other entries may have the key too.
    pub more: bool,
}

impl Probe {
    /// The snapshot does not hold the key.
    pub(crate) const ABSENT: Self = Self {
        offset: NONE,
        more: false,
    };
    /// The index was not probed, so a search has to begin at the first bucket.
    pub(crate) const SKIPPED: Self = Self {
        offset: NONE,
        more: true,
    };
}

/// Probes the first bucket of a hash.
///
/// No branch depends on the content of the bucket, so the processor does not wait for the cache
/// line: several probes in a row overlap.
#[inline]
pub(crate) fn probe(index: &[[u8; BUCKET_LEN]], hash: u64) -> Probe {
    let Some(bucket) = index.get(first_bucket(hash, index.len())) else {
        return Probe::ABSENT;
    };
    let lanes = equal_lanes(bucket, hash);
    // Without a match this reads some offset too, so that the compiler selects instead of
    // branching.
    let offset = offset_in(bucket, lanes.trailing_zeros() as usize % 32);
    Probe {
        offset: if lanes == 0 { NONE } else { offset },
        more: has_overflow(bucket) | (lanes & lanes.wrapping_sub(1) != 0),
    }
}

/// Prefetches the bucket that [`probe`] reads for this hash.
#[inline]
pub(crate) fn prefetch(index: &[[u8; BUCKET_LEN]], hash: u64) {
    if let Some(bucket) = index.get(first_bucket(hash, index.len())) {
        simd::prefetch(bucket);
    }
}

/// The numbers of the buckets that a search in a snapshot visits for a hash, as far as their content leads it.
///
/// `is_readable` is asked about each bucket before it is read.
pub(super) fn probed_buckets(
    index: &[[u8; BUCKET_LEN]],
    hash: u64,
    mut is_readable: impl FnMut(usize) -> bool,
) {
    let count = index.len();
    let first = first_bucket(hash, count);
    for step in 0..Load::Half.max_probes().min(count) {
        let number = (first + step) % count;
        if !is_readable(number) || !has_overflow(&index[number]) {
            return;
        }
    }
}

/// The offsets of all entries whose key may have this hash, in probing order. Expected: one bucket,
/// and at most one offset.
///
/// A search in a damaged index ends too, after as many buckets as its load allows.
pub(crate) fn candidates(
    index: &[[u8; BUCKET_LEN]],
    hash: u64,
    load: Load,
) -> impl Iterator<Item = u32> {
    let (head, tail) = index
        .split_at_checked(first_bucket(hash, index.len()))
        .unwrap_or_default();
    // Linear probing wraps around at the end of the table.
    let mut buckets = tail.iter().chain(head).take(load.max_probes());
    let mut current = buckets
        .next()
        .map(|bucket| (bucket, equal_lanes(bucket, hash)));
    std::iter::from_fn(move || {
        loop {
            let (bucket, lanes_left) = current?;
            if lanes_left != 0 {
                current = Some((bucket, lanes_left & (lanes_left - 1)));
                return Some(offset_in(bucket, lanes_left.trailing_zeros() as usize));
            }
            let next = has_overflow(bucket).then(|| buckets.next()).flatten();
            current = next.map(|bucket| (bucket, equal_lanes(bucket, hash)));
        }
    })
}

/// The number of keys in an index; `None` if a bucket is marked as full but has a free slot.
pub(crate) fn count_keys(index: &[[u8; BUCKET_LEN]]) -> Option<u64> {
    let mut keys = 0;
    for bucket in index {
        let tags = bucket[..OVERFLOW_AT].as_chunks::<2>().0;
        let used = tags.iter().filter(|tag| **tag != [0; 2]).count();
        if has_overflow(bucket) && used < KEYS {
            return None;
        }
        keys += used as u64;
    }
    Some(keys)
}

/// The lanes of a bucket whose tag is that of this hash, one bit each.
#[inline]
fn equal_lanes(bucket: &[u8; BUCKET_LEN], hash: u64) -> u32 {
    let Some(tags) = bucket.first_chunk::<TAGS_LEN>() else {
        return 0;
    };
    simd::equal_tags(tags, tag(hash)) & ((1 << KEYS) - 1)
}

/// Whether a key that belongs into this bucket may be in the next one.
#[inline]
fn has_overflow(bucket: &[u8; BUCKET_LEN]) -> bool {
    bucket[OVERFLOW_AT] != 0
}

/// The offset in a lane; that of the last lane for a lane out of range.
#[inline]
fn offset_in(bucket: &[u8; BUCKET_LEN], lane: usize) -> u32 {
    let offsets = bucket[OFFSETS_AT..].as_chunks().0;
    u32::from_le_bytes(offsets[lane.min(KEYS - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// An index of these keys, and whether each of them fits.
    fn build(
        keys: impl ExactSizeIterator<Item = (u64, u32)>,
    ) -> (Vec<[u8; BUCKET_LEN]>, Vec<bool>) {
        let mut index = IndexBuilder::new(keys.len(), Load::Half);
        let fit = keys.map(|(hash, offset)| index.add(hash, offset)).collect();
        (index.finish(), fit)
    }

    proptest! {
        /// Hashes with few different bits make buckets overflow and tags collide.
        #[test]
        fn every_key_is_found(
            hashes in vec(prop_oneof![any::<u64>(), (0..4u64).prop_map(|h| h << 62), 0..3u64, Just(u64::MAX)], 0..200),
            others in vec(any::<u64>(), 20),
        ) {
            let keys: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
            let (index, fit) = build(keys.iter().copied());
            for (&(hash, offset), fits) in keys.iter().zip(fit) {
                let found: Vec<u32> = candidates(&index, hash, Load::Half).collect();
                prop_assert_eq!(found.contains(&offset), fits);
                let mut probed = Vec::new();
                probed_buckets(&index, hash, |bucket| {
                    probed.push(bucket);
                    true
                });
                let in_probed = probed.iter().flat_map(|&bucket| index[bucket][OFFSETS_AT..].as_chunks().0);
                let in_probed: Vec<u32> = in_probed.map(|offset| u32::from_le_bytes(*offset)).collect();
                prop_assert!(found.iter().all(|offset| in_probed.contains(offset)));
                let probe = probe(&index, hash);
                prop_assert!(probe.more || found == [probe.offset]);
                prop_assert!(probe.offset == NONE || probe.offset == found[0]);
            }
            for hash in others {
                let found: Vec<u32> = candidates(&index, hash, Load::Half).collect();
                let probe = probe(&index, hash);
                prop_assert!(probe.more || found.first().copied().unwrap_or(NONE) == probe.offset);
                prop_assert_eq!(found.is_empty() && !probe.more, probe == Probe::ABSENT);
            }
        }
    }

    #[test]
    fn searches_in_a_damaged_index_end() {
        for fill in [0, 1, u8::MAX] {
            let index = [[fill; BUCKET_LEN]; 3];
            assert!(candidates(&index, 0x0101, Load::Half).count() <= 3 * KEYS);
            probed_buckets(&index, 0x0101, |bucket| bucket < index.len());
            probe(&index, u64::MAX);
        }
        assert_eq!(candidates(&[], 5, Load::Half).count(), 0);
        assert_eq!(probe(&[], 5), Probe::ABSENT);
    }

    #[test]
    fn a_million_keys_fit_at_four_fifths() {
        let keys = 1_000_000u32;
        let mut index = IndexBuilder::new(keys as usize, Load::FourFifths);
        for key in 0..keys {
            let hash = xxhash_rust::xxh3::xxh3_64(&key.to_le_bytes());
            assert!(index.add(hash, key), "key {key}");
        }
    }

    #[test]
    fn few_buckets_overflow() {
        let hash = |i: u32| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        let (index, fit) = build((0..100_000).map(|i| (hash(i), i)));
        assert!(fit.iter().all(|fits| *fits));
        let full = index.iter().filter(|bucket| has_overflow(bucket)).count();
        assert!(full * 50 < index.len(), "{full} of {}", index.len());
    }
}
