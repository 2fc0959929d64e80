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
use super::judge::{Judge, Scratch};
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::records::without_end;
use crate::simd;
use crate::snapshot::format::{NONE, hash_key};
use crate::snapshot::index::Glance;
use crate::url;
use std::hint::black_box;
use std::ops::Range;

/// Lines in a batch: enough to keep the memory busy, few enough that what was fetched for the first is still there for the last.
const BATCH: usize = 64;

/// Neighbouring lines of a batch with the same plain origin, or one line that is odd. Plain numbers: moved as slices and enums it would be
/// put together from its parts at every step.
#[derive(Clone, Copy)]
struct Stretch {
    /// Where it begins in the block.
    start: u32,
    /// The number of its first line in the batch.
    first: u32,
    /// The length of the origin; 0 for an odd line, to be split when it is judged.
    origin: u32,
    /// The origin's hash.
    hash: u64,
    /// What the index tells of it.
    glance: Glance,
}

/// Neighbouring lines of a block with the same verdicts.
#[derive(Clone, Copy)]
pub(super) struct Lines<'l> {
    /// Where the first begins in the block.
    pub start: usize,
    /// Where each ends, line end included.
    pub ends: &'l [usize],
}

impl Lines<'_> {
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
    fn run(mut self) -> Result<()> {
        self.judge.own(self.scratch);
        let mut ends = std::mem::take(&mut self.scratch.line_ends);
        ends.clear();
        simd::line_ends(self.data, 1, &mut ends);
        if self.data.last().is_some_and(|&b| b != b'\n') {
            ends.push(self.data.len());
        }
        let mut stretches = Vec::with_capacity(BATCH);
        let mut start = 0;
        for ends in ends.chunks(BATCH) {
            self.batch(Lines { start, ends }, &mut stretches)?;
            start = ends.last().copied().unwrap_or(start);
        }
        self.scratch.line_ends = ends;
        Ok(())
    }
}

impl<'s, D: AsRef<[u8]>, F: FnMut(Lines<'_>, Verdicts<'_>)> Work<'_, 's, D, F> {
    #[inline(always)]
    fn batch(&mut self, lines: Lines<'_>, stretches: &mut Vec<Stretch>) -> Result<()> {
        self.split(lines, stretches);
        if self.until == Stage::Split {
            black_box(&stretches);
            return Ok(());
        }
        self.touch(stretches);
        let ends = stretches.iter().skip(1).map(|next| next.first as usize).chain([lines.ends.len()]);
        for (stretch, end) in stretches.iter().zip(ends) {
            let ends = lines.ends.get(stretch.first as usize..end).unwrap_or_default();
            self.judge(stretch, Lines { start: stretch.start as usize, ends })?;
        }
        Ok(())
    }

    /// Cuts the lines of a batch into stretches of one origin.
    #[inline(always)]
    fn split(&self, lines: Lines<'_>, stretches: &mut Vec<Stretch>) {
        stretches.clear();
        let mut last = Last::default();
        for (line, number) in lines.ranges().zip(0..) {
            let (start, text) = (line.start as u32, &self.data[line.start..]);
            let url = without_end(&self.data[line]);
            // A blank at the end would have to be cut off.
            let ends_well = url.last().is_some_and(|&b| b > b' ');
            if ends_well && last.is_of(url, text) {
                continue;
            }
            let len = url::plain_origin(url, text).filter(|_| ends_well).unwrap_or_default();
            last = Last::new(text, len);
            let hash = hash_key(last.origin);
            self.judge.view.prefetch(hash);
            // No block comes near 4 GiB.
            stretches.push(Stretch { start, first: number, origin: len as u32, hash, glance: Glance::NOT_TAKEN });
        }
    }

    /// Looks new origins of a batch up, and loads what they will need, step by step, for all of them side by side. What is loaded behind the
    /// index are guesses that nothing depends on.
    #[inline(always)]
    fn touch(&self, stretches: &mut [Stretch]) {
        let (view, states) = (self.judge.view, &self.scratch.states);
        let mut places = [NONE; BATCH];
        let mut count = 0;
        for stretch in stretches.iter_mut().filter(|stretch| stretch.origin > 0 && !states.seems_known(stretch.hash)) {
            stretch.glance = view.glance(stretch.hash);
            // Written in any case, and counted if there is one: no branch waits for the index.
            if let Some(free) = places.get_mut(count) {
                *free = stretch.glance.place;
            }
            count += usize::from(stretch.glance.place != NONE);
        }
        let places = &mut places[..count];
        places.iter_mut().for_each(|place| *place = view.likely_file(*place));
        places.iter_mut().for_each(|place| *place = view.likely_rules(*place));
        places.iter().for_each(|place| {
            black_box(view.likely_head(*place));
        });
    }

    #[inline(always)]
    fn judge(&mut self, stretch: &Stretch, lines: Lines<'_>) -> Result<()> {
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
        if let Some(verdicts) = judge.verdicts_of_all(self.scratch.states.current()) {
            (self.each)(lines, verdicts);
            return Ok(());
        }
        for line in lines.ranges() {
            let rest = line.start + len;
            let path_len = (line.start + without_end(&data[line.clone()]).len()).saturating_sub(rest);
            let verdicts = judge.judge_rest(&data[rest..], path_len, self.scratch)?;
            (self.each)(Lines { start: line.start, ends: &[line.end] }, verdicts);
        }
        Ok(())
    }

    fn judge_odd(&mut self, lines: Lines<'_>) -> Result<()> {
        if self.until == Stage::Match {
            for line in lines.ranges() {
                let verdicts = self.judge.judge(without_end(&self.data[line]), self.scratch)?;
                (self.each)(lines, verdicts);
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
        simd::run(Work { judge: self, data, until, scratch, each })
    }
}

/// The origin of the line before.
#[derive(Clone, Copy, Default)]
struct Last<'b> {
    /// Empty if the line was odd.
    origin: &'b [u8],
    /// The text that begins with it, if there is so much.
    window: Option<&'b [u8; 32]>,
}

impl<'b> Last<'b> {
    #[inline(always)]
    fn new(text: &'b [u8], len: usize) -> Self {
        Self { origin: &text[..len], window: text.first_chunk() }
    }

    /// Whether a URL, which `text` begins with, is of this origin and has a path.
    #[inline(always)]
    fn is_of(self, url: &[u8], text: &[u8]) -> bool {
        let len = self.origin.len();
        if len == 0 || url.get(len) != Some(&b'/') {
            return false;
        }
        match (self.window, text.first_chunk()) {
            (Some(window), Some(start)) if len <= start.len() => simd::equal_start(window, start) >= len,
            _ => url.starts_with(self.origin),
        }
    }
}
