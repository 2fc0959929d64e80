//! Keys of JSON with two names: an older one, which stays, and an alias with *disallowed*.
//!
//! Both stand in one object with the same value, so programs that read the older name keep working.
//! One table has all pairs. A field takes part with
//! `#[serde(flatten, serialize_with = "disallowed_keys::NAME")]`, where NAME is the older name.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Writes a function for each older name: it serializes a value under this name and its alias.
macro_rules! disallowed_keys {
    ($($older:ident: $alias:ident,)*) => {$(
        pub(super) fn $older<S: Serializer>(
            value: &impl Serialize,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            let mut map = to.serialize_map(Some(2))?;
            map.serialize_entry(stringify!($older), value)?;
            map.serialize_entry(stringify!($alias), value)?;
            map.end()
        }
    )*};
}

disallowed_keys! {
    refused_to_any: disallowed_to_any,
    any_refused: any_disallowed,
    origins_refused: origins_disallowed,
    urls_refused: urls_disallowed,
}
