//! The value of a `content-usage` line: a path, which may be missing, and a dictionary of preferences.

use crate::preferences::Preference;
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};
use std::borrow::Cow;
use std::convert::Infallible;

/// The path of a line that has none: all of the site.
const WHOLE_SITE: &[u8] = b"/";

/// What one line says, or several that count alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub train_ai: Preference,
    pub search: Preference,
}

impl Usage {
    /// What two lines of the same weight come to, key by key.
    pub(super) fn and(self, other: Self) -> Self {
        Self { train_ai: self.train_ai.and(other.train_ai), search: self.search.and(other.search) }
    }
}

/// The value of a line in parts: the path it holds for, and what it says. A dictionary that is not well-formed says nothing, and
/// its line still counts for its path.
pub(super) fn parse(value: &[u8], profile: Profile) -> (Pattern<'_>, Usage) {
    let is_blank = |b: &u8| b" \t".contains(b);
    let (path, dictionary) = match value.first() {
        Some(b'/') => value.split_at(value.iter().position(is_blank).unwrap_or(value.len())),
        _ => (WHOLE_SITE, value),
    };
    let start = dictionary.iter().position(|b| !is_blank(b)).unwrap_or(dictionary.len());
    let mut usage = Usage::default();
    if Parser::new(&dictionary[start..]).parse_dictionary_with_visitor(Reader(&mut usage)).is_err() {
        usage = Usage::default();
    }
    (Pattern::new(path, profile), usage)
}

/// As [`parse`], for a line that is kept.
pub(super) fn parse_owned(value: &[u8], profile: Profile) -> (Pattern<'static>, Usage) {
    let (Pattern { text, anchored }, usage) = parse(value, profile);
    (Pattern { text: Cow::Owned(text.into_owned()), anchored }, usage)
}

/// Takes the members that are known out of a dictionary (RFC 9651 §3.2); of one that is repeated the last counts.
struct Reader<'u>(&'u mut Usage);

impl<'de> DictionaryVisitor<'de> for Reader<'_> {
    type Out = ();
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(Member(match key.as_str() {
            "train-ai" => Some(&mut self.0.train_ai),
            "search" => Some(&mut self.0.search),
            _ => None,
        }))
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// One member, and where its value belongs, if anywhere. Parameters say nothing.
struct Member<'u>(Option<&'u mut Preference>);

impl<'de> EntryVisitor<'de> for Member<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        if let Some(place) = self.0 {
            *place = Preference::Unknown;
        }
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for Member<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(self, item: BareItemFromInput<'de>) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
        if let Some(place) = self.0 {
            *place = match item {
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
    fn a_path_begins_with_a_slash_and_ends_at_a_blank() {
        assert_eq!(parsed("train-ai=n"), ("/".into(), 'n', '-'));
        assert_eq!(parsed("/a \t search=y,train-ai=n"), ("/a".into(), 'n', 'y'));
        assert_eq!(parsed("/a\tsearch=y"), ("/a".into(), '-', 'y'));
        assert_eq!(parsed("/a,search=y"), ("/a,search=y".into(), '-', '-'));
        assert_eq!(parsed(""), ("/".into(), '-', '-'));
    }

    #[test]
    fn what_is_not_well_formed_says_nothing() {
        for value in
            ["train-ai=n,", "train-ai=n search=y", "Train-AI=n", "train-ai= n", "train-ai=n;", "a=é, train-ai=n"]
        {
            assert_eq!(parsed(value), ("/".into(), '-', '-'), "{value}");
        }
    }

    #[test]
    fn other_values_say_nothing_about_their_own_key() {
        for value in ["?0", "\"n\"", "no", "N", "(n)", "1", ":bg==:", "@1", "%\"n\""] {
            assert_eq!(parsed(&format!("search=y, train-ai={value}")), ("/".into(), '-', 'y'), "{value}");
        }
        assert_eq!(parsed("train-ai, search=n;train-ai=y"), ("/".into(), '-', 'n'));
        assert_eq!(parsed("search=y, train-ai=n, search=(n), other=y, train-ai=y"), ("/".into(), 'y', '-'));
    }
}
