//! Counts lists of URLs for a report: by agent, by reason and by origin, with a sample of the
//! disallowed URLs.

use crate::error::Result;
use crate::filter::Filter;
use crate::filter::output::{Criterion, judge_records};
use crate::filter::sample::Sample;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Reason, VerdictsRef};
use crate::judge::{Stage, Verdict};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{BlockKind, Input, LineBlock};
use crate::pipeline::lists::ListSource;
use crate::pipeline::ordered::{self, OrderedItem};
use crate::records::ExtractedUrls;
use std::ops::Range;
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
    pub(crate) fn of_basis(&self, reason: Reason) -> (u64, Vec<u64>) {
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

/// The origins whose counts a worker buffers. Otherwise every line of a list of mixed hosts would
/// write to shared memory twice.
const PENDING: usize = 1024;

/// The counts of one worker, which it adds to those of all workers after each block.
pub(crate) struct WorkerTally {
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

impl WorkerTally {
    pub(crate) fn new(agents: usize) -> Self {
        Self {
            reasons: [0; REASONS],
            disallowed: vec![0; REASONS * agents],
            pending: vec![PendingOrigin::default(); PENDING],
        }
    }

    /// Counts URLs with these verdicts. Returns whether they are disallowed for one agent or more.
    #[inline]
    pub(crate) fn count(&mut self, verdicts: &VerdictsRef<'_>, urls: u64, tally: &Tally) -> bool {
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
        if let Some(row) = verdicts.row() {
            let pending = &mut self.pending[row as usize % PENDING];
            if pending.row != row {
                // Another origin has this slot: its counts are added to the shared ones.
                if let Some(origin) = tally.origins.get(pending.row as usize) {
                    origin.add(pending.urls, pending.disallowed);
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
        let sums = tally.reasons.iter().chain(&tally.disallowed);
        for (sum, count) in sums
            .zip(self.reasons.iter_mut().chain(&mut self.disallowed))
            .filter(|(_, count)| **count > 0)
        {
            sum.fetch_add(std::mem::take(count), Ordering::Relaxed);
        }
        for pending in self.pending.iter_mut().filter(|pending| pending.urls > 0) {
            if let Some(origin) = tally.origins.get(pending.row as usize) {
                origin.add(
                    std::mem::take(&mut pending.urls),
                    std::mem::take(&mut pending.disallowed),
                );
            }
        }
    }
}

impl OriginCount {
    fn add(&self, urls: u64, disallowed: u64) {
        if urls > 0 {
            self.urls.fetch_add(urls, Ordering::Relaxed);
        }
        if disallowed > 0 {
            self.disallowed.fetch_add(disallowed, Ordering::Relaxed);
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

impl Filter<'_> {
    /// Counts every line of the inputs and takes the sample. A line counts as disallowed if one
    /// agent or more may not fetch it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn tally(
        &self,
        inputs: Vec<Input>,
        tally: &Tally,
        sample: &mut Sample,
    ) -> Result<FilterStats> {
        let engine = self.judge.engine();
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(&self.records, self.progress),
            inputs,
            || (engine.scratch(), WorkerTally::new(tally.agents)),
            |block, (scratch, local)| {
                let counted = count_block(engine, block, scratch, |verdicts, lines| {
                    local.count(verdicts, lines, tally)
                });
                local.flush(tally);
                counted
            },
            |item| {
                if let OrderedItem::Block(block) = item {
                    total.add(&block.stats);
                    sample.add(block.disallowed.len(), |number| {
                        url_of(block, block.disallowed[number].clone())
                    });
                }
                Ok(())
            },
        )?;
        Ok(total)
    }
}

/// Judges and counts the lines of a block. Lines for which `count` returns true are disallowed, and
/// the block keeps them.
fn count_block<'s>(
    judge: &Engine<'s>,
    block: &mut LineBlock,
    scratch: &mut Scratch<'s>,
    mut count: impl FnMut(&VerdictsRef<'_>, u64) -> bool,
) -> Result<()> {
    let criterion = Criterion::DISALLOWED_FOR_ANY;
    let mut disallowed = std::mem::take(&mut block.disallowed);
    disallowed.clear();
    let data = block.data();
    let mut stats = FilterStats {
        bytes: data.len() as u64,
        ..FilterStats::default()
    };
    match block.kind {
        BlockKind::Lines => {
            judge_records(judge, block, Stage::Match, scratch, |lines, _, verdicts| {
                let number = lines.ends.len() as u64;
                criterion.count(&verdicts, number, &mut stats);
                if verdicts.unjudged() == Some(Verdict::Invalid) {
                    stats.count_blank(data, lines);
                }
                if count(&verdicts, number) {
                    disallowed.extend(lines.ranges());
                }
            })?
        }
        BlockKind::LongLineStart => {
            let verdicts = VerdictsRef::invalid(judge.agents().len());
            criterion.count(&verdicts, 1, &mut stats);
            count(&verdicts, 1);
        }
        BlockKind::Header | BlockKind::LongLineRest => {}
    }
    (block.disallowed, block.stats) = (disallowed, stats);
    Ok(())
}

/// The URL of a record of a block.
fn url_of(block: &LineBlock, record: Range<usize>) -> Vec<u8> {
    let text = block.data().get(record).unwrap_or_default();
    let Some(format) = &block.format else {
        return text.trim_ascii().to_vec();
    };
    let mut extracted = ExtractedUrls::default();
    format.extract(text, &mut extracted);
    extracted.urls.trim_ascii().to_vec()
}
