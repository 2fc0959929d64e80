//! The lines of a block, judged a batch at a time.
//!
//! On a list in no order nearly every line is of another origin than the one before, and finding it costs a cache miss at each
//! step: bucket, entry, robots.txt, rules. Taken line by line the processor waits for each of them in turn. So a batch of lines is
//! cut into stretches of one origin first; then each step is done for all new origins of the batch, where the misses run side by
//! side; and when the lines are judged, what they need is there. On a sorted list a stretch is a whole batch, and hardly anything is
//! done twice.
//!
//! All of it is compiled into one function for the machine's vector instructions, hence `inline(always)`: called, the short vector
//! functions took a tenth of the time.

use super::Stage;
use super::ends::{BATCH, LineEnds};
use super::judge::{Judge, Scratch};
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::records::without_end;
use crate::simd::{self, Machine};
use crate::snapshot::format::{NONE, hash_key};
use crate::snapshot::index::Glance;
use crate::url::{self, PlainOrigin};
use std::hint::black_box;
use std::ops::Range;

/// Neighbouring lines of a batch with the same plain origin, or ones that are odd. Plain numbers: moved as slices and enums it would be
/// put together from its parts at every step.
#[derive(Clone, Copy)]
struct Stretch {
    /// The number of its first line in the batch.
    first: u32,
    /// The length of the origin; 0 for odd lines, to be split when they are judged.
    origin: u32,
    /// The origin's hash.
    hash: u64,
    /// What the index tells of it.
    glance: Glance,
}

/// The stretches of a batch, and one behind them that begins where the batch ends.
struct Stretches {
    all: [Stretch; BATCH + 1],
    len: usize,
}

impl Stretches {
    fn new() -> Self {
        let none = Stretch { first: 0, origin: 0, hash: 0, glance: Glance::NOT_TAKEN };
        Self { all: [none; BATCH + 1], len: 0 }
    }

    #[inline(always)]
    fn push(&mut self, stretch: Stretch) {
        if let Some(free) = self.all.get_mut(self.len) {
            *free = stretch;
            self.len += 1;
        }
    }

    /// Each with the one behind it.
    #[inline(always)]
    fn pairs(&self) -> impl Iterator<Item = (&Stretch, &Stretch)> {
        let pairs = self.all.get(..=self.len).unwrap_or_default().windows(2);
        pairs.map(|pair| (&pair[0], &pair[1]))
    }

    #[inline(always)]
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stretch> {
        self.all.get_mut(..self.len).unwrap_or_default().iter_mut()
    }
}

/// Neighbouring lines of a block with the same verdicts.
#[derive(Clone, Copy)]
pub(super) struct Lines<'l> {
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
    pub(super) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        let mut start = self.start;
        self.ends.iter().map(move |&end| std::mem::replace(&mut start, end)..end)
    }
}

/// The lines of a block to be judged.
struct Work<'w, 's, D, F> {
    judge: &'w Judge<'s, D>,
    data: &'w [u8],
    until: Stage,
    scratch: &'w mut Scratch<'s>,
    each: F,
}

impl<'s, D: AsRef<[u8]>, F: FnMut(Lines<'_>, Verdicts<'_>)> simd::Work for Work<'_, 's, D, F> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self, machine: impl Machine) -> Result<()> {
        self.judge.own(self.scratch);
        let mut line_ends = LineEnds::new(self.data);
        let mut ends = [0; BATCH];
        let mut stretches = Stretches::new();
        let mut start = 0;
        loop {
            let (count, odd) = line_ends.next(&mut ends, machine);
            let Some((lines, end)) = ends.get(..count).and_then(|ends| Some((Lines { start, ends }, *ends.last()?)))
            else {
                return Ok(());
            };
            self.batch(lines, odd, &mut stretches, machine)?;
            start = end;
        }
    }
}

impl<'s, D: AsRef<[u8]>, F: FnMut(Lines<'_>, Verdicts<'_>)> Work<'_, 's, D, F> {
    /// Judges the lines of a batch; `odd` has a bit for each that may not be plain.
    #[inline(always)]
    fn batch(&mut self, lines: Lines<'_>, odd: u64, stretches: &mut Stretches, machine: impl Machine) -> Result<()> {
        self.split(lines, stretches, machine);
        if self.until == Stage::Split {
            black_box(&stretches.all);
            return Ok(());
        }
        self.touch(stretches);
        let mut rest = lines;
        for (stretch, next) in stretches.pairs() {
            // Unknown origins need no look at what is known of them, and are given out together.
            if stretch.glance == Glance::ABSENT && !self.judge.options.any_scheme {
                continue;
            }
            let (unknown, behind) = rest.split_at(stretch.first as usize + rest.ends.len() - lines.ends.len());
            self.put_unknown(unknown);
            let (lines, behind) = behind.split_at((next.first - stretch.first) as usize);
            self.judge(stretch, lines, odd.unbounded_shr(stretch.first), machine)?;
            rest = behind;
        }
        self.put_unknown(rest);
        Ok(())
    }

    /// Cuts the lines of a batch into stretches of one origin.
    #[inline(always)]
    fn split(&self, lines: Lines<'_>, stretches: &mut Stretches, machine: impl Machine) {
        stretches.len = 0;
        let mut last = Last::NONE;
        let mut start = lines.start;
        for (end, number) in lines.ends.iter().zip(0..) {
            let text = &self.data[start..];
            if !last.begins(text, machine) {
                let origin = url::plain_origin(text, machine);
                last = Last::new(text, origin);
                let len = origin.map_or(0, |origin| origin.len);
                let hash = hash_key(&text[..len]);
                self.judge.view.prefetch(hash);
                stretches.push(Stretch { first: number, origin: len as u32, hash, glance: Glance::NOT_TAKEN });
            }
            start = *end;
        }
        if let Some(behind) = stretches.all.get_mut(stretches.len) {
            behind.first = lines.ends.len() as u32;
        }
    }

    /// Looks the origins of a batch up, and loads what new ones will need, step by step, for all of them side by side. What is loaded behind the
    /// index are guesses that nothing depends on.
    #[inline(always)]
    fn touch(&self, stretches: &mut Stretches) {
        let (view, states) = (self.judge.view, &self.scratch.states);
        let mut places = [NONE; BATCH];
        let mut count = 0;
        for stretch in stretches.iter_mut().filter(|stretch| stretch.origin > 0) {
            stretch.glance = view.glance(stretch.hash);
            // Written in any case, and counted if there is one: no branch waits for the index.
            if let Some(free) = places.get_mut(count) {
                *free = stretch.glance.place;
            }
            count += usize::from((stretch.glance.place != NONE) & !states.seems_known(stretch.hash));
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
    fn put_unknown(&mut self, lines: Lines<'_>) {
        if !lines.ends.is_empty() && self.until == Stage::Match {
            (self.each)(lines, self.judge.verdicts_on_unknown());
        }
    }

    /// Judges the lines of a stretch; `odd` has a bit for each that may not be plain.
    #[inline(always)]
    fn judge(&mut self, stretch: &Stretch, lines: Lines<'_>, odd: u64, machine: impl Machine) -> Result<()> {
        let (judge, data) = (self.judge, self.data);
        let len = stretch.origin as usize;
        if len == 0 {
            return self.judge_odd(lines);
        }
        let origin = (&data[lines.start..lines.start + len], stretch.hash);
        judge.enter(origin, stretch.glance, &mut self.scratch.states, &mut self.scratch.other_key)?;
        if self.until == Stage::Locate {
            return Ok(());
        }
        if let Some(verdicts) = self.scratch.states.current().verdicts_of_all() {
            (self.each)(lines, verdicts);
            return Ok(());
        }
        for (number, line) in (0..).zip(lines.ranges()) {
            let path = match data.get(line.start + len..line.end) {
                Some([path @ .., b'\r', _] | [path @ .., _]) => path,
                _ => &[],
            };
            if path.is_empty() || odd.unbounded_shr(number) & 1 == 1 {
                self.judge_odd_line(line, len, machine)?;
                continue;
            }
            let (origin, matching) = (self.scratch.states.current(), &mut self.scratch.matching);
            let verdicts = judge.judge_path(path, origin, matching, machine)?;
            (self.each)(Lines { start: line.start, ends: &[line.end] }, verdicts);
        }
        Ok(())
    }

    /// Judges a line of the origin entered last, which has so many bytes; it may not be plain, or may have no path.
    #[inline(never)]
    fn judge_odd_line(&mut self, line: Range<usize>, origin: usize, machine: impl Machine) -> Result<()> {
        let (start, end) = (line.start, line.end);
        let url = without_end(&self.data[line]);
        let verdicts = if matches!(url.last(), Some(..=b' ')) {
            // A blank at the end has to be cut off.
            self.judge.judge(url, self.scratch)?
        } else {
            let Scratch { states, matching, .. } = self.scratch;
            let rest = url.get(origin..).unwrap_or_default();
            self.judge.judge_rest(rest, states.current(), matching, machine)?
        };
        (self.each)(Lines { start, ends: &[end] }, verdicts);
        Ok(())
    }

    fn judge_odd(&mut self, lines: Lines<'_>) -> Result<()> {
        if self.until == Stage::Match {
            for line in lines.ranges() {
                let (start, end) = (line.start, line.end);
                let verdicts = self.judge.judge(without_end(&self.data[line]), self.scratch)?;
                (self.each)(Lines { start, ends: &[end] }, verdicts);
            }
        }
        Ok(())
    }
}

impl<'s, D: AsRef<[u8]>> Judge<'s, D> {
    /// Calls `each` with the lines of `data` and their verdicts, in order; with an earlier stage than `Match` the work ends there, and nothing
    /// is called.
    pub(super) fn judge_lines(
        &self,
        data: &[u8],
        until: Stage,
        scratch: &mut Scratch<'s>,
        each: impl FnMut(Lines<'_>, Verdicts<'_>),
    ) -> Result<()> {
        self.machine.run(Work { judge: self, data, until, scratch, each })
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
    fn begins(self, text: &[u8], machine: impl Machine) -> bool {
        let Some(window) = text.first_chunk() else { return false };
        let is_equal = !machine.equal_bytes(window, self.window) & self.wanted == 0;
        // With no origin at all the window of `NONE` may be equal.
        let is_short = (1..window.len()).contains(&self.origin.len());
        is_equal && (is_short || self.begins_long(text))
    }

    #[inline(never)]
    fn begins_long(self, text: &[u8]) -> bool {
        text.starts_with(self.origin) && text.get(self.origin.len()) == Some(&b'/')
    }
}
