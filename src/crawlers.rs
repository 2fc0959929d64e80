//! Known crawlers: the shipped table of product tokens, and the sets of agents that are made of it.

use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// What a crawler fetches pages for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// To train models, or to sell or give data to those who do; also a token that no crawler sends, by which a site says that what
    /// others fetch may not be used so (`Google-Extended`).
    AiTrain,
    /// To index or read pages for the answers of an AI product.
    AiSearch,
    /// Because a person asked an AI product about the page.
    AiUser,
    /// For a web search.
    Search,
    /// For something else: advertising, link previews, archives, search engine optimisation.
    Other,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::AiTrain, Self::AiSearch, Self::AiUser, Self::Search, Self::Other];

    /// The word for it in the table: `ai-train`, `ai-search`, `ai-user`, `search`, `other`.
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

/// A crawler of the shipped table `datasets/agents.tsv`.
///
/// ```
/// use robosieve::{KnownAgent, Purpose};
/// let known = KnownAgent::find("gptbot").expect("a well-known one");
/// assert_eq!((known.token, known.operator, known.purpose), ("GPTBot", "OpenAI", Purpose::AiTrain));
/// assert!(known.source.starts_with("https://"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// The product token, as its operator writes it.
    pub token: &'static str,
    /// Who runs it.
    pub operator: &'static str,
    /// What for.
    pub purpose: Purpose,
    /// Where that is told: a URL.
    pub source: &'static str,
}

const TABLE: &str = include_str!("../datasets/agents.tsv");

/// The rows of the table; a test holds that every line is one.
static KNOWN: LazyLock<Vec<KnownAgent>> = LazyLock::new(|| lines().filter_map(KnownAgent::of_line).collect());

/// The lines of the table behind its header, without comments.
fn lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.starts_with('#')).skip(1)
}

impl KnownAgent {
    fn of_line(line: &'static str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [token, operator, purpose, source] = fields[..] else { return None };
        let purpose = Purpose::ALL.into_iter().find(|known| known.name() == purpose)?;
        Some(Self { token, operator, purpose, source })
    }

    /// The whole table, sorted by token without case.
    pub fn all() -> &'static [Self] {
        &KNOWN
    }

    /// The row of a token, compared without case.
    pub fn find(token: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.token.eq_ignore_ascii_case(token))
    }
}

/// A set of agents by purpose, written `@ai` and the like wherever agents are named.
///
/// ```
/// use robosieve::{AgentSet, Purpose};
/// let set: AgentSet = "@ai".parse()?;
/// assert!(set.members().any(|known| known.token == "ClaudeBot"));
/// assert!(set.members().all(|known| known.purpose != Purpose::Search));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentSet {
    /// `@ai`: [`AiTrain`](Self::AiTrain), [`AiSearch`](Self::AiSearch) and [`AiUser`](Self::AiUser) together.
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

    /// The agents of the set, in the order of the table. Versions of robosieve differ in them, as crawlers come and go.
    pub fn members(self) -> impl Iterator<Item = &'static KnownAgent> {
        KNOWN.iter().filter(move |known| self.purposes().contains(&known.purpose))
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

    /// Reads a name such as `@ai`, without regard to case.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for any other, with the names there are.
    fn from_str(given: &str) -> Result<Self> {
        let set = Self::ALL.into_iter().find(|set| set.name().eq_ignore_ascii_case(given.trim()));
        set.ok_or_else(|| {
            let what = format!("no set of agents has this name; there are {}", Self::ALL.map(Self::name).join(", "));
            ErrorKind::BadAgent { name: given.to_owned(), what }.into()
        })
    }
}

/// Adds the agent of this name, or of a set (`@ai`) those agents that are not there yet, and tells how many were added.
///
/// What is named by itself is added in any case: who asks for three agents counts on three verdicts.
///
/// ```
/// let mut agents = vec!["gptbot".parse()?];
/// assert!(robosieve::add_agents("@ai", &mut agents)? > 10);
/// assert_eq!(agents.iter().filter(|agent| agent.names().eq(["gptbot"])).count(), 1);
/// assert_eq!(robosieve::add_agents("GPTBot/1.2", &mut agents)?, 1);
/// # Ok::<(), robosieve::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::BadAgent`] for a set that there is not, and what [`Agent`]'s `from_str` refuses.
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
    fn every_line_of_the_table_is_a_row_that_tells_all() {
        assert!(TABLE.lines().find(|line| !line.starts_with('#')) == Some("token\toperator\tpurpose\tsource"));
        for line in lines() {
            let row = KnownAgent::of_line(line).unwrap_or_else(|| panic!("not a row of four fields: {line:?}"));
            for field in [row.token, row.operator, row.source] {
                assert!(!field.is_empty() && field.trim() == field && !field.contains(char::is_control), "{line:?}");
            }
            assert!(row.source.starts_with("https://") && !row.source.contains(' '), "{line:?}");
        }
        assert_eq!(lines().count(), KnownAgent::all().len());
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
    fn sets_are_made_of_purposes() {
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
    fn sets_add_what_is_not_there_and_names_add_themselves() {
        let mut agents = Vec::new();
        let mut add = |name: &str| add_agents(name, &mut agents).unwrap();
        let train = add("@ai-train");
        assert!(train > 10);
        assert_eq!((add("@AI-Train"), add("ccbot/2.0"), add("FooBot"), add("a:b"), add("A:B")), (0, 1, 1, 1, 1));
        assert_eq!(add("@ai"), AgentSet::Ai.members().count() - train);
        assert_eq!((add("*"), add("*")), (1, 1));
    }

    #[test]
    fn a_set_that_there_is_not_is_told_with_those_there_are() {
        for name in ["@", "@foo", "@ai:GPTBot", "@ai-trains"] {
            let err = add_agents(name, &mut Vec::new()).unwrap_err().to_string();
            assert!(err.contains("there are @ai, @ai-train, @ai-search, @ai-user, @search"), "{err}");
        }
        let err = "GPTBot:@ai".parse::<Agent>().unwrap_err().to_string();
        assert!(err.contains("a set stands alone"), "{err}");
    }
}
