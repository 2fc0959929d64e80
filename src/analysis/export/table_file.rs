//! Rows to a Parquet file. Each worker encodes the row groups of its block.

use super::batch::{ColumnValues, ExportBatch, text_range};
use super::columns::{ExportColumn, ExportType};
use super::origin_blocks::BlockLimit;
use crate::atomic::output_file::OutputFile;
use crate::error::Result;
use crate::parquet::plain_table::{
    ByteArray, EncodedGroup, PlainColumn, PlainEncoder, PlainGroup, PlainTable, PlainType,
    PlainValues,
};
use bytes::Bytes;
use std::path::Path;

/// The number of rows at which a row group ends.
const ROW_GROUP: usize = 1 << 16;

/// The size of a block. Row groups end with their block, so a block has more rows than one of text.
/// Memory does not grow with it, as rows are encoded in batches.
pub(super) const BLOCK: BlockLimit = BlockLimit {
    cells: 1 << 16,
    bytes: 512 << 20,
};

/// A Parquet file being written.
pub(super) struct TableFile(PlainTable);

/// Encodes the row groups of blocks.
pub(super) struct TableEncoder {
    encoder: PlainEncoder,
    types: Vec<ExportType>,
}

/// The row groups of a block.
pub(super) struct BlockEncoder<'e> {
    table: &'e TableEncoder,
    open: Option<PlainGroup>,
    rows: usize,
    done: Vec<EncodedGroup>,
}

impl TableFile {
    pub(super) fn create(
        path: &Path,
        columns: &[ExportColumn],
        entries: &[(&str, String)],
    ) -> Result<Self> {
        let fields: Vec<(&str, PlainType)> = columns
            .iter()
            .map(|column| (column.name(), plain_type(column.kind())))
            .collect();
        Ok(Self(PlainTable::create(path, &fields, entries)?))
    }

    pub(super) fn encoder(&self, columns: &[ExportColumn]) -> TableEncoder {
        TableEncoder {
            encoder: self.0.encoder(),
            types: columns.iter().map(ExportColumn::kind).collect(),
        }
    }

    /// Appends the row groups of a block.
    pub(super) fn append(&mut self, groups: &mut Vec<EncodedGroup>) -> Result<()> {
        groups.drain(..).try_for_each(|group| self.0.append(group))
    }

    /// Ends the file, which is not visible yet.
    pub(super) fn finish(self) -> Result<OutputFile> {
        self.0.finish()
    }
}

fn plain_type(kind: ExportType) -> PlainType {
    match kind {
        ExportType::Text | ExportType::Json => PlainType::Text,
        ExportType::Integer => PlainType::Integer,
        ExportType::Float => PlainType::Float,
        ExportType::Time => PlainType::Time,
        ExportType::Boolean => PlainType::Boolean,
    }
}

impl TableEncoder {
    /// Starts a block.
    pub(super) fn start(&self) -> BlockEncoder<'_> {
        BlockEncoder {
            table: self,
            open: None,
            rows: 0,
            done: Vec::new(),
        }
    }
}

impl BlockEncoder<'_> {
    pub(super) fn write(&mut self, batch: &ExportBatch) -> Result<()> {
        let group = self.open.get_or_insert_with(|| self.table.encoder.start());
        for (number, (values, kind)) in batch.values().iter().zip(&self.table.types).enumerate() {
            group.write(number, &plain_column(values, *kind))?;
        }
        self.rows += batch.rows();
        if self.rows >= ROW_GROUP {
            self.end_group()
        } else {
            Ok(())
        }
    }

    fn end_group(&mut self) -> Result<()> {
        self.rows = 0;
        if let Some(group) = self.open.take() {
            self.done.push(group.close()?);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<EncodedGroup>> {
        self.end_group()?;
        Ok(self.done)
    }
}

fn plain_column(values: &ColumnValues, kind: ExportType) -> PlainColumn {
    match values {
        ColumnValues::Text { text, ends } => {
            let levels = ends
                .iter()
                .map(|(_, is_present)| i16::from(*is_present))
                .collect();
            // One copy; each value is a part of it.
            let shared = Bytes::copy_from_slice(text.as_bytes());
            let found = (0..ends.len()).filter_map(|row| text_range(ends, row));
            let values = found.map(|range| ByteArray::from(shared.slice(range)));
            PlainColumn {
                levels,
                values: PlainValues::Text(values.collect()),
            }
        }
        // Parquet has no timestamps in seconds. A time beyond 64 bits of microseconds is null.
        ColumnValues::Integer(values) if kind == ExportType::Time => {
            let micros: Vec<Option<i64>> = values
                .iter()
                .map(|time| time.and_then(|time| time.checked_mul(1_000_000)))
                .collect();
            PlainColumn {
                levels: levels(&micros),
                values: PlainValues::Integer(present(&micros)),
            }
        }
        ColumnValues::Integer(values) => PlainColumn {
            levels: levels(values),
            values: PlainValues::Integer(present(values)),
        },
        ColumnValues::Float(values) => PlainColumn {
            levels: levels(values),
            values: PlainValues::Float(present(values)),
        },
        ColumnValues::Boolean(values) => PlainColumn {
            levels: levels(values),
            values: PlainValues::Boolean(present(values)),
        },
    }
}

fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect()
}

fn present<T: Copy>(values: &[Option<T>]) -> Vec<T> {
    values.iter().copied().flatten().collect()
}
