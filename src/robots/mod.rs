//! The parser of robots.txt: lines, fields, groups and rules; and the reference judge.

mod body;
pub(crate) mod condense;
pub(crate) mod crawl_delay;
pub(crate) mod field;
pub(crate) mod line;
pub(crate) mod parse;
pub(crate) mod pattern;
pub mod reference;
mod robots_line;

pub use body::{BodyFacts, LooksLike};
pub use parse::{AgentLine, Group, OtherField, Robots, Rule, RuleKind};
pub use robots_line::RobotsLine;
