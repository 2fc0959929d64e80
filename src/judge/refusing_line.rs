//! The line of a robots.txt that refuses a URL, for many URLs of the same sites.
//!
//! Matching finds a verdict, not the line that decides. An explanation finds the line, but it
//! parses the robots.txt for each URL. Here a thread parses each robots.txt once, and keeps the
//! disallow rules of the agent in the order of their priority. If a URL is known to be refused, no
//! allow rule decides, so the first of these rules that matches is the one.

use super::engine::Engine;
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{RobotsRef, RuleKind};
use crate::snapshot::text_reader::TextReader;
use crate::url;
use crate::url::escape::normalize_path;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// The texts whose rules a thread caches, in bytes. When full, the cache is cleared.
const CACHE_BYTES: usize = 8 << 20;

/// One thread's cache of disallow rules, by judge and robots.txt. Each judge has one agent.
#[derive(Debug, Default)]
pub(crate) struct RefusingLines {
    rules: HashMap<(u64, u32), Vec<DisallowRule>>,
    /// The length of the texts of these rules.
    cached_bytes: usize,
    /// The reader of the last snapshot. Logs are in the order of time, so it seldom changes.
    texts: Option<TextReader>,
    /// The key of the last origin.
    origin: Vec<u8>,
}

#[derive(Debug)]
struct DisallowRule {
    pattern: Pattern<'static>,
    /// The line without its comment.
    line: Arc<str>,
}

impl RefusingLines {
    /// The line that refuses `url` to the first agent of a judge by the robots.txt `file`.
    ///
    /// Cost: one comparison per disallow rule that is longer than the line's; for the first URL of
    /// a robots.txt, parsing it.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if no line refuses the URL, so that the stored text
    /// contradicts the compiled rules.
    pub(crate) fn find(&mut self, engine: &Engine<'_>, file: u32, url: &[u8]) -> Result<Arc<str>> {
        let key = (engine.id, file);
        // URLs of a site come together, so its robots.txt is parsed once for many of them.
        if !self.rules.contains_key(&key) {
            let texts = match &mut self.texts {
                Some(texts) if texts.is_of(engine.snapshot()) => texts,
                other => other.insert(TextReader::new(engine.snapshot())),
            };
            let text = texts.read(file)?;
            if self.cached_bytes + text.len() > CACHE_BYTES {
                self.rules = Default::default();
                self.cached_bytes = 0;
            }
            self.cached_bytes += text.len();
            let rules = engine
                .agents()
                .first()
                .map(|agent| disallow_rules(&text, agent, engine));
            self.rules.insert(key, rules.unwrap_or_default());
        }
        let refusing = rule_path(url, engine.profile(), &mut self.origin).and_then(|path| {
            self.rules[&key]
                .iter()
                .find(|rule| rule.pattern.matches(&path))
                .map(|rule| Arc::clone(&rule.line))
        });
        refusing.ok_or_else(|| {
            let url = String::from_utf8_lossy(url);
            Error::corrupt(format!(
                "the compiled rules refuse {url}, and the stored robots.txt does not"
            ))
        })
    }
}

/// The path and query of a URL in the normal form of rules; `None` if the text is not a URL.
fn rule_path<'u>(
    url: &'u [u8],
    profile: Profile,
    origin: &'u mut Vec<u8>,
) -> Option<Cow<'u, [u8]>> {
    let parts = url::split(url, profile, origin)?;
    Some(match parts.slash {
        true => Cow::Owned(normalize_path(&[b"/", parts.path].concat(), profile).into_owned()),
        false => normalize_path(parts.path, profile),
    })
}

/// The disallow rules of a robots.txt for an agent. The longest comes first, of equally long ones
/// the first in the text.
fn disallow_rules(text: &[u8], agent: &Agent, engine: &Engine<'_>) -> Vec<DisallowRule> {
    let robots = RobotsRef::parse(text, engine.profile());
    let (groups, _) = robots.groups_for(agent, engine.options().agent_match);
    let rules = groups
        .iter()
        .flat_map(|&group| robots.groups()[group].rules());
    let rules =
        rules.filter(|rule| rule.kind() == RuleKind::Disallow && rule.pattern().priority() > 0);
    let mut rules: Vec<DisallowRule> = rules
        .map(|rule| {
            let Pattern { text, anchored } = rule.pattern();
            let pattern = Pattern {
                text: Cow::Owned(text.to_vec()),
                anchored: *anchored,
            };
            DisallowRule {
                pattern,
                line: String::from_utf8_lossy(rule.text()).into(),
            }
        })
        .collect();
    rules.sort_by_key(|rule| Reverse(rule.pattern.priority()));
    rules
}
