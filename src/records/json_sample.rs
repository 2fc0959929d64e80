//! The first lines of a file of JSON: whether each is one object, and the key that holds URLs.

use crate::profile::Profile;
use crate::records::json;
use crate::records::url_names::{USUAL, UrlName, listed};
use crate::url;
use bstr::ByteSlice;
use serde_json::Value;

/// Objects nested deeper are not searched for URLs.
const MAX_DEPTH: usize = 6;

/// The keys that are remembered of a sample.
const MAX_KEYS: usize = 100;

/// The key of the URLs, by the first records.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JsonKey {
    Found(String),
    /// Other keys hold URLs, or several known ones: the defect.
    Unclear(String),
}

/// Whether a text that should have one JSON object per line has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JsonLayout {
    /// It may have.
    Lines,
    /// It has not: the defect, and the command that writes lines.
    Defect(String),
    /// More of it has to decide.
    NeedsMore,
}

impl JsonLayout {
    fn defect(what: &str) -> Self {
        Self::Defect(what.to_owned())
    }

    /// Looks at the first value of `text`, the start of an input; `is_all` says whether no more of
    /// it may be asked for.
    pub(super) fn of(text: &[u8], is_all: bool) -> Self {
        let text = text.trim_ascii_start();
        let (line, rest) = match text.split_once_str("\n") {
            Some((line, rest)) => (line.trim_ascii_end(), rest.trim_ascii_start()),
            None if is_all => (text.trim_ascii_end(), &b""[..]),
            None => return Self::NeedsMore,
        };
        // The line itself decides, unless it is an opening bracket or a whole array.
        let inside = line.get(1..).unwrap_or_default().trim_ascii_start();
        match line.first() {
            Some(b'[') if rest.is_empty() && !is_all && (inside.is_empty() || is_json(line)) => {
                Self::NeedsMore
            }
            // One array among other lines is one invalid record.
            Some(b'[') if !rest.is_empty() && is_json(line) => Self::Lines,
            Some(b'[') if inside.first().or(rest.first()) == Some(&b'"') => Self::defect(
                "a JSON array of texts, not one per line; write a list of them: jq -r '.[]'",
            ),
            // CDX servers write such arrays; the first one names the columns.
            Some(b'[') if inside.first().or(rest.first()) == Some(&b'[') => Self::defect(
                "a JSON array of arrays, not one object per line; write a list of the column \
                 \"original\": jq -r '(.[0] | index(\"original\")) as $column | .[1:][][$column]'",
            ),
            Some(b'[') => Self::defect(
                "a JSON array of objects, not one object per line; write one per line: jq -c '.[]'",
            ),
            Some(b'{') if line == b"{" => Self::defect(
                "a JSON object over several lines, not one per line; write each on one line: jq -c .",
            ),
            Some(b'{') if line.strip_suffix(b",").is_some_and(is_json) => Self::defect(
                "a comma follows each JSON object; remove it from each line: sed 's/,$//'",
            ),
            _ => Self::Lines,
        }
    }
}

/// The defect of JSON that begins so, where each line should have one object, and the command that
/// writes lines; `None` for any other text.
pub(crate) fn layout_defect(start: &[u8]) -> Option<String> {
    let start = start.trim_ascii_start();
    if !start.starts_with(b"[") && !start.starts_with(b"{") || !first_line_is_json(start) {
        return None;
    }
    match JsonLayout::of(start, true) {
        JsonLayout::Defect(what) => Some(what),
        JsonLayout::Lines | JsonLayout::NeedsMore => None,
    }
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether the first line is JSON, or the start of a value over several lines.
fn first_line_is_json(text: &[u8]) -> bool {
    let line = text.lines().next().unwrap_or_default().trim_ascii_end();
    let line = line.strip_suffix(b",").unwrap_or(line);
    match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
        Ok(_) => true,
        Err(err) => err.is_eof(),
    }
}

/// Whether a text without a name that has its format is JSON, with a value per line or over
/// several lines; `None` if more of it has to decide. A list of URLs may begin with `[`, as in
/// `[::1]:80/`, and with an invalid line such as `[[link]]`.
pub(super) fn begins_json(text: &[u8]) -> Option<bool> {
    let text = text.trim_ascii_start();
    let &first = text.first()?;
    if !b"[{".contains(&first) || !first_line_is_json(text) {
        return Some(false);
    }
    let &second = text[1..].trim_ascii_start().first()?;
    Some(match first {
        b'[' => b"{[\"".contains(&second),
        _ => second == b'"',
    })
}

/// Chooses the key of the URLs by a sample of lines. The usual key is chosen if any object has it,
/// and if no object has a URL under any key. With `is_partial`, URLs may lack a scheme or a host.
pub(super) fn choose_key(sample: &[u8], is_partial: bool) -> JsonKey {
    let usual = JsonKey::Found(USUAL.to_owned());
    let mut keys: Vec<String> = Vec::new();
    for line in sample.lines() {
        let Ok(Value::Object(object)) = serde_json::from_slice(line) else {
            continue;
        };
        if object.contains_key(USUAL) {
            return usual;
        }
        add_keys_of_urls(&Value::Object(object), "", MAX_DEPTH, is_partial, &mut keys);
    }
    match UrlName::among(keys.iter().map(String::as_bytes)) {
        UrlName::Found(number) => JsonKey::Found(keys.swap_remove(number)),
        UrlName::Missing if keys.is_empty() => usual,
        UrlName::Missing => JsonKey::Unclear(format!(
            "no key {USUAL:?}: URLs are under {}",
            listed(keys.iter().map(String::as_bytes))
        )),
        UrlName::Several(numbers) => JsonKey::Unclear(format!(
            "no key {USUAL:?}, and several keys hold URLs: {}",
            listed(numbers.iter().map(|&number| keys[number].as_bytes()))
        )),
    }
}

/// Adds the paths of the keys that hold URLs, each once. Arrays are not searched.
fn add_keys_of_urls(
    value: &Value,
    path: &str,
    depth: usize,
    is_partial: bool,
    keys: &mut Vec<String>,
) {
    match value {
        Value::Object(object) if depth > 0 => {
            for (key, value) in object {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                add_keys_of_urls(value, &path, depth - 1, is_partial, keys);
            }
        }
        Value::String(text) if keys.len() < MAX_KEYS => {
            let is_known = || UrlName::among([path.as_bytes()]) == UrlName::Found(0);
            let holds_url = is_url(text.as_bytes()) || (is_partial && is_known());
            if holds_url && !keys.iter().any(|key| key == path) {
                keys.push(path.to_owned());
            }
        }
        _ => {}
    }
}

/// Whether a text is a URL, or a secondary record of one.
fn is_url(text: &[u8]) -> bool {
    // The text of a document may begin with a URL.
    const MAX_URL: usize = 8 << 10;
    text.len() <= MAX_URL
        && !text.trim_ascii().contains(&b' ')
        && url::split(url::page_url(text), Profile::default(), &mut Vec::new()).is_some()
}

/// Whether the object at the start of a line has a text under the usual key.
pub(super) fn has_usual_key(line: &[u8]) -> bool {
    json::string_at(line, USUAL).is_some()
}

/// Whether the object at the start of a line has a value at a path.
pub(super) fn has_key(line: &[u8], path: &str) -> bool {
    serde_json::from_slice(line).is_ok_and(|object| json::value_at(&object, path).is_some())
}

/// The path of keys that a user names, as the objects of a sample spell it: as it is given, or as the
/// only path that differs in case.
pub(super) fn spelled_key(sample: &[u8], path: &str) -> String {
    let mut similar: Vec<String> = Vec::new();
    for line in sample.lines() {
        let Ok(object) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        if json::value_at(&object, path).is_some() {
            return path.to_owned();
        }
        add_similar_paths(&object, "", path, &mut similar);
    }
    match &mut *similar {
        [found] => std::mem::take(found),
        _ => path.to_owned(),
    }
}

/// Adds the paths that differ from the rest of a path, `wanted`, in case alone, each once. `before` is
/// its start.
fn add_similar_paths(value: &Value, before: &str, wanted: &str, found: &mut Vec<String>) {
    let Value::Object(object) = value else {
        return;
    };
    for (key, value) in object {
        let Some((start, rest)) = wanted.split_at_checked(key.len()) else {
            continue;
        };
        if !start.eq_ignore_ascii_case(key) {
            continue;
        }
        let path = format!("{before}{key}");
        if rest.is_empty() {
            if !found.contains(&path) {
                found.push(path);
            }
        } else if let Some(rest) = rest.strip_prefix('.') {
            add_similar_paths(value, &format!("{path}."), rest, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_objects_over_lines_are_defects() {
        for (text, command) in [
            ("[{\"url\":\"https://e.example/\"},\n", Some("jq -c '.[]'")),
            (
                "[\n{\"url\":\"https://e.example/\"},\n",
                Some("jq -c '.[]'"),
            ),
            (" \n[ {\n", Some("jq -c '.[]'")),
            ("[{\"url\":\"https://e.example/\"}]", Some("jq -c '.[]'")),
            ("[[\"urlkey\",\"original\"],\n", Some("[$column]'")),
            ("[\n[\"urlkey\"],\n", Some("[$column]'")),
            ("[\"https://e.example/\",\n", Some("jq -r '.[]'")),
            ("[\r\n  \"https://e.example/\",\r\n", Some("jq -r '.[]'")),
            ("{\n  \"url\": \"https://e.example/\"\n}\n", Some("jq -c .")),
            ("{\"url\":\"https://e.example/\"},\n", Some("sed")),
            ("{\"url\":\"https://e.example/\"}\n", None),
            // One invalid record among others.
            ("[]\n{\"url\":\"https://e.example/\"}\n", None),
            ("{broken\n", None),
            ("{broken,\n", None),
            ("", None),
        ] {
            let layout = JsonLayout::of(text.as_bytes(), true);
            match (command, &layout) {
                (Some(command), JsonLayout::Defect(what)) => assert!(what.contains(command)),
                (None, JsonLayout::Lines) => {}
                _ => panic!("{text}: {layout:?}"),
            }
            // Any start of the text gives the same answer, or none yet.
            for end in 0..text.len() {
                let part = JsonLayout::of(&text.as_bytes()[..end], false);
                assert!(
                    part == layout || part == JsonLayout::NeedsMore,
                    "{text} {end}: {part:?}"
                );
            }
        }
    }

    #[test]
    fn json_is_told_from_lists() {
        for (text, expected) in [
            ("[{\"a\"", Some(true)),
            ("[\n \"a\"", Some(true)),
            ("{\n\"a\"", Some(true)),
            ("[\n", None),
            ("", None),
            ("[::1]:80/\n", Some(false)),
            ("[[link]]\nhttps://e.example/\n", Some(false)),
            ("{\"a\"}\nhttps://e.example/\n", Some(false)),
            ("[[\"original\"],\n[\"https://e.exam", Some(true)),
            ("{broken\n", Some(false)),
            ("https://e.example/\n", Some(false)),
        ] {
            assert_eq!(begins_json(text.as_bytes()), expected, "{text}");
        }
    }

    /// The schemas of published corpora and of tools.
    #[test]
    fn keys_of_corpora_are_found() {
        let url = "https://e.example/a";
        for (line, key) in [
            (r#"{"text":"t","url":"U"}"#, "url"),
            (r#"{"URL":"U","TEXT":"t"}"#, "URL"),
            (r#"{"Url":"U"}"#, "Url"),
            (
                r#"{"text":"t","metadata":{"url":"U","date":"d"}}"#,
                "metadata.url",
            ),
            (r#"{"text":"t","meta":{"url":"U"}}"#, "meta.url"),
            (
                r#"{"content":"c","warc_headers":{"warc-target-uri":"U"},"metadata":{"a":null}}"#,
                "warc_headers.warc-target-uri",
            ),
            (
                r#"{"metadata":{"warc_headers":{"warc-target-uri":"U"}}}"#,
                "metadata.warc_headers.warc-target-uri",
            ),
            (
                r#"{"headers":{"warc-target-uri":"U"}}"#,
                "headers.warc-target-uri",
            ),
            (
                r#"{"metadata":{"WARC-Target-URI":"U"}}"#,
                "metadata.WARC-Target-URI",
            ),
            (r#"{"target_uri":"U"}"#, "target_uri"),
            (r#"{"source_url":"U","link":"U"}"#, "source_url"),
            (r#"{"f":"./x.warc.gz","u":"U","c":"text/html"}"#, "u"),
            // The usual key comes first, whatever it holds.
            (r#"{"URL":"U","source_url":"U"}"#, "URL"),
            (r#"{"url":7,"source_url":"U"}"#, "url"),
            // Nothing is a URL.
            (
                r#"{"link":"x","text":"see https://e.example/ there"}"#,
                "url",
            ),
            ("[]", "url"),
            ("", "url"),
        ] {
            let line = line.replace("\"U\"", &format!("{url:?}"));
            let found = choose_key(line.as_bytes(), false);
            assert_eq!(found, JsonKey::Found(key.to_owned()), "{line}");
        }
        let pages =
            "{\"format\":\"json-pages-1.0\",\"id\":\"https://x.example/\"}\n{\"url\":\"x\"}\n";
        assert_eq!(
            choose_key(pages.as_bytes(), false),
            JsonKey::Found("url".to_owned())
        );
        let partial = choose_key(b"{\"URL\":\"e.example/a\"}", true);
        assert_eq!(partial, JsonKey::Found("URL".to_owned()));
    }

    #[test]
    fn unclear_keys_are_named() {
        for (lines, expected) in [
            (
                "{\"link\":\"https://e.example/\"}\n{\"a\":{\"b\":\"http://f.example\"}}\n",
                "no key \"url\": URLs are under \"link\", \"a.b\"",
            ),
            (
                "{\"source_url\":\"https://e.example/\",\"target_uri\":\"https://e.example/\"}\n",
                "no key \"url\", and several keys hold URLs: \"source_url\", \"target_uri\"",
            ),
        ] {
            let found = choose_key(lines.as_bytes(), false);
            assert_eq!(found, JsonKey::Unclear(expected.to_owned()));
        }
    }
}
