//! Sets of agents: names such as `@ai` that select crawlers by purpose.

use super::known_agent::Purpose;
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
        set.ok_or_else(|| {
            let what = format!(
                "unknown set of agents; there are {}",
                Self::ALL.map(Self::name).join(", ")
            );
            ErrorKind::BadAgent {
                name: given.to_owned(),
                what,
            }
            .into()
        })
    }
}
