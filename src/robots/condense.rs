//! The condensed text of a robots.txt: only lines with known fields, at their original line
//! numbers.

use crate::robots::field;
use crate::robots::line::{MAX_BODY, NumberedLines};

/// Keeps the lines with known fields, without comments, and blanks all others. `cut_short`: the
/// archive has only the beginning of the body.
///
/// The result parses to the same groups, rules, fields and line numbers as `body`, but without
/// comments, unknown lines and HTML error pages it is much smaller. A snapshot stores it to explain
/// verdicts, and two robots.txt files count as equal if their condensed texts are.
pub(crate) fn condense(body: &[u8], cut_short: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len().min(MAX_BODY));
    let mut number = 1;
    for line in NumberedLines::new(body, cut_short) {
        if field::split(line.text).is_some() {
            // One line end for the previous kept line, and one for each blanked line after it.
            out.resize(out.len() + (line.number - number) as usize, b'\n');
            number = line.number;
            out.extend_from_slice(line.text);
        }
    }
    if !out.is_empty() {
        out.push(b'\n');
    }
    out
}
