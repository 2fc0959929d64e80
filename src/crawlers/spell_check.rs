//! A spell checker for agent names: finds unused names that are a few letters from one in use.
//!
//! An agent that no robots.txt names obeys the global groups. So a misspelled name gives wrong
//! verdicts without any error. `crawlers/spelling.rs` has the measure, and
//! `analysis/census/snapshot_names.rs` the names of a snapshot.

use crate::agent::Agent;
use crate::crawlers::registry::CrawlerRegistry;
use crate::crawlers::spelling::{CheckedName, Misspelling};
use crate::error::Result;
use crate::robots::RobotsRef;

/// Checks the names of agents against the registry of crawlers, snapshots and robots.txt files.
///
/// A name of 4 to 9 letters is close to another at one edit, a name of 10 to 14 letters at two, and
/// a longer one at three. An edit inserts, deletes or substitutes a letter, or transposes it with a
/// neighbour. `bot`, `spider` and `crawler` at the end do not count. In shorter names only a
/// transposition counts. A name that differs in `-`, `_` or a blank alone is close too. Names that
/// are in use themselves are never doubted, nor is a chain with a name in use.
///
/// ```
/// # #[cfg(feature = "analysis")] {
/// use robosieve::census::SpellCheck;
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: ExampleBot\ndisallow: /")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let agents = ["GPTBot".parse()?, "GTPBot".parse()?, "exmaplebot".parse()?, "MyBot".parse()?];
/// let mut check = SpellCheck::new(&agents);
/// check.add_snapshot(&snapshot)?;
/// let unnamed = check.finish();
/// assert_eq!(unnamed[0].misspelled[0].suggestion, "GPTBot");
/// assert_eq!(unnamed[1].misspelled[0].suggestion, "examplebot");
/// assert!(unnamed[2].misspelled.is_empty());
/// # }
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct SpellCheck {
    agents: Vec<CheckedAgent>,
    pub(crate) registry: CrawlerRegistry,
}

/// An agent that neither the registry of crawlers nor any of the robots.txt files names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnnamedAgent {
    /// The agent as it was given.
    pub label: String,
    /// The names of its chain that are close to a name in use; none if it is a name of its own.
    pub misspelled: Vec<Misspelling>,
    /// Its words, if there are several and each names an agent. Then commas are probably missing.
    pub joined: Vec<String>,
}

#[derive(Debug)]
struct CheckedAgent {
    label: String,
    /// The names of its chain.
    names: Vec<CheckedName>,
    /// The words of its label, if it has one name of several words.
    words: Vec<CheckedName>,
}

impl CheckedAgent {
    fn new(agent: &Agent) -> Self {
        let parts = agent.label().split(':').zip(agent.names());
        let names: Vec<CheckedName> = parts
            .map(|(part, name)| {
                CheckedName::new(name, part.split('/').next().unwrap_or(part).trim())
            })
            .collect();
        // `GPTBot CCBot`; also `GPTBot/1.0 CCBot`, of which only the first word is a name, and
        // `GPTBot,CCBot` in a file.
        let parts = agent.label().split(':').zip(agent.names());
        let words = parts
            .flat_map(|(part, _)| part.split([' ', '\t', ',']))
            .map(str::parse::<Agent>);
        let words = words.filter_map(Result::ok);
        let words = words.flat_map(|word| {
            let display = word
                .label()
                .split('/')
                .next()
                .unwrap_or_default()
                .to_owned();
            word.names()
                .map(|name| CheckedName::new(name, &display))
                .collect::<Vec<_>>()
        });
        let words: Vec<CheckedName> = words.collect();
        // A chain, or a single word, cannot be several agents without commas.
        let words = if names.len() == 1 && words.len() > 1 {
            words
        } else {
            Vec::new()
        };
        Self {
            label: agent.label().to_owned(),
            names,
            words,
        }
    }

    /// Whether commas are missing: each word is a known name, and the whole is not.
    fn is_joined(&self) -> bool {
        // Some known names have a blank themselves.
        let is_known_as_a_whole = self
            .names
            .iter()
            .any(|name| name.is_known && name.text.iter().any(|b| b" ,".contains(b)));
        !self.words.is_empty()
            && !is_known_as_a_whole
            && self.words.iter().all(|word| word.is_known)
    }

    fn is_known(&self) -> bool {
        // `*` has no names.
        !self.is_joined() && (self.names.is_empty() || self.names.iter().any(|name| name.is_known))
    }

    fn finish(self, registry: &CrawlerRegistry) -> UnnamedAgent {
        let joined = if self.is_joined() {
            self.words.iter().map(|word| word.display.clone()).collect()
        } else {
            vec![]
        };
        let unknown = self.names.into_iter().filter(|name| !name.is_known);
        let misspelled = unknown
            .filter_map(|name| name.misspelling(registry))
            .collect();
        UnnamedAgent {
            label: self.label,
            misspelled,
            joined,
        }
    }
}

impl SpellCheck {
    /// Looks the agents up in the shipped registry of crawlers.
    pub fn new(agents: &[Agent]) -> Self {
        Self::with_registry(agents, CrawlerRegistry::shipped())
    }

    /// Looks the agents up in a registry of crawlers.
    pub fn with_registry(agents: &[Agent], registry: &CrawlerRegistry) -> Self {
        let agents = agents.iter().map(CheckedAgent::new).collect();
        let mut check = Self {
            agents,
            registry: registry.clone(),
        };
        check.add_names(
            registry
                .crawlers()
                .iter()
                .map(|known| (known.token.to_ascii_lowercase(), 0)),
        );
        check
    }

    /// Looks the agents up among the names of one robots.txt.
    pub fn add_robots(&mut self, robots: &RobotsRef<'_>) {
        let lines = robots
            .groups()
            .iter()
            .flat_map(|group| group.agents())
            .map(|line| line.named());
        let names = lines.flat_map(|named| std::iter::once(&named.token).chain(&named.extended));
        self.add_names(names.map(|name| (name.clone(), 1)));
    }

    /// The unknown agents, in the order given.
    pub fn finish(self) -> Vec<UnnamedAgent> {
        let unknown = self.agents.into_iter().filter(|agent| !agent.is_known());
        unknown.map(|agent| agent.finish(&self.registry)).collect()
    }

    /// Marks the checked names that are among `names`, and adds those that are close to an unknown
    /// one. Each name has the number of files that name it.
    fn add_names(&mut self, names: impl Iterator<Item = (impl Into<Vec<u8>>, u64)>) {
        let names: Vec<(Vec<u8>, u64)> = names.map(|(name, files)| (name.into(), files)).collect();
        for name in self.names() {
            name.is_known |= names.iter().any(|(other, _)| *other == name.text);
        }
        self.add_close(&names);
    }

    /// All names to check.
    pub(crate) fn names(&mut self) -> impl Iterator<Item = &mut CheckedName> {
        self.agents
            .iter_mut()
            .flat_map(|agent| agent.names.iter_mut().chain(&mut agent.words))
    }

    /// The names of the agents that nobody names so far.
    pub(crate) fn unknown(&mut self) -> impl Iterator<Item = &mut CheckedName> {
        self.agents
            .iter_mut()
            .filter(|agent| !agent.is_known())
            .flat_map(|agent| &mut agent.names)
    }

    /// Adds those of `names` that are close to an unknown one.
    pub(crate) fn add_close(&mut self, names: &[(Vec<u8>, u64)]) {
        for name in self.unknown() {
            names
                .iter()
                .for_each(|(other, files)| name.add_if_close(other, *files));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    /// The texts about an agent: its suggestions, or its words.
    fn found(agent: &str, robots: &str) -> Option<String> {
        let mut check = SpellCheck::new(&[agent.parse().unwrap()]);
        check.add_robots(&RobotsRef::parse(robots.as_bytes(), Profile::Google));
        let unnamed = check.finish().pop()?;
        let suggestions = unnamed
            .misspelled
            .iter()
            .map(|name| format!("{}>{}", name.name, name.suggestion));
        let all: Vec<String> = suggestions
            .chain((!unnamed.joined.is_empty()).then(|| unnamed.joined.join("+")))
            .collect();
        Some(all.join(" "))
    }

    #[test]
    fn close_names_are_suggested() {
        let robots = "user-agent: ExampleBot\n\
                      user-agent: Example2bot\n\
                      user-agent: MlBot\n\
                      user-agent: DotBot\n\
                      user-agent: MySiteBot";
        // Known to the registry, or to the robots.txt. A chain is known if it has a name in use.
        for agent in [
            "GPTBot",
            "gptbot/1.2",
            "MJ12bot",
            "Kangaroo Bot",
            "GPTBot/1.0 beta",
            "GTPBot:CCBot",
        ] {
            assert_eq!(found(agent, robots), None, "{agent}");
        }
        for agent in ["ExampleBot", "example2bot", "mlbot", "*"] {
            assert_eq!(found(agent, robots), None, "{agent}");
        }
        // Names of their own.
        for agent in [
            "MyBot",
            "DocBot",
            "CBot",
            "OurSiteBot",
            "FooBot",
            "BarBot",
            "bot",
            "My Bot",
            "GPTBot MyBot",
        ] {
            assert_eq!(found(agent, robots).as_deref(), Some(""), "{agent}");
        }
        for (agent, expected) in [
            // Misspelled.
            ("GTPBot/1.2", "GTPBot>GPTBot"),
            ("ClaudBot", "ClaudBot>ClaudeBot"),
            ("CCBott", "CCBott>CCBot"),
            ("Googlebot-Extended", "Googlebot-Extended>Google-Extended"),
            ("ExmapleBot", "ExmapleBot>examplebot"),
            ("GPT-Bot", "GPT-Bot>GPTBot"),
            ("My-SiteBot", "My-SiteBot>mysitebot"),
            ("Aplebot", "Aplebot>Applebot"),
            ("Perplexity-Bt", "Perplexity-Bt>PerplexityBot"),
            // A chain without a name in use.
            ("GTPBot:MyBot:CCBto", "GTPBot>GPTBot CCBto>CCBot"),
            // Missing commas.
            ("GPTBot CCBot", "GPTBot+CCBot"),
            ("GPTBot/1.0 CCBot/2.0", "GPTBot+CCBot"),
            ("GPTBot, CCBot", "GPTBot+CCBot"),
            ("GPTBot,CCBot", "GPTBot+CCBot"),
            ("GPTBot ExampleBot", "GPTBot+ExampleBot"),
        ] {
            assert_eq!(found(agent, robots).as_deref(), Some(expected), "{agent}");
        }
    }

    #[test]
    fn names_of_the_registry_and_names_in_use_are_never_doubted() {
        for known in CrawlerRegistry::shipped().crawlers() {
            assert_eq!(found(&known.token, ""), None, "{}", known.token);
        }
    }
}
