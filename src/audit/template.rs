//! Text logs with a fixed layout: literals between fields, as `LogFormat` and `log_format` write.
//!
//! A template is a literal, then fields, each with the literal that follows it. Parsing searches
//! each literal in turn, so it is linear in the line and copies nothing. In a field between quotes,
//! an escaped quote ends no field.

use crate::audit::log_time::TimeMemo;
use crate::audit::record::{LogRecord, parse_bytes, parse_status, target_of};
use crate::audit::unescape::unescape;
use crate::bytes::starts_with_masked;
use std::borrow::Cow;

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    UserAgent,
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
        let kind = if self.has(kind) {
            FieldKind::Other
        } else {
            kind
        };
        match self.fields.last_mut() {
            Some(last) if last.literal.is_empty() => {
                if last.kind == FieldKind::Other {
                    last.kind = kind;
                }
            }
            _ => self.fields.push(TemplateField {
                kind,
                literal: Vec::new(),
                is_quoted: false,
            }),
        }
    }

    /// Completes the template: finds the quoted fields.
    pub(super) fn finish(mut self) -> Self {
        let mut is_open = self.first_literal.ends_with(b"\"");
        for field in &mut self.fields {
            field.is_quoted = is_open && field.literal.starts_with(b"\"");
            is_open =
                field.literal.ends_with(b"\"") && !(field.is_quoted && field.literal.len() == 1);
        }
        self
    }

    /// Whether a field has this meaning.
    pub(super) fn has(&self, kind: FieldKind) -> bool {
        kind != FieldKind::Other && self.fields.iter().any(|field| field.kind == kind)
    }

    /// Parses a line without its line end; `None` if it has another layout, or no valid time,
    /// status or number of bytes. Text after the last field is ignored, as servers add fields at
    /// the end. `times` must come from lines of this template.
    #[inline(always)]
    pub(super) fn parse<'l>(&self, line: &'l [u8], times: &mut TimeMemo) -> Option<LogRecord<'l>> {
        if !starts_with_masked(line, &self.first_literal) {
            return None;
        }
        let mut rest = &line[self.first_literal.len()..];
        let mut record = LogRecord::default();
        let last = self.fields.len().saturating_sub(1);
        for (number, field) in self.fields.iter().enumerate() {
            // Neighbouring lines often have the same time, which is not parsed again.
            if field.kind == FieldKind::Time
                && let Some(after) = times.strip_known(rest, &field.literal)
            {
                record.time = times.last();
                rest = after;
                continue;
            }
            let FieldEnd { len, is_escaped } = field.end(rest, number == last)?;
            let text = &rest[..len];
            rest = rest.get(len + field.literal.len()..).unwrap_or_default();
            match field.kind {
                FieldKind::UserAgent => record.user_agent = plain_text(text, is_escaped),
                FieldKind::Time => record.time = times.parse(text)?,
                FieldKind::Host => record.host = Some(plain_text(text, is_escaped)),
                FieldKind::Port => record.port = Cow::Borrowed(text),
                FieldKind::Scheme => record.scheme = Some(Cow::Borrowed(text)),
                FieldKind::Request => record.target = plain_text(target_of(text), is_escaped),
                FieldKind::Target if !self.has(FieldKind::Request) => {
                    record.target = plain_text(text, is_escaped)
                }
                FieldKind::Status => record.status = parse_status(text)?,
                FieldKind::Bytes => record.bytes = parse_bytes(text)?,
                FieldKind::Client => record.client = Cow::Borrowed(text),
                FieldKind::Target | FieldKind::Other => {}
            }
        }
        Some(record)
    }
}

/// The text of a field without its escapes.
#[inline]
fn plain_text(text: &[u8], is_escaped: bool) -> Cow<'_, [u8]> {
    if is_escaped {
        Cow::Owned(unescape(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// The end of a field.
struct FieldEnd {
    len: usize,
    /// Whether the field has a backslash.
    is_escaped: bool,
}

impl TemplateField {
    /// The end of the field at the start of a text.
    #[inline]
    fn end(&self, text: &[u8], is_last: bool) -> Option<FieldEnd> {
        if self.is_quoted {
            return self.quoted_end(text, is_last);
        }
        let len = match self.literal.split_first() {
            Some((&first, others)) => {
                let mut positions = memchr::memchr_iter(first, text);
                positions.find(|&at| starts_with_masked(&text[at + 1..], others))?
            }
            // The last field: to the end, or to the next blank if it has none itself.
            None if matches!(self.kind, FieldKind::UserAgent | FieldKind::Request) => text.len(),
            None => memchr::memchr(b' ', text).unwrap_or(text.len()),
        };
        let may_be_escaped = matches!(
            self.kind,
            FieldKind::UserAgent | FieldKind::Host | FieldKind::Request | FieldKind::Target
        );
        let is_escaped = may_be_escaped && memchr::memchr(b'\\', &text[..len]).is_some();
        Some(FieldEnd { len, is_escaped })
    }

    /// The first quote that is not escaped and that the rest of the literal follows.
    #[inline]
    fn quoted_end(&self, text: &[u8], is_last: bool) -> Option<FieldEnd> {
        let is_at_end = is_last && self.literal.len() == 1;
        let mut at = 0;
        let mut is_escaped = false;
        loop {
            at += memchr::memchr2(b'"', b'\\', &text[at..])?;
            let after = &text[at..];
            if after[0] == b'\\' {
                // The next byte is escaped.
                is_escaped = true;
                at += 2.min(after.len());
                continue;
            }
            // Some servers do not escape quotes. A field at the end goes on after such a quote.
            if starts_with_masked(after, &self.literal)
                && (!is_at_end || matches!(after, [_] | [_, b' ' | b'\t', ..]))
            {
                return Some(FieldEnd {
                    len: at,
                    is_escaped,
                });
            }
            at += 1;
        }
    }
}
