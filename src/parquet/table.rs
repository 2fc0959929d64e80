//! A Parquet file being written: row groups of the inputs copied as they are, or put together from column chunks.

use crate::atomic::AtomicFile;
use crate::error::{Remedy, Result};
use crate::parquet::arrow;
use crate::parquet::input::{ParquetInput, bad, table_error};
use crate::parquet::spool::Encoded;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::ChunkReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An output that appears whole, or not at all.
pub(super) struct Table {
    path: PathBuf,
    writer: SerializedFileWriter<AtomicFile>,
}

impl Table {
    /// Begins a file with the schema and the metadata of `like`, and with these columns and entries more.
    pub(super) fn create(path: &Path, like: &ParquetInput, fields: &[TypePtr], entries: Vec<KeyValue>) -> Result<Self> {
        let schema = with_fields(like, fields)?;
        let properties = Arc::new(properties(like, fields, entries));
        let file = AtomicFile::create(path)?;
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(|err| table_error(err).at(path))?;
        Ok(Self { path: path.to_owned(), writer })
    }

    /// The columns from this one on.
    pub(super) fn columns_from(&self, first: usize) -> Vec<ColumnDescPtr> {
        self.writer.schema_descr().columns().iter().skip(first).cloned().collect()
    }

    pub(super) fn properties(&self) -> WriterPropertiesPtr {
        self.writer.properties().clone()
    }

    /// Copies a row group, byte for byte, and puts behind its columns what `more` gives.
    pub(super) fn copy(
        &mut self,
        input: &ParquetInput,
        row_group: usize,
        more: impl FnOnce() -> Result<Vec<Encoded>>,
    ) -> Result<()> {
        let to = |err| table_error(err).at(&self.path);
        let mut group = self.writer.next_row_group().map_err(to)?;
        splice(&mut group, input, row_group).map_err(|err| err.at(&input.path))?;
        for (chunk, end) in more()? {
            group.append_column(&chunk, end).map_err(to)?;
        }
        group.close().map(drop).map_err(to)
    }

    /// Begins a row group of chunks that are appended one by one.
    pub(super) fn row_group(&mut self) -> Result<SerializedRowGroupWriter<'_, AtomicFile>> {
        self.writer.next_row_group().map_err(|err| table_error(err).at(&self.path))
    }

    /// Writes the footer. The file appears when it is committed.
    pub(super) fn finish(self) -> Result<AtomicFile> {
        self.writer.into_inner().map_err(|err| table_error(err).at(&self.path))
    }
}

fn splice(group: &mut SerializedRowGroupWriter<'_, AtomicFile>, input: &ParquetInput, number: usize) -> Result<()> {
    let row_group = input.meta.row_group(number);
    let source = input.chunks.in_long_reads();
    for column in 0..row_group.num_columns() {
        let end = end_of(input, number, row_group, column, &source)?;
        group.append_column(&source, end).map_err(table_error)?;
    }
    Ok(())
}

/// What the file has to tell of a column chunk, page indexes and Bloom filter included.
fn end_of(
    input: &ParquetInput,
    number: usize,
    row_group: &RowGroupMetaData,
    column: usize,
    source: &impl ChunkReader,
) -> Result<ColumnCloseResult> {
    let chunk = row_group.column(column);
    let index = input.meta.page_index_for_row_group(number);
    Ok(ColumnCloseResult {
        bytes_written: chunk.compressed_size() as u64,
        rows_written: row_group.num_rows() as u64,
        metadata: with_ordered_offsets(chunk)?,
        bloom_filter: Sbbf::read_from_column_chunk(chunk, source).map_err(table_error)?,
        column_index: index.column_index(column).cloned(),
        offset_index: index.offset_index(column).cloned(),
    })
}

/// The metadata of a chunk whose data pages begin after its dictionary page. pyarrow writes 0 where
/// a chunk has no data page; moved with the chunk, that offset could become negative.
fn with_ordered_offsets(chunk: &ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    match chunk.dictionary_page_offset() {
        Some(start) if chunk.data_page_offset() < start => {
            let end = start + chunk.compressed_size();
            chunk.clone().into_builder().set_data_page_offset(end).build().map_err(table_error)
        }
        _ => Ok(chunk.clone()),
    }
}

/// The schema of `like` with these columns behind its own.
fn with_fields(like: &ParquetInput, fields: &[TypePtr]) -> Result<TypePtr> {
    let root = like.schema().root_schema_ptr();
    if fields.is_empty() {
        return Ok(root);
    }
    let mut all = root.get_fields().to_vec();
    for field in fields {
        // Some readers do not tell upper case from lower.
        if all.iter().any(|other| other.name().eq_ignore_ascii_case(field.name())) {
            let what = format!("there is a column {:?} already; give the new one another name", field.name());
            return bad(what).map_err(|err| err.with_remedy(Remedy::RenameColumn));
        }
        all.push(field.clone());
    }
    Type::group_type_builder(root.name()).with_fields(all).build().map(Arc::new).map_err(table_error)
}

/// Notes new columns where Arrow's types are noted; `false` if it cannot: readers refuse a file where that entry does not fit.
fn note_fields(entry: &mut KeyValue, fields: &[TypePtr]) -> bool {
    if fields.is_empty() || entry.key != arrow::KEY {
        return true;
    }
    entry.value = entry.value.as_deref().and_then(|value| arrow::with_columns(value, fields));
    entry.value.is_some()
}

/// What the whole file says beside its data.
fn properties(like: &ParquetInput, fields: &[TypePtr], entries: Vec<KeyValue>) -> WriterProperties {
    let file = like.meta.file_metadata();
    let mut known = file.key_value_metadata().cloned().unwrap_or_default();
    known.retain_mut(|entry| entries.iter().all(|new| new.key != entry.key) && note_fields(entry, fields));
    known.extend(entries);
    let sorting = like.meta.row_groups().first().and_then(|group| group.sorting_columns().cloned());
    let sorted = like.meta.row_groups().iter().all(|group| group.sorting_columns() == sorting.as_ref());
    let builder = WriterProperties::builder()
        .set_key_value_metadata(Some(known).filter(|known| !known.is_empty()))
        .set_sorting_columns(sorting.filter(|_| sorted))
        .set_compression(parquet::basic::Compression::SNAPPY);
    // Readers mistrust statistics by the name of their writer, and these are its pages.
    match file.created_by() {
        Some(writer) => builder.set_created_by(writer.to_owned()).build(),
        None => builder.build(),
    }
}
