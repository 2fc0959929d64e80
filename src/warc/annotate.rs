//! Annotates WARC files: one line per record.

use crate::archive::http::{headers, response_fields};
use crate::archive::warc::without_brackets;
use crate::container::annotation::{AnnotateScratch, Annotator};
use crate::container::form::LineForm;
use crate::container::outputs::LineSink;
use crate::error::Result;
use crate::pipeline::FilterStats;
use crate::preferences::ResponsePreferences;
use crate::records::RecordFormat;
use crate::warc::block::{RecordEntry, RecordPlaces, WarcBlock, target_of};
use crate::warc::chain::RecordJob;
use bstr::ByteSlice;
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

/// Judges records, and writes a line for each.
pub(super) struct AnnotateJob<'a, 's> {
    pub annotator: Annotator<'a, 's>,
    format: Arc<RecordFormat>,
    /// Whether each record is judged by the rules of its own time.
    with_times: bool,
}

/// The output of lines, and the counts.
pub(super) struct AnnotateWriter<'w> {
    pub sink: LineSink<'w>,
    pub total: FilterStats,
}

impl<'a, 's> AnnotateJob<'a, 's> {
    pub(super) fn new(annotator: Annotator<'a, 's>, with_times: bool) -> Self {
        Self {
            annotator,
            format: Arc::new(RecordFormat::of_objects()),
            with_times,
        }
    }
}

/// Writes the line of a record: its URL or `-`, or a JSON object.
fn write_line(
    form: LineForm,
    record: &RecordEntry,
    places: &RecordPlaces,
    head: &[u8],
    out: &mut Vec<u8>,
) {
    let target = target_of(head);
    match form {
        LineForm::Jsonl => write_object(record, places, head, target, out),
        _ if target.is_empty() => out.push(b'-'),
        _ => out.extend_from_slice(target),
    }
    out.push(b'\n');
}

fn write_object(
    record: &RecordEntry,
    places: &RecordPlaces,
    head: &[u8],
    target: &[u8],
    out: &mut Vec<u8>,
) {
    let [kind, date, id] = headers(head, ["WARC-Type", "WARC-Date", "WARC-Record-ID"]);
    out.push(b'{');
    if !target.is_empty() {
        let _ = write!(out, "\"url\":{},", json_text(target));
    }
    let _ = write!(
        out,
        "\"type\":{}",
        json_text(&kind.unwrap_or_default().to_ascii_lowercase())
    );
    if let RecordPlaces::Member(name) = places {
        let _ = write!(out, ",\"filename\":{}", json_text(name.as_bytes()));
    }
    if !matches!(places, RecordPlaces::Converted) {
        let _ = write!(
            out,
            ",\"offset\":{},\"length\":{}",
            record.offset, record.length
        );
    }
    for (key, value) in [("date", date), ("id", id.map(without_brackets))] {
        if let Some(value) = value {
            let _ = write!(out, ",\"{key}\":{}", json_text(value));
        }
    }
    out.push(b'}');
}

/// The preferences in the HTTP response of a record. A `revisit` record has the head of one too.
fn response_preferences(record: &RecordEntry, heads: &[u8]) -> ResponsePreferences {
    let [kind] = headers(&heads[record.head.clone()], ["WARC-Type"]);
    let is_response = kind.is_some_and(|kind| {
        kind.eq_ignore_ascii_case(b"response") || kind.eq_ignore_ascii_case(b"revisit")
    });
    if !is_response {
        return ResponsePreferences::default();
    }
    ResponsePreferences::from_headers(response_fields(&heads[record.sample.clone()]))
}

/// A JSON string. Bytes that are not UTF-8 are replaced.
fn json_text(value: &[u8]) -> Value {
    Value::from(value.to_str_lossy())
}

impl<'s, 'w> RecordJob<AnnotateWriter<'w>> for AnnotateJob<'_, 's> {
    type Scratch = AnnotateScratch<'s>;

    fn scratch(&self) -> AnnotateScratch<'s> {
        AnnotateScratch::new(self.annotator.judge)
    }

    fn judge(&self, block: &mut WarcBlock, scratch: &mut AnnotateScratch<'s>) -> Result<()> {
        block.extract_urls(self.with_times);
        let form = self.annotator.writer.form;
        let results = &mut block.results;
        let lines = &mut results.lines;
        let urls = &mut results.urls;
        lines.clear();
        urls.ends.clear();
        for record in &block.records {
            let head = &block.heads[record.head.clone()];
            write_line(form, record, &block.places, head, lines);
            urls.ends.push(lines.len());
        }
        results.annotated.set_records(lines, urls, &self.format);
        let mut responses = Vec::new();
        if self.annotator.preferences.is_some() {
            let records = block.records.iter();
            responses.extend(records.map(|record| response_preferences(record, &block.heads)));
        }
        self.annotator
            .annotate(&mut results.annotated, &responses, scratch)?;
        results.stats = results.annotated.stats.clone();
        block.settle_stats();
        Ok(())
    }

    fn write(&self, block: &mut WarcBlock, writer: &mut AnnotateWriter<'w>) -> Result<()> {
        if block.records.is_empty() {
            return Ok(());
        }
        writer.total.add(&block.results.stats);
        Ok(writer
            .sink
            .write(&block.results.annotated.annotated, false)?)
    }
}
