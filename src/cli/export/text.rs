//! Rows as TSV, CSV and JSON lines.
//!
//! Sites write many of the texts. In TSV and CSV, control characters are escaped as `\t` and
//! `\u{1b}`, and a backslash as `\\`, so the text can be recovered. JSON has escapes of its own.

use super::super::figures::csv::{csv_field, tsv_field};
use super::super::figures::escape::{escape_json, to_json};
use super::super::time::time;
use robosieve::export::{ExportBatch, ExportColumn, ExportValue};
use std::borrow::Cow;
use std::io::Write;

/// A value as a field, its text by `field`; a missing value is empty.
fn plain<'v>(value: ExportValue<'v>, field: fn(&str) -> Cow<'_, str>) -> Cow<'v, str> {
    match value {
        ExportValue::Text(text) | ExportValue::Json(text) => field(text),
        ExportValue::Integer(number) => number.to_string().into(),
        ExportValue::Float(number) => number.to_string().into(),
        ExportValue::Time(seconds) => time(seconds).into(),
        ExportValue::Boolean(flag) => if flag { "true" } else { "false" }.into(),
        _ => "".into(),
    }
}

fn header(columns: &[ExportColumn], separator: &str, field: fn(&str) -> Cow<'_, str>) -> String {
    let names: Vec<_> = columns.iter().map(|column| field(column.name())).collect();
    names.join(separator) + "\n"
}

pub(super) fn tsv_header(columns: &[ExportColumn]) -> String {
    header(columns, "\t", tsv_field)
}

pub(super) fn tsv(batch: &ExportBatch, out: &mut Vec<u8>) {
    for row in 0..batch.rows() {
        for column in 0..batch.columns().len() {
            if column > 0 {
                out.push(b'\t');
            }
            out.extend_from_slice(plain(batch.value(row, column), tsv_field).as_bytes());
        }
        out.push(b'\n');
    }
}

pub(super) fn csv_header(columns: &[ExportColumn]) -> String {
    header(columns, ",", csv_field)
}

pub(super) fn csv(batch: &ExportBatch, out: &mut Vec<u8>) {
    for row in 0..batch.rows() {
        for column in 0..batch.columns().len() {
            if column > 0 {
                out.push(b',');
            }
            out.extend_from_slice(plain(batch.value(row, column), csv_field).as_bytes());
        }
        out.push(b'\n');
    }
}

pub(super) fn jsonl(batch: &ExportBatch, out: &mut Vec<u8>) {
    let json = |text: &str| to_json(&text).unwrap_or_default();
    let keys: Vec<String> = batch
        .columns()
        .iter()
        .map(|column| json(column.name()))
        .collect();
    for row in 0..batch.rows() {
        for (column, key) in keys.iter().enumerate() {
            let separator = if column == 0 { '{' } else { ',' };
            let value = match batch.value(row, column) {
                ExportValue::Text(text) => json(text),
                ExportValue::Json(text) => escape_json(text),
                ExportValue::Time(seconds) => json(&time(seconds)),
                ExportValue::Null => "null".to_owned(),
                // A number or a boolean.
                value => plain(value, tsv_field).into_owned(),
            };
            // Writing to memory never fails.
            let _ = write!(out, "{separator}{key}:{value}");
        }
        out.extend_from_slice(b"}\n");
    }
}
