//! Exports: a snapshot as a table with one row per origin, per origin and agent, per sitemap, per
//! rule, or per version of an answer.
//!
//! [`Exporter`] computes the rows on all threads, in the order of the origins. `docs/EXPORT.md`
//! describes every column.
//!
//! `cells` numbers the origins, or the pairs of origin and agent. `origin_blocks` cuts them into
//! blocks, and `rows` computes the rows of a block: `file_values` parses each robots.txt, `access`
//! computes what agents may fetch, `disallowed_since` walks back over the history, `rule_groups` lists rules, and `versions` those of a history.
//! `batch` stores rows by column, and
//! `table_file` encodes them as Parquet. `stored_files` reads the distinct robots.txt files.

mod access;
mod batch;
mod cells;
mod columns;
mod disallowed_since;
mod file_values;
mod origin_blocks;
mod rows;
mod rule_groups;
mod selection;
mod stored_files;
#[cfg(feature = "parquet")]
mod table_file;
mod versions;

pub use batch::{ExportBatch, ExportValue};
pub use columns::{ColumnNames, ExportColumn, ExportTable, ExportType};
pub use rows::ExportStats;
pub use stored_files::{AgentCoverage, StoredFiles, StoredRule};

#[cfg(feature = "domains")]
pub use crate::analysis::host_parts::registrable_domain;
pub use crate::file_pass::Coverage;

#[cfg(feature = "parquet")]
use crate::atomic::output_file::OutputFile;
use crate::error::Result;
use crate::judge::{Judge, Reason};
#[cfg(feature = "parquet")]
use crate::parquet::metadata::run_metadata;
use crate::pipeline::Progress;
use crate::pipeline::ordered::{self, OrderedItem};
use crate::snapshot::OutcomeClass;
use batch::BatchLimit;
use cells::Cells;
use disallowed_since::RunMemos;
use origin_blocks::{BlockLimit, OriginSource};
use rayon::prelude::*;
use rows::RowReader;
use selection::ExportSelection;
use std::io::Write;
use std::ops::Range;
#[cfg(feature = "parquet")]
use std::path::Path;

/// The size of a block of text rows.
const TEXT_BLOCK: BlockLimit = BlockLimit {
    cells: 4096,
    bytes: 4 << 20,
};

/// The size at which the rows of a file are rendered or encoded.
const FILE_BATCH: BatchLimit = BatchLimit {
    rows: 4096,
    bytes: 1 << 20,
};

/// The size of a block that [`Exporter::read`] reads on one thread.
const READ_BLOCK: BlockLimit = BlockLimit {
    cells: 1 << 14,
    bytes: 8 << 20,
};

/// The most values of such a block: with a hundred agents, a row has hundreds of columns.
const READ_VALUES: usize = 1 << 20;

/// The size of a batch that [`Exporter::read`] returns.
const READ_BATCH: BatchLimit = BatchLimit {
    rows: 1 << 16,
    bytes: 16 << 20,
};

/// A position in the rows of an [`Exporter`]; the default is their beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportPosition {
    /// The number of the next cell.
    cell: u64,
}

/// Writes a snapshot as a table, on all threads of the current rayon pool.
///
/// Rows are in the order of the snapshot, which sorts origins by key. The output does not depend on
/// the number of threads.
///
/// Cost: a pass over the origins. Each robots.txt is decompressed and parsed about once per thread,
/// if a column needs its text. Memory: some 16 MiB per thread for parsed files, and a few blocks of
/// 4 MiB, however many origins there are.
///
/// ```
/// use robosieve::export::{ExportTable, ExportValue, Exporter};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// use std::io::Write;
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"User-agent: a\nDisallow: /\nCrawl-delay: 2")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["a".parse()?], JudgeOptions::default())?;
///
/// let mut exporter = Exporter::new(&judge, ExportTable::Origins)?;
/// exporter = exporter.choose_columns(&["origin", "a.access"])?;
///
/// let mut out = Vec::new();
/// let stats = exporter.write_text(
///     |batch, out| {
///         for row in 0..batch.rows() {
///             let ExportValue::Text(origin) = batch.value(row, 0) else { continue };
///             let ExportValue::Text(access) = batch.value(row, 1) else { continue };
///             let _ = writeln!(out, "{origin} {access}");
///         }
///     },
///     &mut out,
/// )?;
/// assert_eq!((stats.rows, out), (1, b"https://e.example blocked\n".to_vec()));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct Exporter<'e> {
    judge: &'e Judge,
    selection: ExportSelection,
    /// How the names of columns are written.
    column_spelling: ColumnNames,
    /// Since when agents are disallowed, as far as it is known.
    run_memos: RunMemos,
    /// The time that ages count to.
    now: Option<i64>,
    /// Further metadata of a Parquet file.
    metadata: Vec<(String, String)>,
    progress: &'e (dyn Fn(Progress) + Sync),
}

impl std::fmt::Debug for Exporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter")
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

impl<'e> Exporter<'e> {
    /// An export of all rows and columns of a table. The judge's agents have columns, and its
    /// options decide their values. It may have no agents.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's description is damaged;
    /// [`ErrorKind::NoHistory`](crate::ErrorKind::NoHistory) for
    /// [`ExportTable::History`] of a snapshot without one.
    pub fn new(judge: &'e Judge, table: ExportTable) -> Result<Self> {
        let engine = judge.engine();
        if table == ExportTable::History {
            engine.snapshot().require_history()?;
        }
        let newest = engine
            .snapshot()
            .metadata()?
            .captured
            .map(|span| span.newest);
        let columns = columns::all_columns(table, engine.agents());
        let selection = ExportSelection {
            table,
            columns,
            freshness: engine.snapshot().freshness()?,
            stale_at: None,
            outcomes: Vec::new(),
            reasons: Vec::new(),
        };
        Ok(Self {
            judge,
            selection,
            column_spelling: ColumnNames::default(),
            run_memos: RunMemos::default(),
            now: engine.options().at.or(newest),
            metadata: Vec::new(),
            progress: &|_| {},
        })
    }

    /// The columns, in their order: at first all of the table but `rules_file`, `status_access` and
    /// those of [`disallowed_since`](Self::disallowed_since).
    pub fn columns(&self) -> &[ExportColumn] {
        &self.selection.columns
    }

    /// Sets how the names of agents' columns are written; the default is [`ColumnNames::Dots`].
    pub fn column_names(mut self, names: ColumnNames) -> Self {
        for column in &mut self.selection.columns {
            column.set_names(names);
        }
        self.column_spelling = names;
        self
    }

    /// Chooses columns by their names, in this order, or all if none are named. Either spelling of
    /// a name is found, in any case. So are `rules_file`, the number of the robots.txt whose rules
    /// decide, which [`StoredFiles`] reads, `status_access`, the access of all agents where none does,
    /// and the columns of [`disallowed_since`](Self::disallowed_since).
    ///
    /// # Errors
    /// [`ErrorKind::NoHistory`](crate::ErrorKind::NoHistory) for a column that needs one;
    /// [`ErrorKind::BadJob`](crate::ErrorKind::BadJob) for a name without a column, and for columns
    /// whose names differ at most in case. Names that only [`ColumnNames::Underscores`] makes equal
    /// have the remedy [`NameColumnsWithDots`](crate::Remedy::NameColumnsWithDots).
    pub fn choose_columns(mut self, names: &[impl AsRef<str>]) -> Result<Self> {
        let agents = self.judge.engine().agents();
        let unlisted = columns::unlisted_columns(self.selection.table, agents);
        let listed = &self.selection.columns;
        // A column of the history may be listed already.
        let unlisted = unlisted.into_iter().filter(|column| {
            let is_same = |other: &ExportColumn| other.field() == column.field();
            !listed.iter().any(is_same)
        });
        let unlisted: Vec<ExportColumn> = unlisted.collect();
        self.selection.columns = selection::choose(listed, &unlisted, names)?;
        self.require_history_of_columns()?;
        Ok(self)
    }

    /// Adds the columns that say since when an origin disallows everything to each agent, by the
    /// history of the snapshot: `disallowed_after`, the last time at which it was known not to, and
    /// `disallowed_since`, the first time at which it did, without a break until its newest answer.
    /// Tables without columns of agents get none.
    ///
    /// Cost: for each origin and agent that is disallowed, a walk back to the answer before. A URL
    /// that many origins redirect to is walked once per thread and agent.
    ///
    /// # Errors
    /// [`ErrorKind::NoHistory`](crate::ErrorKind::NoHistory).
    ///
    /// ```
    /// use robosieve::export::{ExportTable, ExportValue, Exporter};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let archive = br#"
    ///     {"url": "https://e.example/robots.txt", "status": 404, "fetched_at": 10}
    ///     {"url": "https://e.example/robots.txt", "status": 404, "fetched_at": 20}
    ///     {"url": "https://e.example/robots.txt", "body": "User-agent: a\nDisallow: /", "fetched_at": 30}"#;
    /// let mut compiler = Compiler::default().history(true);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["a".parse()?], JudgeOptions::default())?;
    /// let exporter = Exporter::new(&judge, ExportTable::Origins)?
    ///     .disallowed_since()?
    ///     .choose_columns(&["a.disallowed_after", "a.disallowed_since"])?;
    /// let batches = exporter.read_origins(&[0])?;
    /// let found = [0, 1].map(|column| batches[0].value(0, column));
    /// assert_eq!(found, [ExportValue::Time(20), ExportValue::Time(30)]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn disallowed_since(mut self) -> Result<Self> {
        let engine = self.judge.engine();
        engine.snapshot().require_history()?;
        let more = columns::since_columns(self.selection.table, engine.agents());
        let names = self.column_spelling;
        self.selection
            .columns
            .extend(more.into_iter().map(|mut column| {
                column.set_names(names);
                column
            }));
        Ok(self)
    }

    fn require_history_of_columns(&self) -> Result<()> {
        let mut columns = self.selection.columns.iter();
        match columns.any(|column| column.field().needs_history()) {
            true => self.judge.engine().snapshot().require_history(),
            false => Ok(()),
        }
    }

    /// Sets the columns and their order. Each is one of [`columns`](Self::columns); a column of
    /// another table or of other agents is null.
    pub fn with_columns(mut self, columns: Vec<ExportColumn>) -> Self {
        self.selection.columns = columns;
        self
    }

    /// Exports only the origins whose robots.txt is stale at this time, in seconds since 1970; see
    /// [`Freshness`](crate::snapshot::Freshness).
    pub fn stale_at(mut self, time: impl Into<Option<i64>>) -> Self {
        self.selection.stale_at = time.into();
        self
    }

    /// Sets after how many seconds a failing site is stale, for [`stale_at`](Self::stale_at) and the
    /// column `stale_from`; see
    /// [`Freshness::retry_failed`](crate::snapshot::Freshness::retry_failed).
    pub fn retry_failed(mut self, seconds: u32) -> Self {
        self.selection.freshness = self.selection.freshness.retry_failed(seconds);
        self
    }

    /// Exports only the origins with one of these outcomes; all if there are none.
    pub fn outcomes(mut self, outcomes: &[OutcomeClass]) -> Self {
        self.selection.outcomes = outcomes.to_vec();
        self
    }

    /// Exports only the origins whose verdicts have one of these reasons, by the status policy and the
    /// time of the judge; all if there are none. No origin of a snapshot has the reasons
    /// [`UnknownOrigin`](Reason::UnknownOrigin) and [`NotAUrl`](Reason::NotAUrl).
    pub fn reasons(mut self, reasons: &[Reason]) -> Self {
        self.selection.reasons = reasons.to_vec();
        self
    }

    /// Adds an entry to the metadata of a Parquet file. Its entries are `robosieve.agents`, the names
    /// with commas between them, `robosieve.version`, `robosieve.snapshot`, the
    /// [checksum](crate::Snapshot::checksum) of the snapshot in hexadecimal digits,
    /// `robosieve.options`, those of the judge as JSON, and these.
    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        self.metadata.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The entries of the metadata of a Parquet file, as [`metadata`](Self::metadata) describes
    /// them, for a program that writes the rows in a format of its own.
    ///
    /// ```
    /// use robosieve::export::{ExportTable, Exporter};
    /// # use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// # let mut compiler = Compiler::default();
    /// # compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let agents = ["GPTBot".parse()?, "CCBot".parse()?];
    /// let judge = Judge::new(snapshot, &agents, JudgeOptions::default())?;
    /// let exporter = Exporter::new(&judge, ExportTable::Origins)?.metadata("run", "7");
    /// let entries = exporter.metadata_entries();
    /// assert_eq!(entries[0], ("robosieve.agents".to_owned(), "GPTBot,CCBot".to_owned()));
    /// assert_eq!(entries.last(), Some(&("run".to_owned(), "7".to_owned())));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    #[cfg(feature = "parquet")]
    pub fn metadata_entries(&self) -> Vec<(String, String)> {
        let entries = run_metadata(self.judge, None, &self.metadata).into_iter();
        entries
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    /// Sets a function to call after every block. It gets the bytes of the snapshot in proportion
    /// to the origins done.
    pub fn progress(mut self, progress: &'e (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Writes all rows as text: `render` appends the text of a batch, on any thread, and `out` gets
    /// these texts in the order of the origins.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other; I/O errors of `out`.
    pub fn write_text(
        &self,
        render: impl Fn(&ExportBatch, &mut Vec<u8>) + Sync,
        out: &mut (dyn Write + Send),
    ) -> Result<ExportStats> {
        let work = |reader: &mut RowReader<'_>, rows, text: &mut Vec<u8>| {
            text.clear();
            reader.read([rows], &mut |batch| {
                render(batch, text);
                Ok(())
            })
        };
        self.run(TEXT_BLOCK, work, |text| Ok(out.write_all(text)?))
    }

    /// Reads the next rows, on all threads of the current rayon pool; `None` at the end. For
    /// programs that take rows at their own pace.
    ///
    /// The batches are in the order of the origins. Together they have the rows of up to 16,384
    /// origins per thread, or of fewer if there are many columns or if robots.txt files are long.
    /// There may be none, if no such origin is selected. The progress is not reported.
    ///
    /// Memory: some 20 to 50 MiB per thread for the batches. In contrast to
    /// [`write_text`](Self::write_text), values of a robots.txt are not kept for the next call.
    ///
    /// # Errors
    /// As [`write_text`](Self::write_text). An error leaves the position as it was.
    ///
    /// ```
    /// # use robosieve::export::{ExportPosition, ExportTable, ExportValue, Exporter};
    /// # use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// # let mut compiler = Compiler::default();
    /// # compiler.add_robots("https://e.example", b"User-agent: a\nDisallow: /")?;
    /// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
    /// let exporter = Exporter::new(&judge, ExportTable::OriginsLong)?
    ///     .choose_columns(&["agent", "access"])?;
    /// let mut position = ExportPosition::default();
    /// while let Some(batches) = exporter.read(&mut position)? {
    ///     assert_eq!(batches[0].value(0, 1), ExportValue::Text("blocked"));
    ///     assert_eq!(batches[0].value(1, 1), ExportValue::Text("allowed"));
    /// }
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn read(&self, position: &mut ExportPosition) -> Result<Option<Vec<ExportBatch>>> {
        let engine = self.judge.engine();
        let most = READ_VALUES / self.columns().len().max(1);
        let limit = BlockLimit {
            cells: READ_BLOCK.cells.min(most.max(1) as u64),
            ..READ_BLOCK
        };
        let source = OriginSource::<()>::new(engine, self.selection.table, limit);
        let mut next = position.cell;
        let mut blocks = Vec::new();
        for _ in 0..rayon::current_num_threads() {
            let cells = source.next_block(&mut next)?;
            if cells.is_empty() {
                break;
            }
            blocks.push(cells);
        }
        if blocks.is_empty() {
            return Ok(None);
        }
        let read: Result<Vec<Vec<ExportBatch>>> = blocks
            .into_par_iter()
            .map(|cells| self.read_cells([cells]))
            .collect();
        let batches = read?;
        position.cell = next;
        Ok(Some(batches.into_iter().flatten().collect()))
    }

    /// Reads the rows of these origins, by their numbers in the snapshot, on the calling thread. The
    /// batches are in the same order. Memory grows with the rows.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if there is no such origin, or if the
    /// snapshot's bytes contradict each other.
    ///
    /// ```
    /// # use robosieve::export::{ExportTable, ExportValue, Exporter};
    /// # use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// # let mut compiler = Compiler::default();
    /// # for origin in ["https://a.example", "https://b.example", "https://c.example"] {
    /// #     compiler.add_robots(origin, b"")?;
    /// # }
    /// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &[], JudgeOptions::default())?;
    /// let exporter = Exporter::new(&judge, ExportTable::Origins)?.choose_columns(&["host"])?;
    /// let batches = exporter.read_origins(&[2, 0])?;
    /// let hosts = [0, 1].map(|row| batches[0].value(row, 0));
    /// assert_eq!(hosts, ["c.example", "a.example"].map(ExportValue::Text));
    /// assert!(exporter.read_origins(&[3]).is_err());
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn read_origins(&self, origins: &[u32]) -> Result<Vec<ExportBatch>> {
        let engine = self.judge.engine();
        if self.selection.table == ExportTable::History {
            let mut ranges = Vec::with_capacity(origins.len());
            for row in origins {
                // Rows of other URLs follow those of origins.
                engine.snapshot().origin_at(*row)?;
                let versions = engine.snapshot().versions_of(*row)?;
                ranges.push(u64::from(versions.start)..u64::from(versions.end));
            }
            return self.read_cells(ranges);
        }
        let cells = Cells::of(self.selection.table, engine);
        self.read_cells(origins.iter().map(|row| cells.of_origin(*row)))
    }

    fn read_cells(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Result<Vec<ExportBatch>> {
        let mut batches = Vec::new();
        self.row_reader(READ_BATCH).read(ranges, &mut |batch| {
            batches.push(batch.take());
            Ok(())
        })?;
        Ok(batches)
    }

    fn row_reader(&self, limit: BatchLimit) -> RowReader<'_> {
        let engine = self.judge.engine();
        RowReader::new(engine, &self.selection, &self.run_memos, self.now, limit)
    }

    /// Writes all rows to a Parquet file with typed columns and row groups of 65,536 rows. The file
    /// appears when it is complete.
    ///
    /// Every column is optional. Texts and JSON are strings, times are UTC timestamps in
    /// microseconds.
    ///
    /// # Errors
    /// As [`write_text`](Self::write_text); errors of the operating system, which name the file.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(&self, path: impl AsRef<Path>) -> Result<ExportStats> {
        let (stats, file) = self.prepare_parquet(path)?;
        file.commit()?;
        Ok(stats)
    }

    /// [`write_parquet`](Self::write_parquet), but the file appears when it is
    /// [committed](OutputFile::commit), alone or together with others.
    ///
    /// # Errors
    /// As [`write_parquet`](Self::write_parquet).
    #[cfg(feature = "parquet")]
    pub fn prepare_parquet(&self, path: impl AsRef<Path>) -> Result<(ExportStats, OutputFile)> {
        let entries = run_metadata(self.judge, None, &self.metadata);
        let mut file = table_file::TableFile::create(path.as_ref(), self.columns(), &entries)?;
        let encoder = file.encoder(self.columns());
        let work = |reader: &mut RowReader<'_>, rows, groups: &mut _| {
            let mut encoder = encoder.start();
            let stats = reader.read([rows], &mut |batch| encoder.write(batch))?;
            *groups = encoder.finish()?;
            Ok(stats)
        };
        let stats = self.run(table_file::BLOCK, work, |groups| file.append(groups))?;
        Ok((stats, file.finish()?))
    }

    /// Sends the origins through `work` on all threads, and its output to `write` in order.
    fn run<T: Default + Send>(
        &self,
        limit: BlockLimit,
        work: impl Fn(&mut RowReader<'_>, Range<u64>, &mut T) -> Result<ExportStats> + Sync,
        mut write: impl FnMut(&mut T) -> Result<()> + Send,
    ) -> Result<ExportStats> {
        let engine = self.judge.engine();
        let snapshot = engine.snapshot();
        let source = OriginSource::new(engine, self.selection.table, limit);
        let bytes = snapshot.byte_len();
        let cells = Cells::of(self.selection.table, engine).count().max(1);
        let mut total = ExportStats::default();
        ordered::run(
            &source,
            vec![()],
            || self.row_reader(FILE_BATCH),
            |block, reader| {
                block.stats = work(reader, block.cells.clone(), &mut block.output)?;
                Ok(())
            },
            |item| {
                let OrderedItem::Block(block) = item else {
                    return Ok(());
                };
                write(&mut block.output)?;
                total.origins += block.stats.origins;
                total.rows += block.stats.rows;
                // Progress is in bytes, as for other jobs. Rows come from several sections of the
                // file, so the share of the cells stands for that of the bytes.
                let share = u128::from(bytes) * u128::from(block.cells.end) / u128::from(cells);
                (self.progress)(Progress {
                    bytes_read: share as u64,
                });
                Ok(())
            },
        )?;
        snapshot.verify_unchanged()?;
        Ok(total)
    }
}
