//! Counts URLs for a report: by agent, by reason and by origin.

use super::sample::Sample;
use robosieve::job::{RecordRun, SelectedUrls, Visitor};
use robosieve::judge::{Reason, Verdict};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counts of all threads. They take 16 bytes per origin of the snapshot, however many URLs there
/// are.
pub(super) struct Tally {
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
    pub(super) fn new(origins: u32, agents: usize) -> Self {
        Self {
            origins: (0..origins).map(|_| OriginCount::default()).collect(),
            reasons: Default::default(),
            disallowed: (0..REASONS * agents).map(|_| AtomicU64::new(0)).collect(),
            agents,
        }
    }

    fn add(&self, origin: PendingOrigin) {
        // A row comes from the snapshot, whose origins are counted here.
        if let Some(count) = self
            .origins
            .get(origin.row as usize)
            .filter(|_| origin.urls > 0)
        {
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
    pub(super) fn of_origin(&self, row: u32) -> [u64; 2] {
        self.origins.get(row as usize).map_or([0; 2], |count| {
            [
                count.urls.load(Ordering::Relaxed),
                count.disallowed.load(Ordering::Relaxed),
            ]
        })
    }

    /// The URLs with this reason, and for each agent the disallowed ones among them.
    pub(super) fn of_reason(&self, reason: Reason) -> (u64, Vec<u64>) {
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

/// The visitor of lists: it counts all records, and takes the sample of disallowed URLs.
pub(super) struct ListCounter {
    tally: Tally,
    sample: Mutex<Sample>,
}

impl ListCounter {
    pub(super) fn new(tally: Tally, sample: Sample) -> Self {
        Self {
            tally,
            sample: Mutex::new(sample),
        }
    }

    pub(super) fn into_parts(self) -> (Tally, Sample) {
        let sample = self.sample.into_inner();
        (self.tally, sample.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Visitor for ListCounter {
    type Local = LocalTally;

    fn local(&self) -> LocalTally {
        LocalTally {
            reasons: [0; REASONS],
            disallowed: vec![0; self.tally.disallowed.len()],
            pending: vec![PendingOrigin::default(); PENDING],
        }
    }

    #[inline]
    fn visit(&self, records: RecordRun<'_>, local: &mut LocalTally) -> bool {
        local.count(records, &self.tally)
    }

    fn selected(&self, urls: SelectedUrls<'_>) {
        let mut sample = self.sample.lock().unwrap_or_else(PoisonError::into_inner);
        sample.add(urls.count(), |number| urls.get(number).unwrap_or_default());
    }

    fn merge(&self, local: LocalTally) {
        local.add_to(&self.tally);
    }
}

/// The origins whose counts a thread buffers. Otherwise every line of a list of mixed hosts would
/// write to shared memory twice.
const PENDING: usize = 1024;

/// The counts of one thread.
pub(super) struct LocalTally {
    reasons: [u64; REASONS],
    disallowed: Vec<u64>,
    /// A direct-mapped cache of origins by row.
    pending: Vec<PendingOrigin>,
}

/// The buffered counts of one origin.
#[derive(Clone, Copy, Default)]
struct PendingOrigin {
    row: u32,
    urls: u64,
    disallowed: u64,
}

impl LocalTally {
    /// Counts records. Returns whether they are disallowed for one agent or more.
    #[inline]
    fn count(&mut self, records: RecordRun<'_>, tally: &Tally) -> bool {
        let verdicts = records.verdicts();
        let urls = records.count();
        let reason = verdicts.reason() as usize;
        self.reasons[reason] += urls;
        let disallowed = &mut self.disallowed[reason * tally.agents..][..tally.agents];
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
                let evicted = std::mem::replace(
                    pending,
                    PendingOrigin {
                        row,
                        ..PendingOrigin::default()
                    },
                );
                tally.add(evicted);
            }
            pending.urls += urls;
            pending.disallowed += u64::from(is_disallowed) * urls;
        }
        is_disallowed
    }

    /// Adds all counts to the shared ones.
    fn add_to(self, tally: &Tally) {
        let shared = tally.reasons.iter().chain(&tally.disallowed);
        for (sum, count) in shared.zip(self.reasons.iter().chain(&self.disallowed)) {
            sum.fetch_add(*count, Ordering::Relaxed);
        }
        for origin in self.pending {
            tally.add(origin);
        }
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
