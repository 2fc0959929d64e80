//! Counts URLs for a report: by agent, by reason and by origin.

use crate::judge::{Reason, Verdict, VerdictsRef};
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of all workers. They take 16 bytes per origin of the snapshot, however many URLs
/// there are.
pub(crate) struct Tally {
    /// One count per row of the snapshot's table of origins.
    origins: Vec<OriginCount>,
    /// URLs by reason.
    reasons: [AtomicU64; REASONS],
    /// Disallowed URLs by reason and agent.
    disallowed: Vec<AtomicU64>,
    agents: usize,
}

const REASONS: usize = Reason::ALL.len();

#[derive(Default)]
struct OriginCount {
    urls: AtomicU64,
    disallowed: AtomicU64,
}

impl Tally {
    pub(crate) fn new(origins: u32, agents: usize) -> Self {
        Self {
            origins: (0..origins).map(|_| OriginCount::default()).collect(),
            reasons: Default::default(),
            disallowed: (0..REASONS * agents).map(|_| AtomicU64::new(0)).collect(),
            agents,
        }
    }

    fn add(&self, origin: PendingOrigin) {
        // A row comes from the snapshot, whose origins are counted here.
        if let Some(count) = self.origins.get(origin.row as usize) {
            count.urls.fetch_add(origin.urls, Ordering::Relaxed);
            if origin.disallowed > 0 {
                count
                    .disallowed
                    .fetch_add(origin.disallowed, Ordering::Relaxed);
            }
        }
    }

    /// The URLs of the origin in this row, and the URLs among them that are disallowed for one
    /// agent or more.
    pub(crate) fn of_origin(&self, row: u32) -> [u64; 2] {
        self.origins.get(row as usize).map_or([0; 2], |count| {
            [
                count.urls.load(Ordering::Relaxed),
                count.disallowed.load(Ordering::Relaxed),
            ]
        })
    }

    /// The URLs with this reason, and for each agent the disallowed ones among them.
    pub(crate) fn of_reason(&self, reason: Reason) -> (u64, Vec<u64>) {
        let disallowed = self
            .disallowed
            .iter()
            .skip(reason as usize * self.agents)
            .take(self.agents);
        (
            self.reasons[reason as usize].load(Ordering::Relaxed),
            disallowed
                .map(|count| count.load(Ordering::Relaxed))
                .collect(),
        )
    }
}

/// The origins whose counts a block buffers. Otherwise every line of a list of mixed hosts would
/// write to shared memory twice.
const PENDING: usize = 1024;

/// The counts of one block, which are added to those of all workers once the block is final.
pub(crate) struct BlockTally {
    agents: usize,
    reasons: [u64; REASONS],
    disallowed: Vec<u64>,
    /// A direct-mapped cache of origins by row.
    pending: Vec<PendingOrigin>,
    /// The origins that others have replaced in the cache.
    evicted: Vec<PendingOrigin>,
}

/// The buffered counts of one origin.
#[derive(Clone, Copy, Default)]
struct PendingOrigin {
    row: u32,
    urls: u64,
    disallowed: u64,
}

impl BlockTally {
    pub(crate) fn new(agents: usize) -> Self {
        Self {
            agents,
            reasons: [0; REASONS],
            disallowed: vec![0; REASONS * agents],
            pending: vec![PendingOrigin::default(); PENDING],
            evicted: Vec::new(),
        }
    }

    /// Counts URLs with these verdicts. Returns whether they are disallowed for one agent or more.
    #[inline]
    pub(crate) fn count(&mut self, verdicts: &VerdictsRef<'_>, urls: u64) -> bool {
        let reason = verdicts.reason() as usize;
        self.reasons[reason] += urls;
        let disallowed = &mut self.disallowed[reason * self.agents..][..self.agents];
        let is_disallowed = match verdicts.bits() {
            Err(Verdict::Disallowed) => {
                disallowed.iter_mut().for_each(|count| *count += urls);
                true
            }
            Err(_) => false,
            Ok(allowed) => count_disallowed(allowed, urls, disallowed),
        };
        // Neighbouring URLs often have the same origin, so its counts are buffered: a direct-mapped
        // cache spares most accesses to the shared counts.
        if let Some(row) = verdicts.row() {
            let pending = &mut self.pending[row as usize % PENDING];
            if pending.row != row {
                if pending.urls > 0 {
                    self.evicted.push(*pending);
                }
                *pending = PendingOrigin {
                    row,
                    ..PendingOrigin::default()
                };
            }
            pending.urls += urls;
            pending.disallowed += u64::from(is_disallowed) * urls;
        }
        is_disallowed
    }

    /// Adds all counts to the shared ones and resets them.
    pub(crate) fn flush(&mut self, tally: &Tally) {
        let shared = tally.reasons.iter().chain(&tally.disallowed);
        let own = self.reasons.iter_mut().chain(&mut self.disallowed);
        for (sum, count) in shared.zip(own).filter(|(_, count)| **count > 0) {
            sum.fetch_add(std::mem::take(count), Ordering::Relaxed);
        }
        for origin in self.evicted.drain(..) {
            tally.add(origin);
        }
        for pending in self.pending.iter_mut().filter(|pending| pending.urls > 0) {
            tally.add(std::mem::take(pending));
        }
    }

    /// Resets all counts.
    pub(crate) fn clear(&mut self) {
        self.reasons.fill(0);
        self.disallowed.fill(0);
        self.pending.fill(PendingOrigin::default());
        self.evicted.clear();
    }
}

/// Adds `urls` to the count of every agent whose bit is not set. Returns whether there are such
/// agents.
#[inline]
fn count_disallowed(allowed: &[u64], urls: u64, counts: &mut [u64]) -> bool {
    let mut any = false;
    for (word, counts) in allowed.iter().zip(counts.chunks_mut(64)) {
        let mut disallowed = !word & (u64::MAX >> (64 - counts.len()));
        any |= disallowed != 0;
        while disallowed != 0 {
            counts[disallowed.trailing_zeros() as usize] += urls;
            disallowed &= disallowed - 1;
        }
    }
    any
}
