//! Parquet files as a container: annotated with columns of verdicts, or their rows filtered.
//!
//! Outputs have the schema, the metadata and the row groups of the inputs.
//!
//! Memory is a few pages and some batches per thread, however large row groups are. Filtering also
//! takes a byte per row of the current row group; annotating takes its new columns, encoded. Pages
//! over 128 MiB are refused. A row of nested values must fit in memory.

mod added;
mod annotate;
mod arrow;
mod chunks;
mod columns;
mod delta;
mod input;
mod levels;
pub(crate) mod metadata;
mod new_columns;
mod pages;
pub(crate) mod plain_table;
mod rewrite;
mod route;
mod row_groups;
mod spool;
mod table;
mod times;
mod urls;
mod values;
mod visit;

use crate::atomic::output_name::OutputFormat;
use crate::container::added::AddedColumn;
use crate::container::files::{Container, OpenFiles};
use crate::container::form::Form;
use crate::container::outputs::{Output, Outputs, Written};
use crate::container::settings::{Settings, bad_job};
use crate::container::source::Source;
use crate::container::visit::BlockVisitor;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{ENOUGH, FileFormat};
use crate::pipeline::FilterStats;
use columns::VerdictColumns;
use input::ParquetInput;

/// Parquet files: by their name, or by their first bytes.
pub(crate) struct ParquetFiles;

impl Container for ParquetFiles {
    fn name(&self) -> &'static str {
        "Parquet files"
    }

    /// A file whose name ends in `.parquet` is Parquet, also one that is damaged at its start: its
    /// bytes never become lines. A stream cannot be read from its end, where the footer is.
    fn recognizes(&self, source: &Source, is_all: bool) -> Option<bool> {
        if !source.is_file() {
            return Some(false);
        }
        let extension = source.path.extension();
        if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            return Some(true);
        }
        let is_enough = is_all || source.start.len() >= ENOUGH;
        is_enough.then(|| FileFormat::of(&source.start) == Some(FileFormat::Parquet))
    }

    fn open(&self, sources: Vec<Source>) -> Result<Box<dyn OpenFiles>> {
        Ok(Box::new(Tables(sources)))
    }

    fn no_url(&self, lines: u64, _inputs: usize) -> Option<Error> {
        let what = format!("none of the {lines} rows has a URL in the column");
        Some(Error::from(ErrorKind::BadTable(what)).with_remedy(Remedy::NameColumn))
    }

    fn bad_records(&self, what: String) -> ErrorKind {
        ErrorKind::BadTable(what)
    }

    fn uses_all_threads(&self) -> bool {
        true
    }
}

/// Parquet files that are not read yet.
struct Tables(Vec<Source>);

impl Tables {
    /// Reads all footers before any row, and finds the columns of URLs.
    fn open(&self, settings: &Settings<'_>) -> Result<Vec<ParquetInput>> {
        self.0
            .iter()
            .map(|source| ParquetInput::open(&source.path, &settings.records))
            .collect()
    }
}

impl OpenFiles for Tables {
    /// If all rows of a row group go to one output, the row group is copied. Otherwise its values
    /// are encoded again, with the compression of their column, and with a dictionary if it had
    /// one.
    fn filter<'w>(
        self: Box<Self>,
        settings: &Settings<'_>,
        mut outputs: Outputs<Output<'w>>,
    ) -> Result<Written> {
        outputs.refuse_index()?;
        outputs
            .iter()
            .try_for_each(|output| output.check_name(OutputFormat::Parquet))?;
        let inputs = self.open(settings)?;
        let total = route::run(settings, &inputs, &mut outputs)?;
        Ok(Written::new(total, outputs))
    }

    /// Copies all columns byte for byte, and adds columns of verdicts after them.
    ///
    /// Row groups, page indexes, Bloom filters, statistics and the key-value metadata of the first
    /// input are kept. `ARROW:schema` gets the new columns too, and `robosieve.agents` lists the
    /// agents ([`metadata`]).
    fn annotate(
        self: Box<Self>,
        settings: &Settings<'_>,
        mut output: Output<'_>,
    ) -> Result<Written> {
        output.check_name(OutputFormat::Parquet)?;
        let columns = columns_of(settings)?;
        let inputs = self.open(settings)?;
        let total = annotate::run(settings, columns, &inputs, &mut output)?;
        Ok(Written::new(total, [output]))
    }

    /// The schemas of the tables may differ.
    fn visit(
        self: Box<Self>,
        settings: &Settings<'_>,
        visitor: &dyn BlockVisitor,
    ) -> Result<FilterStats> {
        let inputs = self.open(settings)?;
        visit::run(settings, &inputs, visitor)
    }
}

/// The columns that annotating adds.
fn columns_of(settings: &Settings<'_>) -> Result<VerdictColumns> {
    if settings.preferences {
        return bad_job(
            "preferences are for lists and WARC files; a Parquet file takes verdicts only",
        );
    }
    if settings.judge.agents().is_empty() && settings.added.is_empty() {
        return bad_job(
            "without agents there are no verdicts, so only added columns can be written",
        )
        .map_err(|err| err.with_remedy(Remedy::AddListColumns));
    }
    if settings.judge.agents().is_empty() && settings.form.is_some() {
        return bad_job("without agents there are no verdicts, so their columns have no form");
    }
    let has_column_per_agent =
        settings.form == Some(Form::Int8) || settings.added.iter().any(AddedColumn::is_of_agents);
    if has_column_per_agent {
        settings.refuse_repeated_agents()?;
    }
    match settings.form {
        None | Some(Form::Bits) => Ok(VerdictColumns::Bits),
        Some(Form::Int8) => Ok(VerdictColumns::Int8),
        Some(form @ (Form::Letters | Form::Jsonl | Form::Csv | Form::Mask)) => bad_job(format!(
            "the form {form} is for lists and WARC files; a Parquet file takes bits or int8"
        )),
    }
}
