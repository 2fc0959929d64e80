//! The origins that a snapshot lacks, of the URLs of a job: a hash set that all threads fill.
//!
//! The set is divided into parts by hash, and each part has a lock, so that threads rarely wait for
//! each other. Neighbouring URLs often have the same origin, so each thread remembers its last one.

use crate::container::visit::{RecordRun, Visitor};
use crate::judge::Reason;
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

/// A set of origins, shared by all threads.
pub(super) struct OriginSet {
    parts: Vec<Mutex<HashSet<Box<[u8]>>>>,
    hasher: RandomState,
}

/// The memory of one thread.
#[derive(Default)]
pub(super) struct OriginBuffer {
    /// The origin that was added last.
    last: Vec<u8>,
    /// Space for a key.
    key: Vec<u8>,
}

impl OriginSet {
    pub(super) fn new() -> Self {
        Self {
            parts: std::iter::repeat_with(Mutex::default).take(PARTS).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Adds the origin of a URL.
    fn add(&self, url: &[u8], OriginBuffer { last, key }: &mut OriginBuffer) {
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
    pub(super) fn into_sorted(self) -> Vec<Origin> {
        let parts = self.parts.into_iter();
        let sets = parts.map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut origins: Vec<Origin> = sets.flatten().map(Origin::from_key).collect();
        origins.sort_unstable();
        origins
    }
}

impl Visitor for OriginSet {
    type Local = OriginBuffer;

    fn local(&self) -> OriginBuffer {
        OriginBuffer::default()
    }

    #[inline]
    fn visit(&self, records: RecordRun<'_>, buffer: &mut OriginBuffer) -> bool {
        if records.verdicts().reason() == Reason::UnknownOrigin {
            records.urls().for_each(|url| self.add(url, buffer));
        }
        false
    }

    fn merge(&self, _: OriginBuffer) {}
}
