//! Rows as TSV, CSV and JSON lines.

use crate::figures::csv::DelimitedText;
use crate::figures::escape::{escape_json, to_json};
use crate::time::time;
use robosieve::export::{ExportBatch, ExportColumn, ExportValue};
use std::borrow::Cow;
use std::io::Write;

/// A value as a field; a missing value is empty.
fn field(value: ExportValue<'_>, format: DelimitedText) -> Cow<'_, str> {
    match value {
        ExportValue::Text(text) | ExportValue::Json(text) => format.field(text),
        ExportValue::Integer(number) => number.to_string().into(),
        ExportValue::Float(number) => number.to_string().into(),
        ExportValue::Time(seconds) => time(seconds).into(),
        ExportValue::Boolean(flag) => if flag { "true" } else { "false" }.into(),
        _ => "".into(),
    }
}

/// The names of the columns.
pub(super) fn header(columns: &[ExportColumn], format: DelimitedText) -> String {
    let mut out = String::new();
    format.push_row(
        columns.iter().map(|column| format.field(column.name())),
        &mut out,
    );
    out
}

pub(super) fn tsv(batch: &ExportBatch, out: &mut Vec<u8>) {
    push_rows(batch, DelimitedText::Tsv, out);
}

pub(super) fn csv(batch: &ExportBatch, out: &mut Vec<u8>) {
    push_rows(batch, DelimitedText::Csv, out);
}

fn push_rows(batch: &ExportBatch, format: DelimitedText, out: &mut Vec<u8>) {
    let mut line = String::new();
    for row in 0..batch.rows() {
        line.clear();
        let columns = 0..batch.columns().len();
        let fields = columns.map(|column| field(batch.value(row, column), format));
        format.push_row(fields, &mut line);
        out.extend_from_slice(line.as_bytes());
    }
}

/// A text as a JSON string. Strings always serialise.
fn json_text(text: &str) -> String {
    to_json(&text).unwrap_or_default()
}

pub(super) fn jsonl(batch: &ExportBatch, out: &mut Vec<u8>) {
    let keys: Vec<String> = batch
        .columns()
        .iter()
        .map(|column| json_text(column.name()))
        .collect();
    for row in 0..batch.rows() {
        for (column, key) in keys.iter().enumerate() {
            let separator = if column == 0 { '{' } else { ',' };
            let value = match batch.value(row, column) {
                ExportValue::Text(text) => json_text(text),
                ExportValue::Json(text) => escape_json(text),
                ExportValue::Time(seconds) => json_text(&time(seconds)),
                ExportValue::Null => "null".to_owned(),
                // A number or a boolean.
                value => field(value, DelimitedText::Tsv).into_owned(),
            };
            // Writing to memory never fails.
            let _ = write!(out, "{separator}{key}:{value}");
        }
        out.extend_from_slice(b"}\n");
    }
}
