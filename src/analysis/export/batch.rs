//! Rows of a table, stored by column.

use super::columns::{ExportColumn, ExportType};
use std::ops::Range;

/// The size at which a batch is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLimit {
    /// The number of rows.
    pub rows: usize,
    /// The bytes of text.
    pub bytes: usize,
}

/// A value of an exported table.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExportValue<'b> {
    /// No value.
    Null,
    /// A text. Sites write most of them, so they may contain any characters. Bytes that are not
    /// UTF-8 are replaced by U+FFFD.
    Text(&'b str),
    /// A JSON object.
    Json(&'b str),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A time, in seconds since 1970.
    Time(i64),
    /// A truth value.
    Boolean(bool),
}

/// Some rows of an exported table. [`Exporter::write_text`](super::Exporter::write_text) passes
/// them to its renderer, and [`Exporter::read`](super::Exporter::read) returns them.
#[derive(Debug)]
pub struct ExportBatch {
    columns: Vec<ExportColumn>,
    values: Vec<ColumnValues>,
    rows: usize,
    bytes: usize,
    limit: BatchLimit,
}

/// The values of a column.
#[derive(Debug)]
pub(super) enum ColumnValues {
    /// The texts one after the other, and for each row its end and whether it has a text.
    Text {
        text: String,
        ends: Vec<(usize, bool)>,
    },
    Integer(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Boolean(Vec<Option<bool>>),
}

impl ColumnValues {
    fn new(kind: ExportType) -> Self {
        match kind {
            ExportType::Text | ExportType::Json => Self::Text {
                text: String::new(),
                ends: Vec::new(),
            },
            ExportType::Integer | ExportType::Time => Self::Integer(Vec::new()),
            ExportType::Float => Self::Float(Vec::new()),
            ExportType::Boolean => Self::Boolean(Vec::new()),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Text { text, ends } => {
                text.clear();
                ends.clear();
            }
            Self::Integer(values) => values.clear(),
            Self::Float(values) => values.clear(),
            Self::Boolean(values) => values.clear(),
        }
    }

    /// Appends a value of the column's type, or null for any other.
    fn push(&mut self, value: ExportValue<'_>) {
        match (self, value) {
            (Self::Text { text, ends }, value) => {
                let (ExportValue::Text(more) | ExportValue::Json(more)) = value else {
                    ends.push((text.len(), false));
                    return;
                };
                text.push_str(more);
                ends.push((text.len(), true));
            }
            (Self::Integer(values), ExportValue::Integer(value) | ExportValue::Time(value)) => {
                values.push(Some(value))
            }
            (Self::Float(values), ExportValue::Float(value)) => values.push(Some(value)),
            (Self::Boolean(values), ExportValue::Boolean(value)) => values.push(Some(value)),
            (Self::Integer(values), _) => values.push(None),
            (Self::Float(values), _) => values.push(None),
            (Self::Boolean(values), _) => values.push(None),
        }
    }
}

/// The range of the text of a row; `None` for a missing text.
pub(super) fn text_range(ends: &[(usize, bool)], row: usize) -> Option<Range<usize>> {
    let (end, is_present) = *ends.get(row)?;
    let start = row.checked_sub(1).map_or(0, |before| ends[before].0);
    is_present.then_some(start..end)
}

impl ExportBatch {
    pub(super) fn new(columns: &[ExportColumn], limit: BatchLimit) -> Self {
        let values = columns
            .iter()
            .map(|column| ColumnValues::new(column.kind()))
            .collect();
        Self {
            columns: columns.to_vec(),
            values,
            rows: 0,
            bytes: 0,
            limit,
        }
    }

    /// The columns.
    pub fn columns(&self) -> &[ExportColumn] {
        &self.columns
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The value in a row and a column; null outside the batch.
    pub fn value(&self, row: usize, column: usize) -> ExportValue<'_> {
        let (Some(of), Some(values)) = (self.columns.get(column), self.values.get(column)) else {
            return ExportValue::Null;
        };
        // JSON is stored like text and times like integers; only the column distinguishes them.
        let found = match values {
            ColumnValues::Text { text, ends } => {
                text_range(ends, row).map(|range| match of.kind() {
                    ExportType::Json => ExportValue::Json(&text[range]),
                    _ => ExportValue::Text(&text[range]),
                })
            }
            ColumnValues::Integer(values) => {
                values
                    .get(row)
                    .copied()
                    .flatten()
                    .map(|value| match of.kind() {
                        ExportType::Time => ExportValue::Time(value),
                        _ => ExportValue::Integer(value),
                    })
            }
            ColumnValues::Float(values) => {
                values.get(row).copied().flatten().map(ExportValue::Float)
            }
            ColumnValues::Boolean(values) => {
                values.get(row).copied().flatten().map(ExportValue::Boolean)
            }
        };
        found.unwrap_or(ExportValue::Null)
    }

    /// The stored columns.
    #[cfg(feature = "parquet")]
    pub(super) fn values(&self) -> &[ColumnValues] {
        &self.values
    }

    /// Appends a row; `value` gives the value of each column.
    pub(super) fn push_row<'v>(&mut self, mut value: impl FnMut(&ExportColumn) -> ExportValue<'v>) {
        for (column, values) in self.columns.iter().zip(&mut self.values) {
            let value = value(column);
            if let ExportValue::Text(text) | ExportValue::Json(text) = value {
                self.bytes += text.len();
            }
            values.push(value);
        }
        self.rows += 1;
    }

    /// Whether the rows should be written.
    pub(super) fn is_full(&self) -> bool {
        self.rows >= self.limit.rows || self.bytes >= self.limit.bytes
    }

    /// The rows, which leave an empty batch of the same columns.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self::new(&self.columns, self.limit);
        std::mem::replace(self, empty)
    }

    /// Removes all rows, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.values.iter_mut().for_each(ColumnValues::clear);
        self.rows = 0;
        self.bytes = 0;
    }
}
