//! The escapes of text logs: `\xHH` (nginx, Apache), `\"`, `\\`, `\t` and the like (Apache), `%HH`
//! (CloudFront), `#HH` (HAProxy) and `+` (IIS).

use std::borrow::Cow;

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

/// A text with each `%HH` decoded once. A percent sign that begins no escape stays.
pub(super) fn unescape_percent(text: &[u8]) -> Cow<'_, [u8]> {
    unescape_after(b'%', text)
}

/// A text with each `#HH` decoded once, as HAProxy writes them.
pub(super) fn unescape_hash(text: &[u8]) -> Cow<'_, [u8]> {
    unescape_after(b'#', text)
}

/// A text in which each `mark` and two hexadecimal digits become one byte.
fn unescape_after(mark: u8, text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(mark, text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(mark, rest) {
        out.extend_from_slice(&rest[..at]);
        let escape = match &rest[at..] {
            [_, high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        out.push(escape.map_or(mark, |(high, low)| high << 4 | low));
        rest = &rest[at + if escape.is_some() { 3 } else { 1 }..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// A text with `blank` in place of each `+`.
pub(super) fn unescape_plus<'t>(text: &'t [u8], blank: &[u8]) -> Cow<'t, [u8]> {
    if memchr::memchr(b'+', text).is_none() {
        return Cow::Borrowed(text);
    }
    let parts: Vec<&[u8]> = text.split(|byte| *byte == b'+').collect();
    Cow::Owned(parts.join(blank))
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
        for (text, plain) in [
            ("Mozilla/5.0%20(a)+b%2", b"Mozilla/5.0 (a)+b%2".as_slice()),
            ("/%7ejoe/%25C3%25A9", b"/~joe/%C3%A9"),
            ("%zz%%%2541", b"%zz%%%41"),
            ("%ff%00", b"\xff\0"),
            ("", b""),
        ] {
            assert_eq!(*unescape_percent(text.as_bytes()), *plain, "{text}");
        }
        assert_eq!(*unescape_plus(b"+a+b+", b"%20"), *b"%20a%20b%20");
        assert_eq!(*unescape_plus(b"", b" "), *b"");
    }
}
