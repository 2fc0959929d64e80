//! The value of a `content-usage` line: an optional path, and a dictionary of preferences.

use crate::preferences::Preference;
use crate::profile::Profile;
use crate::robots::pattern::RulePatterns;
use sfv::visitor::{
    DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor,
};
use sfv::{BareItemFromInput, KeyRef, Parser};
use std::convert::Infallible;

/// The preferences of one line, or of several lines with equal priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub train_ai: Preference,
    pub search: Preference,
}

impl Usage {
    /// Combines two lines with equal priority, key by key.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            train_ai: self.train_ai.and(other.train_ai),
            search: self.search.and(other.search),
        }
    }

    /// The preferences of a dictionary. A malformed one states none. The last of repeated members
    /// wins (RFC 9651 §3.2).
    pub(super) fn of_dictionary(dictionary: &[u8]) -> Self {
        let mut usage = Self::default();
        for member in members(dictionary).unwrap_or_default() {
            match member.key {
                "train-ai" => usage.train_ai = member.preference,
                "search" => usage.search = member.preference,
                _ => {}
            }
        }
        usage
    }
}

/// The keys of the AIPREF vocabulary (draft-ietf-aipref-vocab-07, usage category labels).
pub(crate) const KEYS: [&str; 2] = ["train-ai", "search"];

/// A member of the dictionary of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageMember<'a> {
    pub key: &'a str,
    /// [`Preference::Unknown`] for any value but the tokens `y` and `n`.
    pub preference: Preference,
}

/// Parses the value of a line: its path, and its preferences. A malformed dictionary states no
/// preference, but its line still overrides lines with shorter paths.
pub(super) fn parse(value: &[u8], profile: Profile) -> (RulePatterns<'_>, Usage) {
    let (path, dictionary) = split_path(value);
    let usage = Usage::of_dictionary(dictionary);
    // Without a path, a line is for the whole site.
    (RulePatterns::of_usage(path.unwrap_or(b"/"), profile), usage)
}

/// Splits the value of a line into its path, if it has one, and its dictionary.
pub(crate) fn split_path(value: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let (path, rest) = match value.first() {
        Some(b'/') => value.split_at(value.iter().position(is_blank).unwrap_or(value.len())),
        _ => (&b""[..], value),
    };
    let start = rest.iter().position(|b| !is_blank(b)).unwrap_or(rest.len());
    (Some(path).filter(|path| !path.is_empty()), &rest[start..])
}

fn is_blank(b: &u8) -> bool {
    b" \t".contains(b)
}

/// The members of a dictionary (RFC 9651 §3.2) in their order; `None` if it is malformed.
pub(crate) fn members(dictionary: &[u8]) -> Option<Vec<UsageMember<'_>>> {
    let mut members = Vec::new();
    Parser::new(dictionary)
        .parse_dictionary_with_visitor(MemberVisitor(&mut members))
        .ok()?;
    Some(members)
}

/// Collects the members of a dictionary.
struct MemberVisitor<'m, 'de>(&'m mut Vec<UsageMember<'de>>);

impl<'de> DictionaryVisitor<'de> for MemberVisitor<'_, 'de> {
    type Out = ();
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        self.0.push(UsageMember {
            key: key.as_str(),
            preference: Preference::Unknown,
        });
        Ok(PreferenceVisitor(
            self.0.last_mut().map(|member| &mut member.preference),
        ))
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Stores the preference of one member: a list states none, and parameters are ignored.
struct PreferenceVisitor<'u>(Option<&'u mut Preference>);

impl<'de> EntryVisitor<'de> for PreferenceVisitor<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for PreferenceVisitor<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(
        self,
        item: BareItemFromInput<'de>,
    ) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
        if let Some(preference) = self.0 {
            *preference = match item {
                BareItemFromInput::Token(token) if token.as_str() == "y" => Preference::Yes,
                BareItemFromInput::Token(token) if token.as_str() == "n" => Preference::No,
                _ => Preference::Unknown,
            };
        }
        Ok(Ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(value: &str) -> (String, char, char) {
        let (path, usage) = parse(value.as_bytes(), Profile::Google);
        (
            String::from_utf8(path.pattern.text.to_vec()).unwrap(),
            usage.train_ai.letter(),
            usage.search.letter(),
        )
    }

    #[test]
    fn paths_begin_with_a_slash_and_end_at_a_blank() {
        assert_eq!(parsed("train-ai=n"), ("/".into(), 'n', '-'));
        assert_eq!(parsed("/a \t search=y,train-ai=n"), ("/a".into(), 'n', 'y'));
        assert_eq!(parsed("/a\tsearch=y"), ("/a".into(), '-', 'y'));
        assert_eq!(parsed("/a,search=y"), ("/a,search=y".into(), '-', '-'));
        assert_eq!(parsed(""), ("/".into(), '-', '-'));
    }

    #[test]
    fn malformed_dictionaries_state_nothing() {
        for value in [
            "train-ai=n,",
            "train-ai=n search=y",
            "Train-AI=n",
            "train-ai= n",
            "train-ai=n;",
            "a=é, train-ai=n",
        ] {
            assert_eq!(parsed(value), ("/".into(), '-', '-'), "{value}");
        }
    }

    #[test]
    fn unknown_values_affect_only_their_key() {
        for value in [
            "?0", "\"n\"", "no", "N", "(n)", "1", ":bg==:", "@1", "%\"n\"",
        ] {
            assert_eq!(
                parsed(&format!("search=y, train-ai={value}")),
                ("/".into(), '-', 'y'),
                "{value}"
            );
        }
        assert_eq!(
            parsed("train-ai, search=n;train-ai=y"),
            ("/".into(), '-', 'n')
        );
        assert_eq!(
            parsed("search=y, train-ai=n, search=(n), other=y, train-ai=y"),
            ("/".into(), 'y', '-')
        );
    }
}
