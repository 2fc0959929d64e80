//! A pass over the files of a snapshot: each distinct robots.txt once, with its uses.
//!
//! Half of all sites share their robots.txt with another, and files share rule sets. A statistic
//! that reads the robots.txt of each origin does most of its work again and again. So statistics
//! are computed in two passes:
//!
//! 1. [`FileUses`] counts the origins of each file. Cost: a pass over the origins. Memory: 8 bytes
//!    per file.
//! 2. Each thread has a [`FileReader`], and visits its share of the used files. For a file, the
//!    reader gives the condensed text, the groups by name ([`AgentNames`]) or by requested agent,
//!    and the coverage of their rule sets. The result counts for all origins of the file.
//!
//! A text is decompressed when it is asked for, in some microseconds. The coverage of a rule set is
//! computed once per thread (`CoverageCache`).
//!
//! Files are referred to by number, from 0, and agent names by the numbers of the snapshot. Rows of
//! sections and offsets of rule sets stay in this module. Damaged bytes give
//! [`Corrupt`](crate::ErrorKind::Corrupt), and never a panic.

mod agent_names;
mod coverage;
mod file_reader;
mod file_uses;
mod listed_rule;
mod same_rules;

pub(crate) use agent_names::{AgentNames, count_files_naming};
pub use coverage::Coverage;
pub(crate) use coverage::{AgentCoverage, DecidedBy};
pub(crate) use file_reader::FileReader;
pub(crate) use file_uses::{FileUses, UsedFile};
pub(crate) use listed_rule::visit_rule_set;
pub(crate) use same_rules::{ComparedRules, StoredFile, have_same_rules, have_same_text};
