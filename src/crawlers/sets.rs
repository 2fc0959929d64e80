//! Sets of agents: names such as `@ai` that select crawlers by purpose, and names of one's own for
//! listed agents.

use super::known_agent::Purpose;
use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

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
    /// `@ai`: the five below together, so every purpose but [`Purpose::Search`] and
    /// [`Purpose::Other`].
    Ai,
    /// `@ai-train`: [`Purpose::AiTrain`].
    AiTrain,
    /// `@ai-search`: [`Purpose::AiSearch`].
    AiSearch,
    /// `@ai-user`: [`Purpose::AiUser`].
    AiUser,
    /// `@ai-agent`: [`Purpose::AiAgent`].
    AiAgent,
    /// `@data-provider`: [`Purpose::DataProvider`].
    DataProvider,
    /// `@search`: [`Purpose::Search`].
    Search,
}

impl AgentSet {
    /// All sets.
    pub const ALL: [Self; 7] = [
        Self::Ai,
        Self::AiTrain,
        Self::AiSearch,
        Self::AiUser,
        Self::AiAgent,
        Self::DataProvider,
        Self::Search,
    ];

    /// The name with its `@`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ai => "@ai",
            Self::AiTrain => "@ai-train",
            Self::AiSearch => "@ai-search",
            Self::AiUser => "@ai-user",
            Self::AiAgent => "@ai-agent",
            Self::DataProvider => "@data-provider",
            Self::Search => "@search",
        }
    }

    /// The purposes of its members.
    pub fn purposes(self) -> &'static [Purpose] {
        match self {
            Self::Ai => &[
                Purpose::AiTrain,
                Purpose::AiSearch,
                Purpose::AiUser,
                Purpose::AiAgent,
                Purpose::DataProvider,
            ],
            Self::AiTrain => &[Purpose::AiTrain],
            Self::AiSearch => &[Purpose::AiSearch],
            Self::AiUser => &[Purpose::AiUser],
            Self::AiAgent => &[Purpose::AiAgent],
            Self::DataProvider => &[Purpose::DataProvider],
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
        let set = Self::ALL
            .into_iter()
            .find(|set| set.name().eq_ignore_ascii_case(given.trim()));
        set.ok_or_else(|| unknown_set(given, []))
    }
}

/// The error for an unknown set, which lists the built-in sets and those of one's own.
pub(super) fn unknown_set<'s>(given: &str, own: impl IntoIterator<Item = &'s str>) -> Error {
    let names: Vec<&str> = AgentSet::ALL
        .map(AgentSet::name)
        .into_iter()
        .chain(own)
        .collect();
    let what = format!("unknown set of agents; there are {}", names.join(", "));
    bad_set(given, &what)
}

/// The longest name of a set, with its `@`.
const LONGEST_NAME: usize = 64;

/// A set with a name of one's own: agents and sets by purpose.
#[derive(Clone, Debug)]
pub(super) struct OwnSet {
    /// As it was defined, with its `@`.
    pub name: String,
    pub members: Vec<OwnSetMember>,
}

/// A member of a set with a name of one's own.
#[derive(Clone, Debug)]
pub(super) enum OwnSetMember {
    Agent(Agent),
    Set(AgentSet),
}

impl OwnSet {
    /// Checks a name and the names of the members.
    pub(super) fn new<'m>(name: &str, members: impl IntoIterator<Item = &'m str>) -> Result<Self> {
        let name = name.trim();
        let is_name = name.strip_prefix('@').is_some_and(|rest| {
            !rest.is_empty()
                && rest
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        });
        if !is_name || name.len() > LONGEST_NAME {
            return Err(bad_set(
                name,
                "not a name of a set; write @ and up to 63 letters, digits, -, _ or dots",
            ));
        }
        if name.parse::<AgentSet>().is_ok() {
            return Err(bad_set(
                name,
                "a built-in set has this name; choose another one",
            ));
        }
        let members = members.into_iter().map(|member| {
            Ok(match member.trim().starts_with('@') {
                true => OwnSetMember::Set(member.parse().map_err(|_| {
                    bad_set(
                        member,
                        "not a built-in set; a set of one's own has agents and built-in sets",
                    )
                })?),
                false => OwnSetMember::Agent(member.parse()?),
            })
        });
        let members = members.collect::<Result<Vec<_>>>()?;
        if members.is_empty() {
            return Err(bad_set(name, "the set has no members; name at least one"));
        }
        Ok(Self {
            name: name.to_owned(),
            members,
        })
    }
}

fn bad_set(name: &str, what: &str) -> Error {
    Error::from(ErrorKind::BadAgent {
        name: name.to_owned(),
        what: what.to_owned(),
    })
}
