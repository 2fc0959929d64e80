//! Rows as TSV, CSV and JSON lines.
//!
//! Sites write many of the texts. In TSV and CSV, control characters are escaped as `\t` and
//! `\u{1b}`, and a backslash as `\\`, so the text can be recovered. JSON has escapes of its own.

use super::super::escape::{escape_field, escape_json, to_json};
use super::super::time::time;
use robosieve::export::{ExportBatch, ExportColumn, ExportValue};
use std::borrow::Cow;
use std::io::Write;

/// A value as plain text; a missing value is empty.
fn plain(value: ExportValue<'_>) -> Cow<'_, str> {
    match value {
        ExportValue::Text(text) | ExportValue::Json(text) => escape_field(text),
        ExportValue::Integer(number) => number.to_string().into(),
        ExportValue::Float(number) => number.to_string().into(),
        ExportValue::Time(seconds) => time(seconds).into(),
        ExportValue::Boolean(flag) => if flag { "true" } else { "false" }.into(),
        _ => "".into(),
    }
}

fn header(columns: &[ExportColumn], separator: &str, field: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = columns.iter().map(|column| field(column.name())).collect();
    names.join(separator) + "\n"
}

pub(super) fn tsv_header(columns: &[ExportColumn]) -> String {
    header(columns, "\t", |name| escape_field(name).into_owned())
}

pub(super) fn tsv(batch: &ExportBatch, out: &mut Vec<u8>) {
    for row in 0..batch.rows() {
        for column in 0..batch.columns().len() {
            if column > 0 {
                out.push(b'\t');
            }
            out.extend_from_slice(plain(batch.value(row, column)).as_bytes());
        }
        out.push(b'\n');
    }
}

pub(super) fn csv_header(columns: &[ExportColumn]) -> String {
    header(columns, ",", |name| {
        let mut field = Vec::new();
        push_csv(name, &mut field);
        String::from_utf8_lossy(&field).into_owned()
    })
}

/// Appends a text as a field of CSV.
///
/// A spreadsheet reads a field that begins with `=`, `+`, `-` or `@` as a formula, which a site
/// could inject. An apostrophe in front makes it text. A text that begins with an apostrophe gets
/// another one.
fn push_csv(text: &str, out: &mut Vec<u8>) {
    let field = escape_field(text);
    let is_quoted = field.contains([',', '"']);
    if is_quoted {
        out.push(b'"');
    }
    if text.starts_with(['=', '+', '-', '@', '\'']) {
        out.push(b'\'');
    }
    if is_quoted {
        out.extend_from_slice(field.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(field.as_bytes());
    }
}

pub(super) fn csv(batch: &ExportBatch, out: &mut Vec<u8>) {
    for row in 0..batch.rows() {
        for column in 0..batch.columns().len() {
            if column > 0 {
                out.push(b',');
            }
            match batch.value(row, column) {
                ExportValue::Text(text) | ExportValue::Json(text) => push_csv(text, out),
                value => out.extend_from_slice(plain(value).as_bytes()),
            }
        }
        out.push(b'\n');
    }
}

pub(super) fn jsonl(batch: &ExportBatch, out: &mut Vec<u8>) {
    let json = |text: &str| to_json(&text).unwrap_or_default();
    let keys: Vec<String> = batch.columns().iter().map(|column| json(column.name())).collect();
    for row in 0..batch.rows() {
        for (column, key) in keys.iter().enumerate() {
            let separator = if column == 0 { '{' } else { ',' };
            let value = match batch.value(row, column) {
                ExportValue::Text(text) => json(text),
                ExportValue::Json(text) => escape_json(text),
                ExportValue::Time(seconds) => json(&time(seconds)),
                ExportValue::Null => "null".to_owned(),
                value => plain(value).into_owned(),
            };
            // Writing to memory never fails.
            let _ = write!(out, "{separator}{key}:{value}");
        }
        out.extend_from_slice(b"}\n");
    }
}
