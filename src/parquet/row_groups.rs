//! Parquet row groups as a source of the ordered pipeline, and the judging of their rows.
//!
//! A column can be read only from its start, so one worker at a time reads a row group. Reading
//! takes longer than judging, so idle workers read the next row groups meanwhile.

use crate::container::criterion::Criterion;
use crate::container::judged_records::{RecordUrls, judge_timed};
use crate::container::settings::Settings;
use crate::error::Result;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, VerdictsRef};
use crate::parquet::input::{ParquetInput, guard};
use crate::parquet::new_columns::NewColumns;
use crate::parquet::urls::{LongValue, UrlBatch, UrlReader};
use crate::pipeline::source::BlockSource;
use crate::pipeline::{Destination, FilterStats, Progress};
use parquet::file::reader::Length;
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
pub(super) struct RowGroupId {
    /// The number of the file among the inputs.
    pub file: usize,
    pub row_group: usize,
}

pub(super) fn all_row_groups(inputs: &[ParquetInput]) -> Vec<RowGroupId> {
    let mut all = Vec::new();
    for (file, input) in inputs.iter().enumerate() {
        all.extend(
            (0..input.meta.num_row_groups()).map(|row_group| RowGroupId { file, row_group }),
        );
    }
    all
}

/// Neighbouring rows of one row group, and the results of judging them. Each user of the pipeline
/// fills one kind of result.
#[derive(Default)]
pub(super) struct RowBlock {
    pub urls: UrlBatch,
    pub stats: FilterStats,
    /// The values of new columns, for annotating, and those of disallowed rows for a filter.
    pub columns: NewColumns,
    /// For a filter: the output that each row gets.
    pub outputs: Vec<Option<Destination>>,
    /// The selected ranges of the text of `urls`, for a visitor.
    pub selected: Vec<Range<usize>>,
}

/// Reads the URLs of row groups, one batch per block.
pub(super) struct RowGroupSource<'q> {
    pub inputs: &'q [ParquetInput],
}

impl<'q> BlockSource for RowGroupSource<'q> {
    type Input = RowGroupId;
    type Reader = Box<UrlReader<'q>>;
    type Block = RowBlock;

    fn open(&self, id: RowGroupId) -> Result<Box<UrlReader<'q>>> {
        let input = &self.inputs[id.file];
        guard(|| UrlReader::new(input, id.row_group))
            .map(Box::new)
            .map_err(|err| err.at(&input.path))
    }

    fn read(
        &self,
        reader: &mut Box<UrlReader<'q>>,
        block: &mut RowBlock,
        _grow: &dyn Fn(usize),
    ) -> Result<bool> {
        reader
            .next(&mut block.urls)
            .map_err(|err| err.at(&reader.input.path))
    }

    fn is_slow(&self, _reader: &Box<UrlReader<'q>>) -> bool {
        true
    }

    fn bytes_held(&self, block: &RowBlock) -> usize {
        block.urls.bytes_held()
            + block.columns.bytes_held()
            + block.outputs.capacity()
            + block.selected.capacity() * size_of::<Range<usize>>()
    }
}

/// Reports the progress of a run by its rows: the bytes of the files in proportion to the rows
/// done.
pub(super) struct RowProgress<'j> {
    progress: &'j (dyn Fn(Progress) + Sync),
    bytes: u64,
    rows: u64,
}

impl<'j> RowProgress<'j> {
    pub(super) fn new(settings: &Settings<'j>, inputs: &[ParquetInput]) -> Self {
        Self {
            progress: settings.progress,
            bytes: inputs.iter().map(|input| input.chunks.len()).sum(),
            rows: inputs.iter().map(ParquetInput::rows).sum(),
        }
    }

    pub(super) fn report(&self, rows_done: u64) {
        let share = u128::from(self.bytes) * u128::from(rows_done) / u128::from(self.rows.max(1));
        (self.progress)(Progress::of(share as u64));
    }
}

/// Judges a batch and counts its rows. Calls `each` with rows that have the same verdicts, and their
/// URLs; a row with a long value comes twice, and its second verdicts count. The first error of `each`
/// ends the work.
pub(super) fn judge_batch<'s>(
    judge: &Engine<'s>,
    criterion: Criterion,
    batch: &UrlBatch,
    scratch: &mut Scratch<'s>,
    mut each: impl FnMut(Range<usize>, RecordUrls<'_>, &VerdictsRef<'_>) -> Result<()>,
) -> Result<FilterStats> {
    let mut stats = batch.new_stats();
    let mut row = 0;
    let joined = Joined::SameOrigin;
    judge_timed(
        judge,
        batch.lines(),
        Stage::Match,
        joined,
        scratch,
        &mut |lines, verdicts| {
            criterion.count(&verdicts, lines.ends.len() as u64, &mut stats);
            let urls = RecordUrls::new(&batch.text, lines);
            each(row..row + lines.ends.len(), urls, &verdicts)?;
            row += lines.ends.len();
            Ok(())
        },
    )?;
    // The line of a long value is empty, so it was counted as invalid. Now the value itself is
    // judged, once for all its rows with the same rules: a dictionary of 2 KB can give a million rows
    // one value of 60 MiB.
    for LongValue { value, rows, times } in &batch.long {
        let value = value.data();
        let end = value.len();
        stats.lines -= rows.len() as u64;
        stats.invalid -= rows.len() as u64;
        let mut judge_rows = |rows: &[usize], verdicts: &VerdictsRef<'_>| {
            criterion.count(verdicts, rows.len() as u64, &mut stats);
            for row in rows {
                let urls = RecordUrls::of_one(value, &end);
                each(*row..row + 1, urls, verdicts)?;
            }
            Ok(())
        };
        if times.is_empty() {
            judge_rows(rows, &judge.judge(value, scratch)?)?;
        } else {
            judge.judge_at_times(value, times, scratch, |found, verdicts| {
                judge_rows(&rows[found], &verdicts)
            })?;
        }
    }
    Ok(stats)
}
