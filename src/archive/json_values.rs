//! Values of a JSON line, in memory that no nested value makes large.
//!
//! `serde_json::Value` takes 32 bytes for each element of an array, so a line of 64 MiB, which has
//! 122 KB when compressed, took 2.5 GB. Here arrays and objects are parsed and dropped, except the
//! texts of a few headers.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The headers that a capture needs.
const HEADERS: &[&str] = &[
    "location",
    "cache-control",
    "content-encoding",
    "content-length",
    "content-range",
    "retry-after",
];

/// The most values of one header that are kept: more than the codings that are decoded.
const MAX_VALUES: usize = 64;

/// A text, a number, or a value of another type, of which nothing is kept.
#[derive(Debug)]
pub(super) enum Scalar {
    Null,
    Text(String),
    Number(serde_json::Number),
    Other(&'static str),
}

impl Scalar {
    /// Whether it stands for no value: null, or the empty text that rows of CSV files become.
    pub(super) fn is_missing(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.is_empty(),
            _ => false,
        }
    }

    /// The whole number that this is, also as a text or with a fraction of zero.
    pub(super) fn whole(&self) -> Option<i64> {
        let number: f64 = match self {
            Self::Number(number) => number.as_f64(),
            Self::Text(text) => text.trim().parse().ok(),
            _ => None,
        }?;
        (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(number) => number.fmt(f),
            Self::Other(kind) => f.write_str(kind),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let values = input.deserialize_any(ValuesVisitor { max: 0 })?;
        Ok(values.into_iter().next().unwrap_or(Self::Null))
    }
}

/// One value, or the first of an array: none for `null`.
struct HeaderValues(Vec<Scalar>);

impl<'de> Deserialize<'de> for HeaderValues {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let values = input.deserialize_any(ValuesVisitor { max: MAX_VALUES })?;
        Ok(Self(values))
    }
}

/// Parses one value, or the first `max` values of an array. With 0, an array is one value too.
struct ValuesVisitor {
    max: usize,
}

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = Vec<Scalar>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Vec<Scalar>, E> {
        Ok(Vec::new())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Vec<Scalar>, E> {
        Ok(vec![Scalar::Other(if value { "true" } else { "false" })])
    }

    fn visit_i64<E>(self, value: i64) -> Result<Vec<Scalar>, E> {
        Ok(vec![Scalar::Number(value.into())])
    }

    fn visit_u64<E>(self, value: u64) -> Result<Vec<Scalar>, E> {
        Ok(vec![Scalar::Number(value.into())])
    }

    fn visit_f64<E>(self, value: f64) -> Result<Vec<Scalar>, E> {
        let number = serde_json::Number::from_f64(value);
        Ok(vec![number.map_or(Scalar::Null, Scalar::Number)])
    }

    fn visit_str<E>(self, value: &str) -> Result<Vec<Scalar>, E> {
        Ok(vec![Scalar::Text(value.to_owned())])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<Scalar>, A::Error> {
        let mut values = Vec::new();
        if self.max == 0 {
            values.push(Scalar::Other("an array"));
        }
        while values.len() < self.max
            && let Some(value) = elements.next_element()?
        {
            values.push(value);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(values)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Vec<Scalar>, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(vec![Scalar::Other("an object")])
    }
}

/// The values of the headers that a capture needs, by name and in the order of the line.
#[derive(Debug, Default)]
pub(super) struct Headers(pub Vec<(String, Vec<Scalar>)>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(HeadersVisitor)
    }
}

struct HeadersVisitor;

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of headers by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Headers, A::Error> {
        let mut headers: Vec<(String, Vec<Scalar>)> = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            if !HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known)) {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            let HeaderValues(values) = entries.next_value()?;
            // The last of equal names counts, as for other keys.
            headers.retain(|(other, _)| *other != name);
            headers.push((name, values));
        }
        headers.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Headers(headers))
    }
}

/// Parts of key names that may hold a body.
const BODY_NAMES: &[&str] = &[
    "body", "content", "text", "robots", "payload", "html", "raw",
];

/// Fields of a robots.txt; most bodies have one of them.
const BODY_FIELDS: &[&str] = &["user-agent:", "disallow:", "allow:", "sitemap:"];

/// In a line without a body, a key that looks like the body, by its name or its value.
pub(super) fn body_like_key(line: &[u8]) -> Option<String> {
    let found = first_entry(line, |key, value| match value {
        Scalar::Text(text) => {
            !READ_KEYS.contains(&key)
                && (contains_any(key, BODY_NAMES) || contains_any(text, BODY_FIELDS))
        }
        _ => false,
    });
    found.map(|(key, _)| key)
}

/// The keys of a line that are read, but for those of the body.
const READ_KEYS: &[&str] = &[
    "url",
    "status",
    "status_code",
    "fetched_at",
    "timestamp",
    "error",
    "truncated",
];

/// Names of the status in other programs, without their case and punctuation. Names with `status`
/// need no row.
const STATUS_NAMES: &[&str] = &[
    "code",
    "httpcode",
    "httpresponsecode",
    "rescode",
    "respcode",
    "responsecode",
    "returncode",
];

/// In a line without a status, a key that says by its name and value that the request failed.
pub(super) fn failed_status_key(line: &[u8]) -> Option<(String, Scalar)> {
    first_entry(line, |key, value| {
        let name: String = key.chars().filter(|c| c.is_alphanumeric()).collect();
        let name = name.to_ascii_lowercase();
        let names_status = name.contains("status") || STATUS_NAMES.contains(&name.as_str());
        names_status
            && value
                .whole()
                .is_some_and(|n| matches!(n, 100..200 | 300..600))
    })
}

/// The first entry, by key, of a JSON object for which `is_such` holds; `None` for another value.
fn first_entry(line: &[u8], is_such: impl Fn(&str, &Scalar) -> bool) -> Option<(String, Scalar)> {
    let mut input = serde_json::Deserializer::from_slice(line);
    input.deserialize_map(FirstEntryVisitor(is_such)).ok()?
}

struct FirstEntryVisitor<F>(F);

impl<'de, F: Fn(&str, &Scalar) -> bool> Visitor<'de> for FirstEntryVisitor<F> {
    type Value = Option<(String, Scalar)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found: Self::Value = None;
        while let Some((key, value)) = entries.next_entry::<String, Scalar>()? {
            if found.as_ref().is_none_or(|(first, _)| key < *first) && (self.0)(&key, &value) {
                found = Some((key, value));
            }
        }
        Ok(found)
    }
}

/// Whether a text contains one of these parts, which are in lower case, in any case.
fn contains_any(text: &str, parts: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    parts.iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    /// Every form of a JSON value, and texts that are none.
    const VALUES: &[&str] = &[
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "-7",
        "18446744073709551615",
        "-9223372036854775808",
        "18446744073709551616",
        "0.5",
        "1e3",
        "1E-3",
        "-2.5e+3",
        "1e999",
        "01",
        "+1",
        ".5",
        "1.",
        "NaN",
        r#""""#,
        r#""a""#,
        r#""é\u00e9\n\"\\\/""#,
        r#""\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\x""#,
        "\"\u{1}\"",
        "\"a",
        "[]",
        "[1]",
        "[null,true,\"a\",1.5,[],{}]",
        "[1,]",
        "[",
        "[}",
        "{}",
        r#"{"a":1}"#,
        r#"{"a":{"b":[{"c":null}]}}"#,
        r#"{"a"}"#,
        r#"{"a":1,}"#,
        "{1:2}",
        " \t\r\n1 ",
        "",
        "nul",
        "1 2",
    ];

    /// The value that a scalar stands for, without what it drops.
    fn matches(scalar: &Scalar, value: &Value) -> bool {
        match (scalar, value) {
            (Scalar::Null, Value::Null) => true,
            (Scalar::Text(text), Value::String(other)) => text == other,
            (Scalar::Number(number), Value::Number(other)) => number == other,
            (Scalar::Other(kind), Value::Bool(value)) => *kind == value.to_string(),
            (Scalar::Other(kind), Value::Array(_)) => *kind == "an array",
            (Scalar::Other(kind), Value::Object(_)) => *kind == "an object",
            _ => false,
        }
    }

    #[test]
    fn scalars_are_those_of_serde_json() {
        for text in VALUES {
            let scalar = serde_json::from_str::<Scalar>(text);
            match (scalar, serde_json::from_str::<Value>(text)) {
                (Ok(scalar), Ok(value)) => assert!(matches(&scalar, &value), "{text}: {scalar:?}"),
                (Err(_), Err(_)) => {}
                (scalar, value) => panic!("{text}: {scalar:?}, serde_json {value:?}"),
            }
        }
    }

    /// Objects with each value as the value of each header, alone and in an array.
    #[test]
    fn headers_are_those_of_serde_json() {
        let mut accepted = 0;
        for text in VALUES {
            for line in [
                format!(r#"{{"Location":{text}}}"#),
                format!(r#"{{"location":[{text}],"LOCATION":{text}}}"#),
                format!(r#"{{"x":{text},"cache-control":[{text},"b"],"Content-Encoding":"c"}}"#),
                format!(r#"{{"location":"a","location":{text}}}"#),
            ] {
                let (Ok(Headers(headers)), Ok(object)) = (
                    serde_json::from_str(&line),
                    serde_json::from_str::<Map<String, Value>>(&line),
                ) else {
                    continue;
                };
                accepted += 1;
                let expected: Vec<(&String, Vec<&Value>)> = object
                    .iter()
                    .filter(|(name, _)| {
                        HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known))
                    })
                    .map(|(name, value)| match value {
                        Value::Null => (name, Vec::new()),
                        Value::Array(values) => (name, values.iter().collect()),
                        value => (name, vec![value]),
                    })
                    .collect();
                assert_eq!(headers.len(), expected.len(), "{line}");
                for ((name, values), (expected_name, expected)) in headers.iter().zip(expected) {
                    assert_eq!(name, expected_name, "{line}");
                    assert_eq!(values.len(), expected.len(), "{line}");
                    let mut pairs = values.iter().zip(expected);
                    assert!(
                        pairs.all(|(scalar, value)| matches(scalar, value)),
                        "{line}"
                    );
                }
            }
        }
        assert!(accepted > 80, "{accepted}");
    }

    #[test]
    fn long_and_deep_values_keep_little() {
        let many = format!(
            r#"{{"location":[{}0],"age":[{}0]}}"#,
            "0,".repeat(99_999),
            "[],".repeat(9)
        );
        let Headers(headers) = serde_json::from_str(&many).unwrap();
        assert_eq!(headers.len(), 1);
        assert_eq!(headers[0].1.len(), MAX_VALUES);
        for depth in [1, 100, 1_000_000] {
            let nested = "[".repeat(depth) + &"]".repeat(depth);
            for line in [
                format!(r#"{{"location":{nested}}}"#),
                format!(r#"{{"location":[{nested},"a"]}}"#),
                format!(r#"{{"age":{nested}}}"#),
            ] {
                // Values that are dropped may be nested to any depth, without a stack that grows.
                if let Err(err) = serde_json::from_str::<Headers>(&line) {
                    assert!(
                        depth > 100 && err.to_string().contains("recursion limit"),
                        "{err}"
                    );
                }
            }
        }
    }

    #[test]
    fn keys_of_failed_statuses_are_found() {
        for (line, expected) in [
            (
                r#"{"url":"a","http_code":503,"body":"x"}"#,
                Some("http_code 503"),
            ),
            (r#"{"statusCode":"404"}"#, Some("statusCode \"404\"")),
            (r#"{"responseStatus":500.0,"code":301}"#, Some("code 301")),
            (r#"{"HTTP-Status":100}"#, Some("HTTP-Status 100")),
            // Successes, other numbers, and names of other things.
            (r#"{"http_code":200,"statusCode":204}"#, None),
            (r#"{"http_code":0,"status_text":"OK","code":"503 x"}"#, None),
            (r#"{"country_code":276,"length":404,"body":"503"}"#, None),
            (r#"[503]"#, None),
        ] {
            let found = failed_status_key(line.as_bytes());
            let found = found.map(|(key, value)| format!("{key} {value}"));
            assert_eq!(found.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn keys_that_look_like_a_body_are_found_by_name_or_value() {
        for (line, expected) in [
            (r#"{"url":"a","page_Body":"x"}"#, Some("page_Body")),
            (r#"{"robotstxt":"x","html":"y"}"#, Some("html")),
            (r#"{"k":"User-Agent: *","j":"x"}"#, Some("k")),
            (
                r#"{"url":"disallow: /","error":"allow: /","fetched_at":"sitemap:"}"#,
                None,
            ),
            (
                r#"{"body2":["disallow: /"],"html":{"text":"x"},"raw":1,"text":null}"#,
                None,
            ),
            (r#"{"body2":[1,{"a":[]}],"zbody":"x"}"#, Some("zbody")),
            (r#"{}"#, None),
            (r#"["disallow: /"]"#, None),
            (r#"{"html":"x""#, None),
        ] {
            assert_eq!(
                body_like_key(line.as_bytes()).as_deref(),
                expected,
                "{line}"
            );
        }
    }
}
