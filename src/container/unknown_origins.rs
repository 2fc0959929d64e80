//! The origins that a snapshot lacks, of the URLs of a job: a hash set that all workers fill.
//!
//! The set is divided into parts by hash, and each part has a lock, so that workers rarely wait for
//! each other. Neighbouring URLs often have the same origin, so each worker remembers its last one.

use super::judged_records::RecordUrls;
use crate::judge::{Reason, VerdictsRef};
use crate::pipeline::FilterStats;
use crate::profile::Profile;
use crate::url::{self, Origin};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

/// The origins that a snapshot lacks, of the URLs of a [`Job`](crate::job::Job).
#[derive(Debug)]
#[non_exhaustive]
pub struct UnknownOrigins {
    /// Each origin once, in the order of a snapshot's origins: sorted by their bytes.
    pub origins: Vec<Origin>,
    /// The counts of the lines. `unknown` counts those of these origins.
    pub stats: FilterStats,
}

/// The parts of the set. On a hundred cores, two workers seldom need the same part.
const PARTS: usize = 256;

/// A snapshot holds no longer origin.
const MAX_ORIGIN: usize = u16::MAX as usize;

/// A set of origins, shared by all workers.
pub(crate) struct OriginSet {
    parts: Vec<Mutex<HashSet<Box<[u8]>>>>,
    hasher: RandomState,
}

/// The memory of one worker.
#[derive(Default)]
pub(crate) struct OriginBuffer {
    /// The origin that was added last.
    last: Vec<u8>,
    /// Space for a key.
    key: Vec<u8>,
}

impl OriginSet {
    pub(crate) fn new() -> Self {
        Self {
            parts: std::iter::repeat_with(Mutex::default).take(PARTS).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Adds the origins of these URLs if the snapshot lacks them.
    #[inline]
    pub(crate) fn add_unknown(
        &self,
        verdicts: &VerdictsRef<'_>,
        urls: RecordUrls<'_>,
        buffer: &mut OriginBuffer,
    ) {
        if verdicts.reason() == Reason::UnknownOrigin {
            urls.iter().for_each(|url| self.add(url, buffer));
        }
    }

    /// Adds the origin of a URL.
    pub(crate) fn add(&self, url: &[u8], OriginBuffer { last, key }: &mut OriginBuffer) {
        // The profile changes only the path.
        let Some(parts) = url::split(url, Profile::default(), key) else {
            return;
        };
        let origin = parts.origin;
        if origin == *last || origin.len() > MAX_ORIGIN {
            return;
        }
        last.clear();
        last.extend_from_slice(origin);
        let part = self.hasher.hash_one(origin) as usize % PARTS;
        let mut part = self.parts[part]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !part.contains(origin) {
            part.insert(origin.into());
        }
    }

    /// The origins, sorted.
    pub(crate) fn into_sorted(self) -> Vec<Origin> {
        let parts = self.parts.into_iter();
        let sets = parts.map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut origins: Vec<Origin> = sets.flatten().map(Origin::from_key).collect();
        origins.sort_unstable();
        origins
    }
}
