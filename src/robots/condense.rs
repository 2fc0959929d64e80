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
        Some(FieldLine {
            number: line.number,
            text: line.text,
            field,
            value,
        })
    })
}

/// The longest condensed text: the part of a body that counts, and a line end.
pub(crate) const MAX_CONDENSED: usize = MAX_BODY + 1;

/// The condensed text of a body as served (after content decoding): the lines with known fields,
/// without comments; all others are blank.
///
/// The text parses to the same groups, rules, fields and line numbers as the body, but without
/// comments, unknown lines and HTML error pages it is much smaller. A snapshot stores it to explain
/// verdicts, and two robots.txt files count as equal if their condensed texts are. Condensing it
/// again changes nothing.
pub(crate) fn condense(body: &[u8], cut_short: bool) -> Vec<u8> {
    let mut condensed = Vec::with_capacity(body.len().min(MAX_BODY));
    let mut number = 1;
    for line in field_lines(body, cut_short) {
        // One line end for the previous kept line, and one for each blanked line after it.
        let line_ends = (line.number - number) as usize;
        number = line.number;
        condensed.resize(condensed.len() + line_ends, b'\n');
        condensed.extend_from_slice(line.text);
    }
    if !condensed.is_empty() {
        condensed.push(b'\n');
    }
    condensed
}
