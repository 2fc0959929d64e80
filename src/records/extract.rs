//! Extracts the URLs of records, one per line, and their times if these are asked for.

use crate::file_format::without_mark;
use crate::records::compose::UrlComposer;
use crate::records::csv::{self, RecordEnd, WholeRecords};
use crate::records::json;
use crate::records::options::RecordOptions;
use crate::records::row_time::{keep_unreadable, parse_index_time, parse_row_time};
use crate::url::page_url;
use std::borrow::Cow;
use std::fmt;

/// Where the object of a CDXJ line begins: at the first brace after a blank, because the sort key
/// before it may have braces. The length of the line if it has no object.
fn object_start(line: &[u8]) -> usize {
    if line.starts_with(b"{") {
        return 0;
    }
    memchr::memmem::find(line, b" {").map_or(line.len(), |at| at + 1)
}

/// A line without its line end (LF or CRLF).
#[inline]
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A column of a line of unquoted text, counted from 0; empty if the line has fewer.
#[inline]
fn column_of(line: &[u8], number: usize, delimiter: u8) -> &[u8] {
    let start = match number.checked_sub(1) {
        None => Some(0),
        Some(nth) => memchr::memchr_iter(delimiter, line)
            .nth(nth)
            .map(|at| at + 1),
    };
    let column = start.map_or(&[][..], |start| &line[start..]);
    &column[..memchr::memchr(delimiter, column).unwrap_or(column.len())]
}

/// The position of the URL in a record. Columns count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlField {
    /// The whole line.
    Line,
    /// A column of unquoted text.
    Column { number: usize, delimiter: u8 },
    /// A column of CSV.
    Csv { number: usize, delimiter: u8 },
    /// A key of the object that is the line.
    Json,
    /// A key of the object at the end of the line.
    JsonAtEnd,
}

/// The position of the time in a record. Columns count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimeField {
    /// A column of the table that has the URL in another one.
    Column(usize),
    /// The column of timestamps of a CDX or CDXJ line. Blanks separate columns.
    IndexColumn(usize),
    /// A key of the object that has the URL.
    Key(String),
}

/// The format of the records of one input.
#[derive(Debug)]
pub(crate) struct RecordFormat {
    field: UrlField,
    key: String,
    composer: Option<UrlComposer>,
    /// `None` if no times are asked for.
    time: Option<TimeField>,
    /// Whether a byte order mark precedes the first record.
    has_mark: bool,
}

/// The kinds of lists: records of different kinds are not one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Urls,
    Table { delimiter: u8 },
    JsonLines,
    Cdxj,
}

impl ListKind {
    /// The kind of a list with records of this format; `None` if each line is a URL.
    pub(crate) fn of(format: Option<&RecordFormat>) -> Self {
        format.map_or(Self::Urls, RecordFormat::kind)
    }
}

impl fmt::Display for ListKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Urls => f.write_str("a list of URLs"),
            Self::Table { delimiter: b',' } => f.write_str("a CSV table"),
            Self::Table { delimiter: b'\t' } => f.write_str("a table with tabs"),
            Self::Table { delimiter: b' ' } => f.write_str("a CDX index or a table with spaces"),
            Self::Table { delimiter } => {
                write!(
                    f,
                    "a table with {:?} between columns",
                    char::from(*delimiter)
                )
            }
            Self::JsonLines => f.write_str("JSON lines"),
            Self::Cdxj => f.write_str("a CDXJ index"),
        }
    }
}

/// The URLs of some records.
#[derive(Debug, Default)]
pub(crate) struct ExtractedUrls {
    /// A line for each record. It is empty if the record has no URL.
    pub urls: Vec<u8>,
    /// The end of each record, line end included.
    pub ends: Vec<usize>,
    /// The time of each record in seconds since 1970, `None` if it has no readable one. Empty if no
    /// times are asked for.
    pub times: Vec<Option<i64>>,
    /// The start of the first text that is not a time, for a message.
    pub unreadable_time: Option<Box<[u8]>>,
}

/// The records of a block in whose objects an unreadable time is looked for. Each look parses the
/// object again.
const OBJECTS_WITH_EXAMPLE: usize = 100;

impl ExtractedUrls {
    pub(crate) fn bytes_held(&self) -> usize {
        self.urls.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.times.capacity() * size_of::<Option<i64>>()
    }
}

/// The time that `parse` reads in a cell. The first cell that is not a time becomes the example.
#[inline]
fn read_time(
    cell: &[u8],
    parse: fn(&[u8]) -> Option<i64>,
    example: &mut Option<Box<[u8]>>,
) -> Option<i64> {
    let time = parse(cell);
    if time.is_none() && example.is_none() {
        keep_unreadable(cell, example);
    }
    time
}

impl RecordFormat {
    pub(super) fn new(field: UrlField, options: &RecordOptions) -> Self {
        Self {
            field,
            key: options.key().to_owned(),
            composer: UrlComposer::of(options),
            time: None,
            has_mark: false,
        }
    }

    /// The same format, with times.
    pub(super) fn with_time(self, time: Option<TimeField>) -> Self {
        Self { time, ..self }
    }

    /// The format of JSON objects whose URLs are extracted already.
    pub(crate) fn of_objects() -> Self {
        Self::new(UrlField::Json, &RecordOptions::default())
    }

    /// The same format for text that starts with a byte order mark.
    pub(super) fn with_mark(self) -> Self {
        Self {
            has_mark: true,
            ..self
        }
    }

    /// The start of the first record of `text`.
    fn start(&self, text: &[u8]) -> usize {
        if self.has_mark {
            text.len() - without_mark(text).len()
        } else {
            0
        }
    }

    /// Whether records are JSON objects.
    pub(crate) fn are_objects(&self) -> bool {
        self.field == UrlField::Json
    }

    /// The delimiter of the columns, if records have columns.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match self.field {
            UrlField::Column { delimiter, .. } | UrlField::Csv { delimiter, .. } => Some(delimiter),
            UrlField::Line | UrlField::Json | UrlField::JsonAtEnd => None,
        }
    }

    /// The names of the columns in a header; none if records have no columns.
    pub(crate) fn column_names<'h>(&self, header: &'h [u8]) -> Vec<Cow<'h, [u8]>> {
        let mut names = Vec::new();
        match self.field {
            UrlField::Csv { delimiter, .. } => {
                let _ = csv::record(header, delimiter, |_, name| names.push(name));
            }
            UrlField::Column { delimiter, .. } => {
                let columns = without_end(header).split(|byte| *byte == delimiter);
                names.extend(columns.map(Cow::Borrowed));
            }
            UrlField::Line | UrlField::Json | UrlField::JsonAtEnd => {}
        }
        names
    }

    /// The kind of the list.
    pub(crate) fn kind(&self) -> ListKind {
        match self.field {
            UrlField::Line => ListKind::Urls,
            UrlField::Column { delimiter, .. } | UrlField::Csv { delimiter, .. } => {
                ListKind::Table { delimiter }
            }
            UrlField::Json => ListKind::JsonLines,
            UrlField::JsonAtEnd => ListKind::Cdxj,
        }
    }

    /// Whether each record is a URL and nothing else.
    pub(crate) fn are_urls(&self) -> bool {
        self.field == UrlField::Line
    }

    /// The whole records of `text`, which starts with a record.
    pub(crate) fn whole_records(&self, text: &[u8]) -> WholeRecords {
        match self.field {
            UrlField::Csv { delimiter, .. } => {
                let start = self.start(text);
                let found = csv::whole_records(&text[start..], delimiter);
                WholeRecords {
                    end: if found.end > 0 { start + found.end } else { 0 },
                    escaped_quote: found.escaped_quote.map(|at| start + at),
                    ..found
                }
            }
            _ => WholeRecords {
                end: memchr::memrchr(b'\n', text).map_or(0, |end| end + 1),
                ..WholeRecords::default()
            },
        }
    }

    /// Extracts the URLs of whole records, and their times if these are asked for. The last record
    /// may lack its line end.
    pub(crate) fn extract(&self, text: &[u8], out: &mut ExtractedUrls) {
        out.urls.clear();
        out.ends.clear();
        out.times.clear();
        out.unreadable_time = None;
        // Compiled once with times and once without: a list without them costs no branch per line.
        match self.time {
            None => self.extract_records::<false>(text, out),
            Some(_) => self.extract_records::<true>(text, out),
        }
    }

    fn extract_records<const TIMED: bool>(&self, text: &[u8], out: &mut ExtractedUrls) {
        let mut at = self.start(text);
        // A mark alone is a line without a URL.
        if at > 0 && at == text.len() {
            out.urls.push(b'\n');
            out.ends.push(at);
            if TIMED {
                out.times.push(None);
            }
        }
        let time_column = match self.time {
            Some(TimeField::Column(number)) if TIMED => Some(number),
            _ => None,
        };
        while at < text.len() {
            let end = match self.field {
                UrlField::Csv { number, delimiter } => {
                    let mut url = Cow::Borrowed(&[][..]);
                    let mut time = None;
                    let end = csv::record(&text[at..], delimiter, |column, value| {
                        if TIMED && time_column == Some(column) {
                            time = read_time(&value, parse_row_time, &mut out.unreadable_time);
                        }
                        if column == number {
                            url = value;
                        }
                    });
                    self.append(&url, out);
                    if TIMED {
                        out.times.push(time);
                    }
                    match end {
                        RecordEnd::At(len) => at + len,
                        RecordEnd::Open { .. } => text.len(),
                    }
                }
                _ => {
                    let end =
                        memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1);
                    let line = without_end(&text[at..end]);
                    if TIMED {
                        self.append_timed_line(line, out);
                    } else {
                        self.append_line(line, out);
                    }
                    end
                }
            };
            out.ends.push(end);
            at = end;
        }
    }

    fn append_line(&self, line: &[u8], out: &mut ExtractedUrls) {
        match self.field {
            UrlField::Column { number, delimiter } => {
                self.append(column_of(line, number, delimiter), out);
            }
            UrlField::Json => self.append_json(line, out),
            UrlField::JsonAtEnd => self.append_json(&line[object_start(line)..], out),
            // A line without fields is judged as it is, with or without a composer.
            UrlField::Line | UrlField::Csv { .. } => self.append_text(line, out),
        }
    }

    /// [`append_line`](Self::append_line), and the time of the line.
    fn append_timed_line(&self, line: &[u8], out: &mut ExtractedUrls) {
        let time = match &self.time {
            None => None,
            Some(TimeField::IndexColumn(number)) => {
                let object = match self.field {
                    UrlField::JsonAtEnd => object_start(line),
                    _ => line.len(),
                };
                let cell = column_of(&line[..object], *number, b' ');
                read_time(cell, parse_index_time, &mut out.unreadable_time)
            }
            Some(TimeField::Column(number)) => match self.field {
                UrlField::Column { delimiter, .. } => {
                    let cell = column_of(line, *number, delimiter);
                    read_time(cell, parse_row_time, &mut out.unreadable_time)
                }
                _ => None,
            },
            Some(TimeField::Key(key)) => {
                // The URL is in the same object, so one pass finds both.
                let object = match self.field {
                    UrlField::JsonAtEnd => &line[object_start(line)..],
                    _ => line,
                };
                let found = json::url_and_time_at(object, &self.key, key);
                self.append(found.url.as_deref().unwrap_or_default().as_bytes(), out);
                if found.time.is_none()
                    && out.unreadable_time.is_none()
                    && out.times.len() < OBJECTS_WITH_EXAMPLE
                    && let Some(text) = json::value_text_at(object, key)
                {
                    keep_unreadable(text.as_bytes(), &mut out.unreadable_time);
                }
                out.times.push(found.time);
                return;
            }
        };
        self.append_line(line, out);
        out.times.push(time);
    }

    fn append_json(&self, object: &[u8], out: &mut ExtractedUrls) {
        let url = json::string_at(object, &self.key);
        self.append(url.as_deref().unwrap_or_default().as_bytes(), out);
    }

    /// Appends the URL of a record as a line: of a secondary record of a crawl that of its page.
    fn append(&self, url: &[u8], out: &mut ExtractedUrls) {
        self.append_text(page_url(url), out);
    }

    /// Appends a URL as a line. A text with a line end is not a URL and would become two lines, so
    /// its line is empty.
    fn append_text(&self, url: &[u8], out: &mut ExtractedUrls) {
        if memchr::memchr(b'\n', url).is_none() {
            match &self.composer {
                None => out.urls.extend_from_slice(url),
                Some(composer) => composer.append(url, &mut out.urls),
            }
        }
        out.urls.push(b'\n');
    }
}
