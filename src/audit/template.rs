//! Text logs with a fixed layout: literals between fields, as `LogFormat` and `log_format` write.
//!
//! A template is a literal, then fields, each with the literal that follows it. Parsing searches
//! each literal in turn, in bitmaps of the quotes and blanks ([`DelimiterIndex`]). So it is linear
//! in the line and copies nothing. In a field between quotes, an escaped quote ends no field.

use crate::audit::delimiter_index::DelimiterIndex;
use crate::audit::log_time::TimeMemo;
use crate::audit::record::{LogRecord, parse_bytes, parse_status, target_of};
use crate::audit::unescape::unescape;
use crate::bytes::first_word;
use std::borrow::Cow;
use std::ops::Range;

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
    /// The address of the client, a colon and its port.
    ClientAndPort,
    /// Anything else.
    Other,
}

/// The number of kinds.
const KINDS: usize = FieldKind::Other as usize + 1;

/// A field, and the literal that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TemplateField {
    kind: FieldKind,
    literal: Literal,
    end: EndSearch,
    /// Whether the field is a text that may have escapes.
    may_be_escaped: bool,
}

/// How the end of a field is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndSearch {
    /// By the quotes: a field between quotes.
    Quote,
    /// Likewise, if nothing but the quote follows the field in the layout.
    LastQuote,
    /// By the blanks.
    Blank,
    /// By the first byte of the literal.
    Byte(u8),
    /// To the next blank if there is one: the last field.
    Word,
    /// To the end of the line.
    Line,
}

/// A text between fields. Nearly all have at most eight bytes, which are compared as one word.
/// Comparing slices took 120 instructions per line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Literal {
    text: Vec<u8>,
    /// The first eight bytes, padded with zeros.
    word: u64,
    /// The bits of `word` without its padding.
    mask: u64,
}

/// The layout of the lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template {
    first_literal: Literal,
    fields: Vec<TemplateField>,
}

/// The fields of the last parsed line: their spans, with escapes. Most lines are of browsers, and
/// only the User-Agent is read.
///
/// It is filled in place, and kept from line to line. Returning it copied it, which took 70
/// instructions per line.
#[derive(Debug, Default)]
pub(super) struct TextFields {
    /// The span of each kind. Kinds that the layout does not have keep an empty span.
    spans: [FieldSpan; KINDS],
    times: TimeMemo,
    time: i64,
    status: u16,
    bytes: u64,
}

/// The span of a field in its line.
#[derive(Clone, Copy, Debug, Default)]
struct FieldSpan {
    start: usize,
    end: usize,
    /// Whether the layout has the field.
    is_there: bool,
    /// Whether the field has a backslash.
    is_escaped: bool,
}

impl Template {
    /// Appends a literal.
    pub(super) fn push_literal(&mut self, text: &[u8]) {
        match self.fields.last_mut() {
            Some(field) => field.literal.push(text),
            None => self.first_literal.push(text),
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
            Some(last) if last.literal.text.is_empty() => {
                if last.kind == FieldKind::Other {
                    last.kind = kind;
                }
            }
            _ => self.fields.push(TemplateField {
                kind,
                literal: Literal::default(),
                end: EndSearch::Word,
                may_be_escaped: false,
            }),
        }
    }

    /// Completes the template: finds the quoted fields.
    pub(super) fn finish(mut self) -> Self {
        let mut is_open = self.first_literal.text.ends_with(b"\"");
        let last = self.fields.len().saturating_sub(1);
        for (number, field) in self.fields.iter_mut().enumerate() {
            let literal = &field.literal.text[..];
            let is_quoted = is_open && literal.starts_with(b"\"");
            is_open = literal.ends_with(b"\"") && !(is_quoted && literal.len() == 1);
            field.may_be_escaped = matches!(
                field.kind,
                FieldKind::UserAgent | FieldKind::Host | FieldKind::Request | FieldKind::Target
            );
            field.end = match literal.first() {
                Some(_) if is_quoted && number == last && literal.len() == 1 => {
                    EndSearch::LastQuote
                }
                Some(_) if is_quoted => EndSearch::Quote,
                Some(b' ') => EndSearch::Blank,
                Some(first) => EndSearch::Byte(*first),
                None if matches!(field.kind, FieldKind::UserAgent | FieldKind::Request) => {
                    EndSearch::Line
                }
                None => EndSearch::Word,
            };
        }
        self
    }

    /// Whether a field has this meaning.
    pub(super) fn has(&self, kind: FieldKind) -> bool {
        kind != FieldKind::Other && self.fields.iter().any(|field| field.kind == kind)
    }

    /// Parses a line of an indexed text, given its range without the line end. `None` if it has
    /// another layout, or no valid time, status or number of bytes. Text after the last field is
    /// ignored, as servers add fields at the end. `fields` must come from lines of this template, or
    /// be new.
    pub(super) fn parse(
        &self,
        text: &[u8],
        index: &DelimiterIndex,
        line: Range<usize>,
        fields: &mut TextFields,
    ) -> Option<()> {
        if !self.first_literal.is_at(text, line.start, line.end) {
            return None;
        }
        let mut at = line.start + self.first_literal.text.len();
        for field in &self.fields {
            // Neighbouring lines often have the same time, which is not parsed again.
            if field.kind == FieldKind::Time
                && let Some(len) = fields.times.known_len(&text[at..line.end])
            {
                at += len;
                continue;
            }
            let mut is_escaped = false;
            let end = field.end(text, index, at..line.end, &mut is_escaped)?;
            if field.kind == FieldKind::Time {
                fields.times.parse(&text[at..end], &field.literal.text)?;
            }
            let span = &mut fields.spans[field.kind as usize];
            span.start = at;
            span.end = end;
            span.is_there = true;
            span.is_escaped = is_escaped;
            at = end + field.literal.text.len();
        }
        fields.time = fields.times.last();
        if fields.is_there(FieldKind::Status) {
            fields.status = parse_status(fields.raw(FieldKind::Status, text))?;
        }
        fields.bytes = parse_bytes(fields.raw(FieldKind::Bytes, text))?;
        Some(())
    }
}

impl TemplateField {
    /// The end of the field that starts with a range.
    #[inline(always)]
    fn end(
        &self,
        text: &[u8],
        index: &DelimiterIndex,
        range: Range<usize>,
        is_escaped: &mut bool,
    ) -> Option<usize> {
        let Range { start, end } = range;
        let mut at = start;
        match self.end {
            EndSearch::Quote | EndSearch::LastQuote => loop {
                at = index.quotes.first_in(at, end)?;
                if text[at] == b'\\' {
                    // The next byte is escaped.
                    *is_escaped = true;
                    at += 2;
                    continue;
                }
                // Some servers do not escape quotes. The last field continues after one.
                if self.literal.is_at(text, at, end)
                    && (self.end == EndSearch::Quote
                        || matches!(text[at + 1..end], [] | [b' ' | b'\t', ..]))
                {
                    return Some(at);
                }
                at += 1;
            },
            EndSearch::Blank => loop {
                at = index.blanks.first_in(at, end)?;
                if self.literal.is_at(text, at, end) {
                    break;
                }
                at += 1;
            },
            EndSearch::Byte(first) => loop {
                at += memchr::memchr(first, text.get(at..end)?)?;
                if self.literal.is_at(text, at, end) {
                    break;
                }
                at += 1;
            },
            EndSearch::Word => at = index.blanks.first_in(at, end).unwrap_or(end),
            EndSearch::Line => at = end,
        }
        if self.may_be_escaped {
            *is_escaped = memchr::memchr(b'\\', &text[start..at]).is_some();
        }
        Some(at)
    }
}

impl Literal {
    fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.word = first_word(&self.text);
        self.mask = u64::MAX.unbounded_shr(64 - 8 * self.text.len().min(8) as u32);
    }

    /// Whether the literal is at a position of a text, and ends by `end`.
    #[inline(always)]
    fn is_at(&self, text: &[u8], at: usize, end: usize) -> bool {
        // The word may reach beyond the line, but not beyond the text.
        let word = first_word(text.get(at..).unwrap_or_default());
        (word ^ self.word) & self.mask == 0
            && at + self.text.len() <= end
            && (self.text.len() <= 8 || text[at..].starts_with(&self.text))
    }
}

impl FieldSpan {
    #[inline(always)]
    fn of<'l>(&self, text: &'l [u8]) -> &'l [u8] {
        &text[self.start..self.end]
    }
}

impl TextFields {
    /// The User-Agent header; empty if the log does not have it.
    #[inline(always)]
    pub(super) fn user_agent<'l>(&self, text: &'l [u8]) -> Cow<'l, [u8]> {
        self.plain(FieldKind::UserAgent, text)
    }

    /// The time, in seconds since 1970.
    #[inline(always)]
    pub(super) fn time(&self) -> i64 {
        self.time
    }

    /// All fields. `text` is the text that was parsed.
    pub(super) fn record<'l>(&self, text: &'l [u8]) -> LogRecord<'l> {
        let request = &self.spans[FieldKind::Request as usize];
        LogRecord {
            user_agent: self.user_agent(text),
            time: self.time,
            host: self
                .is_there(FieldKind::Host)
                .then(|| self.plain(FieldKind::Host, text)),
            port: Cow::Borrowed(self.raw(FieldKind::Port, text)),
            scheme: self
                .is_there(FieldKind::Scheme)
                .then(|| Cow::Borrowed(self.raw(FieldKind::Scheme, text))),
            target: if request.is_there {
                unescaped(target_of(request.of(text)), request.is_escaped)
            } else {
                self.plain(FieldKind::Target, text)
            },
            status: self.status,
            bytes: self.bytes,
            client: Cow::Borrowed(self.client(text)),
        }
    }

    /// The address of the client.
    fn client<'l>(&self, text: &'l [u8]) -> &'l [u8] {
        let with_port = self.raw(FieldKind::ClientAndPort, text);
        match memchr::memrchr(b':', with_port) {
            Some(colon) => &with_port[..colon],
            None => self.raw(FieldKind::Client, text),
        }
    }

    /// Whether the layout has a field.
    fn is_there(&self, kind: FieldKind) -> bool {
        self.spans[kind as usize].is_there
    }

    /// A field as logged; empty if the layout does not have it.
    #[inline(always)]
    fn raw<'l>(&self, kind: FieldKind, text: &'l [u8]) -> &'l [u8] {
        self.spans[kind as usize].of(text)
    }

    /// A field without its escapes.
    #[inline(always)]
    fn plain<'l>(&self, kind: FieldKind, text: &'l [u8]) -> Cow<'l, [u8]> {
        unescaped(self.raw(kind, text), self.spans[kind as usize].is_escaped)
    }
}

/// A text without its escapes.
#[inline(always)]
fn unescaped(text: &[u8], is_escaped: bool) -> Cow<'_, [u8]> {
    if is_escaped {
        Cow::Owned(unescape(text))
    } else {
        Cow::Borrowed(text)
    }
}
