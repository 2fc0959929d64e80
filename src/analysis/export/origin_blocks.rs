//! Cuts the origins of a snapshot into blocks for the workers of the pipeline.
//!
//! The size of a block depends on the snapshot only, so the output does not depend on the number of
//! threads. A block ends early if its robots.txt files are long. That bounds the memory of its
//! rows.

use super::columns::ExportTable;
use super::rows::ExportStats;
use super::rule_groups;
use crate::error::Result;
use crate::pipeline::source::BlockSource;
use crate::snapshot::Snapshot;
use std::marker::PhantomData;
use std::ops::Range;

/// The limits of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockLimit {
    /// The number of origins.
    pub origins: u32,
    /// The estimated bytes of its rows. A block has at least one origin.
    pub bytes: u64,
}

/// A block of origins, and the output of its rows.
#[derive(Debug, Default)]
pub(super) struct OriginBlock<T> {
    pub rows: Range<u32>,
    pub stats: ExportStats,
    pub output: T,
}

/// The origins of a snapshot as the single input of a pipeline.
pub(super) struct OriginSource<'s, T> {
    snapshot: &'s Snapshot,
    table: ExportTable,
    agents: usize,
    limit: BlockLimit,
    output: PhantomData<fn() -> T>,
}

impl<'s, T> OriginSource<'s, T> {
    pub(super) fn new(
        snapshot: &'s Snapshot,
        table: ExportTable,
        agents: usize,
        limit: BlockLimit,
    ) -> Self {
        Self {
            snapshot,
            table,
            agents,
            limit,
            output: PhantomData,
        }
    }

    /// The estimated bytes of an origin's rows.
    fn weight(&self, row: u32) -> Result<u64> {
        let Some(file) = self.snapshot.origin_at(row)?.file() else {
            return Ok(0);
        };
        let len = u64::from(self.snapshot.text_len(file)?);
        Ok(match self.table {
            ExportTable::Origins => len,
            ExportTable::Sitemaps => 4 * len,
            // Each rule of a group has a row for each agent.
            ExportTable::Rules => {
                len + (len * len / 16 + len * 8 * self.agents as u64).min(rule_groups::MAX_BYTES)
            }
        })
    }
}

impl<T: Default + Send> BlockSource for OriginSource<'_, T> {
    type Input = ();
    /// The next row.
    type Reader = u32;
    type Block = OriginBlock<T>;

    fn open(&self, (): ()) -> Result<u32> {
        Ok(0)
    }

    fn read(&self, next: &mut u32, block: &mut OriginBlock<T>) -> Result<bool> {
        let start = *next;
        let last = start
            .saturating_add(self.limit.origins)
            .min(self.snapshot.origin_count());
        let mut bytes = 0;
        while *next < last && (*next == start || bytes < self.limit.bytes) {
            bytes += self.weight(*next)?;
            *next += 1;
        }
        block.rows = start..*next;
        Ok(!block.rows.is_empty())
    }

    fn is_slow(&self, _: &u32) -> bool {
        false
    }

    fn max_in_flight(&self, _: usize) -> usize {
        // There is one input only.
        usize::MAX
    }
}
