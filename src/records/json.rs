//! Finds the string at one key of a JSON object, without building the object.

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
}
