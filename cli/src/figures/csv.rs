//! Fields and rows of CSV and TSV.
//!
//! Sites write many of the texts. Control characters are escaped as `\t` and `\u{1b}`, and a
//! backslash as `\\`, so the text can be recovered.

use super::escape::escape_field;
use std::borrow::Cow;

/// The first characters with which a spreadsheet reads a field as a formula, which a site could
/// inject. The apostrophe is one of them so that an escaped field cannot equal another text.
const FORMULA_STARTS: [char; 5] = ['=', '+', '-', '@', '\''];

/// A text as a field of TSV, from which it can be recovered: as [`escape_field`], after an
/// apostrophe if a spreadsheet would read it as a formula.
pub(crate) fn tsv_field(text: &str) -> Cow<'_, str> {
    let field = escape_field(text);
    if text.starts_with(FORMULA_STARTS) {
        Cow::Owned(format!("'{field}"))
    } else {
        field
    }
}

/// A text as a field of CSV: as [`tsv_field`], in quotes where necessary (RFC 4180).
pub(crate) fn csv_field(text: &str) -> Cow<'_, str> {
    let field = tsv_field(text);
    match field.contains([',', '"']) {
        true => Cow::Owned(format!("\"{}\"", field.replace('"', "\"\""))),
        false => field,
    }
}

/// A text of rows and columns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DelimitedText {
    Csv,
    Tsv,
}

impl DelimitedText {
    fn delimiter(self) -> char {
        match self {
            Self::Csv => ',',
            Self::Tsv => '\t',
        }
    }

    /// A text as a field.
    pub(crate) fn field(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Csv => csv_field(text),
            Self::Tsv => tsv_field(text),
        }
    }

    /// Appends a row of finished fields, with its line end.
    pub(crate) fn push_row<S: AsRef<str>>(
        self,
        fields: impl IntoIterator<Item = S>,
        out: &mut String,
    ) {
        for (column, field) in fields.into_iter().enumerate() {
            if column > 0 {
                out.push(self.delimiter());
            }
            out.push_str(field.as_ref());
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_delimiters_between_fields() {
        let mut out = String::new();
        DelimitedText::Csv.push_row(["a", "", "b"], &mut out);
        DelimitedText::Tsv.push_row(["a", "b"], &mut out);
        DelimitedText::Tsv.push_row([""; 0], &mut out);
        assert_eq!(out, "a,,b\na\tb\n\n");
    }

    #[test]
    fn fields_are_no_formulas_and_stay_different() {
        assert_eq!(
            (csv_field("=1"), tsv_field("-a\tb")),
            ("'=1".into(), "'-a\\tb".into())
        );
        assert_eq!(
            (csv_field("@a,\"b\""), csv_field("a b")),
            ("\"'@a,\"\"b\"\"\"".into(), "a b".into())
        );
        let texts = [
            "@x",
            "'@x",
            "''@x",
            "x",
            "'x",
            "a\tb",
            "a\\tb",
            "=",
            "'",
            "",
            ",",
            "\",",
            "'\",\"",
            "\"'\"\",\"\"\"",
        ];
        for field in [csv_field, tsv_field] {
            let fields: std::collections::HashSet<String> =
                texts.map(|text| field(text).into_owned()).into();
            assert_eq!(fields.len(), texts.len(), "{fields:?}");
            assert!(fields.iter().all(|field| {
                !field
                    .trim_start_matches('"')
                    .starts_with(['=', '+', '-', '@'])
            }));
        }
    }
}
