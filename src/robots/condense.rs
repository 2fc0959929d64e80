//! The condensed text of a robots.txt: the lines that say something, each still on its own line number.

use crate::robots::field;
use crate::robots::line::{Lines, MAX_BODY};

/// Whether a body was delivered whole, as far as a crawler can know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    #[default]
    Whole,
    /// The archive kept only the beginning: the last line may be cut.
    CutShort,
}

/// Keeps the lines of known fields, without comments, and makes all others blank.
///
/// Parsing the result gives the same groups, rules, fields and line numbers as parsing `body`, and its size is
/// what the site said, not what it served: comments, HTML error pages and unknown lines vanish. This is
/// what a snapshot stores to explain verdicts, and what tells whether two robots.txt are the same.
pub(crate) fn condense(body: &[u8], delivery: Delivery) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len().min(MAX_BODY));
    let mut number = 1;
    for line in Lines::new(body, delivery == Delivery::CutShort) {
        if field::split(line.text).is_some() {
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
