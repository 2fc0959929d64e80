//! The registry of crawlers: product tokens with operator and purpose, and the sets of agents
//! (`@ai`) that select rows of it by purpose.
//!
//! [`CrawlerRegistry::shipped`] has the table `datasets/agents.tsv`. A [`CrawlerList`] is a file
//! that extends a registry or makes one of its own.

mod entry;
mod known_agent;
mod list;
mod registry;
mod robots_json;
mod sets;
pub(crate) mod spell_check;
pub(crate) mod spelling;
mod table;

pub use known_agent::{Compliance, KnownAgent, Purpose};
pub use list::CrawlerList;
pub use registry::{CrawlerRegistry, add_agents};
pub use sets::AgentSet;
