//! Escapes text from sites, archives and file names, so that printing it only shows it.
//!
//! Control characters can move the cursor, recolour or retitle a terminal and even type into it.
//! Bidirectional controls reorder a line, and invisible characters hide a difference. All are shown
//! as `\u{1b}`; invalid UTF-8 is already U+FFFD.

use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;

/// Whether printing this character has an effect other than showing it: controls (C0, DEL, C1),
/// line separators, bidirectional controls and invisible characters.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Escapes a text within a line, including line ends and tabs.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    escape_if(text, is_unsafe)
}

/// Escapes a text with lines or columns; line ends and tabs stay.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_if(text, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// Escapes a text within a line so that the text can be recovered: a backslash becomes two.
pub(crate) fn escape_field(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'\\') {
        return Cow::Borrowed(text);
    }
    escape_if(text, |c| is_unsafe(c) || c == '\\')
}

fn escape_if(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            out.extend(c.escape_default())
        } else {
            out.push(c)
        }
    }
    Cow::Owned(out)
}

/// Escapes a text within a line, cut to at most `max` characters.
pub(crate) fn escape_cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => escape(text).into_owned(),
        Some((end, _)) => escape(&text[..end]).into_owned() + "…",
    }
}

/// Serialises to JSON with unsafe characters as `\u202e`: parsers read the same text, and printing
/// it is harmless.
pub(crate) fn to_json(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|json| escape_json(&json))
}

/// [`to_json`] on several lines, with a line end.
pub(crate) fn to_json_pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|json| escape_json(&json) + "\n")
}

/// Escapes the strings of a JSON text as [`to_json`] does. Outside strings, its only unsafe
/// characters are line ends.
pub(crate) fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSAFE: &str = "a\u{1b}[2J\u{7}\u{7f}\u{9b}\u{202e}\u{2066}\u{200e}\u{61c}\u{e0041}\r";

    #[test]
    fn only_unsafe_characters_are_escaped() {
        let shown =
            "a\\u{1b}[2J\\u{7}\\u{7f}\\u{9b}\\u{202e}\\u{2066}\\u{200e}\\u{61c}\\u{e0041}\\r";
        assert_eq!(escape(UNSAFE), shown);
        assert_eq!(escape_lines(UNSAFE), shown);
        for text in ["", "Disallow: /ä\\x1b/日本?\"'", "\u{fffd}\u{e9}\u{301}"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(escape_field(UNSAFE), shown);
        assert_eq!(
            (escape_field("a\\t\tä"), escape_field("a\"b'")),
            ("a\\\\t\\tä".into(), "a\"b'".into())
        );
        assert_eq!(
            (escape("a\tb\n"), escape_lines("a\tb\n")),
            ("a\\tb\\n".into(), "a\tb\n".into())
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        for (text, max, shown) in [
            ("äöü", 2, "äö…"),
            ("äö", 2, "äö"),
            ("\u{1b}x", 1, "\\u{1b}…"),
            ("", 0, ""),
            ("a", 0, "…"),
        ] {
            assert_eq!(escape_cut(text, max), shown);
        }
    }

    #[test]
    fn escaped_json_keeps_its_value() {
        let value = serde_json::json!({ UNSAFE: [UNSAFE, "\n\t\"\\"] });
        for json in [to_json(&value).unwrap(), to_json_pretty(&value).unwrap()] {
            assert!(!json.contains(|c| is_unsafe(c) && c != '\n'), "{json:?}");
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&json).unwrap(),
                value
            );
        }
    }
}
