//! The syntax of values that annotating writes: keys of a JSON object, or columns of a table.

/// The syntax of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSyntax {
    /// A key of a JSON object follows another one.
    Keys,
    /// Columns of a table with this delimiter. They follow another one, and precede those of the
    /// input.
    Columns(u8),
}

impl ValueSyntax {
    /// Begins a value. In JSON, it has this key ([`key_text`]).
    pub(super) fn begin(self, key: &str, out: &mut Vec<u8>) {
        match self {
            Self::Keys => out.extend_from_slice(key.as_bytes()),
            Self::Columns(delimiter) => out.push(delimiter),
        }
    }

    /// Writes a missing value: `null`, or an empty column.
    pub(super) fn null(self, out: &mut Vec<u8>) {
        if self == Self::Keys {
            out.extend_from_slice(b"null");
        }
    }

    /// Writes a text. In a column, it is quoted if it has the delimiter or a quote, and its control
    /// characters are escaped.
    pub(super) fn text(self, text: &str, out: &mut Vec<u8>) {
        let Self::Columns(delimiter) = self else {
            // Writing to memory never fails.
            return drop(serde_json::to_writer(out, text));
        };
        // Tables with tabs are not quoted, and a tab in a text is escaped.
        let is_special = |byte| byte == delimiter || byte == b'"';
        let is_quoted = delimiter != b'\t' && text.bytes().any(is_special);
        if is_quoted {
            out.push(b'"');
        }
        let mut utf8 = [0; 4];
        for c in text.chars() {
            match c {
                '"' if is_quoted => out.extend_from_slice(b"\"\""),
                c if c.is_control() => {
                    out.extend(c.escape_default().map(|c| c as u8));
                }
                c => out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes()),
            }
        }
        if is_quoted {
            out.push(b'"');
        }
    }
}

/// The JSON text of a key that follows another one.
pub(super) fn key_text(name: &str) -> String {
    format!(",{}:", serde_json::Value::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_quoted_where_needed() {
        for (text, delimiter, column) in [
            ("Disallow: /a", b',', "Disallow: /a"),
            ("Disallow: /a,b", b',', "\"Disallow: /a,b\""),
            ("Disallow: /a,b", b';', "Disallow: /a,b"),
            ("a\"b", b',', "\"a\"\"b\""),
            ("a\tb\u{1b}é", b',', "a\\tb\\u{1b}é"),
            ("a\tb\"c", b'\t', "a\\tb\"c"),
        ] {
            let mut out = Vec::new();
            ValueSyntax::Columns(delimiter).text(text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), column);
        }
    }
}
