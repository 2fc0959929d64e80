//! Finds the string at one key of a JSON object, and the time at another, without building the
//! object.

use crate::records::row_time::{parse_row_time, time_of_float, time_of_integer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The string at a key of a JSON object; `None` if the text is not a JSON object or has no string
/// at that key. Of equal keys the last counts.
///
/// A key with dots may also be a path into nested objects: `metadata.url` is the key `url` of the
/// object at `metadata`. A key that itself contains the dots takes precedence. Arrays are not
/// searched.
pub(super) fn string_at<'t>(text: &'t [u8], key: &str) -> Option<Cow<'t, str>> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let string = StringAt(Some(key)).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    string
}

/// Reads any value: of an object the string at this path; without a path, the value itself if it is
/// a string.
struct StringAt<'k>(Option<&'k str>);

impl<'de> DeserializeSeed<'de> for StringAt<'_> {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StringAt<'_> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut literal = None;
        let mut nested = None;
        while let Some(KeyText(key)) = map.next_key()? {
            let rest = self.0.and_then(|path| path.strip_prefix(&*key));
            match (rest, rest.and_then(|rest| rest.strip_prefix('.'))) {
                (Some(""), _) => literal = Some(map.next_value_seed(StringAt(None))?),
                (_, Some(path)) => nested = map.next_value_seed(StringAt(Some(path)))?.or(nested),
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(literal.unwrap_or(nested))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(self.0.is_none().then_some(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.0.is_none().then(|| Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// The URL and the time of a JSON object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UrlAndTime<'t> {
    pub url: Option<Cow<'t, str>>,
    /// In seconds since 1970.
    pub time: Option<i64>,
}

/// The string at the key `url` of a JSON object, as [`string_at`] finds it, and the time at the key
/// `time`, a string or a number, which is found likewise. One pass: parsing each line twice would
/// take nearly twice the time.
pub(super) fn url_and_time_at<'t>(text: &'t [u8], url: &str, time: &str) -> UrlAndTime<'t> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let seed = UrlAndTimeAt {
        url: Wanted::Below(url),
        time: Wanted::Below(time),
    };
    match seed.deserialize(&mut reader) {
        Ok(found) if reader.end().is_ok() => found,
        _ => UrlAndTime::default(),
    }
}

/// The value at a path of a JSON object, as [`string_at`] finds it, as a text: that of a string, or the
/// JSON of another value. This builds the object, so it is for messages.
pub(super) fn value_text_at(text: &[u8], path: &str) -> Option<String> {
    let object: serde_json::Value = serde_json::from_slice(text).ok()?;
    Some(match value_at(&object, path)? {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// The value at a path of an object.
pub(super) fn value_at<'v>(
    object: &'v serde_json::Value,
    path: &str,
) -> Option<&'v serde_json::Value> {
    object.get(path).or_else(|| {
        path.match_indices('.')
            .find_map(|(at, _)| value_at(object.get(&path[..at])?, &path[at + 1..]))
    })
}

/// What is wanted of a value.
#[derive(Clone, Copy)]
enum Wanted<'k> {
    Nothing,
    /// The value itself.
    Value,
    /// The value at this path.
    Below(&'k str),
}

impl<'k> Wanted<'k> {
    /// What is wanted of the value at a key of this one.
    fn at(self, key: &str) -> Self {
        let Self::Below(path) = self else {
            return Self::Nothing;
        };
        // Most keys differ in the first byte, and comparing all of them takes a call.
        let (first, of_key) = (path.as_bytes().first(), key.as_bytes().first());
        if of_key.is_some() && first != of_key {
            return Self::Nothing;
        }
        match path.strip_prefix(key) {
            Some("") => Self::Value,
            Some(rest) => rest.strip_prefix('.').map_or(Self::Nothing, Self::Below),
            None => Self::Nothing,
        }
    }
}

/// The values found for one path. The key that is the whole path takes precedence.
struct FoundValues<T> {
    literal: Option<Option<T>>,
    nested: Option<T>,
}

impl<T> FoundValues<T> {
    const NONE: Self = Self {
        literal: None,
        nested: None,
    };

    fn add(&mut self, wanted: Wanted<'_>, value: Option<T>) {
        match wanted {
            Wanted::Nothing => {}
            Wanted::Value => self.literal = Some(value),
            Wanted::Below(_) => self.nested = value.or(self.nested.take()),
        }
    }

    fn chosen(self) -> Option<T> {
        self.literal.unwrap_or(self.nested)
    }
}

/// Reads any value: of an object the URL and the time at these paths; the value itself if it is the
/// URL or the time.
struct UrlAndTimeAt<'k> {
    url: Wanted<'k>,
    time: Wanted<'k>,
}

impl UrlAndTimeAt<'_> {
    fn is_time(&self) -> bool {
        matches!(self.time, Wanted::Value)
    }

    /// The time of a number, if it is the wanted one.
    fn time_only<'de>(&self, time: impl FnOnce() -> Option<i64>) -> UrlAndTime<'de> {
        UrlAndTime {
            url: None,
            time: if self.is_time() { time() } else { None },
        }
    }

    fn text<'de>(&self, text: &str, whole: impl FnOnce() -> Cow<'de, str>) -> UrlAndTime<'de> {
        UrlAndTime {
            url: matches!(self.url, Wanted::Value).then(whole),
            ..self.time_only(|| parse_row_time(text.as_bytes()))
        }
    }
}

impl<'de> DeserializeSeed<'de> for UrlAndTimeAt<'_> {
    type Value = UrlAndTime<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UrlAndTimeAt<'_> {
    type Value = UrlAndTime<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut urls = FoundValues::NONE;
        let mut times = FoundValues::NONE;
        while let Some(KeyText(key)) = map.next_key()? {
            let (url, time) = (self.url.at(&key), self.time.at(&key));
            if let (Wanted::Nothing, Wanted::Nothing) = (url, time) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let found = map.next_value_seed(UrlAndTimeAt { url, time })?;
            urls.add(url, found.url);
            times.add(time, found.time);
        }
        Ok(UrlAndTime {
            url: urls.chosen(),
            time: times.chosen(),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(UrlAndTime::default())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(self.text(text, || Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.text(text, || Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(UrlAndTime::default())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.time_only(|| time_of_integer(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.time_only(|| time_of_integer(i64::try_from(number).ok()?)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(self.time_only(|| time_of_float(number)))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(UrlAndTime::default())
    }
}

/// A key, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct KeyText<'t>(#[serde(borrow)] Cow<'t, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_string_at_a_key() {
        let cases = [
            (
                r#"{"url":"https://e.example/"}"#,
                Some("https://e.example/"),
            ),
            (
                r#" {"a":{"url":"no"},"b":[1,{"url":2}],"url":"h\u00e9\/"} "#,
                Some("hé/"),
            ),
            (r#"{"url":"first","url":"last"}"#, Some("last")),
            (r#"{"ur\u006c":"escaped"}"#, Some("escaped")),
            (r#"{"url":null}"#, None),
            (r#"{"url":1.5,"x":true}"#, None),
            (r#"{"url":["x"]}"#, None),
            (r#"{"url":{"x":"y"}}"#, None),
            (r#"{"url":"x"} trailing"#, None),
            (r#"{"url":"x""#, None),
            (r#"["url","x"]"#, None),
            ("{}", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                string_at(text.as_bytes(), "url").as_deref(),
                expected,
                "{text}"
            );
        }
        assert_eq!(string_at(b"{\"url\":\"\xff\"}", "url"), None);
        let deep = [b"{\"x\":".to_vec(), b"[".repeat(100_000)].concat();
        assert_eq!(string_at(&deep, "url"), None);
    }

    #[test]
    fn dots_name_keys_of_nested_objects() {
        let cases = [
            (r#"{"m":{"p":{"url":"deep"}}}"#, Some("deep")),
            (
                r#"{"url":"no","m":{"url":"no","p":{"x":1,"url":"de\u0065p"}}}"#,
                Some("deep"),
            ),
            (
                r#"{"m.p.url":"literal","m":{"p":{"url":"deep"}}}"#,
                Some("literal"),
            ),
            (
                r#"{"m":{"p":{"url":"deep"}},"m.p.url":"literal"}"#,
                Some("literal"),
            ),
            (r#"{"m":{"p":{"url":"deep"}},"m.p.url":null}"#, None),
            (r#"{"m.p":{"url":"half"}}"#, Some("half")),
            (r#"{"m":{"p.url":"half"}}"#, Some("half")),
            (r#"{"m":[{"p":{"url":"deep"}}]}"#, None),
            (r#"{"m":"x"}"#, None),
            (r#"{"m":{"p":1.5}}"#, None),
            (r#"{"m":{"p":{"url":3}}}"#, None),
            (r#"{"m":{"p":{"url":"deep"}}"#, None),
            (r#"{"mp":{"url":"x"},"":"y"}"#, None),
            (r#"["m"]"#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                string_at(text.as_bytes(), "m.p.url").as_deref(),
                expected,
                "{text}"
            );
        }
        let deep = [b"{\"m\":".repeat(100_000), b"[".repeat(100_000)].concat();
        assert_eq!(string_at(&deep, &"m.".repeat(100_000)), None);
    }

    #[test]
    fn the_time_is_at_a_key_of_its_own() {
        let cases = [
            (r#"{"url":"u","t":"2024-03-05T12:00:00Z"}"#, Some("u"), true),
            (r#"{"t":"20240305120000","url":"u"}"#, Some("u"), true),
            (r#"{"t":1709640000,"url":"\u0075"}"#, Some("u"), true),
            (r#"{"t":1709640000999,"url":"u"}"#, Some("u"), true),
            (r#"{"t":1709640000.5,"url":"u"}"#, Some("u"), true),
            (r#"{"t":20240305120000}"#, None, true),
            (r#"{"url":"u","t":null}"#, Some("u"), false),
            (r#"{"url":"u","t":true}"#, Some("u"), false),
            (r#"{"url":"u","t":[1709640000]}"#, Some("u"), false),
            (r#"{"url":"u","t":{"t":1709640000}}"#, Some("u"), false),
            (r#"{"url":"u","t":1709640000,"t":0}"#, Some("u"), false),
            (r#"{"url":"u","t":18446744073709551615}"#, Some("u"), false),
            (r#"{"url":1709640000,"t":1709640000}"#, None, true),
            (r#"{"url":"u","t":1709640000} x"#, None, false),
            (r#"{"url":"u","t":1709640000"#, None, false),
            (r#"[1709640000]"#, None, false),
            ("1709640000", None, false),
        ];
        for (text, url, has_time) in cases {
            let found = url_and_time_at(text.as_bytes(), "url", "t");
            let time = has_time.then_some(1_709_640_000);
            assert_eq!((found.url.as_deref(), found.time), (url, time), "{text}");
        }
        // One object with both, one key for both, and a literal before a path.
        let nested = br#"{"m":{"x":"u","t":1709640000},"m.t":1000000000}"#;
        let found = url_and_time_at(nested, "m.x", "m.t");
        let (url, time) = (found.url.as_deref(), found.time);
        assert_eq!((url, time), (Some("u"), Some(1_000_000_000)));
        let found = url_and_time_at(br#"{"t":"2024"}"#, "t", "t");
        assert_eq!(found.url.as_deref(), Some("2024"));
        assert!(found.time.is_some());
    }

    /// The pass for both keys finds the string that the pass for one finds.
    #[test]
    fn both_passes_agree() {
        let texts = [
            r#"{"m":{"p":{"url":"deep"}}}"#,
            r#"{"m.p.url":"literal","m":{"p":{"url":"deep"}}}"#,
            r#"{"m":{"p":{"url":"deep"}},"m.p.url":null}"#,
            r#"{"m":{"p":{"url":"deep"}},"m.p":{"url":"half"}}"#,
            r#"{"m":{"p":{"url":"deep"}},"m.p":{"url":3}}"#,
            r#"{"m":[{"p":{"url":"deep"}}]}"#,
            r#"{"m":"x"}"#,
            r#"["m"]"#,
            "",
        ];
        for text in texts {
            let expected = string_at(text.as_bytes(), "m.p.url");
            let found = url_and_time_at(text.as_bytes(), "m.p.url", "m.p.t");
            assert_eq!(found.url, expected, "{text}");
        }
        let deep = [b"{\"m\":".repeat(100_000), b"[".repeat(100_000)].concat();
        let path = "m.".repeat(100_000);
        assert_eq!(url_and_time_at(&deep, &path, &path), UrlAndTime::default());
    }
}
