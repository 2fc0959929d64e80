//! Lists of URLs counted instead of written: by agent, by what verdicts rest on, by origin, and a sample of the refused.

use crate::error::Result;
use crate::filter::Filter;
use crate::filter::output::{Criterion, judge_records};
use crate::filter::sample::Sample;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{LineVerdicts, Reason};
use crate::judge::{Stage, Verdict};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{Block, Input, Part};
use crate::pipeline::workers;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// What all workers count together. Takes 16 bytes for each origin of the snapshot, however many URLs there are.
pub(crate) struct Tally {
    /// For each row of the section `origin metadata`.
    origins: Vec<OriginCount>,
    /// For each basis.
    bases: [AtomicU64; BASES],
    /// For each basis and agent.
    refused: Vec<AtomicU64>,
    agents: usize,
}

const BASES: usize = Reason::ALL.len();

#[derive(Default)]
struct OriginCount {
    urls: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    pub(crate) fn new(origins: u32, agents: usize) -> Self {
        Self {
            origins: (0..origins).map(|_| OriginCount::default()).collect(),
            bases: Default::default(),
            refused: (0..BASES * agents).map(|_| AtomicU64::new(0)).collect(),
            agents,
        }
    }

    /// How many URLs of the origin in this row there were, and how many of them are refused to one agent or more.
    pub(crate) fn of_origin(&self, row: u32) -> [u64; 2] {
        self.origins.get(row as usize).map_or([0; 2], |count| [count.urls.load(LOOSE), count.refused.load(LOOSE)])
    }

    /// How many URLs have this basis, and how many of them each agent is refused.
    pub(crate) fn of_basis(&self, basis: Reason) -> (u64, Vec<u64>) {
        let refused = self.refused.iter().skip(basis as usize * self.agents).take(self.agents);
        (self.bases[basis as usize].load(LOOSE), refused.map(|count| count.load(LOOSE)).collect())
    }
}

/// The counts are read when all workers have ended.
const LOOSE: Ordering = Ordering::Relaxed;

/// Origins whose counts a worker holds back: a line of every list of mixed hosts would else be two writes to memory that is shared.
const PENDING: usize = 1024;

/// One worker's counts, from time to time added to those of all.
pub(crate) struct Local {
    bases: [u64; BASES],
    refused: Vec<u64>,
    /// Row, URLs and refused URLs of some origins, each at the place that its row gives.
    pending: Vec<(u32, u64, u64)>,
}

impl Local {
    pub(crate) fn new(agents: usize) -> Self {
        Self { bases: [0; BASES], refused: vec![0; BASES * agents], pending: vec![(0, 0, 0); PENDING] }
    }

    /// Counts so many URLs with these verdicts; whether they are refused to one agent or more.
    #[inline]
    pub(crate) fn count(&mut self, verdicts: &LineVerdicts<'_>, urls: u64, tally: &Tally) -> bool {
        let reason = verdicts.reason() as usize;
        self.bases[reason] += urls;
        let refused = &mut self.refused[reason * tally.agents..][..tally.agents];
        let is_refused = match verdicts.bits() {
            Err(Verdict::Disallowed) => {
                refused.iter_mut().for_each(|count| *count += urls);
                true
            }
            Err(_) => false,
            Ok(allowed) => count_refused(allowed, urls, refused),
        };
        if let Some(row) = verdicts.row() {
            let pending = &mut self.pending[row as usize % PENDING];
            if pending.0 != row {
                if let Some(before) = tally.origins.get(pending.0 as usize) {
                    before.add(pending.1, pending.2);
                }
                *pending = (row, 0, 0);
            }
            pending.1 += urls;
            pending.2 += u64::from(is_refused) * urls;
        }
        is_refused
    }

    /// Adds all to the counts of all workers.
    pub(crate) fn hand_over(&mut self, tally: &Tally) {
        let sums = tally.bases.iter().chain(&tally.refused);
        for (sum, count) in sums.zip(self.bases.iter_mut().chain(&mut self.refused)).filter(|(_, count)| **count > 0) {
            sum.fetch_add(std::mem::take(count), LOOSE);
        }
        for (row, urls, refused) in self.pending.iter_mut().filter(|(_, urls, _)| *urls > 0) {
            if let Some(origin) = tally.origins.get(*row as usize) {
                origin.add(std::mem::take(urls), std::mem::take(refused));
            }
        }
    }
}

impl OriginCount {
    fn add(&self, urls: u64, refused: u64) {
        if urls > 0 {
            self.urls.fetch_add(urls, LOOSE);
        }
        if refused > 0 {
            self.refused.fetch_add(refused, LOOSE);
        }
    }
}

/// Counts the agents whose bits are not set; whether there are any.
#[inline]
fn count_refused(allowed: &[u64], urls: u64, counts: &mut [u64]) -> bool {
    let mut any = false;
    for (word, counts) in allowed.iter().zip(counts.chunks_mut(64)) {
        let mut refused = !word & (u64::MAX >> (64 - counts.len()));
        any |= refused != 0;
        while refused != 0 {
            counts[refused.trailing_zeros() as usize] += urls;
            refused &= refused - 1;
        }
    }
    any
}

impl Filter<'_> {
    /// Counts every line of the inputs, and takes the sample; a line counts as disallowed if an agent or more may not fetch it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn tally(&self, inputs: Vec<Input>, tally: &Tally, sample: &mut Sample) -> Result<FilterStats> {
        let criterion = Criterion::REFUSED_TO_ANY;
        workers::run(
            inputs,
            &self.records,
            self.progress,
            || (self.judge.engine().scratch(), Local::new(tally.agents)),
            |block, (scratch, local), stats| {
                let counted = count_block(self.judge.engine(), criterion, block, scratch, stats, |verdicts, lines| {
                    local.count(verdicts, lines, tally)
                });
                local.hand_over(tally);
                counted
            },
            |block| {
                sample.put(block.refused.len(), |number| url_of(block, block.refused[number].clone()));
                Ok(())
            },
        )
    }
}

/// Judges a block's lines, counts them, and notes in the block which of them `count` says are refused.
fn count_block<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    block: &mut Block,
    scratch: &mut Scratch<'s>,
    stats: &mut FilterStats,
    mut count: impl FnMut(&LineVerdicts<'_>, u64) -> bool,
) -> Result<()> {
    let mut refused = std::mem::take(&mut block.refused);
    refused.clear();
    let data = block.data();
    stats.bytes += data.len() as u64;
    match block.part {
        Part::Lines => judge_records(judge, block, Stage::Match, scratch, |lines, _, verdicts| {
            let number = lines.ends.len() as u64;
            criterion.count(&verdicts, number, stats);
            if verdicts.unjudged() == Some(Verdict::Invalid) {
                stats.count_blank(data, lines);
            }
            if count(&verdicts, number) {
                refused.extend(lines.ranges());
            }
        })?,
        Part::LongStart => {
            let verdicts = LineVerdicts::invalid(judge.agents().len());
            criterion.count(&verdicts, 1, stats);
            count(&verdicts, 1);
        }
        Part::Header | Part::LongRest => {}
    }
    block.refused = refused;
    Ok(())
}

/// The URL of a record of a block.
fn url_of(block: &Block, record: Range<usize>) -> Vec<u8> {
    let text = block.data().get(record).unwrap_or_default();
    let Some(records) = &block.records else { return text.trim_ascii().to_vec() };
    let mut extracted = crate::records::Extracted::default();
    records.extract(text, &mut extracted);
    extracted.urls.trim_ascii().to_vec()
}
