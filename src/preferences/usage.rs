//! The value of a `content-usage` line: an optional path, and a dictionary of preferences.

use crate::preferences::Preference;
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor};
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
        Self { train_ai: self.train_ai.and(other.train_ai), search: self.search.and(other.search) }
    }
}

/// Parses the value of a line: its path, and its preferences. A malformed dictionary states no
/// preference, but its line still overrides lines with shorter paths.
pub(super) fn parse(value: &[u8], profile: Profile) -> (Pattern<'_>, Usage) {
    let is_blank = |b: &u8| b" \t".contains(b);
    let (path, dictionary) = match value.first() {
        Some(b'/') => value.split_at(value.iter().position(is_blank).unwrap_or(value.len())),
        // The whole site.
        _ => (&b"/"[..], value),
    };
    let start = dictionary.iter().position(|b| !is_blank(b)).unwrap_or(dictionary.len());
    let mut usage = Usage::default();
    if Parser::new(&dictionary[start..]).parse_dictionary_with_visitor(UsageVisitor(&mut usage)).is_err() {
        usage = Usage::default();
    }
    (Pattern::new(path, profile), usage)
}

/// Stores the known members of a dictionary (RFC 9651 §3.2); the last of repeated members wins.
struct UsageVisitor<'u>(&'u mut Usage);

impl<'de> DictionaryVisitor<'de> for UsageVisitor<'_> {
    type Out = ();
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(MemberVisitor(match key.as_str() {
            "train-ai" => Some(&mut self.0.train_ai),
            "search" => Some(&mut self.0.search),
            _ => None,
        }))
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Stores the value of one member, if its key is known. Parameters are ignored.
struct MemberVisitor<'u>(Option<&'u mut Preference>);

impl<'de> EntryVisitor<'de> for MemberVisitor<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        if let Some(preference) = self.0 {
            *preference = Preference::Unknown;
        }
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for MemberVisitor<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(self, item: BareItemFromInput<'de>) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
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
        (String::from_utf8(path.text.to_vec()).unwrap(), usage.train_ai.letter(), usage.search.letter())
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
        for value in
            ["train-ai=n,", "train-ai=n search=y", "Train-AI=n", "train-ai= n", "train-ai=n;", "a=é, train-ai=n"]
        {
            assert_eq!(parsed(value), ("/".into(), '-', '-'), "{value}");
        }
    }

    #[test]
    fn unknown_values_affect_only_their_key() {
        for value in ["?0", "\"n\"", "no", "N", "(n)", "1", ":bg==:", "@1", "%\"n\""] {
            assert_eq!(parsed(&format!("search=y, train-ai={value}")), ("/".into(), '-', 'y'), "{value}");
        }
        assert_eq!(parsed("train-ai, search=n;train-ai=y"), ("/".into(), '-', 'n'));
        assert_eq!(parsed("search=y, train-ai=n, search=(n), other=y, train-ai=y"), ("/".into(), 'y', '-'));
    }
}
