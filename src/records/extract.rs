//! The URLs of a run of records, one a line.

use crate::file_format::without_mark;
use crate::records::compose::Compose;
use crate::records::csv::{self, End};
use crate::records::json;
use crate::records::options::RecordOptions;
use std::borrow::Cow;

/// A line without its line end (LF or CRLF).
#[inline]
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Where the URL of a record is; columns count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Line,
    Column {
        number: usize,
        delimiter: u8,
    },
    Csv {
        number: usize,
        delimiter: u8,
    },
    /// In the object that the line is.
    Json,
    /// In the object that the line ends with.
    JsonBehind,
}

/// How the records of one input are read.
#[derive(Debug)]
pub(crate) struct Records {
    place: Place,
    key: String,
    compose: Option<Compose>,
    /// A byte order mark stands before the first record.
    behind_mark: bool,
}

/// What was read of a run of records.
#[derive(Debug, Default)]
pub(crate) struct Extracted {
    /// A line for each record: its URL, or nothing.
    pub urls: Vec<u8>,
    /// Where each record ends, line end included.
    pub ends: Vec<usize>,
}

impl Records {
    pub(super) fn new(place: Place, options: &RecordOptions) -> Self {
        Self { place, key: options.key().to_owned(), compose: Compose::of(options), behind_mark: false }
    }

    /// The same for text that begins with a byte order mark.
    pub(super) fn behind_mark(self) -> Self {
        Self { behind_mark: true, ..self }
    }

    /// Where the first record of `text` begins.
    fn start(&self, text: &[u8]) -> usize {
        if self.behind_mark { text.len() - without_mark(text).len() } else { 0 }
    }

    /// Whether records are JSON objects.
    pub(crate) fn are_objects(&self) -> bool {
        self.place == Place::Json
    }

    /// Whether a record is its URL.
    pub(crate) fn are_urls(&self) -> bool {
        self.place == Place::Line
    }

    /// The end of the last whole record of `text`, which begins with one; 0 for none. The second value is whether the rest is inside quotes
    /// that were opened and not closed.
    pub(crate) fn last_end(&self, text: &[u8]) -> (usize, bool) {
        match self.place {
            Place::Csv { delimiter, .. } => {
                let start = self.start(text);
                let (end, quoted) = csv::last_end(&text[start..], delimiter);
                (if end > 0 { start + end } else { 0 }, quoted)
            }
            _ => (memchr::memrchr(b'\n', text).map_or(0, |end| end + 1), false),
        }
    }

    /// Reads whole records; the last may lack its line end.
    pub(crate) fn extract(&self, text: &[u8], out: &mut Extracted) {
        out.urls.clear();
        out.ends.clear();
        let mut at = self.start(text);
        // A mark that nothing follows is a line, and no URL.
        if at > 0 && at == text.len() {
            out.urls.push(b'\n');
            out.ends.push(at);
        }
        while at < text.len() {
            let end = match self.place {
                Place::Csv { number, delimiter } => {
                    let mut url = Cow::Borrowed(&[][..]);
                    let end = csv::record(&text[at..], delimiter, |field, value| {
                        if field == number {
                            url = value;
                        }
                    });
                    self.put(&url, out);
                    match end {
                        End::At(len) => at + len,
                        End::Open { .. } => text.len(),
                    }
                }
                _ => {
                    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1);
                    let line = &text[at..end];
                    self.put_line(without_end(line), out);
                    end
                }
            };
            out.ends.push(end);
            at = end;
        }
    }

    fn put_line(&self, line: &[u8], out: &mut Extracted) {
        match self.place {
            Place::Column { number, delimiter } => {
                let start = match number.checked_sub(1) {
                    None => Some(0),
                    Some(nth) => memchr::memchr_iter(delimiter, line).nth(nth).map(|at| at + 1),
                };
                let column = start.map_or(&[][..], |start| &line[start..]);
                self.put(&column[..memchr::memchr(delimiter, column).unwrap_or(column.len())], out);
            }
            Place::Json => self.put_json(line, out),
            Place::JsonBehind => self.put_json(&line[memchr::memchr(b'{', line).unwrap_or(line.len())..], out),
            Place::Line | Place::Csv { .. } => self.put(line, out),
        }
    }

    fn put_json(&self, object: &[u8], out: &mut Extracted) {
        let url = json::string_at(object, &self.key);
        self.put(url.as_deref().unwrap_or_default().as_bytes(), out);
    }

    /// Appends a URL; nothing in place of a text with a line end, which is none and would be two lines.
    fn put(&self, url: &[u8], out: &mut Extracted) {
        if memchr::memchr(b'\n', url).is_none() {
            match &self.compose {
                None => out.urls.extend_from_slice(url),
                Some(compose) => compose.put(url, &mut out.urls),
            }
        }
        out.urls.push(b'\n');
    }
}
