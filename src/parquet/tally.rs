//! Columns of URLs counted instead of written.

use crate::error::Result;
use crate::filter::output::Criterion;
use crate::filter::sample::Sample;
use crate::filter::tally::{Local, Tally};
use crate::judge::LineVerdicts;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, Verdict};
use crate::parquet::pipeline::{self, Step};
use crate::parquet::urls::Batch;
use crate::parquet::{ParquetFilter, ParquetInput, places};
use crate::pipeline::FilterStats;

/// Refused URLs, one behind the other, and where each ends.
#[derive(Default)]
struct Refused {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Refused {
    fn push(&mut self, url: &[u8]) {
        self.text.extend_from_slice(url);
        self.ends.push(self.text.len());
    }

    fn url(&self, number: usize) -> Vec<u8> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text[start..self.ends[number]].trim_ascii().to_vec()
    }
}

impl ParquetFilter<'_> {
    /// Counts every row of the inputs, and takes the sample; a row counts as disallowed if an agent or more may not fetch its URL.
    ///
    /// # Errors
    /// As [`run`](Self::run), but the inputs' schemas may differ.
    pub(crate) fn tally(&self, inputs: &[ParquetInput], tally: &Tally, sample: &mut Sample) -> Result<FilterStats> {
        let mut total = FilterStats::default();
        let mut progress = self.progress_of(inputs);
        pipeline::run(
            inputs,
            &places(inputs),
            || (self.judge.engine().scratch(), Local::new(self.judge.agents().len())),
            |batch, (scratch, local)| {
                let counted =
                    count(self.judge.engine(), batch, scratch, |verdicts, rows| local.count(verdicts, rows, tally));
                local.hand_over(tally);
                counted
            },
            |step: Step<(FilterStats, Refused)>| {
                if let Step::Rows((stats, refused)) = step {
                    total.add(&stats);
                    progress(total.lines);
                    sample.put(refused.ends.len(), |number| refused.url(number));
                }
                Ok(())
            },
        )?;
        Ok(total)
    }
}

/// Judges a batch, counts its rows, and gathers those that `each` says are refused.
fn count<'s>(
    judge: &Engine<'s>,
    batch: &Batch,
    scratch: &mut Scratch<'s>,
    mut each: impl FnMut(&LineVerdicts<'_>, u64) -> bool,
) -> Result<(FilterStats, Refused)> {
    let criterion = Criterion::REFUSED_TO_ANY;
    let (mut stats, mut refused) = (FilterStats::default(), Refused::default());
    let mut long = batch.long.iter().map(|(row, _)| *row).peekable();
    let mut row = 0;
    judge.judge_lines(&batch.text, Stage::Match, scratch, |lines, verdicts| {
        // A long value stands as an empty line, which is no URL, and is judged by itself.
        let end = row + lines.ends.len();
        let mut rows = lines.ends.len() as u64;
        while long.next_if(|long| *long < end).is_some() {
            rows -= 1;
        }
        row = end;
        criterion.count(&verdicts, rows, &mut stats);
        if verdicts.unjudged() == Some(Verdict::Invalid) {
            stats.count_blank(&batch.text, lines);
        }
        if each(&verdicts, rows) {
            lines.ranges().for_each(|line| refused.push(&batch.text[line]));
        }
    })?;
    for (_, value) in &batch.long {
        stats.blank -= 1;
        let verdicts = judge.judge(value.data(), scratch)?;
        criterion.count(&verdicts, 1, &mut stats);
        if each(&verdicts, 1) {
            // A dictionary can name a long value any number of times; the sample would pass over it anyhow.
            refused.push(b"");
        }
    }
    stats.bytes = batch.bytes;
    Ok((stats, refused))
}
