//! Explains preferences: those of one robots.txt for one agent and URL, and the lines that state
//! them, also as a JSON object (docs/CHECK.md documents the keys).

use crate::agent::{Agent, AgentMatch};
use crate::preferences::license::license_urls;
use crate::preferences::usage::{self, Usage};
use crate::preferences::{Preferences, Signals};
use crate::robots::{OtherField, RobotsLine, RobotsRef};
use crate::url;
use crate::url::escape::normalize_path;
use bstr::ByteSlice;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// The preferences of a robots.txt about the use of a URL's content, and the lines that state
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreferenceExplanation {
    /// The preferences.
    pub preferences: Preferences,
    /// The `content-usage` lines that decide: those with the longest path of all that match. A line
    /// with a malformed value is one of them too, although it states no preference.
    pub usage_lines: Vec<RobotsLine>,
    /// The `content-signal` lines that decide: those of the agent's groups, and those before any
    /// group.
    pub signal_lines: Vec<RobotsLine>,
    /// The URLs of the licences, in normal form: the first ones, with up to 2 KiB. They are for
    /// all agents and URLs.
    pub licenses: Vec<String>,
    /// The `license` lines, also those without an absolute URL.
    pub license_lines: Vec<RobotsLine>,
}

/// The preferences of `robots` about the use of the content of `url` by `agent`. `url` can be a
/// bare path, which begins with `/`; any other text has no preferences.
///
/// They do not depend on whether the agent may fetch the URL, which
/// [`explain`](crate::judge::explain) says: if it may not, take
/// [`Preferences::of_refused_url`] of them.
/// Cost: one pass over the groups and lines, and one match of the path per `content-usage` line of
/// the agent's groups.
///
/// ```
/// use robosieve::preferences::{explain_preferences, Preference};
/// use robosieve::{AgentMatch, Profile, RobotsRef};
/// let text = b"user-agent: *\ncontent-usage: /x train-ai=n\ndisallow: /y";
/// let robots = RobotsRef::parse(text, Profile::Google);
/// let agent = "FooBot".parse()?;
/// let url = b"https://e.example/x/y";
/// let explanation = explain_preferences(&robots, &agent, AgentMatch::Extended, url);
/// assert_eq!(explanation.preferences.train_ai, Preference::No);
/// assert_eq!(explanation.usage_lines[0].line, 2);
/// assert_eq!(explanation.usage_lines[0].text, "content-usage: /x train-ai=n");
/// # Ok::<(), robosieve::Error>(())
/// ```
pub fn explain_preferences(
    robots: &RobotsRef<'_>,
    agent: &Agent,
    how: AgentMatch,
    url: &[u8],
) -> PreferenceExplanation {
    if !url::is_url_or_path(url) {
        return PreferenceExplanation::default();
    }
    let (raw, slash) = url::path_of(url, robots.profile());
    let raw = if slash {
        [b"/", raw].concat()
    } else {
        raw.to_vec()
    };
    let path = normalize_path(&raw, robots.profile());
    let (groups, _) = robots.groups_for(agent, how);
    // Of usage lines, those with the longest path decide. Signals of the agent's groups win over
    // those before the first group.
    let mut best = LongestMatch::default();
    let mut own = Signals::default();
    let mut file_wide = Signals::default();
    let mut signal_lines = Vec::new();
    for field in robots.other_fields() {
        let is_own = field
            .group()
            .is_some_and(|group| groups.binary_search(&group).is_ok());
        match field.name() {
            "content-usage" if is_own => best.offer(field, &path, robots),
            "content-signal" if is_own || field.group().is_none() => {
                let signals = if is_own { &mut own } else { &mut file_wide };
                *signals = signals.and(Signals::parse(field.value()));
                signal_lines.push(line(field));
            }
            _ => {}
        }
    }
    PreferenceExplanation {
        preferences: Preferences::new(best.usage, own.or(file_wide)),
        usage_lines: best.lines,
        signal_lines,
        licenses: license_urls(robots),
        license_lines: robots.licenses().map(line).collect(),
    }
}

/// The `content-usage` lines with the longest matching path so far.
#[derive(Default)]
struct LongestMatch {
    length: usize,
    usage: Usage,
    lines: Vec<RobotsLine>,
}

impl LongestMatch {
    fn offer(&mut self, field: &OtherField<'_>, path: &[u8], robots: &RobotsRef<'_>) {
        let (patterns, usage) = usage::parse(field.value(), robots.profile());
        if !patterns.iter().any(|pattern| pattern.matches(path)) {
            return;
        }
        let priority = patterns.pattern.priority();
        match priority.cmp(&self.length) {
            Ordering::Less => return,
            Ordering::Equal => self.usage = self.usage.and(usage),
            Ordering::Greater => {
                *self = Self {
                    length: priority,
                    usage,
                    lines: Vec::new(),
                }
            }
        }
        self.lines.push(line(field));
    }
}

/// The line of a field.
fn line(field: &OtherField<'_>) -> RobotsLine {
    RobotsLine::new(
        field.line(),
        format!("{}: {}", field.name(), field.value().as_bstr()),
    )
}

impl PreferenceExplanation {
    /// The value of the key `preferences` of `docs/CHECK.md`: the preferences, and the lines that
    /// state them.
    pub fn to_json(&self) -> Value {
        let found = self.preferences;
        let signals: Map<String, Value> = found
            .signals
            .iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect();
        json!({
            "train-ai": found.train_ai.name(), "search": found.search.name(),
            "content-signal": signals, "license": self.licenses,
            "usage_lines": self.usage_lines, "signal_lines": self.signal_lines,
            "license_lines": self.license_lines,
        })
    }
}
