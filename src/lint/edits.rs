//! Edits that mend findings: replacements of bytes of the file.
//!
//! A check describes an edit by lines, as it sees them. When the findings of a file are complete,
//! one pass over its lines turns the edits into byte ranges ([`LineStarts::resolve`]).

use crate::bytes::{is_white_space, trim};
use crate::robots::line::{MAX_BODY, MAX_LINE, NumberedLines, bom_len};
use memchr::memchr2;
use std::collections::BTreeMap;
use std::ops::Range;

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// The bytes of the file that are replaced; empty for an insertion.
    pub range: Range<usize>,
    /// The text in their place; empty for a deletion.
    pub text: String,
}

/// The edits that mend a finding.
///
/// Line ends, comments and all other bytes stay. The edits are in the order of the file, do not
/// overlap, and belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// Whether the fix changes neither verdicts nor preferences, crawl-delays and sitemaps, for any
    /// agent in both profiles. Parsers that ignored a line may begin to read it as the others do.
    ///
    /// A fix that is not safe writes what the author probably meant.
    pub is_safe: bool,
    /// What is replaced; never empty.
    pub edits: Vec<Edit>,
}

/// Applies fixes of one call of [`lint`](super::lint) to the text that was checked.
///
/// A fix that overlaps an earlier one of `fixes` is left out, whole; check the result again to get
/// it. [`fix`](super::fix()) does so, and proves that verdicts stay. A range beyond `body` is left out
/// too.
///
/// Cost: `n` log `n` in the edits, and a copy of the text.
///
/// ```
/// use robosieve::lint::{apply, lint};
/// let body = b"User-agent: *\r\nDisallow /cart # old\r\n";
/// let findings = lint(body);
/// let fix = findings[0].fix().unwrap();
/// // RFC 9309 reads the line only now, so a verdict may change.
/// assert!(!fix.is_safe);
/// assert_eq!(apply(body, [fix]), b"User-agent: *\r\nDisallow: /cart # old\r\n");
/// ```
pub fn apply<'f>(body: &[u8], fixes: impl IntoIterator<Item = &'f Fix>) -> Vec<u8> {
    let mut edits = EditSet::default();
    for fix in fixes {
        if fix.edits.iter().all(|edit| edit.range.end <= body.len()) {
            edits.add(fix);
        }
    }
    edits.apply(body)
}

/// Edits of several fixes that do not overlap.
#[derive(Default)]
pub(super) struct EditSet<'f> {
    /// By start and end. Two insertions at one offset have no order, so the second is left out.
    edits: BTreeMap<(usize, usize), &'f Edit>,
}

impl<'f> EditSet<'f> {
    /// Adds the edits of a fix. If one of them overlaps an earlier edit, adds none, and returns
    /// false.
    pub(super) fn add(&mut self, fix: &'f Fix) -> bool {
        let is_free = fix.edits.iter().all(|edit| self.is_free(&edit.range));
        if is_free {
            let edits = fix.edits.iter();
            self.edits
                .extend(edits.map(|edit| ((edit.range.start, edit.range.end), edit)));
        }
        is_free
    }

    fn is_free(&self, &Range { start, end }: &Range<usize>) -> bool {
        let key = (start, end);
        let previous = self.edits.range(..key).next_back();
        let next = self.edits.range(key..).next();
        start <= end
            && previous.is_none_or(|(&(_, end), _)| end <= start)
            && next.is_none_or(|(&other, _)| other != key && end <= other.0)
    }

    /// The text with the edits. They are ranges of `body`.
    fn apply(self, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(body.len());
        let mut at = 0;
        for edit in self.edits.into_values() {
            // Only edits that a caller made up overlap within their fix.
            if edit.range.start >= at {
                out.extend_from_slice(&body[at..edit.range.start]);
                out.extend_from_slice(edit.text.as_bytes());
                at = edit.range.end;
            }
        }
        out.extend_from_slice(&body[at..]);
        out
    }
}

/// An edit as a check describes it. The *text* of a line has neither comment nor white space at its
/// ends.
#[derive(Clone, Debug)]
pub(super) enum LineEdit {
    /// Removes a line; its comment stays.
    Remove { line: u32 },
    /// Replaces bytes of the text of a line, by their offsets in it.
    Text {
        line: u32,
        range: Range<usize>,
        by: String,
    },
    /// Replaces the last `len` bytes of the text of a line: its value, or the end of it. Line feeds
    /// in `by` become the line end of that line.
    Value { line: u32, len: usize, by: String },
    /// Replaces bytes of the file.
    Bytes { range: Range<usize>, by: String },
}

/// A fix as a check describes it.
#[derive(Clone, Debug)]
pub(super) struct LineFix {
    pub is_safe: bool,
    pub edits: Vec<LineEdit>,
}

impl LineFix {
    pub(super) fn safe(edit: LineEdit) -> Self {
        Self::new(true, edit)
    }

    pub(super) fn new(is_safe: bool, edit: LineEdit) -> Self {
        Self {
            is_safe,
            edits: vec![edit],
        }
    }

    /// Removes a line that has no effect.
    pub(super) fn remove(line: u32) -> Self {
        Self::safe(LineEdit::Remove { line })
    }

    /// The text of a line after the fix; `None` if it edits anything but texts of lines.
    pub(super) fn mended_text(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut edits = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            let (range, by) = match edit {
                LineEdit::Text { range, by, .. } => (range.clone(), by),
                LineEdit::Value { len, by, .. } => (text.len().checked_sub(*len)?..text.len(), by),
                _ => return None,
            };
            edits.push(Edit {
                range,
                text: by.clone(),
            });
        }
        let is_safe = self.is_safe;
        Some(apply(text, [&Fix { is_safe, edits }]))
    }

    /// Whether the fix removes any line.
    pub(super) fn removes_lines(&self) -> bool {
        let mut edits = self.edits.iter();
        edits.any(|edit| matches!(edit, LineEdit::Remove { .. }))
    }
}

/// The spans of the lines of a file that can be edited, by number.
pub(super) struct LineStarts<'b> {
    body: &'b [u8],
    /// Line 1 is the first. `None`: the line is not edited, because parsers do not read it whole.
    lines: Vec<Option<LineSpan>>,
}

/// The parts of a line, as offsets in the file.
struct LineSpan {
    start: usize,
    text: Range<usize>,
    /// The start of the comment, if there is one.
    comment: Option<usize>,
    /// The end without the line end.
    end: usize,
}

impl<'b> LineStarts<'b> {
    pub(super) fn new(body: &'b [u8]) -> Self {
        let mark = bom_len(body);
        let mut lines = Vec::new();
        let mut raw_lines = NumberedLines::new(body, false);
        while let Some(raw) = raw_lines.next_raw() {
            let start = mark + raw.start;
            let end = start + raw.text.len();
            // NUL and the limits of lines and files end what parsers read, so an edit before
            // them may bring something else in.
            let is_whole = raw.text.len() <= MAX_LINE && (end < MAX_BODY || end == body.len());
            let comment = memchr2(b'#', 0, raw.text);
            let is_text = comment.is_none_or(|at| raw.text[at] == b'#');
            lines.push((is_whole && is_text).then(|| {
                let content = &raw.text[..comment.unwrap_or(raw.text.len())];
                let text = trim(content);
                let is_blank = |byte: &&u8| is_white_space((**byte).into());
                let lead = content.iter().take_while(is_blank).count();
                LineSpan {
                    start,
                    text: start + lead..start + lead + text.len(),
                    comment: comment.map(|at| start + at),
                    end,
                }
            }));
        }
        Self { body, lines }
    }

    /// The edits of a fix as ranges of bytes. `None` if a line is not edited.
    pub(super) fn resolve(&self, fix: &LineFix) -> Option<Fix> {
        let mut edits = Vec::with_capacity(fix.edits.len());
        for edit in &fix.edits {
            edits.push(match edit {
                LineEdit::Bytes { range, by } => Edit {
                    range: range.clone(),
                    text: by.clone(),
                },
                LineEdit::Remove { line } => Edit {
                    range: self.removal_of(self.span(*line)?),
                    text: String::new(),
                },
                LineEdit::Text { line, range, by } => {
                    let start = self.span(*line)?.text.start;
                    Edit {
                        range: start + range.start..start + range.end,
                        text: by.clone(),
                    }
                }
                LineEdit::Value { line, len, by } => {
                    let span = self.span(*line)?;
                    Edit {
                        range: span.text.end - len..span.text.end,
                        text: by.replace('\n', self.line_end(span)),
                    }
                }
            });
        }
        edits.sort_by_key(|edit| edit.range.start);
        let is_safe = fix.is_safe;
        (!edits.is_empty()).then_some(Fix { is_safe, edits })
    }

    fn span(&self, line: u32) -> Option<&LineSpan> {
        self.lines.get((line as usize).checked_sub(1)?)?.as_ref()
    }

    /// The bytes that a removal deletes: the line with its end, or the text before a comment.
    fn removal_of(&self, span: &LineSpan) -> Range<usize> {
        match span.comment {
            Some(comment) => span.text.start..comment,
            None => span.start..span.end + self.line_end_len(span),
        }
    }

    fn line_end_len(&self, span: &LineSpan) -> usize {
        match self.body.get(span.end..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([_, ..]) => 1,
            _ => 0,
        }
    }

    /// The end of a line; of the last one, that of the first.
    fn line_end(&self, span: &LineSpan) -> &'static str {
        let first = self.lines.first().and_then(Option::as_ref);
        let span = match self.line_end_len(span) {
            0 => first.unwrap_or(span),
            _ => span,
        };
        match self.body.get(span.end..) {
            Some([b'\r', b'\n', ..]) => "\r\n",
            Some([b'\r', ..]) => "\r",
            _ => "\n",
        }
    }
}
