//! Judges the lines of a block. A judged block becomes runs of lines with the same verdict; each
//! run is one write.

use crate::error::Result;
use crate::filter::{Keep, Require};
use crate::judge::VerdictsRef;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::rows::LineRun;
use crate::judge::{Stage, Verdict};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{BlockKind, LineBlock, VerdictRun};
use std::io::{self, Write};

/// Decides whether a line counts as allowed when several agents are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Criterion {
    pub keep: Keep,
    pub require: Require,
}

impl Criterion {
    /// A line counts as disallowed if one agent or more may not fetch it.
    pub(crate) const DISALLOWED_FOR_ANY: Self = Self {
        keep: Keep::Disallowed,
        require: Require::Any,
    };

    /// The verdict of a line: the kept one if the required agents have it, else the other.
    #[inline]
    pub(crate) fn line_verdict(self, verdicts: &VerdictsRef<'_>, agents: usize) -> Verdict {
        if let Some(verdict) = verdicts.unjudged() {
            return verdict;
        }
        let allowed = verdicts.allowed_count();
        let is_allowed = match (self.keep, self.require) {
            (Keep::Allowed, Require::All) | (Keep::Disallowed, Require::Any) => allowed == agents,
            (Keep::Allowed, Require::Any) | (Keep::Disallowed, Require::All) => allowed > 0,
        };
        if is_allowed {
            Verdict::Allowed
        } else {
            Verdict::Disallowed
        }
    }

    /// Counts lines with these verdicts, in total and for each agent.
    #[inline]
    pub(crate) fn count(self, verdicts: &VerdictsRef<'_>, lines: u64, stats: &mut FilterStats) {
        stats.count(self.line_verdict(verdicts, verdicts.agents), lines);
        stats.via_other_scheme += u64::from(verdicts.via_other_scheme()) * lines;
        if stats.agent_allowed.len() < verdicts.agents {
            stats.agent_allowed.resize(verdicts.agents, 0);
        }
        verdicts.count_allowed(lines, &mut stats.agent_allowed);
    }

    /// Maps the outputs for kept and other lines to those for allowed and disallowed lines.
    pub(crate) fn by_verdict<T>(self, kept: T, other: T) -> (T, T) {
        match self.keep {
            Keep::Allowed => (kept, other),
            Keep::Disallowed => (other, kept),
        }
    }
}

/// The run that the last line belongs to.
#[derive(Default)]
struct OpenRun {
    verdict: Option<Verdict>,
    lines: u64,
    end: usize,
}

impl OpenRun {
    /// Adds lines, given by their ends, to this run, or starts a new one.
    #[inline]
    fn add(
        &mut self,
        verdict: Verdict,
        ends: &[usize],
        stats: &mut FilterStats,
        runs: &mut Vec<VerdictRun>,
    ) {
        if self.verdict != Some(verdict) {
            self.finish(stats, runs);
            *self = Self {
                verdict: Some(verdict),
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
                end: self.end,
            });
        }
    }
}

/// Judges the lines of a block and groups them into runs.
pub(crate) fn find_runs<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    until: Stage,
    block: &mut LineBlock,
    scratch: &mut Scratch<'s>,
) -> Result<()> {
    let mut runs = std::mem::take(&mut block.runs);
    runs.clear();
    let data = block.data();
    let mut stats = FilterStats {
        bytes: data.len() as u64,
        ..FilterStats::default()
    };
    match block.kind {
        BlockKind::Lines => {
            let agents = judge.agents().len();
            let mut run = OpenRun::default();
            judge_records(judge, block, until, scratch, |lines, _, verdicts| {
                stats.via_other_scheme +=
                    u64::from(verdicts.via_other_scheme()) * lines.ends.len() as u64;
                let verdict = criterion.line_verdict(&verdicts, agents);
                if verdict == Verdict::Invalid {
                    stats.count_blank(data, lines);
                }
                run.add(verdict, lines.ends, &mut stats, &mut runs);
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
                end: data.len(),
            });
        }
    }
    (block.runs, block.stats) = (runs, stats);
    Ok(())
}

/// The URLs of neighbouring records, as lines of a text.
#[derive(Clone, Copy)]
pub(crate) struct RecordUrls<'u> {
    text: &'u [u8],
    lines: LineRun<'u>,
}

impl<'u> RecordUrls<'u> {
    /// Each URL, with its line end.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'u [u8]> {
        self.lines.ranges().map(move |range| &self.text[range])
    }
}

/// Calls `each` in order with neighbouring records of a block that have the same verdicts, their
/// URLs, and those verdicts.
pub(crate) fn judge_records<'s>(
    judge: &Engine<'s>,
    block: &LineBlock,
    until: Stage,
    scratch: &mut Scratch<'s>,
    mut each: impl FnMut(LineRun<'_>, RecordUrls<'_>, VerdictsRef<'_>),
) -> Result<()> {
    let Some(extracted) = block.extracted() else {
        let text = block.data();
        return judge.judge_lines(text, until, scratch, |lines, verdicts| {
            each(lines, RecordUrls { text, lines }, verdicts)
        });
    };
    let (mut start, mut ends) = (0, extracted.ends.as_slice());
    judge.judge_lines(&extracted.urls, until, scratch, |urls, verdicts| {
        let (own, rest) = ends.split_at(urls.ends.len().min(ends.len()));
        each(
            LineRun { start, ends: own },
            RecordUrls {
                text: &extracted.urls,
                lines: urls,
            },
            verdicts,
        );
        (start, ends) = (own.last().copied().unwrap_or(start), rest);
    })
}

/// An output of lines. A last line without a line end gets one if anything follows.
pub(crate) struct LineSink<'w> {
    out: Option<&'w mut (dyn Write + Send)>,
    /// Whether the last line has no line end yet.
    is_open: bool,
}

impl<'w> LineSink<'w> {
    /// A sink; `None` discards.
    pub(crate) fn new(out: Option<&'w mut (dyn Write + Send)>) -> Self {
        Self {
            out,
            is_open: false,
        }
    }

    /// Writes lines. If it `continues`, the text continues the last line written.
    pub(crate) fn write(&mut self, lines: &[u8], continues: bool) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, lines.last()) else {
            return Ok(());
        };
        if self.is_open && !continues {
            out.write_all(b"\n")?;
        }
        self.is_open = *last != b'\n';
        out.write_all(lines)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}
