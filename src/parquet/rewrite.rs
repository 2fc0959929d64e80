//! Splits the values of a column chunk by the outputs of their rows and encodes each part again.

use crate::error::Result;
use crate::parquet::input::{ParquetInput, bad, check_codec, table_error};
use crate::parquet::pages::CheckedPages;
use crate::parquet::spool::{ChunkWriter, EncodedChunk};
use crate::pipeline::Destination;
use parquet::basic::{Compression, CompressionCodec, Encoding, PageType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::column::writer::get_typed_column_writer_mut;
use parquet::data_type::DataType;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnDescriptor;
use std::path::PathBuf;
use std::sync::Arc;

/// The most rows read at once.
const MAX_STEP: usize = 1024;

/// The memory of the pages that rows read at once may keep: each row its own.
const MAX_STEP_BYTES: usize = 256 << 20;

/// The rows with a destination, and the output for them.
pub(super) struct ColumnTarget {
    pub destination: Destination,
    pub out: PathBuf,
}

/// Encodes a column of a row group once for each target.
pub(super) fn column(
    input: &ParquetInput,
    row_group: usize,
    column: usize,
    outputs: &[Option<Destination>],
    targets: &[ColumnTarget],
) -> Result<Vec<EncodedChunk>> {
    let group = input.meta.row_group(row_group);
    let chunk = group.column(column);
    check_codec(chunk)?;
    let descr = input.schema().column(column);
    let indexed = input
        .meta
        .page_index_for_row_group(row_group)
        .column_index(column)
        .is_some();
    // The statistics of a new chunk have the detail of the old ones.
    let properties = Arc::new(properties(chunk, indexed, outputs.len()));
    let mut parts = Vec::with_capacity(targets.len());
    for target in targets {
        let writer = ChunkWriter::new(&descr, &properties, &target.out);
        parts.push((target.destination, writer));
    }
    let pages = CheckedPages::open(input, row_group, column)?;
    let step = (MAX_STEP_BYTES / pages.largest.max(1)).clamp(1, MAX_STEP);
    let reader = get_column_reader(descr.clone(), Box::new(pages));
    // `split_rows` is compiled once per physical type, because values have no common type.
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::Int32ColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::Int96ColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::FloatColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::DoubleColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            split_rows(reader, &descr, step, outputs, &mut parts)
        }
    }?;
    parts
        .into_iter()
        .map(|(_, writer)| writer.close().map_err(table_error))
        .collect()
}

/// The properties of a new chunk, which are those of the chunk it is made from.
fn properties(chunk: &ColumnChunkMetaData, indexed: bool, rows: usize) -> WriterProperties {
    let compression = match chunk.compression_codec() {
        // The old framing is deprecated.
        CompressionCodec::LZ4 => Compression::LZ4_RAW,
        codec => Compression::from(codec),
    };
    let statistics = match chunk.statistics() {
        _ if indexed => EnabledStatistics::Page,
        Some(_) => EnabledStatistics::Chunk,
        None => EnabledStatistics::None,
    };
    let pages = chunk
        .page_encoding_stats()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let version = match pages
        .iter()
        .any(|page| page.page_type == PageType::DATA_PAGE_V2)
    {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let mut builder = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_statistics_enabled(statistics)
        .set_dictionary_enabled(chunk.dictionary_page_offset().is_some());
    if chunk.bloom_filter_offset().is_some() {
        builder = builder
            .set_bloom_filter_enabled(true)
            .set_bloom_filter_max_ndv(rows as u64);
    }
    match chunk.encodings().find(|encoding| is_special(*encoding)) {
        Some(encoding) => builder.set_encoding(encoding).build(),
        None => builder.build(),
    }
}

fn is_special(encoding: Encoding) -> bool {
    use Encoding::{
        BYTE_STREAM_SPLIT, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY,
    };
    matches!(
        encoding,
        BYTE_STREAM_SPLIT | DELTA_BINARY_PACKED | DELTA_BYTE_ARRAY | DELTA_LENGTH_BYTE_ARRAY
    )
}

/// The values that one target gets next.
struct ValueBuffer<T: DataType> {
    values: Vec<T::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl<T: DataType> ValueBuffer<T> {
    fn empty() -> Self {
        Self {
            values: Vec::new(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
        }
    }
}

/// Reads a column in steps and writes each row to the writer for its output.
fn split_rows<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    descr: &ColumnDescriptor,
    step: usize,
    outputs: &[Option<Destination>],
    parts: &mut [(Destination, ChunkWriter)],
) -> Result<()> {
    let max_definition = descr.max_def_level();
    let max_repetition = descr.max_rep_level();
    let mut values = Vec::new();
    let mut definitions = Vec::new();
    let mut repetitions = Vec::new();
    let mut buffers = Vec::with_capacity(parts.len());
    buffers.resize_with(parts.len(), ValueBuffer::<T>::empty);
    for outputs in outputs.chunks(step) {
        values.clear();
        definitions.clear();
        repetitions.clear();
        let wanted = outputs.len();
        let read = reader.read_records(
            wanted,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        );
        if read.map_err(table_error)?.0 != wanted {
            return bad("damaged: a column ends before its row group does");
        }
        let mut left = values.drain(..);
        let mut level = 0;
        for output in outputs {
            let part = parts
                .iter()
                .position(|(wanted, _)| Some(*wanted) == *output);
            let mut buffer = part.map(|part| &mut buffers[part]);
            // A row may have several levels: a repetition level above 0 continues the row.
            let start = level;
            while level == start
                || repetitions
                    .get(level)
                    .is_some_and(|repetition| *repetition > 0)
            {
                let definition = if max_definition > 0 {
                    definitions.get(level).copied().unwrap_or(0)
                } else {
                    0
                };
                // Nulls have levels but no value.
                let value = if definition == max_definition {
                    left.next()
                } else {
                    None
                };
                if let Some(buffer) = &mut buffer {
                    buffer.values.extend(value);
                    buffer.definitions.push(definition);
                    buffer
                        .repetitions
                        .push(repetitions.get(level).copied().unwrap_or(0));
                }
                level += 1;
            }
        }
        drop(left);
        for ((_, chunk), buffer) in parts.iter_mut().zip(&mut buffers) {
            let definitions = (max_definition > 0).then_some(buffer.definitions.as_slice());
            let repetitions = (max_repetition > 0).then_some(buffer.repetitions.as_slice());
            if !buffer.definitions.is_empty() {
                let writer = get_typed_column_writer_mut::<T>(&mut chunk.writer);
                writer
                    .write_batch(&buffer.values, definitions, repetitions)
                    .map_err(table_error)?;
            }
            buffer.values.clear();
            buffer.definitions.clear();
            buffer.repetitions.clear();
        }
    }
    Ok(())
}
