//! Filters lists of URLs. A judged block becomes runs of lines with the same verdict; each run is
//! one write.

use crate::container::criterion::Criterion;
use crate::container::judged_records::judge_records;
use crate::container::line_sink::LineSink;
use crate::container::outputs::{Output, Outputs};
use crate::error::Result;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, Verdict};
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

/// Judges the lines of a block and groups them into runs.
pub(super) fn find_runs<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    until: Stage,
    block: &mut LineBlock,
    scratch: &mut Scratch<'s>,
) -> Result<()> {
    let mut runs = std::mem::take(&mut block.runs);
    runs.clear();
    let data = block.data();
    let mut stats = FilterStats::of_bytes(data.len() as u64);
    match block.kind {
        BlockKind::Lines => {
            let mut run = OpenRun::default();
            judge_records(judge, block, until, scratch, |lines, _, verdicts| {
                let number = lines.ends.len() as u64;
                stats.via_other_scheme += u64::from(verdicts.via_other_scheme()) * number;
                let verdict = criterion.line_verdict(&verdicts);
                stats.reasons.count(verdict, verdicts.reason(), number);
                if verdict == Verdict::Invalid {
                    stats.count_blank(data, lines);
                }
                let is_written = criterion.selects(verdict, &verdicts);
                run.add(verdict, is_written, lines.ends, &mut stats, &mut runs);
            })?;
            run.finish(&mut stats, &mut runs);
        }
        BlockKind::Header => {}
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
    block.stats = stats;
    Ok(())
}

/// The output of each verdict.
pub(super) struct VerdictSinks<'w> {
    allowed: LineSink<'w>,
    disallowed: LineSink<'w>,
    unknown: LineSink<'w>,
    invalid: LineSink<'w>,
}

impl<'w> VerdictSinks<'w> {
    pub(super) fn new(criterion: Criterion, outputs: &'w mut Outputs<Output<'_>>) -> Self {
        let outputs = outputs.each_mut();
        let (allowed, disallowed) = criterion.by_verdict(outputs.kept, outputs.other);
        Self {
            allowed: LineSink::new(allowed.map(Output::writer)),
            disallowed: LineSink::new(disallowed.map(Output::writer)),
            unknown: LineSink::new(outputs.unknown.map(Output::writer)),
            invalid: LineSink::new(outputs.invalid.map(Output::writer)),
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
        if block.kind == BlockKind::Header {
            return Ok(self
                .all()
                .into_iter()
                .try_for_each(|sink| sink.write(block.data(), false))?);
        }
        let mut start = 0;
        for run in &block.runs {
            let sink = match run.verdict {
                Verdict::Allowed => &mut self.allowed,
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
