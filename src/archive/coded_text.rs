//! Texts that a writer coded once more than its reader decodes: `str()` of Python's bytes, a BLOB of
//! DuckDB, binary columns as base64, JSON in JSON.
//!
//! Such a text is one line without a rule, so it would allow everything. A few sites do serve
//! one (1 of 31,753 in a collection of robots.txt files), so it is counted, and judged as it is.

use base64::Engine;

/// Line ends as other programs escape them, in lower case.
const ESCAPED_LINE_ENDS: &[&str] = &[
    "\\n", "\\r", "\\x0a", "\\x0d", "\\u000a", "\\u000d", "\\012",
];

/// The fields that most robots.txt files have, in lower case.
const FIELDS: &[&str] = &["user-agent", "disallow", "allow", "sitemap"];

/// The part of a text that is decoded.
const SAMPLE: usize = 1 << 12;

/// Whether a text without line ends has lines of a robots.txt once it is decoded.
pub(crate) fn is_coded(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    if text.is_empty() || memchr::memchr2(b'\n', b'\r', text).is_some() {
        return false;
    }
    let text = &text[..text.len().min(SAMPLE)];
    has_escaped_lines(text) || decoded(text).is_some_and(|decoded| has_field(&decoded))
}

fn has_escaped_lines(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let text = String::from_utf8_lossy(&text);
    ESCAPED_LINE_ENDS.iter().any(|end| {
        let mut lines = text.split(end).skip(1);
        lines.any(|line| {
            FIELDS
                .iter()
                .any(|field| line.trim_start().starts_with(field))
        })
    })
}

/// The start of a text in hexadecimal, as PostgreSQL writes it, or in base64.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"\\x").unwrap_or(text);
    if digits.iter().all(u8::is_ascii_hexdigit) {
        let (pairs, _) = digits.as_chunks::<2>();
        let bytes = pairs.iter().map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        return bytes.collect();
    }
    let whole = &text[..text.len() / 4 * 4];
    base64::engine::general_purpose::STANDARD.decode(whole).ok()
}

fn has_field(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let text = String::from_utf8_lossy(&text);
    FIELDS.iter().any(|field| text.contains(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coded_texts_are_recognized() {
        for text in [
            r"User-agent: *\nDisallow: /",
            r"b'User-agent: *\r\nDisallow: /\r\n'",
            r##"b"# it's\n\nuser-agent: *""##,
            r"User-agent: *\x0ADisallow: /x\x0A",
            r"User-agent: *\012Disallow: /x",
            "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3gK",
            "\\x557365722d6167656e743a202a0a",
            "557365722D6167656E743A202A0A",
        ] {
            assert!(is_coded(text.as_bytes()), "{text}");
            assert!(
                !is_coded(format!("# a comment\n{text}\n").as_bytes()),
                "{text}"
            );
        }
        for text in [
            "",
            "User-agent: *",
            r"Disallow: /\n",
            r"# C:\new, and \nothing",
            "<html><body>disallow</body></html>",
            "VXNlci1hZ2VudDog.KgpEaXNhbGxvdzogL3gK",
            "c29tZXRoaW5nIGVsc2UK",
            "0123456789abcdef",
            "\u{43f}\u{440}\u{438}",
        ] {
            assert!(!is_coded(text.as_bytes()), "{text}");
        }
        // Only the start of a long text is decoded.
        let long =
            base64::engine::general_purpose::STANDARD.encode("User-agent: *\n".repeat(9_999));
        assert!(is_coded(long.as_bytes()));
    }
}
