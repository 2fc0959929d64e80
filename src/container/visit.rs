//! Visiting: one pass over the records of a job that writes no output.
//!
//! A [`Visitor`] is a parallel fold over the judged records: a state per thread, a step, and a merge.
//! It knows no container, and a container does not know its type. The type is erased once per block
//! ([`BlockWorker`]), because in a list of many hosts nearly every line is a run of its own.

use super::criterion::Criterion;
use super::judged_records::{RecordUrls, TimedLines, judge_records, judge_timed};
use crate::error::Result;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, Verdict, VerdictsRef};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::LineBlock;
use std::ops::Range;

/// A fold over the judged records of [`Job::visit`](crate::job::Job::visit): what to count or
/// collect.
///
/// Threads see records in any order, each with a [state](Self::Local) of its own. Memory is that of
/// the states.
pub trait Visitor: Sync {
    /// The state of one thread.
    type Local: Send;

    /// Makes a state. A job may make more of them than there are threads.
    fn local(&self) -> Self::Local;

    /// Visits neighbouring records with the same verdicts. Returns whether [`selected`] gets their
    /// URLs.
    ///
    /// [`selected`]: Self::selected
    fn visit(&self, records: RecordRun<'_>, local: &mut Self::Local) -> bool;

    /// Visits the selected URLs of a block, which are at least one. One thread at a time calls this,
    /// in the order of the inputs. The default does nothing.
    fn selected(&self, urls: SelectedUrls<'_>) {
        let _ = urls;
    }

    /// Takes a state that gets no more records. Threads call this at the same time, and also if the
    /// job fails.
    fn merge(&self, local: Self::Local);
}

/// Neighbouring records with the same verdicts.
#[derive(Clone, Copy, Debug)]
pub struct RecordRun<'r> {
    urls: RecordUrls<'r>,
    records_per_url: u64,
    verdicts: VerdictsRef<'r>,
}

impl<'r> RecordRun<'r> {
    #[inline]
    fn new(urls: RecordUrls<'r>, verdicts: VerdictsRef<'r>) -> Self {
        Self {
            urls,
            records_per_url: 1,
            verdicts,
        }
    }

    /// The verdicts on each of the records.
    #[inline]
    pub fn verdicts(&self) -> VerdictsRef<'r> {
        self.verdicts
    }

    /// The number of records, at least 1.
    #[inline]
    pub fn count(&self) -> u64 {
        self.urls.count() as u64 * self.records_per_url
    }

    /// The URLs, without white space around them; empty for a record without one, and for a line of
    /// over 64 MiB. They are cut here, so a visitor that only counts does not pay for them.
    pub fn urls(&self) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        self.urls.iter().map(<[u8]>::trim_ascii)
    }

    /// The number of records with each of the URLs. It is 1, except for a text of over 16 KiB in a
    /// Parquet file, which comes once for all neighbouring rows that share it.
    pub fn records_per_url(&self) -> u64 {
        self.records_per_url
    }
}

/// The selected URLs of a block.
#[derive(Clone, Copy, Debug)]
pub struct SelectedUrls<'u> {
    text: &'u [u8],
    ranges: &'u [Range<usize>],
}

impl<'u> SelectedUrls<'u> {
    /// The number of records.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The URL of the record with this number, without white space around it. In Parquet files, a
    /// text of over 16 KiB is given as an empty one. `None` beyond the last.
    pub fn get(&self, number: usize) -> Option<&'u [u8]> {
        let range = self.ranges.get(number)?.clone();
        Some(self.text.get(range)?.trim_ascii())
    }
}

/// The URLs of a block.
#[derive(Clone, Copy)]
pub(crate) enum BlockUrls<'b> {
    /// The records of a list.
    List(&'b LineBlock),
    /// URLs, one per line.
    Lines(TimedLines<'b>),
    /// One URL, and the number of records that share it.
    Shared(&'b [u8], u64),
    /// One URL, and the times of the records that share it, in ascending order.
    SharedAtTimes(&'b [u8], &'b [Option<i64>]),
}

/// A visitor, for containers.
pub(crate) trait BlockVisitor: Sync {
    /// A worker with a state of its own, which is merged when it is dropped.
    fn worker(&self) -> Box<dyn BlockWorker + '_>;

    /// Passes on the selected ranges of `text`. Blocks come in the order of the inputs.
    fn selected(&self, text: &[u8], ranges: &[Range<usize>]);
}

/// Judges and visits URLs on one thread.
pub(crate) trait BlockWorker: Send {
    /// Counts all, and adds the ranges of the selected ones in their text. A shared URL adds empty
    /// ranges.
    fn visit(
        &mut self,
        urls: BlockUrls<'_>,
        stats: &mut FilterStats,
        selected: &mut Vec<Range<usize>>,
    ) -> Result<()>;
}

/// A visitor, and the judge and the criterion of its job.
pub(crate) struct JudgingVisitor<'v, V> {
    pub engine: &'v Engine<'v>,
    pub criterion: Criterion,
    pub visitor: &'v V,
}

impl<V: Visitor> JudgingVisitor<'_, V> {
    /// Counts and visits a run. Returns whether it is selected.
    #[inline]
    fn visit(&self, run: RecordRun<'_>, local: &mut V::Local, stats: &mut FilterStats) -> bool {
        self.criterion.count(&run.verdicts, run.count(), stats);
        self.visitor.visit(run, local)
    }

    /// Counts and visits records that share one URL. Selected ones get empty ranges.
    fn visit_shared(
        &self,
        url: &[u8],
        records: u64,
        verdicts: VerdictsRef<'_>,
        local: &mut V::Local,
        stats: &mut FilterStats,
        selected: &mut Vec<Range<usize>>,
    ) {
        let end = url.len();
        let run = RecordRun {
            records_per_url: records,
            ..RecordRun::new(RecordUrls::of_one(url, &end), verdicts)
        };
        if self.visit(run, local, stats) {
            selected.extend((0..records).map(|_| 0..0));
        }
    }
}

impl<V: Visitor> BlockVisitor for JudgingVisitor<'_, V> {
    fn worker(&self) -> Box<dyn BlockWorker + '_> {
        Box::new(VisitWorker {
            job: self,
            scratch: self.engine.scratch(),
            local: Some(self.visitor.local()),
        })
    }

    fn selected(&self, text: &[u8], ranges: &[Range<usize>]) {
        if !ranges.is_empty() {
            self.visitor.selected(SelectedUrls { text, ranges });
        }
    }
}

/// A thread's memory.
struct VisitWorker<'w, V: Visitor> {
    job: &'w JudgingVisitor<'w, V>,
    scratch: Scratch<'w>,
    /// `None` once it is merged.
    local: Option<V::Local>,
}

impl<V: Visitor> BlockWorker for VisitWorker<'_, V> {
    fn visit(
        &mut self,
        urls: BlockUrls<'_>,
        stats: &mut FilterStats,
        selected: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        let Self {
            job,
            scratch,
            local: Some(local),
        } = self
        else {
            return Ok(());
        };
        let engine = job.engine;
        match urls {
            BlockUrls::List(block) => judge_records(
                engine,
                block,
                Stage::Match,
                Joined::SameOrigin,
                scratch,
                |lines, urls, verdicts| {
                    if verdicts.unjudged() == Some(Verdict::Invalid) {
                        stats.count_blank(block.data(), lines);
                    }
                    if job.visit(RecordRun::new(urls, verdicts), local, stats) {
                        selected.extend(urls.ranges());
                    }
                    Ok(())
                },
            ),
            BlockUrls::Lines(lines) => {
                let joined = Joined::SameOrigin;
                let until = Stage::Match;
                judge_timed(
                    engine,
                    lines,
                    until,
                    joined,
                    scratch,
                    &mut |run, verdicts| {
                        let urls = RecordUrls::new(lines.text, run);
                        if job.visit(RecordRun::new(urls, verdicts), local, stats) {
                            selected.extend(urls.ranges());
                        }
                        Ok(())
                    },
                )
            }
            BlockUrls::Shared(url, records) => {
                let verdicts = engine.judge(url, scratch)?;
                job.visit_shared(url, records, verdicts, local, stats, selected);
                Ok(())
            }
            BlockUrls::SharedAtTimes(url, times) => {
                engine.judge_at_times(url, times, scratch, |records, verdicts| {
                    let records = records.len() as u64;
                    job.visit_shared(url, records, verdicts, local, stats, selected);
                    Ok(())
                })
            }
        }
    }
}

impl<V: Visitor> Drop for VisitWorker<'_, V> {
    fn drop(&mut self) {
        if let Some(local) = self.local.take()
            && !std::thread::panicking()
        {
            self.job.visitor.merge(local);
        }
    }
}
