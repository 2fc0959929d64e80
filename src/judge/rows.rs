//! The rows that the batch judge takes: the lines of a block.

use super::line_scanner::LineScanner;
use crate::bytes::trim_end;
use crate::records::without_end;
use crate::simd::Backend;
use std::ops::Range;

pub(super) use super::line_scanner::BATCH;

/// Gives rows in batches of up to [`BATCH`]. A row is numbered by its position in its batch.
///
/// All methods are inlined into the loop over rows.
pub(super) trait RowSource<'d> {
    /// Advances to the next batch. Returns the number of its rows; 0 at the end.
    fn next_batch(&mut self, backend: impl Backend) -> usize;

    /// The memory from the start of a row. It may extend beyond the row, so that a vector can be
    /// loaded.
    fn text(&self, row: usize) -> &'d [u8];

    /// The URL in a row.
    fn url(&self, row: usize) -> &'d [u8];

    /// The URL after its origin of `origin_len` bytes.
    fn path(&self, row: usize, origin_len: usize) -> &'d [u8];

    /// The same without blanks at its end, of a URL that need not be in normal form.
    #[inline(always)]
    fn rest(&self, row: usize, origin_len: usize) -> &'d [u8] {
        let url = trim_end(self.url(row));
        url.get(origin_len..).unwrap_or_default()
    }

    /// Whether the text of a row may be followed by bytes that could continue its origin. A line
    /// end could not.
    const IS_OPEN: bool;

    /// Whether a row has at least this many bytes. Asked only if [`IS_OPEN`](Self::IS_OPEN).
    fn has_len(&self, _row: usize, _len: usize) -> bool {
        true
    }

    /// Whether the path of a row has no byte that needs normalization.
    fn is_plain(&self, row: usize, path: &[u8], backend: impl Backend) -> bool;

    /// Whether each row is judged as of a time of its own.
    const IS_TIMED: bool = false;

    /// The time of a row in seconds since 1970, if it is known. Asked only if
    /// [`IS_TIMED`](Self::IS_TIMED).
    #[inline(always)]
    fn time(&self, _row: usize) -> Option<i64> {
        None
    }
}

/// Rows with a time each.
pub(super) struct TimedRows<'t, S> {
    pub rows: S,
    times: &'t [Option<i64>],
    /// The number of the first row of the batch, and the number of its rows.
    first: usize,
    count: usize,
}

impl<'t, S> TimedRows<'t, S> {
    /// Rows with these times, in their order. Rows beyond the last time have none.
    pub(super) fn new(rows: S, times: &'t [Option<i64>]) -> Self {
        Self {
            rows,
            times,
            first: 0,
            count: 0,
        }
    }
}

impl<'d, S: RowSource<'d>> RowSource<'d> for TimedRows<'_, S> {
    const IS_OPEN: bool = S::IS_OPEN;
    const IS_TIMED: bool = true;

    #[inline(always)]
    fn next_batch(&mut self, backend: impl Backend) -> usize {
        self.first += self.count;
        self.count = self.rows.next_batch(backend);
        self.count
    }

    #[inline(always)]
    fn text(&self, row: usize) -> &'d [u8] {
        self.rows.text(row)
    }

    #[inline(always)]
    fn url(&self, row: usize) -> &'d [u8] {
        self.rows.url(row)
    }

    #[inline(always)]
    fn path(&self, row: usize, origin_len: usize) -> &'d [u8] {
        self.rows.path(row, origin_len)
    }

    #[inline(always)]
    fn has_len(&self, row: usize, len: usize) -> bool {
        self.rows.has_len(row, len)
    }

    #[inline(always)]
    fn is_plain(&self, row: usize, path: &[u8], backend: impl Backend) -> bool {
        self.rows.is_plain(row, path, backend)
    }

    #[inline(always)]
    fn time(&self, row: usize) -> Option<i64> {
        self.times.get(self.first + row).copied().flatten()
    }
}

/// Consecutive lines of a block with the same verdicts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRun<'l> {
    /// The start of the first line in the block.
    pub start: usize,
    /// The end of each line, including its line end.
    pub ends: &'l [usize],
}

impl<'l> LineRun<'l> {
    /// The range of each line in the block.
    #[inline(always)]
    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        let mut start = self.start;
        self.ends
            .iter()
            .map(move |&end| std::mem::replace(&mut start, end)..end)
    }
}

/// The lines of a block.
pub(super) struct LineRows<'d> {
    data: &'d [u8],
    scanner: LineScanner<'d>,
}

impl<'d> LineRows<'d> {
    pub(super) fn new(data: &'d [u8]) -> Self {
        Self {
            data,
            scanner: LineScanner::new(data),
        }
    }

    /// Neighbouring lines of the batch.
    #[inline(always)]
    pub(super) fn run(&self, rows: Range<usize>) -> LineRun<'_> {
        match self.scanner.bounds().get(rows.start..=rows.end) {
            Some([start, ends @ ..]) => LineRun {
                start: *start,
                ends,
            },
            _ => LineRun {
                start: 0,
                ends: &[],
            },
        }
    }

    #[inline(always)]
    fn range(&self, row: usize) -> Range<usize> {
        let bounds = self.scanner.bounds();
        bounds[row]..bounds[row + 1]
    }
}

impl<'d> RowSource<'d> for LineRows<'d> {
    const IS_OPEN: bool = false;

    #[inline(always)]
    fn next_batch(&mut self, backend: impl Backend) -> usize {
        self.scanner.next_batch(backend)
    }

    #[inline(always)]
    fn text(&self, row: usize) -> &'d [u8] {
        &self.data[self.scanner.bounds()[row]..]
    }

    #[inline(always)]
    fn url(&self, row: usize) -> &'d [u8] {
        without_end(&self.data[self.range(row)])
    }

    #[inline(always)]
    fn path(&self, row: usize, origin_len: usize) -> &'d [u8] {
        let line = self.range(row);
        // Without the line end, LF or CRLF.
        match self.data.get(line.start + origin_len..line.end) {
            Some([path @ .., b'\r', _] | [path @ .., _]) => path,
            _ => &[],
        }
    }

    #[inline(always)]
    fn is_plain(&self, row: usize, _path: &[u8], _backend: impl Backend) -> bool {
        !self.scanner.is_odd(row)
    }
}
