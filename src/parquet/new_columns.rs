//! All columns that annotating adds, and their encoding: those of verdicts, then the others. A
//! filter adds only the others.

use crate::error::Result;
use crate::parquet::added::AddedBatch;
use crate::parquet::columns::{VerdictBatch, write_verdicts};
use crate::parquet::input::{bad, table_error};
use crate::parquet::spool::{ChunkWriter, EncodedChunk};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::ColumnDescPtr;
use std::path::Path;

/// The values of all new columns for the rows of a batch.
#[derive(Debug, Default)]
pub(super) struct NewColumns {
    pub verdicts: VerdictBatch,
    pub added: AddedBatch,
}

impl NewColumns {
    pub(super) fn bytes_held(&self) -> usize {
        self.verdicts.bytes_held() + self.added.bytes_held()
    }

    /// Makes these rows null.
    pub(super) fn drop_nulls(&mut self, null_rows: &[usize]) {
        self.verdicts.drop_nulls(null_rows);
        self.added.drop_nulls(null_rows);
    }
}

/// Encodes the new columns of a row group.
pub(super) struct ColumnEncoders(Vec<ChunkWriter>);

impl ColumnEncoders {
    pub(super) fn new(
        columns: &[ColumnDescPtr],
        properties: &WriterPropertiesPtr,
        out: &Path,
    ) -> Self {
        Self(
            columns
                .iter()
                .map(|column| ChunkWriter::new(column, properties, out))
                .collect(),
        )
    }

    pub(super) fn write(&mut self, columns: &NewColumns) -> Result<()> {
        let NewColumns { verdicts, added } = columns;
        let Some((of_verdicts, of_added)) = self.0.split_at_mut_checked(verdicts.len()) else {
            return bad("there are fewer columns than verdicts");
        };
        write_verdicts(verdicts, of_verdicts)?;
        added.write(of_added)
    }

    /// Encodes added columns without verdicts.
    pub(super) fn write_added(&mut self, added: &AddedBatch) -> Result<()> {
        added.write(&mut self.0)
    }

    pub(super) fn close(self) -> Result<Vec<EncodedChunk>> {
        self.0
            .into_iter()
            .map(|column| column.close().map_err(table_error))
            .collect()
    }
}
