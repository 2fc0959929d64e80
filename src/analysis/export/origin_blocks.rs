//! Cuts the cells of a table into blocks for the workers of the pipeline.
//!
//! The size of a block depends on the snapshot only, so the output does not depend on the number of
//! threads. A block ends early if its robots.txt files are long. That bounds the memory of its
//! rows.

use super::cells::Cells;
use super::columns::ExportTable;
use super::rows::ExportStats;
use super::rule_groups;
use super::versions::version_weight;
use crate::error::Result;
use crate::judge::engine::Engine;
use crate::pipeline::source::BlockSource;
use std::marker::PhantomData;
use std::ops::Range;

/// The limits of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockLimit {
    /// The number of cells.
    pub cells: u64,
    /// The estimated bytes of its rows. A block has at least one cell.
    pub bytes: u64,
}

/// A block of cells, and the output of its rows.
#[derive(Debug, Default)]
pub(super) struct OriginBlock<T> {
    pub cells: Range<u64>,
    pub stats: ExportStats,
    pub output: T,
}

/// The cells of a table as the single input of a pipeline.
pub(super) struct OriginSource<'s, T> {
    engine: &'s Engine<'s>,
    table: ExportTable,
    cells: Cells,
    limit: BlockLimit,
    output: PhantomData<fn() -> T>,
}

impl<'s, T> OriginSource<'s, T> {
    pub(super) fn new(engine: &'s Engine<'s>, table: ExportTable, limit: BlockLimit) -> Self {
        Self {
            engine,
            table,
            cells: Cells::of(table, engine),
            limit,
            output: PhantomData,
        }
    }

    /// The cells of the next block, which is empty at the end.
    pub(super) fn next_block(&self, next: &mut u64) -> Result<Range<u64>> {
        let start = *next;
        let last = start
            .saturating_add(self.limit.cells)
            .min(self.cells.count());
        let mut bytes = 0;
        while *next < last && (*next == start || bytes < self.limit.bytes) {
            bytes += self.weight(self.cells.origin(*next))?;
            *next += 1;
        }
        Ok(start..*next)
    }

    /// The estimated bytes of the rows of a cell of an origin.
    fn weight(&self, row: u32) -> Result<u64> {
        let snapshot = self.engine.snapshot();
        if self.table == ExportTable::History {
            return version_weight(snapshot, row);
        }
        let entry = snapshot.origin_at(row)?;
        // Many origins may share a source or a detail of up to 64 KiB.
        let (source, detail) = entry.strings();
        let strings = [Some(entry.key()), source, detail];
        let own = strings
            .iter()
            .flatten()
            .map(|text| text.len() as u64)
            .sum::<u64>();
        let Some(file) = entry.file() else {
            return Ok(own);
        };
        let len = u64::from(snapshot.text_len(file)?);
        Ok(own
            + match self.table {
                ExportTable::Origins | ExportTable::OriginsLong => len,
                ExportTable::Sitemaps => 4 * len,
                ExportTable::History => 0,
                // Each rule of a group has a row for each agent.
                ExportTable::Rules => {
                    let agents = self.engine.agents().len() as u64;
                    len + (len * len / 16 + len * 8 * agents).min(rule_groups::MAX_BYTES)
                }
            })
    }
}

impl<T: Default + Send> BlockSource for OriginSource<'_, T> {
    type Input = ();
    /// The next cell.
    type Reader = u64;
    type Block = OriginBlock<T>;

    fn open(&self, (): ()) -> Result<u64> {
        Ok(0)
    }

    fn read(
        &self,
        next: &mut u64,
        block: &mut OriginBlock<T>,
        _grow: &dyn Fn(usize),
    ) -> Result<bool> {
        block.cells = self.next_block(next)?;
        Ok(!block.cells.is_empty())
    }

    fn is_slow(&self, _: &u64) -> bool {
        false
    }

    /// The limit of a block bounds its rows, so the number of blocks bounds memory.
    fn bytes_held(&self, _: &OriginBlock<T>) -> usize {
        0
    }
}
