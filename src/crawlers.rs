//! The registry of crawlers: the shipped table of product tokens with operator and purpose, and the
//! sets of agents (`@ai`) that select rows of it by purpose.

use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// The purpose for which a crawler fetches pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// To train models, or to supply data for training. Includes tokens that no crawler sends, with
    /// which a site refuses training on pages that other crawlers fetch (`Google-Extended`).
    AiTrain,
    /// To index or read pages for the answers of an AI product.
    AiSearch,
    /// Because a person asked an AI product about the page.
    AiUser,
    /// For web search.
    Search,
    /// Any other purpose: advertising, link previews, archives, search engine optimisation.
    Other,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 5] = [Self::AiTrain, Self::AiSearch, Self::AiUser, Self::Search, Self::Other];

    /// The name in the table: `ai-train`, `ai-search`, `ai-user`, `search`, `other`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AiTrain => "ai-train",
            Self::AiSearch => "ai-search",
            Self::AiUser => "ai-user",
            Self::Search => "search",
            Self::Other => "other",
        }
    }
}

/// A crawler in the registry, a row of `datasets/agents.tsv`.
///
/// ```
/// use robosieve::crawlers::{KnownAgent, Purpose};
/// let known = KnownAgent::find("gptbot").expect("a known crawler");
/// assert_eq!((known.token, known.operator, known.purpose), ("GPTBot", "OpenAI", Purpose::AiTrain));
/// assert!(known.source.starts_with("https://"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// The product token in its operator's spelling.
    pub token: &'static str,
    /// The operator.
    pub operator: &'static str,
    /// The purpose it fetches pages for.
    pub purpose: Purpose,
    /// The URL of a page that documents this row.
    pub source: &'static str,
}

const TABLE: &str = include_str!("../datasets/agents.tsv");

/// The lines of the table after its header, without comments.
fn table_lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.starts_with('#')).skip(1)
}

/// The known crawlers, sorted by token without case.
#[derive(Debug)]
struct CrawlerRegistry {
    crawlers: Vec<KnownAgent>,
}

impl CrawlerRegistry {
    /// The registry that is compiled into the library, parsed on first use. A test checks that
    /// every line of the table is a valid row.
    fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<CrawlerRegistry> =
            LazyLock::new(|| CrawlerRegistry { crawlers: table_lines().filter_map(KnownAgent::parse_line).collect() });
        &SHIPPED
    }

    /// The crawler with a token, compared without case.
    fn find(&self, token: &str) -> Option<&KnownAgent> {
        self.crawlers.iter().find(|crawler| crawler.token.eq_ignore_ascii_case(token))
    }

    /// The crawlers with one of these purposes, in the order of the table.
    fn with_purposes(&self, purposes: &'static [Purpose]) -> impl Iterator<Item = &KnownAgent> {
        self.crawlers.iter().filter(|crawler| purposes.contains(&crawler.purpose))
    }
}

impl KnownAgent {
    fn parse_line(line: &'static str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [token, operator, purpose, source] = fields[..] else { return None };
        let purpose = Purpose::ALL.into_iter().find(|known| known.name() == purpose)?;
        Some(Self { token, operator, purpose, source })
    }

    /// All crawlers in the registry, sorted by token without case.
    pub fn all() -> &'static [Self] {
        &CrawlerRegistry::shipped().crawlers
    }

    /// The crawler with this token, compared without case.
    pub fn find(token: &str) -> Option<&'static Self> {
        CrawlerRegistry::shipped().find(token)
    }
}

/// A set of agents by purpose. A name such as `@ai` selects it wherever agents are named.
///
/// ```
/// use robosieve::crawlers::{AgentSet, Purpose};
/// let set: AgentSet = "@ai".parse()?;
/// assert!(set.members().any(|known| known.token == "ClaudeBot"));
/// assert!(set.members().all(|known| known.purpose != Purpose::Search));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentSet {
    /// `@ai`: [`AiTrain`](Self::AiTrain), [`AiSearch`](Self::AiSearch) and [`AiUser`](Self::AiUser)
    /// together.
    Ai,
    /// `@ai-train`: [`Purpose::AiTrain`].
    AiTrain,
    /// `@ai-search`: [`Purpose::AiSearch`].
    AiSearch,
    /// `@ai-user`: [`Purpose::AiUser`].
    AiUser,
    /// `@search`: [`Purpose::Search`].
    Search,
}

impl AgentSet {
    /// All sets.
    pub const ALL: [Self; 5] = [Self::Ai, Self::AiTrain, Self::AiSearch, Self::AiUser, Self::Search];

    /// The name with its `@`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ai => "@ai",
            Self::AiTrain => "@ai-train",
            Self::AiSearch => "@ai-search",
            Self::AiUser => "@ai-user",
            Self::Search => "@search",
        }
    }

    /// The crawlers in the set, in the order of the table. They differ between versions of
    /// robosieve, because crawlers come and go.
    pub fn members(self) -> impl Iterator<Item = &'static KnownAgent> {
        CrawlerRegistry::shipped().with_purposes(self.purposes())
    }

    fn purposes(self) -> &'static [Purpose] {
        match self {
            Self::Ai => &[Purpose::AiTrain, Purpose::AiSearch, Purpose::AiUser],
            Self::AiTrain => &[Purpose::AiTrain],
            Self::AiSearch => &[Purpose::AiSearch],
            Self::AiUser => &[Purpose::AiUser],
            Self::Search => &[Purpose::Search],
        }
    }
}

impl fmt::Display for AgentSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AgentSet {
    type Err = Error;

    /// Parses a name such as `@ai`, in any case.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for an unknown name; the message lists the known ones.
    fn from_str(given: &str) -> Result<Self> {
        let set = Self::ALL.into_iter().find(|set| set.name().eq_ignore_ascii_case(given.trim()));
        set.ok_or_else(|| {
            let what = format!("unknown set of agents; there are {}", Self::ALL.map(Self::name).join(", "));
            ErrorKind::BadAgent { name: given.to_owned(), what }.into()
        })
    }
}

/// Appends the agent with this name, or the members of a set (`@ai`) that `agents` lacks, and
/// returns the number of agents appended.
///
/// A single agent is appended even if `agents` has it: a caller that names three agents gets three
/// verdicts.
///
/// ```
/// let mut agents = vec!["gptbot".parse()?];
/// assert!(robosieve::crawlers::add_agents("@ai", &mut agents)? > 10);
/// assert_eq!(agents.iter().filter(|agent| agent.names().eq(["gptbot"])).count(), 1);
/// assert_eq!(robosieve::crawlers::add_agents("GPTBot/1.2", &mut agents)?, 1);
/// # Ok::<(), robosieve::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::BadAgent`] for an unknown set and for a name that [`Agent`]'s `from_str` rejects.
pub fn add_agents(name: &str, agents: &mut Vec<Agent>) -> Result<usize> {
    if !name.trim_start().starts_with('@') {
        agents.push(name.parse()?);
        return Ok(1);
    }
    let before = agents.len();
    for known in name.parse::<AgentSet>()?.members() {
        let agent: Agent = known.token.parse()?;
        if !agents.iter().any(|other| other.is_same(&agent)) {
            agents.push(agent);
        }
    }
    Ok(agents.len() - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_complete_row() {
        assert!(TABLE.lines().find(|line| !line.starts_with('#')) == Some("token\toperator\tpurpose\tsource"));
        for line in table_lines() {
            let row = KnownAgent::parse_line(line).unwrap_or_else(|| panic!("not a row of four fields: {line:?}"));
            for field in [row.token, row.operator, row.source] {
                assert!(!field.is_empty() && field.trim() == field && !field.contains(char::is_control), "{line:?}");
            }
            assert!(row.source.starts_with("https://") && !row.source.contains(' '), "{line:?}");
        }
        assert_eq!(table_lines().count(), KnownAgent::all().len());
    }

    #[test]
    fn the_table_is_sorted_and_has_each_token_once() {
        let tokens: Vec<String> = KnownAgent::all().iter().map(|known| known.token.to_ascii_lowercase()).collect();
        let wrong = tokens.windows(2).find(|pair| pair[0] >= pair[1]);
        assert_eq!(wrong, None, "not in order, or twice");
    }

    #[test]
    fn a_robots_txt_can_name_every_token() {
        for known in KnownAgent::all() {
            let agent: Agent = known.token.parse().unwrap();
            assert_eq!(agent.names().collect::<Vec<_>>(), [known.token.to_ascii_lowercase()]);
        }
    }

    #[test]
    fn sets_select_by_purpose() {
        let of = |set: AgentSet| set.members().map(|known| known.token).collect::<Vec<_>>();
        let [ai, train, search, user, web] = AgentSet::ALL.map(of);
        assert_eq!(ai.len(), train.len() + search.len() + user.len());
        for (set, token) in [
            (&train, "CCBot"),
            (&search, "OAI-SearchBot"),
            (&user, "ChatGPT-User"),
            (&web, "Googlebot"),
            (&ai, "CCBot"),
        ] {
            assert!(set.contains(&token), "{token}");
        }
        assert!(!ai.contains(&"Googlebot") && !web.contains(&"GPTBot"));
    }

    #[test]
    fn sets_skip_present_agents_and_names_do_not() {
        let mut agents = Vec::new();
        let mut add = |name: &str| add_agents(name, &mut agents).unwrap();
        let train = add("@ai-train");
        assert!(train > 10);
        assert_eq!((add("@AI-Train"), add("ccbot/2.0"), add("FooBot"), add("a:b"), add("A:B")), (0, 1, 1, 1, 1));
        assert_eq!(add("@ai"), AgentSet::Ai.members().count() - train);
        assert_eq!((add("*"), add("*")), (1, 1));
    }

    #[test]
    fn unknown_sets_are_rejected_with_the_known_names() {
        for name in ["@", "@foo", "@ai:GPTBot", "@ai-trains"] {
            let err = add_agents(name, &mut Vec::new()).unwrap_err().to_string();
            assert!(err.contains("there are @ai, @ai-train, @ai-search, @ai-user, @search"), "{err}");
        }
        let err = "GPTBot:@ai".parse::<Agent>().unwrap_err().to_string();
        assert!(err.contains("a set cannot be part of a chain"), "{err}");
    }
}
