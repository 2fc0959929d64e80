//! The value of a `content-signal` line, and the combination of several lines.

use crate::bytes::is_white_space;
use bstr::ByteSlice;
use std::fmt;

/// The value of the key `use` of a `content-signal` line, from the narrowest to the widest use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl Signals {
    /// Whether there are no signals.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The keys that have a value, with it, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let word = |value: Option<bool>| value.map(|yes| if yes { "yes" } else { "no" });
        let all = [
            ("search", word(self.search)),
            ("ai-input", word(self.ai_input)),
            ("ai-train", word(self.ai_train)),
            ("use", self.usage.map(SignalUse::name)),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }

    /// Parses the value of a line. Unknown members are skipped. A line for a path has no signals
    /// here, because they would apply to the whole site.
    pub(super) fn parse(value: &[u8]) -> Self {
        let mut out = Self::default();
        if value.starts_with(b"/") {
            return out;
        }
        for member in value.split(|&b| b == b',') {
            let Some((key, value)) = member.split_once_str("=") else { continue };
            out = out.and(Self::parse_member(key.trim_with(is_white_space), value.trim_with(is_white_space)));
        }
        out
    }

    fn parse_member(key: &[u8], value: &[u8]) -> Self {
        let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
        let yes = if is("yes") { Some(true) } else { is("no").then_some(false) };
        let mut out = Self::default();
        match key.to_ascii_lowercase().as_slice() {
            b"search" => out.search = yes,
            b"ai-input" => out.ai_input = yes,
            b"ai-train" => out.ai_train = yes,
            b"use" => out.usage = SignalUse::ALL.into_iter().find(|usage| is(usage.name())),
            _ => {}
        }
        out
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
        assert_eq!(text(" AI-Train = NO , use=Reference,Search=yes"), "search=yes,ai-train=no,use=reference");
        assert_eq!(text("search=maybe, ai-input, use=some, other=no, ai-train=no;x"), "");
        assert_eq!(text("search=yes,,=,search=no,search=yes"), "search=no");
        assert_eq!(text("use=full,use=immediate"), "use=immediate");
        assert_eq!(text("/x search=no"), "");
        assert_eq!(text("/x, search=no"), "");
    }
}
