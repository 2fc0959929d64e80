//! Filters lists of URLs. A judged block becomes runs of lines with the same verdict; each run is
//! one write. If values are added to the disallowed lines, the worker writes these, and they are
//! one write per block.
//!
//! Writing lines in place with `writev` took no less time to a file, and a third more to a pipe.

use crate::container::annotation::{JudgedRun, LineAdder, WriteScratch};
use crate::container::criterion::Criterion;
use crate::container::judged_records::judge_records;
use crate::container::outputs::LineSink;
use crate::container::outputs::{Output, Outputs};
use crate::error::Result;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Reason, Stage, Verdict};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{BlockKind, LineBlock, VerdictRun};

/// The run that the last line belongs to.
#[derive(Default)]
struct OpenRun {
    verdict: Option<Verdict>,
    is_written: bool,
    lines: u64,
    end: usize,
}

impl OpenRun {
    /// Adds lines, given by their ends, to this run, or starts a new one.
    #[inline]
    fn add(
        &mut self,
        verdict: Verdict,
        is_written: bool,
        ends: &[usize],
        stats: &mut FilterStats,
        runs: &mut Vec<VerdictRun>,
    ) {
        if self.verdict != Some(verdict) || self.is_written != is_written {
            self.finish(stats, runs);
            *self = Self {
                verdict: Some(verdict),
                is_written,
                lines: 0,
                end: self.end,
            };
        }
        self.lines += ends.len() as u64;
        self.end = ends.last().copied().unwrap_or(self.end);
    }

    /// Counts the lines of the run and appends it to `runs`.
    fn finish(&self, stats: &mut FilterStats, runs: &mut Vec<VerdictRun>) {
        if let Some(verdict) = self.verdict {
            stats.count(verdict, self.lines);
            runs.push(VerdictRun {
                verdict,
                is_written: self.is_written,
                end: self.end,
            });
        }
    }
}

/// A worker's scratch for judging, and for the values that are added to disallowed lines.
pub(super) struct RouteScratch<'s> {
    judge: Scratch<'s>,
    write: WriteScratch,
}

impl<'s> RouteScratch<'s> {
    pub(super) fn new(judge: &Engine<'s>) -> Self {
        Self {
            judge: judge.scratch(),
            write: WriteScratch::default(),
        }
    }
}

/// Judges the lines of a block and groups them into runs. Disallowed lines, and headers, are also
/// written with the values of `adder`.
pub(super) fn find_runs<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    until: Stage,
    adder: Option<&LineAdder<'_>>,
    block: &mut LineBlock,
    scratch: &mut RouteScratch<'s>,
) -> Result<()> {
    let RouteScratch {
        judge: scratch,
        write: memory,
    } = scratch;
    let mut runs = std::mem::take(&mut block.runs);
    let mut annotated = std::mem::take(&mut block.annotated);
    runs.clear();
    annotated.clear();
    let data = block.data();
    let mut stats = FilterStats::of_bytes(data.len() as u64);
    match block.kind {
        BlockKind::Lines => {
            let mut run = OpenRun::default();
            // Added values depend on the origin.
            let joined = if adder.is_some() {
                Joined::SameOrigin
            } else {
                Joined::SameReason
            };
            judge_records(
                judge,
                block,
                until,
                joined,
                scratch,
                |lines, urls, verdicts| {
                    let number = lines.ends.len() as u64;
                    if verdicts.via_other_scheme() {
                        stats.via_other_scheme += number;
                    }
                    if verdicts.reason() == Reason::UnknownTime {
                        stats.without_time += number;
                    }
                    let verdict = criterion.line_verdict(&verdicts);
                    stats.reasons.count(verdict, verdicts.reason(), number);
                    if verdict == Verdict::Invalid {
                        stats.count_blank(data, lines);
                    }
                    let is_written = criterion.selects(verdict, &verdicts);
                    run.add(verdict, is_written, lines.ends, &mut stats, &mut runs);
                    if let Some(adder) = adder
                        && verdict == Verdict::Disallowed
                        && is_written
                    {
                        let judged = JudgedRun {
                            lines,
                            urls,
                            verdicts,
                            responses: &[],
                        };
                        adder.write_run(block, &judged, memory, &mut annotated)?;
                    }
                    Ok(())
                },
            )?;
            run.finish(&mut stats, &mut runs);
        }
        BlockKind::Header => {
            if let Some(adder) = adder {
                adder.write_header(block, &mut annotated)?;
            }
        }
        BlockKind::LongLineStart | BlockKind::LongLineRest => {
            // The parts of a long line count once.
            stats.count(
                Verdict::Invalid,
                u64::from(block.kind == BlockKind::LongLineStart),
            );
            runs.push(VerdictRun {
                verdict: Verdict::Invalid,
                is_written: true,
                end: data.len(),
            });
        }
    }
    block.runs = runs;
    block.annotated = annotated;
    block.stats = stats;
    Ok(())
}

/// The output of each verdict.
pub(super) struct VerdictSinks<'w> {
    allowed: LineSink<'w>,
    disallowed: LineSink<'w>,
    unknown: LineSink<'w>,
    invalid: LineSink<'w>,
    /// Whether disallowed lines have added values.
    has_added: bool,
}

impl<'w> VerdictSinks<'w> {
    pub(super) fn new(
        criterion: Criterion,
        outputs: &'w mut Outputs<Output<'_>>,
        has_added: bool,
    ) -> Self {
        let outputs = outputs.each_mut();
        let (allowed, disallowed) = criterion.by_verdict(outputs.kept, outputs.other);
        Self {
            allowed: LineSink::new(allowed.map(Output::writer)),
            disallowed: LineSink::new(disallowed.map(Output::writer)),
            unknown: LineSink::new(outputs.unknown.map(Output::writer)),
            invalid: LineSink::new(outputs.invalid.map(Output::writer)),
            has_added,
        }
    }

    fn all(&mut self) -> [&mut LineSink<'w>; 4] {
        [
            &mut self.allowed,
            &mut self.disallowed,
            &mut self.unknown,
            &mut self.invalid,
        ]
    }

    /// Writes each run of lines to the output of its verdict, and a header to all outputs.
    pub(super) fn write(&mut self, block: &LineBlock) -> Result<()> {
        let added = self.has_added.then_some(block.annotated.as_slice());
        if block.kind == BlockKind::Header {
            self.disallowed
                .write(added.unwrap_or(block.data()), false)?;
            return Ok([&mut self.allowed, &mut self.unknown, &mut self.invalid]
                .into_iter()
                .try_for_each(|sink| sink.write(block.data(), false))?);
        }
        if let Some(lines) = added {
            self.disallowed.write(lines, false)?;
        }
        let mut start = 0;
        for run in &block.runs {
            let sink = match run.verdict {
                Verdict::Allowed => &mut self.allowed,
                Verdict::Disallowed if self.has_added => {
                    start = run.end;
                    continue;
                }
                Verdict::Disallowed => &mut self.disallowed,
                Verdict::Unknown => &mut self.unknown,
                Verdict::Invalid => &mut self.invalid,
            };
            if run.is_written {
                sink.write(
                    &block.data()[start..run.end],
                    block.kind == BlockKind::LongLineRest,
                )?;
            }
            start = run.end;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(self.all().into_iter().try_for_each(LineSink::flush)?)
    }
}
