//! What a robots.txt says about the use of what is fetched: `content-usage` and `content-signal`.
//!
//! None of it changes whether a URL may be fetched. `usage` and `signal` read the value of a line, `explain` goes through the
//! lines of one robots.txt for one question, `sheet` answers many of them, [`mod@reference`] is the slow obvious way.

mod explain;
mod preference_set;
pub mod reference;
mod signal;
mod usage;

pub use explain::{PreferenceExplanation, explain_preferences};
pub(crate) use preference_set::{Answers, PreferenceSet, may_hold_any};
pub use signal::{SignalUse, Signals};

use usage::Usage;

/// What a site prefers about one use of its content (IETF AIPREF: `y`, `n`, or nothing that can be read).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preference {
    /// `y`: it may be used so.
    Yes,
    /// `n`: it should not be used so.
    No,
    /// The site does not say.
    #[default]
    Unknown,
}

impl Preference {
    /// `y`, `n` or `-`, as `robosieve annotate --preferences` writes it.
    pub fn letter(self) -> char {
        match self {
            Self::Yes => 'y',
            Self::No => 'n',
            Self::Unknown => '-',
        }
    }

    /// The name in JSON: `y`, `n` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "y",
            Self::No => "n",
            Self::Unknown => "unknown",
        }
    }

    /// What two statements of the same weight come to: any `n` wins, then any `y`.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }
}

/// What a site says to an agent about the use of one URL's content. The default says nothing.
///
/// ```
/// use robosieve::{explain_preferences, AgentMatch, Preference, Profile, Robots};
/// let robots = Robots::parse(
///     b"user-agent: *\ncontent-usage: train-ai=n\ncontent-usage: /open/ train-ai=y, search=y\ncontent-signal: ai-train=no",
///     Profile::Google,
/// );
/// let of = |url| explain_preferences(&robots, &"FooBot".parse().unwrap(), AgentMatch::Extended, url).preferences;
/// assert_eq!(of(b"https://e.example/x").train_ai, Preference::No);
/// assert_eq!(of(b"https://e.example/open/x").train_ai, Preference::Yes);
/// assert_eq!(of(b"https://e.example/x").search, Preference::Unknown);
/// assert_eq!(of(b"https://e.example/x").signals.to_string(), "ai-train=no");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Preferences {
    /// `train-ai` of the `content-usage` line that counts: the training of AI models.
    pub train_ai: Preference,
    /// `search` of that line: search applications.
    pub search: Preference,
    /// What the `content-signal` lines say.
    pub signals: Signals,
}

impl Preferences {
    fn new(usage: Usage, signals: Signals) -> Self {
        Self { train_ai: usage.train_ai, search: usage.search, signals }
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
