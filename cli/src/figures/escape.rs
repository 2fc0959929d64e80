//! Escapes text from sites, archives and file names, so that printing it only shows it.
//!
//! Control characters can move the cursor, recolour or retitle a terminal and even type into it.
//! Bidirectional controls reorder a line, and invisible characters hide a difference. All are shown
//! as `\u{1b}`; invalid UTF-8 is already U+FFFD.
//!
//! Services that run builds obey commands in the output of programs, to mark errors, set variables or
//! end a step: a line that begins `::error::` on GitHub, and `##vso[…]`, `##[…]` or `##teamcity[…]`
//! anywhere in a line on Azure Pipelines, TeamCity and GitHub. The first character of such a command
//! is escaped.

use robosieve::is_invisible;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;

/// Whether printing this character has an effect other than showing it: controls (C0, DEL, C1),
/// line separators, bidirectional controls and invisible characters (Default_Ignorable_Code_Point of
/// Unicode).
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c)
}

/// Escapes a text within a line, including line ends and tabs.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    without_commands(escape_if(text, is_unsafe))
}

/// Escapes a text with lines or columns; line ends and tabs stay.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    let text = escape_if(text, |c| is_unsafe(c) && c != '\n' && c != '\t');
    without_line_commands(without_commands(text))
}

/// What begins a command at the start of a line, and ends its name and its properties.
const LINE_COMMAND: &str = "::";

/// Escapes commands at the start of lines.
fn without_line_commands(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.split('\n').any(is_line_command) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        if is_line_command(line) {
            // Only blanks precede the first colon.
            out += &line.replacen(':', "\\u{3a}", 1);
        } else {
            out += line;
        }
    }
    Cow::Owned(out)
}

fn is_line_command(line: &str) -> bool {
    let command = line.trim_start().strip_prefix(LINE_COMMAND);
    command.is_some_and(|rest| rest.contains(LINE_COMMAND))
}

/// Escapes commands that are obeyed anywhere in a line.
fn without_commands(text: Cow<'_, str>) -> Cow<'_, str> {
    if command_starts(&text).next().is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for start in command_starts(&text) {
        out += &text[done..start];
        out += "\\u{23}";
        done = start + 1;
    }
    out += &text[done..];
    Cow::Owned(out)
}

/// The offsets of commands such as `##vso[`, `##[` and `##teamcity[`.
fn command_starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('#')
        .map(|(start, _)| start)
        .filter(|start| is_command(&text[start + 1..]))
}

/// Whether a command begins one byte before.
fn is_command(rest: &str) -> bool {
    let name = rest.strip_prefix('#');
    name.is_some_and(|name| {
        name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .starts_with('[')
    })
}

/// Escapes a text within a line so that the text can be recovered: a backslash becomes two.
pub(crate) fn escape_field(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|b| matches!(b, b' '..=b'~') && b != b'\\' && b != b'#')
    {
        return Cow::Borrowed(text);
    }
    without_commands(escape_if(text, |c| is_unsafe(c) || c == '\\'))
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
    for (at, c) in json.char_indices() {
        let begins_command = c == '#' && is_command(&json[at + 1..]);
        if is_unsafe(c) && c != '\n' || begins_command {
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
        // Fillers and marks of variants show nothing.
        for filler in [
            "\u{3164}", "\u{115f}", "\u{ffa0}", "\u{fe0f}", "\u{ad}", "\u{2800}",
        ] {
            assert!(escape(filler).starts_with("\\u{"), "{}", escape(filler));
        }
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
    fn commands_of_build_services_are_escaped() {
        for (text, shown) in [
            ("::error file=a::b", "\\u{3a}:error file=a::b"),
            (
                "a\n \t::stop-commands::x\nb",
                "a\n \t\\u{3a}:stop-commands::x\nb",
            ),
            ("::1 is an address, and a: :b no command", ""),
            ("x ::error::y", ""),
            (
                "x##vso[task.setvariable]y",
                "x\\u{23}#vso[task.setvariable]y",
            ),
            (
                "##[error]x ##teamcity[y",
                "\\u{23}#[error]x \\u{23}#teamcity[y",
            ),
            ("###[a]", "#\\u{23}#[a]"),
            ("## a [b] ##", ""),
        ] {
            let expected = if shown.is_empty() { text } else { shown };
            assert_eq!(escape_lines(text), expected);
        }
        assert_eq!(escape("##vso[x"), "\\u{23}#vso[x");
        assert_eq!(escape_field("##vso[x"), "\\u{23}#vso[x");
        assert_eq!(escape_field("a#b"), "a#b");
        assert_eq!(to_json(&"##vso[x").unwrap(), "\"\\u0023#vso[x\"");
        assert!(matches!(escape_lines("a: #b\n::1\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn invisible_characters_are_escaped() {
        for c in "\u{ad}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{fe0f}\u{e0100}".chars() {
            assert_eq!(escape(&c.to_string()), c.escape_unicode().to_string());
        }
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
