//! The parser of robots.txt: lines, fields, groups and rules; and the reference judge.

mod body;
pub(crate) mod compiled_rules;
pub(crate) mod condense;
pub(crate) mod crawl_delay;
pub(crate) mod field;
pub(crate) mod line;
mod owned;
pub(crate) mod parse;
pub(crate) mod pattern;
#[doc(hidden)]
pub mod reference;

pub use body::{BodyFacts, LooksLike};
pub use line::{RobotsLine, glued_comment, glued_comment_of_line};
pub use owned::Robots;
pub use parse::{AgentLine, Group, OtherField, RobotsRef, Rule, RuleKind};
