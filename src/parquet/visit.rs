//! Visits the rows of Parquet files.

use crate::container::settings::Settings;
use crate::container::visit::{BlockUrls, BlockVisitor, BlockWorker};
use crate::error::Result;
use crate::parquet::input::ParquetInput;
use crate::parquet::row_groups::{RowBlock, RowGroupSource, RowProgress, all_row_groups};
use crate::parquet::urls::LongValue;
use crate::pipeline::FilterStats;
use crate::pipeline::ordered::{self, OrderedItem};

pub(super) fn run(
    settings: &Settings<'_>,
    inputs: &[ParquetInput],
    visitor: &dyn BlockVisitor,
) -> Result<FilterStats> {
    let mut total = FilterStats::default();
    let progress = RowProgress::new(settings, inputs);
    ordered::run(
        &RowGroupSource { inputs },
        all_row_groups(inputs),
        || visitor.worker(),
        |block, worker| visit_rows(block, &mut **worker),
        |item| {
            if let OrderedItem::Block(block) = item {
                total.add(&block.stats);
                progress.report(total.lines);
                visitor.selected(&block.urls.text, &block.selected);
            }
            Ok(())
        },
    )?;
    Ok(total)
}

fn visit_rows(block: &mut RowBlock, worker: &mut dyn BlockWorker) -> Result<()> {
    let RowBlock {
        urls,
        stats,
        selected,
        ..
    } = block;
    *stats = urls.new_stats();
    selected.clear();
    // The line of a long value is blank, and would count as a row that is not a URL.
    urls.remove_long_lines();
    worker.visit(BlockUrls::Lines(urls.lines()), stats, selected)?;
    for LongValue { value, rows, times } in &urls.long {
        let shared = if times.is_empty() {
            BlockUrls::Shared(value.data(), rows.len() as u64)
        } else {
            BlockUrls::SharedAtTimes(value.data(), times)
        };
        worker.visit(shared, stats, selected)?;
    }
    Ok(())
}
