//! The value of a `content-signal` line, and what several of them come to.

use crate::agent::trim;
use std::fmt;

/// How content may be used where a `content-signal` says so: its key `use`.
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

    /// The value as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Reference => "reference",
            Self::Full => "full",
        }
    }
}

/// What `content-signal` lines say (Cloudflare's content signals); `None` where they say nothing.
///
/// Its text is that of such a line: `search=yes,ai-train=no`, the keys always in the order of the fields here; empty if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signals {
    /// `search`: building a search index and showing results.
    pub search: Option<bool>,
    /// `ai-input`: giving the content to AI models, as in generated answers.
    pub ai_input: Option<bool>,
    /// `ai-train`: training AI models.
    pub ai_train: Option<bool>,
    /// `use`.
    pub usage: Option<SignalUse>,
}

impl Signals {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Keys and values of what is said, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let word = |said: Option<bool>| said.map(|yes| if yes { "yes" } else { "no" });
        let all = [
            ("search", word(self.search)),
            ("ai-input", word(self.ai_input)),
            ("ai-train", word(self.ai_train)),
            ("use", self.usage.map(SignalUse::name)),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }

    /// The value of a line. What is not understood is passed over; a line for a path says nothing, for it would say too much.
    pub(super) fn parse(value: &[u8]) -> Self {
        let mut out = Self::default();
        if value.starts_with(b"/") {
            return out;
        }
        for member in value.split(|&b| b == b',') {
            let Some(equals) = memchr::memchr(b'=', member) else { continue };
            let (key, value) = (trim(&member[..equals]), trim(&member[equals + 1..]));
            out = out.and(Self::of_member(key, value));
        }
        out
    }

    fn of_member(key: &[u8], value: &[u8]) -> Self {
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

    /// What two statements come to: of two values the narrower.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            search: narrower(self.search, other.search),
            ai_input: narrower(self.ai_input, other.ai_input),
            ai_train: narrower(self.ai_train, other.ai_train),
            usage: narrower(self.usage, other.usage),
        }
    }

    /// What is said here, and for keys of which nothing is said, there.
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
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
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
    fn members_are_read_one_by_one() {
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
