//! Judges columns of other programs in place, in the layouts of Apache Arrow.

use super::emitter::Joined;
use super::options::{Require, Stage};
use super::owned::Judge;
use super::rows::{BATCH, RowSource, TimedRows};
use super::verdicts_ref::VerdictsRef;
use crate::agent::{Agent, AgentMatch};
use crate::error::{ErrorKind, Result};
use crate::explain::answers::{allow, prepare};
use crate::filter_lists::{FilterLists, ListMatch};
use crate::robots::{Group, RobotsRef};
use crate::simd::Backend;
use std::ops::Range;

/// A column of URLs in the memory of another program, in a layout of Apache Arrow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Rows<'d> {
    /// `Utf8` and `Binary`: row `i` is `data[offsets[i]..offsets[i + 1]]`.
    Offsets32 {
        /// The bytes of all rows.
        data: &'d [u8],
        /// One offset more than there are rows, or none.
        offsets: &'d [i32],
    },
    /// `LargeUtf8` and `LargeBinary`: the same with longer offsets.
    Offsets64 {
        /// The bytes of all rows.
        data: &'d [u8],
        /// One offset more than there are rows, or none.
        offsets: &'d [i64],
    },
    /// `Utf8View` and `BinaryView`.
    Views {
        /// One view per row, little-endian: its length, then up to 12 bytes; or its length, four
        /// bytes, the number of a buffer and the offset in it.
        views: &'d [[u8; 16]],
        /// The buffers of the longer rows.
        buffers: &'d [&'d [u8]],
    },
    /// One slice per row.
    Slices(&'d [&'d [u8]]),
}

impl<'d> Rows<'d> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Offsets32 { offsets, .. } => offsets.len().saturating_sub(1),
            Self::Offsets64 { offsets, .. } => offsets.len().saturating_sub(1),
            Self::Views { views, .. } => views.len(),
            Self::Slices(rows) => rows.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with the number and the bytes of each row, in order, up to its first error.
    ///
    /// # Errors
    /// [`ErrorKind::BadColumn`] if offsets descend or exceed the data, before the first row; and those
    /// of `each`.
    pub(crate) fn try_for_each(
        self,
        each: impl FnMut(usize, &'d [u8]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Offsets32 { data, offsets } => {
                try_for_each_in(OffsetColumn::new(data, offsets)?, each)
            }
            Self::Offsets64 { data, offsets } => {
                try_for_each_in(OffsetColumn::new(data, offsets)?, each)
            }
            Self::Views { views, buffers } => {
                try_for_each_in(ViewColumn::new(views, buffers)?, each)
            }
            Self::Slices(rows) => try_for_each_in(rows, each),
        }
    }
}

fn try_for_each_in<'d>(
    column: impl Column<'d>,
    mut each: impl FnMut(usize, &'d [u8]) -> Result<()>,
) -> Result<()> {
    (0..column.len()).try_for_each(|row| each(row, &column.text(row)[..column.row_len(row)]))
}

impl Judge {
    /// Judges a column in place: calls `each` with the numbers of neighbouring rows that have the
    /// same verdicts, and those verdicts, in order. Every row is part of one call.
    ///
    /// The verdicts on a row are those of [`judge`](Self::judge) for its bytes. Rows go through
    /// batches like lines of a list, so a row costs about as much as a line. The calling thread
    /// does all the work; to use more, divide the rows.
    ///
    /// ```
    /// use robosieve::judge::Rows;
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    ///
    /// let data = b"https://e.example/xhttps://e.example/yhttps://e.example/z";
    /// let mut verdicts = vec![Verdict::Invalid; 3];
    /// judge.judge_rows(Rows::Offsets32 { data, offsets: &[0, 19, 38, 57] }, |rows, found| {
    ///     verdicts[rows].fill(found.get(0));
    ///     Ok(())
    /// })?;
    /// assert_eq!(verdicts, [Verdict::Disallowed, Verdict::Allowed, Verdict::Allowed]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadColumn`] if offsets descend or exceed the data; no row is judged then.
    /// [`ErrorKind::Corrupt`] if the snapshot's bytes contradict each other. The first error of
    /// `each`, which ends the work.
    pub fn judge_rows(
        &self,
        rows: Rows<'_>,
        mut each: impl FnMut(Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        match rows {
            Rows::Offsets32 { data, offsets } => {
                self.judge_column(OffsetColumn::new(data, offsets)?, &mut each)
            }
            Rows::Offsets64 { data, offsets } => {
                self.judge_column(OffsetColumn::new(data, offsets)?, &mut each)
            }
            Rows::Views { views, buffers } => {
                self.judge_column(ViewColumn::new(views, buffers)?, &mut each)
            }
            Rows::Slices(rows) => self.judge_column(rows, &mut each),
        }
    }

    /// As [`judge_rows`](Self::judge_rows), with each row as of its own time: `times` has one for each
    /// row, in seconds since 1970. [`JudgeOptions::no_time`](crate::JudgeOptions::no_time) says what
    /// rows without a time get. The snapshot needs a history
    /// ([`Compiler::history`](crate::Compiler::history)).
    ///
    /// ```
    /// use robosieve::judge::Rows;
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let archive = br#"
    ///     {"url": "https://e.example/robots.txt", "body": "user-agent: *\ndisallow: /", "fetched_at": 10}
    ///     {"url": "https://e.example/robots.txt", "body": "", "fetched_at": 20}"#;
    /// let mut compiler = Compiler::default().history(true);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    ///
    /// let urls: [&[u8]; 4] = [b"https://e.example/"; 4];
    /// let times = [Some(9), Some(10), Some(20), None];
    /// let mut verdicts = Vec::new();
    /// judge.judge_rows_as_of(Rows::Slices(&urls), &times, |rows, found| {
    ///     verdicts.extend(rows.map(|_| found.get(0).letter()));
    ///     Ok(())
    /// })?;
    /// assert_eq!(verdicts, ['U', 'D', 'A', 'U']);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`judge_rows`](Self::judge_rows); [`ErrorKind::NoHistory`] for a snapshot without a history,
    /// [`ErrorKind::BadColumn`] for another number of times than rows.
    pub fn judge_rows_as_of(
        &self,
        rows: Rows<'_>,
        times: &[Option<i64>],
        mut each: impl FnMut(Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        self.snapshot().require_history()?;
        if rows.len() != times.len() {
            let what = format!("{} times for {} rows", times.len(), rows.len());
            return Err(ErrorKind::BadColumn(what).into());
        }
        match rows {
            Rows::Offsets32 { data, offsets } => {
                self.judge_timed_column(OffsetColumn::new(data, offsets)?, times, &mut each)
            }
            Rows::Offsets64 { data, offsets } => {
                self.judge_timed_column(OffsetColumn::new(data, offsets)?, times, &mut each)
            }
            Rows::Views { views, buffers } => {
                self.judge_timed_column(ViewColumn::new(views, buffers)?, times, &mut each)
            }
            Rows::Slices(rows) => self.judge_timed_column(rows, times, &mut each),
        }
    }

    /// Whether each URL of a column may be fetched: by all agents, or with [`Require::Any`] by one or
    /// more.
    ///
    /// Gives one value per row, in order; none for a column without rows. A URL of an unknown origin
    /// is not allowed, unless [`JudgeOptions::unknown`](crate::JudgeOptions::unknown) allows it.
    /// Neither is text that is not a URL, nor a URL that a filter list of the judge names
    /// ([`with_lists`](Self::with_lists)). A row that is null in the column of the other program has
    /// the value of its bytes. [`VerdictsRef::is_allowed`] is the same answer for one URL, or for
    /// the rows of [`judge_rows_as_of`](Self::judge_rows_as_of).
    ///
    /// Cost: that of [`judge_rows`](Self::judge_rows), and a byte per row. It does not panic.
    ///
    /// ```
    /// use robosieve::judge::{Require, Rows};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: a\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
    ///
    /// let urls: [&[u8]; 4] =
    ///     [b"https://e.example/x", b"https://e.example/y", b"https://unknown.example/", b"/y"];
    /// let rows = Rows::Slices(&urls);
    /// assert_eq!(judge.allowed(rows, Require::All)?, [false, true, false, false]);
    /// assert_eq!(judge.allowed(rows, Require::Any)?, [true, true, false, false]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`judge_rows`](Self::judge_rows).
    pub fn allowed(&self, rows: Rows<'_>, require: Require) -> Result<Vec<bool>> {
        let mut allowed = vec![false; rows.len()];
        self.judge_rows(rows, |rows, verdicts| {
            allowed[rows].fill(verdicts.is_allowed(require));
            Ok(())
        })?;
        Ok(allowed)
    }

    // `each` is a trait object, so that judging is compiled once for each kind of column, and not for
    // each caller too.

    fn judge_timed_column<'d, C: Column<'d>>(
        &self,
        column: C,
        times: &[Option<i64>],
        each: &mut dyn FnMut(Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        let rows = ColumnRows {
            column,
            first: 0,
            count: 0,
        };
        let rows = TimedRows::new(rows, times);
        self.with_scratch(|engine, scratch| {
            let joined = Joined::SameOrigin;
            let each = |rows: &TimedRows<'_, ColumnRows<C>>,
                        batch: Range<usize>,
                        verdicts: VerdictsRef<'_>| {
                let first = rows.rows.first;
                each(first + batch.start..first + batch.end, verdicts)
            };
            engine.judge_rows(rows, Stage::Match, joined, scratch, each)
        })
    }

    fn judge_column<'d, C: Column<'d>>(
        &self,
        column: C,
        each: &mut dyn FnMut(Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        let rows = ColumnRows {
            column,
            first: 0,
            count: 0,
        };
        self.with_scratch(|engine, scratch| {
            let joined = Joined::SameOrigin;
            engine.judge_rows(
                rows,
                Stage::Match,
                joined,
                scratch,
                |rows, batch, verdicts| {
                    each(rows.first + batch.start..rows.first + batch.end, verdicts)
                },
            )
        })
    }
}

impl RobotsRef<'_> {
    /// Judges a column in place: calls `each` with the number of each row and whether the agent may
    /// fetch it, in order. A row is a URL or a bare path, and its verdict that of
    /// [`allows_with`](Self::allows_with), also for other text.
    ///
    /// Cost: the agent is compared with the user-agent lines once. For more than eight rows, the
    /// rules are compiled at once.
    ///
    /// ```
    /// use robosieve::judge::Rows;
    /// use robosieve::{AgentMatch, Profile, RobotsRef};
    /// let robots = RobotsRef::parse(b"user-agent: *\ndisallow: /x", Profile::Google);
    /// let rows = Rows::Slices(&[b"/x/1", b"https://e.example/y"]);
    /// let mut allowed = [false; 2];
    /// robots.allows_rows(&"FooBot".parse()?, AgentMatch::Extended, rows, |row, is_allowed| {
    ///     allowed[row] = is_allowed;
    /// })?;
    /// assert_eq!(allowed, [false, true]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadColumn`] if offsets descend or exceed the data; no row is judged then.
    pub fn allows_rows(
        &self,
        agent: &Agent,
        how: AgentMatch,
        rows: Rows<'_>,
        mut each: impl FnMut(usize, bool),
    ) -> Result<()> {
        let groups: Vec<&Group<'_>> = self.groups_of(agent, how).collect();
        for group in &groups {
            prepare(group, rows.len());
        }
        rows.try_for_each(|row, url| {
            each(row, allow(groups.iter().copied(), url, self.profile()));
            Ok(())
        })
    }
}

impl FilterLists {
    /// Looks a column up in place: calls `each` with the number of each row and the entry that decides
    /// about it, in order. The answers are those of [`find`](Self::find).
    ///
    /// Cost: a few tens of nanoseconds for most rows; less for a row of the same origin as the row
    /// before. The calling thread does all the work; to use more, divide the rows.
    ///
    /// ```
    /// # #[cfg(feature = "filter-lists")] {
    /// # use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
    /// # use robosieve::judge::Rows;
    /// # let mut compiler = ListCompiler::new();
    /// # compiler.add("ads", ListKind::Block, "ads.example\n".as_bytes())?;
    /// # let lists = FilterLists::new(compiler.finish()?.to_vec()?)?;
    /// let rows = Rows::Slices(&[b"https://ads.example/", b"https://shop.example/"]);
    /// let mut listed = [false; 2];
    /// lists.find_rows(rows, |row, found| listed[row] = found.is_some())?;
    /// assert_eq!(listed, [true, false]);
    /// # }
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadColumn`] if offsets descend or exceed the data; no row is looked up then.
    /// [`ErrorKind::DamagedLists`] if the bytes of the lists contradict each other.
    pub fn find_rows(
        &self,
        rows: Rows<'_>,
        mut each: impl FnMut(usize, Option<ListMatch<'_>>),
    ) -> Result<()> {
        let mut searcher = self.searcher();
        rows.try_for_each(|row, url| {
            each(row, searcher.find(url)?);
            Ok(())
        })
    }
}

/// Rows by number, in one of the layouts.
trait Column<'d> {
    fn len(&self) -> usize;

    /// The memory from the start of a row, which may extend beyond the row.
    fn text(&self, row: usize) -> &'d [u8];

    fn row_len(&self, row: usize) -> usize;
}

/// Neighbouring rows in one buffer.
struct OffsetColumn<'d, O> {
    data: &'d [u8],
    offsets: &'d [O],
}

impl<'d, O: Copy + PartialOrd + Into<i64>> OffsetColumn<'d, O> {
    fn new(data: &'d [u8], offsets: &'d [O]) -> Result<Self> {
        if !offsets.is_sorted() {
            return Err(ErrorKind::BadColumn("the offsets descend".to_owned()).into());
        }
        let mut ends = offsets
            .first()
            .into_iter()
            .chain(offsets.last())
            .map(|offset| (*offset).into());
        let is_bad =
            |offset: &i64| usize::try_from(*offset).map_or(true, |offset| offset > data.len());
        if let Some(bad) = ends.find(is_bad) {
            let what = format!("an offset of {bad} in {} bytes of data", data.len());
            return Err(ErrorKind::BadColumn(what).into());
        }
        Ok(Self { data, offsets })
    }

    /// The offset of this number, which [`new`](Self::new) has checked.
    #[inline(always)]
    fn offset(&self, number: usize) -> usize {
        self.offsets[number].into() as usize
    }
}

impl<'d, O: Copy + PartialOrd + Into<i64>> Column<'d> for OffsetColumn<'d, O> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    #[inline(always)]
    fn text(&self, row: usize) -> &'d [u8] {
        self.data.get(self.offset(row)..).unwrap_or_default()
    }

    #[inline(always)]
    fn row_len(&self, row: usize) -> usize {
        self.offset(row + 1) - self.offset(row)
    }
}

/// The longest row that its view holds.
const INLINE: usize = 12;

/// Rows that views refer to.
struct ViewColumn<'d> {
    views: &'d [[u8; 16]],
    buffers: &'d [&'d [u8]],
}

impl<'d> ViewColumn<'d> {
    fn new(views: &'d [[u8; 16]], buffers: &'d [&'d [u8]]) -> Result<Self> {
        let column = Self { views, buffers };
        match (0..views.len()).find(|row| column.text(*row).len() < column.row_len(*row)) {
            Some(row) => Err(ErrorKind::BadColumn(format!(
                "the view of row {row} exceeds its buffer"
            ))
            .into()),
            None => Ok(column),
        }
    }
}

/// One of the four numbers of a view.
#[inline(always)]
fn field(view: &[u8; 16], number: usize) -> usize {
    u32::from_le_bytes(view.as_chunks().0[number]) as usize
}

impl<'d> Column<'d> for ViewColumn<'d> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.views.len()
    }

    #[inline(always)]
    fn text(&self, row: usize) -> &'d [u8] {
        let view = &self.views[row];
        let len = self.row_len(row);
        if len <= INLINE {
            return &view[4..4 + len];
        }
        let buffer: &'d [u8] = self
            .buffers
            .get(field(view, 2))
            .copied()
            .unwrap_or_default();
        buffer.get(field(view, 3)..).unwrap_or_default()
    }

    #[inline(always)]
    fn row_len(&self, row: usize) -> usize {
        field(&self.views[row], 0)
    }
}

impl<'d> Column<'d> for &'d [&'d [u8]] {
    #[inline(always)]
    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    #[inline(always)]
    fn text(&self, row: usize) -> &'d [u8] {
        self[row]
    }

    #[inline(always)]
    fn row_len(&self, row: usize) -> usize {
        self[row].len()
    }
}

/// A column, batch by batch.
struct ColumnRows<C> {
    column: C,
    /// The first row of the batch, and the number of its rows.
    first: usize,
    count: usize,
}

impl<'d, C: Column<'d>> RowSource<'d> for ColumnRows<C> {
    const IS_OPEN: bool = true;

    #[inline(always)]
    fn next_batch(&mut self, _backend: impl Backend) -> usize {
        self.first += self.count;
        self.count = (self.column.len() - self.first).min(BATCH);
        self.count
    }

    #[inline(always)]
    fn text(&self, row: usize) -> &'d [u8] {
        self.column.text(self.first + row)
    }

    #[inline(always)]
    fn url(&self, row: usize) -> &'d [u8] {
        &self.text(row)[..self.column.row_len(self.first + row)]
    }

    #[inline(always)]
    fn path(&self, row: usize, origin_len: usize) -> &'d [u8] {
        self.url(row).get(origin_len..).unwrap_or_default()
    }

    #[inline(always)]
    fn has_len(&self, row: usize, len: usize) -> bool {
        self.column.row_len(self.first + row) >= len
    }

    #[inline(always)]
    fn is_plain(&self, _row: usize, path: &[u8], backend: impl Backend) -> bool {
        backend.is_plain(path)
    }
}
