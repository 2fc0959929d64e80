//! The condensed text of a robots.txt: only lines with known fields, at their original line
//! numbers. Finding these lines is the first half of the parser.

use crate::robots::field::{self, RobotsField};
use crate::robots::line::{MAX_BODY, NumberedLines};

/// A line with a known field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldLine<'a> {
    /// The number, from 1.
    pub number: u32,
    /// The text without comment and surrounding white space.
    pub text: &'a [u8],
    pub field: RobotsField,
    /// The end of the text, after the field.
    pub value: &'a [u8],
}

/// The lines of a body that have a known field. `cut_short`: the archive has only the beginning of
/// the body.
pub(crate) fn field_lines(body: &[u8], cut_short: bool) -> impl Iterator<Item = FieldLine<'_>> {
    NumberedLines::new(body, cut_short).filter_map(|line| {
        let (field, value) = field::split(line.text)?;
        Some(FieldLine { number: line.number, text: line.text, field, value })
    })
}

/// The lines with known fields, without comments; all others are blank.
///
/// The text parses to the same groups, rules, fields and line numbers as the body, but without
/// comments, unknown lines and HTML error pages it is much smaller. A snapshot stores it to explain
/// verdicts, and two robots.txt files count as equal if their condensed texts are.
///
/// The lines are found once: for the text, and for the parser if the text is a new one.
#[derive(Debug)]
pub(crate) struct CondensedText {
    text: Vec<u8>,
    lines: Vec<LinePlace>,
}

/// The place of a line in a condensed text. The value is its end.
#[derive(Clone, Copy, Debug)]
struct LinePlace {
    number: u32,
    field: RobotsField,
    start: u32,
    len: u32,
    value_len: u32,
}

impl CondensedText {
    /// Condenses a body as served (after content decoding).
    pub(crate) fn of(body: &[u8], cut_short: bool) -> Self {
        let mut condensed = Self { text: Vec::with_capacity(body.len().min(MAX_BODY)), lines: Vec::new() };
        let mut number = 1;
        for line in field_lines(body, cut_short) {
            // One line end for the previous kept line, and one for each blanked line after it.
            let line_ends = (line.number - number) as usize;
            number = line.number;
            condensed.text.resize(condensed.text.len() + line_ends, b'\n');
            condensed.push(line);
        }
        if !condensed.text.is_empty() {
            condensed.text.push(b'\n');
        }
        condensed
    }

    fn push(&mut self, FieldLine { number, text, field, value }: FieldLine<'_>) {
        let (start, len, value_len) = (self.text.len() as u32, text.len() as u32, value.len() as u32);
        self.lines.push(LinePlace { number, field, start, len, value_len });
        self.text.extend_from_slice(text);
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = FieldLine<'_>> {
        self.lines.iter().map(|&LinePlace { number, field, start, len, value_len }| {
            let text = &self.text[start as usize..(start + len) as usize];
            FieldLine { number, text, field, value: &text[(len - value_len) as usize..] }
        })
    }
}
