//! The columns that annotating adds: their types, the values of a batch, and their encoding.

use crate::agent::Agent;
use crate::error::{Remedy, Result};
use crate::judge::LineVerdicts;
use crate::parquet::input::{bad, table_error};
use crate::parquet::spool::{ChunkWriter, Encoded};
use crate::parquet::verdicts::Rows;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use std::path::Path;
use std::sync::Arc;

/// How verdicts stand in the columns that annotating adds. In either form a row is null where there is no verdict: its origin is
/// unknown, or its value null or no URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerdictColumns {
    /// One `int64` column for up to 63 agents: bit 0 is set where the first may fetch the URL, bit 1 for the second, and so on. (Not
    /// unsigned: Spark refuses that.)
    #[default]
    Bits,
    /// An `int8` column for each agent: 1 where it may fetch the URL, 0 where not.
    Int8,
}

/// More bits would need the sign.
const MAX_BITS: usize = 63;

impl VerdictColumns {
    /// What columns are called, or begin with.
    pub(super) fn default_name(self) -> &'static str {
        match self {
            Self::Bits => "robots_allowed",
            Self::Int8 => "robots_",
        }
    }

    /// The columns for these agents.
    pub(super) fn fields(self, agents: &[Agent], name: &str) -> Result<Vec<TypePtr>> {
        let field = |name: &str, kind, logical| {
            let builder = Type::primitive_type_builder(name, kind).with_logical_type(logical);
            builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new).map_err(table_error)
        };
        match self {
            Self::Bits if agents.len() > MAX_BITS => bad(format!(
                "{} agents, but a mask of bits holds {MAX_BITS}; use one column per agent, or fewer agents",
                agents.len()
            ))
            .map_err(|err| err.with_remedy(Remedy::ColumnPerAgent)),
            Self::Bits => Ok(vec![field(name, PhysicalType::INT64, None)?]),
            Self::Int8 => {
                let int8 = || Some(LogicalType::integer(8, true));
                agents.iter().map(|agent| field(&format!("{name}{agent}"), PhysicalType::INT32, int8())).collect()
            }
        }
    }

    /// Columns for the rows of a batch, of which none is judged yet.
    pub(super) fn batch(self, agents: usize, rows: usize) -> Columns {
        let (bits, flags) = match self {
            Self::Bits => (vec![0; rows], Vec::new()),
            Self::Int8 => (Vec::new(), vec![vec![0; rows]; agents]),
        };
        Columns { judged: 0, levels: vec![0; rows], bits, flags }
    }
}

/// The values of the new columns for the rows of a batch.
#[derive(Debug)]
pub(super) struct Columns {
    /// Rows whose verdicts are there.
    judged: usize,
    /// For each row 1 if there is a verdict, else 0.
    levels: Vec<i16>,
    /// The masks, for each row: those of rows without a verdict are left out before encoding.
    bits: Vec<i64>,
    /// For each agent, the same.
    flags: Vec<Vec<i32>>,
}

impl Rows for Columns {
    #[inline]
    fn push(&mut self, verdicts: &LineVerdicts<'_>, rows: usize) {
        let from = self.judged;
        self.judged += rows;
        fill(&mut self.levels, from, rows, i16::from(verdicts.unjudged().is_none()));
        fill(&mut self.bits, from, rows, verdicts.mask());
        for (agent, flags) in self.flags.iter_mut().enumerate() {
            fill(flags, from, rows, i32::from(verdicts.may_fetch(agent)));
        }
    }

    fn set(&mut self, row: usize, verdicts: &LineVerdicts<'_>) {
        let judged = std::mem::replace(&mut self.judged, row);
        self.push(verdicts, 1);
        self.judged = judged;
    }
}

/// Sets the values of neighbouring rows, mostly of a single one, in a column that may not be there.
#[inline]
fn fill<T: Copy>(column: &mut [T], from: usize, rows: usize, value: T) {
    match column.get_mut(from..from + rows) {
        Some([one]) => *one = value,
        Some(many) => many.fill(value),
        None => {}
    }
}

impl Columns {
    /// Takes out the values of rows that have none, as the format stores them.
    pub(super) fn squeeze(&mut self) {
        if self.levels.contains(&0) {
            let levels = &self.levels;
            keep(&mut self.bits, levels);
            self.flags.iter_mut().for_each(|flags| keep(flags, levels));
        }
    }
}

/// Keeps the values whose level is 1; each is moved, and counted if it stays, as nobody can foresee which do.
fn keep<T: Copy>(values: &mut Vec<T>, levels: &[i16]) {
    let mut kept = 0;
    for (place, level) in (0..values.len()).zip(levels) {
        values[kept] = values[place];
        kept += usize::from(*level == 1);
    }
    values.truncate(kept);
}

/// Encodes the new columns of a row group.
pub(super) struct Encoders(Vec<ChunkWriter>);

impl Encoders {
    pub(super) fn new(columns: &[ColumnDescPtr], properties: &WriterPropertiesPtr, out: &Path) -> Self {
        Self(columns.iter().map(|column| ChunkWriter::new(column, properties, out)).collect())
    }

    pub(super) fn write(&mut self, columns: &Columns) -> Result<()> {
        let levels = Some(columns.levels.as_slice());
        for (number, column) in self.0.iter_mut().enumerate() {
            let written = match (&mut column.writer, columns.flags.get(number)) {
                (ColumnWriter::Int64ColumnWriter(writer), _) => writer.write_batch(&columns.bits, levels, None),
                (ColumnWriter::Int32ColumnWriter(writer), Some(flags)) => writer.write_batch(flags, levels, None),
                _ => return bad("a column of verdicts has another type"),
            };
            written.map_err(table_error)?;
        }
        Ok(())
    }

    pub(super) fn close(self) -> Result<Vec<Encoded>> {
        self.0.into_iter().map(|column| column.close().map_err(table_error)).collect()
    }
}
