//! What a worker makes of a block to be filtered, and how it is written: runs of lines, routed whole.

use crate::error::Result;
use crate::filter::{Keep, Require};
use crate::judge::LineVerdicts;
use crate::judge::batch::LineRun;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, Verdict};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{Block, Part, Run};
use std::io::{self, Write};

/// Which lines count as allowed, where there are several agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Criterion {
    pub keep: Keep,
    pub require: Require,
}

impl Criterion {
    /// A line counts as disallowed if it is refused to one agent or more.
    pub(crate) const REFUSED_TO_ANY: Self = Self { keep: Keep::Disallowed, require: Require::Any };

    /// One verdict for the line: the kept one if the required agents have it, else the other.
    #[inline]
    pub(crate) fn line_verdict(self, verdicts: &LineVerdicts<'_>, agents: usize) -> Verdict {
        if let Some(verdict) = verdicts.unjudged() {
            return verdict;
        }
        let allowed = verdicts.allowed_count();
        let is_allowed = match (self.keep, self.require) {
            (Keep::Allowed, Require::All) | (Keep::Disallowed, Require::Any) => allowed == agents,
            (Keep::Allowed, Require::Any) | (Keep::Disallowed, Require::All) => allowed > 0,
        };
        if is_allowed { Verdict::Allowed } else { Verdict::Disallowed }
    }

    /// Counts so many lines with these verdicts, for each agent too.
    #[inline]
    pub(crate) fn count(self, verdicts: &LineVerdicts<'_>, lines: u64, stats: &mut FilterStats) {
        stats.count(self.line_verdict(verdicts, verdicts.agents), lines);
        stats.via_other_scheme += u64::from(verdicts.via_other_scheme()) * lines;
        if stats.agent_allowed.len() < verdicts.agents {
            stats.agent_allowed.resize(verdicts.agents, 0);
        }
        verdicts.count_allowed(lines, &mut stats.agent_allowed);
    }

    /// Of the places for kept and for other lines, that for allowed and that for disallowed ones.
    pub(crate) fn by_verdict<T>(self, kept: T, other: T) -> (T, T) {
        match self.keep {
            Keep::Allowed => (kept, other),
            Keep::Disallowed => (other, kept),
        }
    }
}

/// The run that the line before belongs to.
#[derive(Default)]
struct OpenRun {
    verdict: Option<Verdict>,
    lines: u64,
    end: usize,
}

impl OpenRun {
    /// Takes lines, given by where they end: to this run, or to a new one.
    #[inline]
    fn take(&mut self, verdict: Verdict, lines: &[usize], stats: &mut FilterStats, runs: &mut Vec<Run>) {
        if self.verdict != Some(verdict) {
            self.end_it(stats, runs);
            *self = Self { verdict: Some(verdict), lines: 0, end: self.end };
        }
        self.lines += lines.len() as u64;
        self.end = lines.last().copied().unwrap_or(self.end);
    }

    /// Counts the run's lines and adds it to those that have ended.
    fn end_it(&self, stats: &mut FilterStats, runs: &mut Vec<Run>) {
        if let Some(verdict) = self.verdict {
            stats.count(verdict, self.lines);
            runs.push((verdict, self.end));
        }
    }
}

/// Judges a block's lines and gathers them into runs.
pub(crate) fn runs<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    until: Stage,
    block: &mut Block,
    scratch: &mut Scratch<'s>,
    stats: &mut FilterStats,
) -> Result<()> {
    let mut runs = std::mem::take(&mut block.runs);
    runs.clear();
    let data = block.data();
    stats.bytes += data.len() as u64;
    if block.part == Part::Lines {
        let agents = judge.agents().len();
        let mut run = OpenRun::default();
        judge_records(judge, block, until, scratch, |lines, _, verdicts| {
            stats.via_other_scheme += u64::from(verdicts.via_other_scheme()) * lines.ends.len() as u64;
            let verdict = criterion.line_verdict(&verdicts, agents);
            if verdict == Verdict::Invalid {
                stats.count_blank(data, lines);
            }
            run.take(verdict, lines.ends, stats, &mut runs);
        })?;
        run.end_it(stats, &mut runs);
    } else if block.part != Part::Header {
        if block.part == Part::LongStart {
            stats.count(Verdict::Invalid, 1);
        }
        runs.push((Verdict::Invalid, data.len()));
    }
    block.runs = runs;
    Ok(())
}

/// The URLs of some records.
#[derive(Clone, Copy)]
pub(crate) struct Urls<'u> {
    text: &'u [u8],
    lines: LineRun<'u>,
}

impl<'u> Urls<'u> {
    /// Each of them, with its line end.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'u [u8]> {
        self.lines.ranges().map(move |range| &self.text[range])
    }
}

/// Calls `each` with the records of a block, their URLs and their verdicts, in order.
pub(crate) fn judge_records<'s>(
    judge: &Engine<'s>,
    block: &Block,
    until: Stage,
    scratch: &mut Scratch<'s>,
    mut each: impl FnMut(LineRun<'_>, Urls<'_>, LineVerdicts<'_>),
) -> Result<()> {
    let Some(extracted) = block.extracted() else {
        let text = block.data();
        return judge.judge_lines(text, until, scratch, |lines, verdicts| each(lines, Urls { text, lines }, verdicts));
    };
    let (mut start, mut ends) = (0, extracted.ends.as_slice());
    judge.judge_lines(&extracted.urls, until, scratch, |urls, verdicts| {
        let (own, rest) = ends.split_at(urls.ends.len().min(ends.len()));
        each(LineRun { start, ends: own }, Urls { text: &extracted.urls, lines: urls }, verdicts);
        (start, ends) = (own.last().copied().unwrap_or(start), rest);
    })
}

/// An output that lines go to. A last line without a line end is given one if anything follows it.
pub(crate) struct LineSink<'w> {
    out: Option<&'w mut (dyn Write + Send)>,
    open: bool,
}

impl<'w> LineSink<'w> {
    /// A sink; `None` throws away.
    pub(crate) fn new(out: Option<&'w mut (dyn Write + Send)>) -> Self {
        Self { out, open: false }
    }

    /// Writes lines; `continues` says that they go on a line written before.
    pub(crate) fn put(&mut self, lines: &[u8], continues: bool) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, lines.last()) else { return Ok(()) };
        if self.open && !continues {
            out.write_all(b"\n")?;
        }
        self.open = *last != b'\n';
        out.write_all(lines)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}
