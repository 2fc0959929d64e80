//! Text logs with a fixed layout: literals between fields, as `LogFormat` and `log_format` write.
//!
//! A template is a literal, then fields, each with the literal that follows it. Parsing searches
//! each literal in turn, so it is linear in the line and copies nothing. In a field between quotes,
//! an escaped quote ends no field.

use crate::audit::log_time::TimeMemo;
use crate::audit::record::{LogRecord, parse_bytes, parse_status, target_of, unescaped};
use std::borrow::Cow;

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Agent,
    Time,
    Host,
    Port,
    Scheme,
    /// The request line: `GET /a HTTP/1.1`.
    Request,
    /// The request target.
    Target,
    Status,
    Bytes,
    Client,
    /// Anything else.
    Other,
}

/// A field, and the literal that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TemplateField {
    kind: FieldKind,
    literal: Vec<u8>,
    is_quoted: bool,
}

/// The layout of the lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template {
    first_literal: Vec<u8>,
    fields: Vec<TemplateField>,
}

impl Template {
    /// Appends a literal.
    pub(super) fn push_literal(&mut self, text: &[u8]) {
        match self.fields.last_mut() {
            Some(field) => field.literal.extend_from_slice(text),
            None => self.first_literal.extend_from_slice(text),
        }
    }

    /// Appends a field. Of several fields of one kind the first counts. Neighbouring fields without
    /// a literal between them are one field, such as path and query.
    pub(super) fn push_field(&mut self, kind: FieldKind) {
        let kind = if self.has(kind) { FieldKind::Other } else { kind };
        match self.fields.last_mut() {
            Some(last) if last.literal.is_empty() => {
                if last.kind == FieldKind::Other {
                    last.kind = kind;
                }
            }
            _ => self.fields.push(TemplateField { kind, literal: Vec::new(), is_quoted: false }),
        }
    }

    /// Completes the template: finds the quoted fields.
    pub(super) fn finish(mut self) -> Self {
        let mut is_open = self.first_literal.ends_with(b"\"");
        for field in &mut self.fields {
            field.is_quoted = is_open && field.literal.starts_with(b"\"");
            is_open = field.literal.ends_with(b"\"") && !(field.is_quoted && field.literal.len() == 1);
        }
        self
    }

    /// Whether a field has this meaning.
    pub(super) fn has(&self, kind: FieldKind) -> bool {
        kind != FieldKind::Other && self.fields.iter().any(|field| field.kind == kind)
    }

    /// Parses a line without its line end; `None` if it has another layout, or no valid time,
    /// status or number of bytes. Text after the last field is ignored, as servers add fields at
    /// the end.
    pub(super) fn parse<'l>(&self, line: &'l [u8], times: &mut TimeMemo) -> Option<LogRecord<'l>> {
        let mut rest = line.strip_prefix(&self.first_literal[..])?;
        let mut record = LogRecord::default();
        let mut request = None;
        let last = self.fields.len().saturating_sub(1);
        for (number, field) in self.fields.iter().enumerate() {
            let end = field.end(rest, number == last)?;
            let text = &rest[..end];
            rest = rest.get(end + field.literal.len()..).unwrap_or_default();
            match field.kind {
                FieldKind::Agent => record.agent = unescaped(text),
                FieldKind::Time => record.time = times.parse(text)?,
                FieldKind::Host => record.host = Some(unescaped(text)),
                FieldKind::Port => record.port = Cow::Borrowed(text),
                FieldKind::Scheme => record.scheme = Some(Cow::Borrowed(text)),
                FieldKind::Request => request = Some(text),
                FieldKind::Target => record.target = unescaped(text),
                FieldKind::Status => record.status = parse_status(text)?,
                FieldKind::Bytes => record.bytes = parse_bytes(text)?,
                FieldKind::Client => record.client = Cow::Borrowed(text),
                FieldKind::Other => {}
            }
        }
        if let Some(request) = request {
            record.target = unescaped(target_of(request));
        }
        Some(record)
    }
}

impl TemplateField {
    /// The length of the field at the start of a text.
    fn end(&self, text: &[u8], is_last: bool) -> Option<usize> {
        if self.is_quoted {
            return self.quoted_end(text, is_last);
        }
        let Some((&first, others)) = self.literal.split_first() else {
            // The last field: to the end, or to the next blank if it has none itself.
            let to_end = matches!(self.kind, FieldKind::Agent | FieldKind::Request);
            return Some(if to_end { text.len() } else { memchr::memchr(b' ', text).unwrap_or(text.len()) });
        };
        memchr::memchr_iter(first, text).find(|&at| text[at + 1..].starts_with(others))
    }

    /// The first quote that is not escaped and that the rest of the literal follows.
    fn quoted_end(&self, text: &[u8], is_last: bool) -> Option<usize> {
        memchr::memchr_iter(b'"', text).find(|&at| {
            let escapes = text[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            let after = &text[at..];
            // Some servers do not escape quotes. A field at the end goes on after such a quote.
            let is_end = !(is_last && self.literal.len() == 1) || matches!(after, [_] | [_, b' ' | b'\t', ..]);
            escapes % 2 == 0 && after.starts_with(&self.literal) && is_end
        })
    }
}
