//! The lines of a block, judged a batch at a time.
//!
//! On a list in no order nearly every line is of another origin than the one before, and finding it costs a cache miss at each
//! step: slot, entry, robots.txt, rules. Taken line by line the processor waits for each of them in turn. So a batch of lines is
//! split first; then each step is done for all new origins of the batch, where the misses run side by side; and when the lines are
//! judged, what they need is there.

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

/// A line of a batch, split.
struct Line<'b> {
    /// Where it lies in the block, with its line end.
    range: Range<usize>,
    url: &'b [u8],
    split: Split,
}

enum Split {
    /// Of the same plain origin as the line before: where that ends.
    Same(usize),
    /// Of another origin, which stands in the line as it is: where it ends, and its hash.
    Other(usize, u64),
    /// Anything else, to be split when it is judged.
    Odd,
}

impl<D: AsRef<[u8]>> Judge<'_, D> {
    /// Calls `each` with every line of `data`, line end included, and its verdicts.
    pub(super) fn judge_lines(
        &self,
        data: &[u8],
        scratch: &mut Scratch,
        mut each: impl FnMut(Range<usize>, Verdicts<'_>),
    ) -> Result<()> {
        let mut ends = std::mem::take(&mut scratch.line_ends);
        ends.clear();
        simd::line_ends(data, 1, &mut ends);
        if data.last().is_some_and(|&b| b != b'\n') {
            ends.push(data.len());
        }
        let mut batch: Vec<Line<'_>> = Vec::with_capacity(BATCH);
        let mut start = 0;
        for ends in ends.chunks(BATCH) {
            let mut origin: &[u8] = &[];
            for &end in ends {
                let url = url_of(&data[start..end]);
                batch.push(Line { range: start..end, url, split: split(url, &data[start..], &mut origin) });
                start = end;
            }
            self.touch(&batch, &scratch.states);
            for line in batch.drain(..) {
                let verdicts = match line.split {
                    Split::Same(end) => self.judge_rest(&line.url[end..], scratch)?,
                    Split::Other(end, hash) => {
                        self.enter(&line.url[..end], hash, &mut scratch.states, &mut scratch.other_key)?;
                        self.judge_rest(&line.url[end..], scratch)?
                    }
                    Split::Odd => self.judge(line.url, scratch)?,
                };
                each(line.range, verdicts);
            }
        }
        scratch.line_ends = ends;
        Ok(())
    }

    /// Loads what the new origins of a batch will need, step by step, for all of them side by side. The values are guesses that
    /// nothing depends on.
    fn touch(&self, batch: &[Line<'_>], states: &States) {
        let snapshot = self.snapshot;
        let mut places = [NONE; BATCH];
        let mut count = 0;
        for line in batch {
            if let Split::Other(end, hash) = line.split
                && !states.knows(&line.url[..end], hash)
                && let Some(place) = snapshot.likely_place(hash)
                && let Some(free) = places.get_mut(count)
            {
                *free = place;
                count += 1;
            }
        }
        let places = &mut places[..count];
        places.iter_mut().for_each(|place| *place = snapshot.likely_file(*place));
        places.iter_mut().for_each(|place| *place = snapshot.likely_rules(*place));
        places.iter().for_each(|place| {
            black_box(snapshot.likely_head(*place));
        });
    }
}

/// Splits a URL, if it is a plain one; `text` begins with it. `origin` is that of the line before, empty if that was not plain, and
/// becomes that of this one.
#[inline]
fn split<'b>(url: &'b [u8], text: &[u8], origin: &mut &'b [u8]) -> Split {
    // A blank at the end would have to be cut off.
    let ends_well = url.last().is_some_and(|&b| b > b' ');
    if !origin.is_empty() && ends_well && url.get(origin.len()) == Some(&b'/') && url.starts_with(origin) {
        return Split::Same(origin.len());
    }
    match url::plain_origin(url, text).filter(|_| ends_well) {
        Some(end) => {
            *origin = &url[..end];
            Split::Other(end, hash_key(origin))
        }
        None => {
            *origin = &[];
            Split::Odd
        }
    }
}
