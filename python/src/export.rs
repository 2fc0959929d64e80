//! A snapshot as a table, in the Arrow C stream interface: the command `export` for programs.
//!
//! The rows are computed while the consumer reads the stream, some of them at a time, so a table
//! may be larger than memory. The consumer may read on any thread, with or without the
//! interpreter's lock, so nothing here uses Python after the stream is made.

use crate::errors::{detached, exception};
use crate::judging::{threads_argument, threads_for};
use crate::options::{
    SETS, field, judge_options, named_field, named_fields, one_of, parse_agents, sets_json,
};
use crate::result_table::{schema_capsule, stream_capsule};
use crate::snapshot::Snapshot;
use crate::verification::Depth;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::ThreadPoolBuilder;
use robosieve::compile::Compiled;
use robosieve::export::{
    ColumnNames, ExportBatch, ExportPosition, ExportTable, ExportType, ExportValue, Exporter,
};
use robosieve::judge::{JudgeOptions, Reason};
use robosieve::snapshot::OutcomeClass;
use robosieve::{ErrorKind, Judge};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// The time zone of times.
const UTC: &str = "UTC";

/// The tables by their names.
const TABLES: &[(ExportTable, &str)] = &[
    (ExportTable::Origins, "origins"),
    (ExportTable::Sitemaps, "sitemaps"),
    (ExportTable::Rules, "rules"),
    (ExportTable::History, "history"),
];

/// The rows and columns that the caller asked for.
#[derive(Clone)]
struct Request {
    judge: Judge,
    /// The path of the snapshot, for messages.
    path: PathBuf,
    table: ExportTable,
    disallowed_since: bool,
    columns: Vec<String>,
    names: ColumnNames,
    stale_at: Option<i64>,
    retry_failed: u32,
    outcomes: Vec<OutcomeClass>,
    reasons: Vec<Reason>,
    threads: usize,
    /// The members of the sets of agents as JSON.
    sets: Option<String>,
}

impl Request {
    fn exporter(&self) -> robosieve::Result<Exporter<'_>> {
        let mut exporter =
            Exporter::new(&self.judge, self.table).map_err(|err| err.at(&self.path))?;
        if let Some(sets) = &self.sets {
            exporter = exporter.metadata(SETS, sets);
        }
        if self.disallowed_since {
            exporter = exporter.disallowed_since()?;
        }
        Ok(exporter
            .column_names(self.names)
            .choose_columns(&self.columns)?
            .stale_at(self.stale_at)
            .retry_failed(self.retry_failed)
            .outcomes(&self.outcomes)
            .reasons(&self.reasons))
    }
}

/// The schema of the rows, with the metadata of a Parquet file of the command.
fn schema(exporter: &Exporter<'_>) -> SchemaRef {
    let fields: Vec<Field> = exporter
        .columns()
        .iter()
        .map(|column| Field::new(column.name(), data_type(column.kind()), true))
        .collect();
    let metadata: HashMap<String, String> = exporter.metadata_entries().into_iter().collect();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

fn data_type(kind: ExportType) -> DataType {
    match kind {
        ExportType::Integer => DataType::Int64,
        ExportType::Float => DataType::Float64,
        ExportType::Boolean => DataType::Boolean,
        ExportType::Time => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        _ => DataType::Utf8,
    }
}

/// A table of a snapshot, which any Arrow library reads.
#[pyclass(frozen, module = "robosieve")]
pub(crate) struct ExportedTable {
    request: Request,
    schema: SchemaRef,
}

#[pymethods]
impl ExportedTable {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        let rows = match self.request.table {
            ExportTable::Sitemaps => "sitemaps",
            ExportTable::Rules => "rules",
            ExportTable::History => "versions",
            ExportTable::OriginsLong => "origins and agents",
            _ => "origins",
        };
        let columns = self.schema.fields().len();
        format!("<robosieve.ExportedTable of {rows}: {columns} columns>")
    }

    /// The types, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The types and the rows, by the Arrow PyCapsule interface. Each call gives a stream of all
    /// rows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the request, which is a wish.
        drop(requested_schema);
        let rows = RowStream {
            request: self.request.clone(),
            schema: Arc::clone(&self.schema),
            position: ExportPosition::default(),
            batches: VecDeque::new(),
            is_at_end: false,
        };
        stream_capsule(py, rows)
    }
}

/// The rows of a table, which are computed as they are read.
struct RowStream {
    request: Request,
    schema: SchemaRef,
    position: ExportPosition,
    /// The batches that were computed and not read yet.
    batches: VecDeque<ExportBatch>,
    is_at_end: bool,
}

impl RowStream {
    /// Computes more batches, in threads of their own: a pool would not survive `os.fork`, and
    /// between two calls any time may pass.
    fn read(&mut self) -> Result<(), ArrowError> {
        let pool = ThreadPoolBuilder::new().num_threads(self.request.threads);
        let pool = pool.build().map_err(external)?;
        let exporter = self.request.exporter().map_err(external)?;
        let position = &mut self.position;
        let read = pool.install(|| exporter.read(position));
        match read.map_err(|err| external(err.at(&self.request.path)))? {
            Some(batches) => self.batches.extend(batches),
            None => self.is_at_end = true,
        }
        Ok(())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while self.batches.is_empty() && !self.is_at_end {
            self.read()?;
        }
        let Some(batch) = self.batches.pop_front() else {
            return Ok(None);
        };
        let columns = batch.columns().iter().enumerate();
        let arrays = columns.map(|(number, column)| array(&batch, number, column.kind()));
        RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect()).map(Some)
    }
}

impl Iterator for RowStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A panic must not unwind into the consumer, which is C.
        let next = catch_unwind(AssertUnwindSafe(|| self.next_batch())).unwrap_or_else(|_| {
            let text = "internal error, please report it: a panic while rows were exported";
            Err(ArrowError::ComputeError(text.to_owned()))
        });
        if next.is_err() {
            self.batches.clear();
            self.is_at_end = true;
        }
        next.transpose()
    }
}

impl RecordBatchReader for RowStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn external(err: impl std::error::Error + Send + Sync + 'static) -> ArrowError {
    ArrowError::ExternalError(Box::new(err))
}

/// A column of a batch.
fn array(batch: &ExportBatch, column: usize, kind: ExportType) -> ArrayRef {
    let values = (0..batch.rows()).map(|row| batch.value(row, column));
    match kind {
        ExportType::Integer => Arc::new(Int64Array::from_iter(values.map(|value| match value {
            ExportValue::Integer(number) => Some(number),
            _ => None,
        }))),
        ExportType::Float => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            ExportValue::Float(number) => Some(number),
            _ => None,
        }))),
        ExportType::Boolean => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
            ExportValue::Boolean(flag) => Some(flag),
            _ => None,
        }))),
        ExportType::Time => {
            // A time beyond 64 bits of microseconds is null, as in Parquet.
            let times = values.map(|value| match value {
                ExportValue::Time(seconds) => seconds.checked_mul(1_000_000),
                _ => None,
            });
            Arc::new(TimestampMicrosecondArray::from_iter(times).with_timezone(UTC))
        }
        _ => Arc::new(StringArray::from_iter(values.map(|value| match value {
            ExportValue::Text(text) | ExportValue::Json(text) => Some(text),
            _ => None,
        }))),
    }
}

/// The rows and columns that a caller asked for: `robosieve._options.TableOptions`.
pub(crate) struct TableOptions {
    table: ExportTable,
    disallowed_since: bool,
    columns: Vec<String>,
    names: ColumnNames,
    as_of: Option<i64>,
    stale_at: Option<i64>,
    retry_failed: u32,
    outcomes: Vec<OutcomeClass>,
    reasons: Vec<Reason>,
}

/// The argument `options` of a table.
///
/// # Errors
/// `TypeError` for other types, `ValueError` for unknown names, and for options of another table.
fn table_options(given: &Bound<'_, PyAny>) -> PyResult<TableOptions> {
    let name: String = field(given, "table")?;
    let mut table = one_of("table", &name, TABLES)?;
    if field(given, "long")? {
        if table != ExportTable::Origins {
            return Err(refused(
                "long=True has one row per origin and agent; leave table= out",
            ));
        }
        table = ExportTable::OriginsLong;
    }
    Ok(TableOptions {
        table,
        disallowed_since: field(given, "disallowed_since")?,
        columns: field(given, "columns")?,
        names: named_field(given, "column_names")?.unwrap_or_default(),
        as_of: field(given, "as_of")?,
        stale_at: field(given, "stale_at")?,
        retry_failed: field(given, "retry_failed")?,
        outcomes: named_fields(given, "outcomes")?,
        reasons: named_fields(given, "reasons")?,
    })
}

fn refused(what: &'static str) -> PyErr {
    PyValueError::new_err(what)
}

/// Refuses options that contradict each other, as the command does.
fn refuse_contradictions(
    options: &TableOptions,
    agents: &[String],
    at: Option<i64>,
) -> PyResult<()> {
    if options.table == ExportTable::OriginsLong && agents.is_empty() {
        return Err(refused(
            "long=True has one row per origin and agent; name agents, such as \"GPTBot\"",
        ));
    }
    if options.as_of.is_some() && at.is_some() {
        return Err(refused(
            "as_of judges at its own time; leave at= or as_of= out",
        ));
    }
    if options.disallowed_since {
        let is_of_origins = matches!(
            options.table,
            ExportTable::Origins | ExportTable::OriginsLong
        );
        if !is_of_origins {
            return Err(refused(
                "disallowed_since=True adds columns to the table of origins; leave table= out",
            ));
        }
        if agents.is_empty() {
            return Err(refused(
                "disallowed_since=True has two columns per agent; name agents, such as \"GPTBot\"",
            ));
        }
        if options.as_of.is_some() {
            return Err(refused(SINCE_AS_OF));
        }
    }
    if options.table != ExportTable::History {
        return Ok(());
    }
    // These say of which time an origin is, or which origins are in the table.
    let selections = [
        ("as_of", options.as_of.is_some()),
        ("at", at.is_some()),
        ("stale_at", options.stale_at.is_some()),
        ("outcomes", !options.outcomes.is_empty()),
        ("reasons", !options.reasons.is_empty()),
    ];
    match selections.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(PyValueError::new_err(format!(
            "{option}= selects among the answers of one time, and table=\"history\" has those of all \
             times; select its rows by since, changed_at and outcome, or leave table= out"
        ))),
    }
}

/// Why a snapshot of one time cannot say since when an agent is disallowed.
const SINCE_AS_OF: &str = "as_of describes the snapshot of one time, which has no history; leave it out, or \
                           leave disallowed_since and its columns out";

/// A judge of the snapshot as of a time, which is made in memory.
fn judge_as_of(
    py: Python<'_>,
    snapshot: &Snapshot,
    agents: &[String],
    options: JudgeOptions,
    time: i64,
    threads: usize,
) -> PyResult<Judge> {
    let agents = match agents {
        [] => Vec::new(),
        agents => parse_agents(agents)?,
    };
    // It is made of all texts of the history, so these are verified first.
    snapshot.verify_to(py, Depth::Checksums)?;
    let judge = detached(py, || {
        // A pool of its own, as in `RowStream::read`.
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|err| PyRuntimeError::new_err(err.to_string()))?;
        Ok(pool.install(|| {
            let compiled = Compiled::as_of(snapshot.opened(), time)?;
            let then = robosieve::Snapshot::new(compiled.to_vec()?)?;
            // Nothing can have damaged it.
            then.assume_verified();
            Judge::new(then, &agents, options.at(time))
        }))
    })?;
    judge.map_err(|err| snapshot.exception(py, err))
}

/// The snapshot as a table.
#[pyfunction]
pub(crate) fn export(
    py: Python<'_>,
    snapshot: &Snapshot,
    agents: Vec<String>,
    #[pyo3(from_py_with = table_options)] table: TableOptions,
    #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
    #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
) -> PyResult<ExportedTable> {
    refuse_contradictions(&table, &agents, options.at)?;
    let threads = threads_for(usize::MAX, threads);
    let judge = match table.as_of {
        Some(time) => judge_as_of(py, snapshot, &agents, options, time, threads)?,
        None => snapshot.judge_of_any(py, &agents, options)?,
    };
    let request = Request {
        sets: sets_json(&agents, judge.agents())?,
        table: table.table,
        disallowed_since: table.disallowed_since,
        columns: table.columns,
        names: table.names,
        stale_at: table.stale_at,
        retry_failed: table.retry_failed,
        outcomes: table.outcomes,
        reasons: table.reasons,
        threads,
        judge,
        path: snapshot.shown_path().to_owned(),
    };
    // Names of columns are checked before the file is read. Texts are exported, so everything is
    // verified.
    let schema = match request.exporter() {
        Ok(exporter) => schema(&exporter),
        Err(err) => {
            return Err(match (err.kind(), table.as_of) {
                (ErrorKind::NoHistory, Some(_)) => refused(SINCE_AS_OF),
                (ErrorKind::NoHistory, None) => snapshot.exception(py, err),
                _ => exception(err),
            });
        }
    };
    snapshot.verify_to(py, Depth::Checksums)?;
    Ok(ExportedTable { request, schema })
}
