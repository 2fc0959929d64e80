//! The registry: the shipped table, which lists of crawlers may extend or replace.

use super::known_agent::{Compliance, KnownAgent, Purpose};
use super::list::CrawlerList;
use super::sets::{AgentSet, OwnSet, OwnSetMember, unknown_set};
use super::table;
use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use std::cmp::Ordering;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../datasets/agents.tsv");

/// Known crawlers, sorted by token without case.
///
/// [`shipped`](Self::shipped) is the registry that is compiled into the library, and
/// [`empty`](Self::empty) one to fill. [`extend`](Self::extend) adds the crawlers of a file to
/// either.
///
/// ```
/// use robosieve::crawlers::{CrawlerList, CrawlerRegistry};
/// let mut registry = CrawlerRegistry::empty();
/// registry.extend(CrawlerList::parse(b"token\tpurpose\nAcmeBot\tai-train\nOtherBot\tsearch\n")?);
/// let mut agents = Vec::new();
/// assert_eq!(registry.add_agents("@ai", &mut agents)?, 1);
/// assert_eq!(agents[0].label(), "AcmeBot");
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CrawlerRegistry {
    crawlers: Vec<KnownAgent>,
    date: Option<String>,
    own_sets: Vec<OwnSet>,
}

impl CrawlerRegistry {
    /// The columns of a table of crawlers, in the order of `datasets/agents.tsv`.
    pub const COLUMNS: [&'static str; 7] = table::COLUMNS;

    /// The registry that is compiled into the library, parsed on first use. It differs between
    /// versions of robosieve, because crawlers come and go.
    pub fn shipped() -> &'static Self {
        // A test checks that every line of the table is a valid row.
        static SHIPPED: LazyLock<CrawlerRegistry> = LazyLock::new(|| {
            let mut registry = CrawlerRegistry::empty();
            registry.extend(CrawlerList::parse(TABLE.as_bytes()).unwrap_or_default());
            registry
        });
        &SHIPPED
    }

    /// A registry without crawlers.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds the crawlers of a list. For a crawler that is in the registry, the list's facts replace
    /// those of the registry, and facts that the list does not state stay. A new crawler without a
    /// purpose gets [`Purpose::Other`].
    ///
    /// The date of the registry stays, unless it was empty.
    pub fn extend(&mut self, list: CrawlerList) {
        if self.crawlers.is_empty() {
            self.date = list.date;
        }
        // A list has each token once, so a token that the registry lacks is new.
        let mut added = Vec::new();
        for entry in list.entries {
            let Some(row) = self.row(&entry.token) else {
                added.push(KnownAgent {
                    token: entry.token,
                    operator: entry.operator,
                    purpose: entry.purpose.unwrap_or(Purpose::Other),
                    obeys: entry.obeys.unwrap_or(Compliance::Unknown),
                    falls_back_to: entry.falls_back_to.filter(|names| !names.is_empty()),
                    ignores_star: entry.ignores_star.unwrap_or(false),
                    source: entry.source,
                });
                continue;
            };
            let known = &mut self.crawlers[row];
            known.operator = entry.operator.or(known.operator.take());
            known.purpose = entry.purpose.unwrap_or(known.purpose);
            known.obeys = entry.obeys.unwrap_or(known.obeys);
            if let Some(names) = entry.falls_back_to {
                known.falls_back_to = Some(names).filter(|names| !names.is_empty());
            }
            known.ignores_star = entry.ignores_star.unwrap_or(known.ignores_star);
            known.source = entry.source.or(known.source.take());
        }
        self.crawlers.append(&mut added);
        self.crawlers
            .sort_by(|a, b| compare_ignoring_case(&a.token, &b.token));
    }

    /// All crawlers, sorted by token without case.
    pub fn crawlers(&self) -> &[KnownAgent] {
        &self.crawlers
    }

    /// The day when the table was last checked, as `2026-11-23`; `None` if it does not say.
    pub fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    /// The crawler with a token, compared without case.
    ///
    /// Cost: a binary search.
    pub fn find(&self, token: &str) -> Option<&KnownAgent> {
        self.row(token).map(|row| &self.crawlers[row])
    }

    fn row(&self, token: &str) -> Option<usize> {
        self.crawlers
            .binary_search_by(|known| compare_ignoring_case(&known.token, token))
            .ok()
    }

    /// The crawlers in a set, in the order of the registry.
    pub fn members(&self, set: AgentSet) -> impl Iterator<Item = &KnownAgent> {
        self.crawlers
            .iter()
            .filter(move |known| set.purposes().contains(&known.purpose))
    }

    /// Defines a set with a name of one's own, such as `@openai`. Its members are agents and
    /// built-in sets; [`add_agents`](Self::add_agents) then knows the name, in any case.
    ///
    /// ```
    /// use robosieve::crawlers::CrawlerRegistry;
    /// let mut registry = CrawlerRegistry::shipped().clone();
    /// registry.define_set("@openai", ["GPTBot", "ChatGPT-User"])?;
    /// let mut agents = Vec::new();
    /// assert_eq!(registry.add_agents("@OpenAI", &mut agents)?, 2);
    /// assert!(registry.define_set("@ai", ["GPTBot"]).is_err());
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for a name that is not `@` and up to 63 ASCII letters, digits, `-`,
    /// `_` or dots; for a name that a built-in set or an earlier definition has; for a member that
    /// is neither an agent nor a built-in set; and without members.
    pub fn define_set<'m>(
        &mut self,
        name: &str,
        members: impl IntoIterator<Item = &'m str>,
    ) -> Result<()> {
        let set = OwnSet::new(name, members)?;
        if self.own_set(&set.name).is_some() {
            return Err(Error::from(ErrorKind::BadAgent {
                name: set.name,
                what: "the set is defined twice; keep one definition".to_owned(),
            }));
        }
        self.own_sets.push(set);
        Ok(())
    }

    fn own_set(&self, name: &str) -> Option<&OwnSet> {
        self.own_sets
            .iter()
            .find(|set| set.name.eq_ignore_ascii_case(name.trim()))
    }

    /// Appends the agent with this name, or the members of a set (`@ai`, or one that
    /// [`define_set`](Self::define_set) has defined) that `agents` lacks, and returns the number of
    /// agents appended.
    ///
    /// A member of a built-in set has the chain that its operator documents
    /// ([`KnownAgent::agent`]). A name is taken as it is.
    ///
    /// A single agent is appended even if `agents` has it: a caller that names three agents gets
    /// three verdicts.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for an unknown set and for a name that
    /// [`Agent`]'s `from_str` rejects.
    pub fn add_agents(&self, name: &str, agents: &mut Vec<Agent>) -> Result<usize> {
        if !name.trim_start().starts_with('@') {
            agents.push(name.parse()?);
            return Ok(1);
        }
        let before = agents.len();
        match self.own_set(name) {
            Some(set) => {
                for member in &set.members {
                    match member {
                        OwnSetMember::Agent(agent) => push_new(agent.clone(), agents),
                        OwnSetMember::Set(set) => self.push_members(*set, agents)?,
                    }
                }
            }
            None => self.push_members(self.parse_set(name)?, agents)?,
        }
        Ok(agents.len() - before)
    }

    /// The built-in set of a name. The error for an unknown one lists the sets of one's own too.
    fn parse_set(&self, name: &str) -> Result<AgentSet> {
        let own = self.own_sets.iter().map(|set| set.name.as_str());
        name.parse().map_err(|_| unknown_set(name, own))
    }

    /// Appends the members of a built-in set that `agents` lacks.
    fn push_members(&self, set: AgentSet, agents: &mut Vec<Agent>) -> Result<()> {
        for known in self.members(set) {
            push_new(known.agent()?, agents);
        }
        Ok(())
    }
}

/// Appends an agent that `agents` lacks.
fn push_new(agent: Agent, agents: &mut Vec<Agent>) {
    if !agents.iter().any(|other| other.is_same(&agent)) {
        agents.push(agent);
    }
}

/// Orders two tokens as their lower-case forms.
fn compare_ignoring_case(a: &str, b: &str) -> Ordering {
    let a = a.bytes().map(|byte| byte.to_ascii_lowercase());
    a.cmp(b.bytes().map(|byte| byte.to_ascii_lowercase()))
}

impl KnownAgent {
    /// All crawlers of the shipped registry, sorted by token without case.
    pub fn all() -> &'static [Self] {
        CrawlerRegistry::shipped().crawlers()
    }

    /// The crawler of the shipped registry with this token, compared without case.
    pub fn find(token: &str) -> Option<&'static Self> {
        CrawlerRegistry::shipped().find(token)
    }
}

impl AgentSet {
    /// The crawlers of the shipped registry in the set, in the order of the table.
    pub fn members(self) -> impl Iterator<Item = &'static KnownAgent> {
        CrawlerRegistry::shipped().members(self)
    }
}

/// [`CrawlerRegistry::add_agents`] with the shipped registry.
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
/// As [`CrawlerRegistry::add_agents`].
pub fn add_agents(name: &str, agents: &mut Vec<Agent>) -> Result<usize> {
    CrawlerRegistry::shipped().add_agents(name, agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_complete_row() {
        let list = CrawlerList::parse(TABLE.as_bytes()).unwrap();
        let lines: Vec<&str> = TABLE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        assert_eq!(lines[0].split('\t').collect::<Vec<_>>(), table::COLUMNS);
        assert_eq!(lines[1..].len(), list.entries.len());
        assert_eq!(lines[1..].len(), KnownAgent::all().len());
        for (line, entry) in lines[1..].iter().zip(&list.entries) {
            // Unknown fields say so, and no field has stray blanks.
            for field in line.split('\t') {
                assert!(!field.is_empty() && field.trim() == field, "{line:?}");
            }
            assert!(entry.purpose.is_some(), "{line:?}");
            let source = entry
                .source
                .as_deref()
                .unwrap_or_else(|| panic!("no source: {line:?}"));
            assert!(
                source.starts_with("https://") && !source.contains(' '),
                "{line:?}"
            );
        }
        assert!(CrawlerRegistry::shipped().date().is_some());
    }

    #[test]
    fn the_table_is_sorted_and_has_each_token_once() {
        let rows = CrawlerList::parse(TABLE.as_bytes()).unwrap().entries;
        let tokens: Vec<String> = rows
            .iter()
            .map(|row| row.token.to_ascii_lowercase())
            .collect();
        let wrong = tokens.windows(2).find(|pair| pair[0] >= pair[1]);
        assert_eq!(wrong, None, "not in order, or twice");
    }

    #[test]
    fn a_robots_txt_can_name_every_token() {
        for known in KnownAgent::all() {
            let agent: Agent = known.token.parse().unwrap();
            assert_eq!(
                agent.names().collect::<Vec<_>>(),
                [known.token.to_ascii_lowercase()]
            );
            assert_eq!(
                KnownAgent::find(&known.token.to_ascii_uppercase()),
                Some(known)
            );
        }
        assert_eq!(
            (
                KnownAgent::find(""),
                KnownAgent::find("AcmeBot"),
                KnownAgent::find("\u{7f}")
            ),
            (None, None, None)
        );
    }

    #[test]
    fn sets_select_by_purpose() {
        let tokens = |set: AgentSet| {
            set.members()
                .map(|known| known.token.as_str())
                .collect::<Vec<_>>()
        };
        let [ai, train, search, user, agent, provider, web] = AgentSet::ALL.map(tokens);
        let parts = [&train, &search, &user, &agent, &provider];
        assert_eq!(ai.len(), parts.iter().map(|part| part.len()).sum::<usize>());
        for (set, token) in [
            (&train, "CCBot"),
            (&search, "OAI-SearchBot"),
            (&user, "ChatGPT-User"),
            (&agent, "Google-Agent"),
            (&provider, "Diffbot"),
            (&web, "Googlebot"),
        ] {
            assert!(set.contains(&token), "{token}");
            assert_eq!(ai.contains(&token), token != "Googlebot", "{token}");
        }
        assert!(!web.contains(&"GPTBot"));
    }

    #[test]
    fn the_documentation_of_the_table_has_its_date() {
        let readme = include_str!("../../datasets/README.md").replace('\n', " ");
        let date = CrawlerRegistry::shipped().date().unwrap();
        assert!(readme.contains(&format!("as of {date}")), "{date}");
        for name in Purpose::ALL
            .map(Purpose::name)
            .into_iter()
            .chain(Compliance::ALL.map(Compliance::name))
        {
            assert!(readme.contains(&format!("| `{name}` |")), "{name}");
        }
        for name in AgentSet::ALL.map(AgentSet::name) {
            assert!(readme.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn sets_skip_present_agents_and_names_do_not() {
        let mut agents = Vec::new();
        let mut add = |name: &str| add_agents(name, &mut agents).unwrap();
        let train = add("@ai-train");
        assert!(train > 10);
        assert_eq!(
            (
                add("@AI-Train"),
                add("ccbot/2.0"),
                add("FooBot"),
                add("a:b"),
                add("A:B")
            ),
            (0, 1, 1, 1, 1)
        );
        assert_eq!(add("@ai"), AgentSet::Ai.members().count() - train);
        assert_eq!((add("*"), add("*")), (1, 1));
    }

    #[test]
    fn unknown_sets_are_rejected_with_the_known_names() {
        for name in ["@", "@foo", "@ai:GPTBot", "@ai-trains"] {
            let err = add_agents(name, &mut Vec::new()).unwrap_err().to_string();
            let there_are = "there are @ai, @ai-train, @ai-search, @ai-user, @ai-agent, \
                             @data-provider, @search";
            assert!(err.contains(there_are), "{err}");
        }
        let err = "GPTBot:@ai".parse::<Agent>().unwrap_err().to_string();
        assert!(err.contains("a set cannot be part of a chain"), "{err}");
    }

    #[test]
    fn own_sets_are_known_by_their_names() {
        let mut registry = CrawlerRegistry::shipped().clone();
        registry
            .define_set("@Own.1", ["GPTBot", "gptbot/1", "A:B", "@ai-search"])
            .unwrap();
        let mut agents = vec!["a:b".parse().unwrap()];
        let searching = AgentSet::AiSearch.members().count();
        assert_eq!(
            registry.add_agents(" @own.1 ", &mut agents).unwrap(),
            1 + searching
        );
        let long = format!("@{}", "a".repeat(64));
        for (name, members, expected) in [
            ("@ai", &["GPTBot"][..], "a built-in set has this name"),
            ("@OWN.1", &["GPTBot"], "the set is defined twice"),
            ("@none", &[], "the set has no members"),
            ("@empty", &[""], "a name is missing"),
            ("@nested", &["@own.1"], "not a built-in set"),
            ("@", &["GPTBot"], "not a name of a set"),
            ("own", &["GPTBot"], "not a name of a set"),
            ("@a b", &["GPTBot"], "not a name of a set"),
            (&long, &["GPTBot"], "not a name of a set"),
        ] {
            let err = registry.define_set(name, members.iter().copied());
            let err = err.unwrap_err().to_string();
            assert!(err.contains(expected), "{name}: {err}");
        }
        let err = registry.add_agents("@owns", &mut agents).unwrap_err();
        assert!(err.to_string().ends_with(", @search, @Own.1"), "{err}");
    }

    #[test]
    fn lists_extend_and_replace_the_registry() {
        let list = |text: &str| CrawlerList::parse(text.as_bytes()).unwrap();
        let mut registry = CrawlerRegistry::shipped().clone();
        let table = "# date: 2030-01-01\n\
                     token\toperator\tpurpose\n\
                     GPTBOT\tAcme\t\n\
                     __Bot\t\t\n\
                     ~Bot\t\tsearch\n";
        registry.extend(list(table));
        assert_eq!(registry.crawlers().len(), KnownAgent::all().len() + 2);
        assert_eq!(registry.date(), CrawlerRegistry::shipped().date());
        let (old, new) = (
            KnownAgent::find("gptbot").unwrap(),
            registry.find("gptbot").unwrap(),
        );
        assert_eq!(new.operator.as_deref(), Some("Acme"));
        assert_eq!(
            *old,
            KnownAgent {
                operator: old.operator.clone(),
                ..new.clone()
            },
            "what the list leaves open stays"
        );
        let bare = registry.find("__bot").unwrap();
        assert_eq!(
            (bare.purpose, bare.obeys, &bare.operator),
            (Purpose::Other, Compliance::Unknown, &None)
        );
        assert!(
            registry
                .members(AgentSet::Search)
                .any(|known| known.token == "~Bot")
        );
        assert!(
            KnownAgent::find("~Bot").is_none(),
            "the shipped registry stays"
        );
        // Every row is found, in the extended order too.
        assert!(
            registry
                .crawlers()
                .iter()
                .all(|known| registry.find(&known.token) == Some(known))
        );

        let mut own = CrawlerRegistry::empty();
        assert_eq!((own.crawlers(), own.date()), (&[][..], None));
        own.extend(list(table));
        assert_eq!((own.crawlers().len(), own.date()), (3, Some("2030-01-01")));
        own.extend(list("token\tpurpose\ngptbot\tai-user\n"));
        assert_eq!(
            (own.crawlers().len(), own.find("GPTBot").unwrap().purpose),
            (3, Purpose::AiUser)
        );
    }
}
