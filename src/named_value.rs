//! The names of the values of options: one table per option, which the command, Python and every
//! other interface read.

use crate::error::{Error, ErrorKind};
use std::fmt::Debug;
use std::str::FromStr;

/// An option with a fixed set of values, each with a name.
///
/// [`FromStr`] parses a name, exactly as written here, and `Display` writes it. In serde's formats,
/// a value is its name.
///
/// ```
/// use robosieve::NamedValue;
/// use robosieve::job::Keep;
/// assert_eq!("disallowed".parse::<Keep>()?, Keep::Disallowed);
/// assert_eq!(Keep::NAMES[0], (Keep::Allowed, "allowed"));
/// let err = "none".parse::<Keep>().unwrap_err();
/// assert_eq!(err.to_string(), r#""none" is not one of allowed, disallowed"#);
/// let config: Keep = serde_json::from_str(r#""disallowed""#).unwrap();
/// assert_eq!(config, Keep::Disallowed);
/// # Ok::<(), robosieve::Error>(())
/// ```
pub trait NamedValue: Copy + Debug + PartialEq + FromStr<Err = Error> + 'static {
    /// All values with their names, in the order in which help lists them.
    const NAMES: &'static [(Self, &'static str)];
}

/// The value with a name.
pub(crate) fn parse<T: NamedValue>(given: &str) -> Result<T, Error> {
    let found = T::NAMES.iter().find(|(_, name)| *name == given);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let names = T::NAMES.iter().map(|(_, name)| *name).collect();
        let given = given.to_owned();
        ErrorKind::UnknownName { given, names }.into()
    })
}

/// Names the values of an enum: implements [`NamedValue`], `name`, `FromStr`, `Display`, and
/// serde's traits by the names, for configuration files.
macro_rules! named_values {
    ($(#[$doc:meta])* $type:ident { $($(#[$attr:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            $(#[$doc])*
            pub fn name(self) -> &'static str {
                match self { $($(#[$attr])* Self::$variant => $name),+ }
            }
        }

        impl $crate::named_value::NamedValue for $type {
            const NAMES: &'static [(Self, &'static str)] =
                &[$($(#[$attr])* (Self::$variant, $name)),+];
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> $crate::error::Result<Self> {
                $crate::named_value::parse(name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(from)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use named_values;
