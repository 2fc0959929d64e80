//! Annotates Parquet files with columns of verdicts, or filters their rows.

mod annotate;
mod arrow;
mod chunks;
mod columns;
mod flatbuffer;
mod input;
mod levels;
pub(crate) mod plain_table;
mod rewrite;
mod route;
mod row_groups;
mod spool;
mod table;
mod tally;
mod urls;
mod values;

use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::filter::output::Criterion;
use crate::filter::{Keep, Require};
use crate::judge::Judge;
use crate::pipeline::{FilterProgress, FilterStats};
pub use columns::VerdictColumns;
pub use input::ParquetInput;
use parquet::file::reader::Length;
use std::path::Path;

/// The outputs of a filter; `None` discards. Every row goes to exactly one output, in input order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParquetOutputs<'o> {
    /// The rows with the verdict that is kept.
    pub kept: Option<&'o Path>,
    /// The rows with the other verdict.
    pub other: Option<&'o Path>,
    /// The rows of unknown origins.
    pub unknown: Option<&'o Path>,
    /// The rows whose value is null or no URL.
    pub invalid: Option<&'o Path>,
}

/// Runs Parquet files through a [`Judge`], on all threads of the current rayon pool, at most
/// [`max_threads`](crate::threads::max_threads).
///
/// Outputs have the schema, the metadata and the row groups of the inputs, and appear complete or
/// not at all.
///
/// Memory is a few pages and some batches per thread, however large row groups are. Filtering also
/// takes a byte per row of the current row group; annotating takes its new columns, encoded. A
/// single hostile page can take up to 2 GiB, as the format allows.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let (table, out) = (dir.path().join("in.parquet"), dir.path().join("out.parquet"));
/// # use parquet::{data_type::{ByteArray, ByteArrayType}, file::writer::SerializedFileWriter, schema::parser::parse_message_type};
/// # let schema = parse_message_type("message m { required binary url; }")?;
/// # let mut file = SerializedFileWriter::new(std::fs::File::create(&table)?, schema.into(), Default::default())?;
/// # let mut group = file.next_row_group()?;
/// # let mut column = group.next_column()?.unwrap();
/// # let urls = ["https://e.example/a", "https://e.example/x", "?"].map(ByteArray::from);
/// # column.typed::<ByteArrayType>().write_batch(&urls, None, None)?;
/// # column.close()?;
/// # group.close()?;
/// # file.close()?;
/// use robosieve::parquet::{ParquetFilter, ParquetInput, ParquetOutputs};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let inputs = [ParquetInput::open(&table, "url")?];
/// let stats = ParquetFilter::new(&judge).run(&inputs, ParquetOutputs { kept: Some(&out), ..Default::default() })?;
/// assert_eq!((stats.lines, stats.allowed, stats.disallowed, stats.invalid), (3, 1, 1, 1));
/// assert_eq!(ParquetInput::open(&out, "url")?.rows(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ParquetFilter<'f> {
    judge: &'f Judge,
    criterion: Criterion,
    columns: VerdictColumns,
    name: Option<&'f str>,
    require_url: bool,
    progress: &'f (dyn Fn(FilterProgress) + Sync),
}

impl std::fmt::Debug for ParquetFilter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetFilter")
            .field("criterion", &self.criterion)
            .finish_non_exhaustive()
    }
}

impl<'f> ParquetFilter<'f> {
    /// A filter that keeps the rows that all agents may fetch. Annotating adds masks of bits.
    pub fn new(judge: &'f Judge) -> Self {
        let criterion = Criterion {
            keep: Keep::default(),
            require: Require::default(),
        };
        let columns = VerdictColumns::default();
        Self {
            judge,
            criterion,
            columns,
            name: None,
            require_url: false,
            progress: &|_| {},
        }
    }

    /// Sets which rows to keep.
    pub fn keep(mut self, keep: Keep, require: Require) -> Self {
        self.criterion = Criterion { keep, require };
        self
    }

    /// Sets which columns annotating adds.
    pub fn columns(mut self, columns: VerdictColumns) -> Self {
        self.columns = columns;
        self
    }

    /// Sets the name of the column of masks (default `robots_allowed`), or the prefix of the
    /// agents' columns (default `robots_`).
    pub fn name(mut self, name: &'f str) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets whether a column without any URL among its values is an error. Then no output appears.
    pub fn require_url(mut self, require: bool) -> Self {
        self.require_url = require;
        self
    }

    /// Sets a function to call after every batch. It gets the bytes of the files in proportion to
    /// the rows done.
    pub fn progress(mut self, progress: &'f (dyn Fn(FilterProgress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Writes every row of the inputs, in order, to one of the outputs. If all rows of a row group
    /// go to one output, the row group is copied. Otherwise its values are encoded again, with the
    /// compression of their column, and with a dictionary if it had one.
    ///
    /// # Errors
    /// [`ErrorKind::BadTable`] for damaged inputs, inputs with different schemas, and columns
    /// compressed with Brotli or LZO; I/O errors, which name the file; [`ErrorKind::Corrupt`] of
    /// the snapshot. No output appears then.
    pub fn run(&self, inputs: &[ParquetInput], outputs: ParquetOutputs<'_>) -> Result<FilterStats> {
        route::run(self, inputs, outputs)
    }

    /// Writes the inputs, in order, to `out`: all columns byte for byte, and columns of verdicts
    /// after them.
    ///
    /// Row groups, page indexes, Bloom filters, statistics and the key-value metadata of the first
    /// input are kept. `ARROW:schema` gets the new columns too, and `robosieve.agents` lists the
    /// agents.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`ErrorKind::BadTable`] if a column of that name exists, or if a
    /// mask of bits is asked for more than 63 agents.
    pub fn annotate(&self, inputs: &[ParquetInput], out: impl AsRef<Path>) -> Result<FilterStats> {
        annotate::run(self, inputs, out.as_ref())
    }

    /// An error if a URL is required and the rows of `inputs` have none.
    fn check(&self, stats: &FilterStats, inputs: &[ParquetInput]) -> Result<()> {
        if !self.require_url || !stats.has_no_url() {
            return Ok(());
        }
        let what = format!("none of the {} rows has a URL in the column", stats.lines);
        let err = Error::from(ErrorKind::BadTable(what)).with_remedy(Remedy::NameColumn);
        Err(inputs.iter().fold(err, |err, input| err.at(&input.path)))
    }

    /// A function that reports progress, given the rows that are done.
    fn progress_of(&self, inputs: &[ParquetInput]) -> impl FnMut(u64) + Send + use<'f> {
        let bytes: u64 = inputs.iter().map(|input| input.chunks.len()).sum();
        let rows: u64 = inputs.iter().map(ParquetInput::rows).sum();
        let progress = self.progress;
        move |done| {
            let share = u128::from(bytes) * u128::from(done) / u128::from(rows.max(1));
            progress(FilterProgress {
                bytes_read: share as u64,
            });
        }
    }
}

/// The first of the inputs, if all have its schema.
fn same_schema(inputs: &[ParquetInput]) -> Result<&ParquetInput> {
    let Some(first) = inputs.first() else {
        return input::bad("there is no input");
    };
    let differs = |input: &&ParquetInput| {
        input.schema().root_schema().get_fields() != first.schema().root_schema().get_fields()
    };
    if let Some(other) = inputs.iter().find(differs) {
        let what = format!(
            "its columns differ from those of {}; give each an output of its own",
            first.path.display()
        );
        return Err(Error::from(ErrorKind::BadTable(what)).at(&other.path));
    }
    Ok(first)
}
