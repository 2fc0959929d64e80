//! Preferences of a site about the use of its content: the fields `content-usage`,
//! `content-signal` and `license` of robots.txt, and the header fields of a response.
//!
//! Preferences never change a verdict. `usage` and `signal` parse the value of a line.
//! `preference_set` compiles the preferences of a robots.txt, for many URLs and agents. `explain`
//! finds those of one URL and agent, with their lines. `license` finds licences, and `response`
//! parses header fields. `reference` is the slow oracle of the tests.

mod explain;
mod license;
mod preference_set;
#[doc(hidden)]
pub mod reference;
mod response;
mod signal;
pub(crate) mod usage;

pub use explain::{PreferenceExplanation, explain_preferences};
pub use license::license_host;
pub(crate) use preference_set::{PreferenceBuffers, PreferenceSet, may_have_preferences};
pub use response::{ResponsePreferences, ResponseStatements, RobotsTags};
pub(crate) use signal::SignalMember;
pub use signal::{SignalUse, Signals};

use usage::Usage;

/// A site's preference about one use of its content (IETF AIPREF: `y`, `n`, or anything else).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preference {
    /// `y`: the site agrees to this use.
    Yes,
    /// `n`: the site objects to this use.
    No,
    /// The site states no preference.
    #[default]
    Unknown,
    /// The agent may not fetch the URL, so no preference applies to it
    /// (draft-ietf-aipref-attach-05, section 3).
    NotApplicable,
}

impl Preference {
    /// The letter in the output of `robosieve annotate --preferences`: `y`, `n` or `-`.
    pub fn letter(self) -> char {
        match self {
            Self::Yes => 'y',
            Self::No => 'n',
            Self::Unknown | Self::NotApplicable => '-',
        }
    }

    /// The name in JSON: `y`, `n` or `unknown`. `None`, which is `null` there, if no preference can
    /// apply.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Yes => Some("y"),
            Self::No => Some("n"),
            Self::Unknown => Some("unknown"),
            Self::NotApplicable => None,
        }
    }

    /// Combines two statements with equal priority: any `n` wins, then any `y`.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }
}

/// A site's preferences about the use of one URL's content by an agent. The default states none.
///
/// Those of `content-usage` apply only to URLs that the agent may fetch
/// (draft-ietf-aipref-attach-05, section 3). Those of `content-signal` have no such rule.
///
/// ```
/// use robosieve::preferences::{explain_preferences, Preference};
/// use robosieve::{AgentMatch, Profile, RobotsRef};
/// let text = b"user-agent: *\n\
///              content-usage: train-ai=n\n\
///              content-usage: /open/ train-ai=y, search=y\n\
///              content-signal: ai-train=no";
/// let robots = RobotsRef::parse(text, Profile::Google);
/// let agent = "FooBot".parse()?;
///
/// let url = b"https://e.example/x";
/// let found = explain_preferences(&robots, &agent, AgentMatch::Extended, url).preferences;
/// assert_eq!((found.train_ai, found.search), (Preference::No, Preference::Unknown));
/// assert_eq!(found.signals.to_string(), "ai-train=no");
///
/// let url = b"https://e.example/open/x";
/// let found = explain_preferences(&robots, &agent, AgentMatch::Extended, url).preferences;
/// assert_eq!(found.train_ai, Preference::Yes);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Preferences {
    /// `train-ai` of the `content-usage` line with the longest matching path: the training of AI
    /// models.
    pub train_ai: Preference,
    /// `search` of that line: search applications.
    pub search: Preference,
    /// The values of the `content-signal` lines.
    pub signals: Signals,
}

impl Preferences {
    fn new(usage: Usage, signals: Signals) -> Self {
        Self {
            train_ai: usage.train_ai,
            search: usage.search,
            signals,
        }
    }

    /// Whether it states no preference at all.
    pub fn is_empty(&self) -> bool {
        let is_unstated = [self.train_ai, self.search]
            .iter()
            .all(|preference| !matches!(preference, Preference::Yes | Preference::No));
        is_unstated && self.signals.is_empty()
    }

    /// What is left of these preferences for a URL that the agent may not fetch: the signals.
    ///
    /// ```
    /// use robosieve::preferences::{Preference, Preferences};
    /// let mut stated = Preferences::default();
    /// stated.train_ai = Preference::No;
    /// assert_eq!(stated.of_refused_url().train_ai, Preference::NotApplicable);
    /// ```
    #[must_use]
    pub fn of_refused_url(self) -> Self {
        Self {
            train_ai: Preference::NotApplicable,
            search: Preference::NotApplicable,
            ..self
        }
    }
}
