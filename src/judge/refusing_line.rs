//! The line of a robots.txt that disallows a URL, for many URLs of the same sites.
//!
//! Matching finds a verdict, not the line that decides. An explanation finds the line, but it
//! parses the robots.txt for each URL. Here a thread parses each robots.txt once, and keeps the
//! disallow rules of the agent. If a URL is known to be disallowed, no allow rule decides, so the
//! one with the highest priority of those that match is the one.

use super::engine::Engine;
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{RobotsRef, RuleKind};
use crate::snapshot::text_reader::TextReader;
use crate::url;
use crate::url::escape::normalize_path;
use memchr::memchr;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The texts whose rules a thread caches, in bytes. When full, the cache is cleared.
const CACHE_BYTES: usize = 8 << 20;

/// One thread's cache of disallow rules, by judge, robots.txt and agent.
#[derive(Debug, Default)]
pub(crate) struct RefusingLines {
    rules: HashMap<(u64, u32, usize), DisallowRules>,
    /// The length of the texts of these rules.
    cached_bytes: usize,
    /// The reader of the last snapshot. Logs are in the order of time, so it seldom changes.
    texts: Option<TextReader>,
    /// The key of the last origin.
    origin: Vec<u8>,
}

/// The disallow rules of an agent, by the text before their first star. A large site has thousands
/// of rules, and few of these texts are prefixes of a path.
#[derive(Debug, Default)]
struct DisallowRules {
    /// Sorted by the text before the first star, then by rank.
    rules: Vec<DisallowRule>,
    /// The different texts before a first star, sorted.
    prefixes: Vec<Prefix>,
}

#[derive(Debug)]
struct DisallowRule {
    pattern: Pattern<'static>,
    /// The position by priority. The lowest decides.
    rank: usize,
    line: RefusingLine,
}

/// A line that disallows URLs.
#[derive(Clone, Debug)]
pub(crate) struct RefusingLine {
    /// The line without its comment.
    pub text: Arc<str>,
    /// Its number, from 1.
    pub number: u32,
    /// The name by which the agent obeys the groups of the line: one of its chain, or `*`.
    pub agent: Arc<str>,
}

/// Rules with the same text before their first star.
#[derive(Debug)]
struct Prefix {
    rules: Range<usize>,
    /// The longest other prefix that this one begins with.
    parent: Option<usize>,
}

impl RefusingLines {
    /// The text of the line that disallows `url` to the first agent of a judge: see
    /// [`find_line`](Self::find_line).
    #[cfg(feature = "audit")]
    pub(crate) fn find(&mut self, engine: &Engine<'_>, file: u32, url: &[u8]) -> Result<Arc<str>> {
        let line = self.find_line(engine, file, url, 0)?;
        Ok(Arc::clone(&line.text))
    }

    /// The line that disallows `url` to an agent of a judge by the robots.txt `file`.
    ///
    /// Cost: a binary search among the rules, and a comparison with each whose text before the first
    /// star is a prefix of the path; for the first URL of a robots.txt, parsing it.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if no line disallows the URL, so that the stored text
    /// contradicts the compiled rules.
    pub(crate) fn find_line(
        &mut self,
        engine: &Engine<'_>,
        file: u32,
        url: &[u8],
        agent: usize,
    ) -> Result<&RefusingLine> {
        let key = (engine.id, file, agent);
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
                .get(agent)
                .map(|agent| DisallowRules::of(&text, agent, engine));
            self.rules.insert(key, rules.unwrap_or_default());
        }
        let refusing = rule_path(url, engine.profile(), &mut self.origin)
            .and_then(|path| Some(&self.rules[&key].find(&path)?.line));
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

impl DisallowRules {
    /// The rules of a robots.txt for an agent. Of equally long ones, the first in the text decides.
    fn of(text: &[u8], agent: &Agent, engine: &Engine<'_>) -> Self {
        let robots = RobotsRef::parse(text, engine.profile());
        let (groups, named) = robots.groups_for(agent, engine.options().agent_match);
        let name: Arc<str> = named.unwrap_or("*").into();
        let rules = groups
            .iter()
            .flat_map(|&group| robots.groups()[group].rules())
            .filter(|rule| rule.kind() == RuleKind::Disallow && rule.pattern().priority() > 0);
        // The patterns of a rule have the same priority, so they stay neighbours.
        Self::new(rules.flat_map(|rule| {
            let line = RefusingLine {
                text: String::from_utf8_lossy(rule.text()).into(),
                number: rule.line(),
                agent: Arc::clone(&name),
            };
            let patterns: Vec<_> = rule.patterns().map(Pattern::into_owned).collect();
            patterns
                .into_iter()
                .map(move |pattern| (pattern, line.clone()))
        }))
    }

    /// The rules of these patterns and lines, which are in the order of the text.
    fn new(rules: impl Iterator<Item = (Pattern<'static>, RefusingLine)>) -> Self {
        let mut rules: Vec<(Pattern<'static>, RefusingLine)> = rules.collect();
        rules.sort_by_key(|(pattern, _)| Reverse(pattern.priority()));
        let mut rules: Vec<DisallowRule> = rules
            .into_iter()
            .enumerate()
            .map(|(rank, (pattern, line))| DisallowRule {
                pattern,
                rank,
                line,
            })
            .collect();
        // The sort is stable, so rules of a prefix stay in the order of their rank.
        rules.sort_by(|a, b| a.prefix().cmp(b.prefix()));
        let mut prefixes: Vec<Prefix> = Vec::new();
        let mut start = 0;
        for same in rules.chunk_by(|a, b| a.prefix() == b.prefix()) {
            // Of sorted texts, the prefixes of one are the one before it, or prefixes of that.
            let mut parent = prefixes.len().checked_sub(1);
            while let Some(at) = parent
                && !same[0].prefix().starts_with(prefixes[at].text(&rules))
            {
                parent = prefixes[at].parent;
            }
            prefixes.push(Prefix {
                rules: start..start + same.len(),
                parent,
            });
            start += same.len();
        }
        Self { rules, prefixes }
    }

    /// The rule that decides on a path among these.
    fn find(&self, path: &[u8]) -> Option<&DisallowRule> {
        let after = self
            .prefixes
            .partition_point(|prefix| prefix.text(&self.rules) <= path);
        let mut next = after.checked_sub(1);
        let mut found: Option<&DisallowRule> = None;
        while let Some(at) = next {
            let prefix = &self.prefixes[at];
            next = prefix.parent;
            if !path.starts_with(prefix.text(&self.rules)) {
                continue;
            }
            let of_prefix = &self.rules[prefix.rules.clone()];
            let better = of_prefix
                .iter()
                .take_while(|rule| found.is_none_or(|found| rule.rank < found.rank))
                .find(|rule| rule.pattern.matches(path));
            found = better.or(found);
        }
        found
    }
}

impl DisallowRule {
    /// The text before the first star.
    fn prefix(&self) -> &[u8] {
        let text = &self.pattern.text;
        &text[..memchr(b'*', text).unwrap_or(text.len())]
    }
}

impl Prefix {
    fn text<'r>(&self, rules: &'r [DisallowRule]) -> &'r [u8] {
        rules[self.rules.start].prefix()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> RefusingLine {
        RefusingLine {
            text: text.into(),
            number: 1,
            agent: "*".into(),
        }
    }

    /// Every set of these rules, against the first rule that matches in the order of priority.
    #[test]
    fn the_rule_of_the_highest_priority_is_found() {
        const RULES: [&str; 12] = [
            "/", "/a", "/a/b", "/ab", "/a/b$", "/a*", "*b", "*/b$", "/a*b", "/b*", "/$", "/a/c",
        ];
        let paths = [
            "/", "/a", "/a/", "/a/b", "/a/bc", "/ab", "/aab", "/b", "/c/b", "/a/a/b",
        ];
        let pattern = |text: &str| {
            let Pattern { text, anchored } = Pattern::new(text.as_bytes(), Profile::Google);
            Pattern {
                text: Cow::Owned(text.into_owned()),
                anchored,
            }
        };
        for set in 0..1_u32 << RULES.len() {
            let chosen: Vec<&str> = (0..RULES.len())
                .filter(|number| set >> number & 1 == 1)
                .map(|number| RULES[number])
                .collect();
            let rules = DisallowRules::new(chosen.iter().map(|text| (pattern(text), line(text))));
            let mut in_order: Vec<Pattern<'_>> = chosen.iter().map(|text| pattern(text)).collect();
            in_order.sort_by_key(|pattern| Reverse(pattern.priority()));
            for path in paths {
                let expected = in_order.iter().find(|rule| rule.matches(path.as_bytes()));
                let found = rules.find(path.as_bytes());
                assert_eq!(
                    found.map(|rule| &rule.pattern),
                    expected,
                    "{chosen:?}: {path}"
                );
            }
        }
    }

    #[test]
    fn the_first_of_equal_rules_is_found() {
        let rule = |text| (Pattern::new(b"/a", Profile::Google), line(text));
        let rules =
            DisallowRules::new([rule("Disallow: /a # 1"), rule("Disallow: /a # 2")].into_iter());
        assert_eq!(&*rules.find(b"/ab").unwrap().line.text, "Disallow: /a # 1");
        assert!(rules.find(b"/b").is_none());
    }
}
