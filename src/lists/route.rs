//! Filters lists of URLs. A judged block becomes runs of lines with the same destination; each run
//! is one write. If values are added to the disallowed lines, the worker writes these, and they are
//! one write per block.
//!
//! Writing lines in place with `writev` took no less time to a file, and a third more to a pipe.

use crate::container::annotation::{JudgedRun, LineAdder, WriteScratch};
use crate::container::criterion::Criterion;
use crate::container::judged_records::judge_records;
use crate::container::outputs::LineSink;
use crate::container::outputs::{Output, Outputs};
use crate::error::Result;
use crate::judge::Stage;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::pipeline::blocks::{BlockKind, DestinationRun, LineBlock};
use crate::pipeline::{Destination, FilterStats};

/// The run that the last line belongs to.
#[derive(Default)]
struct OpenRun {
    destination: Option<Destination>,
    is_written: bool,
    lines: u64,
    end: usize,
}

impl OpenRun {
    /// Adds lines, given by their ends, to this run, or starts a new one.
    #[inline]
    fn add(
        &mut self,
        destination: Destination,
        is_written: bool,
        ends: &[usize],
        stats: &mut FilterStats,
        runs: &mut Vec<DestinationRun>,
    ) {
        if self.destination != Some(destination) || self.is_written != is_written {
            self.finish(stats, runs);
            *self = Self {
                destination: Some(destination),
                is_written,
                lines: 0,
                end: self.end,
            };
        }
        self.lines += ends.len() as u64;
        self.end = ends.last().copied().unwrap_or(self.end);
    }

    /// Counts the lines of the run and appends it to `runs`.
    fn finish(&self, stats: &mut FilterStats, runs: &mut Vec<DestinationRun>) {
        if let Some(destination) = self.destination {
            stats.count(destination, self.lines);
            runs.push(DestinationRun {
                destination,
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
    let mut stats = block.new_stats();
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
                    let destination = criterion.destination(&verdicts);
                    criterion.count_details(destination, &verdicts, number, &mut stats);
                    if destination == Destination::Invalid {
                        stats.count_blank(data, lines);
                    }
                    let is_written = criterion.selects(destination, &verdicts);
                    run.add(destination, is_written, lines.ends, &mut stats, &mut runs);
                    if let Some(adder) = adder
                        && destination == Destination::Disallowed
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
                Destination::Invalid,
                u64::from(block.kind == BlockKind::LongLineStart),
            );
            runs.push(DestinationRun {
                destination: Destination::Invalid,
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

/// The output of each destination.
pub(super) struct DestinationSinks<'w> {
    /// In the order of [`Destination::ALL`].
    sinks: [LineSink<'w>; Destination::COUNT],
    /// Whether disallowed lines have added values.
    has_added: bool,
}

impl<'w> DestinationSinks<'w> {
    pub(super) fn new(
        criterion: Criterion,
        outputs: &'w mut Outputs<Output<'_>>,
        has_added: bool,
    ) -> Self {
        let outputs = criterion.by_destination(outputs.each_mut());
        Self {
            sinks: outputs.map(|output| LineSink::new(output.map(Output::writer))),
            has_added,
        }
    }

    /// Writes each run of lines to the output of its destination, and a header to all outputs.
    pub(super) fn write(&mut self, block: &LineBlock) -> Result<()> {
        let added = self.has_added.then_some(block.annotated.as_slice());
        if block.kind == BlockKind::Header {
            for destination in Destination::ALL {
                let header = match destination {
                    Destination::Disallowed => added.unwrap_or(block.data()),
                    _ => block.data(),
                };
                self.sinks[destination as usize].write(header, false)?;
            }
            return Ok(());
        }
        if let Some(lines) = added {
            self.sinks[Destination::Disallowed as usize].write(lines, false)?;
        }
        let mut start = 0;
        for run in &block.runs {
            // Disallowed lines with added values are written already.
            let is_done = self.has_added && run.destination == Destination::Disallowed;
            if run.is_written && !is_done {
                self.sinks[run.destination as usize].write(
                    &block.data()[start..run.end],
                    block.kind == BlockKind::LongLineRest,
                )?;
            }
            start = run.end;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(self.sinks.iter_mut().try_for_each(LineSink::flush)?)
    }
}
