//! Records and fields of CSV (RFC 4180), in place.
//!
//! Nothing is an error but a quote that is never closed: what stands behind a closing quote counts to the field, a quote inside an
//! unquoted field is a byte like any other. So the crate `csv` reads it too; that crate neither tells an open quote nor keeps blank
//! lines, of which the lines of the output could not do without.

use std::borrow::Cow;

/// How far a record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Up to here, line end included.
    At(usize),
    /// Beyond the text; inside quotes or not.
    Open { quoted: bool },
}

/// The end of the record that `text` begins with, whose fields `each` is given by number, from 0.
pub(super) fn record<'t>(text: &'t [u8], delimiter: u8, mut each: impl FnMut(usize, Cow<'t, [u8]>)) -> End {
    let (mut at, mut number) = (0, 0);
    loop {
        let start = at;
        let mut quoted = None;
        if text.get(at) == Some(&b'"') {
            let Some(close) = closing_quote(text, at + 1) else { return End::Open { quoted: true } };
            quoted = Some(close);
            at = close + 1;
        }
        let end = memchr::memchr2(delimiter, b'\n', &text[at..]).map(|len| at + len);
        let field = &text[start..end.unwrap_or(text.len())];
        let is_last = end.is_none_or(|end| text[end] == b'\n');
        let field = if is_last { field.strip_suffix(b"\r").unwrap_or(field) } else { field };
        each(number, quoted.map_or(Cow::Borrowed(field), |close| unquoted(field, close - start)));
        match end {
            None => return End::Open { quoted: false },
            Some(end) if is_last => return End::At(end + 1),
            Some(end) => at = end + 1,
        }
        number += 1;
    }
}

/// The quote that closes a field whose text begins at `at`; two in a row are one that belongs to the text.
fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let quote = at + memchr::memchr(b'"', &text[at..])?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}

/// A field without its quotes, of which the second is at `close`.
fn unquoted(field: &[u8], close: usize) -> Cow<'_, [u8]> {
    let (inner, behind) = (&field[1..close], &field[close + 1..]);
    if behind.is_empty() && memchr::memchr(b'"', inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = Vec::with_capacity(field.len());
    let mut rest = inner;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=quote]);
        rest = &rest[quote + 2..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(behind);
    Cow::Owned(out)
}

/// The end of the last whole record of `text`, which begins with one; 0 for none. The second value is whether the rest is inside quotes.
pub(super) fn last_end(text: &[u8], delimiter: u8) -> (usize, bool) {
    let mut at = 0;
    loop {
        // Without a quote in what is left, every line is a record.
        let Some(quote) = memchr::memchr(b'"', &text[at..]) else {
            return (memchr::memrchr(b'\n', &text[at..]).map_or(at, |end| at + end + 1), false);
        };
        if let Some(end) = memchr::memrchr(b'\n', &text[at..at + quote]) {
            at += end + 1;
        }
        match record(&text[at..], delimiter, |_, _| {}) {
            End::At(end) => at += end,
            End::Open { quoted } => return (at, quoted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn fields(text: &[u8]) -> (Vec<Vec<u8>>, End) {
        let mut all = Vec::new();
        let end = record(text, b',', |number, field| {
            assert_eq!(number, all.len());
            all.push(field.into_owned());
        });
        (all, end)
    }

    #[test]
    fn quotes() {
        let cases: [(&str, &[&str], End); 8] = [
            ("a,b\nc", &["a", "b"], End::At(4)),
            ("\"a,\n\"\"b\",c\r\nd", &["a,\n\"b", "c"], End::At(12)),
            ("\n", &[""], End::At(1)),
            ("a\"b\",c", &["a\"b\"", "c"], End::Open { quoted: false }),
            ("\"a\"b,c\n", &["ab", "c"], End::At(7)),
            ("a,\"b\nc", &["a"], End::Open { quoted: true }),
            ("\"\",\n", &["", ""], End::At(4)),
            ("\"a\"\r\n", &["a"], End::At(5)),
        ];
        for (text, expected, end) in cases {
            let (found, found_end) = fields(text.as_bytes());
            assert_eq!(
                (found_end, found),
                (end, expected.iter().map(|field| field.as_bytes().to_vec()).collect()),
                "{text:?}"
            );
        }
        assert_eq!(last_end(b"a\nb,\"c\nd\"\ne,\"f\ng", b','), (10, true));
        assert_eq!(last_end(b"a\nb,\"c\nd\"\ne\nf", b','), (12, false));
    }

    proptest! {
        /// Whatever one program quotes, this reads.
        #[test]
        fn what_was_written_is_read(
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
            prop_assert_eq!(last_end(&text, b','), (text.len(), false));
            let mut rest = text.as_slice();
            for row in &rows {
                let (found, end) = fields(rest);
                prop_assert_eq!(&found, row);
                let End::At(end) = end else { panic!("a whole record") };
                rest = &rest[end..];
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_end(text in vec(select(b"ab,\"\n\r".to_vec()), 0..40)) {
            let (end, _) = last_end(&text, b',');
            prop_assert!(end <= text.len() && (end == 0 || text[end - 1] == b'\n'));
        }
    }
}
