//! The escapes of text logs: `\xHH` (nginx, Apache), `\"`, `\\`, `\t` and the like (Apache).

/// A field without its escapes. A backslash that begins no escape stays.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let (byte, len) = escape_at(&rest[at..]);
        out.push(byte);
        rest = &rest[at + len..];
    }
    out.extend_from_slice(rest);
    out
}

/// The byte of the escape at the start of a text, and the length of the escape.
fn escape_at(text: &[u8]) -> (u8, usize) {
    match text {
        [_, b'x', high, low, ..] => match hex(*high).zip(hex(*low)) {
            Some((high, low)) => (high << 4 | low, 4),
            None => (b'\\', 1),
        },
        [_, byte @ (b'"' | b'\\' | b'\''), ..] => (*byte, 2),
        [_, b'n', ..] => (b'\n', 2),
        [_, b'r', ..] => (b'\r', 2),
        [_, b't', ..] => (b'\t', 2),
        _ => (b'\\', 1),
    }
}

/// A text without its percent escapes, and with blanks in place of `+`: W3C logs escape blanks so.
pub(super) fn unescape_percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escaped = match text.get(at + 1..at + 3) {
            Some([high, low]) if byte == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        at += if escaped.is_some() { 3 } else { 1 };
        out.push(match escaped {
            Some((high, low)) => high << 4 | low,
            None if byte == b'+' => b' ',
            None => byte,
        });
    }
    out
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_text_logs() {
        for (text, plain) in [
            (r"\x22a\x5C\xff", b"\"a\\\xff".as_slice()),
            (r#"a\"b\\c\td"#, b"a\"b\\c\td"),
            (r"\xZZ\q\", br"\xZZ\q\"),
            (r"\x2", br"\x2"),
            ("", b""),
        ] {
            assert_eq!(unescape(text.as_bytes()), plain, "{text}");
        }
    }

    #[test]
    fn escapes_of_w3c_logs() {
        assert_eq!(unescape_percent(b"Mozilla/5.0%20(a)+b%2"), b"Mozilla/5.0 (a) b%2");
        assert_eq!(unescape_percent(b"%zz%"), b"%zz%");
    }
}
