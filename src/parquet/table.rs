//! Writes a Parquet file whose row groups are copied from inputs or assembled from encoded column
//! chunks.

use crate::container::outputs::Output;
use crate::error::{Remedy, Result};
use crate::parquet::arrow;
use crate::parquet::input::{ParquetInput, bad, table_error};
use crate::parquet::spool::EncodedChunk;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes of an output.
type OutputWriter<'o> = &'o mut (dyn Write + Send);

/// The output of a table.
pub(super) struct TableWriter<'o> {
    path: PathBuf,
    pub writer: SerializedFileWriter<OutputWriter<'o>>,
}

impl<'o> TableWriter<'o> {
    /// Starts a file with the schema of `like` and more columns, and with these metadata entries.
    pub(super) fn create(
        output: &'o mut Output<'_>,
        like: &ParquetInput,
        fields: &[TypePtr],
        entries: Vec<KeyValue>,
    ) -> Result<Self> {
        let schema = with_fields(like, fields)?;
        let properties = Arc::new(properties(like, fields, entries));
        let path = output.path().unwrap_or(Path::new("")).to_owned();
        let writer = SerializedFileWriter::new(output.table_writer()?, schema, properties)
            .map_err(|err| table_error(err).at(&path))?;
        Ok(Self { path, writer })
    }

    /// Copies a row group byte for byte and appends the columns that `more` returns.
    pub(super) fn copy(
        &mut self,
        input: &ParquetInput,
        row_group: usize,
        more: impl FnOnce() -> Result<Vec<EncodedChunk>>,
    ) -> Result<()> {
        let to = |err| table_error(err).at(&self.path);
        let mut group = self.writer.next_row_group().map_err(to)?;
        splice(&mut group, input, row_group).map_err(|err| err.at(&input.path))?;
        for chunk in more()? {
            group
                .append_column(&chunk.data, chunk.metadata)
                .map_err(to)?;
        }
        group.close().map(drop).map_err(to)
    }

    /// Starts a row group whose chunks are appended one by one.
    pub(super) fn row_group(&mut self) -> Result<SerializedRowGroupWriter<'_, OutputWriter<'o>>> {
        self.writer
            .next_row_group()
            .map_err(|err| table_error(err).at(&self.path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the footer, with one more metadata entry.
    pub(super) fn finish_with(mut self, entry: KeyValue) -> Result<()> {
        self.writer.append_key_value_metadata(entry);
        match self.writer.finish() {
            Ok(_) => Ok(()),
            Err(err) => Err(table_error(err).at(&self.path)),
        }
    }
}

/// Copies the column chunks of a row group, with their page indexes and Bloom filters.
fn splice(
    group: &mut SerializedRowGroupWriter<'_, OutputWriter<'_>>,
    input: &ParquetInput,
    number: usize,
) -> Result<()> {
    let row_group = input.meta.row_group(number);
    let index = input.meta.page_index_for_row_group(number);
    let source = input.chunks.with_large_buffer();
    for column in 0..row_group.num_columns() {
        let chunk = row_group.column(column);
        let metadata = ColumnCloseResult {
            bytes_written: chunk.compressed_size() as u64,
            rows_written: row_group.num_rows() as u64,
            metadata: with_ordered_offsets(chunk)?,
            bloom_filter: Sbbf::read_from_column_chunk(chunk, &source).map_err(table_error)?,
            column_index: index.column_index(column).cloned(),
            offset_index: index.offset_index(column).cloned(),
        };
        group
            .append_column(&source, metadata)
            .map_err(table_error)?;
    }
    Ok(())
}

/// The metadata of a chunk with the data pages after the dictionary page. pyarrow writes offset 0
/// if a chunk has no data page; moved with the chunk, that offset could become negative.
fn with_ordered_offsets(chunk: &ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    match chunk.dictionary_page_offset() {
        Some(start) if chunk.data_page_offset() < start => {
            let end = start + chunk.compressed_size();
            chunk
                .clone()
                .into_builder()
                .set_data_page_offset(end)
                .build()
                .map_err(table_error)
        }
        _ => Ok(chunk.clone()),
    }
}

/// The first new column whose name `like` has, or an earlier new column. Some readers ignore case.
pub(super) fn existing_column<'f>(like: &ParquetInput, fields: &'f [TypePtr]) -> Option<&'f str> {
    let old = like.schema().root_schema().get_fields();
    let mut numbered = fields.iter().enumerate();
    numbered.find_map(|(number, field)| {
        let mut others = old.iter().chain(&fields[..number]);
        let name = field.name();
        others
            .any(|other| other.name().eq_ignore_ascii_case(name))
            .then_some(name)
    })
}

/// The schema of `like` with more columns at the end.
fn with_fields(like: &ParquetInput, fields: &[TypePtr]) -> Result<TypePtr> {
    let root = like.schema().root_schema_ptr();
    if fields.is_empty() {
        return Ok(root);
    }
    if let Some(name) = existing_column(like, fields) {
        let what = format!("there is a column {name:?} already; give the new one another name");
        return bad(what).map_err(|err| err.with_remedy(Remedy::RenameColumn));
    }
    let mut all = root.get_fields().to_vec();
    all.extend_from_slice(fields);
    Type::group_type_builder(root.name())
        .with_fields(all)
        .build()
        .map(Arc::new)
        .map_err(table_error)
}

/// Adds new columns to an entry with Arrow's types. Returns `false` if that fails: readers refuse a
/// file whose entry does not fit.
fn add_arrow_fields(entry: &mut KeyValue, fields: &[TypePtr]) -> bool {
    if fields.is_empty() || entry.key != arrow::KEY {
        return true;
    }
    entry.value = entry
        .value
        .as_deref()
        .and_then(|value| arrow::with_columns(value, fields));
    entry.value.is_some()
}

/// The metadata of the file.
fn properties(
    like: &ParquetInput,
    fields: &[TypePtr],
    mut entries: Vec<KeyValue>,
) -> WriterProperties {
    let file = like.meta.file_metadata();
    entries.retain_mut(|entry| add_arrow_fields(entry, fields));
    let sorting = like
        .meta
        .row_groups()
        .first()
        .and_then(|group| group.sorting_columns().cloned());
    let sorted = like
        .meta
        .row_groups()
        .iter()
        .all(|group| group.sorting_columns() == sorting.as_ref());
    let builder = WriterProperties::builder()
        .set_key_value_metadata(Some(entries).filter(|entries| !entries.is_empty()))
        .set_sorting_columns(sorting.filter(|_| sorted))
        .set_compression(parquet::basic::Compression::SNAPPY);
    // Readers trust statistics by the name of the writer, and the pages are still those of the
    // first writer.
    match file.created_by() {
        Some(writer) => builder.set_created_by(writer.to_owned()).build(),
        None => builder.build(),
    }
}
