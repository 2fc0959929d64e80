//! A pass over the files of a snapshot: each distinct robots.txt once.
//!
//! Half of all sites share their robots.txt with another, and files share rule sets. A statistic
//! that reads the robots.txt of each origin does most of its work again and again. So statistics
//! visit each file once: a [`FileReader`] gives its condensed text, its groups by name
//! ([`AgentNames`]) and the coverage of their rule sets.
//!
//! Files are referred to by number, from 0, and agent names by the numbers of the snapshot. Damaged
//! bytes give [`Corrupt`](crate::ErrorKind::Corrupt), and never a panic.

mod agent_names;
mod coverage;
mod coverage_cache;
mod file_reader;
mod listed_rule;
mod same_rules;

pub(crate) use agent_names::{AgentNames, count_files_naming};
pub use coverage::Coverage;
pub(crate) use coverage::{AgentCoverage, DecidedBy, coverage};
pub(crate) use file_reader::FileReader;
pub(crate) use listed_rule::{ListedRule, visit_rules};
pub(crate) use same_rules::{StoredFile, have_same_rules, have_same_text};
