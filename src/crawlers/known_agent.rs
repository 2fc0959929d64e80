//! A row of the registry: product token, operator, purpose, and what the operator says about
//! robots.txt.

use crate::agent::Agent;
use crate::error::Result;

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
    /// To act for a person: an AI agent that browses sites, fills forms or writes code.
    AiAgent,
    /// To sell pages, extracted data or search results to the makers of AI products.
    DataProvider,
    /// For web search.
    Search,
    /// Any other purpose: advertising, link previews, archives, search engine optimisation. Also an
    /// unknown purpose.
    Other,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 7] = [
        Self::AiTrain,
        Self::AiSearch,
        Self::AiUser,
        Self::AiAgent,
        Self::DataProvider,
        Self::Search,
        Self::Other,
    ];

    /// The name in the table: `ai-train`, `ai-search`, `ai-user`, `ai-agent`, `data-provider`,
    /// `search`, `other`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AiTrain => "ai-train",
            Self::AiSearch => "ai-search",
            Self::AiUser => "ai-user",
            Self::AiAgent => "ai-agent",
            Self::DataProvider => "data-provider",
            Self::Search => "search",
            Self::Other => "other",
        }
    }
}

/// Whether the operator of a crawler says that it obeys robots.txt. This is a statement, not an
/// observation: a crawler may break its operator's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compliance {
    /// The operator says that it obeys.
    Yes,
    /// The operator names exceptions: it ignores the groups for `*`, or may ignore the rules for
    /// what a person asks for.
    Partly,
    /// The operator says that it generally ignores robots.txt.
    No,
    /// The source does not say.
    Unknown,
}

impl Compliance {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Yes, Self::Partly, Self::No, Self::Unknown];

    /// The name in the table: `yes`, `partly`, `no`, `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// A crawler in the registry, a row of `datasets/agents.tsv`.
///
/// ```
/// use robosieve::crawlers::{Compliance, KnownAgent, Purpose};
/// let known = KnownAgent::find("gptbot").expect("a known crawler");
/// assert_eq!((known.token.as_str(), known.operator.as_deref()), ("GPTBot", Some("OpenAI")));
/// assert_eq!((known.purpose, known.obeys), (Purpose::AiTrain, Compliance::Yes));
/// assert!(known.source.as_ref().is_some_and(|source| source.starts_with("https://")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownAgent {
    /// The product token in its operator's spelling.
    pub token: String,
    /// The operator; `None` if it is unknown.
    pub operator: Option<String>,
    /// The purpose it fetches pages for.
    pub purpose: Purpose,
    /// Whether the operator says that it obeys robots.txt.
    pub obeys: Compliance,
    /// The name whose groups the operator says that it obeys where no group has its token, such as
    /// `Googlebot` for `Googlebot-Image`; of several, in their order with `:` between them.
    pub falls_back_to: Option<String>,
    /// Whether the operator says that it ignores the groups for `*`, as for `AdsBot-Google`.
    pub ignores_star: bool,
    /// The URL of a page that documents this row. Every row of the shipped registry has one.
    pub source: Option<String>,
}

impl KnownAgent {
    /// The agent that obeys the groups which the operator documents: the token, then the names that
    /// it falls back to, and `!*` if it ignores the groups for `*`. Sets have this agent.
    ///
    /// ```
    /// use robosieve::crawlers::KnownAgent;
    /// let label = |token| KnownAgent::find(token).unwrap().agent().unwrap().label().to_owned();
    /// assert_eq!(label("Googlebot-Image"), "Googlebot-Image:Googlebot");
    /// assert_eq!(label("AdsBot-Google"), "AdsBot-Google:!*");
    /// assert_eq!(label("GPTBot"), "GPTBot");
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`](crate::ErrorKind::BadAgent) never for a row of a registry, because its
    /// names are checked when it is read.
    pub fn agent(&self) -> Result<Agent> {
        let mut chain = self.token.clone();
        for name in self.falls_back_to.iter() {
            chain = chain + ":" + name;
        }
        if self.ignores_star {
            chain += ":!*";
        }
        chain.parse()
    }
}
