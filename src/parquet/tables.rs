//! What runs on several tables share: one schema and one progress.

use crate::container::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::parquet::input::{ParquetInput, bad};
use crate::pipeline::Progress;
use parquet::file::reader::Length;

/// Reports the progress of a run by its rows: the bytes of the files in proportion to the rows
/// done.
pub(super) struct RowProgress<'j> {
    progress: &'j (dyn Fn(Progress) + Sync),
    bytes: u64,
    rows: u64,
}

impl<'j> RowProgress<'j> {
    pub(super) fn new(settings: &Settings<'j>, inputs: &[ParquetInput]) -> Self {
        Self {
            progress: settings.progress,
            bytes: inputs.iter().map(|input| input.chunks.len()).sum(),
            rows: inputs.iter().map(ParquetInput::rows).sum(),
        }
    }

    pub(super) fn report(&self, rows_done: u64) {
        let share = u128::from(self.bytes) * u128::from(rows_done) / u128::from(self.rows.max(1));
        (self.progress)(Progress::of(share as u64));
    }
}

/// The first of the inputs, if all have its schema.
pub(super) fn same_schema(inputs: &[ParquetInput]) -> Result<&ParquetInput> {
    let Some(first) = inputs.first() else {
        return bad("there is no input");
    };
    let fields = first.schema().root_schema().get_fields();
    if let Some(other) = inputs
        .iter()
        .find(|input| input.schema().root_schema().get_fields() != fields)
    {
        let what = format!(
            "its columns differ from those of {}; give each an output of its own",
            first.path.display()
        );
        return Err(Error::from(ErrorKind::BadTable(what)).at(&other.path));
    }
    Ok(first)
}
