//! Reads a whole filter list, line by line in bounded memory, and counts what it holds.

use super::condition::Conditions;
use super::entry::{Entry, EntryOptions, NotAnEntry, ParsedLine, Scratch, parse_line};
use super::word::{WordKind, parse_word};
use crate::bytes::{is_invisible, is_white_space, trim};
use crate::threads;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// The length of the longest line that is parsed, without its LF. Longer lines are skipped.
pub(super) const MAX_LINE: usize = 64 << 10;

/// The most bytes that are read at once, which make a part of a list.
pub(super) const PART_SIZE: usize = 256 << 10;

/// The parts that are in memory per worker, so that none waits long for the last one.
const PARTS_PER_WORKER: usize = 4;

pub(super) const BOM: &[u8] = "\u{feff}".as_bytes();

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
    /// The rules with `$badfilter`, which cancel the equal entries of all lists; `entries` does not
    /// include them.
    pub cancellations: u64,
    /// The names of hosts files that name the computer itself, and its addresses in place of names.
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
    /// The start of the line. Control characters, invisible ones and blanks other than the ASCII one
    /// are escaped.
    pub text: String,
    /// Why it is not an entry.
    pub reason: NotAnEntry,
}

/// Reads a list, and calls `append` with the entries of each of its parts, in their order. `found`
/// adds an entry to those of a part. Parts are parsed on all threads of the current rayon pool.
///
/// Lines end with LF or CRLF. A byte order mark at the start of a line is skipped: joined files have
/// one where the second begins. A line of more than [`MAX_LINE`] bytes, or with another CR, is not an
/// entry.
///
/// Errors are those of the reader; `report` then counts the lines before the error. Never panics.
/// Cost: linear in the text, and memory for some parts of [`PART_SIZE`].
pub(super) fn read_entries<T: Default + Send>(
    reader: impl BufRead,
    options: EntryOptions,
    report: &mut ListReport,
    found: impl Fn(Entry<'_>, &mut T) + Sync,
    append: impl FnMut(T),
) -> io::Result<()> {
    let parse = |part: &ListPart, report: &mut ListReport| {
        let mut scratch = Scratch::default();
        let mut entries = T::default();
        let mut conditions = part.conditions;
        parse_lines(&part.text, report, |text, report| {
            if conditions.read(text) {
                return ParsedLine::default();
            }
            if !conditions.hold() {
                let mut parsed = parse_line(text, options, &mut scratch, &mut |_: Entry<'_>| {});
                if parsed != ParsedLine::default() {
                    parsed = ParsedLine {
                        defect: Some(NotAnEntry::Condition),
                        ..ParsedLine::default()
                    };
                }
                return parsed;
            }
            let exceptions = &mut report.exceptions;
            parse_line(text, options, &mut scratch, &mut |entry: Entry<'_>| {
                *exceptions += u64::from(entry.is_exception && !entry.is_cancellation);
                found(entry, &mut entries);
            })
        });
        entries
    };
    read_parts(reader, report, parse, append)
}

/// Reads a list of words, as [`read_entries`] reads entries.
pub(super) fn read_words<T: Default + Send>(
    reader: impl BufRead,
    kind: WordKind,
    report: &mut ListReport,
    found: impl Fn(&[u8], &mut T) + Sync,
    append: impl FnMut(T),
) -> io::Result<()> {
    let parse = |part: &ListPart, report: &mut ListReport| {
        let mut word = Vec::new();
        let mut words = T::default();
        parse_lines(&part.text, report, |text, _| {
            let parsed = parse_word(text, kind, &mut word);
            if parsed.entries > 0 {
                found(&word, &mut words);
            }
            parsed
        });
        words
    };
    read_parts(reader, report, parse, append)
}

/// Reads a list in parts, parses several at a time, and appends what they hold in their order.
fn read_parts<T: Send>(
    reader: impl BufRead,
    report: &mut ListReport,
    parse: impl Fn(&ListPart, &mut ListReport) -> T + Sync,
    mut append: impl FnMut(T),
) -> io::Result<()> {
    let mut parts = ListParts::new(reader);
    let at_once = PARTS_PER_WORKER * threads::workers();
    loop {
        let mut read = Vec::with_capacity(at_once);
        let mut end = None;
        while read.len() < at_once && end.is_none() {
            match parts.next_part() {
                Ok(Some(part)) => read.push(part),
                Ok(None) => end = Some(Ok(())),
                Err(err) => end = Some(Err(err)),
            }
        }
        let parsed: Vec<_> = read
            .into_par_iter()
            .map(|part| {
                let mut report = ListReport::default();
                let entries = parse(&part, &mut report);
                (entries, report)
            })
            .collect();
        for (entries, own) in parsed {
            append(entries);
            report.append(own);
        }
        if let Some(end) = end {
            return end;
        }
    }
}

/// Parses the lines of a part, and counts what `parse` makes of each.
fn parse_lines(
    part: &[u8],
    report: &mut ListReport,
    mut parse: impl FnMut(&[u8], &mut ListReport) -> ParsedLine,
) {
    // Most lists have no CR at all, so no line is searched for one.
    let has_cr = memchr::memchr(b'\r', part).is_some();
    // An LF at the end does not begin another line.
    let lines = part.strip_suffix(b"\n").unwrap_or(part);
    for line in lines.split(|b| *b == b'\n') {
        // The start of a long line tells whether its lines end with CR.
        let defect = if has_cr && memchr::memchr(b'\r', trim(line)).is_some() {
            Some(NotAnEntry::CarriageReturn)
        } else {
            (line.len() > MAX_LINE).then_some(NotAnEntry::LongLine)
        };
        let line = line.strip_prefix(BOM).unwrap_or(line);
        let parsed = match defect {
            None => parse(line, report),
            Some(_) => ParsedLine {
                defect,
                ..ParsedLine::default()
            },
        };
        report.add(line, parsed);
    }
}

impl ListReport {
    /// Adds the counts of the next part of the list.
    fn append(&mut self, part: Self) {
        let examples = part.examples.into_iter().map(|example| Example {
            line: self.lines + example.line,
            ..example
        });
        let left = MAX_EXAMPLES - self.examples.len();
        self.examples.extend(examples.take(left));
        self.lines += part.lines;
        self.blank_lines += part.blank_lines;
        self.entries += part.entries;
        self.exceptions += part.exceptions;
        self.cancellations += part.cancellations;
        self.skipped_names += part.skipped_names;
        for (reason, count) in part.not_entries {
            *self.not_entries.entry(reason).or_default() += count;
        }
    }

    /// Counts the next line.
    fn add(&mut self, text: &[u8], parsed: ParsedLine) {
        self.lines += 1;
        self.entries += parsed.entries;
        self.cancellations += parsed.cancellations;
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
    let mut characters = start.trim_matches(is_white_space).chars();
    let mut shown = String::new();
    for c in characters.by_ref().take(EXAMPLE_CHARACTERS) {
        // A no-break space looks like a blank, and at an end like nothing.
        let is_other_blank = c.is_whitespace() && c != ' ';
        if c.is_control() || is_other_blank || is_invisible(c) {
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

/// A part of a list, of whole lines.
struct ListPart {
    text: Vec<u8>,
    /// The conditions around its first line.
    conditions: Conditions,
}

/// Reads a list in parts of whole lines. The last line of a read may be incomplete: it is held until
/// its end is read. Of a line that is too long, `MAX_LINE + 1` bytes are held, which tell that.
struct ListParts<R> {
    reader: R,
    /// The start of a line.
    held: Vec<u8>,
    /// The conditions around the next line.
    conditions: Conditions,
}

impl<R: BufRead> ListParts<R> {
    fn new(reader: R) -> Self {
        Self {
            reader,
            held: Vec::new(),
            conditions: Conditions::default(),
        }
    }

    /// The next part, which is not empty; `None` at the end. Text after the last LF is a line.
    fn next_part(&mut self) -> io::Result<Option<ListPart>> {
        loop {
            let read = match self.reader.fill_buf() {
                Ok(read) => &read[..read.len().min(PART_SIZE)],
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(err),
            };
            let is_end = read.is_empty();
            let used = read.len();
            let lines_end = memchr::memrchr(b'\n', read).map_or(0, |at| at + 1);
            let (lines, start) = read.split_at(lines_end);
            let part = (is_end || !lines.is_empty()).then(|| {
                let mut part = std::mem::take(&mut self.held);
                part.extend_from_slice(lines);
                part
            });
            let room = (MAX_LINE + 1).saturating_sub(self.held.len());
            self.held.extend_from_slice(&start[..start.len().min(room)]);
            self.reader.consume(used);
            let Some(text) = part else {
                continue;
            };
            if text.is_empty() {
                return Ok(None);
            }
            let conditions = self.conditions;
            self.conditions.read_lines(&text);
            return Ok(Some(ListPart { text, conditions }));
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
        let mut parts = ListParts::new(BufReader::with_capacity(1 << 20, text));
        let part = parts.next_part().unwrap().unwrap().text;
        assert_eq!(part.len(), MAX_LINE + 2);
        assert!(part.capacity() <= 2 * (MAX_LINE + PART_SIZE));
        assert_eq!(parts.next_part().unwrap().unwrap().text, b"a.example");
        assert!(parts.next_part().unwrap().is_none());
    }

    /// Parts begin and end anywhere in these lines, at the start of a list too.
    #[test]
    fn parts_are_the_lines_of_the_list() {
        let text =
            "\u{feff}a.example\n\nb c\n\u{feff}d.example\r\n@@e.example\n!#if x\nf.example\n\
                    !#endif\ng.example\n\n#"
                .as_bytes();
        for len in 0..=text.len() {
            let mut whole = None;
            for capacity in [1, 2, 3, 5, 8, 64] {
                let reader = BufReader::with_capacity(capacity, &text[..len]);
                let mut report = ListReport::default();
                let mut entries = Vec::new();
                read_entries(
                    reader,
                    EntryOptions::default(),
                    &mut report,
                    |entry, part: &mut Vec<String>| part.push(format!("{entry:?}")),
                    |part| entries.extend(part),
                )
                .unwrap();
                let lines = text[..len].split_inclusive(|b| *b == b'\n').count();
                assert_eq!(report.lines, lines as u64);
                let read = (report, entries);
                assert_eq!(whole.get_or_insert_with(|| read.clone()), &read);
            }
        }
    }
}
