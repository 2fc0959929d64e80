//! The value of a `content-signal` line, and the combination of several lines.

use crate::bytes::trim;
use bstr::ByteSlice;
use std::fmt;

/// The value of the key `use` of a `content-signal` line, from the narrowest to the widest use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SignalUse {
    /// `immediate`.
    Immediate,
    /// `reference`.
    Reference,
    /// `full`.
    Full,
}

impl SignalUse {
    const ALL: [Self; 3] = [Self::Immediate, Self::Reference, Self::Full];

    /// The value in a robots.txt.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Reference => "reference",
            Self::Full => "full",
        }
    }
}

/// The signals of `content-signal` lines (Cloudflare's content signals); `None` for keys without a
/// value.
///
/// `Display` writes the value of such a line, with the keys in the order of the fields here:
/// `search=yes,ai-train=no`. It is empty if there are no signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Signals {
    /// `search`: building a search index and showing results.
    pub search: Option<bool>,
    /// `ai-input`: giving the content to AI models, as in generated answers.
    pub ai_input: Option<bool>,
    /// `ai-train`: training AI models.
    pub ai_train: Option<bool>,
    /// `use`: the widest use that the site agrees to.
    pub usage: Option<SignalUse>,
}

/// A member of the value of a `content-signal` line, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignalMember {
    pub key: Vec<u8>,
    /// `None` without a `=`.
    pub value: Option<Vec<u8>>,
}

impl SignalMember {
    /// The signal of this member; none if its key or its value is not known.
    pub(crate) fn signals(&self) -> Signals {
        let value = self.value.as_deref();
        let yes = match value {
            Some(b"yes") => Some(true),
            Some(b"no") => Some(false),
            _ => None,
        };
        let mut out = Signals::default();
        match self.key.as_slice() {
            b"search" => out.search = yes,
            b"ai-input" => out.ai_input = yes,
            b"ai-train" => out.ai_train = yes,
            b"use" => {
                out.usage = SignalUse::ALL
                    .into_iter()
                    .find(|usage| value == Some(usage.name().as_bytes()));
            }
            _ => {}
        }
        out
    }
}

impl Signals {
    /// The keys of content signals.
    pub(crate) const KEYS: [&str; 4] = ["search", "ai-input", "ai-train", "use"];

    /// Whether there are no signals.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The keys that have a value, with it, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let all = [
            ("search", self.search.map(yes_or_no)),
            ("ai-input", self.ai_input.map(yes_or_no)),
            ("ai-train", self.ai_train.map(yes_or_no)),
            ("use", self.usage.map(SignalUse::name)),
        ];
        all.into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
    }

    /// Parses the value of a line. Members that are not understood are skipped. A line for a path
    /// has no signals here, because they would apply to the whole site.
    pub(super) fn parse(value: &[u8]) -> Self {
        if value.starts_with(b"/") {
            return Self::default();
        }
        Self::members(value).fold(Self::default(), |all, member| all.and(member.signals()))
    }

    /// The members in the value of a line; commas separate them. Empty ones are left out.
    pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = SignalMember> {
        let members = value
            .split(|&b| b == b',')
            .filter(|member| !trim(member).is_empty());
        members.map(move |member| match member.split_once_str("=") {
            Some((key, value)) => SignalMember {
                key: trim(key).to_ascii_lowercase(),
                value: Some(trim(value).to_ascii_lowercase()),
            },
            None => SignalMember {
                key: trim(member).to_ascii_lowercase(),
                value: None,
            },
        })
    }

    /// Combines two lines: the narrower value of each key.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            search: narrower(self.search, other.search),
            ai_input: narrower(self.ai_input, other.ai_input),
            ai_train: narrower(self.ai_train, other.ai_train),
            usage: narrower(self.usage, other.usage),
        }
    }

    /// These signals, and those of `other` for keys without a value.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            search: self.search.or(other.search),
            ai_input: self.ai_input.or(other.ai_input),
            ai_train: self.ai_train.or(other.ai_train),
            usage: self.usage.or(other.usage),
        }
    }
}

/// The word for the value of a signal.
fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn narrower<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.into_iter().chain(b).min()
}

impl fmt::Display for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_parsed_and_combined() {
        let text = |value: &str| Signals::parse(value.as_bytes()).to_string();
        assert_eq!(text("search=yes,ai-train=no"), "search=yes,ai-train=no");
        assert_eq!(
            text(" AI-Train = NO , use=Reference,Search=yes"),
            "search=yes,ai-train=no,use=reference"
        );
        assert_eq!(
            text("search=maybe, ai-input, use=some, other=no, ai-train=no;x"),
            ""
        );
        assert_eq!(text("search=yes,,=,search=no,search=yes"), "search=no");
        assert_eq!(text("use=full,use=immediate"), "use=immediate");
        assert_eq!(text("/x search=no"), "");
        assert_eq!(text("/x, search=no"), "");
    }
}
