//! Finds the crawler that a User-Agent header names: an Aho-Corasick automaton over all product
//! tokens, leftmost-longest and without ASCII case.
//!
//! A token counts only as a whole word: neither a letter, a digit, `_` nor `-` precedes it, and
//! neither a letter, a digit nor `_` follows it. So `notgptbot` and `GPTBots` name no crawler, but
//! `Slackbot-LinkExpanding` is a `Slackbot`.

use crate::agent::Agent;
use crate::crawlers::{CrawlerRegistry, KnownAgent};
use crate::error::{Error, ErrorKind, Result};
use aho_corasick::{AhoCorasick, Input, MatchKind};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The crawlers to look for, and the automaton.
#[derive(Debug)]
pub(super) struct CrawlerFinder {
    automaton: AhoCorasick,
    /// The tokens in lower case, in the order of the crawlers.
    tokens: Vec<Vec<u8>>,
    crawlers: Vec<AuditedCrawler>,
}

/// A crawler to look for.
#[derive(Clone, Debug)]
pub(super) struct AuditedCrawler {
    /// As the caller named it, else the token of the registry.
    pub name: String,
    /// The chain by which it is judged: as the caller gave it, else that of its operator.
    pub agent: Agent,
    /// The row of the registry, if it is a known crawler.
    pub known: Option<KnownAgent>,
    /// Whether the caller named it, so that the report lists it in any case.
    pub is_named: bool,
}

impl CrawlerFinder {
    /// A finder of a registry's crawlers and of `named` ones. A named agent replaces the crawler of
    /// the registry with the same first name, and brings its fallbacks.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for `*`, which no header names. [`ErrorKind::BadRegistry`] for more
    /// crawlers than fit their numbers.
    pub(super) fn new(named: &[Agent], registry: &CrawlerRegistry) -> Result<Self> {
        let mut crawlers: Vec<AuditedCrawler> = Vec::new();
        let mut tokens: Vec<Vec<u8>> = Vec::new();
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        // Named agents come first, so that they replace crawlers of the registry.
        for agent in named {
            let Some(token) = agent.names().next() else {
                let what = "no User-Agent header names it; name a crawler".to_owned();
                return Err(ErrorKind::BadAgent {
                    name: agent.label().to_owned(),
                    what,
                }
                .into());
            };
            if seen.insert(token.as_bytes().to_vec()) {
                let known = registry.find(token).cloned();
                crawlers.push(AuditedCrawler {
                    name: agent.label().to_owned(),
                    agent: agent.clone(),
                    known,
                    is_named: true,
                });
                tokens.push(token.as_bytes().to_vec());
            }
        }
        for known in registry.crawlers() {
            let token = known.token.to_ascii_lowercase().into_bytes();
            if seen.insert(token.clone()) {
                crawlers.push(AuditedCrawler {
                    name: known.token.clone(),
                    agent: known.agent()?,
                    known: Some(known.clone()),
                    is_named: false,
                });
                tokens.push(token);
            }
        }
        if crawlers.len() > usize::from(u16::MAX) {
            let what = format!(
                "{} crawlers; an audit looks for at most {}, so name fewer",
                crawlers.len(),
                u16::MAX
            );
            return Err(ErrorKind::BadRegistry { line: None, what }.into());
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(&tokens)
            .map_err(|err| Error::from_io(io::Error::other(err)))?;
        Ok(Self {
            automaton,
            tokens,
            crawlers,
        })
    }

    /// The crawlers; their indices are the numbers that [`find`](Self::find) gives.
    pub(super) fn crawlers(&self) -> &[AuditedCrawler] {
        &self.crawlers
    }

    /// Whether a text begins with a token, and with no longer word.
    fn is_whole_word(&self, number: usize, text: &[u8]) -> bool {
        let token = &self.tokens[number];
        text.split_at_checked(token.len())
            .is_some_and(|(start, rest)| {
                start.eq_ignore_ascii_case(token) && !rest.first().is_some_and(|b| is_word(*b))
            })
    }

    /// The first crawler that a header names, and of those at one position the longest token.
    pub(super) fn find(&self, agent: &[u8]) -> Option<u16> {
        let mut from = 0;
        while let Some(found) = self.automaton.find(Input::new(agent).range(from..)) {
            let start = found.start();
            if agent[..start]
                .last()
                .is_none_or(|byte| !is_word(*byte) && *byte != b'-')
            {
                let rest = &agent[start..];
                let longest = found.pattern().as_usize();
                if self.is_whole_word(longest, rest) {
                    return u16::try_from(longest).ok();
                }
                // The longest token is only the start of another word. A shorter one may end here.
                let shorter = (0..self.tokens.len())
                    .filter(|number| self.is_whole_word(*number, rest))
                    .max_by_key(|number| self.tokens[*number].len());
                if let Some(number) = shorter {
                    return u16::try_from(number).ok();
                }
            }
            from = start + 1;
        }
        None
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The sets of a [`FinderCache`], a power of two.
const SETS: usize = 1 << 14;

/// One worker's two-way set-associative cache of headers and their crawlers. Logs repeat few
/// headers often, and the automaton takes a nanosecond per byte. A direct-mapped cache of the same
/// size took 2,090 instructions per line, not 1,970: of 5,000 headers, one in seven shared its
/// entry with another.
///
/// An entry holds a hash in place of the header, because comparing texts that lie apart in memory
/// took a tenth of the time of an audit. The seed is random: otherwise a client could make two
/// headers collide, and have its requests counted for another crawler.
#[derive(Debug)]
pub(super) struct FinderCache {
    seed: u64,
    /// The entries of each set, the latest first.
    sets: Vec<[CachedHeader; 2]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CachedHeader {
    /// The hash of the header; 0 if the entry is empty.
    hash: u64,
    crawler: Option<u16>,
}

impl Default for FinderCache {
    fn default() -> Self {
        Self {
            seed: RandomState::new().hash_one(()),
            sets: vec![<[CachedHeader; 2]>::default(); SETS],
        }
    }
}

impl FinderCache {
    /// [`CrawlerFinder::find`], remembered.
    #[inline]
    pub(super) fn find(&mut self, finder: &CrawlerFinder, agent: &[u8]) -> Option<u16> {
        let hash = xxh3_64_with_seed(agent, self.seed).max(1);
        let set = &mut self.sets[hash as usize % SETS];
        let [first, second] = *set;
        if first.hash == hash {
            return first.crawler;
        }
        if second.hash == hash {
            return second.crawler;
        }
        let crawler = finder.find(agent);
        *set = [CachedHeader { hash, crawler }, first];
        crawler
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(finder: &CrawlerFinder, agent: &str) -> Option<String> {
        let cached = FinderCache::default().find(finder, agent.as_bytes());
        assert_eq!(cached, finder.find(agent.as_bytes()));
        cached.map(|number| finder.crawlers()[number as usize].name.clone())
    }

    #[test]
    fn headers_name_crawlers_by_whole_words() {
        let finder = CrawlerFinder::new(
            &["FooBot:Googlebot".parse().unwrap()],
            CrawlerRegistry::shipped(),
        )
        .unwrap();
        for (agent, name) in [
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; \
                 +https://openai.com/gptbot)",
                "GPTBot",
            ),
            ("gptbot", "GPTBot"),
            ("Googlebot-Image/1.0", "Googlebot-Image"),
            ("Googlebot-Images/1.0", "Googlebot"),
            ("Googlebot-Imagesque-Image", "Googlebot"),
            ("Slackbot-LinkExpanding 1.0", "Slackbot"),
            ("Sogou web spider/4.0", "Sogou web spider"),
            (
                "facebookexternalhit/1.1 Facebot Twitterbot/1.0",
                "facebookexternalhit",
            ),
            ("foobot/3", "FooBot:Googlebot"),
            ("xGPTBot GPTBot/1", "GPTBot"),
            ("GPTBotGPTBot;CCBot", "CCBot"),
            ("\"GPTBot\"", "GPTBot"),
        ] {
            assert_eq!(found(&finder, agent).as_deref(), Some(name), "{agent}");
        }
        for agent in [
            "notgptbot",
            "GPTBots",
            "my-GPTBot",
            "GPTBot2",
            "_ccbot",
            "Mozilla/5.0 (X11)",
            "",
            "-",
            "GPT Bot",
        ] {
            assert_eq!(found(&finder, agent), None, "{agent}");
        }
        assert_eq!(
            finder
                .find(&[b"xGPTBot".repeat(200_000), b" CCBot".to_vec()].concat())
                .map(|_| ()),
            Some(())
        );
        assert!(CrawlerFinder::new(&["*".parse().unwrap()], CrawlerRegistry::shipped()).is_err());
        let many: Vec<Agent> = (0..=u16::MAX)
            .map(|i| format!("bot{i}").parse().unwrap())
            .collect();
        let err = CrawlerFinder::new(&many, &CrawlerRegistry::empty())
            .unwrap_err()
            .to_string();
        assert_eq!(
            err,
            "65536 crawlers; an audit looks for at most 65535, so name fewer"
        );
    }
}
