//! The values of a column chunk, shared out by the verdicts of their rows and encoded anew.

use crate::error::Result;
use crate::judge::Verdict;
use crate::parquet::input::{ParquetInput, bad, check_codec, table_error};
use crate::parquet::spool::{ChunkWriter, Encoded};
use parquet::basic::{Compression, CompressionCodec, Encoding, PageType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::column::writer::get_typed_column_writer_mut;
use parquet::data_type::DataType;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::SerializedPageReader;
use std::path::Path;
use std::sync::Arc;

/// Rows taken at once.
const STEP: usize = 1024;

/// Encodes a column of a row group for each of the targets, which have a verdict and the path of an
/// output.
pub(super) fn column(
    input: &ParquetInput,
    (row_group, column): (usize, usize),
    verdicts: &[Verdict],
    targets: &[(Verdict, &Path)],
) -> Result<Vec<Encoded>> {
    let group = input.meta.row_group(row_group);
    let chunk = group.column(column);
    check_codec(chunk)?;
    let descr = input.schema().column(column);
    let indexed = input.meta.page_index_for_row_group(row_group).column_index(column).is_some();
    let properties = Arc::new(properties(chunk, indexed, verdicts.len()));
    let lane = |&(verdict, out): &(Verdict, &Path)| (verdict, ChunkWriter::new(&descr, &properties, out));
    let mut lanes: Vec<_> = targets.iter().map(lane).collect();
    let pages = SerializedPageReader::new(Arc::new(input.chunks.clone()), chunk, verdicts.len(), None);
    let reader = get_column_reader(descr.clone(), Box::new(pages.map_err(table_error)?));
    let levels = (descr.max_def_level(), descr.max_rep_level());
    match reader {
        ColumnReader::BoolColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::Int32ColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::Int64ColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::Int96ColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::FloatColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::DoubleColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::ByteArrayColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => share_out(reader, levels, verdicts, &mut lanes),
    }?;
    lanes.into_iter().map(|(_, writer)| writer.close().map_err(table_error)).collect()
}

/// How a chunk is written: as the one it is made from.
fn properties(chunk: &ColumnChunkMetaData, indexed: bool, rows: usize) -> WriterProperties {
    let compression = match chunk.compression_codec() {
        // Nobody writes the old framing any more.
        CompressionCodec::LZ4 => Compression::LZ4_RAW,
        codec => Compression::from(codec),
    };
    let statistics = match chunk.statistics() {
        _ if indexed => EnabledStatistics::Page,
        Some(_) => EnabledStatistics::Chunk,
        None => EnabledStatistics::None,
    };
    let pages = chunk.page_encoding_stats().map(Vec::as_slice).unwrap_or_default();
    let version = match pages.iter().any(|page| page.page_type == PageType::DATA_PAGE_V2) {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let mut builder = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_statistics_enabled(statistics)
        .set_dictionary_enabled(chunk.dictionary_page_offset().is_some());
    if chunk.bloom_filter_offset().is_some() {
        builder = builder.set_bloom_filter_enabled(true).set_bloom_filter_max_ndv(rows as u64);
    }
    match chunk.encodings().find(|encoding| is_special(*encoding)) {
        Some(encoding) => builder.set_encoding(encoding).build(),
        None => builder.build(),
    }
}

fn is_special(encoding: Encoding) -> bool {
    use Encoding::{BYTE_STREAM_SPLIT, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY};
    matches!(encoding, BYTE_STREAM_SPLIT | DELTA_BINARY_PACKED | DELTA_BYTE_ARRAY | DELTA_LENGTH_BYTE_ARRAY)
}

/// What goes to one target next.
struct Lane<T: DataType> {
    values: Vec<T::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

fn share_out<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    (full, max_repetition): (i16, i16),
    verdicts: &[Verdict],
    writers: &mut [(Verdict, ChunkWriter)],
) -> Result<()> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let empty = || Lane::<T> { values: Vec::new(), definitions: Vec::new(), repetitions: Vec::new() };
    let mut lanes: Vec<Lane<T>> = writers.iter().map(|_| empty()).collect();
    for verdicts in verdicts.chunks(STEP) {
        values.clear();
        definitions.clear();
        repetitions.clear();
        let levels = (Some(&mut definitions), Some(&mut repetitions));
        let (records, ..) =
            reader.read_records(verdicts.len(), levels.0, levels.1, &mut values).map_err(table_error)?;
        if records != verdicts.len() {
            return bad("damaged: a column ends before its row group does");
        }
        let mut left = values.drain(..);
        let mut level = 0;
        for verdict in verdicts {
            let mut lane = writers.iter().position(|(of, _)| of == verdict).map(|lane| &mut lanes[lane]);
            // A row goes on as long as levels repeat something in it.
            let start = level;
            while level == start || repetitions.get(level).is_some_and(|repetition| *repetition > 0) {
                let definition = if full > 0 { definitions.get(level).copied().unwrap_or(0) } else { 0 };
                let value = if definition == full { left.next() } else { None };
                if let Some(lane) = &mut lane {
                    lane.values.extend(value);
                    lane.definitions.push(definition);
                    lane.repetitions.push(repetitions.get(level).copied().unwrap_or(0));
                }
                level += 1;
            }
        }
        drop(left);
        for ((_, writer), lane) in writers.iter_mut().zip(&mut lanes) {
            let definitions = (full > 0).then_some(lane.definitions.as_slice());
            let repetitions = (max_repetition > 0).then_some(lane.repetitions.as_slice());
            if !lane.definitions.is_empty() {
                let writer = get_typed_column_writer_mut::<T>(&mut writer.writer);
                writer.write_batch(&lane.values, definitions, repetitions).map_err(table_error)?;
            }
            lane.values.clear();
            lane.definitions.clear();
            lane.repetitions.clear();
        }
    }
    Ok(())
}
