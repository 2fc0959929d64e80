//! Defects of a robots.txt: lines that parsers ignore, misread, or read differently.
//!
//! [`lint`] checks one file, [`robots_files`] finds those of a directory, and [`survey()`] counts the
//! findings of a snapshot. `docs/LINT.md` describes each
//! [`Code`] with its source, and with a bad and a good example.
//!
//! The checks, by file: `body` for the file and its bytes, `fields` for the fields of lines, `agents`
//! for user-agent lines and groups, `patterns` for the path of a single rule, `rule_sets` for rules
//! without effect, `profiles` for rules that Google's parser and RFC 9309 read differently, and
//! `values` for sitemaps and crawl-delays.

mod agents;
mod body;
mod code;
mod directory;
mod fields;
mod finding;
mod patterns;
mod profiles;
mod rule_sets;
mod survey;
mod text;
mod values;

pub use code::{Code, InSnapshot, Severity};
pub use directory::{RobotsFiles, robots_files};
pub use finding::Finding;
pub use survey::{CodeCount, Survey, survey};
pub use text::lint;
