//! Writes a Parquet file of optional columns with plain types, row group by row group.
//!
//! The columns of a row group are encoded at the same time, on any thread, and appended to the file
//! later. Large chunks wait in unnamed temporary files.

use crate::atomic::output_file::OutputFile;
use crate::error::Result;
use crate::parquet::columns::optional_field;
use crate::parquet::input::{bad, guard, table_error};
use crate::parquet::spool::{ChunkWriter, EncodedChunk};
use parquet::basic::{Compression, LogicalType, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::column::writer::ColumnWriter;
pub(crate) use parquet::data_type::ByteArray;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainType {
    Text,
    Integer,
    /// Microseconds since 1970, in UTC.
    Time,
    Float,
    Boolean,
}

/// Some rows of a column.
#[derive(Debug)]
pub(crate) struct PlainColumn {
    /// For each row 1 if it has a value, else 0.
    pub levels: Vec<i16>,
    pub values: PlainValues,
}

/// The values that are not null.
#[derive(Debug)]
pub(crate) enum PlainValues {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Boolean(Vec<bool>),
}

/// An output that appears complete, or not at all.
pub(crate) struct PlainTable {
    path: PathBuf,
    writer: SerializedFileWriter<OutputFile>,
}

/// Encodes the row groups of a table.
#[derive(Clone)]
pub(crate) struct PlainEncoder {
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    path: PathBuf,
}

/// A row group being encoded.
pub(crate) struct PlainGroup(Vec<ChunkWriter>);

/// An encoded row group.
pub(crate) struct EncodedGroup(Vec<EncodedChunk>);

impl PlainTable {
    /// Starts a file with these columns and metadata entries.
    pub(crate) fn create(
        path: &Path,
        columns: &[(&str, PlainType)],
        entries: &[(&str, String)],
    ) -> Result<Self> {
        let schema = schema(columns)?;
        let entries = entries
            .iter()
            .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()))
            .collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(entries))
            .build();
        let file = OutputFile::create_as_is(path)?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties));
        Ok(Self {
            path: path.to_owned(),
            writer: writer.map_err(|err| table_error(err).at(path))?,
        })
    }

    /// An encoder for row groups.
    pub(crate) fn encoder(&self) -> PlainEncoder {
        let columns = self.writer.schema_descr().columns().to_vec();
        PlainEncoder {
            columns,
            properties: self.writer.properties().clone(),
            path: self.path.clone(),
        }
    }

    /// Appends a row group.
    pub(crate) fn append(&mut self, group: EncodedGroup) -> Result<()> {
        let to = |err| table_error(err).at(&self.path);
        guard(|| {
            let mut writer = self.writer.next_row_group().map_err(to)?;
            for chunk in group.0 {
                writer
                    .append_column(&chunk.data, chunk.metadata)
                    .map_err(to)?;
            }
            writer.close().map(drop).map_err(to)
        })
    }

    /// Writes the footer. The file is not visible yet.
    pub(crate) fn finish(self) -> Result<OutputFile> {
        let Self { path, writer } = self;
        guard(|| {
            writer
                .into_inner()
                .map_err(|err| table_error(err).at(&path))
        })
    }
}

fn schema(columns: &[(&str, PlainType)]) -> Result<TypePtr> {
    let mut fields = Vec::with_capacity(columns.len());
    for (name, kind) in columns {
        let (physical, logical) = match kind {
            PlainType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            PlainType::Integer => (PhysicalType::INT64, None),
            PlainType::Time => (
                PhysicalType::INT64,
                Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            ),
            PlainType::Float => (PhysicalType::DOUBLE, None),
            PlainType::Boolean => (PhysicalType::BOOLEAN, None),
        };
        fields.push(optional_field(name, physical, logical)?);
    }
    Type::group_type_builder("schema")
        .with_fields(fields)
        .build()
        .map(Arc::new)
        .map_err(table_error)
}

impl PlainEncoder {
    /// Starts a row group.
    pub(crate) fn start(&self) -> PlainGroup {
        let writers = self
            .columns
            .iter()
            .map(|column| ChunkWriter::new(column, &self.properties, &self.path));
        PlainGroup(writers.collect())
    }
}

impl PlainGroup {
    /// Appends values to the column with this number.
    pub(crate) fn write(&mut self, number: usize, column: &PlainColumn) -> Result<()> {
        let Some(chunk) = self.0.get_mut(number) else {
            return bad("a column that the table lacks");
        };
        let levels = Some(column.levels.as_slice());
        guard(|| {
            let written = match (&mut chunk.writer, &column.values) {
                (ColumnWriter::ByteArrayColumnWriter(writer), PlainValues::Text(values)) => {
                    writer.write_batch(values, levels, None)
                }
                (ColumnWriter::Int64ColumnWriter(writer), PlainValues::Integer(values)) => {
                    writer.write_batch(values, levels, None)
                }
                (ColumnWriter::DoubleColumnWriter(writer), PlainValues::Float(values)) => {
                    writer.write_batch(values, levels, None)
                }
                (ColumnWriter::BoolColumnWriter(writer), PlainValues::Boolean(values)) => {
                    writer.write_batch(values, levels, None)
                }
                _ => return bad("a column has another type"),
            };
            written.map(drop).map_err(table_error)
        })
    }

    pub(crate) fn close(self) -> Result<EncodedGroup> {
        guard(|| {
            let chunks = self
                .0
                .into_iter()
                .map(|chunk| chunk.close().map_err(table_error));
            Ok(EncodedGroup(chunks.collect::<Result<_>>()?))
        })
    }
}
