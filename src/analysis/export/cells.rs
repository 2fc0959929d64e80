//! Numbers the pieces of work of a table.
//!
//! A *cell* is an origin, or in the long table a pair of an origin and an agent. Cells are numbered
//! origin by origin. In the table of the history, a cell is a version of an answer. A block may begin and end within an origin: in the long table, the texts of an
//! origin repeat for each agent, and hundreds of copies of a long text exceed any block.

use super::columns::ExportTable;
use crate::judge::engine::Engine;
use std::ops::Range;

/// The cells of a table. In that of the history, versions take the place of origins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    origins: u32,
    /// The cells of each origin.
    per_origin: u32,
}

impl Cells {
    pub(super) fn of(table: ExportTable, engine: &Engine<'_>) -> Self {
        let agents = u32::try_from(engine.agents().len()).unwrap_or(u32::MAX);
        Self {
            origins: match table {
                ExportTable::History => engine.snapshot().version_count(),
                _ => engine.snapshot().origin_count(),
            },
            per_origin: if table == ExportTable::OriginsLong {
                agents
            } else {
                1
            },
        }
    }

    pub(super) fn count(self) -> u64 {
        u64::from(self.origins) * u64::from(self.per_origin)
    }

    /// The cells of an origin.
    pub(super) fn of_origin(self, row: u32) -> Range<u64> {
        let first = u64::from(row) * u64::from(self.per_origin);
        first..first + u64::from(self.per_origin)
    }

    /// The row of a cell's origin. There are as many origins as rows, so it fits.
    pub(super) fn origin(self, cell: u64) -> u32 {
        (cell / u64::from(self.per_origin.max(1))) as u32
    }

    /// The origins of some cells: the row of each, and the numbers of its agents. Outside the long
    /// table these are `0..1`.
    pub(super) fn by_origin(self, cells: Range<u64>) -> impl Iterator<Item = (u32, Range<usize>)> {
        let per_origin = u64::from(self.per_origin.max(1));
        let mut next = cells.start;
        std::iter::from_fn(move || {
            if next >= cells.end {
                return None;
            }
            let row = self.origin(next);
            let first = u64::from(row) * per_origin;
            let agents = next - first..(cells.end - first).min(per_origin);
            next = first + agents.end;
            Some((row, agents.start as usize..agents.end as usize))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_may_cut_an_origin() {
        let cells = Cells {
            origins: 3,
            per_origin: 4,
        };
        assert_eq!(cells.count(), 12);
        let origins: Vec<_> = cells.by_origin(2..9).collect();
        assert_eq!(origins, [(0, 2..4), (1, 0..4), (2, 0..1)]);
        assert!(cells.by_origin(5..5).next().is_none());
        assert_eq!(cells.of_origin(1), 4..8);
        let wide = Cells {
            origins: 3,
            per_origin: 1,
        };
        assert_eq!(
            wide.by_origin(1..3).collect::<Vec<_>>(),
            [(1, 0..1), (2, 0..1)]
        );
        let empty = Cells {
            origins: 3,
            per_origin: 0,
        };
        assert_eq!(empty.count(), 0);
    }
}
