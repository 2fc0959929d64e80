//! The lines of a block, judged a batch at a time.
//!
//! On a list in no order nearly every line is of another origin than the one before, and finding it costs a cache miss at each
//! step: slot, entry, robots.txt, rules. Taken line by line the processor waits for each of them in turn. So a batch of lines is
//! split first; then each step is done for all new origins of the batch, where the misses run side by side; and when the lines are
//! judged, what they need is there.

use super::Stage;
use super::judge::{Judge, Scratch};
use super::record::url_of;
use super::standing::States;
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::simd;
use crate::snapshot::format::{NONE, hash_key};
use crate::url;
use std::hint::black_box;
use std::ops::Range;

/// Lines in a batch: enough to keep the memory busy, few enough that what was fetched for the first is still there for the last.
const BATCH: usize = 64;

/// A line of a batch, split. Plain numbers: moved as slices and enums it would be put together from its parts at every step.
#[derive(Clone, Copy)]
struct Line {
    /// Where the line lies in the block, and where its URL ends.
    start: u32,
    end: u32,
    url_end: u32,
    /// The length of the origin, unless the line is odd.
    origin: u32,
    /// The origin's hash, if it is another than that of the line before.
    hash: u64,
    /// Where that is looked for.
    seen: Seen,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Of the same plain origin as the line before.
    Same,
    /// Of another origin, which stands in the line as it is.
    Other,
    /// Anything else, to be split when it is judged.
    Odd,
}

/// What the first look at the index tells of an origin.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    /// Nothing: it was not looked at, as the origin was judged lately.
    Unsure,
    /// The snapshot does not hold it.
    Absent,
    /// The place of the first entry that it may have.
    At(u32),
}

impl Line {
    fn url<'b>(&self, data: &'b [u8]) -> &'b [u8] {
        data.get(self.start as usize..self.url_end as usize).unwrap_or_default()
    }
}

impl<'s, D: AsRef<[u8]>> Judge<'s, D> {
    /// Calls `each` with every line of `data`, line end included, and its verdicts; with an earlier stage than `Match` the work ends
    /// there, and nothing is called.
    pub(super) fn judge_lines(
        &self,
        data: &[u8],
        until: Stage,
        scratch: &mut Scratch<'s>,
        mut each: impl FnMut(Range<usize>, Verdicts<'_>),
    ) -> Result<()> {
        self.own(scratch);
        let mut ends = std::mem::take(&mut scratch.line_ends);
        ends.clear();
        simd::line_ends(data, 1, &mut ends);
        if data.last().is_some_and(|&b| b != b'\n') {
            ends.push(data.len());
        }
        let mut batch: Vec<Line> = Vec::with_capacity(BATCH);
        let mut start = 0;
        for ends in ends.chunks(BATCH) {
            batch.clear();
            let mut origin: &[u8] = &[];
            for &end in ends {
                batch.push(split(data, start, end, &mut origin));
                start = end;
            }
            if until == Stage::Split {
                black_box(&batch);
                continue;
            }
            self.touch(&mut batch, &scratch.states);
            for line in &batch {
                let url = line.url(data);
                let (origin, rest) = url.split_at(url.len().min(line.origin as usize));
                if line.kind == Kind::Other {
                    self.enter((origin, line.hash), line.seen, &mut scratch.states, &mut scratch.other_key)?;
                }
                if until == Stage::Locate {
                    continue;
                }
                let verdicts = match line.kind {
                    Kind::Odd => self.judge(url, scratch)?,
                    Kind::Same | Kind::Other => {
                        self.judge_rest(&data[line.start as usize + origin.len()..], rest.len(), scratch)?
                    }
                };
                each(line.start as usize..line.end as usize, verdicts);
            }
        }
        scratch.line_ends = ends;
        Ok(())
    }

    /// Looks new origins of a batch up, and loads what they will need, step by step, for all of them side by side. What is loaded behind the
    /// index are guesses that nothing depends on.
    fn touch(&self, batch: &mut [Line], states: &States<'s>) {
        let view = self.view;
        let mut places = [NONE; BATCH];
        let mut count = 0;
        for line in batch.iter_mut().filter(|line| line.kind == Kind::Other) {
            if states.seems_known(line.hash) {
                continue;
            }
            line.seen = match view.first_place(line.hash) {
                None => Seen::Absent,
                Some(place) => {
                    if let Some(free) = places.get_mut(count) {
                        *free = place;
                        count += 1;
                    }
                    Seen::At(place)
                }
            };
        }
        let places = &mut places[..count];
        places.iter_mut().for_each(|place| *place = view.likely_file(*place));
        places.iter_mut().for_each(|place| *place = view.likely_rules(*place));
        places.iter().for_each(|place| {
            black_box(view.likely_head(*place));
        });
    }
}

/// Splits the line of a block that goes from `start` to `end`, if its URL is a plain one. `last` is the origin of the line before, empty if
/// that was not plain, and becomes that of this one.
#[inline]
fn split<'b>(data: &'b [u8], start: usize, end: usize, last: &mut &'b [u8]) -> Line {
    let url = url_of(&data[start..end]);
    // A blank at the end would have to be cut off.
    let ends_well = url.last().is_some_and(|&b| b > b' ');
    let same = !last.is_empty() && url.get(last.len()) == Some(&b'/') && url.starts_with(last);
    let (kind, hash) = if same && ends_well {
        (Kind::Same, 0)
    } else if let Some(len) = url::plain_origin(url, &data[start..]).filter(|_| ends_well) {
        *last = &url[..len];
        (Kind::Other, hash_key(last))
    } else {
        *last = &[];
        (Kind::Odd, 0)
    };
    // No block comes near 4 GiB.
    let (start, end, url_end) = (start as u32, end as u32, (start + url.len()) as u32);
    Line { start, end, url_end, origin: last.len() as u32, hash, seen: Seen::Unsure, kind }
}
