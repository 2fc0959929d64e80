//! Reads a whole filter list, line by line in bounded memory, and counts what it holds.

use super::entry::{Entry, EntryOptions, NotAnEntry, ParsedLine, Scratch, parse_line};
use super::word::{WordKind, parse_word};
use crate::bytes::is_invisible;
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// The length of the longest line that is parsed, without its LF. Longer lines are skipped.
pub(super) const MAX_LINE: usize = 64 << 10;

/// The number of lines that a report shows as examples.
const MAX_EXAMPLES: usize = 5;

/// The number of characters that an example shows.
const EXAMPLE_CHARACTERS: usize = 60;

/// The contents of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListReport {
    /// All lines.
    pub lines: u64,
    /// The lines that are blank or only a comment.
    pub blank_lines: u64,
    /// The entries, which may be several in a line.
    pub entries: u64,
    /// The entries that are exceptions; `entries` includes them.
    pub exceptions: u64,
    /// The names of hosts files that name the computer itself, and addresses in place of names.
    pub skipped_names: u64,
    /// The lines with a text that is not an entry, by reason. A line counts once, by its first
    /// defect, and may have entries too.
    pub not_entries: BTreeMap<NotAnEntry, u64>,
    /// The first of these lines.
    pub examples: Vec<Example>,
}

/// A line that is not an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// The number of the line, from 1.
    pub line: u64,
    /// The start of the line. Control characters and invisible ones are escaped.
    pub text: String,
    /// Why it is not an entry.
    pub reason: NotAnEntry,
}

/// Reads a list, and calls `found` for each entry in the order of the lines.
///
/// Lines end with LF or CRLF. A byte order mark at the start is skipped. A line of more than
/// [`MAX_LINE`] bytes is not an entry.
///
/// Errors are those of the reader; `report` then counts the lines before the error. Never panics.
/// Cost: linear in the text, and memory for one line.
pub(super) fn read_entries<F: FnMut(Entry<'_>)>(
    reader: impl BufRead,
    options: EntryOptions,
    report: &mut ListReport,
    found: &mut F,
) -> io::Result<()> {
    let mut scratch = Scratch::default();
    read_lines(reader, report, |text, report| {
        let exceptions = &mut report.exceptions;
        parse_line(text, options, &mut scratch, &mut |entry: Entry<'_>| {
            *exceptions += u64::from(entry.is_exception);
            found(entry);
        })
    })
}

/// Reads a list of words, as [`read_entries`] reads entries.
pub(super) fn read_words<F: FnMut(&[u8])>(
    reader: impl BufRead,
    kind: WordKind,
    report: &mut ListReport,
    found: &mut F,
) -> io::Result<()> {
    let mut word = Vec::new();
    read_lines(reader, report, |text, _| {
        let parsed = parse_word(text, kind, &mut word);
        if parsed.entries > 0 {
            found(&word);
        }
        parsed
    })
}

/// Reads the lines of a list, and counts what `parse` makes of each.
fn read_lines(
    reader: impl BufRead,
    report: &mut ListReport,
    mut parse: impl FnMut(&[u8], &mut ListReport) -> ParsedLine,
) -> io::Result<()> {
    let mut lines = BoundedLines::new(reader);
    let mut is_first = true;
    while let Some(line) = lines.next_line()? {
        let marked = line.text.strip_prefix(b"\xef\xbb\xbf");
        let text = marked.filter(|_| is_first).unwrap_or(line.text);
        is_first = false;
        let parsed = if line.is_cut {
            ParsedLine {
                defect: Some(NotAnEntry::LongLine),
                ..ParsedLine::default()
            }
        } else {
            parse(text, report)
        };
        report.add(text, parsed);
    }
    Ok(())
}

impl ListReport {
    /// Counts the next line.
    fn add(&mut self, text: &[u8], parsed: ParsedLine) {
        self.lines += 1;
        self.entries += parsed.entries;
        self.skipped_names += parsed.skipped_names;
        self.blank_lines += u64::from(parsed == ParsedLine::default());
        let Some(reason) = parsed.defect else {
            return;
        };
        *self.not_entries.entry(reason).or_default() += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(Example {
                line: self.lines,
                text: printable_start(text),
                reason,
            });
        }
    }
}

/// The first characters of a line, escaped so that printing them only shows them.
fn printable_start(text: &[u8]) -> String {
    // A character has at most four bytes. The limit may cut one, which only a longer text has.
    let start = text.get(..4 * EXAMPLE_CHARACTERS + 4).unwrap_or(text);
    let start = String::from_utf8_lossy(start);
    let mut characters = start.trim().chars();
    let mut shown = String::new();
    for c in characters.by_ref().take(EXAMPLE_CHARACTERS) {
        let has_effect = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c);
        if has_effect {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// The lines of a reader, of which at most [`MAX_LINE`] bytes are held.
struct BoundedLines<R> {
    reader: R,
    /// The start of the current line. Copying it costs little beside parsing.
    line: Vec<u8>,
}

/// A line without its LF.
struct BoundedLine<'a> {
    /// The line, or its first [`MAX_LINE`] bytes.
    text: &'a [u8],
    /// Whether the line is longer.
    is_cut: bool,
}

impl<R: BufRead> BoundedLines<R> {
    fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
        }
    }

    /// The next line; `None` at the end. Text after the last LF is a line.
    fn next_line(&mut self) -> io::Result<Option<BoundedLine<'_>>> {
        self.line.clear();
        let mut len = 0usize;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(err),
            };
            let is_end = buffer.is_empty();
            let line_end = memchr::memchr(b'\n', buffer);
            let part = line_end.and_then(|end| buffer.get(..end)).unwrap_or(buffer);
            let kept = part.len().min(MAX_LINE.saturating_sub(self.line.len()));
            self.line
                .extend_from_slice(part.get(..kept).unwrap_or(part));
            len = len.saturating_add(part.len());
            let used = part.len() + usize::from(line_end.is_some());
            self.reader.consume(used);
            if line_end.is_some() || is_end {
                let is_line = line_end.is_some() || len > 0;
                return Ok(is_line.then_some(BoundedLine {
                    text: &self.line,
                    is_cut: len > MAX_LINE,
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    #[test]
    fn a_line_of_a_gigabyte_is_skipped_in_bounded_memory() {
        let long = io::repeat(b'x').take(1 << 30);
        let text = long.chain(b"\na.example".as_slice());
        let mut lines = BoundedLines::new(BufReader::with_capacity(1 << 20, text));
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.is_cut);
        assert_eq!(line.text.len(), MAX_LINE);
        let line = lines.next_line().unwrap().unwrap();
        assert!(!line.is_cut);
        assert_eq!(line.text, b"a.example");
        assert!(lines.next_line().unwrap().is_none());
        assert!(lines.line.capacity() <= 2 * MAX_LINE);
    }
}
