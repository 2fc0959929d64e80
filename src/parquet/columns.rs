//! The columns of verdicts that annotating adds: their types, their values for a batch of rows, and
//! their encoding.

use crate::agent::Agent;
use crate::error::{Remedy, Result};
use crate::judge::VerdictsRef;
use crate::parquet::input::{bad, table_error};
use crate::parquet::spool::ChunkWriter;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::schema::types::{Type, TypePtr};
use std::ops::Range;
use std::sync::Arc;

/// The columns of verdicts that annotating adds: [`Form::Bits`](crate::job::Form::Bits) and
/// [`Form::Int8`](crate::job::Form::Int8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerdictColumns {
    Bits,
    Int8,
}

/// The bits of an `int64` without its sign.
const MAX_BITS: usize = 63;

impl VerdictColumns {
    /// The default name of the column, or the prefix of the columns' names.
    pub(super) fn default_name(self) -> &'static str {
        match self {
            Self::Bits => "robots_allowed",
            Self::Int8 => "robots_",
        }
    }

    /// The prefix of the names of added columns, next to verdicts of this name or prefix.
    pub(super) fn prefix(self, name: Option<&str>) -> String {
        match (self, name) {
            (_, None) => "robots_".to_owned(),
            (Self::Bits, Some(name)) => format!("{name}_"),
            (Self::Int8, Some(prefix)) => prefix.to_owned(),
        }
    }

    /// The columns for these agents; none without agents.
    pub(super) fn fields(self, agents: &[Agent], name: &str) -> Result<Vec<TypePtr>> {
        match self {
            _ if agents.is_empty() => Ok(Vec::new()),
            Self::Bits if agents.len() > MAX_BITS => bad(format!(
                "{} agents, but a mask of bits holds {MAX_BITS}; use one column per agent, or \
                 fewer agents",
                agents.len()
            ))
            .map_err(|err| err.with_remedy(Remedy::ColumnPerAgent)),
            Self::Bits => Ok(vec![optional_field(name, PhysicalType::INT64, None)?]),
            Self::Int8 => {
                let mut fields = Vec::with_capacity(agents.len());
                for agent in agents {
                    let int8 = LogicalType::integer(8, true);
                    let name = format!("{name}{agent}");
                    fields.push(optional_field(&name, PhysicalType::INT32, Some(int8))?);
                }
                Ok(fields)
            }
        }
    }

    /// Columns for a batch of rows that are not judged yet.
    pub(super) fn batch(self, agents: usize, rows: usize) -> VerdictBatch {
        let (bits, codes) = match self {
            _ if agents == 0 => (Vec::new(), Vec::new()),
            Self::Bits => (vec![0; rows], Vec::new()),
            Self::Int8 => (Vec::new(), vec![vec![0; rows]; agents]),
        };
        let columns = match self {
            Self::Bits => agents.min(1),
            Self::Int8 => agents,
        };
        VerdictBatch {
            columns,
            levels: vec![0; rows],
            bits,
            codes,
        }
    }
}

/// A column that may have nulls.
pub(super) fn optional_field(
    name: &str,
    physical: PhysicalType,
    logical: Option<LogicalType>,
) -> Result<TypePtr> {
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()
        .map(Arc::new)
        .map_err(table_error)
}

/// The verdicts for the rows of a batch.
#[derive(Debug, Default)]
pub(super) struct VerdictBatch {
    /// The number of columns.
    columns: usize,
    /// The definition level of each row: 0 if the verdicts are null there, else 1.
    levels: Vec<i16>,
    /// The mask of each row. [`drop_nulls`](Self::drop_nulls) removes those of null rows.
    bits: Vec<i64>,
    /// The same for each agent: the number of its verdict for each row.
    codes: Vec<Vec<i32>>,
}

/// Sets the values of neighbouring rows, mostly of one row. Does nothing if the column is not in
/// use.
#[inline]
fn fill<T: Copy>(column: &mut [T], rows: &Range<usize>, value: T) {
    match column.get_mut(rows.clone()) {
        Some([one]) => *one = value,
        Some(many) => many.fill(value),
        None => {}
    }
}

impl VerdictBatch {
    pub(super) fn bytes_held(&self) -> usize {
        let codes: usize = self.codes.iter().map(Vec::capacity).sum();
        self.levels.capacity() * size_of::<i16>()
            + self.bits.capacity() * size_of::<i64>()
            + codes * size_of::<i32>()
    }

    /// Sets the verdicts of neighbouring rows.
    #[inline]
    pub(super) fn set(&mut self, rows: Range<usize>, verdicts: &VerdictsRef<'_>) {
        let is_null = self.codes.is_empty() && verdicts.unjudged().is_some();
        fill(&mut self.levels, &rows, i16::from(!is_null));
        fill(&mut self.bits, &rows, verdicts.mask());
        for (agent, codes) in self.codes.iter_mut().enumerate() {
            fill(codes, &rows, verdicts.get(agent).code().into());
        }
    }

    /// The number of columns.
    pub(super) fn len(&self) -> usize {
        self.columns
    }

    /// Makes these rows null, and removes the values of all null rows, which the format does not
    /// store.
    pub(super) fn drop_nulls(&mut self, null_rows: &[usize]) {
        null_rows.iter().for_each(|row| self.levels[*row] = 0);
        if self.levels.contains(&0) {
            let levels = &self.levels;
            keep(&mut self.bits, levels);
            self.codes.iter_mut().for_each(|codes| keep(codes, levels));
        }
    }
}

/// Keeps the values whose level is 1, without branches: every value is moved, and the count grows
/// if it stays.
fn keep<T: Copy>(values: &mut Vec<T>, levels: &[i16]) {
    let mut kept = 0;
    for (row, level) in (0..values.len()).zip(levels) {
        values[kept] = values[row];
        kept += usize::from(*level == 1);
    }
    values.truncate(kept);
}

/// Encodes the verdicts of a batch, each column with its writer.
pub(super) fn write_verdicts(verdicts: &VerdictBatch, writers: &mut [ChunkWriter]) -> Result<()> {
    let levels = Some(verdicts.levels.as_slice());
    for (number, column) in writers.iter_mut().enumerate() {
        let written = match (&mut column.writer, verdicts.codes.get(number)) {
            (ColumnWriter::Int64ColumnWriter(writer), _) => {
                writer.write_batch(&verdicts.bits, levels, None)
            }
            (ColumnWriter::Int32ColumnWriter(writer), Some(codes)) => {
                writer.write_batch(codes, levels, None)
            }
            _ => return bad("a column of verdicts has another type"),
        };
        written.map_err(table_error)?;
    }
    Ok(())
}
