//! The string at one key of a JSON object.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The text of a JSON object's key; `None` if the text is no JSON object, or has no such key with a string. Of several equal keys the last
/// counts.
pub(super) fn string_at<'t>(text: &'t [u8], key: &str) -> Option<Cow<'t, str>> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let found = Pick(key).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    found
}

/// Reads an object, and keeps the string at this key.
struct Pick<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for Pick<'_> {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Text(key)) = map.next_key()? {
            if key == self.0 {
                found = map.next_value::<MaybeText<'de>>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A string, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

/// A string, or anything else.
struct MaybeText<'t>(Option<Cow<'t, str>>);

impl<'de> serde::Deserialize<'de> for MaybeText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(Self)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
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

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_string_at_a_key() {
        let cases = [
            (r#"{"url":"https://e.example/"}"#, Some("https://e.example/")),
            (r#" {"a":{"url":"no"},"b":[1,{"url":2}],"url":"h\u00e9\/"} "#, Some("hé/")),
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
            assert_eq!(string_at(text.as_bytes(), "url").as_deref(), expected, "{text}");
        }
        assert_eq!(string_at(b"{\"url\":\"\xff\"}", "url"), None);
        let deep = [b"{\"x\":".to_vec(), b"[".repeat(100_000)].concat();
        assert_eq!(string_at(&deep, "url"), None);
    }
}
