//! The lines of a block, judged a batch at a time.
//!
//! On a list in no order nearly every line is of another origin than the one before, and finding it costs a cache miss at each
//! step: bucket, entry, robots.txt, rules. Taken line by line the processor waits for each of them in turn. So a batch of lines is
//! cut into runs of one origin first; then each step is done for all new origins of the batch, where the misses run side by
//! side; and when the lines are judged, what they need is there. On a sorted list a run is a whole batch, and hardly anything is
//! done twice.
//!
//! All of it is compiled into one function for the machine's vector instructions, hence `inline(always)`: called, the short vector
//! functions took a tenth of the time.

use super::engine::{Engine, Scratch};
use super::line_scanner::{BATCH, LineScanner};
use super::line_verdicts::LineVerdicts;
use super::options::Stage;
use crate::error::Result;
use crate::records::without_end;
use crate::simd::{Backend, Kernel};
use crate::snapshot::format::{NONE, hash_key};
use crate::snapshot::index::Probe;
use crate::url::{self, PlainOrigin};
use std::hint::black_box;
use std::ops::Range;

/// Neighbouring lines of a batch with the same plain origin, or ones that are odd. Plain numbers: moved as slices and enums it would be
/// put together from its parts at every step.
#[derive(Clone, Copy)]
struct OriginRun {
    /// The number of its first line in the batch.
    first: u32,
    /// The length of the origin; 0 for odd lines, to be split when they are judged.
    origin: u32,
    /// The origin's hash.
    hash: u64,
    /// What the index tells of it.
    probe: Probe,
}

/// The runs of a batch, and one behind them that begins where the batch ends.
struct OriginRuns {
    all: [OriginRun; BATCH + 1],
    len: usize,
}

impl OriginRuns {
    fn new() -> Self {
        let none = OriginRun { first: 0, origin: 0, hash: 0, probe: Probe::NOT_TAKEN };
        Self { all: [none; BATCH + 1], len: 0 }
    }

    #[inline(always)]
    fn push(&mut self, run: OriginRun) {
        if let Some(free) = self.all.get_mut(self.len) {
            *free = run;
            self.len += 1;
        }
    }

    /// Each with the one behind it.
    #[inline(always)]
    fn pairs(&self) -> impl Iterator<Item = (&OriginRun, &OriginRun)> {
        let pairs = self.all.get(..=self.len).unwrap_or_default().windows(2);
        pairs.map(|pair| (&pair[0], &pair[1]))
    }

    #[inline(always)]
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut OriginRun> {
        self.all.get_mut(..self.len).unwrap_or_default().iter_mut()
    }
}

/// Neighbouring lines of a block with the same verdicts.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'l> {
    /// Where the first begins in the block.
    pub start: usize,
    /// Where each ends, line end included.
    pub ends: &'l [usize],
}

impl<'l> Lines<'l> {
    /// The first so many lines, and the others.
    #[inline(always)]
    fn split_at(self, count: usize) -> (Self, Self) {
        let (first, others) = self.ends.split_at(count.min(self.ends.len()));
        let start = first.last().copied().unwrap_or(self.start);
        (Self { start: self.start, ends: first }, Self { start, ends: others })
    }

    /// Each line's range in the block.
    #[inline(always)]
    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        let mut start = self.start;
        self.ends.iter().map(move |&end| std::mem::replace(&mut start, end)..end)
    }
}

/// The lines of a block to be judged.
struct JudgeLines<'w, 's, F> {
    engine: &'w Engine<'s>,
    data: &'w [u8],
    until: Stage,
    scratch: &'w mut Scratch<'s>,
    each: F,
}

impl<F: FnMut(Lines<'_>, LineVerdicts<'_>)> Kernel for JudgeLines<'_, '_, F> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self, backend: impl Backend) -> Result<()> {
        self.engine.claim(self.scratch);
        let mut scanner = LineScanner::new(self.data);
        let mut ends = [0; BATCH];
        let mut runs = OriginRuns::new();
        let mut start = 0;
        loop {
            let (count, odd) = scanner.next(&mut ends, backend);
            let Some((lines, end)) = ends.get(..count).and_then(|ends| Some((Lines { start, ends }, *ends.last()?)))
            else {
                return Ok(());
            };
            self.batch(lines, odd, &mut runs, backend)?;
            start = end;
        }
    }
}

impl<F: FnMut(Lines<'_>, LineVerdicts<'_>)> JudgeLines<'_, '_, F> {
    /// Judges the lines of a batch; `odd` has a bit for each that may not be plain.
    #[inline(always)]
    fn batch(&mut self, lines: Lines<'_>, odd: u64, runs: &mut OriginRuns, backend: impl Backend) -> Result<()> {
        self.split(lines, runs, backend);
        if self.until == Stage::Split {
            black_box(&runs.all);
            return Ok(());
        }
        self.prefetch(runs);
        let mut rest = lines;
        for (run, next) in runs.pairs() {
            // Unknown origins need no look at what is known of them, and are given out together.
            if run.probe == Probe::ABSENT && !self.engine.options.any_scheme {
                continue;
            }
            let (unknown, behind) = rest.split_at(run.first as usize + rest.ends.len() - lines.ends.len());
            self.emit_unknown(unknown);
            let (lines, behind) = behind.split_at((next.first - run.first) as usize);
            self.judge_run(run, lines, odd.unbounded_shr(run.first), backend)?;
            rest = behind;
        }
        self.emit_unknown(rest);
        Ok(())
    }

    /// Cuts the lines of a batch into runs of one origin.
    #[inline(always)]
    fn split(&self, lines: Lines<'_>, runs: &mut OriginRuns, backend: impl Backend) {
        runs.len = 0;
        let mut last = Last::NONE;
        let mut start = lines.start;
        for (end, number) in lines.ends.iter().zip(0..) {
            let text = &self.data[start..];
            if !last.begins(text, backend) {
                let origin = url::plain_origin(text, backend);
                last = Last::new(text, origin);
                let len = origin.map_or(0, |origin| origin.len);
                let hash = hash_key(&text[..len]);
                self.engine.view.prefetch(hash);
                runs.push(OriginRun { first: number, origin: len as u32, hash, probe: Probe::NOT_TAKEN });
            }
            start = *end;
        }
        if let Some(behind) = runs.all.get_mut(runs.len) {
            behind.first = lines.ends.len() as u32;
        }
    }

    /// Looks the origins of a batch up, and loads what new ones will need, step by step, for all of them side by side. What is loaded behind the
    /// index are guesses that nothing depends on.
    #[inline(always)]
    fn prefetch(&self, runs: &mut OriginRuns) {
        let (view, origins) = (self.engine.view, &self.scratch.origins);
        let mut places = [NONE; BATCH];
        let mut count = 0;
        for run in runs.iter_mut().filter(|run| run.origin > 0) {
            run.probe = view.probe(run.hash);
            // Written in any case, and counted if there is one: no branch waits for the index.
            if let Some(free) = places.get_mut(count) {
                *free = run.probe.place;
            }
            count += usize::from((run.probe.place != NONE) & !origins.may_contain(run.hash));
        }
        let places = &mut places[..count];
        places.iter_mut().for_each(|place| *place = view.likely_file(*place));
        places.iter_mut().for_each(|place| *place = view.likely_rules(*place));
        places.iter().for_each(|place| {
            black_box(view.likely_head(*place));
        });
    }

    /// Gives out lines of origins that the snapshot does not hold.
    #[inline(always)]
    fn emit_unknown(&mut self, lines: Lines<'_>) {
        if !lines.ends.is_empty() && self.until == Stage::Match {
            (self.each)(lines, self.engine.verdicts_on_unknown());
        }
    }

    /// Judges the lines of a run; `odd` has a bit for each that may not be plain.
    #[inline(always)]
    fn judge_run(&mut self, run: &OriginRun, lines: Lines<'_>, odd: u64, backend: impl Backend) -> Result<()> {
        let (engine, data) = (self.engine, self.data);
        let len = run.origin as usize;
        if len == 0 {
            return self.judge_odd(lines);
        }
        let key = &data[lines.start..lines.start + len];
        let Scratch { origins, other_key, .. } = &mut *self.scratch;
        engine.enter(key, run.hash, run.probe, origins, other_key)?;
        if self.until == Stage::Locate {
            return Ok(());
        }
        if let Some(verdicts) = self.scratch.origins.current().verdicts_of_all() {
            (self.each)(lines, verdicts);
            return Ok(());
        }
        for (number, line) in (0..).zip(lines.ranges()) {
            let path = match data.get(line.start + len..line.end) {
                Some([path @ .., b'\r', _] | [path @ .., _]) => path,
                _ => &[],
            };
            if path.is_empty() || odd.unbounded_shr(number) & 1 == 1 {
                self.judge_odd_line(line, len, backend)?;
                continue;
            }
            let (origin, matching) = (self.scratch.origins.current(), &mut self.scratch.matching);
            let verdicts = engine.judge_path(path, origin, matching, backend)?;
            (self.each)(Lines { start: line.start, ends: &[line.end] }, verdicts);
        }
        Ok(())
    }

    /// Judges a line of the origin entered last, which has so many bytes; it may not be plain, or may have no path.
    #[inline(never)]
    fn judge_odd_line(&mut self, line: Range<usize>, origin: usize, backend: impl Backend) -> Result<()> {
        let (start, end) = (line.start, line.end);
        let url = without_end(&self.data[line]);
        let verdicts = if matches!(url.last(), Some(..=b' ')) {
            // A blank at the end has to be cut off.
            self.engine.judge(url, self.scratch)?
        } else {
            let Scratch { origins, matching, .. } = self.scratch;
            let rest = url.get(origin..).unwrap_or_default();
            self.engine.judge_rest(rest, origins.current(), matching, backend)?
        };
        (self.each)(Lines { start, ends: &[end] }, verdicts);
        Ok(())
    }

    fn judge_odd(&mut self, lines: Lines<'_>) -> Result<()> {
        if self.until == Stage::Match {
            for line in lines.ranges() {
                let (start, end) = (line.start, line.end);
                let verdicts = self.engine.judge(without_end(&self.data[line]), self.scratch)?;
                (self.each)(Lines { start, ends: &[end] }, verdicts);
            }
        }
        Ok(())
    }
}

impl<'s> Engine<'s> {
    /// Calls `each` with the lines of `data` and their verdicts, in order; with an earlier stage than `Match` the work ends there, and nothing
    /// is called.
    pub(crate) fn judge_lines(
        &self,
        data: &[u8],
        until: Stage,
        scratch: &mut Scratch<'s>,
        each: impl FnMut(Lines<'_>, LineVerdicts<'_>),
    ) -> Result<()> {
        self.backend.run(JudgeLines { engine: self, data, until, scratch, each })
    }
}

/// The origin of the line before, if it is plain and a path follows it.
#[derive(Clone, Copy)]
struct Last<'b> {
    origin: &'b [u8],
    /// The text that begins with it.
    window: &'b [u8; 32],
    /// The bytes of that up to the `/` behind the origin, one bit each.
    wanted: u32,
}

impl<'b> Last<'b> {
    /// No line begins like this, or one that is odd itself.
    const NONE: Self = Self { origin: &[], window: &[0; 32], wanted: u32::MAX };

    #[inline(always)]
    fn new(text: &'b [u8], origin: Option<PlainOrigin>) -> Self {
        match (text.first_chunk(), origin) {
            (Some(window), Some(PlainOrigin { len, has_path: true })) => {
                let wanted = 2u32.unbounded_shl(len as u32).wrapping_sub(1);
                Self { origin: &text[..len], window, wanted }
            }
            _ => Self::NONE,
        }
    }

    /// Whether `text` begins with this origin and a path.
    #[inline(always)]
    fn begins(self, text: &[u8], backend: impl Backend) -> bool {
        let Some(window) = text.first_chunk() else { return false };
        let is_equal = !backend.equal_bytes(window, self.window) & self.wanted == 0;
        // With no origin at all the window of `NONE` may be equal.
        let is_short = (1..window.len()).contains(&self.origin.len());
        is_equal && (is_short || self.begins_long(text))
    }

    #[inline(never)]
    fn begins_long(self, text: &[u8]) -> bool {
        text.starts_with(self.origin) && text.get(self.origin.len()) == Some(&b'/')
    }
}
