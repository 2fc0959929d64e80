//! Preferences in the header fields of an HTTP response: `Content-Usage`, `Content-Signal` and
//! `X-Robots-Tag`.
//!
//! A response is parsed once, and then gives the statements to each agent. The tags for one agent
//! are in a table by its name, so a hostile header with thousands of names costs one look-up per
//! agent.

use crate::agent::{Agent, AgentMatch, NamedTokens};
use crate::bytes::{is_white_space, trim};
use crate::preferences::usage::Usage;
use crate::preferences::{Preference, Preferences, Signals};
use bstr::ByteSlice;
use std::borrow::Cow;
use std::collections::HashMap;

/// The preferences that an HTTP response states about the use of its content, to any agent.
///
/// docs/SEMANTICS.md has the meaning of each field, with its source. Lines of a field are combined.
/// A value that is not valid states nothing.
///
/// ```
/// use robosieve::preferences::{Preference, Preferences, ResponsePreferences};
/// use robosieve::{Agent, AgentMatch};
/// let response = ResponsePreferences::from_headers([
///     ("Content-Usage", "train-ai=y"),
///     ("Content-Signal", "ai-train=no"),
///     ("X-Robots-Tag", "noai, googlebot: noindex"),
/// ]);
/// let agent: Agent = "Googlebot".parse()?;
/// let statements = response.statements_to(&agent, AgentMatch::Extended);
/// assert_eq!(statements.train_ai, Preference::Yes);
/// assert_eq!(statements.tags.to_string(), "noai,noindex");
///
/// // The most restrictive statement counts: `noai` objects to training.
/// let combined = statements.combine(Preferences::default());
/// assert_eq!((combined.train_ai, combined.search), (Preference::No, Preference::No));
/// assert_eq!(combined.signals.to_string(), "ai-train=no");
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponsePreferences {
    usage: Usage,
    signals: Signals,
    /// Whether the content is an image.
    is_image: bool,
    /// The tags for all agents.
    tags: RobotsTags,
    /// The tags for the agents of a name, in lower case.
    tags_by_name: HashMap<Vec<u8>, RobotsTags>,
}

/// The values of `X-Robots-Tag` that concern the use of content. `Display` writes those that are
/// set, separated by commas: `noai,noindex`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RobotsTags {
    /// `noai`: an objection to the training of AI models.
    pub noai: bool,
    /// `noimageai`: the same for images.
    pub noimageai: bool,
    /// `noindex`, or `none`, which includes it: an objection to search results.
    pub noindex: bool,
}

/// The preferences that an HTTP response states to one agent, by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ResponseStatements {
    /// `train-ai` of `Content-Usage`.
    pub train_ai: Preference,
    /// `search` of `Content-Usage`.
    pub search: Preference,
    /// The values of `Content-Signal`.
    pub signals: Signals,
    /// The values of `X-Robots-Tag` for the agent.
    pub tags: RobotsTags,
    /// Whether the content is an image, to which `noimageai` applies.
    pub is_image: bool,
}

/// The rules of `X-Robots-Tag` with a value, whose colon does not follow the name of an agent.
const RULES_WITH_VALUE: [&str; 4] = [
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
];

impl ResponsePreferences {
    /// The preferences in the header fields of a response, given in their order. Fields of other
    /// names are skipped. Names compare without case.
    ///
    /// Never fails. Cost: linear in the length of the fields.
    pub fn from_headers<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        headers: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let mut found = Self::default();
        let mut usage: Option<Vec<u8>> = None;
        for (name, value) in headers {
            let name = name.as_ref();
            let is = |field: &str| name.eq_ignore_ascii_case(field.as_bytes());
            if is("content-usage") {
                // A dictionary is parsed once all its lines are joined (RFC 9651 §4.2).
                let value = &*without_controls(value.as_ref());
                match &mut usage {
                    Some(joined) => {
                        joined.extend_from_slice(b", ");
                        joined.extend_from_slice(value);
                    }
                    None => usage = Some(value.to_vec()),
                }
            } else if is("content-signal") {
                let signals = Signals::parse(trim(&without_controls(value.as_ref())));
                found.signals = found.signals.and(signals);
            } else if is("x-robots-tag") {
                found.add_tags(&without_controls(value.as_ref()));
            } else if is("content-type") {
                let start = trim(value.as_ref()).get(..b"image/".len());
                found.is_image |= start.is_some_and(|start| start.eq_ignore_ascii_case(b"image/"));
            }
        }
        if let Some(joined) = usage {
            found.usage = Usage::of_dictionary(trim(&joined));
        }
        found
    }

    /// Adds a line of `X-Robots-Tag`. The name of an agent applies to the rules after it, up to the
    /// next name or the end of the line.
    fn add_tags(&mut self, value: &[u8]) {
        let mut names: Option<NamedTokens> = None;
        for member in value.split(|&b| b == b',') {
            let mut rule = trim(member);
            if let Some((name, rest)) = rule.split_once_str(":").filter(|(name, _)| is_name(name)) {
                names = Some(NamedTokens::from_value(trim(name)));
                rule = trim(rest);
            }
            let tags = RobotsTags::of_rule(rule);
            if tags.is_empty() {
                continue;
            }
            let Some(named) = names.as_ref().filter(|named| !named.global) else {
                self.tags = self.tags.or(tags);
                continue;
            };
            for name in std::iter::once(&named.token).chain(&named.extended) {
                let known = self.tags_by_name.entry(name.clone()).or_default();
                *known = known.or(tags);
            }
        }
    }

    /// Whether it states nothing to any agent.
    pub fn is_empty(&self) -> bool {
        self.usage == Usage::default()
            && self.signals.is_empty()
            && self.tags.is_empty()
            && self.tags_by_name.is_empty()
    }

    /// The statements to an agent. Tags for any name of its chain count, and those for all agents.
    pub fn statements_to(&self, agent: &Agent, how: AgentMatch) -> ResponseStatements {
        let named = agent.keys(how).filter_map(|key| self.tags_by_name.get(key));
        ResponseStatements {
            train_ai: self.usage.train_ai,
            search: self.usage.search,
            signals: self.signals,
            tags: named.fold(self.tags, |all, tags| all.or(*tags)),
            is_image: self.is_image,
        }
    }
}

impl ResponseStatements {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        self.usage() == Usage::default() && self.signals.is_empty() && self.tags.is_empty()
    }

    fn usage(&self) -> Usage {
        Usage {
            train_ai: self.train_ai,
            search: self.search,
        }
    }

    /// Combines these statements with the preferences of the robots.txt: for each use the most
    /// restrictive one (AIPREF vocabulary, section 7.1).
    ///
    /// If the agent may not fetch the URL, so that those of the robots.txt do not apply, these do
    /// not either, except the signals.
    pub fn combine(&self, robots: Preferences) -> Preferences {
        let tags = Usage {
            train_ai: self.tags.train_ai(self.is_image),
            search: self.tags.search(),
        };
        let stated = self.usage().and(tags);
        Preferences {
            train_ai: robots.train_ai.with_statement(stated.train_ai),
            search: robots.search.with_statement(stated.search),
            signals: robots.signals.and(self.signals),
        }
    }
}

impl Preference {
    /// Combines the preference of a robots.txt with another statement, unless none can apply.
    fn with_statement(self, stated: Self) -> Self {
        match self {
            Self::NotApplicable => self,
            _ => self.and(stated),
        }
    }
}

impl RobotsTags {
    /// The tags of one rule.
    fn of_rule(rule: &[u8]) -> Self {
        let is = |name: &str| rule.eq_ignore_ascii_case(name.as_bytes());
        Self {
            noai: is("noai"),
            noimageai: is("noimageai"),
            noindex: is("noindex") || is("none"),
        }
    }

    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The names of those that are set, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            ("noai", self.noai),
            ("noimageai", self.noimageai),
            ("noindex", self.noindex),
        ];
        all.into_iter()
            .filter_map(|(name, is_set)| is_set.then_some(name))
    }

    fn or(self, other: Self) -> Self {
        Self {
            noai: self.noai || other.noai,
            noimageai: self.noimageai || other.noimageai,
            noindex: self.noindex || other.noindex,
        }
    }

    fn train_ai(self, is_image: bool) -> Preference {
        if self.noai || self.noimageai && is_image {
            Preference::No
        } else {
            Preference::Unknown
        }
    }

    fn search(self) -> Preference {
        if self.noindex {
            Preference::No
        } else {
            Preference::Unknown
        }
    }
}

impl std::fmt::Display for RobotsTags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, name) in self.iter().enumerate() {
            write!(f, "{}{name}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Whether the text before the colon of a member is the name of an agent. It is not if it is a rule
/// with a value, or a part of a date of `unavailable_after`, which may have a comma:
/// `Sunday, 01-Nov-26 15:00:00 UTC`.
fn is_name(text: &[u8]) -> bool {
    let text = trim(text);
    let is_rule = RULES_WITH_VALUE
        .iter()
        .any(|rule| text.eq_ignore_ascii_case(rule.as_bytes()));
    let is_date = text.first().is_some_and(u8::is_ascii_digit) && text.chars().any(is_white_space);
    !text.is_empty() && !is_rule && !is_date
}

/// A value with blanks in place of NUL, CR and LF, which no field value may have (RFC 9110 §5.5).
fn without_controls(value: &[u8]) -> Cow<'_, [u8]> {
    const INVALID: &[u8] = b"\0\r\n";
    if value.find_byteset(INVALID).is_none() {
        return Cow::Borrowed(value);
    }
    let blanked = value
        .iter()
        .map(|b| if INVALID.contains(b) { b' ' } else { *b });
    Cow::Owned(blanked.collect())
}
