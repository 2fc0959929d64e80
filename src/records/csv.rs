//! Records and fields of CSV (RFC 4180), in place.
//!
//! The only error is a quote that is never closed. Text after a closing quote belongs to the field,
//! and a quote inside an unquoted field is an ordinary byte, as in the crate `csv`. That crate is
//! not used because it does not report an open quote, and drops blank lines, which would misalign
//! output with input.

use bstr::ByteSlice;
use std::borrow::Cow;

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordEnd {
    /// At this offset, line end included.
    At(usize),
    /// Beyond the text, which ends inside quotes or not.
    Open { in_quotes: bool },
}

/// A field as it is written.
#[derive(Clone, Copy)]
pub(super) struct RawField<'t> {
    /// The field without the line end after it.
    text: &'t [u8],
    /// The offset of the quote that closes it, if it is quoted.
    close: Option<usize>,
}

impl<'t> RawField<'t> {
    pub(super) fn is_quoted(self) -> bool {
        self.close.is_some()
    }

    /// Whether text follows the closing quote, which a writer of CSV would have doubled.
    pub(super) fn has_text_after_quote(self) -> bool {
        self.close.is_some_and(|close| close + 1 < self.text.len())
    }

    /// Whether a backslash escapes the quote that seems to close the field, and text follows it.
    fn has_escaped_quote(self) -> bool {
        self.has_text_after_quote()
            && self
                .close
                .is_some_and(|close| close > 1 && self.text[close - 1] == b'\\')
    }

    fn content(self) -> Cow<'t, [u8]> {
        match self.close {
            None => Cow::Borrowed(self.text),
            Some(close) => unquoted(self.text, close),
        }
    }
}

/// Parses the record at the start of `text`. Calls `each` with the number of every field, from 0,
/// and its content.
pub(super) fn record<'t>(
    text: &'t [u8],
    delimiter: u8,
    mut each: impl FnMut(usize, Cow<'t, [u8]>),
) -> RecordEnd {
    raw_record(text, delimiter, |number, field| {
        each(number, field.content());
    })
}

/// As [`record`], with the fields as they are written.
#[inline(always)]
pub(super) fn raw_record<'t>(
    text: &'t [u8],
    delimiter: u8,
    mut each: impl FnMut(usize, RawField<'t>),
) -> RecordEnd {
    let mut at = 0;
    let mut number = 0;
    loop {
        let start = at;
        let mut close = None;
        if text.get(at) == Some(&b'"') {
            let Some(quote) = closing_quote(text, at + 1) else {
                return RecordEnd::Open { in_quotes: true };
            };
            close = Some(quote - start);
            at = quote + 1;
        }
        // Text between the closing quote and the delimiter belongs to the field.
        let end = memchr::memchr2(delimiter, b'\n', &text[at..]).map(|len| at + len);
        let field = &text[start..end.unwrap_or(text.len())];
        let is_last = end.is_none_or(|end| text[end] == b'\n');
        let field = if is_last {
            field.strip_suffix(b"\r").unwrap_or(field)
        } else {
            field
        };
        each(number, RawField { text: field, close });
        match end {
            None => return RecordEnd::Open { in_quotes: false },
            Some(end) if is_last => return RecordEnd::At(end + 1),
            Some(end) => at = end + 1,
        }
        number += 1;
    }
}

/// The offset of the quote that closes a field whose text starts at `at`. Two quotes in a row are
/// an escaped quote.
fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let quote = at + memchr::memchr(b'"', &text[at..])?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}

/// The content of a quoted field. `close` is the offset of the closing quote.
fn unquoted(field: &[u8], close: usize) -> Cow<'_, [u8]> {
    let inner = &field[1..close];
    let after = &field[close + 1..];
    if after.is_empty() && memchr::memchr(b'"', inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = inner.replace("\"\"", "\"");
    out.extend_from_slice(after);
    Cow::Owned(out)
}

/// The records at the start of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WholeRecords {
    /// The end of the last whole record, or 0.
    pub end: usize,
    /// Whether the rest ends inside quotes.
    pub in_quotes: bool,
    /// The start of the first record with a quote that a backslash escapes.
    pub escaped_quote: Option<usize>,
}

/// Finds the whole records of `text`, which starts with a record.
pub(super) fn whole_records(text: &[u8], delimiter: u8) -> WholeRecords {
    let mut found = WholeRecords::default();
    loop {
        let rest = &text[found.end..];
        // Without a quote in the rest, every line is a record.
        let Some(quote) = memchr::memchr(b'"', rest) else {
            found.end += memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
            return found;
        };
        let start = memchr::memrchr(b'\n', &rest[..quote]).map_or(0, |end| end + 1);
        found.end += start;
        let mut has_escaped_quote = false;
        let end = raw_record(&rest[start..], delimiter, |_, field| {
            has_escaped_quote |= field.has_escaped_quote();
        });
        if has_escaped_quote {
            found.escaped_quote = found.escaped_quote.or(Some(found.end));
        }
        match end {
            RecordEnd::At(len) => found.end += len,
            RecordEnd::Open { in_quotes } => {
                found.in_quotes = in_quotes;
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn fields(text: &[u8]) -> (Vec<Vec<u8>>, RecordEnd) {
        let mut all = Vec::new();
        let end = record(text, b',', |number, field| {
            assert_eq!(number, all.len());
            all.push(field.into_owned());
        });
        (all, end)
    }

    #[test]
    fn quoted_fields_are_parsed() {
        let cases: [(&str, &[&str], RecordEnd); 8] = [
            ("a,b\nc", &["a", "b"], RecordEnd::At(4)),
            ("\"a,\n\"\"b\",c\r\nd", &["a,\n\"b", "c"], RecordEnd::At(12)),
            ("\n", &[""], RecordEnd::At(1)),
            (
                "a\"b\",c",
                &["a\"b\"", "c"],
                RecordEnd::Open { in_quotes: false },
            ),
            ("\"a\"b,c\n", &["ab", "c"], RecordEnd::At(7)),
            ("a,\"b\nc", &["a"], RecordEnd::Open { in_quotes: true }),
            ("\"\",\n", &["", ""], RecordEnd::At(4)),
            ("\"a\"\r\n", &["a"], RecordEnd::At(5)),
        ];
        for (text, expected, end) in cases {
            let (found, found_end) = fields(text.as_bytes());
            let expected: Vec<_> = expected
                .iter()
                .map(|field| field.as_bytes().to_vec())
                .collect();
            assert_eq!((found_end, found), (end, expected), "{text:?}");
        }
        let ends = |text| {
            let found = whole_records(text, b',');
            (found.end, found.in_quotes, found.escaped_quote)
        };
        assert_eq!(ends(b"a\nb,\"c\nd\"\ne,\"f\ng"), (10, true, None));
        assert_eq!(ends(b"a\nb,\"c\nd\"\ne\nf"), (12, false, None));
        // A quote after a backslash closes a field, unless text follows.
        assert_eq!(ends(b"a\nb,\"c\\\"d\"\n"), (11, false, Some(2)));
        assert_eq!(ends(b"\"C:\\\",\"\\\"\r\n"), (11, false, None));
        assert_eq!(ends(b"\"x\\\"\"y\"\n"), (8, false, None));
    }

    proptest! {
        #[test]
        fn written_rows_are_read_back(
            rows in vec(vec(vec(select(b"ab,\"\n\r;".to_vec()), 0..6), 1..4), 1..6),
            quote_all in any::<bool>(),
        ) {
            let mut text = Vec::new();
            for row in &rows {
                for (i, field) in row.iter().enumerate() {
                    if i > 0 {
                        text.push(b',');
                    }
                    if quote_all || field.iter().any(|b| b",\"\n\r".contains(b)) {
                        text.push(b'"');
                        text.extend(field.iter().flat_map(|&b| if b == b'"' { vec![b, b] } else { vec![b] }));
                        text.push(b'"');
                    } else {
                        text.extend_from_slice(field);
                    }
                }
                text.push(b'\n');
            }
            let whole = whole_records(&text, b',');
            prop_assert_eq!((whole.end, whole.in_quotes), (text.len(), false));
            let mut rest = text.as_slice();
            for row in &rows {
                let (found, end) = fields(rest);
                prop_assert_eq!(&found, row);
                let RecordEnd::At(end) = end else { panic!("a whole record") };
                rest = &rest[end..];
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn the_last_end_is_a_line_end(text in vec(select(b"ab,\"\n\r".to_vec()), 0..40)) {
            let WholeRecords { end, .. } = whole_records(&text, b',');
            prop_assert!(end <= text.len() && (end == 0 || text[end - 1] == b'\n'));
        }
    }
}
